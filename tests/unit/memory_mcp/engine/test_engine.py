"""The engine as a whole: opening, status, reset, closing."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_mcp import __version__
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.engine.memories import Draft
from memory_mcp.owner.lock import FolderLock
from retrieval.embedding.encoder import Encoder, Failed, Ready
from retrieval.errors import (
    DimensionMismatch,
    MemoryNotFound,
    ModelMismatch,
    SchemaTooNew,
    StoreError,
    StoreLocked,
)
from retrieval.store.store import Counts, Store
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC, an_encoder, some_settings
from tests.fakes import HashModel
from tests.unit.memory_mcp.engine.models import NARROW, SAME_WIDTH


def test_status_of_a_new_engine(engine: Engine) -> None:
    status = engine.status()
    assert status.version == __version__
    assert status.counts == Counts(0, 0, 0)
    assert isinstance(status.encoder, Ready)
    assert (status.model, status.dimensions, status.database_dimensions) == (MODEL, 64, 64)
    assert status.rebuilding is None


def test_status_counts(engine: Engine) -> None:
    engine.memories.store(Draft("x"))
    a = engine.knowledge.create_entity("a")
    engine.knowledge.create_relation(a.id, a.id, "r")
    assert engine.status().counts == Counts(1, 1, 1)


def test_status_of_the_cache(engine: Engine) -> None:
    engine.memories.store(Draft("x"))
    before = engine.status().cache
    engine.questions.search("one")
    engine.questions.search("one")
    after = engine.status().cache
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 1)


def test_a_model_that_fails_leaves_the_rest_working(reopen: Callable[..., Engine]) -> None:
    key = reopen().memories.store(Draft("x")).id

    def broken() -> HashModel:
        raise OSError("no such file")

    engine = reopen(encoder=Encoder(SPEC, broken))
    status = engine.status()
    assert isinstance(status.encoder, Failed)
    assert "no such file" in status.encoder.reason
    assert engine.memories.get(key).content == "x"
    assert len(engine.memories.list(10, 0).memories) == 1
    engine.memories.invalidate(key)
    engine.memories.delete(key)


def test_opening_does_not_wait_for_the_model(reopen: Callable[..., Engine]) -> None:
    loaded = threading.Event()

    def slow() -> HashModel:
        assert loaded.wait(30)
        return HashModel(SPEC.dimensions)

    engine = reopen(encoder=Encoder(SPEC, slow, wait_seconds=30), wait=False)
    engine.knowledge.create_entity("meanwhile")
    assert engine.memories.list(10, 0).total == 0
    loaded.set()
    assert engine.memories.store(Draft("afterwards")).row == 0


def test_a_reset_forgets_everything_for_good(reopen: Callable[..., Engine]) -> None:
    engine = reopen()
    key = engine.memories.store(Draft("Falcon")).id
    entity = engine.knowledge.create_entity("Falcon")
    engine.knowledge.create_relation(entity.id, entity.id, "is")
    assert engine.reset() == Counts(1, 1, 1)
    for opened in (engine, None):
        engine = opened or reopen()
        assert engine.status().counts == Counts(0, 0, 0)
        assert engine.memories.list(10, 0).total == 0
        assert engine.questions.recall("Falcon").found == ()
        with pytest.raises(MemoryNotFound):
            engine.memories.get(key)


def test_after_a_reset_the_engine_works_on(engine: Engine, tmp_path: Path) -> None:
    engine.memories.store(Draft("before"))
    engine.reset()
    engine.memories.store(Draft("after"))
    assert [found.memory.content for found in engine.questions.search("before after").found] == ["after"]
    assert_agreement(engine._store, engine._indexes, MODEL, tmp_path)


def test_everything_survives_a_reopening(reopen: Callable[..., Engine], tmp_path: Path) -> None:
    engine = reopen()
    memory = engine.memories.store(Draft("Falcon deploys", metadata={"k": None}))
    engine = reopen()
    assert engine.memories.get(memory.id) == memory
    assert [found.memory for found in engine.questions.recall("Falcon").found] == [memory]
    assert_agreement(engine._store, engine._indexes, MODEL, tmp_path)


def test_indexes_may_be_thrown_away(reopen: Callable[..., Engine], tmp_path: Path) -> None:
    engine = reopen()
    memory = engine.memories.store(Draft("Falcon deploys"))
    engine.close()
    shutil.rmtree(tmp_path / "data" / "indexes")
    engine = reopen()
    assert [found.memory for found in engine.questions.recall("Falcon").found] == [memory]


def test_closing_at_once_is_orderly(tmp_path: Path) -> None:
    settings = some_settings(tmp_path)
    engine = open_engine(settings, encoder=an_encoder())
    engine.wait(30)
    engine.memories.store(Draft("x"))
    engine.close()
    shutil.rmtree(settings.index_dir)
    for _ in range(10):  # each time the indexes are about to be built again
        open_engine(settings, encoder=an_encoder()).close()
    engine = open_engine(settings, encoder=an_encoder())
    engine.wait(30)
    assert engine.memories.list(1, 0).total == 1
    engine.close()
    engine.close()


def test_a_second_engine_is_refused_and_the_first_goes_on(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(StoreLocked, match="--data-dir"):
        open_engine(some_settings(tmp_path / "data"), encoder=an_encoder())
    engine.memories.store(Draft("still here"))


def test_a_lock_that_is_handed_over_is_used(tmp_path: Path) -> None:
    lock = FolderLock.acquire(tmp_path)
    engine = open_engine(some_settings(tmp_path), encoder=an_encoder(), lock=lock)
    with pytest.raises(StoreLocked):
        FolderLock.acquire(tmp_path)
    engine.close()
    FolderLock.acquire(tmp_path).release()


def test_another_model_of_the_same_width_is_refused(reopen: Callable[..., Engine]) -> None:
    reopen().close()
    with pytest.raises(ModelMismatch, match="reembed --model other"):
        reopen(encoder=an_encoder(SAME_WIDTH))
    reopen()


def test_another_width_is_refused_with_the_ways_out(reopen: Callable[..., Engine], tmp_path: Path) -> None:
    reopen().close()
    with pytest.raises(DimensionMismatch) as caught:
        reopen(encoder=an_encoder(NARROW))
    lines = str(caught.value).splitlines()
    assert lines[0] == "Dimension mismatch: database has 64d vectors, configured model produces 16d."
    for way in (f"--model {MODEL}", f"reembed --model {NARROW.name}", "--data-dir"):
        assert way in lines[1]


def test_the_database_is_asked_when_the_file_about_it_is_gone(
    reopen: Callable[..., Engine], tmp_path: Path
) -> None:
    reopen().close()
    (tmp_path / "data" / "about.json").unlink()
    with pytest.raises(DimensionMismatch):
        reopen(encoder=an_encoder(NARROW))
    reopen()  # the refusal gave database and folder up


def test_a_database_of_a_newer_version_is_refused(reopen: Callable[..., Engine], tmp_path: Path) -> None:
    reopen().close()
    store = Store.open(tmp_path / "data" / "database")
    store._db.run("UPDATE meta:state SET schema = 99")
    store.close()
    for _ in range(2):
        with pytest.raises(SchemaTooNew):
            reopen()


def test_a_closed_engine_refuses(engine: Engine) -> None:
    memory = engine.memories.store(Draft("x"))
    engine.close()
    with pytest.raises(StoreError, match="closed"):
        engine.memories.update(memory.id, memory_type="episodic")


def test_readers_and_writers_at_once(engine: Engine, tmp_path: Path) -> None:
    """Whoever stores finds it with the next call, whatever the others do."""
    failures: list[str] = []

    def work(worker: int) -> None:
        for i in range(8):
            word = f"{'abcdefgh'[worker]}{'abcdefgh'[i]}wordk"
            memory = engine.memories.store(Draft(f"{word} falcon"))
            found = [hit.memory.id for hit in engine.questions.search_text(word).found]
            if found != [memory.id]:
                failures.append(f"{word}: {found}")
            if i % 3 == 0:
                engine.memories.delete(memory.id)
                if engine.questions.search_text(word).found:
                    failures.append(f"{word}: found after deletion")
            engine.questions.recall("falcon")

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert engine.status().counts.memories == 4 * 5
    assert_agreement(engine._store, engine._indexes, MODEL, tmp_path)
