"""Which lines come out of a descriptor, and does a line get into one?

Bytes only, blocking, no more than the standard library: a relay needs nothing else.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["MAX_LINE", "TooLong", "split_lines", "write_all"]

MAX_LINE = 16 * 2**20
"""Bytes in one line. The longest valid call is under one megabyte; the rest is room for a clear refusal."""

_CHUNK = 2**16
"""Bytes read at once: what a pipe holds."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a line of more than MAX_LINE bytes, which were thrown away."""


def split_lines(source: int) -> Iterator[bytes | TooLong]:
    """Cut what a descriptor gives into lines; a last line without an end counts."""
    parts: list[bytes] = []
    size = 0
    while chunk := _read(source):
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            yield from _line(parts, size, end)
            parts, size = [], 0
        size += len(rest)
        if size > MAX_LINE:
            parts = []
        elif rest:
            parts.append(rest)
    yield from _line(parts, size, b"")


def _line(parts: list[bytes], size: int, end: bytes) -> Iterator[bytes | TooLong]:
    if size + len(end) > MAX_LINE:
        yield TooLong()
    elif line := b"".join([*parts, end]).strip():
        yield line


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError:  # a terminal that went away
        return b""


def write_all(sink: int, data: bytes) -> bool:
    """Write all of it; False if the other side has gone."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(sink, view) :]
    except OSError:  # the client went away; end of input follows
        return False
    return True
