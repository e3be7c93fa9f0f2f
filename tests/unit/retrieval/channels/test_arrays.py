"""Arrays on disk: read back exactly, or not at all."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.channels.arrays import load_arrays, save_arrays
from retrieval.store.changes import Checkpoint

POINT = Checkpoint("0c7e-ü", 2**40)
ARRAYS: dict[str, NDArray[Any]] = {
    "whole": np.arange(-3, 9, dtype=np.int64),
    "matrix": np.arange(12, dtype=np.float32).reshape(3, 4),
    "none": np.empty((0, 5), dtype=np.float32),
    "text": np.array([b"a", b"", b"abc"], dtype="S20"),
    "nan": np.array([np.nan, np.inf, -0.0]),
    "bytes": np.frombuffer(b"\x00\xff\n\n", dtype=np.uint8),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some" / "index.arrays"


def test_arrays_read_as_written(path: Path) -> None:
    save_arrays(path, POINT, ARRAYS)
    loaded = load_arrays(path)
    assert loaded is not None
    checkpoint, arrays = loaded
    assert checkpoint == POINT
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert arrays[name].tobytes() == array.tobytes()


def test_no_arrays_at_all(path: Path) -> None:
    save_arrays(path, POINT, {})
    assert load_arrays(path) == (POINT, {})


def test_parts_of_arrays_are_written_as_seen(path: Path) -> None:
    save_arrays(path, POINT, {"every other": np.arange(10)[::2], "turned": ARRAYS["matrix"].T})
    loaded = load_arrays(path)
    assert loaded is not None
    assert loaded[1]["every other"].tolist() == [0, 2, 4, 6, 8]
    assert loaded[1]["turned"].tolist() == ARRAYS["matrix"].T.tolist()


def test_loaded_arrays_can_be_changed(path: Path) -> None:
    save_arrays(path, POINT, {"a": np.zeros(3)})
    loaded = load_arrays(path)
    assert loaded is not None
    loaded[1]["a"][0] = 1


def test_a_later_file_replaces_the_earlier_and_leaves_nothing_beside_it(path: Path) -> None:
    save_arrays(path, POINT, {"a": np.zeros(1000)})
    save_arrays(path, Checkpoint("db", 2), {"a": np.ones(2)})
    loaded = load_arrays(path)
    assert loaded is not None
    assert (loaded[0].seq, loaded[1]["a"].tolist()) == (2, [1, 1])
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_file_is_nothing(path: Path) -> None:
    assert load_arrays(path) is None


def test_a_half_written_file_beside_it_does_not_matter(path: Path) -> None:
    save_arrays(path, POINT, {"a": np.zeros(3)})
    path.with_suffix(".new").write_bytes(b"half")
    assert load_arrays(path) is not None
    save_arrays(path, POINT, {"a": np.ones(3)})
    assert load_arrays(path) is not None


def test_no_truncation_passes(path: Path) -> None:
    save_arrays(path, POINT, {"a": np.arange(5), "b": np.arange(3, dtype=np.uint8)})
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert load_arrays(path) is None, length


def test_no_flipped_bit_passes(path: Path) -> None:
    """Also not in the description: a wrong checkpoint would hide changes for good."""
    save_arrays(path, POINT, {"a": np.arange(5), "b": np.arange(3, dtype=np.uint8)})
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            assert load_arrays(path) is None, (place, bit)


def described(form: str, arrays: list[dict[str, Any]]) -> bytes:
    """A file of another version of this program."""
    return json.dumps({"format": form, "database": "db", "seq": 1, "arrays": arrays}).encode() + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"\xff\xfe\x00", b"[]\n", b"null\n", b"{}\n", b"[" * 100_000, b"x" * 100_000,
        described("memory-mcp arrays 99", []),
        described("memory-mcp arrays 1", [{"name": "a", "dtype": "<f8", "shape": [10**15], "crc": 0}]),
    ],
    ids=["empty", "blank", "binary", "list", "null", "bare", "deep", "long", "newer", "huge"],
)  # fmt: skip
def test_a_foreign_file_is_nothing(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert load_arrays(path) is None


def test_a_folder_in_its_place_is_nothing(path: Path) -> None:
    path.mkdir(parents=True)
    assert load_arrays(path) is None
