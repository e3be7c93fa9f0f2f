"""How long did it take, and by how much do two things differ?

A machine that does other work beside is the rule, so comparisons are made between neighbours in time: the
things compared take turns, and besides the ratio of medians there is the median of the ratios of pairs,
which noise that comes and goes hits on both sides.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

__all__ = ["Ratio", "Samples", "by_turns", "compare", "timed"]

T = TypeVar("T")


@dataclass(slots=True)
class Samples:
    """Seconds that something took, in the order it was done."""

    seconds: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def p50(self) -> float:
        return self.quantile(0.50)

    @property
    def p95(self) -> float:
        return self.quantile(0.95)

    def quantile(self, share: float) -> float:
        """The value below which this share of the samples lies; between two samples, in proportion."""
        if not self.seconds:
            return float("nan")
        ordered = sorted(self.seconds)
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    def row(self) -> dict[str, Any]:
        """What the results keep: the raw samples in microseconds, and what is said of them."""
        return {
            "count": len(self),
            "p50_ms": round(1e3 * self.p50, 4),
            "p95_ms": round(1e3 * self.p95, 4),
            "max_ms": round(1e3 * max(self.seconds, default=float("nan")), 4),
            "samples_us": [round(1e6 * second, 1) for second in self.seconds],
        }


@dataclass(frozen=True, slots=True)
class Ratio:
    """By how much one thing takes longer than another."""

    of_medians: float
    of_pairs: float
    pairs: int

    def row(self) -> dict[str, Any]:
        return {
            "of_medians": round(self.of_medians, 3),
            "median_of_pairs": round(self.of_pairs, 3),
            "pairs": self.pairs,
        }


def compare(some: Samples, others: Samples) -> Ratio:
    """How many times as long ``some`` took as ``others``; equal places are pairs."""
    pairs = [a / b for a, b in zip(some.seconds, others.seconds, strict=True)]
    return Ratio(some.p50 / others.p50, statistics.median(pairs), len(pairs))


def timed(samples: Samples, call: Callable[[], T]) -> T:
    """Do it, and note how long it took."""
    begin = time.perf_counter()
    result = call()
    samples.seconds.append(time.perf_counter() - begin)
    return result


def by_turns(
    rounds: int, calls: Mapping[str, Callable[[int], Any]]
) -> tuple[dict[str, Samples], dict[str, list[Any]]]:
    """Make each call once a round, with the number of the round, beginning with another one each time.

    Returns how long the calls took and what they returned, by name and round.
    """
    names = list(calls)
    samples = {name: Samples() for name in names}
    results: dict[str, list[Any]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            results[name].append(timed(samples[name], partial(calls[name], number)))
    return samples, results
