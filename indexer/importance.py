"""What matters most in a project?

Two walkers: one goes from a definition to what it refers to and is most often at what the rest stands on;
one goes the other way and is most often where things come together. What both visit is what a newcomer has
to know. A member of a class is also worth what the class is. Who asks for something is led to what is around
it: that is where the walkers start anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.resolve import Place
from indexer.symbol_graph import Symbol, SymbolGraph
from retrieval.code.question import read_question
from retrieval.records import Scores
from retrieval.text.words import query_words, words

__all__ = ["Important", "important", "pagerank"]

# Chosen by reading the maps of requests, gin, axum, rack, express, zod, ktor and tokio.
DAMPING = 0.85
FORWARD = 0.65
"""Share of the walk along the references, as an exponent; 1 fills the map with exceptions and constants."""
TOLERANCE = 1e-6
"""Change of a round, as a share of all mass, at which the walk is over."""
MOST_ROUNDS = 100
FOCUS = 0.8
"""Share of new starts that are at what was asked for."""
FOCUS_FILE = 4.0
"""What the name of its file adds to a definition, against 1 for a word of its own name."""
UPWARD = 0.1
"""Weight of the way from a definition to what holds it, as a share of its references."""
OWN = 0.4
"""Share of its own rank in the worth of a member, as an exponent; the rest is that of its class."""
EVERYWHERE_WEIGHT = 0.1
"""Weight of a reference to a method that is called as those of every standard library are."""
SUPPORT_FOCUS = 0.2
"""Weight of a test or an example that the focus names, but did not ask for tests or examples."""
SUPPORT_WORTH = 0.02
"""Worth of what stands in tests and examples, against 1 for code."""
SMALL_WORTH = 0.15
"""Worth of constants, variables, macros and associated types, against functions and classes."""

_SMALL = frozenset({"constant", "variable", "property", "field", "declaration", "macro"})
_CLASSES = frozenset("class struct trait interface protocol enum object record type union".split())
_WITH_MEMBERS = _CLASSES | {"module"}
_NEVER = frozenset({"test", "suite", "namespace", "file", "impl", "extension", "module"})
"""Shown only around what is inside of them."""
_EVERYWHERE = frozenset(
    "get set has items keys values update copy clone pop push append add remove delete clear size length len "
    "close open read write flush join split format index count find next iter map filter first last name "
    "string String Error error toString equals hashCode contains start stop run call apply then".split()
)


@dataclass(frozen=True, slots=True)
class Important:
    """Every symbol by file and line, a file before its definitions, and what each is worth.

    ``holders`` and ``classes`` are numbers of symbols: what each is inside of, and what it is a member of.
    """

    symbols: Sequence[Symbol]
    worth: Scores
    holders: Sequence[int]
    classes: Sequence[int]
    matches: int
    """How many of them the focus names."""


def important(graph: SymbolGraph, focus: str = "") -> Important:
    """What each definition of a project is worth to one who is new to it, or interested in something."""
    symbols = sorted(graph.symbols(), key=_outer_first)
    holders, classes = _holders(symbols), _classes(symbols)
    wanted = _Focus(focus, {one.path for one in symbols})
    seeds, matches = _seeds(symbols, wanted)
    worth = _ranked(graph, symbols, holders, classes, seeds) * _worth(symbols, wanted)
    return Important(symbols, worth, holders, classes, matches)


def pagerank(source: Sequence[int], target: Sequence[int], weight: Sequence[float], seeds: Scores) -> Scores:
    """Where a walker is that goes along the edges, together 1; where there is no way on it starts anew.

    So it does where all ways together weigh less than 1, the more often the less they weigh.
    """
    size = len(seeds)
    if not len(source):
        return seeds / seeds.sum() if size else seeds
    sources, targets = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
    weights = np.asarray(weight, dtype=np.float64)
    share = DAMPING * weights / np.maximum(np.bincount(sources, weights, size), 1.0)[sources]
    seeds = seeds / seeds.sum()
    scores = seeds
    for _ in range(MOST_ROUNDS):
        before = scores
        walked = np.bincount(targets, scores[sources] * share, size)
        scores = walked + (1.0 - walked.sum()) * seeds
        if np.abs(scores - before).sum() < TOLERANCE:
            break
    return scores


def _ranked(
    graph: SymbolGraph,
    symbols: Sequence[Symbol],
    holders: Sequence[int],
    classes: Sequence[int],
    seeds: Scores,
) -> Scores:
    numbers = {one.place: at for at, one in enumerate(symbols)}
    links = [
        (numbers[link.source.place], numbers[link.target.place], link.weight * _telling(link.target))
        for link in graph.links()
    ]
    links.sort()  # sums of floats depend on their order
    sources = [source for source, _, _ in links]
    targets = [target for _, target, _ in links]
    weights = [weight for _, _, weight in links]
    inner = [at for at, holder in enumerate(holders) if holder >= 0]
    outer = [holders[at] for at in inner]

    def walk(here: list[int], there: list[int]) -> Scores:
        total = [0.0] * len(symbols)
        for at, weight in zip(here, weights, strict=True):
            total[at] += weight
        upward = [UPWARD * max(total[at], 1.0) for at in inner]
        return pagerank(here + inner, there + outer, weights + upward, seeds)

    scores = walk(sources, targets) ** FORWARD * walk(targets, sources) ** (1 - FORWARD)
    shared = scores**OWN * scores[classes] ** (1 - OWN)
    return np.where(np.asarray(classes) >= 0, np.maximum(scores, shared), scores)


def _telling(target: Symbol) -> float:
    """A function that is called as one of every library may not be meant at all."""
    is_common = target.last_name in _EVERYWHERE and target.definition.kind not in _CLASSES
    return EVERYWHERE_WEIGHT if is_common else 1.0


def _seeds(symbols: Sequence[Symbol], focus: "_Focus") -> tuple[Scores, int]:
    """Where a walker starts anew, and how many definitions the focus names."""
    seeds = np.ones(len(symbols))  # tests and examples as well: they show what is used
    hits = np.array([focus.weight(one) for one in symbols])
    if not hits.any():
        return seeds, 0
    focused = FOCUS * hits / hits.sum() + (1 - FOCUS) * seeds / seeds.sum()
    return focused, int(np.count_nonzero(hits))


class _Focus:
    """What was asked for: words, files and folders."""

    def __init__(self, text: str, paths: Iterable[str]) -> None:
        self.wanted = read_question(text).wanted
        given = [word.strip("`'\",;()").strip("/") for word in text.split()]
        named = {word: {path for path in paths if _is_named(path, word)} for word in given}
        self.files = frozenset().union(*named.values())
        rest = " ".join(word for word in given if not named[word] or "/" not in word)
        self._words = frozenset(query_words(rest)) if rest else frozenset()

    def weight(self, one: Symbol) -> float:
        """How much of the focus a definition is."""
        said = len(self._words & set(words(one.definition.name))) ** 2 if self._words else 0
        weight = said + FOCUS_FILE * (one.path in self.files)
        return weight * (SUPPORT_FOCUS if self.is_beside(one) else 1.0)

    def is_beside(self, one: Symbol) -> bool:
        """Is it a test, an example or the like, which nobody asked for?"""
        return bool(one.support) and one.support not in self.wanted


def _is_named(path: str, word: str) -> bool:
    """Is this the name of the file, or of a folder it is in?"""
    if not word:
        return False
    stem = path.rpartition("/")[2].partition(".")[0].lower()
    return f"/{word}/" in f"/{path}/" or (len(stem) > 2 and word.lower() == stem)


def _worth(symbols: Sequence[Symbol], focus: _Focus) -> Scores:
    """Factors by the kind and the place of a definition."""

    def of(one: Symbol) -> float:
        definition = one.definition
        if definition.kind in _NEVER:
            return 0.0
        worth = 1.0
        if focus.is_beside(one):
            worth *= SUPPORT_WORTH
        if definition.kind in _SMALL or (definition.kind == "type" and definition.scope):
            worth *= SMALL_WORTH
        return worth

    return np.array([of(one) for one in symbols])


def _holders(symbols: Sequence[Symbol]) -> list[int]:
    """What each definition is inside of, by number; a file holds what nothing else does; -1 for files.

    ``symbols`` are in the order of their files and lines, each file before its definitions.
    """
    held: list[int] = []
    file, around = -1, list[int]()
    for at, one in enumerate(symbols):
        if one.definition.kind == "file":
            file, around = at, []
            held.append(-1)
            continue
        while around and not symbols[around[-1]].holds(one):
            around.pop()
        held.append(around[-1] if around else file)
        around.append(at)
    return held


def _classes(symbols: Sequence[Symbol]) -> list[int]:
    """What each definition is a member of, by number, in its file or its folder; -1 if of nothing."""
    known: dict[tuple[str, str], int] = {}
    for at, one in enumerate(symbols):
        if one.definition.kind in _WITH_MEMBERS:
            known.setdefault((one.path, one.place.name), at)
            known.setdefault((_folder(one.path), one.place.name), at)
    return [
        known.get((one.path, scope), known.get((_folder(one.path), scope), -1)) if scope else -1
        for one in symbols
        for scope in [one.definition.scope]
    ]


def _outer_first(one: Symbol) -> tuple[str, int, int, Place]:
    return one.path, one.definition.start_line, -one.definition.end_line, one.place


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"
