"""Which projects are indexed, how far are they, and who keeps them up to date?

A project is walked and parsed by whoever asked for it, so that the answer tells what is there; its vectors
follow in the background. Runs of one project never overlap. What a stop or a kill interrupted goes on at the
next start, and a project that is watched is followed again.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from indexer.embedding import Embedding
from indexer.pipeline import Outcome, Report, index_paths, index_project
from indexer.removal import delete_chunks, drop_vectors
from indexer.walk import check_root, project_id
from indexer.watch import Watcher
from memory_mcp.engine import checks
from retrieval.embedding.encoder import Encoder, Failed
from retrieval.errors import MemoryServerError, ProjectNotFound
from retrieval.indexes import Indexes
from retrieval.records import Project, ProjectStatus, Scope
from retrieval.store.store import Store

__all__ = ["IndexStatus", "Indexed", "Projects"]

log = logging.getLogger(__name__)

PARSING = 0.05
"""Share of parsing in the work of an index: embedding a chunk takes twenty times as long."""
ALONE_SECONDS = 3.0
"""How long parsing has the processor to itself: most projects are searchable by then; after that vectors are
made beside it."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What came of indexing a project: files it has now, and chunks that are new."""

    project: str
    files: int
    chunks: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How far a project is. A file counts as indexed when all its chunks have their vectors."""

    project: Project
    status: ProjectStatus
    total_files: int
    indexed_files: int
    total_chunks: int
    percent: float
    eta_seconds: int | None


@dataclass(slots=True)
class _Run:
    """What happens to a project right now. ``lock`` is held by the one who works on it.

    ``parsed`` says that its folder was read to the end: until then "indexing" is not a matter of vectors.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    stop: threading.Event = field(default_factory=threading.Event)
    done: int = 0
    total: int = 0
    parsed: bool = False
    begun: float = field(default_factory=time.monotonic)
    watcher: Watcher | None = None

    def end(self) -> None:
        """Stop at the next file, and do not follow any more. Not for the one who holds ``lock``."""
        self.stop.set()
        if self.watcher is not None:
            self.watcher.stop()


