"""Does a server that serves one user keep to that user?"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.harness import Memory, connected


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A data directory with memories and entities of Ada, of Grace and of nobody, and their ids."""
    data_dir = tmp_path_factory.mktemp("users") / "data"
    ids: dict[str, Any] = {"data_dir": data_dir}
    with connected(data_dir) as memory:
        for user in ("ada", "grace", None):
            ids[f"memory of {user}"] = memory.store(f"Heron secret of {user}", user_id=user)
            ids[f"entity of {user}"] = memory.ask("create_entity", name=f"Heron {user}", user_id=user)["id"]
        memory.ask(
            "create_relation",
            from_entity=ids["entity of ada"], to_entity=ids["entity of grace"], relation_type="knows",
        )  # fmt: skip
    return ids


@pytest.fixture(scope="module")
def ada(seeded: dict[str, Any]) -> Iterator[Memory]:
    data_dir: Path = seeded["data_dir"]
    with connected(data_dir, "--user-id", "ada") as memory:
        yield memory


@pytest.mark.parametrize("tool", ["search", "search_text", "recall"])
def test_questions_find_the_users_own_memories(ada: Memory, tool: str) -> None:
    found = {row["content"] for row in ada.ask(tool, query="heron secret")["results"]}
    assert "Heron secret of ada" in found
    assert not {"Heron secret of grace", "Heron secret of None"} & found


def test_lists_hold_the_users_own_memories(ada: Memory) -> None:
    later = {"timestamp": "2999-01-01T00:00:00Z"}
    for tool, arguments, key in (
        ("list_memories", {}, "memories"), ("get_valid", {}, "results"), ("get_valid_at", later, "results"),
    ):  # fmt: skip
        assert {row["user_id"] for row in ada.ask(tool, **arguments)[key]} == {"ada"}


def test_a_memory_of_another_does_not_exist(ada: Memory, seeded: dict[str, Any]) -> None:
    for owner in ("grace", None):
        key = seeded[f"memory of {owner}"]
        for tool in ("get_memory", "update_memory", "delete_memory", "invalidate"):
            assert ada.refuse(tool, id=key) == f"Memory not found: {key}"


def test_an_entity_of_another_does_not_exist(ada: Memory, seeded: dict[str, Any]) -> None:
    other, own = seeded["entity of grace"], seeded["entity of ada"]
    assert ada.refuse("get_related", entity_id=other) == f"Entity not found: {other}"
    assert ada.ask("get_related", entity_id=own, direction="both")["entity_count"] == 0
    assert (
        ada.refuse("create_relation", from_entity=own, to_entity=other, relation_type="r")
        == f"Entity not found: {other}"
    )


def test_another_user_cannot_be_named(ada: Memory) -> None:
    for tool, arguments in (
        ("store_memory", {"content": "x"}), ("create_entity", {"name": "x"}), ("get_valid", {}),
        ("get_valid_at", {"timestamp": "2026-01-06T12:00:00Z"}),
    ):  # fmt: skip
        assert ada.refuse(tool, user_id="grace", **arguments).startswith("Invalid user_id: ")


def test_what_is_stored_belongs_to_the_user(ada: Memory) -> None:
    key = ada.store("Of Ada by default")
    assert ada.ask("get_memory", id=key)["user_id"] == "ada"
    key = ada.store("Of Ada by name", user_id="ada")
    assert ada.ask("get_memory", id=key)["user_id"] == "ada"
