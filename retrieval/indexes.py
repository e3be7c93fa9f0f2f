"""Are the derived indexes up to date, and how do they become so?

The indexes follow the log of changes. A live index takes in each write before the writer is answered; one
that comes back after a stop reads what it missed; one that is missing, damaged or foreign is built again
from the records. Meanwhile writes go on: they are in the log.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from retrieval.catalog import Catalog
from retrieval.channels.dense import Dense
from retrieval.channels.graph import Graph
from retrieval.channels.lexical import Lexical
from retrieval.code.indexes import CodeIndexes
from retrieval.errors import IndexesNotReady, MemoryServerError
from retrieval.records import CodeChunk, Memory, Rows, Scope
from retrieval.shelf import Record, Shelf
from retrieval.store.changes import Change, Checkpoint, Follower
from retrieval.store.store import State, Store, Table

__all__ = ["Indexes", "Progress"]

log = logging.getLogger(__name__)

_SAVE_AFTER = 2_000
"""Records taken in after which indexes are written to disk at the earliest; a crash reads at most these
again, at some thousands a second."""

_SAVE_SHARE = 0.2
"""... and at least this share of all records, so that a growing store is not rewritten all the time."""

_TROUBLE = (OSError, ValueError, RuntimeError)
"""What indexes raise when they cannot write or read (tantivy knows only ValueError)."""

_MENTIONS = 1_000
"""Memories linked to an entity that is created after them."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the indexes are behind the records: ``done`` of ``total`` records taken in."""

    done: int
    total: int

    @property
    def percent(self) -> float:
        return 100.0 if self.total == 0 else round(100.0 * self.done / self.total, 1)


