"""The engine against a plain Python model of it: any sequence of operations, with restarts in between.

The model keeps dictionaries and looks at everything for every question. Restarts sometimes come back as
another user, and sometimes find an index missing, emptied or cut short.
"""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.engine.knowledge import Direction
from memory_mcp.engine.memories import Draft
from memory_mcp.engine.questions import Answer
from retrieval.errors import EntityNotFound, InvalidInput, MemoryNotFound
from retrieval.fusion import Weights
from retrieval.records import MEMORY_TYPES, Entity, Memory, Relation
from tests.agreement import assert_agreement
from tests.builders import MODEL, NOW, SPEC, Clock, an_encoder, some_settings
from tests.fakes import HashModel

WORDS = ("falconk", "harbork", "lanternk", "orchardk", "timberk", "velvetk")
NAMES = ("Falconk", "Harbork", "Lanternk orchardk", "Velvetk")
USERS = (None, "ada", "bob")
NOBODY = 24
"""The number of a record that is not there."""

PARTS = ("catalog.arrays", "dense.arrays", "lexical", "graph", "graph/graph.arrays", "lexical/meta.json")

Operation = tuple[str, dict[str, Any]]
"""The name of a method below, and its arguments."""

contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
times = st.dictionaries(
    st.sampled_from(("valid_from", "valid_until", "expires_at", "event_time")), st.integers(-5, 5), max_size=2
)
notes = st.dictionaries(
    st.sampled_from(("z", "a", "m")), st.sampled_from((None, 1, 2**62, "ü", [None])), max_size=2
)
which = st.integers(0, NOBODY)
users = st.sampled_from(USERS)


def call(name: str, /, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Operation]:
    return st.tuples(st.just(name), st.fixed_dictionaries(arguments))


store = call("store", content=contents, user=users, note=notes, when=times)
entity = call("create_entity", name=st.sampled_from(NAMES), user=users)
relation = call("create_relation", near=which, far=which, weight=st.sampled_from((0.0, 0.25, 1.0)))
begin = st.tuples(*[store] * 5, *[entity] * 4, *[relation] * 4)
operation = st.one_of(
    store,
    store,
    call("store_many", several=st.lists(contents, max_size=3)),
    call(
        "update",
        index=which,
        fields=st.fixed_dictionaries(
            {},
            optional={"content": contents, "memory_type": st.sampled_from(MEMORY_TYPES), "metadata": notes},
        ),
    ),
    call("delete", index=which),
    call("invalidate", index=which, other=st.none() | which, reason=st.sampled_from((None, "because"))),
    entity,
    relation,
    call("reset_if_large"),
    call("time_passes", span=st.integers(1, 3)),
    call("reopen", user=users),
    call("reopen_damaged", user=users, part=st.sampled_from(PARTS), how=st.sampled_from(("gone", "cut"))),
    call("read", index=which, limit=st.integers(0, 5), offset=st.integers(0, 8)),
    call("valid_at", hour=st.integers(-7, 20), user=users),
    call(
        "related",
        index=which,
        depth=st.integers(1, 3),
        direction=st.sampled_from(("outgoing", "incoming", "both")),
    ),
    call("ask", query=contents, limit=st.integers(1, 8)),
    call("ask", query=contents, limit=st.integers(1, 8)),
)


def at(hour: int) -> datetime:
    return NOW + timedelta(hours=hour)


def metadata_of(given: dict[str, Any], when: dict[str, int]) -> dict[str, Any]:
    return {**given, **{name: at(hour).isoformat() for name, hour in when.items()}}


