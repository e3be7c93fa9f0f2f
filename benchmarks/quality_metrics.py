"""How good is a ranking, and how sure are we?

``relevant`` are the documents that answer a query, with grades above 0; a ranking is document ids, best
first. The intervals are of the mean over queries: other queries of the same kind would give another mean.
Queries are drawn one by one, though those of one conversation are no strangers to each other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DEPTH",
    "METRICS",
    "Estimate",
    "Paired",
    "estimates",
    "ndcg",
    "paired",
    "reciprocal_rank",
    "score",
]

DEPTH = 10
"""Documents of a ranking that count."""

METRICS = ("R@5", "R@10", "all@5", "all@10", "NDCG@10", "MRR@10")
"""What ``score`` says of a ranking, in this order: the share of the relevant that is among the first 5 and
10, whether all are (never, where there are more), NDCG, and 1 / rank of the first."""

_ROUNDS = 2_000
_FLIPS = 10_000
_BATCH = 500

Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the interval in which 95 % of the means of resampled queries lie."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f} {self.high:.3f}]"

    def row(self) -> list[float]:
        return [round(value, 4) for value in (self.mean, self.low, self.high)]


@dataclass(frozen=True, slots=True)
class Paired:
    """How much better one is than another on the same queries, and how likely chance alone is that far
    off."""

    difference: Estimate
    p: float
    better: int
    worse: int


def score(ranking: Sequence[str], relevant: Mapping[str, float]) -> tuple[float, ...]:
    """The METRICS of one ranking."""
    first, all_of_it = _found(ranking[:5], relevant), _found(ranking[:DEPTH], relevant)
    count = len(relevant)
    return (
        first / count,
        all_of_it / count,
        float(first == count),
        float(all_of_it == count),
        ndcg(ranking, relevant),
        reciprocal_rank(ranking, relevant),
    )


def ndcg(ranking: Sequence[str], relevant: Mapping[str, float]) -> float:
    """Grades over the logarithm of the place, beside those of the best possible order."""
    gained = sum(relevant.get(key, 0.0) / math.log2(place + 2) for place, key in enumerate(ranking[:DEPTH]))
    best = sorted(relevant.values(), reverse=True)[:DEPTH]
    return gained / sum(grade / math.log2(place + 2) for place, grade in enumerate(best))


def reciprocal_rank(ranking: Sequence[str], relevant: Mapping[str, float]) -> float:
    """1 / place of the first relevant document; 0 if it is not among the first ten."""
    return next((1 / place for place, key in enumerate(ranking[:DEPTH], 1) if key in relevant), 0.0)


def estimates(values: Figures, seed: int = 0) -> list[Estimate]:
    """Mean and interval of every column; a row is a query. The same seed gives the same intervals."""
    count = len(values)
    if not count:
        raise ValueError("no queries, no mean")
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            random.multinomial(count, np.full(count, 1 / count), size=size) @ values / count
            for size in _batches(_ROUNDS)
        ]
    )
    lows, highs = np.quantile(means, (0.025, 0.975), axis=0)
    return [
        Estimate(float(mean), float(low), float(high))
        for mean, low, high in zip(values.mean(axis=0), lows, highs, strict=True)
    ]


def paired(some: Figures, others: Figures, seed: int = 0) -> Paired:
    """``some`` minus ``others``, query by query: one value a query each.

    The p-value is that of a permutation: were both alike, each query's difference might as well have the
    other sign. It is never 0, for there is always the order that was observed.
    """
    differences = np.asarray(some, np.float64) - np.asarray(others, np.float64)
    random = np.random.default_rng(seed)
    observed = abs(differences.sum()) - 1e-9
    as_far = 0
    for size in _batches(_FLIPS):
        signs = random.integers(0, 2, (size, len(differences))) * 2 - 1
        as_far += int(np.count_nonzero(np.abs(signs @ differences) >= observed))
    return Paired(
        difference=estimates(differences[:, None], seed)[0],
        p=(as_far + 1) / (_FLIPS + 1),
        better=int(np.count_nonzero(differences > 0)),
        worse=int(np.count_nonzero(differences < 0)),
    )


def _found(ranking: Sequence[str], relevant: Mapping[str, float]) -> int:
    return len(relevant.keys() & set(ranking))


def _batches(rounds: int) -> list[int]:
    """Rounds in pieces that fit in memory."""
    return [min(_BATCH, rounds - start) for start in range(0, rounds, _BATCH)]
