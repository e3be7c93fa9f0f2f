"""Does the server present itself as the contract says, to the letter?"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.harness import Lines, Memory

SPEC: dict[str, Any] = json.loads(Path(__file__).with_name("engine_spec.json").read_text(encoding="utf-8"))
CODE_TOOLS = {"index_project", "search_code", "get_index_status", "list_projects", "delete_project"}
SERVED = [tool for tool in SPEC["tools"] if tool["name"] not in CODE_TOOLS]

READ_ONLY = {
    "get_memory", "list_memories", "search", "search_text", "recall", "get_related", "get_valid",
    "get_valid_at", "get_status",
}  # fmt: skip
DESTRUCTIVE = {"update_memory", "delete_memory", "invalidate", "reset_all_memory"}
CREATING = {"store_memory", "create_entity", "create_relation"}


def test_the_specification_holds_21_tools_of_which_16_are_served() -> None:
    assert len(SPEC["tools"]) == 21
    assert len(SERVED) == 16


def test_tools_are_listed_in_the_order_of_the_specification(server: Memory) -> None:
    assert [tool.name for tool in server.tools()] == [tool["name"] for tool in SERVED]


@pytest.mark.parametrize("spec", SERVED, ids=lambda spec: spec["name"])
def test_a_tool_is_listed_word_for_word(server: Memory, spec: dict[str, Any]) -> None:
    [tool] = [tool for tool in server.tools() if tool.name == spec["name"]]
    assert tool.description == spec["description"]
    # As text and sorted, so that 1 and 1.0 or true and 1 do not pass for each other.
    assert json.dumps(tool.input_schema, sort_keys=True) == json.dumps(spec["inputSchema"], sort_keys=True)
    assert list(tool.input_schema["properties"]) == list(spec["inputSchema"]["properties"])


def test_annotations_say_what_a_tool_may_do(server: Memory) -> None:
    assert {tool["name"] for tool in SERVED} == READ_ONLY | DESTRUCTIVE | CREATING
    for tool in server.tools():
        hints = tool.annotations
        assert hints is not None
        assert hints.title
        assert hints.read_only_hint is (tool.name in READ_ONLY)
        assert hints.destructive_hint is (tool.name in DESTRUCTIVE)
        assert hints.idempotent_hint is (tool.name not in CREATING)
        assert hints.open_world_hint is False


def test_the_server_introduces_itself_as_specified(lines: Lines) -> None:
    hello = lines.shake_hands(protocolVersion=SPEC["server"]["protocolVersion"])
    assert hello == {
        "protocolVersion": SPEC["server"]["protocolVersion"],
        "capabilities": SPEC["server"]["capabilities"],
        "instructions": SPEC["server"]["instructions"],
        "serverInfo": {"name": SPEC["server"]["name"], "version": SPEC["server"]["version"]},
    }
