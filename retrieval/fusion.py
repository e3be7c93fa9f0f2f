"""Several channels scored the same candidates; in which order do they belong?

Each channel's scores become z-scores over all candidates, then a weighted sum. The edge cases:

- A candidate that a channel did not find gets that channel's lowest score, not 0: it is at most as good
  as the worst one found, and a cosine of 0 or a z of 0 would say otherwise.
- A channel that found nothing, or whose scores do not differ, says nothing about the order: its weight
  goes to the others in proportion.
- One candidate, or no channel with anything to say: every score is 0 and the order stays as given.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from retrieval.errors import InvalidInput
from retrieval.records import Scores

__all__ = ["Weights", "fuse", "z_scores"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each channel counts; only the proportions matter."""

    vector: float = 0.40
    bm25: float = 0.15
    ppr: float = 0.45

    def __post_init__(self) -> None:
        for name in ("vector", "bm25", "ppr"):
            value = getattr(self, name)
            if not math.isfinite(value) or value < 0:
                raise InvalidInput(f"{name}_weight", f"must be a number of at least 0, not {value}.")
        if self.vector + self.bm25 + self.ppr == 0:
            raise InvalidInput(
                "vector_weight", "vector_weight, bm25_weight and ppr_weight are all 0; give one a value."
            )


def z_scores(scores: Scores) -> Scores | None:
    """Standard scores with absent (NaN) candidates at the minimum; None when nothing can be told apart."""
    if not len(scores):
        return None
    lowest, highest = float(np.fmin.reduce(scores)), float(np.fmax.reduce(scores))
    if math.isnan(lowest):  # all of them are
        return None
    z: Scores = np.where(np.isnan(scores), lowest, scores)
    z -= z.mean()
    spread = math.sqrt(z.dot(z) / len(z))
    if not spread > _FLAT * max(1.0, -lowest, highest):
        return None
    z /= spread
    return z


_FLAT = 1e-9
"""Relative spread below which scores are equal but for rounding."""


def fuse(channels: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """The weighted z-score sum over the channels that have something to say (``NaN`` = not found)."""
    size = len(next(iter(channels.values())))
    total = np.zeros(size)
    weight_used = 0.0
    largest = max(weights.values()) or 1.0  # only proportions matter, and weights of 1e308 must not overflow
    for name, scores in channels.items():
        weight = weights[name] / largest
        if weight > 0 and (z := z_scores(scores)) is not None:
            total += weight * z
            weight_used += weight
    return total / weight_used if weight_used else total
