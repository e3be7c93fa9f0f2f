"""Which stretches of a file are found as one?"""

from pathlib import Path

import pytest

from indexer.chunk import LONGEST, TARGET, Chunk, cut
from indexer.languages.registry import LANGUAGES, language_named, language_of
from tests.unit.indexer.snippets_expected import CHUNKS, DEFINITIONS

SNIPPETS = Path(__file__).parent / "snippets"


def chunks_of(text: str, language: str) -> tuple[Chunk, ...]:
    return cut(text, language_named(language)).chunks


def labels(chunks: tuple[Chunk, ...]) -> list[tuple[str, str, str]]:
    return [(chunk.chunk_type, chunk.breadcrumb, chunk.name) for chunk in chunks]


def function(name: str, statements: int) -> str:
    body = "".join(f"    value_{at} = compute(value_{at - 1}, {at})\n" for at in range(statements))
    return f"def {name}():\n{body}    return value_0\n"


def test_every_grammar_has_a_snippet() -> None:
    grammars = {language.name for language in LANGUAGES if language.grammar}
    for expected in (CHUNKS, DEFINITIONS):
        languages = [language_of(name) for name in expected]
        assert grammars <= {language.name for language in languages if language is not None}
    assert {path.name for path in SNIPPETS.iterdir() if path.is_file()} == set(CHUNKS)


@pytest.mark.parametrize("name", CHUNKS)
def test_snippets(name: str) -> None:
    text = (SNIPPETS / name).read_text()
    result = cut(text, language_of(name, text.encode()[:4096]))
    found = [
        f"{chunk.start_line}-{chunk.end_line} {chunk.chunk_type} {chunk.breadcrumb}/{chunk.name}"
        for chunk in result.chunks
    ]
    assert found == [line.strip() for line in CHUNKS[name].strip().splitlines()]


@pytest.mark.parametrize("name", CHUNKS)
def test_the_text_of_a_chunk_is_its_lines(name: str) -> None:
    text = (SNIPPETS / name).read_text()
    lines = text.splitlines()
    for chunk in cut(text, language_of(name, text.encode())).chunks:
        own = lines[chunk.start_line - 1 : chunk.end_line]
        assert chunk.text == "\n".join(own).strip("\n")


@pytest.mark.parametrize(
    ("name", "chunk_name", "starts_with"),
    [
        ("ledger.py", "Amount", "# Money is counted in cents:"),
        ("ledger.py", "balance", "    @property"),
        ("cache.rs", "CacheError", "/// Why a value"),
        ("cache.rs", "tests", "#[cfg(test)]"),
        ("router.js", "createRouter", "// Shared by all"),
        ("store.ts", "Store", "/** A store in memory. */\n@Injectable"),
        ("server.go", "New", "// New returns"),
        ("Inventory.java", "count", "    /** How many are left? */\n    @Override"),
        ("ring.c", "ring_put", "/**\n * Put something in."),
        ("ring.c", "ring_dump", "#ifdef RING_DEBUG"),
        ("shapes.cpp", "Box", "/// A box of numbers.\ntemplate"),
        ("Orders.cs", "AddAsync", "        /// <summary>Add goods."),
        ("mailer.rb", "Mailer", "  # Sends letters."),
        ("Cart.php", "Cart", "/**\n * What a visitor wants"),
        ("Player.swift", "Player", "/// Plays one track"),
        ("Session.kt", "Session", "/**\n * One user at work."),
        ("Graph.scala", "Edge", "/** What connects"),
        ("queue.lua", "new", "--- A new queue."),
        ("worker.ex", "start_link", '  @doc "Start it."\n  @spec'),
        ("Parser.hs", "count", "-- | How often does each word occur?\ncount ::"),
        ("Parser.hs", "Parser", "-- | Reads a value"),
        ("arena.zig", "Arena", "/// A list of pages."),
        ("deploy.sh", "log", "# Say what is done"),
    ],
)
def test_comments_and_decorators_belong_to_what_follows(name: str, chunk_name: str, starts_with: str) -> None:
    text = (SNIPPETS / name).read_text()
    chunks = cut(text, language_of(name, text.encode())).chunks
    assert next(chunk for chunk in chunks if chunk_name in chunk.name.split(", ")).text.startswith(
        starts_with
    )


def test_a_comment_apart_stays_apart() -> None:
    text = "# About this file and why it is\n# the way it is, in some words.\n\ndef f():\n    return 1\n"
    assert labels(chunks_of(text, "python")) == [("module", "", ""), ("function", "", "f")]


def test_a_doc_comment_may_stand_one_line_apart() -> None:
    text = "/** Says hello to whoever comes by. */\n\napp.greet = function () {\n  return 1;\n};\n"
    assert labels(chunks_of(text, "javascript")) == [("method", "app", "greet")]


def test_a_long_function_is_cut_between_statements() -> None:
    chunks = chunks_of(function("long", 150), "python")
    assert len(chunks) > 2
    assert {(chunk.chunk_type, chunk.name) for chunk in chunks} == {("function", "long")}
    assert all(len(chunk.text) <= LONGEST for chunk in chunks)
    assert all(len(chunk.text) > TARGET / 2 for chunk in chunks[:-1])


