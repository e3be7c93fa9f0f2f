"""How fast are store, search and recall, and beside what?

    python -m benchmarks.speed [--sizes 1000,10000,100000] [--queries 200] [--keep DIR] [--ann] [--quick]

Everything is measured through the real engine, with the real model and no cache of query vectors, on
data directories that have just been opened. The yardsticks run beside it in the same process: embedding
the query alone, and the plain implementation (``benchmarks.plain``).
"""

import argparse
import gc
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ann import compare_indexes
from benchmarks.corpus import Corpus, Question
from benchmarks.parts import recall_parts
from benchmarks.plain import Plain
from benchmarks.prepared import drafts, open_copy, prepare
from benchmarks.reporting import note, result_path, table, verdict, write_result
from benchmarks.samples import Ratio, Samples, by_turns, compare
from memory_mcp.engine.engine import Engine
from memory_mcp.engine.questions import Answer

RECALL_AIMS = {10_000: 1.5, 100_000: 3.0}
"""Largest recall / embedding, by the number of memories (issue 2)."""

WORDS_AIMS = {100_000: 100.0}
"""Smallest rank-bm25 / search_text."""

_PLAIN_ROUNDS = {1_000: 50, 10_000: 20}
_PLAIN_ROUNDS_BEYOND = 8
"""Questions for the plain implementation, which takes seconds for each at 100k."""

