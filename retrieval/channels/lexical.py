"""Here are words; which memories contain them, best first?

BM25 over tantivy. Texts and queries go through our own analyzer (``retrieval.text.words``) and reach
tantivy as words between spaces, so that both sides agree to the letter.

What is applied is found by the next search without a commit: the last few changes are kept as drafts
(``retrieval.channels.fresh``), laid over the committed index, and handed to it when they are saved, when
they become many, or when they would weigh too much beside what is committed. A bulk load passes the
drafts by and costs one commit at its end. The committed side is ``retrieval.channels.committed``.

Writers take turns on a lock; searches take none, they look at one immutable view.
"""

import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.committed import Committed, document, open_index
from retrieval.channels.folder import read_checkpoint, remove_checkpoint, write_checkpoint
from retrieval.channels.fresh import Draft, line_up, matching, mentioning
from retrieval.code.document import WORDING, searched_text
from retrieval.errors import StoreLocked
from retrieval.records import CodeChunk, Memory, Ranking, Rows, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted
from retrieval.text.words import ANALYSIS, phrases, query_words, words

__all__ = ["Lexical"]

LAYOUT = 100 * ANALYSIS + 1
"""Number of the form on disk: our fields, and the analysis of the words in them."""

FRESH_LIMIT = 128
"""Drafts kept beside the index: 128 cost a search 0.2 ms; a commit costs 5 to 12 ms for any number."""

FRESH_SHARE = 4
"""Committed memories per draft, at least. Below it the two sides' word statistics drift apart, so commit."""

WRITER_HEAP = 50_000_000
"""Bytes the writer may fill before it writes a segment. 100k memories: 0.5 s and one segment, against
2.5 s and eight segments at 15 MB; resident memory is 14 MB more while loading."""


@dataclass(frozen=True, slots=True)
class _View:
    """What searches look at: the committed index, and the drafts over it (None: deleted)."""

    committed: Committed
    drafts: Mapping[int, Draft | None] = field(default_factory=dict)
    behind: bool = False  # the writer holds changes that are neither committed nor among the drafts

    @property
    def wants_commit(self) -> bool:
        return self.behind or 0 < self.committed.statistics.count < FRESH_SHARE * len(self.drafts)


