"""What is parsed, and what is not worth it?"""

import random
import threading
import time
from pathlib import Path
from typing import NoReturn

import pytest
from tree_sitter import Tree

import indexer
from indexer import parse as parsing
from indexer.languages.language import Language
from indexer.languages.python import PYTHON
from indexer.languages.typescript import TSX
from indexer.parse import parse


def test_a_text_becomes_a_tree() -> None:
    parsed = parse("x = 'é'\n", PYTHON)
    assert parsed is not None
    assert parsed.root.type == "module"
    assert parsed.source == "x = 'é'\n".encode()


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    parsed = parse("\ufeffx = 1\n", PYTHON)
    assert parsed is not None
    assert parsed.source == b"x = 1\n"


def test_what_cannot_be_encoded_is_replaced() -> None:
    assert parse("x = '\ud800'\n", PYTHON) is not None


def test_broken_code_is_parsed() -> None:
    parsed = parse("def f(:\n    return 1\n\ndef g():\n    pass\n", PYTHON)
    assert parsed is not None
    assert parsed.root.has_error


@pytest.mark.parametrize(
    "text",
    ["", "a\0b", "x = 1\n" * (parsing.LARGEST // 6 + 1), "x = '" + "a" * parsing.LONGEST_LINE + "'\n"],
    ids=["empty", "binary", "too large", "too long a line"],
)
def test_what_is_not_parsed(text: str) -> None:
    assert parse(text, PYTHON) is None


def test_no_grammar_no_tree() -> None:
    assert parse("text", Language(name="text", style="paragraphs")) is None


def test_text_that_is_no_code_is_given_up_soon() -> None:
    tokens = [
        "(",
        ")",
        "{",
        "}",
        "<",
        ">",
        "if ",
        "x",
        "'",
        '"',
        ";",
        "\n",
        "class ",
        "=",
        "`",
        "$",
        "/*",
        "*/",
    ]
    text = "".join(random.Random(7).choices(tokens, k=200_000))  # minutes, if it were parsed as a whole
    started = time.monotonic()
    assert parse(text, TSX) is None
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "text",
    ["]])))}}(((\n" * 400, "a<" * 2_000, "{[(<" * 1_000],
    ids=["brackets", "a<", "nesting"],
)
def test_mostly_punctuation_never_reaches_a_grammar(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_parser", _refuse)
    assert parse(text, TSX) is None


def test_a_senseless_start_condemns_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = _recorded(monkeypatch)
    assert parse("1 2 = = 3 if\n" * 20_000, PYTHON) is None
    assert parsed == list(parsing.TRIED_FIRST)


def test_a_slow_start_condemns_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr(
        parsing, "_parse_within", lambda *given: parsed.append(len(given[2]))
    )  # None: too slow
    assert parse("x = 1\n" * 20_000, PYTHON) is None
    assert parsed == [parsing.TRIED_FIRST[0]]


def test_only_the_start_of_a_long_text_is_parsed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = _recorded(monkeypatch)
    text = "x = 1\n" * 20_000
    assert parse(text, PYTHON) is not None
    assert parsed == [parsing.TRIED_FIRST[0], len(text)]


def test_a_grammar_that_loops_is_stopped() -> None:
    text = "[\nconst\r\n=>\n\nconst\n\ndo\n    impl//1 /*\n)\n\nelse\n\n#\n    */ "
    assert parse(text, TSX) is None
    assert parse("const a = <b>text</b>;\n", TSX) is not None


def _refuse(*_: object) -> NoReturn:
    raise AssertionError("this should not have been parsed")


def _recorded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the texts that are handed to a parser from here on."""
    sizes: list[int] = []
    real = parsing._parse_within

    def record(seconds: float, grammar: str, source: bytes) -> Tree | None:
        sizes.append(len(source))
        return real(seconds, grammar, source)

    monkeypatch.setattr(parsing, "_parse_within", record)
    return sizes


def test_a_long_string_at_the_start_condemns_nothing() -> None:
    words = 'it isn\'t so, "said" the (owner of [the house, and\n'
    text = f'"""{words * 500}"""\n' + "def f():\n    return 1\n" * 2_000
    assert parse(text, PYTHON) is not None


def test_threads_have_their_own_parsers() -> None:
    found: list[bool] = []

    def work() -> None:
        for _ in range(50):
            found.append(parse("def f(): pass\n", PYTHON) is not None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert found == [True] * 200


def test_nobody_asks_for_the_fields_of_a_point() -> None:
    """``point.row`` corrupts memory in tree-sitter 0.26.0."""
    folder = Path(indexer.__file__).parent
    for path in folder.rglob("*.py"):
        assert not [
            line for line in path.read_text().splitlines() if "_point.row" in line or "_point.col" in line
        ]
