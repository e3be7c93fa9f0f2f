"""Which memories may this caller see, and when were they valid?

A table of contents of all memories, small enough to keep in memory: a row of numbers each. Search,
listing and the temporal tools all ask it, so there is one definition of "visible" and "valid".
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.arrays import Arrays, load_arrays, save_arrays
from retrieval.records import Memory, Rows, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted

__all__ = ["Catalog"]

_NEVER = np.iinfo(np.int64).max
_ENTRY = np.dtype(
    [
        ("id", "S20"),
        ("space", np.int32),
        ("user", np.int32),
        ("valid_from", np.int64),
        ("valid_until", np.int64),
        ("expires_at", np.int64),
    ]
)
_ABSENT = -1
"""The space of a row that holds no memory: never created, or deleted."""


class Catalog:
    """Row number → who owns the memory and when it is valid. Times are microseconds since 1970."""

    name = "catalog"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checkpoint: Checkpoint | None = None
        self._start()

    def _start(self) -> None:
        self._size = 0
        self._names: dict[str, int] = {}
        self._columns = {name: _empty(name, 0) for name in _ENTRY.names or ()}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Load what was saved; an unreadable or missing catalog starts empty, without a checkpoint."""
        catalog = cls(path)
        loaded = load_arrays(path)
        if loaded is None or not _is_catalog(loaded[1]):
            return catalog
        catalog._checkpoint, arrays = loaded
        names = bytes(arrays.pop("names")).decode("utf-8")
        catalog._names = {name: code for code, name in enumerate(names.split("\0"))} if names else {}
        catalog._columns = {name: arrays[name] for name in _ENTRY.names or ()}
        catalog._size = len(catalog._columns["space"])
        return catalog

    @property
    def checkpoint(self) -> Checkpoint | None:
        return self._checkpoint

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            record = change.record
            if isinstance(record, Memory):
                self._put(record)
            elif isinstance(record, Deleted) and record.table == "memories" and record.row < self._size:
                self._columns["space"][record.row] = _ABSENT
                self._columns["id"][record.row] = b""

    def save(self, checkpoint: Checkpoint) -> None:
        arrays: dict[str, NDArray[Any]] = {
            name: column[: self._size] for name, column in self._columns.items()
        }
        arrays["names"] = np.frombuffer("\0".join(self._names).encode("utf-8"), dtype=np.uint8)
        save_arrays(self._path, checkpoint, arrays)
        self._checkpoint = checkpoint

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)
        self._start()
        self._checkpoint = None

    def close(self) -> None:
        """Nothing is held open."""

    # Questions

    def allowed(self, scope: Scope, at: datetime, rows: Rows | slice) -> NDArray[np.bool_]:
        """Which of ``rows`` the scope may see and are valid at that instant."""
        return self._mine(scope, rows) & self._valid(at, rows)

    def visible(self, scope: Scope) -> Rows:
        """Every row in scope, valid or not, newest first."""
        return np.flatnonzero(self._mine(scope, self._all()))[::-1]

    def valid(self, scope: Scope, at: datetime) -> Rows:
        """Every row in scope that is valid at an instant, newest first."""
        return np.flatnonzero(self.allowed(scope, at, self._all()))[::-1]

    def ids(self, rows: Rows) -> list[str]:
        """The ids of the memories in ``rows``."""
        return [key.decode("ascii") for key in self._columns["id"][rows].tolist()]

    def _mine(self, scope: Scope, rows: Rows | slice) -> NDArray[np.bool_]:
        mine: NDArray[np.bool_] = self._columns["space"][rows] == self._names.get(scope.space, _ABSENT - 1)
        if scope.user_id is not None:
            mine &= self._columns["user"][rows] == self._names.get(scope.user_id, _ABSENT - 1)
        return mine

    def _valid(self, at: datetime, rows: Rows | slice) -> NDArray[np.bool_]:
        now = _micros(at)
        valid: NDArray[np.bool_] = self._columns["valid_from"][rows] <= now
        valid &= self._columns["valid_until"][rows] > now
        valid &= self._columns["expires_at"][rows] > now
        return valid

    def _all(self) -> slice:
        return slice(0, self._size)

    # Keeping

    def _put(self, memory: Memory) -> None:
        row = memory.row
        self._reserve(row + 1)
        columns = self._columns
        columns["id"][row] = memory.id.encode("ascii")
        columns["space"][row] = self._code(memory.space)
        columns["user"][row] = _ABSENT if memory.user_id is None else self._code(memory.user_id)
        columns["valid_from"][row] = _micros(memory.valid_from)
        columns["valid_until"][row] = _NEVER if memory.valid_until is None else _micros(memory.valid_until)
        columns["expires_at"][row] = _NEVER if memory.expires_at is None else _micros(memory.expires_at)

    def _reserve(self, size: int) -> None:
        if size > len(self._columns["space"]):
            room = max(1024, size + size // 2)
            for name, column in self._columns.items():
                grown = _empty(name, room)
                grown[: self._size] = column[: self._size]
                self._columns[name] = grown
        self._size = max(self._size, size)

    def _code(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))


def _empty(name: str, size: int) -> NDArray[Any]:
    fill = _ABSENT if name in ("space", "user") else 0
    return np.full(size, b"" if name == "id" else fill, dtype=_ENTRY[name])


def _is_catalog(arrays: Arrays) -> bool:
    """Whether these are our columns, all of one length."""
    names = _ENTRY.names or ()
    return set(arrays) == {"names", *names} and all(
        arrays[name].dtype == _ENTRY[name] and arrays[name].shape == (len(arrays["id"]),) for name in names
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _micros(instant: datetime) -> int:
    # in whole numbers: a timestamp() is a float, too coarse for microseconds three centuries from now
    return (instant - _EPOCH) // timedelta(microseconds=1)
