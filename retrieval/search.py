"""Here is a question; which memories answer it, and why?

Query → channels → fusion → hits. The dense and the lexical channel each propose candidates; the graph
starts its walk from what the question names and from those candidates, and proposes more; every candidate
is then scored by all three and the scores are fused.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.graph_walk import Part
from retrieval.fusion import Weights, fuse
from retrieval.indexes import Indexes
from retrieval.records import Ranking, Rows, Scope, Scores, Vector

__all__ = ["Hit", "Reading", "Recalled", "read", "recall", "search_vectors", "search_words"]

POOL = 100
"""Candidates a channel proposes."""

SEEDS = 20
"""Candidates from which the graph walk starts."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked memory, by its row, with the score of each channel; None where one did not find it."""

    row: int
    score: float
    vector: float | None = None
    bm25: float | None = None
    ppr: float | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """Ranked hits, and the number of graph nodes that took part."""

    hits: tuple[Hit, ...]
    subgraph_nodes: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question says without its vector: the memories that have its words, and the part of the graph
    around them and around what it names.

    Embedding takes longer than this and leaves the interpreter free, so a caller reads the question
    meanwhile, in another thread. ``version`` tells whether the indexes are still the same afterwards.
    """

    lexical: Ranking
    part: Part | None
    version: int


def search_vectors(indexes: Indexes, query: Vector, k: int, scope: Scope, at: datetime) -> list[Hit]:
    """The nearest memories by cosine."""
    with indexes.current():
        ranking = indexes.dense.search(query, k, _allowed(indexes, scope, at))
        return _hits(ranking)


def search_words(indexes: Indexes, query: str, k: int, scope: Scope, at: datetime) -> list[Hit]:
    """The best memories by BM25."""
    with indexes.current():
        ranking = indexes.lexical.search(query, k, scope, _allowed(indexes, scope, at))
        return _hits(ranking)


def read(indexes: Indexes, query: str, scope: Scope, at: datetime, weights: Weights) -> Reading:
    """What a question says without its vector; as long as nothing is written, ``recall`` can use it."""
    with indexes.current():
        allowed = _allowed(indexes, scope, at)
        lexical = Ranking()
        if weights.bm25 > 0 or weights.ppr > 0:
            lexical = indexes.lexical.search(query, POOL, scope, allowed)
        part = None
        if weights.ppr > 0:
            part = indexes.graph.choose(query, scope, _seeds(Ranking(), lexical), allowed)
        return Reading(lexical, part, indexes.version)


def recall(
    indexes: Indexes,
    query: str,
    vector: Vector | None,
    k: int,
    scope: Scope,
    at: datetime,
    weights: Weights,
    reading: Reading | None = None,
) -> Recalled:
    """The best memories by all channels; ``vector`` is None when only words and graph are weighted."""
    with indexes.current():
        if reading is None or reading.version != indexes.version:
            reading = read(indexes, query, scope, at, weights)
        lexical = reading.lexical
        allowed = _allowed(indexes, scope, at)
        dense = Ranking() if vector is None else indexes.dense.search(vector, POOL, allowed)
        graph, nodes = Ranking(), 0
        if weights.ppr > 0:
            seeds = _seeds(dense, lexical)
            part = reading.part or indexes.graph.choose(query, scope, seeds, allowed)
            walk = indexes.graph.walk(part, seeds, POOL)
            graph, nodes = walk.ranking, walk.nodes

        rows = _union(
            [
                ranking.rows
                for ranking, weight in (
                    (dense, weights.vector),
                    (lexical, weights.bm25),
                    (graph, weights.ppr),
                )
                if weight > 0
            ]
        )
        if not len(rows):
            return Recalled((), nodes)
        cosines = _placed(dense, rows)
        if vector is not None:
            # what only the other channels found
            others = np.flatnonzero(np.isnan(cosines))
            cosines[others] = indexes.dense.score(vector, rows[others])
        scores = {"vector": cosines, "bm25": _placed(lexical, rows), "ppr": _placed(graph, rows)}
        fused = fuse(scores, {"vector": weights.vector, "bm25": weights.bm25, "ppr": weights.ppr})
        best = np.lexsort((rows, -fused))[:k]
        columns = (fused[best].tolist(), *(channel[best].tolist() for channel in scores.values()))
        return Recalled(
            tuple(
                Hit(row, score, _known(cosine), _known(match), _known(share))
                for row, score, cosine, match, share in zip(rows[best].tolist(), *columns, strict=True)
            ),
            nodes,
        )


def _allowed(indexes: Indexes, scope: Scope, at: datetime) -> Callable[[Rows], NDArray[np.bool_]]:
    return lambda rows: indexes.catalog.allowed(scope, at, rows)


def _hits(ranking: Ranking) -> list[Hit]:
    return [Hit(*pair) for pair in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)]


def _seeds(dense: Ranking, lexical: Ranking) -> Ranking:
    """Where the walk starts besides the named things: the best candidates, weighted by reciprocal rank."""
    weights: dict[int, float] = {}
    for ranking in (dense, lexical):
        for rank, row in enumerate(ranking.rows[:SEEDS].tolist(), start=1):
            weights[row] = weights.get(row, 0.0) + 1.0 / rank
    best = sorted(weights, key=lambda row: (-weights[row], row))[:SEEDS]
    return Ranking(np.array(best, dtype=np.int64), np.array([weights[row] for row in best], dtype=np.float64))


def _union(found: Sequence[Rows]) -> Rows:
    """Each row once, in order. (``np.unique`` takes six times as long for a few hundred.)"""
    rows = np.sort(np.concatenate(found))
    is_first = np.ones(len(rows), np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    return rows[is_first]


def _placed(ranking: Ranking, rows: Rows) -> Scores:
    """The scores of a ranking at the places of ``rows`` (sorted, not empty); NaN where it has none."""
    scores = np.full(len(rows), np.nan)
    places = np.minimum(rows.searchsorted(ranking.rows), len(rows) - 1)
    inside = rows[places] == ranking.rows  # a channel of weight 0 may have found what is not asked about
    scores[places[inside]] = ranking.scores[inside]
    return scores


def _known(score: float) -> float | None:
    return None if math.isnan(score) else score
