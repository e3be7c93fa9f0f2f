"""Are the files of an answer still what they were when they were indexed?

Those that changed are read again, if they are few and nobody else works on their project.
"""

from collections.abc import Mapping
from pathlib import Path

from indexer.pipeline import refresh
from indexer.walk import InvalidPath, check_root, stat_file
from memory_mcp.engine.projects import Projects
from retrieval.indexes import Indexes
from retrieval.store.code import Known
from retrieval.store.store import Store

__all__ = ["Freshness", "Paths"]

REREAD_AT_ONCE = 20
"""Changed files that are read again before an answer; more means that a branch was switched, and indexing
them is the watcher's or the user's business."""

Paths = Mapping[str, set[str]]
"""Project → paths."""


class Freshness:
    """Compares files with what the store knows of them."""

    def __init__(self, store: Store, indexes: Indexes, projects: Projects) -> None:
        self._store = store
        self._indexes = indexes
        self._projects = projects
        self._stamps: dict[tuple[str, str], Known] = {}
        self._stamped_at = -1

    def stale(self, asked: Paths) -> dict[str, set[str]]:
        """Those whose file is not as it was indexed."""
        if self._stamped_at != self._indexes.version:
            self._stamps.clear()
            self._stamped_at = self._indexes.version
        roots = {project.id: Path(project.root) for project in self._projects.all()} if asked else {}
        stale: dict[str, set[str]] = {}
        for project, paths in asked.items():
            unknown = [path for path in paths if (project, path) not in self._stamps]
            if unknown:
                known = self._store.code.known_files(project, unknown)
                self._stamps.update(((project, path), before) for path, before in known.items())
            for path in paths:
                before = self._stamps.get((project, path))
                file = stat_file(roots[project], path) if project in roots else None
                if before is None or file is None or file.stamp != before.stamp:
                    stale.setdefault(project, set()).add(path)
        return stale

    def reread(self, stale: Paths) -> bool:
        """Bring changed files up to date; False when there are none, or that is not for us to do."""
        if sum(map(len, stale.values())) > REREAD_AT_ONCE:
            return False
        self._stamped_at = -1
        done = False
        for project in self._projects.all():
            # a folder that is gone or empty may be a volume that is not mounted: its code stays
            if project.id in stale and _is_project(project.root):
                with self._projects.working(project.id) as is_free:
                    if is_free:
                        refresh(self._store, self._indexes, project, stale[project.id])
                        done = True
        if done:
            self._projects.embedding.wake()
        return done


def _is_project(root: str) -> bool:
    try:
        check_root(root)
    except InvalidPath:
        return False
    return True