_STORES = 100
_ROUND_TRIPS = 50


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    sizes: list[int]
    queries: int
    plain: bool
    ann: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured at one size."""

    size: int
    open_seconds: float
    vectors: str
    times: dict[str, Samples]
    ratios: dict[str, Ratio]
    parts: dict[str, Samples]
    found: dict[str, float]
    misses: int
    plain_build_seconds: float | None
    ann: list[dict[str, Any]]

    def row(self) -> dict[str, Any]:
        """Everything, raw samples included."""
        return {
            "size": self.size,
            "open_seconds": round(self.open_seconds, 3),
            "vectors": self.vectors,
            "ratios": {name: ratio.row() for name, ratio in self.ratios.items()},
            "times": {name: samples.row() for name, samples in self.times.items()},
            "recall_parts": {name: samples.row() for name, samples in self.parts.items()},
            "found_of_10": self.found,
            "round_trip_misses": self.misses,
            "plain_build_seconds": self.plain_build_seconds,
            "ann": self.ann,
        }


def measure(prepared: Path, scratch: Path, corpus: Corpus, size: int, plan: Plan) -> Figures:
    """All figures of one size, on a copy of the prepared data directory."""
    begin = time.perf_counter()
    engine = open_copy(prepared, scratch)
    try:
        opened = time.perf_counter() - begin
        asked = _Asked(corpus, size)
        note(f"{size:,}: questions")
        times, ratios, found = _ask(engine, asked, plan.queries)
        parts = recall_parts(engine, [asked.next().text for _ in range(plan.queries // 2)])
        built = None
        if plan.plain:
            note(f"{size:,}: plain implementation")
            more_times, more_ratios, more_found, built = _ask_plainly(engine, corpus, size, asked)
            times |= more_times
            ratios |= more_ratios
            found |= more_found
        ann = _compare_indexes(engine, asked, plan.queries) if plan.ann else []
        note(f"{size:,}: writes")
        writes, misses = _write(engine, corpus, size)
        return Figures(
            size=size,
            open_seconds=opened,
            vectors=_how_vectors_are_searched(engine),
            times=times | writes,
            ratios=ratios,
            parts=parts,
            found=found,
            misses=misses,
            plain_build_seconds=built,
            ann=ann,
        )
    finally:
        engine.close()
        shutil.rmtree(scratch / prepared.name, ignore_errors=True)


class _Asked:
    """Questions that have not been asked yet, while there are any; then the same ones again."""

    def __init__(self, corpus: Corpus, size: int) -> None:
        self._corpus = corpus
        self._size = size
        self._round = 0
        self._rest = corpus.questions(size)

    def next(self) -> Question:
        asked = next(self._rest, None)
        if asked is None:
            self._round += 1
            self._rest = self._corpus.questions(self._size, salt=self._round)
            return self.next()
        return asked

    def take(self, count: int) -> list[Question]:
        return [self.next() for _ in range(count)]


def _ask(
    engine: Engine, asked: _Asked, rounds: int
) -> tuple[dict[str, Samples], dict[str, Ratio], dict[str, float]]:
    """The tools beside the embedding alone, with questions that the process has not been asked yet.

    Recall and the embedding share theirs, so that a long one is long for both.
    """
    questions, for_search, for_words = asked.take(rounds), asked.take(rounds), asked.take(rounds)
    embed, ask = engine._encoder.embed_query, engine.questions
    for question in asked.take(5):
        ask.recall(question.text)
    times, answers = by_turns(
        rounds,
        {
            "embedding": lambda i: embed(questions[i].text),
            "recall": lambda i: ask.recall(questions[i].text),
            "search": lambda i: ask.search(for_search[i].text),
            "search_text": lambda i: ask.search_text(for_words[i].text),
        },
    )
    ratios = {
        "recall / embedding": compare(times["recall"], times["embedding"]),
        "search / embedding": compare(times["search"], times["embedding"]),
    }
    found = {
        name: _found(answers[name], about)
        for name, about in (("recall", questions), ("search", for_search), ("search_text", for_words))
    }
    return times, ratios, found


def _ask_plainly(
    engine: Engine, corpus: Corpus, size: int, asked: _Asked
) -> tuple[dict[str, Samples], dict[str, Ratio], dict[str, float], float]:
    """The plain implementation and the engine, by turns, with the same questions."""
    begin = time.perf_counter()
    plain = Plain.build([made.content for made in corpus.memories(0, size)], _vectors(engine, size))
    built = time.perf_counter() - begin
    rounds = next((n for limit, n in _PLAIN_ROUNDS.items() if size <= limit), _PLAIN_ROUNDS_BEYOND)
    questions, for_words = asked.take(rounds), asked.take(rounds)
    embed, ask = engine._encoder.embed_query, engine.questions
    gc.collect()
    gc.freeze()  # else the engine's calls would pay for walks through the millions of objects of networkx
    try:
        samples, answers = by_turns(
            rounds,
            {
                "plain recall": lambda i: plain.recall(questions[i].text, embed(questions[i].text)),
                "recall": lambda i: ask.recall(questions[i].text),
                "rank-bm25": lambda i: plain.search_text(for_words[i].text),
                "search_text": lambda i: ask.search_text(for_words[i].text),
            },
        )
    finally:
        gc.unfreeze()
    both = zip(answers["plain recall"], answers["recall"], strict=True)
    found = {
        "plain recall": float(
            np.mean(
                [q.memory in answer for q, answer in zip(questions, answers["plain recall"], strict=True)]
            )
        ),
        "of plain's ten also in recall's": float(
            np.mean([len(set(some) & _rows(answer)) / len(some) for some, answer in both])
        ),
    }
    times = {"plain recall": samples["plain recall"], "rank-bm25": samples["rank-bm25"]}
    ratios = {
        "rank-bm25 / search_text": compare(samples["rank-bm25"], samples["search_text"]),
        "plain recall / recall": compare(samples["plain recall"], samples["recall"]),
    }
    return times, ratios, found, built


def _write(engine: Engine, corpus: Corpus, size: int) -> tuple[dict[str, Samples], int]:
    """Single stores beside the embedding of the text alone; then stores that must be found at once."""
    new = drafts(corpus, size, size + _STORES + _ROUND_TRIPS)
    stored, _ = by_turns(
        _STORES,
        {
            "store": lambda i: engine.memories.store(new[i]),
            "embedding of a memory": lambda i: engine._encoder.embed_passages([new[i].content]),
        },
    )

    def round_trip(i: int) -> bool:
        draft = new[_STORES + i]
        memory = engine.memories.store(draft)
        answer = engine.questions.recall(" ".join(draft.content.split()[:12]))
        return any(found.memory.id == memory.id for found in answer.found)

    trips, found = by_turns(_ROUND_TRIPS, {"store, then recall it": round_trip})
    return stored | trips, found["store, then recall it"].count(False)


def _compare_indexes(engine: Engine, asked: _Asked, rounds: int) -> list[dict[str, Any]]:
    queries = np.stack([engine._encoder.embed_query(question.text) for question in asked.take(rounds)])
    return compare_indexes(_vectors(engine, len(engine._indexes.dense)), queries)


def _vectors(engine: Engine, size: int) -> NDArray[np.float32]:
    """The engine's vectors of memories 0 to ``size`` - 1; they were stored in that order."""
    indexes = engine._indexes
    with indexes.lock:
        slots = np.array([indexes.dense._slots[row] for row in range(size)], dtype=np.int64)
        return indexes.dense._gather(slots)


def _how_vectors_are_searched(engine: Engine) -> str:
    return "exactly" if engine._indexes.dense._hnsw is None else "by HNSW (usearch), scored again exactly"


def _rows(answer: Answer) -> set[int]:
    return {found.memory.row for found in answer.found}


