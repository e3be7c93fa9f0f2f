"""Does recall find what it should, and is it better than each channel alone?

    python -m benchmarks.quality [--data DIR] [--sets NAME ...] [--sample N] [--keep DIR] [--json FILE]
        [--worst N]

Every set of the folder is stored in the real engine and asked through it: BM25 alone, vectors alone, the
graph alone, both of the first two by reciprocal ranks and by equal z-scores, and recall without and with the
graph. With ``--keep`` the data directories stay, and the next run takes seconds instead of minutes.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality_metrics import METRICS, Estimate, Figures, estimates, paired, score
from benchmarks.quality_sets import DATA, EvalSet, load_sets, sampled, unpacked
from benchmarks.quality_store import opened, prepare, questions_of
from benchmarks.quality_systems import DEFAULT, NO_GRAPH, SINGLE, SYSTEMS
from benchmarks.quality_worst import show_worst
from benchmarks.reporting import note, result_path, table, verdict, write_result
from memory_mcp.engine.engine import Engine

AIMS: dict[str, dict[str, float]] = {
    "hipporag_musique_train": {"R@5": 0.72},
    "hipporag_musique_train+openie": {"R@5": 0.80},
    "hipporag_hotpot_train": {"R@5": 0.91},
    "locomo": {"R@5": 0.60, "R@10": 0.70},
    "scifact": {"NDCG@10": 0.74},
}
"""What recall should reach (issue 6). On the other sets it should be clearly above each channel alone."""

SEED = 20261118
"""Of samples and intervals."""


@dataclass(frozen=True, slots=True)
class Run:
    """What the systems made of one set: rankings and METRICS by system and query."""

    asked: EvalSet
    rankings: dict[str, list[list[str]]]
    scores: dict[str, Figures]
    seconds: float

    def estimates(self, system: str, rows: Sequence[int] | None = None) -> dict[str, Estimate]:
        values = self.scores[system] if rows is None else self.scores[system][list(rows)]
        return dict(zip(METRICS, estimates(values, SEED), strict=True))

    def categories(self) -> dict[str, list[int]]:
        """The places of the queries of each category, where there are several."""
        found: dict[str, list[int]] = {}
        for place, query in enumerate(self.asked.queries):
            found.setdefault(query.category or "-", []).append(place)
        return dict(sorted(found.items())) if len(found) > 1 else {}

    def column(self, system: str, metric: str) -> Figures:
        values: Figures = self.scores[system][:, METRICS.index(metric)]
        return values

    def row(self) -> dict[str, Any]:
        """Everything: what was asked by id, never a text."""
        return {
            "set": self.asked.name,
            "corpus": self.asked.corpus,
            "extracted": self.asked.extracted,
            "documents": len(self.asked.documents),
            "queries": len(self.asked.queries),
            "of_queries": self.asked.asked_of,
            "seconds": round(self.seconds, 1),
            "figures": {name: _rows(self.estimates(name)) for name in self.scores},
            "categories": {
                category: {name: _rows(self.estimates(name, places)) for name in self.scores}
                for category, places in self.categories().items()
            },
            "rows": [
                {
                    "id": query.id,
                    "category": query.category,
                    "found": {name: rankings[i] for name, rankings in self.rankings.items()},
                    "scores": {name: np.round(values[i], 4).tolist() for name, values in self.scores.items()},
                }
                for i, query in enumerate(self.asked.queries)
            ],
        }


def measure(engine: Engine, one: EvalSet) -> Run:
    """Ask everything in every way, question by question."""
    begin = time.perf_counter()
    rankings: dict[str, list[list[str]]] = {system.name: [] for system in SYSTEMS}
    for query in one.queries:
        questions = questions_of(engine, query.group)
        for system in SYSTEMS:
            rankings[system.name].append(system.rank(questions, query.text))
    scores = {
        name: np.array([score(r, query.relevant) for r, query in zip(found, one.queries, strict=True)])
        for name, found in rankings.items()
    }
    return Run(one, rankings, scores, time.perf_counter() - begin)


def show(runs: Sequence[Run]) -> None:
    """Print a table a set, then its categories, then what it comes to."""
    for run in runs:
        one = run.asked
        count, of = len(one.queries), one.asked_of
        table(
            f"{one.name}: {count:,} questions{f' (a sample of {of:,})' if count < of else ''}, "
            f"{len(one.documents):,} documents",
            ["mean [95 %]", *METRICS],
            [[name, *(str(figure) for figure in run.estimates(name).values())] for name in run.scores],
        )
        if categories := run.categories():
            _show_categories(run, categories)
    _show_summary(runs)
    _show_aims(runs)


def _show_categories(run: Run, categories: dict[str, list[int]]) -> None:
    metric = METRICS.index("R@10")
    table(
        f"{run.asked.name}: R@10 by category",
        ["category", "questions", *run.scores, f"{DEFAULT} [95 %]"],
        [
            [
                category,
                str(len(places)),
                *(f"{values[places, metric].mean():.3f}" for values in run.scores.values()),
                str(run.estimates(DEFAULT, places)["R@10"]),
            ]
            for category, places in categories.items()
        ],
    )


def _show_summary(runs: Sequence[Run]) -> None:
    rows = []
    for run in runs:
        for metric in ("R@10", "NDCG@10"):
            best = max(SINGLE, key=lambda name: run.column(name, metric).mean())
            rows.append(
                [
                    run.asked.name,
                    metric,
                    f"{run.column(DEFAULT, metric).mean():.3f}",
                    f"{_against(run, best, metric)} {best}",
                    _against(run, "z-sum", metric),
                    _against(run, NO_GRAPH, metric),
                ]
            )
    table(
        f"{DEFAULT} minus others on the same questions [95 %], p of a permutation",
        ["set", "metric", DEFAULT, "better single channel", "z-sum", NO_GRAPH],
        rows,
    )


def _against(run: Run, other: str, metric: str) -> str:
    found = paired(run.column(DEFAULT, metric), run.column(other, metric), SEED)
    difference = found.difference
    return f"{difference.mean:+.3f} [{difference.low:+.3f} {difference.high:+.3f}] p {found.p:.3f}"


def _show_aims(runs: Sequence[Run]) -> None:
    rows = [
        [run.asked.name, metric, str(figure), verdict(figure.mean, aim, at_least=True)]
        for run in runs
        for metric, aim in AIMS.get(run.asked.name, {}).items()
        for figure in [run.estimates(DEFAULT)[metric]]
    ]
    if rows:
        table("Aims", ["set", "metric", DEFAULT, "aim"], rows)


def _rows(figures: dict[str, Estimate]) -> dict[str, list[float]]:
    return {metric: figure.row() for metric, figure in figures.items()}


# The command


def main() -> int:
    """Store, ask, print, keep; returns the exit code."""
    flags = _parser().parse_args()
    runs: list[Run] = []
    with home(flags.keep) as prepared, unpacked(flags.data) as data:
        for one in load_sets(data, flags.sets):
            asked = sampled(one, flags.sample, SEED)
            with opened(prepare(prepared, asked)) as engine:
                runs.append(measure(engine, asked))
            run = runs[-1]
            note(f"{one.name}: {len(asked.queries):,} questions asked in {run.seconds:.1f} s")
    show(runs)
    for run in runs if flags.worst else ():
        show_worst(run.asked, run.rankings, run.scores, flags.worst)
    write_result(
        flags.json or result_path("quality"),
        {
            "benchmark": "quality",
            "metrics": METRICS,
            "systems": {system.name: system.about for system in SYSTEMS},
            "sample": flags.sample,
            "seed": SEED,
            "sets": [run.row() for run in runs],
        },
    )
    return 0


@contextmanager
def home(keep: Path | None) -> Iterator[Path]:
    """Where prepared data lie: a folder that stays, or one that goes."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    note("what is stored now is deleted at the end; --keep DIR saves the next run the embedding")
    with tempfile.TemporaryDirectory(prefix="memory-mcp-quality-") as folder:
        yield Path(folder)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the commands over these sets have in common."""
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help=f"sets or archives (default: {DATA})"
    )
    parser.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="only these sets")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N questions a set, drawn by a seed")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where prepared data stay, for the next run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the rows go")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.splitlines()[0])
    add_arguments(parser)
    parser.add_argument(
        "--worst", type=int, default=0, metavar="N", help="print the N questions a set that lose most"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
