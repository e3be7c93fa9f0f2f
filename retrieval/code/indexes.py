"""Which indexes does code have?

The same channels as memories, over chunks, and a catalog of its own. A project is to a chunk what a user is
to a memory: ``Scope(space, project)`` is one project, ``Scope(space)`` all of them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from retrieval.channels.dense import Dense
from retrieval.channels.lexical import Lexical
from retrieval.code.catalog import CodeCatalog
from retrieval.records import CodeChunk
from retrieval.shelf import Shelf
from retrieval.store.changes import Follower

__all__ = ["CodeIndexes"]


@dataclass(frozen=True, slots=True)
class CodeIndexes:
    """What is derived from the chunks in the store."""

    catalog: CodeCatalog
    shelf: Shelf[CodeChunk]
    dense: Dense
    lexical: Lexical

    @classmethod
    def open(cls, folder: Path, dimensions: int) -> Self:
        """Load what is on disk."""
        return cls(
            CodeCatalog.open(folder / "catalog.arrays"),
            Shelf.open(folder / "shelf.arrays", CodeChunk, "chunks"),
            Dense.open(folder / "dense.arrays", dimensions, table="chunks"),
            Lexical.open(folder / "lexical", "chunks"),
        )

    def followers(self) -> tuple[Follower, ...]:
        return (self.catalog, self.shelf, self.dense, self.lexical)
