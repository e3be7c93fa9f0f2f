"""Which versions of the protocol do we speak, and how?"""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from tests.contract.harness import INITIALIZE, Lines, connected

STRUCTURED_SINCE = "2025-06-18"


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_the_clients_version_is_honoured(lines: Lines, version: str) -> None:
    assert lines.shake_hands(protocolVersion=version)["protocolVersion"] == version
    assert len(lines.request("tools/list")["result"]["tools"]) == 21
    result = lines.request("tools/call", {"name": "get_valid", "arguments": {}})["result"]
    assert json.loads(result["content"][0]["text"]) == {"results": [], "count": 0}
    assert result["isError"] is False
    # Older clients do not know structured content; the text tells them the same.
    assert ("structuredContent" in result) is (version >= STRUCTURED_SINCE)
    refused = lines.request("tools/call", {"name": "get_memory", "arguments": {"id": "x"}})["result"]
    assert refused == {"content": [{"type": "text", "text": "Memory not found: x"}], "isError": True}


@pytest.mark.parametrize("version", ["1999-01-01", "2999-01-01", "nonsense", LATEST_MODERN_VERSION])
def test_an_unknown_version_is_answered_with_the_newest_handshake(lines: Lines, version: str) -> None:
    assert lines.shake_hands(protocolVersion=version)["protocolVersion"] == LATEST_HANDSHAKE_VERSION


def test_the_oldest_version_is_that_of_the_contract() -> None:
    assert HANDSHAKE_PROTOCOL_VERSIONS[0] == "2024-11-05"


def test_a_client_without_a_handshake_is_served(tmp_path: Path) -> None:
    """The newest protocol has none: each request says which version it speaks."""
    with connected(tmp_path / "data", mode="auto") as memory:
        assert memory.client.protocol_version == LATEST_MODERN_VERSION
        assert memory.client.instructions is not None
        assert memory.client.instructions.endswith("21 tools available.")
        assert memory.client.server_info is not None
        assert memory.client.server_info.name == "memory-mcp"
        assert len(memory.tools()) == 21
        key = memory.store("Spoken without a handshake")
        assert memory.ask("get_memory", id=key)["valid_until"] is None
        assert memory.refuse("get_memory", id="x") == "Memory not found: x"


def test_calls_run_side_by_side(lines: Lines) -> None:
    """Every request gets its own answer, in whatever order."""
    lines.shake_hands()
    sent: dict[int, str] = {}
    for n in range(40):
        call: dict[str, Any] = {"name": "store_memory", "arguments": {"content": f"Side by side {n}"}}
        sent[lines.post("tools/call", call)] = f"Side by side {n}"
    ids: dict[str, str] = {}
    while sent:
        reply = lines.reply()
        ids[reply["result"]["structuredContent"]["id"]] = sent.pop(reply["id"])
    assert len(ids) == 40
    for key, content in ids.items():
        found = lines.call("get_memory", id=key).structured_content
        assert isinstance(found, dict)
        assert found["content"] == content


def test_a_cancelled_call_is_not_answered_and_nothing_else_suffers(lines: Lines) -> None:
    lines.shake_hands()
    call = {"name": "store_memory", "arguments": {"content": "Never mind"}}
    cancelled = lines.post("tools/call", call)
    lines.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}})
    ping = lines.post("ping")
    answered = {lines.reply()["id"]}
    if answered == {cancelled}:  # it was faster than the cancellation
        answered = {lines.reply()["id"]}
    assert answered == {ping}
    assert lines.leave() == 0


def test_nothing_is_served_before_the_handshake(lines: Lines) -> None:
    assert "error" in lines.request("tools/list")
    assert lines.request("initialize", INITIALIZE)["result"]["protocolVersion"] == "2025-06-18"
