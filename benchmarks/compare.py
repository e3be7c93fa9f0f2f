"""Two result files of ``benchmarks.quality``: which is better, by how much, and may it be chance?

    python -m benchmarks.compare A.json B.json [--system NAME [NAME]] [--metrics NAME ...] [--by-category]

The same questions are compared one by one. The figures are B minus A: above 0, B is better. With two names
for ``--system`` the first is taken of A and the second of B; A and B may be the same file.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality_metrics import METRICS, Figures, Paired, paired
from benchmarks.reporting import note, table

__all__ = ["Outcome", "compare", "read"]

DEFAULT = "default"
SEED = 20261118


@dataclass(frozen=True, slots=True)
class Result:
    """What a file says: by set, then by query id, its category and its METRICS."""

    path: Path
    sets: dict[str, dict[str, tuple[str, tuple[float, ...]]]]
    corpora: dict[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One metric on one set, or on one of its categories."""

    name: str
    metric: str
    queries: int
    before: float
    after: float
    paired: Paired

    def row(self) -> list[str]:
        difference = self.paired.difference
        return [
            self.name,
            self.metric,
            str(self.queries),
            f"{self.before:.3f}",
            f"{self.after:.3f}",
            f"{difference.mean:+.4f}",
            f"[{difference.low:+.4f} {difference.high:+.4f}]",
            f"{self.paired.p:.4f}",
            f"{self.paired.better}/{self.paired.worse}",
        ]


def read(path: Path, system: str) -> Result:
    """The rows of one system, or an error that names the systems there are."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} cannot be read: {error}") from None
    if content.get("benchmark") != "quality":
        raise SystemExit(f"{path} was not written by benchmarks.quality")
    if content["metrics"] != list(METRICS):
        raise SystemExit(f"{path} has other metrics ({', '.join(content['metrics'])}); measure again")
    if system not in content["systems"]:
        raise SystemExit(f"{path} has no system {system!r}; it has {', '.join(content['systems'])}")
    return Result(
        path,
        {
            one["set"]: {row["id"]: (row["category"], tuple(row["scores"][system])) for row in one["rows"]}
            for one in content["sets"]
        },
        {one["set"]: (one["corpus"], one["extracted"]) for one in content["sets"]},
    )


def compare(
    before: Result, after: Result, metrics: Sequence[str], by_category: bool = False
) -> list[Outcome]:
    """Every metric on every set that both have, over the questions that both have."""
    outcomes = []
    for name in before.sets:
        if name not in after.sets:
            note(f"{name} is only in {before.path}")
            continue
        if before.corpora[name] != after.corpora[name]:
            note(f"{name}: the two files are about different documents")
        some, others = before.sets[name], after.sets[name]
        shared = [key for key in some if key in others]
        if len(shared) < max(len(some), len(others)):
            note(f"{name}: {len(shared)} questions are in both, of {len(some)} and {len(others)}")
        for part, keys in _parts(name, some, shared, by_category):
            a = np.array([some[key][1] for key in keys])
            b = np.array([others[key][1] for key in keys])
            outcomes += [_outcome(part, metric, a, b) for metric in metrics]
    for name in after.sets.keys() - before.sets.keys():
        note(f"{name} is only in {after.path}")
    return outcomes


def _parts(
    name: str, rows: Mapping[str, tuple[str, tuple[float, ...]]], shared: Sequence[str], by_category: bool
) -> list[tuple[str, list[str]]]:
    parts = {name: list(shared)} if shared else {}
    if by_category:
        for key in shared:
            if category := rows[key][0]:
                parts.setdefault(f"{name}: {category}", []).append(key)
    return list(parts.items())


def _outcome(name: str, metric: str, before: Figures, after: Figures) -> Outcome:
    column = METRICS.index(metric)
    a, b = before[:, column], after[:, column]
    return Outcome(name, metric, len(a), float(a.mean()), float(b.mean()), paired(b, a, SEED))


def show(outcomes: Sequence[Outcome]) -> None:
    table(
        "B minus A on the same questions",
        ["set", "metric", "questions", "A", "B", "difference", "95 %", "p", "better/worse"],
        [outcome.row() for outcome in outcomes],
        f"{len(outcomes)} comparisons: of so many, {0.05 * len(outcomes):.1f} have p < .05 by chance alone.",
    )


def main() -> int:
    """Read, compare, print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, metavar="A.json")
    parser.add_argument("after", type=Path, metavar="B.json")
    parser.add_argument("--system", nargs="+", default=[DEFAULT], metavar="NAME", help="of A, and of B")
    parser.add_argument("--metrics", nargs="+", default=METRICS, choices=METRICS, metavar="NAME")
    parser.add_argument("--by-category", action="store_true", help="each category of a set, too")
    flags = parser.parse_args()
    if len(flags.system) > 2:
        parser.error("--system takes one name or two")
    before, after = read(flags.before, flags.system[0]), read(flags.after, flags.system[-1])
    outcomes = compare(before, after, flags.metrics, flags.by_category)
    if not outcomes:
        raise SystemExit("the two files have no question in common")
    show(outcomes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
