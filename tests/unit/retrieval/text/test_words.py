"""What words are in this text? The analyzer, case by case."""

import pytest

from retrieval.text.words import LONGEST, phrases, query_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t… 🎉 --- __", []),
        ("Running runners ran", ["run", "runner", "ran"]),
        ("getUserName", ["get", "user", "name", "getusernam"]),
        ("GetUserName", ["get", "user", "name", "getusernam"]),
        ("get_user_name", ["get", "user", "name", "getusernam"]),
        ("get-user-name", ["get", "user", "name", "getusernam"]),
        ("GET_USER_NAME", ["get", "user", "name", "getusernam"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("XMLHttpRequest", ["xml", "http", "request", "xmlhttprequest"]),
        ("__init__", ["init"]),
        ("--dry-run", ["dri", "run", "dryrun"]),
        ("os.path.join(a)", ["os", "path", "join", "a", "os.path.join"]),
        ("src/app/main.py", ["src", "app", "main", "py", "main.py"]),
        ("self.userName", ["self", "user", "name", "usernam", "self.username"]),
        ("Python 3.11", ["python", "3", "11", "3.11"]),
        ("v2", ["v", "2", "v2"]),
        ("E1234", ["e", "1234", "e1234"]),
        ("10ms", ["10", "ms", "10ms"]),
        ("a3f9c2d1", ["a3f9c2d1"]),
        ("The end.", ["the", "end"]),
        ("don't", ["don", "t"]),
        ("don’t", ["don", "t"]),
        ("Café NAÏVE Łódź", ["cafe", "naiv", "lodz"]),
        ("Straße", ["strass"]),
        ("İstanbul ılık", ["istanbul", "ilik"]),
        ("ﬁle Ⅳ", ["file", "iv"]),
        ("Привет, Ёлка й", ["привет", "ёлка", "й"]),
        ("άλφα", ["αλφα"]),
        ("नमस्ते हिन्दी", ["नमस्ते", "हिन्दी"]),
        ("العَرَبِيَّة", ["العربية"]),
        ("東京都", ["東京", "京都", "東", "京", "都"]),
        ("猫", ["猫"]),
        ("ｶﾞﾗｽ", ["ガラ", "ラス", "ガ", "ラ", "ス"]),
        ("iPhone用のcase", ["i", "phone", "用の", "case", "iphon", "用", "の"]),
        ("서울시", ["서울", "울시", "서", "울", "시"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_composed_and_decomposed_letters_agree() -> None:
    assert words("café й が") == words("cafe\u0301 и\u0306 か\u3099") == ["cafe", "й", "が"]


def test_utf8_and_utf_8_share_a_whole() -> None:
    assert set(words("utf8")) == set(words("UTF-8"))


def test_a_blob_becomes_one_word_of_bounded_length() -> None:
    assert words("a1b2" * 10_000) == [("a1b2" * 10_000)[:LONGEST]]


def test_a_long_chain_keeps_its_parts_and_has_no_whole() -> None:
    assert words("_".join(["part"] * 500)) == ["part"] * 500


@pytest.mark.parametrize(
    "text", ["x" * 70_000, "東" * 70_000, "_" * 70_000, "aA" * 35_000, "1a" * 35_000, "a." * 35_000]
)
def test_no_word_holds_a_space_or_exceeds_the_limit(text: str) -> None:
    assert all(word and len(word) <= LONGEST and not word.isspace() for word in words(text))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the name of the dog?", ["name", "dog"]),
        ("Who are The Who?", ["who", "are", "the", "who"]),
        ("does IT support US users", ["it", "support", "us", "user"]),
        ("is_valid or not", ["is", "valid", "isvalid"]),
        ("very very old", ["veri", "veri", "old"]),
        ("???", []),
    ],
)
def test_query_words_leave_out_what_says_nothing(question: str, expected: list[str]) -> None:
    assert query_words(question) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("billing service", [["bill", "servic"]]),
        ("GitHub Actions", [["git", "hub", "action"], ["github", "action"]]),
        ("auth-service", [["auth", "servic"], ["authservic"]]),
        ("東京", [["東京"]]),
        ("!", [[]]),
    ],
)
def test_phrases(name: str, expected: list[list[str]]) -> None:
    assert phrases(name) == expected


@pytest.mark.parametrize("text", ["The GitHub-Actions of 東京都 in lexical.py", "don’t", "A.B.C utf8"])
def test_parts_come_first_and_unbroken(text: str) -> None:
    by_parts = phrases(text)[0]
    assert words(text)[: len(by_parts)] == by_parts
