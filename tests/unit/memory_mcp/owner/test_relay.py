"""A client, a relay, and owners that come and go."""

import json
import os
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_mcp import lines
from memory_mcp.lines import split_lines
from memory_mcp.owner import address, relay
from memory_mcp.owner.hello import KEY, RETRY, Hello, receive_line, refusal, welcome
from memory_mcp.owner.lock import FolderLock
from memory_mcp.owner.relay import Refused, Relay
from memory_mcp.settings import Settings
from tests.builders import some_settings

WAIT = 30.0


class FakeOwner:
    """Holds the lock, welcomes whoever comes, keeps what it hears, and says what it is told to."""

    def __init__(self, settings: Settings, lock: FolderLock, *, problem: str | None = None) -> None:
        self.heard: queue.Queue[dict[str, Any]] = queue.Queue()
        self._lock = lock
        self._problem = problem
        self._socket, self._there = address.listen(settings.data_dir)
        self._connection: socket.socket | None = None
        self._connected = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def hear(self) -> dict[str, Any]:
        return self.heard.get(timeout=WAIT)

    def say(self, **message: Any) -> None:
        assert self._connected.wait(WAIT)
        assert self._connection is not None
        self._connection.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def close(self) -> None:
        """Go, as a process goes."""
        for one in (self._socket, self._connection):
            if one is not None:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._lock.release()
        self._thread.join(WAIT)

    def _serve(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        with connection:
            hello = Hello.read(receive_line(connection))
            assert hello is not None
            assert hello.knows(self._there.secret)
            connection.sendall(welcome() if self._problem is None else refusal(self._problem))
            self._connection = connection
            self._connected.set()
            for line in split_lines(connection.fileno()):
                assert isinstance(line, bytes)
                self.heard.put(json.loads(line))


class Client:
    """The two ends of the relay's standard streams, and the relay in a thread."""

    def __init__(self, settings: Settings) -> None:
        source, self._to = os.pipe()
        self._from, sink = os.pipe()
        self.owned: list[FakeOwner] = []
        self.failed: list[BaseException] = []
        self._told: queue.Queue[dict[str, Any]] = queue.Queue()
        self._relay = Relay(settings, source, sink, self._own)
        self._sink = sink
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, **message: Any) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_line(self, line: bytes) -> None:
        os.write(self._to, line + b"\n")

    def told(self) -> dict[str, Any]:
        return self._told.get(timeout=WAIT)

    def hears_nothing_else(self) -> bool:
        return self._told.empty()

    def leave(self) -> None:
        os.close(self._to)
        self.wait()

    def wait(self) -> None:
        self._thread.join(WAIT)
        assert not self._thread.is_alive()

    def _own(self, settings: Settings, lock: FolderLock) -> FakeOwner:
        self.owned.append(FakeOwner(settings, lock))
        return self.owned[-1]

    def _run(self) -> None:
        try:
            self._relay.run()
        except Refused as error:
            self.failed.append(error)
        finally:
            os.close(self._sink)

    def _read(self) -> None:
        for line in split_lines(self._from):
            assert isinstance(line, bytes)
            self._told.put(json.loads(line))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return some_settings(tmp_path)


@pytest.fixture
def owner(settings: Settings) -> Iterator[FakeOwner]:
    made = FakeOwner(settings, FolderLock.acquire(settings.data_dir))
    yield made
    made.close()


def shaken(client: Client, owner: FakeOwner) -> None:
    client.send(id=0, method="initialize", params={})
    assert owner.hear()["method"] == "initialize"
    owner.say(id=0, result={"hello": 1})
    assert client.told()["result"] == {"hello": 1}
    client.send(method="notifications/initialized")
    assert owner.hear()["method"] == "notifications/initialized"


def test_lines_pass_both_ways(settings: Settings, owner: FakeOwner) -> None:
    client = Client(settings)
    shaken(client, owner)
    client.send(id="a", method="ping")
    assert owner.hear() == {"jsonrpc": "2.0", "id": "a", "method": "ping"}
    owner.say(id="a", result={})
    assert client.told()["id"] == "a"
    client.leave()


def test_every_call_gets_a_key_of_its_own(settings: Settings, owner: FakeOwner) -> None:
    client = Client(settings)
    keys = set()
    for number in (1, 2):
        client.send(id=number, method="tools/call", params={"name": "x", "_meta": {"progressToken": 5}})
        meta = owner.hear()["params"]["_meta"]
        assert meta["progressToken"] == 5
        assert RETRY not in meta
        keys.add(meta[KEY])
        owner.say(id=number, result={})
    assert len(keys) == 2
    client.leave()


