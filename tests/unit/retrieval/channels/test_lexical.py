"""Here are words; which memories contain them? The keyword index over its life."""

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.channels import lexical as module
from retrieval.channels.folder import CHECKPOINT_FILE, read_checkpoint, remove_checkpoint, write_checkpoint
from retrieval.channels.lexical import FRESH_LIMIT, Lexical
from retrieval.errors import StoreLocked
from retrieval.records import Entity, Memory, Rows, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOME = Scope("engine")


def written(row: int, content: str, space: str = "engine", user_id: str | None = None) -> Change:
    memory = Memory(
        id=f"m{row}", row=row, content=content, memory_type="semantic", space=space, user_id=user_id,
        metadata={}, importance=0.5, event_time=NOW, ingestion_time=NOW, updated_at=NOW, valid_from=NOW,
    )  # fmt: skip
    return Change(seq=row, record=memory)


def deleted(row: int) -> Change:
    return Change(seq=row, record=Deleted("memories", f"m{row}", row))


def everything(rows: Rows) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=np.bool_)


def found(index: Lexical, query: str, scope: Scope = HOME, k: int = 10) -> list[int]:
    return [int(row) for row in index.search(query, k, scope, everything).rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lexical"


@pytest.fixture
def index(folder: Path) -> Iterator[Lexical]:
    opened = Lexical.open(folder)
    yield opened
    opened.close()


@pytest.fixture(params=["drafts", "committed"])
def settle(request: pytest.FixtureRequest) -> str:
    """Every reading test runs on changes just applied and on changes saved."""
    return str(request.param)


def fill(index: Lexical, settle: str, *changes: Change) -> None:
    index.apply(changes)
    if settle == "committed":
        index.save(Checkpoint("db", len(changes)))


def test_an_empty_index_finds_nothing(index: Lexical) -> None:
    assert (index.name, index.checkpoint, index.count) == ("lexical", None, 0)
    assert found(index, "anything") == []
    assert index.containing("anything", HOME, 5).tolist() == []


def test_best_first(index: Lexical, settle: str) -> None:
    fill(index, settle, written(1, "the cat sat"), written(2, "cat and dog"), written(3, "a bird"))
    ranking = index.search("dog or cat?", 10, HOME, everything)
    assert ranking.rows.tolist() == [2, 1]
    assert ranking.scores[0] > ranking.scores[1] > 0
    assert (str(ranking.rows.dtype), str(ranking.scores.dtype)) == ("int64", "float64")


def test_equal_scores_by_row(index: Lexical, settle: str) -> None:
    fill(index, settle, *(written(row, "same words") for row in (5, 3, 9, 1)))
    assert found(index, "same words") == [1, 3, 5, 9]


@pytest.mark.parametrize("query", ["", "?!", "absent"])
def test_nothing_to_ask_for(index: Lexical, settle: str, query: str) -> None:
    fill(index, settle, written(1, "cat"))
    assert found(index, query) == []
    assert found(index, "cat", k=0) == []


def test_a_query_of_stop_words_alone_still_asks(index: Lexical, settle: str) -> None:
    fill(index, settle, written(1, "The Who played"), written(2, "others played"))
    assert found(index, "the who") == [1]


def test_update_replaces(index: Lexical, settle: str) -> None:
    fill(index, settle, written(1, "old text"), written(2, "other"))
    fill(index, settle, written(1, "new text"))
    assert found(index, "old") == []
    assert found(index, "new") == [1]
    assert index.count == 2


def test_delete_forgets_and_is_harmless_twice(index: Lexical, settle: str) -> None:
    fill(index, settle, written(1, "cat"), written(2, "cat"))
    fill(index, settle, deleted(1), deleted(1), deleted(77))
    assert found(index, "cat") == [2]
    assert index.count == 1


def test_applying_twice_is_harmless(index: Lexical, settle: str) -> None:
    fill(index, settle, written(1, "cat"))
    fill(index, settle, written(1, "cat"))
    assert found(index, "cat") == [1]
    assert index.count == 1


def test_other_records_are_ignored(index: Lexical) -> None:
    entity = Entity("e1", 1, "cat", None, None, "engine", None, NOW)
    index.apply([written(1, "cat"), Change(2, entity), Change(3, Deleted("entities", "e1", 1))])
    assert found(index, "cat") == [1]


def test_each_write_is_seen_by_the_next_search(index: Lexical) -> None:
    for row in range(3 * FRESH_LIMIT):
        index.apply([written(row, f"{row} shared")])
        assert found(index, f"{row}") == [row]
    assert index.count == 3 * FRESH_LIMIT


def test_a_bulk_load_is_seen_at_once(index: Lexical) -> None:
    index.apply([written(row, f"{row} shared") for row in range(5 * FRESH_LIMIT)])
    assert len(found(index, "shared", k=10_000)) == 5 * FRESH_LIMIT
    index.apply([written(7, "changed")])
    assert found(index, "7") == []
    assert found(index, "changed") == [7]


def test_drafts_score_as_they_will_once_committed(index: Lexical) -> None:
    index.apply([written(row, f"filler number {row} text") for row in range(1000)])
    index.save(Checkpoint("db", 1))
    index.apply([written(2000, "a rare zebra among the filler text")])
    before = index.search("rare zebra text", 5, HOME, everything)
    index.save(Checkpoint("db", 2))
    after = index.search("rare zebra text", 5, HOME, everything)
    assert before.rows.tolist() == after.rows.tolist()
    assert before.rows[0] == 2000
    np.testing.assert_allclose(before.scores, after.scores, rtol=0.01)


def test_scope(index: Lexical, settle: str) -> None:
    fill(
        index,
        settle,
        written(1, "cat"),
        written(2, "cat", user_id="ann"),
        written(3, "cat", user_id="bob"),
        written(4, "cat", space="agent", user_id="ann"),
        written(5, "cat", user_id=""),
    )
    assert found(index, "cat") == [1, 2, 3, 5]
    assert found(index, "cat", Scope("engine", "ann")) == [2]
    assert found(index, "cat", Scope("engine", "")) == [5]
    assert found(index, "cat", Scope("agent")) == [4]
    assert found(index, "cat", Scope("agent", "bob")) == []
    assert found(index, "cat", Scope("nowhere")) == []
    assert index.containing("cat", Scope("engine", "bob"), 9).tolist() == [3]


def test_one_space_alone_needs_no_filter_and_hides_from_others(index: Lexical, settle: str) -> None:
    fill(index, settle, written(1, "cat", user_id="ann"))
    assert found(index, "cat") == [1]
    assert found(index, "cat", Scope("engine", "ann")) == [1]
    assert found(index, "cat", Scope("agent")) == []
    assert found(index, "cat", Scope("engine", "bob")) == []


def test_what_others_wrote_moves_no_score(tmp_path: Path, settle: str) -> None:
    mine = [written(row, f"cat {'dog' if row % 3 else 'bird'} {row}", user_id="ann") for row in range(20)]
    alone = Lexical.open(tmp_path / "alone")
    fill(alone, settle, *mine)
    shared = Lexical.open(tmp_path / "shared")
    fill(shared, settle, *mine, *(written(row, "bird cat bird", user_id="bob") for row in range(50, 90)))
    ranking = alone.search("cat bird 9", 50, Scope("engine", "ann"), everything)
    among_others = shared.search("cat bird 9", 50, Scope("engine", "ann"), everything)
    assert ranking.rows.tolist() == among_others.rows.tolist()
    np.testing.assert_allclose(ranking.scores, among_others.scores, rtol=1e-4)
    alone.close()
    shared.close()


def test_asks_again_until_enough_are_allowed(index: Lexical, settle: str) -> None:
    fill(index, settle, *(written(row, "cat") for row in range(1000)))
    calls: list[int] = []

    def late(rows: Rows) -> NDArray[np.bool_]:
        calls.append(len(rows))
        return rows >= 900

    assert index.search("cat", 20, HOME, late).rows.tolist() == list(range(900, 920))
    assert len(calls) > 1
    assert index.search("cat", 500, HOME, late).rows.tolist() == list(range(900, 1000))
    assert len(index.search("cat", 20, HOME, lambda rows: rows < 0)) == 0


def test_containing_looks_for_neighbours(index: Lexical, settle: str) -> None:
    fill(
        index,
        settle,
        written(1, "the billing service is down"),
        written(2, "service of billing"),
        written(3, "class BillingService:"),
        written(4, "see billing-service.md"),
        written(5, "billing"),
        written(6, "billingservice"),
    )
    assert index.containing("Billing Service", HOME, 10).tolist() == [1, 3, 4]
    assert index.containing("BillingService", HOME, 10).tolist() == [1, 3, 4, 6]
    assert index.containing("billing", HOME, 10).tolist() == [1, 2, 3, 4, 5]
    assert len(index.containing("billing", HOME, 2)) == 2
    assert index.containing("?", HOME, 10).tolist() == []


def test_reopen_finds_what_was_saved(folder: Path) -> None:
    first = Lexical.open(folder)
    first.apply([written(1, "cat"), written(2, "dog")])
    first.save(Checkpoint("db", 2))
    first.apply([written(3, "cat")])  # not saved: the log will bring it again
    first.close()
    second = Lexical.open(folder)
    assert second.checkpoint == Checkpoint("db", 2)
    assert found(second, "cat") == [1]
    second.apply([written(1, "bird"), deleted(2), written(3, "cat")])
    assert (found(second, "cat"), found(second, "dog"), found(second, "bird")) == ([3], [], [1])
    second.close()


def test_clear_forgets_on_disk_too(folder: Path, index: Lexical) -> None:
    index.apply([written(row, "cat") for row in range(2 * FRESH_LIMIT)])
    index.save(Checkpoint("db", 1))
    index.apply([written(row, "cat") for row in range(2 * FRESH_LIMIT, 4 * FRESH_LIMIT)])
    index.clear()
    assert (index.count, index.checkpoint, found(index, "cat")) == (0, None, [])
    index.apply([written(1, "cat")])
    assert found(index, "cat") == [1]
    index.close()
    again = Lexical.open(folder)
    assert (again.count, again.checkpoint) == (0, None)
    again.close()


def saved(folder: Path) -> None:
    index = Lexical.open(folder)
    index.apply([written(row, f"cat number {row}") for row in range(50)])
    index.save(Checkpoint("db", 50))
    index.apply([deleted(3)])
    index.save(Checkpoint("db", 51))
    index.close()


def test_any_damaged_file_means_an_empty_index(tmp_path: Path) -> None:
    sound, folder = tmp_path / "sound", tmp_path / "damaged"
    saved(sound)
    names = [path.name for path in sound.iterdir() if path.suffix != ".lock"]
    vital = [name for name in names if name != ".managed.json"]  # tantivy's list of what it may delete
    assert len(vital) >= 8
    for name in vital:
        for content in (b"", b"\0" * 100, None):
            shutil.copytree(sound, folder)
            target = folder / name
            if content is None:
                target.unlink()
            else:
                target.write_bytes(content)
            index = Lexical.open(folder)
            assert (index.checkpoint, index.count) == (None, 0), (name, content)
            index.apply([written(1, "cat")])
            index.save(Checkpoint("db", 1))
            assert found(index, "cat") == [1]
            index.close()
            shutil.rmtree(folder)


def test_a_foreign_folder_is_taken_over(folder: Path) -> None:
    folder.mkdir()
    (folder / "meta.json").write_text("{}")
    (folder / "notes.txt").write_text("hello")
    index = Lexical.open(folder)
    assert (index.checkpoint, index.count) == (None, 0)
    index.close()


def test_another_analysis_means_an_empty_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(folder)
    monkeypatch.setattr(module, "LAYOUT", module.LAYOUT + 100)
    index = Lexical.open(folder)
    assert (index.checkpoint, index.count) == (None, 0)
    index.close()


def test_two_owners_are_refused_without_harm(folder: Path) -> None:
    saved(folder)
    first = Lexical.open(folder)
    with pytest.raises(StoreLocked, match="in use by another process"):
        Lexical.open(folder)
    assert first.count == 49
    first.close()
    Lexical.open(folder).close()


def child(folder: Path, ending: str) -> subprocess.Popen[bytes]:
    here = Path(__file__)
    program = f"""
import importlib.util, sys, time
from pathlib import Path
spec = importlib.util.spec_from_file_location("cases", {str(here)!r})
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
index = cases.Lexical.open(Path({str(folder)!r}))
for start in range(0, 6000, 500):
    index.apply([cases.written(row, f"cat number {{row}}") for row in range(start, start + 500)])
    index.save(cases.Checkpoint("db", start))
index.apply([cases.written(9000, "unsaved cat")])
print("ready", flush=True)
{ending}
"""
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)