def _found(answers: list[Answer], about: list[Question]) -> float:
    """Share of questions whose memory is among the first ten."""
    return float(
        np.mean([question.memory in _rows(answer) for answer, question in zip(answers, about, strict=True)])
    )


# Tables


def show(figures: list[Figures]) -> None:
    """Print what was measured, ratios first."""
    sizes = [f"{one.size:,}" for one in figures]
    table("Ratios: of medians (median of pairs)", ["", *sizes, "aims"], _ratio_rows(figures))
    names = list(dict.fromkeys(name for one in figures for name in one.times))
    table(
        "Times, ms: p50 / p95",
        ["", *sizes],
        [[name, *(_times(one.times.get(name)) for one in figures)] for name in names],
        "Times depend on the machine and what else it does; ratios were taken by turns in one process.",
    )
    table(
        "Where the time of a recall goes, µs: p50",
        ["", *sizes],
        [
            [name, *(f"{1e6 * one.parts[name].p50:,.0f}" if name in one.parts else "-" for one in figures)]
            for name in dict.fromkeys(name for one in figures for name in one.parts)
        ],
        "; ".join(f"{one.size:,}: vectors searched {one.vectors}" for one in figures),
    )
    table(
        "Share of questions whose memory is among the first ten",
        ["", *sizes],
        [
            [name, *(f"{one.found[name]:.2f}" if name in one.found else "-" for one in figures)]
            for name in dict.fromkeys(name for one in figures for name in one.found)
        ],
        "Stored and not found by the recall that followed: "
        + ", ".join(f"{one.misses} of {_ROUND_TRIPS}" for one in figures),
    )
    for one in figures:
        if one.ann:
            _show_indexes(one)


def _ratio_rows(figures: list[Figures]) -> list[list[str]]:
    aims = {
        "recall / embedding": (RECALL_AIMS, False),
        "rank-bm25 / search_text": (WORDS_AIMS, True),
    }
    rows = []
    for name in dict.fromkeys(name for one in figures for name in one.ratios):
        measured = [one.ratios.get(name) for one in figures]
        wanted, at_least = aims.get(name, ({}, False))
        verdicts = [
            f"{one.size:,}: {verdict(ratio.of_medians, wanted[one.size], at_least=at_least)}"
            for one, ratio in zip(figures, measured, strict=True)
            if ratio and one.size in wanted
        ]
        cells = [f"{r.of_medians:,.2f} ({r.of_pairs:,.2f})" if r else "-" for r in measured]
        rows.append([name, *cells, ", ".join(verdicts)])
    return rows


def _show_indexes(figures: Figures) -> None:
    table(
        f"Vector indexes over {figures.ann[0]['vectors']:,} vectors",
        ["", "build s", "p50 ms", "p95 ms", "of the true 10", "of the true 100"],
        [
            [
                row["index"],
                f"{row['build_s']:.2f}",
                f"{row['p50_ms']:.3f}",
                f"{row['p95_ms']:.3f}",
                f"{row['found_of_10']:.3f}",
                f"{row['found_of_100']:.3f}",
            ]
            for row in figures.ann
        ],
    )


def _times(samples: Samples | None) -> str:
    return f"{1e3 * samples.p50:,.3f} / {1e3 * samples.p95:,.3f}" if samples else "-"


# The command


def main() -> int:
    """Prepare, measure, print, keep; returns the exit code."""
    flags = _parser().parse_args()
    sizes = [300, 1_000] if flags.quick else sorted(int(size) for size in flags.sizes.split(","))
    plan = Plan(sizes, 30 if flags.quick else flags.queries, not flags.no_plain, flags.ann)
    corpus = Corpus()
    with tempfile.TemporaryDirectory(prefix="memory-mcp-speed-") as folder:
        scratch = Path(folder)
        prepared = prepare(flags.keep or scratch / "prepared", corpus, sizes)
        figures = [measure(prepared[size], scratch, corpus, size, plan) for size in sizes]
    show(figures)
    write_result(
        flags.out or result_path("speed"),
        {"benchmark": "speed", "corpus": corpus.digest(), "sizes": [one.row() for one in figures]},
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000,100000", metavar="N,N,…", help="numbers of memories")
    parser.add_argument(
        "--queries", type=int, default=200, metavar="N", help="questions of each kind (default: 200)"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where prepared data stays, for the next run"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the rows go")
    parser.add_argument("--ann", action="store_true", help="also compare vector indexes that are installed")
    parser.add_argument("--no-plain", action="store_true", help="leave out the plain implementation")
    parser.add_argument(
        "--quick", action="store_true", help="300 and 1,000 memories, 30 questions: does it run?"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
