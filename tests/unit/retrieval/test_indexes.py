"""Indexes in step with the records: after writes, stops, damage and failures."""

import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval import indexes as module
from retrieval.channels.arrays import save_arrays
from retrieval.indexes import Indexes, Progress
from retrieval.records import Memory, Scope
from retrieval.search import Hit, search_vectors, search_words
from retrieval.store.changes import Change, Checkpoint
from retrieval.store.store import Store
from tests.agreement import assert_agreement
from tests.builders import MODEL, NOW, SPEC, a_memory, a_relation, an_entity
from tests.fakes import HashModel

HOME = Scope("engine")
PARTS = ["catalog.arrays", "dense.arrays", "lexical", "graph"]


class World:
    """A store with indexes that can be stopped, damaged and started again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "indexes"
        self.store = Store.open(root / "database")
        self.store.set_model(MODEL, SPEC.dimensions)
        self.model = HashModel(SPEC.dimensions)
        self.indexes = self.load()

    def load(self) -> Indexes:
        """Open without catching up."""
        self.indexes = Indexes.open(self.store, self.folder, MODEL, SPEC.dimensions)
        return self.indexes

    def start(self) -> Indexes:
        self.load().catch_up()
        assert self.indexes.progress is None
        return self.indexes

    def remember(self, *contents: str) -> list[Memory]:
        drafts = [a_memory(f"{text.split()[0]:x<20}", content=text) for text in contents]
        vectors = self.model.embed(contents)
        changes = self.indexes.commit(lambda: self.store.create_memories(drafts, vectors, MODEL))
        return [change.record for change in changes if isinstance(change.record, Memory)]

    def forget(self, memory: Memory) -> None:
        self.indexes.commit(lambda: [self.store.delete_memory(memory)])

    def rewrite(self, memory: Memory, content: str) -> None:
        changed = replace(memory, content=content)
        vector = self.model.embed([content])[0]
        self.indexes.commit(lambda: [self.store.update_memory(changed, vector, MODEL)])

    def connect(self, name: str) -> None:
        self.indexes.commit(lambda: [self.store.create_entity(an_entity(name, name=name))])
        self.indexes.commit(lambda: [self.store.create_relation(a_relation(f"{name}2", name, name))])

    def empty(self) -> None:
        def wipe() -> None:
            self.store.reset()

        self.indexes.reset(wipe)

    def found(self, word: str) -> list[str]:
        """By words and by meaning, which must agree on the first."""
        hits = self._keys(search_words(self.indexes, word, 10, HOME, NOW))
        near = search_vectors(self.indexes, self.model.embed([word])[0], 1, HOME, NOW)
        assert self._keys(near)[: len(hits)] == hits[:1]
        return hits

    def _keys(self, hits: list[Hit]) -> list[str]:
        ids = self.indexes.catalog.ids(np.array([hit.row for hit in hits], dtype=np.int64))
        return [key.rstrip("x") for key in ids]

    def die(self) -> None:
        """As the end of a process does: everything is released, nothing saved."""
        for follower in self.indexes._followers():
            follower.close()

    def check(self) -> None:
        assert_agreement(self.store, self.indexes, MODEL, self.root)

    def log_length(self) -> int:
        return sum(len(page) for page in self.store.changes_since(0, MODEL))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    made.indexes.catch_up()
    yield made
    made.indexes.close()
    made.store.close()


def spying(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Note which indexes are built again."""
    built: list[tuple[str, ...]] = []
    rebuild = Indexes._rebuild

    def note(self: Indexes, stale: Sequence[Any]) -> None:
        built.append(tuple(index.name for index in stale))
        rebuild(self, stale)

    monkeypatch.setattr(Indexes, "_rebuild", note)
    return built


# Living


def test_nothing_to_do_for_a_new_store(world: World) -> None:
    assert world.indexes.progress is None
    assert world.indexes.wait(0)
    world.check()


def test_before_catching_up_there_is_progress_to_report(tmp_path: Path) -> None:
    world = World(tmp_path)
    assert world.indexes.progress == Progress(0, 1)
    assert not world.indexes.wait(0)
    world.indexes.close()
    world.store.close()


def test_percentages() -> None:
    shown = [Progress(done, total).percent for done, total in ((0, 3), (1, 3), (3, 3), (0, 0))]
    assert shown == [0.0, 33.3, 100.0, 100.0]


def test_a_write_is_found_at_once(world: World) -> None:
    world.remember("zebrak one", "quokkak two")
    assert world.found("quokkak") == ["quokkak"]
    world.check()


def test_an_update_and_a_deletion_are_seen_at_once(world: World) -> None:
    first, second = world.remember("zebrak one", "quokkak two")
    world.rewrite(first, "wombatk now")
    world.forget(second)
    assert (world.found("zebrak"), world.found("quokkak")) == ([], [])
    assert world.found("wombatk") == ["zebrak"]
    world.check()


