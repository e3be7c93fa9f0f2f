"""What do the tools about symbols take, whom do they ask, and what do they answer?

An opt-in set (``--tools symbols``); as in ``tools``, the engine is imported by whoever opens it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from memory_mcp.dialects import Reply, Tool
from memory_mcp.dialects.arguments import Arguments, Whole

if TYPE_CHECKING:
    from indexer.project_map import ProjectMap
    from indexer.symbol_graph import Symbol
    from memory_mcp.engine.engine import Engine
    from memory_mcp.engine.symbols import Found, FoundSymbol, Reference, References

__all__ = ["SYMBOL_TOOLS"]


class FindArgs(Arguments):
    """A name, and where to look for it."""

    name: str
    project_id: str | None = None
    kind: str | None = None
    limit: Annotated[Whole, Field(ge=1, le=50)] = 20


class ReferenceArgs(Arguments):
    """A definition by its name, and if that is not enough by its file."""

    name: str
    project_id: str | None = None
    file_path: str | None = None
    limit: Annotated[Whole, Field(ge=1, le=200)] = 50


class MapArgs(Arguments):
    """A project, how much to say of it, and about what."""

    project_id: str
    token_budget: Annotated[Whole, Field(ge=100, le=32_000)] = 1024
    focus: str | None = None


def find_symbol(engine: "Engine", args: FindArgs) -> Reply:
    return _found(engine.symbols.find(args.name, args.limit, project=args.project_id, kind=args.kind))


def get_callers(engine: "Engine", args: ReferenceArgs) -> Reply:
    found = engine.symbols.callers(args.name, args.limit, project=args.project_id, path=args.file_path)
    return _references(found, [_caller(row) for row in found.references])


def get_callees(engine: "Engine", args: ReferenceArgs) -> Reply:
    found = engine.symbols.callees(args.name, args.limit, project=args.project_id, path=args.file_path)
    return _references(found, [_callee(row) for row in found.references])


def project_map(engine: "Engine", args: MapArgs) -> Reply:
    drawn = engine.symbols.map(args.project_id, args.token_budget, args.focus)
    return _map(drawn, args.project_id) | ({"focus_matches": drawn.matches} if args.focus else {})


def _found(found: "Found") -> Reply:
    results = [_symbol(one) for one in found.symbols]
    return {"results": results, "count": len(results), "total": found.total}


def _references(found: "References", results: list[Reply]) -> Reply:
    return {
        "definitions": [_symbol(one) for one in found.definitions],
        "results": results,
        "count": len(results),
        "total": found.total,
    }


def _caller(row: "Reference") -> Reply:
    """Who refers, how and where; without a target if several definitions may be meant."""
    from indexer.symbol_graph import Link

    target = row.link.target if isinstance(row.link, Link) else None
    return {
        **_place(row.project, row.link.source),
        "reference": row.link.kind,
        "line": row.line,
        "text": row.text,
        "certain": target is not None,
        "target": None if target is None else _end(target),
    }


def _callee(row: "Reference") -> Reply:
    """What is referred to, and by whom, how and where."""
    from indexer.symbol_graph import Link

    assert isinstance(row.link, Link)
    return {
        **_place(row.project, row.link.target),
        "signature": row.signature,
        "reference": row.link.kind,
        "line": row.line,
        "text": row.text,
        "source": _end(row.link.source),
    }


def _map(drawn: "ProjectMap", project: str) -> Reply:
    return {
        "project_id": project,
        "map": drawn.text,
        "tokens": drawn.tokens,
        "files_shown": len(drawn.paths),
        "files_total": drawn.total_files,
        "definitions_shown": drawn.definitions,
        "definitions_total": drawn.total_definitions,
    }


def _symbol(one: "FoundSymbol") -> Reply:
    return {
        **_place(one.project, one.symbol),
        "signature": one.signature,
        "references": one.references,
    }


def _place(project: str, symbol: "Symbol") -> Reply:
    definition = symbol.definition
    return {
        "name": definition.name,
        "kind": definition.kind,
        "scope": definition.scope or None,
        "file_path": symbol.path,
        "start_line": definition.start_line,
        "end_line": definition.end_line,
        "project_id": project,
    }


def _end(symbol: "Symbol") -> Reply:
    """The definition that was asked about, as much of it as tells it from others of its name."""
    return {
        "name": symbol.place.name or symbol.definition.name,
        "file_path": symbol.path,
        "start_line": symbol.definition.start_line,
    }


SYMBOL_TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        "find_symbol": Tool(FindArgs, find_symbol),
        "get_callers": Tool(ReferenceArgs, get_callers),
        "get_callees": Tool(ReferenceArgs, get_callees),
        "project_map": Tool(MapArgs, project_map),
    }
)
"""Every tool of the set, by name."""