class Projects:
    """The indexed projects of one space."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        encoder: Encoder,
        scope: Scope,
        now: Callable[[], datetime],
        wait: Callable[[], None],
    ) -> None:
        """``wait`` returns when the indexes can be used, or raises."""
        self._store = store
        self._indexes = indexes
        self._encoder = encoder
        self._space = scope.space
        self._now = now
        self._wait = wait
        self._lock = threading.Lock()
        self._runs: dict[str, _Run] = {}
        self._reading = threading.Lock()  # guards the next
        self._known: tuple[Project, ...] | None = None  # what the store says, unless something was written
        self._closing = threading.Event()
        self.embedding = Embedding(store, indexes, encoder, done=self._complete)
        self._resuming = threading.Thread(target=self._resume, name="resume", daemon=True)

    def start(self) -> None:
        """Go on with what was interrupted, and follow what is watched, in the background."""
        self.embedding.start()
        self._resuming.start()

    def close(self) -> None:
        """Stop every run at its next file, and the watchers."""
        self._closing.set()
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.end()
        self.embedding.close()
        if self._resuming.is_alive():
            self._resuming.join()
        for run in self._runs.values():  # again: one may have begun meanwhile
            run.end()
            with run.lock:
                pass

    # What there is

    def all(self) -> list[Project]:
        """Every project of this space, by id."""
        return [project for project in self._all() if project.space == self._space]

    def get(self, given: str) -> Project:
        """One project, or ProjectNotFound."""
        for project in self.all():
            if project.id == given:
                return project
        raise ProjectNotFound(given[:200].encode("utf-8", "replace").decode("utf-8"))

    def scope(self, project: str | None) -> Scope:
        """Where to look for code: one project that exists, or all."""
        return Scope(self._space, None if project is None else self.get(project).id)

    def status(self, given: str) -> IndexStatus:
        """How far a project is."""
        project = self.get(given)
        self._wait()
        run = self._run(project.id)
        with self._indexes.lock:
            catalog = self._indexes.code.catalog
            rows = catalog.rows_of(Scope(self._space, project.id))
            lacking = self._indexes.code.dense.lacking(rows)
            open_files = len({entry.path for entry in catalog.entries(lacking)})
            stored_files = len(catalog.paths(project.id))
        has_failed = isinstance(self._encoder.state, Failed)
        is_parsing = project.status == "indexing" and not run.parsed
        is_read = project.status in ("indexing", "completed") and not is_parsing
        total = (run.total if is_parsing else 0) or project.total_files
        parsed = total if is_read else run.done if is_parsing else min(total, stored_files)
        share = 1.0 if is_read else parsed / total if total else 0.0
        embedded = share if not len(rows) or has_failed else share * (1 - len(lacking) / len(rows))
        percent = 100.0 * (PARSING * share + (1 - PARSING) * embedded)
        # what was complete may lack vectors again: a file was read anew, or there is another model
        is_open = is_parsing or (is_read and percent < 100.0)
        if project.status == "indexing" and not is_open:
            project = self._completed(project)
        elapsed = time.monotonic() - run.begun
        return IndexStatus(
            project=project,
            status="indexing" if is_open else project.status,
            total_files=total,
            indexed_files=max(0, parsed - (0 if has_failed else open_files)),
            total_chunks=len(rows),
            percent=round(percent, 1),
            eta_seconds=round(elapsed * (100.0 - percent) / percent)
            if is_open and percent and run.total
            else None,
        )

    # How it changes

    def index(
        self,
        path: str,
        *,
        watch: bool = False,
        report: Report = lambda *_: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Indexed:
        """Index a folder, or bring its index up to date; returns when all of it is found by its words."""
        root = check_root(checks.check_text("path", path, longest=checks.MAX_CONTENT))
        self._wait()
        with self._lock:
            known = {project.id: project for project in self._all()}
            key = project_id(root, {project.id: Path(project.root) for project in self.all()})
            while key in known and known[key].space != self._space:  # another space's project stays its own
                key = f"{key}-{self._space}"
            project = Project(
                key, self._space, str(root), watch, "indexing", self._now(), None,
                known[key].total_files if key in known else 0,
            )  # fmt: skip
            run = self._runs.setdefault(key, _Run())
            run.parsed = False
            self._put(project)
        with run.lock:
            run.stop.clear()
            self._follow(project, run)
            outcome = self._bring_up(project, run, report, stopped)
        return Indexed(key, outcome.files, outcome.added)

    def delete(self, given: str) -> int:
        """Forget a project: its files, chunks, and vectors that no other project has."""
        project = self.get(given)
        self._wait()
        run = self._run(project.id)
        run.end()
        with run.lock, self.held():
            run.watcher = None
            # a kill amid the deletion must not leave what passes for complete, or is followed again
            self._put(replace(project, status="pending", watch=False, completed_at=None))
            deleted = delete_chunks(self._store, self._indexes, project.id)
            with self._reading:
                self._store.code.drop_project(project.id)
                self._known = None
            drop_vectors(self._store, self._indexes)
        return deleted

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """Nobody works on projects meanwhile, and none is known afterwards: the store is being emptied."""
        with self._lock, self.held(), ExitStack() as locks:
            for run in self._runs.values():
                run.end()
                locks.enter_context(run.lock)
            try:
                yield
            finally:
                self._runs = {}
                with self._reading:
                    self._known = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """No vectors are made meanwhile."""
        self.embedding.hold()
        try:
            yield
        finally:
            self.embedding.release()

    @contextmanager
    def working(self, project: str) -> Iterator[bool]:
        """Work on a project's files, if nobody else does: the answer says whether it may."""
        run = self._run(project)
        is_free = run.lock.acquire(blocking=False)
        try:
            yield is_free
        finally:
            if is_free:
                run.lock.release()

    def _bring_up(self, project: Project, run: _Run, report: Report, stopped: Callable[[], bool]) -> Outcome:
        run.done, run.total, run.parsed, run.begun = 0, project.total_files, False, time.monotonic()
        is_alone = True
        self.embedding.hold()

        def tell(done: int, total: int) -> None:
            nonlocal is_alone
            run.done, run.total = done, total
            if is_alone and time.monotonic() - run.begun > ALONE_SECONDS:
                is_alone = False
                self.embedding.release()
            report(done, total)

        def is_over() -> bool:
            return stopped() or run.stop.is_set() or self._closing.is_set()

        try:
            outcome = index_project(self._store, self._indexes, project, report=tell, stopped=is_over)
        except (MemoryServerError, OSError) as error:
            if not self._closing.is_set():
                self._put(replace(project, status="failed", error=str(error)))
            raise
        finally:
            if is_alone:
                self.embedding.release()
        if not self._closing.is_set():  # what a stop interrupts stays "indexing" and goes on next time
            status: ProjectStatus = "indexing" if outcome.finished else "pending"
            changed = replace(project, status=status, total_files=outcome.files, skipped=outcome.skipped)
            self._put(changed)
            run.parsed = outcome.finished
            self.embedding.wake()
        for path, problem in outcome.problems.items():
            log.warning("%s: %s was not indexed: %s", project.id, path, problem)
        return outcome

    def _follow(self, project: Project, run: _Run) -> None:
        if run.watcher is not None and not project.watch:
            run.watcher.stop()
            run.watcher = None
        elif run.watcher is None and project.watch:

            def changed(paths: frozenset[str] | None) -> None:
                self._take_in(project.id, run, paths)

            run.watcher = Watcher(check_root(project.root), changed)
            run.watcher.start()

    def _take_in(self, key: str, run: _Run, paths: frozenset[str] | None) -> None:
        """Files changed on disk."""
        with run.lock:
            if run.stop.is_set() or self._closing.is_set():
                return
            project = replace(self.get(key), status="indexing", started_at=self._now(), completed_at=None)
            if paths is None:
                self._put(project)
                self._bring_up(project, run, lambda *_: None, lambda: False)
                return
            outcome = index_paths(self._store, self._indexes, project, paths)
            if outcome.changed or outcome.removed:
                self._put(replace(project, total_files=outcome.files))
                self.embedding.wake()

    def _resume(self) -> None:
        while not self._indexes.wait(1.0):
            if self._closing.is_set() or self._indexes.failed is not None:
                return
        self.embedding.wake()
        for project in self.all():
            if self._closing.is_set():
                return
            if not _is_unfinished(project):
                continue
            run = self._run(project.id)
            try:
                with run.lock:
                    now = self.get(project.id)
                    if run.parsed or run.stop.is_set() or not _is_unfinished(now):
                        continue  # somebody was faster: brought it up, stopped or deleted it
                    again = replace(now, status="indexing", completed_at=None)
                    self._put(again)
                    self._follow(again, run)
                    self._bring_up(again, run, lambda *_: None, lambda: False)
            except (MemoryServerError, OSError) as error:
                log.warning("project %s could not be brought up to date: %s", project.id, error)

    def _complete(self) -> None:
        """No vector is missing: what was being indexed is complete."""
        for project in self.all():
            run = self._run(project.id)
            if project.status == "indexing" and run.parsed:
                self._completed(project)

    def _completed(self, project: Project) -> Project:
        changed = replace(project, status="completed", completed_at=self._now())
        with self._reading:
            if project in self._store.code.projects():  # or it was deleted, or is indexed again
                self._store.code.put_project(changed)
            self._known = None
        return changed

    def _all(self) -> tuple[Project, ...]:
        with self._reading:
            if self._known is None:
                self._known = tuple(self._store.code.projects())
            return self._known

    def _put(self, project: Project) -> None:
        with self._reading:
            self._store.code.put_project(project)
            self._known = None

    def _run(self, key: str) -> _Run:
        with self._lock:
            return self._runs.setdefault(key, _Run())


def _is_unfinished(project: Project) -> bool:
    """Whether a start has to look after it: it was interrupted, or it is followed."""
    return project.status == "indexing" or project.watch
