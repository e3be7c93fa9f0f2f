"""Can this input be stored as it is, and found again?

Everything a caller sends passes here before it reaches the store. What cannot be kept faithfully is
refused, naming the field and what to do, rather than altered.
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from retrieval.errors import EntityNotFound, InvalidInput, MemoryNotFound, NotFound
from retrieval.records import MEMORY_TYPES, MemoryType

__all__ = [
    "check_limit",
    "check_memory_type",
    "check_metadata",
    "check_text",
    "entity_id",
    "instant",
    "memory_id",
]

MAX_CONTENT = 100_000
"""Characters in one memory. More is a document: it should be split, or indexed as a project."""

MAX_QUERY = 10_000
MAX_NAME = 1_000
MAX_METADATA = 64_000
"""Characters of metadata as JSON."""

MAX_DEPTH = 32
_LARGEST_INTEGER = 2**63 - 1
_ID = re.compile(r"[A-Za-z0-9]{1,64}")


def check_text(field: str, text: str, *, longest: int) -> str:
    """Text that can be stored and found: not blank, not too long, valid Unicode, no NUL."""
    if not text.strip():
        raise InvalidInput(field, "must not be empty.")
    if len(text) > longest:
        raise InvalidInput(field, f"has {len(text):,} characters; the most is {longest:,}. Split it.")
    _check_characters(field, text)
    return text


def check_memory_type(value: str | None) -> MemoryType | None:
    """One of the known types; None means that none was given."""
    if value is None:
        return None
    for known in MEMORY_TYPES:
        if value == known:
            return known
    raise InvalidInput("memory_type", f"must be one of {', '.join(MEMORY_TYPES)}, not {value!r:.100}.")


def check_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metadata that survives the way through JSON unchanged."""
    if metadata is None:
        return {}
    _check_value("metadata", metadata, depth=0)
    size = len(json.dumps(metadata, ensure_ascii=False))
    if size > MAX_METADATA:
        raise InvalidInput("metadata", f"is {size:,} characters as JSON; the most is {MAX_METADATA:,}.")
    return dict(metadata)


def check_limit(field: str, value: int, *, lowest: int, highest: int | None) -> int:
    """A number within its bounds."""
    if value < lowest or (highest is not None and value > highest):
        bounds = f"at least {lowest}" if highest is None else f"between {lowest} and {highest}"
        raise InvalidInput(field, f"must be {bounds}, not {value}.")
    return value


def instant(field: str, value: Any) -> datetime:
    """An ISO 8601 date or time as UTC; one without an offset is taken as UTC."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip())
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise InvalidInput(
        field, f"must be an ISO 8601 timestamp such as 2026-01-06T12:00:00Z, not {value!r:.100}."
    )


def memory_id(given: str) -> str:
    """The bare id in ``abc`` or ``memories:abc``."""
    return _bare_id(given, "memories:", MemoryNotFound)


def entity_id(given: str) -> str:
    """The bare id in ``abc`` or ``entities:abc``."""
    return _bare_id(given, "entities:", EntityNotFound)


def _bare_id(given: str, prefix: str, missing: type[NotFound]) -> str:
    bare = given.removeprefix(prefix)
    if not _ID.fullmatch(bare):
        # No record has such an id, so there is nothing to look up.
        raise missing(given[:200].encode("utf-8", "replace").decode("utf-8"))
    return bare


def _check_characters(field: str, text: str) -> None:
    if "\0" in text:
        raise InvalidInput(field, "contains a NUL character; remove it.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            field, f"contains half of a surrogate pair at position {error.start}; send valid Unicode."
        ) from None


def _check_value(field: str, value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidInput(field, f"is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, str):
        _check_characters(field, value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(field, f"has a key that is not text: {key!r}.")
            _check_characters(field, key)
            _check_value(f"{field}.{key}", item, depth + 1)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            _check_value(f"{field}[{i}]", item, depth + 1)
    elif isinstance(value, bool) or value is None:
        pass
    elif isinstance(value, int):
        if abs(value) > _LARGEST_INTEGER:
            raise InvalidInput(field, "is an integer of more than 64 bits; send it as text.")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(field, f"must be a finite number, not {value}.")
    else:
        raise InvalidInput(field, f"has a value of type {type(value).__name__}, which JSON does not know.")
