"""The indexes of code in step with the store: after stops, kills, damage."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.channels.dense import Dense
from retrieval.channels.lexical import Lexical
from retrieval.code.search import search_code
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk, Scope
from retrieval.shelf import Shelf
from retrieval.store.changes import Change, Checkpoint, Deleted, Embedded
from retrieval.store.code import FileChange
from retrieval.store.store import Store
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC, a_chunk, a_file, a_memory, everything, unit_vectors
from tests.fakes import HashModel

HOME = Scope("engine")
model = HashModel(SPEC.dimensions)


class World:
    """A store of chunks with indexes that can be stopped, damaged and started again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "indexes" / "code"
        self.store = Store.open(root / "database")
        self.store.set_model(MODEL, SPEC.dimensions)
        self.indexes: Indexes
        self.start()

    def start(self) -> None:
        self.indexes = Indexes.open(self.store, self.root / "indexes", MODEL, SPEC.dimensions)
        self.indexes.catch_up()

    def put(self, path: str, *contents: str, embed: bool = True) -> list[CodeChunk]:
        """Replace what a file holds."""
        before = self.indexes.code.catalog.file("app", path)
        change = FileChange(
            path,
            a_file(path) if contents else None,
            added=tuple(a_chunk(content, path=path, start_line=i) for i, content in enumerate(contents)),
            removed=tuple((known.id, known.row) for known in before),
        )
        changes = self.indexes.commit(lambda: self.store.code.write_files("app", [change]))
        chunks = [one.record for one in changes if isinstance(one.record, CodeChunk)]
        if embed and chunks:
            vectors = {chunk.digest: model.embed([chunk.content])[0] for chunk in chunks}
            holders = [(chunk.id, chunk.row, chunk.digest) for chunk in chunks]
            self.indexes.commit(lambda: self.store.code.add_vectors(vectors, holders, MODEL, vectors.keys()))
        return chunks

    def found(self, word: str) -> list[str]:
        ranked = search_code(self.indexes, word, None, 10, HOME)
        chunks = self.indexes.code.shelf.read(np.array([one.row for one in ranked], dtype=np.int64))
        return sorted(chunk.content for chunk in chunks if chunk is not None)

    def empty(self) -> None:
        def wipe() -> None:
            self.store.reset()

        self.indexes.reset(wipe)

    def die(self) -> None:
        """As the end of a process does: everything is released, nothing saved."""
        for follower in self.indexes._followers():
            follower.close()

    def check(self) -> None:
        assert_agreement(self.store, self.indexes, MODEL, self.root)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
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


def test_a_write_is_found_at_once(world: World) -> None:
    world.put("a.py", "zebrak one", "quokkak two")
    world.put("b.py", "koalak three", embed=False)
    assert [world.found(word) for word in ("quokkak", "koalak")] == [["quokkak two"], ["koalak three"]]
    world.check()


def test_saved_indexes_are_used_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.put("a.py", "zebrak one")
    world.indexes.close()
    built = spying(monkeypatch)
    world.start()
    assert built == []
    assert world.found("zebrak") == ["zebrak one"]
    world.check()


def test_a_kill_before_saving_costs_nothing(world: World) -> None:
    world.put("a.py", "zebrak one", "wombatk")
    world.indexes.close()
    world.start()
    world.put("a.py", "quokkak two")
    world.put("b.py", "koalak three", embed=False)
    world.die()
    world.start()
    assert [world.found(word) for word in ("zebrak", "quokkak", "koalak")] == [
        [], ["quokkak two"], ["koalak three"],
    ]  # fmt: skip
    world.check()


def test_a_chunk_that_returned_before_a_kill_is_there_once(world: World) -> None:
    """Its old row was saved; the log has to take it away."""
    (before,) = world.put("a.py", "zebrak one")
    world.indexes.close()
    world.start()
    world.put("a.py", "quokkak two")
    (after,) = world.put("a.py", "zebrak one")
    assert (after.id, after.row) == (before.id, before.row + 2)
    world.die()
    world.start()
    assert world.found("zebrak") == ["zebrak one"]
    world.check()


