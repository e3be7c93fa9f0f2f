"""Store, get, update, delete and list, as a client sees them."""

import re
from typing import Any

import pytest

from tests.contract.harness import Memory

RFC_3339_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def bare_id(memory: dict[str, Any]) -> str:
    assert memory["id"]["tb"] == "memories"
    return str(memory["id"]["id"]["String"])


def test_an_id_is_twenty_letters_and_digits(memory: Memory) -> None:
    reply = memory.ask("store_memory", content="The gate is blue")
    assert list(reply) == ["id"]
    assert re.fullmatch(r"[A-Za-z0-9]{20}", reply["id"])


def test_a_memory_comes_back_with_the_fields_of_the_contract(memory: Memory) -> None:
    key = memory.store("The gate is blue")
    found = memory.ask("get_memory", id=key)
    assert found["id"] == {"tb": "memories", "id": {"String": key}}
    for field in ("event_time", "ingestion_time", "valid_from"):
        assert RFC_3339_UTC.fullmatch(found.pop(field))
    assert found == {
        "id": {"tb": "memories", "id": {"String": key}},
        "content": "The gate is blue",
        "memory_type": "semantic",
        "valid_until": None,
        "importance_score": 1.0,
        "metadata": {},
    }


@pytest.mark.parametrize("memory_type", ["episodic", "semantic", "procedural"])
def test_a_memory_keeps_its_type_user_and_metadata(memory: Memory, memory_type: str) -> None:
    metadata = {"n": 1, "x": 0.5, "deep": [{"yes": True, "none": None}], "text": "žluťoučký 🐎"}
    key = memory.store("Ünïcödé 🐎", memory_type=memory_type, user_id="ada", metadata=metadata)
    found = memory.ask("get_memory", id=key)
    assert found["content"] == "Ünïcödé 🐎"
    assert (found["memory_type"], found["user_id"], found["metadata"]) == (memory_type, "ada", metadata)


def test_null_counts_as_not_given(memory: Memory) -> None:
    key = memory.store("Plain", memory_type=None, user_id=None, metadata=None)
    found = memory.ask("get_memory", id=key)
    assert (found["memory_type"], found["metadata"]) == ("semantic", {})
    assert "user_id" not in found


def test_the_table_may_stand_before_an_id(memory: Memory) -> None:
    key = memory.store("Named in full")
    assert memory.ask("get_memory", id=f"memories:{key}")["content"] == "Named in full"


@pytest.mark.parametrize("tool", ["get_memory", "update_memory", "delete_memory", "invalidate"])
def test_an_unknown_memory_is_named(memory: Memory, tool: str) -> None:
    assert memory.refuse(tool, id="abc123") == "Memory not found: abc123"


def test_an_update_changes_what_is_given_and_nothing_else(memory: Memory) -> None:
    key = memory.store("The gate is blue", memory_type="episodic", metadata={"seen": 1})
    before = memory.ask("get_memory", id=key)
    changed = memory.ask("update_memory", id=key, content="The gate is red")
    assert changed == before | {"content": "The gate is red"}
    changed = memory.ask("update_memory", id=key, memory_type="procedural", metadata={"seen": 2})
    assert changed == before | {
        "content": "The gate is red", "memory_type": "procedural", "metadata": {"seen": 2},
    }  # fmt: skip
    assert memory.ask("get_memory", id=key) == changed


def test_a_new_content_is_found_and_the_old_one_is_not(memory: Memory) -> None:
    key = memory.store("Zebras graze")
    memory.ask("update_memory", id=key, content="Penguins swim")
    assert memory.ask("search_text", query="zebras")["results"] == []
    assert memory.ask("search_text", query="penguins")["results"][0]["id"] == key
    assert memory.ask("search", query="birds in the water")["results"][0]["content"] == "Penguins swim"


def test_a_deleted_memory_is_gone_everywhere(memory: Memory) -> None:
    key = memory.store("Ephemeral walrus")
    assert memory.ask("delete_memory", id=key) == {"deleted": True}
    assert memory.refuse("get_memory", id=key) == f"Memory not found: {key}"
    assert memory.refuse("delete_memory", id=key) == f"Memory not found: {key}"
    for tool in ("search", "search_text", "recall"):
        assert memory.ask(tool, query="walrus")["results"] == []
    assert memory.ask("list_memories")["total"] == 0


def test_a_list_is_newest_first_in_pages(memory: Memory) -> None:
    keys = [memory.store(f"Entry {n}") for n in range(5)]
    page = memory.ask("list_memories", limit=2, offset=1)
    assert [bare_id(found) for found in page["memories"]] == [keys[3], keys[2]]
    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 1)
    assert memory.ask("list_memories", offset=99)["memories"] == []


def test_a_list_has_its_defaults(memory: Memory) -> None:
    assert memory.ask("list_memories") == {"memories": [], "total": 0, "limit": 20, "offset": 0}


def test_an_integer_may_be_written_as_a_float(memory: Memory) -> None:
    assert memory.ask("list_memories", limit=5.0, offset=0.0)["limit"] == 5
