"""Vectors of one model in use, of another in preparation."""

from dataclasses import replace

import pytest

from retrieval.records import Memory
from retrieval.store.changes import Change
from retrieval.store.store import Store
from tests.builders import a_memory, unit_vector, unit_vectors


@pytest.fixture
def memories(store: Store) -> list[Memory]:
    """Three memories with vectors of the model "old"."""
    store.set_model("old", 8)
    drafts = [a_memory(key) for key in "abc"]
    changes: list[Change] = store.create_memories(drafts, unit_vectors(3, 8), "old")
    return [change.record for change in changes if isinstance(change.record, Memory)]


def stage(store: Store, *keys: str) -> None:
    store.add_vectors(keys, unit_vectors(len(keys), 4), "new")


def has(store: Store, model: str) -> str:
    return "".join(sorted(store.vectors(list("abc"), model)))


def test_prepared_vectors_lie_beside_those_in_use(store: Store, memories: list[Memory]) -> None:
    stage(store, "a", "b")
    assert (has(store, "old"), has(store, "new")) == ("abc", "ab")
    assert store.vectors(["b"], "new")["b"].tolist() == unit_vectors(2, 4)[1].tolist()


def test_preparing_vectors_is_no_change(store: Store, memories: list[Memory]) -> None:
    before = store.state()
    stage(store, "a")
    assert store.state() == before


def test_preparing_twice_keeps_the_later(store: Store, memories: list[Memory]) -> None:
    stage(store, "a")
    later = unit_vectors(1, 4, seed=9)
    store.add_vectors(["a"], later, "new")
    assert store.vectors(["a"], "new")["a"].tolist() == later[0].tolist()


def test_memories_deleted_meanwhile_are_skipped(store: Store, memories: list[Memory]) -> None:
    store.delete_memory(memories[0])
    stage(store, "a", "b")
    assert has(store, "new") == "b"


def test_deleting_removes_the_vectors_of_every_model(store: Store, memories: list[Memory]) -> None:
    stage(store, "a", "b", "c")
    store.delete_memory(memories[1])
    assert (has(store, "old"), has(store, "new")) == ("ac", "ac")


def test_a_new_content_drops_the_prepared_vector(store: Store, memories: list[Memory]) -> None:
    stage(store, "a", "b")
    store.update_memory(replace(memories[0], content="new"), unit_vector(8), "old")
    assert (has(store, "old"), has(store, "new")) == ("abc", "b")


def test_an_update_of_other_fields_keeps_the_prepared_vector(store: Store, memories: list[Memory]) -> None:
    stage(store, "a")
    store.update_memory(replace(memories[0], importance=0.2), None, "old")
    assert (has(store, "old"), has(store, "new")) == ("abc", "a")


def test_switching_the_model_drops_all_other_vectors(store: Store, memories: list[Memory]) -> None:
    stage(store, "a", "b", "c")
    store.add_vectors(["a"], unit_vectors(1, 2), "third")
    before = store.state()
    store.set_model("new", 4)
    state = store.state()
    assert (state.model, state.dimensions) == ("new", 4)
    assert (has(store, "old"), has(store, "new"), has(store, "third")) == ("", "abc", "")
    assert state.counts == before.counts


def test_switching_the_model_makes_every_index_foreign(store: Store, memories: list[Memory]) -> None:
    before = store.state()
    store.set_model("new", 4)
    after = store.state()
    assert after.database != before.database
    assert after.oldest == after.seq == before.seq
    assert list(store.changes_since(0, "new")) == []


def test_vectors_are_exact(store: Store) -> None:
    vector = unit_vectors(1, 384, seed=3)
    store.create_memories([a_memory("a")], vector, "old")
    assert store.vectors(["a"], "old")["a"].tobytes() == vector[0].tobytes()


def test_asking_for_no_vectors(store: Store) -> None:
    assert store.vectors([], "old") == {}
