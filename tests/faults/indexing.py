"""The process that gets killed while it indexes a project, and says what it writes before and after.

    python -m tests.faults.indexing DATA_DIR FOLDER TASK SAVE_AFTER

TASK is ``index``, ``delete`` or ``resume`` (nothing but what goes on by itself). Every line is a JSON object:
``{"event": ...}`` tells where in its life the process is, ``{"begin": ...}`` and ``{"done": ...}`` frame a
write of that kind, ``{"embedded": [...]}`` are the digests of texts that the model has read.
"""

import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import indexer.embedding
import indexer.pipeline
import indexer.removal
import memory_mcp.engine.projects
import retrieval.code.indexes
import retrieval.indexes
from memory_mcp.engine.engine import Engine, open_engine
from retrieval.code.document import digest_of
from retrieval.embedding.encoder import Encoder
from retrieval.store.code import CodeStore
from tests.builders import SPEC, some_settings
from tests.fakes import HashModel
from tests.faults.writer import SmallDense, say

__all__ = ["Reader", "an_encoder_that", "in_small_steps", "settle"]

WRITES = ("put_project", "write_files", "add_vectors", "restamp", "drop_project", "keep_vectors")


class Reader(HashModel):
    """A model that tells what it reads."""

    def __init__(self, tell: Any) -> None:
        super().__init__(SPEC.dimensions)
        self._tell = tell

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._tell([digest_of(text) for text in texts])
        return super().embed(texts)


def an_encoder_that(tell: Any) -> Encoder:
    """An encoder that tells the digests of what it embeds, and forgets them: every text is read anew."""
    return Encoder(SPEC, lambda: Reader(tell), cache_size=1)


def in_small_steps() -> None:
    """Make a small project take many transactions."""
    indexer.pipeline.BATCH_CHUNKS = 8
    indexer.embedding.BATCH = 8
    indexer.embedding.STRETCH = 32
    indexer.removal.AT_ONCE = 4
    memory_mcp.engine.projects.ALONE_SECONDS = 0.02  # vectors are made beside the parsing, too
    for module in (retrieval.indexes, retrieval.code.indexes):
        setattr(module, "Dense", SmallDense)  # noqa: B010  (a name they import)


def settle(engine: Engine) -> None:
    """Wait until what goes on by itself has ended."""
    engine.wait(60)
    engine.projects._resuming.join(60)
    assert engine.projects.embedding.wait(60)


def announce_writes() -> None:
    """Say when something is about to be written, and when it is."""
    for name in WRITES:
        write = getattr(CodeStore, name)

        def announced(*args: Any, _write: Any = write, _name: str = name, **given: Any) -> Any:
            say(begin=_name)
            result = _write(*args, **given)
            say(done=_name)
            return result

        setattr(CodeStore, name, functools.wraps(write)(announced))


def main(data_dir: str, folder: str, task: str, save_after: str) -> None:
    retrieval.indexes._SAVE_AFTER = int(save_after)
    in_small_steps()
    announce_writes()
    say(event="opening")
    encoder = an_encoder_that(lambda digests: say(embedded=digests))
    engine = open_engine(some_settings(Path(data_dir)), encoder=encoder)
    say(event="opened")
    if task == "index":
        engine.wait(60)
        engine.projects.index(folder)
    if task == "delete":
        settle(engine)
        say(event="deleting")
        for project in engine.projects.all():
            engine.projects.delete(project.id)
    settle(engine)
    say(event="closing")
    engine.close()
    say(event="closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
