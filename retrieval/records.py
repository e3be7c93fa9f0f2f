"""What is a memory, an entity, a relation, a piece of code, and who may see it?

Plain values: frozen, comparable, free of behaviour that needs a database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MEMORY_TYPES",
    "CodeChunk",
    "Entity",
    "Memory",
    "MemoryType",
    "Project",
    "ProjectStatus",
    "Ranking",
    "Relation",
    "Rows",
    "Scope",
    "Scores",
    "SourceFile",
    "Vector",
]

MemoryType = Literal["episodic", "semantic", "procedural"]
MEMORY_TYPES: tuple[MemoryType, ...] = ("episodic", "semantic", "procedural")

Vector = NDArray[np.float32]
"""One embedding of unit length."""

Rows = NDArray[np.int64]
"""Row numbers: the small integers by which indexes know records of one table (``Memory.row``)."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which part of the store a caller reads and writes: a space and, within it, one user or all."""

    space: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing worth remembering. Times are timezone-aware UTC.

    ``row`` is given by the database when the memory is created, never reused and never changed;
    every derived index uses it in place of the id.
    """

    id: str
    row: int
    content: str
    memory_type: MemoryType
    space: str
    user_id: str | None
    metadata: Mapping[str, Any]
    importance: float
    event_time: datetime
    ingestion_time: datetime
    updated_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    invalidation_reason: str | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing in the knowledge graph. ``row`` as for memories, in a number space of its own."""

    id: str
    row: int
    name: str
    entity_type: str | None
    description: str | None
    space: str
    user_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed, weighted edge between two entities."""

    id: str
    from_entity: str
    to_entity: str
    relation_type: str
    weight: float
    space: str
    user_id: str | None
    created_at: datetime


ProjectStatus = Literal["pending", "indexing", "completed", "failed"]


@dataclass(frozen=True, slots=True)
class Project:
    """A folder whose code is indexed. ``id`` is readable; ``skipped`` counts files left out, by reason."""

    id: str
    space: str
    root: str
    watch: bool
    status: ProjectStatus
    started_at: datetime
    completed_at: datetime | None = None
    total_files: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a project as it was when it was last read.

    An equal ``stamp`` (size, times, inode) means an equal content if the file was ``settled`` then;
    otherwise ``digest`` decides. ``symbols`` is the indexer's own note of what it defines and refers to;
    ``problem`` says why a file has no chunks.
    """

    project: str
    path: str
    language: str
    stamp: tuple[int, ...]
    settled: bool
    digest: str
    symbols: bytes
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class CodeChunk:
    """A stretch of a source file that is found as one. Lines count from 1, ``end_line`` is its last.

    ``digest`` names what is embedded of it: equal ones share a vector, in whatever file or project.
    """

    id: str
    row: int
    space: str
    project: str
    path: str
    language: str
    chunk_type: str
    name: str
    breadcrumb: str
    start_line: int
    end_line: int
    digest: str
    content: str


def _no_rows() -> Rows:
    return np.empty(0, dtype=np.int64)


def _no_scores() -> Scores:
    return np.empty(0, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a channel found: rows with their scores, best first."""

    rows: Rows = field(default_factory=_no_rows)
    scores: Scores = field(default_factory=_no_scores)

    def __len__(self) -> int:
        return len(self.rows)
