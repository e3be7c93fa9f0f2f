"""Which chunks belong to which file, project and language, and what do they define?

A table of contents of all code, small enough to keep in memory: numbers for every chunk, every word once.
Ranking looks things up here, a few hundred times a question, so nothing here touches the disk.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.arrays import Arrays, load_arrays, save_arrays
from retrieval.code.question import defined_names, supporting
from retrieval.code.ranking import Entry
from retrieval.records import CodeChunk, Rows, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted

__all__ = ["CodeCatalog", "Known", "View"]

_COLUMNS: dict[str, Any] = {
    "id": "S20",
    "digest": "S32",
    "space": np.int32,
    "project": np.int32,
    "path": np.int32,
    "language": np.int32,
    "chunk_type": np.int32,
    "name": np.int32,
    "breadcrumb": np.int32,
    "start_line": np.int32,
    "end_line": np.int32,
    "is_support": np.int8,
}
_WORDS = ("space", "project", "path", "language", "chunk_type", "name", "breadcrumb")
"""Columns that hold the number of a text."""
_ABSENT = -1
"""The space of a row that holds no chunk."""


@dataclass(frozen=True, slots=True)
class Known:
    """A chunk as its file was last indexed."""

    id: str
    row: int
    digest: str
    start_line: int
    end_line: int
    language: str
    chunk_type: str


class CodeCatalog:
    """Row → where a chunk stands. Not thread-safe: the caller holds one lock around all its indexes."""

    name = "catalog of chunks"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checkpoint: Checkpoint | None = None
        self._start()

    def _start(self) -> None:
        self._size = 0
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._columns: dict[str, NDArray[Any]] = {name: _empty(name, 0) for name in _COLUMNS}
        self._files: dict[tuple[int, int], set[int]] = {}
        """(project, path) → rows"""
        self._named: dict[str, set[int]] = {}
        """folded name → rows that define it"""
        self._stems: dict[str, set[tuple[int, int]]] = {}
        """folded stem → files"""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Load what was saved; an unreadable or missing catalog starts empty, without a checkpoint."""
        catalog = cls(path)
        loaded = load_arrays(path)
        if loaded is None or not _is_catalog(loaded[1]):
            return catalog
        catalog._checkpoint, arrays = loaded
        catalog._texts = json.loads(bytes(arrays.pop("words")))
        catalog._numbers = {text: number for number, text in enumerate(catalog._texts)}
        catalog._columns = {name: arrays[name] for name in _COLUMNS}
        catalog._size = len(arrays["space"])
        for row in catalog.living().tolist():
            catalog._link(row)
        return catalog

    @property
    def checkpoint(self) -> Checkpoint | None:
        return self._checkpoint

    def apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            record = change.record
            if isinstance(record, CodeChunk):
                self._put(record)
            elif isinstance(record, Deleted) and record.table == "chunks":
                self._drop(record.row)

    def save(self, checkpoint: Checkpoint) -> None:
        arrays = {name: column[: self._size] for name, column in self._columns.items()}
        arrays["words"] = np.frombuffer(json.dumps(self._texts).encode("ascii"), dtype=np.uint8)
        save_arrays(self._path, checkpoint, arrays)
        self._checkpoint = checkpoint

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)
        self._start()
        self._checkpoint = None

    def close(self) -> None:
        """Nothing is held open."""

    # Questions

    def living(self) -> Rows:
        """Every row that holds a chunk."""
        return np.flatnonzero(self._columns["space"][: self._size] != _ABSENT)

    def view(self, scope: Scope, language: str | None = None) -> "View":
        """The chunks of a space, of one project (``scope.user_id``) and of one language, if given."""
        wanted = {"space": scope.space, "project": scope.user_id, "language": language}
        numbers = {
            name: self._numbers.get(text, _ABSENT - 1) for name, text in wanted.items() if text is not None
        }

        def allowed(rows: Rows) -> NDArray[np.bool_]:
            inside = np.ones(len(rows), np.bool_)
            for name, number in numbers.items():
                inside &= self._columns[name][rows] == number
            return inside

        return View(self, allowed, spans_projects=scope.user_id is None)

    def rows_of(self, scope: Scope) -> Rows:
        """Every row of a project, or of all projects of a space."""
        rows = self.living()
        return rows[self.view(scope).allowed(rows)]

    def file(self, project: str, path: str) -> list[Known]:
        """The chunks of a file, in the order of their lines."""
        key = self._numbers.get(project, _ABSENT), self._numbers.get(path, _ABSENT)
        columns = self._columns
        chunks = [
            Known(
                id=columns["id"][row].decode("ascii"),
                row=row,
                digest=columns["digest"][row].decode("ascii"),
                start_line=int(columns["start_line"][row]),
                end_line=int(columns["end_line"][row]),
                language=self._texts[columns["language"][row]],
                chunk_type=self._texts[columns["chunk_type"][row]],
            )
            for row in self._files.get(key, ())
        ]
        return sorted(chunks, key=lambda chunk: (chunk.start_line, chunk.row))

    def paths(self, project: str) -> list[str]:
        """The files of a project that have chunks."""
        number = self._numbers.get(project, _ABSENT)
        return sorted(self._texts[path] for owner, path in self._files if owner == number)

    def ids(self, rows: Rows) -> list[str]:
        """The ids of the chunks in ``rows``; empty for one that is gone."""
        keys = np.zeros(len(rows), dtype=_COLUMNS["id"])
        here = rows < self._size  # a catalog that was cleared since has fewer
        keys[here] = self._columns["id"][rows[here]]
        return [key.decode("ascii") for key in keys.tolist()]

    def digests(self, rows: Rows) -> list[str]:
        """What is embedded of the chunks in ``rows``."""
        return [key.decode("ascii") for key in self._columns["digest"][rows].tolist()]

    def is_core(self, rows: Rows) -> NDArray[np.bool_]:
        """Which chunks are the code itself, and no test, example, document or setting."""
        core: NDArray[np.bool_] = self._columns["is_support"][rows] == 0
        return core

    def entries(self, rows: Rows) -> list[Entry]:
        """What ranking knows of chunks."""
        texts = self._texts
        parts = [self._columns[name][rows].tolist() for name in _COLUMNS if name in Entry.__annotations__]
        return [
            Entry(row, texts[path], texts[language], texts[kind], texts[name], texts[crumb], start, end)
            for row, path, language, kind, name, crumb, start, end in zip(rows.tolist(), *parts, strict=True)
        ]

    def projects(self, rows: Rows) -> list[str]:
        """The projects of the chunks in ``rows``."""
        return [self._texts[number] for number in self._columns["project"][rows].tolist()]

    def named(self, name: str) -> Iterable[int]:
        """Rows of all projects that define a folded name."""
        return self._named.get(name, ())

    def in_files(self, stem: str) -> Iterable[int]:
        """Rows of all files, of whatever project, with a folded stem."""
        return (row for file in self._stems.get(stem, ()) for row in self._files[file])

    # Keeping

    def _put(self, chunk: CodeChunk) -> None:
        row = chunk.row
        self._drop(row)
        self._reserve(row + 1)
        columns = self._columns
        columns["id"][row] = chunk.id.encode("ascii")
        columns["digest"][row] = chunk.digest.encode("ascii")
        columns["start_line"][row] = chunk.start_line
        columns["end_line"][row] = chunk.end_line
        columns["is_support"][row] = supporting(chunk.path, chunk.language) != ""
        for name in _WORDS:
            columns[name][row] = self._number(getattr(chunk, name))
        self._link(row)

    def _drop(self, row: int) -> None:
        if row >= self._size or self._columns["space"][row] == _ABSENT:
            return
        project, path, names = self._place(row)
        self._columns["space"][row] = _ABSENT
        self._columns["id"][row] = b""
        rows = self._files[project, path]
        rows.discard(row)
        if not rows:
            del self._files[project, path]
            _discard(self._stems, _stem(self._texts[path]), (project, path))
        for name in names:
            _discard(self._named, name, row)

    def _link(self, row: int) -> None:
        project, path, names = self._place(row)
        self._files.setdefault((project, path), set()).add(row)
        self._stems.setdefault(_stem(self._texts[path]), set()).add((project, path))
        for name in names:
            self._named.setdefault(name, set()).add(row)

    def _place(self, row: int) -> tuple[int, int, Iterable[str]]:
        columns = self._columns
        names = defined_names(self._texts[columns["name"][row]])
        return int(columns["project"][row]), int(columns["path"][row]), names

    def _reserve(self, size: int) -> None:
        if size > len(self._columns["space"]):
            room = max(1024, size + size // 2)
            for name, column in self._columns.items():
                grown = _empty(name, room)
                grown[: self._size] = column[: self._size]
                self._columns[name] = grown
        self._size = max(self._size, size)

    def _number(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        return number


@dataclass(frozen=True, slots=True)
class View:
    """The part of the catalog that a question is about."""

    catalog: CodeCatalog
    allowed: Callable[[Rows], NDArray[np.bool_]]
    spans_projects: bool

    def core(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of the rows are allowed and the code itself."""
        return self.allowed(rows) & self.catalog.is_core(rows)

    def entries(self, rows: Rows) -> list[Entry]:
        """What ranking knows of chunks; files of two projects are two, also where their paths are equal."""
        entries = self.catalog.entries(rows)
        if not self.spans_projects:
            return entries
        projects = self.catalog.projects(rows)
        return [
            replace(entry, path=f"{project}/{entry.path}")
            for entry, project in zip(entries, projects, strict=True)
        ]

    def named(self, name: str) -> Rows:
        return self._inside(self.catalog.named(name))

    def in_files(self, stem: str) -> Rows:
        return self._inside(self.catalog.in_files(stem))

    def _inside(self, found: Iterable[int]) -> Rows:
        rows = np.array(sorted(found), dtype=np.int64)
        return rows[self.allowed(rows)]


def _empty(name: str, size: int) -> NDArray[Any]:
    dtype = np.dtype(_COLUMNS[name])
    return np.full(size, b"" if dtype.kind == "S" else _ABSENT, dtype=dtype)


def _stem(path: str) -> str:
    return PurePosixPath(path).name.lstrip(".").split(".")[0].lower()


def _discard(sets: dict[str, set[Any]], key: str, value: object) -> None:
    members = sets.get(key)
    if members is not None:
        members.discard(value)
        if not members:
            del sets[key]


def _is_catalog(arrays: Arrays) -> bool:
    """Whether these are our columns, all of one length."""
    return set(arrays) == {"words", *_COLUMNS} and all(
        arrays[name].dtype == np.dtype(kind) and arrays[name].shape == (len(arrays["id"]),)
        for name, kind in _COLUMNS.items()
    )
