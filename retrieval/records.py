"""What is a memory, an entity, a relation, and who may see it?

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
    "Entity",
    "Memory",
    "MemoryType",
    "Ranking",
    "Relation",
    "Rows",
    "Scope",
    "Scores",
    "Vector",
]

MemoryType = Literal["episodic", "semantic", "procedural"]
MEMORY_TYPES: tuple[MemoryType, ...] = ("episodic", "semantic", "procedural")

Vector = NDArray[np.float32]
"""One embedding of unit length."""

Rows = NDArray[np.int64]
"""Row numbers: the small integers by which indexes know memories (``Memory.row``)."""

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
