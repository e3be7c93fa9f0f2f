"""Which chunks have no vector yet, and who makes one?

One thread behind all projects. There is no queue that could be lost: what lacks a vector is what the indexes
say lacks one, after a restart as before. A digest that was ever embedded is taken from the store; the rest
goes to the model, texts of similar length together.
"""

import logging
import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from retrieval.code.document import embedded_text
from retrieval.embedding.encoder import Encoder, Loading
from retrieval.errors import EncoderFailed, EncoderNotReady, MemoryServerError
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk, Rows, Scope, Vector
from retrieval.store.changes import Change
from retrieval.store.store import Store

__all__ = ["Embedding"]

log = logging.getLogger(__name__)

STRETCH = 1_024
"""Chunks taken up at a time, and sorted by length."""
BATCH = 64
"""Vectors made and stored at a time: what a kill can cost, and one transaction."""
PATIENCE = 1.0
"""Seconds between two looks at a model or an index that is not there yet."""
LONGEST_PAUSE = 300.0
"""Seconds between two tries when the store refuses; doubled from ``PATIENCE`` on."""


class Embedding:
    """Makes the missing vectors of all chunks, in the background."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        encoder: Encoder,
        *,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        """``done`` is called whenever no vector is missing any more."""
        self._store = store
        self._indexes = indexes
        self._encoder = encoder
        self._done = done
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._idle = threading.Event()
        self._held = 0
        self._pause = PATIENCE
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There may be new chunks."""
        with self._lock:
            self._idle.clear()
            self._wanted.set()

    def hold(self) -> None:
        """Leave the processor to someone who is in a hurry, until ``release``."""
        with self._lock:
            self._held += 1

    def release(self) -> None:
        with self._lock:
            self._held -= 1
        self.wake()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is missing; False if something still is."""
        return self._idle.wait(seconds)

    def close(self) -> None:
        """Stop after the batch under way."""
        self._stopping.set()
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    def missing(self, scope: Scope | None = None) -> Rows:
        """The rows of a project, or of all, that have no vector."""
        with self._indexes.lock:
            catalog = self._indexes.code.catalog
            rows = catalog.living() if scope is None else catalog.rows_of(scope)
            return self._indexes.code.dense.lacking(rows)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wanted.wait()
            self._wanted.clear()
            try:
                if self._work():
                    self._finish()
            except Exception as error:  # whatever it was, a thread that ends would leave all without vectors
                if not self._stopping.is_set():
                    is_ours = isinstance(error, MemoryServerError)
                    log.warning("vectors have to wait: %s", error, exc_info=None if is_ours else error)
                if not self._stopping.wait(self._pause):
                    self._pause = min(2 * self._pause, LONGEST_PAUSE)
                    self._wanted.set()
            else:
                self._pause = PATIENCE

    def _finish(self) -> None:
        """Nothing is missing that could be made."""
        self._done()
        with self._lock:
            if not self._wanted.is_set():  # there may be new chunks meanwhile
                self._idle.set()

    def _work(self) -> bool:
        """Make what is missing, if there is a model; False if there was a reason to stop before the end."""
        try:
            return self._make_missing()
        except EncoderFailed as error:
            log.warning("code stays without vectors: %s", error.reason)
            return True

    def _make_missing(self) -> bool:
        while True:
            if self._stopping.is_set() or self._held or not self._indexes.wait(0):
                if not self._held and not self._stopping.wait(PATIENCE):
                    self._wanted.set()
                return False
            rows = self.missing()[:STRETCH]
            if not len(rows):
                return True
            self._embed([chunk for chunk in self._indexes.chunks(rows) if chunk is not None])

    def _embed(self, chunks: list[CodeChunk]) -> None:
        model = self._encoder.spec.name
        known = self._store.code.vectors((chunk.digest for chunk in chunks), model)
        if known:
            self._keep([chunk for chunk in chunks if chunk.digest in known], known, is_new=False)
        texts = {
            chunk.digest: embedded_text(chunk.breadcrumb, chunk.name, chunk.content)
            for chunk in chunks
            if chunk.digest not in known
        }
        digests = sorted(texts, key=lambda digest: len(texts[digest]))
        for start in range(0, len(digests), BATCH):
            if self._stopping.is_set() or self._held:
                return
            part = digests[start : start + BATCH]
            vectors = self._vectors([texts[digest] for digest in part])
            made = dict(zip(part, vectors, strict=True))
            self._keep([chunk for chunk in chunks if chunk.digest in made], made, is_new=True)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        while isinstance(self._encoder.wait(PATIENCE), Loading):  # not as long as a question would wait
            if self._stopping.is_set():
                raise EncoderNotReady
        return self._encoder.embed_passages(texts)

    def _keep(self, chunks: list[CodeChunk], vectors: dict[str, Vector], *, is_new: bool) -> None:
        def write() -> list[Change]:
            rows = np.array([chunk.row for chunk in chunks], dtype=np.int64)
            with self._indexes.current():  # a catalog that is being built knows not all chunks
                ids = self._indexes.code.catalog.ids(rows)
            living = [
                (chunk.id, chunk.row, chunk.digest)
                for chunk, key in zip(chunks, ids, strict=True)
                if key == chunk.id  # it may have gone while its vector was made
            ]
            if not living:
                return []
            new = {digest for _, _, digest in living} if is_new else ()
            return self._store.code.add_vectors(vectors, living, self._encoder.spec.name, new)

        self._indexes.commit(write)
