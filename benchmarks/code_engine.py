"""Our own code search, whole and in parts: what does each part contribute?

All rows search one index, made by the engine as a user's would be: `ours` asks the engine itself, the others
the same indexes with some channel or rule left out. `ours, no vectors` is what is found as soon as a project
is parsed; its index time is the time until then. Rows with a graph add a walk over references that production
search does not take (``benchmarks/code_graph.py``), and their index time has the making of it.
"""

import dataclasses
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.code_graph import ChunkGraph, search_with_graph
from benchmarks.code_systems import Found, Indexed, Place, System
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.settings import Settings
from retrieval.code.ranking import WEIGHTS, Ranked, Rules
from retrieval.code.search import search_code
from retrieval.fusion import Weights
from retrieval.records import Scope, Vector

__all__ = ["ours"]

_PATIENCE = 3600.0
_NO_RULES = Rules(**{field.name: False for field in dataclasses.fields(Rules)})

_STRONG = 0.4
"""What a walk weighs at most: as much as the words, or the vectors."""


class _Shared:
    """One engine for all rows; it holds one project at a time."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="memory-mcp-code-")
        settings = Settings(data_dir=Path(self._folder.name))
        self.engine: Engine = open_engine(settings)
        self.engine.wait(_PATIENCE)
        self.model = settings.model
        self.scope = Scope(settings.space)
        self._root: Path | None = None
        self.parsed = self.complete = Indexed(0, 0, 0.0)
        self._graph: tuple[ChunkGraph, float] | None = None
        self._users = 0
        self.wants_vectors = False

    def index(self, root: Path) -> None:
        if root == self._root:
            return
        for project in self.engine.projects.all():
            self.engine.projects.delete(project.id)
        if not self.wants_vectors and self._root is None:
            self.engine.projects.embedding.hold()
        begun = time.perf_counter()
        done = self.engine.projects.index(str(root))
        self.parsed = Indexed(done.files, done.chunks, time.perf_counter() - begun)
        if self.wants_vectors:
            self.engine.projects.embedding.wait(_PATIENCE)
        self.complete = Indexed(done.files, done.chunks, time.perf_counter() - begun)
        self._root = root
        self._graph = None

    def graph(self) -> tuple[ChunkGraph, float]:
        """The references of the project, and the seconds that they took when they were first asked for."""
        if self._graph is None:
            begun = time.perf_counter()
            (project,) = self.engine.projects.all()
            catalog = self.engine._indexes.code.catalog
            graph = ChunkGraph.of_project(self.engine._store.code, catalog, project.id)
            self._graph = graph, time.perf_counter() - begun
        return self._graph

    def join(self) -> None:
        self._users += 1

    def leave(self) -> None:
        self._users -= 1
        if self._users == 0:
            self.engine.close()
            self._folder.cleanup()


class _Row:
    """One way of asking the shared index."""

    def __init__(
        self,
        shared: _Shared,
        name: str,
        *,
        weights: Weights = WEIGHTS,
        rules: Rules = Rules(),
        walks: bool = False,
    ) -> None:
        self.name = name
        self._shared = shared
        self._weights = weights
        self._rules = rules
        self._walks = walks
        shared.join()
        shared.wants_vectors |= weights.vector > 0

    def about(self) -> Mapping[str, str]:
        return {
            "model": self._shared.model,
            "weights": repr(self._weights),
            "graph": "references between chunks" if self._walks else "",
            "rules": ", ".join(name for name, is_on in dataclasses.asdict(self._rules).items() if is_on),
        }

    def index(self, root: Path) -> Indexed:
        self._shared.index(root)
        indexed = self._shared.complete if self._weights.vector > 0 else self._shared.parsed
        if not self._walks:
            return indexed
        return dataclasses.replace(indexed, seconds=indexed.seconds + self._shared.graph()[1])

    def search(self, query: str, k: int) -> Found:
        engine = self._shared.engine
        begun = time.perf_counter()
        if self._rules == Rules() and self._weights == WEIGHTS and not self._walks:
            places = [one.chunk for one in engine.code.search(query, min(k, 50))]
        else:
            vector = engine._encoder.embed_query(query) if self._weights.vector > 0 else None
            places = [one.chunk for one in engine.code._read(self._ranked(query, vector, k))]
        seconds = time.perf_counter() - begun
        return Found([Place(one.path, one.start_line, one.end_line) for one in places], seconds)

    def _ranked(self, query: str, vector: Vector | None, k: int) -> list[Ranked]:
        indexes, scope = self._shared.engine._indexes, self._shared.scope
        if self._walks:
            graph, _ = self._shared.graph()
            return search_with_graph(indexes, graph, query, vector, k, scope, self._weights, self._rules)
        return search_code(indexes, query, vector, k, scope, None, self._weights, self._rules)

    def close(self) -> None:
        self._shared.leave()


def ours(*, ablation: bool) -> Mapping[str, Callable[[], System]]:
    """The rows by the names of the command line; with ``ablation`` also those with a part more or less."""
    shared: list[_Shared] = []

    def row(
        name: str, weights: Weights = WEIGHTS, rules: Rules = Rules(), *, walks: bool = False
    ) -> Callable[[], System]:
        def make() -> System:
            if not shared:
                shared.append(_Shared())
            return _Row(shared[0], name, weights=weights, rules=rules, walks=walks)

        return make

    words, vectors = Weights(0.0, 1.0, 0.0), Weights(1.0, 0.0, 0.0)
    linked = dataclasses.replace(WEIGHTS, vector=0.0)
    strong, strongly_linked = (dataclasses.replace(one, ppr=_STRONG) for one in (WEIGHTS, linked))
    rows = {"ours": row("ours"), "ours-words": row("ours, no vectors", words)}
    if ablation:
        rows |= {
            "ours-bm25": row("BM25 alone", words, _NO_RULES),
            "ours-dense": row("dense alone", vectors, _NO_RULES),
            "ours-fusion": row("z-fusion alone", WEIGHTS, _NO_RULES),
            "ours-bm25-graph": row("BM25 + graph", linked, _NO_RULES, walks=True),
            "ours-fusion-graph": row("z-fusion + graph", WEIGHTS, _NO_RULES, walks=True),
            "ours-graph": row("all rules + graph", WEIGHTS, walks=True),
            "ours-graph-strong": row("all rules + strong graph", strong, walks=True),
            "ours-words-graph": row("no vectors + graph", linked, walks=True),
            "ours-words-graph-strong": row("no vectors + strong graph", strongly_linked, walks=True),
            **{
                f"ours-no-{field.name}": row(
                    f"without {field.name}", WEIGHTS, dataclasses.replace(Rules(), **{field.name: False})
                )
                for field in dataclasses.fields(Rules)
            },
        }
    return rows
