"""How does a write change the records and say so in the log, as one step?

Every write is one transaction. It takes the next ``seq``, keeps the counters (counting a table reads all of
it), gives rows to new records and appends what it touched to the ``changes`` log.
"""

from dataclasses import dataclass
from typing import Any

from retrieval.store.surreal import Connection

__all__ = ["Written", "write"]

_COUNTERS = ("memories", "entities", "relations", "chunks")
_NEW_ROWS = ("new_memories", "new_entities", "new_chunks")

_BEGIN = """
BEGIN;
LET $state = (UPDATE ONLY meta:state SET seq += 1, memories += $memories, entities += $entities,
    relations += $relations, chunks += $chunks, memory_rows += $new_memories,
    entity_rows += $new_entities, chunk_rows += $new_chunks);
"""
_END = """
CREATE type::record('changes', [$state.seq]) SET touched = $touched RETURN NONE;
RETURN [$state.seq, $state.memory_rows, $state.entity_rows, $state.chunk_rows];
COMMIT;
"""


@dataclass(frozen=True, slots=True)
class Written:
    """The number of a change, and the first free row of each table after it."""

    seq: int
    memory_rows: int
    entity_rows: int
    chunk_rows: int


def write(db: Connection, statements: str, **variables: Any) -> Written:
    """Run statements that set ``$touched`` to the [table, id, row] of every record they touch.

    ``memories=1`` counts one more, ``new_memories=1`` gives one row: the last before ``$state.memory_rows``.
    """
    counters = dict.fromkeys((*_COUNTERS, *_NEW_ROWS), 0)
    results = db.run(_BEGIN + statements + _END, **{**counters, **variables})
    return Written(
        *next(result for result in reversed(results) if isinstance(result, list) and len(result) == 4)
    )
