"""Where does the time of a recall go?

The parts of an open engine are watched by standing between them and their callers. That costs a
microsecond or so a call, so it is done in a pass of its own and never while something else is measured.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.samples import Samples
from memory_mcp.engine.engine import Engine

__all__ = ["recall_parts"]

_BESIDE = ", beside it"
"""Ends the name of what another thread did meanwhile, which is not part of the sum."""


def recall_parts(engine: Engine, queries: list[str]) -> dict[str, Samples]:
    """The time each part took in each recall. The parts add up to the recall, but for what ran beside.

    ``reading`` fetches the records; ``the rest`` is fusion, checks, waiting for what runs beside, and glue.
    """
    rows: list[dict[str, float]] = []
    with _watched(engine) as spent:
        for query in queries:
            spent.clear()
            begin = time.perf_counter()
            engine.questions.recall(query)
            whole = time.perf_counter() - begin
            parts = dict(spent)
            inside = sum(seconds for name, seconds in parts.items() if not name.endswith(_BESIDE))
            rows.append({**parts, "the rest": whole - inside, "recall": whole})
    names = sorted(dict.fromkeys(name for row in rows for name in row), key=_place)
    return {name: Samples([row.get(name, 0.0) for row in rows]) for name in names}


def _watched_parts(engine: Engine) -> tuple[tuple[str, Any, str], ...]:
    """Name, owner and method of what is watched, in the order of a recall."""
    indexes = engine._indexes
    return (
        ("embedding", engine._encoder, "embed_query"),
        ("lexical search", indexes.lexical, "search"),
        ("graph part", indexes.graph, "choose"),
        ("dense search", indexes.dense, "search"),
        ("graph walk", indexes.graph, "walk"),
        ("dense score", indexes.dense, "score"),
        ("reading", indexes, "memories"),
    )


_ORDER = (
    *"embedding,lexical search,graph part,dense search,graph walk,dense score,reading".split(","),
    "the rest",
    "recall",
)


def _place(name: str) -> int:
    return _ORDER.index(name.removesuffix(_BESIDE))


@contextmanager
def _watched(engine: Engine) -> Iterator[dict[str, float]]:
    spent: dict[str, float] = {}
    watched = _watched_parts(engine)
    watch = _Watch(spent)
    for name, owner, method in watched:
        setattr(owner, method, watch.around(name, getattr(owner, method)))
    try:
        yield spent
    finally:
        for _, owner, method in watched:
            delattr(owner, method)


class _Watch:
    """Adds up the time of calls by name. Within a thread, a part that calls another is counted once."""

    def __init__(self, spent: dict[str, float]) -> None:
        self._spent = spent
        self._here = threading.get_ident()
        self._local = threading.local()

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **named: Any) -> Any:
            if getattr(self._local, "inside", False):
                return call(*arguments, **named)
            self._local.inside = True
            begin = time.perf_counter()
            try:
                return call(*arguments, **named)
            finally:
                key = name if threading.get_ident() == self._here else name + _BESIDE
                self._spent[key] = self._spent.get(key, 0.0) + time.perf_counter() - begin
                self._local.inside = False

        return watched
