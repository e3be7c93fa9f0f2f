"""What does the default contract promise?

``contract.json`` is what ``tools/list`` shows, ``tools`` what each tool takes and does, ``render`` what it
answers. ``symbols.json`` and ``symbol_tools`` are the same for a set of tools that is added on request.
"""

from collections.abc import Collection
from pathlib import Path

from memory_mcp.dialects import Dialect, extend_dialect, read_dialect
from memory_mcp.dialects.engine.tools import TOOLS

__all__ = ["engine_dialect"]


def engine_dialect(tool_sets: Collection[str] = ()) -> Dialect:
    """The contract of ``specs/engine.md``, and the tools of these sets (``settings.TOOL_SETS``)."""
    dialect = read_dialect(Path(__file__).with_name("contract.json"), TOOLS)
    if "symbols" in tool_sets:
        from memory_mcp.dialects.engine.symbol_tools import SYMBOL_TOOLS

        dialect = extend_dialect(dialect, Path(__file__).with_name("symbols.json"), SYMBOL_TOOLS)
    return dialect
