"""Where does the owner of a data directory listen, and who may come in?

A Unix socket in the data directory, for its user only; where there are none, or the path is too long for one,
a port of this machine and a secret that only the user can read. ``owner.json`` says which. It is written
once the socket listens, and what it says may be of a process that is gone: whoever connects finds out.
"""

import json
import os
import secrets
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Address", "connect", "find", "is_same_user", "listen", "withdraw"]

_FILE = "owner.json"
_SOCKET = "owner.sock"
_LONGEST = 100
"""Bytes of a socket's path that every system takes (Linux 107, macOS 103)."""
_BACKLOG = 64


@dataclass(frozen=True, slots=True)
class Address:
    """A Unix socket's path, or a port of this machine; ``secret`` must be shown at the latter."""

    path: str | None
    port: int | None
    secret: str


def listen(folder: Path) -> tuple[socket.socket, Address]:
    """Open the socket and say where it is. The caller owns the folder: whatever is left there is stale."""
    path = folder / _SOCKET
    path.unlink(missing_ok=True)
    if hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) <= _LONGEST:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)  # else it could be connected to between its making and a chmod
        try:
            listening.bind(str(path))
        finally:
            os.umask(before)
        address = Address(str(path), None, secrets.token_hex(32))
    else:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.bind(("127.0.0.1", 0))
        address = Address(None, listening.getsockname()[1], secrets.token_hex(32))
    listening.listen(_BACKLOG)
    _publish(folder, address)
    return listening, address


def find(folder: Path) -> Address | None:
    """What the last owner said; None if there is nothing to read."""
    try:
        found: dict[str, Any] = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        path, port, secret = found["path"], found["port"], found["secret"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not (isinstance(path, str | None) and isinstance(port, int | None) and isinstance(secret, str)):
        return None
    return Address(path, port, secret)


def connect(address: Address, seconds: float) -> socket.socket:
    """A connection to the owner, or OSError."""
    family = socket.AF_INET if address.path is None else socket.AF_UNIX
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(seconds)
    try:
        connection.connect(("127.0.0.1", address.port) if address.path is None else address.path)
    except BaseException:
        connection.close()
        raise
    connection.settimeout(None)
    return connection


def withdraw(folder: Path) -> None:
    """Nobody listens any more."""
    for name in (_FILE, _SOCKET):
        (folder / name).unlink(missing_ok=True)


def is_same_user(connection: socket.socket) -> bool:
    """Whether the other side runs as this user, as far as the system tells; the file's mode says so too."""
    if sys.platform != "linux" or connection.family != socket.AF_UNIX:
        return True
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return bool(user == os.getuid())


def _publish(folder: Path, address: Address) -> None:
    scratch = folder / f"{_FILE}.new"
    scratch.unlink(missing_ok=True)
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor with its mode
        json.dump({"path": address.path, "port": address.port, "secret": address.secret}, file)
    scratch.replace(folder / _FILE)
