"""The catalog: who may see which memory, and when it was valid."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.catalog import Catalog
from retrieval.channels.arrays import save_arrays
from retrieval.records import Memory, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted
from tests.builders import NOW, a_memory, a_relation, an_entity

HOME = Scope("engine")
TICK = timedelta(microseconds=1)


def key_of(row: int) -> str:
    return f"{row:020}"


def written(row: int, **fields: Any) -> Change:
    return Change(row, a_memory(key_of(row), row=row, **fields))


def deleted(row: int) -> Change:
    return Change(0, Deleted("memories", key_of(row), row))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "indexes" / "catalog.arrays"


@pytest.fixture
def catalog(path: Path) -> Catalog:
    return Catalog.open(path)


def reopened(catalog: Catalog, path: Path) -> Catalog:
    catalog.save(Checkpoint("db", 7))
    catalog.close()
    return Catalog.open(path)


def test_an_empty_catalog(catalog: Catalog) -> None:
    assert (catalog.name, catalog.checkpoint) == ("catalog", None)
    assert catalog.visible(HOME).tolist() == []
    assert catalog.valid(HOME, NOW).tolist() == []


def test_newest_first(catalog: Catalog) -> None:
    catalog.apply([written(row) for row in (0, 2, 1)])
    assert catalog.visible(HOME).tolist() == [2, 1, 0]
    assert catalog.valid(HOME, NOW).tolist() == [2, 1, 0]


def test_ids_of_rows(catalog: Catalog) -> None:
    catalog.apply([written(0), written(1), written(2)])
    assert catalog.ids(np.array([2, 0])) == [key_of(2), key_of(0)]
    assert catalog.ids(np.array([], dtype=np.int64)) == []


def test_spaces_do_not_see_each_other(catalog: Catalog) -> None:
    catalog.apply([written(0), written(1, space="memento")])
    assert catalog.visible(HOME).tolist() == [0]
    assert catalog.visible(Scope("memento")).tolist() == [1]
    assert catalog.visible(Scope("nowhere")).tolist() == []


def test_a_user_sees_only_their_own(catalog: Catalog) -> None:
    catalog.apply([written(0), written(1, user_id="ada"), written(2, user_id="bob")])
    assert catalog.visible(Scope("engine", "ada")).tolist() == [1]
    assert catalog.visible(Scope("engine", "eve")).tolist() == []
    assert catalog.visible(HOME).tolist() == [2, 1, 0]


def test_a_user_named_like_a_space_is_no_space(catalog: Catalog) -> None:
    catalog.apply([written(0, user_id="memento"), written(1, space="memento", user_id="engine")])
    assert catalog.visible(Scope("memento")).tolist() == [1]
    assert catalog.visible(Scope("engine", "memento")).tolist() == [0]
    assert catalog.visible(Scope("engine", "engine")).tolist() == []


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (NOW - TICK, False),
        (NOW, True),
        (NOW + timedelta(days=1) - TICK, True),
        (NOW + timedelta(days=1), False),
    ],
    ids=["before", "from the first moment", "until just before the end", "at the end"],
)
@pytest.mark.parametrize("field", ["valid_until", "expires_at"])
def test_valid_from_its_start_until_just_before_its_end(
    catalog: Catalog, field: str, at: datetime, expected: bool
) -> None:
    catalog.apply([written(0, valid_from=NOW, **{field: NOW + timedelta(days=1)})])
    assert catalog.allowed(HOME, at, np.array([0])).tolist() == [expected]
    assert catalog.valid(HOME, at).tolist() == ([0] if expected else [])


def test_the_earlier_of_two_ends_counts(catalog: Catalog) -> None:
    catalog.apply([written(0, valid_until=NOW + 2 * TICK, expires_at=NOW + TICK)])
    assert catalog.valid(HOME, NOW).tolist() == [0]
    assert catalog.valid(HOME, NOW + TICK).tolist() == []


def test_instants_of_other_time_zones(catalog: Catalog) -> None:
    catalog.apply([written(0, valid_from=NOW)])
    tokyo = timezone(timedelta(hours=9))
    assert catalog.valid(HOME, NOW.astimezone(tokyo)).tolist() == [0]
    assert catalog.valid(HOME, NOW.replace(tzinfo=tokyo)).tolist() == []


@pytest.mark.parametrize("year", [1, 1500, 1969, 1970, 2026, 2300, 9999])
def test_microseconds_count_over_the_whole_calendar(catalog: Catalog, year: int) -> None:
    start = datetime(year, 6, 1, 1, 2, 3, 333_333, tzinfo=UTC)
    catalog.apply([written(0, valid_from=start, valid_until=start + TICK)])
    around = [start - TICK, start, start + TICK]
    assert [catalog.valid(HOME, at).tolist() for at in around] == [[], [0], []]


def test_an_invalid_memory_stays_visible(catalog: Catalog) -> None:
    catalog.apply([written(0, valid_until=NOW)])
    assert catalog.visible(HOME).tolist() == [0]


def test_an_update_replaces(catalog: Catalog) -> None:
    catalog.apply([written(0), written(0, user_id="ada", valid_until=NOW)])
    assert catalog.visible(Scope("engine", "ada")).tolist() == [0]
    assert catalog.valid(HOME, NOW).tolist() == []


def test_a_deleted_memory_is_not_seen(catalog: Catalog) -> None:
    catalog.apply([written(0), written(1), deleted(0), deleted(0), deleted(99)])
    assert catalog.visible(HOME).tolist() == [1]
    assert catalog.allowed(HOME, NOW, np.array([0, 1])).tolist() == [False, True]


def test_rows_that_never_were_are_not_seen(catalog: Catalog) -> None:
    catalog.apply([written(5)])
    assert catalog.visible(HOME).tolist() == [5]
    assert catalog.allowed(HOME, NOW, np.arange(6)).tolist() == [False] * 5 + [True]


def test_entities_and_relations_are_none_of_its_business(catalog: Catalog) -> None:
    catalog.apply([written(0)])
    catalog.apply(
        [
            Change(1, an_entity(row=0)),
            Change(2, a_relation("r", "a", "b")),
            Change(3, Deleted("entities", "e", 0)),
        ]
    )
    assert catalog.visible(HOME).tolist() == [0]


def test_it_grows(catalog: Catalog) -> None:
    catalog.apply([written(row, user_id=f"user {row % 3}") for row in range(5_000)])
    assert len(catalog.visible(HOME)) == 5_000
    assert catalog.visible(Scope("engine", "user 1"))[0] == 4_999
    assert catalog.ids(np.array([0, 4_999])) == [key_of(0), key_of(4_999)]


def test_everything_survives_a_reopening(catalog: Catalog, path: Path) -> None:
    catalog.apply([
        written(0), written(1, user_id="Zoë"), written(2, space="memento"), written(3, expires_at=NOW),
        written(4), deleted(4),
    ])  # fmt: skip
    catalog = reopened(catalog, path)
    assert catalog.checkpoint == Checkpoint("db", 7)
    assert catalog.visible(HOME).tolist() == [3, 1, 0]
    assert catalog.visible(Scope("engine", "Zoë")).tolist() == [1]
    assert catalog.visible(Scope("memento")).tolist() == [2]
    assert catalog.valid(HOME, NOW).tolist() == [1, 0]
    assert catalog.ids(np.array([1])) == [key_of(1)]


def test_a_reopened_catalog_takes_in_more(catalog: Catalog, path: Path) -> None:
    catalog.apply([written(0, user_id="ada")])
    catalog = reopened(catalog, path)
    catalog.apply([written(1, user_id="bob"), written(0, user_id="ada", valid_until=NOW)])
    assert catalog.visible(Scope("engine", "bob")).tolist() == [1]
    assert catalog.valid(HOME, NOW).tolist() == [1]


def test_an_empty_catalog_survives_a_reopening(catalog: Catalog, path: Path) -> None:
    catalog = reopened(catalog, path)
    assert catalog.checkpoint == Checkpoint("db", 7)
    assert catalog.visible(HOME).tolist() == []


def test_what_was_not_saved_is_not_there(catalog: Catalog, path: Path) -> None:
    catalog.apply([written(0)])
    catalog.save(Checkpoint("db", 1))
    catalog.apply([written(1)])
    catalog = Catalog.open(path)
    assert catalog.checkpoint == Checkpoint("db", 1)
    assert catalog.visible(HOME).tolist() == [0]


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "truncated":
        path.write_bytes(data[:-1])
    elif how == "flipped":
        data[len(data) // 2] ^= 4
        path.write_bytes(data)
    elif how == "foreign":
        save_arrays(path, Checkpoint("db", 7), {"vectors": np.zeros((2, 2))})
    elif how == "another shape":
        names = ("id", "space", "user", "valid_from", "valid_until", "expires_at", "names")
        save_arrays(path, Checkpoint("db", 7), {name: np.zeros(i, np.uint8) for i, name in enumerate(names)})
    elif how == "a folder":
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize("how", ["truncated", "flipped", "foreign", "another shape", "a folder"])
def test_a_damaged_catalog_starts_empty(catalog: Catalog, path: Path, how: str) -> None:
    catalog.apply([written(row) for row in range(20)])
    catalog.save(Checkpoint("db", 7))
    damage(path, how)
    catalog = Catalog.open(path)
    assert catalog.checkpoint is None
    assert catalog.visible(HOME).tolist() == []
    catalog.apply([written(0)])
    assert catalog.visible(HOME).tolist() == [0]


def test_clearing_forgets_in_memory_and_on_disk(catalog: Catalog, path: Path) -> None:
    catalog.apply([written(0)])
    catalog.save(Checkpoint("db", 7))
    catalog.clear()
    assert catalog.checkpoint is None
    assert catalog.visible(HOME).tolist() == []
    assert Catalog.open(path).checkpoint is None


def test_applying_a_change_twice_is_harmless(catalog: Catalog) -> None:
    memory = written(0).record
    assert isinstance(memory, Memory)
    catalog.apply([Change(1, memory), Change(1, memory)])
    assert catalog.visible(HOME).tolist() == [0]
