"""Memories and code in one answer."""

from pathlib import Path

import pytest

from memory_mcp.engine.code import FoundCode
from memory_mcp.engine.engine import Engine
from memory_mcp.engine.memories import Draft
from memory_mcp.engine.questions import Found
from memory_mcp.engine.recall import Recalled, RecalledHit, Sources
from retrieval.errors import InvalidInput, ProjectNotFound
from retrieval.fusion import Weights
from tests.unit.indexer.workshop import function, write_files

WAIT = 30.0
BOTH = Sources(memories=True, code=True)
CODE = Sources(memories=False, code=True)


@pytest.fixture
def filled(engine: Engine, tmp_path: Path) -> Engine:
    for content in ("The router dispatches by prefix", "Sessions expire at night", "Ada likes tea"):
        engine.memories.store(Draft(content))
    root = tmp_path.resolve() / "app"
    write_files(
        root,
        {
            "router.py": function("dispatch", "return prefix(first)"),
            "session.py": function("expire", "return night(second)"),
            "main.rs": "/// Dispatches by prefix.\nfn dispatch_all(first: u32) -> u32 {\n    first\n}\n",
        },
    )
    engine.projects.index(str(root))
    assert engine.projects.embedding.wait(WAIT)
    return engine


def ask(engine: Engine, query: str, sources: Sources, limit: int = 10) -> Recalled:
    return engine.recall(query, limit, Weights(), sources)


def shown(hit: RecalledHit) -> str:
    return hit.found.memory.content if isinstance(hit.found, Found) else hit.found.chunk.name


def test_memories_alone_are_as_the_question_finds_them(filled: Engine) -> None:
    recalled = ask(filled, "router prefix", Sources())
    answer = filled.questions.recall("router prefix", 10, Weights())
    assert [hit.found for hit in recalled.hits] == list(answer.found)
    assert [hit.score for hit in recalled.hits] == [found.hit.score for found in answer.found]
    assert recalled.subgraph_nodes == answer.subgraph_nodes


def test_code_alone_is_as_the_search_finds_it(filled: Engine) -> None:
    recalled = ask(filled, "dispatch prefix", CODE)
    found = filled.code.search("dispatch prefix", weights=Weights())
    assert [hit.found for hit in recalled.hits] == list(found)
    assert recalled.subgraph_nodes == 0
    scores = [hit.score for hit in recalled.hits]
    assert scores == sorted(scores, reverse=True)


def test_both_sources_begin_together(filled: Engine) -> None:
    hits = ask(filled, "dispatch by prefix", BOTH).hits
    assert {type(hit.found) for hit in hits[:2]} == {Found, FoundCode}
    assert hits[0].score == hits[1].score
    assert {shown(hit) for hit in hits[:2]} == {
        "The router dispatches by prefix",
        shown(ask(filled, "dispatch by prefix", CODE).hits[0]),
    }


def test_both_sources_stay_in_their_own_order(filled: Engine) -> None:
    hits = ask(filled, "dispatch by prefix", BOTH).hits
    memories = [hit.found for hit in hits if isinstance(hit.found, Found)]
    code = [hit.found for hit in hits if isinstance(hit.found, FoundCode)]
    assert memories == list(filled.questions.recall("dispatch by prefix", 50, Weights()).found)
    assert code == list(filled.code.search("dispatch by prefix", 50, weights=Weights()))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_the_limit_is_of_both_together(filled: Engine) -> None:
    whole = ask(filled, "dispatch by prefix", BOTH).hits
    assert len(whole) > 3
    assert ask(filled, "dispatch by prefix", BOTH, 3).hits == whole[:3]


@pytest.mark.parametrize("sources", [Sources(), BOTH, CODE], ids=["memories", "both", "code"])
@pytest.mark.parametrize("limit", [0, -1, 51])
def test_limits_out_of_range(filled: Engine, sources: Sources, limit: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask(filled, "x", sources, limit)
    assert caught.value.field == "limit"


@pytest.mark.parametrize("sources", [Sources(), BOTH, CODE], ids=["memories", "both", "code"])
def test_bad_queries(filled: Engine, sources: Sources) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask(filled, " ", sources)
    assert caught.value.field == "query"


def test_filters_are_for_code(filled: Engine) -> None:
    hits = ask(filled, "dispatch", Sources(memories=False, code=True, project="app", language="rust")).hits
    assert [shown(hit) for hit in hits] == ["dispatch_all"]
    both = ask(filled, "dispatch", Sources(code=True, language="rust")).hits
    assert [shown(hit) for hit in both if isinstance(hit.found, FoundCode)] == ["dispatch_all"]
    assert any(isinstance(hit.found, Found) for hit in both)


@pytest.mark.parametrize(
    ("sources", "field"),
    [
        (Sources(memories=False), "include_memories"),
        (Sources(project="app"), "project_id"),
        (Sources(language="python"), "language"),
        (Sources(code=True, language="klingon"), "language"),
    ],
)
def test_sources_that_make_no_sense(filled: Engine, sources: Sources, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask(filled, "x", sources)
    assert caught.value.field == field


def test_a_project_that_is_not_there(filled: Engine) -> None:
    with pytest.raises(ProjectNotFound):
        ask(filled, "x", Sources(code=True, project="nobody"))


def test_without_code_memories_answer(engine: Engine) -> None:
    engine.memories.store(Draft("Falcon deploys"))
    assert [shown(hit) for hit in ask(engine, "Falcon", BOTH).hits] == ["Falcon deploys"]
    assert ask(engine, "Falcon", CODE).hits == ()


def test_without_memories_code_answers(engine: Engine, tmp_path: Path) -> None:
    write_files(tmp_path / "app", {"a.py": function("falcon")})
    engine.projects.index(str(tmp_path / "app"))
    (hit,) = ask(engine, "falcon", BOTH).hits
    assert (shown(hit), hit.score) == ("falcon", 0.0)  # one alone stands out from nothing


def test_nothing_answers_nothing(engine: Engine) -> None:
    assert ask(engine, "falcon", BOTH) == Recalled(())


def test_what_is_stale_is_said(filled: Engine, tmp_path: Path) -> None:
    (tmp_path / "app").rename(tmp_path / "away")
    hits = ask(filled, "dispatch", CODE).hits
    assert all(isinstance(hit.found, FoundCode) and hit.found.is_stale for hit in hits)
