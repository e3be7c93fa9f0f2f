"""Does the server present itself as the contract says, to the letter?"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.harness import Lines, Memory

SPEC: dict[str, Any] = json.loads(Path(__file__).with_name("engine_spec.json").read_text(encoding="utf-8"))
TOOLS: list[dict[str, Any]] = SPEC["tools"]

READ_ONLY = {
    "get_memory", "list_memories", "search", "search_text", "recall", "get_related", "get_valid",
    "get_valid_at", "get_status", "search_code", "get_index_status", "list_projects",
}  # fmt: skip
DESTRUCTIVE = {"update_memory", "delete_memory", "invalidate", "reset_all_memory", "delete_project"}
CREATING = {"store_memory", "create_entity", "create_relation", "index_project"}
IDEMPOTENT = READ_ONLY | DESTRUCTIVE | {"index_project"}
"""Doing it twice is like doing it once: an index is brought up to date."""


def test_the_specification_holds_21_tools() -> None:
    assert len(TOOLS) == 21


def test_tools_are_listed_in_the_order_of_the_specification(server: Memory) -> None:
    assert [tool.name for tool in server.tools()] == [tool["name"] for tool in TOOLS]


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec["name"])
def test_a_tool_is_listed_word_for_word(server: Memory, spec: dict[str, Any]) -> None:
    [tool] = [tool for tool in server.tools() if tool.name == spec["name"]]
    assert tool.description == spec["description"]
    # As text and sorted, so that 1 and 1.0 or true and 1 do not pass for each other.
    assert json.dumps(tool.input_schema, sort_keys=True) == json.dumps(spec["inputSchema"], sort_keys=True)
    assert list(tool.input_schema["properties"]) == list(spec["inputSchema"]["properties"])


def test_annotations_say_what_a_tool_may_do(server: Memory) -> None:
    assert {tool["name"] for tool in TOOLS} == READ_ONLY | DESTRUCTIVE | CREATING
    for tool in server.tools():
        hints = tool.annotations
        assert hints is not None
        assert hints.title
        assert hints.read_only_hint is (tool.name in READ_ONLY)
        assert hints.destructive_hint is (tool.name in DESTRUCTIVE)
        assert hints.idempotent_hint is (tool.name in IDEMPOTENT)
        assert hints.open_world_hint is False


def test_the_server_introduces_itself_as_specified(lines: Lines) -> None:
    hello = lines.shake_hands(protocolVersion=SPEC["server"]["protocolVersion"])
    assert hello == {
        "protocolVersion": SPEC["server"]["protocolVersion"],
        "capabilities": SPEC["server"]["capabilities"],
        "instructions": SPEC["server"]["instructions"],
        "serverInfo": {"name": SPEC["server"]["name"], "version": SPEC["server"]["version"]},
    }
