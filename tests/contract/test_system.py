"""Status, reset, and what a server says of a model that is not there."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.harness import FETCHED, Memory, connected


def test_status_is_as_specified(memory: Memory) -> None:
    memory.store("One")
    memory.ask("search", query="one")
    memory.ask("search", query="one")
    memory.ask("create_entity", name="Ada")
    status = memory.ask("get_status")
    cache = status["embedding"].pop("cache_stats")
    assert status == {
        "version": "0.1.0",
        "status": "healthy",
        "memories_count": 1,
        "entities_count": 1,
        "code_chunks_count": 0,
        "embedding": {"status": "ready", "model": "minilm", "dimensions": 384},
        "db_dimension": 384,
    }
    assert set(cache) == {"hits", "misses", "size"}
    assert min(cache.values()) >= 1


def test_a_reset_counts_what_it_deletes(memory: Memory) -> None:
    memory.store("One")
    memory.store("Two")
    ada, bob = (memory.ask("create_entity", name=name)["id"] for name in ("Ada", "Bob"))
    memory.ask("create_relation", from_entity=ada, to_entity=bob, relation_type="knows")
    assert memory.ask("reset_all_memory", confirm=True) == {
        "reset": True,
        "deleted": {"memories": 2, "entities": 2, "relations": 1, "code_chunks": 0},
    }
    assert memory.ask("list_memories")["total"] == 0
    assert memory.ask("recall", query="one")["results"] == []
    assert memory.refuse("get_related", entity_id=ada) == f"Entity not found: {ada}"
    status = memory.ask("get_status")
    assert (status["memories_count"], status["entities_count"]) == (0, 0)
    assert memory.ask("recall", query="three")["results"] == []
    key = memory.store("Three")
    assert [row["id"] for row in memory.ask("recall", query="three")["results"]] == [key]


def test_no_reply_ever_holds_an_embedding(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "vector.py").write_text("def nowhere():\n    return 'the vector'\n")
    memory.ask("index_project", path=str(tmp_path / "app"))
    key, other = memory.store("Where is the vector?"), memory.store("Nowhere to be seen")
    ada, bob = (memory.ask("create_entity", name=name)["id"] for name in ("Ada", "Bob"))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("store_memory", {"content": "Still nowhere"}),
        ("get_memory", {"id": key}),
        ("update_memory", {"id": key, "content": "Found nothing"}),
        ("list_memories", {}),
        ("search", {"query": "vector"}),
        ("search_text", {"query": "nowhere"}),
        ("recall", {"query": "nowhere Ada", "include_code": True}),
        ("create_entity", {"name": "Eve"}),
        ("create_relation", {"from_entity": ada, "to_entity": bob, "relation_type": "knows"}),
        ("get_related", {"entity_id": ada}),
        ("get_valid", {}),
        ("get_valid_at", {"timestamp": "2999-01-01T00:00:00Z"}),
        ("invalidate", {"id": other}),
        ("delete_memory", {"id": other}),
        ("index_project", {"path": str(tmp_path / "app")}),
        ("search_code", {"query": "nowhere"}),
        ("get_index_status", {"project_id": "app"}),
        ("list_projects", {}),
        ("delete_project", {"project_id": "app"}),
        ("get_status", {}),
        ("reset_all_memory", {"confirm": True}),
    ]
    assert sorted(tool for tool, _ in calls) == sorted(tool.name for tool in memory.tools())
    for tool, arguments in calls:
        assert not holds_numbers(memory.ask(tool, **arguments)), tool


def holds_numbers(value: Any) -> bool:
    """Whether there is an array of numbers anywhere."""
    if isinstance(value, dict):
        return any(holds_numbers(item) for item in value.values())
    return isinstance(value, list) and any(isinstance(item, float) or holds_numbers(item) for item in value)


def works_without_a_model(memory: Memory) -> None:
    """Everything that needs no embedding."""
    ada, bob = (memory.ask("create_entity", name=name)["id"] for name in ("Ada", "Bob"))
    memory.ask("create_relation", from_entity=ada, to_entity=bob, relation_type="knows")
    assert memory.ask("get_related", entity_id=ada)["entity_count"] == 1
    assert memory.ask("search_text", query="anything")["count"] == 0
    assert memory.ask("recall", query="anything", vector_weight=0)["results"] == []
    assert memory.ask("get_valid")["count"] == 0
    assert memory.ask("list_memories")["total"] == 0


@pytest.mark.usefixtures("silent_hub")
def test_a_model_that_is_loading_is_said_to_be(tmp_path: Path) -> None:
    with connected(tmp_path / "data", "--model", FETCHED, "--timeout", "1") as memory:
        memory.tools()
        wait_until_open(memory)
        status = memory.ask("get_status")
        assert (status["status"], status["embedding"]["status"]) == ("healthy", "loading")
        assert (status["embedding"]["dimensions"], status["db_dimension"]) == (384, 384)
        for tool, arguments in (
            ("store_memory", {"content": "x"}), ("search", {"query": "x"}), ("recall", {"query": "x"}),
        ):  # fmt: skip
            assert memory.refuse(tool, **arguments) == "Embedding service not ready. Please try again."
        works_without_a_model(memory)


@pytest.mark.usefixtures("absent_hub")
def test_a_model_that_failed_leaves_the_rest_working(tmp_path: Path) -> None:
    with connected(tmp_path / "data", "--model", FETCHED, "--timeout", "30") as memory:
        text = memory.refuse("store_memory", content="x")
        assert text.startswith("Embedding service not ready. The model failed to load: ")
        status = memory.ask("get_status")
        assert (status["status"], status["embedding"]["status"]) == ("degraded", "error")
        assert "could not be fetched" in status["embedding"]["error"]
        assert memory.refuse("search", query="x").startswith("Embedding service not ready")
        works_without_a_model(memory)
        assert memory.ask("list_memories")["total"] == 0


def wait_until_open(memory: Memory) -> None:
    for _ in range(30):
        result = memory.call("get_status")
        if not result.is_error:
            return
    raise AssertionError(result)
