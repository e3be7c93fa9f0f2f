"""A folder in, files and chunks out, and nothing done twice."""

import logging
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from indexer import pipeline as module
from indexer.chunk import cut
from indexer.symbols_note import from_note
from indexer.walk import InvalidPath, read_text
from retrieval.records import SourceFile
from retrieval.store.changes import Change
from tests.unit.indexer.workshop import Workshop, function

TWO = {"a.py": function("alpha") + function("beta"), "lib/b.py": function("gamma")}


class Reading:
    """Notes which files are read."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self.paths: list[str] = []
        self._real = read_text
        monkeypatch.setattr(module, "read_text", self._read)

    def _read(self, path: Path) -> Any:
        self.paths.append(path.relative_to(self._root).as_posix())
        return self._real(path)

    def taken(self) -> list[str]:
        taken, self.paths = sorted(self.paths), []
        return taken


@pytest.fixture
def reading(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Reading:
    return Reading(shop.root, monkeypatch)


def files_of(shop: Workshop) -> dict[str, SourceFile]:
    return {file.path: file for page in shop.store.code.files("app") for file in page}


# The first time


def test_a_folder_becomes_files_and_chunks(shop: Workshop) -> None:
    shop.write(TWO)
    outcome = shop.index()
    assert (outcome.files, outcome.changed, outcome.added, outcome.removed) == (2, 2, 3, 0)
    assert outcome.finished
    chunk = shop.chunks()["gamma"]
    assert (chunk.path, chunk.project, chunk.space, chunk.language) == ("lib/b.py", "app", "engine", "python")
    assert (chunk.start_line, chunk.end_line, chunk.chunk_type) == (1, 3, "function")
    assert chunk.content == TWO["lib/b.py"].rstrip()
    shop.check()


def test_files_carry_their_symbols(shop: Workshop) -> None:
    shop.write({"a.py": function("alpha", "return beta(1)"), "notes.txt": "just text\n"})
    shop.index()
    files = files_of(shop)
    symbols = from_note(files["a.py"].symbols)
    assert [one.name for one in symbols.definitions] == ["alpha"]
    assert "beta" in [one.name for one in symbols.references]
    assert files["notes.txt"].symbols == b""
    assert files["a.py"].settled


def test_progress_is_reported(shop: Workshop) -> None:
    shop.write(TWO)
    told: list[tuple[int, int]] = []
    shop.index(report=lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_many_files_are_stored_in_batches(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 2)
    shop.write({f"{i}.py": function(f"name{i}") for i in range(5)})
    shop.index()
    assert shop.store.state().seq == 3
    assert len(shop.chunks()) == 5
    shop.check()


def test_many_chunks_are_stored_in_batches(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_CHUNKS", 2)
    shop.write({f"{i}.py": function(f"one{i}") + function(f"two{i}") for i in range(3)})
    shop.index()
    assert shop.store.state().seq == 3


def test_equal_functions_of_one_file_are_chunks_of_their_own(shop: Workshop) -> None:
    shop.write({"a.py": function("alpha") * 2})
    assert shop.index().added == 2
    first, second = (known for known in shop.indexes.code.catalog.file("app", "a.py"))
    assert first.digest == second.digest
    assert first.id != second.id
    shop.check()


def test_the_same_file_in_two_projects_is_two(shop: Workshop) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()
    other = shop.other_project("other", {"a.py": function("alpha")})
    assert shop.index(other).added == 1
    assert shop.store.state().counts.chunks == 2
    shop.check()


def test_a_folder_that_is_gone_keeps_its_code(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    shutil.rmtree(shop.root)
    with pytest.raises(InvalidPath, match="does not exist"):
        shop.index()
    assert sorted(shop.chunks()) == ["alpha", "beta", "gamma"]


# The next time


def test_nothing_changed_and_nothing_is_read(shop: Workshop, reading: Reading) -> None:
    shop.write(TWO)
    shop.index()
    assert reading.taken() == ["a.py", "lib/b.py"]
    seq = shop.store.state().seq
    outcome = shop.index()
    assert reading.taken() == []
    assert (outcome.files, outcome.changed, outcome.added, outcome.removed) == (2, 0, 0, 0)
    assert shop.store.state().seq == seq


def test_a_file_that_was_not_settled_is_read_again(
    shop: Workshop, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been written twice within one tick of the clock."""
    monkeypatch.setattr("indexer.walk.SETTLED_NS", 10**15)
    shop.write(TWO)
    shop.index()
    reading.taken()
    shop.index()
    assert reading.taken() == ["a.py", "lib/b.py"]
    monkeypatch.undo()


