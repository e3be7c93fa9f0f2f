"""How does one talk to an MCP server without a library in between that would cost time of its own?"""

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["Talk"]

_ROOT = Path(__file__).resolve().parents[1]
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Talk:
    """A server process and the lines exchanged with it. ``begin`` is the moment before it was started."""

    def __init__(self, command: Sequence[str]) -> None:
        self.begin = time.perf_counter()
        self._process = subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._last = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def greet(self) -> list[Any]:
        """Shake hands and return the tools. All is sent at once, as by a client in a hurry."""
        self._send({"id": self._next(), "method": "initialize", "params": _HELLO})
        hello = self._receive(self._last)
        self._send({"method": "notifications/initialized"})
        assert "result" in hello, hello
        tools: list[Any] = self._ask("tools/list", {})["tools"]
        return tools

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; a tool error is an error."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result

    def seconds(self) -> float:
        """Since the process was started."""
        return time.perf_counter() - self.begin

    def end(self) -> int:
        """Leave as clients do, by closing standard input; returns the exit code."""
        _, complaints = self._process.communicate(timeout=60)
        if self._process.returncode:
            raise RuntimeError(f"server ended with {self._process.returncode}: {complaints.decode()[-2000:]}")
        return self._process.returncode

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._send({"id": self._next(), "method": method, "params": params})
        answer = self._receive(self._last)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> int:
        self._last += 1
        return self._last

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _receive(self, number: int) -> dict[str, Any]:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == number:
                return message
        _, complaints = self._process.communicate()
        code = self._process.returncode
        raise RuntimeError(f"the server left without an answer (code {code}): {complaints.decode()[-2000:]}")
