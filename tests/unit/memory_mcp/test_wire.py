"""Do lines arrive whole, and leave whole?"""

import contextlib
import os
import threading
from collections.abc import Iterator

import anyio
import pytest

from memory_mcp import lines
from memory_mcp.lines import TooLong
from memory_mcp.wire import Wire

WAIT = 30.0


@pytest.fixture
def pipes() -> Iterator[tuple[Wire, int, int]]:
    """A wire, where to write to it, where to read from it."""
    source, to_wire = os.pipe()
    from_wire, sink = os.pipe()
    yield Wire(source, sink), to_wire, from_wire
    for descriptor in (to_wire, from_wire):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def received(pipes: tuple[Wire, int, int], *pieces: bytes) -> list[bytes | TooLong]:
    both, to_wire, _ = pipes

    def write() -> None:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(to_wire, view) :]
        os.close(to_wire)

    async def read() -> list[bytes | TooLong]:
        with anyio.fail_after(WAIT):
            return [line async for line in both.lines()]

    writer = threading.Thread(target=write)
    writer.start()
    lines = anyio.run(read)
    writer.join(WAIT)
    return lines


def test_lines_are_put_together_from_pieces(pipes: tuple[Wire, int, int]) -> None:
    assert received(pipes, b"a", b"b\nc", b"d\r\n", b"\n  \n", b"e\nlast") == [b"ab", b"cd", b"e", b"last"]


def test_nothing_is_no_line(pipes: tuple[Wire, int, int]) -> None:
    assert received(pipes) == []


def test_more_lines_than_fit_are_not_lost(pipes: tuple[Wire, int, int]) -> None:
    lines = [f"line {n}".encode() for n in range(5_000)]
    assert received(pipes, b"\n".join(lines)) == lines


def test_a_line_may_be_larger_than_a_pipe(pipes: tuple[Wire, int, int]) -> None:
    assert received(pipes, b"x" * 1_000_000 + b"\n", b"y\n") == [b"x" * 1_000_000, b"y"]


def test_a_line_without_end_is_thrown_away(
    pipes: tuple[Wire, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 100)
    given = (b"a\n", b"x" * 101 + b"\n", b"y" * 100 + b"\n", b"z" * 500_000, b"\nb\n", b"w" * 200)
    assert received(pipes, *given) == [b"a", TooLong(), b"y" * 100, TooLong(), b"b", TooLong()]


def test_lines_leave_in_order(pipes: tuple[Wire, int, int]) -> None:
    both, _, from_wire = pipes
    large = b"x" * 300_000  # more than a pipe holds: the sender must not wait for the reader
    both.send(b"first")
    both.send(large)
    both.send(b"last")
    assert both.flush(0.0) is False
    with os.fdopen(from_wire, "rb", closefd=False) as reader:
        assert [reader.readline() for _ in range(3)] == [b"first\n", large + b"\n", b"last\n"]
    assert both.flush(WAIT) is True


def test_a_reader_who_left_is_no_trouble(pipes: tuple[Wire, int, int]) -> None:
    both, _, from_wire = pipes
    os.close(from_wire)
    both.send(b"anybody there?")
    both.send(b"no")
    assert both.flush(WAIT) is True