def test_a_killed_owner_leaves_no_lock(folder: Path) -> None:
    process = child(folder, "time.sleep(60)")
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)
    index = Lexical.open(folder)
    assert index.checkpoint == Checkpoint("db", 5500)
    assert index.count == 6000
    assert found(index, "unsaved") == []
    index.close()


@pytest.mark.parametrize("ending", ["index.close()", "pass"])
def test_the_process_ends_at_once_even_while_segments_merge(folder: Path, ending: str) -> None:
    process = child(folder, ending)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"ready\n"
        assert process.wait(timeout=5) == 0


def test_searches_and_writes_at_the_same_time(index: Lexical) -> None:
    index.apply([written(0, "steady cat")])
    problems: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                assert 0 in found(index, "steady")
        except BaseException as error:  # noqa: BLE001 - handed to the test
            problems.append(error)

    searcher = threading.Thread(target=search)
    searcher.start()
    for row in range(1, 1000):
        index.apply([written(row, f"word{row}")])
        if row % 300 == 0:
            index.save(Checkpoint("db", row))
    done.set()
    searcher.join(timeout=10)
    assert not problems
    assert index.count == 1000


def test_checkpoint_round_trip(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert read_checkpoint(folder) is None
    write_checkpoint(folder, Checkpoint("db", 7))
    write_checkpoint(folder, Checkpoint("db", 8))
    assert read_checkpoint(folder) == Checkpoint("db", 8)
    assert read_checkpoint(folder, layout=2) is None
    assert [path.name for path in folder.iterdir()] == [CHECKPOINT_FILE]
    remove_checkpoint(folder)
    remove_checkpoint(folder)
    assert read_checkpoint(folder) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        json.dumps({"layout": 1, "database": "db"}).encode(),
        json.dumps({"layout": 1, "database": 3, "seq": 1}).encode(),
        json.dumps({"layout": 1, "database": "db", "seq": True}).encode(),
        json.dumps({"layout": 1, "database": "db", "seq": -1}).encode(),
        json.dumps({"layout": True, "database": "db", "seq": 1}).encode(),
        b"[" * 100_000,
    ],
)
def test_a_malformed_checkpoint_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CHECKPOINT_FILE).write_bytes(content)
    assert read_checkpoint(tmp_path) is None
