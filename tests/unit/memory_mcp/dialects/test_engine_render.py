"""Is what the engine answers written down as the contract has it?"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memory_mcp.dialects.engine import render
from memory_mcp.engine.code import FoundCode
from memory_mcp.engine.engine import Status
from memory_mcp.engine.projects import Indexed, IndexStatus
from memory_mcp.engine.questions import Found
from memory_mcp.engine.recall import Recalled, RecalledHit
from retrieval.code.ranking import Ranked
from retrieval.embedding.cache import CacheStats
from retrieval.embedding.encoder import EncoderState, Failed, Loading, Ready
from retrieval.indexes import Progress
from retrieval.records import CodeChunk, Project
from retrieval.search import Hit
from retrieval.store.store import Counts
from tests.builders import NOW, a_memory


def a_status(**fields: Any) -> Status:
    known: dict[str, Any] = {
        "version": "0.1.0", "counts": Counts(3, 2, 1), "encoder": Ready(0.1), "model": "minilm",
        "dimensions": 384, "cache": CacheStats(5, 4, 3, 1000), "database_dimensions": 384, "rebuilding": None,
    }  # fmt: skip
    return Status(**(known | fields))


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (NOW, "2026-01-06T12:00:00Z"),
        (NOW + timedelta(microseconds=5), "2026-01-06T12:00:00.000005Z"),
        (datetime(2026, 1, 6, 12, tzinfo=timezone(timedelta(hours=2))), "2026-01-06T10:00:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
    ],
)
def test_times_are_rfc_3339_in_utc(instant: datetime, text: str) -> None:
    assert render.time(instant) == text


def test_what_was_never_set_is_left_out() -> None:
    plain = render.memory(a_memory("k"))
    assert plain["valid_until"] is None
    assert not {"user_id", "expires_at", "invalidation_reason", "superseded_by"} & plain.keys()
    full = render.memory(
        a_memory(
            "k", user_id="u", expires_at=NOW, invalidation_reason="old", superseded_by="n", valid_until=NOW
        )
    )
    assert full == plain | {
        "valid_until": "2026-01-06T12:00:00Z", "user_id": "u", "expires_at": "2026-01-06T12:00:00Z",
        "invalidation_reason": "old", "superseded_by": "n",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("state", "overall", "embedding"),
    [
        (Loading(), "healthy", {"status": "loading"}),
        (Ready(0.1), "healthy", {"status": "ready"}),
        (Failed("no such file"), "degraded", {"status": "error", "error": "no such file"}),
    ],
)
def test_status_tells_how_the_model_is(state: EncoderState, overall: str, embedding: dict[str, Any]) -> None:
    reply = render.status(a_status(encoder=state))
    assert reply["status"] == overall
    assert embedding.items() <= reply["embedding"].items()
    assert ("error" in reply["embedding"]) is ("error" in embedding)


def test_status_tells_of_indexes_only_while_they_are_built() -> None:
    assert "indexes" not in render.status(a_status())
    reply = render.status(a_status(rebuilding=Progress(1, 4)))
    assert reply["indexes"] == {"status": "rebuilding", "progress_percent": 25.0}


def recalled(hit: Hit) -> dict[str, Any]:
    found = RecalledHit(Found(a_memory("k"), hit), hit.score)
    reply = render.recalled(Recalled((found,), subgraph_nodes=7), "q")
    assert (reply["subgraph_nodes"], reply["memories_count"], reply["code_count"]) == (7, 1, 0)
    return dict(reply["results"][0])


def test_a_fused_score_lies_between_0_and_1_with_the_average_in_the_middle() -> None:
    assert recalled(Hit(1, 0.0))["score"] == 0.5
    scores = [recalled(Hit(1, z))["score"] for z in (-30.0, -2.0, 0.0, 0.5, 3.0)]
    assert scores == sorted(scores)
    assert all(0 <= score <= 1 for score in scores)


def test_channel_scores_are_plain_and_0_where_nothing_was_found() -> None:
    row = recalled(Hit(1, 1.0, vector=0.123456789, bm25=12.3456789, ppr=-12.0))
    assert (row["vector_score"], row["bm25_score"]) == (0.123457, 12.3457)
    assert row["ppr_score"] == pytest.approx(6.14421e-06)
    row = recalled(Hit(1, 1.0))
    assert (row["vector_score"], row["bm25_score"], row["ppr_score"]) == (0.0, 0.0, 0.0)


def a_chunk(**fields: Any) -> CodeChunk:
    chunk = CodeChunk(
        id="c", row=3, space="engine", project="app", path="src/main.py", language="python",
        chunk_type="function", name="main", breadcrumb="src/main.py", start_line=1, end_line=4, digest="d",
        content="def main(): ...",
    )  # fmt: skip
    return replace(chunk, **fields)


def a_ranked(**fields: Any) -> Ranked:
    return replace(Ranked(3, 0.9, 0.8, None, None, None, {"name": 0.1}), **fields)


def a_project(**fields: Any) -> Project:
    return replace(Project("app", "engine", "/home/ada/app", False, "completed", NOW, NOW, 2), **fields)


def test_code_is_written_as_specified_and_stale_only_when_it_is() -> None:
    fresh = {
        "id": "c", "file_path": "src/main.py", "content": "def main(): ...", "language": "python",
        "start_line": 1, "end_line": 4, "chunk_type": "function", "name": "main", "score": 0.710950,
    }  # fmt: skip
    reply = render.code([FoundCode(a_chunk(), a_ranked()), FoundCode(a_chunk(name=""), a_ranked(), True)])
    assert reply == {"results": [fresh, fresh | {"name": None, "stale": True}], "count": 2}


def test_code_in_a_recall_has_its_place_and_memories_have_none() -> None:
    chunk = RecalledHit(FoundCode(a_chunk(), a_ranked(vector=0.5, bm25=2.5)), 0.0)
    note = RecalledHit(Found(a_memory("k"), Hit(1, 7.0)), -1.0)
    reply = render.recalled(Recalled((chunk, note)), "q")
    assert reply["results"][0] == {
        "id": "c", "content": "def main(): ...", "source": "code", "score": 0.5, "vector_score": 0.5,
        "bm25_score": 2.5, "ppr_score": 0.0, "file_path": "src/main.py", "start_line": 1, "end_line": 4,
    }  # fmt: skip
    assert reply["results"][1].keys() == reply["results"][0].keys() - {"file_path", "start_line", "end_line"}
    assert reply["results"][1]["score"] == pytest.approx(0.268941)
    assert (reply["subgraph_nodes"], reply["memories_count"], reply["code_count"]) == (0, 1, 1)


def test_what_came_of_indexing() -> None:
    assert render.indexed(Indexed("app", 2, 5)) == {
        "project_id": "app",
        "files_indexed": 2,
        "chunks_created": 5,
    }


def test_the_status_of_an_index_has_its_reasons_only_when_there_are_some() -> None:
    done = render.index_status(IndexStatus(a_project(), "completed", 2, 2, 5, 100.0, None))
    assert done == {
        "project_id": "app", "status": "completed", "total_files": 2, "indexed_files": 2, "total_chunks": 5,
        "progress_percent": 100.0, "eta_seconds": None, "started_at": "2026-01-06T12:00:00Z",
        "completed_at": "2026-01-06T12:00:00Z",
    }  # fmt: skip
    project = a_project(status="failed", completed_at=None, skipped={"binary": 1}, error="disk full")
    failed = render.index_status(IndexStatus(project, "failed", 2, 2, 5, 100.0, None))
    assert failed == done | {
        "status": "failed",
        "completed_at": None,
        "skipped_files": {"binary": 1},
        "error": "disk full",
    }
