"""Do the argument models and ``contract.json`` say the same?"""

import json
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import annotated_types
import pytest
from pydantic.fields import FieldInfo

import memory_mcp
from memory_mcp.dialects import read_dialect
from memory_mcp.dialects.engine import engine_dialect
from memory_mcp.dialects.engine.tools import TOOLS
from retrieval.fusion import Weights
from retrieval.records import MEMORY_TYPES

DIALECT = engine_dialect()
FIELDS = [
    (row["name"], field, schema)
    for row in DIALECT.listing
    for field, schema in row["inputSchema"]["properties"].items()
]
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}


def model_field(tool: str, field: str) -> FieldInfo:
    return TOOLS[tool].arguments.model_fields[field]


def plain(annotation: Any) -> tuple[Any, bool]:
    """The type without ``None``, and whether ``None`` was there."""
    options = [option for option in get_args(annotation) if option is not type(None)]
    nullable = type(None) in get_args(annotation)
    return (options[0] if nullable else annotation), nullable


def test_every_listed_tool_has_a_model_and_no_other() -> None:
    assert [row["name"] for row in DIALECT.listing] == list(TOOLS)


def test_the_version_is_the_programs() -> None:
    assert (DIALECT.name, DIALECT.version) == ("memory-mcp", memory_mcp.__version__)


@pytest.mark.parametrize("row", DIALECT.listing, ids=lambda row: row["name"])
def test_a_model_has_the_names_of_its_schema(row: dict[str, Any]) -> None:
    fields = TOOLS[row["name"]].arguments.model_fields
    assert list(fields) == list(row["inputSchema"]["properties"])
    required = [name for name, field in fields.items() if field.is_required()]
    if row["name"] == "reset_all_memory":
        required.append("confirm")  # the contract requires it, and yet promises no error when it is missing
    assert required == row["inputSchema"].get("required", [])


@pytest.mark.parametrize(("tool", "field", "schema"), FIELDS)
def test_a_field_has_the_type_of_its_schema(tool: str, field: str, schema: dict[str, Any]) -> None:
    annotation, nullable = plain(model_field(tool, field).annotation)
    assert nullable is schema.get("nullable", False)
    if (tool, field) == ("reset_all_memory", "confirm"):
        assert annotation is Any  # anything but true is a no
    elif get_origin(annotation) is Literal:
        assert list(get_args(annotation)) == schema["enum"]
    else:
        assert JSON_TYPES[get_origin(annotation) or annotation] == schema["type"]
        assert "enum" not in schema


@pytest.mark.parametrize(("tool", "field", "schema"), FIELDS)
def test_a_field_has_the_default_of_its_schema(tool: str, field: str, schema: dict[str, Any]) -> None:
    info = model_field(tool, field)
    if not info.is_required() and field != "confirm":
        assert info.default == schema.get("default")
    said = re.search(r"default: ([\w.]+)", schema["description"])
    if said:
        assert info.default == json.loads(said[1])


@pytest.mark.parametrize(("tool", "field", "schema"), FIELDS)
def test_a_field_has_the_bounds_of_its_schema(tool: str, field: str, schema: dict[str, Any]) -> None:
    lowest = highest = None
    for mark in model_field(tool, field).metadata:
        lowest = mark.ge if isinstance(mark, annotated_types.Ge) else lowest
        highest = mark.le if isinstance(mark, annotated_types.Le) else highest
    stated = re.search(r"max: (\d+)", schema["description"])
    if "maximum" in schema:
        assert highest == schema["maximum"]
    else:  # some limits are only said in words
        assert highest == (int(stated[1]) if stated else None)
    assert lowest == schema.get("minimum", 1 if field == "limit" else None)


def test_the_engine_agrees_on_types_and_weights() -> None:
    annotation, _ = plain(model_field("store_memory", "memory_type").annotation)
    assert get_args(annotation) == MEMORY_TYPES
    weights = Weights()
    for name in ("vector", "bm25", "ppr"):
        assert model_field("recall", f"{name}_weight").default == getattr(weights, name)


def test_a_contract_without_its_tools_is_refused() -> None:
    contract = Path(memory_mcp.__file__).parent / "dialects" / "engine" / "contract.json"
    with pytest.raises(ValueError, match="lists"):
        read_dialect(contract, {name: tool for name, tool in TOOLS.items() if name != "recall"})
