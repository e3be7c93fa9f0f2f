"""How do we hear of changes on this file system?

From the operating system where it tells, else by looking again and again: on network and shared folders,
whose changes made elsewhere raise no event here, and when the watches allowed to a user are used up.
watchdog reports the latter for the first folder only and passes over the others in silence, hence a trial
watch at the end.

Only this module imports watchdog, and it is imported when a watch begins: start-up does not wait for it.
"""

import logging
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver, PollingObserverVFS

from indexer.walk_vendored import is_vendored_name

__all__ = ["Heard", "Observing", "is_remote", "observe"]

Heard = Callable[[str | bytes, bool, bool], None]
"""Called in watchdog's thread with a path, whether it is a folder, and whether it is gone."""

_WANTED: list[type[FileSystemEvent]] = [
    *(DirCreatedEvent, DirDeletedEvent, DirMovedEvent),
    *(FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent),
]
_REMOTE = (
    "9p",
    "afs",
    "cifs",
    "drvfs",
    "nfs",
    "prl_fs",
    "smb",
    "vboxsf",
    "fuse.grpcfuse",
    "fuse.osxfs",
    "fuse.sshfs",
)
_JOIN_SECONDS = 10.0

log = logging.getLogger(__name__)


class Observing:
    """A watch under way, until ``end``."""

    def __init__(self, observer: BaseObserver) -> None:
        self._observer = observer
        self.polling = isinstance(observer, PollingObserver | PollingObserverVFS)

    @property
    def alive(self) -> bool:
        """Whether all its threads still run: one ends with the root, or by an error nobody else would see."""
        reader = getattr(self._observer, "_inotify_fd", None)  # Linux only, and not part of its interface
        threads = [self._observer, *self._observer.emitters, *([reader] if reader is not None else [])]
        return bool(self._observer.emitters) and all(thread.is_alive() for thread in threads)

    def end(self) -> None:
        """Stop its threads and wait for them, whether they ever ran or not."""
        self._observer.stop()
        with suppress(RuntimeError):  # never started, or this is one of them
            self._observer.join(_JOIN_SECONDS)


def observe(root: str, heard: Heard, *, polling: bool | None, poll_seconds: float) -> Observing:
    """Begin to listen; the file system decides if ``polling`` is None. ``OSError``: there is no such
    folder."""
    Path(root).stat()
    # said when a new folder gets its own folders while it is being added: harmless, and an error for some
    warnings.filterwarnings("ignore", message="Callback with id", category=RuntimeWarning)
    if not (is_remote(root) if polling is None else polling):
        try:
            return _begin(Observer(), root, heard)
        except OSError as error:
            log.warning("Watching %s by polling: %s", root, error.strerror or error)
    # not PollingObserver: it follows links, out of the project and in circles
    return _begin(PollingObserverVFS(os.lstat, _scan, polling_interval=poll_seconds), root, heard)


def is_remote(root: str, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """Whether a folder lies on a file system that changes without telling; False where nobody knows."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    longest, kind = "", ""
    for fields in (line.split(" ") for line in lines):
        point = fields[1].replace("\\040", " ") if len(fields) > 2 else "?"
        if len(point) >= len(longest) and (root + "/").startswith(point.rstrip("/") + "/"):
            longest, kind = point, fields[2]
    return kind.startswith(_REMOTE)


class _Handler(FileSystemEventHandler):
    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    def dispatch(self, event: FileSystemEvent) -> None:
        moved = event.event_type == "moved"
        self._heard(event.src_path, event.is_directory, moved or event.event_type == "deleted")
        if moved:
            self._heard(event.dest_path, event.is_directory, False)


def _begin(observer: BaseObserver, root: str, heard: Heard) -> Observing:
    observing = Observing(observer)
    handler = _Handler(heard)
    try:
        observer.schedule(handler, root, recursive=True, event_filter=_WANTED)
        observer.start()
        if not observing.polling:
            with tempfile.TemporaryDirectory(prefix="memory-mcp-") as folder:
                observer.unschedule(observer.schedule(handler, folder, event_filter=_WANTED))
    except OSError:
        observing.end()
        raise
    return observing


def _scan(folder: str | None) -> Iterator["os.DirEntry[str]"]:
    """What polling looks at: nothing inside dependencies and version control, but which branch it is on."""
    path = folder or "."
    in_git = path.endswith(f"{os.sep}.git")
    with os.scandir(path) as entries:
        for entry in entries:
            name = entry.name
            if in_git:
                if name == "HEAD":
                    yield entry
            elif name == ".git" or not is_vendored_name(name):
                yield entry
