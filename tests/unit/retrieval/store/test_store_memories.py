"""Memories in the store: what is written is read, exactly, and nothing else."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.errors import StoreError
from retrieval.records import Memory
from retrieval.store.changes import Deleted
from retrieval.store.store import Counts, Store
from tests.builders import MODEL, NOW, a_memory, unit_vector, unit_vectors


def create(store: Store, *memories: Memory) -> list[Memory]:
    changes = store.create_memories(memories, unit_vectors(len(memories)), MODEL)
    return [change.record for change in changes if isinstance(change.record, Memory)]


def read(store: Store, key: str) -> Memory | None:
    return store.memories([key]).get(key)


def test_a_new_store_is_empty(store: Store) -> None:
    state = store.state()
    assert (state.seq, state.oldest, state.model, state.dimensions) == (0, 0, None, None)
    assert state.counts == Counts(0, 0, 0)


def test_a_memory_reads_as_written(store: Store) -> None:
    written = a_memory(
        "full", content="Grüße, 世界 🌍", memory_type="episodic", user_id="ada", importance=0.1 + 0.2,
        metadata={"a": [1, {"b": None}]}, valid_until=NOW + timedelta(days=1),
        expires_at=NOW + timedelta(days=2), invalidation_reason="old", superseded_by="other",
    )  # fmt: skip
    (created,) = create(store, written)
    assert created == replace(written, row=0)
    assert read(store, "full") == created


def test_a_memory_is_read_by_the_next_call(store: Store) -> None:
    (created,) = create(store, a_memory("m"))
    assert store.memories(["m"]) == {"m": created}


def test_memories_come_in_the_order_asked_for_without_the_unknown(store: Store) -> None:
    create(store, a_memory("a"), a_memory("b"), a_memory("c"))
    store.memories(["b"])  # one at hand, the others from the database
    assert list(store.memories(["c", "nobody", "b", "a"])) == ["c", "b", "a"]


def test_asking_for_nothing_gives_nothing(store: Store) -> None:
    assert store.memories([]) == {}


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"null": None, "nested": {"null": None}},
        {"z": 1, "a": 2, "m": {"y": 1, "b": 2}},
        {"large": 2**62, "negative": -(2**63) + 1, "float": 0.1, "whole": 1.0, "bool": True},
        {"ключ": "значение", "emoji": "👩‍👩‍👧", "empty": "", "quote": '"\\\n\t'},
        {"list": [[], [None], {}], "NONE": "NONE", "id": "memories:x", "$id": "`; DELETE memories; --"},
    ],
    ids=["empty", "nulls", "order of keys", "numbers", "unicode", "awkward"],
)
def test_metadata_keeps_its_form(store: Store, metadata: Mapping[str, Any]) -> None:
    create(store, a_memory("m", metadata=metadata))
    memory = read(store, "m")
    assert memory is not None
    assert repr(memory.metadata) == repr(metadata)  # also the order of keys and the kind of numbers


@pytest.mark.parametrize(
    "instant",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 6, 12, 0, 0, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ],
    ids=str,
)
def test_instants_are_exact_over_the_whole_calendar(store: Store, instant: datetime) -> None:
    create(store, a_memory("m", valid_from=instant, event_time=instant, expires_at=instant))
    memory = read(store, "m")
    assert memory is not None
    assert memory.valid_from == memory.event_time == memory.expires_at == instant
    assert type(memory.valid_from) is datetime


@pytest.mark.parametrize("content", ["a\nb\r\n\tc", "' OR 1=1 --", "\u202e\ufeff\u0301", "x" * 100_000])
def test_content_keeps_every_character(store: Store, content: str) -> None:
    create(store, a_memory("m", content=content))
    memory = read(store, "m")
    assert memory is not None
    assert memory.content == content


def test_rows_count_up_across_calls(store: Store) -> None:
    first = create(store, a_memory("a"), a_memory("b"))
    second = create(store, a_memory("c"))
    assert [memory.row for memory in first + second] == [0, 1, 2]


def test_rows_of_deleted_memories_are_not_given_again(store: Store) -> None:
    _, last = create(store, a_memory("a"), a_memory("b"))
    store.delete_memory(last)
    (created,) = create(store, a_memory("c"))
    assert created.row == 2


def test_rows_are_not_given_again_after_reopening(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    (created,) = create(store, a_memory("a"))
    store.delete_memory(created)
    store.close()
    store = Store.open(tmp_path)
    (created,) = create(store, a_memory("b"))
    store.close()
    assert created.row == 1


def test_counters_follow_creation_and_deletion(store: Store) -> None:
    a, *_ = create(store, a_memory("a"), a_memory("b"), a_memory("c"))
    store.delete_memory(a)
    assert store.state().counts == Counts(memories=2, entities=0, relations=0)
    assert store.state().seq == 2


def test_storing_nothing_writes_nothing(store: Store) -> None:
    assert store.create_memories([], unit_vectors(0), MODEL) == []
    assert store.state().seq == 0


def test_an_update_replaces_the_record(store: Store) -> None:
    (created,) = create(store, a_memory("m", valid_until=NOW))
    changed = replace(created, content="new", valid_until=None, metadata={"k": 1})
    change = store.update_memory(changed, unit_vector(), MODEL)
    assert change.record == changed
    assert read(store, "m") == changed


def test_an_update_without_a_vector_keeps_the_vector(store: Store) -> None:
    (created,) = create(store, a_memory("m"))
    change = store.update_memory(replace(created, importance=0.5), None, MODEL)
    kept = store.vectors(["m"], MODEL)["m"]
    assert change.vector is not None
    assert kept.tolist() == change.vector.tolist() == unit_vectors(1)[0].tolist()


def test_an_update_with_a_vector_replaces_it(store: Store) -> None:
    (created,) = create(store, a_memory("m"))
    vector = unit_vector(seed=7)
    store.update_memory(replace(created, content="new"), vector, MODEL)
    assert store.vectors(["m"], MODEL)["m"].tolist() == vector.tolist()


def test_a_deleted_memory_is_gone_with_its_vector(store: Store) -> None:
    (created,) = create(store, a_memory("m"))
    change = store.delete_memory(created)
    assert change.record == Deleted("memories", "m", created.row)
    assert store.memories(["m"]) == {}
    assert store.vectors(["m"], MODEL) == {}


def test_deleting_leaves_the_neighbours_vectors(store: Store) -> None:
    """Keys of vectors are ranges of ids: a neighbour in the order must not fall into the range."""
    a, _, _ = create(store, a_memory("a"), a_memory("a0"), a_memory("b"))
    store.delete_memory(a)
    assert store.vectors(["a", "a0", "b"], MODEL).keys() == {"a0", "b"}


def unchanged_after(store: Store, write: Any) -> bool:
    """Whether a write raises StoreError and leaves every table as it was."""

    def tables() -> Any:
        names = ("meta", "memories", "vectors", "entities", "relations", "changes")
        return store._db.run("; ".join(f"SELECT * FROM {name}" for name in names))

    before = repr(tables())
    with pytest.raises(StoreError):
        write()
    return repr(tables()) == before


def test_a_failed_batch_leaves_nothing_behind(store: Store) -> None:
    create(store, a_memory("b"))
    assert unchanged_after(store, lambda: create(store, a_memory("a"), a_memory("b"), a_memory("c")))
    assert store.memories(["a", "c"]) == {}


def test_a_refused_field_leaves_nothing_behind(store: Store) -> None:
    assert unchanged_after(store, lambda: create(store, a_memory("a"), a_memory("b", content=None)))


def test_updating_a_memory_that_is_gone_fails(store: Store) -> None:
    (created,) = create(store, a_memory("m"))
    store.delete_memory(created)
    assert unchanged_after(store, lambda: store.update_memory(created, unit_vector(), MODEL))


def test_deleting_twice_fails_and_counts_once(store: Store) -> None:
    (created,) = create(store, a_memory("m"))
    store.delete_memory(created)
    assert unchanged_after(store, lambda: store.delete_memory(created))


def test_vectors_of_another_type_are_refused(store: Store) -> None:
    vectors = unit_vectors(1).astype(np.float64)
    assert unchanged_after(store, lambda: store.create_memories([a_memory()], vectors, MODEL))  # type: ignore[arg-type]


def test_a_refused_update_is_not_read_back(store: Store) -> None:
    (created,) = create(store, a_memory("m"))
    with pytest.raises(StoreError):
        store.update_memory(replace(created, content=None), None, MODEL)  # type: ignore[arg-type]
    assert store.memories(["m"]) == {"m": created}


def test_everything_survives_a_reopening(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    (created,) = create(store, a_memory("m", metadata={"k": None}))
    before = store.state()
    store.close()
    store = Store.open(tmp_path)
    assert store.state() == before
    assert store.memories(["m"]) == {"m": created}
    assert store.vectors(["m"], MODEL)["m"].tolist() == unit_vectors(1)[0].tolist()
    store.close()


def test_threads_may_write_at_once(store: Store) -> None:
    def write(worker: int) -> None:
        for i in range(5):
            create(store, a_memory(f"m{worker}x{i}"))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    memories = [memory for page in store.scan("memories") for memory in page]
    assert sorted(memory.row for memory in memories) == list(range(20))
    assert (store.state().seq, store.state().counts.memories) == (20, 20)