def test_a_failed_write_reaches_no_index(world: World) -> None:
    with pytest.raises(ZeroDivisionError):
        world.indexes.commit(lambda: [None][1 // 0])  # type: ignore[arg-type, return-value]
    assert world.indexes.progress is None
    world.check()


def test_a_reset_empties_all(world: World) -> None:
    world.remember("zebrak one")
    world.connect("Zebrak")
    world.empty()
    assert world.found("zebrak") == []
    world.check()
    world.remember("quokkak two")
    assert world.found("quokkak") == ["quokkak"]
    world.check()


def test_after_a_reset_nothing_comes_back_by_reopening(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember("zebrak one")
    world.empty()
    world.remember("quokkak two")
    world.indexes.close()
    built = spying(monkeypatch)
    world.start()
    assert built == []
    assert (world.found("zebrak"), world.found("quokkak")) == ([], ["quokkak"])
    world.check()


# Stopping and starting


def test_saved_indexes_are_used_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember("zebrak one")
    world.connect("Zebrak")
    world.indexes.close()
    built = spying(monkeypatch)
    world.start()
    assert built == []
    assert world.found("zebrak") == ["zebrak"]
    world.check()


def test_the_log_is_forgotten_after_saving(world: World) -> None:
    world.remember("zebrak one")
    assert world.log_length() == 1
    world.indexes.close()
    state = world.store.state()
    assert (world.log_length(), state.oldest, state.seq) == (0, 1, 1)
    world.start()


def test_closing_without_changes_writes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember("zebrak one")
    world.indexes.close()
    before = {path: path.stat().st_mtime_ns for path in world.folder.rglob("*") if path.is_file()}
    world.start()
    world.indexes.close()
    assert {p: p.stat().st_mtime_ns for p in world.folder.rglob("*") if p.suffix in (".arrays", ".json")} == {
        path: stamp for path, stamp in before.items() if path.suffix in (".arrays", ".json")
    }


def test_a_graph_finished_after_the_last_write_is_saved(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember("zebrak one")
    world.indexes.close()
    world.start()
    saved: list[Checkpoint] = []
    monkeypatch.setattr(type(world.indexes.dense), "has_unsaved_graph", property(lambda _: True))
    monkeypatch.setattr(world.indexes.dense, "save", saved.append)
    world.indexes.close()
    assert saved == [world.store.state().checkpoint]


def test_what_was_written_without_indexes_is_caught_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, _ = world.remember("zebrak one", "quokkak two", "koalak three")
    world.indexes.close()
    vectors = world.model.embed(["wombatk four"])
    world.store.create_memories([a_memory("wombatk".ljust(20, "x"), content="wombatk four")], vectors, MODEL)
    world.store.update_memory(replace(first, content="platypusk"), world.model.embed(["platypusk"])[0], MODEL)
    world.store.delete_memory(second)
    world.store.create_entity(an_entity("e", name="Koalak"))
    built = spying(monkeypatch)
    world.start()
    assert built == []
    assert [world.found(word) for word in ("zebrak", "quokkak", "koalak", "wombatk", "platypusk")] == [
        [], [], ["koalak"], ["wombatk"], ["zebrak"],
    ]  # fmt: skip
    world.check()


def test_a_kill_before_saving_costs_nothing(world: World) -> None:
    world.remember("zebrak one")
    world.indexes.close()
    world.start()
    memory, _ = world.remember("quokkak two", "koalak three")
    world.forget(memory)
    world.die()
    world.start()
    assert [world.found(word) for word in ("zebrak", "quokkak", "koalak")] == [["zebrak"], [], ["koalak"]]
    world.check()


def test_a_kill_between_two_saves_costs_nothing(world: World) -> None:
    """Some indexes are saved, some are not: each goes on from where it is."""
    world.remember("zebrak one")
    world.indexes.close()
    world.start()
    world.remember("quokkak two")
    checkpoint = world.store.state().checkpoint
    world.indexes.catalog.save(checkpoint)
    world.indexes.lexical.save(checkpoint)
    world.die()
    world.start()
    assert [world.found(word) for word in ("zebrak", "quokkak")] == [["zebrak"], ["quokkak"]]
    world.check()


def test_many_changes_are_saved_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SAVE_AFTER", 3)
    for i in range(5):
        world.remember(f"w{i} zebrak")
    assert world.indexes.catalog.checkpoint == Checkpoint(world.store.state().database, 4)
    assert world.log_length() == 1
    world.die()
    built = spying(monkeypatch)
    world.start()
    assert built == []
    world.check()


def test_a_large_store_is_saved_less_often(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SAVE_AFTER", 1)
    world.remember(*(f"w{i} zebrak" for i in range(100)))
    saved = world.indexes.catalog.checkpoint
    for i in range(9):
        world.remember(f"v{i} zebrak")
    assert world.indexes.catalog.checkpoint == saved


# Missing, damaged, foreign


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_index_is_built_again_and_only_that(
    world: World, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember("zebrak one", "quokkak two")
    world.connect("Zebrak")
    world.indexes.close()
    path = world.folder / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    built = spying(monkeypatch)
    world.start()
    assert built == [(part.split(".", maxsplit=1)[0],)]
    assert world.found("quokkak") == ["quokkak"]
    world.check()


def test_a_missing_folder_is_built_again(world: World) -> None:
    world.remember("zebrak one", "quokkak two")
    world.connect("Zebrak")
    world.indexes.close()
    shutil.rmtree(world.folder)
    world.start()
    assert world.found("quokkak") == ["quokkak"]
    world.check()


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped", "noise"])
def test_damaged_files_are_built_again(world: World, damage: str) -> None:
    world.remember("zebrak one", "quokkak two")
    world.connect("Zebrak")
    world.indexes.close()
    for path in (
        world.folder / "catalog.arrays",
        world.folder / "dense.arrays",
        world.folder / "graph/graph.arrays",
    ):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 8
        contents = {
            "empty": b"",
            "truncated": bytes(data[:-5]),
            "flipped": bytes(data),
            "noise": b"\xff\n" * 50,
        }
        path.write_bytes(contents[damage])
    for path in (world.folder / "lexical").iterdir():
        if path.suffix not in (".lock",):
            path.write_bytes(path.read_bytes()[:10] if damage != "empty" else b"")
    world.start()
    assert world.found("quokkak") == ["quokkak"]
    world.check()


def test_indexes_swapped_with_one_another_are_built_again(world: World) -> None:
    world.remember("zebrak one")
    world.indexes.close()
    catalog, dense = world.folder / "catalog.arrays", world.folder / "dense.arrays"
    content = catalog.read_bytes()
    catalog.write_bytes(dense.read_bytes())
    dense.write_bytes(content)
    world.start()
    assert world.found("zebrak") == ["zebrak"]
    world.check()


def test_indexes_of_another_database_are_built_again(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    other.indexes.catch_up()
    other.remember("quokkak two", "koalak three")
    other.indexes.close()
    other.store.close()
    world.remember("zebrak one")
    world.indexes.close()
    shutil.rmtree(world.folder)
    shutil.copytree(other.folder, world.folder)
    world.start()
    assert [world.found(word) for word in ("zebrak", "quokkak")] == [["zebrak"], []]
    world.check()


@pytest.mark.parametrize("seq", [1, 99], ids=["older than the log", "from the future"])
def test_an_index_the_log_does_not_lead_from_is_built_again(world: World, seq: int) -> None:
    (memory,) = world.remember("zebrak one")
    world.remember("quokkak two")
    world.forget(memory)
    world.indexes.close()  # the log is forgotten up to here
    save_arrays(world.folder / "catalog.arrays", Checkpoint(world.store.state().database, seq), {})
    world.start()
    assert [world.found(word) for word in ("zebrak", "quokkak")] == [[], ["quokkak"]]
    world.check()


def test_another_model_means_other_vectors(world: World) -> None:
    (memory,) = world.remember("zebrak one")
    world.indexes.close()
    world.store.add_vectors([memory.id], HashModel(8).embed([memory.content]), "narrow")
    world.store.set_model("narrow", 8)
    world.indexes = Indexes.open(world.store, world.folder, "narrow", 8)
    world.indexes.catch_up()
    hits = search_vectors(world.indexes, HashModel(8).embed(["zebrak one"])[0], 5, HOME, NOW)
    assert [hit.row for hit in hits] == [memory.row]
    assert hits[0].score == pytest.approx(1.0)
    assert_agreement(world.store, world.indexes, "narrow", world.root)


# Writing meanwhile


class Gate:
    """Holds a thread at a place in the code until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def pass_through(self) -> None:
        self.reached.set()
        assert self.opened.wait(30)


def held_scan(store: Store, gate: Gate, monkeypatch: pytest.MonkeyPatch, table: str = "memories") -> None:
    """Make the rebuild stop after the first page of a table."""
    scan: Callable[[Any], Iterator[list[Any]]] = store.scan

    def slow(name: Any) -> Iterator[list[Any]]:
        for page in scan(name):
            yield page
            if name == table:
                gate.pass_through()

    monkeypatch.setattr(store, "scan", slow)


def test_writes_during_a_rebuild_are_found_afterwards(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, _third = world.remember("zebrak one", "quokkak two", "koalak three")
    world.indexes.close()
    shutil.rmtree(world.folder)
    gate = Gate()
    held_scan(world.store, gate, monkeypatch)
    indexes = world.load()
    thread = threading.Thread(target=indexes.catch_up)
    thread.start()
    assert gate.reached.wait(30)
    assert indexes.progress == Progress(3, 3)
    world.remember("wombatk four")
    world.rewrite(first, "platypusk five")
    world.forget(second)
    world.connect("Koalak")
    gate.opened.set()
    thread.join(30)
    assert indexes.progress is None
    assert [world.found(word) for word in ("zebrak", "quokkak", "koalak", "wombatk", "platypusk")] == [
        [], [], ["koalak"], ["wombatk"], ["zebrak"],
    ]  # fmt: skip
    world.check()


@pytest.mark.parametrize("table", ["entities", "memories", "relations"])
def test_closing_during_a_rebuild_stops_it(world: World, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    world.remember("zebrak one")
    world.connect("Zebrak")
    world.indexes.close()
    shutil.rmtree(world.folder)
    gate = Gate()
    held_scan(world.store, gate, monkeypatch, table)
    indexes = world.load()
    thread = threading.Thread(target=indexes.catch_up)
    thread.start()
    assert gate.reached.wait(30)
    indexes.close()
    gate.opened.set()
    thread.join(30)
    assert not thread.is_alive()
    assert indexes.progress is not None
    monkeypatch.undo()
    world.start()  # the next start does it all
    assert world.found("zebrak") == ["zebrak"]
    world.check()


def test_closing_before_the_rebuild_begins_is_harmless(world: World) -> None:
    world.remember("zebrak one")
    world.indexes.close()
    shutil.rmtree(world.folder)
    indexes = world.load()
    indexes.close()
    indexes.catch_up()
    assert indexes.progress is not None
    world.start()
    world.check()


def test_closing_during_a_replay_stops_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.indexes.close()
    world.store.create_memories([a_memory("zebrak".ljust(20, "x"))], world.model.embed(["zebrak"]), MODEL)
    changes_since = world.store.changes_since
    indexes = world.load()

    def closing(seq: int, model: str) -> Iterator[list[Change]]:
        for page in changes_since(seq, model):
            indexes.close()
            yield page

    monkeypatch.setattr(world.store, "changes_since", closing)
    indexes.catch_up()
    assert indexes.progress is not None
    monkeypatch.undo()
    world.start()
    world.check()


# Indexes that fail


def failing(index: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, method: str = "apply") -> None:
    """Make an index raise the next time it is asked."""
    real = getattr(index, method)

    def fail(*_: Any) -> None:
        monkeypatch.setattr(index, method, real)
        raise error

    monkeypatch.setattr(index, method, fail)


@pytest.mark.parametrize("name", ["catalog", "dense", "lexical", "graph"])
@pytest.mark.parametrize(
    "error", [OSError("disk full"), ValueError("damaged"), RuntimeError("lost")], ids=repr
)
def test_an_index_that_cannot_follow_is_built_again_while_the_write_stands(
    world: World,
    name: str,
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    world.remember("zebrak one")
    failing(getattr(world.indexes, name), monkeypatch, error)
    with caplog.at_level(logging.ERROR):
        (memory,) = world.remember("quokkak two")
    assert world.store.memories([memory.id]) == {memory.id: memory}
    assert name in caplog.text
    assert world.indexes.wait(30)
    assert world.found("quokkak") == ["quokkak"]
    world.remember("koalak three")
    assert world.found("koalak") == ["koalak"]
    world.check()


def test_closing_waits_for_a_repair(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember("zebrak one")
    gate = Gate()
    held_scan(world.store, gate, monkeypatch)
    failing(world.indexes.dense, monkeypatch, OSError("disk full"))
    world.remember("quokkak two")
    assert gate.reached.wait(30)
    closer = threading.Thread(target=world.indexes.close)
    closer.start()
    gate.opened.set()
    closer.join(30)
    repair = world.indexes._repair
    assert repair is not None
    assert not repair.is_alive()


@pytest.mark.parametrize("name", ["catalog", "dense", "lexical", "graph"])
def test_indexes_that_cannot_be_saved_do_not_fail_the_write(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_SAVE_AFTER", 0)
    failing(getattr(world.indexes, name), monkeypatch, OSError("disk full"), "save")
    (memory,) = world.remember("zebrak one")
    assert "disk full" in caplog.text
    assert world.store.memories([memory.id]) == {memory.id: memory}
    assert world.log_length() == 1  # the log is kept for them
    world.remember("quokkak two")
    assert world.log_length() == 0
    world.check()


def test_indexes_that_cannot_be_saved_at_the_end_are_closed_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember("zebrak one")
    failing(world.indexes.dense, monkeypatch, OSError("disk full"), "save")
    world.indexes.close()
    world.start()
    assert world.found("zebrak") == ["zebrak"]
    world.check()
