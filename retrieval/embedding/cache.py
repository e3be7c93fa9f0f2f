"""Has this very text been embedded a moment ago?

Agents repeat themselves: the same query comes back with other weights, the same memory is checked for
duplicates and then stored. Least recently used entries leave first; a lock makes it safe for threads.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from retrieval.records import Vector

__all__ = ["CacheStats", "TextKind", "VectorCache"]

TextKind = Literal["query", "passage"]
"""A query and a passage of the same words are different inputs to models that use prefixes."""

LONGEST_KEY = 200
"""Characters up to which the text itself is the key; a longer one is kept as a 16-byte digest, so
that a thousand memories of a megabyte do not stay in memory for the sake of their vectors."""

_Key = tuple[TextKind, str | bytes]


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What the cache did since the start."""

    hits: int
    misses: int
    size: int
    capacity: int


class VectorCache:
    """A bounded map from text to vector. Capacity 0 turns it off: nothing is kept, nothing counted."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(capacity, 0)
        self._entries: OrderedDict[_Key, Vector] = OrderedDict()
        self._lock = Lock()
        self._hits = 0
        self._misses = 0

    def get(self, kind: TextKind, text: str) -> Vector | None:
        """Return the vector of a text, if it is still there, and count the answer."""
        if self._capacity == 0:
            return None
        key = _key(kind, text)
        with self._lock:
            vector = self._entries.get(key)
            if vector is None:
                self._misses += 1
                return None
            self._entries.move_to_end(key)
            self._hits += 1
            return vector

    def put(self, kind: TextKind, text: str, vector: Vector) -> None:
        """Keep a vector. It is frozen: callers share it, and one of them could spoil it for all."""
        if self._capacity == 0:
            return
        kept = vector.copy()  # a row of a batch would keep the whole batch alive
        kept.flags.writeable = False
        key = _key(kind, text)
        with self._lock:
            self._entries[key] = kept
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    @property
    def stats(self) -> CacheStats:
        with self._lock:
            return CacheStats(self._hits, self._misses, len(self._entries), self._capacity)


def _key(kind: TextKind, text: str) -> _Key:
    if len(text) <= LONGEST_KEY:
        return kind, text
    return kind, hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