def test_a_function_a_little_over_the_target_stays_whole() -> None:
    text = function("whole", 42)
    assert TARGET < len(text) < LONGEST
    assert len(chunks_of(text, "python")) == 1


def test_a_long_statement_is_cut_inside() -> None:
    table = "".join(f"    'key {at}': {{'value': {at}, 'other': 'text'}},\n" for at in range(100))
    chunks = chunks_of(f"def f():\n    return {{\n{table}    }}\n", "python")
    assert len(chunks) > 2
    assert all(len(chunk.text) <= LONGEST for chunk in chunks)


def test_a_long_string_is_cut_by_lines() -> None:
    chunks = chunks_of('TEXT = """\n' + "some words in a row\n" * 300 + '"""\n', "python")
    assert len(chunks) > 2
    assert {chunk.name for chunk in chunks} == {"TEXT"}


def test_a_long_class_becomes_head_and_members() -> None:
    methods = "".join(
        "    " + line + "\n" for line in (function("one", 30) + function("two", 30)).splitlines()
    )
    chunks = chunks_of(f'class Big(Base):\n    """Says what it is."""\n\n    size = 1\n\n{methods}', "python")
    assert labels(chunks) == [("class", "", "Big"), ("method", "Big", "one"), ("method", "Big", "two")]
    assert chunks[0].text.endswith("size = 1")


def test_functions_inside_a_long_function() -> None:
    inner = "".join("    " + line + "\n" for line in function("inner", 20).splitlines())
    tiny = "    def tiny():\n        return 1\n"
    text = function("outer", 40) + inner + tiny
    found = labels(chunks_of(text, "python"))
    assert ("function", "outer", "inner") in found
    assert not [label for label in found if label[2] == "tiny"]


def test_small_siblings_are_put_together() -> None:
    text = "import os\nimport sys\n\nA = 1\nB = 2\n\n\ndef f():\n    return A\n\n\nC = 3\nD = 4\n"
    assert labels(chunks_of(text, "python")) == [
        ("module", "", "A, B"),
        ("function", "", "f"),
        ("constant", "", "C, D"),
    ]


def test_many_small_siblings_become_several_chunks() -> None:
    chunks = chunks_of("".join(f"NAME_{at} = 'value {at}'\n" for at in range(300)), "python")
    assert len(chunks) > 2
    assert all(len(chunk.text) <= TARGET for chunk in chunks)
    assert all(chunk.chunk_type == "constant" and chunk.name.endswith("…") for chunk in chunks)


def test_definitions_in_conditions_are_found() -> None:
    text = "if WINDOWS:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n"
    assert [chunk.name for chunk in chunks_of(text, "python")] == ["f", "f"]


@pytest.mark.parametrize("language", ["python", "rust", "javascript", "c", "markdown", "text", None])
@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n", "\ufeff"])
def test_nothing_to_find(text: str, language: str | None) -> None:
    assert cut(text, language_named(language) if language else None).chunks == ()


def test_crlf() -> None:
    text = "def f():\r\n    return 1\r\n\r\ndef g():\r\n    return 2\r\n"
    chunks = chunks_of(text, "python")
    assert [(chunk.start_line, chunk.end_line, chunk.name) for chunk in chunks] == [(1, 3, "f"), (4, 5, "g")]
    assert chunks[0].text == "def f():\n    return 1"


def test_byte_order_mark_tabs_and_letters_beyond_ascii() -> None:
    text = "\ufeff# Größe\ndef größe():\n\treturn 'ä'\n\ndef 名前():\n\treturn '名'\n"
    chunks = chunks_of(text, "python")
    assert [(chunk.start_line, chunk.name) for chunk in chunks] == [(1, "größe"), (5, "名前")]
    assert chunks[0].text.startswith("# Größe")


def test_no_newline_at_the_end() -> None:
    chunks = chunks_of("def f():\n    return 1", "python")
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 2)]


def test_one_huge_line() -> None:
    for size in (10_000, 200_000):
        chunks = chunks_of("var a=" + "1+" * (size // 2) + "1;", "javascript")
        assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 1)]


def test_two_definitions_on_one_line() -> None:
    chunks = chunks_of("class A {} class B {}\nclass C {}\n", "java")
    assert chunks[0].start_line == 1
    assert chunks[-1].end_line == 2


def test_a_broken_file_keeps_what_can_be_read() -> None:
    text = "def good():\n    return 1\n\n\ndef bad():\n    x = = 1\n\n\nclass Fine:\n    size = 1\n"
    names = [chunk.name for chunk in chunks_of(text, "python")]
    assert "good" in names
    assert "Fine" in names


def test_what_is_no_code_is_cut_by_lines() -> None:
    result = cut("]])))}}(((\n" * 400, language_named("python"))
    assert not result.parsed
    assert result.symbols.definitions == ()
    assert {chunk.chunk_type for chunk in result.chunks} == {"lines"}


def test_deep_nesting() -> None:
    text = "x = " + "[\n" * 400 + "]\n" * 400
    chunks = chunks_of(text, "python")
    assert chunks[0].start_line == 1
    assert chunks[-1].end_line == 801 - 1
