"""How does the contract write down what the engine answers?

Every reply is built from named fields, so an embedding has no way into one.
"""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memory_mcp.dialects import Reply

if TYPE_CHECKING:
    from memory_mcp.engine.code import FoundCode
    from memory_mcp.engine.engine import Status
    from memory_mcp.engine.knowledge import Related
    from memory_mcp.engine.memories import Page
    from memory_mcp.engine.projects import Indexed, IndexStatus
    from memory_mcp.engine.questions import Answer, Found
    from memory_mcp.engine.recall import Recalled
    from retrieval.code.ranking import Ranked
    from retrieval.embedding.encoder import EncoderState
    from retrieval.records import Entity, Memory, Relation
    from retrieval.search import Hit
    from retrieval.store.store import Counts

__all__ = [
    "answer",
    "code",
    "index_status",
    "indexed",
    "memories",
    "memory",
    "page",
    "recalled",
    "related",
    "reset",
    "status",
    "time",
]

_DIGITS = 6
"""Significant digits of a score: enough to tell neighbours apart (a PageRank may be 0.00002), no more for a
model to read."""


def time(instant: datetime) -> str:
    """RFC 3339, in UTC."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def memory(record: "Memory") -> Reply:
    """A memory with everything the contract names; what was never set is left out."""
    reply: Reply = {
        "id": {"tb": "memories", "id": {"String": record.id}},
        "content": record.content,
        "memory_type": record.memory_type,
        "event_time": time(record.event_time),
        "ingestion_time": time(record.ingestion_time),
        "valid_from": time(record.valid_from),
        "valid_until": None if record.valid_until is None else time(record.valid_until),
        "importance_score": record.importance,
        "metadata": dict(record.metadata),
    }
    optional = {
        "user_id": record.user_id,
        "expires_at": None if record.expires_at is None else time(record.expires_at),
        "invalidation_reason": record.invalidation_reason,
        "superseded_by": record.superseded_by,
    }
    return reply | _given(optional)


def page(found: "Page", limit: int, offset: int) -> Reply:
    """Some memories out of all."""
    return {
        "memories": [memory(record) for record in found.memories],
        "total": found.total,
        "limit": limit,
        "offset": offset,
    }


def memories(records: "Iterable[Memory]") -> Reply:
    """Memories that were asked for by time."""
    results = [memory(record) for record in records]
    return {"results": results, "count": len(results)}


def answer(found: "Answer", query: str) -> Reply:
    """Hits of one channel; the score is the channel's own: a cosine, or BM25."""
    results = [
        {
            "id": one.memory.id,
            "content": one.memory.content,
            "memory_type": one.memory.memory_type,
            "score": _score(one.hit.score),
        }
        for one in found.found
    ]
    return {"results": results, "count": len(results), "query": query}


def recalled(found: "Recalled", query: str) -> Reply:
    """Hits of all channels and sources."""
    from memory_mcp.engine.questions import Found

    results = [
        _memory_hit(one.found, one.score) if isinstance(one.found, Found) else _code_hit(one.found, one.score)
        for one in found.hits
    ]
    from_memory = sum(result["source"] == "memory" for result in results)
    return {
        "results": results,
        "query": query,
        "subgraph_nodes": found.subgraph_nodes,
        "memories_count": from_memory,
        "code_count": len(results) - from_memory,
    }


def indexed(found: "Indexed") -> Reply:
    """What came of indexing."""
    return {"project_id": found.project, "files_indexed": found.files, "chunks_created": found.chunks}


def code(found: "Iterable[FoundCode]") -> Reply:
    """Chunks, best first, with scores between 0 and 1.

    ``stale`` is there only when a file has changed and could not be read again.
    """
    results = [
        {
            "id": one.chunk.id,
            "file_path": one.chunk.path,
            "content": one.chunk.content,
            "language": one.chunk.language,
            "start_line": one.chunk.start_line,
            "end_line": one.chunk.end_line,
            "chunk_type": one.chunk.chunk_type,
            "name": one.chunk.name or None,
            "score": _between(one.ranked.score),
        }
        | _given({"stale": one.is_stale or None})
        for one in found
    ]
    return {"results": results, "count": len(results)}


