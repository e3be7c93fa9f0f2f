"""Which changes belong together, and when is it time to tell?

The part of watching that thinks, without threads and without a clock of its own: events and times go in,
batches come out. A batch waits for a quiet moment, but not for ever; where changes are looked for, silence
between two looks says nothing, and the moment is one look longer. A batch is a set of paths, or None for
"look at everything": after a branch switch, a change of the ignore rules, more changes than are worth naming,
or so many events that the operating system may have dropped some.

A program that saves by writing another file and renaming it, or by deleting and writing again, is over
within one batch. The other file's name may be in the batch too: it cannot be told for sure from a file that
was there before, and a path that is neither on disk nor in the index costs nothing.
"""

import os
from dataclasses import dataclass

from indexer.walk_content import by_name
from indexer.walk_vendored import is_vendored_name

__all__ = ["PACE", "Batch", "Pace", "Worth", "relative", "worth"]

_RULES = frozenset((".gitignore", ".memoryignore", ".git"))
_IN_REPOSITORY = (".git/HEAD", ".git/info/exclude")


@dataclass(frozen=True, slots=True)
class Pace:
    """When a batch is told, in seconds, and when it stops being a list."""

    quiet: float = 0.4
    """Without an event for so long, the batch is complete; a save in an editor takes some 50 ms."""
    longest: float = 5.0
    """Told at the latest this long after its first event: a build may never be quiet."""
    many: int = 500
    """With more paths than this, one walk costs less than asking for each."""
    overflow: int = 4_000
    """Events after which some may have been lost: Linux queues 16,384, most of which we never see."""


PACE = Pace()


@dataclass(frozen=True, slots=True)
class Worth:
    """What a change of one path is worth telling."""

    path: str | None = None
    everything: bool = False


_NOTHING = Worth()
_EVERYTHING = Worth(everything=True)


def worth(path: str, *, folder: bool) -> Worth:
    """Judge by the path alone (relative, with slashes), since this runs for every event.

    What the walk leaves out by name is nothing. So is all in a folder of dependencies: where such a folder is
    tracked, or brought back by ``.memoryignore``, its changes wait for the next walk.
    """
    name = path[path.rfind("/") + 1 :]
    if not path or name in _RULES or path.endswith(_IN_REPOSITORY):
        return _EVERYTHING  # the root itself, other rules, another branch
    if not folder and by_name(path) is not None:
        return _NOTHING
    if any(map(is_vendored_name, path.split("/"))):
        return _NOTHING
    return Worth(path)


def relative(path: str | bytes, root: str) -> str | None:
    """A path as the walk spells it (empty for the root), or None if it is not below the root."""
    spelled = os.fsdecode(path)
    if spelled == root:
        return ""
    if not spelled.startswith(root + os.sep):
        return None
    return spelled[len(root) + 1 :].replace(os.sep, "/")


class Batch:
    """The changes since the last batch was taken."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.between_looks = 0.0
        """Seconds between two looks, where changes are looked for instead of told of."""
        self._paths: set[str] = set()
        self._everything = False
        self._events = 0
        self._first: float | None = None
        self._last = 0.0

    def add(self, change: Worth, now: float) -> None:
        """Take in an event; one of no interest counts too: it may have pushed another out of the queue."""
        self._events += 1
        if change.path is not None:
            self._paths.add(change.path)
            self._touch(now)
        full = len(self._paths) > self._pace.many or self._events > self._pace.overflow
        if change.everything or full:
            self.add_everything(now)

    def add_everything(self, now: float) -> None:
        """From here on the batch is None, and small; a ``now`` to come delays it until then."""
        self._everything = True
        self._paths.clear()
        self._touch(now)

    def wait(self, now: float) -> float | None:
        """Seconds until the batch may be taken; None while there is nothing in it."""
        if self._first is None:
            return None
        quiet = self._last + self._pace.quiet + self.between_looks
        return max(0.0, min(quiet, self._first + self._pace.longest) - now)

    def take(self) -> frozenset[str] | None:
        """The paths that may have changed, or None for everything; the batch begins anew."""
        taken = None if self._everything else frozenset(self._paths)
        self._paths.clear()
        self._everything = False
        self._events = 0
        self._first = None
        return taken

    def _touch(self, now: float) -> None:
        self._last = now
        if self._first is None:
            self._first = now
