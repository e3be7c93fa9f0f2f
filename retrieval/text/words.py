"""What words are in this text?

One analyzer for prose and for identifiers, used for what is indexed and for what is asked, so that
the two agree. A text becomes its *parts* in reading order, followed by its *wholes*:

    "Call getUserName twice"  →  call get user name twice  getusernam

A part is a word, or a piece of an identifier: camelCase, snake_case, kebab-case, dotted.names,
``utf8``. A whole is an identifier with its joints removed, so that ``getUserName``, ``get_user_name``
and ``GETUSERNAME`` find each other; a dotted name (``lexical.py``, ``3.11``) is a whole that keeps its
dots. Wholes come last so that parts stay neighbours: "user name" is a phrase of the text above.

Words are folded (NFKC, case, Latin and Greek accents: "Café" is "cafe") and stemmed as English.
Scripts written without spaces become pairs of characters, with the single characters as wholes.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

__all__ = ["ANALYSIS", "STOP_WORDS", "phrases", "query_words", "words"]

ANALYSIS = 1
"""Version of the analysis. Raise it when ``words`` changes: indexes made by another are rebuilt."""

LONGEST = 64
"""Characters kept of one word: a SHA-256 in hex fits, a base64 blob does not fill the index."""

CACHED_RUNS = 32_768
"""Runs of text whose analysis is remembered: about 8 MB; a conversation of 5,882 turns has 9,000."""

# Chosen by BM25 (k1 1.2, b .75) on the development sets, figures without → with:
#   stemming     LoCoMo R@10 .541 → .576, SciFact NDCG@10 .673 → .691, CACM .394 → .455, CoSQA .370 → .396,
#                against BEAM R@10 .417 → .396
#   wholes       CoSQA .386 → .396, others within .004
#   utf8 = utf 8 SciFact .691 → .698, CACM .455 → .466, CoSQA .396 → .392
#   stop words   LoCoMo R@10 .576 → .635, MuSiQue R@5 .492 → .512, Hotpot R@5 .775 → .795, CACM .466 → .487,
#                CoSQA .392 → .389. In queries only: dropped from the texts as well they gain nothing more
#                (LoCoMo .636 → .636, CACM .484 → .475) and phrases would break.
_FUNCTION_WORDS = """
    a an the this that these those such and or but if then as at by for from in into of on to with about
    is are was were be been being am do does did has have had can could should would will not no
    i you he she it we they me him her us them my your his its our their there
    what which who whom whose when where why how s t
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that say nothing about what is asked for, in a query that has others."""

_UNSPACED = (  # Thai to Khmer, kana, Han, Hangul; without the marks that separate words
    "\u0e00-\u0e5b\u0e80-\u0edf\u1000-\u1049\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_INDIC = "\u0900-\u0963\u0966-\u096f\u0971-\u0df3"  # vowel signs are no letters to ``re``
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_INDIC}])"
_ASCII_RUN = re.compile(r"[A-Za-z0-9]+(?:[_.-][A-Za-z0-9]+)*")
_RUN = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:[_.-]{_LETTER}+)*")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAME_AND_NUMBER = re.compile(r"([a-z]+)([0-9]+)|([0-9]+)([a-z]+)")

_Analysis = tuple[tuple[str, ...], tuple[str, ...]]
"""The parts and the wholes of one run of text."""


def words(text: str) -> list[str]:
    """The words under which a text is indexed: its parts in order, then its wholes."""
    return _analyse(_runs(text))


def query_words(text: str) -> list[str]:
    """The words by which a question is asked: as ``words``, without stop words if others remain.

    A word in capitals is a name ("US", "IT", "WHO"), not a stop word. Repeated words stay repeated: who
    says a thing twice means it (CACM, with its long questions: NDCG@10 .458 → .487).
    """
    runs = _runs(text)
    telling = [run for run in runs if run.lower() not in STOP_WORDS or (len(run) > 1 and run.isupper())]
    return _analyse(telling or runs)


def phrases(text: str) -> list[list[str]]:
    """The ways in which a phrase may stand in a text: by its parts and, if that differs, joined.

    "GitHub Actions" is git hub action where the text has humps, github action where it has none.
    """
    runs = _runs(text)
    by_parts = [part for pieces, _ in _split(runs) for part in pieces]
    joined: list[str] = []
    for run in runs:
        if _IS_UNSPACED.match(run):
            joined += _split_now(run)[0]
        else:
            joined += (_stem(_join(segment))[:LONGEST] for segment in run.split("."))
    return [by_parts] if joined == by_parts else [by_parts, joined]


def _analyse(runs: list[str]) -> list[str]:
    found: list[str] = []
    wholes: list[str] = []
    for pieces, joined in _split(runs):
        found += pieces
        if joined:
            wholes += joined
    return found + wholes


def _runs(text: str) -> list[str]:
    """The stretches of text to look into, folded but in their own case: it shows where humps are."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_folding())
    return (_ASCII_RUN if text.isascii() else _RUN).findall(text)


