"""What must be known about a language to cut its files into definitions?

A grammar's module holds one ``Language``. Its ``tags`` are a tree-sitter query whose captures say what a
node is. Four captures are references (``call``, ``import``, ``inherit``, ``use``); each other capture is a
definition and its name is the kind that users see (``function``, ``class``, ``trait``…). ``name_of`` then
says what the definition is called, or that it is none after all. A ``required`` capture is a reference when
one of the language's ``importers`` stands before it (``require "x"`` is a call like any other).

Queries hold no predicates: those read the text back through the parser, which is slow and, for a text that
was read in pieces, not safe.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tree_sitter import Node

__all__ = [
    "CLASS_LIKE",
    "METHOD_HOLDERS",
    "REFERENCE_KINDS",
    "Language",
    "Named",
    "by_name_field",
    "child_of_type",
    "field_text",
    "first_named",
    "last_word",
    "node_text",
    "unquoted",
]

REFERENCE_KINDS = ("call", "import", "inherit", "use")

CLASS_LIKE = frozenset(
    "class struct enum union trait interface protocol object record module namespace impl extension "
    "suite".split()
)
"""Kinds that hold members, and are cut along them."""
METHOD_HOLDERS = CLASS_LIKE - {"module", "namespace", "suite"}
"""Kinds inside which a function is a method."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a definition is called. ``scope`` is the part of its scope that stands in its own name."""

    name: str
    kind: str
    scope: str = ""
    is_private: bool = False


NameOf = Callable[[Node, str, bytes], Named | None]
Style = Literal["tree", "markdown", "underlines", "paragraphs", "sections", "lines"]


def node_text(node: Node | None, source: bytes) -> str:
    """The text of a node, as it stands in the file."""
    return source[node.start_byte : node.end_byte].decode(errors="replace") if node else ""


def field_text(node: Node, field: str, source: bytes) -> str:
    """The text of a field of a node; empty when it has none."""
    return node_text(node.child_by_field_name(field), source)


def child_of_type(node: Node, *types: str) -> Node | None:
    """The first child of one of these types."""
    return next((child for child in node.named_children if child.type in types), None)


def first_named(node: Node | None) -> Node | None:
    """The first named child, if there is any."""
    return node.named_child(0) if node is not None and node.named_child_count else None


def by_name_field(node: Node, kind: str, source: bytes) -> Named | None:
    """Most grammars call it ``name``."""
    name = field_text(node, "name", source)
    return Named(name, kind) if name else None


def unquoted(text: str) -> str:
    """A string literal without its quotes, on one line."""
    return " ".join(text.strip("\"'`").split())


def last_word(text: str) -> str:
    """``T`` of ``a.b::T<X>``: a type's own name, without where it lives and what fills it."""
    own = re.split(r"[<\[]", text, maxsplit=1)[0].replace("::", ".").rstrip("?!* ")
    return own.rsplit(".", 1)[-1].strip("&* ")


@dataclass(frozen=True, slots=True)
class Language:
    """One language: how its files are recognised and how they are cut."""

    name: str
    """As users filter by it."""
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    style: Style = "tree"
    grammar: str = ""
    tags: str = ""
    name_of: NameOf = by_name_field
    wrappers: frozenset[str] = frozenset()
    """Nodes around one definition that belong to it: decorators, ``export``, ``template<…>``."""
    attached: frozenset[str] = frozenset({"comment"})
    """Nodes before a definition that belong to it when no blank line is between."""
    opened: frozenset[str] = frozenset()
    """Nodes that are always looked into, because they hide what is attached to their neighbour."""
    importers: Mapping[str, str] = field(default_factory=dict)
    """Words that make what follows (a ``required`` capture) a reference: ``require`` → ``import``."""
    clauses: bool = False
    """One function may be written as several neighbours of the same name (Haskell, Elixir)."""
