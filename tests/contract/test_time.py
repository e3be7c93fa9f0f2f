"""Which memories are valid when, as a client sees it."""

from typing import Any

import pytest

from tests.contract.harness import Memory

SEARCHES = ("search", "search_text", "recall")


def contents(reply: dict[str, Any]) -> set[str]:
    assert reply["count"] == len(reply["results"])
    return {row["content"] for row in reply["results"]}


def at(memory: Memory, timestamp: str) -> set[str]:
    return contents(memory.ask("get_valid_at", timestamp=timestamp))


def test_everything_is_valid_until_it_is_not(memory: Memory) -> None:
    key = memory.store("The office is in Prague")
    memory.store("The office is in Brno")
    assert contents(memory.ask("get_valid")) == {"The office is in Prague", "The office is in Brno"}
    assert memory.ask("invalidate", id=key) == {"invalidated": True}
    assert contents(memory.ask("get_valid")) == {"The office is in Brno"}
    assert memory.ask("list_memories")["total"] == 2


def test_an_ended_memory_keeps_its_end_reason_and_successor(memory: Memory) -> None:
    old, new = memory.store("The office is in Prague"), memory.store("The office is in Brno")
    memory.ask("invalidate", id=old, reason="we moved", superseded_by=new)
    found = memory.ask("get_memory", id=old)
    assert found["valid_until"].endswith("Z")
    assert (found["invalidation_reason"], found["superseded_by"]) == ("we moved", new)
    memory.ask("invalidate", id=old)
    assert memory.ask("get_memory", id=old) == found


def test_a_successor_must_exist(memory: Memory) -> None:
    key = memory.store("The office is in Prague")
    assert memory.refuse("invalidate", id=key, superseded_by="nobody").startswith("Invalid superseded_by: ")
    assert memory.refuse("invalidate", id=key, superseded_by=key).startswith("Invalid superseded_by: ")
    assert memory.ask("get_memory", id=key)["valid_until"] is None


def test_validity_can_be_given_and_asked_for(memory: Memory) -> None:
    period = {"valid_from": "2020-01-01T00:00:00Z", "valid_until": "2021-01-01T00:00:00Z"}
    memory.store("Lockdown", metadata=period)
    assert at(memory, "2019-12-31T23:59:59Z") == set()
    assert at(memory, "2020-01-01T00:00:00Z") == {"Lockdown"}
    assert at(memory, "2020-12-31T23:59:59.999Z") == {"Lockdown"}
    assert at(memory, "2021-01-01T00:00:00Z") == set()
    assert contents(memory.ask("get_valid")) == set()


def test_time_zones_are_understood(memory: Memory) -> None:
    memory.store("New year in Prague", metadata={"valid_from": "2020-01-01T00:00:00+01:00"})
    assert at(memory, "2019-12-31T22:59:59Z") == set()
    assert at(memory, "2019-12-31T23:00:00Z") == {"New year in Prague"}
    assert at(memory, "2019-12-31T18:00:00-05:00") == {"New year in Prague"}
    assert at(memory, "2019-12-31T17:59:59-05:00") == set()


@pytest.mark.parametrize(
    ("given", "echoed"),
    [
        ("2026-01-06T12:00:00Z", "2026-01-06T12:00:00Z"),
        ("2026-01-06T12:00:00+02:00", "2026-01-06T10:00:00Z"),
        ("2026-01-06T12:00:00", "2026-01-06T12:00:00Z"),
        ("2026-01-06", "2026-01-06T00:00:00Z"),
        ("2026-01-06T12:00:00.25-03:30", "2026-01-06T15:30:00.250000Z"),
    ],
)
def test_the_timestamp_is_echoed_in_utc(memory: Memory, given: str, echoed: str) -> None:
    assert memory.ask("get_valid_at", timestamp=given) == {"results": [], "count": 0, "timestamp": echoed}


def test_the_future_is_known_but_not_yet_found(memory: Memory) -> None:
    memory.store("Jubilee party", metadata={"valid_from": "2999-01-01T00:00:00Z"})
    assert contents(memory.ask("get_valid")) == set()
    assert at(memory, "2999-06-01T00:00:00Z") == {"Jubilee party"}
    for tool in SEARCHES:
        assert memory.ask(tool, query="jubilee party")["results"] == []


def test_the_ended_and_the_expired_are_not_found(memory: Memory) -> None:
    memory.store(
        "Badger ended", metadata={"valid_from": "2000-01-01T00:00:00Z", "valid_until": "2001-01-01T00:00:00Z"}
    )
    memory.store("Badger expired", metadata={"expires_at": "2001-01-01T00:00:00Z"})
    memory.ask("invalidate", id=memory.store("Badger invalidated"))
    alive = memory.store("Badger alive")
    for tool in SEARCHES:
        assert [row["id"] for row in memory.ask(tool, query="badger")["results"]] == [alive]


def test_times_given_in_metadata_are_the_memorys_times(memory: Memory) -> None:
    times = {
        "event_time": "1969-07-20T20:17:40Z",
        "valid_from": "1969-07-21T00:00:00Z",
        "expires_at": "2999-01-01T00:00:00Z",
    }
    found = memory.ask("get_memory", id=memory.store("The Eagle has landed", metadata=times))
    assert {name: found[name] for name in times} == times
    assert found["metadata"] == times


def test_a_time_can_be_corrected(memory: Memory) -> None:
    key = memory.store("Tenure", metadata={"valid_from": "2020-01-01T00:00:00Z"})
    memory.ask("update_memory", id=key, metadata={"valid_from": "2010-01-01T00:00:00Z"})
    assert at(memory, "2015-01-01T00:00:00Z") == {"Tenure"}


def test_users_can_be_told_apart(memory: Memory) -> None:
    memory.store("Of Ada", user_id="ada")
    memory.store("Of Grace", user_id="grace")
    memory.store("Of nobody")
    assert contents(memory.ask("get_valid", user_id="ada")) == {"Of Ada"}
    assert contents(memory.ask("get_valid")) == {"Of Ada", "Of Grace", "Of nobody"}
    future = memory.ask("get_valid_at", timestamp="2999-01-01T00:00:00Z", user_id="grace")
    assert contents(future) == {"Of Grace"}


def test_results_are_newest_first_up_to_the_limit(memory: Memory) -> None:
    for n in range(22):
        memory.store(f"Entry {n}")
    found = memory.ask("get_valid", limit=3)["results"]
    assert [row["content"] for row in found] == ["Entry 21", "Entry 20", "Entry 19"]
    assert memory.ask("get_valid")["count"] == 20
    assert memory.ask("get_valid_at", timestamp="2999-01-01T00:00:00Z", limit=100)["count"] == 22
    assert set(found[0]) >= {"id", "content", "memory_type", "valid_from", "valid_until", "metadata"}
