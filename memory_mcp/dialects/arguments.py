"""Are these the arguments the tool takes?

Checked as JSON Schema reads: ``5.0`` is an integer, ``true`` is not a number, text is not a number, and
what the schema does not name is refused rather than ignored, because it is most often a misspelt name.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from retrieval.errors import InvalidInput

__all__ = ["Arguments", "Number", "Whole", "parse"]

_SHOWN = 60
"""Characters of a refused value that an error repeats."""


class Arguments(BaseModel):
    """The arguments of one tool. A nullable one that is null counts as not given."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""A JSON integer, however it is written."""

Number = Annotated[float, Field(allow_inf_nan=False)]
"""A JSON number; Python's reader also takes NaN and Infinity, which JSON does not know."""


def parse(model: type[ArgumentsT], given: Mapping[str, Any]) -> ArgumentsT:
    """Check the arguments of a call, or raise InvalidInput naming the first one that is wrong."""
    # First, because a misspelt name is also a missing one, and this says what to write instead.
    known = model.model_fields
    for name in given:
        if name not in known:
            raise InvalidInput(_cut(name), f"unknown argument; known are {', '.join(known) or 'none'}.")
    try:
        return model.model_validate(given)
    except ValidationError as refused:
        error = refused.errors(include_url=False)[0]
    raise InvalidInput(str(error["loc"][0]), _problem(error))


def _problem(error: ErrorDetails) -> str:
    value, context = error["input"], error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "required."
        case "string_type":
            return f"must be a string, not {_show(value)}."
        case "int_type" | "int_from_float" | "int_parsing_size":
            return f"must be an integer, not {_show(value)}."
        case "float_type" | "finite_number":
            return f"must be a finite number, not {_show(value)}."
        case "bool_type":
            return f"must be true or false, not {_show(value)}."
        case "dict_type":
            return f"must be an object, not {_show(value)}."
        case "greater_than_equal":
            return f"must be at least {context['ge']:g}, not {_show(value)}."
        case "less_than_equal":
            return f"must be at most {context['le']:g}, not {_show(value)}."
        case "literal_error":
            known = context["expected"].replace(" or ", ", ").replace("'", "")
            return f"must be one of {known}, not {_show(value)}."
        case _:
            return f"{error['msg']}."


def _show(value: Any) -> str:
    """A refused value, short: it may be a megabyte, and it may be nested a thousand levels deep."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return _cut(json.dumps(value[: _SHOWN + 1] if isinstance(value, str) else value))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
