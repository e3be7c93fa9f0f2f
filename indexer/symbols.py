"""Here is a tree; what does it define, and what does it refer to?

One query over the tree finds both (35 MB/s; walking every node from Python is slower the more one asks of a
node). Definitions are nested by where they begin and end. The same pass serves the chunks: they need to know
which nodes are definitions, and ``Outline`` keeps that.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from tree_sitter import Node, QueryCursor

from indexer.languages.language import METHOD_HOLDERS, REFERENCE_KINDS, Language, Named
from indexer.parse import Parsed, tags_query

__all__ = ["NO_SYMBOLS", "Definition", "Outline", "Reference", "Symbols", "last_row", "outline"]

LONGEST_NAME = 200
"""Characters of a name: longer ones are no names but expressions that a grammar took for one."""

_WEAKEST = ("constant", "variable")  # a constant that is a function is a function
_STRONGEST_FIRST = ("inherit", "call", "import", "use")
_WORD_BEFORE = re.compile(rb"([@\w.]+)[\s(\[\"'{]*$")
_REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Definition:
    """Something with a name. Lines count from 1 and include the last one."""

    name: str
    kind: str
    start_line: int
    end_line: int
    scope: str
    is_private: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that is used: called, imported, inherited from, or mentioned (``use``)."""

    name: str
    line: int
    kind: str


@dataclass(frozen=True, slots=True)
class Symbols:
    """What a file defines and refers to, in the order of its lines."""

    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()


NO_SYMBOLS = Symbols()


@dataclass(frozen=True, slots=True)
class Outline:
    """The symbols of a tree, and which of its nodes are definitions (by node id)."""

    symbols: Symbols
    nodes: dict[int, Definition]
    starts: tuple[int, ...]
    """Byte offsets at which definitions begin, in order."""


@dataclass(slots=True)
class _Draft:
    """A definition in the making: a later clause of the same function may still extend it."""

    named: Named
    scope: str
    first_row: int
    last_row: int
    node_ids: list[int]

    def finish(self) -> Definition:
        name = self.named.name
        is_private = self.named.is_private or name.startswith(("_", "#"))
        return Definition(
            name, self.named.kind, self.first_row + 1, self.last_row + 1, self.scope, is_private
        )


def outline(parsed: Parsed) -> Outline:
    """Definitions and references of a tree."""
    captures = QueryCursor(tags_query(parsed.language)).captures(parsed.root)
    drafts, starts, names_at = _definitions(captures, parsed)
    nodes: dict[int, Definition] = {}
    definitions = []
    for draft in drafts:
        definition = draft.finish()
        definitions.append(definition)
        for node_id in draft.node_ids:
            nodes[node_id] = definition
    references = tuple(_references(captures, parsed, names_at))
    return Outline(Symbols(tuple(definitions), references), nodes, tuple(starts))


def last_row(node: Node) -> int:
    """The last row a node has anything on: many end at the start of the row after."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _definitions(captures: dict[str, list[Node]], parsed: Parsed) -> tuple[list[_Draft], list[int], set[int]]:
    language, source = parsed.language, parsed.source
    found = [
        (node.start_byte, -node.end_byte, kind in _WEAKEST, at, number, kind, node)
        for at, (kind, nodes) in enumerate(captures.items())
        if kind not in REFERENCE_KINDS and kind != _REQUIRED
        for number, node in enumerate(nodes)
    ]
    found.sort()  # never by the nodes: the numbers differ
    drafts: list[_Draft] = []
    starts: list[int] = []
    names_at: set[int] = set()
    enclosing: list[tuple[int, str, str]] = []  # end byte, scope inside, kind
    latest: dict[str, _Draft] = {}
    seen: set[int] = set()
    for start, minus_end, _, _, _, kind, node in found:
        if node.id in seen:
            continue
        named = language.name_of(node, kind, source)
        if named is None or not 0 < len(named.name) <= LONGEST_NAME or "\n" in named.name:
            continue
        seen.add(node.id)
        starts.append(start)
        names_at.add(source.find(named.name.encode(errors="replace"), start, -minus_end))
        while enclosing and enclosing[-1][0] <= start:
            enclosing.pop()
        scope, outer_kind = enclosing[-1][1:] if enclosing else ("", "")
        if named.kind == "function" and (outer_kind in METHOD_HOLDERS or named.scope):
            named = Named(named.name, "method", named.scope, named.is_private)
        scope = _join(scope, named.scope)
        enclosing.append((-minus_end, _join(scope, named.name), named.kind))
        before = latest.get(scope)
        if language.clauses and before is not None and _continues(before, named):
            before.last_row = last_row(node)
            before.node_ids.append(node.id)
            continue
        draft = _Draft(named, scope, node.start_point[0], last_row(node), [node.id])
        latest[scope] = draft
        drafts.append(draft)
    return drafts, starts, names_at


def _continues(before: _Draft, named: Named) -> bool:
    return (
        before.named.name == named.name
        and before.named.kind == named.kind
        and named.kind
        in {
            "function",
            "method",
            "macro",
        }
    )


def _join(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope and name else scope or name


def _references(captures: dict[str, list[Node]], parsed: Parsed, names_at: set[int]) -> Iterator[Reference]:
    source = parsed.source
    required: dict[str, list[Node]] = {}
    for node in captures.get(_REQUIRED, ()):
        said = _required_kind(node, parsed.language, source)
        if said is not None:
            required.setdefault(said, []).append(node)
    taken = set(names_at)
    found: list[tuple[int, str, Node]] = []
    for kind in _STRONGEST_FIRST:
        for node in chain(captures.get(kind, ()), required.get(kind, ())):
            start = node.start_byte
            if start not in taken:
                taken.add(start)
                found.append((start, kind, node))
    found.sort(key=itemgetter(0))
    for start, kind, node in found:
        text = str(source[start : node.end_byte], "utf-8", "replace")
        line = node.start_point[0] + 1
        if kind != "import":
            yield Reference(text, line, kind)
        else:
            for name in _imported(text):
                yield Reference(name, line, kind)


def _required_kind(node: Node, language: Language, source: bytes) -> str | None:
    before = _WORD_BEFORE.search(source[max(0, node.start_byte - 40) : node.start_byte])
    return language.importers.get(before[1].decode(errors="replace")) if before else None


def _imported(text: str) -> list[str]:
    """``a::{b, c as d}`` is ``a::b`` and ``a::c``; quotes and keywords are no part of the name."""
    text = text.removeprefix("import ").strip("\"'`<>; \n")
    head, brace, tail = text.partition("{")
    if not brace:
        return [text.split(" as ")[0].strip()][: len(text)]
    inside = re.sub(r"[{}]", ",", tail)
    names = [re.split(r"\s+as\s+|=>", item)[0].strip() for item in inside.split(",")]
    return [
        head.strip() + name if name not in {"self", "*", "_"} else head.strip(":. ") for name in names if name
    ]
