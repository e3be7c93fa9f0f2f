"""The memories kept at hand: bounded, and never older than the database."""

from retrieval.store.recent import Recent
from tests.builders import a_memory


def test_what_was_put_is_found() -> None:
    recent = Recent()
    memory = a_memory("a")
    recent.put(memory)
    assert recent.get(["a", "b"]) == {"a": memory}


def test_a_later_version_replaces_the_earlier() -> None:
    recent = Recent()
    recent.put(a_memory("a", content="old"))
    recent.put(a_memory("a", content="new"))
    assert recent.get(["a"])["a"].content == "new"


def test_the_least_recently_used_leaves_first() -> None:
    recent = Recent(max_records=2)
    recent.put(a_memory("a"))
    recent.put(a_memory("b"))
    recent.get(["a"])
    recent.put(a_memory("c"))
    assert recent.get("abc").keys() == {"a", "c"}


def test_long_contents_count_by_their_length() -> None:
    recent = Recent(max_characters=10)
    recent.put(a_memory("a", content="x" * 6))
    recent.put(a_memory("b", content="x" * 6))
    assert recent.get("ab").keys() == {"b"}


def test_one_that_is_too_long_is_not_kept() -> None:
    recent = Recent(max_characters=10)
    recent.put(a_memory("a", content="x" * 11))
    assert recent.get("a") == {}


def test_replacing_and_dropping_free_the_room() -> None:
    recent = Recent(max_characters=10)
    recent.put(a_memory("a", content="x" * 9))
    recent.put(a_memory("a", content="x"))
    recent.put(a_memory("b", content="x" * 9))
    recent.drop("b")
    recent.drop("b")
    recent.put(a_memory("c", content="x" * 9))
    assert recent.get("abc").keys() == {"a", "c"}


def test_clearing_forgets_everything() -> None:
    recent = Recent(max_characters=10)
    recent.put(a_memory("a", content="x" * 9))
    recent.clear()
    recent.put(a_memory("b", content="x" * 9))
    assert recent.get("ab").keys() == {"b"}


def test_what_was_read_is_kept() -> None:
    recent = Recent()
    recent.keep([a_memory("a"), a_memory("b")], recent.writes)
    assert recent.get("ab").keys() == {"a", "b"}


def test_what_was_read_before_a_write_is_not_kept() -> None:
    recent = Recent()
    before = recent.writes
    recent.put(a_memory("b"))
    recent.keep([a_memory("a")], before)
    assert recent.get("ab").keys() == {"b"}


def test_what_was_read_before_a_deletion_or_a_reset_is_not_kept() -> None:
    recent = Recent()
    before = recent.writes
    recent.drop("a")
    recent.keep([a_memory("a")], before)
    before = recent.writes
    recent.clear()
    recent.keep([a_memory("a")], before)
    assert recent.get("a") == {}
