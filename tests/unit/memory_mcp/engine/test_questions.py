"""Questions through the engine: what is found, and what never is."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memory_mcp.engine.engine import Engine
from memory_mcp.engine.memories import Draft
from memory_mcp.engine.questions import Answer
from retrieval.embedding.encoder import Encoder
from retrieval.errors import EncoderFailed, IndexesNotReady, InvalidInput
from retrieval.fusion import Weights
from tests.builders import NOW, SPEC, Clock
from tests.fakes import HashModel

BY_WORDS = Weights(0, 1, 0)
BY_GRAPH = Weights(0, 0, 1)


def remember(engine: Engine, content: str, **fields: Any) -> str:
    return engine.memories.store(Draft(content, **fields)).id


def contents(answer: Answer) -> list[str]:
    return [found.memory.content for found in answer.found]


def all_ways(engine: Engine, query: str) -> dict[str, set[str]]:
    """What each way to ask finds."""
    ask = engine.questions
    return {
        "search": set(contents(ask.search(query, 50))),
        "search_text": set(contents(ask.search_text(query, 50))),
        "recall": set(contents(ask.recall(query, 50))),
        "words": set(contents(ask.recall(query, 50, BY_WORDS))),
        "graph": set(contents(ask.recall(query, 50, BY_GRAPH))),
    }


@pytest.fixture
def filled(engine: Engine) -> Engine:
    for content in ("Falcon deploys on Friday", "Friday is a holiday", "Falcon is written in Rust"):
        remember(engine, content)
    return engine


def test_the_best_comes_first_with_its_scores(filled: Engine) -> None:
    answer = filled.questions.recall("When does Falcon deploy?")
    best = answer.found[0]
    assert best.memory.content == "Falcon deploys on Friday"
    assert best.hit.row == best.memory.row
    assert best.hit.score > answer.found[1].hit.score
    assert None not in (best.hit.vector, best.hit.bm25, best.hit.ppr)
    assert answer.subgraph_nodes > 0


def test_search_by_meaning(filled: Engine) -> None:
    answer = filled.questions.search("Falcon written Rust", 1)
    assert contents(answer) == ["Falcon is written in Rust"]
    assert answer.found[0].hit.score <= 1.0 + 1e-6


def test_search_by_words(filled: Engine) -> None:
    assert contents(filled.questions.search_text("holidays")) == ["Friday is a holiday"]
    assert contents(filled.questions.search_text("nothing like it")) == []


def test_the_limit_is_kept(filled: Engine) -> None:
    for ask in (filled.questions.search, filled.questions.search_text, filled.questions.recall):
        assert len(ask("Falcon Friday", 2).found) == 2


def test_an_empty_memory_answers_nothing(engine: Engine) -> None:
    assert all_ways(engine, "anything") == {
        key: set() for key in ("search", "search_text", "recall", "words", "graph")
    }


def test_weights_decide(filled: Engine) -> None:
    assert contents(filled.questions.recall("holiday", weights=BY_WORDS)) == ["Friday is a holiday"]
    graph = filled.questions.recall("holiday", weights=BY_GRAPH)
    assert "Falcon deploys on Friday" in contents(graph)  # by way of Friday
    assert all(found.hit.vector is None for found in graph.found)


@pytest.mark.parametrize("limit", [0, -1, 51])
@pytest.mark.parametrize("way", ["search", "search_text", "recall"])
def test_limits_out_of_range(engine: Engine, way: str, limit: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        getattr(engine.questions, way)("x", limit)
    assert caught.value.field == "limit"


@pytest.mark.parametrize(
    "query", ["", "  ", "x" * 10_001, "a\0", "\ud800"], ids=["empty", "blank", "long", "nul", "half"]
)
@pytest.mark.parametrize("way", ["search", "search_text", "recall"])
def test_bad_queries(engine: Engine, way: str, query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        getattr(engine.questions, way)(query)
    assert caught.value.field == "query"


@pytest.mark.parametrize(
    "query", ["x" * 10_000, "()[]{}\"'*?:^~+-!/\\", "AND OR NOT", "body:x", "日本語 テスト", "🦅"]
)
def test_queries_are_words_not_syntax(filled: Engine, query: str) -> None:
    all_ways(filled, query)


# What is never found


def not_found(engine: Engine, content: str) -> None:
    for way, found in all_ways(engine, content).items():
        assert content not in found, way


def is_found(engine: Engine, content: str) -> None:
    for way, found in all_ways(engine, content).items():
        assert content in found, way


SECRET = "Falcon secret on Friday"


def test_an_invalidated_memory_is_not_found(filled: Engine, clock: Clock) -> None:
    key = remember(filled, SECRET)
    is_found(filled, SECRET)
    filled.memories.invalidate(key)
    not_found(filled, SECRET)


def test_a_memory_is_found_from_its_beginning_to_its_end(filled: Engine, clock: Clock) -> None:
    begin, end = NOW + timedelta(days=1), NOW + timedelta(days=2)
    remember(filled, SECRET, metadata={"valid_from": begin.isoformat(), "valid_until": end.isoformat()})
    not_found(filled, SECRET)
    clock.now = begin
    is_found(filled, SECRET)
    clock.now = end
    not_found(filled, SECRET)


def test_an_expired_memory_is_not_found(filled: Engine, clock: Clock) -> None:
    remember(filled, SECRET, metadata={"expires_at": (NOW + timedelta(hours=1)).isoformat()})
    is_found(filled, SECRET)
    clock.advance(hours=1)
    not_found(filled, SECRET)


def test_a_deleted_memory_is_not_found(filled: Engine) -> None:
    key = remember(filled, SECRET)
    filled.memories.delete(key)
    not_found(filled, SECRET)


def test_an_updated_memory_is_found_by_its_new_words_at_once(filled: Engine) -> None:
    key = remember(filled, SECRET)
    filled.memories.update(key, content="Condor landed Monday")
    not_found(filled, SECRET)
    is_found(filled, "Condor landed Monday")
    assert contents(filled.questions.search_text("secret")) == []


def test_another_users_memory_is_not_found(reopen: Callable[..., Engine]) -> None:
    engine = reopen()
    remember(engine, "Falcon of ada", user_id="ada")
    remember(engine, "Falcon of bob", user_id="bob")
    engine = reopen(user_id="ada")
    for way, found in all_ways(engine, "Falcon").items():
        assert found == {"Falcon of ada"}, way


def test_another_spaces_memory_is_not_found(reopen: Callable[..., Engine]) -> None:
    remember(reopen(), "Falcon here")
    engine = reopen(space="memento")
    remember(engine, "Falcon there")
    for way, found in all_ways(engine, "Falcon").items():
        assert found == {"Falcon there"}, way


# With things missing


def test_words_and_graph_need_no_model(reopen: Callable[..., Engine]) -> None:
    remember(reopen(), "Falcon deploys")

    def broken() -> HashModel:
        raise OSError("no such file")

    engine = reopen(encoder=Encoder(SPEC, broken, wait_seconds=5))
    assert contents(engine.questions.search_text("Falcon")) == ["Falcon deploys"]
    assert contents(engine.questions.recall("Falcon", weights=Weights(0, 0.5, 0.5))) == ["Falcon deploys"]
    for ask in (engine.questions.search, engine.questions.recall):
        with pytest.raises(EncoderFailed, match="no such file"):
            ask("Falcon")


def test_questions_wait_for_indexes_a_bounded_while(filled: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filled.memories, "_timeout", 0.0)
    filled._indexes._live.clear()
    for ask in (filled.questions.search, filled.questions.search_text, filled.questions.recall):
        with pytest.raises(IndexesNotReady):
            ask("Falcon")
    filled._indexes._live.set()
