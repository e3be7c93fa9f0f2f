"""How are texts without a syntax tree cut?"""

from pathlib import Path

import pytest

from indexer.chunk import LONGEST, TARGET, Chunk, cut
from indexer.languages.registry import language_named
from indexer.lines import Lines, joined_names

WORDS = "some words that fill the line\n"


def chunks_of(text: str, language: str | None) -> tuple[Chunk, ...]:
    return cut(text, language_named(language) if language else None).chunks


def test_headings_nest() -> None:
    text = f"# One\n\n{WORDS * 40}\n## Two\n\n{WORDS * 30}\n### Three\n\n{WORDS * 30}\n## Four\n\nshort\n"
    assert [(chunk.breadcrumb, chunk.name) for chunk in chunks_of(text, "markdown")] == [
        ("", "One"),
        ("One", "Two"),
        ("One > Two", "Three"),
        ("One", "Four"),
    ]


def test_a_section_that_fits_stays_whole() -> None:
    text = (Path(__file__).parent / "snippets" / "guide.md").read_text()
    assert [chunk.name for chunk in chunks_of(text, "markdown")] == ["", "Using the cache"]


def test_a_heading_alone_goes_with_its_first_section() -> None:
    text = f"# Title\n\n## First\n\n{WORDS * 30}\n## Second\n\n{WORDS * 30}"
    chunks = chunks_of(text, "markdown")
    assert [(chunk.start_line, chunk.breadcrumb, chunk.name) for chunk in chunks] == [
        (1, "Title", "First"),
        (36, "Title", "Second"),
    ]


def test_code_and_front_matter_have_no_headings() -> None:
    fences = "```sh\n# no\n```\n~~~\n# no\n~~~\n"
    text = f"---\n# no\n---\n# Real\n{WORDS * 60}{fences}# Also [real](x) `code`\n{WORDS}"
    names = [chunk.name for chunk in chunks_of(text, "markdown")]
    assert names[0] == ""
    assert set(names[1:]) == {"Real", "Also real code"}


def test_underlined_headings() -> None:
    text = f"Title\n=====\n\n{WORDS * 40}\nPart\n----\n\n{WORDS * 40}\nDetail\n~~~~~~\n\n{WORDS * 40}"
    assert [(chunk.breadcrumb, chunk.name) for chunk in chunks_of(text, "rst")] == [
        ("", "Title"),
        ("Title", "Part"),
        ("Title > Part", "Detail"),
    ]


def test_underlines_of_tildes_are_no_fences() -> None:
    text = f"Top\n~~~\n\n{WORDS * 40}\nPart\n----\n\n{WORDS * 40}\nNext\n~~~~\n\n{WORDS * 40}"
    assert [chunk.name for chunk in chunks_of(text, "rst")] == ["Top", "Part", "Next"]


@pytest.mark.parametrize("after", ["---", "```", "~~~", "==="])
def test_what_follows_a_heading_does_not_underline_it(after: str) -> None:
    text = f"{WORDS * 40}\n# Title\n{after}\n\n{WORDS * 40}"
    names = [chunk.name for chunk in chunks_of(text, "markdown")]
    assert names == ["", "Title"]


def test_rules_and_tables_are_no_headings() -> None:
    text = "text\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n***\n"
    assert [chunk.name for chunk in chunks_of(text, "markdown")] == [""]


def test_prose_is_cut_at_paragraphs() -> None:
    text = f"{WORDS * 20}\n" * 6
    chunks = chunks_of(text, "text")
    assert len(chunks) > 1
    assert all(chunk.chunk_type == "text" and len(chunk.text) <= LONGEST for chunk in chunks)
    assert all((chunk.start_line - 1) % 21 == 0 for chunk in chunks)


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("toml", "a = 1\n[server]\nport = 1\n[[worker]]\nx = 1\n", "server, worker"),
        (
            "sql",
            "-- who\nCREATE TABLE IF NOT EXISTS users (id int);\ncreate view v as select 1;\n",
            "users, v",
        ),
        ("yaml", "name: x\njobs:\n  build: 1\n", "name, jobs"),
        ("makefile", "CC := gcc\nall: build\n\tcc\n", "all"),
        ("proto", "message Ask {\n}\nservice Answer {\n}\n", "Ask, Answer"),
        ("clojure", "(ns a.b)\n(defn go [x] x)\n", "a.b, go"),
        ("css", ".a {\n  x: 1;\n}\n#b > c {\n}\n", ".a, #b > c"),
        ("perl", "package A;\nsub run {\n}\n", "A, run"),
    ],
)
def test_simple_formats_name_their_sections(language: str, text: str, names: str) -> None:
    assert [(chunk.chunk_type, chunk.name) for chunk in chunks_of(text, language)] == [("section", names)]


def test_long_sections_are_apart() -> None:
    text = "".join(f"[part{at}]\n" + f"key = '{WORDS.strip()}'\n" * 15 for at in range(3))
    assert [chunk.name for chunk in chunks_of(text, "toml")] == ["part0", "part1", "part2"]


def test_unknown_text_is_cut_where_it_is_least_indented() -> None:
    block = "start of a block\n" + "    something inside of it\n" * 20
    chunks = chunks_of(block * 8, None)
    assert len(chunks) > 2
    assert all(chunk.chunk_type == "lines" and chunk.text.startswith("start") for chunk in chunks)


def test_lines_end_with_a_line_feed_only() -> None:
    assert Lines.of("a\x0cb\u2028c\rd\r\ne").rows == ("a\x0cb\u2028c\rd", "e")


def test_cut_avoids_rows_if_it_can() -> None:
    lines = Lines.of("x" * 99 + "\n" + ("y" * 99 + "\n") * 29)
    avoided = frozenset(range(12, 30))
    assert lines.cut(0, 29, avoided)[0][1] + 1 < 12
    assert lines.size(0, 29) == 3_000 > TARGET


def test_joined_names() -> None:
    assert joined_names(["a", "b", "a"]) == "a, b"
    assert joined_names([]) == ""
    assert joined_names([f"name_{at}" for at in range(50)]).endswith(", …")
    assert joined_names(["x" * 200]) == "x" * 200
