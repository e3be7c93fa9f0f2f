"""Where is everything wired together?

``open_engine`` is the one place. It returns at once after the database is open: the model loads and the
indexes catch up in the background, and whoever needs them waits for them, a bounded while.
"""

import copy
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

import memory_mcp
from memory_mcp.engine import about
from memory_mcp.engine.code import Code
from memory_mcp.engine.freshness import Freshness
from memory_mcp.engine.knowledge import Knowledge
from memory_mcp.engine.memories import Memories
from memory_mcp.engine.projects import Projects
from memory_mcp.engine.questions import Questions
from memory_mcp.engine.recall import Recalled, Sources, recall
from memory_mcp.engine.symbols import Symbols
from memory_mcp.owner.lock import FolderLock
from memory_mcp.settings import Settings
from retrieval.embedding.cache import CacheStats
from retrieval.embedding.encoder import Encoder, EncoderState, open_encoder
from retrieval.embedding.registry import find_model
from retrieval.fusion import Weights
from retrieval.indexes import Indexes, Progress
from retrieval.records import Scope
from retrieval.store.store import Counts, Store

__all__ = ["Engine", "Status", "open_engine"]

log = logging.getLogger(__name__)

_READERS = 2
"""Questions read beside their embedding at a time; they take turns on the indexes anyway."""


@dataclass(frozen=True, slots=True)
class Status:
    """How the engine is doing."""

    version: str
    counts: Counts
    encoder: EncoderState
    model: str
    dimensions: int
    cache: CacheStats
    database_dimensions: int
    rebuilding: Progress | None


class Engine:
    """The memory of one data directory, seen through one scope."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        encoder: Encoder,
        settings: Settings,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._encoder = encoder
        self._settings = settings
        self._now = now
        self._beside = ThreadPoolExecutor(_READERS, thread_name_prefix="reading")
        scope = Scope(settings.space, settings.user_id)
        self._look_through(scope)
        self.projects = Projects(store, indexes, encoder, scope, now, self.memories.wait)
        freshness = Freshness(store, indexes, self.projects)
        self.code = Code(indexes, encoder, self.projects, freshness, self.memories.wait)
        self.symbols = Symbols(store, indexes, self.projects, freshness, self.memories.wait)
        self._lock: FolderLock | None = None
        self._catching_up = threading.Thread(target=indexes.bring_up, name="catch-up", daemon=True)

    def _look_through(self, scope: Scope) -> None:
        self.memories = Memories(
            self._store, self._indexes, self._encoder, scope, timeout=self._settings.timeout, now=self._now
        )
        self.knowledge = Knowledge(self._store, self._indexes, self.memories, scope, self._now)
        self.questions = Questions(
            self._indexes, self._encoder, self.memories, scope, self._now, self._beside
        )

    def seen_by(self, user_id: str | None) -> "Engine":
        """The same engine through the eyes of one user, or of all; only the first one is to be closed."""
        other = copy.copy(self)
        other._look_through(Scope(self._settings.space, user_id))
        return other

    def start(self) -> None:
        """Begin to load the model and to bring the indexes up to date, in the background."""
        self._encoder.start()
        self._catching_up.start()
        self.projects.start()

    def wait(self, seconds: float) -> None:
        """Give the model and the indexes up to this long, each, to be ready."""
        self._encoder.wait(seconds)
        self._indexes.wait(seconds)

    def recall(self, query: str, limit: int, weights: Weights, sources: Sources) -> Recalled:
        """What memories, code or both say to a question."""
        return recall(self.questions, self.code, query, limit, weights, sources)

    def status(self) -> Status:
        state = self._store.state()
        return Status(
            version=memory_mcp.__version__,
            counts=state.counts,
            encoder=self._encoder.state,
            model=self._encoder.spec.name,
            dimensions=self._encoder.dimensions,
            cache=self._encoder.cache_stats,
            database_dimensions=state.dimensions or self._encoder.dimensions,
            rebuilding=self._indexes.progress,
        )

    def reset(self) -> Counts:
        """Delete everything, for good; returns how much there was."""
        self.memories.wait()
        deleted: list[Counts] = []
        with self.projects.forgetting():
            self._indexes.reset(lambda: deleted.append(self._store.reset()))
        return deleted[0]

    def own(self, lock: FolderLock) -> None:
        """Keep the claim on the data directory until ``close``."""
        self._lock = lock

    def close(self) -> None:
        """Save the indexes, close the database, give the folder up."""
        self.projects.close()
        self._beside.shutdown(cancel_futures=True)
        self._indexes.close()
        if self._catching_up.is_alive():
            self._catching_up.join()
        self._encoder.close()
        self._store.close()
        if self._lock is not None:
            self._lock.release()


def open_engine(
    settings: Settings,
    *,
    encoder: Encoder | None = None,
    lock: FolderLock | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Engine:
    """Open the data directory, or raise: locked, from a newer version, or embedded with another model."""
    spec = encoder.spec if encoder is not None else find_model(settings.model)
    lock = lock or FolderLock.acquire(settings.data_dir)
    try:
        about.check(settings.data_dir, spec)
        store = Store.open(settings.database_dir)
        try:
            about.agree(settings.data_dir, store, spec)
            indexes = Indexes.open(store, settings.index_dir, spec.name, spec.dimensions)
        except BaseException:
            store.close()
            raise
    except BaseException:
        lock.release()
        raise
    encoder = encoder or open_encoder(
        spec,
        cache_dir=settings.model_dir,
        cache_size=settings.cache_size,
        batch_size=settings.batch_size,
        wait_seconds=settings.timeout,
    )
    engine = Engine(store, indexes, encoder, settings, now)
    engine.own(lock)
    engine.start()
    return engine
