"""READ: a query goes in, ranked hits come out.

Holds the records, the store they live in, the encoder, the three channels (dense, lexical, graph)
and their fusion. Imports neither ``indexer`` nor ``memory_mcp``.
"""
