"""Which node of the graph is this memory, this entity, this word?

The directory of the graph: what each node number stands for and how it is found. A term belongs to one
space: the same word in two spaces is two nodes, and nothing walks from one to the other.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.adjacency import Nodes
from retrieval.records import Rows
from retrieval.text.terms import is_telling, names, spoken

__all__ = ["ENTITY", "MEMORY", "TERM", "Directory", "KnownEntity", "to_bytes", "to_text"]

UNUSED, MEMORY, TERM, ENTITY = range(4)
"""Kinds of nodes."""

_NOBODY = -1
"""The user of an entity without one."""


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """What the graph remembers of an entity. ``name`` is folded."""

    node: int
    id: str
    name: str
    space: str
    user_id: str | None


class _Space:
    """The terms and entity names of one space, and how long a name may be that begins with a word."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self.entities: dict[str, list[int]] = {}
        self.longest: dict[str, int] = {}

    def remember_length(self, key: str) -> None:
        words = key.count(" ") + 1
        if words > 1:
            first = key[: key.index(" ")]
            if self.longest.get(first, 1) < words:
                self.longest[first] = words


class Directory:
    """Kinds, keys and owners of nodes. Numbers come from the adjacency; here they get their meaning."""

    def __init__(self) -> None:
        self.kind: NDArray[np.uint8] = np.zeros(64, np.uint8)
        self.row: NDArray[np.int64] = np.full(64, -1, np.int64)
        """Row of a memory's node."""
        self.user: NDArray[np.int64] = np.full(64, _NOBODY, np.int64)
        """Code of an entity's user."""
        self._node_of_row: NDArray[np.int64] = np.full(64, -1, np.int64)
        self._users: dict[str, int] = {}
        self._spaces: dict[str, _Space] = {}
        self._keys: dict[int, tuple[str, str]] = {}
        self.entities: dict[str, KnownEntity] = {}
        self.entity_nodes: dict[int, KnownEntity] = {}

    # Finding

    def memories(self, rows: Rows) -> Nodes:
        """The nodes of memories; -1 for rows that are not in the graph."""
        nodes = np.full(len(rows), -1, np.int64)
        known = (rows >= 0) & (rows < len(self._node_of_row))
        nodes[known] = self._node_of_row[rows[known]]
        return nodes

    def memory(self, row: int) -> int | None:
        node = int(self._node_of_row[row]) if 0 <= row < len(self._node_of_row) else -1
        return None if node < 0 else node

    def term(self, space: str, key: str) -> int | None:
        known = self._spaces.get(space)
        return None if known is None else known.terms.get(key)

    def user_code(self, user_id: str) -> int:
        """The code of a user; -2, which no entity has, for one who has none."""
        return self._users.get(user_id, -2)

    def named(self, query: str, space: str) -> list[int]:
        """Terms and entities that a question names, in any case: the longest name at each place.

        What the longest name covers is not looked up again word by word: measured equal, and fewer seeds.
        """
        known = self._spaces.get(space)
        if known is None:
            return []
        found: dict[int, None] = {}
        for key in _spelt(spoken(query), known.longest, known.terms, known.entities):
            if (node := known.terms.get(key)) is not None:
                found[node] = None
            for node in known.entities.get(key, ()):
                found[node] = None
        for key in names(query):
            if (node := known.terms.get(key)) is not None:
                found[node] = None
        return list(found)

    def entities_in(self, text: str, space: str) -> list[int]:
        """Entities whose names occur in a text, in any case."""
        known = self._spaces.get(space)
        if known is None or not known.entities:
            return []
        keys = _spelt(spoken(text), known.longest, known.entities, known.entities)
        return list(dict.fromkeys(node for key in keys for node in known.entities[key]))

    def label(self, node: int) -> str:
        """A node in words: the term, or the entity's name."""
        entity = self.entity_nodes.get(node)
        return entity.name if entity else self._keys.get(node, ("", ""))[1]

    def title(self, node: int) -> str:
        """A node in words that no other node has."""
        if self.kind[node] == MEMORY:
            return f"memory {self.row[node]}"
        if self.kind[node] == ENTITY:
            return f"entity {self.entity_nodes[node].id}"
        space, key = self._keys[node]
        return f"term {space} {key}"

    # Keeping

    def put_memory(self, node: int, row: int) -> None:
        self._reserve(node)
        if row >= len(self._node_of_row):
            self._node_of_row = _grown(self._node_of_row, row + 1, -1)
        self.kind[node] = MEMORY
        self.row[node] = row
        self._node_of_row[row] = node

    def put_term(self, node: int, space: str, key: str) -> None:
        self._reserve(node)
        self.kind[node] = TERM
        known = self._spaces.setdefault(space, _Space())
        known.terms[key] = node
        known.remember_length(key)
        self._keys[node] = (space, key)

    def put_entity(self, entity: KnownEntity) -> None:
        self._reserve(entity.node)
        self.kind[entity.node] = ENTITY
        user = entity.user_id
        self.user[entity.node] = _NOBODY if user is None else self._users.setdefault(user, len(self._users))
        known = self._spaces.setdefault(entity.space, _Space())
        known.entities.setdefault(entity.name, []).append(entity.node)
        known.remember_length(entity.name)
        self.entities[entity.id] = self.entity_nodes[entity.node] = entity

    def remove(self, node: int) -> None:
        """Forget what a node stood for."""
        if self.kind[node] == MEMORY:
            self._node_of_row[self.row[node]] = -1
        elif self.kind[node] == TERM:
            space, key = self._keys.pop(node)
            del self._spaces[space].terms[key]
        elif self.kind[node] == ENTITY:
            self.remove_entity(node)
        self.kind[node] = UNUSED
        self.row[node] = -1

    def remove_entity(self, node: int) -> None:
        """Forget an entity's name and id; its node stays."""
        entity = self.entity_nodes.pop(node)
        del self.entities[entity.id]
        names = self._spaces[entity.space].entities
        names[entity.name].remove(node)
        if not names[entity.name]:
            del names[entity.name]

    def _reserve(self, node: int) -> None:
        if node >= len(self.kind):
            self.kind = _grown(self.kind, node + 1, UNUSED)
            self.row = _grown(self.row, node + 1, -1)
            self.user = _grown(self.user, node + 1, _NOBODY)

    # On disk

    def arrays(self, size: int) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays over ``size`` nodes."""
        self._reserve(max(size - 1, 0))
        spaces = {space: code for code, space in enumerate(self._spaces)}
        terms = [(node, spaces[space], key) for node, (space, key) in self._keys.items()]
        described = {
            "spaces": list(spaces),
            "entities": [
                [known.node, known.id, known.name, known.space, known.user_id]
                for known in self.entities.values()
            ],
        }
        return {
            "memory_row": self.row[:size],
            "term_node": np.array([term[0] for term in terms], np.int64),
            "term_space": np.array([term[1] for term in terms], np.int64),
            "term_key": to_bytes("\n".join(term[2] for term in terms)),
            "described": to_bytes(json.dumps(described)),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Directory":
        """The directory that gave these arrays."""
        directory = cls()
        described = json.loads(to_text(arrays["described"]))
        rows = arrays["memory_row"]
        directory._reserve(len(rows))
        (memories,) = (rows >= 0).nonzero()
        for node, row in zip(memories.tolist(), rows[memories].tolist(), strict=True):
            directory.put_memory(node, row)
        spaces: list[str] = described["spaces"]
        keys = to_text(arrays["term_key"]).split("\n") if len(arrays["term_node"]) else []
        codes = arrays["term_space"].tolist()
        for node, code, key in zip(arrays["term_node"].tolist(), codes, keys, strict=True):
            directory.put_term(node, spaces[code], key)
        for node, key, name, space, user_id in described["entities"]:
            directory.put_entity(KnownEntity(node, key, name, space, user_id))
        return directory


def _spelt(
    words: list[str], longest: dict[str, int], some: dict[str, Any], others: dict[str, Any]
) -> Iterator[str]:
    """The keys of two dictionaries that a list of words spells, the longest at each place."""
    covered = 0
    for at, first in enumerate(words):
        if at < covered or not is_telling(first):
            continue
        for end in range(min(at + longest.get(first, 1), len(words)), at, -1):
            key = first if end == at + 1 else " ".join(words[at:end])
            if key in some or key in others:
                yield key
                covered = end
                break


def to_bytes(text: str) -> NDArray[np.uint8]:
    """A text as an array; half of a surrogate pair, which JSON can carry in, survives."""
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def to_text(array: NDArray[Any]) -> str:
    """The text that ``to_bytes`` turned into an array."""
    return array.tobytes().decode("utf-8", "surrogatepass")


def _grown(array: NDArray[Any], size: int, fill: int) -> NDArray[Any]:
    grown = np.full(size + size // 2, fill, array.dtype)
    grown[: len(array)] = array
    return grown
