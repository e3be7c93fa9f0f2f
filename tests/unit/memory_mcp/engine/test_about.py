"""The file that says which model a data directory has."""

import json
from pathlib import Path

import pytest

from memory_mcp.engine import about
from retrieval.errors import DimensionMismatch, ModelMismatch
from retrieval.store.store import Store
from tests.builders import MODEL, SPEC
from tests.unit.memory_mcp.engine.models import NARROW, SAME_WIDTH


def test_without_a_file_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert about.check(tmp_path, SPEC) is False


def test_the_same_model_agrees(tmp_path: Path) -> None:
    about.write(tmp_path, SPEC)
    assert about.check(tmp_path, SPEC) is True


def test_the_file_is_plain(tmp_path: Path) -> None:
    about.write(tmp_path, SPEC)
    assert [path.name for path in tmp_path.iterdir()] == ["about.json"]
    assert json.loads((tmp_path / "about.json").read_text()) == {"model": MODEL, "dimensions": 64}


def test_another_width_and_another_model_are_refused(tmp_path: Path) -> None:
    about.write(tmp_path, SPEC)
    with pytest.raises(DimensionMismatch):
        about.check(tmp_path, NARROW)
    with pytest.raises(ModelMismatch):
        about.check(tmp_path, SAME_WIDTH)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"model": "x"}', '{"model": "x", "dimensions": "many"}', "\x00"]
)
def test_a_damaged_file_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "about.json").write_text(text)
    assert about.check(tmp_path, SPEC) is False


def test_a_file_that_is_no_text_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "about.json").write_bytes(b"\xff\xfe")
    assert about.check(tmp_path, SPEC) is False
    about.write(tmp_path, SPEC)
    assert about.check(tmp_path, SPEC) is True


def test_writing_again_replaces(tmp_path: Path) -> None:
    about.write(tmp_path, NARROW)
    about.write(tmp_path, SPEC)
    assert about.check(tmp_path, SPEC) is True


def test_the_same_is_not_written_again(tmp_path: Path) -> None:
    about.write(tmp_path, SPEC)
    before = (tmp_path / "about.json").stat()
    about.write(tmp_path, SPEC)
    after = (tmp_path / "about.json").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_a_new_database_takes_the_model(store: Store, tmp_path: Path) -> None:
    about.agree(tmp_path, store, SPEC)
    assert (store.state().model, store.state().dimensions) == (MODEL, 64)
    assert about.check(tmp_path, SPEC) is True


def test_a_database_with_another_model_is_refused_and_left_alone(store: Store, tmp_path: Path) -> None:
    about.agree(tmp_path, store, SPEC)
    before = store.state()
    with pytest.raises(DimensionMismatch):
        about.agree(tmp_path, store, NARROW)
    with pytest.raises(ModelMismatch):
        about.agree(tmp_path, store, SAME_WIDTH)
    assert store.state() == before
    assert about.check(tmp_path, SPEC) is True


def test_the_database_wins_over_a_missing_file(store: Store, tmp_path: Path) -> None:
    store.set_model(MODEL, 64)
    about.agree(tmp_path, store, SPEC)
    assert about.check(tmp_path, SPEC) is True


def test_forgetting_twice_is_harmless(tmp_path: Path) -> None:
    about.write(tmp_path, SPEC)
    about.forget(tmp_path)
    about.forget(tmp_path)
    assert about.check(tmp_path, NARROW) is False
