"""The dense channel: near vectors, exactly or through the graph, over its whole life."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.channels import dense as module
from retrieval.channels.arrays import save_arrays
from retrieval.channels.dense import Dense
from retrieval.records import Rows, Vector
from retrieval.store.changes import Change, Checkpoint, Deleted
from tests.builders import a_memory, a_relation, an_entity, everything, unit_vectors

WIDTH = 16


def written(row: int, vector: Vector | None) -> Change:
    return Change(row, a_memory(f"m{row}", row=row), vector)


def deleted(row: int, table: str = "memories") -> Change:
    return Change(row, Deleted(table, f"m{row}", row))


def fill(dense: Dense, vectors: NDArray[np.float32], start: int = 0) -> None:
    dense.apply([written(start + i, vector) for i, vector in enumerate(vectors)])


def found(dense: Dense, query: Vector, k: int = 10) -> list[int]:
    rows: list[int] = dense.search(query, k, everything).rows.tolist()
    return rows


def nearest(
    vectors: NDArray[np.float32], query: Vector, k: int, rows: Iterable[int] | None = None
) -> list[int]:
    """The plain reference."""
    scores = {row: float(vectors[row] @ query) for row in (range(len(vectors)) if rows is None else rows)}
    return sorted(scores, key=lambda row: (-scores[row], row))[:k]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dense.arrays"


@pytest.fixture
def dense(path: Path) -> Iterator[Dense]:
    opened = Dense.open(path, WIDTH)
    yield opened
    opened.close()


# Exact search


def test_an_empty_index_finds_nothing(dense: Dense) -> None:
    assert (dense.name, dense.checkpoint, len(dense)) == ("dense", None, 0)
    assert len(dense.search(unit_vectors(1, WIDTH)[0], 5, everything)) == 0


def test_best_first_with_cosines(dense: Dense) -> None:
    vectors = unit_vectors(50, WIDTH)
    fill(dense, vectors)
    query = unit_vectors(1, WIDTH, seed=1)[0]
    ranking = dense.search(query, 7, everything)
    assert ranking.rows.tolist() == nearest(vectors, query, 7)
    assert ranking.scores == pytest.approx(vectors[ranking.rows] @ query)
    assert ranking.rows.dtype == np.dtype(np.int64)
    assert ranking.scores.dtype == np.dtype(np.float64)


@pytest.mark.parametrize(("k", "expected"), [(0, 0), (-1, 0), (1, 1), (3, 3), (4, 4), (5, 4)])
def test_as_many_as_asked_for_or_there_are(dense: Dense, k: int, expected: int) -> None:
    fill(dense, unit_vectors(4, WIDTH))
    assert len(found(dense, unit_vectors(1, WIDTH)[0], k)) == expected


@pytest.mark.parametrize("k", [10, 3, 2])
def test_equal_scores_come_by_row(dense: Dense, k: int) -> None:
    axis = np.eye(WIDTH, dtype=np.float32)  # products without rounding
    dense.apply([written(row, axis[1]) for row in (9, 4, 7, 5)])
    dense.apply([written(8, axis[0])])
    assert found(dense, axis[0], k) == [8, 4, 5, 7, 9][:k]


def test_only_allowed_rows(dense: Dense) -> None:
    vectors = unit_vectors(50, WIDTH)
    fill(dense, vectors)
    query = vectors[0]
    ranking = dense.search(query, 5, lambda rows: rows % 7 == 3)
    assert ranking.rows.tolist() == nearest(vectors, query, 5, range(3, 50, 7))


def test_nothing_allowed_nothing_found(dense: Dense) -> None:
    fill(dense, unit_vectors(5, WIDTH))
    assert len(dense.search(unit_vectors(1, WIDTH)[0], 5, lambda rows: rows < 0)) == 0


def test_the_filter_is_asked_only_about_living_rows(dense: Dense) -> None:
    fill(dense, unit_vectors(5, WIDTH))
    dense.apply([deleted(2)])
    asked: list[int] = []

    def note(rows: Rows) -> NDArray[np.bool_]:
        asked.extend(rows.tolist())
        return everything(rows)

    dense.search(unit_vectors(1, WIDTH)[0], 2, note)
    assert sorted(asked) == [0, 1, 3, 4]


# Following


def test_an_update_replaces_the_vector(dense: Dense) -> None:
    vectors = unit_vectors(3, WIDTH)
    fill(dense, vectors)
    dense.apply([written(1, -vectors[1])])
    assert len(dense) == 3
    assert found(dense, vectors[1])[-1] == 1


def test_a_deleted_row_is_gone_and_its_room_used_again(dense: Dense) -> None:
    vectors = unit_vectors(3, WIDTH)
    fill(dense, vectors)
    dense.apply([deleted(1), deleted(1), deleted(99)])
    assert sorted(found(dense, vectors[1])) == [0, 2]
    dense.apply([written(3, vectors[1])])
    assert found(dense, vectors[1])[0] == 3
    assert sorted(found(dense, vectors[1])) == [0, 2, 3]


def test_a_memory_without_a_vector_is_not_here(dense: Dense) -> None:
    vectors = unit_vectors(2, WIDTH)
    fill(dense, vectors)
    dense.apply([written(0, None), written(5, None)])
    assert found(dense, vectors[0]) == [1]


def test_entities_and_relations_are_none_of_its_business(dense: Dense) -> None:
    fill(dense, unit_vectors(2, WIDTH))
    dense.apply([Change(1, an_entity(row=0)), Change(2, a_relation("r", "a", "b")), deleted(0, "entities")])
    assert len(dense) == 2


def test_more_than_a_block(dense: Dense, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 64)
    vectors = unit_vectors(500, WIDTH)
    fill(dense, vectors)
    dense.apply([deleted(row) for row in range(0, 500, 2)])
    for query in vectors[:9]:
        assert found(dense, query, 12) == nearest(vectors, query, 12, range(1, 500, 2))


# Scoring given rows


def test_scores_of_given_rows(dense: Dense) -> None:
    vectors = unit_vectors(5, WIDTH)
    fill(dense, vectors)
    scores = dense.score(vectors[0], np.array([3, 77, 0]))
    assert scores[[0, 2]] == pytest.approx([vectors[3] @ vectors[0], 1.0])
    assert np.isnan(scores[1])


def test_scores_of_no_rows(dense: Dense) -> None:
    assert len(dense.score(unit_vectors(1, WIDTH)[0], np.empty(0, np.int64))) == 0


# On disk


def test_everything_survives_a_reopening(dense: Dense, path: Path) -> None:
    vectors = unit_vectors(20, WIDTH)
    fill(dense, vectors)
    dense.apply([deleted(4)])
    dense.save(Checkpoint("db", 21))
    again = Dense.open(path, WIDTH)
    assert (again.checkpoint, len(again)) == (Checkpoint("db", 21), 19)
    assert found(again, vectors[4]) == nearest(vectors, vectors[4], 10, set(range(20)) - {4})


def test_a_reopened_index_takes_in_more(dense: Dense, path: Path) -> None:
    vectors = unit_vectors(20, WIDTH)
    fill(dense, vectors[:10])
    dense.save(Checkpoint("db", 10))
    again = Dense.open(path, WIDTH)
    fill(again, vectors[10:], start=10)
    again.apply([deleted(3)])
    assert found(again, vectors[3]) == nearest(vectors, vectors[3], 10, set(range(20)) - {3})


def test_an_empty_index_survives_a_reopening(dense: Dense, path: Path) -> None:
    dense.save(Checkpoint("db", 3))
    again = Dense.open(path, WIDTH)
    assert (again.checkpoint, len(again)) == (Checkpoint("db", 3), 0)
    fill(again, unit_vectors(2, WIDTH))
    assert len(again) == 2


def test_what_was_not_saved_is_not_there(dense: Dense, path: Path) -> None:
    fill(dense, unit_vectors(2, WIDTH))
    dense.save(Checkpoint("db", 2))
    dense.apply([deleted(0)])
    assert len(Dense.open(path, WIDTH)) == 2


def test_vectors_of_another_width_start_empty(dense: Dense, path: Path) -> None:
    fill(dense, unit_vectors(2, WIDTH))
    dense.save(Checkpoint("db", 2))
    again = Dense.open(path, WIDTH * 2)
    assert (again.checkpoint, len(again)) == (None, 0)


@pytest.mark.parametrize("how", ["truncated", "flipped", "foreign", "one column", "other types"])
def test_a_damaged_file_starts_empty(dense: Dense, path: Path, how: str) -> None:
    fill(dense, unit_vectors(9, WIDTH))
    dense.save(Checkpoint("db", 9))
    data = bytearray(path.read_bytes())
    match how:
        case "truncated":
            path.write_bytes(data[:-3])
        case "flipped":
            data[-3] ^= 16
            path.write_bytes(data)
        case "foreign":
            save_arrays(path, Checkpoint("db", 9), {"names": np.zeros(2)})
        case "one column":
            save_arrays(path, Checkpoint("db", 9), {"rows": np.arange(9), "vectors": np.zeros(9, np.float32)})
        case "other types":
            save_arrays(path, Checkpoint("db", 9), {"rows": np.arange(9), "vectors": np.zeros((9, WIDTH))})
    again = Dense.open(path, WIDTH)
    assert (again.checkpoint, len(again)) == (None, 0)


def test_clearing_forgets_in_memory_and_on_disk(dense: Dense, path: Path) -> None:
    fill(dense, unit_vectors(2, WIDTH))
    dense.save(Checkpoint("db", 2))
    dense.clear()
    assert (dense.checkpoint, len(dense)) == (None, 0)
    assert Dense.open(path, WIDTH).checkpoint is None
    fill(dense, unit_vectors(3, WIDTH))
    assert len(dense) == 3


# Beyond the limit: the graph

LIMIT = 300


@pytest.fixture
def vectors() -> NDArray[np.float32]:
    return unit_vectors(600, WIDTH)


@pytest.fixture
def large(path: Path) -> Iterator[Dense]:
    opened = Dense.open(path, WIDTH, exact_limit=LIMIT)
    yield opened
    opened.close()


def settle(dense: Dense) -> None:
    """Wait until the graph is in use."""
    while dense._build is not None:
        dense._build.wait()
        dense._adopt()
    assert dense._hnsw is not None


def in_graph(dense: Dense) -> set[int]:
    assert dense._hnsw is not None
    return {row for row in range(1_000) if row in dense._hnsw}


def recall_of(dense: Dense, vectors: NDArray[np.float32], rows: Iterable[int]) -> float:
    living = list(rows)
    hits = sum(
        len(set(found(dense, query)) & set(nearest(vectors, query, 10, living)))
        for query in unit_vectors(30, WIDTH, seed=9)
    )
    return hits / 300


def test_up_to_the_limit_search_is_exact(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors[:LIMIT])
    assert (large._build, large._hnsw) == (None, None)


def test_above_the_limit_a_graph_takes_over(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    assert in_graph(large) == set(range(600))
    assert recall_of(large, vectors, range(600)) > 0.95


def test_scores_are_exact_also_through_the_graph(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    query = unit_vectors(1, WIDTH, seed=4)[0]
    ranking = large.search(query, 10, everything)
    assert ranking.scores == pytest.approx(vectors[ranking.rows] @ query)
    assert np.all(np.diff(ranking.scores) <= 0)


def test_exact_search_serves_while_the_graph_is_built(
    large: Dense, vectors: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module._Build, "result", lambda self: None)
    fill(large, vectors)
    query = unit_vectors(1, WIDTH, seed=4)[0]
    assert found(large, query) == nearest(vectors, query, 10)
    assert large._hnsw is None


@pytest.mark.parametrize("step", [1_024, 7], ids=["at once", "in rounds"])
def test_what_changes_during_the_construction_is_right_afterwards(
    large: Dense, vectors: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr(module, "_BUILD_STEP", step)
    fill(large, vectors[: LIMIT + 1])
    build = large._build
    assert build is not None
    # not yet adopted, so all of this counts as during the construction
    large.apply([deleted(row) for row in range(100)])
    large.apply([written(row, -vectors[row]) for row in range(100, 120)])
    fill(large, vectors[LIMIT + 1 :], start=LIMIT + 1)
    large.apply([deleted(550), written(20, vectors[20])])
    settle(large)
    living = {20, *range(100, 600)} - {550}
    assert in_graph(large) == living
    current = vectors.copy()
    current[100:120] *= -1
    assert recall_of(large, current, living) > 0.95
    for row in (20, 110, 599):
        assert found(large, current[row], 1) == [row]


def test_updates_and_deletions_reach_the_finished_graph(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    large.apply([deleted(0), written(1, vectors[0]), written(700, vectors[2])])
    assert in_graph(large) == {*range(1, 600), 700}
    assert found(large, vectors[0], 1) == [1]
    assert set(found(large, vectors[2], 2)) == {2, 700}


def test_a_narrow_filter_is_still_answered_in_full(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    query = unit_vectors(1, WIDTH, seed=4)[0]
    ranking = large.search(query, 5, lambda rows: rows % 100 == 7)
    assert ranking.rows.tolist() == nearest(vectors, query, 5, range(7, 600, 100))


def test_more_than_there_are(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    assert sorted(found(large, vectors[0], 1_000)) == list(range(600))


def test_deleting_everything_leaves_an_index_that_works(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    large.apply([deleted(row) for row in range(600)])
    assert found(large, vectors[0]) == []
    large.apply([written(601, vectors[1])])
    assert found(large, vectors[0]) == [601]


def graph_files(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.glob("*.hnsw"))


def test_the_graph_survives_a_reopening(large: Dense, path: Path, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    large.save(Checkpoint("db", 600))
    assert graph_files(path) == ["dense.600.hnsw"]
    again = Dense.open(path, WIDTH, exact_limit=LIMIT)
    assert again._hnsw is not None
    assert again._build is None
    assert in_graph(again) == set(range(600))
    again.apply([deleted(0), written(600, vectors[0])])
    assert found(again, vectors[0], 1) == [600]


def test_it_says_that_a_graph_was_finished_since_the_last_save(
    large: Dense, path: Path, vectors: NDArray[np.float32]
) -> None:
    fill(large, vectors)
    settle(large)
    assert large.has_unsaved_graph
    large.save(Checkpoint("db", 1))
    assert not large.has_unsaved_graph
    assert not Dense.open(path, WIDTH, exact_limit=LIMIT).has_unsaved_graph


def test_saving_again_leaves_only_the_newest_graph(
    large: Dense, path: Path, vectors: NDArray[np.float32]
) -> None:
    fill(large, vectors)
    settle(large)
    large.save(Checkpoint("db", 600))
    large.apply([deleted(0)])
    large.save(Checkpoint("db", 601))
    assert graph_files(path) == ["dense.601.hnsw"]
    assert Dense.open(path, WIDTH, exact_limit=LIMIT)._hnsw is not None


def test_a_graph_under_construction_is_not_saved_but_the_vectors_are(
    large: Dense, path: Path, vectors: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module._Build, "result", lambda self: None)
    fill(large, vectors)
    large.save(Checkpoint("db", 600))
    assert graph_files(path) == []
    assert len(Dense.open(path, WIDTH)) == 600


@pytest.mark.parametrize("how", ["missing", "truncated", "flipped", "empty", "foreign"])
def test_a_damaged_graph_is_built_again(
    large: Dense, path: Path, vectors: NDArray[np.float32], how: str
) -> None:
    fill(large, vectors)
    settle(large)
    large.save(Checkpoint("db", 600))
    graph = path.with_name("dense.600.hnsw")
    data = bytearray(graph.read_bytes())
    match how:
        case "missing":
            graph.unlink()
        case "truncated":
            graph.write_bytes(data[: len(data) // 2])
        case "flipped":
            data[len(data) // 2] ^= 1
            graph.write_bytes(data)
        case "empty":
            graph.write_bytes(b"")
        case "foreign":
            graph.write_bytes(b"\0" * len(data))
    again = Dense.open(path, WIDTH, exact_limit=LIMIT)
    query = unit_vectors(1, WIDTH, seed=4)[0]
    assert again.checkpoint == Checkpoint("db", 600)
    assert found(again, vectors[5], 1) == [5]
    settle(again)
    assert in_graph(again) == set(range(600))
    assert len(found(again, query)) == 10
    again.close()


def test_a_graph_that_was_never_finished_is_built_after_reopening(
    dense: Dense, path: Path, vectors: NDArray[np.float32]
) -> None:
    fill(dense, vectors)  # no graph: the limit is the ordinary one
    dense.save(Checkpoint("db", 600))
    again = Dense.open(path, WIDTH, exact_limit=LIMIT)
    settle(again)
    assert in_graph(again) == set(range(600))


def test_closing_stops_the_construction(
    large: Dense, vectors: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BUILD_STEP", 1)
    fill(large, vectors)
    build = large._build
    assert build is not None
    large.close()
    assert not build._thread.is_alive()


def test_clearing_a_large_index_starts_over(large: Dense, vectors: NDArray[np.float32]) -> None:
    fill(large, vectors)
    settle(large)
    large.clear()
    assert found(large, vectors[0]) == []
    fill(large, vectors)
    settle(large)
    assert found(large, vectors[0], 1) == [0]
