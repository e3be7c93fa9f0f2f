"""Here are the lines of a file; how long are they, and where may they be cut?

Rows count from 0, as in a tree; a chunk's lines count from 1, as people count.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["LONGEST", "TARGET", "Chunk", "Lines", "joined_names"]

TARGET = 1_500
"""Characters of a chunk that was put together or cut. The default model reads 256 tokens, some 900 characters
of code: path, names, doc comment and signature lie within, the keywords read all of it. Half as long means
twice the vectors to make for parts of functions that say little alone."""
LONGEST = 2_000
"""Characters up to which a definition stays whole: a cut that leaves a short tail helps nobody."""

_NAMES_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a file that is found as one. Lines count from 1; ``end_line`` is its last."""

    start_line: int
    end_line: int
    chunk_type: str
    """What it is: function, class, section… ``module`` for what stands outside of definitions."""
    name: str
    """What it defines; parts of a long definition share its name, small neighbours list theirs."""
    breadcrumb: str
    """The scopes around it, outermost first: ``Account`` for a method of it."""
    text: str
    """Its lines, without blank ones at both ends."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a text, and their lengths added up."""

    rows: tuple[str, ...]
    ends: tuple[int, ...]

    @staticmethod
    def of(text: str) -> "Lines":
        """Lines end with a line feed; a carriage return before it is no part of the line."""
        rows = text.split("\n")
        if rows[-1] == "":
            rows.pop()
        if "\r" in text:
            rows = [row.removesuffix("\r") for row in rows]
        return Lines(tuple(rows), tuple(accumulate([len(row) + 1 for row in rows], initial=0)))

    def size(self, first: int, last: int) -> int:
        """Characters in these rows, both included."""
        ends = self.ends
        after = last + 1 if last + 1 < len(ends) else len(ends) - 1
        return ends[after] - ends[first] if after > first else 0

    def text(self, first: int, last: int) -> str:
        """These rows as one text, without blank rows at both ends."""
        while first <= last and not self.rows[first].strip():
            first += 1
        while last >= first and not self.rows[last].strip():
            last -= 1
        return "\n".join(self.rows[first : last + 1])

    def is_blank(self, first: int, last: int) -> bool:
        """Is there nothing on these rows?"""
        return not any(row.strip() for row in self.rows[first : last + 1])

    def cut(self, first: int, last: int, avoid: frozenset[int] = frozenset()) -> list[tuple[int, int]]:
        """These rows in parts of about the target, cut where the text is least indented.

        A blank row before a cut makes it better; rows in ``avoid`` begin no part if that can be helped.
        """
        parts = []
        while self.size(first, last) > LONGEST and first < last:
            enough = self.ends[first] + TARGET
            latest = min(max(bisect_right(self.ends, enough) - 1, first + 1), last)
            earliest = max(bisect_right(self.ends, enough - TARGET // 2), first + 1)
            best = min(
                range(min(earliest, latest), latest + 1),
                key=lambda row: (row in avoid, self._border(row), -row),
            )
            parts.append((first, best - 1))
            first = best
        return [*parts, (first, last)]

    def _border(self, row: int) -> int:
        here = self.rows[row].expandtabs(4)
        indent = len(here) - len(here.lstrip()) if here.strip() else 80
        closes = 4 if here.lstrip()[:1] in {"}", ")", "]"} else 0
        return indent + closes - (2 if not self.rows[row - 1].strip() else 0)

    def chunk(self, first: int, last: int, chunk_type: str, name: str, breadcrumb: str) -> Chunk:
        """These rows as a chunk."""
        return Chunk(first + 1, last + 1, chunk_type, name, breadcrumb, self.text(first, last))


def joined_names(names: list[str]) -> str:
    """The names of small neighbours in one line; a long list is cut."""
    shown = ""
    for name in dict.fromkeys(names):
        longer = f"{shown}, {name}" if shown else name
        if shown and len(longer) > _NAMES_SHOWN:
            return shown + ", …"
        shown = longer
    return shown
