"""Do the database, its counters, its log and every index say the same?

The one question asked after kills, damage and random histories. Everything is compared as a whole, so a
disagreement shows what differs.
"""

import re
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from retrieval.channels.graph import Graph
from retrieval.indexes import Indexes
from retrieval.records import Entity, Memory, Relation, Scope
from retrieval.store.changes import Change
from retrieval.store.store import Store
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

    counts = store.state().counts
    assert (counts.memories, counts.entities, counts.relations) == (
        len(memories),
        len(entities),
        len(relations),
    )
    _check_rows(store, memories, entities)
    _check_vectors(store, indexes, memories, model)
    _check_log(store)
    _check_catalog(indexes, memories)
    _check_shelf(indexes, memories)
    _check_lexical(indexes, memories)
    _check_graph(indexes, memories, entities, relations, scratch)


def _records(store: Store, table: Any) -> list[Any]:
    return [record for page in store.scan(table) for record in page]


def rows_of(records: list[Memory] | list[Entity]) -> list[int]:
    return [record.row for record in records]


def _check_rows(store: Store, memories: list[Memory], entities: list[Entity]) -> None:
    given: list[int] = store._db.run("SELECT VALUE [memory_rows, entity_rows] FROM ONLY meta:state")[0]
    for rows, next_row in zip((rows_of(memories), rows_of(entities)), given, strict=True):
        assert len(set(rows)) == len(rows)
        assert all(0 <= row < next_row for row in rows)


def _check_vectors(store: Store, indexes: Indexes, memories: list[Memory], model: str) -> None:
    keys = [tuple(key.id) for key in store._db.run("SELECT VALUE id FROM vectors")[0]]
    assert sorted(keys) == sorted((memory.id, model) for memory in memories)
    stored = store.vectors([memory.id for memory in memories], model)
    dense = indexes.dense
    assert dense._slots.keys() == {memory.row for memory in memories}
    for memory in memories:
        slot = np.array([dense._slots[memory.row]])
        assert dense._gather(slot)[0].tobytes() == stored[memory.id].tobytes()
    if dense._hnsw is not None and dense._build is None:
        assert len(dense._hnsw) == len(memories)
        assert all(memory.row in dense._hnsw for memory in memories)


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


def _check_shelf(indexes: Indexes, memories: list[Memory]) -> None:
    rows = np.array(rows_of(memories), dtype=np.int64)
    assert indexes.shelf.read(rows) == memories
    beyond = np.setdiff1d(np.arange(rows.max(initial=-1) + 2), rows)
    assert not any(indexes.shelf.read(beyond))


def _check_lexical(indexes: Indexes, memories: list[Memory]) -> None:
    lexical = indexes.lexical
    assert lexical.count == len(memories)  # commits, too
    committed = lexical._view.committed
    rows, _ = committed._fetch(tantivy.Query.all_query(), len(memories) + 1)
    assert sorted(rows.tolist()) == sorted(memory.row for memory in memories)
    words: dict[tuple[str, str], set[int]] = defaultdict(set)
    for memory in memories:
        for word in _WORD.findall(memory.content):
            words[memory.space, word].add(memory.row)
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
