"""SPEAK: MCP and people in, engine, answers out."""

__version__ = "0.1.0"
