"""Questions about code through the engine, and whether the answer is what the files say."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexer import pipeline
from memory_mcp.engine import code as module
from memory_mcp.engine import freshness
from memory_mcp.engine.code import FoundCode
from memory_mcp.engine.engine import Engine
from retrieval.embedding.encoder import Encoder
from retrieval.errors import IndexesNotReady, InvalidInput, ProjectNotFound
from retrieval.fusion import Weights
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC
from tests.fakes import HashModel
from tests.unit.indexer.workshop import function, write_files

WAIT = 30.0
BY_WORDS = Weights(0, 1, 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "app"
    write_files(
        folder,
        {
            "http/router.py": function("dispatch", "return handler_for(first)"),
            "http/session.py": function("open_session", "return connect(second)"),
            "tools/build.sh": "#!/bin/sh\n# builds the router\nmake router\n",
        },
    )
    return folder


@pytest.fixture
def indexed(engine: Engine, root: Path) -> Engine:
    engine.projects.index(str(root))
    finish(engine)
    return engine


def finish(engine: Engine) -> None:
    engine.projects.embedding.wake()
    assert engine.projects.embedding.wait(WAIT)


def names(found: tuple[FoundCode, ...]) -> list[str]:
    return [one.chunk.name for one in found]


def counting(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Note which files are read."""
    read: list[Path] = []
    real: Callable[[Path], Any] = vars(pipeline)["read_text"]

    def note(path: Path) -> Any:
        read.append(path)
        return real(path)

    monkeypatch.setattr(pipeline, "read_text", note)
    return read


# Asking


def test_the_best_comes_first_with_its_scores(indexed: Engine) -> None:
    best, *rest = indexed.code.search("dispatch handler")
    assert (best.chunk.name, best.chunk.path) == ("dispatch", "http/router.py")
    assert None not in (best.ranked.vector, best.ranked.bm25)
    assert all(best.ranked.score >= other.ranked.score for other in rest)
    assert not best.is_stale


def test_an_engine_without_code_answers_nothing(engine: Engine) -> None:
    assert engine.code.search("anything") == ()


def test_the_limit_is_kept(indexed: Engine) -> None:
    assert len(indexed.code.search("router session", 1)) == 1


def test_one_project_of_several(indexed: Engine, tmp_path: Path) -> None:
    write_files(tmp_path / "other", {"x.py": function("dispatch", "return 'another'")})
    indexed.projects.index(str(tmp_path / "other"))
    assert {one.chunk.project for one in indexed.code.search("dispatch")} == {"app", "other"}
    assert {one.chunk.project for one in indexed.code.search("dispatch", project="other")} == {"other"}


def test_one_language_of_several(indexed: Engine) -> None:
    assert {one.chunk.language for one in indexed.code.search("router", language="bash")} == {"bash"}


def test_another_spaces_code_is_not_found(reopen: Callable[..., Engine], root: Path) -> None:
    reopen().projects.index(str(root))
    assert reopen(space="memento").code.search("dispatch") == ()


