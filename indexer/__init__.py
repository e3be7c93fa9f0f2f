"""WRITE: files go in, records come out. Imports ``retrieval``, never ``memory_mcp``."""
