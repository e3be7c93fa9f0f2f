"""What is called so, who refers to it, and what does it refer to?

Holds the symbols of one project, told of one file at a time. References are resolved by name
(``indexer/resolve.py``): a name that is defined in several places and near in none belongs to nobody for
sure. Who asks for the callers of such a name wants to see them all the same: those are answered as possible.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from indexer.resolve import Edge, Place, Project, places
from indexer.symbols import Definition, Symbols
from retrieval.code.question import supporting

__all__ = ["Link", "Match", "Mention", "Symbol", "SymbolGraph"]

_JOINT = re.compile(r"[./\\:]+")
_ALSO_JOINT = re.compile(r"(?<=\w)(?:#|->)(?=\w)")
"""As people write a member of a class, in Ruby and PHP."""
_TEST_SCOPES = frozenset({"test", "tests"})
_TEST_HELPERS = re.compile(r"(?:^|[/_.-])test[_-]?(?:helpers?|utils?|support)(?=[/_.-])", re.IGNORECASE)
_ADDING = frozenset({"impl", "extension", "namespace", "test", "suite"})
"""Kinds that add to a definition or are none: behind the definition itself."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition and where it stands. The symbol of kind ``file`` is a file outside of its definitions."""

    place: Place
    definition: Definition
    support: str = ""
    """Which sort of supporting file it is in (tests, examples…); ``""`` for the code itself."""

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def last_name(self) -> str:
        """As others refer to it: ``Queue`` of ``Acme.Queue``."""
        return _parts(self.definition.name)[-1]

    def holds(self, other: "Symbol") -> bool:
        """Is the other one this, or inside of it?"""
        return (
            self.path == other.path
            and other.definition.kind != "file"
            and self.definition.start_line <= other.definition.start_line
            and other.definition.end_line <= self.definition.end_line
        )


@dataclass(frozen=True, slots=True)
class Link:
    """``source`` refers to ``target``."""

    source: Symbol
    target: Symbol
    kind: str
    weight: float

    @property
    def name(self) -> str:
        """The word by which it does."""
        return self.target.last_name


@dataclass(frozen=True, slots=True)
class Mention:
    """``source`` uses a name that several definitions have, and none of them is near."""

    source: Symbol
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Match:
    """A definition by its name: 0 is called exactly so, 1 but for upper and lower case, 2 begins so, 3 has it
    within.
    """

    rank: int
    symbol: Symbol
    references: int

    @property
    def order(self) -> tuple[int, bool, bool, int, str, int]:
        """By name, the code before its tests, what is referred to most, its place."""
        symbol = self.symbol
        return (
            self.rank,
            bool(symbol.support),
            symbol.definition.kind in _ADDING,
            -self.references,
            symbol.path,
            symbol.definition.start_line,
        )


