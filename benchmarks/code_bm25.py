"""What does counting words alone find in code?

rank-bm25 with Lucene's weights (k1 1.5, b .75, and an inverse document frequency that is never negative),
over two cuts of the same files: windows of 50 lines, which know nothing of code, and the indexer's chunks
with their paths and names. The difference between the two is what cutting well is worth.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import Stemmer
from rank_bm25 import BM25Okapi

from benchmarks.code_systems import Found, Indexed, Place
from indexer.chunk import cut
from indexer.languages.registry import language_of
from indexer.walk import walk
from indexer.walk_content import Skip, read_text
from retrieval.code.document import searched_text
from retrieval.text.words import query_words, words

__all__ = ["Bm25", "over_chunks", "over_windows"]

K1, B = 1.5, 0.75
WINDOW = 50
"""Lines."""

Pieces = Callable[[str, str], Iterator[tuple[Place, str]]]
"""The path and text of a file, cut into places and what is searched of them."""
Words = Callable[[str], list[str]]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def over_windows() -> "Bm25":
    """The plain one: nothing of it is ours but the choice of files."""
    return Bm25("BM25, windows", _windows, _plain_words, _plain_words)


def over_chunks() -> "Bm25":
    """The indexer's chunks and the engine's words, ranked by words alone."""
    return Bm25("BM25, our chunks", _chunks, words, query_words)


class Bm25:
    """A ``System`` of rank-bm25."""

    def __init__(self, name: str, pieces: Pieces, text_words: Words, asked_words: Words) -> None:
        self.name = name
        self._pieces = pieces
        self._text_words = text_words
        self._asked_words = asked_words
        self._places: list[Place] = []
        self._bm25: Any = None

    def about(self) -> Mapping[str, str]:
        return {"rank-bm25": version("rank-bm25"), "k1": str(K1), "b": str(B), "idf": "lucene"}

    def index(self, root: Path) -> Indexed:
        begin = time.perf_counter()
        walked = walk(root, look_inside=False)
        self._places = []
        texts: list[list[str]] = []
        files = 0
        for file in walked.files:
            text = read_text(walked.root / file.path)
            if isinstance(text, Skip):
                continue
            files += 1
            for place, piece in self._pieces(file.path, text):
                self._places.append(place)
                texts.append(self._text_words(piece))
        self._bm25 = _lucene(texts) if any(texts) else None
        return Indexed(files, len(texts), time.perf_counter() - begin)

    def search(self, query: str, k: int) -> Found:
        begin = time.perf_counter()
        if self._bm25 is None:
            return Found((), time.perf_counter() - begin)
        scores = self._bm25.get_scores(self._asked_words(query))
        best = np.argsort(-scores, kind="stable")[:k]
        places = [self._places[at] for at in best.tolist() if scores[at] > 0]
        return Found(places, time.perf_counter() - begin)

    def close(self) -> None:
        self._bm25 = None


def _lucene(texts: list[list[str]]) -> Any:
    bm25 = BM25Okapi(texts, k1=K1, b=B)
    holding = Counter(word for text in texts for word in set(text))
    bm25.idf = {word: math.log1p((len(texts) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
    return bm25


def _windows(path: str, text: str) -> Iterator[tuple[Place, str]]:
    lines = text.splitlines()
    for first in range(0, len(lines), WINDOW):
        window = lines[first : first + WINDOW]
        yield Place(path, first + 1, first + len(window)), "\n".join((path, *window))


def _chunks(path: str, text: str) -> Iterator[tuple[Place, str]]:
    language = language_of(path, text[:4096].encode(errors="replace"))
    for chunk in cut(text, language).chunks:
        yield (
            Place(path, chunk.start_line, chunk.end_line),
            searched_text(path, chunk.breadcrumb, chunk.name, chunk.text),
        )


def _plain_words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text)]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_english().stemWord(word.lower()))


@lru_cache(maxsize=1)
def _english() -> Any:
    return Stemmer.Stemmer("english")