class Model:
    """What should be there."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.entities: dict[str, Entity] = {}
        self.relations: dict[str, Relation] = {}
        self.user: str | None = None

    def mine(self) -> list[Memory]:
        """Newest first."""
        return [m for m in reversed(self.memories.values()) if self.user in (None, m.user_id)]

    def valid(self, moment: datetime) -> list[Memory]:
        return [
            m
            for m in self.mine()
            if m.valid_from <= moment
            and (m.valid_until is None or moment < m.valid_until)
            and (m.expires_at is None or moment < m.expires_at)
        ]

    def pick(self, index: int) -> str:
        """A memory, seldom one that is not there."""
        return pick(list(self.memories), index)

    def pick_entity(self, index: int) -> str:
        return pick(list(self.entities), index)

    def sees(self, key: str) -> bool:
        return key in self.memories and self.user in (None, self.memories[key].user_id)

    def sees_entity(self, key: str) -> bool:
        return key in self.entities and self.user in (None, self.entities[key].user_id)

    def related(self, key: str, depth: int, direction: Direction) -> tuple[set[str], set[str]]:
        reached, relations, frontier = {key}, set(), {key}
        for _ in range(depth):
            fresh: set[str] = set()
            for relation in self.relations.values():
                if not (self.sees_entity(relation.from_entity) and self.sees_entity(relation.to_entity)):
                    continue
                leaves = relation.from_entity in frontier and direction != "incoming"
                enters = relation.to_entity in frontier and direction != "outgoing"
                if leaves or enters:
                    relations.add(relation.id)
                    fresh |= {relation.from_entity, relation.to_entity}
            frontier = fresh - reached
            reached |= fresh
        return reached - {key}, relations


def pick(keys: list[str], index: int) -> str:
    return "nobody" if index == NOBODY or not keys else keys[index % len(keys)]


def ids(memories: Iterable[Memory]) -> list[str]:
    return [memory.id for memory in memories]


class History:
    """The same operations on both."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = Clock()
        self.model = Model()
        self.embed = HashModel(SPEC.dimensions).embed
        self.engine: Engine
        self.open()

    def open(self) -> None:
        chosen = some_settings(self.root / "data", user_id=self.model.user)
        self.engine = open_engine(chosen, encoder=an_encoder(), now=self.clock)
        self.engine.wait(30)
        assert self.engine.status().rebuilding is None

    def run(self, operations: Iterable[Operation]) -> None:
        try:
            for name, arguments in operations:
                getattr(self, name)(**arguments)
                self.same_counts_and_list()
            assert_agreement(self.engine._store, self.engine._indexes, MODEL, self.root)
        finally:
            self.engine.close()

    # Writing

    def store(self, content: str, user: str | None, note: dict[str, Any], when: dict[str, int]) -> None:
        draft = Draft(content, None, user, metadata_of(note, when))
        if self.model.user is not None and user not in (None, self.model.user):
            return self.refused("user_id", lambda: self.engine.memories.store(draft))
        begin = at(when["valid_from"]) if "valid_from" in when else self.clock.now
        if "valid_until" in when and at(when["valid_until"]) <= begin:
            return self.refused("metadata.valid_until", lambda: self.engine.memories.store(draft))
        memory = self.engine.memories.store(draft)
        assert (memory.content, memory.user_id) == (content, user or self.model.user)
        assert repr(memory.metadata) == repr(draft.metadata)
        assert memory.valid_from == begin
        assert memory.id not in self.model.memories
        self.model.memories[memory.id] = memory
        return None

    def store_many(self, several: list[str]) -> None:
        for memory in self.engine.memories.store_many([Draft(content) for content in several]):
            self.model.memories[memory.id] = memory

    def update(self, index: int, fields: dict[str, Any]) -> None:
        key = self.model.pick(index)
        if not self.model.sees(key):
            return self.missing(lambda: self.engine.memories.update(key, **fields))
        after = self.engine.memories.update(key, **fields)
        expected = replace(self.model.memories[key], updated_at=self.clock.now, **fields)
        assert after == expected
        self.model.memories[key] = expected
        return None

    def delete(self, index: int) -> None:
        key = self.model.pick(index)
        if not self.model.sees(key):
            return self.missing(lambda: self.engine.memories.delete(key))
        self.engine.memories.delete(key)
        del self.model.memories[key]
        return None

    def invalidate(self, index: int, other: int | None, reason: str | None) -> None:
        key = self.model.pick(index)
        successor = None if other is None else self.model.pick(other)

        def end() -> Memory:
            return self.engine.memories.invalidate(key, reason=reason, superseded_by=successor)

        if not self.model.sees(key):
            return self.missing(end)
        if successor is not None and (successor == key or not self.model.sees(successor)):
            return self.refused("superseded_by", end)
        before, now = self.model.memories[key], self.clock.now
        ended = before.valid_until is not None and before.valid_until <= now
        expected = replace(
            before,
            valid_until=before.valid_until if ended else now,
            invalidation_reason=reason or before.invalidation_reason,
            superseded_by=successor or before.superseded_by,
            updated_at=now,
        )
        assert end() == expected
        self.model.memories[key] = expected
        return None

    def create_entity(self, name: str, user: str | None) -> None:
        if self.model.user is not None and user not in (None, self.model.user):
            return self.refused("user_id", lambda: self.engine.knowledge.create_entity(name, user_id=user))
        entity = self.engine.knowledge.create_entity(name, user_id=user)
        assert (entity.name, entity.user_id) == (name, user or self.model.user)
        self.model.entities[entity.id] = entity
        return None

    def create_relation(self, near: int, far: int, weight: float) -> None:
        ends = self.model.pick_entity(near), self.model.pick_entity(far)
        if not all(map(self.model.sees_entity, ends)):
            with pytest.raises(EntityNotFound):
                self.engine.knowledge.create_relation(*ends, "knows", weight)
            return
        relation = self.engine.knowledge.create_relation(*ends, "knows", weight)
        self.model.relations[relation.id] = relation

    def reset_if_large(self) -> None:
        if len(self.model.memories) < 10:
            return
        self.engine.reset()
        self.model.memories.clear()
        self.model.entities.clear()
        self.model.relations.clear()

    def missing(self, call: Callable[[], Any]) -> None:
        with pytest.raises(MemoryNotFound):
            call()

    def refused(self, field: str, call: Callable[[], Any]) -> None:
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.field == field

    # Time and restarts

    def time_passes(self, span: int) -> None:
        self.clock.advance(hours=span)

    def reopen(self, user: str | None) -> None:
        self.engine.close()
        self.model.user = user
        self.open()

    def reopen_damaged(self, user: str | None, part: str, how: str) -> None:
        self.engine.close()
        path = self.root / "data" / "indexes" / part
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            data = path.read_bytes()
            path.unlink()
            if how == "cut":
                path.write_bytes(data[: len(data) // 2])
        self.model.user = user
        self.open()

    # Asking

    def same_counts_and_list(self) -> None:
        counts = self.engine.status().counts
        model = self.model
        assert (counts.memories, counts.entities, counts.relations) == (
            len(model.memories), len(model.entities), len(model.relations),
        )  # fmt: skip
        page = self.engine.memories.list(100, 0)
        assert list(page.memories) == model.mine()
        assert page.total == len(page.memories)

    def read(self, index: int, limit: int, offset: int) -> None:
        key = self.model.pick(index)
        if self.model.sees(key):
            assert self.engine.memories.get(key) == self.model.memories[key]
        else:
            self.missing(lambda: self.engine.memories.get(key))
        page = self.engine.memories.list(limit, offset)
        assert list(page.memories) == self.model.mine()[offset : offset + limit]

    def valid_at(self, hour: int, user: str | None) -> None:
        if self.model.user is not None:
            user = None
        for moment in (at(hour), self.clock.now):
            found = self.engine.memories.valid(100, at=moment, user_id=user)
            assert list(found) == [m for m in self.model.valid(moment) if user in (None, m.user_id)]

    def related(self, index: int, depth: int, direction: Direction) -> None:
        key = self.model.pick_entity(index)
        if not self.model.sees_entity(key):
            with pytest.raises(EntityNotFound):
                self.engine.knowledge.related(key, depth, direction)
            return
        found = self.engine.knowledge.related(key, depth, direction)
        expected = self.model.related(key, depth, direction)
        assert ({e.id for e in found.entities}, {r.id for r in found.relations}) == expected
        assert all(self.model.entities[e.id] == e for e in found.entities)
        assert all(self.model.relations[r.id] == r for r in found.relations)

    def ask(self, query: str, limit: int) -> None:
        valid = self.model.valid(self.clock.now)
        having = [m for m in valid if set(query.split()) & set(m.content.split())]
        self.same_memories(self.engine.questions.search_text(query, 50), having)
        self.same_memories(self.engine.questions.recall(query, 50), valid)
        self.same_memories(self.engine.questions.recall(query, 50, Weights(0, 1, 0)), having)
        reached = {
            found.memory.id for found in self.engine.questions.recall(query, 50, Weights(0, 0, 1)).found
        }
        assert set(ids(having)) <= reached <= set(ids(valid))
        self.nearest(query, limit, valid)

    def nearest(self, query: str, limit: int, valid: list[Memory]) -> None:
        """Search by meaning against all cosines."""
        answer = self.engine.questions.search(query, limit)
        vectors = (
            self.embed([m.content for m in valid]) if valid else np.empty((0, SPEC.dimensions), np.float32)
        )
        exact = dict(zip(ids(valid), (vectors @ self.embed([query])[0]).tolist(), strict=True))
        scores = [found.hit.score for found in answer.found]
        assert scores == pytest.approx(sorted(exact.values(), reverse=True)[:limit], abs=1e-5)
        assert scores == pytest.approx([exact[found.memory.id] for found in answer.found], abs=1e-5)
        assert all(self.model.memories[found.memory.id] == found.memory for found in answer.found)

    def same_memories(self, answer: Answer, expected: list[Memory]) -> None:
        """At most 50 are answered; histories are shorter."""
        assert len(expected) <= 50
        found = [item.memory for item in answer.found]
        assert sorted(ids(found)) == sorted(ids(expected))
        assert all(self.model.memories[memory.id] == memory for memory in found)
        scores = [item.hit.score for item in answer.found]
        assert scores == sorted(scores, reverse=True)


@given(begin=begin, history=st.lists(operation, min_size=20, max_size=45))
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck])
def test_any_history(begin: tuple[Operation, ...], history: list[Operation]) -> None:
    with TemporaryDirectory() as folder:
        History(Path(folder)).run([*begin, *history])


@pytest.mark.slow
@given(begin=begin, history=st.lists(operation, min_size=50, max_size=90))
@settings(max_examples=300, deadline=None, database=None, suppress_health_check=[*HealthCheck])
def test_any_long_history(begin: tuple[Operation, ...], history: list[Operation]) -> None:
    """Another three hundred each time."""
    with TemporaryDirectory() as folder:
        History(Path(folder)).run([*begin, *history])
