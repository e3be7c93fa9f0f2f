"""A project's folder in; its files and chunks in the store, and nothing done twice.

Read from top to bottom: walk, leave out what is as it was (by ``stat``, then by content), read, cut, compare
with the chunks that are there, store a batch. Every batch is a transaction that the keyword index takes in
before the next begins: what has been parsed is found while the rest is read, and what was stored when the
process died is not done again. Vectors follow behind (``indexer/embedding.py``).
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from indexer.chunk import Chunk, cut
from indexer.languages.registry import language_of
from indexer.symbols import NO_SYMBOLS, Symbols
from indexer.symbols_note import to_note
from indexer.walk import File, Skip, read_text, stat_file, walk
from retrieval.code.document import chunk_id, digest_of, embedded_text
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk, Project, SourceFile
from retrieval.store.changes import Change
from retrieval.store.code import FileChange, Known
from retrieval.store.store import Store

__all__ = ["Outcome", "Report", "index_paths", "index_project", "refresh"]

log = logging.getLogger(__name__)

BATCH_CHUNKS = 256
"""Chunks stored at once: the lock is held some 40 ms, and more would not be faster."""
BATCH_FILES = 128
REPAIR_SECONDS = 60.0
"""How long a batch waits for an index that could not follow the one before, and is built again."""

_SKIPPED = "skipped: "
"""Begins the note on a file that is not read for a good reason, so that it is not looked into again."""
_MAY_CHANGE = ("start_line", "end_line", "language", "chunk_type")
"""What may be another of a chunk with the same text: a ``.h`` becomes C++ by a line elsewhere in it."""
_LOOKED_AT = 1_000
"""Bytes of a file that may tell its language."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found and did. ``finished`` is False when it was stopped before the end."""

    files: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    finished: bool = True


Report = Callable[[int, int], None]
"""Files looked at, of how many."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that was read and cut."""

    file: SourceFile
    chunks: tuple[CodeChunk, ...]


