"""Is the engine open yet?

Importing and opening it takes longer than a client should wait for the list of tools, and would slow that
answer down even from another thread. So the refusals that must come before serving are checked first,
cheaply, and the engine is opened in the background once the first answer is out.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

from memory_mcp.engine import about
from memory_mcp.owner.lock import FolderLock
from memory_mcp.settings import Settings
from retrieval.embedding.registry import find_model
from retrieval.errors import StoreError

if TYPE_CHECKING:
    from memory_mcp.engine.engine import Engine

__all__ = ["Opening", "claim"]

log = logging.getLogger(__name__)


class Opening:
    """An engine that is not open yet, is being opened, is open, or could not be opened."""

    def __init__(
        self,
        open_now: "Callable[[], Engine]",
        *,
        timeout: float = 10.0,
        abandon: Callable[[], None] = lambda: None,
    ) -> None:
        self._open_now = open_now
        self._timeout = timeout
        self._abandon = abandon
        self._lock = threading.Lock()
        self._begun = False
        self._closed = False
        self._views: dict[str, Engine] = {}
        self._engine: Future[Engine] = Future()

    def begin(self, after: float = 0.0) -> None:
        """Open in the background ``after`` seconds from now, unless that has begun by then."""
        if after > 0:
            timer = threading.Timer(after, self.begin)
            timer.daemon = True
            timer.start()
            return
        with self._lock:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._open, name="opening", daemon=True).start()

    def engine(self, timeout: float | None = None) -> "Engine":
        """Wait for the engine, ``timeout`` seconds or as the settings say; raises what opening raised."""
        self.begin()
        try:
            return self._engine.result(self._timeout if timeout is None else timeout)
        except TimeoutError:
            if self._engine.done():  # opening itself ran into one
                raise
            raise StoreError("The database is still being opened. Please try again.") from None

    def engine_for(self, user_id: str | None) -> "Engine":
        """The engine as a user sees it, or as one who may see all; waits as ``engine`` does."""
        engine = self.engine()
        if user_id is None:
            return engine
        with self._lock:
            if user_id not in self._views:
                self._views[user_id] = engine.seen_by(user_id)
            return self._views[user_id]

    def close(self) -> None:
        """Close the engine, waiting for it if it is just being opened; a second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            begun, self._begun = self._begun, True
        if not begun:
            self._engine.set_exception(StoreError("The server is stopping."))
            self._abandon()
        elif self._engine.exception() is None:
            self._engine.result().close()

    def _open(self) -> None:
        try:
            engine = self._open_now()
        except BaseException as error:  # noqa: BLE001 - whoever asks for the engine gets it
            log.error("the data directory could not be opened: %s", error)
            self._engine.set_exception(error)
        else:
            self._engine.set_result(engine)


def claim(settings: Settings, held: FolderLock | None = None) -> Opening:
    """Make sure that the data directory is ours and fits the configured model, or raise; open nothing yet.

    ``held`` is the lock of a caller that has it already; it is given up with the rest.
    """
    lock = held or FolderLock.acquire(settings.data_dir)
    try:
        spec = find_model(settings.model)
    except BaseException:
        lock.release()
        raise

    def open_now() -> "Engine":
        from memory_mcp.engine.engine import open_engine

        # whoever comes says whose memories it may see (``engine_for``)
        return open_engine(replace(settings, user_id=None), lock=lock)

    opening = Opening(open_now, timeout=settings.timeout, abandon=lock.release)
    try:
        known = about.check(settings.data_dir, spec)
        if not known and settings.database_dir.exists():
            # Only the database itself can say which model it belongs to.
            opening.engine(timeout=_PATIENCE)
    except BaseException:
        opening.close()
        raise
    return opening


_PATIENCE = 3600.0
"""Seconds for an opening that nobody waits for but the person who started us: in effect, no limit."""
