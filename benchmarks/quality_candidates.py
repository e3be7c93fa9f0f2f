"""What did each channel say to a question, before anything was weighted?

The channels are asked once; after that any weights can be tried by fusion alone. ``rank`` gives what
``retrieval.search.recall`` would: a channel of weight 0 proposes nothing, and without the vectors' weight the
walk knows only what the words found.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality_sets import EvalSet, Query
from benchmarks.quality_store import DOCUMENT, SPACE
from memory_mcp.engine.engine import Engine
from retrieval.fusion import Weights, fuse
from retrieval.records import Rows, Scope, Scores
from retrieval.search import POOL, Hit, recall

__all__ = ["CHANNELS", "Asked", "ask", "ask_all", "documents_of_rows"]

CHANNELS = ("vector", "bm25", "ppr")

Mask = NDArray[np.bool_]

Part = tuple[bool, bool, bool]
"""Which of the CHANNELS propose."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows that some channels proposed, and all channels' scores of them; NaN where one has none."""

    rows: Rows
    scores: dict[str, Scores]


@dataclass(frozen=True, slots=True)
class Asked:
    """The candidates of a question, by the channels that take part."""

    query: Query
    candidates: dict[Part, Candidates]

    def rank(self, weights: Weights, k: int) -> Rows:
        """The best rows under these weights."""
        found = self.candidates[weights.vector > 0, weights.bm25 > 0, weights.ppr > 0]
        if not len(found.rows):
            return found.rows
        fused = fuse(found.scores, {name: getattr(weights, name) for name in CHANNELS})
        best: Rows = found.rows[np.lexsort((found.rows, -fused))[:k]]
        return best


def ask_all(engine: Engine, one: EvalSet) -> list[Asked]:
    """The candidates of all questions of a set."""
    return [ask(engine, query) for query in one.queries]


def ask(engine: Engine, query: Query) -> Asked:
    """The candidates of one question."""
    indexes, scope = engine._indexes, Scope(SPACE, query.group)
    at = datetime.now(UTC)
    vector = engine._encoder.embed_query(query.text)
    with_vector = recall(indexes, query.text, vector, 3 * POOL, scope, at, Weights(1, 1, 1)).hits
    without = recall(indexes, query.text, None, 2 * POOL, scope, at, Weights(0, 1, 1)).hits
    candidates = {
        part: _taking_part(with_vector if part[0] else without, part)
        for part in product((False, True), (False, True), (False, True))
        if any(part)
    }
    return Asked(query, candidates)


def documents_of_rows(engine: Engine) -> dict[int, str]:
    """Which document each memory was made of."""
    indexes = engine._indexes
    with indexes.current():
        rows = indexes.catalog.visible(Scope(SPACE))
    return {memory.row: str(memory.metadata[DOCUMENT]) for memory in indexes.memories(rows)}


def _taking_part(hits: tuple[Hit, ...], part: Part) -> Candidates:
    """What is left of the candidates when only some channels propose."""
    hits = tuple(sorted(hits, key=lambda hit: hit.row))
    rows = np.array([hit.row for hit in hits], np.int64)
    scores = {name: _column(hits, name) for name in CHANNELS}
    proposed = _proposed(scores)
    kept = np.zeros(len(rows), np.bool_)
    for name, takes_part in zip(CHANNELS, part, strict=True):
        if takes_part:
            kept |= proposed[name]
    return Candidates(rows[kept], {name: values[kept] for name, values in scores.items()})


def _column(hits: tuple[Hit, ...], name: str) -> Scores:
    values = (getattr(hit, name) for hit in hits)
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _proposed(scores: Mapping[str, Scores]) -> dict[str, Mask]:
    """Which rows each channel found itself: the vectors score all candidates, but propose the nearest."""
    proposed = {name: ~np.isnan(values) for name, values in scores.items()}
    cosines = scores["vector"]
    if np.count_nonzero(proposed["vector"]) > POOL:
        nearest = np.argsort(-cosines, kind="stable")[:POOL]
        proposed["vector"] = np.zeros(len(cosines), np.bool_)
        proposed["vector"][nearest] = True
    return proposed
