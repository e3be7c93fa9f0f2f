"""How does a record look in the database?"""

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import numpy as np

from retrieval.errors import StoreError
from retrieval.records import Project, Vector
from retrieval.store.changes import Record

__all__ = ["to_record", "to_row", "vector_row"]

_AS_JSON = frozenset({"metadata", "skipped"})
"""Fields kept as JSON text: an object of the database would reorder keys and turn nulls into nothing."""


def to_row(record: Record | Project, *, keep_row: bool = False) -> dict[str, Any]:
    """A record as the database keeps it."""
    row = {field.name: getattr(record, field.name) for field in fields(record)}
    if not keep_row:
        row.pop("row", None)
    for name in _AS_JSON & row.keys():
        row[name] = json.dumps(row[name], ensure_ascii=False, allow_nan=False)
    return row


def to_record(kind: type[Any], row: dict[str, Any]) -> Any:
    """The inverse of ``to_row``."""
    values: dict[str, Any] = {field.name: row.get(field.name) for field in fields(kind)}
    values["id"] = str(row["id"].id)
    for name, value in values.items():
        if isinstance(value, datetime):
            # The client's own class carries nanoseconds and compares with itself; ours is the plain one.
            values[name] = datetime.combine(value.date(), value.time(), UTC)
    for name in _AS_JSON & values.keys():
        values[name] = json.loads(values[name])
    return kind(**values)


def vector_row(key: str, model: str, vector: Vector) -> dict[str, Any]:
    """A vector under its model and the key of its memory, or the digest of its chunk.

    As bytes: 2.5 times smaller than a list of numbers.
    """
    if vector.dtype != np.float32:
        raise StoreError(f"Vectors are float32, not {vector.dtype}.")
    return {"id": [key, model], "values": vector.astype("<f4", copy=False).tobytes()}
