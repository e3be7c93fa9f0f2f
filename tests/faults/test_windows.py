"""Many windows on one memory, owners that are killed: every call is answered, nothing is lost or doubled."""

import json
import os
import random
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.contract.harness import INITIALIZE, command, environment

PATIENCE = 60.0
KEY, RETRY = "memory-mcp/key", "memory-mcp/retry"


class Window:
    """An editor's window: it starts its server again if that is killed, and asks again what had no answer."""

    def __init__(self, data_dir: Path, name: str) -> None:
        self._data_dir = data_dir
        self._name = name
        self._number = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.restarts = -1
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        self._log = (data_dir.parent / f"{name}.log").open("ab")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's reply, which must not be an error. The same key says that it is the same call."""
        self._number += 1
        meta: dict[str, Any] = {KEY: f"{self._name}-{self._number}"}
        while True:
            if self._process is None:
                self._start()
            params = {"name": tool, "arguments": arguments, "_meta": meta}
            reply = self._ask({"id": self._number, "method": "tools/call", "params": params})
            if reply is not None:
                assert "result" in reply, reply
                assert not reply["result"].get("isError"), reply
                answer: dict[str, Any] = reply["result"]["structuredContent"]
                return answer
            self._drop()  # killed
            meta[RETRY] = True

    def close(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            assert self._process.wait(PATIENCE) in (0, -signal.SIGKILL)
            self._drop()
        self._log.close()

    def _drop(self) -> None:
        assert self._process is not None
        with suppress(BrokenPipeError):
            self._process.__exit__(None, None, None)  # closes the pipes, and waits
        self._process = None

    def _start(self) -> None:
        self.restarts += 1
        self._process = subprocess.Popen(
            command(self._data_dir),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment(),
        )
        if self._ask({"id": "hello", "method": "initialize", "params": INITIALIZE}) is None:
            self._drop()
            self._start()
        else:
            self._send({"method": "notifications/initialized"})

    def _ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The answer; None if the server was killed."""
        if not self._send(message):
            return None
        assert self._process is not None
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            reply: dict[str, Any] = json.loads(line)
            if reply.get("id") == message["id"] and "method" not in reply:
                return reply
        assert self._process.wait(PATIENCE) == -signal.SIGKILL
        return None

    def _send(self, message: dict[str, Any]) -> bool:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return True


def owner_of(data_dir: Path) -> int | None:
    try:
        return int((data_dir / "owner.lock").read_text())
    except (OSError, ValueError):
        return None


def kill_owners(
    data_dir: Path, begun: threading.Event, stop: threading.Event, killed: list[int], seed: int
) -> None:
    """Kill the owner at once when there is work under way, then again and again."""
    dice = random.Random(seed)
    assert begun.wait(PATIENCE)
    while not (killed and stop.wait(dice.uniform(0.5, 2.5))):
        owner = owner_of(data_dir)
        if owner is not None and owner not in killed:
            try:
                os.kill(owner, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.append(owner)


def many_windows(data_dir: Path, windows: int, writes: int, seed: int) -> None:
    begun, stop = threading.Event(), threading.Event()
    killed: list[int] = []
    killer = threading.Thread(target=kill_owners, args=(data_dir, begun, stop, killed, seed))

    def work(number: int) -> list[str]:
        window = Window(data_dir, f"window{number}")
        ids = []
        for i in range(writes):
            content = f"Window {number} remembers marker{number}x{i} of the shared zoo."
            ids.append(window.call("store_memory", content=content)["id"])
            if i == 4:
                begun.set()
            if i % 10 == 9:
                other = (number + 1) % windows
                window.call("recall", query=f"what does window {other} remember?", limit=5)
        found = window.call("search_text", query=f"marker{number}x{writes - 1}", limit=1)["results"]
        assert [result["id"] for result in found] == ids[-1:]
        window.close()
        return ids

    killer.start()
    try:
        with ThreadPoolExecutor(windows) as pool:
            stored = list(pool.map(work, range(windows)))
    finally:
        begun.set()
        stop.set()
        killer.join(PATIENCE)
    assert killed
    ids = [key for one in stored for key in one]
    assert len(set(ids)) == windows * writes
    last = Window(data_dir, "last")
    assert last.call("get_status")["memories_count"] == windows * writes
    listed = {
        memory["id"]["id"]["String"]: memory["content"]
        for offset in range(0, windows * writes, 100)
        for memory in last.call("list_memories", limit=100, offset=offset)["memories"]
    }
    last.close()
    assert set(listed) == set(ids)
    assert len(set(listed.values())) == windows * writes


def test_many_windows_share_a_memory_whose_owners_are_killed(tmp_path: Path) -> None:
    many_windows(tmp_path / "data", windows=4, writes=25, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_eight_windows_write_two_hundred_memories_each(tmp_path: Path, seed: int) -> None:
    many_windows(tmp_path / "data", windows=8, writes=200, seed=seed)


def test_a_second_window_is_up_while_the_first_one_owns(tmp_path: Path) -> None:
    first, second = Window(tmp_path / "data", "first"), Window(tmp_path / "data", "second")
    key = first.call("store_memory", content="The okapi is shy.")["id"]
    assert second.call("get_memory", id=key)["content"] == "The okapi is shy."
    assert owner_of(tmp_path / "data") == first.pid
    first.close()
    assert second.call("get_memory", id=key)["content"] == "The okapi is shy."
    assert owner_of(tmp_path / "data") == second.pid
    second.close()


def test_the_socket_is_for_its_user_only(tmp_path: Path) -> None:
    window = Window(tmp_path / "data", "one")
    window.call("get_status")
    for name in ("owner.sock", "owner.json"):
        mode = (tmp_path / "data" / name).stat().st_mode
        assert mode & 0o077 == 0, name
    window.close()
    assert not (tmp_path / "data" / "owner.json").exists()


def test_a_folder_with_a_long_path_is_shared_too(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / "data"
    first, second = Window(folder, "first"), Window(folder, "second")
    key = first.call("store_memory", content="The okapi is shy.")["id"]
    assert second.call("get_memory", id=key)["content"] == "The okapi is shy."
    assert not (folder / "owner.sock").exists()
    second.close()
    first.close()


def test_what_an_owner_left_behind_is_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first = Window(folder, "first")
    key = first.call("store_memory", content="The okapi is shy.")["id"]
    os.kill(first.pid, signal.SIGKILL)
    first.close()
    second = Window(folder, "second")
    assert second.call("get_memory", id=key)["content"] == "The okapi is shy."
    second.close()
