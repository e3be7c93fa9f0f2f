"""What may be stored: kept as it is, or refused with the field's name."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memory_mcp.engine import checks
from retrieval.errors import EntityNotFound, InvalidInput, MemoryNotFound


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"k": value}
    return value


@pytest.mark.parametrize("text", ["x", " x ", "a\nb", "\u200b", "x" * 10])
def test_good_text_comes_back_as_it_is(text: str) -> None:
    assert checks.check_text("content", text, longest=10) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        (" \t\n\u2003", "empty"),
        ("x" * 11, "11 characters; the most is 10"),
        ("a\0b", "NUL"),
        ("ab\udc00", "position 2"),
    ],
)
def test_bad_text_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        checks.check_text("content", text, longest=10)
    assert caught.value.field == "content"


def test_memory_types() -> None:
    assert checks.check_memory_type(None) is None
    assert checks.check_memory_type("episodic") == "episodic"
    with pytest.raises(InvalidInput, match="episodic, semantic, procedural"):
        checks.check_memory_type("Episodic")


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"": ""},
        {"a": [1, 2.5, True, None, {"b": []}]},
        {"n": 2**63 - 1, "m": -(2**63) + 1, "f": 1e308, "z": -0.0},
        nested(32),
    ],
    ids=["empty", "empty key", "mixed", "numbers", "deep"],
)
def test_good_metadata_comes_back_as_it_is(metadata: dict[str, Any]) -> None:
    assert checks.check_metadata(metadata) == metadata


def test_no_metadata_is_empty_metadata() -> None:
    assert checks.check_metadata(None) == {}


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({1: "x"}, "metadata"),
        ({"a\0": 1}, "metadata"),
        ({"a": "b\0"}, "metadata.a"),
        ({"a": {"\ud800": 1}}, "metadata.a"),
        ({"a": [0, float("inf")]}, "metadata.a[1]"),
        ({"a": 2**63}, "metadata.a"),
        ({"a": -(2**64)}, "metadata.a"),
        ({"a": {1, 2}}, "metadata.a"),
        ({"a": b"bytes"}, "metadata.a"),
        ({"a": datetime(2026, 1, 1, tzinfo=UTC)}, "metadata.a"),
        ({"a": "x" * 64_000}, "metadata"),
    ],
)
def test_bad_metadata_names_the_place(metadata: dict[Any, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checks.check_metadata(metadata)
    assert caught.value.field == field


def test_metadata_may_not_be_bottomless() -> None:
    with pytest.raises(InvalidInput, match="32 levels"):
        checks.check_metadata(nested(40))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-06T12:00:00Z", datetime(2026, 1, 6, 12, tzinfo=UTC)),
        ("2026-01-06T12:00:00", datetime(2026, 1, 6, 12, tzinfo=UTC)),
        ("2026-01-06 12:00:00.123456", datetime(2026, 1, 6, 12, 0, 0, 123_456, tzinfo=UTC)),
        ("2026-01-06", datetime(2026, 1, 6, tzinfo=UTC)),
        (" 2026-01-06T12:00:00+05:30 ", datetime(2026, 1, 6, 6, 30, tzinfo=UTC)),
        ("2026-01-06T00:30:00+01:00", datetime(2026, 1, 5, 23, 30, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
)
def test_instants(text: str, expected: datetime) -> None:
    found = checks.instant("timestamp", text)
    assert found == expected
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [
        "", "now", "2026-13-01", "2026-02-30", "12:00", "1767700800", "2026-01-06T25:00:00Z",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "\ud800", 1767700800, 1.5, None, True, [],
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    ],
)  # fmt: skip
def test_what_is_no_instant_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        checks.instant("timestamp", value)
    assert caught.value.field == "timestamp"
    assert "ISO 8601" in str(caught.value)


def test_limits() -> None:
    assert checks.check_limit("limit", 1, lowest=1, highest=5) == 1
    assert checks.check_limit("limit", 5, lowest=1, highest=5) == 5
    assert checks.check_limit("offset", 10**9, lowest=0, highest=None) == 10**9
    with pytest.raises(InvalidInput, match="between 1 and 5, not 6"):
        checks.check_limit("limit", 6, lowest=1, highest=5)
    with pytest.raises(InvalidInput, match="at least 0, not -1"):
        checks.check_limit("offset", -1, lowest=0, highest=None)


@pytest.mark.parametrize("given", ["abc123", "memories:abc123"])
def test_memory_ids(given: str) -> None:
    assert checks.memory_id(given) == "abc123"


@pytest.mark.parametrize(
    "given", ["", "memories:", "entities:abc", "memories:memories:abc", "a-b", "a b", "é", "x" * 65]
)
def test_what_is_no_id_is_not_found(given: str) -> None:
    with pytest.raises(MemoryNotFound):
        checks.memory_id(given)


def test_entity_ids() -> None:
    assert checks.entity_id("entities:abc") == "abc"
    with pytest.raises(EntityNotFound):
        checks.entity_id("memories:abc")


def test_a_monstrous_id_is_cut_and_printable_in_the_message() -> None:
    with pytest.raises(MemoryNotFound) as caught:
        checks.memory_id("\ud800" * 10_000)
    assert len(str(caught.value)) < 300
    str(caught.value).encode("utf-8")


def test_a_monstrous_value_is_cut_in_the_message() -> None:
    for check in (checks.check_memory_type, lambda value: checks.instant("timestamp", value)):
        with pytest.raises(InvalidInput) as caught:
            check("x" * 1_000_000)
        assert len(str(caught.value)) < 300
