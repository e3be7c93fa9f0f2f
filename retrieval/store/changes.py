"""What happened to the records, in order?

Every write to the database appends to its ``changes`` log in the same transaction. The derived
indexes follow that log: they apply each change once, remember how far they came, and can always be
thrown away and built again from the records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.records import CodeChunk, Entity, Memory, Relation, Vector

__all__ = ["Change", "Checkpoint", "Deleted", "Embedded", "Follower", "Record"]


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is left of a deleted record: enough for an index to forget it."""

    table: str
    id: str
    row: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """A record that is as it was, but for the vector that has come."""

    table: str
    row: int


Record = Memory | Entity | Relation | CodeChunk

_TABLES: dict[type, str] = {
    Memory: "memories",
    Entity: "entities",
    Relation: "relations",
    CodeChunk: "chunks",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One record as it is after the change with number ``seq``.

    ``vector`` is set for memories and chunks that have one. Applying a change twice must be harmless: after a
    crash an index may see again what it had already taken in.
    """

    seq: int
    record: Record | Deleted | Embedded
    vector: Vector | None = None

    @property
    def table(self) -> str:
        """Where the record lives or lived."""
        record = self.record
        return record.table if isinstance(record, Deleted | Embedded) else _TABLES[type(record)]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far an index on disk has come (``seq``), and in which database (``database``)."""

    database: str
    seq: int


class Follower(Protocol):
    """An index derived from the records."""

    @property
    def name(self) -> str:
        """Names the index in logs and in ``get_status``."""
        ...

    @property
    def checkpoint(self) -> Checkpoint | None:
        """What the files on disk cover; None when there are none that can be trusted."""
        ...

    def apply(self, changes: Sequence[Change]) -> None:
        """Take in changes; what they say is found by the next search."""
        ...

    def save(self, checkpoint: Checkpoint) -> None:
        """Write to disk everything applied so far, then the checkpoint, atomically and in that order."""
        ...

    def clear(self) -> None:
        """Forget everything, in memory and on disk."""
        ...

    def close(self) -> None:
        """Release files and threads; nothing is written."""
        ...
