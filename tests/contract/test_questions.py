"""Search, search_text and recall, as a client sees them."""

from typing import Any

import pytest

from tests.contract.harness import Memory

FACTS = (
    "Deployments happen on Friday afternoon",
    "The payment service is written in Rust",
    "Grace Hopper reviews every database migration",
    "Cats sleep most of the day",
)


@pytest.fixture
def facts(memory: Memory) -> Memory:
    for fact in FACTS:
        memory.store(fact)
    return memory


def contents(reply: dict[str, Any]) -> list[str]:
    return [row["content"] for row in reply["results"]]


def test_search_finds_by_meaning(facts: Memory) -> None:
    reply = facts.ask("search", query="when do we release to production?", limit=2)
    assert contents(reply)[0] == FACTS[0]
    assert (reply["count"], reply["query"]) == (2, "when do we release to production?")
    assert set(reply) == {"results", "count", "query"}
    for row in reply["results"]:
        assert set(row) == {"id", "content", "memory_type", "score"}
        assert isinstance(row["id"], str)
        assert -1 <= row["score"] <= 1
    scores = [row["score"] for row in reply["results"]]
    assert scores == sorted(scores, reverse=True)


def test_search_text_finds_by_words(facts: Memory) -> None:
    reply = facts.ask("search_text", query="payment rust")
    assert contents(reply) == [FACTS[1]]
    assert set(reply) == {"results", "count", "query"}
    assert set(reply["results"][0]) == {"id", "content", "memory_type", "score"}
    assert reply["results"][0]["score"] > 0
    assert facts.ask("search_text", query="quetzal") == {"results": [], "count": 0, "query": "quetzal"}


def test_recall_shows_every_channel(facts: Memory) -> None:
    reply = facts.ask("recall", query="What does Grace Hopper review?")
    best = reply["results"][0]
    assert best["content"] == FACTS[2]
    assert set(best) == {"id", "content", "source", "score", "vector_score", "bm25_score", "ppr_score"}
    assert best["source"] == "memory"
    assert best["vector_score"] > 0
    assert best["bm25_score"] > 0
    assert best["ppr_score"] > 0
    assert reply["subgraph_nodes"] > 0
    assert (reply["memories_count"], reply["code_count"]) == (len(reply["results"]), 0)
    assert reply["query"] == "What does Grace Hopper review?"
    for row in reply["results"]:
        assert 0 <= row["score"] <= 1
        assert 0 <= row["ppr_score"] <= 1


def test_a_channel_without_weight_scores_nothing(facts: Memory) -> None:
    reply = facts.ask("recall", query="payment rust", vector_weight=0, bm25_weight=1, ppr_weight=0)
    assert contents(reply) == [FACTS[1]]
    assert reply["results"][0]["vector_score"] == 0.0
    assert reply["results"][0]["ppr_score"] == 0.0
    assert reply["subgraph_nodes"] == 0


def test_only_the_proportion_of_weights_counts(facts: Memory) -> None:
    small = facts.ask("recall", query="rust", vector_weight=0.1, bm25_weight=0.2, ppr_weight=0.3)
    large = facts.ask("recall", query="rust", vector_weight=1e307, bm25_weight=2e307, ppr_weight=3e307)
    assert small == large


@pytest.mark.parametrize("tool", ["search", "search_text", "recall"])
def test_a_limit_is_kept(memory: Memory, tool: str) -> None:
    for n in range(12):
        memory.store(f"Otter number {n}")
    assert len(memory.ask(tool, query="otter")["results"]) == 10
    assert len(memory.ask(tool, query="otter", limit=1)["results"]) == 1
    assert len(memory.ask(tool, query="otter", limit=50)["results"]) == 12


def test_code_may_be_asked_for_where_none_is_indexed(facts: Memory) -> None:
    with_code = facts.ask("recall", query="rust", include_code=True, language="rust")
    assert with_code["code_count"] == 0
    assert with_code["memories_count"] > 0
    code_only = facts.ask("recall", query="rust", include_code=True, include_memories=False)
    assert (code_only["results"], code_only["memories_count"], code_only["code_count"]) == ([], 0, 0)


def test_recall_has_to_look_somewhere(facts: Memory) -> None:
    text = facts.refuse("recall", query="rust", include_memories=False)
    assert text == "Invalid include_memories: must be true when include_code is false."
    assert facts.refuse("recall", query="rust", project_id="p") == (
        "Invalid project_id: requires include_code=true."
    )


@pytest.mark.parametrize("tool", ["search", "search_text", "recall"])
def test_an_empty_memory_answers_nothing(memory: Memory, tool: str) -> None:
    reply = memory.ask(tool, query="anything")
    assert reply["results"] == []


def test_a_memory_is_found_by_the_very_next_question(memory: Memory) -> None:
    for n in range(20):
        key = memory.store(f"Fact {n} about quokka{n}")
        assert memory.ask("search_text", query=f"quokka{n}", limit=1)["results"][0]["id"] == key
        assert memory.ask("recall", query=f"quokka{n}", limit=1)["results"][0]["id"] == key


def test_punctuation_is_no_query_language(facts: Memory) -> None:
    for query in (
        "rust AND (",
        '"',
        "content:rust^2 -payment",
        "*",
        "payment~",
        "SELECT * FROM memories",
        "[1 TO",
    ):
        for tool in ("search", "search_text", "recall"):
            assert facts.ask(tool, query=query)["query"] == query
