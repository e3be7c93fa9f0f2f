"""Here is a text; what is its vector, and may I ask yet?

The model loads in the background, so that a server can answer before it is there. Whoever needs a vector
meanwhile waits a bounded time, then learns that the model is still loading or why it failed.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.cache import CacheStats, VectorCache
from retrieval.embedding.fetched import load_fetched
from retrieval.embedding.onnx import load_bundled
from retrieval.embedding.registry import Bundled, ModelSpec
from retrieval.errors import EncoderFailed, EncoderNotReady
from retrieval.records import Vector

__all__ = ["Encoder", "EncoderState", "Failed", "Loading", "Model", "Ready", "open_encoder"]

BULK = 64
"""Passages in one call from which on their vectors are not cached: indexing a project would push out every
query, and its chunks do not come back soon."""

CLOSE_SECONDS = 5.0
"""How long ``close`` waits for a load under way: the bundled model takes 0.2 s, a download minutes."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loading:
    """Nobody knows yet; also before the load was started."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The model answers; loading took this long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """The model will not answer in this process; ``reason`` is for people, without a full stop."""

    reason: str


EncoderState = Loading | Ready | Failed


class Model(Protocol):
    """Anything that turns texts into rows of unit length, from several threads at once."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class Encoder:
    """A model that is loading, ready or failed, with prefixes and a cache in front of it."""

    def __init__(
        self,
        spec: ModelSpec,
        load: Callable[[], Model],
        *,
        cache_size: int = 1000,
        wait_seconds: float = 10.0,
    ) -> None:
        self.spec = spec
        self._load = load
        self._wait_seconds = wait_seconds
        self._cache = VectorCache(cache_size)
        self._loader: Thread | None = None
        self._lock = Lock()  # guards the four below
        self._started = False
        self._closed = False
        self._state: EncoderState = Loading()
        self._model: Model | None = None
        self._settled = Event()  # set once the state is not Loading any more

    @property
    def dimensions(self) -> int:
        """Width of the vectors, known before the model is loaded."""
        return self.spec.dimensions

    @property
    def state(self) -> EncoderState:
        return self._state

    @property
    def cache_stats(self) -> CacheStats:
        return self._cache.stats

    def start(self) -> None:
        """Begin to load, in the background. Calling it again does nothing."""
        with self._lock:
            if self._started or self._closed:
                return
            self._started = True
            self._loader = Thread(target=self._load_model, name=f"load-{self.spec.name}", daemon=True)
            self._loader.start()

    def wait(self, timeout: float) -> EncoderState:
        """Wait until the model is ready or failed, but no longer than this; starts the load if nobody did."""
        self.start()
        self._settled.wait(timeout)
        return self._state

    def embed_query(self, text: str) -> Vector:
        """Return the vector to search with."""
        cached = self._cache.get("query", text)
        if cached is not None:
            return cached
        vector: Vector = self._ready_model().embed([self.spec.query_prefix + text])[0]
        self._cache.put("query", text, vector)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors to be found by, one row a text, in the order of the texts."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        rows_of: dict[str, list[int]] = {}  # a text that occurs twice is embedded once
        for row, text in enumerate(texts):
            rows_of.setdefault(text, []).append(row)
        missing: list[str] = []
        for text, rows in rows_of.items():
            cached = self._cache.get("passage", text)
            if cached is None:
                missing.append(text)
            else:
                vectors[rows] = cached
        if not missing:
            return vectors
        fresh = self._ready_model().embed([self.spec.passage_prefix + text for text in missing])
        for text, vector in zip(missing, fresh, strict=True):
            vectors[rows_of[text]] = vector
            if len(texts) < BULK:
                self._cache.put("passage", text, vector)
        return vectors

    def close(self) -> None:
        """Let go of the model. A load under way is waited for, a while: its result is dropped, but an
        interpreter that ends while the runtime is being loaded is aborted by it.
        """
        with self._lock:
            self._closed = True
            self._model = None
            self._state = Failed("the encoder was closed")
        self._settled.set()
        self._cache.clear()
        if self._loader is not None:
            self._loader.join(CLOSE_SECONDS)

    def _ready_model(self) -> Model:
        model = self._model
        if model is not None:
            return model
        match self.wait(self._wait_seconds):
            case Loading():
                raise EncoderNotReady
            case Failed(reason):
                raise EncoderFailed(reason)
            case Ready():
                model = self._model
                if model is None:  # closed between the two reads
                    raise EncoderFailed("the encoder was closed")
                return model

    def _load_model(self) -> None:
        begin = time.perf_counter()
        try:
            model = self._load()
            _check(model, self.spec)
        except EncoderFailed as error:
            logger.error("Embedding model %s failed to load: %s", self.spec.name, error.reason)
            self._settle(None, Failed(error.reason))
        except Exception as error:  # whatever it was, callers must get an answer instead of a wait
            logger.exception("Embedding model %s failed to load", self.spec.name)
            self._settle(None, Failed(f"{type(error).__name__}: {error}"))
        else:
            seconds = time.perf_counter() - begin
            logger.info("Embedding model %s ready after %.2f s", self.spec.name, seconds)
            self._settle(model, Ready(seconds))

    def _settle(self, model: Model | None, state: EncoderState) -> None:
        with self._lock:
            if not self._closed:
                self._model, self._state = model, state
        self._settled.set()


def _check(model: Model, spec: ModelSpec) -> None:
    """Embed once: the first query is then not the slow one, and a wrong model is found out now."""
    probe = model.embed([f"{spec.query_prefix}ready?"])
    if probe.shape != (1, spec.dimensions):
        raise EncoderFailed(
            f"{spec.name} should give {spec.dimensions} dimensions and gives {probe.shape[-1]}"
        )
    length = float(np.linalg.norm(probe[0]))
    if not abs(length - 1.0) < 1e-3:  # written so that NaN fails, too
        raise EncoderFailed(f"{spec.name} gives vectors of length {length:g} instead of 1")


def open_encoder(
    spec: ModelSpec,
    *,
    cache_dir: Path,
    cache_size: int = 1000,
    batch_size: int = 8,
    wait_seconds: float = 10.0,
) -> Encoder:
    """Make the encoder of a model, not yet loading.

    ``cache_dir`` is where fetched models are kept and ``batch_size`` how many texts they take at once;
    a bundled model needs neither.
    """
    load: Callable[[], Model]
    if isinstance(spec.source, Bundled):
        load = partial(load_bundled, spec)
    else:
        load = partial(load_fetched, spec, cache_dir=cache_dir, batch_size=batch_size)
    return Encoder(spec, load, cache_size=cache_size, wait_seconds=wait_seconds)
