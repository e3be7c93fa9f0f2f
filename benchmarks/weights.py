"""Which weights of vectors, words and graph are best, and how much does it matter?

    python -m benchmarks.weights [--data DIR] [--sets NAME ...] [--sample N] [--keep DIR] [--step .05]
        [--metric NDCG@10] [--svg FILE] [--json FILE]

The channels are asked once a question; every point of the grid is then fused by ``retrieval.fusion``. The
best of hundreds of points is best by chance, too: look at how large the region is that is as good.
"""

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality import SEED, add_arguments, home
from benchmarks.quality_candidates import Asked, ask_all, documents_of_rows
from benchmarks.quality_metrics import DEPTH, METRICS, score
from benchmarks.quality_sets import load_sets, sampled, unpacked
from benchmarks.quality_store import opened, prepare
from benchmarks.quality_ternary import Panel, Point, draw
from benchmarks.reporting import note, result_path, table, write_result
from retrieval.fusion import Weights

__all__ = ["Surface", "combined", "grid", "sweep"]

NEAR = 0.01
"""What is lost at most where weights count as good as the best."""

CORNERS = ("vectors", "BM25", "graph")
_CHOSEN: Point = (Weights().vector, Weights().bm25, Weights().ppr)
_DEPTH = 2 * DEPTH
"""Memories ranked: ten documents, even if some of them were cut into several."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The mean of a metric at every point of a grid; ``chosen`` is the mean at the default weights."""

    name: str
    values: Mapping[Point, float]
    chosen: float

    @property
    def best(self) -> Point:
        return max(self.values, key=lambda point: self.values[point])

    @property
    def flat(self) -> float:
        """Share of the grid that is as good as the best."""
        highest = self.values[self.best]
        return sum(value >= highest - NEAR for value in self.values.values()) / len(self.values)

    @property
    def lost(self) -> float:
        """What the default weights lose to the best."""
        return self.values[self.best] - self.chosen

    @property
    def distance(self) -> float:
        """How much weight would have to move from one channel to another, from the default to the best."""
        return sum(abs(a - b) for a, b in zip(_CHOSEN, self.best, strict=True)) / 2

    def row(self) -> dict[str, Any]:
        return {
            "set": self.name,
            "best": list(self.best),
            "best_value": round(self.values[self.best], 4),
            "default_value": round(self.chosen, 4),
            "distance": round(self.distance, 3),
            "flat": round(self.flat, 4),
            "grid": [[*point, round(value, 4)] for point, value in self.values.items()],
        }


def grid(step: float) -> list[Point]:
    """All shares that are multiples of the step and add up to 1."""
    parts = round(1 / step)
    if parts < 1 or not math.isclose(parts * step, 1.0):
        raise SystemExit(f"--step must divide 1, as .1 and .05 do; not {step:g}")
    return [
        (top / parts, left / parts, (parts - top - left) / parts)
        for top in range(parts + 1)
        for left in range(parts + 1 - top)
    ]


def sweep(
    name: str, asked: Sequence[Asked], documents: Mapping[int, str], step: float, metric: str
) -> Surface:
    """The metric of a set at every point."""
    means = {point: _mean(asked, documents, Weights(*point), metric) for point in grid(step)}
    return Surface(name, means, _mean(asked, documents, Weights(), metric))


def combined(surfaces: Sequence[Surface]) -> Surface:
    """The mean over sets, each with the same weight."""
    return Surface(
        "all sets",
        {point: float(np.mean([one.values[point] for one in surfaces])) for point in surfaces[0].values},
        float(np.mean([one.chosen for one in surfaces])),
    )


def _mean(asked: Sequence[Asked], documents: Mapping[int, str], weights: Weights, metric: str) -> float:
    column = METRICS.index(metric)
    found = []
    for one in asked:
        ranking = dict.fromkeys(documents[row] for row in one.rank(weights, _DEPTH).tolist())
        found.append(score(list(ranking), one.query.relevant)[column])
    return float(np.mean(found))


def show(surfaces: Sequence[Surface], metric: str, common: Point) -> None:
    table(
        f"{metric} over weights of vectors / BM25 / graph",
        ["set", "best", "at", "default", "lost", "weight to move", f"within {NEAR:g}", "at the common best"],
        [
            [
                one.name,
                f"{one.values[one.best]:.3f}",
                " / ".join(f"{share:.2f}" for share in one.best),
                f"{one.chosen:.3f}",
                f"{one.lost:.3f}",
                f"{one.distance:.2f}",
                f"{100 * one.flat:.1f} %",
                f"{one.values[common]:.3f}",
            ]
            for one in surfaces
        ],
        f"within {NEAR:g}: share of the grid that is as good as the best",
    )


def picture(surfaces: Sequence[Surface], step: float, metric: str) -> str:
    """A triangle a set."""
    panels = [Panel(f"{one.name}: {metric}", one.values, step, _CHOSEN, NEAR) for one in surfaces]
    return draw(panels, CORNERS)


def main() -> int:
    """Ask, sweep, print, draw, keep; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weights", description=__doc__.splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--step", type=float, default=0.05, help="of the grid (default: .05)")
    parser.add_argument("--metric", default="NDCG@10", choices=METRICS)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="where the picture goes")
    flags = parser.parse_args()
    grid(flags.step)  # says so at once if it cannot be
    surfaces = []
    with home(flags.keep) as prepared, unpacked(flags.data) as data:
        for one in load_sets(data, flags.sets):
            begin = time.perf_counter()
            with opened(prepare(prepared, one)) as engine:
                chosen = sampled(one, flags.sample, SEED)
                asked, documents = ask_all(engine, chosen), documents_of_rows(engine)
            between = time.perf_counter()
            surfaces.append(sweep(one.name, asked, documents, flags.step, flags.metric))
            swept = time.perf_counter() - between
            seconds = f"{between - begin:.1f} s, swept in {swept:.1f} s"
            note(f"{one.name}: {len(asked):,} questions asked in {seconds}")
    if len(surfaces) > 1:
        surfaces = [combined(surfaces), *surfaces]
    show(surfaces, flags.metric, surfaces[0].best)
    target = flags.json or result_path("weights")
    drawing = flags.svg or target.with_suffix(".svg")
    drawing.parent.mkdir(parents=True, exist_ok=True)
    drawing.write_text(picture(surfaces, flags.step, flags.metric), encoding="utf-8")
    note(f"drawn: {drawing}")
    write_result(
        target,
        {
            "benchmark": "weights",
            "metric": flags.metric,
            "step": flags.step,
            "sample": flags.sample,
            "seed": SEED,
            "sets": [one.row() for one in surfaces],
        },
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
