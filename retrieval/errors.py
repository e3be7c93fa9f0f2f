"""What can go wrong, and what should the caller do next?

The whole tree; every message names the next step::

    MemoryServerError
    ├── InvalidInput          an argument is wrong: names the field
    ├── NotFound
    │   ├── MemoryNotFound
    │   ├── EntityNotFound
    │   └── ProjectNotFound
    ├── EncoderNotReady       the model is still loading
    │   └── EncoderFailed     the model could not be loaded
    ├── StoreError            the database refused or broke
    │   ├── StoreLocked       another process owns the data directory
    │   ├── SchemaTooNew      written by a newer version
    │   ├── IndexesNotReady   derived indexes are being built
    │   ├── DimensionMismatch vectors of another width
    │   └── ModelMismatch     vectors of another model
    └── SettingsError         a flag or an environment variable is wrong

``code`` is stable and machine-readable; dialects map it to the words of their contract.
"""

from typing import ClassVar

__all__ = [
    "DimensionMismatch",
    "EncoderFailed",
    "EncoderNotReady",
    "EntityNotFound",
    "IndexesNotReady",
    "InvalidInput",
    "MemoryNotFound",
    "MemoryServerError",
    "ModelMismatch",
    "NotFound",
    "ProjectNotFound",
    "SchemaTooNew",
    "SettingsError",
    "StoreError",
    "StoreLocked",
]


class MemoryServerError(Exception):
    """The root: anything this project raises on purpose."""

    code: ClassVar[str] = "INTERNAL"


class InvalidInput(MemoryServerError):
    """An argument that cannot be used; ``field`` is its name in the caller's words."""

    code = "INVALID_INPUT"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"Invalid {field}: {problem}")
        self.field = field
        self.problem = problem


class NotFound(MemoryServerError):
    """A record that was asked for by id does not exist, or is not the caller's to see."""

    code = "NOT_FOUND"
    kind: ClassVar[str] = "Record"

    def __init__(self, record_id: str) -> None:
        super().__init__(f"{self.kind} not found: {record_id}")
        self.record_id = record_id


class MemoryNotFound(NotFound):
    """No such memory."""

    kind = "Memory"


class EntityNotFound(NotFound):
    """No such entity."""

    kind = "Entity"


class ProjectNotFound(NotFound):
    """No such project."""

    kind = "Project"


class EncoderNotReady(MemoryServerError):
    """The embedding model is still loading."""

    code = "ENCODER_NOT_READY"

    def __init__(self, message: str = "Embedding service not ready. Please try again.") -> None:
        super().__init__(message)


class EncoderFailed(EncoderNotReady):
    """The embedding model could not be loaded; trying again will not help."""

    code = "ENCODER_FAILED"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"Embedding service not ready. The model failed to load: {reason}. "
            "Tools that need no embedding still work; start again with another --model."
        )
        self.reason = reason


class StoreError(MemoryServerError):
    """The database refused an operation; the log on stderr has the detail."""

    code = "STORE_ERROR"


class StoreLocked(StoreError):
    """Another process owns the data directory."""

    code = "STORE_LOCKED"


class SchemaTooNew(StoreError):
    """The database was written by a newer version of this program."""

    code = "SCHEMA_TOO_NEW"


class IndexesNotReady(StoreError):
    """Searching has to wait until the derived indexes are built."""

    code = "INDEXES_NOT_READY"

    def __init__(self, percent: float) -> None:
        super().__init__(f"The indexes are being built ({percent:.0f} %). Please try again.")
        self.percent = percent


class DimensionMismatch(StoreError):
    """The vectors in the database come from a model of another width."""

    code = "DIMENSION_MISMATCH"

    def __init__(self, database: int, model: int, old: str, new: str) -> None:
        super().__init__(
            f"Dimension mismatch: database has {database}d vectors, configured model produces {model}d.\n"
            + _ways_out(old, new)
        )


class ModelMismatch(StoreError):
    """The vectors in the database come from another model of the same width."""

    code = "MODEL_MISMATCH"

    def __init__(self, old: str, new: str) -> None:
        super().__init__(
            f"Model mismatch: the database has vectors of {old}, the configured model is {new}.\n"
            + _ways_out(old, new)
        )


def _ways_out(old: str, new: str) -> str:
    return (
        f"Either keep the database's model (--model {old}), "
        f"or convert the database (memory-mcp reembed --model {new}), "
        "or start a new one (--data-dir DIR)."
    )


class SettingsError(MemoryServerError):
    """A flag or an environment variable with a value that cannot be used."""

    code = "SETTINGS"
