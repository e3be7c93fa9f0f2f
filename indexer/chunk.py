"""Here is a file; which stretches of it should be found as one?

A chunk is a definition with the comments, decorators and attributes before it. A class that fits stays whole;
a longer one becomes its head and its members, and its name is their breadcrumb. A function that is too long
is cut between statements. What is small and stands side by side (imports, constants, declarations of one
line) is put together. Chunks are in order, do not overlap, and together hold every line: blank lines and
closing brackets go with what is before them.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace

from tree_sitter import Node

from indexer.chunk_text import chunk_plain
from indexer.languages.language import CLASS_LIKE, Language
from indexer.lines import LONGEST, TARGET, Chunk, Lines, joined_names
from indexer.parse import Parsed, parse
from indexer.symbols import NO_SYMBOLS, Definition, Outline, Symbols, last_row, outline

__all__ = ["LONGEST", "TARGET", "Chunk", "Cut", "chunk_tree", "cut"]

NESTED = 600
"""Characters from which a function inside a long function is a chunk of its own: a component's handlers of
three lines say more together with it."""
SMALL = 300
"""Characters of a constant, type or declaration that is put together with its neighbours."""
BARE_HEAD = 120
"""Characters of a head such as ``impl Foo {`` or ``namespace a {`` that goes with its first member."""
DEEPEST = 150
"""Levels of a tree that are looked into; generated code nests deeper."""

TINY = 40
"""Characters of a statement outside of definitions that goes with what is before it: ``return M``."""

_MERGING = frozenset({"constant", "variable", "declaration", "property"})
_BARE = frozenset({"namespace", "module", "impl", "extension"})


@dataclass(frozen=True, slots=True)
class Cut:
    """What became of one file."""

    chunks: tuple[Chunk, ...]
    symbols: Symbols
    parsed: bool
    """Is this by its syntax tree? If not, and its language has a grammar, the text was not such code."""


@dataclass(slots=True)
class _Piece:
    """Rows that stay together. ``definition`` is what they define, ``owner`` what they are a part of."""

    first: int
    last: int
    owner: Definition | None
    definition: Definition | None = None
    node: Node | None = None
    is_attached: bool = False
    is_closing: bool = False


def cut(text: str, language: Language | None) -> Cut:
    """The chunks and symbols of a file; an unknown or broken one is cut by its lines."""
    if language is not None and language.style == "tree":
        parsed = parse(text, language)
        if parsed is not None:
            found = outline(parsed)
            return Cut(chunk_tree(parsed, found), found.symbols, True)
    return Cut(chunk_plain(text, language), NO_SYMBOLS, False)


def chunk_tree(parsed: Parsed, found: Outline) -> tuple[Chunk, ...]:
    """The chunks of a tree."""
    lines = Lines.of(parsed.source.decode(errors="replace"))
    if not lines.rows or lines.is_blank(0, len(lines.rows) - 1):
        return ()
    cutter = _Cutter(parsed.language, found, lines)
    inside = cutter.children(parsed.root, None, 0)
    # a tree may be empty where the text is not: a backslash alone is blank to Ruby
    pieces = cutter.expand(inside or [_Piece(0, len(lines.rows) - 1, None)], 0)
    return _chunks(_grouped(pieces, lines), lines)


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts one tree."""

    language: Language
    outline: Outline
    lines: Lines

    def children(self, node: Node, owner: Definition | None, depth: int) -> list[_Piece]:
        """The pieces of a node, with what is attached to a definition or on a row with it."""
        pieces: list[_Piece] = []
        for piece in self._flat(node, owner, depth):
            _append(pieces, piece)
        return _attach(pieces, self.lines)

    def expand(self, pieces: list[_Piece], depth: int) -> list[_Piece]:
        """The same pieces with the long ones cut."""
        result: list[_Piece] = []
        for piece in pieces:
            if piece.is_closing and result:
                result[-1].last = max(result[-1].last, piece.last)
            elif self._stays(piece):
                result.append(piece)
            elif piece.definition is None or piece.node is None or depth > DEEPEST:
                whose = piece.definition or piece.owner
                result += (_Piece(*rows, whose) for rows in self.lines.cut(piece.first, piece.last))
            else:
                result += self._opened(piece, piece.definition, piece.node, depth)
        return result

    def _opened(self, piece: _Piece, whose: Definition, node: Node, depth: int) -> list[_Piece]:
        inside = self.children(node, whose, depth + 1)
        if inside and inside[0].first > piece.first:  # the comment before it
            inside.insert(0, _Piece(piece.first, inside[0].first - 1, whose))
        if len(inside) == 1 and inside[0].definition is None:
            return [_Piece(*rows, whose) for rows in self.lines.cut(piece.first, piece.last)]
        return self.expand(inside, depth + 1)

    def _stays(self, piece: _Piece) -> bool:
        size = self.lines.size(piece.first, piece.last)
        if piece.definition is None:
            return size <= LONGEST
        if piece.definition.kind in CLASS_LIKE:
            return size <= TARGET and not self._is_namespace(piece)
        return size <= LONGEST

    def _is_namespace(self, piece: _Piece) -> bool:
        """A module that holds classes is a place, not a thing: its classes are what is looked for."""
        assert piece.definition is not None
        if piece.definition.kind == "namespace":
            return True
        if piece.definition.kind != "module" or piece.node is None:
            return False
        return any(
            inner.kind in CLASS_LIKE and inner.kind != "suite" and inner is not piece.definition
            for inner in self.outline.symbols.definitions
            if piece.first < inner.start_line <= piece.last + 1
        )

    def _flat(self, node: Node, owner: Definition | None, depth: int) -> list[_Piece]:
        pieces: list[_Piece] = []
        in_function = owner is not None and owner.kind not in CLASS_LIKE
        is_opened = node.type in self.language.opened
        opened, attaching, may_open = self.language.opened, self.language.attached, depth < DEEPEST
        for at, child in enumerate(node.children):
            node_type = child.type
            first, last = child.start_point[0], last_row(child)
            if first < last and not in_function and may_open and node_type in opened:
                pieces += self._flat(child, owner, depth + 1)
                continue
            definition = self._defined_by(child, node_type)
            if definition is not None and definition is owner:
                pieces += self._flat(child, owner, depth + 1)
            elif definition is not None and not (in_function and self.lines.size(first, last) < NESTED):
                pieces.append(_Piece(first, last, owner, definition, child))
            elif first < last and may_open and self._is_opened(child, first, last, in_function):
                pieces += self._flat(child, owner, depth + 1)
            else:
                opens = is_opened and at == 0  # "#ifdef", "const (": goes with what follows
                attached = opens or node_type in attaching
                closes = not (opens or child.is_named)
                pieces.append(_Piece(first, last, owner, None, None, attached, closes))
        return pieces

    def _is_opened(self, node: Node, first: int, last: int, in_function: bool) -> bool:
        if not node.child_count:
            return False
        if self.lines.size(first, last) > TARGET:
            return True
        return not in_function and self._is_body(node)

    def _is_body(self, node: Node) -> bool:
        """The body of the class that is being cut, however small: it holds the members."""
        starts = self.outline.starts
        at = bisect_left(starts, node.start_byte)
        return at < len(starts) and starts[at] < node.end_byte and node.type.endswith(_BODIES)

    def _defined_by(self, node: Node, node_type: str) -> Definition | None:
        definition = self.outline.nodes.get(node.id)
        if definition is None and node_type in self.language.wrappers:
            for child in node.named_children:
                definition = self._defined_by(child, child.type)
                if definition is not None:
                    break
        return definition


_BODIES = ("body", "block", "_list", "statement_block", "body_statement")


def _append(pieces: list[_Piece], piece: _Piece) -> None:
    """Add a piece; one that begins on the last row of the one before is one with it."""
    if not pieces or piece.first > pieces[-1].last:
        pieces.append(piece)
        return
    before = pieces[-1]
    if piece.definition is not None and before.definition is None and before.first == before.last:
        pieces[-1] = replace(piece, first=before.first)  # "pub" before a declaration, "export" before a class
    elif piece.last > before.last:
        before.last = piece.last
        before.is_attached = before.is_closing = False
        if before.definition is not None:
            before.node = None  # no longer this node alone


def _attach(pieces: list[_Piece], lines: Lines) -> list[_Piece]:
    result: list[_Piece] = []
    for piece in pieces:
        if piece.definition is not None:
            while result and result[-1].is_attached and _belongs(result[-1], piece, lines):
                piece.first = result.pop().first
            clause = result[-1] if result else None
            if clause is not None and clause.definition is piece.definition:  # another equation of the same
                clause.last, clause.node = piece.last, None
                continue
        result.append(piece)
    return result


def _belongs(comment: _Piece, piece: _Piece, lines: Lines) -> bool:
    """Is a comment about what follows? One blank line between is the habit of some who write ``/**``."""
    between = piece.first - comment.last - 1
    return between <= 0 or (between == 1 and lines.rows[comment.first].lstrip().startswith("/**"))


def _grouped(pieces: list[_Piece], lines: Lines) -> list[list[_Piece]]:
    """Pieces that become one chunk each."""
    groups: list[list[_Piece]] = []
    for piece in pieces:
        group = groups[-1] if groups else None
        if group is not None and _joins(group, piece, lines):
            group.append(piece)
        else:
            groups.append([piece])
    return _without_scraps(groups, lines)


def _joins(group: list[_Piece], piece: _Piece, lines: Lines) -> bool:
    if group[-1].owner is not piece.owner or not _is_small(group[-1], lines) or not _is_small(piece, lines):
        return False
    return lines.size(group[0].first, piece.last) <= TARGET


def _is_small(piece: _Piece, lines: Lines) -> bool:
    if piece.definition is None:
        return True
    if piece.first == piece.last:
        return True
    return piece.definition.kind in _MERGING and lines.size(piece.first, piece.last) <= SMALL


def _without_scraps(groups: list[list[_Piece]], lines: Lines) -> list[list[_Piece]]:
    """Bare heads go with what follows, tiny statements with what is before."""
    result: list[list[_Piece]] = []
    head: _Piece | None = None
    for group in groups:
        if head is not None:
            group[0].first = head.first
            head = None
        owner = group[0].owner
        size = lines.size(group[0].first, group[-1].last)
        if any(piece.definition for piece in group):
            result.append(group)
        elif owner is None:
            if size > TINY or not result:
                result.append(group)
        elif owner.kind in _BARE and size <= BARE_HEAD and group[0].first < owner.start_line:
            head = group[0]
        else:
            result.append(group)
    return result if head is None else [*result, [head]]


def _chunks(groups: list[list[_Piece]], lines: Lines) -> tuple[Chunk, ...]:
    starts = [0] + [group[0].first for group in groups[1:]]
    ends = [start - 1 for start in starts[1:]] + [len(lines.rows) - 1]
    chunks = []
    for group, start, end in zip(groups, starts, ends, strict=True):
        chunk_type, name, breadcrumb = _label(group)
        chunks.append(lines.chunk(start, end, chunk_type, name, breadcrumb))
    return tuple(chunks)


def _label(group: list[_Piece]) -> tuple[str, str, str]:
    """Type, name and breadcrumb of a chunk."""
    owner = group[0].owner
    definitions = [piece.definition for piece in group if piece.definition is not None]
    if len(definitions) < len(group) and owner is not None and not (definitions and owner.kind in _BARE):
        return owner.kind, owner.name, owner.scope
    kinds = {definition.kind for definition in definitions}
    is_alone = owner is not None or len(definitions) == len(group)  # with nothing but a bare head
    kind = kinds.pop() if len(kinds) == 1 and is_alone else "module"
    scope = definitions[0].scope if definitions else ""
    return kind, joined_names([definition.name for definition in definitions]), scope
