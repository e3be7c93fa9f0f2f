"""What was written since the index was last committed, and does it match?

A commit of the keyword index takes some fifteen ``fsync``: 5 ms where they are cheap, tens of
milliseconds on a laptop. No search waits for that. The few memories written since are kept here and
scored in plain Python, by the same formula and on the statistics of both sides together.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from retrieval.records import Scope

__all__ = ["BM25_B", "BM25_K1", "Draft", "Statistics", "line_up", "matching", "mentioning", "rarity"]

BM25_K1 = 1.2
"""Saturation of a word's frequency (no unit). Fixed inside tantivy; repeated here to agree with it."""

BM25_B = 0.75
"""Share of the length normalization, 0 to 1. Fixed inside tantivy; repeated here to agree with it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory as the index will take it in; ``body`` is its words, lined up."""

    row: int
    space: str
    user_id: str | None
    body: str
    length: int

    def within(self, scope: Scope) -> bool:
        return self.space == scope.space and scope.user_id in (None, self.user_id)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of the committed texts within reach: how many, how long, how many have a word."""

    count: int
    average_length: float
    having: Callable[[str], int]


def line_up(found: Sequence[str]) -> str:
    """Words as one string in which each stands between spaces of its own, so that ``str`` can count them."""
    return " " + "  ".join(found) + " "


def matching(
    asked: Sequence[str], scope: Scope, drafts: Mapping[int, Draft | None], known: Statistics
) -> Iterator[tuple[int, float]]:
    """The drafts that have any of the words, with their BM25 scores, in no particular order."""
    live = [draft for draft in drafts.values() if draft is not None and draft.within(scope)]
    if not live:
        return
    count = known.count + len(live)
    average = (known.count * known.average_length + sum(draft.length for draft in live)) / count
    scores: dict[int, float] = {}
    for word, times in Counter(asked).items():
        needle = f" {word} "
        having = [draft for draft in live if needle in draft.body]
        if not having:
            continue
        rare = _rarity(count, known.having(word) + len(having))
        for draft in having:
            often = draft.body.count(needle)
            pull = BM25_K1 * (1 - BM25_B + BM25_B * draft.length / average)
            gain = times * rare * often * (BM25_K1 + 1) / (often + pull)
            scores[draft.row] = scores.get(draft.row, 0.0) + gain
    yield from scores.items()


def mentioning(phrase: Sequence[str], scope: Scope, drafts: Mapping[int, Draft | None]) -> Iterator[int]:
    """The drafts in which the words stand one after the other."""
    needle = line_up(phrase)
    for draft in drafts.values():
        if draft is not None and needle in draft.body and draft.within(scope):
            yield draft.row


def rarity(known: Statistics, word: str) -> float:
    """How much it says about a committed text that it has the word."""
    return _rarity(known.count, known.having(word))


def _rarity(count: int, having: int) -> float:
    """Lucene's inverse document frequency, never negative."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))
