"""What does this text name?

A *term* is a name, an identifier, a path, a quoted span or a plain word, folded to one spelling. Terms
are what two memories can share without being alike; the graph channel walks over them. They are index
data and never records, so a wrong one costs nothing but an edge that rarity keeps thin.

The text is cut at white space and most words are dismissed with one test; only words that look like
more than prose meet a regular expression. A sentence of 30 words takes about 15 µs.
"""

import re

__all__ = ["MAX_NAME_WORDS", "MAX_TERMS", "fold", "is_telling", "names", "spoken", "terms", "weighted_terms"]

MAX_TERMS = 64
"""Terms kept of one text, its names before its plain words: all those of 90 % of MuSiQue's passages (79
words) and of every turn in LoCoMo. Past that a text is a document, and must not join everything."""

MAX_NAME_WORDS = 6
"""Longest name or quoted span, in words: titles of works reach it, sentences exceed it."""

WORD_WEIGHT = 0.1
"""How much a plain word conducts beside a name's 1. With names alone lower-case notes ("we use surrealdb
with pytest") have no edges at all: LoCoMo R@5 .46 without plain words, .56 with them (a sixth of its
questions). More weight drowns the names: MuSiQue R@5 .722 at .1, .712 at .2, .699 at .3 (before brevity)."""

MIN_WORD_CHARS = 3
"""Shorter lower-case words are particles or noise."""

MAX_WORD_CHARS = 64
"""Longer ones are keys, hashes and encoded data; a SHA-256 in hex still fits."""

# Inside a name these join ("University of Oxford", "Ludwig van Beethoven"); at its ends they do not belong.
_CONNECTORS = frozenset(
    "of the de del della der den des di da do dos du la le les van von zu zum zur al el bin ibn "
    "y e i och und for".split()
)

# Words that are capitalised because a sentence begins, and words too common to connect anything.
_FUNCTION_WORDS = frozenset(
    "a about above across actually after afterwards again against ago all almost along already also "
    "although always am among an and another any anyone anything are aren't around as at away back be "
    "became because become been before behind being below beside besides between beyond both but by "
    "came can can't cannot come could couldn't did didn't do does doesn't doing don't done down during "
    "e.g each either else etc even ever every everyone everything few first for from further gave get gets "
    "getting give go goes going gone got had hadn't has hasn't have haven't having he he'd he'll he's "
    "hello hence her here here's hers herself hey hi him himself his how how's however i i'd i'll i'm "
    "i've i.e if in indeed instead into is isn't it it'll it's its itself just keep kept know known last "
    "later least less let let's like made make makes making many may maybe me meanwhile might mine more "
    "moreover most mostly much must my myself near nearly need needs neither never nevertheless next no "
    "nobody none nor not nothing now of off often oh ok okay on once one ones only onto or other others "
    "our ours ourselves out over own per perhaps please quite rather really said same saw say says see "
    "seem seems seen several shall she she's should shouldn't since so some someone something sometimes "
    "soon still such take taken takes tell than thank thanks that that's the their theirs them "
    "themselves then there there's therefore these they they'd they'll they're they've thing things "
    "this those though through thus till to today together tomorrow too took toward towards two under "
    "unless until up upon us use used uses using usually very via want wants was wasn't way we we'd "
    "we'll we're we've well went were weren't what what's whatever when when's whenever where where's "
    "whereas wherever whether which while who who's whoever whole whom whose why will with within "
    "without won't would wouldn't yeah yes yesterday yet you you'd you'll you're you've your yours "
    "yourself".split()
)

_ABBREVIATIONS = frozenset("st mr mrs ms dr prof jr sr mt ft vs".split())

_EDGES = " \t\r\n.,;:!?…\"'`´“”‘’«»‹›()[]{}<>*|=~^、。！？：；（）【】「」『』《》〈〉"
_BREAKS = frozenset('.,;:!?…)]}、。！？：；）”"»|')
_SENTENCE_ENDS = frozenset(".!?:…。！？：|")
_OPENINGS = frozenset('([{"“«')

