"""How do tests speak to the server as a client does: in another process, over its standard streams?"""

import functools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
"""Seconds a test waits for a reply or an end before it counts as stuck."""

FETCHED = "arctic_xs"
"""A model that is not on the machine, of the default model's width."""

INITIALIZE: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "0"},
}


def command(data_dir: Path, *flags: str) -> list[str]:
    return [sys.executable, "-m", "memory_mcp", "serve", "--data-dir", str(data_dir), *flags]


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_MCP_")}
    return kept | {"PYTHONPATH": str(ROOT)}


def an_error(result: types.CallToolResult) -> str:
    """The text of a tool error, which must be one, and say nothing else."""
    assert result.is_error is True, result
    assert result.structured_content is None
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def until(true: Callable[[], Any], every: float = 0.02) -> Any:
    """Ask again and again, a bounded while, until the answer is a yes; the answer."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if answer := true():
            return answer
        threading.Event().wait(every)
    raise AssertionError("it does not come true")


class Memory:
    """A real MCP client, usable from plain functions."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def call(self, tool: str, /, **arguments: Any) -> types.CallToolResult:
        result: types.CallToolResult = self._portal.call(self.client.call_tool, tool, arguments)
        return result

    def follow(self, tool: str, /, **arguments: Any) -> list[tuple[float, float | None]]:
        """The progress that is reported during a call that must succeed."""
        seen: list[tuple[float, float | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        call = functools.partial(self.client.call_tool, tool, arguments, progress_callback=note)
        result: types.CallToolResult = self._portal.call(call)
        assert not result.is_error, result
        return seen

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The reply of a call that must succeed; its text and its structure must say the same."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result
        [content] = result.content
        assert isinstance(content, types.TextContent)
        assert isinstance(result.structured_content, dict)
        assert json.loads(content.text) == result.structured_content
        return result.structured_content

    def refuse(self, tool: str, /, **arguments: Any) -> str:
        """The error text of a call that must fail."""
        return an_error(self.call(tool, **arguments))

    def store(self, content: str, **arguments: Any) -> str:
        return str(self.ask("store_memory", content=content, **arguments)["id"])

    def tools(self) -> list[types.Tool]:
        return self._portal.call(self.client.list_tools).tools


@contextmanager
def connected(data_dir: Path, *flags: str, mode: str = "legacy") -> Iterator[Memory]:
    program, *arguments = command(data_dir, *flags)
    server = StdioServerParameters(command=program, args=arguments, env=environment(), cwd=data_dir.parent)
    client = Client(server, mode=mode, read_timeout_seconds=PATIENCE)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Memory(portal, client)


class Lines:
    """The same server, spoken to line by line: for what a well-behaved client cannot send."""

    def __init__(self, data_dir: Path, *flags: str) -> None:
        self.data_dir = data_dir
        self.process = subprocess.Popen(
            command(data_dir, *flags),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            cwd=data_dir.parent,
        )
        self.errors = b""
        self._replies: queue.Queue[bytes] = queue.Queue()
        self._next_id = 0
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.ended()

    def shake_hands(self, **params: Any) -> dict[str, Any]:
        result = self.request("initialize", INITIALIZE | params)["result"]
        self.notify("notifications/initialized")
        return dict(result)

    def line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        self.line(json.dumps(message).encode("ascii"))

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def post(self, method: str, params: Any = None) -> int:
        """Send a request without waiting for its reply; its id."""
        self._next_id += 1
        given = {} if params is None else {"params": params}
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, **given})
        return self._next_id

    def reply(self) -> dict[str, Any]:
        return dict(json.loads(self._replies.get(timeout=PATIENCE)))

    def request(self, method: str, params: Any = None) -> dict[str, Any]:
        sent = self.post(method, params)
        reply = self.reply()
        assert reply["id"] == sent
        return reply

    def call(self, tool: str, /, **arguments: Any) -> types.CallToolResult:
        reply = self.request("tools/call", {"name": tool, "arguments": arguments})
        return types.CallToolResult.model_validate(reply["result"])

    def rest(self) -> list[dict[str, Any]]:
        """The replies that nobody has read yet, once the server has ended."""
        return [json.loads(self._replies.get_nowait()) for _ in range(self._replies.qsize())]

    def leave(self) -> int:
        """Close the server's input; its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        """Wait for the end; the exit code."""
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                with suppress(BrokenPipeError):  # something was said after the end
                    stream.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._replies.put(line)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()
