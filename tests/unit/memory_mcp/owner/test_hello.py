"""The first words between a relay and the owner."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from memory_mcp.owner.hello import Hello, read_answer, receive_line, refusal, welcome
from tests.builders import some_settings


@pytest.fixture
def hello(tmp_path: Path) -> Hello:
    return Hello.of(some_settings(tmp_path, user_id="ada", tools=("symbols",)), "secret")


def test_a_hello_is_read_as_it_was_said(hello: Hello) -> None:
    assert Hello.read(hello.line()) == hello


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"{}", b'{"memory-mcp": 1}', b'{"memory-mcp": {"version": "1"}}', b"\xff"]
)
def test_anything_else_is_none(line: bytes) -> None:
    assert Hello.read(line) is None


@pytest.mark.parametrize("field", ["version", "model", "space", "secret", "user_id"])
def test_a_field_of_another_type_is_none(hello: Hello, field: str) -> None:
    assert Hello.read(replace(hello, **{field: 7}).line()) is None


def test_one_like_the_owner_is_welcome(hello: Hello) -> None:
    assert replace(hello, user_id=None, tools=()).problem(hello) is None
    assert read_answer(welcome()) is None


@pytest.mark.parametrize(
    ("field", "other", "says"),
    [("version", "9.9", "9.9"), ("model", "bge_small", "--model"), ("space", "agent", "agent")],
)
def test_one_that_does_not_fit_is_told_why(hello: Hello, field: str, other: str, says: str) -> None:
    problem = replace(hello, **{field: other}).problem(hello)
    assert problem is not None
    assert says in problem
    assert read_answer(refusal(problem)) == problem


def test_the_secret_must_be_known(hello: Hello) -> None:
    assert hello.knows("secret")
    assert not hello.knows("Secret")


@pytest.mark.parametrize("line", [b"{", b"{}", b'{"memory-mcp": {}}', b'{"memory-mcp": "what"}'])
def test_an_answer_of_somebody_else_is_an_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_answer(line)


def test_a_line_is_taken_and_no_more() -> None:
    one, other = socket.socketpair()
    with one, other:
        one.sendall(b"first\nsecond\n")
        assert receive_line(other) == b"first\n"
        assert other.recv(100) == b"second\n"
        one.close()
        with pytest.raises(OSError, match="no hello"):
            receive_line(other)
