"""Records by row, from a mapped file and from what changed since."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.channels.arrays import load_arrays, save_arrays
from retrieval.records import Memory
from retrieval.shelf import Shelf
from retrieval.store.changes import Change, Checkpoint, Deleted
from tests.builders import NOW, a_memory, a_relation, an_entity

HERE = Checkpoint("here", 1)
FULL = a_memory(
    "full",
    content="Zoë said: “naïve”, \u2028 and\n\tleft 🦓",
    user_id="ada",
    metadata={"nested": {"list": [1, 2.5, None, True]}, "ключ": "значение"},
    importance=0.25,
    event_time=datetime(1, 1, 1, tzinfo=UTC),
    valid_until=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    expires_at=NOW,
    invalidation_reason="moved",
    superseded_by="other",
)


def opened(path: Path) -> Shelf[Memory]:
    return Shelf.open(path, Memory, "memories")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "indexes" / "shelf.arrays"


@pytest.fixture
def shelf(path: Path) -> Shelf[Memory]:
    return opened(path)


def put(shelf: Shelf[Memory], row: int, content: str, **fields: Any) -> Memory:
    memory = replace(a_memory(f"m{row}", content=content, **fields), row=row)
    shelf.apply([Change(1, memory)])
    return memory


def drop(shelf: Shelf[Memory], row: int) -> None:
    shelf.apply([Change(2, Deleted("memories", f"m{row}", row))])


def contents(shelf: Shelf[Memory], *rows: int) -> list[str | None]:
    return [memory and memory.content for memory in shelf.read(np.array(rows, dtype=np.int64))]


def reopened(shelf: Shelf[Memory], path: Path, checkpoint: Checkpoint = HERE) -> Shelf[Memory]:
    shelf.save(checkpoint)
    shelf.close()
    return opened(path)


def text_of(path: Path) -> Path:
    (text,) = path.parent.glob("shelf.*.jsonl")
    return text


@pytest.mark.parametrize("memory", [a_memory("plain"), FULL], ids=["plain", "full"])
def test_a_record_comes_back_as_it_was(shelf: Shelf[Memory], path: Path, memory: Memory) -> None:
    shelf.apply([Change(1, replace(memory, row=3))])
    rows = np.array([3], dtype=np.int64)
    assert shelf.read(rows) == [replace(memory, row=3)]
    assert reopened(shelf, path).read(rows) == [replace(memory, row=3)]


def test_rows_that_never_were_have_nothing(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 2, "two")
    assert contents(shelf, 0, 2, 7, -1) == [None, "two", None, None]
    assert contents(reopened(shelf, path), 0, 2, 7, -1) == [None, "two", None, None]


def test_the_newest_version_counts(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "old")
    again = reopened(shelf, path)
    put(again, 0, "new and longer")
    assert contents(again, 0) == ["new and longer"]
    assert contents(reopened(again, path, Checkpoint("here", 2)), 0) == ["new and longer"]


def test_a_second_save_keeps_what_did_not_change(shelf: Shelf[Memory], path: Path) -> None:
    for row in range(6):
        put(shelf, row, f"first {row}")
    again = reopened(shelf, path)
    put(again, 1, "second 1")
    drop(again, 4)
    put(again, 8, "second 8")
    expected = ["first 0", "second 1", "first 2", "first 3", None, "first 5", None, None, "second 8"]
    assert contents(again, *range(9)) == expected
    assert contents(reopened(again, path, Checkpoint("here", 2)), *range(9)) == expected


def test_what_is_deleted_is_gone_from_the_file_before_the_next_save(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "a secret")
    put(shelf, 1, "no secret at all")
    again = reopened(shelf, path)
    drop(again, 0)
    assert b"a secret" not in text_of(path).read_bytes()
    assert contents(again, 0, 1) == [None, "no secret at all"]
    assert contents(opened(path), 0, 1) == [None, "no secret at all"]


def test_one_file_of_text_is_kept(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "one")
    again = reopened(shelf, path)
    put(again, 1, "two")
    again.save(Checkpoint("here", 2))
    assert text_of(path).name == "shelf.2.jsonl"


def test_saving_the_same_again_writes_nothing(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "one")
    shelf.save(HERE)
    before = path.stat().st_mtime_ns, text_of(path).stat().st_ino
    shelf.save(HERE)
    assert (path.stat().st_mtime_ns, text_of(path).stat().st_ino) == before


def test_what_was_not_saved_is_not_there(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "one")
    again = reopened(shelf, path)
    put(again, 1, "two")
    again.close()
    assert contents(opened(path), 0, 1) == ["one", None]


def test_an_empty_shelf_survives_a_reopening(shelf: Shelf[Memory], path: Path) -> None:
    assert reopened(shelf, path).checkpoint == HERE


def test_a_damaged_line_is_as_good_as_none(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "zebra")
    put(shelf, 1, "quokka")
    shelf.save(HERE)
    text = text_of(path)
    text.write_bytes(text.read_bytes().replace(b"zebra", b"zebru"))
    assert contents(opened(path), 0, 1) == [None, "quokka"]


@pytest.mark.parametrize("how", ["missing", "shorter", "longer", "empty"])
def test_text_that_does_not_fit_starts_empty(shelf: Shelf[Memory], path: Path, how: str) -> None:
    put(shelf, 0, "zebra")
    shelf.save(HERE)
    text = text_of(path)
    whole = text.read_bytes()
    if how == "missing":
        text.unlink()
    else:
        text.write_bytes({"shorter": whole[:-1], "longer": whole + b" ", "empty": b""}[how])
    again = opened(path)
    assert again.checkpoint is None
    assert contents(again, 0) == [None]


@pytest.mark.parametrize("leave_out", ["begin", "sums", "layout"])
def test_arrays_that_do_not_fit_start_empty(shelf: Shelf[Memory], path: Path, leave_out: str) -> None:
    put(shelf, 0, "zebra")
    shelf.save(HERE)
    loaded = load_arrays(path)
    assert loaded is not None
    arrays = loaded[1]
    save_arrays(path, HERE, {**arrays, leave_out: arrays[leave_out][:0]})
    assert opened(path).checkpoint is None
    save_arrays(path, HERE, {name: array for name, array in arrays.items() if name != leave_out})
    assert opened(path).checkpoint is None


def test_lines_of_other_fields_are_not_read(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "zebra")
    shelf._layout += 1
    shelf.save(HERE)
    assert opened(path).checkpoint is None


def test_clearing_forgets_in_memory_and_on_disk(shelf: Shelf[Memory], path: Path) -> None:
    put(shelf, 0, "one")
    shelf.save(HERE)
    put(shelf, 1, "two")
    shelf.clear()
    assert contents(shelf, 0, 1) == [None, None]
    assert shelf.checkpoint is None
    assert list(path.parent.iterdir()) == []


def test_other_records_are_none_of_its_business(shelf: Shelf[Memory]) -> None:
    put(shelf, 0, "one")
    shelf.apply(
        [
            Change(1, an_entity("e", row=0)),
            Change(1, a_relation("r", "e", "e")),
            Change(1, Deleted("entities", "e", 0)),
        ]
    )
    assert contents(shelf, 0) == ["one"]
