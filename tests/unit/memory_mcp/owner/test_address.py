"""Where the owner listens, and who finds it."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_mcp.owner import address
from memory_mcp.owner.address import Address, connect, find, is_same_user, listen, withdraw


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[tuple[socket.socket, Address]]:
    opened = listen(tmp_path)
    yield opened
    opened[0].close()


def test_what_is_published_is_found(tmp_path: Path, listening: tuple[socket.socket, Address]) -> None:
    assert find(tmp_path) == listening[1]


def test_a_newcomer_connects(listening: tuple[socket.socket, Address]) -> None:
    with connect(listening[1], 5.0) as newcomer:
        accepted, _ = listening[0].accept()
        with accepted:
            newcomer.sendall(b"x")
            assert accepted.recv(1) == b"x"
            assert is_same_user(accepted)


def test_only_the_user_may_read_or_connect(tmp_path: Path, listening: object) -> None:
    for name in ("owner.json", "owner.sock"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) & 0o077 == 0


def test_a_port_serves_where_a_path_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "_LONGEST", 3)
    opened, there = listen(tmp_path)
    with opened:
        assert there.path is None
        assert opened.getsockname()[0] == "127.0.0.1"
        with connect(there, 5.0):
            opened.accept()[0].close()


def test_secrets_differ(tmp_path: Path) -> None:
    secrets = set()
    for _ in range(3):
        opened, there = listen(tmp_path)
        opened.close()
        secrets.add(there.secret)
    assert len(secrets) == 3


def test_what_was_left_behind_is_replaced(tmp_path: Path) -> None:
    listen(tmp_path)[0].close()
    opened, there = listen(tmp_path)
    with opened, connect(there, 5.0):
        assert find(tmp_path) == there


def test_nobody_listens_after_a_withdrawal(tmp_path: Path, listening: tuple[socket.socket, Address]) -> None:
    withdraw(tmp_path)
    assert find(tmp_path) is None
    with pytest.raises(OSError, match=r"."):
        connect(listening[1], 1.0)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"path": 1, "port": 2, "secret": "s"}'])
def test_an_unreadable_address_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "owner.json").write_text(text)
    assert find(tmp_path) is None
