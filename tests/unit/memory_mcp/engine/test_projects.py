"""Projects through the engine: indexed, watched, interrupted, deleted, and honest about it."""

import queue
import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from indexer import pipeline, removal
from indexer.walk import InvalidPath
from indexer.watch import Pace, Watcher
from memory_mcp.engine import projects as module
from memory_mcp.engine.engine import Engine
from memory_mcp.engine.projects import Indexed, IndexStatus, Projects
from memory_mcp.engine.reembed import reembed
from retrieval.embedding.encoder import Encoder
from retrieval.errors import InvalidInput, ProjectNotFound, StoreError
from retrieval.records import Project, Scope
from retrieval.store.store import Counts
from tests.agreement import assert_agreement
from tests.builders import MODEL, NOW, SPEC, Clock, an_encoder, some_settings
from tests.fakes import HashModel
from tests.unit.indexer.workshop import function, write_files
from tests.unit.memory_mcp.engine.models import SAME_WIDTH

WAIT = 30.0
TWO = {"a.py": function("alpha") + function("beta"), "lib/b.py": function("gamma")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "app"
    write_files(folder, TWO)
    return folder


def finish(engine: Engine) -> None:
    """Wait until every vector is made."""
    engine.projects.embedding.wake()
    assert engine.projects.embedding.wait(WAIT)


def names(engine: Engine) -> list[str]:
    return sorted(chunk.name for page in engine._store.scan("chunks") for chunk in page)


def digests(engine: Engine) -> set[str]:
    return {key.id[0] for key in engine._store._db.run("SELECT VALUE id FROM code_vectors")[0]}


def check(engine: Engine, scratch: Path) -> None:
    assert_agreement(engine._store, engine._indexes, MODEL, scratch)


# Indexing


def test_a_folder_is_indexed(engine: Engine, root: Path, tmp_path: Path) -> None:
    assert engine.projects.index(str(root)) == Indexed("app", 2, 3)
    finish(engine)
    assert engine.projects.all() == [
        Project("app", "engine", str(root), False, "completed", NOW, NOW, total_files=2)
    ]
    assert engine.status().counts == Counts(0, 0, 0, 3)
    check(engine, tmp_path)


def test_indexing_again_does_only_what_is_new(engine: Engine, root: Path, tmp_path: Path) -> None:
    engine.projects.index(str(root))
    write_files(root, {"c.py": function("delta")})
    assert engine.projects.index(str(root)) == Indexed("app", 3, 1)
    finish(engine)
    assert names(engine) == ["alpha", "beta", "delta", "gamma"]
    check(engine, tmp_path)


def test_what_is_left_out_is_kept_with_the_project(engine: Engine, root: Path) -> None:
    write_files(root, {"data": b"\0\1" * 50, "yarn.lock": "x\n"})
    engine.projects.index(str(root))
    assert engine.projects.get("app").skipped == {"binary": 1, "lock file": 1}


def test_a_folder_keeps_its_id_however_it_is_spelled(engine: Engine, root: Path, tmp_path: Path) -> None:
    engine.projects.index(str(root))
    (tmp_path / "link").symlink_to(root)
    for spelled in (f"{root}/", f"{root}/lib/..", str(tmp_path / "link")):
        assert engine.projects.index(spelled).project == "app"
    assert [project.root for project in engine.projects.all()] == [str(root)]


def test_folders_of_one_name_get_ids_of_their_own(engine: Engine, root: Path, tmp_path: Path) -> None:
    write_files(tmp_path / "other" / "app", {"a.py": function("delta")})
    engine.projects.index(str(root))
    second = engine.projects.index(str(tmp_path / "other" / "app"))
    assert second.project.startswith("app-")
    assert [project.id for project in engine.projects.all()] == ["app", second.project]
    engine.projects.delete("app")
    assert names(engine) == ["delta"]


def test_a_folder_of_two_spaces_is_two_projects(reopen: Callable[..., Engine], root: Path) -> None:
    reopen().projects.index(str(root))
    engine = reopen(space="memento")
    assert engine.projects.all() == []
    with pytest.raises(ProjectNotFound):
        engine.projects.status("app")
    indexed = engine.projects.index(str(root))
    assert indexed == Indexed("app-memento", 2, 3)
    assert engine.projects.index(str(root)).project == "app-memento"
    engine = reopen()
    assert [(project.id, project.space) for project in engine.projects.all()] == [("app", "engine")]
    assert [found.chunk.name for found in engine.code.search("alpha", 1)] == ["alpha"]
    assert engine.projects.delete("app") == 3
    engine = reopen(space="memento")
    assert [found.chunk.name for found in engine.code.search("alpha", 1)] == ["alpha"]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("{root}/a.py", InvalidPath),
        ("{root}/nowhere", InvalidPath),
        ("{root}/empty", InvalidPath),
        ("/", InvalidPath),
        ("/proc", InvalidPath),
        ("", InvalidInput),
        ("  ", InvalidInput),
        ("a\0b", InvalidInput),
    ],
    ids=["a file", "missing", "empty", "everything", "system", "nothing", "blank", "nul"],
)
def test_paths_that_are_no_projects(engine: Engine, root: Path, path: str, error: type[Exception]) -> None:
    (root / "empty").mkdir()
    with pytest.raises(error):
        engine.projects.index(path.format(root=root))
    assert engine.projects.all() == []


