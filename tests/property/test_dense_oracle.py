"""The dense channel against exact numpy: any history of writes, any filter, any limit."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval.channels import dense as module
from retrieval.channels.dense import Dense
from retrieval.records import Vector
from retrieval.store.changes import Change, Checkpoint, Deleted
from tests.builders import a_memory, unit_vectors

WIDTH = 12
ROWS = 40
POOL = unit_vectors(64, WIDTH, seed=2)

histories = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, ROWS - 1), st.integers(0, len(POOL) - 1)),
        st.tuples(st.just("drop"), st.integers(0, ROWS - 1), st.just(0)),
        st.tuples(st.just("reopen"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


class Reference:
    """Vectors in a dictionary; every search looks at all of them."""

    def __init__(self) -> None:
        self.vectors: dict[int, Vector] = {}

    def scores(self, query: Vector, allowed: set[int]) -> dict[int, float]:
        return {row: float(vector @ query) for row, vector in self.vectors.items() if row in allowed}


def check(
    dense: Dense, reference: Reference, query: Vector, k: int, allowed: set[int], *, exact: bool
) -> None:
    """The same rows with the same cosines, but for the order of those that differ by rounding."""
    mask = np.zeros(ROWS, dtype=np.bool_)
    mask[list(allowed)] = True
    found = dense.search(query, k, lambda rows: mask[rows])
    scores = reference.scores(query, allowed)
    best = sorted(scores.values(), reverse=True)[:k]
    assert len(found) == len(best) == len(set(found.rows.tolist()))
    assert found.scores == pytest.approx([scores[row] for row in found.rows.tolist()], abs=1e-5)
    assert np.all(np.diff(found.scores) <= 0)
    if exact:
        assert found.scores == pytest.approx(best, abs=1e-5)
    everywhere = dense.score(query, np.arange(ROWS))
    for row in range(ROWS):
        if row in reference.vectors:
            assert everywhere[row] == pytest.approx(float(reference.vectors[row] @ query), abs=1e-5)
        else:
            assert np.isnan(everywhere[row])


def follow(dense: Dense, reference: Reference, kind: str, row: int, choice: int) -> None:
    if kind == "put":
        dense.apply([Change(1, a_memory(str(row), row=row), POOL[choice])])
        reference.vectors[row] = POOL[choice]
    else:
        dense.apply([Change(1, Deleted("memories", str(row), row))])
        reference.vectors.pop(row, None)


@given(
    history=histories,
    query=st.integers(0, len(POOL) - 1),
    k=st.integers(1, ROWS + 5),
    allowed=st.sets(st.integers(0, ROWS - 1)),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_exact_search_is_exact(
    history: list[tuple[str, int, int]], query: int, k: int, allowed: set[int]
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", 8)
        path = Path(folder) / "dense.arrays"
        dense, reference = Dense.open(path, WIDTH), Reference()
        for seq, (kind, row, choice) in enumerate(history):
            if kind == "reopen":
                dense.save(Checkpoint("db", seq))
                dense = Dense.open(path, WIDTH)
            else:
                follow(dense, reference, kind, row, choice)
        check(dense, reference, POOL[query], k, allowed, exact=True)
        check(dense, reference, POOL[query], k, set(range(ROWS)), exact=True)


@given(
    history=histories,
    query=st.integers(0, len(POOL) - 1),
    k=st.integers(1, ROWS),
    allowed=st.sets(st.integers(0, ROWS - 1)),
)
@settings(max_examples=75, deadline=None, derandomize=True)
def test_the_graph_follows_any_history(
    history: list[tuple[str, int, int]], query: int, k: int, allowed: set[int]
) -> None:
    """So few vectors that the graph finds all of them; what it must not do is lose or keep one."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", 8)
        patch.setattr(module, "_BUILD_STEP", 2)
        path = Path(folder) / "dense.arrays"
        dense, reference = Dense.open(path, WIDTH, exact_limit=3), Reference()
        for seq, (kind, row, choice) in enumerate(history):
            if kind == "reopen":
                settle(dense)
                dense.save(Checkpoint("db", seq))
                dense = Dense.open(path, WIDTH, exact_limit=3)
            else:
                follow(dense, reference, kind, row, choice)
        check(dense, reference, POOL[query], k, allowed, exact=False)
        settle(dense)
        if dense._hnsw is not None:
            assert {row for row in range(ROWS) if row in dense._hnsw} == reference.vectors.keys()
            check(dense, reference, POOL[query], k, allowed, exact=False)
            check(dense, reference, POOL[query], ROWS, set(range(ROWS)), exact=True)


def settle(dense: Dense) -> None:
    while dense._build is not None:
        dense._build.wait()
        dense._adopt()


@pytest.mark.parametrize("share", [1.0, 0.5, 0.02], ids=["all", "half", "few"])
def test_thousands_of_vectors_through_the_graph(tmp_path: Path, share: float) -> None:
    vectors = unit_vectors(5_000, 48, seed=1)
    dense = Dense.open(tmp_path / "dense.arrays", 48, exact_limit=1_000)
    dense.apply([Change(1, a_memory(str(row), row=row), vector) for row, vector in enumerate(vectors)])
    settle(dense)
    mask = np.random.default_rng(3).random(len(vectors)) < share
    assert recall_at_ten(dense, vectors, mask) > 0.9
    dense.close()


def recall_at_ten(dense: Dense, vectors: NDArray[np.float32], mask: NDArray[np.bool_]) -> float:
    queries = unit_vectors(50, vectors.shape[1], seed=4)
    hits = 0
    for query in queries:
        scores = np.where(mask, vectors @ query, -np.inf)
        truth = set(np.argsort(-scores)[:10].tolist())
        hits += len(truth & set(dense.search(query, 10, lambda rows: mask[rows]).rows.tolist()))
    return hits / (10 * len(queries))
