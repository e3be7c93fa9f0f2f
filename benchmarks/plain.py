"""What does the same question cost with rank-bm25, numpy and networkx alone?

The design card's packages put together the plain way: the same words, vectors, terms, seeds, damping and
fusion as the engine, with no index of our own. It is what the engine must beat, and what it must agree with.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from retrieval.channels.graph_walk import CANDIDATE_SHARE
from retrieval.channels.pagerank import DAMPING
from retrieval.fusion import Weights, fuse
from retrieval.records import Scores, Vector
from retrieval.search import POOL, SEEDS
from retrieval.text.terms import weighted_terms
from retrieval.text.words import query_words, words

__all__ = ["Plain"]

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plain:
    """Everything over all texts, in memory. Places are positions in the list of texts."""

    texts: Sequence[str]
    vectors: NDArray[np.float32]
    bm25: Any
    graph: Any

    @classmethod
    def build(cls, texts: Sequence[str], vectors: NDArray[np.float32]) -> "Plain":
        """Takes long, and rank-bm25 takes as long again for every text that is added later."""
        return cls(texts, vectors, BM25Okapi([words(text) for text in texts]), _term_graph(texts))

    def search_text(self, query: str, k: int = 10) -> list[str]:
        """The best texts by words."""
        return [self.texts[i] for i in self._by_words(query, k)[0].tolist()]

    def recall(self, query: str, vector: Vector, k: int = 10) -> list[int]:
        """The places of the best texts by meaning, words and connections."""
        near, _ = _top(self.vectors @ vector, POOL)
        worded, matches = self._by_words(query, POOL)
        connected, shares = self._by_graph(query, near, worded)
        found = np.unique(np.concatenate((near, worded, connected)))
        channels = {
            "vector": (self.vectors[found] @ vector).astype(np.float64),
            "bm25": _at(found, worded, matches),
            "ppr": _at(found, connected, np.log(shares)),
        }
        weights = Weights()
        fused = fuse(channels, {"vector": weights.vector, "bm25": weights.bm25, "ppr": weights.ppr})
        return [int(place) for place in found[np.lexsort((found, -fused))[:k]]]

    def _by_words(self, query: str, k: int) -> tuple[Places, Scores]:
        return _top(np.asarray(self.bm25.get_scores(query_words(query))), k, above=0.0)

    def _by_graph(self, query: str, near: Places, worded: Places) -> tuple[Places, Scores]:
        named = [term for term in weighted_terms(query) if term in self.graph]
        seeds: dict[Any, float] = {}
        rarity = {term: 1.0 / self.graph.degree(term) for term in named}
        for term, rare in rarity.items():
            seeds[term] = rare / sum(rarity.values())
        first: Counter[int] = Counter()
        for places in (near, worded):
            for rank, place in enumerate(places[:SEEDS].tolist(), start=1):
                first[place] += 1.0 / rank  # type: ignore[assignment]
        best = first.most_common(SEEDS)
        for place, weight in best:
            seeds[place] = CANDIDATE_SHARE * weight / sum(other for _, other in best)
        ranks = networkx.pagerank(self.graph, alpha=DAMPING, personalization=seeds, weight="weight")
        scores = np.array([ranks[place] for place in range(len(self.texts))])
        return _top(scores, POOL, above=0.0)


def _term_graph(texts: Sequence[str]) -> Any:
    """Texts and the terms in them; an edge conducts its weight by the rarity of the term."""
    found = [weighted_terms(text) for text in texts]
    degree = Counter(term for terms in found for term in terms)
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(texts)))
    for place, terms in enumerate(found):
        graph.add_weighted_edges_from((place, term, weight / degree[term]) for term, weight in terms.items())
    return graph


def _top(scores: NDArray[Any], k: int, above: float = -np.inf) -> tuple[Places, Scores]:
    best = np.argpartition(scores, -k)[-k:] if len(scores) > k else np.arange(len(scores))
    best = best[scores[best] > above]
    best = best[np.lexsort((best, -scores[best]))]
    return best, scores[best].astype(np.float64)


def _at(found: Places, places: Places, scores: Scores) -> Scores:
    placed = np.full(len(found), np.nan)
    placed[np.searchsorted(found, places)] = scores
    return placed
