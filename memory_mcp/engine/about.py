"""Which model made the vectors in this data directory?

The database knows, but opening it takes longer than a client should wait to hear "no". So a small file
beside it repeats the answer, and a server that was started with another model refuses before it serves.
"""

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval.embedding.registry import ModelSpec
from retrieval.errors import DimensionMismatch, ModelMismatch

if TYPE_CHECKING:  # a server asks here before it serves; the store's imports can wait until it does
    from retrieval.store.store import Store

__all__ = ["agree", "check", "forget", "write"]

log = logging.getLogger(__name__)


def check(data_dir: Path, spec: ModelSpec) -> bool:
    """Compare the file with the configured model; False when there is no file to compare with."""
    try:
        known: dict[str, Any] = json.loads(_path(data_dir).read_text(encoding="utf-8"))
        model, dimensions = str(known["model"]), int(known["dimensions"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    _compare(model, dimensions, spec)
    return True


def agree(data_dir: Path, store: "Store", spec: ModelSpec) -> None:
    """Compare the database with the configured model; a new database takes the model."""
    state = store.state()
    if state.model is None or state.dimensions is None:
        store.set_model(spec.name, spec.dimensions)
    else:
        _compare(state.model, state.dimensions, spec)
    write(data_dir, spec)


def write(data_dir: Path, spec: ModelSpec) -> None:
    """Repeat the database's answer in the file."""
    text = (json.dumps({"model": spec.name, "dimensions": spec.dimensions}) + "\n").encode("utf-8")
    path = _path(data_dir)
    if not path.exists() or path.read_bytes() != text:
        scratch = path.with_suffix(".new")
        scratch.write_bytes(text)
        scratch.replace(path)


def forget(data_dir: Path) -> None:
    """Remove the file, before the database changes its answer: no file is better than a wrong one."""
    _path(data_dir).unlink(missing_ok=True)


def _compare(model: str, dimensions: int, spec: ModelSpec) -> None:
    if dimensions != spec.dimensions:
        raise DimensionMismatch(dimensions, spec.dimensions, model, spec.name)
    if model != spec.name:
        raise ModelMismatch(model, spec.name)


def _path(data_dir: Path) -> Path:
    return data_dir / "about.json"
