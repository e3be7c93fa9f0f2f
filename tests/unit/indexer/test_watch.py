"""Batches by a clock of our own; the real observers with bounded waits."""

import ctypes
import errno
import queue
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer.watch import Watcher
from indexer.watch_batch import Batch, Pace, Worth, relative, worth
from indexer.watch_observer import is_remote

# watchdog says so when a new folder gets folders of its own while it is being added
pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")

WAIT = 20.0
"""Seconds until a change that was not told counts as lost."""
PACE = Pace(quiet=1.0, longest=10.0, many=5, overflow=50)
QUICK = Pace(quiet=0.05, longest=1.0)
EVERYTHING = Worth(everything=True)


class TestBatch:
    def test_it_is_complete_after_a_quiet_moment(self) -> None:
        batch = Batch(PACE)
        assert batch.wait(0) is None
        batch.add(Worth("a"), 100)
        batch.add(Worth("b"), 100.5)
        assert batch.wait(100.5) == 1.0
        assert batch.wait(101.25) == 0.25
        assert batch.wait(102) == 0
        assert batch.take() == frozenset({"a", "b"})
        assert batch.wait(102) is None

    def test_it_does_not_wait_for_ever(self) -> None:
        batch = Batch(PACE)
        for tenth in range(95):
            batch.add(Worth("a"), 100 + tenth / 10)
            assert batch.wait(100 + tenth / 10) or tenth > 90
        assert batch.wait(109.4) == pytest.approx(0.6)
        batch.add(Worth("a"), 110)
        assert batch.wait(110) == 0

    def test_a_burst_that_is_seen_in_two_looks_is_one_batch(self) -> None:
        batch = Batch(PACE)
        batch.between_looks = 2.0
        batch.add(Worth("a"), 100)
        assert batch.wait(102) == 1.0
        batch.add(Worth("b"), 102)
        assert batch.wait(105) == 0
        assert batch.take() == frozenset({"a", "b"})

    def test_a_save_by_rename_is_one_batch(self) -> None:
        batch = Batch(PACE)
        for path in ("tmp1", "tmp1", "a.py", "tmp1"):
            batch.add(Worth(path), 0)
        assert batch.take() == frozenset({"tmp1", "a.py"})

    def test_many_paths_are_everything(self) -> None:
        batch = Batch(PACE)
        for number in range(6):
            batch.add(Worth(str(number)), 0)
        batch.add(Worth("later"), 0.5)
        assert batch.wait(0.5) == 1.0
        assert batch.take() is None

    def test_one_path_many_times_is_one_path(self) -> None:
        batch = Batch(PACE)
        for _ in range(40):
            batch.add(Worth("a"), 0)
        assert batch.take() == frozenset({"a"})

    def test_more_events_than_the_system_queues_are_everything(self) -> None:
        batch = Batch(PACE)
        for _ in range(50):
            batch.add(Worth(), 0)
        assert batch.wait(0) is None
        batch.add(Worth(), 0)
        assert batch.take() is None

    def test_everything_swallows_paths_once(self) -> None:
        batch = Batch(PACE)
        batch.add(Worth("a"), 0)
        batch.add(EVERYTHING, 0)
        batch.add(Worth("b"), 0)
        assert batch.take() is None
        batch.add(Worth("c"), 5)
        assert batch.take() == frozenset({"c"})

    def test_a_retry_waits_but_not_once_something_happens(self) -> None:
        batch = Batch(PACE)
        batch.add_everything(130)
        assert batch.wait(100) == 31
        batch.add(Worth("a"), 105)
        assert batch.wait(105) == 1
        assert batch.take() is None


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("a.py", False, Worth("a.py")),
        ("sub/a.py", False, Worth("sub/a.py")),
        ("sub", True, Worth("sub")),
        ("assets.png", True, Worth("assets.png")),
        ("", True, EVERYTHING),
        (".git", True, EVERYTHING),
        (".git/HEAD", False, EVERYTHING),
        ("lib/.git/HEAD", False, EVERYTHING),
        (".git/info/exclude", False, EVERYTHING),
        ("sub/.gitignore", False, EVERYTHING),
        (".memoryignore", False, EVERYTHING),
        (".git/index", False, Worth()),
        (".git/objects/ab/cdef", False, Worth()),
        (".git/HEAD.lock", False, Worth()),
        ("a/node_modules/b/c.js", False, Worth()),
        ("__pycache__/a.cpython-311.pyc", False, Worth()),
        ("picture.png", False, Worth()),
        (".a.py.swp", False, Worth()),
        ("a.py~", False, Worth()),
    ],
)
def test_what_a_change_is_worth(path: str, folder: bool, expected: Worth) -> None:
    assert worth(path, folder=folder) == expected


