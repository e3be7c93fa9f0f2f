"""What do coding agents remember, and what do they ask about it?

Made-up memories that are shaped like real ones: decisions, bugs, preferences, how-tos, settings, places in
the code, incidents and customers, 12 to 60 words each. People, services, files, identifiers and customers
follow Zipf's law, so a few are in many memories and most in one or two. Everything depends on the seed
and the number of the memory alone: memory 17 is the same in a corpus of 1,000 and of 100,000.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count, islice
from random import Random

from benchmarks.wording import ADDITIONS, KINDS, WORDS, Kind

__all__ = ["Corpus", "MadeUp", "Question"]

_SYLLABLES = (
    "ba be bo da de do fa fi ga go ha he ja jo ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe po ra "
    "re ri ro sa se si so ta te ti to va ve vi vo wa we ya yo za ze zo bral cran dral fren glim hest jor "
    "kest lund mor nax olt prin quil rast stel trov ulm vash wick xan yest zorn"
).split()
_SERVICE_ENDINGS = ("", "", "", "-api", "-worker", "-gateway", "-sync", "-ui", "-db", "-proxy")
_LENGTHS = (0, 0, 0, 1, 1, 2, 2, 3)
"""Sentences added to a memory: some get none."""


@dataclass(frozen=True, slots=True)
class MadeUp:
    """One memory to store."""

    content: str
    memory_type: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the number of the memory it is about."""

    text: str
    memory: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """An endless row of memories, by number; ``seed`` chooses which."""

    seed: int = 7

    def memory(self, number: int) -> MadeUp:
        """Memory ``number``. No two are equal: each has coined names and figures of its own."""
        rng, kind, drawn, main = self._begin(number)
        added = rng.sample(ADDITIONS, rng.choice(_LENGTHS))
        sentences = [main, *(_sentence(text.format_map(drawn)) for text in added)]
        return MadeUp(" ".join(sentences), kind.memory_type)

    def memories(self, start: int, stop: int) -> Iterator[MadeUp]:
        """Memories ``start`` to ``stop`` - 1."""
        return (self.memory(number) for number in range(start, stop))

    def question(self, number: int, wording: int = 0) -> Question:
        """One of three questions about memory ``number``, in words of its own where names allow."""
        _, kind, drawn, _ = self._begin(number)
        # only about what the memory really says: a slot it has not filled would be a new name
        known = set(drawn)
        possible = sorted(kind.questions, key=lambda asked: len(_slots(asked) - known))
        answerable = [asked for asked in possible if _slots(asked) <= known] or possible[:1]
        return Question(_sentence(answerable[wording % len(answerable)].format_map(drawn)), number)

    def questions(self, size: int, *, salt: int = 0) -> Iterator[Question]:
        """Questions about random memories among the first ``size``, no text twice; they end in time."""
        rng = Random(f"questions:{self.seed}:{size}:{salt}")
        seen: set[str] = set()
        for _ in range(4 * size):
            asked = self.question(rng.randrange(size), rng.randrange(3))
            if asked.text not in seen:
                seen.add(asked.text)
                yield asked

    def digest(self) -> str:
        """A short name of exactly these texts, to recognise data prepared with other wording."""
        sample = "\n".join(made.content for made in self.memories(0, 200))
        return hashlib.sha256(sample.encode()).hexdigest()[:12]

    def _begin(self, number: int) -> tuple[Random, Kind, "_Drawn", str]:
        """The first sentence of a memory and what was drawn for it; the generator to go on with."""
        rng = Random(f"{self.seed}:{number}")
        kind = rng.choice(KINDS)
        drawn = _Drawn(rng)
        return rng, kind, drawn, _sentence(rng.choice(kind.texts).format_map(drawn))


