"""Is every line of a file in exactly one chunk, whatever is in the file?"""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.chunk import cut
from indexer.languages.language import Language, Style
from indexer.languages.registry import LANGUAGES, language_of
from indexer.lines import Lines

SNIPPETS = sorted(
    path for path in (Path(__file__).parents[1] / "unit" / "indexer" / "snippets").iterdir() if path.is_file()
)
GRAMMARS = [language for language in LANGUAGES if language.grammar]
STYLES = {language.style: language for language in LANGUAGES if not language.grammar}

fragments = st.sampled_from(
    'def f ( ) : { } [ ] < > ; , = class struct fn if else end do import # // /* */ """ \' ` $ @x 1 '
    "impl namespace module describe('x', () => const => :: -> \\ ## === ``` é 名".split()
)
spaces = st.sampled_from([" ", "\n", "\n\n", "\n    ", "\t", "\r\n", ""])
texts = st.lists(st.tuples(fragments, spaces), max_size=120).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


def check(text: str, language: Language | None) -> None:
    result = cut(text, language)
    lines = Lines.of(text.removeprefix("\ufeff")).rows
    if not text.removeprefix("\ufeff").strip():
        assert result.chunks == () or not lines
        return
    expected = 1
    for chunk in result.chunks:
        assert chunk.start_line == expected
        assert chunk.end_line >= chunk.start_line
        own = list(lines[chunk.start_line - 1 : chunk.end_line])
        while own and not own[0].strip():
            own.pop(0)
        while own and not own[-1].strip():
            own.pop()
        assert chunk.text == "\n".join(own)
        assert chunk.chunk_type
        assert "\n" not in chunk.name
        expected = chunk.end_line + 1
    assert expected == len(lines) + 1
    for definition in result.symbols.definitions:
        assert 1 <= definition.start_line <= definition.end_line <= len(lines)
        assert definition.name
    assert [reference.line for reference in result.symbols.references] == sorted(
        reference.line for reference in result.symbols.references
    )


@pytest.mark.parametrize(
    "language",
    GRAMMARS,
    ids=lambda language: language.name,
)
@settings(max_examples=25, deadline=None)
@given(text=texts)
def test_random_fragments(language: Language, text: str) -> None:
    check(text, language)


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=60, deadline=None)
@given(text=st.one_of(texts, st.text(max_size=300)))
def test_random_texts(style: Style, text: str) -> None:
    check(text, STYLES[style])
    check(text, None)


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_real_code_cut_anywhere(path: Path, data: st.DataObject) -> None:
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines)))
    repeated = data.draw(st.integers(1, 4))
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    check("".join(lines[first:last] * repeated).replace("\n", ending), language_of(path.name, text.encode()))
