"""Which documents are there, what is asked about them, and what should be found?

A set is a folder of ``corpus.jsonl`` (``id``, ``text``, sometimes ``title``, ``group``, ``date``,
``session``, ``speaker``, ``role``), ``queries.jsonl`` (``id``, ``text``, sometimes ``group``, ``cat``) and
``qrels.tsv`` (query, document, grade). A query with a group is asked only among the documents of that group.
Beside the sets may lie ``openie_<end of a set's name>….json``: entities and triples somebody extracted from
that set's documents; the set is then measured twice, without and with them.
"""

import hashlib
import json
import random
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reporting import EVALUATION_DATA, note

__all__ = ["DATA", "Document", "EvalSet", "Knowledge", "Query", "date_of", "load_sets", "sampled", "unpacked"]

DATA = EVALUATION_DATA
"""Where the sets lie unless said otherwise; they are no part of this project."""

WITH_KNOWLEDGE = "+openie"
"""What the name of a set ends with where its entities and relations are given."""

_CORPUS, _QUERIES, _QRELS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
_DATES = ("%I:%M %p on %d %B, %Y", "%B-%d-%Y", "%B %d, %Y", "%d %B %Y", "%Y/%m/%d")


@dataclass(frozen=True, slots=True)
class Document:
    """Something to remember; ``about`` is what the set says besides the text."""

    id: str
    text: str
    group: str | None = None
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Query:
    """A question with the grades of the documents that answer it."""

    id: str
    text: str
    relevant: dict[str, float]
    group: str | None = None
    category: str = ""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Named things and (from, relation, to) between them, each once."""

    entities: tuple[str, ...]
    relations: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class EvalSet:
    """One set. ``corpus`` and ``extracted`` are digests of what is stored of it."""

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    corpus: str
    extracted: str = ""
    knowledge: Knowledge | None = None
    asked_of: int = 0
    """Questions there were before a sample was drawn."""

    @property
    def plain(self) -> str:
        return self.name.removesuffix(WITH_KNOWLEDGE)


@contextmanager
def unpacked(data: Path) -> Iterator[Path]:
    """The folder itself if sets lie there, else a temporary one with its archives in it."""
    if _folders(data):
        yield data
        return
    archives = sorted(data.glob("*.tar.*"))
    if not archives:
        raise SystemExit(f"{data} has neither folders with {_CORPUS} nor archives of such")
    with TemporaryDirectory(prefix="memory-mcp-quality-") as scratch:
        for archive in archives:
            note(f"unpacking {archive.name}")
            with tarfile.open(archive) as packed:
                packed.extractall(scratch, filter="data")
        yield Path(scratch)


def load_sets(data: Path, names: Sequence[str] = ()) -> list[EvalSet]:
    """All sets of a folder, or those with these names, by name; a set with knowledge follows the plain
    one."""
    known = {folder.name: folder for folder in _folders(data)}
    extracted = {
        name: file for name in known for file in _openie_files(data) if _belongs(file.name, to_set=name)
    }
    available = sorted([*known, *(name + WITH_KNOWLEDGE for name in extracted)])
    if unknown := sorted(set(names) - set(available)):
        raise SystemExit(f"no such set: {', '.join(unknown)}; there are {', '.join(available)}")
    wanted = [name for name in available if not names or name in names]
    loaded: dict[str, EvalSet] = {}
    for name in wanted:
        plain = name.removesuffix(WITH_KNOWLEDGE)
        if plain not in loaded:
            loaded[plain] = _load(known[plain])
        if name != plain:
            loaded[name] = _with_knowledge(loaded[plain], name, extracted[plain])
    return [loaded[name] for name in wanted]


def sampled(one: EvalSet, most: int | None, seed: int) -> EvalSet:
    """The set with at most so many of its questions, drawn by the seed, in their order."""
    if most is None or len(one.queries) <= most:
        return one
    chosen = sorted(random.Random(f"{seed} {one.plain}").sample(range(len(one.queries)), most))
    return replace(one, queries=tuple(one.queries[i] for i in chosen))


def date_of(text: str) -> str | None:
    """An instant in ISO 8601 from the ways in which sets write it; None for any other."""
    for form in _DATES:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    try:
        return datetime.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return None


def _load(folder: Path) -> EvalSet:
    documents = tuple(_document(row) for row in _rows(folder / _CORPUS))
    relevant = _grades(folder / _QRELS)
    queries = tuple(
        Query(
            str(row["id"]),
            row["text"],
            relevant[str(row["id"])],
            None if row.get("group") is None else str(row["group"]),
            row.get("cat") or "",
        )
        for row in _rows(folder / _QUERIES)
        if str(row["id"]) in relevant
    )
    if not documents or not queries:
        raise SystemExit(f"{folder} has no documents or no judged queries")
    digest = _digest((folder / _CORPUS).read_bytes())
    return EvalSet(folder.name, documents, queries, digest, asked_of=len(queries))


def _document(row: dict[str, Any]) -> Document:
    text, title = row["text"], row.get("title") or ""
    if not text.startswith(title):
        text = f"{title}\n{text}"
    about = {key: row[key] for key in ("session", "speaker", "role", "date") if row.get(key) is not None}
    if instant := date_of(about.get("date", "")):
        about["event_time"] = instant
    return Document(str(row["id"]), text, None if row.get("group") is None else str(row["group"]), about)


def _grades(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        cells = line.split("\t")
        try:
            grade = float(cells[-1])
        except ValueError:
            if number == 0:
                continue  # a header
            raise SystemExit(f"{path}:{number + 1}: no grade in {line!r:.100}") from None
        if grade > 0:
            found.setdefault(cells[0], {})[cells[-2]] = grade
    return found


def _with_knowledge(plain: EvalSet, name: str, file: Path) -> EvalSet:
    text = file.read_bytes()
    knowledge = _read_openie(json.loads(text))
    return replace(plain, name=name, extracted=_digest(text), knowledge=knowledge)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _read_openie(extracted: dict[str, Any]) -> Knowledge:
    """Entities and the ends of triples under the first spelling met; what is no triple is passed over."""
    spelling: dict[str, str] = {}

    def spelt(name: object) -> str:
        shown = " ".join(str(name).split())
        return spelling.setdefault(shown.casefold(), shown) if shown else ""

    relations: dict[tuple[str, str, str], None] = {}
    for document in extracted["docs"]:
        for name in document["extracted_entities"]:
            spelt(name)
        for triple in document["extracted_triples"]:
            if len(triple) == 3 and all(str(part).strip() for part in triple):
                relations[spelt(triple[0]), " ".join(str(triple[1]).split()), spelt(triple[2])] = None
    return Knowledge(tuple(spelling.values()), tuple(relations))


def _folders(data: Path) -> list[Path]:
    needed = (_CORPUS, _QUERIES, _QRELS)
    inside = [data, *sorted(data.iterdir())] if data.is_dir() else []
    return [folder for folder in inside if all((folder / name).is_file() for name in needed)]


def _openie_files(data: Path) -> list[Path]:
    return sorted([*data.glob("openie_*.json"), *data.glob("*/openie_*.json")])


def _belongs(file: str, *, to_set: str) -> bool:
    about = file.removeprefix("openie_").removesuffix(".json").split("_results")[0]
    return to_set == about or to_set.endswith(f"_{about}")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
