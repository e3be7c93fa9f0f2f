"""Which code answers a question, and is it still what the file says?

Files change after they were indexed. Before an answer is given, the files in it are looked at: those that
changed are read again and the question is asked once more; those that cannot be are marked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from indexer.languages.registry import LANGUAGES
from indexer.pipeline import refresh
from indexer.walk import InvalidPath, check_root, stat_file
from memory_mcp.engine import checks
from memory_mcp.engine.projects import Projects
from retrieval.code.ranking import WEIGHTS, Ranked
from retrieval.code.search import search_code
from retrieval.embedding.encoder import Encoder
from retrieval.errors import EncoderNotReady, InvalidInput
from retrieval.fusion import Weights
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk, Scope
from retrieval.store.code import Known
from retrieval.store.store import Store

__all__ = ["Code", "FoundCode"]

MAX_RESULTS = 50
REREAD_AT_ONCE = 20
"""Changed files that are read again before an answer; more means that a branch was switched, and indexing
them is the watcher's or the user's business."""

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
        store: Store,
        indexes: Indexes,
        encoder: Encoder,
        projects: Projects,
        wait: Callable[[], None],
    ) -> None:
        """``wait`` returns when the indexes can be used, or raises."""
        self._store = store
        self._indexes = indexes
        self._encoder = encoder
        self._projects = projects
        self._wait = wait
        self._stamps: dict[tuple[str, str], Known] = {}
        self._stamped_at = -1

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
        stale = self._stale(found, scope)
        if stale and self._reread(stale):
            found = ask()
            stale = self._stale(found, scope)
        if not stale:
            return found
        return tuple(
            replace(one, is_stale=one.chunk.path in stale.get(one.chunk.project, ())) for one in found
        )

    def _read(self, ranked: Sequence[Ranked]) -> tuple[FoundCode, ...]:
        rows = np.array([one.row for one in ranked], dtype=np.int64)
        with self._indexes.lock:
            chunks = self._indexes.code.shelf.read(rows)
            ids = self._indexes.code.catalog.ids(rows)
        lost = [key for key, chunk in zip(ids, chunks, strict=True) if chunk is None and key]
        again = self._store.chunks(lost) if lost else {}
        pairs = ((chunk or again.get(key), one) for key, chunk, one in zip(ids, chunks, ranked, strict=True))
        return tuple(FoundCode(chunk, one) for chunk, one in pairs if chunk is not None)

    def _stale(self, found: Sequence[FoundCode], scope: Scope) -> dict[str, set[str]]:
        """Project → paths in the answer whose file is not as it was indexed."""
        if self._stamped_at != self._indexes.version:
            self._stamps.clear()
            self._stamped_at = self._indexes.version
        asked: dict[str, set[str]] = {}
        for one in found:
            asked.setdefault(one.chunk.project, set()).add(one.chunk.path)
        roots = {project.id: Path(project.root) for project in self._projects.all()} if asked else {}
        stale: dict[str, set[str]] = {}
        for project, paths in asked.items():
            unknown = [path for path in paths if (project, path) not in self._stamps]
            if unknown:
                known = self._store.code.known_files(project, unknown)
                self._stamps.update(((project, path), before) for path, before in known.items())
            for path in paths:
                before = self._stamps.get((project, path))
                file = stat_file(roots[project], path) if project in roots else None
                if before is None or file is None or file.stamp != before.stamp:
                    stale.setdefault(project, set()).add(path)
        return stale

    def _reread(self, stale: dict[str, set[str]]) -> bool:
        """Bring changed files up to date; False when that is not for us to do."""
        if sum(map(len, stale.values())) > REREAD_AT_ONCE:
            return False
        self._stamped_at = -1
        done = False
        for project in self._projects.all():
            # a folder that is gone or empty may be a volume that is not mounted: its code stays
            if project.id in stale and _is_project(project.root):
                with self._projects.working(project.id) as is_free:
                    if is_free:
                        refresh(self._store, self._indexes, project, stale[project.id])
                        done = True
        if done:
            self._projects.embedding.wake()
        return done


def _is_project(root: str) -> bool:
    try:
        check_root(root)
    except InvalidPath:
        return False
    return True
