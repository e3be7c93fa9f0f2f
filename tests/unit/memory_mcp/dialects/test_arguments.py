"""Are arguments taken as JSON Schema reads, and refused by name?"""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from memory_mcp.dialects.arguments import Arguments, Number, Whole, parse
from retrieval.errors import InvalidInput


class Example(Arguments):
    text: str
    whole: Annotated[Whole, Field(ge=1, le=50)] = 10
    number: Number = 0.5
    yes: bool = False
    choice: Literal["a", "b"] = "a"
    maybe: str | None = None
    metadata: dict[str, Any] | None = None


class Nothing(Arguments):
    pass


def problem(**given: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        parse(Example, {"text": "x"} | given)
    return str(caught.value)


def test_defaults_stand_in_for_what_is_not_given() -> None:
    assert parse(Example, {"text": "x"}) == Example(text="x")


@pytest.mark.parametrize(("given", "taken"), [(5, 5), (5.0, 5), (1e1, 10)])
def test_a_whole_number_is_an_integer_however_written(given: Any, taken: int) -> None:
    arguments = parse(Example, {"text": "x", "whole": given})
    assert arguments.whole == taken
    assert type(arguments.whole) is int


def test_an_integer_is_a_number() -> None:
    arguments = parse(Example, {"text": "x", "number": 1})
    assert arguments.number == 1.0
    assert type(arguments.number) is float


def test_null_is_not_given_where_it_is_allowed() -> None:
    assert parse(Example, {"text": "x", "maybe": None, "metadata": None}) == Example(text="x")
    assert problem(whole=None) == "Invalid whole: must be an integer, not null."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": 5}, "Invalid text: must be a string, not 5."),
        ({"text": ["x"]}, "Invalid text: must be a string, not an array."),
        ({"text": {"x": 1}}, "Invalid text: must be a string, not an object."),
        ({"whole": "5"}, 'Invalid whole: must be an integer, not "5".'),
        ({"whole": 5.5}, "Invalid whole: must be an integer, not 5.5."),
        ({"whole": True}, "Invalid whole: must be an integer, not true."),
        ({"whole": float("inf")}, "Invalid whole: must be an integer, not Infinity."),
        ({"whole": 51}, "Invalid whole: must be at most 50, not 51."),
        ({"whole": 0}, "Invalid whole: must be at least 1, not 0."),
        ({"number": True}, "Invalid number: must be a finite number, not true."),
        ({"number": "1"}, 'Invalid number: must be a finite number, not "1".'),
        ({"number": float("nan")}, "Invalid number: must be a finite number, not NaN."),
        ({"yes": 1}, "Invalid yes: must be true or false, not 1."),
        ({"choice": "c"}, 'Invalid choice: must be one of a, b, not "c".'),
        ({"metadata": []}, "Invalid metadata: must be an object, not an array."),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], said: str) -> None:
    assert problem(**given) == said


def test_a_missing_argument_is_required() -> None:
    with pytest.raises(InvalidInput, match=r"^Invalid text: required\.$"):
        parse(Example, {})


def test_an_unknown_argument_comes_before_the_one_it_was_meant_for() -> None:
    with pytest.raises(InvalidInput, match=r"^Invalid txet: unknown argument; known are text, whole, "):
        parse(Example, {"txet": "x"})
    with pytest.raises(InvalidInput, match=r"^Invalid x: unknown argument; known are none\.$"):
        parse(Nothing, {"x": 1})


def test_a_large_value_is_not_repeated() -> None:
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    for given in ({"whole": "x" * 10**6}, {"whole": nested}, {"number": 10**400}, {"x" * 10**6: 1}):
        assert len(problem(**given)) < 200


def test_half_a_surrogate_pair_can_be_named() -> None:
    assert problem(**{"\ud800": 1}).startswith("Invalid ")
    assert problem(whole="\ud800") == r'Invalid whole: must be an integer, not "\ud800".'
