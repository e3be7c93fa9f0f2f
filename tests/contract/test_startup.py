"""How long until the list of tools, against an empty server of the same library?"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.contract.harness import INITIALIZE, PATIENCE, command, environment

EMPTY = """
import anyio, mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    return mcp_types.ListToolsResult(tools=[])

async def main():
    server = Server("empty", version="0", on_list_tools=list_tools)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())

anyio.run(main)
"""

ROUNDS = 10
MOST = 1.5


def seconds_to_tools(program: list[str], cwd: Path) -> float:
    messages: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    begin = time.perf_counter()
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), cwd=cwd
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            if "id" in message:
                assert b"result" in process.stdout.readline()
        seconds = time.perf_counter() - begin
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    return seconds


@pytest.mark.slow
def test_the_tools_are_listed_nearly_as_soon_as_by_an_empty_server(tmp_path: Path) -> None:
    ours, empty = [], []
    for _ in range(ROUNDS):  # in turn, so that a busy machine is unfair to both alike
        ours.append(seconds_to_tools(command(tmp_path / "data"), tmp_path))
        empty.append(seconds_to_tools([sys.executable, "-c", EMPTY], tmp_path))
    assert statistics.median(ours) <= MOST * statistics.median(empty)