def test_paths_are_spelled_as_the_walk_spells_them() -> None:
    assert relative("/p/a/b.py", "/p") == "a/b.py"
    assert relative(b"/p/\xff", "/p") == "\udcff"
    assert relative("/p", "/p") == ""
    assert relative("/problem/a", "/p") is None


def test_network_folders_are_known_by_their_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda / ext4 rw 0 0\nserver:/x /home/me/far nfs4 rw 0 0\nC: /mnt/c 9p rw 0 0\n"
        "x /mnt/with\\040space cifs rw 0 0\n/dev/sdb /home/me/far/near ext4 rw 0 0\nbroken\n"
    )
    assert is_remote("/home/me/far/project", mounts)
    assert is_remote("/mnt/c", mounts)
    assert is_remote("/mnt/with space/p", mounts)
    assert not is_remote("/home/me/farther", mounts)
    assert not is_remote("/home/me/far/near/p", mounts)
    assert not is_remote("/home/me", tmp_path / "missing")


class Told:
    """What a watcher told, and a way to wait for it."""

    def __init__(self) -> None:
        self.batches: queue.Queue[frozenset[str] | None] = queue.Queue()
        self.seen: set[str] = set()

    def __call__(self, batch: frozenset[str] | None) -> None:
        self.batches.put(batch)

    def until(self, wanted: Callable[[frozenset[str] | None], bool]) -> None:
        while not wanted(self.batches.get(timeout=WAIT)):
            pass

    def until_everything(self) -> None:
        self.until(lambda batch: batch is None)

    def until_seen(self, *any_of: str) -> set[str]:
        """All paths told so far, once one of these is among them."""
        while not self.seen.intersection(any_of):
            self.seen |= self.batches.get(timeout=WAIT) or set()
        return self.seen


Watching = tuple[Path, Told, Watcher]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_text("a\n")
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


@pytest.fixture(params=["native", "polling"])
def watching(request: pytest.FixtureRequest, root: Path) -> Iterator[Watching]:
    told = Told()
    polling = request.param == "polling"
    watcher = Watcher(root, told, pace=QUICK, polling=polling, poll_seconds=0.05)
    watcher.start()
    assert watcher.by_polling is polling or sys.platform != "linux"
    yield root, told, watcher
    watcher.stop()


