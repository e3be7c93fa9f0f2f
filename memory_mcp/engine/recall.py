"""Here is a question; what do memories and code say to it, together?"""

from dataclasses import dataclass

import numpy as np

from memory_mcp.engine import checks
from memory_mcp.engine.code import Code, FoundCode
from memory_mcp.engine.questions import MAX_RESULTS, Found, Questions
from retrieval.errors import InvalidInput
from retrieval.fusion import Weights

__all__ = ["Recalled", "RecalledHit", "Sources", "recall"]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where to look: memories, code, or both; and which code."""

    memories: bool = True
    code: bool = False
    project: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class RecalledHit:
    """A memory or a chunk of code, with a score that is comparable between them."""

    found: Found | FoundCode
    score: float


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was recalled, best first, and the number of graph nodes that took part."""

    hits: tuple[RecalledHit, ...]
    subgraph_nodes: int = 0


def recall(
    questions: Questions, code: Code, query: str, limit: int, weights: Weights, sources: Sources
) -> Recalled:
    """Ask memories, code or both. Two sources are made comparable by z-scores (``_merged``)."""
    _check(sources)
    checks.check_limit("limit", limit, lowest=1, highest=MAX_RESULTS)
    both = sources.memories and sources.code
    reach = MAX_RESULTS if both else limit
    memories: list[RecalledHit] = []
    chunks: list[RecalledHit] = []
    nodes = 0
    if sources.memories:
        answer = questions.recall(query, reach, weights)
        memories = [RecalledHit(found, found.hit.score) for found in answer.found]
        nodes = answer.subgraph_nodes
    if sources.code:
        found_code = code.search(
            query, reach, project=sources.project, language=sources.language, weights=weights
        )
        chunks = _standardized([RecalledHit(found, found.ranked.score) for found in found_code])
    hits = _merged(_standardized(memories), chunks) if both else memories + chunks
    return Recalled(tuple(hits[:limit]), nodes)


def _check(sources: Sources) -> None:
    if sources.code:
        return
    if not sources.memories:
        raise InvalidInput("include_memories", "must be true when include_code is false.")
    if sources.project is not None:
        raise InvalidInput("project_id", "requires include_code=true.")
    if sources.language is not None:
        raise InvalidInput("language", "requires include_code=true.")


def _standardized(hits: list[RecalledHit]) -> list[RecalledHit]:
    """The same hits with the z-scores of their scores; equal ones get 0."""
    scores = np.array([hit.score for hit in hits])
    spread = float(scores.std()) if len(hits) else 0.0
    centred = (scores - scores.mean()) / spread if spread > 0 else np.zeros(len(hits))
    return [RecalledHit(hit.found, score) for hit, score in zip(hits, centred.tolist(), strict=True)]


def _merged(memories: list[RecalledHit], code: list[RecalledHit]) -> list[RecalledHit]:
    """Two lists of z-scores as one, best first.

    The best of three can be 1.4 standard deviations out, the best of fifty 7: so both lists are moved to
    begin together, and each hit stands as far behind as it does behind the best of its own.
    """
    highest = max((hits[0].score for hits in (memories, code) if hits), default=0.0)
    moved = [
        RecalledHit(hit.found, hit.score - hits[0].score + highest)
        for hits in (memories, code)
        for hit in hits
    ]
    return sorted(moved, key=lambda hit: (-hit.score, -_cosine(hit.found)))


def _cosine(found: Found | FoundCode) -> float:
    """What is the same for both sources, and decides between equals."""
    return (found.hit if isinstance(found, Found) else found.ranked).vector or 0.0
