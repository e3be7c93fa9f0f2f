"""``python -m memory_mcp`` is ``memory-mcp``."""

from memory_mcp.start import main

if __name__ == "__main__":
    raise SystemExit(main())
