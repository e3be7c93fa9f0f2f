"""Which code answers a question, and is it still what the file says?

Files change after they were indexed. Before an answer is given, the files in it are looked at: those that
changed are read again and the question is asked once more; those that cannot be are marked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexer.languages.registry import LANGUAGES
from memory_mcp.engine import checks
from memory_mcp.engine.freshness import Freshness
from memory_mcp.engine.projects import Projects
from retrieval.code.ranking import WEIGHTS, Ranked
from retrieval.code.search import search_code
from retrieval.embedding.encoder import Encoder
from retrieval.errors import EncoderNotReady, InvalidInput
from retrieval.fusion import Weights
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk

__all__ = ["Code", "FoundCode"]

MAX_RESULTS = 50
_LANGUAGES = {language.name for language in LANGUAGES}


@dataclass(frozen=True, slots=True)
class FoundCode:
    """A chunk, what brought it here, and whether its file is known to have changed since."""

    chunk: CodeChunk
    ranked: Ranked
    is_stale: bool = False


class Code:
    """Search over the code of one space."""

    def __init__(
        self,
        indexes: Indexes,
        encoder: Encoder,
        projects: Projects,
        freshness: Freshness,
        wait: Callable[[], None],
    ) -> None:
        """``wait`` returns when the indexes can be used, or raises."""
        self._indexes = indexes
        self._encoder = encoder
        self._projects = projects
        self._wait = wait
        self._freshness = freshness

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        project: str | None = None,
        language: str | None = None,
        weights: Weights = WEIGHTS,
    ) -> tuple[FoundCode, ...]:
        """The best chunks. Without a model, or before it is loaded, by words and names alone."""
        checks.check_text("query", query, longest=checks.MAX_QUERY)
        checks.check_limit("limit", limit, lowest=1, highest=MAX_RESULTS)
        if language is not None and language not in _LANGUAGES:
            known = ", ".join(sorted(_LANGUAGES))
            raise InvalidInput("language", f"is not known: {language!r:.50}. Known are {known}.")
        scope = self._projects.scope(project)
        self._wait()
        vector = None
        if weights.vector > 0:
            try:
                vector = self._encoder.embed_query(query)
            except EncoderNotReady:  # also when it failed: get_status says why
                vector = None

        def ask() -> tuple[FoundCode, ...]:
            ranked = search_code(self._indexes, query, vector, limit, scope, language, weights)
            return self._read(ranked)

        found = ask()
        stale = self._freshness.stale(_files(found))
        if stale and self._freshness.reread(stale):
            found = ask()
            stale = self._freshness.stale(_files(found))
        if not stale:
            return found
        return tuple(
            replace(one, is_stale=one.chunk.path in stale.get(one.chunk.project, ())) for one in found
        )

    def _read(self, ranked: Sequence[Ranked]) -> tuple[FoundCode, ...]:
        chunks = self._indexes.chunks(np.array([one.row for one in ranked], dtype=np.int64))
        pairs = zip(chunks, ranked, strict=True)
        return tuple(FoundCode(chunk, one) for chunk, one in pairs if chunk is not None)


def _files(found: Sequence[FoundCode]) -> dict[str, set[str]]:
    asked: dict[str, set[str]] = {}
    for one in found:
        asked.setdefault(one.chunk.project, set()).add(one.chunk.path)
    return asked
