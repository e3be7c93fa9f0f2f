"""How answers look on a terminal."""

import io
from typing import Any

import pytest

from memory_mcp.terminal import Painter, progress_bar, show_found, show_listed, show_models, show_status
from retrieval.embedding.registry import DEFAULT_MODEL, MODELS


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def plain() -> tuple[Painter, io.StringIO]:
    stream = io.StringIO()
    return Painter(stream), stream


def a_result(**fields: Any) -> dict[str, Any]:
    return {"id": "abc", "content": "some text", "score": 0.5, **fields}


def a_listed(**fields: Any) -> dict[str, Any]:
    memory = {"id": {"tb": "memories", "id": {"String": "abc"}}, "memory_type": "semantic", "content": "text",
              "ingestion_time": "2026-01-06T12:00:00Z", "valid_until": None}  # fmt: skip
    return {**memory, **fields}


def a_status(**fields: Any) -> dict[str, Any]:
    embedding = {"model": "minilm", "dimensions": 384, "status": "ready"}
    return {"version": "0.1.0", "status": "healthy", "memories_count": 1_234, "entities_count": 0,
            "code_chunks_count": 0, "embedding": embedding, **fields}  # fmt: skip


def test_no_colour_where_there_is_no_terminal(plain: tuple[Painter, io.StringIO]) -> None:
    paint, _ = plain
    assert (paint.bold("x"), paint.dim("x")) == ("x", "x")


def test_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Painter(Terminal()).bold("x") == "\033[1mx\033[0m"


def test_no_colour_when_asked_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert Painter(Terminal()).bold("x") == "x"


@pytest.mark.parametrize(("columns", "width"), [("20", 60), ("80", 80), ("400", 120)])
def test_the_width_has_bounds(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Painter(io.StringIO()).width == width


def test_long_text_is_wrapped_and_cut(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    paint.paragraph("word " * 400, "    ")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 5
    assert all(line.startswith("    ") and len(line) <= paint.width for line in lines)
    assert lines[-1].strip().endswith("more lines")


def test_line_breaks_and_blank_lines_stay(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    paint.paragraph("one\n\ntwo", "  ")
    assert stream.getvalue() == "  one\n  \n  two\n"


def test_results_with_their_three_scores(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    scored = a_result(vector_score=0.25, bm25_score=1.5, ppr_score=0.001)
    show_found(paint, {"results": [scored, a_result(id="def")], "subgraph_nodes": 7})
    assert stream.getvalue().splitlines() == [
        " 1. score 0.500  vector 0.250  bm25 1.500  ppr 0.0010  abc",
        "    some text",
        " 2. score 0.500  def",
        "    some text",
        "7 graph nodes took part",
    ]


def test_no_results(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    show_found(paint, {"results": []})
    assert stream.getvalue() == "Nothing found.\n"


def test_a_list_says_where_in_the_whole_it_is(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    ended = a_listed(valid_until="2026-02-01T00:00:00Z")
    show_listed(paint, {"memories": [a_listed(), ended], "total": 9, "offset": 4})
    assert stream.getvalue().splitlines() == [
        "abc  semantic  2026-01-06T12:00:00Z",
        "    text",
        "abc  semantic  2026-01-06T12:00:00Z  ended 2026-02-01T00:00:00Z",
        "    text",
        "5-6 of 9",
    ]


@pytest.mark.parametrize(("total", "said"), [(0, "No memories.\n"), (3, "No memories at offset 5.\n")])
def test_an_empty_list(plain: tuple[Painter, io.StringIO], total: int, said: str) -> None:
    paint, stream = plain
    show_listed(paint, {"memories": [], "total": total, "offset": 5})
    assert stream.getvalue() == said


def test_status(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    show_status(paint, a_status())
    assert "memories  1,234\n" in stream.getvalue()
    assert "minilm (384d, ready)" in stream.getvalue()
    assert "problem" not in stream.getvalue()


def test_status_with_a_problem_and_indexes_under_construction(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    embedding = {"model": "minilm", "dimensions": 384, "status": "failed", "error": "no such file"}
    indexes = {"status": "building", "progress_percent": 41.7}
    show_status(paint, a_status(embedding=embedding, indexes=indexes))
    assert "problem  no such file\n" in stream.getvalue()
    assert "indexes  building, 42 %\n" in stream.getvalue()


def test_models_one_a_line_the_default_marked(plain: tuple[Painter, io.StringIO]) -> None:
    paint, stream = plain
    models = list(MODELS.values()) if hasattr(MODELS, "values") else list(MODELS)
    show_models(paint, models, DEFAULT_MODEL)
    lines = stream.getvalue().splitlines()
    assert len(lines) == len(models)
    assert [line for line in lines if line.startswith("*")] == [
        line for line in lines if DEFAULT_MODEL + " " in line
    ]
    assert "included" in lines[0]
    assert "MB download" in lines[1]


def test_a_bar_on_a_terminal() -> None:
    stream = Terminal()
    report = progress_bar(stream, "embedding")
    report(5, 10)
    report(10, 10)
    first, last = stream.getvalue().split("\r")[1:]
    assert first == "embedding [###############...............] 5/10  50%"
    assert last == "embedding [##############################] 10/10 100%\n"


def test_a_bar_over_nothing_is_full() -> None:
    stream = Terminal()
    progress_bar(stream, "embedding")(0, 0)
    assert "0/0 100%" in stream.getvalue()


def test_no_bar_elsewhere() -> None:
    stream = io.StringIO()
    progress_bar(stream, "embedding")(5, 10)
    assert stream.getvalue() == ""
