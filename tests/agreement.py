"""Do the database, its counters, its log and every index say the same?

The one question asked after kills, damage and random histories. Everything is compared as a whole, so a
disagreement shows what differs.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from retrieval.channels.dense import Dense
from retrieval.channels.graph import Graph
from retrieval.channels.lexical import Lexical
from retrieval.code.ranking import Entry
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk, Entity, Memory, Relation, Scope, Vector
from retrieval.shelf import Shelf
from retrieval.store.changes import Change
from retrieval.store.store import Counts, Store
from tests.builders import everything

__all__ = ["assert_agreement"]

_MANY = 10_000

_WORD = re.compile(r"\b[a-z]{4,}k\b")
"""Words of contents that are compared one by one: long, in lower case, with an ending no stemmer takes."""


def assert_agreement(store: Store, indexes: Indexes, model: str, scratch: Path) -> None:
    """Compare everything with the records; the indexes must be live and nobody writing."""
    memories: list[Memory] = _records(store, "memories")
    entities: list[Entity] = _records(store, "entities")
    relations: list[Relation] = _records(store, "relations")
    chunks: list[CodeChunk] = _records(store, "chunks")

    counts = store.state().counts
    assert counts == Counts(len(memories), len(entities), len(relations), len(chunks))
    _check_rows(store, memories, entities, chunks)
    _check_vectors(store, indexes, memories, model)
    _check_log(store)
    _check_catalog(indexes, memories)
    _check_shelf(indexes.shelf, memories)
    _check_lexical(indexes.lexical, memories)
    _check_graph(indexes, memories, entities, relations, scratch)
    _check_code_catalog(indexes, chunks)
    _check_code_vectors(store, indexes, chunks, model)
    _check_shelf(indexes.code.shelf, chunks)
    _check_lexical(indexes.code.lexical, chunks)


def _records(store: Store, table: Any) -> list[Any]:
    return [record for page in store.scan(table) for record in page]


def rows_of(records: Sequence[Memory | Entity | CodeChunk]) -> list[int]:
    return [record.row for record in records]


def _check_rows(
    store: Store, memories: list[Memory], entities: list[Entity], chunks: list[CodeChunk]
) -> None:
    given: list[int] = store._db.run(
        "SELECT VALUE [memory_rows, entity_rows, chunk_rows] FROM ONLY meta:state"
    )[0]
    rows_given = (rows_of(memories), rows_of(entities), rows_of(chunks))
    for rows, next_row in zip(rows_given, given, strict=True):
        assert len(set(rows)) == len(rows)
        assert all(0 <= row < next_row for row in rows)


def _check_vectors(store: Store, indexes: Indexes, memories: list[Memory], model: str) -> None:
    keys = [tuple(key.id) for key in store._db.run("SELECT VALUE id FROM vectors")[0]]
    assert sorted(keys) == sorted((memory.id, model) for memory in memories)
    stored = store.vectors([memory.id for memory in memories], model)
    _check_dense(indexes.dense, {memory.row: stored[memory.id] for memory in memories})


def _check_code_vectors(store: Store, indexes: Indexes, chunks: list[CodeChunk], model: str) -> None:
    """A chunk may still lack its vector, but a vector that is stored is in the index, and no other."""
    stored = store.code.vectors((chunk.digest for chunk in chunks), model)
    known = {chunk.row: stored[chunk.digest] for chunk in chunks if chunk.digest in stored}
    _check_dense(indexes.code.dense, known)


def _check_dense(dense: Dense, vectors: Mapping[int, Vector]) -> None:
    assert dense._slots.keys() == vectors.keys()
    for row, vector in vectors.items():
        slot = np.array([dense._slots[row]])
        assert dense._gather(slot)[0].tobytes() == vector.tobytes()
    if dense._hnsw is not None and dense._build is None:
        assert len(dense._hnsw) == len(vectors)
        assert all(row in dense._hnsw for row in vectors)


def _check_log(store: Store) -> None:
    state = store.state()
    numbers = [key.id[0] for key in store._db.run("SELECT VALUE id FROM changes")[0]]
    assert sorted(numbers) == list(range(state.oldest + 1, state.seq + 1))


def _check_catalog(indexes: Indexes, memories: list[Memory]) -> None:
    catalog = indexes.catalog
    scopes = (
        {Scope(m.space) for m in memories} | {Scope(m.space, m.user_id) for m in memories} | {Scope("none")}
    )
    for scope in scopes:
        mine = [m for m in memories if m.space == scope.space and scope.user_id in (None, m.user_id)]
        newest_first = sorted((m.row for m in mine), reverse=True)
        rows = catalog.visible(scope)
        assert rows.tolist() == newest_first
        by_row = {m.row: m.id for m in mine}
        assert catalog.ids(rows) == [by_row[row] for row in newest_first]
        for at in _instants(mine):
            assert catalog.valid(scope, at).tolist() == [
                m.row for m in sorted(mine, key=_row, reverse=True) if _valid(m, at)
            ]


def _row(memory: Memory) -> int:
    return memory.row


def _instants(memories: list[Memory]) -> set[datetime]:
    """Every moment at which something begins or ends, and the moment before it."""
    moments = {
        moment
        for m in memories
        for moment in (m.valid_from, m.valid_until, m.expires_at)
        if moment is not None
    }
    return moments | {moment - timedelta(microseconds=1) for moment in moments}


def _valid(memory: Memory, at: datetime) -> bool:
    ends = [end for end in (memory.valid_until, memory.expires_at) if end is not None]
    return memory.valid_from <= at and all(at < end for end in ends)


def _check_code_catalog(indexes: Indexes, chunks: list[CodeChunk]) -> None:
    catalog = indexes.code.catalog
    assert catalog.living().tolist() == sorted(rows_of(chunks))
    rows = np.array(rows_of(chunks), dtype=np.int64)
    assert catalog.ids(rows) == [chunk.id for chunk in chunks]
    assert catalog.digests(rows) == [chunk.digest for chunk in chunks]
    assert catalog.projects(rows) == [chunk.project for chunk in chunks]
    assert catalog.entries(rows) == [
        Entry(c.row, c.path, c.language, c.chunk_type, c.name, c.breadcrumb, c.start_line, c.end_line)
        for c in chunks
    ]
    files: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for chunk in chunks:
        files[chunk.space, chunk.project, chunk.path].add(chunk.row)
    for space, project in {(space, project) for space, project, _ in files}:
        mine = {
            path: rows for (owner, name, path), rows in files.items() if (owner, name) == (space, project)
        }
        assert catalog.rows_of(Scope(space, project)).tolist() == sorted(set().union(*mine.values()))
        assert catalog.paths(project) == sorted(mine)
        for path, expected in mine.items():
            assert {known.row for known in catalog.file(project, path)} == expected


def _check_shelf(shelf: Shelf[Any], records: Sequence[Memory | CodeChunk]) -> None:
    rows = np.array(rows_of(records), dtype=np.int64)
    assert shelf.read(rows) == records
    beyond = np.setdiff1d(np.arange(rows.max(initial=-1) + 2), rows)
    assert not any(shelf.read(beyond))


def _check_lexical(lexical: Lexical, records: Sequence[Memory | CodeChunk]) -> None:
    assert lexical.count == len(records)  # commits, too
    committed = lexical._view.committed
    rows, _ = committed._fetch(tantivy.Query.all_query(), len(records) + 1)
    assert sorted(rows.tolist()) == sorted(rows_of(records))
    words: dict[tuple[str, str], set[int]] = defaultdict(set)
    for record in records:
        for word in _WORD.findall(record.content):
            words[record.space, word].add(record.row)
    for (space, word), expected in words.items():
        found = lexical.search(word, _MANY, Scope(space), everything)
        assert set(found.rows.tolist()) == expected, word


def _check_graph(
    indexes: Indexes, memories: list[Memory], entities: list[Entity], relations: list[Relation], scratch: Path
) -> None:
    fresh = Graph.open(scratch / "graph", indexes._mentions)
    for records in (entities, memories, relations):
        fresh.apply([Change(1, record) for record in records])
    assert sorted(indexes.graph.triples()) == sorted(fresh.triples())
    assert indexes.graph.nodes == fresh.nodes