class TestWatcher:
    def test_a_changed_file_is_told(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / "a.py").write_text("changed\n")
        told.until_seen("a.py")

    def test_a_new_file_in_a_new_folder_is_told(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / "new" / "deep").mkdir(parents=True)
        (root / "new" / "deep" / "b.py").write_text("b\n")
        assert told.until_seen("new/deep/b.py", "new/deep", "new")

    def test_a_deleted_file_is_told(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / "a.py").unlink()
        told.until_seen("a.py")

    def test_a_save_by_rename_is_told(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / "scratch.py").write_text("new\n")
        (root / "scratch.py").replace(root / "a.py")
        told.until_seen("a.py")

    def test_a_renamed_folder_is_told_at_both_ends(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / "sub").rename(root / "renamed")
        told.until_seen("sub")
        told.until_seen("renamed")

    def test_a_branch_switch_is_everything(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / ".git" / "HEAD.lock").write_text("ref: refs/heads/other\n")
        (root / ".git" / "HEAD.lock").replace(root / ".git" / "HEAD")
        told.until_everything()

    @pytest.mark.parametrize("polling", [False, True], ids=["native", "polling"])
    def test_mass_renames_are_everything(self, root: Path, polling: bool) -> None:
        told = Told()
        patient = Pace(quiet=0.5, longest=WAIT, many=20)  # a machine may be busy between two renames
        watcher = Watcher(root, told, pace=patient, polling=polling, poll_seconds=0.05)
        watcher.start()
        for number in range(100):
            (root / "sub" / f"{number}.py").write_text("x")
        for number in range(100):
            (root / "sub" / f"{number}.py").rename(root / f"{number}.py")
        told.until_everything()
        watcher.stop()

    def test_changed_rules_are_everything(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / "sub" / ".gitignore").write_text("*.log\n")
        told.until_everything()

    def test_uninteresting_changes_are_not_told(self, watching: Watching) -> None:
        root, told, _ = watching
        (root / ".git" / "index").write_text("x")
        (root / "node_modules" / "x").mkdir(parents=True)
        (root / "node_modules" / "x" / "a.js").write_text("x")
        (root / "last.py").write_text("x")
        assert told.until_seen("last.py") == {"last.py"}

    def test_a_folder_deleted_and_made_again_is_followed(self, watching: Watching) -> None:
        root, told, _ = watching
        shutil.rmtree(root)
        told.until_everything()
        root.mkdir()
        told.until_everything()
        (root / "again.py").write_text("x")
        told.until(lambda batch: batch is None or "again.py" in batch)

    def test_a_watch_that_ended_is_begun_again(self, watching: Watching) -> None:
        root, told, watcher = watching
        assert watcher._observing is not None
        for emitter in watcher._observing._observer.emitters:
            emitter.stop()
            emitter.join(WAIT)
        with watcher._changed:  # what otherwise happens after HEALTH_SECONDS
            watcher._changed.notify_all()
        told.until_everything()
        (root / "b.py").write_text("b\n")
        told.until_seen("b.py")

    def test_start_and_stop_may_be_repeated(self, watching: Watching) -> None:
        root, told, watcher = watching
        watcher.start()
        assert watcher.running
        watcher.stop()
        watcher.stop()
        assert not watcher.running
        (root / "unseen.py").write_text("x")
        watcher.start()
        (root / "a.py").write_text("changed\n")
        told.until_seen("a.py")

    def test_it_can_be_stopped_from_within_a_call(self, root: Path) -> None:
        stopped = threading.Event()

        def stop(_: frozenset[str] | None) -> None:
            watcher.stop()
            stopped.set()

        watcher = Watcher(root, stop, pace=QUICK)
        watcher.start()
        (root / "a.py").write_text("changed\n")
        assert stopped.wait(WAIT)
        assert not watcher.running

    def test_stopping_leaves_no_thread(self, root: Path) -> None:
        before = set(threading.enumerate())
        watcher = Watcher(root, Told(), pace=QUICK)
        watcher.start()
        watcher.stop()
        assert set(threading.enumerate()) == before

    def test_an_error_in_a_call_ends_nothing_and_is_made_up_for(
        self, root: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        told = Told()
        calls = iter((True, False, False))

        def sometimes(batch: frozenset[str] | None) -> None:
            told(batch)
            if next(calls):
                raise ValueError("no")

        watcher = Watcher(root, sometimes, pace=QUICK)
        watcher.start()
        (root / "a.py").write_text("1\n")
        told.until_seen("a.py")
        (root / "b.py").write_text("2\n")
        told.until_everything()
        watcher.stop()
        assert "could not be taken in" in caplog.text

    def test_a_missing_root_is_an_error(self, root: Path) -> None:
        watcher = Watcher(root / "missing", Told())
        with pytest.raises(FileNotFoundError):
            watcher.start()
        assert not watcher.running
        watcher.stop()

    @pytest.mark.skipif(sys.platform != "linux", reason="inotify has a limit")
    @pytest.mark.parametrize("allowed", [0, 1, 2])
    def test_polling_takes_over_when_watches_run_out(
        self, root: Path, allowed: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        from watchdog.observers import inotify_c

        real = inotify_c.inotify_add_watch
        left = iter(range(allowed))

        def limited(descriptor: int, path: bytes, mask: int) -> int:
            if next(left, None) is None:
                ctypes.set_errno(errno.ENOSPC)
                return -1
            return real(descriptor, path, inotify_c.Mask(mask))

        monkeypatch.setattr(inotify_c, "inotify_add_watch", limited)
        before = set(threading.enumerate())
        told = Told()
        watcher = Watcher(root, told, pace=QUICK, poll_seconds=0.05)
        watcher.start()
        assert watcher.by_polling
        assert "by polling" in caplog.text
        (root / "a.py").write_text("changed\n")
        told.until_seen("a.py")
        watcher.stop()
        assert set(threading.enumerate()) == before
