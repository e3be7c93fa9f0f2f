"""Is what the engine answers written down as the contract has it?"""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memory_mcp.dialects.engine import render
from memory_mcp.engine.engine import Status
from memory_mcp.engine.questions import Answer, Found
from retrieval.embedding.cache import CacheStats
from retrieval.embedding.encoder import EncoderState, Failed, Loading, Ready
from retrieval.indexes import Progress
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
    reply = render.recalled(Answer((Found(a_memory("k"), hit),), subgraph_nodes=7), "q")
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
