"""The log of changes: complete, in order, in pages, and no longer than needed."""

from dataclasses import replace

import pytest

from retrieval.records import Memory
from retrieval.store import store as module
from retrieval.store.changes import Change, Checkpoint, Deleted
from retrieval.store.store import Counts, Store
from tests.builders import MODEL, a_memory, a_relation, an_entity, unit_vector, unit_vectors


def logged(store: Store, since: int = 0, model: str = MODEL) -> list[Change]:
    return [change for page in store.changes_since(since, model) for change in page]


def create(store: Store, key: str) -> Memory:
    record = store.create_memories([a_memory(key)], unit_vectors(1), MODEL)[0].record
    assert isinstance(record, Memory)
    return record


def test_an_untouched_store_has_no_changes(store: Store) -> None:
    assert logged(store) == []


def test_every_kind_of_write_is_in_the_log(store: Store) -> None:
    a, b = create(store, "a"), create(store, "b")
    entity = store.create_entity(an_entity("e")).record
    relation = store.create_relation(a_relation("r", "e", "e")).record
    store.delete_memory(a)
    b = replace(b, content="changed")
    store.update_memory(b, unit_vector(seed=5), MODEL)
    expected = [(3, entity), (4, relation), (5, Deleted("memories", "a", 0)), (6, b)]
    assert [(change.seq, change.record) for change in logged(store)] == expected


def test_changes_carry_the_current_vector(store: Store) -> None:
    memory = create(store, "m")
    vector = unit_vector(seed=5)
    store.update_memory(replace(memory, content="changed"), vector, MODEL)
    (change,) = logged(store)
    assert change.vector is not None
    assert change.vector.tolist() == vector.tolist()


def test_changes_have_no_vector_of_another_model(store: Store) -> None:
    create(store, "m")
    assert [change.vector for change in logged(store, model="other")] == [None]


def test_what_writers_return_is_what_the_log_says(store: Store) -> None:
    written = store.create_memories([a_memory("a"), a_memory("b")], unit_vectors(2), MODEL)
    assert [(c.seq, c.record, c.vector.tolist()) for c in logged(store) if c.vector is not None] == [
        (c.seq, c.record, c.vector.tolist()) for c in written if c.vector is not None
    ]
    assert len(logged(store)) == 2


def test_a_batch_is_one_change(store: Store) -> None:
    store.create_memories([a_memory(key) for key in "abc"], unit_vectors(3), MODEL)
    assert [change.seq for change in logged(store)] == [1, 1, 1]


def test_only_what_came_after(store: Store) -> None:
    for key in "abcd":
        create(store, key)
    assert [change.seq for change in logged(store, since=2)] == [3, 4]
    assert logged(store, since=4) == []
    assert logged(store, since=99) == []


def test_a_page_of_large_changes_is_cut_where_it_has_enough_records(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAGE", 5)
    for _ in range(3):
        store.create_memories(
            [a_memory(f"b{store.state().seq}x{i}") for i in range(3)], unit_vectors(3), MODEL
        )
    assert [len(page) for page in store.changes_since(0, MODEL)] == [6, 3]


def test_the_log_is_read_in_pages_that_end_at_a_whole_change(store: Store) -> None:
    for _ in range(2):  # six memories a change: pages of 200 changes are not pages of 200 records
        store.create_memories(
            [a_memory(f"b{store.state().seq}x{i}") for i in range(6)], unit_vectors(6), MODEL
        )
    store._db.run(  # 200 more entries, without the time of 200 commits
        "FOR $i IN 3..=202 { CREATE type::record('changes', [$i]) SET touched = [['memories', 'gone', 77]] };"
    )
    pages = list(store.changes_since(0, MODEL))
    assert [page[-1].seq for page in pages] == [200, 202]
    assert len(pages[0]) == 13
    assert pages[1] == [Change(202, Deleted("memories", "gone", 77))]


def test_forgotten_changes_are_gone_and_the_rest_stays(store: Store) -> None:
    for key in "abcd":
        create(store, key)
    store.forget_changes(2)
    assert [change.seq for change in logged(store)] == [3, 4]
    assert store.state().oldest == 2


def test_forgetting_less_than_before_changes_nothing(store: Store) -> None:
    for key in "abcd":
        create(store, key)
    store.forget_changes(3)
    store.forget_changes(1)
    assert store.state().oldest == 3
    assert [change.seq for change in logged(store)] == [4]


def test_numbers_go_on_after_the_log_was_forgotten(store: Store) -> None:
    create(store, "a")
    store.forget_changes(1)
    create(store, "b")
    assert [change.seq for change in logged(store)] == [2]


def test_a_checkpoint_names_database_and_change(store: Store) -> None:
    create(store, "a")
    state = store.state()
    assert state.checkpoint == Checkpoint(state.database, 1)


def test_scanning_gives_every_record_once_in_pages(store: Store) -> None:
    count = 4_100
    memories = [a_memory(f"k{i}") for i in range(count)]
    store.create_memories(memories, unit_vectors(count, dimensions=2), MODEL)
    pages = list(store.scan("memories"))
    assert len(pages) == 3
    assert {memory.id: memory.row for page in pages for memory in page} == {f"k{i}": i for i in range(count)}
    assert sum(map(len, pages)) == count


def test_scanning_reads_each_table(store: Store) -> None:
    entity = store.create_entity(an_entity("e")).record
    relation = store.create_relation(a_relation("r", "e", "e")).record
    assert list(store.scan("memories")) == []
    assert list(store.scan("entities")) == [[entity]]
    assert list(store.scan("relations")) == [[relation]]


def test_a_reset_says_how_much_there_was_and_leaves_nothing(store: Store) -> None:
    memory = create(store, "m")
    store.create_entity(an_entity("e"))
    store.create_relation(a_relation("r", "e", "e"))
    assert store.reset() == Counts(1, 1, 1)
    assert store.state().counts == Counts(0, 0, 0)
    assert store.memories([memory.id]) == {}
    assert store.vectors([memory.id], MODEL) == {}
    assert store.entities(["e"]) == {}
    assert store.relations_of(["e"], outgoing=True, incoming=True, limit=9) == []
    assert logged(store) == []


def test_a_reset_gives_the_database_a_new_name(store: Store) -> None:
    create(store, "m")
    before = store.state()
    store.reset()
    after = store.state()
    assert after.database != before.database
    assert (after.seq, after.oldest) == (0, 0)


def test_a_reset_keeps_the_model(store: Store) -> None:
    store.set_model(MODEL, 64)
    store.reset()
    assert (store.state().model, store.state().dimensions) == (MODEL, 64)


def test_resetting_an_empty_store_is_harmless(store: Store) -> None:
    assert store.reset() == Counts(0, 0, 0)
    create(store, "m")
    assert store.state().seq == 1