def test_an_edited_file_touches_only_itself(shop: Workshop, reading: Reading) -> None:
    shop.write(TWO)
    shop.index()
    reading.taken()
    before = shop.chunks()
    shop.write({"a.py": "import os\n\n\n" + function("alpha") + function("delta")})
    outcome = shop.index()
    after = shop.chunks()
    assert reading.taken() == ["a.py"]
    assert outcome.changed == 1
    assert after["gamma"] == before["gamma"]
    assert "beta" not in after
    assert after["delta"].row > max(chunk.row for chunk in before.values())
    shop.check()


def test_a_chunk_that_moves_keeps_its_id_and_row(shop: Workshop) -> None:
    shop.write({"a.py": function("alpha") + function("beta")})
    shop.index()
    before = shop.chunks()["beta"]
    shop.write(
        {"a.py": function("alpha", "return 2\n\n    # two\n    # more\n    # lines") + function("beta")}
    )
    outcome = shop.index()
    after = shop.chunks()["beta"]
    assert (after.id, after.row) == (before.id, before.row)
    assert after.start_line == before.start_line + 4
    assert (outcome.added, outcome.removed) == (1, 1)
    shop.check()


def test_a_touched_file_is_only_stamped_anew(shop: Workshop, reading: Reading) -> None:
    shop.write(TWO)
    shop.index()
    reading.taken()
    before, seq = files_of(shop)["a.py"], shop.store.state().seq
    shop.write({"a.py": TWO["a.py"]})
    outcome = shop.index()
    after = files_of(shop)["a.py"]
    assert reading.taken() == ["a.py"]
    assert (outcome.changed, outcome.added) == (0, 0)
    assert after.stamp != before.stamp
    assert (after.digest, after.symbols, after.language) == (before.digest, before.symbols, before.language)
    assert shop.store.state().seq == seq
    shop.index()
    assert reading.taken() == []


