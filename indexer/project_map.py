"""What should one know of a project first, in so many tokens?

The most important definitions (``indexer/importance.py``) are taken until the budget is full, those that are
private and further ones of the same file later. They are printed by file: its path, and below it their lines
and signatures, in the order of the file and inside of what they are inside of.
"""

import heapq
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from indexer.importance import Important, important
from indexer.signature import signature
from indexer.symbol_graph import Symbol, SymbolGraph

__all__ = ["CHARACTERS_PER_TOKEN", "ProjectMap", "draw_map"]

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for code and paths in English words."""

HIDDEN_WORTH = 0.3
"""Worth of what is private to its file, class or package."""
NEXT_OF_FILE = 0.93
"""Each further definition of a file is worth so much less: a map is of more than one file."""
NEXT_OF_NAME = 0.3
"""... and each further overload of a name."""
LONGEST_LINE = 110
"""Characters of a signature: twenty arguments say less than the next two definitions."""
MISSES = 10
"""Definitions that may be too long for what is left before the map is finished."""

_LOOSE = frozenset({"function", "method", "constant", "variable", "macro", "property"})
"""What belongs to a module as to a class."""
_HIDDEN = re.compile(r"(?:[\w@]+\s+)*?(?:private|protected|fileprivate|internal)\b")

Read = Callable[[str], Mapping[int, str]]
"""Path → its lines by their numbers."""


@dataclass(frozen=True, slots=True)
class ProjectMap:
    """The outline, its estimated tokens, and how much of the project it shows."""

    text: str
    tokens: int
    paths: tuple[str, ...]
    definitions: int
    total_files: int
    total_definitions: int
    matches: int
    """Definitions that the focus names, by their own words or their file."""


def draw_map(graph: SymbolGraph, read: Read, token_budget: int, focus: str = "") -> ProjectMap:
    """The best of a project within a budget; the same for the same project."""
    found = important(graph, focus)
    page = _Page(found, read, token_budget * CHARACTERS_PER_TOKEN)
    page.fill()
    text = page.text()
    return ProjectMap(
        text=text,
        tokens=-(-len(text) // CHARACTERS_PER_TOKEN),
        paths=tuple(page.shown),
        definitions=sum(map(len, page.shown.values())),
        total_files=sum(one.definition.kind == "file" for one in found.symbols),
        total_definitions=sum(one.definition.kind != "file" for one in found.symbols),
        matches=found.matches,
    )


class _Page:
    """What is on the map so far, and how much room is left."""

    def __init__(self, found: Important, read: Read, room: int) -> None:
        self._symbols = found.symbols
        self._holders = found.holders
        self._classes = found.classes
        self._worth: list[float] = found.worth.tolist()
        self._read = read
        self._room = room
        self._lines: dict[str, Mapping[int, str]] = {}
        self._names: Counter[tuple[str, str]] = Counter()
        self.shown: dict[str, dict[int, str]] = {}

    def fill(self) -> None:
        """Take the best until there is no room.

        Whether something is hidden, and how many of its file are there, is asked when its turn comes: it
        goes back to where it belongs then.
        """
        queue = [(-worth, at) for at, worth in enumerate(self._worth) if worth > 0]
        heapq.heapify(queue)
        factors: dict[int, float] = {}
        missed = 0
        while queue and missed <= MISSES:
            worth, at = heapq.heappop(queue)
            if at in self.shown.get(self._symbols[at].path, ()):
                continue
            if at not in factors:
                factors[at] = self._factor(at)
            now = -self._worth[at] * factors[at] * self._next(at)
            if now > worth:
                heapq.heappush(queue, (now, at))
            elif factors[at] and not self._take(at):
                missed += 1

    def text(self) -> str:
        """The files in the order of what is shown of them."""
        ranks = {path: sum(self._worth[at] for at in page) for path, page in self.shown.items()}
        blocks = []
        for path in sorted(ranks, key=lambda path: (-ranks[path], path)):
            lines = [line for _, line in sorted(self.shown[path].items())]
            blocks.append("\n".join((path, *lines)))
        return "\n\n".join(blocks)

    def _factor(self, at: int) -> float:
        holder = self._symbols[self._holders[at]]
        if holder.definition.kind in {"function", "method", "constructor"}:
            return 0.0  # the inside of a function is nobody else's business
        return HIDDEN_WORTH if self._is_hidden(at) else 1.0

    def _is_hidden(self, at: int) -> bool:
        """Is it, or what it is a part of, private?"""
        holder = self._holders[at]
        kind = self._symbols[holder].definition.kind
        if _is_hidden(self._symbols[at], kind, self._signature(at)):
            return True
        around = self._classes[at] if kind in {"file", "impl", "extension"} else holder
        return around >= 0 and self._is_hidden(around)

    def _next(self, at: int) -> float:
        place = self._symbols[at].place
        others, same = len(self.shown.get(place.path, ())), self._names[place.path, place.name]
        return float(NEXT_OF_FILE**others * NEXT_OF_NAME**same)

    def _take(self, at: int) -> bool:
        """Put a definition on the map with what it is inside of; False if there is no room."""
        path = self._symbols[at].path
        page = self.shown.get(path, {})
        around = self._around(at)
        new = {
            one: self._line(one, len(around) - depth) for depth, one in enumerate(around) if one not in page
        }
        needed = sum(len(line) + 1 for line in new.values()) + (0 if page else len(path) + 2)
        if needed > self._room:
            return False
        self._room -= needed
        self.shown.setdefault(path, {}).update(new)
        self._names[path, self._symbols[at].place.name] += 1
        return True

    def _around(self, at: int) -> list[int]:
        """A definition and what it is inside of, without what says no more than the path does."""
        around = [at]
        inner, outer = self._symbols[at], self._holders[at]
        while self._symbols[outer].definition.kind != "file":
            if not _is_wrapper(self._symbols[outer], inner):
                around.append(outer)
            inner, outer = self._symbols[outer], self._holders[outer]
        return around

    def _line(self, at: int, depth: int) -> str:
        text = self._signature(at)
        if len(text) > LONGEST_LINE:
            text = f"{text[: LONGEST_LINE - 1].rstrip(' ,…')}…"
        return f"{'  ' * depth}{self._symbols[at].definition.start_line}: {text}"

    def _signature(self, at: int) -> str:
        one = self._symbols[at]
        if one.path not in self._lines:
            self._lines[one.path] = self._read(one.path)
        definition = one.definition
        return signature(self._lines[one.path], definition.start_line, definition.end_line, one.last_name)


def _is_wrapper(outer: Symbol, inner: Symbol) -> bool:
    """Is it a namespace, or a module around a class?"""
    kind = outer.definition.kind
    return kind == "namespace" or (kind == "module" and inner.definition.kind not in _LOOSE)


def _is_hidden(one: Symbol, around: str, text: str) -> bool:
    """Is it private, as far as its name and its signature tell?"""
    if one.definition.is_private or _HIDDEN.match(text):
        return True
    name = one.last_name
    match one.path.rpartition(".")[2]:
        case "go":
            return name[:1].islower()
        case "rs":
            return not text.startswith("pub ") and around != "trait"
        case "c" | "h":
            return text.startswith("static ")
        case "ts" | "tsx" | "mts":
            return around == "file" and not text.startswith("export")
    return False