def index_project(
    store: Store,
    indexes: Indexes,
    project: Project,
    *,
    report: Report = lambda *_: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Bring the store up to date with a project's folder."""
    walked = walk(project.root, look_inside=False)
    files = {file.path: file for file in walked.files}
    known = store.code.known_files(project.id)
    run = _Run(store, indexes, project, walked.started_ns, Counter(walked.skipped))
    run.forget(path for path in known if path not in files)
    for done, (path, file) in enumerate(files.items()):
        report(done, len(files))
        if stopped():
            return run.end(len(files), finished=False)
        before = known.get(path)
        if before is not None and before.settled and before.stamp == file.stamp:
            run.leave(before)
        else:
            run.take(file, before.digest if before is not None else None)
    report(len(files), len(files))
    return run.end(len(files))


def index_paths(store: Store, indexes: Indexes, project: Project, paths: Iterable[str]) -> Outcome:
    """Bring the store up to date with some files or folders of a project, which may be new or gone.

    A walk without opening files tells which of them belong to the project: ignore rules may be anywhere.
    """
    walked = walk(project.root, look_inside=False)
    run = _Run(store, indexes, project, walked.started_ns, Counter())
    files = {file.path: file for file in walked.files}
    known = store.code.known_files(project.id)
    wanted = frozenset(paths)

    def concerned(path: str) -> bool:
        return path in wanted or any(str(folder) in wanted for folder in PurePosixPath(path).parents)

    run.forget(path for path in known if path not in files and concerned(path))
    for path, file in files.items():
        if concerned(path):
            run.take(file, known[path].digest if path in known else None)
        elif path in known:
            run.leave(known[path])
    return run.end(len(files))


def refresh(store: Store, indexes: Indexes, project: Project, paths: Iterable[str]) -> Outcome:
    """Read some indexed files again, or forget them if they are gone; nothing else is looked at."""
    run = _Run(store, indexes, project, time.time_ns(), Counter())
    known = store.code.known_files(project.id, tuple(paths))
    for path, before in known.items():
        file = stat_file(Path(project.root), path)
        if file is None:
            run.forget([path])
        else:
            run.take(file, before.digest)
    return run.end(len(known))


class _Run:
    """One pass over some files: what is waiting to be stored, and what was done."""

    def __init__(
        self, store: Store, indexes: Indexes, project: Project, started_ns: int, skipped: Counter[str]
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._project = project
        self._started_ns = started_ns
        self._skipped = skipped
        self._problems: dict[str, str] = {}
        self._waiting: list[_Read] = []
        self._gone: list[str] = []
        self._restamped: list[SourceFile] = []  # the same text with another date
        self._chunks = 0
        self._changed = self._added = self._removed = self._left_out = 0

    def forget(self, paths: Iterable[str]) -> None:
        """These files are not there any more."""
        for path in paths:
            self._gone.append(path)
            if len(self._gone) >= BATCH_FILES:
                self._flush()

    def take(self, file: File, known_digest: str | None) -> None:
        """Read a file that may have changed; ``known_digest`` is of what it held before, if it did."""
        text = read_text(Path(self._project.root) / file.path)
        source = SourceFile(
            project=self._project.id,
            path=file.path,
            language="",
            stamp=file.stamp,
            settled=file.settled(self._started_ns),
            digest=digest_of(text) if isinstance(text, str) else "",
            symbols=b"",
        )
        if isinstance(text, Skip):
            self._skipped[text.reason.value] += 1
            self._left_out += 1
            read = _Read(replace(source, problem=_SKIPPED + text.reason.value), ())
        elif source.digest == known_digest:
            self._restamped.append(source)
            return
        else:
            read = _cut(self._project, source, text)
            if read.file.problem is not None:
                self._problems[file.path] = read.file.problem
            self._changed += 1
        self._waiting.append(read)
        self._chunks += len(read.chunks)
        if self._chunks >= BATCH_CHUNKS or len(self._waiting) >= BATCH_FILES:
            self._flush()

    def leave(self, before: Known) -> None:
        """A file is as it was."""
        if before.problem is not None and before.problem.startswith(_SKIPPED):
            self._skipped[before.problem.removeprefix(_SKIPPED)] += 1
            self._left_out += 1

    def end(self, files: int, *, finished: bool = True) -> Outcome:
        """Store the rest. ``files`` were looked at; those left out for what they hold do not count."""
        self._flush()
        self._store.code.restamp(self._restamped)
        return Outcome(
            files - self._left_out,
            self._changed,
            self._added,
            self._removed,
            dict(self._skipped),
            self._problems,
            finished,
        )

    def _flush(self) -> None:
        waiting, gone = self._waiting, self._gone
        self._waiting, self._gone, self._chunks = [], [], 0
        if not waiting and not gone:
            return

        def write() -> Sequence[Change]:
            with self._indexes.current():  # a catalog that is being built knows not all chunks
                changes = [
                    *(self._difference(path, None, ()) for path in gone),
                    *(self._difference(read.file.path, read.file, read.chunks) for read in waiting),
                ]
            self._added += sum(len(change.added) for change in changes)
            self._removed += sum(len(change.removed) for change in changes)
            return self._store.code.write_files(self._project.id, changes)

        self._indexes.wait(REPAIR_SECONDS)
        self._indexes.commit(write)

    def _difference(self, path: str, file: SourceFile | None, chunks: Sequence[CodeChunk]) -> FileChange:
        before = {chunk.id: chunk for chunk in self._indexes.code.catalog.file(self._project.id, path)}
        added, moved = [], []
        for chunk in chunks:
            old = before.pop(chunk.id, None)
            if old is None:
                added.append(chunk)
            elif any(getattr(old, name) != getattr(chunk, name) for name in _MAY_CHANGE):
                moved.append(replace(chunk, row=old.row))
        removed = tuple((chunk.id, chunk.row) for chunk in before.values())
        return FileChange(path, file, tuple(added), tuple(moved), removed)


def _cut(project: Project, source: SourceFile, text: str) -> _Read:
    language = language_of(source.path, text[:_LOOKED_AT].encode(errors="replace"))
    source = replace(source, language=language.name if language else "text")
    try:
        parts = cut(text, language)
        chunks = tuple(_chunks(project, source, parts.chunks))
        symbols: Symbols = parts.symbols
    except Exception as error:  # whatever one file does to a parser, the others are indexed
        log.exception("%s could not be cut into chunks", source.path)
        return _Read(replace(source, problem=f"{type(error).__name__}: {error}"), ())
    return _Read(replace(source, symbols=to_note(symbols) if symbols is not NO_SYMBOLS else b""), chunks)


def _chunks(project: Project, source: SourceFile, parts: Iterable[Chunk]) -> Iterator[CodeChunk]:
    seen: Counter[str] = Counter()
    for part in parts:
        digest = digest_of(embedded_text(part.breadcrumb, part.name, part.text))
        yield CodeChunk(
            id=chunk_id(project.id, source.path, digest, seen[digest]),
            row=-1,
            space=project.space,
            project=project.id,
            path=source.path,
            language=source.language,
            chunk_type=part.chunk_type,
            name=part.name,
            breadcrumb=part.breadcrumb,
            start_line=part.start_line,
            end_line=part.end_line,
            digest=digest,
            content=part.text,
        )
        seen[digest] += 1
