"""How well is code found, in 19 languages, and how fast beside a live peer?

    python -m benchmarks.code_search --repos DIR [--data DIR] [--only NAME ...] [--systems NAME ...]
        [--semble PYTHON --semble-model DIR] [--json FILE]

``DIR/<name>`` is a checkout of each repository at the revision that ``repos.json`` pins. Every system indexes
a repository and answers all its questions before the next repository comes, the systems one after another,
so that what is compared lies close in time.
"""

import argparse
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.code_lineup import add_arguments, opened
from benchmarks.code_systems import Indexed, System
from benchmarks.code_tasks import DEPTH, Repository, Task, absent, load_repositories, ndcg, ranks
from benchmarks.reporting import EVALUATION_DATA, note, result_path, table, write_result
from benchmarks.samples import Samples

DATA = EVALUATION_DATA / "code_search"
"""Where the questions lie unless said otherwise; they are no part of this project."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and what a system made of it. ``number`` is its place in the annotations, from 0."""

    repository: Repository
    number: int
    task: Task
    ranks: Sequence[int | None]
    seconds: float

    @property
    def ndcg(self) -> float:
        return ndcg(self.ranks)

    def row(self) -> dict[str, Any]:
        """What the results keep; the wording of the question stays with the data."""
        return {
            "repo": self.repository.name,
            "query": self.number,
            "category": self.task.category,
            "ndcg": round(self.ndcg, 4),
            "ranks": self.ranks,
            "us": round(1e6 * self.seconds, 1),
        }


@dataclass(slots=True)
class Run:
    """All that one system did."""

    system: System
    indexed: dict[str, Indexed]
    asked: list[Asked]

    @property
    def ndcg(self) -> float:
        return _mean(self.asked)

    @property
    def ndcg_of_repositories(self) -> float:
        """Every repository weighs the same, as in semble's own figures."""
        return statistics.fmean(_by(self.asked, lambda one: one.repository.name).values())

    @property
    def index_seconds(self) -> float:
        return sum(one.seconds for one in self.indexed.values())

    @property
    def chunks(self) -> int:
        return sum(one.chunks for one in self.indexed.values())

    @property
    def times(self) -> Samples:
        return Samples([one.seconds for one in self.asked])

    def row(self) -> dict[str, Any]:
        """Everything, every question included."""
        return {
            "system": self.system.name,
            "about": dict(self.system.about()),
            "ndcg10": round(self.ndcg, 4),
            "ndcg10_of_repositories": round(self.ndcg_of_repositories, 4),
            "ndcg10_by_language": _rounded(_by(self.asked, lambda one: one.repository.language)),
            "ndcg10_by_category": _rounded(_by(self.asked, lambda one: one.task.category)),
            "index_seconds": round(self.index_seconds, 3),
            "chunks": self.chunks,
            "query_p50_ms": round(1e3 * self.times.p50, 4),
            "repositories": [
                {
                    "repo": name,
                    "files": one.files,
                    "chunks": one.chunks,
                    "index_seconds": round(one.seconds, 4),
                    "ndcg10": round(_mean(asked for asked in self.asked if asked.repository.name == name), 4),
                }
                for name, one in self.indexed.items()
            ],
            "queries": [one.row() for one in self.asked],
        }


def measure(systems: Sequence[System], repositories: Sequence[Repository], checkouts: Path) -> list[Run]:
    """Index and ask every repository with every system."""
    runs = [Run(system, {}, []) for system in systems]
    for repository in repositories:
        for run in runs:
            run.indexed[repository.name] = run.system.index(checkouts / repository.name / repository.root)
            mine = [_ask(run.system, repository, number) for number in range(len(repository.tasks))]
            run.asked += mine
            seconds = run.indexed[repository.name].seconds
            note(
                f"{repository.name}: {run.system.name}: NDCG@10 {_mean(mine):.3f}, indexed in {seconds:.2f} s"
            )
    return runs


def report(runs: Sequence[Run]) -> None:
    """Print the tables."""
    header = ["system", "NDCG@10", "of repos", "index s", "chunks", "chunks/s", "query p50 ms", "p95"]
    rows = [
        [
            run.system.name,
            f"{run.ndcg:.3f}",
            f"{run.ndcg_of_repositories:.3f}",
            f"{run.index_seconds:.2f}",
            f"{run.chunks:,}",
            f"{run.chunks / run.index_seconds:,.0f}",
            f"{1e3 * run.times.p50:.2f}",
            f"{1e3 * run.times.p95:.2f}",
        ]
        for run in runs
    ]
    asked = runs[0].asked
    remark = f"{len(asked)} questions, {len(runs[0].indexed)} repositories; of repos: each weighs the same"
    table("Code search", header, rows, remark)
    _table_by(runs, "category", lambda one: one.task.category)
    _table_by(runs, "language", lambda one: one.repository.language)
    _table_by(runs, "repository", lambda one: one.repository.name)


def _ask(system: System, repository: Repository, number: int) -> Asked:
    task = repository.tasks[number]
    found = system.search(task.query, DEPTH)
    return Asked(repository, number, task, ranks(repository, task, found.places), found.seconds)


def _table_by(runs: Sequence[Run], title: str, key: Callable[[Asked], str]) -> None:
    columns = [_by(run.asked, key) for run in runs]
    counts: dict[str, int] = defaultdict(int)
    for one in runs[0].asked:
        counts[key(one)] += 1
    rows = [
        [name, str(counts[name]), *(f"{column[name]:.3f}" for column in columns)] for name in sorted(counts)
    ]
    table(f"NDCG@10 by {title}", [title, "questions", *(run.system.name for run in runs)], rows)


def _by(asked: Iterable[Asked], key: Callable[[Asked], str]) -> dict[str, float]:
    groups: dict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        groups[key(one)].append(one)
    return {name: _mean(group) for name, group in groups.items()}


def _mean(asked: Iterable[Asked]) -> float:
    return statistics.fmean(one.ndcg for one in asked)


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(figure, 4) for name, figure in sorted(figures.items())}


def _present(repositories: Sequence[Repository], checkouts: Path) -> list[Repository]:
    """Those that are there; says aloud which are not, and which are at another revision."""
    present = [one for one in repositories if (checkouts / one.name / one.root).is_dir()]
    missing = sorted({one.name for one in repositories} - {one.name for one in present})
    if missing:
        note(f"missing in {checkouts}, not measured: {', '.join(missing)}")
    for one in present:
        if lacking := absent(one, checkouts / one.name):
            note(f"{one.name} is not at {one.revision[:12]}: it lacks {', '.join(lacking)}")
    return present


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repos", type=Path, required=True, help="folder of checkouts, by name")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of repos.json and annotations/")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these repositories")
    parser.add_argument("--json", type=Path, help="write the figures there")
    add_arguments(parser)
    args = parser.parse_args()
    known = load_repositories(args.data)
    if unknown := set(args.only or ()) - {one.name for one in known}:
        raise SystemExit(f"not in repos.json: {', '.join(sorted(unknown))}")
    wanted = [one for one in known if not args.only or one.name in args.only]
    present = _present(wanted, args.repos)
    if not present:
        raise SystemExit(f"no repository to search in {args.repos}")
    with opened(args) as systems:
        runs = measure(systems, present, args.repos)
    report(runs)
    missing = sorted({one.name for one in wanted} - {one.name for one in present})
    figures = {"missing": missing, "runs": [run.row() for run in runs]}
    write_result(args.json or result_path("code_search"), figures)


if __name__ == "__main__":
    main()
