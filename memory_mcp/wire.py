"""How do lines get into and out of this process?

Bytes only; what they mean is the server's business. Two threads do the blocking, so that a client that
sends nothing, or reads nothing, never keeps the process from hearing a signal and leaving. They are daemons
on descriptors of their own: nothing waits for them at the end, and they hold no lock of ``sys.stdin``.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from queue import SimpleQueue
from typing import Self

from memory_mcp.lines import TooLong, split_lines, write_all

__all__ = ["Wire"]

_WAITING = 64
"""Lines read ahead of the server."""


class Wire:
    """Lines from one descriptor, lines to another."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._outgoing: SimpleQueue[bytes | threading.Event] = SimpleQueue()
        threading.Thread(target=self._write, name="wire-out", daemon=True).start()

    @classmethod
    def standard(cls) -> Self:
        """Take over standard input and output.

        From here on descriptor 0 is empty and descriptor 1 is standard error: whatever a library prints
        cannot break the protocol.
        """
        source, sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(source, sink)

    async def lines(self) -> AsyncIterator[bytes | TooLong]:
        """Every line that is not blank, without its end, until the other side closes."""
        loop = asyncio.get_running_loop()
        incoming: asyncio.Queue[bytes | TooLong | None] = asyncio.Queue()
        room = threading.Semaphore(_WAITING)

        def deliver(line: bytes | TooLong | None) -> None:
            room.acquire()
            loop.call_soon_threadsafe(incoming.put_nowait, line)

        def read() -> None:
            try:
                for line in split_lines(self._source):
                    deliver(line)
                deliver(None)
            except RuntimeError:  # the loop has ended: so has the interest in lines
                return

        threading.Thread(target=read, name="wire-in", daemon=True).start()
        while (line := await incoming.get()) is not None:
            room.release()
            yield line

    def send(self, line: bytes) -> None:
        """Queue a line; returns at once. Nothing is reported of a reader who has gone."""
        self._outgoing.put(line + b"\n")

    def flush(self, seconds: float) -> bool:
        """Wait until everything queued is written; False if it could not be in that time."""
        written = threading.Event()
        self._outgoing.put(written)
        return written.wait(seconds)

    def _write(self) -> None:
        open_ = True
        while True:
            item = self._outgoing.get()
            if isinstance(item, threading.Event):
                item.set()
            elif open_:
                open_ = write_all(self._sink, item)
