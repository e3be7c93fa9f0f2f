"""Symbols and maps on a terminal."""

import io
from collections.abc import Callable, Mapping
from typing import Any

from memory_mcp.terminal import Painter
from memory_mcp.terminal_code import show_map, show_references, show_symbols

PLACE = {
    "name": "send", "kind": "method", "scope": "Session", "file_path": "a.py", "start_line": 3, "end_line": 9,
    "project_id": "p",
}  # fmt: skip


def shown(show: Callable[[Painter, Mapping[str, Any]], None], reply: Mapping[str, Any]) -> str:
    stream = io.StringIO()
    show(Painter(stream, colour=False), reply)
    return stream.getvalue()


def test_symbols() -> None:
    row = PLACE | {"signature": "def send(self)", "references": 1}
    text = shown(show_symbols, {"results": [row], "count": 1, "total": 2})
    assert text == "Session.send  method  1 reference\n    p  a.py:3-9\n    def send(self)\n1 of 2\n"
    assert shown(show_symbols, {"results": [], "count": 0, "total": 0}) == "Nothing found.\n"


def test_references() -> None:
    sure = PLACE | {"scope": None, "reference": "call", "line": 5, "text": "x.send()", "certain": True}
    reply = {"definitions": [{}], "results": [sure, sure | {"certain": False}], "total": 2}
    assert shown(show_references, reply) == (
        "send  call  p  a.py:3-9\n    5: x.send()\nsend  call?  p  a.py:3-9\n    5: x.send()\n"
    )


def test_no_references() -> None:
    assert shown(show_references, {"definitions": [], "results": [], "total": 0}) == "No such definition.\n"
    assert shown(show_references, {"definitions": [{}], "results": [], "total": 0}) == "No references.\n"


def test_a_map() -> None:
    reply = {
        "map": "a.py\n  1: class A\n\nb.py\n  2: def f()", "tokens": 9, "files_shown": 2, "files_total": 3,
        "definitions_shown": 2, "definitions_total": 1234,
    }  # fmt: skip
    assert shown(show_map, reply) == (
        "a.py\n  1: class A\n\nb.py\n  2: def f()\n2 of 1,234 definitions in 2 of 3 files, about 9 tokens\n"
    )
