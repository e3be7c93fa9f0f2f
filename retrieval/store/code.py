"""Which projects, files and chunks of code are there, and how do they change?

One transaction a batch of files: a file and its chunks change together or not at all. Vectors are kept by
what was embedded, not by chunk: a chunk that moves, returns with a branch or stands in two projects has one.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from retrieval.records import CodeChunk, Project, SourceFile, Vector
from retrieval.store.changes import Change, Deleted, Embedded
from retrieval.store.log import write
from retrieval.store.rows import to_record, to_row, vector_row
from retrieval.store.surreal import Connection

__all__ = ["CodeStore", "FileChange", "Known"]

_PAGE = 500
"""Files read at a time; their symbols make them heavy."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What becomes of one file: its record (None: it is gone) and the chunks that differ.

    ``added`` get a row each; ``moved`` keep id and row and have other lines; ``removed`` are ids and rows.
    """

    path: str
    file: SourceFile | None
    added: tuple[CodeChunk, ...] = ()
    moved: tuple[CodeChunk, ...] = ()
    removed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What tells without reading it whether a file is as it was."""

    stamp: tuple[int, ...]
    settled: bool
    digest: str
    problem: str | None = None


class CodeStore:
    """The code part of the store, on the same connection."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    # Projects

    def projects(self) -> list[Project]:
        """Every project, by id."""
        return [to_record(Project, row) for row in self._db.run("SELECT * FROM projects")[0]]

    def put_project(self, project: Project) -> None:
        """Create a project, or replace what is known of it."""
        row = to_row(project)
        key = row.pop("id")
        self._db.run("UPSERT type::record('projects', $key) CONTENT $row RETURN NONE", key=key, row=row)

    def drop_project(self, project: str) -> None:
        """Forget a project and its files; its chunks must be gone."""
        self._db.run(
            """
            BEGIN;
            DELETE files:[$project, NONE]..=[$project, ..];
            DELETE type::record('projects', $project);
            COMMIT;
            """,
            project=project,
        )

    # Files

    def known_files(self, project: str, paths: Sequence[str] | None = None) -> dict[str, Known]:
        """Path → what tells whether the file changed, for some or every file of a project."""
        source = "files:[$project, NONE]..=[$project, ..]"
        if paths is not None:
            source = "$paths.map(|$path| type::record('files', [$project, $path]))"
        rows = self._db.run(
            f"SELECT id, stamp, settled, digest, problem FROM {source}", project=project, paths=paths
        )[0]
        return {
            row["id"].id[1]: Known(tuple(row["stamp"]), row["settled"], row["digest"], row.get("problem"))
            for row in rows
        }

    def files(self, project: str) -> Iterator[list[SourceFile]]:
        """The files of a project with their symbols, in pages, by path."""
        rows = self._db.run(
            f"SELECT * FROM files:[$project, NONE]..=[$project, ..] LIMIT {_PAGE}", project=project
        )[0]
        while rows:
            yield [_source_file(row) for row in rows]
            rows = self._db.run(
                f"SELECT * FROM files:[$project, $last]>..=[$project, ..] LIMIT {_PAGE}",
                project=project,
                last=rows[-1]["id"].id[1],
            )[0]

    def restamp(self, files: Sequence[SourceFile]) -> None:
        """Note what ``stat`` says of files whose content is as it was."""
        for start in range(0, len(files), _PAGE):
            part = files[start : start + _PAGE]
            self._db.run(
                """
                BEGIN;
                FOR $file IN $files {
                    UPDATE type::record('files', $file.id) SET stamp = $file.stamp, settled = $file.settled;
                };
                COMMIT;
                """,
                files=[
                    {"id": [file.project, file.path], "stamp": list(file.stamp), "settled": file.settled}
                    for file in part
                ],
            )

    def write_files(self, project: str, changes: Sequence[FileChange]) -> list[Change]:
        """Replace some files and what they hold; rows of new chunks are given here."""
        added = [chunk for change in changes for chunk in change.added]
        moved = [chunk for change in changes for chunk in change.moved]
        removed = [pair for change in changes for pair in change.removed]
        written = write(
            self._db,
            """
            LET $added = encoding::json::decode($added_text);
            LET $moved = encoding::json::decode($moved_text);
            DELETE $gone.map(|$id| type::record('chunks', $id)) RETURN NONE;
            INSERT INTO chunks $added.map(|$chunk, $i|
                object::extend($chunk, { row: $state.chunk_rows - $new_chunks + $i })) RETURN NONE;
            INSERT INTO chunks $moved RETURN NONE;
            DELETE $paths.map(|$path| type::record('files', [$project, $path])) RETURN NONE;
            INSERT INTO files $files RETURN NONE;
            LET $touched = array::concat(
                $removed.map(|$pair| ['chunks', $pair[0], $pair[1]]),
                $moved.map(|$chunk| ['chunks', $chunk.id, $chunk.row]),
                $added.map(|$chunk, $i| ['chunks', $chunk.id, $state.chunk_rows - $new_chunks + $i]));
            """,
            chunks=len(added) - len(removed),
            new_chunks=len(added),
            project=project,
            added_text=_as_json([to_row(chunk) for chunk in added]),
            moved_text=_as_json([to_row(chunk, keep_row=True) for chunk in moved]),
            removed=[list(pair) for pair in removed],
            gone=[key for key, _ in removed] + [chunk.id for chunk in moved],
            paths=[change.path for change in changes],
            files=[_file_row(change.file) for change in changes if change.file is not None],
        )
        first = written.chunk_rows - len(added)
        return [
            *(Change(written.seq, Deleted("chunks", key, row)) for key, row in removed),
            *(Change(written.seq, chunk) for chunk in moved),
            *(Change(written.seq, replace(chunk, row=first + i)) for i, chunk in enumerate(added)),
        ]

    # Vectors

    def vectors(self, digests: Iterable[str], model: str) -> dict[str, Vector]:
        """The vectors that ``model`` made for these digests."""
        wanted = list(dict.fromkeys(digests))
        if not wanted:
            return {}
        rows = self._db.run(
            "SELECT * FROM $keys.map(|$key| type::record('code_vectors', [$key, $model]))",
            keys=wanted,
            model=model,
        )[0]
        return {row["id"].id[0]: np.frombuffer(row["values"], dtype="<f4") for row in rows}

    def add_vectors(
        self,
        vectors: Mapping[str, Vector],
        chunks: Sequence[tuple[str, int, str]],
        model: str,
        new: Collection[str],
    ) -> list[Change]:
        """Say which chunks (id, row, digest) have a vector now, and store those that are ``new``."""
        written = write(
            self._db,
            """
            INSERT INTO code_vectors $vectors ON DUPLICATE KEY UPDATE values = $input.values RETURN NONE;
            LET $touched = $holders.map(|$chunk| ['chunks', $chunk[0], $chunk[1]]);
            """,
            vectors=[vector_row(digest, model, vectors[digest]) for digest in new],
            holders=[[key, row] for key, row, _ in chunks],
        )
        return [
            Change(written.seq, Embedded("chunks", row), vectors[digest])
            for _, row, digest in chunks
            if digest in vectors
        ]

    def keep_vectors(self, living: set[str]) -> int:
        """Delete the vectors of every digest that is not in ``living``; returns how many went."""
        keys = [row.id for row in self._db.run("SELECT VALUE id FROM code_vectors")[0]]
        gone = [key for key in keys if key[0] not in living]
        if gone:
            self._db.run(
                "DELETE $keys.map(|$key| type::record('code_vectors', $key)) RETURN NONE",
                keys=[list(key) for key in gone],
            )
        return len(gone)


def _as_json(rows: list[dict[str, Any]]) -> str:
    """Plain values as the database can read them; the client's own encoder takes six times as long."""
    return json.dumps(rows, ensure_ascii=False)


def _file_row(file: SourceFile) -> dict[str, Any]:
    return {
        "id": [file.project, file.path],
        "language": file.language,
        "stamp": list(file.stamp),
        "settled": file.settled,
        "digest": file.digest,
        "symbols": file.symbols,
        "problem": file.problem,
    }


def _source_file(row: dict[str, Any]) -> SourceFile:
    project, path = row["id"].id
    return SourceFile(
        project=project,
        path=path,
        language=row["language"],
        stamp=tuple(row["stamp"]),
        settled=row["settled"],
        digest=row["digest"],
        symbols=bytes(row["symbols"]),
        problem=row.get("problem"),
    )
