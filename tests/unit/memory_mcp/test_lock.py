"""One owner a data directory."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memory_mcp.owner.lock import FolderLock
from retrieval.errors import StoreError, StoreLocked

HOLD = (
    "import sys; from pathlib import Path; from memory_mcp.owner.lock import FolderLock\n"
    "lock = FolderLock.acquire(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()\n"
)


def hold(folder: Path) -> subprocess.Popen[str]:
    """Another process that has the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    FolderLock.acquire(folder).release()
    assert folder.is_dir()


def test_a_second_claim_is_refused(tmp_path: Path) -> None:
    lock = FolderLock.acquire(tmp_path)
    with pytest.raises(StoreLocked):
        FolderLock.acquire(tmp_path)
    lock.release()


def test_the_refusal_says_who_holds_it_and_what_to_do(tmp_path: Path) -> None:
    lock = FolderLock.acquire(tmp_path)
    with pytest.raises(StoreLocked) as caught:
        FolderLock.acquire(tmp_path)
    lock.release()
    for part in (f"process {os.getpid()}", str(tmp_path), "--data-dir"):
        assert part in str(caught.value)


def test_a_released_folder_is_free(tmp_path: Path) -> None:
    for _ in range(3):
        FolderLock.acquire(tmp_path).release()


def test_releasing_twice_is_harmless(tmp_path: Path) -> None:
    first = FolderLock.acquire(tmp_path)
    first.release()
    second = FolderLock.acquire(tmp_path)
    first.release()
    with pytest.raises(StoreLocked):
        FolderLock.acquire(tmp_path)
    second.release()


def test_folders_do_not_hinder_each_other(tmp_path: Path) -> None:
    locks = [FolderLock.acquire(tmp_path / name) for name in "ab"]
    for lock in locks:
        lock.release()


def test_the_folder_is_private(tmp_path: Path) -> None:
    lock = FolderLock.acquire(tmp_path / "new")
    lock.release()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((tmp_path / "new" / "owner.lock").stat().st_mode) & 0o077 == 0


def test_another_process_is_refused_and_named(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        with pytest.raises(StoreLocked, match=f"process {process.pid}"):
            FolderLock.acquire(tmp_path)
        process.communicate(timeout=30)
    FolderLock.acquire(tmp_path).release()


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    lock = FolderLock.acquire(tmp_path)
    with pytest.raises(StoreLocked, match=f"process {os.getpid()}"):  # and not the one that was killed
        FolderLock.acquire(tmp_path)
    lock.release()


def test_a_place_where_no_folder_can_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="--data-dir"):
        FolderLock.acquire(tmp_path / "file" / "data")
