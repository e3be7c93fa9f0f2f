"""Who refers to whom? Definitions and references of many files become edges of the graph.

A name that is used in a file may be defined in several. The nearest wins: the same file, then the same
folder, then a module the file imports, then the only definition in the project. A name that is defined in
many places and near in none is left alone: an edge to the wrong one is worse than none. What is defined
inside a function is known in its file only.

``Project`` keeps the names and is told of one file at a time; it answers which files must be looked at again.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from indexer.symbols import Definition, Reference, Symbols

__all__ = ["Edge", "Place", "Project", "name_weight", "places"]

# The lessons of repo maps (aider's is the best known): who is named often and by a telling name matters, who
# is private or shares a name with many does not. Factors multiply.
KIND_WEIGHT = {"inherit": 2.0, "call": 1.0, "import": 0.5, "use": 0.5}
"""A subclass needs its base to be understood at all; a mention may be no more than a type in a signature."""
LONG_NAME = 8
"""Characters from which a name is rarely the same by chance."""
LONG_NAME_WEIGHT = 2.0
SHORT_NAME = 3
"""Up to this a name (``f``, ``get``) means nothing outside of its file."""
SHORT_NAME_WEIGHT = 0.3
PRIVATE_WEIGHT = 0.2
"""A leading underscore says: not for you. Inside its own file it counts all the same."""
MANY = 5
"""Definitions of a name in a project from which each says little (``run``, ``to_string``, ``main``)."""
MANY_WEIGHT = 0.2
DISTANCE_WEIGHT = {"file": 1.0, "folder": 0.8, "import": 1.0, "project": 0.5}
"""How sure the way is on which a definition was found; an import says it outright."""
COMMON = 200
"""Files that define a name from which it says nothing outside of its own file (``new``, ``get``)."""
MOST_TARGETS = 3
"""Overloads and partial classes are one thing in several places; more than that is a coincidence."""

_NO_TARGET = frozenset({"impl", "extension", "namespace", "test", "suite"})
"""Places that add to a definition and are none, and what nobody can call."""
_FUNCTIONS = frozenset({"function", "method", "constructor", "test", "suite", "macro"})
_SPLIT = re.compile(r"[./\\:]+")
_STANDS_FOR_FOLDER = frozenset({"__init__", "index", "mod", "lib", "main", "package", "init"})


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A definition in a project, named so that it keeps its name when lines move.

    ``name`` is its scope and name; the empty name is the file itself. ``number`` tells apart definitions that
    share a name in one file (overloads).
    """

    path: str
    name: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """``source`` refers to ``target``."""

    source: Place
    target: Place
    kind: str
    weight: float


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str  # as it is referred to, without where it lives
    place: Place
    definition: Definition


@dataclass(frozen=True, slots=True)
class _File:
    folder: str
    module: str  # the word by which others import it
    entries: tuple[_Entry, ...]
    local: dict[str, list[_Entry]]  # name → definitions inside functions
    uses: tuple[tuple[Place, str, str, int], ...]  # who, which name, how, how often
    imports: frozenset[str]


