"""What does a server cost that can do nothing? It has no tools and answers ``tools/list`` with none."""

from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

__all__ = ["main"]


async def _list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[])


async def main() -> None:
    """Serve on standard input and output until the client leaves."""
    server = Server[Any]("empty", version="0", on_list_tools=_list_tools)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
