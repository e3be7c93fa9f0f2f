"""What changed since we last looked?

A ``Watcher`` follows one project and calls ``on_change`` with the paths that may have changed, or with None
to look at everything. A path may be gone, and it may be a folder: then anything below it may have changed.
Start it first and index then: what happens in between is told.

watchdog's threads only put events into a batch (``indexer/watch_batch.py``), under a lock. One thread of ours
waits until the batch is complete and makes the call: calls never overlap, and an error in one ends nothing;
everything is looked at again later.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.watch_batch import PACE, Batch, Pace, relative, worth

if TYPE_CHECKING:
    from indexer.watch_observer import Observing

__all__ = ["OnChange", "Pace", "Watcher"]

POLL_SECONDS = 2.0
"""Between two looks where polling is needed."""
HEALTH_SECONDS = 30.0
"""Between two looks whether watchdog's threads still run."""
RETRY_SECONDS = 30.0
"""After a call that failed; doubled each time it fails again, up to ten minutes."""
_RETRY_AT_MOST = 600.0
_STOP_SECONDS = 10.0

log = logging.getLogger(__name__)

OnChange = Callable[[frozenset[str] | None], None]


class Watcher:
    """Follows the files below ``root``; ``start`` and ``stop`` work from any thread, any number of times."""

    def __init__(
        self,
        root: Path,
        on_change: OnChange,
        *,
        pace: Pace = PACE,
        polling: bool | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        """``polling`` is decided by the file system if not given."""
        self._root = os.path.realpath(root)
        self._on_change = on_change
        self._polling = polling
        self._poll_seconds = poll_seconds
        self._batch = Batch(pace)
        self._changed = threading.Condition()
        self._lifecycle = threading.RLock()
        self._observing: Observing | None = None
        self._teller: threading.Thread | None = None
        self._root_lost = False
        self._retry = RETRY_SECONDS

    @property
    def running(self) -> bool:
        return self._teller is not None

    @property
    def by_polling(self) -> bool:
        """Whether changes are looked for instead of told of: they show one or two ``poll_seconds`` later."""
        observing = self._observing
        return observing is not None and observing.polling

    def start(self) -> None:
        """Begin; ``OSError`` if there is no such folder."""
        with self._lifecycle:
            if self._teller is not None:
                return
            with self._changed:
                self._batch.take()
                self._root_lost = False
            self._observing = self._observe()
            self._teller = threading.Thread(target=self._tell, name="memory-mcp-watch", daemon=True)
            self._teller.start()

    def stop(self) -> None:
        """End. No call is begun after this; one under way is waited for, a while, unless it is the caller."""
        with self._lifecycle:
            with self._changed:
                teller, self._teller = self._teller, None
                self._changed.notify_all()
            observing, self._observing = self._observing, None
        if observing is not None:
            observing.end()
        if teller is not None and teller is not threading.current_thread():
            teller.join(_STOP_SECONDS)

    def _observe(self) -> "Observing":
        from indexer.watch_observer import observe

        observing = observe(self._root, self._heard, polling=self._polling, poll_seconds=self._poll_seconds)
        self._batch.between_looks = self._poll_seconds if observing.polling else 0.0
        return observing

    def _heard(self, path: str | bytes, folder: bool, gone: bool) -> None:
        """Runs in watchdog's thread: no disk, no call out, nothing that raises."""
        below = relative(path, self._root)
        if below is None:
            return
        change = worth(below, folder=folder)
        with self._changed:
            self._batch.add(change, time.monotonic())
            self._root_lost |= gone and not below
            self._changed.notify_all()

    def _tell(self) -> None:
        while True:
            with self._changed:
                if self._teller is not threading.current_thread():
                    return  # stopped, and perhaps started anew
                wait = self._batch.wait(time.monotonic())
                if wait != 0:
                    health = self._poll_seconds if self._root_lost else HEALTH_SECONDS
                    self._changed.wait(health if wait is None else min(wait, health))
                    due = False
                else:
                    batch, due = self._batch.take(), True
            if due:
                self._call(batch)
            else:
                self._revive()

    def _call(self, batch: frozenset[str] | None) -> None:
        try:
            self._on_change(batch)
        except Exception:
            # whatever it was, watching goes on
            log.exception(
                "Changes in %s could not be taken in; trying again in %.0f s", self._root, self._retry
            )
            with self._changed:
                self._batch.add_everything(time.monotonic() + self._retry)
            self._retry = min(2 * self._retry, _RETRY_AT_MOST)
        else:
            self._retry = RETRY_SECONDS

    def _revive(self) -> None:
        """Watch anew where a watch ended: a folder cloned again, a volume mounted again, a dead thread."""
        observing = self._observing
        if observing is None or observing.alive or not Path(self._root).is_dir():
            return
        with self._lifecycle:
            if self._observing is not observing:
                return  # stopped meanwhile
            observing.end()
            try:
                self._observing = self._observe()
            except OSError:
                return  # gone again
            with self._changed:
                self._root_lost = False
                self._batch.add_everything(time.monotonic())
