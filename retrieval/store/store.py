"""Which records are there, and how do they change?

The only home of SurrealQL beside the schema. Every write is one transaction that also counts the
records, takes the next ``seq`` and appends what it touched to the ``changes`` log, so a follower of
that log can never miss a record or see half of a write.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from retrieval.records import CodeChunk, Entity, Memory, Relation, Vector
from retrieval.store.changes import Change, Checkpoint, Deleted, Record
from retrieval.store.code import CodeStore
from retrieval.store.log import write
from retrieval.store.rows import to_record, to_row, vector_row
from retrieval.store.surreal import Connection

__all__ = ["Counts", "State", "Store", "Table"]

Table = Literal["memories", "entities", "relations", "chunks"]

_PAGE = 2_000
"""Records read at a time by scans: decoding is Python, and a page must not hold the lock for long."""

_KINDS: dict[Table, type[Record]] = {
    "memories": Memory,
    "entities": Entity,
    "relations": Relation,
    "chunks": CodeChunk,
}


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records there are, kept by the writing transactions (counting a table reads all of it)."""

    memories: int
    entities: int
    relations: int
    chunks: int = 0

    @property
    def total(self) -> int:
        return self.memories + self.entities + self.relations + self.chunks


@dataclass(frozen=True, slots=True)
class State:
    """What the database says of itself.

    ``database`` names this set of records and changes with a reset; ``seq`` is the number of its last
    change, ``oldest`` the number before the first change still in the log; ``model`` made the vectors.
    """

    database: str
    seq: int
    oldest: int
    model: str | None
    dimensions: int | None
    counts: Counts

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(database=self.database, seq=self.seq)


