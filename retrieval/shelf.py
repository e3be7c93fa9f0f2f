"""Here are rows; what do their records say, without asking the database?

An answer carries ten records, and reading ten of them from the database costs more than finding them
(0.7 ms: it holds the interpreter lock and its values are decoded in Python). So every record lies here
once more, as a line of JSON in a file that is mapped, not loaded; what changed since the file was written
is kept beside it. A line that does not match its checksum is as good as none: the database has it.
"""

import json
import logging
import mmap
import os
import zlib
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.arrays import load_arrays, save_arrays
from retrieval.records import CodeChunk, Memory, Rows
from retrieval.store.changes import Change, Checkpoint, Deleted

__all__ = ["Record", "Shelf"]

log = logging.getLogger(__name__)

Record = TypeVar("Record", Memory, CodeChunk)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)


class Shelf(Generic[Record]):
    """Row → record of one table. Not thread-safe: the caller holds one lock around all its indexes."""

    def __init__(self, path: Path, kind: type[Record], table: str) -> None:
        self._path = path
        self._kind: type[Record] = kind
        self._table = table
        self._names = tuple(field.name for field in fields(kind))
        hints = get_type_hints(kind)
        self._times = tuple(i for i, name in enumerate(self._names) if _is_time(hints[name]))
        self._layout = zlib.crc32(" ".join(self._names).encode())
        """Names the fields: lines of other ones must not be read as ours."""
        self._checkpoint: Checkpoint | None = None
        self._start()

    def _start(self) -> None:
        self._changed: dict[int, bytes] = {}  # row → its new line; an empty one: it has none
        self._text: mmap.mmap | bytes = b""
        self._begin: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        """Where each row's line begins, and where the last one ends; a row without one has no length."""
        self._sums: NDArray[np.uint32] = np.empty(0, dtype=np.uint32)

    @classmethod
    def open(cls, path: Path, kind: type[Record], table: str) -> Self:
        """Map what was saved; files that are missing or do not fit start empty, without a checkpoint."""
        shelf = cls(path, kind, table)
        loaded = load_arrays(path)
        if loaded is not None:
            checkpoint, arrays = loaded
            try:
                if arrays["layout"].tolist() != [shelf._layout]:
                    raise ValueError("its records had other fields")
                shelf._map(checkpoint, arrays["begin"], arrays["sums"])
            except (OSError, KeyError, ValueError) as error:
                log.warning("%s cannot be used and will be built again: %s", path, error)
        return shelf

    @property
    def name(self) -> str:
        return f"shelf of {self._table}"

    @property
    def checkpoint(self) -> Checkpoint | None:
        return self._checkpoint

    def read(self, rows: Rows) -> list[Record | None]:
        """The records in ``rows``; None for one that is not here."""
        return [self._from_line(line) if (line := self._line(row)) else None for row in rows.tolist()]

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            record = change.record
            if isinstance(record, self._kind):
                self._changed[record.row] = self._to_line(record)
            elif isinstance(record, Deleted) and record.table == self._table:
                self._changed[record.row] = b""
                self._erase(record.row)

    def save(self, checkpoint: Checkpoint) -> None:
        if checkpoint == self._checkpoint and not self._changed:
            return
        size = max([len(self._sums), *(row + 1 for row in self._changed)])
        lengths = np.zeros(size, dtype=np.int64)
        lengths[: len(self._sums)] = np.diff(self._begin)
        sums = np.zeros(size, dtype=np.uint32)
        sums[: len(self._sums)] = self._sums
        self._path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self._path.with_suffix(".new.jsonl")
        with scratch.open("wb") as file:
            copied = 0
            for row in sorted(self._changed):
                file.write(self._stretch(copied, row))
                line = self._changed[row]
                file.write(line)
                lengths[row], sums[row], copied = len(line), zlib.crc32(line), row + 1
            file.write(self._stretch(copied, len(self._sums)))
            file.flush()
            os.fsync(file.fileno())
        begin = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(lengths, out=begin[1:])
        scratch.replace(self._text_path(checkpoint.seq))
        layout = np.array([self._layout], dtype=np.int64)
        save_arrays(self._path, checkpoint, {"begin": begin, "sums": sums, "layout": layout})
        self._unmap()
        self._map(checkpoint, begin, sums)
        self._changed = {}
        for old in self._path.parent.glob(f"{self._path.stem}.*.jsonl"):
            if old != self._text_path(checkpoint.seq):
                old.unlink()

    def clear(self) -> None:
        self._unmap()
        self._path.unlink(missing_ok=True)
        for text in self._path.parent.glob(f"{self._path.stem}.*.jsonl"):
            text.unlink()
        self._start()
        self._checkpoint = None

    def close(self) -> None:
        self._unmap()
        self._start()

    def _map(self, checkpoint: Checkpoint, begin: NDArray[Any], sums: NDArray[Any]) -> None:
        if len(begin) != len(sums) + 1:
            raise ValueError("its arrays do not fit each other")
        size = int(begin[-1])
        text: mmap.mmap | bytes = b""
        if size:
            with self._text_path(checkpoint.seq).open("rb") as file:
                text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if len(text) != size:
            raise ValueError(f"its text has {len(text)} bytes instead of {size}")
        self._checkpoint, self._text, self._begin, self._sums = checkpoint, text, begin, sums

    def _unmap(self) -> None:
        if isinstance(self._text, mmap.mmap):
            self._text.close()
        self._text = b""

    def _erase(self, row: int) -> None:
        """Blank a line of the file: what is deleted must not lie about until the next save."""
        if 0 <= row < len(self._sums) and self._checkpoint is not None:
            first, length = int(self._begin[row]), int(self._begin[row + 1] - self._begin[row])
            if length:
                with self._text_path(self._checkpoint.seq).open("r+b") as file:
                    file.seek(first)
                    file.write(b" " * length)

    def _text_path(self, seq: int) -> Path:
        return self._path.with_name(f"{self._path.stem}.{seq}.jsonl")

    def _stretch(self, first: int, end: int) -> bytes:
        """The saved lines of rows ``first`` up to ``end``."""
        last = len(self._sums)
        return self._text[self._begin[min(first, last)] : self._begin[min(end, last)]]

    def _line(self, row: int) -> bytes:
        changed = self._changed.get(row)
        if changed is not None:
            return changed
        if not 0 <= row < len(self._sums):
            return b""
        line = self._text[self._begin[row] : self._begin[row + 1]]
        return line if zlib.crc32(line) == self._sums[row] else b""

    def _to_line(self, record: Record) -> bytes:
        values = [getattr(record, name) for name in self._names]
        for i in self._times:
            if values[i] is not None:
                values[i] = (values[i] - _EPOCH) // _MICRO
        return json.dumps(values, ensure_ascii=False).encode() + b"\n"

    def _from_line(self, line: bytes) -> Record:
        values: list[Any] = json.loads(line)
        for i in self._times:
            if values[i] is not None:
                values[i] = _EPOCH + timedelta(0, 0, values[i])
        record: Record = self._kind(*values)
        return record


def _is_time(hint: Any) -> bool:
    return hint is datetime or datetime in getattr(hint, "__args__", ())
