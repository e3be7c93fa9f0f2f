"""Who is next to whom, and by how much?

A weighted undirected graph over small integers, made for many reads and a steady trickle of writes. All
rows lie in one pool of numpy arrays. A row that outgrows its place moves to the end of the pool with room
to grow, and the pool is packed when half of it is holes. So there is no separate delta to merge: a read
sees one array, whether the edge is a year or a microsecond old, and an added edge costs about 1 µs.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Adjacency", "Nodes", "spread"]

_Number = TypeVar("_Number", bound=np.generic)

Nodes = NDArray[np.int64]
"""Numbers of nodes."""

_FIRST_ROOM = 2
"""Edges a new row has room for: most terms are never mentioned a third time."""

_PACK_ABOVE = 4096
"""Pool entries below which packing is not worth a thought."""


class Adjacency:
    """Rows of neighbours. Node numbers are given out here and used again after ``remove_node``."""

    def __init__(self) -> None:
        self._start: NDArray[np.int64] = np.zeros(64, np.int64)
        self._room: NDArray[np.int64] = np.zeros(64, np.int64)
        self.degree: NDArray[np.int64] = np.zeros(64, np.int64)
        """Neighbours of each node; may be longer than ``size``."""
        self._target: NDArray[np.int32] = np.zeros(256, np.int32)
        self._weight: NDArray[np.float32] = np.zeros(256, np.float32)
        self.size = 0
        """One more than the highest node number ever given out."""
        self._free: list[int] = []
        self._end = 0
        self._entries = 0

    @property
    def edges(self) -> int:
        """Number of edges, each counted once."""
        return self._entries // 2

    def add_node(self) -> int:
        """A node without edges."""
        if self._free:
            return self._free.pop()
        node = self.size
        self.cover(node)
        return node

    def cover(self, node: int) -> None:
        """Make room for a node that was numbered elsewhere; do not mix with ``add_node``."""
        if node >= len(self._start):
            self._start = _grown(self._start, node + 1)
            self._room = _grown(self._room, node + 1)
            self.degree = _grown(self.degree, node + 1)
        self.size = max(self.size, node + 1)

    def remove_node(self, node: int) -> list[int]:
        """Take a node out with its edges; returns who its neighbours were."""
        neighbours = self.isolate(node)
        self._free.append(node)
        return neighbours

    def isolate(self, node: int) -> list[int]:
        """Take out all edges of a node; returns who its neighbours were."""
        neighbours: list[int] = self.row(node)[0].tolist()
        for other in neighbours:
            self._drop(other, node)
        self._entries -= len(neighbours)
        self.degree[node] = 0
        return neighbours

    def link(self, node: int, other: int, weight: float) -> None:
        """Add an edge. Two nodes may have several; an edge to itself leads nowhere and is ignored."""
        if node != other:
            self._append(node, other, weight)
            self._append(other, node, weight)

    def link_all(self, node: int, others: list[int], weights: list[float]) -> None:
        """Add an edge from ``node`` to each of ``others``, none of which is ``node``."""
        count = int(self.degree[node])
        if self._room[node] < count + len(others):
            self._move(node, count + len(others))
        at = int(self._start[node]) + count
        self._target[at : at + len(others)] = others
        self._weight[at : at + len(others)] = weights
        self.degree[node] = count + len(others)
        self._entries += len(others)
        for other, weight in zip(others, weights, strict=True):
            self._append(other, node, weight)

    def unlink(self, node: int, other: int, weight: float | None = None) -> None:
        """Take out one edge between two nodes, the one of this weight where there are several."""
        if node != other and self._drop(node, other, weight):
            self._drop(other, node, weight)

    def row(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Neighbours of a node and the weights of the edges; views, to be used at once."""
        start = self._start[node]
        end = start + self.degree[node]
        return self._target[start:end], self._weight[start:end]

    def gather(self, nodes: Nodes) -> tuple[Nodes, Nodes, NDArray[np.float32]]:
        """The rows of many nodes end to end: place of the owner in ``nodes``, neighbour, weight."""
        counts = self.degree[nodes]
        owner = np.arange(len(nodes)).repeat(counts)
        places = spread(self._start[nodes], counts)
        return owner, self._target[places].astype(np.int64), self._weight[places]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays without holes."""
        self._pack()
        return {
            "degree": self.degree[: self.size],
            "target": self._target[: self._end],
            "weight": self._weight[: self._end],
            "free": np.array(self._free, np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Adjacency":
        """The graph that gave these arrays; they are taken over, not copied."""
        graph = cls()
        graph.degree = arrays["degree"].astype(np.int64)
        graph._room = graph.degree.copy()
        graph._start = np.cumsum(graph.degree) - graph.degree
        graph._target = arrays["target"]
        graph._weight = arrays["weight"]
        graph._free = arrays["free"].tolist()
        graph.size = len(graph.degree)
        graph._end = graph._entries = len(graph._target)
        if int(graph.degree.sum()) != graph._entries or len(graph._weight) != graph._entries:
            raise ValueError("rows and edges do not add up")
        if graph._entries and not 0 <= graph._target.min() <= graph._target.max() < graph.size:
            raise ValueError("an edge leads out of the graph")
        return graph

    def _append(self, node: int, other: int, weight: float) -> None:
        count = int(self.degree[node])
        if count == self._room[node]:
            self._move(node, max(_FIRST_ROOM, 2 * count))
        at = int(self._start[node]) + count
        self._target[at] = other
        self._weight[at] = weight
        self.degree[node] = count + 1
        self._entries += 1

    def _drop(self, node: int, other: int, weight: float | None = None) -> bool:
        """Take one entry out of a row by putting the last one in its place."""
        targets, weights = self.row(node)
        found = targets == other
        if weight is not None:
            found &= weights == np.float32(weight)
        places = found.nonzero()[0]
        if not len(places):
            return False
        targets[places[0]] = targets[-1]
        weights[places[0]] = weights[-1]
        self.degree[node] -= 1
        self._entries -= 1
        return True

    def _move(self, node: int, room: int) -> None:
        """Give a row a new place at the end of the pool."""
        if self._end > _PACK_ABOVE and self._end > 2 * (self._entries + self.size):
            self._pack()
        if self._end + room > len(self._target):
            self._target = _grown(self._target, self._end + room)
            self._weight = _grown(self._weight, self._end + room)
        targets, weights = self.row(node)
        end = self._end + len(targets)
        self._target[self._end : end] = targets
        self._weight[self._end : end] = weights
        self._start[node] = self._end
        self._room[node] = room
        self._end += room

    def _pack(self) -> None:
        """Lay the rows end to end. 100k memories with 1M edges take 30 ms."""
        counts = self.degree[: self.size]
        places = spread(self._start[: self.size], counts)
        self._target = self._target[places]
        self._weight = self._weight[places]
        self._end = len(places)
        self._start[: self.size] = np.cumsum(counts) - counts
        self._room[: self.size] = counts


def spread(start: Nodes, counts: Nodes) -> Nodes:
    """``start[i], start[i] + 1, …`` for ``counts[i]`` numbers, for each i, end to end."""
    ends = counts.cumsum()
    if not len(ends):
        return ends
    places: Nodes = np.arange(ends[-1]) + (start - ends + counts).repeat(counts)
    return places


def _grown(array: NDArray[_Number], size: int) -> NDArray[_Number]:
    """The array with room for ``size`` and half as many again."""
    grown = np.zeros(size + size // 2, array.dtype)
    grown[: len(array)] = array
    return grown
