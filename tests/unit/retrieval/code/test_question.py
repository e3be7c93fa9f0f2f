"""What a code question names."""

import pytest

from retrieval.code.question import Name, defined_names, read_question, supporting, written_names


def names(text: str) -> list[str]:
    return [name.text for name in read_question(text).names]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("how does parseParams read its input", "parseParams"),
        ("where is max_retries set", "max_retries"),
        ("what calls `flush` on exit", "flush"),
        ("when is close() called", "close"),
        ("errors of absl::StrCat", "StrCat"),
        ("why does Session.send retry", "send"),
        ("the HTTPAdapter pool", "HTTPAdapter"),
        ("what are __slots__ for", "__slots__"),
    ],
)
def test_a_name_is_told_by_its_form(text: str, name: str) -> None:
    assert names(text) == [name]


def test_the_scopes_of_a_name_are_kept() -> None:
    assert read_question("Rack::Session::Cookie").names == (Name("Cookie", ("Rack", "Session")),)


def test_a_word_with_a_capital_is_a_guess() -> None:
    assert read_question("how the Router matches").names == (Name("Router", is_guess=True),)


@pytest.mark.parametrize("text", ["How are HTTP headers parsed", "is it IO bound", "success/error result"])
def test_prose_and_acronyms_are_no_names(text: str) -> None:
    assert names(text) == []


def test_what_is_certain_once_is_no_guess() -> None:
    assert read_question("Router and `Router`").names == (Name("Router"),)


@pytest.mark.parametrize("text", ["Session", "session", "class Session", "Rack::Session", "`Session`?"])
def test_a_name_alone_is_a_lookup(text: str) -> None:
    assert read_question(text).is_lookup


@pytest.mark.parametrize("text", ["session handling", "how Session works", "Session 5", ""])
def test_more_than_a_name_is_prose(text: str) -> None:
    assert not read_question(text).is_lookup


@pytest.mark.parametrize(
    ("text", "stem"), [("what is in routing.py", "routing"), ("src/http/Parser.ts errors", "parser")]
)
def test_a_file_is_named_by_its_stem_and_is_no_symbol(text: str, stem: str) -> None:
    question = read_question(text)
    assert (question.files, question.names) == ((stem,), ())


def test_a_question_may_ask_for_tests() -> None:
    assert read_question("unit tests of the parser").wanted == {"test"}


def test_a_question_about_testing_does_not_ask_for_tests() -> None:
    assert read_question("how a test is skipped").wanted == frozenset()


def test_words_are_those_of_the_keyword_index() -> None:
    assert read_question("the parsing of getUserName").words == {"pars", "get", "user", "name", "getusernam"}


def test_a_chunk_is_looked_up_by_each_of_its_names_and_their_last_part() -> None:
    assert defined_names("Plug.Conn, LIMIT, …") == ("plug.conn", "conn", "limit")


def test_the_names_of_a_chunk_are_also_known_as_they_are_written() -> None:
    assert written_names("Plug.Conn") == ("Plug.Conn", "Conn")


def test_a_chunk_without_a_name_is_not_looked_up() -> None:
    assert defined_names("") == ()


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("tests/app.py", "test"),
        ("src/app.test.ts", "test"),
        ("server_test.go", "test"),
        ("src/UserServiceTest.java", "test"),
        ("pkg/test_app.py", "test"),
        ("Dapper.Tests/Misc.cs", "test"),
        ("src/commonTest/kotlin/App.kt", "test"),
        ("_examples/hello/main.go", "example"),
        ("benches/lookup.rs", "benchmark"),
        ("docs/guide.py", "document"),
        ("README.md", "document"),
        ("third_party/zlib/inflate.c", "vendored"),
        ("src/legacy/api.ts", "old"),
        ("types/index.d.ts", "stub"),
    ],
)
def test_supporting_files_are_told_by_their_path(path: str, sort: str) -> None:
    assert supporting(path, "python") == sort


@pytest.mark.parametrize(
    "path", ["src/app.py", "contest.go", "latest/build.rs", "src/Manifest.kt", "lib/test_functions.bash"]
)
def test_the_code_itself_supports_nothing(path: str) -> None:
    assert supporting(path, "python") == ""


@pytest.mark.parametrize(("language", "sort"), [("yaml", "settings"), ("rst", "document"), ("", "document")])
def test_what_is_no_code_supports_it(language: str, sort: str) -> None:
    assert supporting("src/app", language) == sort