class _Drawn(dict[str, str]):
    """The slots of one memory, each drawn when it is first asked for."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self._rng = rng

    def __missing__(self, slot: str) -> str:
        name = slot.rstrip("0123456789")
        make = _COINED.get(name)
        value = make(self._rng) if make else self._rng.choice(WORDS[name])
        self[slot] = value
        return value


class _Zipf:
    """Coined names of which the first are drawn often and the last almost never."""

    def __init__(self, name: str, size: int, make: Callable[[Random], str]) -> None:
        self._name = name
        self._size = size
        self._make = make

    @cached_property
    def _names(self) -> list[str]:
        rng = Random(self._name)
        distinct = dict.fromkeys(self._make(rng) for _ in range(3 * self._size))
        return list(islice(distinct, self._size))

    @cached_property
    def _shares(self) -> list[float]:
        return list(accumulate(1.0 / (rank + 2.7) for rank in range(len(self._names))))

    def __call__(self, rng: Random) -> str:
        return self._names[bisect_left(self._shares, rng.random() * self._shares[-1])]


def _coined(rng: Random, low: int, high: int) -> str:
    return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(low, high)))


def _person(rng: Random) -> str:
    given = rng.choice(WORDS["given"])
    return given if rng.random() < 0.15 else f"{given} {_coined(rng, 2, 3).capitalize()}"


def _service(rng: Random) -> str:
    stem = _coined(rng, 2, 3) if rng.random() < 0.6 else f"{rng.choice(WORDS['noun'])}"
    return stem + rng.choice(_SERVICE_ENDINGS) if len(stem) > 6 else f"{stem}-{rng.choice(WORDS['noun'])}"


def _customer(rng: Random) -> str:
    name = _coined(rng, 2, 4).capitalize()
    return (
        name
        if rng.random() < 0.6
        else f"{name} {rng.choice(('Group', 'Bank', 'Labs', 'Foods', 'Air', 'Energy'))}"
    )


def _path(rng: Random) -> str:
    folders = [rng.choice(WORDS["folder"]), rng.choice(WORDS["noun"])][: rng.randint(1, 2)]
    stem = (
        rng.choice(WORDS["noun"])
        if rng.random() < 0.5
        else f"{rng.choice(WORDS['noun'])}_{_coined(rng, 1, 2)}"
    )
    return f"{'/'.join(folders)}/{stem}.{rng.choice(WORDS['extension'])}"


def _identifier(rng: Random) -> str:
    parts = [rng.choice(WORDS["verb_of_code"]), rng.choice(WORDS["adjective"]), rng.choice(WORDS["noun"])]
    if rng.random() < 0.3:
        parts[1] = _coined(rng, 2, 2)
    if rng.random() < 0.4:
        del parts[1]
    style = rng.random()
    if style < 0.5:
        return "_".join(parts)
    if style < 0.8:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "".join(part.capitalize() for part in parts[1:]) + rng.choice(("Store", "Error", "Client", "Loop"))


def _variable(rng: Random) -> str:
    words = [rng.choice(WORDS["noun"]) for _ in range(rng.randint(2, 3))]
    return "_".join(words).upper()


def _error(rng: Random) -> str:
    what = "".join(rng.choice(WORDS["noun"]).capitalize() for _ in range(rng.randint(1, 2)))
    return f"{what}Error" if rng.random() < 0.7 else f"E{rng.randint(1000, 9999)}"


def _host(rng: Random) -> str:
    return f"{rng.choice(WORDS['noun'])}-{rng.randint(1, 60):02d}.{rng.choice(('eu', 'us', 'ap'))}"


_person_name = _Zipf("people", 4_000, _person)
_service_name = _Zipf("services", 3_000, _service)
_customer_name = _Zipf("customers", 8_000, _customer)
_file_name = _Zipf("files", 12_000, _path)
_code_name = _Zipf("identifiers", 20_000, _identifier)
_variable_name = _Zipf("variables", 5_000, _variable)
_error_name = _Zipf("errors", 4_000, _error)
_host_name = _Zipf("hosts", 2_000, _host)


def _command(rng: Random) -> str:
    return f"{rng.choice(WORDS['program'])} {rng.choice(WORDS['verb_of_code'])} {_service_name(rng)}"


_COINED: dict[str, Callable[[Random], str]] = {
    "person": _person_name,
    "service": _service_name,
    "customer": _customer_name,
    "path": _file_name,
    "identifier": _code_name,
    "variable": _variable_name,
    "error": _error_name,
    "command": _command,
    "number": lambda rng: f"{float(f'{10 ** rng.uniform(0.3, 4.5):.1e}'):.0f}",
    "version": lambda rng: f"{min(9, int(rng.expovariate(0.5)))}.{rng.randint(0, 30)}.{rng.randint(0, 9)}",
    "ticket": lambda rng: f"{rng.choice(('OPS', 'CORE', 'WEB', 'DATA'))}-{rng.randint(100, 2_000)}",
    "commit": lambda rng: f"{rng.getrandbits(32):08x}",
    "host": _host_name,
}


def _slots(pattern: str) -> set[str]:
    return {piece.split("}")[0] for piece in pattern.split("{")[1:]}


def _sentence(text: str) -> str:
    """The text with a capital where it begins with a plain word; names keep their spelling."""
    first = text.split(" ", 1)[0]
    return text[0].upper() + text[1:] if first.isalpha() and first.islower() else text


def distinct(corpus: Corpus, size: int) -> int:
    """How many of the first ``size`` memories differ from all before them."""
    return len({made.content for made in islice(map(corpus.memory, count()), size)})
