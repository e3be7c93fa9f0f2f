"""How long does a client wait until it knows our tools, and until its first question is answered?

    python -m benchmarks.startup [--memories 100000 | --data-dir DIR] [--keep DIR] [--rounds 15]

Beside it runs an empty server written with the same SDK (``benchmarks.empty_server``), by turns. Both are
processes spoken to in plain JSON lines. Then it shows what the memory of ours consists of.
"""

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.corpus import Corpus
from benchmarks.prepared import prepare
from benchmarks.reporting import note, result_path, table, verdict, write_result
from benchmarks.resident import resident_steps
from benchmarks.samples import Ratio, Samples, compare
from benchmarks.stdio import Talk

AIM = 1.5
"""Largest ratio of the times to the ``tools/list`` answer, with 100k memories (issue 2)."""

_QUESTION = "which outage did a customer notice?"


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured."""

    ours: Samples
    empty: Samples
    first_recall: Samples
    rss: list[int]
    steps: list[dict[str, Any]]

    @property
    def ratio(self) -> Ratio:
        return compare(self.ours, self.empty)


def measure(folder: Path, rounds: int) -> Figures:
    """Both servers by turns, each started anew every time; ours also answers a recall."""
    ours, empty, recall = Samples(), Samples(), Samples()
    rss = []
    for number in range(-1, rounds):
        figures = _start_ours(folder), _start_empty()
        if number < 0:
            continue  # the first start reads everything from the disk
        (listed, answered, size), bare = figures
        ours.seconds.append(listed)
        recall.seconds.append(answered)
        rss.append(size)
        empty.seconds.append(bare)
        note(f"  {number + 1} of {rounds}: {1e3 * listed:.0f} ms beside {1e3 * bare:.0f}")
    return Figures(ours, empty, recall, rss, resident_steps(folder))


def _start_ours(folder: Path) -> tuple[float, float, int]:
    talk = Talk([sys.executable, "-m", "memory_mcp", "serve", "--data-dir", str(folder), "--timeout", "600"])
    assert talk.greet(), "our server lists no tools"
    listed = talk.seconds()
    talk.call("recall", query=_QUESTION)
    answered = talk.seconds()
    size = int(psutil.Process(talk.pid).memory_info().rss)
    talk.end()
    return listed, answered, size


def _start_empty() -> float:
    talk = Talk([sys.executable, "-m", "benchmarks.empty_server"])
    assert talk.greet() == []
    listed = talk.seconds()
    talk.end()
    return listed


def show(figures: Figures, memories: str) -> None:
    """Print what was measured, the ratio first."""
    ratio = figures.ratio
    table(
        f"From process start to the tools/list answer, with {memories} memories",
        ["", "p50 ms", "p95 ms"],
        [
            ["ours", *_milliseconds(figures.ours)],
            ["empty server, same SDK", *_milliseconds(figures.empty)],
            ["ours, first recall answered", *_milliseconds(figures.first_recall)],
        ],
        f"ratio {ratio.of_medians:.2f} of medians, {ratio.of_pairs:.2f} median of pairs: "
        f"{verdict(ratio.of_medians, AIM)}. Times depend on the machine; both took turns.",
    )
    median = sorted(figures.rss)[len(figures.rss) // 2]
    rows = [
        [step["step"], f"{step['rss_mb']:,.0f}", f"{step['own_mb']:,.0f}", f"{step['seconds']:.2f}"]
        for step in figures.steps
    ]
    table(
        "What the memory consists of: opened step by step",
        ["after", "RSS MB", "of it no file's", "took s"],
        rows,
        f"RSS of the server after its first recall: {median / 1e6:,.0f} MB (median of {len(figures.rss)})",
    )


def _milliseconds(samples: Samples) -> list[str]:
    return [f"{1e3 * samples.p50:,.0f}", f"{1e3 * samples.p95:,.0f}"]


def main() -> int:
    """Prepare, measure, print, keep; returns the exit code."""
    flags = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="memory-mcp-startup-") as scratch:
        folder = Path(scratch) / "data"
        if flags.data_dir is not None:
            shutil.copytree(flags.data_dir, folder)
        elif flags.memories:
            sizes = [flags.memories]
            shutil.copytree(prepare(flags.keep or Path(scratch), Corpus(), sizes)[flags.memories], folder)
        figures = measure(folder, flags.rounds)
    show(figures, "the given" if flags.data_dir else f"{flags.memories:,}")
    write_result(
        flags.out or result_path("startup"),
        {
            "benchmark": "startup",
            "memories": None if flags.data_dir else flags.memories,
            "ratio": figures.ratio.row(),
            "ours": figures.ours.row(),
            "empty": figures.empty.row(),
            "first_recall": figures.first_recall.row(),
            "rss_bytes": figures.rss,
            "resident": figures.steps,
        },
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000, metavar="N", help="default: 100,000")
    parser.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="use a copy of this data directory instead"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where prepared data stays, for the next run"
    )
    parser.add_argument(
        "--rounds", type=int, default=15, metavar="N", help="starts of each server (default: 15)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the rows go")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
