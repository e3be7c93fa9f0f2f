"""Would another vector index be faster than the one that runs, and what would it miss?"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting import note
from benchmarks.samples import Samples, timed

__all__ = ["compare_indexes"]

_K = 100
"""Neighbours asked for: what recall asks for."""

_M, _EF_ADD, _EF_SEARCH = 16, 64, 128
"""The same graph parameters for both libraries."""

Search = Callable[[NDArray[np.float32]], NDArray[Any]]


def compare_indexes(vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Build time, time a query, and the share of the true neighbours, of each that is installed."""
    truth = [_exactly(vectors, query) for query in queries]
    rows = []
    for name, build in _candidates(vectors):
        begin = time.perf_counter()
        search = build()
        seconds = time.perf_counter() - begin
        search(queries[0])
        samples = Samples()
        found = [timed(samples, partial(search, query)) for query in queries]
        rows.append(
            {
                "index": name,
                "vectors": len(vectors),
                "build_s": round(seconds, 3),
                "found_of_10": _share(truth, found, 10),
                "found_of_100": _share(truth, found, _K),
                **samples.row(),
            }
        )
    return rows


def _candidates(vectors: NDArray[np.float32]) -> Iterator[tuple[str, Callable[[], Search]]]:
    yield "numpy exact", lambda: lambda query: _exactly(vectors, query)
    for name, build in (("usearch i8", _usearch), ("hnswlib f32", _hnswlib)):
        try:
            __import__(name.split()[0])
        except ImportError:
            note(f"  {name.split()[0]} is not installed: no row")
            continue
        yield name, partial(build, vectors)


def _exactly(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[Any]:
    scores = vectors @ query
    k = min(_K, len(scores))
    best = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    return best[np.argsort(-scores[best])]


def _usearch(vectors: NDArray[np.float32]) -> Search:
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=_M,
        expansion_add=_EF_ADD,
        expansion_search=_EF_SEARCH,
    )
    index.add(np.arange(len(vectors)), vectors)
    return lambda query: np.asarray(index.search(query, _K).keys)


def _hnswlib(vectors: NDArray[np.float32]) -> Search:
    import hnswlib  # type: ignore[import-untyped]

    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors), M=_M, ef_construction=_EF_ADD)
    index.add_items(vectors)
    index.set_ef(_EF_SEARCH)
    return lambda query: np.asarray(index.knn_query(query, k=_K)[0][0])


def _share(truth: list[NDArray[Any]], found: list[NDArray[Any]], k: int) -> float:
    """How many of the true first ``k`` are among all that were proposed, for they are scored again."""
    hits = [np.isin(true[:k], some).mean() for true, some in zip(truth, found, strict=True)]
    return round(float(np.mean(hits)), 4)
