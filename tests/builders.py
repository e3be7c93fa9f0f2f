"""Records, vectors, clocks and encoders for tests, each with sensible defaults."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_mcp.settings import Settings
from retrieval.code.document import chunk_id, digest_of, embedded_text
from retrieval.embedding.encoder import Encoder
from retrieval.embedding.registry import Hub, ModelSpec
from retrieval.records import CodeChunk, Entity, Memory, Project, Relation, Rows, SourceFile, Vector
from tests.fakes import HashModel

__all__ = [
    "MODEL",
    "NOW",
    "SPEC",
    "Clock",
    "a_chunk",
    "a_file",
    "a_memory",
    "a_project",
    "a_relation",
    "an_encoder",
    "an_entity",
    "everything",
    "some_settings",
    "unit_vector",
    "unit_vectors",
]

NOW = datetime(2026, 1, 6, 12, tzinfo=UTC)

SPEC = ModelSpec(
    name="hash64", title="test/hash", dimensions=64, size_mb=0, licence="MIT", source=Hub("test/hash"),
    description="Hashes words.",
)  # fmt: skip
MODEL = SPEC.name


class Clock:
    """A time that stands still until a test moves it."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


def a_memory(key: str = "m", **fields: Any) -> Memory:
    memory = Memory(
        id=key, row=-1, content=f"about {key}", memory_type="semantic", space="engine", user_id=None,
        metadata={}, importance=1.0, event_time=NOW, ingestion_time=NOW, updated_at=NOW, valid_from=NOW,
    )  # fmt: skip
    return replace(memory, **fields)


def an_entity(key: str = "e", **fields: Any) -> Entity:
    entity = Entity(
        id=key, row=-1, name=f"Name of {key}", entity_type=None, description=None, space="engine",
        user_id=None, created_at=NOW,
    )  # fmt: skip
    return replace(entity, **fields)


def a_relation(key: str, from_entity: str, to_entity: str, **fields: Any) -> Relation:
    relation = Relation(
        id=key, from_entity=from_entity, to_entity=to_entity, relation_type="knows", weight=1.0,
        space="engine", user_id=None, created_at=NOW,
    )  # fmt: skip
    return replace(relation, **fields)


def a_project(key: str = "app", **fields: Any) -> Project:
    project = Project(
        id=key, space="engine", root=f"/nowhere/{key}", watch=False, status="completed", started_at=NOW
    )  # fmt: skip
    return replace(project, **fields)


def a_file(path: str = "src/app.py", project: str = "app", **fields: Any) -> SourceFile:
    file = SourceFile(
        project=project, path=path, language="python", stamp=(10, 1, 2, 3), settled=True,
        digest=digest_of(path), symbols=b"",
    )  # fmt: skip
    return replace(file, **fields)


def a_chunk(content: str = "x = 1", **fields: Any) -> CodeChunk:
    """Its id and digest follow from the rest, as in the indexer; ``ordinal`` tells equal ones apart."""
    ordinal = fields.pop("ordinal", 0)
    draft = CodeChunk(
        id="", row=-1, space="engine", project="app", path="src/app.py", language="python",
        chunk_type="function", name="", breadcrumb="", start_line=1, end_line=1 + content.count("\n"),
        digest="", content=content,
    )  # fmt: skip
    chunk = replace(draft, **fields)
    digest = chunk.digest or digest_of(embedded_text(chunk.breadcrumb, chunk.name, chunk.content))
    key = chunk.id or chunk_id(chunk.project, chunk.path, digest, ordinal)
    return replace(chunk, id=key, digest=digest)


def unit_vectors(count: int, dimensions: int = SPEC.dimensions, seed: int = 0) -> NDArray[np.float32]:
    """Random directions; the same for the same arguments."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def unit_vector(dimensions: int = SPEC.dimensions, seed: int = 0) -> Vector:
    vector: Vector = unit_vectors(1, dimensions, seed)[0]
    return vector


def an_encoder(spec: ModelSpec = SPEC, **options: Any) -> Encoder:
    """An encoder of the fake model, not yet loading."""
    return Encoder(spec, lambda: HashModel(dimensions=spec.dimensions), **options)


def some_settings(data_dir: Path, **fields: Any) -> Settings:
    return replace(Settings(data_dir=data_dir, model=MODEL), **fields)


def everything(rows: Rows) -> NDArray[np.bool_]:
    """The filter that lets every row through."""
    return np.ones(len(rows), dtype=np.bool_)
