"""How do I get an engine that already remembers N things?

Data directories are grown from size to size with the real model and kept as they are; whoever measures
works on a copy. Embedding 100,000 texts takes minutes, so ``--keep`` lets the next run have them at once.
"""

import json
import shutil
import time
from pathlib import Path

from benchmarks.corpus import Corpus
from benchmarks.reporting import note
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.engine.memories import Draft
from memory_mcp.settings import Settings

__all__ = ["drafts", "open_copy", "open_ready", "prepare"]

_BATCH = 1_000
_PATIENCE = 3_600.0
"""Seconds to wait for indexes that are built again because the code changed."""

_LABEL = "corpus.json"


def prepare(home: Path, corpus: Corpus, sizes: list[int]) -> dict[int, Path]:
    """A data directory for each size under ``home``, made from the next smaller one where it is missing."""
    folders: dict[int, Path] = {}
    smaller: Path | None = None
    for size in sorted(sizes):
        folder = home / str(size)
        label = {"corpus": corpus.digest(), "seed": corpus.seed, "size": size}
        if not _is_labelled(folder, label):
            shutil.rmtree(folder, ignore_errors=True)
            if smaller is not None:
                shutil.copytree(smaller, folder)
                (folder / _LABEL).unlink()
            _fill(folder, corpus, size)
            (folder / _LABEL).write_text(json.dumps(label), encoding="utf-8")
        folders[size] = smaller = folder
    return folders


def open_copy(prepared: Path, scratch: Path) -> Engine:
    """An engine over a copy of a prepared data directory, ready to answer."""
    folder = scratch / prepared.name
    shutil.copytree(prepared, folder)
    return open_ready(folder)


def open_ready(folder: Path) -> Engine:
    """Open a data directory without a cache of vectors, and wait until everything is up to date."""
    engine = open_engine(Settings(data_dir=folder, cache_size=0, timeout=_PATIENCE))
    engine.wait(_PATIENCE)
    _await_graph_of_vectors(engine)
    return engine


def drafts(corpus: Corpus, start: int, stop: int) -> list[Draft]:
    """Memories of the corpus as they are handed to the engine."""
    return [Draft(made.content, made.memory_type) for made in corpus.memories(start, stop)]


def _fill(folder: Path, corpus: Corpus, size: int) -> None:
    begin = time.perf_counter()
    engine = open_ready(folder)
    try:
        first = engine.status().counts.memories
        for start in range(first, size, _BATCH):
            engine.memories.store_many(drafts(corpus, start, min(start + _BATCH, size)))
            done = min(start + _BATCH, size) - first
            rate = done / (time.perf_counter() - begin)
            note(f"  {first + done:,} of {size:,} memories stored, {rate:,.0f}/s")
        _await_graph_of_vectors(engine)
    finally:
        engine.close()
    # The next opening moves what was loaded in bulk to its place on disk; that is not what we measure.
    engine = open_ready(folder)
    _settle()
    engine.close()


def _settle() -> None:
    """Wait until this process has nothing to do, as far as one can see from outside the database."""
    for _ in range(60):
        before = time.process_time()
        time.sleep(1.0)
        if time.process_time() - before < 0.02:
            return


def _await_graph_of_vectors(engine: Engine) -> None:
    """Large collections get an HNSW graph in the background; wait until searches use it."""
    indexes = engine._indexes
    while (build := indexes.dense._build) is not None:
        note("  waiting for the HNSW graph")
        build.wait()
        with indexes.lock:
            indexes.dense._adopt()  # which builds on if much was written meanwhile


def _is_labelled(folder: Path, label: dict[str, object]) -> bool:
    try:
        return bool(json.loads((folder / _LABEL).read_text(encoding="utf-8")) == label)
    except (OSError, ValueError):
        return False
