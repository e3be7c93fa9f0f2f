"""In whose words do we speak?

A dialect is a contract: the tools with the names and schemas of its specification, an argument model and
a short handler for each. Dialects share the engine and know nothing of each other or of the protocol.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_mcp.dialects.arguments import Arguments, parse

if TYPE_CHECKING:  # the engine is imported after the first answer, not before it
    from memory_mcp.engine.engine import Engine

__all__ = ["Call", "Dialect", "Reply", "Tool", "extend_dialect", "read_dialect"]

Reply = dict[str, Any]
"""What a tool answers, as JSON values."""


@dataclass(frozen=True, slots=True)
class Call:
    """The caller of a long tool: whom to tell how far it is (done, of how many), and whether to go on."""

    report: Callable[[int, int], None] = lambda *_: None
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Tool:
    """What runs when a tool is called: the arguments are checked, then handed to the handler.

    Handlers are plain blocking functions; the engine may be used from any thread. One that takes long is
    given the call as well, and can be stopped.
    """

    arguments: type[Arguments]
    handler: "Callable[[Engine, Any], Reply] | Callable[[Engine, Any, Call], Reply]"
    is_long: bool = False

    def call(self, engine: "Engine", given: Mapping[str, Any], call: Call = Call()) -> Reply:
        """Check the arguments, run the handler."""
        return self.run(engine, parse(self.arguments, given), call)

    def run(self, engine: "Engine", arguments: Arguments, call: Call = Call()) -> Reply:
        """Run the handler on arguments that were checked."""
        handler: Callable[..., Reply] = self.handler
        return handler(engine, arguments, call) if self.is_long else handler(engine, arguments)


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
    text = _read(contract, tools)
    return Dialect(
        name=text["name"],
        version=text["version"],
        instructions=text["instructions"],
        listing=tuple(text["tools"]),
        tools=tools,
    )


def extend_dialect(dialect: Dialect, contract: Path, tools: Mapping[str, Tool]) -> Dialect:
    """The same dialect with the tools of an opt-in set behind its own."""
    listing = (*dialect.listing, *_read(contract, tools)["tools"])
    return replace(dialect, listing=listing, tools={**dialect.tools, **tools})


def _read(contract: Path, tools: Mapping[str, Tool]) -> dict[str, Any]:
    text: dict[str, Any] = json.loads(contract.read_text(encoding="utf-8"))
    listed = [row["name"] for row in text["tools"]]
    if sorted(listed) != sorted(tools):
        raise ValueError(f"{contract} lists {listed}, but the tools are {list(tools)}")
    return text
