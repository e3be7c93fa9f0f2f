"""Does a newcomer fit the owner, and how do they tell each other?

The first line of a connection, before any MCP: who comes, with which settings. The answer is a welcome, or a
refusal in words for the person who started it.
"""

import hmac
import json
import socket
from dataclasses import asdict, dataclass
from typing import Self

import memory_mcp
from memory_mcp.settings import Settings

__all__ = ["KEY", "RETRY", "Hello", "read_answer", "receive_line", "refusal", "welcome"]

KEY = "memory-mcp/key"
"""Where a relay puts the key of a call (in ``params._meta``): the same key means the same call."""
RETRY = "memory-mcp/retry"
"""Set when a call may have been made before, by an owner that is gone."""


_LONGEST = 65_536
"""Bytes of a first line."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What decides whether two processes may share a data directory, and what the newcomer may see."""

    version: str
    model: str
    space: str
    user_id: str | None
    tools: tuple[str, ...]
    secret: str

    @classmethod
    def of(cls, settings: Settings, secret: str) -> Self:
        return cls(
            memory_mcp.__version__,
            settings.model,
            settings.space,
            settings.user_id,
            tuple(settings.tools),
            secret,
        )

    @classmethod
    def read(cls, line: bytes) -> Self | None:
        """The hello in a line; None if it is none."""
        try:
            value = json.loads(line)["memory-mcp"]
            hello = cls(**{**value, "tools": tuple(value["tools"])})
        except (ValueError, KeyError, TypeError):
            return None
        texts = (hello.version, hello.model, hello.space, hello.secret, *hello.tools)
        is_well_formed = all(isinstance(text, str) for text in texts)
        return hello if is_well_formed and isinstance(hello.user_id, str | None) else None

    def line(self) -> bytes:
        return json.dumps({"memory-mcp": asdict(self)}).encode() + b"\n"

    def knows(self, secret: str) -> bool:
        """Whether the newcomer read the owner's address. One that read the address of the owner before has
        another secret, gets no answer, and looks again."""
        return hmac.compare_digest(self.secret.encode(), secret.encode())

    def problem(self, owner: "Hello") -> str | None:
        """Why the owner cannot serve this newcomer; None if it can."""
        if self.version != owner.version:
            return (
                f"The data directory is in use by memory-mcp {owner.version}, and this is {self.version}. "
                "Close the windows that use the other one, or choose another --data-dir."
            )
        if self.space != owner.space:
            return f"The data directory is in use for space {owner.space!r}, and this is {self.space!r}."
        if self.model != owner.model:
            return (
                f"The data directory is in use with --model {owner.model}, and this was started with "
                f"--model {self.model}. Start it with --model {owner.model}, or choose another --data-dir."
            )
        return None


def welcome() -> bytes:
    """The answer to a newcomer that fits."""
    return b'{"memory-mcp":"welcome"}\n'


def refusal(problem: str) -> bytes:
    """The answer to one that does not."""
    return json.dumps({"memory-mcp": {"refused": problem}}).encode() + b"\n"


def receive_line(connection: socket.socket) -> bytes:
    """One line, byte by byte: what follows it is for another reader."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(line) > _LONGEST:
            raise OSError("no hello")
        line += byte
    return bytes(line)


def read_answer(line: bytes) -> str | None:
    """Why we were refused; None for a welcome. Raises ValueError for anything else."""
    answer = json.loads(line).get("memory-mcp")
    if answer == "welcome":
        return None
    if isinstance(answer, dict) and isinstance(answer.get("refused"), str):
        return str(answer["refused"])
    raise ValueError("not an answer of a memory-mcp")
