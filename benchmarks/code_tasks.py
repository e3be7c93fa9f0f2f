"""What is asked of which repository, and how good is an answer?

The data is semble's benchmark: ``repos.json`` and ``annotations/<name>.json``. Paths of targets are relative
to the repository; what is searched is its ``benchmark_root``.

NDCG@10 as semble counts it: primary and secondary targets weigh the same; a target counts at the first of the
ten chunks that matches it; a chunk that is the first of two targets gains once; ideal are all targets, one to
a place from the top, whether the searched folder holds them or not.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.code_systems import Place

__all__ = ["DEPTH", "Repository", "Target", "Task", "absent", "load_repositories", "ndcg", "ranks"]

DEPTH = 10
"""Chunks of an answer that count."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file, or lines of it, that answers."""

    path: str
    lines: tuple[int, int] | None = None

    def is_at(self, place: Place) -> bool:
        """Does this place, relative to the repository, show it?"""
        if place.path != self.path:
            return False
        return self.lines is None or not (place.end_line < self.lines[0] or place.start_line > self.lines[1])


@dataclass(frozen=True, slots=True)
class Task:
    """A question, and everything that answers it."""

    query: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at one revision, and what is asked of it."""

    name: str
    language: str
    revision: str
    root: str
    """The folder in it that is searched; "" for all of it."""
    tasks: tuple[Task, ...]

    def placed(self, place: Place) -> Place:
        """The same place, relative to the repository."""
        return place._replace(path=f"{self.root}/{place.path}") if self.root else place


def load_repositories(data: Path) -> list[Repository]:
    """Every repository with its questions, by name."""
    described = json.loads((data / "repos.json").read_text(encoding="utf-8"))
    return sorted((_repository(data, one) for one in described), key=lambda one: one.name)


def ranks(repository: Repository, task: Task, places: Sequence[Place]) -> list[int | None]:
    """For each target the place, from 1, of the first chunk that shows it."""
    placed = [repository.placed(place) for place in places[:DEPTH]]
    return [
        next((rank for rank, place in enumerate(placed, 1) if target.is_at(place)), None)
        for target in task.targets
    ]


def ndcg(found: Sequence[int | None]) -> float:
    """NDCG@10 of the targets' ranks."""
    gained = math.fsum(_discount(rank) for rank in {rank for rank in found if rank is not None})
    ideal = math.fsum(_discount(rank) for rank in range(1, min(len(found), DEPTH) + 1))
    return gained / ideal if ideal else 0.0


def absent(repository: Repository, checkout: Path) -> list[str]:
    """The files of targets that a checkout does not have: none at the right revision."""
    paths = {target.path for task in repository.tasks for target in task.targets}
    return sorted(path for path in paths if not (checkout / path).is_file())


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _repository(data: Path, one: Mapping[str, Any]) -> Repository:
    annotations = json.loads((data / "annotations" / f"{one['name']}.json").read_text(encoding="utf-8"))
    tasks = (
        Task(
            query=asked["query"],
            category=asked["category"],
            targets=tuple(_target(target) for target in (*asked["relevant"], *asked["secondary"])),
        )
        for asked in annotations
    )
    return Repository(
        name=one["name"],
        language=one["language"],
        revision=one["revision"],
        root=(one.get("benchmark_root") or "").strip("/"),
        tasks=tuple(tasks),
    )


def _target(raw: str | Mapping[str, Any]) -> Target:
    if isinstance(raw, str):
        return Target(raw)
    return Target(raw["path"], (int(raw["start_line"]), int(raw["end_line"])))