class Indexes:
    """The catalogs, shelves and channels of memories and of code, kept in step with the store.

    ``lock`` guards all of them: hold it to search. Writers go through ``commit``.
    """

    def __init__(
        self,
        store: Store,
        model: str,
        catalog: Catalog,
        shelf: Shelf[Memory],
        dense: Dense,
        lexical: Lexical,
        code: CodeIndexes,
    ) -> None:
        self.lock = threading.RLock()
        self.catalog = catalog
        self.shelf = shelf
        self.dense = dense
        self.lexical = lexical
        self.code = code
        self.graph: Graph
        self._store = store
        self._model = model
        self._live = threading.Event()
        self._stopping = threading.Event()
        self._seq = 0
        self._saved = 0
        self._unsaved = 0
        """Records taken in since the last save: what a crash would cost to read again."""
        self.failed: str | None = None
        """Why the indexes could not be built, if so: searching will not work until the next start."""
        self.version = 0
        """Grows whenever an index changes; what was read from them at another version may be outdated."""
        self._progress: Progress | None = None
        self._repair: threading.Thread | None = None

    @classmethod
    def open(cls, store: Store, folder: Path, model: str, dimensions: int) -> Self:
        """Load what is on disk. ``catch_up`` makes it current."""
        indexes = cls(
            store,
            model,
            Catalog.open(folder / "catalog.arrays"),
            Shelf.open(folder / "shelf.arrays", Memory, "memories"),
            Dense.open(folder / "dense.arrays", dimensions),
            Lexical.open(folder / "lexical"),
            CodeIndexes.open(folder / "code", dimensions),
        )
        indexes.graph = Graph.open(folder / "graph", indexes._mentions)
        return indexes

    @property
    def progress(self) -> Progress | None:
        """What is left to do before searches answer; None when nothing is."""
        return None if self._live.is_set() else (self._progress or Progress(0, 1))

    def wait(self, seconds: float) -> bool:
        """Wait until the indexes are current; False if they are still not."""
        return self._live.wait(0 if self.failed else seconds)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Hold the lock on indexes that are current, or raise: one may have been cleared meanwhile."""
        with self.lock:
            if not self._live.is_set():
                raise IndexesNotReady(self._progress.percent if self._progress else 0.0)
            yield

    def memories(self, rows: Rows) -> list[Memory]:
        """The memories in ``rows``, in their order, without those that are gone."""
        found = self._read(rows, self.shelf, self.catalog.ids, self._store.memories)
        return [memory for memory in found if memory is not None]

    def chunks(self, rows: Rows) -> list[CodeChunk | None]:
        """The chunks of code in ``rows``; None for one that is gone."""
        return self._read(rows, self.code.shelf, self.code.catalog.ids, self._store.chunks)

    def _read(
        self,
        rows: Rows,
        shelf: Shelf[Record],
        ids_of: Callable[[Rows], list[str]],
        fetch: Callable[[Sequence[str]], dict[str, Record]],
    ) -> list[Record | None]:
        """From the shelf; what is not there, from the database."""
        with self.lock:
            records = shelf.read(rows)
            if None not in records:
                return records
            ids = ids_of(rows)
        known = fetch([key for key, record in zip(ids, records, strict=True) if record is None and key])
        return [record or known.get(key) for key, record in zip(ids, records, strict=True)]

    def bring_up(self) -> None:
        """``catch_up`` for a thread of its own: what goes wrong is kept in ``failed``, for whoever waits."""
        try:
            self.catch_up()
        except (*_TROUBLE, MemoryServerError) as error:
            if not self._stopping.is_set():
                log.exception("the indexes could not be built")
                self.failed = str(error) or type(error).__name__

    def commit(self, write: Callable[[], Sequence[Change]]) -> Sequence[Change]:
        """Run a write to the store, then let the indexes take it in, as one step for all other writers.

        Once the store has committed, the write stands: an index that cannot follow is built again.
        """
        with self.lock:
            changes = write()
            if self._live.is_set() and changes:
                self._take_in(changes)
            return changes

    def reset(self, wipe: Callable[[], None]) -> None:
        """Empty the store and the indexes as one step."""
        with self.lock:
            wipe()
            self.version += 1
            for follower in self._followers():
                follower.clear()
            checkpoint = self._store.state().checkpoint
            self._seq = self._saved = checkpoint.seq
            self._unsaved = 0
            self._save(checkpoint)

    def catch_up(self) -> None:
        """Make every index current; returns early when ``close`` is called meanwhile."""
        state = self._store.state()
        stale = [index for index in self._followers() if not _usable(index.checkpoint, state)]
        current = [
            index.checkpoint.seq for index in self._followers() if index not in stale and index.checkpoint
        ]
        self._saved = min(current, default=state.seq)
        if stale:
            self._rebuild(stale)
        self._replay(self._saved)
        with self.lock:
            # Writers wait here for the moment; what they wrote during the replay is the rest.
            self._replay(self._seq)
            if self._stopping.is_set():
                return
            if stale or self._unsaved > _SAVE_AFTER:
                self._save(self._store.state().checkpoint)
            self._live.set()

    def close(self) -> None:
        """Save what changed, release everything."""
        self._stopping.set()
        with self.lock:
            if self._live.is_set() and (self._seq > self._saved or self._has_unsaved_graph()):
                self._save(self._store.state().checkpoint)
            self._live.clear()
            for follower in self._followers():
                follower.close()
        if self._repair is not None:
            self._repair.join()  # it looks into the store, which is closed next

    def _followers(self) -> tuple[Follower, ...]:
        # The graph last: it asks the lexical index which memories mention a new entity.
        return (self.catalog, self.shelf, self.dense, self.lexical, self.graph, *self.code.followers())

    def _has_unsaved_graph(self) -> bool:
        return self.dense.has_unsaved_graph or self.code.dense.has_unsaved_graph

    def _mentions(self, name: str, scope: Scope) -> list[Memory]:
        return self.memories(self.lexical.containing(name, scope, _MENTIONS))

    def _take_in(self, changes: Sequence[Change]) -> None:
        self.version += 1
        for follower in self._followers():
            try:
                follower.apply(changes)
            except _TROUBLE:
                log.exception("the %s index could not follow a write; it will be built again", follower.name)
                follower.clear()
                self._live.clear()
                self._repair = threading.Thread(target=self.bring_up, name="repair", daemon=True)
                self._repair.start()
                return
        self._seq = changes[-1].seq
        self._unsaved += len(changes)
        if self._unsaved > _SAVE_AFTER:
            state = self._store.state()
            if self._unsaved > _SAVE_SHARE * state.counts.total:
                self._save(state.checkpoint)

    def _rebuild(self, stale: Sequence[Follower]) -> None:
        state = self._store.state()
        total = state.counts.total
        done = 0
        if total:
            log.info("building %s from %d records", ", ".join(f.name for f in stale), total)
        with self.lock:
            if self._stopping.is_set():  # asked under the lock: ``close`` closes the indexes under it
                return
            for follower in stale:
                follower.clear()
        # Entities before memories: a memory is linked to the entities it names when it is taken in.
        order: tuple[Table, ...] = ("entities", "memories", "relations", "chunks")
        for table in order:
            for page in self._store.scan(table):
                vectors = self._store.vectors_of(table, page, self._model)
                changes = [Change(state.seq, record, vectors.get(record.id)) for record in page]
                with self.lock:
                    if self._stopping.is_set():
                        return
                    self.version += 1
                    for follower in stale:
                        follower.apply(changes)
                done += len(page)
                self._progress = Progress(done, total)

    def _replay(self, seq: int) -> None:
        self._seq = seq
        for changes in self._store.changes_since(seq, self._model):
            with self.lock:
                if self._stopping.is_set():
                    return
                self.version += 1
                for follower in self._followers():
                    follower.apply(changes)
            self._seq = changes[-1].seq
            self._unsaved += len(changes)

    def _save(self, checkpoint: Checkpoint) -> None:
        """Write all indexes to disk. If that fails, the log has what they lack, and it is tried again."""
        try:
            for follower in self._followers():
                follower.save(checkpoint)
        except _TROUBLE:
            log.exception("the indexes could not be saved; the records are safe")
            return
        self._saved = checkpoint.seq
        self._unsaved = 0
        self._store.forget_changes(checkpoint.seq)


def _usable(then: Checkpoint | None, now: State) -> bool:
    """Whether the log leads from where an index stands to now."""
    return then is not None and then.database == now.database and now.oldest <= then.seq <= now.seq
