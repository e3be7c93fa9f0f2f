"""What does the default contract promise?

``contract.json`` is what ``tools/list`` shows, ``tools`` what each tool takes and does, ``render`` what it
answers.
"""

from pathlib import Path

from memory_mcp.dialects import Dialect, read_dialect
from memory_mcp.dialects.engine.tools import TOOLS

__all__ = ["engine_dialect"]


def engine_dialect() -> Dialect:
    """The contract of ``specs/engine.md``."""
    return read_dialect(Path(__file__).with_name("contract.json"), TOOLS)