def index_status(found: "IndexStatus") -> Reply:
    """How far a project is; what was left out, and why it failed, only when there is something to say."""
    project = found.project
    reply: Reply = {
        "project_id": project.id,
        "status": found.status,
        "total_files": found.total_files,
        "indexed_files": found.indexed_files,
        "total_chunks": found.total_chunks,
        "progress_percent": found.percent,
        "eta_seconds": found.eta_seconds,
        "started_at": time(project.started_at),
        "completed_at": None if project.completed_at is None else time(project.completed_at),
    }
    return reply | _given({"skipped_files": dict(project.skipped) or None, "error": project.error})


def related(found: "Related") -> Reply:
    """What is around an entity."""
    return {
        "entities": [_entity(entity) for entity in found.entities],
        "relations": [_relation(relation) for relation in found.relations],
        "entity_count": len(found.entities),
        "relation_count": len(found.relations),
    }


def status(now: "Status") -> Reply:
    """Health; ``embedding.error`` and ``indexes`` are there only when there is something to say."""
    embedding = _encoder(now.encoder)
    reply: Reply = {
        "version": now.version,
        "status": "degraded" if embedding["status"] == "error" else "healthy",
        "memories_count": now.counts.memories,
        "entities_count": now.counts.entities,
        "code_chunks_count": now.counts.chunks,
        "embedding": {
            **embedding,
            "model": now.model,
            "dimensions": now.dimensions,
            "cache_stats": {"hits": now.cache.hits, "misses": now.cache.misses, "size": now.cache.size},
        },
        "db_dimension": now.database_dimensions,
    }
    if now.rebuilding is not None:
        reply["indexes"] = {"status": "rebuilding", "progress_percent": now.rebuilding.percent}
    return reply


def reset(deleted: "Counts") -> Reply:
    """What is gone."""
    return {
        "reset": True,
        "deleted": {
            "memories": deleted.memories,
            "entities": deleted.entities,
            "relations": deleted.relations,
            "code_chunks": deleted.chunks,
        },
    }


def _memory_hit(found: "Found", score: float) -> Reply:
    return {
        "id": found.memory.id,
        "content": found.memory.content,
        "source": "memory",
        **_scores(score, found.hit),
    }


def _code_hit(found: "FoundCode", score: float) -> Reply:
    return {
        "id": found.chunk.id,
        "content": found.chunk.content,
        "source": "code",
        **_scores(score, found.ranked),
        "file_path": found.chunk.path,
        "start_line": found.chunk.start_line,
        "end_line": found.chunk.end_line,
    } | _given({"stale": found.is_stale or None})


def _scores(score: float, hit: "Hit | Ranked") -> Reply:
    """The scores of a hit of all channels.

    The fused score is a weighted sum of z-scores; the logistic function brings it between 0 and 1 without
    changing the order: 0.5 is a candidate that is average in every channel. The channels' own scores are
    plain: cosine, BM25, and the share of PageRank (of which the graph channel hands out the logarithm); 0
    where a channel did not find the record.
    """
    return {
        "score": _between(score),
        "vector_score": _score(hit.vector),
        "bm25_score": _score(hit.bm25),
        "ppr_score": _score(None if hit.ppr is None else math.exp(hit.ppr)),
    }


def _entity(entity: "Entity") -> Reply:
    reply: Reply = {
        "id": entity.id,
        "name": entity.name,
        "entity_type": entity.entity_type,
        "description": entity.description,
        "created_at": time(entity.created_at),
    }
    return reply | _given({"user_id": entity.user_id})


def _relation(relation: "Relation") -> Reply:
    return {
        "id": relation.id,
        "from_entity": relation.from_entity,
        "to_entity": relation.to_entity,
        "relation_type": relation.relation_type,
        "weight": relation.weight,
    }


def _encoder(state: "EncoderState") -> Reply:
    from retrieval.embedding.encoder import Failed, Loading, Ready

    match state:
        case Loading():
            return {"status": "loading"}
        case Ready():
            return {"status": "ready"}
        case Failed(reason):
            return {"status": "error", "error": reason}


def _given(fields: dict[str, Any]) -> Reply:
    return {name: value for name, value in fields.items() if value is not None}


def _between(score: float) -> float:
    """A score without bounds brought between 0 and 1 by the logistic function, in the same order."""
    return _score(1.0 / (1.0 + math.exp(-score)))


def _score(score: float | None) -> float:
    return 0.0 if score is None else float(f"{score:.{_DIGITS}g}")