def test_equal_chunks_are_told_once(indexed: Engine, root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "copy")
    indexed.projects.index(str(tmp_path / "copy"))
    assert names(indexed.code.search("dispatch")).count("dispatch") == 1


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"query": "a\0"}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "language": "klingon"}, "language"),
        ({"query": "x", "language": ""}, "language"),
    ],
)
def test_bad_arguments(indexed: Engine, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        indexed.code.search(**arguments)
    assert caught.value.field == field


def test_a_project_that_is_not_there(indexed: Engine) -> None:
    with pytest.raises(ProjectNotFound, match="nobody"):
        indexed.code.search("x", project="nobody")


def test_questions_wait_for_indexes_a_bounded_while(indexed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed.memories, "_timeout", 0.0)
    indexed._indexes._live.clear()
    with pytest.raises(IndexesNotReady):
        indexed.code.search("dispatch")
    indexed._indexes._live.set()


# With things missing


def test_code_is_found_by_its_words_before_it_has_vectors(engine: Engine, root: Path) -> None:
    with engine.projects.held():
        engine.projects.index(str(root))
        (found, *_) = engine.code.search("dispatch")
        assert (found.chunk.name, found.ranked.vector) == ("dispatch", None)


def test_without_a_model_words_answer(reopen: Callable[..., Engine], root: Path) -> None:
    def broken() -> HashModel:
        raise OSError("no such file")

    engine = reopen(encoder=Encoder(SPEC, broken))
    engine.projects.index(str(root))
    assert names(engine.code.search("dispatch"))[0] == "dispatch"


def test_before_the_model_is_loaded_words_answer(reopen: Callable[..., Engine], root: Path) -> None:
    loaded = threading.Event()

    def slow() -> HashModel:
        assert loaded.wait(WAIT)
        return HashModel(SPEC.dimensions)

    engine = reopen(encoder=Encoder(SPEC, slow, wait_seconds=0.01), wait=False)
    engine.projects.index(str(root))
    assert names(engine.code.search("dispatch"))[0] == "dispatch"
    loaded.set()


def test_without_weight_the_model_is_not_asked(indexed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed._encoder, "embed_query", lambda _: 1 // 0)
    assert names(indexed.code.search("dispatch", weights=BY_WORDS))[0] == "dispatch"


def test_a_damaged_shelf_does_not_matter(indexed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed._indexes.code.shelf, "read", lambda rows: [None] * len(rows))
    assert names(indexed.code.search("dispatch"))[0] == "dispatch"


def test_chunks_that_go_while_they_are_read_are_left_out(
    indexed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between finding rows and reading them the lock is free."""
    search = module.search_code  # type: ignore[attr-defined]

    def emptied(*arguments: Any) -> Any:
        ranked = search(*arguments)
        indexed.reset()
        return ranked

    monkeypatch.setattr(module, "search_code", emptied)
    assert indexed.code.search("dispatch") == ()


# What the files say now


def test_an_unchanged_file_is_not_read_again(indexed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    read = counting(monkeypatch)
    indexed.code.search("dispatch")
    indexed.code.search("dispatch")
    assert read == []


def test_a_changed_file_is_read_before_the_answer(
    indexed: Engine, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counting(monkeypatch)
    write_files(root, {"http/router.py": "import os\n\n\n" + function("dispatch", "return other(first)")})
    best = indexed.code.search("dispatch", 1)[0]
    assert read == [root / "http/router.py"]
    assert "other(first)" in best.chunk.content
    assert (best.chunk.start_line, best.is_stale) == (4, False)
    finish(indexed)
    assert_agreement(indexed._store, indexed._indexes, MODEL, tmp_path)


def test_a_touched_file_is_read_once(indexed: Engine, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = counting(monkeypatch)
    write_files(root, {"http/router.py": (root / "http/router.py").read_bytes()})
    for _ in range(2):
        assert not indexed.code.search("dispatch", 1)[0].is_stale
    assert read == [root / "http/router.py"]


def test_what_a_changed_file_no_longer_says_is_not_found(indexed: Engine, root: Path) -> None:
    write_files(root, {"http/router.py": function("renamed", "return 1")})
    assert "dispatch" not in names(indexed.code.search("dispatch"))
    assert names(indexed.code.search("renamed"))[0] == "renamed"


def test_a_deleted_file_is_not_found(indexed: Engine, root: Path) -> None:
    (root / "http/router.py").unlink()
    assert "dispatch" not in names(indexed.code.search("dispatch"))


def test_a_vanished_root_keeps_its_code_and_says_that_it_is_stale(indexed: Engine, root: Path) -> None:
    away = root.with_name("elsewhere")
    root.rename(away)
    best = indexed.code.search("dispatch")[0]
    assert (best.chunk.name, best.is_stale) == ("dispatch", True)
    away.rename(root)
    best = indexed.code.search("dispatch")[0]
    assert (best.chunk.name, best.is_stale) == ("dispatch", False)


def test_a_root_that_is_empty_keeps_its_code(indexed: Engine, root: Path) -> None:
    """As a folder on which a volume is not mounted."""
    shutil.rmtree(root)
    root.mkdir()
    best = indexed.code.search("dispatch")[0]
    assert (best.chunk.name, best.is_stale) == ("dispatch", True)


def test_many_changed_files_are_marked_and_left_to_the_indexer(
    indexed: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "REREAD_AT_ONCE", 0)
    read = counting(monkeypatch)
    write_files(root, {"http/router.py": function("dispatch", "return 7")})
    by_path = {one.chunk.path: one for one in indexed.code.search("dispatch router session")}
    assert by_path["http/router.py"].is_stale
    assert not by_path["http/session.py"].is_stale
    assert read == []


def test_while_a_project_is_indexed_its_changed_files_are_marked(indexed: Engine, root: Path) -> None:
    write_files(root, {"http/router.py": function("dispatch", "return 7")})
    answers: list[tuple[FoundCode, ...]] = []

    def ask(done: int, total: int) -> None:
        if done == 0:  # from another thread: the one who indexes may do as it likes
            asking = threading.Thread(target=lambda: answers.append(indexed.code.search("dispatch", 1)))
            asking.start()
            asking.join(WAIT)

    indexed.projects.index(str(root), report=ask)
    assert [one.is_stale for one in answers[0]] == [True]
    assert not indexed.code.search("dispatch", 1)[0].is_stale


def test_only_the_projects_of_the_answer_are_looked_at(indexed: Engine, root: Path, tmp_path: Path) -> None:
    write_files(tmp_path / "other", {"x.py": function("unrelated")})
    indexed.projects.index(str(tmp_path / "other"))
    shutil.rmtree(tmp_path / "other")
    assert not any(one.is_stale for one in indexed.code.search("dispatch", project="app"))
