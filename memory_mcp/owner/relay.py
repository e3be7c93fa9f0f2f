"""Another process owns the memory; how does our client reach it, whatever happens to that process?

A relay passes lines between its client and the owner and loads neither model nor database. It remembers the
handshake and every request without an answer. When the owner goes, it claims the data directory: whoever
gets it becomes the owner, the others connect to that one, and each repeats its handshake and its open
requests there. A call that may have been made before carries the same key, so it is not made twice.
"""

import json
import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from memory_mcp.lines import MAX_LINE, TooLong, split_lines, write_all
from memory_mcp.owner import address
from memory_mcp.owner.hello import KEY, RETRY, Hello, read_answer, receive_line
from memory_mcp.owner.lock import FolderLock
from memory_mcp.settings import Settings
from retrieval.errors import MemoryServerError, StoreLocked

__all__ = ["Owner", "Refused", "Relay", "relay"]

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""For one try to connect and be welcomed."""
LOOK_SECONDS = 0.05
"""Between two looks for an owner that is just starting, or ending."""
PATIENCE = 60.0
"""Seconds without an owner to be had after which the client is told so."""
FIRST_SECONDS = 2.0
"""Seconds without an owner after which the client is heard all the same: it may wait for its handshake."""
MOST_LATER = 1_000
GRACE = 3.0
"""Seconds for open requests when the client has closed its side."""


class Refused(MemoryServerError):
    """The owner does not serve us: another version, another model."""

    code = "OWNER_REFUSED"


class Owner(Protocol):
    """An owner inside this process."""

    def close(self) -> None: ...


def relay(settings: Settings, own: Callable[[Settings, FolderLock], Owner]) -> int:
    """Serve the client on standard input and output through the owner; ``own`` makes us the owner."""
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # whatever a library prints cannot break the protocol
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    return Relay(settings, source, sink, own).run()


def _leave(*_: object) -> NoReturn:
    raise SystemExit(0)


class Relay:
    """One client's way to the owner."""

    def __init__(
        self, settings: Settings, source: int, sink: int, own: Callable[[Settings, FolderLock], Owner]
    ) -> None:
        self._settings = settings
        self._source = source
        self._sink = sink
        self._own = own
        self._owner: Owner | None = None
        self._writing = threading.Lock()
        self._state = threading.Condition()  # guards everything below
        self._connection: socket.socket | None = None
        self._initialize: tuple[Any, bytes] | None = None  # the request's id, and its line
        self._initialized: bytes | None = None
        self._is_shaken = False
        self._open: dict[Any, bytes] = {}
        self._said: set[Any] = set()  # open requests that an owner may have heard
        self._later: list[bytes] = []  # what is no request, and came while there was no owner
        self._swallow: Any = None
        self._over = False

    def run(self) -> int:
        """Pass lines until the client leaves; returns the exit code."""
        listening = threading.Thread(target=self._listen_to_client, name="relay-in", daemon=True)
        try:
            connection = self._reach(FIRST_SECONDS)  # a refusal comes before the client is heard
            listening.start()
            while connection is not None or not self._is_done():
                if connection is not None:
                    self._pass_answers(connection)
                connection = self._reach()
        finally:
            if self._owner is not None:
                self._owner.close()
        return 0

    # From the client

    def _listen_to_client(self) -> None:
        for line in split_lines(self._source):
            if isinstance(line, TooLong):
                self._tell_error(None, -32600, f"Invalid request: a line has more than {MAX_LINE} bytes.")
            else:
                self._take(line)
        with self._state:
            self._over = True
            self._state.notify_all()
            deadline = time.monotonic() + GRACE
            while self._open and self._state.wait(deadline - time.monotonic()):
                if time.monotonic() >= deadline:
                    break
            self._open.clear()
            _end(self._connection)

    def _take(self, line: bytes) -> None:
        with self._state:  # one step: who connects meanwhile says again what is noted
            line, is_kept = self._noted(line)
            if self._connection is not None:
                _send(self._connection, line)
                self._said = set(self._open)
            elif not is_kept and len(self._later) < MOST_LATER:
                self._later.append(line)

    def _noted(self, line: bytes) -> tuple[bytes, bool]:
        """Remember what would have to be said again, and tell whether it is; a call gets its key."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return line, False
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return line, False
        method, key, params = message["method"], message.get("id"), message.get("params")
        if method == "tools/call" and isinstance(params, dict):
            meta = params.get("_meta")
            params["_meta"] = {KEY: secrets.token_hex(16), **(meta if isinstance(meta, dict) else {})}
            line = json.dumps(message).encode()
        if isinstance(key, str | int) and not isinstance(key, bool):
            self._open[key] = line
            if method == "initialize":
                self._initialize = (key, line)
        elif method == "notifications/initialized":
            self._initialized = line
        elif method == "notifications/cancelled" and isinstance(params, dict):
            self._open.pop(params.get("requestId"), None)
            self._state.notify_all()
        else:
            return line, False
        return line, True

    # From the owner

    def _pass_answers(self, connection: socket.socket) -> None:
        for line in split_lines(connection.fileno()):
            if isinstance(line, TooLong):
                continue
            key = _answered(line)
            with self._state:
                if key is not None:
                    self._open.pop(key, None)
                    self._state.notify_all()
                    if self._initialize is not None and key == self._initialize[0]:
                        self._is_shaken = True
                if key is not None and key == self._swallow:
                    self._swallow = None
                    continue
            if not self._write(line):
                break
        with self._state:
            self._connection = None
        connection.close()

    # Between

    def _reach(self, seconds: float | None = None) -> socket.socket | None:
        """A connection to whoever owns the data directory, with everything said again; None at the end, or
        after so many seconds.
        """
        began = time.monotonic()
        deadline = None if seconds is None else began + seconds
        while not self._is_done():
            connection = self._try_owner()
            if connection is None and self._owner is None:
                self._try_to_own()
                connection = self._try_owner()
            if connection is not None:
                self._say_again(connection)
                return connection
            if deadline is not None and time.monotonic() > deadline:
                return None
            if time.monotonic() - began > PATIENCE:
                self._give_up()
                began = time.monotonic()
            time.sleep(LOOK_SECONDS)
        return None

    def _try_owner(self) -> socket.socket | None:
        there = address.find(self._settings.data_dir)
        if there is None:
            return None
        try:
            connection = address.connect(there, CONNECT_SECONDS)
        except OSError:
            return None
        try:
            connection.settimeout(CONNECT_SECONDS)
            connection.sendall(Hello.of(self._settings, there.secret).line())
            problem = read_answer(receive_line(connection))
            connection.settimeout(None)
        except (OSError, ValueError):
            connection.close()
            return None
        if problem is not None:
            connection.close()
            raise Refused(problem)
        return connection

    def _try_to_own(self) -> None:
        try:
            lock = FolderLock.acquire(self._settings.data_dir)
        except StoreLocked:
            return
        log.info("the owner is gone; this process takes its place")
        self._owner = self._own(self._settings, lock)

    def _say_again(self, connection: socket.socket) -> None:
        with self._state:
            self._connection = connection
            if self._is_shaken and self._initialize is not None:
                self._swallow = self._initialize[0]
                _send(connection, self._initialize[1])
                if self._initialized is not None:
                    _send(connection, self._initialized)
            for key, line in self._open.items():
                _send(connection, _as_retry(line) if key in self._said else line)
            self._said = set(self._open)
            for line in self._later:
                _send(connection, line)
            self._later.clear()
            if self._over and not self._open:
                _end(connection)  # the client left while we were looking for an owner

    def _give_up(self) -> None:
        """Nobody owns the data directory, and we cannot: the client hears about it, and may ask again."""
        with self._state:
            keys = list(self._open)
            self._open.clear()
        for key in keys:
            self._tell_error(key, -32603, "The memory is in use by another process. Please try again.")

    def _tell_error(self, key: Any, code: int, text: str) -> None:
        reply = {"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": text}}
        self._write(json.dumps(reply).encode())

    def _write(self, line: bytes) -> bool:
        with self._writing:
            return write_all(self._sink, line + b"\n")

    def _is_done(self) -> bool:
        with self._state:
            return self._over and not self._open


def _answered(line: bytes) -> Any:
    """The id of the request that a line answers; None if it answers none."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if isinstance(message, dict) and "method" not in message:
        return message.get("id")
    return None


def _as_retry(line: bytes) -> bytes:
    message = json.loads(line)
    if message.get("method") == "tools/call" and isinstance(message.get("params"), dict):
        message["params"]["_meta"][RETRY] = True
        return json.dumps(message).encode()
    return line


def _send(connection: socket.socket, line: bytes) -> None:
    try:
        connection.sendall(line + b"\n")
    except OSError:
        _end(connection)  # its reader notices, and everything is said again elsewhere


def _end(connection: socket.socket | None) -> None:
    if connection is not None:
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
