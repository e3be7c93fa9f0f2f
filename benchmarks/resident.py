"""What does the memory of the server consist of?

Opens a data directory step by step in a process of its own and looks at that process after each step:

    python -m benchmarks.resident --data-dir DIR
"""

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

__all__ = ["resident_steps"]


def resident_steps(folder: Path) -> list[dict[str, Any]]:
    """The steps in order: what was done, RSS after it and how much of that is no file's, seconds it took."""
    command = [sys.executable, "-m", "benchmarks.resident", "--data-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    steps: list[dict[str, Any]] = json.loads(done.stdout)
    return steps


def _open_step_by_step(folder: Path) -> Iterator[str]:
    """Does what ``open_engine`` does, with a stop after every part."""
    yield "interpreter"
    import memory_mcp.server  # noqa: F401

    yield "MCP library and server"
    from memory_mcp.engine.engine import Engine
    from memory_mcp.settings import Settings
    from retrieval.catalog import Catalog
    from retrieval.channels.dense import Dense
    from retrieval.channels.graph import Graph
    from retrieval.channels.lexical import Lexical
    from retrieval.embedding.encoder import open_encoder
    from retrieval.embedding.registry import find_model
    from retrieval.indexes import Indexes
    from retrieval.store.store import Store

    settings = Settings(data_dir=folder, timeout=600.0)
    spec = find_model(settings.model)
    yield "engine's libraries"
    store = Store.open(settings.database_dir)
    yield "database"
    # Each index is opened alone to see its size, then given up; the real ones follow as one step.
    for part in ("catalog", "dense", "lexical", "graph"):
        opened: Any
        match part:
            case "catalog":
                opened = Catalog.open(settings.index_dir / "catalog.arrays")
            case "dense":
                opened = Dense.open(settings.index_dir / "dense.arrays", spec.dimensions)
            case "lexical":
                opened = Lexical.open(settings.index_dir / "lexical")
            case _:
                opened = Graph.open(settings.index_dir / "graph", lambda name, scope: _nothing())
        yield f"index: {part}"
        opened.close()
        del opened
        gc.collect()
    yield "(the four given up again)"
    indexes = Indexes.open(store, settings.index_dir, spec.name, spec.dimensions)
    yield "all indexes"
    encoder = open_encoder(spec, cache_dir=settings.model_dir)
    engine = Engine(store, indexes, encoder, settings, lambda: datetime.now(UTC))
    indexes.catch_up()
    yield "caught up"
    encoder.wait(600.0)
    yield "model"
    engine.questions.recall("what is slow at night?")
    yield "first recall"
    for number in range(200):
        engine.questions.recall(f"what happened to service {number}?")
    yield "200 recalls"
    engine._indexes.close()
    encoder.close()
    store.close()


def _nothing() -> Any:
    import numpy as np

    return np.empty(0, dtype=np.int64)


def main() -> int:
    """Print the steps as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.resident")
    parser.add_argument("--data-dir", type=Path, required=True)
    folder = parser.parse_args().data_dir
    process = psutil.Process()
    steps = []
    begin = time.perf_counter()
    for name in _open_step_by_step(folder):
        seconds = time.perf_counter() - begin
        info = process.memory_info()
        steps.append(
            {
                "step": name,
                "rss_mb": round(info.rss / 1e6, 1),
                "own_mb": round((info.rss - getattr(info, "shared", 0)) / 1e6, 1),
                "seconds": round(seconds, 3),
            }
        )
        begin = time.perf_counter()
    print(json.dumps(steps))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