class SymbolGraph:
    """The symbols of a project. ``put`` a file, ``drop`` it; then ask. Not thread-safe."""

    def __init__(self) -> None:
        self._names = Project()
        self._files: dict[str, dict[Place, Symbol]] = {}
        self._edges: dict[str, list[Edge]] = {}
        self._changed: set[str] = set()
        self._incoming: dict[Place, list[Edge]] = {}
        self._called: dict[str, list[Symbol]] = {}

    # Keeping

    def put(self, path: str, language: str, symbols: Symbols) -> None:
        """Take in a new version of a file."""
        support = supporting(path, language) or ("test" if _TEST_HELPERS.search(path) else "")
        found = {
            place: Symbol(place, definition, support or _inner_support(definition))
            for place, definition in places(path, symbols)
        }
        ends = chain((one.end_line for one in symbols.definitions), (one.line for one in symbols.references))
        whole = Definition(path.rpartition("/")[2], "file", 1, max(ends, default=1), "", False)
        found[Place(path, "")] = Symbol(Place(path, ""), whole, support)
        self._files[path] = found
        self._changed |= self._names.put(path, symbols)

    def drop(self, path: str) -> None:
        """Forget a file."""
        self._files.pop(path, None)
        self._edges.pop(path, None)
        self._changed |= self._names.drop(path) | {path}

    # Asking

    def symbols(self) -> Iterator[Symbol]:
        """Every definition and every file."""
        for file in self._files.values():
            yield from file.values()

    def links(self) -> Iterator[Link]:
        """Every reference that is certain."""
        self._catch_up()
        for edges in self._edges.values():
            yield from map(self._link, edges)

    def kinds(self) -> frozenset[str]:
        """The kinds of definitions there are."""
        return frozenset(one.definition.kind for one in self.symbols()) - {"file"}

    def references(self, symbol: Symbol) -> int:
        """How many definitions (or files, outside of their definitions) refer to it."""
        self._catch_up()
        return len({edge.source for edge in self._incoming.get(symbol.place, ())})

    def find(self, name: str, kind: str | None = None) -> list[Match]:
        """Definitions by name, the best first.

        ``Session.send`` and ``Rack::Response`` name a scope as well; a scope may be a file or a folder.
        """
        self._catch_up()
        *scopes, last = _parts(_ALSO_JOINT.sub(".", name))
        folded = last.lower()
        found = []
        for called, symbols in self._called.items():
            if folded not in called:
                continue
            for symbol in symbols:
                if kind is None or symbol.definition.kind == kind:
                    rank = _rank(symbol, scopes, last)
                    if rank is not None:
                        found.append(Match(rank, symbol, self.references(symbol)))
        return sorted(found, key=lambda match: match.order)

    def named(self, name: str, path: str | None = None) -> list[Match]:
        """The definitions that one may mean by a name: called so, in whatever case, in this file if given."""
        return [
            match
            for match in self.find(name)
            if match.rank <= 1 and (path is None or match.symbol.path == path)
        ]

    def callers(self, symbols: Sequence[Symbol]) -> list[Link | Mention]:
        """Who refers to these, and then who uses their name where it could not be told whose it is."""
        self._catch_up()
        links = {
            (edge.source, edge.target, edge.kind): self._link(edge)
            for symbol in symbols
            for edge in self._incoming.get(symbol.place, ())
        }
        own = {symbol.place for symbol in symbols}
        names = {symbol.last_name for symbol in symbols if symbol.definition.kind not in _ADDING}
        mentions = [
            mention
            for name in sorted(names)
            for mention in self._mentions(name)
            if mention.source.place not in own
        ]
        return [
            *sorted(links.values(), key=lambda link: (bool(link.source.support), _key(link))),
            *sorted(mentions, key=lambda one: (bool(one.source.support), one.source.place, one.kind)),
        ]

    def callees(self, symbols: Sequence[Symbol]) -> list[Link]:
        """What these, and what is inside of them, refer to outside of them; what weighs most comes first."""
        self._catch_up()
        found: dict[tuple[Place, Place, str], Link] = {}
        for symbol in symbols:
            for edge in self._edges.get(symbol.path, ()):
                link = self._link(edge)
                if symbol.holds(link.source) and not symbol.holds(link.target):
                    found[edge.source, edge.target, edge.kind] = link
        return sorted(found.values(), key=lambda link: (-link.weight, _key(link)))

    def first_line(self, link: Link | Mention, symbols: Symbols) -> int:
        """The first line on which ``source`` does so; ``symbols`` are those of its file."""
        own = set(self._own_lines(link.source))
        for reference in symbols.references:
            if (
                reference.kind == link.kind
                and reference.line in own
                and _parts(reference.name)[-1] == link.name
            ):
                return reference.line
        return link.source.definition.start_line

    def _own_lines(self, symbol: Symbol) -> Iterator[int]:
        """The lines of a definition, or of a file, that are not in another definition inside of it."""
        inside = sorted(
            (one.definition.start_line, one.definition.end_line)
            for one in self._files.get(symbol.path, {}).values()
            if one is not symbol
            and one.definition.kind != "file"
            and (symbol.definition.kind == "file" or symbol.holds(one))
        )
        line = symbol.definition.start_line
        for start, end in inside:
            yield from range(line, start)
            line = max(line, end + 1)
        yield from range(line, symbol.definition.end_line + 1)

    def _mentions(self, name: str) -> Iterator[Mention]:
        for path in self._names.users.get(name, ()):
            resolved = {
                (edge.source, edge.kind)
                for edge in self._edges.get(path, ())
                if self._symbol(edge.target).last_name == name
            }
            for source, used, kind, _ in self._names.files[path].uses:
                if used == name and (source, kind) not in resolved:
                    yield Mention(self._symbol(source), name, kind)

    def _link(self, edge: Edge) -> Link:
        return Link(self._symbol(edge.source), self._symbol(edge.target), edge.kind, edge.weight)

    def _symbol(self, place: Place) -> Symbol:
        return self._files[place.path][place]

    def _catch_up(self) -> None:
        if not self._changed:
            return
        for path in self._changed:
            if path in self._files:
                self._edges[path] = self._names.edges(path)
        self._changed.clear()
        self._incoming = {}
        for edge in chain.from_iterable(self._edges.values()):
            self._incoming.setdefault(edge.target, []).append(edge)
        self._called = {}
        for symbol in self.symbols():
            if symbol.definition.kind != "file":
                self._called.setdefault(symbol.last_name.lower(), []).append(symbol)


def _inner_support(definition: Definition) -> str:
    """Some languages have their tests inside of the code."""
    is_test = definition.kind in {"test", "suite"} or not _TEST_SCOPES.isdisjoint(_parts(definition.scope))
    return "test" if is_test else ""


def _rank(symbol: Symbol, scopes: list[str], last: str) -> int | None:
    own = symbol.last_name
    around = [*_parts(symbol.path), *_parts(symbol.place.name)[:-1]]
    if not _follow([scope.lower() for scope in scopes], [part.lower() for part in around]):
        return None
    if own == last:
        return 0 if _follow(scopes, around) else 1
    folded = own.lower()
    if folded == last.lower():
        return 1
    return 2 if folded.startswith(last.lower()) else 3


def _follow(wanted: Iterable[str], parts: list[str]) -> bool:
    """Do the wanted ones stand among the parts in this order?"""
    rest = iter(parts)
    return all(any(part == one for part in rest) for one in wanted)


def _parts(name: str) -> list[str]:
    """``Rack``, ``Response`` of ``Rack::Response``; an operator is one part, whatever it is made of."""
    return [part for part in _JOINT.split(name) if part] or [name]


def _key(link: Link) -> tuple[str, int, Place, str, int, str]:
    source, target = link.source, link.target
    return (
        source.path,
        source.definition.start_line,
        source.place,
        target.path,
        target.definition.start_line,
        link.kind,
    )
