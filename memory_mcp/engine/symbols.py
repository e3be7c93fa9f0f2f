"""Where is a name defined, who refers to it, and what should one know of a project first?

Answers come from the symbols that indexing left beside each file. The graph of a project is built when it is
first asked for, kept, and brought up to date by the files that changed. Files in an answer that changed on
disk since they were indexed are read again first, so that the lines are those of today.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from indexer.project_map import ProjectMap, draw_map
from indexer.signature import signature
from indexer.symbol_graph import Link, Match, Mention, Symbol, SymbolGraph
from indexer.symbols_note import from_note
from memory_mcp.engine import checks
from memory_mcp.engine.freshness import Freshness
from memory_mcp.engine.projects import Projects
from retrieval.errors import InvalidInput
from retrieval.indexes import Indexes
from retrieval.records import Project
from retrieval.store.store import Store

__all__ = ["Found", "FoundSymbol", "Reference", "References", "Symbols"]

MAX_FOUND = 50
MAX_REFERENCES = 200
LEAST_TOKENS, MOST_TOKENS = 100, 32_000
KEPT_PROJECTS = 4
"""Graphs kept in memory, 80 MB for one of 19,000 definitions in 2,700 files; those asked for last."""
_SIGNATURE_LINES = 60
"""Lines of a definition that are read for its signature, annotations included."""
_LONGEST_TEXT = 200
"""Characters shown of a line that refers to something."""

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """A definition. ``references`` counts the definitions that refer to it."""

    project: str
    symbol: Symbol
    signature: str
    references: int


@dataclass(frozen=True, slots=True)
class Found:
    """The best definitions of a name, and how many there are."""

    symbols: tuple[FoundSymbol, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Reference:
    """Who refers to what, and the first line on which it does; for a callee, its signature."""

    project: str
    link: Link | Mention
    line: int
    text: str
    signature: str


@dataclass(frozen=True, slots=True)
class References:
    """The definitions that were meant, and references to or from them, of ``total``."""

    definitions: tuple[FoundSymbol, ...]
    references: tuple[Reference, ...]
    total: int


@dataclass(slots=True)
class _Kept:
    """The graph of a project as of a version of the indexes."""

    graph: SymbolGraph = field(default_factory=SymbolGraph)
    digests: dict[str, str] = field(default_factory=dict)
    notes: dict[str, bytes] = field(default_factory=dict)
    """The symbols of its files as they are stored: a twentieth of what they take when read."""
    version: int = -1


class Symbols:
    """Definitions and references of the projects of one space."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        projects: Projects,
        freshness: Freshness,
        wait: Callable[[], None],
    ) -> None:
        """``wait`` returns when the indexes can be used, or raises."""
        self._store = store
        self._indexes = indexes
        self._projects = projects
        self._freshness = freshness
        self._wait = wait
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def find(
        self, name: str, limit: int = 20, *, project: str | None = None, kind: str | None = None
    ) -> Found:
        """Definitions of a name, exact ones first."""
        checks.check_text("name", name, longest=checks.MAX_NAME)
        checks.check_limit("limit", limit, lowest=1, highest=MAX_FOUND)
        projects = self._chosen(project)

        def ask() -> tuple[Found, list[tuple[Project, str]]]:
            kinds: set[str] = set()
            found: list[tuple[Match, Project]] = []
            for one, kept in self._graphs(projects):
                kinds |= kept.graph.kinds()
                found += ((match, one) for match in kept.graph.find(name.strip(), kind))
            if kind is not None and kinds and kind not in kinds:
                raise InvalidInput(
                    "kind", f"is not known: {kind!r:.50}. Known are {', '.join(sorted(kinds))}."
                )
            found.sort(key=lambda pair: pair[0].order)
            best = found[:limit]
            symbols = tuple(self._found(one.id, match) for match, one in best)
            return Found(symbols, len(found)), [(one, match.symbol.path) for match, one in best]

        return self._fresh(ask)

    def callers(
        self, name: str, limit: int = 50, *, project: str | None = None, path: str | None = None
    ) -> References:
        """Who refers to the definitions of a name."""
        return self._references(name, limit, project, path, callers=True)

    def callees(
        self, name: str, limit: int = 50, *, project: str | None = None, path: str | None = None
    ) -> References:
        """What the definitions of a name refer to inside their project."""
        return self._references(name, limit, project, path, callers=False)

    def map(self, project: str, token_budget: int = 1024, focus: str | None = None) -> ProjectMap:
        """An outline of a project within a budget."""
        checks.check_limit("token_budget", token_budget, lowest=LEAST_TOKENS, highest=MOST_TOKENS)
        if focus is not None:
            checks.check_text("focus", focus, longest=checks.MAX_QUERY)
        chosen = self._projects.get(project)
        self._wait()

        def ask() -> tuple[ProjectMap, list[tuple[Project, str]]]:
            [(_, kept)] = self._graphs([chosen])
            drawn = draw_map(kept.graph, lambda path: self._lines(chosen.id, path), token_budget, focus or "")
            return drawn, [(chosen, path) for path in drawn.paths]

        return self._fresh(ask)

    def _references(
        self, name: str, limit: int, project: str | None, path: str | None, *, callers: bool
    ) -> References:
        checks.check_text("name", name, longest=checks.MAX_NAME)
        checks.check_limit("limit", limit, lowest=1, highest=MAX_REFERENCES)
        if path is not None:
            checks.check_text("file_path", path, longest=checks.MAX_QUERY)
        projects = self._chosen(project)

        def ask() -> tuple[References, list[tuple[Project, str]]]:
            meant = [
                (one, kept, kept.graph.named(name.strip(), path)) for one, kept in self._graphs(projects)
            ]
            rank = min((match.rank for _, _, matches in meant for match in matches), default=0)
            definitions: list[FoundSymbol] = []
            found: list[tuple[Project, _Kept, Link | Mention]] = []
            for one, kept, matches in meant:
                symbols = [match.symbol for match in matches if match.rank == rank]
                definitions += (self._found(one.id, match) for match in matches[:limit] if match.rank == rank)
                links = kept.graph.callers(symbols) if callers else kept.graph.callees(symbols)
                found += ((one, kept, link) for link in links)
            found.sort(key=lambda row: isinstance(row[2], Mention))  # what is certain first, in all projects
            shown = found[:limit]
            references = tuple(
                self._reference(one.id, kept, link, callers=callers) for one, kept, link in shown
            )
            answer = References(tuple(definitions[:limit]), references, len(found))
            return answer, [(one, link.source.path) for one, _, link in shown]

        return self._fresh(ask)

    # The graphs

    def _chosen(self, project: str | None) -> list[Project]:
        chosen = self._projects.all() if project is None else [self._projects.get(project)]
        self._wait()
        return chosen

    def _graphs(self, projects: Iterable[Project]) -> Iterator[tuple[Project, _Kept]]:
        """The graphs of projects as their files are indexed now. The lock is held by ``_fresh``."""
        for project in projects:
            kept = self._kept.pop(project.id, None) or _Kept()
            version = self._indexes.version
            if kept.version != version:
                self._bring_up(project.id, kept)
                kept.version = version
            self._kept[project.id] = kept
            while len(self._kept) > KEPT_PROJECTS:
                del self._kept[next(iter(self._kept))]
            yield project, kept

    def _bring_up(self, project: str, kept: _Kept) -> None:
        known = self._store.code.known_files(project)
        for path in kept.digests.keys() - known.keys():
            del kept.digests[path]
            kept.notes.pop(path, None)
            kept.graph.drop(path)
        changed = {path for path, file in known.items() if kept.digests.get(path) != file.digest}
        if not changed:
            return
        for page in self._store.code.files(project):
            for file in page:
                if file.path in changed:
                    kept.digests[file.path] = file.digest
                    kept.notes[file.path] = file.symbols
                    if file.symbols:
                        kept.graph.put(file.path, file.language, from_note(file.symbols))
                    else:
                        kept.graph.drop(file.path)

    # Their text

    def _found(self, project: str, match: Match) -> FoundSymbol:
        return FoundSymbol(project, match.symbol, self._signature(project, match.symbol), match.references)

    def _reference(self, project: str, kept: _Kept, link: Link | Mention, *, callers: bool) -> Reference:
        source = link.source
        line = kept.graph.first_line(link, from_note(kept.notes[source.path]))
        text = self._lines(project, source.path, line, line).get(line, "").strip()
        shown = source if isinstance(link, Mention) else link.target
        head = "" if callers else self._signature(project, shown)
        return Reference(project, link, line, text[:_LONGEST_TEXT], head)

    def _signature(self, project: str, symbol: Symbol) -> str:
        definition = symbol.definition
        if definition.kind == "file":
            return ""
        start, end = definition.start_line, definition.end_line
        lines = self._lines(project, symbol.path, start, min(end, start + _SIGNATURE_LINES))
        return signature(lines, start, end, symbol.last_name)

    def _lines(self, project: str, path: str, first: int = 1, last: int | None = None) -> Mapping[int, str]:
        """Lines of a file by their numbers, as they were indexed; those around come along."""
        with self._indexes.lock:
            chunks = [
                chunk
                for chunk in self._indexes.code.catalog.file(project, path)
                if chunk.end_line >= first and (last is None or chunk.start_line <= last)
            ]
        read = self._indexes.chunks(np.array([chunk.row for chunk in chunks], dtype=np.int64))
        lines: dict[int, str] = {}
        for chunk, record in zip(chunks, read, strict=True):
            if record is not None:
                lines.update(enumerate(record.content.split("\n"), start=chunk.start_line))
        return lines

    # Is it still so?

    def _fresh(self, ask: Callable[[], tuple[AnswerT, Iterable[tuple[Project, str]]]]) -> AnswerT:
        """Ask; if files in the answer changed on disk, read them again and ask once more."""
        with self._lock:
            answer, files = ask()
            asked: dict[str, set[str]] = {}
            for project, path in files:
                asked.setdefault(project.id, set()).add(path)
            return ask()[0] if self._freshness.reread(self._freshness.stale(asked)) else answer