@dataclass(slots=True)
class Project:
    """The names of a project. ``put`` a file, ``drop`` it, ask for the ``edges`` from it."""

    files: dict[str, _File] = field(default_factory=dict)
    definitions: dict[str, dict[str, list[_Entry]]] = field(default_factory=dict)
    """name → path → its definitions there"""
    counts: Counter[str] = field(default_factory=Counter)
    """name → how many definitions it has"""
    users: dict[str, set[str]] = field(default_factory=dict)
    """name → files that refer to it"""

    def put(self, path: str, symbols: Symbols) -> frozenset[str]:
        """Take in a new version of a file; the answer is the files whose edges may have changed."""
        old = self.files.get(path)
        new = _file(path, symbols)
        touched = _changed_names(old, new)
        self._forget(path, old)
        self.files[path] = new
        for entry in new.entries:
            self.definitions.setdefault(entry.name, {}).setdefault(path, []).append(entry)
            self.counts[entry.name] += 1
        for _, name, _, _ in new.uses:
            self.users.setdefault(name, set()).add(path)
        return self._users_of(touched) | {path}

    def drop(self, path: str) -> frozenset[str]:
        """Forget a file; the answer is the other files whose edges may have changed."""
        old = self.files.pop(path, None)
        self._forget(path, old)
        return self._users_of({entry.name for entry in old.entries} if old else ())

    def edges(self, path: str) -> list[Edge]:
        """What the definitions of one file refer to. The same pair and kind appears once."""
        file = self.files.get(path)
        if file is None:
            return []
        edges: list[Edge] = []
        known: dict[tuple[str, bool], tuple[list[_Entry], str]] = {}
        for source, name, kind, count in file.uses:
            asked = (name, kind == "import")
            if asked not in known:
                known[asked] = self._resolve(name, kind, path, file)
            targets, distance = known[asked]
            if not targets:
                continue
            weight = self._weight(name, kind, count, distance) / len(targets)
            for entry in targets:
                if entry.place is source:
                    continue  # recursion says nothing about importance
                is_hidden = entry.definition.is_private and distance != "file"
                factor = PRIVATE_WEIGHT if is_hidden else 1.0
                edges.append(Edge(source, entry.place, kind, weight * factor))
        return edges

    def all_edges(self) -> Iterator[Edge]:
        """Every edge of the project."""
        for path in self.files:
            yield from self.edges(path)

    def _resolve(self, name: str, kind: str, path: str, file: _File) -> tuple[list[_Entry], str]:
        if name in file.local and kind != "import":
            return file.local[name][:MOST_TARGETS], "file"
        by_path = self.definitions.get(name)
        if not by_path:
            return [], ""
        if path in by_path and kind != "import":
            return by_path[path][:MOST_TARGETS], "file"
        if len(by_path) > COMMON:
            return [], ""
        others = [other for other in by_path if other != path]
        near = [other for other in others if self.files[other].folder == file.folder]
        if near and len(near) <= MOST_TARGETS:
            return _entries(by_path, near), "folder"
        imported = [other for other in others if self.files[other].module in file.imports]
        if imported and len(imported) <= MOST_TARGETS:
            return _entries(by_path, imported), "import"
        if len(others) == 1:
            return _entries(by_path, others), "project"
        return [], ""

    def _weight(self, name: str, kind: str, count: int, distance: str) -> float:
        weight = KIND_WEIGHT[kind] * DISTANCE_WEIGHT[distance] * name_weight(name)
        if self.counts[name] >= MANY:
            weight *= MANY_WEIGHT
        return weight * math.sqrt(count)  # the tenth call says less than the first

    def _forget(self, path: str, old: _File | None) -> None:
        if old is None:
            return
        for entry in old.entries:
            self.counts[entry.name] -= 1
            _remove(self.definitions, entry.name, path)
        for _, name, _, _ in old.uses:
            if name in self.users:
                self.users[name].discard(path)
                if not self.users[name]:
                    del self.users[name]

    def _users_of(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(self.users.get(name, ()) for name in names))


def name_weight(name: str) -> float:
    """How much a name tells: one of several words or of some length is rarely the same by chance."""
    if len(name) <= SHORT_NAME:
        return SHORT_NAME_WEIGHT
    has_words = "_" in name.strip("_") or (
        not name.islower() and not name.isupper() and name[1:] != name[1:].lower()
    )
    return LONG_NAME_WEIGHT if len(name) >= LONG_NAME and has_words else 1.0


def places(path: str, symbols: Symbols) -> list[tuple[Place, Definition]]:
    """The definitions of a file and the names by which edges speak of them, in the order of their lines."""
    numbers: Counter[str] = Counter()
    found = []
    for definition in symbols.definitions:
        name = f"{definition.scope}.{definition.name}" if definition.scope else definition.name
        found.append((Place(path, name, numbers[name]), definition))
        numbers[name] += 1
    return found


