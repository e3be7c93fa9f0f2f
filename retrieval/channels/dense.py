"""Here is a query vector; which memories are near it?

Exact search while there are few vectors, a navigable small-world graph (HNSW) beyond: exact search is
never wrong and its filters are free, but its cost grows with the collection. Scores are cosines either
way: what a shortlist or the graph proposes is scored again with the stored vectors.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.arrays import Arrays, load_arrays, save_arrays
from retrieval.channels.coarse import Coarse
from retrieval.channels.hnsw import Hnsw
from retrieval.records import CodeChunk, Entity, Ranking, Relation, Rows, Scores, Vector
from retrieval.store.changes import Change, Checkpoint

__all__ = ["Dense"]

log = logging.getLogger(__name__)

EXACT_LIMIT = 50_000
"""Vectors searched exactly. Measured on 2 cores: 0.15 ms at 10k, 2 ms at 50k, where HNSW takes 0.3 ms."""

OVERSAMPLE = 2
"""HNSW is asked for this many times k, so that a few hidden memories do not force the exact search."""

SHORTLIST = 3
"""Vectors compared exactly, as a multiple of k, after 8-bit copies have ruled out the others. At 10k memories
and k=100 that is certain to be enough in 300 questions of 300 (twice k: 289); if not, all are compared."""

_BLOCK = 32_768
"""Vectors a block: the collection grows without copying what is there. Memory is taken as it is filled, so
a block may be large. Scoring 200 of 100k rows takes 0.17 ms, with blocks a quarter of the size 0.20."""

_BUILD_STEP = 1_024
"""Vectors added to a graph between two looks at whether to stop, and at most while a search waits."""

Allowed = Callable[[Rows], NDArray[np.bool_]]
Slots = Mapping[int, int]


class Dense:
    """Unit vectors by row. Not thread-safe: the caller holds one lock around all its indexes."""

    def __init__(
        self, path: Path, dimensions: int, *, table: str = "memories", exact_limit: int = EXACT_LIMIT
    ) -> None:
        self.name = "dense" if table == "memories" else f"dense of {table}"
        self._table = table
        self._path = path
        self._dimensions = dimensions
        self._exact_limit = exact_limit
        self._checkpoint: Checkpoint | None = None
        self._start()

    def _start(self) -> None:
        self._blocks: list[NDArray[np.float32]] = []
        self._rows: Rows = np.empty(0, dtype=np.int64)
        """Slot → row, -1 where the slot is free."""
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._used = 0
        self._hnsw: Hnsw | None = None
        self._build: _Build | None = None
        self._coarse: Coarse | None = None
        self._unsaved_graph = False

    @classmethod
    def open(
        cls, path: Path, dimensions: int, *, table: str = "memories", exact_limit: int = EXACT_LIMIT
    ) -> Self:
        """Load what was saved; vectors that are unreadable, missing or of another width start empty."""
        dense = cls(path, dimensions, table=table, exact_limit=exact_limit)
        loaded = load_arrays(path)
        if loaded is None:
            return dense
        checkpoint, arrays = loaded
        if not _are_vectors(arrays, dimensions):
            log.warning("%s does not hold %dd vectors: built again", path, dimensions)
            return dense
        dense._checkpoint = checkpoint
        dense._extend(arrays["rows"], arrays["vectors"])
        if "hnsw" in arrays:
            seq, checksum = arrays["hnsw"].tolist()
            dense._hnsw = Hnsw.load(dense._hnsw_path(seq), dimensions, checksum)
        dense._build_if_large()
        return dense

    @property
    def checkpoint(self) -> Checkpoint | None:
        return self._checkpoint

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def has_unsaved_graph(self) -> bool:
        """Whether a graph was finished since the last ``save``: building it again takes many seconds."""
        self._adopt()
        return self._unsaved_graph

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            record = change.record
            if change.table != self._table or isinstance(record, Entity | Relation):
                continue
            if change.vector is not None:
                self._put(record.row, change.vector)
            elif not isinstance(record, CodeChunk):  # what a chunk's vector is made of never changes
                self._drop(record.row)

    def save(self, checkpoint: Checkpoint) -> None:
        self._adopt()
        rows = self._rows[: self._used]
        living = np.flatnonzero(rows >= 0)
        arrays: Arrays = {"rows": rows[living], "vectors": self._gather(living)}
        if self._hnsw is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            checksum = self._hnsw.save(self._hnsw_path(checkpoint.seq))
            arrays["hnsw"] = np.array([checkpoint.seq, checksum], dtype=np.int64)
        save_arrays(self._path, checkpoint, arrays)
        self._checkpoint = checkpoint
        self._unsaved_graph = False
        for old in self._path.parent.glob(f"{self._path.stem}.*.hnsw"):
            if self._hnsw is None or old != self._hnsw_path(checkpoint.seq):
                old.unlink()

    def clear(self) -> None:
        self.close()
        self._path.unlink(missing_ok=True)
        self._start()
        self._checkpoint = None

    def close(self) -> None:
        """Stop a graph under construction; nothing else is held open."""
        if self._build is not None:
            self._build.stop()

    def _hnsw_path(self, seq: int) -> Path:
        return self._path.with_name(f"{self._path.stem}.{seq}.hnsw")

    # Search

    def lacking(self, rows: Rows) -> Rows:
        """Those of ``rows`` that have no vector."""
        return rows[[row not in self._slots for row in rows.tolist()]] if len(rows) else rows

    def search(self, query: Vector, k: int, allowed: Allowed) -> Ranking:
        """The ``k`` nearest allowed rows, by cosine; equal scores go to the lower row."""
        if k <= 0 or not self._slots:
            return Ranking()
        self._adopt()
        if self._hnsw is not None:
            found = self._search_graph(query, k, allowed)
            if found is not None:
                return found
        return self._search_exactly(query, k, allowed)

    def score(self, query: Vector, rows: Rows) -> Scores:
        """The cosine of each row; NaN for rows without a vector."""
        scores = np.full(len(rows), np.nan)
        slots = np.fromiter(map(self._slots.get, rows.tolist(), repeat(-1)), np.int64, len(rows))
        known = np.flatnonzero(slots >= 0)
        if len(known):
            scores[known] = self._compare_some(query, slots[known])
        return scores

    def _search_exactly(self, query: Vector, k: int, allowed: Allowed) -> Ranking:
        if self._used > 2 * SHORTLIST * k:
            found = self._search_shortlist(query, k, allowed)
            if found is not None:
                return found
        rows = self._rows[: self._used]
        slots = _allowed_slots(np.arange(len(rows)), rows, allowed)
        scores = self._compare(query)[slots]
        best = _best(scores, k)
        return _ranked(rows[slots[best]], scores[best].astype(np.float64), k)

    def _search_shortlist(self, query: Vector, k: int, allowed: Allowed) -> Ranking | None:
        """The nearest of the shortlist, if it is certain that no other is nearer."""
        if self._coarse is None:
            self._coarse = Coarse(self._gather(np.arange(self._used)))
        likely = self._coarse.shortlist(query, self._used, SHORTLIST * k)
        slots = _allowed_slots(likely.slots, self._rows, allowed)
        if len(slots) < k:
            return None
        scores = self._compare_some(query, slots)
        best = _best(scores, k)
        if scores[best].min() <= likely.limit:
            return None
        return _ranked(self._rows[slots[best]], scores[best].astype(np.float64), k)

    def _compare(self, query: Vector) -> NDArray[np.float32]:
        """The cosine of every slot.

        ``vecdot`` and not a product of matrices: that takes as long on one core (10k: 0.3 ms, 0.4), and given
        two it takes 0.15 ms on an idle machine and 30 when another process has one of them.
        """
        scores = np.empty(self._used, dtype=np.float32)
        for i, block in enumerate(self._blocks):
            part = scores[i * _BLOCK : (i + 1) * _BLOCK]
            np.vecdot(block[: len(part)], query, out=part)
        return scores

    def _compare_some(self, query: Vector, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        scores = np.empty(len(slots), dtype=np.float32)
        block = slots // _BLOCK
        for i in np.flatnonzero(np.bincount(block)).tolist():
            inside = np.flatnonzero(block == i)
            scores[inside] = np.vecdot(self._blocks[i].take(slots[inside] - i * _BLOCK, axis=0), query)
        return scores

    def _search_graph(self, query: Vector, k: int, allowed: Allowed) -> Ranking | None:
        assert self._hnsw is not None
        rows = self._hnsw.search(query, k * OVERSAMPLE)
        rows = rows[allowed(rows)]
        if len(rows) < min(k, len(self._slots)):
            return None  # too much of the neighbourhood is hidden from this caller
        return _ranked(rows, self.score(query, rows), k)

    # Keeping

    def _put(self, row: int, vector: Vector) -> None:
        slot = self._slots.get(row)
        if slot is None:
            slot = self._free.pop() if self._free else self._new_slot()
            self._slots[row] = slot
            self._rows[slot] = row
        self._blocks[slot // _BLOCK][slot % _BLOCK] = vector
        if self._coarse is not None:
            self._coarse.put(slot, vector)
        self._keep_graph(row)

    def _drop(self, row: int) -> None:
        slot = self._slots.pop(row, None)
        if slot is None:
            return
        self._rows[slot] = -1
        self._blocks[slot // _BLOCK][slot % _BLOCK] = 0
        self._free.append(slot)
        self._keep_graph(row)

    def _keep_graph(self, row: int) -> None:
        """Bring the graph up to date for one row, now or when its construction is done."""
        if self._build is not None:
            self._build.touched.add(row)
        elif self._hnsw is not None:
            _refresh(self._hnsw, [row], self._slots, self._blocks)
        else:
            self._build_if_large()

    def _build_if_large(self) -> None:
        if self._hnsw is None and len(self._slots) > self._exact_limit:
            self._build = _Build(Hnsw(self._dimensions), list(self._slots), self._slots, self._blocks)

    def _adopt(self) -> None:
        """Take over a graph whose construction has finished, with what changed meanwhile.

        If that is much (a bulk load goes on while the graph is built), the construction takes it up first.
        """
        if self._build is not None and (hnsw := self._build.result()) is not None:
            touched = list(self._build.touched)
            if len(touched) > _BUILD_STEP:
                self._build = _Build(hnsw, touched, self._slots, self._blocks)
            else:
                _refresh(hnsw, touched, self._slots, self._blocks)
                self._hnsw, self._build, self._coarse = hnsw, None, None
                self._unsaved_graph = True

    def _new_slot(self) -> int:
        slot = self._used
        if slot == len(self._blocks) * _BLOCK:
            self._blocks.append(np.zeros((_BLOCK, self._dimensions), dtype=np.float32))
            self._rows = np.concatenate([self._rows, np.full(_BLOCK, -1, dtype=np.int64)])
        self._used += 1
        return slot

    def _extend(self, rows: Rows, vectors: NDArray[np.float32]) -> None:
        for start in range(0, len(rows), _BLOCK):
            block = vectors[start : start + _BLOCK]  # no copy: a whole block stays where it was loaded
            if len(block) < _BLOCK:
                part, block = block, np.zeros((_BLOCK, self._dimensions), dtype=np.float32)
                block[: len(part)] = part
            self._blocks.append(block)
        self._rows = np.full(len(self._blocks) * _BLOCK, -1, dtype=np.int64)
        self._rows[: len(rows)] = rows
        self._used = len(rows)
        self._slots = {row: slot for slot, row in enumerate(rows.tolist())}

    def _gather(self, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        out = np.empty((len(slots), self._dimensions), dtype=np.float32)
        block = slots // _BLOCK
        for i in np.flatnonzero(np.bincount(block)).tolist():
            inside = np.flatnonzero(block == i)
            out[inside] = self._blocks[i][slots[inside] - i * _BLOCK]
        return out


class _Build:
    """The construction of a graph in the background; exact search serves meanwhile.

    It reads slots and blocks while they change: a row that does is in ``touched`` and is added again.
    """

    def __init__(
        self, hnsw: Hnsw, rows: Sequence[int], slots: Slots, blocks: Sequence[NDArray[np.float32]]
    ) -> None:
        self.touched: set[int] = set()
        self._hnsw: Hnsw | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(hnsw, rows, slots, blocks), name="hnsw-build", daemon=True
        )
        self._thread.start()

    def _run(
        self, hnsw: Hnsw, rows: Sequence[int], slots: Slots, blocks: Sequence[NDArray[np.float32]]
    ) -> None:
        for start in range(0, len(rows), _BUILD_STEP):
            if self._stopped.is_set():
                return
            _refresh(hnsw, rows[start : start + _BUILD_STEP], slots, blocks)
        self._hnsw = hnsw

    def result(self) -> Hnsw | None:
        return None if self._thread.is_alive() else self._hnsw

    def wait(self) -> None:
        self._thread.join()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def _refresh(hnsw: Hnsw, rows: Sequence[int], slots: Slots, blocks: Sequence[NDArray[np.float32]]) -> None:
    """Make the graph say of these rows what the vectors say."""
    for row in rows:
        if row in hnsw:
            hnsw.remove(row)
    living = [(row, slot) for row in rows if (slot := slots.get(row)) is not None]
    if living:
        vectors = np.stack([blocks[slot // _BLOCK][slot % _BLOCK] for _, slot in living])
        hnsw.add(np.array([row for row, _ in living], dtype=np.int64), vectors)


def _are_vectors(arrays: Arrays, dimensions: int) -> bool:
    if "rows" not in arrays or "vectors" not in arrays:
        return False
    rows, vectors = arrays["rows"], arrays["vectors"]
    return (
        rows.dtype == np.int64
        and vectors.dtype == np.float32
        and rows.ndim == 1
        and vectors.shape == (len(rows), dimensions)
    )


def _best(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The places of the ``k`` best, and of all that equal the last of them."""
    if len(scores) <= k:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - k)[len(scores) - k])


def _allowed_slots(slots: NDArray[np.int64], rows: Rows, allowed: Allowed) -> NDArray[np.int64]:
    """Those of ``slots`` that hold a memory which may be seen."""
    slots = slots[rows[slots] >= 0]
    return slots[allowed(rows[slots])]


def _ranked(rows: Rows, scores: Scores, k: int) -> Ranking:
    order = np.lexsort((rows, -scores))[:k]
    return Ranking(rows[order], scores[order])
