"""How do I get an engine that remembers a set?

The documents go in by the engine's own ``store_many``, entities and relations by ``create_entity`` and
``create_relation``. A group is a user: the engine's own isolation keeps groups apart. Embedding takes
minutes, so a folder that is kept (``--keep``) has its label, and the next run takes it as it is.
"""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.quality_sets import Document, EvalSet, Knowledge
from benchmarks.reporting import note
from memory_mcp.engine.checks import MAX_CONTENT
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.engine.memories import Draft
from memory_mcp.engine.questions import Questions
from memory_mcp.settings import Settings
from retrieval.embedding.registry import find_model
from retrieval.records import Scope

__all__ = ["DOCUMENT", "SPACE", "drafts_of", "opened", "prepare", "questions_of"]

DOCUMENT = "document"
"""Under which name a memory's metadata say what it was made of."""

SPACE = Settings(Path()).space
"""The space in which everything is stored."""

_FORM = 1
"""Number of the way in which documents become memories; another one stores them again."""

_BATCH = 500
_PATIENCE = 3_600.0
"""Seconds to wait for indexes that are built again because the code changed."""

_LABEL = "quality.json"


def prepare(home: Path, one: EvalSet) -> Path:
    """The data directory of a set under ``home``, made if it is missing or was made of something else."""
    folder, label = home / one.name, _label(one)
    if (before := _read_label(folder)) == label:
        return folder
    if before is not None:
        changed = ", ".join(key for key in label if before.get(key) != label[key])
        note(f"{one.name}: {changed} changed since it was prepared; stored again")
    shutil.rmtree(folder, ignore_errors=True)
    plain = home / one.plain
    if one.knowledge is not None and (_read_label(plain) or {}).get("corpus") == one.corpus:
        shutil.copytree(plain, folder)  # the same memories, embedded already
        (folder / _LABEL).unlink()
        engine = _open(folder)
    else:
        engine = _open(folder)
        _store(engine, one)
    try:
        if one.knowledge is not None:
            _connect(engine, one, one.knowledge)
    finally:
        engine.close()
    (folder / _LABEL).write_text(json.dumps(label), encoding="utf-8")
    return folder


@contextmanager
def opened(folder: Path) -> Iterator[Engine]:
    """An engine over a prepared folder; nothing is written to it, so there is no copy."""
    engine = _open(folder)
    try:
        yield engine
    finally:
        engine.close()


def questions_of(engine: Engine, group: str | None) -> Questions:
    """What the server of one user asks."""
    return Questions(
        engine._indexes,
        engine._encoder,
        engine.memories,
        Scope(SPACE, group),
        lambda: datetime.now(UTC),
        engine._beside,
    )


def drafts_of(document: Document) -> list[Draft]:
    """A document as the engine takes it: what is longer than a memory may be is cut at white space."""
    metadata = {**document.about, DOCUMENT: document.id}
    kind = "episodic" if "event_time" in document.about or "role" in document.about else None
    return [Draft(piece, kind, document.group, metadata) for piece in _pieces(document.text, MAX_CONTENT)]


def _open(folder: Path) -> Engine:
    engine = open_engine(Settings(data_dir=folder, timeout=_PATIENCE))
    engine.wait(_PATIENCE)
    return engine


def _pieces(text: str, longest: int) -> list[str]:
    pieces = []
    while len(text) > longest:
        cut = max(text.rfind(" ", 1, longest), text.rfind("\n", 1, longest))
        cut = cut if cut > 0 else longest
        pieces.append(text[:cut])
        text = text[cut:]
    return [piece for piece in (*pieces, text) if piece.strip()]


def _store(engine: Engine, one: EvalSet) -> None:
    begin = time.perf_counter()
    drafts = [draft for document in one.documents for draft in drafts_of(document)]
    for start in range(0, len(drafts), _BATCH):
        engine.memories.store_many(drafts[start : start + _BATCH])
        done = min(start + _BATCH, len(drafts))
        note(f"{one.name}: {done:,} of {len(drafts):,} stored, {done / (time.perf_counter() - begin):,.0f}/s")


def _connect(engine: Engine, one: EvalSet, knowledge: Knowledge) -> None:
    begin = time.perf_counter()
    ids = {name: engine.knowledge.create_entity(name).id for name in knowledge.entities}
    for source, relation, target in knowledge.relations:
        engine.knowledge.create_relation(ids[source], ids[target], relation)
    seconds = time.perf_counter() - begin
    note(f"{one.name}: {len(ids):,} entities, {len(knowledge.relations):,} relations in {seconds:,.0f} s")


def _label(one: EvalSet) -> dict[str, Any]:
    spec = find_model(Settings(Path()).model)
    return {
        "form": _FORM,
        "corpus": one.corpus,
        "knowledge": one.extracted,
        "model": [spec.name, spec.title, spec.max_tokens, spec.passage_prefix],
    }


def _read_label(folder: Path) -> dict[str, Any] | None:
    try:
        label: dict[str, Any] = json.loads((folder / _LABEL).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return label
