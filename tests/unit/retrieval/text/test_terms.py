"""What a text names, case by case."""

import pytest

from retrieval.text.terms import MAX_TERMS, WORD_WEIGHT, fold, names, spoken, terms, weighted_terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Marie Curie worked at the University of Oxford.", ["marie curie", "university of oxford"]),
        ("Ludwig van Beethoven, Charles de Gaulle", ["ludwig van beethoven", "charles de gaulle"]),
        ("When Ada moved, she met Bob.", ["ada", "bob"]),
        ("The weather is fine. It rains. However, we go.", []),
        ("Planning helps. Tools: libraries, and Rust!", ["rust"]),
        ("NASA flew. IBM's too.", ["nasa", "ibm"]),
        ("I'm sure they don't. I've asked.", []),
        ("The Journal of Physics is old.", ["journal of physics"]),
        ("in Paris, France", ["paris", "france"]),
        ("Demon Dice\nDemon Dice is a game", ["demon dice"]),
        ("NASA's Apollo 11 and the U.S. Air Force", ["nasa", "apollo 11", "u.s", "air force"]),
        (
            "J. K. Rowling met Dr. Watson. Sherlock Holmes left.",
            ["j k rowling", "dr watson", "sherlock holmes"],
        ),
        ("Jean-Paul and O’Brien", ["jean-paul", "o'brien"]),
        ("the University of", ["university"]),
        ("call getUserName, get_user_name and MAX_SIZE", ["getusername", "get_user_name", "max_size"]),
        ("HttpServer.run() in retrieval.text.terms", ["httpserver.run", "retrieval.text.terms"]),
        ("std::vector is C++, not C#", ["std::vector", "c++", "c#"]),
        ("see src/main.rs and /etc/hosts", ["src/main.rs", "main.rs", "/etc/hosts", "hosts"]),
        ("pass --no-cache or -v", ["--no-cache", "-v"]),
        ("fixed in #123", ["#123"]),
        ("v1.2.3 and 3.0.0b10", ["1.2.3", "3.0.0b10"]),
        ('run `git push` and say "hello world"', ["git push", "hello world"]),
        ("“smart quotes” and «guillemets»", ["smart quotes", "guillemets"]),
        ("https://www.example.com/a?b=c", ["example.com"]),
        ("write to bob@corp.io", ["bob@corp.io", "corp.io"]),
        ("今日は「東京駅」へ。使用SurrealDB存储", ["東京駅", "surrealdb"]),
        ("コンピューターの話", ["コンピューター"]),
        ("город Москва и Санкт-Петербург", ["москва", "санкт-петербург"]),
        ("στην Ελλάδα, Αθήνα", ["ελλάδα", "αθήνα"]),
        ("with Élodie to Zürich", ["élodie", "zürich"]),
        ("", []),
        ("... !!! -- ``", []),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_plain_words_follow_the_names_at_a_lower_weight() -> None:
    assert weighted_terms("we use surrealdb with Pytest") == {"pytest": 1.0, "surrealdb": WORD_WEIGHT}


def test_a_name_is_also_found_by_each_of_its_words() -> None:
    assert terms("Marie Curie") == ["marie curie", "marie", "curie"]


def test_words_of_other_scripts_are_terms_and_sentences_without_spaces_are_not() -> None:
    assert terms("שלום עולם") == ["שלום", "עולם"]
    assert terms("我喜欢吃苹果") == []


def test_function_words_never_are() -> None:
    assert terms('"the" and `or` The And') == []


def test_a_long_quote_is_a_sentence() -> None:
    assert "one two three four five six seven" not in terms('"one two three four five six seven"')


def test_a_text_has_a_bounded_number_of_terms_and_names_come_first() -> None:
    words = " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(200))
    found = terms(words + " Marie Curie")
    assert len(found) == MAX_TERMS
    assert found[0] == "marie curie"


def test_encoded_data_is_no_term() -> None:
    assert terms("a" * 65 + " " + "x1" * 40) == []


def test_spelling_does_not_matter() -> None:
    assert fold("  Marie\n  CURIE. ") == "marie curie"
    assert " ".join(spoken("Where did Marie  Curie’s work (begin)?")) == "where did marie curie work begin"
