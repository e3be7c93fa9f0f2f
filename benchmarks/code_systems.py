"""What must a code search be able to do to take part?

A system is given a folder and then asked questions about it. It says itself how long both took, so that one
that lives in another process is not charged for the pipe in between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

__all__ = ["Found", "Indexed", "Place", "System"]


class Place(NamedTuple):
    """Lines of a file, by its path with slashes below the folder that was indexed. Lines count from 1."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """What became of a folder: from its files on disk to being able to answer, a loaded model assumed."""

    files: int
    chunks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Found:
    """Where the answer is, best first."""

    places: Sequence[Place]
    seconds: float


class System(Protocol):
    """A code search. ``index`` forgets the folder before; nothing of it may make the next one faster."""

    @property
    def name(self) -> str: ...

    def about(self) -> Mapping[str, str]:
        """Versions and settings that a doubter would ask for."""
        ...

    def index(self, root: Path) -> Indexed: ...

    def search(self, query: str, k: int) -> Found: ...

    def close(self) -> None: ...
