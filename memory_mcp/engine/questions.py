"""Which memories answer a question?"""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_mcp.engine import checks
from memory_mcp.engine.memories import Memories
from retrieval.embedding.encoder import Encoder
from retrieval.fusion import Weights
from retrieval.indexes import Indexes
from retrieval.records import Memory, Scope
from retrieval.search import Hit, read, recall, search_vectors, search_words

__all__ = ["Answer", "Found", "Questions"]

MAX_RESULTS = 50


@dataclass(frozen=True, slots=True)
class Found:
    """A memory and the scores that brought it here."""

    memory: Memory
    hit: Hit


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, best first, and the number of graph nodes that took part."""

    found: tuple[Found, ...]
    subgraph_nodes: int = 0


class Questions:
    """Search over the memories of one scope that are valid now."""

    def __init__(
        self,
        indexes: Indexes,
        encoder: Encoder,
        memories: Memories,
        scope: Scope,
        now: Callable[[], datetime],
        beside: Executor,
    ) -> None:
        self._beside = beside
        self._indexes = indexes
        self._encoder = encoder
        self._memories = memories
        self._scope = scope
        self._now = now

    def search(self, query: str, limit: int = 10) -> Answer:
        """By meaning."""
        self._check(query, limit)
        vector = self._encoder.embed_query(query)
        return self._answer(search_vectors(self._indexes, vector, limit, self._scope, self._now()))

    def search_text(self, query: str, limit: int = 10) -> Answer:
        """By words."""
        self._check(query, limit)
        return self._answer(search_words(self._indexes, query, limit, self._scope, self._now()))

    def recall(self, query: str, limit: int = 10, weights: Weights | None = None) -> Answer:
        """By meaning, words and connections."""
        self._check(query, limit)
        weights, now = weights or Weights(), self._now()
        reading = vector = None
        if weights.vector > 0:
            reading = self._beside.submit(read, self._indexes, query, self._scope, now, weights)
            vector = self._encoder.embed_query(query)
        recalled = recall(
            self._indexes,
            query,
            vector,
            limit,
            self._scope,
            now,
            weights,
            None if reading is None else reading.result(),
        )
        return self._answer(recalled.hits, recalled.subgraph_nodes)

    def _check(self, query: str, limit: int) -> None:
        checks.check_text("query", query, longest=checks.MAX_QUERY)
        checks.check_limit("limit", limit, lowest=1, highest=MAX_RESULTS)
        self._memories.wait()

    def _answer(self, hits: "list[Hit] | tuple[Hit, ...]", nodes: int = 0) -> Answer:
        rows = np.fromiter((hit.row for hit in hits), np.int64, len(hits))
        memories = {memory.row: memory for memory in self._indexes.memories(rows)}
        return Answer(tuple(Found(memories[hit.row], hit) for hit in hits if hit.row in memories), nodes)
