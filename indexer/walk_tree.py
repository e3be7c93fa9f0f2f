"""Which paths does a project consist of, before anyone looks into the files?

Each work tree is asked for by itself, from git where git answers, else by the rules in
``indexer/ignore.py``: the project, its submodules, and repositories that happen to lie in it.
``.memoryignore`` holds across all of them; ``.gitignore`` ends where another repository begins. Another
worktree of the same repository is left out: it is the same code again. Links are never followed: what they
point to inside the project is found under its own name.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from stat import S_ISDIR, S_ISLNK

from indexer.ignore import Ignores
from indexer.ignore_sources import Repository, read_ignore_file, repository_of, rules_above, rules_of
from indexer.walk_content import Reason
from indexer.walk_folders import Folders, Tally
from indexer.walk_git import list_files
from indexer.walk_vendored import EVIDENCE_INSIDE, VERSION_CONTROL, is_vendored

__all__ = ["TooManyFiles", "Tree"]


class TooManyFiles(Exception):
    """The tree is larger than anyone meant to index."""


class Tree:
    """One gathering: ``found`` maps each path below the root to its ``lstat``, no content looked at."""

    def __init__(self, root: Path, tally: Tally, *, max_files: int, ask_git: bool) -> None:
        self.found: dict[str, os.stat_result] = {}
        self.by_git = False
        self._root = str(root)
        self._tally = tally
        self._max_files = max_files
        self._ask_git = ask_git
        self._above = rules_above(root)
        self._work_trees: set[str] = set()

    def gather(self) -> None:
        """Fill ``found``, or raise ``TooManyFiles``."""
        root = Path(self._root)
        ignored = self._root_is_ignored()
        if ignored:
            self._above = rules_above(root, forget_parents=True)
        self.by_git = self._gather("", self._above.ignores, repository_of(root), try_git=not ignored)

    def _root_is_ignored(self) -> bool:
        parts = self._above.prefix.rstrip(b"/").split(b"/")
        paths = [b"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        return any(path and self._above.ignores.ignored(path, folder=True) for path in paths)

    def _gather(
        self, at: str, ignores: Ignores, repository: Repository | None, *, try_git: bool = True
    ) -> bool:
        """Take in one work tree; ``at`` is empty or ends with a slash. Tells whether git listed it."""
        self._work_trees.add(at)
        listing = list_files(Path(self._root, at)) if try_git and self._ask_git else None
        if listing is None:
            self._by_rules(at, ignores, repository)
            return False
        folders = Folders(self._root, at, ignores, self._above, self._tally)
        for names, tracked in ((listing.tracked, True), (listing.untracked, False)):
            for name in names:
                path = at + name.rstrip("/")
                parent = path[: path.rfind("/") + 1]
                rules = folders.rules(parent)
                if rules is not None and (tracked or not folders.vendored(parent)):
                    self._take(path, rules, repository)
        if folders.bring_back:
            # git does not list what it ignores: what .memoryignore brings back is looked for without it
            self._by_rules(at, ignores, repository)
        return True

    def _take(self, path: str, ignores: Ignores, repository: Repository | None) -> None:
        """Keep a path that git listed: a file, or the folder of another repository."""
        try:
            about = os.lstat(self._path(path))
        except (OSError, ValueError):
            return  # deleted, but still tracked
        folder = S_ISDIR(about.st_mode)
        if ignores.memory_verdict(self._above.prefix + os.fsencode(path), folder=folder):
            self._tally.add(Reason.EXCLUDED, path + "/" * folder)
        elif folder:
            self._nested(path + "/", ignores, repository)
        else:
            self._keep(path, about)

    def _nested(self, at: str, ignores: Ignores, outer: Repository | None) -> None:
        if at in self._work_trees:
            return
        inner = repository_of(Path(self._root, at))
        if inner and outer and inner.common == outer.common and outer.checked_out:
            self._tally.add(Reason.WORKTREE, at)
        elif inner:
            git, _ = rules_of(inner, self._above.prefix + os.fsencode(at))
            self._gather(at, Ignores(git, ignores.memory), inner)
        else:
            self._by_rules(at, ignores, outer)

    def _by_rules(self, at: str, ignores: Ignores, repository: Repository | None) -> None:
        waiting = [(at, ignores)]
        while waiting:
            folder, rules = waiting.pop()
            try:
                with os.scandir(self._path(folder)) as scan:
                    entries = {entry.name: entry for entry in scan}
            except OSError:
                self._tally.add(Reason.UNREADABLE, folder)
                continue
            if folder != at and ".git" in entries and repository_of(Path(self._root, folder)):
                self._nested(folder, rules, repository)
                continue
            base = self._above.prefix + os.fsencode(folder)
            asks = base[:-1] and folder != at and any(name in entries for name in EVIDENCE_INSIDE)
            if asks and rules.memory_verdict(base[:-1], folder=True) is not False:
                self._tally.add(Reason.VENDORED, folder)
                continue
            rules = self._rules_in(folder, base, rules, entries.__contains__)
            for name, entry in entries.items():
                path = folder + name
                if name in VERSION_CONTROL:  # a file too: worktrees and submodules have one named .git
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    self._by_rules_file(path, base, entry, rules)
                elif not self._left_out(path, base, name, rules, entries.__contains__):
                    waiting.append((path + "/", rules))

    def _by_rules_file(self, path: str, base: bytes, entry: os.DirEntry[str], rules: Ignores) -> None:
        if path in self.found:
            return
        said = rules.memory_verdict(spelled := base + os.fsencode(entry.name), folder=False)
        if said:
            self._tally.add(Reason.EXCLUDED, path)
        elif said is False or not rules.ignored(spelled, folder=False):
            with contextlib.suppress(OSError):  # gone since the folder was listed
                self._keep(path, entry.stat(follow_symlinks=False))

    def _left_out(
        self, path: str, base: bytes, name: str, rules: Ignores, beside: Callable[[str], bool]
    ) -> bool:
        spelled = base + os.fsencode(name)
        said = rules.memory_verdict(spelled, folder=True)
        if said is not None:
            if said:
                self._tally.add(Reason.EXCLUDED, path + "/")
            return said
        if rules.ignored(spelled, folder=True):
            return True
        if is_vendored(name, beside, lambda _: False):
            self._tally.add(Reason.VENDORED, path + "/")
            return True
        return False

    def _rules_in(self, folder: str, base: bytes, rules: Ignores, there: Callable[[str], bool]) -> Ignores:
        case = self._above.ignore_case
        git, memory = (
            read_ignore_file(self._path(folder + name), base, case) if there(name) else None
            for name in (".gitignore", ".memoryignore")
        )
        return rules.below(git, memory)

    def _keep(self, path: str, about: os.stat_result) -> None:
        if S_ISLNK(about.st_mode):
            target = os.path.realpath(self._path(path))
            inside = target == self._root or target.startswith(self._root.rstrip(os.sep) + os.sep)
            self._tally.add(Reason.LINK if inside else Reason.LINK_OUTSIDE, path)
            return
        self.found[path] = about
        if len(self.found) > self._max_files:
            raise TooManyFiles

    def _path(self, path: str) -> str:
        return os.path.join(self._root, path)  # noqa: PTH118 - called for every file