def test_the_home_directory_is_no_project(
    engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root / "lib"))
    with pytest.raises(InvalidPath, match="home"):
        engine.projects.index(str(root))


def test_a_project_that_is_not_there(engine: Engine) -> None:
    for ask in (engine.projects.get, engine.projects.status, engine.projects.delete, engine.projects.scope):
        with pytest.raises(ProjectNotFound, match="nobody"):
            ask("nobody")


def test_half_a_character_names_no_project(engine: Engine) -> None:
    with pytest.raises(ProjectNotFound):
        engine.projects.get("\ud800" * 300)


def test_where_to_look(engine: Engine, root: Path) -> None:
    engine.projects.index(str(root))
    assert engine.projects.scope(None) == Scope("engine")
    assert engine.projects.scope("app") == Scope("engine", "app")


# Honest about how far it is


def test_status_of_a_project_that_is_complete(engine: Engine, root: Path) -> None:
    engine.projects.index(str(root))
    finish(engine)
    status = engine.projects.status("app")
    assert status == IndexStatus(engine.projects.get("app"), "completed", 2, 2, 3, 100.0, None)


def test_status_while_files_are_read(
    engine: Engine, root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_FILES", 1)
    seen: list[IndexStatus] = []
    engine.projects.index(str(root), report=lambda *_: seen.append(engine.projects.status("app")))
    assert {status.status for status in seen} == {"indexing"}
    assert [status.total_files for status in seen] == [2, 2, 2]
    assert [status.indexed_files for status in seen] == [0, 0, 0]
    assert [status.percent for status in seen] == [0.0, 2.5, 5.0]  # read, and no vector made
    assert all(status.project.completed_at is None for status in seen)


def test_status_while_vectors_are_missing(engine: Engine, root: Path) -> None:
    with engine.projects.held():
        engine.projects.index(str(root))
        status = engine.projects.status("app")
        assert (status.status, status.percent, status.indexed_files) == ("indexing", 5.0, 0)
        assert (status.total_files, status.total_chunks) == (2, 3)
        assert status.eta_seconds is not None
    finish(engine)
    assert engine.projects.status("app").status == "completed"


def test_a_file_counts_when_all_its_chunks_have_vectors(engine: Engine, root: Path) -> None:
    with engine.projects.held():
        engine.projects.index(str(root))
        chunk = next(c for page in engine._store.scan("chunks") for c in page if c.name == "gamma")
        vectors = {chunk.digest: HashModel(SPEC.dimensions).embed([chunk.content])[0]}
        holders = [(chunk.id, chunk.row, chunk.digest)]
        engine._indexes.commit(
            lambda: engine._store.code.add_vectors(vectors, holders, MODEL, vectors.keys())
        )
        status = engine.projects.status("app")
        assert (status.indexed_files, status.percent) == (1, round(5 + 95 / 3, 1))


def test_status_of_a_project_that_is_indexed_again(engine: Engine, root: Path) -> None:
    """What was there before does not make it complete."""
    engine.projects.index(str(root))
    finish(engine)
    write_files(root, {"c.py": function("delta")})
    with engine.projects.held():
        engine.projects.index(str(root))
        status = engine.projects.status("app")
        assert (status.status, status.indexed_files, status.total_files) == ("indexing", 2, 3)
        assert 5.0 < status.percent < 100.0


def test_a_complete_project_that_lacks_vectors_again_says_so(engine: Engine, root: Path) -> None:
    engine.projects.index(str(root))
    finish(engine)
    write_files(root, {"a.py": function("alpha") + function("delta")})
    with engine.projects.held():
        engine.code.search("alpha")  # reads the file again
        status = engine.projects.status("app")
        assert (status.status, status.indexed_files, status.percent) == ("indexing", 1, 68.3)
    finish(engine)
    assert engine.projects.status("app").percent == 100.0


def test_another_model_means_other_vectors(reopen: Callable[..., Engine], root: Path, tmp_path: Path) -> None:
    engine = reopen()
    engine.projects.index(str(root))
    finish(engine)
    engine.close()
    reembed(some_settings(tmp_path / "data"), encoder=an_encoder(SAME_WIDTH))
    loaded = threading.Event()

    def slow() -> HashModel:
        assert loaded.wait(WAIT)
        return HashModel(SPEC.dimensions)

    engine = reopen(encoder=Encoder(SAME_WIDTH, slow), wait=False)
    status = engine.projects.status("app")
    assert (status.status, status.percent) == ("indexing", 5.0)
    loaded.set()
    finish(engine)
    status = engine.projects.status("app")
    assert (status.status, status.percent) == ("completed", 100.0)
    assert_agreement(engine._store, engine._indexes, SAME_WIDTH.name, tmp_path)


def test_a_stopped_project_is_pending(engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    indexed = engine.projects.index(
        str(root), report=lambda done, _: told.append(done), stopped=lambda: told[-1] == 1
    )
    assert indexed == Indexed("app", 2, 2)
    finish(engine)
    status = engine.projects.status("app")
    assert (status.status, status.percent) == ("pending", 50.0)
    assert (status.indexed_files, status.total_files) == (1, 2)
    assert engine.projects.index(str(root)).chunks == 1
    finish(engine)
    assert engine.projects.status("app").status == "completed"


def test_without_a_model_a_project_is_complete_by_its_words(
    reopen: Callable[..., Engine], root: Path
) -> None:
    def broken() -> HashModel:
        raise OSError("no such file")

    engine = reopen(encoder=Encoder(SPEC, broken))
    engine.projects.index(str(root))
    finish(engine)
    status = engine.projects.status("app")
    assert (status.status, status.percent, status.indexed_files) == ("completed", 100.0, 2)
    assert [found.chunk.name for found in engine.code.search("gamma")] == ["gamma"]


def test_vectors_that_a_broken_model_left_out_are_made_later(
    reopen: Callable[..., Engine], root: Path, tmp_path: Path
) -> None:
    def broken() -> HashModel:
        raise OSError("no such file")

    engine = reopen(encoder=Encoder(SPEC, broken))
    engine.projects.index(str(root))
    finish(engine)
    engine = reopen()
    finish(engine)
    assert len(digests(engine)) == 3
    check(engine, tmp_path)


def test_a_project_that_fails_says_so(engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise StoreError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(engine._store.code, "write_files", refuse)
        with pytest.raises(StoreError, match="disk full"):
            engine.projects.index(str(root))
    status = engine.projects.status("app")
    assert (status.status, status.project.error, status.percent) == ("failed", "disk full", 0.0)
    engine.projects.index(str(root))
    finish(engine)
    status = engine.projects.status("app")
    assert (status.status, status.project.error, status.percent) == ("completed", None, 100.0)


def test_a_folder_that_vanished_keeps_its_code(engine: Engine, root: Path) -> None:
    engine.projects.index(str(root))
    finish(engine)
    shutil.rmtree(root)
    with pytest.raises(InvalidPath):
        engine.projects.index(str(root))
    assert engine.projects.status("app").status == "completed"
    assert len(names(engine)) == 3


# Interrupted


class Gate:
    """Holds a run at a file until the test lets it go on."""

    def __init__(self, at: int = 1) -> None:
        self._at = at
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, done: int, _: int) -> None:
        if done == self._at:
            self.reached.set()
            assert self.opened.wait(WAIT)


def interrupt(engine: Engine, root: Path) -> None:
    """Close the engine when the first file of a folder is stored."""
    gate = Gate()
    indexing = threading.Thread(target=engine.projects.index, args=(str(root),), kwargs={"report": gate})
    indexing.start()
    assert gate.reached.wait(WAIT)
    closing = threading.Thread(target=engine.close)
    closing.start()
    assert engine.projects._closing.wait(WAIT)
    gate.opened.set()
    for thread in (indexing, closing):
        thread.join(WAIT)
        assert not thread.is_alive()


def test_what_was_interrupted_goes_on_at_the_next_start(
    reopen: Callable[..., Engine], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_FILES", 1)
    interrupt(reopen(), root)
    engine = reopen()
    engine.projects._resuming.join(WAIT)
    finish(engine)
    assert names(engine) == ["alpha", "beta", "gamma"]
    assert engine.projects.status("app").status == "completed"
    check(engine, tmp_path)


def test_what_was_interrupted_is_not_complete_before_it_is_read(
    reopen: Callable[..., Engine], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "zoo"
    write_files(other, TWO)
    for folder in (root, other):
        interrupt(reopen(wait=False), folder)
    held, go_on = threading.Event(), threading.Event()
    index_project = pipeline.index_project

    def slow(*arguments: Any, **options: Any) -> Any:
        held.set()
        assert go_on.wait(WAIT)
        return index_project(*arguments, **options)

    monkeypatch.setattr(module, "index_project", slow)
    engine = reopen()
    assert held.wait(WAIT)
    engine.projects._complete()  # as when no vector is missing
    for key in ("app", "zoo"):  # the one is about to be read, the other waits for it
        status = engine.projects.status(key)
        assert (status.status, status.percent) == ("indexing", 0.0), key
    go_on.set()
    engine.projects._resuming.join(WAIT)
    finish(engine)
    assert [engine.projects.status(key).status for key in ("app", "zoo")] == ["completed"] * 2
    assert len(names(engine)) == 6


def test_what_was_complete_is_left_alone_at_the_next_start(
    reopen: Callable[..., Engine], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = reopen()
    engine.projects.index(str(root))
    finish(engine)
    write_files(root, {"c.py": function("delta")})
    engine = reopen()
    engine.projects._resuming.join(WAIT)
    assert names(engine) == ["alpha", "beta", "gamma"]
    assert engine.projects.status("app").status == "completed"


def test_a_folder_that_is_gone_at_the_next_start(reopen: Callable[..., Engine], root: Path) -> None:
    interrupt(reopen(), root)
    shutil.rmtree(root)
    engine = reopen()
    engine.projects._resuming.join(WAIT)
    status = engine.projects.status("app")
    assert status.status == "failed"
    assert status.project.error is not None
    assert "does not exist" in status.project.error


def test_a_start_does_not_take_up_what_is_stopped_meanwhile(
    reopen: Callable[..., Engine], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project that is being indexed when the start looks around is somebody's business already."""
    gate, looked = Gate(), threading.Event()
    run_of = Projects._run

    def note(projects: Projects, key: str) -> Any:
        run = run_of(projects, key)
        if threading.current_thread().name == "resume":
            looked.set()
        return run

    every = Projects.all

    def later(projects: Projects) -> list[Project]:
        if threading.current_thread().name == "resume":
            assert gate.reached.wait(WAIT)
        return every(projects)

    monkeypatch.setattr(Projects, "_run", note)
    monkeypatch.setattr(Projects, "all", later)
    engine = reopen()
    indexing = threading.Thread(
        target=engine.projects.index,
        args=(str(root),),
        kwargs={"report": gate, "stopped": gate.reached.is_set},
    )
    indexing.start()
    assert looked.wait(WAIT)
    gate.opened.set()
    indexing.join(WAIT)
    engine.projects._resuming.join(WAIT)
    assert engine.projects.get("app").status == "pending"


def test_runs_of_one_project_take_turns(engine: Engine, root: Path, tmp_path: Path) -> None:
    gate = Gate()
    first = threading.Thread(target=engine.projects.index, args=(str(root),), kwargs={"report": gate})
    first.start()
    assert gate.reached.wait(WAIT)
    with engine.projects.working("app") as is_free:
        assert not is_free
    results: list[Indexed] = []
    second = threading.Thread(target=lambda: results.append(engine.projects.index(str(root))))
    second.start()
    gate.opened.set()
    first.join(WAIT)
    second.join(WAIT)
    assert results == [Indexed("app", 2, 0)]
    finish(engine)
    assert engine.projects.status("app").status == "completed"
    check(engine, tmp_path)


# Deleting


def test_a_deleted_project_leaves_nothing(engine: Engine, root: Path, tmp_path: Path) -> None:
    engine.projects.index(str(root))
    finish(engine)
    assert engine.projects.delete("app") == 3
    assert engine.projects.all() == []
    assert names(engine) == []
    assert digests(engine) == set()
    assert engine._store.code.known_files("app") == {}
    assert engine.code.search("alpha") == ()
    check(engine, tmp_path)


def test_many_files_are_deleted_in_batches(
    engine: Engine, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "AT_ONCE", 1)
    engine.projects.index(str(root))
    assert engine.projects.delete("app") == 3
    check(engine, tmp_path)


def test_vectors_that_another_project_has_stay(engine: Engine, root: Path, tmp_path: Path) -> None:
    write_files(tmp_path / "other", {"c.py": function("gamma"), "d.py": function("delta")})
    engine.projects.index(str(root))
    engine.projects.index(str(tmp_path / "other"))
    finish(engine)
    assert len(digests(engine)) == 4
    engine.projects.delete("app")
    kept = {chunk.digest for page in engine._store.scan("chunks") for chunk in page}
    assert digests(engine) == kept
    assert len(kept) == 2
    check(engine, tmp_path)


def test_a_project_may_come_back(engine: Engine, root: Path, tmp_path: Path) -> None:
    engine.projects.index(str(root))
    engine.projects.delete("app")
    assert engine.projects.index(str(root)) == Indexed("app", 2, 3)
    finish(engine)
    assert engine.projects.status("app").status == "completed"
    check(engine, tmp_path)


def test_deleting_stops_a_run(engine: Engine, root: Path, tmp_path: Path) -> None:
    gate = Gate()
    indexing = threading.Thread(target=engine.projects.index, args=(str(root),), kwargs={"report": gate})
    indexing.start()
    assert gate.reached.wait(WAIT)
    deleting = threading.Thread(target=engine.projects.delete, args=("app",))
    deleting.start()
    assert engine.projects._run("app").stop.wait(WAIT)
    gate.opened.set()
    for thread in (indexing, deleting):
        thread.join(WAIT)
    assert engine.projects.all() == []
    assert names(engine) == []
    check(engine, tmp_path)


def test_a_project_that_is_half_deleted_does_not_pass_for_complete(
    reopen: Callable[..., Engine], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "AT_ONCE", 1)
    engine = reopen()
    engine.projects.index(str(root), watch=True)
    finish(engine)
    write, left = engine._store.code.write_files, iter((True,))

    def refuse(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise StoreError("disk full")
        return write(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(engine._store.code, "write_files", refuse)
        with pytest.raises(StoreError):
            engine.projects.delete("app")
    engine = reopen()
    engine.projects._resuming.join(WAIT)
    finish(engine)
    status = engine.projects.status("app")
    assert (status.status, status.percent, status.total_chunks) == ("pending", 50.0, 1)
    assert engine.projects.delete("app") == 1
    assert engine.projects.all() == []


def test_a_project_that_is_indexed_again_is_not_completed_by_what_was_read_before(
    engine: Engine, root: Path
) -> None:
    engine.projects.index(str(root))
    finish(engine)
    before = engine.projects.get("app")
    told: list[int] = []
    engine.projects.index(str(root), report=lambda done, _: told.append(done), stopped=lambda: told[-1] == 1)
    engine.projects._completed(before)
    assert engine.projects.get("app").status == "pending"


def test_a_deleted_project_is_not_completed_back_into_being(engine: Engine, root: Path) -> None:
    engine.projects.index(str(root))
    project = engine.projects.get("app")
    engine.projects.delete("app")
    engine.projects._completed(project)  # by a thread that had read it before
    assert engine.projects.all() == []


def test_a_reset_forgets_projects(reopen: Callable[..., Engine], root: Path, tmp_path: Path) -> None:
    engine = reopen()
    engine.projects.index(str(root), watch=True)
    finish(engine)
    assert engine.reset() == Counts(0, 0, 0, 3)
    assert engine.projects.all() == []
    assert engine.code.search("alpha") == ()
    check(engine, tmp_path)
    assert engine.projects.index(str(root)) == Indexed("app", 2, 3)
    finish(engine)
    check(engine, tmp_path)


def test_a_reset_stops_a_run(engine: Engine, root: Path, tmp_path: Path) -> None:
    gate = Gate()
    indexing = threading.Thread(target=engine.projects.index, args=(str(root),), kwargs={"report": gate})
    indexing.start()
    assert gate.reached.wait(WAIT)
    run = engine.projects._run("app")
    resetting = threading.Thread(target=engine.reset)
    resetting.start()
    assert run.stop.wait(WAIT)
    gate.opened.set()
    for thread in (indexing, resetting):
        thread.join(WAIT)
        assert not thread.is_alive()
    assert engine.projects.all() == []
    assert engine.status().counts == Counts(0, 0, 0)
    check(engine, tmp_path)


# Watching


class Following:
    """Tells when a change on disk was taken in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken: queue.Queue[frozenset[str] | None] = queue.Queue()
        take_in = Projects._take_in

        def note(projects: Projects, key: str, run: Any, paths: frozenset[str] | None) -> None:
            take_in(projects, key, run, paths)
            self.taken.put(paths)

        monkeypatch.setattr(Projects, "_take_in", note)
        monkeypatch.setattr(module, "Watcher", partial(Watcher, pace=Pace(quiet=0.05)))

    def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self.taken.get(timeout=WAIT)


@pytest.fixture
def following(monkeypatch: pytest.MonkeyPatch) -> Following:
    return Following(monkeypatch)


def test_a_change_of_a_watched_project_is_taken_in(
    engine: Engine, root: Path, following: Following, tmp_path: Path
) -> None:
    engine.projects.index(str(root), watch=True)
    write_files(root, {"c.py": function("delta")})
    following.until(lambda: "delta" in names(engine))
    (root / "a.py").unlink()
    following.until(lambda: "alpha" not in names(engine))
    finish(engine)
    status = engine.projects.status("app")
    assert (status.status, status.total_files, status.percent) == ("completed", 2, 100.0)
    check(engine, tmp_path)


def test_a_new_rule_is_a_reason_to_look_at_everything(
    engine: Engine, root: Path, following: Following
) -> None:
    engine.projects.index(str(root), watch=True)
    write_files(root, {".memoryignore": "lib/\n"})
    following.until(lambda: "gamma" not in names(engine))
    finish(engine)
    assert engine.projects.status("app").status == "completed"


def test_watching_survives_a_reopening(
    reopen: Callable[..., Engine], root: Path, following: Following, tmp_path: Path
) -> None:
    reopen().projects.index(str(root), watch=True)
    reopen().close()
    write_files(root, {"c.py": function("delta")})  # while nobody looks
    engine = reopen()
    engine.projects._resuming.join(WAIT)
    assert "delta" in names(engine)
    write_files(root, {"d.py": function("epsilon")})
    following.until(lambda: "epsilon" in names(engine))
    finish(engine)
    check(engine, tmp_path)


def test_indexing_without_watching_ends_it(engine: Engine, root: Path, following: Following) -> None:
    engine.projects.index(str(root), watch=True)
    watcher = engine.projects._run("app").watcher
    assert watcher is not None
    engine.projects.index(str(root))
    assert not watcher.running
    assert engine.projects._run("app").watcher is None
    assert not engine.projects.get("app").watch


def test_a_project_that_was_deleted_can_be_watched_again(
    engine: Engine, root: Path, following: Following
) -> None:
    engine.projects.index(str(root), watch=True)
    engine.projects.delete("app")
    engine.projects.index(str(root), watch=True)
    write_files(root, {"c.py": function("delta")})
    following.until(lambda: "delta" in names(engine))


def test_closing_ends_watching(reopen: Callable[..., Engine], root: Path, following: Following) -> None:
    engine = reopen()
    engine.projects.index(str(root), watch=True)
    watcher = engine.projects._run("app").watcher
    assert watcher is not None
    engine.close()
    assert not watcher.running
    engine.close()


def test_closing_while_a_watched_project_is_resumed_leaves_no_threads(
    reopen: Callable[..., Engine], root: Path, following: Following
) -> None:
    reopen().projects.index(str(root), watch=True)
    for _ in range(5):
        reopen(wait=False).close()
    assert "memory-mcp-watch" not in {thread.name for thread in threading.enumerate()}
