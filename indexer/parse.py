"""Here is the text of a file; what is its syntax tree, if it has one?

Some texts make a grammar work for minutes (error recovery is quadratic on a long text that is not code at
all), and the parser holds the interpreter lock meanwhile. So:

- a text that is too large, has a line as no person writes it, or is mostly punctuation is not parsed;
- of a longer text the start is tried alone: 16 KB, and 64 KB if those were full of errors (the cut may have
  been inside a long string). A slow or senseless start condemns the rest;
- every parser has a clock and stops when it runs out. tree-sitter 0.25 has one; 0.26 has a progress callback
  instead, and calling that crashes, so the version is pinned.

What made grammars slow here: random tokens (TSX: minutes, once from 56 bytes), ``a<`` repeated (Java and C#,
200 KB: all memory; Lua, 16 KB: 0.6 s). Nothing in 11,000 real files did.

``None`` means: cut it by lines instead.
"""

import math
import string
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from indexer.languages.language import Language

__all__ = ["Parsed", "parse", "tags_query"]

LARGEST = 2_000_000
"""Bytes of a file that is parsed: real code parses at 5 to 15 MB/s, larger files are data."""
LONGEST_LINE = 50_000
"""Bytes of a line in a file that is parsed: longer lines are data or the output of a minifier."""
LEAST_WORDS = 0.58
"""Share of letters, digits and spaces in what is parsed. Real files (11,000) have 0.65 and more, random
tokens 0.53."""
SHORT = 2_000
"""Bytes below which a text cannot hurt and its share of words means nothing."""
TRIED_FIRST = (16_000, 64_000)
"""Bytes tried before a text of more than twice that is parsed as a whole."""
TRY_SECONDS = 0.25
"""A start that takes longer condemns the rest: real code takes 0.01 s."""
DEADLINE_SECONDS = 1.0
"""After this a parser stops; for a long text it has longer."""
SLOWEST = 250_000
"""Bytes a second at which a long text may be parsed: an eighth of the slowest grammar here (Scala)."""
ERRORS_PER_LINE = 0.5
"""Above this a tree is noise. Broken code has a few errors, C full of macros up to 0.36 a line (curl), random
tokens 0.5 to 1.5 in the grammars that suffer from them."""
FEW_ERRORS = 5
"""So many errors never condemn a text: it may be short."""

_WORDY = (string.ascii_letters + string.digits + "_ \t\r\n").encode() + bytes(range(128, 256))
_of_this_thread = threading.local()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text and its tree. Lines and bytes of the tree count in ``source``."""

    language: Language
    source: bytes
    root: Node


def parse(text: str, language: Language) -> Parsed | None:
    """The tree of a text in a language with a grammar, unless the text is not such code."""
    if not language.grammar:
        return None
    source = text.removeprefix("\ufeff").encode(errors="replace")
    if not source or len(source) > LARGEST or b"\0" in source or not _is_written(source):
        return None
    if not _starts_well(source, language.grammar):
        return None
    tree = _parse_within(DEADLINE_SECONDS + len(source) / SLOWEST, language.grammar, source)
    if tree is None or _is_noise(tree, language.grammar):
        return None
    return Parsed(language, source, tree.root_node)


def _starts_well(source: bytes, grammar: str) -> bool:
    for size in TRIED_FIRST:
        if len(source) <= 2 * size:  # trying half of it would save little
            return True
        tree = _parse_within(TRY_SECONDS, grammar, source[:size])
        if tree is None:
            return False
        if not _is_noise(tree, grammar):
            return True
    return False


def _parse_within(seconds: float, grammar: str, source: bytes) -> Tree | None:
    parser = _parser(grammar, max(1, math.ceil(seconds / TRY_SECONDS)))
    try:
        return parser.parse(source)
    except ValueError:  # its clock ran out; the next text is not the rest of this one
        parser.reset()
        return None


def _is_written(source: bytes) -> bool:
    """Could a person have written this?"""
    if len(source) < SHORT:
        return True
    if len(source.translate(None, _WORDY)) > (1 - LEAST_WORDS) * len(source):
        return False
    return len(source) <= LONGEST_LINE or max(map(len, source.split(b"\n"))) <= LONGEST_LINE


def _is_noise(tree: Tree, grammar: str) -> bool:
    root = tree.root_node
    if not root.has_error:
        return False
    errors = len(QueryCursor(_query(grammar, "(ERROR) @error")).captures(root).get("error", ()))
    return errors > max(FEW_ERRORS, ERRORS_PER_LINE * (root.end_point[0] + 1))


def _parser(grammar: str, quarters: int) -> Parser:
    """This thread's parser that stops after so many quarters of a second."""
    parsers: dict[tuple[str, int], Parser] = _of_this_thread.__dict__.setdefault("parsers", {})
    if (grammar, quarters) not in parsers:
        with warnings.catch_warnings():
            # it recommends the callback that crashes
            warnings.simplefilter("ignore", DeprecationWarning)
            parsers[grammar, quarters] = Parser(
                _grammar(grammar), timeout_micros=int(quarters * TRY_SECONDS * 1_000_000)
            )
    return parsers[grammar, quarters]


@cache
def _grammar(name: str) -> Grammar:
    from tree_sitter_language_pack import get_language

    # the pack types its argument as one of its names; ours come from the allowlisted languages
    load: Callable[[str], Grammar] = get_language  # type: ignore[assignment]
    return load(name)


def tags_query(language: Language) -> Query:
    """A language's tags, compiled once."""
    return _query(language.grammar, language.tags)


@cache
def _query(grammar: str, tags: str) -> Query:
    return Query(_grammar(grammar), tags)
