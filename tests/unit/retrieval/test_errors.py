"""Errors: one tree, each with a code and a next step."""

import inspect
import re
from typing import Any

import pytest

from retrieval import errors
from retrieval.errors import (
    DimensionMismatch,
    EncoderFailed,
    EncoderNotReady,
    EntityNotFound,
    IndexesNotReady,
    InvalidInput,
    MemoryNotFound,
    MemoryServerError,
    ModelMismatch,
)

CLASSES: dict[str, Any] = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, Exception)
}


def test_every_error_belongs_to_the_tree() -> None:
    assert all(issubclass(error, MemoryServerError) for error in CLASSES.values())


def test_the_picture_in_the_docstring_is_the_tree() -> None:
    drawn: dict[str, str] = {}
    path: list[str] = []
    for indent, name in re.findall(r"^    ([│├└─ ]*)(\w+)", errors.__doc__ or "", re.MULTILINE):
        del path[len(indent) // 4 :]
        if path:
            drawn[name] = path[-1]
        path.append(name)
    assert drawn == {
        name: error.__mro__[1].__name__ for name, error in CLASSES.items() if error is not MemoryServerError
    }


KINDS = ("MemoryNotFound", "EntityNotFound", "ProjectNotFound")


def test_codes_are_distinct_but_for_the_kinds_of_not_found() -> None:
    codes = [error.code for name, error in CLASSES.items() if name not in KINDS]
    assert len(set(codes)) == len(codes)
    assert {CLASSES[name].code for name in KINDS} == {"NOT_FOUND"}


def test_invalid_input_names_the_field() -> None:
    error = InvalidInput("limit", "must be at least 1.")
    assert str(error) == "Invalid limit: must be at least 1."
    assert (error.field, error.problem) == ("limit", "must be at least 1.")


def test_not_found_names_the_record() -> None:
    assert str(MemoryNotFound("abc")) == "Memory not found: abc"
    assert str(EntityNotFound("abc")) == "Entity not found: abc"


def test_a_loading_model_asks_to_try_again() -> None:
    assert str(EncoderNotReady()) == "Embedding service not ready. Please try again."


def test_a_failed_model_says_why_and_what_to_do() -> None:
    error = EncoderFailed("no such file")
    assert str(error).startswith("Embedding service not ready. ")
    assert "no such file" in str(error)
    assert "--model" in str(error)


def test_indexes_under_construction_say_how_far_they_are() -> None:
    assert str(IndexesNotReady(41.7)) == "The indexes are being built (42 %). Please try again."


@pytest.mark.parametrize(
    "error", [DimensionMismatch(384, 768, "minilm", "nomic"), ModelMismatch("minilm", "nomic")]
)
def test_a_mismatch_names_the_three_ways_out(error: MemoryServerError) -> None:
    for way in ("--model minilm", "memory-mcp reembed --model nomic", "--data-dir"):
        assert way in str(error)


def test_the_dimensions_are_named_as_the_contract_says() -> None:
    first = str(DimensionMismatch(384, 768, "minilm", "nomic")).splitlines()[0]
    assert first == "Dimension mismatch: database has 384d vectors, configured model produces 768d."
