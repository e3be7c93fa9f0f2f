"""Which ignore rules stand above a folder before the walk begins?

Three places: the global excludes file, ``.git/info/exclude``, and the ignore files of the folders between
the top of the work tree and the folder. Read without git, for machines that have none and repositories git
refuses to open (another owner, damaged). Of git's configuration only ``core.excludesFile`` and
``core.ignoreCase`` are read, from the user's files and the repository's; ``[include]`` is not followed.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from indexer.ignore import IgnoreFile, Ignores

__all__ = ["Above", "Repository", "read_ignore_file", "repository_of", "rules_above", "rules_of"]

MAX_IGNORE_BYTES = 1_000_000
"""An ignore file larger than this is not one."""

_SECTION = re.compile(r'^\s*\[\s*([\w.-]+)\s*(?:"[^"]*")?\s*\]')
_ENTRY = re.compile(r"^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?)\s*)?$")


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a work tree keeps its repository; worktrees of one repository share ``common``."""

    top: Path
    git_dir: Path
    common: Path

    @property
    def checked_out(self) -> bool:
        """A repository without an index of its own is bare: its worktrees are the only checkouts."""
        return (self.git_dir / "index").exists()


def repository_of(folder: Path) -> Repository | None:
    """The repository whose work tree's top is ``folder``."""
    marker = folder / ".git"
    try:
        if marker.is_dir():
            return Repository(folder, marker, marker) if (marker / "HEAD").exists() else None
        # a worktree or submodule: a file that points to the repository
        pointer = marker.read_text("utf-8", "surrogateescape")
        if not pointer.startswith("gitdir: "):
            return None
        git_dir = (folder / pointer[len("gitdir: ") :].strip()).resolve()
        shared = git_dir / "commondir"
        common = (git_dir / shared.read_text("utf-8").strip()).resolve() if shared.exists() else git_dir
        return Repository(folder, git_dir, common)
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Above:
    """The rules that hold where a walk begins; ``prefix`` leads from where they start to that folder."""

    ignores: Ignores
    prefix: bytes
    ignore_case: bool


def rules_above(root: Path, *, forget_parents: bool = False) -> Above:
    """What applies to ``root`` from outside of it.

    ``forget_parents`` is for a folder that its own repository ignores and that a person asked for
    nevertheless.
    """
    above = () if forget_parents else tuple(root.parents)
    repository = next(filter(None, map(repository_of, (root, *above))), None)
    git, ignore_case = rules_of(repository)
    ignores = Ignores(git)
    folder = repository.top if repository else root
    prefix = b""
    for part in root.relative_to(folder).parts:
        ignores = ignores.below(
            read_ignore_file(folder / ".gitignore", prefix, ignore_case),
            read_ignore_file(folder / ".memoryignore", prefix, ignore_case),
        )
        folder /= part
        prefix += os.fsencode(part) + b"/"
    return Above(ignores, prefix, ignore_case)


def rules_of(repository: Repository | None, base: bytes = b"") -> tuple[tuple[IgnoreFile, ...], bool]:
    """The global excludes and the repository's own, as rules below ``base``; and whether it ignores case."""
    settings = _settings(repository)
    by_platform = str(sys.platform in ("darwin", "win32"))
    ignore_case = settings.get("ignorecase", by_platform).lower() in ("true", "yes", "on", "1")
    # these two may be links: they are the user's own, not the repository's content
    places = (_global_excludes(settings), repository.common / "info" / "exclude" if repository else None)
    contents = [_read(path, follow=True) for path in places if path]
    files = [
        IgnoreFile.of(content, base, ignore_case=ignore_case) for content in contents if content is not None
    ]
    return tuple(files), ignore_case


def read_ignore_file(path: Path | str, base: bytes, ignore_case: bool) -> IgnoreFile | None:
    """An ignore file inside the tree; like git, a link is not followed."""
    content = _read(path, follow=False)
    return IgnoreFile.of(content, base, ignore_case=ignore_case) if content is not None else None


def _read(path: Path | str, *, follow: bool) -> bytes | None:
    try:
        about = os.stat(path, follow_symlinks=follow)  # noqa: PTH116 - Path.stat would build a Path for every folder
        if not S_ISREG(about.st_mode) or about.st_size > MAX_IGNORE_BYTES:
            return None
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except (OSError, ValueError):
        return None


def _global_excludes(settings: dict[str, str]) -> Path | None:
    named = settings.get("excludesfile")
    try:
        if named is not None:
            return Path(named).expanduser() if named else None
        return _config_home() / "git" / "ignore"
    except RuntimeError:  # there is no home directory
        return None


def _config_home() -> Path:
    named = os.environ.get("XDG_CONFIG_HOME")
    return Path(named) if named else Path.home() / ".config"


def _settings(repository: Repository | None) -> dict[str, str]:
    """The ``[core]`` entries of git's configuration, the most particular file last."""
    files = [Path("/etc/gitconfig")]
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    with contextlib.suppress(RuntimeError):  # there is no home directory
        files += [Path(named)] if named else [_config_home() / "git" / "config", Path.home() / ".gitconfig"]
    if repository:
        files.append(repository.common / "config")
    settings: dict[str, str] = {}
    for file in files:
        content = _read(file, follow=True)
        if content is not None:
            settings.update(_core_entries(content.decode("utf-8", "surrogateescape")))
    return settings


def _core_entries(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in text.splitlines():
        heading = _SECTION.match(line)
        if heading:
            section = heading[1].lower()
            line = line[heading.end() :]  # noqa: PLW2901 - git allows an entry after the heading
        entry = _ENTRY.match(line)
        if section == "core" and entry:
            value = entry[2] if entry[2] is not None else "true"
            quoted = re.match(r'"((?:[^"\\]|\\.)*)"', value)
            value = quoted[1] if quoted else re.split(r"\s[#;]", value)[0].rstrip()
            yield entry[1].lower(), re.sub(r"\\(.)", r"\1", value)
