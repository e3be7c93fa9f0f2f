"""How does the code of a project leave, for good?"""

from retrieval.indexes import Indexes
from retrieval.store.changes import Change
from retrieval.store.code import FileChange
from retrieval.store.store import Store

__all__ = ["delete_chunks", "drop_vectors"]

AT_ONCE = 128
"""Files deleted in one transaction."""


def delete_chunks(store: Store, indexes: Indexes, project: str) -> int:
    """Delete every file and chunk of a project; returns how many chunks there were."""
    deleted = 0

    def write() -> list[Change]:
        nonlocal deleted
        with indexes.current():  # a catalog that is being built knows not all chunks
            catalog = indexes.code.catalog
            changes = [
                FileChange(path, None, removed=tuple((it.id, it.row) for it in catalog.file(project, path)))
                for path in catalog.paths(project)[:AT_ONCE]
            ]
        deleted += sum(len(change.removed) for change in changes)
        return store.code.write_files(project, changes) if changes else []

    while indexes.commit(write):
        pass
    return deleted


def drop_vectors(store: Store, indexes: Indexes) -> None:
    """Delete the vectors that no chunk has any more."""

    def write() -> list[Change]:
        with indexes.current():
            catalog = indexes.code.catalog
            store.code.keep_vectors(set(catalog.digests(catalog.living())))
        return []

    indexes.commit(write)
