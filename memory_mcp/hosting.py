"""We own the memory; how do other windows of the same user get in?

Every further ``memory-mcp serve`` finds our socket and becomes a relay (``memory_mcp/owner/relay.py``). Each
connection is an MCP session of its own, on the same engine, with the user and the tools of whoever came.
"""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread

from memory_mcp.dialects.engine import engine_dialect
from memory_mcp.opening import Opening, claim
from memory_mcp.owner import address
from memory_mcp.owner.hello import Hello, receive_line, refusal, welcome
from memory_mcp.owner.lock import FolderLock
from memory_mcp.server import build_server, converse
from memory_mcp.settings import Settings
from memory_mcp.wire import Wire

__all__ = ["Host", "own"]

log = logging.getLogger(__name__)

HELLO_SECONDS = 5.0
"""For a newcomer to say who it is."""
LEAVE_SECONDS = 5.0
"""For sessions to end when we leave."""


class Host:
    """Listens in the data directory. Make one only while holding its lock."""

    def __init__(self, settings: Settings, opening: Opening) -> None:
        self._settings = settings
        self._opening = opening
        self._socket, there = address.listen(settings.data_dir)
        self._hello = Hello.of(settings, there.secret)
        self._end = anyio.Event()
        self._ended = anyio.Event()

    async def run(self) -> None:
        """Let newcomers in until ``stop``."""
        comers: asyncio.Queue[socket.socket | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def accept() -> None:
            tell: Callable[..., Any] = loop.call_soon_threadsafe
            try:
                while True:
                    tell(comers.put_nowait, self._socket.accept()[0])
            except OSError:  # closed by ``stop``
                tell(comers.put_nowait, None)
            except RuntimeError:  # the loop has ended
                return

        threading.Thread(target=accept, name="accept", daemon=True).start()
        try:
            async with anyio.create_task_group() as sessions:
                while (connection := await comers.get()) is not None:
                    sessions.start_soon(self._serve, connection)
        finally:
            self._ended.set()

    async def stop(self) -> None:
        """Let nobody in any more; sessions answer what is running, and end."""
        address.withdraw(self._settings.data_dir)
        self._end.set()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        except OSError:
            log.debug("nobody was waiting at the socket")
        self._socket.close()
        with anyio.move_on_after(LEAVE_SECONDS):
            await self._ended.wait()

    async def _serve(self, connection: socket.socket) -> None:
        with connection:
            hello = await anyio.to_thread.run_sync(self._greet, connection)
            if hello is None:
                return
            server = build_server(engine_dialect(hello.tools), self._opening, user_id=hello.user_id)
            wire = Wire(connection.fileno(), connection.fileno())
            await converse(server, wire, self._end)
            try:
                connection.shutdown(socket.SHUT_RDWR)  # ends the wire's reading thread, and the relay's
            except OSError:
                log.debug("the other side had gone")

    def _greet(self, connection: socket.socket) -> Hello | None:
        try:
            connection.settimeout(HELLO_SECONDS)
            if not address.is_same_user(connection):
                log.warning("another user of this machine tried to connect")
                return None
            hello = Hello.read(receive_line(connection))
            if hello is None or not hello.knows(self._hello.secret):
                return None
            problem = hello.problem(self._hello)
            connection.sendall(welcome() if problem is None else refusal(problem))
            connection.settimeout(None)
            return hello if problem is None else None
        except OSError:
            return None


def own(settings: Settings, lock: FolderLock) -> "OwnerHere":
    """Become the owner, in a thread of this process; it listens when this returns."""
    return OwnerHere(settings, claim(settings, lock))


class OwnerHere:
    """An owner beside a relay: for the client of this process it is one connection among others."""

    def __init__(self, settings: Settings, opening: Opening) -> None:
        self._opening = opening
        self._settings = settings
        self._listens = threading.Event()
        self._failed: BaseException | None = None
        self._stop: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._run, name="owner", daemon=True)
        self._thread.start()
        self._listens.wait()
        if self._failed is not None:
            opening.close()
            raise self._failed
        opening.begin()

    def close(self) -> None:
        """End the sessions, save and close everything."""
        self._stop()
        self._thread.join()
        self._opening.close()

    def _run(self) -> None:
        try:
            anyio.run(self._serve)
        except BaseException as error:  # noqa: BLE001 - whoever waits for us gets it
            self._failed = error
            self._listens.set()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        asked = asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(asked.set)  # type: ignore[assignment]
        host = Host(self._settings, self._opening)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.run)
            self._listens.set()
            await asked.wait()
            await host.stop()