def _split(runs: list[str]) -> Iterator[_Analysis]:
    # a long run is rarely seen twice and would only crowd the cache
    longest = len(max(runs, key=len, default=""))
    return map(_split_cached if longest <= LONGEST else _split_now, runs)


def _split_now(run: str) -> _Analysis:
    if _IS_UNSPACED.match(run):
        pairs = tuple(run[at : at + 2] for at in range(len(run) - 1))
        return (pairs, tuple(run)) if pairs else ((run,), ())
    pieces: list[str] = []
    wholes: list[str] = []
    segments = run.split(".")
    for segment in segments:
        found = [
            piece
            for name in re.split("[_-]", segment)
            for hump in _HUMP.split(name)
            for piece in _divide(hump)
        ]
        pieces += map(_stem, found)
        if len(found) > 1:
            wholes.append(_stem("".join(found)))
    if len(segments) > 1:
        wholes.append(_join(run))
    return tuple(piece[:LONGEST] for piece in pieces), tuple(
        whole for whole in wholes if len(whole) <= LONGEST
    )


_split_cached = lru_cache(maxsize=CACHED_RUNS)(_split_now)


def _join(run: str) -> str:
    return run.replace("_", "").replace("-", "").casefold()


def _divide(hump: str) -> list[str]:
    """``utf8`` into utf and 8, ``10ms`` into 10 and ms; a hash of many turns stays in one piece."""
    folded = hump.casefold()
    pair = _NAME_AND_NUMBER.fullmatch(folded)
    return [group for group in pair.groups() if group] if pair else [folded]


def _stem(word: str) -> str:
    return _stemmer()(word) if len(word) <= LONGEST else word


@cache
def _stemmer() -> Callable[[str], str]:
    import Stemmer

    # its own cache is off: ours remembers whole runs
    stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stem


@cache
def _folding() -> dict[int, str | None]:
    """Latin and Greek letters without their accents. Elsewhere a mark makes another letter (й, が)."""
    table: dict[int, str | None] = dict.fromkeys(
        (*range(0x300, 0x370), *range(0x591, 0x5C8), *range(0x610, 0x61B), *range(0x64B, 0x660), 0x670)
    )
    table.update({ord(letter): base for letter, base in zip("øØłŁđĐðÐıħĦŧŦ", "oOlLdDdDihHtT", strict=True)})
    table.update(
        {ord("æ"): "ae", ord("Æ"): "AE", ord("œ"): "oe", ord("Œ"): "OE", ord("þ"): "th", ord("Þ"): "Th"}
    )
    table.update({ord("\u2018"): "'", ord("\u2019"): "'", ord("\u2010"): "-", ord("\u2011"): "-"})
    for code in (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)):
        decomposed = unicodedata.normalize("NFD", chr(code))
        if len(decomposed) > 1:
            table[code] = decomposed[0]
    return table
