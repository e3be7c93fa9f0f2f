"""A project on disk, a store with indexes, and the pipeline between them."""

import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexer.pipeline import Outcome, index_paths, index_project, refresh
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk, Project
from retrieval.store.store import Store
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC, a_project

__all__ = ["Workshop", "function", "write_files"]

_times = itertools.count(1_700_000_000)


def function(name: str, body: str = "return 1") -> str:
    """A function long enough to be a chunk of its own."""
    return f'def {name}(first, second):\n    """{name} does what it says."""\n    {body}\n'


def write_files(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, each at a time of its own: a change shows in ``stat`` however fast it came."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        now = next(_times)
        os.utime(path, (now, now))


class Workshop:
    """One or more projects, indexed without threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "app"
        self.root.mkdir()
        self.project = a_project("app", root=str(self.root))
        self.store = Store.open(folder / "database")
        self.store.set_model(MODEL, SPEC.dimensions)
        self.indexes = Indexes.open(self.store, folder / "indexes", MODEL, SPEC.dimensions)
        self.indexes.catch_up()

    def close(self) -> None:
        self.indexes.close()
        self.store.close()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        write_files(self.root, files)

    def other_project(self, key: str, files: Mapping[str, str | bytes]) -> Project:
        root = self.folder / key
        write_files(root, files)
        return a_project(key, root=str(root))

    def index(self, project: Project | None = None, **options: Any) -> Outcome:
        return index_project(self.store, self.indexes, project or self.project, **options)

    def index_paths(self, *paths: str) -> Outcome:
        return index_paths(self.store, self.indexes, self.project, paths)

    def refresh(self, *paths: str) -> Outcome:
        return refresh(self.store, self.indexes, self.project, paths)

    def chunks(self, path: str | None = None) -> dict[str, CodeChunk]:
        """Name → chunk, of one file or of all."""
        found = [chunk for page in self.store.scan("chunks") for chunk in page]
        return {chunk.name: chunk for chunk in found if path in (None, chunk.path)}

    def paths(self) -> list[str]:
        return sorted(self.store.code.known_files(self.project.id))

    def check(self) -> None:
        assert_agreement(self.store, self.indexes, MODEL, self.folder)
