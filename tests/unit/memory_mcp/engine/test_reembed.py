"""Changing the model in place: resumable, all or nothing, nothing lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_mcp.engine import about
from memory_mcp.engine import reembed as module
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.engine.memories import Draft
from memory_mcp.engine.reembed import reembed
from retrieval.embedding.encoder import Encoder
from retrieval.embedding.registry import ModelSpec
from retrieval.errors import DimensionMismatch, EncoderFailed, ModelMismatch, StoreLocked
from retrieval.records import Memory
from retrieval.store.store import Store
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC, an_encoder, some_settings
from tests.fakes import HashModel
from tests.unit.memory_mcp.engine.models import NARROW, SAME_WIDTH

Change = Callable[..., int]


class Stopped(Exception):
    """Stands for whatever ends a run in the middle."""


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STEP", 3)


@pytest.fixture
def memories(reopen: Callable[..., Engine]) -> list[Memory]:
    """Ten memories, and nobody has them open."""
    engine = reopen()
    stored = engine.memories.store_many([Draft(f"memory of word{letter}k") for letter in "abcdefghij"])
    engine.close()
    return stored


@pytest.fixture
def change(tmp_path: Path) -> Change:
    def run(spec: ModelSpec = NARROW, report: Callable[[int, int], None] = lambda *_: None) -> int:
        return reembed(
            some_settings(tmp_path / "data"), encoder=an_encoder(spec, wait_seconds=30), report=report
        )

    return run


def stop_at(done: int) -> Callable[[int, int], None]:
    def report(count: int, total: int) -> None:
        if count >= done:
            raise Stopped

    return report


def vector_models(tmp_path: Path) -> dict[str, int]:
    """How many vectors each model has."""
    store = Store.open(tmp_path / "data" / "database")
    keys = store._db.run("SELECT VALUE id FROM vectors")[0]
    store.close()
    models = [key.id[1] for key in keys]
    return {model: models.count(model) for model in set(models)}


@pytest.mark.parametrize("spec", [NARROW, SAME_WIDTH], ids=lambda spec: spec.name)
def test_afterwards_the_new_model_serves(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change, tmp_path: Path, spec: ModelSpec
) -> None:
    assert change(spec) == 10
    engine = reopen(encoder=an_encoder(spec))
    assert [memory.id for memory in engine.memories.list(20, 0).memories] == [
        m.id for m in reversed(memories)
    ]
    best = engine.questions.search(memories[4].content, 1).found[0]
    assert best.memory == memories[4]
    assert engine.status().database_dimensions == spec.dimensions
    assert_agreement(engine._store, engine._indexes, spec.name, tmp_path)


def test_passages_get_the_prefix_of_the_new_model(
    memories: list[Memory], change: Change, tmp_path: Path
) -> None:
    change(SAME_WIDTH)
    store = Store.open(tmp_path / "data" / "database")
    vector = store.vectors([memories[0].id], SAME_WIDTH.name)[memories[0].id]
    store.close()
    assert vector.tolist() == HashModel(64).embed(["tell " + memories[0].content])[0].tolist()


def test_afterwards_the_old_model_is_refused(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change
) -> None:
    change(NARROW)
    with pytest.raises(DimensionMismatch) as caught:
        reopen()
    for way in ("--model narrow", f"reembed --model {MODEL}", "--data-dir"):
        assert way in str(caught.value)


def test_afterwards_the_old_model_of_the_same_width_is_refused(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change
) -> None:
    change(SAME_WIDTH)
    with pytest.raises(ModelMismatch, match="vectors of other"):
        reopen()


def test_progress_is_reported_up_to_the_end(memories: list[Memory], change: Change) -> None:
    seen: list[tuple[int, int]] = []
    change(report=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 10), (3, 10), (6, 10), (9, 10), (10, 10)]


def test_one_that_is_stopped_leaves_the_old_model_serving(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change, tmp_path: Path
) -> None:
    with pytest.raises(Stopped):
        change(report=stop_at(6))
    assert vector_models(tmp_path) == {MODEL: 10, "narrow": 6}
    engine = reopen()
    assert engine.questions.search(memories[7].content, 1).found[0].memory == memories[7]
    with pytest.raises((DimensionMismatch, StoreLocked)):
        reopen(encoder=an_encoder(NARROW))


def test_one_that_is_stopped_goes_on_where_it_was(
    memories: list[Memory], change: Change, tmp_path: Path
) -> None:
    with pytest.raises(Stopped):
        change(report=stop_at(6))
    seen: list[int] = []
    assert change(report=lambda done, _: seen.append(done)) == 4
    assert seen == [6, 9, 10]
    assert vector_models(tmp_path) == {"narrow": 10}


@pytest.mark.parametrize("at", [0, 3, 6, 9, 10])
def test_stopped_anywhere_nothing_is_lost(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change, tmp_path: Path, at: int
) -> None:
    with pytest.raises(Stopped):
        change(report=stop_at(at))
    assert change() == 10 - at
    engine = reopen(encoder=an_encoder(NARROW))
    assert {memory.id: memory for memory in engine.memories.list(20, 0).memories} == {
        m.id: m for m in memories
    }
    assert_agreement(engine._store, engine._indexes, NARROW.name, tmp_path)


def test_what_changes_between_two_runs_is_embedded_as_it_is(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change, tmp_path: Path
) -> None:
    with pytest.raises(Stopped):
        change(report=stop_at(9))
    engine = reopen()
    with_vector = sorted(memories, key=lambda memory: memory.id)  # the order of the scan
    engine.memories.update(with_vector[0].id, content="entirely different falcon")
    engine.memories.update(with_vector[1].id, memory_type="episodic")  # the content stays, and its vector
    engine.memories.delete(with_vector[2].id)
    added = engine.memories.store(Draft("added in between"))
    engine.close()
    assert change() == 3  # the changed, the one that was left, the added
    engine = reopen(encoder=an_encoder(NARROW))
    assert engine.questions.search("entirely different falcon", 1).found[0].memory.id == with_vector[0].id
    assert engine.questions.search("added in between", 1).found[0].memory == added
    assert_agreement(engine._store, engine._indexes, NARROW.name, tmp_path)


def test_the_switch_is_one_step(
    reopen: Callable[..., Engine],
    memories: list[Memory],
    change: Change,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Killed when the database has switched and the file beside it has not: the new model opens."""

    def die(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr(about, "write", die)
    with pytest.raises(Stopped):
        change()
    monkeypatch.undo()
    assert vector_models(tmp_path) == {"narrow": 10}
    engine = reopen(encoder=an_encoder(NARROW))
    assert engine.memories.list(1, 0).total == 10
    with pytest.raises(DimensionMismatch):
        engine.close()
        reopen()


def test_killed_before_the_switch_the_old_model_opens(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr(Store, "set_model", die)
    with pytest.raises(Stopped):
        change()
    monkeypatch.undo()
    assert reopen().memories.list(1, 0).total == 10


def test_running_it_again_does_nothing(
    reopen: Callable[..., Engine], memories: list[Memory], change: Change, tmp_path: Path
) -> None:
    change()
    store = Store.open(tmp_path / "data" / "database")
    before = store.state()
    store.close()
    assert change() == 0
    store = Store.open(tmp_path / "data" / "database")
    assert store.state() == before
    store.close()


def test_there_and_back(reopen: Callable[..., Engine], memories: list[Memory], change: Change) -> None:
    change(NARROW)
    assert change(SPEC) == 10
    assert reopen().questions.search(memories[3].content, 1).found[0].memory == memories[3]


def test_a_third_model_after_an_interruption(memories: list[Memory], change: Change, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        change(NARROW, report=stop_at(6))
    assert change(SAME_WIDTH) == 10
    assert vector_models(tmp_path) == {"other": 10}


def test_an_empty_folder_takes_the_model(reopen: Callable[..., Engine], change: Change) -> None:
    assert change(NARROW) == 0
    assert reopen(encoder=an_encoder(NARROW)).memories.list(1, 0).total == 0


def test_a_folder_in_use_is_refused(engine: Engine, change: Change) -> None:
    with pytest.raises(StoreLocked):
        change()


def test_a_model_that_does_not_load_changes_nothing(
    reopen: Callable[..., Engine], memories: list[Memory], tmp_path: Path
) -> None:
    def broken() -> HashModel:
        raise OSError("no such file")

    with pytest.raises(EncoderFailed):
        reembed(some_settings(tmp_path / "data"), encoder=Encoder(NARROW, broken))
    assert vector_models(tmp_path) == {MODEL: 10}
    open_engine(some_settings(tmp_path / "data"), encoder=an_encoder()).close()
