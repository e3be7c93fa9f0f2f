"""Which files of this project are worth reading?

``walk`` lists them with what ``stat`` knows, and counts what it leaves out, by reason. Ignored files are
not counted: nobody expects them. In a git work tree git itself is asked; elsewhere its rules are applied
without it (``indexer/walk_tree.py``). What is in a file decides too: binary, generated, minified
(``indexer/walk_content.py``).
"""

import hashlib
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType
from typing import ClassVar

from indexer.walk_content import MAX_BYTES, Reason, Skip, by_name, inspect, read_text
from indexer.walk_folders import Tally
from indexer.walk_tree import TooManyFiles, Tree
from indexer.walk_vendored import VERSION_CONTROL
from retrieval.errors import MemoryServerError

__all__ = [
    "File",
    "InvalidPath",
    "Limits",
    "Reason",
    "Skip",
    "Walked",
    "check_root",
    "project_id",
    "read_text",
    "stat_file",
    "walk",
]

SETTLED_NS = 2_000_000_000
"""How long a file must have been left alone before an unchanged ``stat`` proves unchanged content: FAT
counts in two seconds, Linux in timer ticks."""
NO_PROJECTS = ("/proc", "/sys", "/dev")
"""Trees the kernel makes up; walking them does not end."""


class InvalidPath(MemoryServerError):
    """A path that cannot be a project's root."""

    code: ClassVar[str] = "INVALID_PATH"

    def __init__(self, path: str | Path, why: str) -> None:
        super().__init__(f"Invalid path: {str(path)[:1_000]} ({why})")
        self.path = str(path)
        self.why = why


@dataclass(frozen=True, slots=True)
class File:
    """A file below the root, by its path with slashes, and what tells a change without reading it."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def stamp(self) -> tuple[int, int, int, int]:
        """Equal stamps mean equal content, if the file was ``settled`` when the first was taken."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode

    def settled(self, looked_ns: int) -> bool:
        """Whether the last change is old enough, at ``looked_ns``, that a later one will show in
        ``stamp``."""
        return max(self.mtime_ns, self.ctime_ns) < looked_ns - SETTLED_NS


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is too much."""

    max_bytes: int = MAX_BYTES
    max_files: int = 500_000
    examples: int = 5


@dataclass(frozen=True, slots=True)
class Walked:
    """The files worth reading, by path, and what was left out: a count for each reason, and a few
    examples."""

    root: Path
    files: tuple[File, ...]
    skipped: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    by_git: bool
    started_ns: int = field(compare=False)


def walk(
    root: str | Path,
    *,
    limits: Limits = Limits(),
    look_inside: bool = True,
    ask_git: bool = True,
) -> Walked:
    """List a project's files, or raise ``InvalidPath``.

    Without ``look_inside`` no file is opened: for a caller that reads them anyway (``read_text`` judges the
    same), or that only asks what changed.
    """
    started = time.time_ns()
    top = check_root(root)
    tally = Tally(limits.examples)
    tree = Tree(top, tally, max_files=limits.max_files, ask_git=ask_git)
    try:
        tree.gather()
    except TooManyFiles:
        why = (
            f"more than {limits.max_files:,} files: choose a folder in it, or leave some out by .memoryignore"
        )
        raise InvalidPath(root, why) from None
    files = []
    for path, about in sorted(tree.found.items()):
        reason = _reason(path, about, limits) or (
            inspect(os.path.join(top, path), max_bytes=limits.max_bytes) if look_inside else None  # noqa: PTH118
        )
        if reason is None:
            files.append(File(path, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino))
        else:
            tally.add(reason, path)
    return Walked(
        root=top,
        files=tuple(files),
        skipped=MappingProxyType({reason.value: count for reason, count in sorted(tally.counts.items())}),
        examples=MappingProxyType(
            {reason.value: tuple(paths) for reason, paths in sorted(tally.examples.items())}
        ),
        by_git=tree.by_git,
        started_ns=started,
    )


def stat_file(root: Path, path: str) -> File | None:
    """One file as it is now; None when there is none (any more)."""
    try:
        about = os.lstat(root / path)
    except (OSError, ValueError):
        return None
    if not S_ISREG(about.st_mode):
        return None
    return File(path, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)


def _reason(path: str, about: os.stat_result, limits: Limits) -> Reason | None:
    if not S_ISREG(about.st_mode):
        return Reason.SPECIAL
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:  # such a path can neither be stored nor shown
        return Reason.ODD_NAME
    if about.st_size > limits.max_bytes:
        return Reason.TOO_LARGE
    if about.st_size == 0:
        return Reason.EMPTY
    return by_name(path)


def check_root(path: str | Path) -> Path:
    """The folder a path names, links resolved, or ``InvalidPath`` with the reason."""
    try:
        if not str(path).strip():
            raise InvalidPath(path, "it is empty: name a folder")
        root = Path(path).expanduser().resolve(strict=True)
        if not root.is_dir():
            raise InvalidPath(path, "it is not a folder: name the folder it is in")
        if root == Path(root.anchor):
            raise InvalidPath(path, "it is the whole file system: choose a project's folder")
        if _holds_home(root):
            raise InvalidPath(path, "it is or holds the home directory: choose a project's folder")
        if str(root).startswith(tuple(f"{tree}/" for tree in NO_PROJECTS)) or str(root) in NO_PROJECTS:
            raise InvalidPath(path, "it belongs to the operating system: choose a project's folder")
        with os.scandir(root) as entries:
            if all(entry.name in VERSION_CONTROL for entry in entries):
                raise InvalidPath(path, "there are no files in it")
    except FileNotFoundError:
        raise InvalidPath(path, "it does not exist") from None
    except PermissionError:
        raise InvalidPath(path, "it may not be read: check its permissions") from None
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, no such user, a NUL in it
        raise InvalidPath(path, str(getattr(error, "strerror", None) or error)) from None
    return root


def _holds_home(root: Path) -> bool:
    try:
        home = Path.home().resolve()
    except (OSError, RuntimeError):
        return False
    return root == home or root in home.parents


def project_id(root: Path, taken: Mapping[str, Path]) -> str:
    """A name for a project that can be read and typed: ``app``, and ``app-k3v9qd`` for the next folder of
    that name.

    ``taken`` holds the ids given so far: a folder in it keeps its id, however its path is spelled, and an id
    in it is not given twice. The ending comes from the folder's whole path.
    """
    root = Path(os.path.realpath(root))
    for known, folder in taken.items():
        if folder == root or _same_folder(folder, root):
            return known
    slug = re.sub(r"[^\w.]+", "-", root.name.lower()).strip("-._")[:40] or "project"
    digest = hashlib.sha256(os.fsencode(root)).digest()
    ending = "".join(
        "0123456789abcdefghjkmnpqrstvwxyz"[byte % 32] for byte in digest
    )  # no i, l, o, u: read aloud
    longer = (f"{slug}-{ending[:length]}" for length in range(6, len(ending) + 1))
    return next(name for name in (slug, *longer) if name not in taken)


def _same_folder(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