def test_a_kill_between_two_saves_costs_nothing(world: World) -> None:
    world.put("a.py", "zebrak one")
    world.indexes.close()
    world.start()
    world.put("a.py", "quokkak two")
    checkpoint = world.store.state().checkpoint
    world.indexes.code.catalog.save(checkpoint)
    world.indexes.code.lexical.save(checkpoint)
    world.die()
    world.start()
    assert [world.found(word) for word in ("zebrak", "quokkak")] == [[], ["quokkak two"]]
    world.check()


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("catalog.arrays", "catalog of chunks"),
        ("shelf.arrays", "shelf of chunks"),
        ("dense.arrays", "dense of chunks"),
        ("lexical", "lexical of chunks"),
    ],
)
def test_a_missing_index_is_built_again_and_only_that(
    world: World, part: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put("a.py", "zebrak one", "quokkak two")
    world.put("b.py", "koalak three", embed=False)
    world.indexes.close()
    path = world.folder / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    built = spying(monkeypatch)
    world.start()
    assert built == [(name,)]
    assert world.found("quokkak") == ["quokkak two"]
    world.check()


def test_a_folder_of_memories_alone_gets_its_code(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a data directory of the version before has none."""
    memory = a_memory("m".ljust(20, "x"), content="wombatk")
    world.indexes.commit(lambda: world.store.create_memories([memory], unit_vectors(1), MODEL))
    world.indexes.close()
    shutil.rmtree(world.folder)
    built = spying(monkeypatch)
    world.start()
    assert [len(names) for names in built] == [4]
    world.put("a.py", "zebrak one")
    world.check()


def test_a_reset_empties_all(world: World) -> None:
    world.put("a.py", "zebrak one")
    world.empty()
    assert world.found("zebrak") == []
    world.check()
    world.put("a.py", "zebrak one")
    world.check()


# The channels, by table


def chunk_at(row: int, content: str = "zebrak") -> Change:
    return Change(1, a_chunk(content, row=row))


def memory_at(row: int, content: str = "zebrak") -> Change:
    return Change(1, a_memory(row=row, content=content), unit_vectors(1)[0])


def test_rows_of_memories_are_not_rows_of_chunks(tmp_path: Path) -> None:
    lexical = Lexical.open(tmp_path / "lexical", "chunks")
    dense = Dense.open(tmp_path / "dense.arrays", SPEC.dimensions, table="chunks")
    shelf = Shelf.open(tmp_path / "shelf.arrays", CodeChunk, "chunks")
    for index in (lexical, dense, shelf):
        index.apply([chunk_at(0), Change(2, Embedded("chunks", 0), unit_vectors(1)[0])])
        index.apply([memory_at(1), Change(3, Deleted("memories", "m", 0))])
    assert lexical.search("zebrak", 5, HOME, everything).rows.tolist() == [0]
    assert dense.search(unit_vectors(1)[0], 5, everything).rows.tolist() == [0]
    assert [record is not None for record in shelf.read(np.array([0, 1]))] == [True, False]
    lexical.close()


def test_rows_of_chunks_are_not_rows_of_memories(tmp_path: Path) -> None:
    lexical = Lexical.open(tmp_path / "lexical")
    dense = Dense.open(tmp_path / "dense.arrays", SPEC.dimensions)
    for index in (lexical, dense):
        index.apply([memory_at(0), chunk_at(1), Change(2, Embedded("chunks", 1), unit_vectors(1)[0])])
        index.apply([Change(3, Deleted("chunks", "c", 0))])
    assert lexical.search("zebrak", 5, HOME, everything).rows.tolist() == [0]
    assert dense.search(unit_vectors(1)[0], 5, everything).rows.tolist() == [0]
    lexical.close()


def test_a_chunk_that_moves_keeps_its_vector(tmp_path: Path) -> None:
    dense = Dense.open(tmp_path / "dense.arrays", SPEC.dimensions, table="chunks")
    dense.apply([chunk_at(0), Change(2, Embedded("chunks", 0), unit_vectors(1)[0]), chunk_at(0)])
    assert len(dense) == 1
    dense.apply([Change(3, Deleted("chunks", "c", 0))])
    assert len(dense) == 0


def test_which_rows_lack_a_vector(tmp_path: Path) -> None:
    dense = Dense.open(tmp_path / "dense.arrays", SPEC.dimensions, table="chunks")
    dense.apply([Change(2, Embedded("chunks", row), unit_vectors(1)[0]) for row in (1, 3)])
    assert dense.lacking(np.arange(5)).tolist() == [0, 2, 4]
    assert dense.lacking(np.array([1, 3])).tolist() == []
    assert dense.lacking(np.array([], dtype=np.int64)).tolist() == []


def test_the_shelf_keeps_chunks_as_they_are(tmp_path: Path) -> None:
    chunk = a_chunk(
        "def grüße():\n\treturn '🌍\u2028'", row=2, name="grüße", breadcrumb="A.b", path="ключ.py"
    )
    shelf = Shelf.open(tmp_path / "shelf.arrays", CodeChunk, "chunks")
    shelf.apply([Change(1, chunk)])
    shelf.save(Checkpoint("here", 1))
    shelf.close()
    assert Shelf.open(tmp_path / "shelf.arrays", CodeChunk, "chunks").read(np.array([2])) == [chunk]
