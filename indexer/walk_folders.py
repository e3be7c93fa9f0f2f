"""Which folders of a git listing are entered, and what was left out?

git lists paths, not folders; here each folder is asked about once: is it still one (a tracked folder may
have become a link out of the project), what does ``.memoryignore`` say, did someone else write what is in
it.
"""

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from stat import S_ISDIR

from indexer.ignore import Ignores
from indexer.ignore_sources import Above, read_ignore_file
from indexer.walk_content import Reason
from indexer.walk_vendored import is_vendored

__all__ = ["Folders", "Tally"]


@dataclass(slots=True)
class Tally:
    """What was left out: how many for each reason, and the first few by name. A path counts once."""

    examples_kept: int
    counts: Counter[Reason] = field(default_factory=Counter)
    examples: defaultdict[Reason, list[str]] = field(default_factory=lambda: defaultdict(list))
    _seen: set[str] = field(default_factory=set)

    def add(self, reason: Reason, path: str) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        self.counts[reason] += 1
        if len(self.examples[reason]) < self.examples_kept:
            self.examples[reason].append(path.encode("utf-8", "replace").decode("utf-8"))


class Folders:
    """The folders of one work tree; paths are relative to ``root``, empty or with a slash at their end."""

    def __init__(self, root: str, top: str, ignores: Ignores, above: Above, tally: Tally) -> None:
        self.bring_back = any(file.can_bring_back for file in ignores.memory)
        self._root = root
        self._above = above
        self._tally = tally
        self._rules: dict[str, Ignores | None] = {top: self._with_own(top, ignores)}
        self._vendored: dict[str, bool] = {top: False}

    def rules(self, folder: str) -> Ignores | None:
        """The rules in a folder; None where it is not entered."""
        if folder not in self._rules:
            above = self.rules(_parent(folder))
            self._rules[folder] = self._enter(folder, above) if above is not None else None
        return self._rules[folder]

    def vendored(self, folder: str) -> bool:
        """Whether an untracked file in this folder would be someone else's; the outermost such folder is
        counted."""
        if folder not in self._vendored:
            parent = _parent(folder)
            name = folder[len(parent) : -1]
            inherited = self.vendored(parent)
            own = not inherited and is_vendored(
                name, lambda file: self._exists(parent + file), lambda file: self._exists(folder + file)
            )
            if own:
                self._tally.add(Reason.VENDORED, folder)
            self._vendored[folder] = inherited or own
        return self._vendored[folder]

    def _enter(self, folder: str, above: Ignores) -> Ignores | None:
        try:
            if not S_ISDIR(os.lstat(self._path(folder[:-1])).st_mode):
                return None
        except (OSError, ValueError):
            return None  # deleted, though files in it are still tracked
        if above.memory_verdict(self._above.prefix + os.fsencode(folder[:-1]), folder=True):
            self._tally.add(Reason.EXCLUDED, folder)
            return None
        return self._with_own(folder, above)

    def _with_own(self, folder: str, above: Ignores) -> Ignores:
        base = self._above.prefix + os.fsencode(folder)
        own = read_ignore_file(self._path(folder + ".memoryignore"), base, self._above.ignore_case)
        if own is not None and own.can_bring_back:
            self.bring_back = True
        return above.below(memory=own)

    def _exists(self, path: str) -> bool:
        return os.path.lexists(self._path(path))

    def _path(self, path: str) -> str:
        return os.path.join(self._root, path)  # noqa: PTH118 - called for every folder


def _parent(folder: str) -> str:
    return folder[: folder.rfind("/", 0, -1) + 1]
