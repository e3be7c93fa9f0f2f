"""How do the arrays of an index survive on disk, and how do we know that they did?

One file an index: a line of JSON, after its own checksum, that says which change the arrays cover, their
types and checksums, then the arrays. It is written beside the old one, flushed and put in its place in one
step, so a reader finds the old file or the new one. Anything that does not match its description is treated
as missing: indexes can be built again, wrong ones would lie.
"""

import json
import logging
import math
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.store.changes import Checkpoint

__all__ = ["Arrays", "load_arrays", "save_arrays"]

log = logging.getLogger(__name__)

Arrays = dict[str, NDArray[Any]]

_FORMAT = "memory-mcp arrays 2"


def save_arrays(path: Path, checkpoint: Checkpoint, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and the checkpoint they belong to: afterwards both are on disk, or the old ones are."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {
        "format": _FORMAT,
        "database": checkpoint.database,
        "seq": checkpoint.seq,
        "arrays": [
            {"name": name, "dtype": array.dtype.str, "shape": array.shape, "crc": zlib.crc32(_bytes(array))}
            for name, array in contiguous.items()
        ],
    }
    line = json.dumps(header).encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".new")
    with scratch.open("wb") as file:
        file.write(_checksum(line) + b" " + line + b"\n")
        for array in contiguous.values():
            file.write(_bytes(array))
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def load_arrays(path: Path) -> tuple[Checkpoint, Arrays] | None:
    """Read what ``save_arrays`` wrote; None when there is nothing that can be trusted."""
    try:
        with path.open("rb") as file:
            checksum, _, line = file.readline().removesuffix(b"\n").partition(b" ")
            if checksum != _checksum(line):  # a wrong number of the change would hide the ones after it
                raise ValueError("checksum of the first line differs")
            header = json.loads(line)
            if header["format"] != _FORMAT:
                raise ValueError(f"unknown format {header['format']!r}")
            arrays: Arrays = {}
            for entry in header["arrays"]:
                dtype = np.dtype(entry["dtype"])
                array = np.fromfile(file, dtype=dtype, count=math.prod(entry["shape"]))
                if zlib.crc32(_bytes(array)) != entry["crc"]:
                    raise ValueError(f"checksum of {entry['name']!r} differs")
                arrays[entry["name"]] = array.reshape(entry["shape"])
            if file.read(1):
                raise ValueError("it is longer than it says")
            return Checkpoint(database=header["database"], seq=header["seq"]), arrays
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("%s cannot be used and will be built again: %s", path, error)
        return None


def _checksum(line: bytes) -> bytes:
    return b"%08x" % zlib.crc32(line)


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
