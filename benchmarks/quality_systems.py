"""Who answers the questions, and with which documents?

Every system is the engine itself, asked in another way: one channel alone, two or three fused. Only
reciprocal rank fusion is done here, over the two channels' own answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.quality_metrics import DEPTH
from benchmarks.quality_store import DOCUMENT
from memory_mcp.engine.questions import MAX_RESULTS, Answer, Questions
from retrieval.fusion import Weights

__all__ = ["DEFAULT", "NO_GRAPH", "SINGLE", "SYSTEMS", "System", "reciprocal_ranks"]

RRF_CONSTANT = 60
"""What is added to a rank before its reciprocal is taken, as in the paper and in Elasticsearch."""

_LIMIT = 20
"""Memories asked for: ten documents, even if some of them were cut into several memories."""


@dataclass(frozen=True, slots=True)
class System:
    """A way to ask; ``rank`` gives documents, best first."""

    name: str
    about: str
    rank: Callable[[Questions, str], list[str]]


def reciprocal_ranks(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Reciprocal rank fusion; equal sums in the order in which they were met."""
    sums: dict[str, float] = {}
    for ranking in rankings:
        for place, key in enumerate(ranking, 1):
            sums[key] = sums.get(key, 0.0) + 1 / (RRF_CONSTANT + place)
    return sorted(sums, key=lambda key: -sums[key])


def _documents(answer: Answer) -> list[str]:
    return list(dict.fromkeys(str(found.memory.metadata[DOCUMENT]) for found in answer.found))


def _words(questions: Questions, text: str) -> list[str]:
    return _documents(questions.search_text(text, _LIMIT))[:DEPTH]


def _vectors(questions: Questions, text: str) -> list[str]:
    return _documents(questions.search(text, _LIMIT))[:DEPTH]


def _both_by_rank(questions: Questions, text: str) -> list[str]:
    words, vectors = questions.search_text(text, MAX_RESULTS), questions.search(text, MAX_RESULTS)
    return reciprocal_ranks([_documents(vectors), _documents(words)])[:DEPTH]


def _recall(weights: Weights) -> Callable[[Questions, str], list[str]]:
    return lambda questions, text: _documents(questions.recall(text, _LIMIT, weights))[:DEPTH]


_CHOSEN = Weights()

DEFAULT = "default"
NO_GRAPH = "no graph"
SINGLE = ("BM25", "dense")
"""The channels that every memory has; what is fused should beat the better of them."""

SYSTEMS = (
    System("BM25", "search_text", _words),
    System("dense", "search", _vectors),
    System("graph", "recall, weights 0 / 0 / 1", _recall(Weights(0, 0, 1))),
    System("RRF", f"search and search_text, 1 / ({RRF_CONSTANT} + rank)", _both_by_rank),
    System("z-sum", "recall, weights .5 / .5 / 0", _recall(Weights(0.5, 0.5, 0))),
    System(
        NO_GRAPH,
        f"recall, weights {_CHOSEN.vector:g} / {_CHOSEN.bm25:g} / 0",
        _recall(Weights(_CHOSEN.vector, _CHOSEN.bm25, 0)),
    ),
    System(
        DEFAULT,
        f"recall, weights {_CHOSEN.vector:g} / {_CHOSEN.bm25:g} / {_CHOSEN.ppr:g}",
        _recall(_CHOSEN),
    ),
)
