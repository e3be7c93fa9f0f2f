"""The approximate index: a thin layer over usearch."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from retrieval.channels.hnsw import Hnsw
from tests.builders import unit_vectors

WIDTH = 32


@pytest.fixture
def hnsw() -> Hnsw:
    index = Hnsw(WIDTH)
    index.add(np.arange(200), unit_vectors(200, WIDTH))
    return index


def test_a_new_index_is_empty() -> None:
    index = Hnsw(WIDTH)
    assert len(index) == 0
    assert 0 not in index
    assert index.search(unit_vectors(1, WIDTH)[0], 5).tolist() == []


def test_a_vector_finds_itself(hnsw: Hnsw) -> None:
    for row in (0, 99, 199):
        assert hnsw.search(unit_vectors(200, WIDTH)[row], 1).tolist() == [row]


def test_rows_are_signed_numbers(hnsw: Hnsw) -> None:
    assert hnsw.search(unit_vectors(1, WIDTH)[0], 3).dtype == np.int64


@pytest.mark.parametrize("seed", range(20))
def test_every_vector_can_be_reached(seed: int) -> None:
    vectors = unit_vectors(300, WIDTH, seed=seed)
    index = Hnsw(WIDTH)
    index.add(np.arange(300), vectors)
    assert [row for row, vector in enumerate(vectors) if row not in index.search(vector, 10)] == []


def test_never_more_than_there_are(hnsw: Hnsw) -> None:
    assert sorted(hnsw.search(unit_vectors(1, WIDTH)[0], 500).tolist()) == list(range(200))


def test_one_more_at_a_time(hnsw: Hnsw) -> None:
    vector = unit_vectors(1, WIDTH, seed=5)[0]
    hnsw.add(2**40, vector)
    assert 2**40 in hnsw
    assert hnsw.search(vector, 1).tolist() == [2**40]


def test_a_removed_row_is_not_proposed(hnsw: Hnsw) -> None:
    vector = unit_vectors(200, WIDTH)[7]
    hnsw.remove(7)
    assert 7 not in hnsw
    assert len(hnsw) == 199
    assert 7 not in hnsw.search(vector, 200)


def test_a_removed_row_may_come_back_elsewhere(hnsw: Hnsw) -> None:
    vectors = unit_vectors(200, WIDTH)
    hnsw.remove(7)
    hnsw.add(7, -vectors[7])
    assert hnsw.search(-vectors[7], 1).tolist() == [7]


def test_it_reads_as_written(hnsw: Hnsw, tmp_path: Path) -> None:
    path = tmp_path / "graph.hnsw"
    checksum = hnsw.save(path)
    again = Hnsw.load(path, WIDTH, checksum)
    assert again is not None
    assert len(again) == 200
    query = unit_vectors(1, WIDTH, seed=3)[0]
    assert sorted(again.search(query, 10).tolist()) == sorted(hnsw.search(query, 10).tolist())


def test_a_loaded_index_can_be_changed(hnsw: Hnsw, tmp_path: Path) -> None:
    path = tmp_path / "graph.hnsw"
    again = Hnsw.load(path, WIDTH, hnsw.save(path))
    assert again is not None
    again.remove(0)
    again.add(300, unit_vectors(1, WIDTH)[0])
    assert again.search(unit_vectors(1, WIDTH)[0], 1).tolist() == [300]


@pytest.mark.parametrize("how", ["missing", "truncated", "flipped", "wrong checksum"])
def test_what_cannot_be_trusted_is_not_loaded(hnsw: Hnsw, tmp_path: Path, how: str) -> None:
    path = tmp_path / "graph.hnsw"
    checksum = hnsw.save(path)
    data = bytearray(path.read_bytes())
    match how:
        case "missing":
            path.unlink()
        case "truncated":
            path.write_bytes(data[:-1])
        case "flipped":
            data[100] ^= 1
            path.write_bytes(data)
        case "wrong checksum":
            checksum += 1
    assert Hnsw.load(path, WIDTH, checksum) is None


def test_the_model_runtime_can_be_loaded_after_a_graph_was_opened() -> None:
    code = "from retrieval.channels.hnsw import Hnsw; Hnsw(4); import onnxruntime; print('alive')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "alive")
