"""How far has the index in this folder come?

Every derived index lives in a folder of its own, and beside its files lies ``checkpoint.json``. It is
written last and replaced in one step: a reader sees the old checkpoint or the new one, never half of
either. A checkpoint that is missing or cannot be read means only that the index is built again.
"""

import json
import os
from pathlib import Path

from retrieval.store.changes import Checkpoint

__all__ = ["CHECKPOINT_FILE", "read_checkpoint", "remove_checkpoint", "write_checkpoint"]

CHECKPOINT_FILE = "checkpoint.json"


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, layout: int = 1) -> None:
    """Replace the folder's checkpoint. ``layout`` numbers the form of the index's own files."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / CHECKPOINT_FILE
    draft = target.with_suffix(".tmp")
    text = json.dumps({"layout": layout, "database": checkpoint.database, "seq": checkpoint.seq})
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
    _sync_folder(folder)


def read_checkpoint(folder: Path, *, layout: int = 1) -> Checkpoint | None:
    """The folder's checkpoint; None when it is missing, malformed or of another layout."""
    try:
        value = json.loads((folder / CHECKPOINT_FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    match value:
        # bool is an int to Python, and ``true`` no number of a change
        case {"layout": found, "database": str(database), "seq": int(seq)} if (
            found == layout and type(found) is int and type(seq) is int and seq >= 0
        ):
            return Checkpoint(database=database, seq=seq)
    return None


def remove_checkpoint(folder: Path) -> None:
    """Say that the folder's files are not to be trusted: before they are taken apart."""
    (folder / CHECKPOINT_FILE).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