_QUOTE_MARKS = re.compile(r"[`\"“«「『《]")
_QUOTED = re.compile(
    r"``([^`'\n]{2,64}?)''|`([^`\n]{2,64})`|\"([^\"\n]{2,64})\"|“([^”\n]{2,64})”|«([^»\n]{2,64})»"
    r"|「([^」\n]{2,64})」|『([^』\n]{2,64})』|《([^》\n]{2,64})》"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?([^/:?#\s]+)", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+(?:[-.]?[a-z]+[.-]?\d*)*)", re.IGNORECASE)
_CODE = re.compile(r"--?[A-Za-z][\w-]*|#\d+|[A-Za-z]#|[~.]{0,2}/?\w[\w.+-]*(?:(?:/|::|->|\\)\w[\w.+-]*)*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc・]{3,}")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*[A-Za-z0-9]")


def terms(text: str) -> list[str]:
    """The terms of ``text``, each once, what it names before its plain words; at most MAX_TERMS."""
    return list(weighted_terms(text))


def weighted_terms(text: str) -> dict[str, float]:
    """The terms of ``text`` and how much each conducts: 1 for a name, WORD_WEIGHT for a plain word."""
    found = dict.fromkeys(names(text), 1.0)
    for word in _plain_words(text):
        if len(found) >= MAX_TERMS:
            break
        found.setdefault(word, WORD_WEIGHT)
    return found


def fold(span: str) -> str:
    """One spelling for all: casefolded, white space folded, without punctuation at the ends."""
    return " ".join(span.replace("’", "'").casefold().split()).strip(_EDGES)


def spoken(text: str) -> list[str]:
    """The words of ``text`` in order, folded: joined by spaces they spell the terms in it, names too."""
    words = (
        word if word.isalpha() else word.strip(_EDGES).removesuffix("'s")
        for word in text.replace("’", "'").casefold().split()
    )
    return [word for word in words if word]


def is_telling(word: str) -> bool:
    """Whether a folded word can begin or end a name; function words and single letters cannot."""
    return len(word) > 1 and word not in _FUNCTION_WORDS


def names(text: str) -> list[str]:
    """What ``text`` names by its form, each once: capitals, identifiers, paths, quotes; at most MAX_TERMS."""
    found: list[str] = []
    if _QUOTE_MARKS.search(text):
        for match in _QUOTED.finditer(text):
            key = fold(match[match.lastindex or 0])
            if is_telling(key) and key.count(" ") < MAX_NAME_WORDS:
                found.append(key)
    span = _Span(found)
    # a name ends with its line: "Demon Dice\nDemon Dice is a game" names one thing
    for raw in text.replace("’", "'").replace("\n", " | ").split():
        if raw.islower() and raw.isalpha():
            span.go_on(raw)
            continue
        word = raw.strip(_EDGES)
        if not word or raw[0] in _OPENINGS:
            span.end()
        if not word:
            span.initial = True
            continue
        owner = word.endswith("'s")
        if owner:
            word = word[:-2]
        if _looks_named(word):
            span.words.append(word)
        elif word.isdigit():
            if span.words:  # "Apollo 11", but a number begins no name
                span.words.append(word)
        elif word.islower() and word.replace("'", "").isalpha():
            span.end()
        else:
            span.end()
            _read_code(word, found)
        if (owner or raw[-1] in _BREAKS) and not _is_abbreviated(word, raw):
            span.end()
            span.initial = raw[-1] in _SENTENCE_ENDS
    span.end()
    return list(dict.fromkeys(found))[:MAX_TERMS]


class _Span:
    """The name being read, word by word."""

    __slots__ = ("found", "initial", "words")

    def __init__(self, found: list[str]) -> None:
        self.found = found
        self.words: list[str] = []
        self.initial = True
        """Whether the name, or the next word, begins a sentence."""

    def go_on(self, word: str) -> None:
        """Read a lower-case word, which may join two words of a name."""
        if self.words and word in _CONNECTORS:
            self.words.append(word)
        else:
            self.end()

    def end(self) -> None:
        """Close the name, without the words at its ends that only a sentence put there."""
        words, initial = self.words, self.initial
        self.initial = False
        if not words:
            return
        while words and words[-1] in _CONNECTORS:
            words.pop()
        start = 0
        while start < len(words) and words[start].casefold() in _FUNCTION_WORDS:
            start += 1
        name = " ".join(words[start : start + MAX_NAME_WORDS])
        # A single word that begins a sentence has its capital from there, and is a plain word. Otherwise
        # the headings of long answers ("Tools:") are names: BEAM R@5 .407 → .412, Hotpot .880 → .885.
        by_sentence = initial and len(words) == 1 and name.isalpha() and not name.isupper()
        self.words = []
        if len(name) > 1 and not name.isdigit() and not by_sentence:
            self.found.append(name.casefold())


def _plain_words(text: str) -> list[str]:
    """The words of ``text`` that could connect it to another, whatever their case; each once, in order."""
    found = []
    for raw in text.replace("’", "'").casefold().split():
        word = raw if raw.isalpha() else raw.strip(_EDGES).removesuffix("'s")
        if (
            MIN_WORD_CHARS <= len(word) <= MAX_WORD_CHARS
            and word not in _FUNCTION_WORDS
            and word.isalpha()
            # a run of a script without spaces is a sentence, not a word
            and (word.isascii() or not _UNSPACED.search(word))
        ):
            found.append(word)
    return list(dict.fromkeys(found))


def _looks_named(word: str) -> bool:
    """Whether capitals are set as in names (``Oxford``, ``NASA``), not as in identifiers (``HttpServer``)."""
    if not word[:1].isupper() or not (word.isalpha() or word.replace("-", "").replace("'", "").isalpha()):
        return False
    tail = word[1:]
    return tail.islower() or not tail or word.isupper() or "-" in word or "'" in word or word[:2] == "Mc"


def _is_abbreviated(word: str, raw: str) -> bool:
    """Whether the full stop after ``word`` belongs to it: an initial, a title."""
    return raw[-1] == "." and (len(word) == 1 or word.casefold() in _ABBREVIATIONS)


def _read_code(word: str, found: list[str]) -> None:
    """Identifiers, paths, flags, versions, hosts: what a word with inner punctuation names."""
    if "://" in word and (url := _URL.search(word)):
        found.append(url[1].casefold().removeprefix("www."))
        return
    if "@" in word and (mail := _MAIL.search(word)):
        found += (mail[0].casefold(), mail[1].casefold())
        return
    if version := _VERSION.fullmatch(word):
        found.append(version[1].casefold())
        return
    if not word.isascii() and _UNSPACED.search(word):
        found += [run.casefold() for run in _LATIN.findall(word)]
        found += _KATAKANA.findall(word)
        return
    for piece in _CODE.findall(word):
        key = piece.casefold().rstrip(".")
        if not is_telling(key) or key.isdigit() or len(key) > MAX_WORD_CHARS:
            continue
        found.append(key)
        # a file is also known by its name alone
        if "/" in key and is_telling(tail := key.rsplit("/", 1)[1]):
            found.append(tail)
