"""How do we speak to SurrealDB, so that nothing fails in silence?

One connection, one statement list a call, every status checked. The client is the blocking one: with
the asynchronous client of this version a process that ends right after ``close()`` is aborted by the
runtime in half the runs, and this one is not. The engine of the database holds the interpreter lock
while it works, so calls are serialised here rather than contended for.
"""

import logging
import threading
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from retrieval.errors import SchemaTooNew, StoreError, StoreLocked

__all__ = ["SCHEMA_VERSION", "Connection", "Result"]

log = logging.getLogger(__name__)

Result = Any
"""What one statement answered: rows, a value, or None."""

SCHEMA_VERSION = 2

_MIGRATIONS: tuple[str, ...] = ("schema.surql", "schema_2.surql")
"""Entry i takes a database of version i to version i + 1. Forward only; entries are never edited."""

_UNWELCOME = "Database error. Please try again."


class Connection:
    """An open database. Use from any thread."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._closed = False

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open or create the database in ``folder`` and bring its schema up to date.

        Every commit is flushed to the disk before it is acknowledged (``sync=every``).
        """
        from surrealdb import Surreal
        from surrealdb.errors import SurrealError

        if "?" in str(folder):  # the client would read the rest as options, and open another folder
            raise StoreError(
                f"The database cannot live in {folder}: its path has a '?'. Choose another --data-dir."
            )
        folder.mkdir(parents=True, exist_ok=True)
        try:
            client = Surreal(f"surrealkv://{folder}?sync=every")
            client.use("memory_mcp", "memory_mcp")
        except SurrealError as error:
            if "already locked" in str(error):  # the engine has no code of its own for this
                raise StoreLocked(
                    f"Another process is using {folder}. Close it, or choose another --data-dir."
                ) from error
            raise StoreError(f"Cannot open the database in {folder}: {error}") from error
        connection = cls(client)
        try:
            connection._migrate()
        except BaseException:
            connection.close()
            raise
        return connection

    def run(self, statements: str, /, **variables: Any) -> list[Result]:
        """Run statements, return one result each; raise StoreError if any of them did not succeed."""
        from surrealdb.errors import SurrealError

        with self._lock:
            if self._closed:
                raise StoreError("The database is closed.")
            try:
                reply = self._client.query_raw(statements, variables)
            except SurrealError as error:
                log.error("database call failed: %s", error)
                raise StoreError(_UNWELCOME) from error
        if "error" in reply:
            log.error("database refused the statements: %s", reply["error"])
            raise StoreError(_UNWELCOME)
        results = reply["result"]
        failures = [row for row in results if row["status"] != "OK"]
        if failures:
            # In a failed transaction every statement but the culprit only says that it was not executed.
            for row in failures:
                if (row.get("details") or {}).get("kind") not in ("NotExecuted", "Cancelled"):
                    log.error("database statement failed: %s", row["result"])
            raise StoreError(_UNWELCOME)
        return [row["result"] for row in results]

    def close(self) -> None:
        """Close; a second call does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._client.close()

    def _migrate(self) -> None:
        version = self._version()
        if version > SCHEMA_VERSION:
            raise SchemaTooNew(
                f"This database has schema {version}; this program knows schemas up to {SCHEMA_VERSION}. "
                "Use a newer memory-mcp, or another --data-dir."
            )
        for step in range(version, SCHEMA_VERSION):
            definitions = files("retrieval.store").joinpath(_MIGRATIONS[step]).read_text(encoding="utf-8")
            log.info("database schema %d -> %d", step, step + 1)
            self.run(
                f"BEGIN; {definitions}; UPSERT meta:state SET schema = $version; COMMIT;",
                version=step + 1,
            )

    def _version(self) -> int:
        rows = self.run("DEFINE TABLE IF NOT EXISTS meta SCHEMALESS; SELECT schema FROM meta:state")[1]
        return int(rows[0]["schema"]) if rows else 0
