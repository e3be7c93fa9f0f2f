"""Chunks of code were found by several channels; which of them answer the question?

The channels' z-scores are summed (``retrieval.fusion``) and scaled so that the best candidate has 1 and the
worst 0. Every rule then adds or takes a share of that best score:

- **definition**: the chunk defines a name that the question has. It need not have been found otherwise.
- **name**: the words of the chunk's name are words of the question.
- **path**: the words of the file's name, and of its folders, are words of the question.
- **minor**: a declaration of what is defined elsewhere, a test within the code.
- **support**: tests, examples, documents, vendored files stand back unless they are asked for.
- **file**: a file with several good chunks lifts its best one.
- **spread**: each further chunk of a file counts half, so that ten results are not one file.

Each can be switched off (``Rules``) and tells what it did (``Ranked.reasons``). Constants are shares of the
best score. Figures are NDCG@10 over 537 questions to 27 repositories in 19 languages, with vectors / without:
.902 / .890, where fusion alone has .762 / .702.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from retrieval.code.question import CACHED_PATHS, Name, Question, read_question, supporting, written_names
from retrieval.fusion import Weights, fuse
from retrieval.records import Ranking, Rows, Scores
from retrieval.text.words import phrases

__all__ = ["WEIGHTS", "Entry", "Lookup", "Ranked", "Rules", "rank"]

WEIGHTS = Weights(vector=0.4, bm25=0.4, ppr=0.1)
"""Words and vectors alike: .902; .3 for the words .903, .6 .901, the .15 of memories .897. A walk over
references between chunks adds nothing that can be measured: by the logarithm of its shares .1 to .4 give .900
to .903 / .889 to .891; by the shares themselves it costs up to .012."""

DEFINITION = 0.6
"""For a name that its form gives away: 0 → .900 / .891, 1 → .900 / .889. It is for long texts: without the
rule a right file is among the first five for 73 % of 62 SWE-bench issues, with it for 82 %."""
GUESS = 0.3
"""For a word with a capital: 0 → .899 / .890, .6 → .900 / .890."""
LOOKUP = 2.0
"""For a question that is nothing but a name: first, whatever else speaks for others; .6 to 3 are level."""
NAME = 0.2
"""0 → .901 / .886, .4 → .898 / .888; right file first in SWE-bench issues 42 % → 47 %."""
STEM = 0.8
"""0 → .872 / .852, .4 → .899 / .877, .6 → .901 / .886, 1 → .899 / .891, 1.2 → .894 / .888."""
FOLDER = 0.3
"""0 → .897 / .886, .15 → .898 / .888, .6 → .898 / .889."""
MINOR = 0.2
"""0 → .901 / .889, .8 → .902 / .891: C alone gains, whose headers repeat everything."""
SUPPORT = 1.5
"""0 → .889 / .873, .75 → .900 / .887, 2 → .902 / .890. With all of a repository indexed, not only the folder
that is asked about (18 of them, without vectors): 0 → .747, 1 → .841, 1.5 → .853, 3 → .862. No higher:
a file that only looks like a test must not be lost."""
LIFT = 0.6
"""0 → .871 / .872, .3 → .896 / .888, .45 → .900 / .889, .8 → .899 / .892, 1 → .899 / .889."""
LIFT_DECAY = 0.7
"""What a further chunk adds to the lift, as a share of the one before: .5 → .892 / .885, .6 → .898 / .887,
.8 → .900 / .889."""
SPREAD = 0.5
"""1 → .890 / .869; .3 to .7 are level."""
SHORTEST_PREFIX = 4
"""Characters of a word that may be the beginning of another: 3 → .902 / .891, 5 → .897 / .887, never →
.894 / .884; at 3 ``con`` and ``get`` begin too many."""
MOST_DEFINITIONS = 200
"""Chunks that define a name beyond which it tells nothing (``new``, ``get``), and chunks that a file of the
asked name brings along: both bound the time."""

_MINOR = frozenset({"declaration", "test", "suite"})
_STANDS_FOR_FOLDER = frozenset({"__init__", "index", "mod", "lib", "main", "package", "init"})


@dataclass(frozen=True, slots=True)
class Entry:
    """What ranking knows of a chunk without its text."""

    row: int
    path: str
    language: str
    chunk_type: str
    name: str
    breadcrumb: str
    start_line: int
    end_line: int


class Lookup(Protocol):
    """The chunks of the projects and languages that are asked about."""

    def entries(self, rows: Rows) -> list[Entry]:
        """These chunks, in this order."""

    def named(self, name: str) -> Rows:
        """Chunks that define this folded name, by ``defined_names`` of theirs."""

    def in_files(self, stem: str) -> Rows:
        """Chunks of files with this folded stem: the file's name up to its first dot."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which rules apply; a benchmark switches them off one by one."""

    definition: bool = True
    name: bool = True
    path: bool = True
    minor: bool = True
    support: bool = True
    file: bool = True
    spread: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk in its place: the score of each channel (None where it was not found), their fusion from 0 to
    1, and what each rule added.
    """

    row: int
    score: float
    fused: float
    vector: float | None
    bm25: float | None
    ppr: float | None
    reasons: Mapping[str, float]


def rank(
    query: str,
    channels: Mapping[str, Ranking],
    lookup: Lookup,
    weights: Weights,
    k: int,
    rules: Rules = Rules(),
) -> list[Ranked]:
    """The ``k`` best chunks by the channels ``vector``, ``bm25`` and ``ppr`` (any may be absent) and by the
    rules; equal scores by row.
    """
    question = read_question(query)
    shares = {"vector": weights.vector, "bm25": weights.bm25, "ppr": weights.ppr}
    used = {name: channels.get(name, Ranking()) if share > 0 else Ranking() for name, share in shares.items()}
    defining = _defining(question, lookup) if rules.definition else {}
    rows = _candidates(question, used, defining, lookup)
    if not len(rows) or k < 1:
        return []
    placed = {name: _placed(ranking, rows) for name, ranking in used.items()}
    fused = _scaled(fuse(placed, shares))
    entries = lookup.entries(rows)
    said = _Said(question)
    by_chunk = [_about_chunk(entry, defining, said, rules) for entry in entries]
    own = [score + sum(shares) for score, shares in zip(fused.tolist(), by_chunk, strict=True)]
    by_file = _about_files(entries, own, said, rules)
    scores = [score + sum(shares) for score, shares in zip(own, by_file, strict=True)]
    best = sorted(range(len(rows)), key=lambda at: (-scores[at], at))[:k]
    return [
        Ranked(
            row=int(rows[at]),
            score=scores[at],
            fused=float(fused[at]),
            vector=_known(placed["vector"][at]),
            bm25=_known(placed["bm25"][at]),
            ppr=_known(placed["ppr"][at]),
            reasons={
                rule: share for rule, share in zip(_REASONS, by_chunk[at] + by_file[at], strict=True) if share
            },
        )
        for at in best
    ]


_REASONS = ("definition", "name", "minor", "path", "file", "spread", "support")
"""What ``_about_chunk`` and then ``_about_files`` give shares for."""


def _about_chunk(
    entry: Entry, defining: Mapping[int, float], said: "_Said", rules: Rules
) -> tuple[float, float, float]:
    return (
        defining.get(entry.row, 0.0),
        NAME * said.share_of(_words(entry.name)) if rules.name and entry.name else 0.0,
        -MINOR if rules.minor and entry.chunk_type in _MINOR else 0.0,
    )


def _about_files(
    entries: list[Entry], own: list[float], said: "_Said", rules: Rules
) -> list[tuple[float, float, float, float]]:
    """What its file adds to each chunk, which has so much of its own."""
    files: dict[str, list[int]] = {}
    for at, entry in enumerate(entries):
        files.setdefault(entry.path, []).append(at)
    shares = [(0.0, 0.0, 0.0, 0.0)] * len(own)
    for path, members in files.items():
        members.sort(key=own.__getitem__, reverse=True)
        best, *further = members
        by_path = _about_path(path, said) if rules.path else 0.0
        sort = supporting(path, entries[best].language)
        back = -SUPPORT if rules.support and sort not in said.welcome else 0.0
        lift = 0.0
        if rules.file:
            for at in reversed(further):
                lift = LIFT_DECAY * (own[at] + lift)
        shares[best] = (by_path, LIFT * lift, 0.0, back)
        kept = 1.0
        for at in further:
            kept *= SPREAD if rules.spread else 1.0
            shares[at] = (by_path, 0.0, (kept - 1.0) * max(0.0, own[at] + by_path), back)
    return shares


def _about_path(path: str, said: "_Said") -> float:
    stem, folders = _path_words(path)
    return STEM * said.share_of(stem) + FOLDER * said.share_of(folders)


class _Said:
    """Which words are in the question? Remembers those it was asked about: paths repeat them."""

    def __init__(self, question: Question) -> None:
        self.welcome = question.wanted | {""}
        self._words = question.words
        self._beginnings = tuple(word for word in question.words if len(word) >= SHORTEST_PREFIX)
        self._known: dict[str, bool] = {}

    def share_of(self, words: tuple[str, ...]) -> float:
        """The share of these words that the question has too."""
        if not words:
            return 0.0
        return sum(map(self._has, words)) / len(words)

    def _has(self, word: str) -> bool:
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = word in self._words or self._begins(word)
        return known

    def _begins(self, word: str) -> bool:
        """Is one the beginning of the other? ``auth`` is authentication, ``conn`` a connection."""
        if len(word) < SHORTEST_PREFIX:
            return False
        return any(asked.startswith(word) or word.startswith(asked) for asked in self._beginnings)


@lru_cache(maxsize=CACHED_PATHS)
def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(phrases(text)[0]))


@lru_cache(maxsize=CACHED_PATHS)
def _path_words(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a file's name and those of its folders; ``mod.rs`` has the name of its folder."""
    *folders, file = path.split("/")
    stem = file.lstrip(".").split(".")[0]
    if folders and stem.lower() in _STANDS_FOR_FOLDER:
        stem = folders.pop()
    return _words(stem), _words(" ".join(folders))