class Lexical:
    """The keyword index of memories, or of code: a project is to a chunk what a user is to a memory.

    Give it a folder of its own; one process at a time may have it.
    """

    def __init__(
        self, folder: Path, index: Any, writer: Any, checkpoint: Checkpoint | None, table: str, layout: int
    ) -> None:
        self._layout = layout
        self.name = "lexical" if table == "memories" else f"lexical of {table}"
        self._table = table
        self._folder = folder
        self._index = index
        self._writer = writer
        self._checkpoint = checkpoint
        self._writing = threading.RLock()
        self._view = _View(Committed.of(index))
        # rows above this are new to the index: nothing to delete before they are added
        self._highest = self._view.committed.highest_row()

    @classmethod
    def open(cls, folder: Path, table: str = "memories") -> Self:
        """Open the index in ``folder``, empty where there is none or none that can be used."""
        layout = LAYOUT if table == "memories" else 1_000 * WORDING + LAYOUT
        checkpoint = read_checkpoint(folder, layout=layout)
        try:
            index = open_index(folder, must_exist=checkpoint is not None)
        except ValueError:  # tantivy's only error: another schema, a missing or damaged file
            remove_checkpoint(folder)  # first: no half-deleted folder may look trustworthy
            shutil.rmtree(folder, ignore_errors=True)
            checkpoint = None
            index = open_index(folder, must_exist=False)
        try:
            writer = index.writer(WRITER_HEAP, 1)
        except ValueError as error:
            # the lock is the system's and goes with its process, so a kill leaves none behind
            raise StoreLocked(
                f"The keyword index in {folder} is in use by another process. Close it and try again."
            ) from error
        # what a kill left of a commit: the next one may want to write a file of the very same name
        writer.garbage_collect_files()
        lexical = cls(folder, index, writer, checkpoint, table, layout)
        if checkpoint is None and lexical.count:
            lexical.clear()
        return lexical

    @property
    def checkpoint(self) -> Checkpoint | None:
        return self._checkpoint

    @property
    def count(self) -> int:
        """How many memories are indexed; commits what is not yet."""
        if self._view.drafts or self._view.behind:
            self._commit()
        return self._view.committed.statistics.count

    def apply(self, changes: Sequence[Change]) -> None:
        with self._writing:
            view = self._view
            drafts = dict(view.drafts)
            behind = view.behind
            for change in changes:
                match change.record:
                    case Memory() | CodeChunk() as record if change.table == self._table:
                        drafts[record.row] = _draft(record)
                    case Deleted(table=table, row=row) if table == self._table:
                        drafts[row] = None
                    case _:
                        continue
                if len(drafts) > FRESH_LIMIT:
                    self._hand_over(drafts)
                    drafts = {}
                    behind = True
            self._view = _View(view.committed, drafts, behind)

    def save(self, checkpoint: Checkpoint) -> None:
        with self._writing:
            self._commit()
            write_checkpoint(self._folder, checkpoint, layout=self._layout)
            self._checkpoint = checkpoint

    def clear(self) -> None:
        with self._writing:
            remove_checkpoint(self._folder)
            self._checkpoint = None
            self._writer.rollback()  # else what was handed over but not committed would outlive the rest
            self._writer.delete_all_documents()
            self._writer.commit()
            self._index.reload()
            self._view = _View(Committed.of(self._index))
            self._highest = -1

    def close(self) -> None:
        with self._writing:
            # dropping the writer gives up the lock and abandons merges: they are only housekeeping
            self._writer = None
            self._index = None

    def search(
        self, query: str, k: int, scope: Scope, allowed: Callable[[Rows], NDArray[np.bool_]]
    ) -> Ranking:
        """The ``k`` best memories of the scope that ``allowed`` lets through; equal scores by row."""
        asked = query_words(query)
        if not asked or k < 1:
            return Ranking()
        view = self._current()
        reach = view.committed.reach(scope)
        rows, scores = view.committed.search(asked, k, reach, allowed, view.drafts)
        fresh = dict(matching(asked, scope, view.drafts, reach.statistics))
        if fresh:
            fresh_rows = np.fromiter(fresh.keys(), np.int64, len(fresh))
            kept = allowed(fresh_rows)
            rows = np.concatenate((rows, fresh_rows[kept]))
            scores = np.concatenate((scores, np.fromiter(fresh.values(), np.float64, len(fresh))[kept]))
        best = np.lexsort((rows, -scores))[:k]
        return Ranking(rows[best], scores[best])

    def containing(self, phrase: str, scope: Scope, limit: int) -> Rows:
        """Memories of the scope in which the phrase's words stand one after the other, rows ascending."""
        ways = [way for way in phrases(phrase) if way]
        if not ways or limit < 1:
            return np.empty(0, dtype=np.int64)
        view = self._current()
        found = {row for way in ways for row in mentioning(way, scope, view.drafts)}
        rows = view.committed.containing(ways, view.committed.reach(scope), limit + len(view.drafts))
        found.update(row for row in rows.tolist() if row not in view.drafts)
        return np.array(sorted(found)[:limit], dtype=np.int64)

    def _current(self) -> _View:
        if self._view.wants_commit:
            self._commit()
        return self._view

    def _commit(self) -> None:
        with self._writing:
            if not self._view.drafts and not self._view.behind:
                return
            self._hand_over(self._view.drafts)
            self._writer.commit()
            self._index.reload()
            self._view = _View(Committed.of(self._index))

    def _hand_over(self, drafts: Mapping[int, Draft | None]) -> None:
        for row, draft in drafts.items():
            if row <= self._highest:
                self._writer.delete_documents_by_term("row", row)
            if draft is not None:
                self._writer.add_document(document(draft))
                self._highest = max(self._highest, row)


def _text_of(chunk: CodeChunk) -> str:
    return searched_text(chunk.path, chunk.breadcrumb, chunk.name, chunk.content)


def _draft(record: Memory | CodeChunk) -> Draft:
    match record:
        case Memory():
            found, owner = words(record.content), record.user_id
        case CodeChunk():
            found, owner = words(_text_of(record)), record.project
    return Draft(record.row, record.space, owner, line_up(found), len(found))
