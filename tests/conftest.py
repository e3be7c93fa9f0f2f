"""What most tests start from: a store, an engine, a clock."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.engine.engine import Engine, open_engine
from retrieval.store.store import Store
from tests.builders import Clock, an_encoder, some_settings

WAIT = 30.0
"""Seconds a test waits for a model or an index before it counts as stuck."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "database")
    yield opened
    opened.close()


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    """Open the engine in the test's folder, closing the one opened before; ``now=`` and settings by name."""
    engines: list[Engine] = []

    def open_again(*, wait: bool = True, **options: Any) -> Engine:
        for engine in engines:
            engine.close()
        engines.clear()
        now = options.pop("now", Clock())
        encoder = options.pop("encoder", None) or an_encoder()
        engine = open_engine(some_settings(tmp_path / "data", **options), encoder=encoder, now=now)
        engines.append(engine)
        if wait:
            engine.wait(WAIT)
            assert engine.status().rebuilding is None
        return engine

    yield open_again
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(reopen: Callable[..., Engine], clock: Clock) -> Engine:
    return reopen(now=clock)
