"""In whose words do we speak?

A dialect is a contract: the tools with the names and schemas of its specification, an argument model and
a short handler for each. Dialects share the engine and know nothing of each other or of the protocol.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_mcp.dialects.arguments import Arguments, parse

if TYPE_CHECKING:  # the engine is imported after the first answer, not before it
    from memory_mcp.engine.engine import Engine

__all__ = ["Dialect", "Reply", "Tool", "read_dialect"]

Reply = dict[str, Any]
"""What a tool answers, as JSON values."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What runs when a tool is called: the arguments are checked, then handed to the handler.

    Handlers are plain blocking functions; the engine may be used from any thread.
    """

    arguments: type[Arguments]
    handler: "Callable[[Engine, Any], Reply]"

    def call(self, engine: "Engine", given: Mapping[str, Any]) -> Reply:
        """Check the arguments, run the handler."""
        return self.handler(engine, parse(self.arguments, given))


@dataclass(frozen=True, slots=True)
class Dialect:
    """One contract. ``listing`` is what ``tools/list`` presents, word for word as specified."""

    name: str
    version: str
    instructions: str
    listing: tuple[Mapping[str, Any], ...]
    tools: Mapping[str, Tool]


def read_dialect(contract: Path, tools: Mapping[str, Tool]) -> Dialect:
    """Join a contract file with the tools that fulfil it; every listed tool must have one."""
    text = json.loads(contract.read_text(encoding="utf-8"))
    listed = [row["name"] for row in text["tools"]]
    if sorted(listed) != sorted(tools):
        raise ValueError(f"{contract} lists {listed}, but the tools are {list(tools)}")
    return Dialect(
        name=text["name"],
        version=text["version"],
        instructions=text["instructions"],
        listing=tuple(text["tools"]),
        tools=tools,
    )