class Store:
    """The records, in an embedded database."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self.code = CodeStore(connection)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open or create the store in ``folder``."""
        store = cls(Connection.open(folder))
        store._db.run(
            """
            IF (SELECT VALUE database FROM ONLY meta:state) = NONE {
                UPDATE meta:state SET database = rand::uuid::v4(), seq = 0, oldest = 0, memories = 0,
                    entities = 0, relations = 0, chunks = 0, memory_rows = 0, entity_rows = 0, chunk_rows = 0;
            };
            """
        )
        return store

    def close(self) -> None:
        self._db.close()

    # What there is

    def state(self) -> State:
        row = self._db.run("SELECT * FROM ONLY meta:state")[0]
        return State(
            database=str(row["database"]),
            seq=row["seq"],
            oldest=row["oldest"],
            model=row.get("model"),
            dimensions=row.get("dimensions"),
            counts=Counts(row["memories"], row["entities"], row["relations"], row["chunks"]),
        )

    def memories(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories that exist among ``ids``, in that order."""
        found = {memory.id: memory for memory in self._fetch("memories", ids, Memory)}
        return {key: found[key] for key in ids if key in found}

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """The entities that exist among ``ids``."""
        return {entity.id: entity for entity in self._fetch("entities", ids, Entity)}

    def chunks(self, ids: Sequence[str]) -> dict[str, CodeChunk]:
        """The chunks of code that exist among ``ids``."""
        return {chunk.id: chunk for chunk in self._fetch("chunks", ids, CodeChunk)}

    def relations(self, ids: Sequence[str]) -> dict[str, Relation]:
        """The relations that exist among ``ids``."""
        return {relation.id: relation for relation in self._fetch("relations", ids, Relation)}

    def relations_of(
        self, entity_ids: Sequence[str], *, outgoing: bool, incoming: bool, limit: int
    ) -> list[Relation]:
        """Relations that leave (``outgoing``) or reach (``incoming``) any of the entities, oldest first."""
        rows: dict[str, dict[str, Any]] = {}
        for wanted, column in ((outgoing, "from_entity"), (incoming, "to_entity")):
            if wanted:
                found = self._db.run(
                    f"SELECT * FROM relations WHERE {column} IN $ids LIMIT $limit",
                    ids=list(entity_ids),
                    limit=limit,
                )[0]
                rows.update((str(row["id"].id), row) for row in found)
        relations = [to_record(Relation, row) for row in rows.values()]
        return sorted(relations, key=lambda relation: (relation.created_at, relation.id))

    def vectors(self, ids: Sequence[str], model: str) -> dict[str, Vector]:
        """The vectors that ``model`` made for these memories."""
        if not ids:
            return {}
        rows = self._db.run(
            "SELECT * FROM $ids.map(|$id| type::record('vectors', [$id, $model]))", ids=list(ids), model=model
        )[0]
        return {row["id"].id[0]: np.frombuffer(row["values"], dtype="<f4") for row in rows}

    # How it changes

    def create_memories(
        self, memories: Sequence[Memory], vectors: NDArray[np.float32], model: str
    ) -> list[Change]:
        """Store new memories with their vectors; their rows are given here."""
        count = len(memories)
        if count == 0:
            return []
        written = write(
            self._db,
            """
            INSERT INTO memories $records.map(|$record, $i|
                object::extend($record, { row: $state.memory_rows - $new_memories + $i })) RETURN NONE;
            INSERT INTO vectors $vectors RETURN NONE;
            LET $touched = $records.map(|$record, $i|
                ['memories', $record.id, $state.memory_rows - $new_memories + $i]);
            """,
            memories=count,
            new_memories=count,
            records=[to_row(memory) for memory in memories],
            vectors=[
                vector_row(memory.id, model, vector) for memory, vector in zip(memories, vectors, strict=True)
            ],
        )
        first = written.memory_rows - count
        created = [replace(memory, row=first + i) for i, memory in enumerate(memories)]
        return [Change(written.seq, memory, vector) for memory, vector in zip(created, vectors, strict=True)]

    def update_memory(self, memory: Memory, vector: Vector | None, model: str) -> Change:
        """Replace a memory that exists; ``vector`` is None when the content, and so the vector, stays.

        A new content outdates the vectors of every model, also those that a re-embedding has prepared.
        """
        written = write(
            self._db,
            """
            IF (UPDATE ONLY type::record('memories', $id) CONTENT $record) = NONE { THROW 'memory is gone' };
            IF $vectors {
                DELETE vectors:[$id, NONE]..=[$id, ..];
                INSERT INTO vectors $vectors;
            };
            LET $touched = [['memories', $id, $row]];
            """,
            id=memory.id,
            row=memory.row,
            record=to_row(memory, keep_row=True),
            vectors=[] if vector is None else [vector_row(memory.id, model, vector)],
        )
        if vector is None:
            vector = self.vectors([memory.id], model).get(memory.id)
        return Change(written.seq, memory, vector)

    def delete_memory(self, memory: Memory) -> Change:
        """Remove a memory and every vector made for it."""
        written = write(
            self._db,
            """
            IF array::len(DELETE type::record('memories', $id) RETURN BEFORE) = 0 { THROW 'memory is gone' };
            DELETE vectors:[$id, NONE]..=[$id, ..];
            LET $touched = [['memories', $id, $row]];
            """,
            memories=-1,
            id=memory.id,
            row=memory.row,
        )
        return Change(written.seq, Deleted("memories", memory.id, memory.row))

    def create_entity(self, entity: Entity) -> Change:
        """Store a new entity; its row is given here."""
        written = write(
            self._db,
            """
            INSERT INTO entities object::extend($record, { row: $state.entity_rows - 1 }) RETURN NONE;
            LET $touched = [['entities', $record.id, $state.entity_rows - 1]];
            """,
            entities=1,
            new_entities=1,
            record=to_row(entity),
        )
        return Change(written.seq, replace(entity, row=written.entity_rows - 1))

    def create_relation(self, relation: Relation) -> Change:
        """Store a new relation; both its entities must exist."""
        written = write(
            self._db,
            "INSERT INTO relations $record RETURN NONE; LET $touched = [['relations', $record.id, -1]];",
            relations=1,
            record=to_row(relation),
        )
        return Change(written.seq, relation)

    def reset(self) -> Counts:
        """Delete every record, for good; returns how many there were. The database gets a new name."""
        counts = self.state().counts
        self._db.run(
            """
            BEGIN;
            DELETE memories; DELETE vectors; DELETE entities; DELETE relations; DELETE changes;
            DELETE projects; DELETE files; DELETE chunks; DELETE code_vectors;
            UPDATE meta:state SET database = rand::uuid::v4(), seq = 0, oldest = 0, memories = 0,
                entities = 0, relations = 0, chunks = 0, memory_rows = 0, entity_rows = 0, chunk_rows = 0;
            COMMIT;
            """
        )
        return counts

    # Models

    def set_model(self, model: str, dimensions: int) -> None:
        """Say which model's vectors are the live ones, and drop those of every other model."""
        self._db.run(
            """
            BEGIN;
            UPDATE meta:state SET model = $model, dimensions = $dimensions, database = rand::uuid::v4(),
                oldest = seq;
            DELETE changes;
            DELETE vectors WHERE id[1] != $model;
            DELETE code_vectors WHERE id[1] != $model;
            COMMIT;
            """,
            model=model,
            dimensions=dimensions,
        )

    def add_vectors(self, ids: Sequence[str], vectors: NDArray[np.float32], model: str) -> None:
        """Keep vectors beside those in use (``reembed``); memories deleted meanwhile are skipped."""
        self._db.run(
            """
            BEGIN;
            LET $living = (SELECT VALUE record::id(id) FROM $ids.map(|$id| type::record('memories', $id)));
            INSERT INTO vectors $vectors.filter(|$v| $living CONTAINS $v.id[0])
                ON DUPLICATE KEY UPDATE values = $input.values RETURN NONE;
            COMMIT;
            """,
            ids=list(ids),
            vectors=[vector_row(key, model, vector) for key, vector in zip(ids, vectors, strict=True)],
        )

    # Following

    def scan(self, table: Table) -> Iterator[list[Any]]:
        """Every record of a table, in pages, by id."""
        kind = _KINDS[table]
        last: str | None = None
        while True:
            source = table if last is None else f"type::record('{table}', $last>..)"
            rows = self._db.run(f"SELECT * FROM {source} LIMIT {_PAGE}", last=last)[0]
            if not rows:
                return
            last = str(rows[-1]["id"].id)
            yield [to_record(kind, row) for row in rows]

    def changes_since(self, seq: int, model: str) -> Iterator[list[Change]]:
        """The records touched after ``seq`` as they are now, in pages; each page ends at a whole change."""
        while True:
            entries = self._db.run("SELECT * FROM changes:[$seq]>.. LIMIT 200", seq=seq)[0]
            if not entries:
                return
            touched: dict[tuple[Table, str, int], int] = {}
            for entry in entries:
                seq = entry["id"].id[0]
                for table, key, row in entry["touched"]:
                    touched[table, key, row] = seq
                if len(touched) >= _PAGE:
                    yield self._current(touched, model)
                    touched = {}
            if touched:
                yield self._current(touched, model)

    def forget_changes(self, up_to: int) -> None:
        """Drop log entries that every index has taken in."""
        self._db.run(
            """
            BEGIN;
            DELETE changes:[NONE]..=[$seq];
            UPDATE meta:state SET oldest = math::max([oldest, $seq]);
            COMMIT;
            """,
            seq=up_to,
        )

    def _current(self, touched: dict[tuple[Table, str, int], int], model: str) -> list[Change]:
        records: dict[tuple[Table, str], Record] = {}
        vectors: dict[tuple[Table, str], Vector] = {}
        for table, kind in _KINDS.items():
            found = self._fetch(table, list({key for other, key, _ in touched if other == table}), kind)
            records.update(((table, record.id), record) for record in found)
            made = self.vectors_of(table, found, model)
            vectors.update(((table, key), vector) for key, vector in made.items())
        changes = []
        for (table, key, row), seq in touched.items():
            record = records.get((table, key))
            if record is None or getattr(record, "row", row) != row:  # a chunk may return under another row
                changes.append(Change(seq, Deleted(table, key, row)))
            else:
                changes.append(Change(seq, record, vectors.get((table, key))))
        return sorted(changes, key=lambda change: change.seq)

    def vectors_of(self, table: Table, records: Sequence[Any], model: str) -> dict[str, Vector]:
        """Id → vector, for records of a table that have one."""
        if table == "memories":
            return self.vectors([record.id for record in records], model)
        if table == "chunks":
            made = self.code.vectors((chunk.digest for chunk in records), model)
            return {chunk.id: made[chunk.digest] for chunk in records if chunk.digest in made}
        return {}

    def _fetch(self, table: str, ids: Sequence[str], kind: type[Any]) -> list[Any]:
        if not ids:
            return []
        rows = self._db.run(f"SELECT * FROM $ids.map(|$id| type::record('{table}', $id))", ids=list(ids))[0]
        return [to_record(kind, row) for row in rows]
