"""Have we just seen this memory?

Answers carry the text of the memories they rank, and asking the database for ten of them costs as much
as finding them did. Values are immutable and every write of this process passes through the store, so
what is here is what the database holds. A reader that was overtaken by a writer keeps nothing: what it
read may be the version before.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from retrieval.records import Memory

__all__ = ["Recent"]

_MAX_CHARACTERS = 32_000_000
_MAX_RECORDS = 50_000
"""Bounds of what is kept: about 80 MB at the very worst."""


class Recent:
    """The memories last read or written. Use from any thread."""

    def __init__(self, max_records: int = _MAX_RECORDS, max_characters: int = _MAX_CHARACTERS) -> None:
        self._memories: OrderedDict[str, Memory] = OrderedDict()
        self._max_records = max_records
        self._max_characters = max_characters
        self._characters = 0
        self._writes = 0
        self._lock = threading.Lock()

    @property
    def writes(self) -> int:
        """How many writes there were so far; to be asked before reading what ``keep`` is to keep."""
        return self._writes

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        with self._lock:
            found = {key: self._memories[key] for key in ids if key in self._memories}
            for key in found:
                self._memories.move_to_end(key)
            return found

    def put(self, memory: Memory) -> None:
        """Keep what has just been written."""
        with self._lock:
            self._writes += 1
            self._add(memory)

    def keep(self, memories: Iterable[Memory], writes: int) -> None:
        """Keep what has just been read, unless something was written since ``writes``."""
        with self._lock:
            if writes == self._writes:
                for memory in memories:
                    self._add(memory)

    def drop(self, memory_id: str) -> None:
        with self._lock:
            self._writes += 1
            self._remove(memory_id)

    def clear(self) -> None:
        with self._lock:
            self._writes += 1
            self._memories.clear()
            self._characters = 0

    def _add(self, memory: Memory) -> None:
        self._remove(memory.id)
        self._memories[memory.id] = memory
        self._characters += len(memory.content)
        while len(self._memories) > self._max_records or self._characters > self._max_characters:
            self._remove(next(iter(self._memories)))

    def _remove(self, memory_id: str) -> None:
        gone = self._memories.pop(memory_id, None)
        if gone is not None:
            self._characters -= len(gone.content)
