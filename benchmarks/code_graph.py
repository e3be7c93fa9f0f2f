"""Does a walk over who refers to whom find code that words and vectors do not?

Production search does not take this walk (``retrieval.code.ranking.WEIGHTS`` says why); these are the rows
that say so. Chunks are joined where the definitions of one refer to those of another. A walker starts at
what the question names and at the best of the other channels, and where it spends its time is a third one.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from indexer.resolve import Place, Project, places
from indexer.symbols import Symbols
from indexer.symbols_note import from_note
from retrieval.channels.pagerank import pagerank
from retrieval.code.catalog import CodeCatalog, Known, View
from retrieval.code.question import read_question
from retrieval.code.ranking import Ranked, Rules, rank
from retrieval.code.search import POOL, candidates, once
from retrieval.fusion import Weights
from retrieval.indexes import Indexes
from retrieval.records import Ranking, Rows, Scope, Scores, Vector
from retrieval.store.code import CodeStore

__all__ = ["ChunkGraph", "search_with_graph"]

SEEDS = 20
"""Candidates of a channel from which the walk starts, and definitions of a name beyond which it tells
nothing of where to start."""
LEAST_SHARE = 1e-6
"""Of the walker's time, below which a chunk was not reached."""
TOLERANCE = 1e-8
"""Of the walk: finer than the least share, whose logarithm counts."""

_NOWHERE: Rows = np.empty(0, np.int64)
_NOTHING: Scores = np.empty(0)


@dataclass(frozen=True, slots=True)
class ChunkGraph:
    """The chunks of a project and the references between them, each pair once.

    ``near`` and ``far`` are the two ends of an edge as places in ``rows``; nothing refers to itself.
    """

    rows: Rows
    near: Rows
    far: Rows
    conductance: Scores

    @classmethod
    def of_project(cls, store: CodeStore, catalog: CodeCatalog, project: str) -> Self:
        """The graph of a project as it was indexed."""
        names = Project()
        holders: dict[Place, int] = {}
        for page in store.files(project):
            for file in page:
                symbols = from_note(file.symbols)
                names.put(file.path, symbols)
                holders |= _holders(file.path, symbols, catalog.file(project, file.path))
        rows = np.array(
            sorted(chunk.row for path in catalog.paths(project) for chunk in catalog.file(project, path)),
            np.int64,
        )
        weights: defaultdict[tuple[int, int], float] = defaultdict(float)
        for edge in names.all_edges():
            source, target = holders.get(edge.source), holders.get(edge.target)
            if source is not None and target is not None and source != target:
                weights[min(source, target), max(source, target)] += edge.weight
        ends = np.array(list(weights), np.int64).reshape(-1, 2)
        near, far = rows.searchsorted(ends[:, 0]), rows.searchsorted(ends[:, 1])
        return cls(rows, near, far, np.fromiter(weights.values(), np.float64, len(weights)))

    def walk(self, seeds: Mapping[int, float]) -> Ranking:
        """Where a walker is found that keeps returning to the seeds (row → weight), as logarithms of shares.

        Shares fall by a factor with every step, so their logarithms are spread as other channels' scores are.
        """
        at = np.zeros(len(self.rows))
        rows = np.fromiter(seeds, np.int64, len(seeds))
        at[self.rows.searchsorted(rows)] = list(seeds.values())
        if not at.any():
            return Ranking()
        # of the two classes that the walk knows only the one whose members may be joined to each other
        _, shares = pagerank(
            (_NOWHERE, _NOWHERE, _NOTHING), (self.near, self.far, self.conductance), _NOTHING, at, TOLERANCE
        )
        best = np.argsort(-shares, kind="stable")[:POOL]
        best = best[shares[best] > LEAST_SHARE]
        return Ranking(self.rows[best], np.log(shares[best]))


def search_with_graph(
    indexes: Indexes,
    graph: ChunkGraph,
    query: str,
    vector: Vector | None,
    k: int,
    scope: Scope,
    weights: Weights,
    rules: Rules,
) -> list[Ranked]:
    """``retrieval.code.search.search_code`` with the walk as a third channel; ``scope`` is in the graph."""
    with indexes.current():
        code = indexes.code
        view = code.catalog.view(scope)
        channels = candidates(code, query, vector, scope, view)
        channels["ppr"] = graph.walk(_seeds(query, channels, view))
        ranked = rank(query, channels, view, weights, 2 * k, rules)
        return once(code, ranked)[:k]


def _seeds(query: str, channels: Mapping[str, Ranking], view: View) -> dict[int, float]:
    """Row → weight: candidates by the reciprocal of their rank; the definitions of a name share 1."""
    seeds: defaultdict[int, float] = defaultdict(float)
    for ranking in channels.values():
        for place, row in enumerate(ranking.rows[:SEEDS].tolist(), 1):
            seeds[row] += 1 / place
    for name in read_question(query).names:
        rows = view.named(name.text.lower()).tolist()
        if len(rows) <= SEEDS:
            for row in rows:
                seeds[row] += 1 / len(rows)
    return seeds


def _holders(path: str, symbols: Symbols, chunks: list[Known]) -> dict[Place, int]:
    """Definition → row of the chunk with its first line. The file itself stands for its first chunk."""
    if not chunks:
        return {}
    starts = [chunk.start_line for chunk in chunks]
    held = {Place(path, ""): chunks[0].row}
    for place, definition in places(path, symbols):
        held[place] = chunks[max(0, bisect_right(starts, definition.start_line) - 1)].row
    return held
