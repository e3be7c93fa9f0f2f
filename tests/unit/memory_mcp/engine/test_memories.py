"""Memories through the engine: storing, reading, changing, ending, and whose they are."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_mcp.engine import memories as module
from memory_mcp.engine.engine import Engine
from memory_mcp.engine.ids import new_id
from memory_mcp.engine.memories import Draft
from retrieval.errors import IndexesNotReady, InvalidInput, MemoryNotFound
from retrieval.records import Memory
from tests.builders import NOW, Clock

DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


def remember(engine: Engine, content: str = "something", **fields: Any) -> Memory:
    return engine.memories.store(Draft(content, **fields))


def listed(engine: Engine) -> list[str]:
    return [memory.content for memory in engine.memories.list(100, 0).memories]


# Storing and reading


def test_defaults(engine: Engine) -> None:
    memory = remember(engine)
    assert (memory.memory_type, memory.user_id, memory.metadata, memory.space) == (
        "semantic",
        None,
        {},
        "engine",
    )
    assert memory.event_time == memory.ingestion_time == memory.updated_at == memory.valid_from == NOW
    assert (memory.valid_until, memory.expires_at) == (None, None)
    assert (memory.invalidation_reason, memory.superseded_by, memory.importance) == (None, None, 1.0)


def test_what_was_stored_is_read(engine: Engine) -> None:
    memory = remember(engine, "Zoë", memory_type="episodic", user_id="ada", metadata={"k": [None]})
    assert engine.memories.get(memory.id) == memory


def test_ids_are_twenty_letters_and_digits(engine: Engine) -> None:
    keys = {remember(engine).id for _ in range(3)} | {new_id() for _ in range(50)}
    assert len(keys) == 53
    assert all(len(key) == 20 and key.isascii() and key.isalnum() and key == key.lower() for key in keys)


def test_an_id_may_carry_its_table(engine: Engine) -> None:
    memory = remember(engine)
    assert engine.memories.get(f"memories:{memory.id}") == memory


@pytest.mark.parametrize(
    "key", ["", "nobody", "entities:abc", "a b", "memories:", "x' OR 1", "ü" * 20, "a" * 65, "\ud800"]
)
def test_an_unknown_id_is_not_found(engine: Engine, key: str) -> None:
    with pytest.raises(MemoryNotFound):
        engine.memories.get(key)


def test_several_at_once_all_or_none(engine: Engine) -> None:
    stored = engine.memories.store_many([Draft("one"), Draft("two")])
    assert [memory.row for memory in stored] == [0, 1]
    with pytest.raises(InvalidInput):
        engine.memories.store_many([Draft("three"), Draft("")])
    assert listed(engine) == ["two", "one"]


def test_storing_nothing(engine: Engine) -> None:
    assert engine.memories.store_many([]) == []
    assert engine.status().counts.memories == 0


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (Draft(""), "content"),
        (Draft(" \n\t"), "content"),
        (Draft("x" * 100_001), "content"),
        (Draft("a\0b"), "content"),
        (Draft("a\ud83d"), "content"),
        (Draft("x", memory_type="episode"), "memory_type"),
        (Draft("x", memory_type=""), "memory_type"),
        (Draft("x", user_id=""), "user_id"),
        (Draft("x", user_id="a\0"), "user_id"),
        (Draft("x", metadata={"k": float("nan")}), "metadata.k"),
        (Draft("x", metadata={"k": [2**63]}), "metadata.k[0]"),
        (Draft("x", metadata={"k": {"l": "\ud800"}}), "metadata.k.l"),
        (Draft("x", metadata={"k": "x" * 65_000}), "metadata"),
        (Draft("x", metadata={"valid_from": "soon"}), "metadata.valid_from"),
        (Draft("x", metadata={"valid_until": 5}), "metadata.valid_until"),
        (Draft("x", metadata={"valid_until": "2026-01-06T12:00:00Z"}), "metadata.valid_until"),
        (Draft("x", metadata={"expires_at": "2026-13-01"}), "metadata.expires_at"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_names_the_field_and_stores_nothing(engine: Engine, draft: Draft, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.memories.store(draft)
    assert caught.value.field == field
    assert engine.status().counts.memories == 0


@pytest.mark.parametrize(
    "content", ["x" * 100_000, "\u200b", "👩‍👩‍👧", "مرحبا", "`; DELETE memories; --", "a\nb"]
)
def test_unusual_contents_are_kept(engine: Engine, content: str) -> None:
    assert engine.memories.get(remember(engine, content).id).content == content


# Times from metadata


def test_metadata_may_give_the_times(engine: Engine) -> None:
    metadata = {
        "event_time": "2020-05-01",
        "valid_from": "2020-05-01T10:00:00+02:00",
        "valid_until": "2030-01-01T00:00:00Z",
        "expires_at": "2031-01-01T00:00:00.5",
        "note": "kept",
    }
    memory = remember(engine, metadata=metadata)
    assert memory.event_time == datetime(2020, 5, 1, tzinfo=UTC)
    assert memory.valid_from == datetime(2020, 5, 1, 8, tzinfo=UTC)
    assert memory.valid_until == datetime(2030, 1, 1, tzinfo=UTC)
    assert memory.expires_at == datetime(2031, 1, 1, microsecond=500_000, tzinfo=UTC)
    assert memory.metadata == metadata
    assert memory.ingestion_time == NOW


def test_a_null_time_is_no_time(engine: Engine) -> None:
    memory = remember(engine, metadata={"valid_until": None, "event_time": None})
    assert (memory.valid_until, memory.event_time) == (None, NOW)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_the_ends_of_the_calendar(engine: Engine, text: str) -> None:
    memory = remember(engine, metadata={"event_time": text})
    assert engine.memories.get(memory.id).event_time == datetime.fromisoformat(text)


# Updating


def test_an_update_keeps_the_other_fields(engine: Engine, clock: Clock) -> None:
    metadata = {"k": 1, "valid_until": "2030-01-01"}
    before = remember(engine, "old", memory_type="episodic", user_id="ada", metadata=metadata)
    later = clock.advance(hours=1)
    after = engine.memories.update(before.id, content="new")
    assert after == engine.memories.get(before.id)
    assert (after.content, after.updated_at) == ("new", later)
    for name in (
        "id",
        "row",
        "memory_type",
        "user_id",
        "metadata",
        "event_time",
        "ingestion_time",
        "valid_from",
        "valid_until",
    ):
        assert getattr(after, name) == getattr(before, name)


def test_an_update_of_type_or_metadata_alone(engine: Engine) -> None:
    before = remember(engine, metadata={"k": 1})
    assert engine.memories.update(before.id, memory_type="procedural").metadata == {"k": 1}
    after = engine.memories.update(before.id, metadata={"l": 2})
    assert (after.content, after.memory_type, after.metadata) == ("something", "procedural", {"l": 2})


def test_an_update_of_nothing_is_an_update_all_the_same(engine: Engine, clock: Clock) -> None:
    before = remember(engine)
    clock.advance(hours=1)
    assert engine.memories.update(before.id).updated_at == clock.now


def test_new_metadata_may_move_the_times(engine: Engine) -> None:
    before = remember(engine, metadata={"valid_until": "2027-01-01"})
    after = engine.memories.update(before.id, metadata={"valid_from": "2020-01-01"})
    assert after.valid_from.year == 2020
    assert after.valid_until == before.valid_until


def test_new_metadata_must_not_turn_the_times_around(engine: Engine) -> None:
    before = remember(engine, metadata={"valid_until": "2027-01-01"})
    with pytest.raises(InvalidInput) as caught:
        engine.memories.update(before.id, metadata={"valid_from": "2028-01-01"})
    assert caught.value.field == "metadata.valid_until"
    assert engine.memories.get(before.id) == before


def test_a_memory_that_ended_before_it_began_can_still_be_changed(engine: Engine) -> None:
    """Invalidated while it lay in the future: its validity is empty, which no caller asked for."""
    future = remember(engine, metadata={"valid_from": "2030-01-01"})
    engine.memories.invalidate(future.id)
    assert engine.memories.update(future.id, content="changed").content == "changed"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"content": ""}, "content"),
        ({"memory_type": "x"}, "memory_type"),
        ({"metadata": {"k": object()}}, "metadata.k"),
    ],
)
def test_a_bad_update_changes_nothing(engine: Engine, change: dict[str, Any], field: str) -> None:
    before = remember(engine)
    with pytest.raises(InvalidInput) as caught:
        engine.memories.update(before.id, **change)
    assert caught.value.field == field
    assert engine.memories.get(before.id) == before


def test_updating_an_unknown_memory(engine: Engine) -> None:
    with pytest.raises(MemoryNotFound):
        engine.memories.update("nobody", content="x")


def test_concurrent_updates_of_different_fields_both_stand(engine: Engine) -> None:
    memory = remember(engine)
    changes: list[dict[str, Any]] = [{"content": "new"}, {"memory_type": "episodic"}, {"metadata": {"k": 1}}]
    threads = [
        threading.Thread(target=engine.memories.update, args=(memory.id,), kwargs=change)
        for change in changes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    after = engine.memories.get(memory.id)
    assert (after.content, after.memory_type, after.metadata) == ("new", "episodic", {"k": 1})


# Deleting


def test_a_deleted_memory_is_gone(engine: Engine) -> None:
    memory = remember(engine)
    engine.memories.delete(memory.id)
    for again in (
        engine.memories.get,
        engine.memories.delete,
        engine.memories.invalidate,
        engine.memories.update,
    ):
        with pytest.raises(MemoryNotFound):
            again(memory.id)
    assert engine.status().counts.memories == 0


# Ending


def test_an_invalidated_memory_ends_now(engine: Engine, clock: Clock) -> None:
    memory = remember(engine)
    now = clock.advance(hours=1)
    ended = engine.memories.invalidate(memory.id, reason="outdated")
    assert (ended.valid_until, ended.invalidation_reason, ended.updated_at) == (now, "outdated", now)
    assert ended == engine.memories.get(memory.id)
    assert engine.memories.valid(10) == ()
    assert engine.memories.valid(10, at=now - TICK) == (ended,)


def test_a_memory_may_be_superseded(engine: Engine) -> None:
    old, new = remember(engine, "old"), remember(engine, "new")
    ended = engine.memories.invalidate(old.id, superseded_by=f"memories:{new.id}")
    assert (ended.superseded_by, ended.invalidation_reason) == (new.id, None)
    assert engine.memories.get(new.id) == new


def test_one_that_has_ended_keeps_its_end_and_takes_the_reason(engine: Engine, clock: Clock) -> None:
    memory = remember(engine, metadata={"valid_from": "2020-01-01", "valid_until": "2021-01-01"})
    ended = engine.memories.invalidate(memory.id, reason="wrong from the start")
    assert ended.valid_until == memory.valid_until
    assert ended.invalidation_reason == "wrong from the start"


def test_invalidating_twice_keeps_what_is_not_given_again(engine: Engine, clock: Clock) -> None:
    old, new = remember(engine, "old"), remember(engine, "new")
    clock.advance(hours=1)
    first = engine.memories.invalidate(old.id, reason="why", superseded_by=new.id)
    clock.advance(hours=1)
    second = engine.memories.invalidate(old.id)
    assert (second.valid_until, second.invalidation_reason, second.superseded_by) == (
        first.valid_until, "why", new.id,
    )  # fmt: skip
    assert engine.memories.invalidate(old.id, reason="other").invalidation_reason == "other"


def test_an_end_in_the_future_is_moved_to_now(engine: Engine, clock: Clock) -> None:
    memory = remember(engine, metadata={"valid_until": "2030-01-01"})
    now = clock.advance(hours=1)
    assert engine.memories.invalidate(memory.id).valid_until == now


def test_one_that_has_not_begun_never_will(engine: Engine) -> None:
    memory = remember(engine, metadata={"valid_from": "2030-01-01"})
    engine.memories.invalidate(memory.id)
    for at in (NOW, memory.valid_from, memory.valid_from + DAY):
        assert engine.memories.valid(10, at=at) == ()


@pytest.mark.parametrize("successor", ["nobody", "", "'; --", "itself"])
def test_a_successor_must_be_another_memory(engine: Engine, successor: str) -> None:
    memory = remember(engine)
    with pytest.raises(InvalidInput) as caught:
        engine.memories.invalidate(memory.id, superseded_by=memory.id if successor == "itself" else successor)
    assert caught.value.field == "superseded_by"
    assert engine.memories.get(memory.id) == memory


def test_a_reason_must_say_something(engine: Engine) -> None:
    memory = remember(engine)
    with pytest.raises(InvalidInput) as caught:
        engine.memories.invalidate(memory.id, reason=" ")
    assert caught.value.field == "reason"


def test_an_invalidated_memory_can_be_read_listed_and_changed(engine: Engine) -> None:
    memory = remember(engine)
    engine.memories.invalidate(memory.id)
    assert listed(engine) == ["something"]
    after = engine.memories.update(memory.id, content="changed")
    assert after.valid_until == NOW


# Listing


def test_newest_first_in_pages(engine: Engine) -> None:
    for i in range(5):
        remember(engine, f"m{i}")
    pages = [engine.memories.list(2, offset) for offset in (0, 2, 4, 6)]
    assert [[memory.content for memory in page.memories] for page in pages] == [
        ["m4", "m3"],
        ["m2", "m1"],
        ["m0"],
        [],
    ]
    assert {page.total for page in pages} == {5}


def test_an_empty_list(engine: Engine) -> None:
    page = engine.memories.list(10, 0)
    assert (page.memories, page.total) == ((), 0)


# Validity


def test_valid_at_past_and_future_instants(engine: Engine) -> None:
    remember(engine, "past", metadata={"valid_from": "2020-01-01", "valid_until": "2021-01-01"})
    remember(engine, "now")
    remember(engine, "future", metadata={"valid_from": "2030-01-01"})
    remember(engine, "expiring", metadata={"expires_at": "2026-02-01"})

    def valid(at: datetime | None) -> list[str]:
        return [memory.content for memory in engine.memories.valid(10, at=at)]

    assert valid(None) == ["expiring", "now"]
    assert valid(datetime(2020, 6, 1, tzinfo=UTC)) == ["past"]
    assert valid(datetime(2021, 1, 1, tzinfo=UTC)) == []
    assert valid(datetime(2026, 2, 1, tzinfo=UTC)) == ["now"]
    assert valid(datetime(2031, 1, 1, tzinfo=UTC)) == ["future", "now"]


def test_time_passes(engine: Engine, clock: Clock) -> None:
    remember(engine, metadata={"expires_at": (NOW + DAY).isoformat()})
    clock.advance(days=1, microseconds=-1)
    assert len(engine.memories.valid(10)) == 1
    clock.advance(microseconds=1)
    assert engine.memories.valid(10) == ()


def test_valid_memories_are_limited_and_newest_first(engine: Engine) -> None:
    for i in range(4):
        remember(engine, f"m{i}")
    assert [memory.content for memory in engine.memories.valid(2)] == ["m3", "m2"]


def test_valid_memories_of_one_user(engine: Engine) -> None:
    remember(engine, "hers", user_id="ada")
    remember(engine, "his", user_id="bob")
    assert [memory.content for memory in engine.memories.valid(10, user_id="ada")] == ["hers"]
    assert engine.memories.valid(10, user_id="eve") == ()


# Whose


@pytest.fixture
def two(reopen: Callable[..., Engine]) -> Callable[..., Engine]:
    """One memory each of ada, bob and nobody; then open with the settings given."""
    engine = reopen()
    for user in ("ada", "bob", None):
        remember(engine, f"of {user}", user_id=user)
    return reopen


def test_a_server_for_all_sees_all(two: Callable[..., Engine]) -> None:
    engine = two()
    assert listed(engine) == ["of None", "of bob", "of ada"]
    assert engine.memories.owner(None) is None
    assert engine.memories.owner("ada") == "ada"


def test_a_server_for_one_user_serves_no_other(two: Callable[..., Engine]) -> None:
    everybody = {memory.content: memory.id for memory in two().memories.list(10, 0).memories}
    engine = two(user_id="ada")
    assert listed(engine) == ["of ada"]
    assert [memory.content for memory in engine.memories.valid(10)] == ["of ada"]
    for content in ("of bob", "of None"):
        for call in (
            engine.memories.get,
            engine.memories.delete,
            engine.memories.invalidate,
            engine.memories.update,
        ):
            with pytest.raises(MemoryNotFound):
                call(everybody[content])
    with pytest.raises(InvalidInput, match="superseded_by"):
        engine.memories.invalidate(everybody["of ada"], superseded_by=everybody["of bob"])


def test_a_server_for_one_user_writes_in_their_name(two: Callable[..., Engine]) -> None:
    engine = two(user_id="ada")
    assert remember(engine).user_id == "ada"
    assert remember(engine, user_id="ada").user_id == "ada"
    with pytest.raises(InvalidInput) as caught:
        remember(engine, user_id="bob")
    assert caught.value.field == "user_id"
    with pytest.raises(InvalidInput):
        engine.memories.valid(10, user_id="bob")


def test_another_space_is_another_world(two: Callable[..., Engine]) -> None:
    key = two().memories.list(1, 0).memories[0].id
    engine = two(space="memento")
    assert listed(engine) == []
    with pytest.raises(MemoryNotFound):
        engine.memories.get(key)
    remember(engine, "there")
    assert listed(engine) == ["there"]
    assert listed(two()) == ["of None", "of bob", "of ada"]


# Waiting


def test_indexes_that_are_not_ready_say_so_after_the_timeout(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = remember(engine)
    monkeypatch.setattr(engine.memories, "_timeout", 0.0)
    engine._indexes._live.clear()
    with pytest.raises(IndexesNotReady, match="try again"):
        engine.memories.list(10, 0)
    with pytest.raises(IndexesNotReady):
        engine.memories.valid(10)
    assert engine.memories.get(memory.id) == memory  # what needs no index still works
    engine._indexes._live.set()


def test_the_names_of_times_are_fields() -> None:
    assert set(module._TIMES) <= set(Memory.__dataclass_fields__)
