"""What of a chunk is embedded, what is searched, and how both are named."""

import pytest

from retrieval.code.document import chunk_id, digest_of, embedded_text, searched_text


@pytest.mark.parametrize(
    ("breadcrumb", "name", "expected"),
    [
        ("Rack.Router", "call", "Rack.Router.call\nbody"),
        ("", "call", "call\nbody"),
        ("Rack", "", "Rack\nbody"),
        ("", "", "body"),
    ],
)
def test_the_model_reads_the_scope_and_the_text(breadcrumb: str, name: str, expected: str) -> None:
    assert embedded_text(breadcrumb, name, "body") == expected


def test_words_are_also_those_of_the_place() -> None:
    words = searched_text("a/b/http/client/session.test.ts", "Session", "open", "body").split()
    assert set(words) == {"http", "client", "session.test", "open", "Session.open", "body"}
    assert words[-2:] == ["Session.open", "body"]  # with the text as the model reads it
    assert set(searched_text("session.py", "", "", "body").split()) == {"session", "body"}


def test_place_and_name_count_twice() -> None:
    words = searched_text("http/session.py", "Session", "open", "body").split()
    assert [words.count(word) for word in ("http", "session", "body")] == [2, 2, 1]
    assert words.count("open") + words.count("Session.open") == 2


def test_a_digest_names_a_text() -> None:
    assert digest_of("one") == digest_of("one")
    assert digest_of("one") != digest_of("two")
    assert len(digest_of("one")) == 32


def test_half_a_character_has_a_digest_of_its_own() -> None:
    assert digest_of("\ud800") != digest_of("?")


def test_an_id_is_of_a_chunk_in_its_file() -> None:
    ids = {
        chunk_id(project, path, digest, ordinal)
        for project in ("app", "other")
        for path in ("a.py", "b.py")
        for digest in (digest_of("one"), digest_of("two"))
        for ordinal in (0, 1)
    }
    assert len(ids) == 16
    assert {len(key) for key in ids} == {20}
    assert chunk_id("app", "a.py", digest_of("one"), 0) in ids


def test_parts_of_an_id_do_not_run_into_each_other() -> None:
    assert chunk_id("app", "1/a", "x", 0) != chunk_id("app1", "/a", "x", 0)
