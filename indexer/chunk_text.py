"""Here is a text without a syntax tree; which stretches of it should be found as one?

Markdown and reStructuredText are cut by their headings, prose by its paragraphs, simple formats (TOML, SQL,
YAML) at the lines that begin something, and everything else where it is least indented. Every line is in one
chunk.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from indexer.languages.language import Language
from indexer.lines import TARGET, Chunk, Lines, joined_names

__all__ = ["chunk_plain"]

SMALL = 300
"""Characters of a section that is put together with its neighbours."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#`:.])\1{2,}[ \t]*$")
_COMMENT = re.compile(r"\s*(#|//|--|;|/?\*)")
_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")


@dataclass(slots=True)
class _Section:
    """A heading with the rows up to the next one, and the sections below it."""

    first: int
    last: int
    level: int
    name: str
    below: list["_Section"] = field(default_factory=list)

    def end(self) -> int:
        """The last row of the section and all below it."""
        return self.below[-1].end() if self.below else self.last


def chunk_plain(text: str, language: Language | None) -> tuple[Chunk, ...]:
    """The chunks of a text, by the style of its language."""
    lines = Lines.of(text.removeprefix("\ufeff"))
    if not lines.rows or lines.is_blank(0, len(lines.rows) - 1):
        return ()
    style = language.style if language else "lines"
    if style == "markdown":
        fenced = _fenced_rows(lines)
        return tuple(_by_headings(lines, _sections(lines, fenced), fenced))
    if style == "underlines":
        return tuple(_by_headings(lines, _underlined(lines), frozenset()))
    if style == "paragraphs":
        return tuple(_by_rows(lines, "text"))
    if style == "sections" and language is not None:
        return tuple(_by_sections(lines, re.compile(language.tags)))
    return tuple(_by_rows(lines, "lines"))


def _by_rows(lines: Lines, chunk_type: str) -> Iterator[Chunk]:
    for first, last in lines.cut(0, len(lines.rows) - 1):
        yield lines.chunk(first, last, chunk_type, "", "")


def _by_headings(lines: Lines, sections: list[_Section], fenced: frozenset[int]) -> Iterator[Chunk]:
    """Chunks of the sections. What is before the first heading is a section without a name."""
    if not sections or sections[0].first > 0:
        sections.insert(0, _Section(0, 0, 7, ""))
    for section in _nested(sections, len(lines.rows)):
        yield from _section_chunks(section, lines, fenced, ())


def _section_chunks(
    section: _Section, lines: Lines, fenced: frozenset[int], above: tuple[str, ...], first: int | None = None
) -> Iterator[Chunk]:
    start = section.first if first is None else first
    breadcrumb = " > ".join(above)
    if lines.size(start, section.end()) <= TARGET:
        yield lines.chunk(start, section.end(), "section", section.name, breadcrumb)
        return
    inside = (*above, section.name) if section.name else above
    bare = lines.is_blank(section.first + 1, section.last)
    if not (bare and section.below):  # a heading alone goes with the first section below it
        for part in lines.cut(start, section.last, fenced):
            yield lines.chunk(*part, "section", section.name, breadcrumb)
        start = -1
    for below in section.below:
        yield from _section_chunks(below, lines, fenced, inside, start if start >= 0 else None)
        start = -1


def _nested(sections: list[_Section], row_count: int) -> list[_Section]:
    top: list[_Section] = []
    path: list[_Section] = []
    for at, section in enumerate(sections):
        section.last = (sections[at + 1].first if at + 1 < len(sections) else row_count) - 1
        while path and path[-1].level >= section.level:
            path.pop()
        (path[-1].below if path else top).append(section)
        path.append(section)
    return top


def _sections(lines: Lines, fenced: frozenset[int]) -> list[_Section]:
    """The headings of Markdown in order."""
    found: list[_Section] = []
    for row, line in enumerate(lines.rows):
        if row in fenced:
            continue
        heading = _HEADING.match(line)
        if heading:
            found.append(_Section(row, row, len(heading[1]), _plain(heading[2] or "")))
        elif line[:1] in {"=", "-"} and _UNDERLINE.match(line) and _is_title(lines.rows, row, fenced, found):
            found.append(_Section(row - 1, row, 1 if line[0] == "=" else 2, _plain(lines.rows[row - 1])))
    return found


def _underlined(lines: Lines) -> list[_Section]:
    """The headings of reStructuredText: the order in which underlines appear is their level."""
    found: list[_Section] = []
    marks: list[str] = []
    for row, line in enumerate(lines.rows):
        if (mark := _UNDERLINE.match(line)) and _is_title(lines.rows, row, frozenset(), found):
            if mark[1] not in marks:
                marks.append(mark[1])
            level = {"=": 1, "-": 2}.get(mark[1], 2 + marks.index(mark[1]))
            found.append(_Section(row - 1, row, level, _plain(lines.rows[row - 1])))
    return found


def _is_title(rows: tuple[str, ...], row: int, fenced: frozenset[int], found: list[_Section]) -> bool:
    """Is the row before this underline a heading, and not one already?"""
    if row == 0 or (found and found[-1].last >= row - 1):
        return False
    title = rows[row - 1].strip()
    if not title or row - 1 in fenced or len(rows[row].strip()) < min(len(title), 3):
        return False
    if not any(character.isalnum() for character in title) or title.startswith((">", "|", "- ", "* ")):
        return False
    return row < 2 or not rows[row - 2].strip() or bool(_UNDERLINE.match(rows[row - 2]))


def _plain(title: str) -> str:
    return _MARKUP.sub(lambda match: match[1] or "", title).strip()


def _fenced_rows(lines: Lines) -> frozenset[int]:
    """Rows inside code fences and front matter: a ``#`` there is no heading."""
    rows: set[int] = set()
    fence = ""
    front_matter = bool(lines.rows) and lines.rows[0].strip() == "---" and "---" in lines.rows[1:200]
    for row, line in enumerate(lines.rows):
        if front_matter:
            rows.add(row)
            front_matter = row == 0 or line.strip() != "---"
            continue
        match = _FENCE.match(line)
        if fence:
            rows.add(row)
            if match and match[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif match:
            fence = match[1]
    return frozenset(rows)


def _by_sections(lines: Lines, begins: re.Pattern[str]) -> Iterator[Chunk]:
    found: list[_Section] = []
    for row, line in enumerate(lines.rows):
        match = begins.match(line)
        if match:
            name = next((group for group in match.groups() if group), "")
            found.append(_Section(_with_comment(lines, row, found), row, 1, name.strip()))
    if not found or found[0].first > 0:
        found.insert(0, _Section(0, 0, 1, ""))
    _nested(found, len(lines.rows))
    group: list[_Section] = []
    for section in found:
        small = lines.size(section.first, section.last) <= SMALL
        if group and not (small and lines.size(group[0].first, section.last) <= TARGET):
            yield _together(group, lines)
            group = []
        if small:
            group.append(section)
        else:
            for part in lines.cut(section.first, section.last):
                yield lines.chunk(*part, "section", section.name, "")
    if group:
        yield _together(group, lines)


def _together(group: list[_Section], lines: Lines) -> Chunk:
    name = joined_names([section.name for section in group if section.name])
    return lines.chunk(group[0].first, group[-1].last, "section", name, "")


def _with_comment(lines: Lines, row: int, found: list[_Section]) -> int:
    earliest = found[-1].last + 1 if found else 0
    is_comment: Callable[[int], object] = lambda at: _COMMENT.match(lines.rows[at])  # noqa: E731
    while row > earliest and is_comment(row - 1):
        row -= 1
    return row
