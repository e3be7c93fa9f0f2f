"""Is the engine opened once, when it is time, and closed in the end?"""

import threading
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.opening import Opening, claim
from memory_mcp.owner.lock import FolderLock
from memory_mcp.settings import Settings
from retrieval.errors import DimensionMismatch, StoreError, StoreLocked

WAIT = 30.0


class FakeEngine:
    closed = 0

    def close(self) -> None:
        self.closed += 1


class Opener:
    """Opens when told to, and counts."""

    def __init__(self, error: Exception | None = None) -> None:
        self.engine: Any = FakeEngine()
        self.go = threading.Event()
        self.calls = 0
        self._error = error

    def __call__(self) -> Any:
        self.calls += 1
        assert self.go.wait(WAIT)
        if self._error is not None:
            raise self._error
        return self.engine


def test_nothing_is_opened_until_it_is_time() -> None:
    opener = Opener()
    Opening(opener).close()
    assert opener.calls == 0


def test_the_first_to_ask_opens_it_for_all() -> None:
    opener = Opener()
    opener.go.set()
    opening = Opening(opener)
    opening.begin()
    opening.begin(after=0.001)
    assert opening.engine(WAIT) is opening.engine(WAIT) is opener.engine
    assert opener.calls == 1


def test_it_begins_after_a_while_without_anyone_asking() -> None:
    opened = threading.Event()

    def open_now() -> Any:
        opened.set()
        return FakeEngine()

    Opening(open_now).begin(after=0.001)
    assert opened.wait(WAIT)


def test_whoever_cannot_wait_is_told_to_come_again() -> None:
    opener = Opener()
    opening = Opening(opener, timeout=0.0)
    with pytest.raises(StoreError, match=r"still being opened\. Please try again"):
        opening.engine()
    opener.go.set()
    assert opening.engine(WAIT) is opener.engine


@pytest.mark.parametrize("error", [StoreLocked("locked"), OSError("disk"), TimeoutError("slow disk")])
def test_a_failure_is_everyones_answer(error: Exception) -> None:
    opener = Opener(error)
    opener.go.set()
    opening = Opening(opener)
    for _ in range(2):
        with pytest.raises(type(error)) as caught:
            opening.engine(WAIT)
        assert caught.value is error
    opening.close()
    assert opener.calls == 1


def test_closing_waits_for_an_opening_under_way() -> None:
    opener = Opener()
    opening = Opening(opener)
    opening.begin()
    closing = threading.Thread(target=opening.close)
    closing.start()
    opener.go.set()
    closing.join(WAIT)
    opening.close()
    assert opener.engine.closed == 1


def test_after_the_end_nothing_is_opened() -> None:
    given_up: list[bool] = []
    opener = Opener()
    opening = Opening(opener, abandon=lambda: given_up.append(True))
    opening.close()
    opening.begin()
    with pytest.raises(StoreError, match="stopping"):
        opening.engine()
    assert (opener.calls, given_up) == (0, [True])


def test_a_claim_opens_nothing_and_can_be_given_up(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    opening = claim(settings)
    with pytest.raises(StoreLocked):
        claim(settings)
    assert not settings.database_dir.exists()
    opening.close()
    FolderLock.acquire(settings.data_dir).release()


def test_a_claim_is_refused_and_given_up_when_the_model_is_another(tmp_path: Path) -> None:
    (tmp_path / "about.json").write_text('{"model": "minilm", "dimensions": 384}')
    with pytest.raises(DimensionMismatch):
        claim(Settings(data_dir=tmp_path, model="e5_multi"))
    FolderLock.acquire(tmp_path).release()


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="--data-dir"):
        claim(Settings(data_dir=tmp_path / "file" / "data"))


def test_a_database_of_unknown_origin_is_opened_at_once(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    first = claim(settings)
    first.engine(WAIT)
    first.close()
    (settings.data_dir / "about.json").unlink()
    second = claim(settings)
    assert (settings.data_dir / "about.json").exists()
    second.engine(0.0)
    second.close()
