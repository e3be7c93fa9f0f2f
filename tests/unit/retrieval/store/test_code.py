"""Code in the store: projects, files, chunks and their vectors."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from retrieval.errors import StoreError
from retrieval.records import CodeChunk
from retrieval.store import code as module
from retrieval.store import surreal
from retrieval.store.changes import Change, Deleted, Embedded
from retrieval.store.code import FileChange, Known
from retrieval.store.store import Counts, Store
from tests.builders import MODEL, NOW, a_chunk, a_file, a_memory, a_project, unit_vector, unit_vectors


def write(store: Store, *contents: str, path: str = "src/app.py", project: str = "app") -> list[CodeChunk]:
    """A file with these chunks, one a line."""
    chunks = [
        a_chunk(content, path=path, project=project, start_line=line, end_line=line)
        for line, content in enumerate(contents, 1)
    ]
    change = FileChange(path, a_file(path, project), added=tuple(chunks))
    return chunks_of(store.code.write_files(project, [change]))


def chunks_of(changes: Sequence[Change]) -> list[CodeChunk]:
    return [change.record for change in changes if isinstance(change.record, CodeChunk)]


def remove(store: Store, *chunks: CodeChunk) -> list[Change]:
    """The chunks go and their file stays."""
    pairs = tuple((chunk.id, chunk.row) for chunk in chunks)
    file = a_file(chunks[0].path, chunks[0].project)
    return store.code.write_files(chunks[0].project, [FileChange(file.path, file, removed=pairs)])


def stored(store: Store) -> dict[str, CodeChunk]:
    return {chunk.id: chunk for page in store.scan("chunks") for chunk in page}


def logged(store: Store, since: int = 0) -> list[tuple[int, Any]]:
    return [(change.seq, change.record) for page in store.changes_since(since, MODEL) for change in page]


def embed(store: Store, *chunks: CodeChunk, seed: int = 0) -> list[Change]:
    """A vector each, by digest."""
    digests = list(dict.fromkeys(chunk.digest for chunk in chunks))
    vectors = dict(zip(digests, unit_vectors(len(digests), seed=seed), strict=True))
    holders = [(chunk.id, chunk.row, chunk.digest) for chunk in chunks]
    return store.code.add_vectors(vectors, holders, MODEL, digests)


# Projects


def test_a_project_reads_as_written(store: Store) -> None:
    project = a_project(
        "app", root="/home/Zoë/my app", watch=True, status="failed", completed_at=NOW, total_files=7,
        skipped={"too large": 2, "binary": 1}, error="gone",
    )  # fmt: skip
    store.code.put_project(project)
    assert store.code.projects() == [project]


def test_projects_come_by_id(store: Store) -> None:
    for key in ("b", "a-2", "a"):
        store.code.put_project(a_project(key))
    assert [project.id for project in store.code.projects()] == ["a", "a-2", "b"]


def test_putting_a_project_again_replaces_it(store: Store) -> None:
    store.code.put_project(a_project(status="failed", error="gone", completed_at=NOW))
    store.code.put_project(a_project(status="indexing"))
    assert store.code.projects() == [a_project(status="indexing")]


def test_a_dropped_project_goes_with_its_files_and_no_others(store: Store) -> None:
    for key in ("app", "app-2"):
        store.code.put_project(a_project(key))
        store.code.write_files(key, [FileChange("a.py", a_file("a.py", key))])
    store.code.drop_project("app")
    assert [project.id for project in store.code.projects()] == ["app-2"]
    assert store.code.known_files("app") == {}
    assert list(store.code.known_files("app-2")) == ["a.py"]


# Files


def test_a_file_reads_as_written(store: Store) -> None:
    file = a_file("ключ/a b.py", stamp=(1, 2**62, 3, 4), settled=False, symbols=b"\0\xff", problem="odd")
    store.code.write_files("app", [FileChange(file.path, file)])
    assert list(store.code.files("app")) == [[file]]


def test_files_come_in_pages_by_path(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE", 2)
    paths = ["a.py", "b/a.py", "b.py", "c.py", "d.py"]
    store.code.write_files("app", [FileChange(path, a_file(path)) for path in paths])
    store.code.write_files("app-2", [FileChange("a.py", a_file("a.py", "app-2"))])
    pages = [[file.path for file in page] for page in store.code.files("app")]
    assert [path for page in pages for path in page] == sorted(paths)
    assert [len(page) for page in pages] == [2, 2, 1]


def test_known_files_tell_what_changed(store: Store) -> None:
    file = a_file("a.py", problem="skipped: binary", settled=False)
    store.code.write_files("app", [FileChange("a.py", file), FileChange("b.py", a_file("b.py"))])
    assert store.code.known_files("app")["a.py"] == Known(file.stamp, False, file.digest, "skipped: binary")
    assert store.code.known_files("app")["b.py"].problem is None


def test_known_files_of_some_paths(store: Store) -> None:
    store.code.write_files("app", [FileChange(path, a_file(path)) for path in ("a.py", "b.py", "c.py")])
    assert sorted(store.code.known_files("app", ["c.py", "nowhere.py", "a.py"])) == ["a.py", "c.py"]
    assert store.code.known_files("app", []) == {}
    assert store.code.known_files("other", ["a.py"]) == {}


def test_restamping_changes_the_stamp_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE", 2)
    before = [a_file(path, symbols=b"noted", settled=False) for path in ("a.py", "b.py", "c.py")]
    store.code.write_files("app", [FileChange(file.path, file) for file in before])
    after = [replace(file, stamp=(9, 9, 9, 9), settled=True) for file in before]
    seq = store.state().seq
    store.code.restamp([replace(file, symbols=b"", digest="other") for file in after])
    assert [file for page in store.code.files("app") for file in page] == after
    assert store.state().seq == seq  # no index has anything to learn from it


def test_restamping_a_file_that_is_gone_does_not_bring_it_back(store: Store) -> None:
    store.code.restamp([a_file("a.py")])
    assert store.code.known_files("app") == {}


def test_a_file_that_is_gone_is_not_known(store: Store) -> None:
    store.code.write_files("app", [FileChange("a.py", a_file("a.py")), FileChange("b.py", a_file("b.py"))])
    store.code.write_files("app", [FileChange("a.py", None)])
    assert list(store.code.known_files("app")) == ["b.py"]


# Chunks


def test_a_chunk_reads_as_written(store: Store) -> None:
    chunk = a_chunk(
        "def grüße():\n    return '世界 🌍\\n'", name="grüße", breadcrumb="Host", language="python"
    )
    (written,) = chunks_of(store.code.write_files("app", [FileChange(chunk.path, a_file(), added=(chunk,))]))
    assert written == replace(chunk, row=0)
    assert store.chunks([chunk.id, "nobody"]) == {chunk.id: written}


@pytest.mark.parametrize(
    "content",
    [
        "person:tobie",
        "2026-01-06T12:00:00Z",
        "d'2026-01-06T12:00:00Z'",
        "018f9a5e-7a5b-7c3e-9d7e-2f6f5c3b1a11",
        "1h30m",
        "NONE",
        "null",
        "{'a': 1}",
        "'; DELETE chunks; --",
        '"\\" \\u0041 \\',
        "tab\tfeed\f return\r\n \u2028 \x7f",
        "nul \0 inside",
        "",
    ],
)
def test_contents_are_text_whatever_they_look_like(store: Store, content: str) -> None:
    (chunk,) = write(store, content)
    assert stored(store)[chunk.id].content == content
    moved = replace(chunk, start_line=9, end_line=9)
    store.code.write_files("app", [FileChange(chunk.path, a_file(), moved=(moved,))])
    assert stored(store) == {chunk.id: moved}


def test_rows_are_given_in_order_and_never_again(store: Store) -> None:
    first = write(store, "one", "two")
    remove(store, *first)
    second = write(store, "three", path="b.py")
    assert [chunk.row for chunk in (*first, *second)] == [0, 1, 2]


def test_chunks_are_counted(store: Store) -> None:
    one, _, _ = write(store, "one", "two", "three")
    remove(store, one)
    assert store.state().counts == Counts(0, 0, 0, 2)
    assert store.state().counts.total == 2


def test_a_batch_of_files_is_one_change(store: Store) -> None:
    changes = [
        FileChange(path, a_file(path), added=(a_chunk("one", path=path), a_chunk("two", path=path)))
        for path in ("a.py", "b.py")
    ]
    written = store.code.write_files("app", changes)
    assert store.state().seq == 1
    assert [change.seq for change in written] == [1, 1, 1, 1]


def test_a_moved_chunk_keeps_its_row(store: Store) -> None:
    one, two = write(store, "one", "two")
    moved = replace(two, start_line=12, end_line=12)
    changes = store.code.write_files("app", [FileChange(two.path, a_file(), moved=(moved,))])
    assert [change.record for change in changes] == [moved]
    assert stored(store) == {one.id: one, two.id: moved}
    assert store.state().counts.chunks == 2


def test_a_file_changes_as_one(store: Store) -> None:
    stays, moves, goes = write(store, "stays", "moves", "goes")
    moved = replace(moves, start_line=9, end_line=9)
    comes = a_chunk("comes")
    changes = store.code.write_files(
        "app",
        [FileChange(stays.path, a_file(digest="new"), (comes,), (moved,), ((goes.id, goes.row),))],
    )
    came = replace(comes, row=3)
    assert [change.record for change in changes] == [Deleted("chunks", goes.id, goes.row), moved, came]
    assert stored(store) == {chunk.id: chunk for chunk in (stays, moved, came)}
    assert store.code.known_files("app")[stays.path].digest == "new"


def test_a_write_that_fails_leaves_everything_as_it_was(store: Store) -> None:
    (chunk,) = write(store, "one")
    again = FileChange("b.py", a_file("b.py"), added=(a_chunk("two", path="b.py"), chunk))  # one is there
    before = store.state()
    with pytest.raises(StoreError):
        store.code.write_files("app", [again])
    assert store.state() == before
    assert stored(store) == {chunk.id: chunk}
    assert list(store.code.known_files("app")) == [chunk.path]


# Vectors


def test_vectors_are_kept_by_digest_and_model(store: Store) -> None:
    (chunk,) = write(store, "one")
    embed(store, chunk)
    found = store.code.vectors([chunk.digest, chunk.digest, "unknown"], MODEL)
    assert {digest: vector.tolist() for digest, vector in found.items()} == {
        chunk.digest: unit_vector().tolist()
    }
    assert store.code.vectors([chunk.digest], "another") == {}
    assert store.code.vectors([], MODEL) == {}


def test_equal_chunks_share_a_vector(store: Store) -> None:
    (here,) = write(store, "one")
    (there,) = write(store, "one", path="b.py", project="other")
    assert here.digest == there.digest
    changes = embed(store, here, there)
    assert [change.record for change in changes] == [Embedded("chunks", 0), Embedded("chunks", 1)]
    assert all(change.vector is not None for change in changes)
    assert len(store._db.run("SELECT id FROM code_vectors")[0]) == 1


def test_a_vector_that_is_there_need_not_be_stored_again(store: Store) -> None:
    (here,) = write(store, "one")
    embed(store, here)
    (there,) = write(store, "one", path="b.py")
    known = store.code.vectors([there.digest], MODEL)
    (change,) = store.code.add_vectors(known, [(there.id, there.row, there.digest)], MODEL, ())
    assert change.record == Embedded("chunks", there.row)
    assert change.vector is known[there.digest]


def test_making_a_vector_again_replaces_it(store: Store) -> None:
    (chunk,) = write(store, "one")
    embed(store, chunk, seed=1)
    embed(store, chunk, seed=2)
    assert store.code.vectors([chunk.digest], MODEL)[chunk.digest].tolist() == unit_vector(seed=2).tolist()


def test_vectors_that_nobody_holds_are_dropped(store: Store) -> None:
    one, two = write(store, "one", "two")
    embed(store, one, two)
    assert store.code.keep_vectors({two.digest}) == 1
    assert list(store.code.vectors([one.digest, two.digest], MODEL)) == [two.digest]
    assert store.code.keep_vectors({two.digest}) == 0


def test_another_model_drops_the_vectors_of_code(store: Store) -> None:
    (chunk,) = write(store, "one")
    embed(store, chunk)
    store.set_model("another", 64)
    assert store.code.vectors([chunk.digest], MODEL) == {}
    assert stored(store) == {chunk.id: chunk}


# Following


def test_the_log_tells_of_chunks_as_they_are_now(store: Store) -> None:
    one, two = write(store, "one", "two")
    moved = replace(two, start_line=5, end_line=5)
    store.code.write_files("app", [FileChange(two.path, a_file(), moved=(moved,))])
    remove(store, one)
    assert logged(store) == [(2, moved), (3, Deleted("chunks", one.id, one.row))]


def test_the_log_tells_of_vectors_that_came_later(store: Store) -> None:
    (chunk,) = write(store, "one")
    assert [change.vector for page in store.changes_since(0, MODEL) for change in page] == [None]
    embed(store, chunk)
    ((change,),) = store.changes_since(1, MODEL)
    assert (change.seq, change.record) == (2, chunk)
    assert change.vector is not None
    assert change.vector.tolist() == unit_vector().tolist()


def test_a_chunk_that_returns_leaves_its_old_row(store: Store) -> None:
    """With a branch and back: the same id, another row. An index must forget the first."""
    (before,) = write(store, "one")
    remove(store, before)
    (after,) = write(store, "one")
    assert (before.id, before.row, after.row) == (after.id, 0, 1)
    assert logged(store) == [(2, Deleted("chunks", before.id, 0)), (3, after)]


# Reset and migration


def test_a_reset_wipes_code(store: Store) -> None:
    store.code.put_project(a_project())
    embed(store, *write(store, "one", "two"))
    assert store.reset() == Counts(0, 0, 0, 2)
    assert store.code.projects() == []
    assert store.code.known_files("app") == {}
    assert stored(store) == {}
    assert store._db.run("SELECT * FROM code_vectors")[0] == []
    assert store.state().counts == Counts(0, 0, 0)
    assert [chunk.row for chunk in write(store, "three")] == [0]


def old_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> surreal.Connection:
    """A database as the first schema left it."""
    with monkeypatch.context() as patched:
        patched.setattr(surreal, "SCHEMA_VERSION", 1)
        connection = surreal.Connection.open(folder)
    connection.run(
        "UPDATE meta:state SET database = rand::uuid::v4(), seq = 0, oldest = 0, memories = 0, entities = 0,"
        " relations = 0, memory_rows = 0, entity_rows = 0"
    )
    return connection


def test_a_store_of_the_first_schema_keeps_its_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = old_store(tmp_path, monkeypatch)
    assert "chunks" not in connection.run("INFO FOR DB")[0]["tables"]
    memory = replace(a_memory("m", metadata={"k": None}), row=0)
    with monkeypatch.context() as patched:  # the first version did not count chunks
        patched.setattr("retrieval.store.log._BEGIN", _OLD_BEGIN)
        Store(connection).create_memories([memory], unit_vectors(1), MODEL)
    connection.close()

    store = Store.open(tmp_path)
    state = store.state()
    assert store._db.run("SELECT VALUE schema FROM ONLY meta:state") == [surreal.SCHEMA_VERSION]
    assert (state.counts, state.seq) == (Counts(1, 0, 0, 0), 1)
    assert store.memories(["m"]) == {"m": memory}
    assert store.vectors(["m"], MODEL)["m"].tolist() == unit_vector().tolist()
    assert logged(store) == [(1, memory)]
    assert [chunk.row for chunk in write(store, "one")] == [0]
    store.close()


_OLD_BEGIN = """
BEGIN;
LET $state = (UPDATE ONLY meta:state SET seq += 1, memories += $memories, entities += $entities,
    relations += $relations, memory_rows += $new_memories, entity_rows += $new_entities);
"""


def test_every_schema_is_shipped() -> None:
    folder = files("retrieval.store")
    assert len(surreal._MIGRATIONS) == surreal.SCHEMA_VERSION
    assert all(folder.joinpath(name).is_file() for name in surreal._MIGRATIONS)
