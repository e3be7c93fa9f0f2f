"""How do symbols and the map of a project look to a person?

As ``terminal``, for the tools of the set ``symbols``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memory_mcp.terminal import Painter

__all__ = ["show_map", "show_references", "show_symbols"]


def show_symbols(paint: Painter, reply: Mapping[str, Any]) -> None:
    """Definitions of find_symbol, best first."""
    results: Sequence[Mapping[str, Any]] = reply["results"]
    if not results:
        paint.line("Nothing found.")
    for result in results:
        paint.line(f"{paint.bold(_name(result))}  {result['kind']}  {paint.dim(_used(result['references']))}")
        paint.line(f"    {paint.dim(_place(result))}")
        paint.line(f"    {result['signature']}")
    if reply["total"] > len(results):
        paint.line(paint.dim(f"{len(results)} of {reply['total']:,}"))


def show_references(paint: Painter, reply: Mapping[str, Any]) -> None:
    """What get_callers and get_callees say, a line each, with the line that refers."""
    results: Sequence[Mapping[str, Any]] = reply["results"]
    if not reply["definitions"]:
        paint.line("No such definition.")
    elif not results:
        paint.line("No references.")
    for result in results:
        doubt = "" if result.get("certain", True) else "?"
        paint.line(f"{paint.bold(_name(result))}  {result['reference']}{doubt}  {paint.dim(_place(result))}")
        paint.line(f"    {result['line']}: {result['text']}")
    if reply["total"] > len(results):
        paint.line(paint.dim(f"{len(results)} of {reply['total']:,}"))


def show_map(paint: Painter, reply: Mapping[str, Any]) -> None:
    """The outline of project_map; paths stand out."""
    for line in reply["map"].split("\n"):
        paint.line(line if not line or line.startswith(" ") else paint.bold(line))
    shown, total = reply["definitions_shown"], reply["definitions_total"]
    files = f"{reply['files_shown']:,} of {reply['files_total']:,} files"
    paint.line(paint.dim(f"{shown:,} of {total:,} definitions in {files}, about {reply['tokens']:,} tokens"))


def _name(result: Mapping[str, Any]) -> str:
    return f"{result['scope']}.{result['name']}" if result["scope"] else str(result["name"])


def _place(result: Mapping[str, Any]) -> str:
    return f"{result['project_id']}  {result['file_path']}:{result['start_line']}-{result['end_line']}"


def _used(references: int) -> str:
    return "1 reference" if references == 1 else f"{references:,} references"
