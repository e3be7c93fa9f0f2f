"""Does another process own this data directory?

The database has a lock of its own; this one is asked first, because it answers at once, before anything
is opened, and can say who holds it. The operating system drops it with the process, however that ends.
"""

import os
import sys
from pathlib import Path
from typing import Self

from retrieval.errors import StoreError, StoreLocked

__all__ = ["FolderLock"]


class FolderLock:
    """An exclusive claim on a folder, held until ``release`` or the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, folder: Path) -> Self:
        """Claim ``folder``, making it if need be, readable by its owner only."""
        path = folder / "owner.lock"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _keep_to_ourselves(folder)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"Cannot use {folder}: {error.strerror}. Choose another --data-dir.") from error
        if not _try_lock(descriptor):
            os.close(descriptor)
            holder = path.read_text(encoding="ascii", errors="replace").strip() if os.name != "nt" else ""
            raise StoreLocked(
                f"Another memory-mcp{f' (process {holder})' if holder else ''} is using {folder}. "
                "Stop it, or choose another --data-dir."
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode("ascii"))
        return cls(descriptor)

    def release(self) -> None:
        """Give the folder up; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _keep_to_ourselves(folder: Path) -> None:
    """Inside a project the data directory is no part of it: not for git, and not for our own index."""
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="ascii")


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