def _defining(question: Question, lookup: Lookup) -> dict[int, float]:
    """Chunks that define what the question names. Of a long definition that is its first chunk; files that
    define the same name share what it is worth.
    """
    found: dict[int, float] = {}
    for name in question.names:
        rows = lookup.named(name.text.lower())
        if not 0 < len(rows) <= MOST_DEFINITIONS:
            continue
        firsts: dict[tuple[str, ...], Entry] = {}
        for entry in sorted(
            _meant(name, lookup.entries(rows), question.wanted), key=lambda entry: entry.start_line
        ):
            firsts.setdefault((entry.path, entry.chunk_type, entry.breadcrumb, entry.name), entry)
        files = len({entry.path for entry in firsts.values()})
        for entry in firsts.values():
            worth = (LOOKUP if question.is_lookup else GUESS if name.is_guess else DEFINITION) / files
            found[entry.row] = max(found.get(entry.row, 0.0), worth)
    return found


def _meant(name: Name, entries: list[Entry], wanted: frozenset[str]) -> list[Entry]:
    """Those in the name's own case and scope, and in the code itself, if there are any."""
    entries = [entry for entry in entries if name.text in written_names(entry.name)] or entries
    welcome = wanted | {""}
    entries = [entry for entry in entries if supporting(entry.path, entry.language) in welcome] or entries
    if not name.scopes:
        return entries
    scope = name.scopes[-1].lower()
    return [entry for entry in entries if scope in _scopes(entry)] or entries


def _scopes(entry: Entry) -> tuple[str, ...]:
    around = f"{entry.breadcrumb}.{entry.name}.{entry.path}".lower()
    return tuple(around.replace("/", ".").replace("::", ".").split("."))


def _candidates(
    question: Question, channels: Mapping[str, Ranking], defining: Mapping[int, float], lookup: Lookup
) -> Rows:
    found = [ranking.rows for ranking in channels.values()]
    found.append(np.fromiter(defining, np.int64, len(defining)))
    stems = {*question.files, *(name.text.lower() for name in question.names if question.is_lookup)}
    found += (lookup.in_files(stem)[:MOST_DEFINITIONS] for stem in sorted(stems))
    return np.unique(np.concatenate(found))


def _placed(ranking: Ranking, rows: Rows) -> Scores:
    """The scores of a ranking at the places of its rows among ``rows``, which hold all of them."""
    scores = np.full(len(rows), np.nan)
    scores[rows.searchsorted(ranking.rows)] = ranking.scores
    return scores


def _scaled(fused: Scores) -> Scores:
    above: Scores = fused - fused.min()
    highest = float(above.max())
    return above / highest if highest > 0 else above


def _known(score: float) -> float | None:
    return None if math.isnan(score) else float(score)