def _file(path: str, symbols: Symbols) -> _File:
    named = places(path, symbols)
    entries, local = _visible(named)
    where = PurePosixPath(path)
    return _File(
        str(where.parent),
        _module(where),
        tuple(entries),
        local,
        tuple(_uses(path, symbols.references, named)),
        _imports(symbols.references),
    )


def _uses(
    path: str, references: Iterable[Reference], named: list[tuple[Place, Definition]]
) -> Iterator[tuple[Place, str, str, int]]:
    """Who refers to which name, how and how often. A place is counted by its number: they hash slowly."""
    starts = [definition.start_line for _, definition in named]
    ends = [definition.end_line for _, definition in named]
    counts: dict[tuple[int, str, str], int] = {}
    line, around = 0, -1
    for reference in references:
        if reference.line != line:
            line = reference.line
            around = _innermost(starts, ends, line)
        use = (around, _last(reference.name), reference.kind)
        counts[use] = counts.get(use, 0) + 1
    whole = Place(path, "")
    for (at, name, kind), count in counts.items():
        yield (whole if at < 0 else named[at][0]), name, kind, count


def _visible(named: list[tuple[Place, Definition]]) -> tuple[list[_Entry], dict[str, list[_Entry]]]:
    """Definitions that other files can refer to, and those that only this one can."""
    entries: list[_Entry] = []
    local: dict[str, list[_Entry]] = {}
    around: list[tuple[int, bool]] = []  # last line, is what is inside local
    for place, definition in named:
        while around and around[-1][0] < definition.start_line:
            around.pop()
        is_local = bool(around) and around[-1][1]
        around.append((definition.end_line, is_local or definition.kind in _FUNCTIONS))
        if definition.kind in _NO_TARGET:
            continue
        entry = _Entry(_last(definition.name), place, definition)
        if is_local:
            local.setdefault(entry.name, []).append(entry)
        else:
            entries.append(entry)
    return entries, local


def _innermost(starts: list[int], ends: list[int], line: int) -> int:
    """The last definition that begins at or before a line and has not ended: scopes are nested."""
    after = bisect_right(starts, line)
    for at in range(after - 1, max(0, after - 200) - 1, -1):
        if line <= ends[at]:
            return at
    return -1


def _imports(references: Iterable[Reference]) -> frozenset[str]:
    """The words of the modules a file imports, folded: ``./Store`` and ``a.store`` both name store."""
    words: set[str] = set()
    for reference in references:
        if reference.kind == "import":
            parts = [part for part in _SPLIT.split(reference.name) if part]
            words.update(part.lower() for part in parts[-3:])
    return frozenset(words)


def _module(path: PurePosixPath) -> str:
    """The word by which a file is imported: its stem, or its folder if it stands for that."""
    stem = path.name.split(".")[0].lower()
    return path.parent.name.lower() if stem in _STANDS_FOR_FOLDER else stem


def _last(name: str) -> str:
    """A name without where it lives: ``Queue`` of ``Acme.Queue``, ``words`` of ``./text/words``."""
    if name.isidentifier():
        return name
    parts = [part for part in _SPLIT.split(name) if part]
    return parts[-1] if parts else name


def _entries(by_path: dict[str, list[_Entry]], paths: list[str]) -> list[_Entry]:
    return [entry for path in sorted(paths) for entry in by_path[path]][:MOST_TARGETS]


def _changed_names(old: _File | None, new: _File) -> set[str]:
    if old is None:
        return {entry.name for entry in new.entries}
    before = {(entry.place, entry.name) for entry in old.entries}
    after = {(entry.place, entry.name) for entry in new.entries}
    return {name for _, name in before ^ after}


def _remove(definitions: dict[str, dict[str, list[_Entry]]], name: str, path: str) -> None:
    by_path = definitions.get(name)
    if by_path is not None:
        by_path.pop(path, None)
        if not by_path:
            del definitions[name]