def test_a_key_of_the_client_stays(settings: Settings, owner: FakeOwner) -> None:
    client = Client(settings)
    client.send(id=1, method="tools/call", params={"name": "x", "_meta": {KEY: "mine"}})
    assert owner.hear()["params"]["_meta"] == {KEY: "mine"}
    owner.say(id=1, result={})
    client.leave()


def test_open_requests_are_made_again_at_the_next_owner(settings: Settings) -> None:
    owner = FakeOwner(settings, FolderLock.acquire(settings.data_dir))
    client = Client(settings)
    shaken(client, owner)
    client.send(id=1, method="tools/call", params={"name": "x"})
    first = owner.hear()
    owner.close()
    while not client.owned:
        assert not client.failed
        threading.Event().wait(0.01)
    [heir] = client.owned
    assert heir.hear()["method"] == "initialize"
    assert heir.hear()["method"] == "notifications/initialized"
    again = heir.hear()
    assert again["id"] == 1
    assert again["params"]["_meta"] == {**first["params"]["_meta"], RETRY: True}
    heir.say(id=0, result={"hello": 2})  # nobody asked for a second one
    heir.say(id=1, result={"done": True})
    assert client.told() == {"jsonrpc": "2.0", "id": 1, "result": {"done": True}}
    client.leave()
    assert client.hears_nothing_else()


def test_what_was_answered_is_not_asked_again(settings: Settings) -> None:
    owner = FakeOwner(settings, FolderLock.acquire(settings.data_dir))
    client = Client(settings)
    shaken(client, owner)
    client.send(id=1, method="ping")
    owner.hear()
    owner.say(id=1, result={})
    client.told()
    owner.close()
    client.send(id=2, method="ping")
    while not client.owned:
        threading.Event().wait(0.01)
    heard = [client.owned[0].hear() for _ in range(3)]
    assert [line.get("id") for line in heard] == [0, None, 2]
    client.owned[0].say(id=2, result={})
    assert client.told()["id"] == 2
    client.leave()


def test_a_cancelled_request_is_not_asked_again(settings: Settings) -> None:
    owner = FakeOwner(settings, FolderLock.acquire(settings.data_dir))
    client = Client(settings)
    client.send(id=1, method="tools/call", params={"name": "x"})
    owner.hear()
    client.send(method="notifications/cancelled", params={"requestId": 1})
    owner.hear()
    owner.close()
    client.send(id=2, method="ping")
    while not client.owned:
        threading.Event().wait(0.01)
    assert client.owned[0].hear()["id"] == 2
    client.owned[0].say(id=2, result={})
    client.told()
    client.leave()


def test_a_refusal_ends_it_with_the_reason(settings: Settings) -> None:
    lock = FolderLock.acquire(settings.data_dir)
    owner = FakeOwner(settings, lock, problem="Another version owns it.")
    client = Client(settings)
    client.wait()
    assert [str(error) for error in client.failed] == ["Another version owns it."]
    owner.close()


def test_an_address_of_the_owner_before_is_looked_up_again(settings: Settings, owner: FakeOwner) -> None:
    there = address.find(settings.data_dir)
    assert there is not None
    address._publish(settings.data_dir, replace(there, path=str(settings.data_dir / "nobody")))
    client = Client(settings)
    client.send(id=1, method="ping")
    address._publish(settings.data_dir, there)
    assert owner.hear()["id"] == 1
    owner.say(id=1, result={})
    client.told()
    client.leave()


def test_a_client_is_told_when_nobody_can_be_reached(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "PATIENCE", 0.1)
    lock = FolderLock.acquire(settings.data_dir)  # of a command that does not listen
    client = Client(settings)
    client.send(id=1, method="ping")
    assert "in use" in client.told()["error"]["message"]
    client.leave()
    lock.release()


def test_a_line_that_is_too_long_is_refused(
    settings: Settings, owner: FakeOwner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 1_000)
    client = Client(settings)
    client.send_line(b"x" * 2_000)
    assert client.told()["error"]["code"] == -32600
    client.leave()


def test_what_is_no_message_is_passed_on(settings: Settings, owner: FakeOwner) -> None:
    client = Client(settings)
    client.send_line(b"[1, 2]")
    assert owner.heard.get(timeout=WAIT) == [1, 2]  # type: ignore[comparison-overlap]
    client.leave()
