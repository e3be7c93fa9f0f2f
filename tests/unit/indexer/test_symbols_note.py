"""Symbols beside their file: what is noted is read."""

from hypothesis import given
from hypothesis import strategies as st

from indexer.symbols import NO_SYMBOLS, Definition, Reference, Symbols
from indexer.symbols_note import from_note, to_note

lines = st.integers(min_value=1, max_value=10**6)
texts = st.text(max_size=20)
definitions = st.builds(Definition, texts, texts, lines, lines, texts, st.booleans())
references = st.builds(Reference, texts, lines, texts)
symbols = st.builds(
    Symbols,
    st.lists(definitions, max_size=5).map(tuple),
    st.lists(references, max_size=5).map(tuple),
)


@given(symbols)
def test_what_is_noted_is_read(noted: Symbols) -> None:
    assert from_note(to_note(noted)) == noted


def test_nothing_is_noted_for_no_symbols() -> None:
    assert to_note(NO_SYMBOLS) == b""
    assert from_note(b"") == NO_SYMBOLS


def test_half_a_character_is_noted() -> None:
    noted = Symbols((Definition("\ud800", "function", 1, 2, "", False),))
    assert from_note(to_note(noted)) == noted


def test_a_note_is_small() -> None:
    many = Symbols(
        references=tuple(Reference("connection.execute", line, "call") for line in range(1, 1_001))
    )
    assert len(to_note(many)) < 10_000
