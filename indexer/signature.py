"""How does a definition introduce itself?

Its first lines, up to where its body begins, on one line. Read from the text by its brackets: what the
languages have in common is enough for a line that a person or a model reads, and no file is parsed again.
"""

import re
from collections.abc import Mapping

__all__ = ["LONGEST", "signature"]

LONGEST = 160
"""Characters of a signature; a longer one is cut."""
MOST_LINES = 12
"""Lines that are looked at for the end of a signature."""

_REMARK = re.compile(r"\s*(?://|/\*|\*|--|#(?![\w\[])|;|\"\"\"|$)")
_ATTACHED = re.compile(r"\s*(?:@|\[|#\[|[A-Z_]+\s*$)")
"""Lines before a definition that belong to it: annotations, attributes, macros."""
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)'|`[^`]*`")
_BODY = re.compile(r",\s*do:|\s+do\b(?=\s*(?:\|.*)?$)|(?<=\))\s*=(?![=>])")
_TAIL = re.compile(r"(?:\s*(?:\{|=>|=|:|;|,|\bwhere|\bdo|\bthen))+\s*$")
_COMMENT = re.compile(r"\s(?:#|//)\s.*$|\s/\*.*\*/\s*$")
_OPEN, _CLOSE = frozenset("(["), frozenset(")]")


def signature(lines: Mapping[int, str], start: int, end: int, name: str) -> str:
    """The head of the definition of ``name`` in some lines; its name if they are not there."""
    first = _first(lines, start, end, name)
    parts: list[str] = []
    depth, has_name = 0, False
    for number in range(first, min(end, first + MOST_LINES) + 1):
        line = lines.get(number)
        if line is None:
            break
        head, depth, is_over = _head(line, depth)
        parts.append(head.strip())
        has_name = has_name or name in line
        if is_over or (has_name and depth <= 0) or sum(map(len, parts)) > LONGEST:
            break
    if depth > 0 and parts:
        parts[-1] += "…"
    text = _closed(" ".join(" ".join(parts).split()))
    text = _TAIL.sub("", _BODY.split(text, maxsplit=1)[0]).strip() or name
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _first(lines: Mapping[int, str], start: int, end: int, name: str) -> int:
    """The first line that is neither annotation nor comment."""
    depth = 0
    for number in range(start, min(end, start + 4 * MOST_LINES)):
        line = lines.get(number, "")
        is_before = _ATTACHED.match(line) and name not in _STRING.sub("", line)
        if depth <= 0 and not is_before and not _REMARK.match(line):
            return number
        depth = _head(line, depth)[1]
    return end if end < start + 4 * MOST_LINES else start


def _head(line: str, depth: int) -> tuple[str, int, bool]:
    """A line up to where a body begins in it, the depth of its brackets, and whether one begins."""
    bare = _STRING.sub(lambda found: "_" * len(found[0]), line)
    if comment := _COMMENT.search(bare):
        bare, line = bare[: comment.start()], line[: comment.start()]
    for at, character in enumerate(bare):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif character == "{" and depth <= 0 and bare[at + 1 : at + 2] != "}":
            return line[:at], depth, True
    return line, depth, False


def _closed(text: str) -> str:
    """Without the spaces and commas that a list over several lines leaves at its brackets."""
    return re.sub(r"([(\[])\s+", r"\1", re.sub(r",?\s+([)\]])", r"\1", text))
