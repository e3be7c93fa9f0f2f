"""How does a data directory change its model, without losing anything?

The new vectors are written beside the old ones; when every memory has one, a single transaction makes
them the live ones. Stop it at any moment: the old model still serves, and the next run goes on where this
one ended.
"""

from collections.abc import Callable, Sequence

from memory_mcp.engine import about
from memory_mcp.owner.lock import FolderLock
from memory_mcp.settings import Settings
from retrieval.embedding.encoder import Encoder, open_encoder
from retrieval.embedding.registry import find_model
from retrieval.records import Memory
from retrieval.store.store import Store

__all__ = ["reembed"]

_STEP = 64
"""Memories embedded and stored at a time: what an interruption can cost."""

_LOAD_SECONDS = 3600.0
"""A model that is downloaded may take its time; the person who asked for it is watching."""


def reembed(
    settings: Settings,
    *,
    encoder: Encoder | None = None,
    report: Callable[[int, int], None] = lambda *_: None,
) -> int:
    """Embed every memory with ``settings.model`` and switch to it; returns how many were embedded now."""
    spec = encoder.spec if encoder is not None else find_model(settings.model)
    encoder = encoder or open_encoder(
        spec,
        cache_dir=settings.model_dir,
        cache_size=0,
        batch_size=settings.batch_size,
        wait_seconds=_LOAD_SECONDS,
    )
    lock = FolderLock.acquire(settings.data_dir)
    try:
        store = Store.open(settings.database_dir)
        try:
            embedded = _embed_all(store, encoder, report)
            if store.state().model != spec.name:
                about.forget(settings.data_dir)
                store.set_model(spec.name, spec.dimensions)
            about.write(settings.data_dir, spec)
            return embedded
        finally:
            store.close()
    finally:
        encoder.close()
        lock.release()


def _embed_all(store: Store, encoder: Encoder, report: Callable[[int, int], None]) -> int:
    total = store.state().counts.memories
    done = embedded = 0
    for page in store.scan("memories"):
        have = store.vectors([memory.id for memory in page], encoder.spec.name)
        missing: Sequence[Memory] = [memory for memory in page if memory.id not in have]
        done += len(page) - len(missing)
        report(done, total)
        for start in range(0, len(missing), _STEP):
            part = missing[start : start + _STEP]
            vectors = encoder.embed_passages([memory.content for memory in part])
            store.add_vectors([memory.id for memory in part], vectors, encoder.spec.name)
            done += len(part)
            embedded += len(part)
            report(done, total)
    return embedded