def test_a_deleted_file_is_forgotten(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    (shop.root / "a.py").unlink()
    outcome = shop.index()
    assert (outcome.files, outcome.removed) == (1, 2)
    assert sorted(shop.chunks()) == ["gamma"]
    assert shop.paths() == ["lib/b.py"]
    shop.check()


def test_many_deleted_files_are_forgotten_in_batches(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 2)
    shop.write({f"{i}.py": function(f"name{i}") for i in range(5)})
    shop.index()
    for i in range(4):
        (shop.root / f"{i}.py").unlink()
    assert shop.index().removed == 4
    assert sorted(shop.chunks()) == ["name4"]
    shop.check()


def test_a_renamed_file_stands_under_its_new_path(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    before = shop.chunks()["gamma"]
    (shop.root / "lib" / "b.py").rename(shop.root / "c.py")
    shop.index()
    after = shop.chunks()["gamma"]
    assert (after.path, after.digest) == ("c.py", before.digest)  # its vector is as good as before
    assert after.id != before.id
    assert shop.paths() == ["a.py", "c.py"]
    shop.check()


def test_a_branch_and_back(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    before = shop.chunks()
    shop.write({"a.py": function("epsilon")})
    shop.index()
    shop.write({"a.py": TWO["a.py"]})
    shop.index()
    after = shop.chunks()
    assert {name: chunk.id for name, chunk in after.items()} == {n: c.id for n, c in before.items()}
    shop.check()


def test_a_language_that_is_found_out_later_is_that_of_every_chunk(shop: Workshop) -> None:
    struct = (
        "/* A point in the plane, of which there are many. */\nstruct point {\n    int x;\n    int y;\n};\n"
    )
    shop.write({"a.h": f"#define LIMIT 1\n\n{struct}"})
    shop.index()
    assert {chunk.language for chunk in shop.chunks().values()} == {"c"}
    shop.write({"a.h": f"using a=b;;;;;;;\n\n{struct}"})
    shop.index()
    assert {chunk.language for chunk in shop.chunks().values()} == {"cpp"}
    shop.check()


# What is left out


def test_skipped_files_are_counted_and_not_looked_into_again(shop: Workshop, reading: Reading) -> None:
    shop.write(
        {
            "a.py": function("alpha"),
            "data": b"\0\1\2" * 100,
            "made.py": "# Code generated by a tool. DO NOT EDIT.\nx = 1\n",
            "empty.py": "",
            "yarn.lock": "x\n",
        }
    )
    first = shop.index()
    assert first.skipped == {"binary": 1, "generated": 1, "empty": 1, "lock file": 1}
    assert reading.taken() == ["a.py", "data", "made.py"]
    second = shop.index()
    assert second.skipped == first.skipped
    assert reading.taken() == []
    assert (first.files, second.files, shop.index_paths("a.py").files) == (1, 1, 1)
    assert sorted(shop.chunks()) == ["alpha"]
    shop.check()


def test_a_file_that_becomes_binary_loses_its_chunks(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    shop.write({"a.py": b"\0\1\2" * 50})
    outcome = shop.index()
    assert (outcome.removed, outcome.skipped) == (2, {"binary": 1})
    shop.write({"a.py": TWO["a.py"]})
    assert shop.index().added == 2
    shop.check()


def test_a_file_that_becomes_empty_is_forgotten(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    shop.write({"a.py": ""})
    outcome = shop.index()
    assert (outcome.removed, outcome.skipped) == (2, {"empty": 1})
    assert sorted(shop.chunks()) == ["gamma"]


def test_a_file_that_cannot_be_cut_is_reported_and_the_others_are_indexed(
    shop: Workshop, reading: Reading, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = cut

    def fail(text: str, language: Any) -> Any:
        if "alpha" in text:
            raise RecursionError("too deep")
        return real(text, language)

    monkeypatch.setattr(module, "cut", fail)
    shop.write(TWO)
    with caplog.at_level(logging.ERROR):
        outcome = shop.index()
    assert outcome.problems == {"a.py": "RecursionError: too deep"}
    assert "a.py" in caplog.text
    assert sorted(shop.chunks()) == ["gamma"]
    assert files_of(shop)["a.py"].problem == "RecursionError: too deep"
    reading.taken()
    shop.index()
    assert reading.taken() == []  # it would fail again
    shop.check()


def test_a_file_that_cannot_be_cut_any_more_loses_its_chunks(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write(TWO)
    shop.index()
    with monkeypatch.context() as patched:
        patched.setattr(module, "cut", lambda *_: 1 // 0)
        shop.write({"a.py": function("changed")})
        shop.index()
    assert sorted(shop.chunks()) == ["gamma"]
    shop.check()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_opened(shop: Workshop) -> None:
    shop.write(TWO)
    os.mkfifo(shop.root / "pipe.py")
    assert shop.index().skipped == {"not a regular file": 1}


# Stopping and going on


def test_what_was_stored_before_a_stop_is_not_done_again(
    shop: Workshop, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 1)
    shop.write({f"{i}.py": function(f"name{i}") for i in range(4)})
    first = shop.index(stopped=lambda: len(reading.paths) == 2)
    assert (first.finished, first.files, first.added) == (False, 4, 2)
    assert sorted(shop.chunks()) == ["name0", "name1"]
    reading.taken()
    second = shop.index()
    assert (second.finished, second.added) == (True, 2)
    assert reading.taken() == ["2.py", "3.py"]
    shop.check()


def test_what_was_read_before_a_stop_is_stored(shop: Workshop, reading: Reading) -> None:
    shop.write(TWO)
    outcome = shop.index(stopped=lambda: len(reading.paths) == 1)
    assert (outcome.finished, outcome.added) == (False, 2)
    assert shop.paths() == ["a.py"]


def test_a_batch_that_fails_leaves_those_before_it(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 1)
    shop.write(TWO)
    write, calls = shop.store.code.write_files, []

    def fail(project: str, changes: Any) -> list[Change]:
        calls.append(project)
        if len(calls) == 2:
            raise OSError("disk full")
        return write(project, changes)

    with monkeypatch.context() as patched:
        patched.setattr(shop.store.code, "write_files", fail)
        with pytest.raises(OSError, match="disk full"):
            shop.index()
    assert shop.paths() == ["a.py"]
    shop.check()
    assert shop.index().added == 1
    shop.check()


@pytest.mark.parametrize("name", ["catalog", "lexical", "shelf", "dense"])
def test_an_index_that_cannot_follow_is_waited_for(
    shop: Workshop, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is built again from the records; a batch compared with half of it would store chunks twice."""
    monkeypatch.setattr(module, "BATCH_FILES", 1)
    shop.write(TWO)
    shop.index()
    shop.write({"a.py": TWO["a.py"] + function("delta"), "lib/b.py": TWO["lib/b.py"] + function("epsilon")})
    index: Any = getattr(shop.indexes.code, name)
    apply = index.apply

    def fail(changes: Sequence[Change]) -> None:
        monkeypatch.setattr(index, "apply", apply)
        raise OSError("disk full")

    monkeypatch.setattr(index, "apply", fail)
    outcome = shop.index()
    assert (outcome.added, outcome.removed) == (2, 0)
    assert shop.indexes.wait(30)
    shop.check()


# Some paths


def test_some_paths_are_brought_up_to_date(shop: Workshop, reading: Reading) -> None:
    shop.write(TWO)
    shop.index()
    reading.taken()
    shop.write({"a.py": function("changed"), "lib/b.py": function("also")})
    outcome = shop.index_paths("a.py")
    assert reading.taken() == ["a.py"]
    assert (outcome.files, outcome.changed, outcome.added, outcome.removed) == (2, 1, 1, 2)
    assert sorted(shop.chunks()) == ["changed", "gamma"]
    shop.check()


def test_a_path_may_be_a_folder(shop: Workshop, reading: Reading) -> None:
    shop.write({**TWO, "lib/deep/c.py": function("deep"), "library.py": function("library")})
    shop.index()
    reading.taken()
    shop.write({"lib/new.py": function("new")})
    (shop.root / "lib" / "b.py").unlink()
    outcome = shop.index_paths("lib")
    assert reading.taken() == ["lib/deep/c.py", "lib/new.py"]
    assert (outcome.changed, outcome.added, outcome.removed) == (1, 1, 1)
    assert sorted(shop.chunks()) == ["alpha", "beta", "deep", "library", "new"]
    shop.check()


def test_a_folder_may_be_gone(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    shutil.rmtree(shop.root / "lib")
    assert shop.index_paths("lib").removed == 1
    assert sorted(shop.chunks()) == ["alpha", "beta"]


def test_paths_that_are_not_part_of_the_project_cost_nothing(shop: Workshop, reading: Reading) -> None:
    shop.write({**TWO, ".gitignore": "ignored.py\n"})
    shop.index()
    reading.taken()
    shop.write({"ignored.py": function("ignored")})
    outcome = shop.index_paths("ignored.py", "nowhere.py", "../outside.py")
    assert reading.taken() == []
    assert (outcome.changed, outcome.added, outcome.removed) == (0, 0, 0)


def test_a_path_that_becomes_ignored_is_forgotten(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    shop.write({".gitignore": "a.py\n"})
    shop.index_paths("a.py", ".gitignore")
    assert "a.py" not in shop.paths()
    shop.check()


def test_files_are_read_again(shop: Workshop, reading: Reading) -> None:
    shop.write({**TWO, "c.py": function("kept")})
    shop.index()
    reading.taken()
    shop.write({"a.py": function("changed"), "new.py": function("new")})
    (shop.root / "lib" / "b.py").unlink()
    outcome = shop.refresh("a.py", "lib/b.py", "new.py", "nowhere.py")
    assert reading.taken() == ["a.py"]  # what was never indexed is not begun with here
    assert (outcome.changed, outcome.added, outcome.removed) == (1, 1, 3)
    assert sorted(shop.chunks()) == ["changed", "kept"]
    shop.check()


def test_reading_an_unchanged_file_again_changes_nothing(shop: Workshop) -> None:
    shop.write(TWO)
    shop.index()
    before = shop.chunks()
    outcome = shop.refresh("a.py")
    assert (outcome.changed, outcome.added, outcome.removed) == (0, 0, 0)
    assert shop.chunks() == before
