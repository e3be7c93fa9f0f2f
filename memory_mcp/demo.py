"""What does it feel like to use this?

Stores a small, real set of memories about this very project in a temporary data directory, connects a few
entities, and asks questions whose answers share few words with them; then indexes the project's own code and
asks about that. ``make demo`` runs it.
"""

import logging
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import retrieval
from memory_mcp.dialects.engine.tools import TOOLS
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.settings import Settings
from memory_mcp.terminal import Painter, show_code, show_found, show_status

__all__ = ["main"]

MEMORIES = (
    ("semantic", "memory-mcp runs as one process on one machine and needs no network once it is installed."),
    ("semantic", "The database is the truth; the lexical, vector and graph indexes are derived from it."),
    (
        "semantic",
        "SurrealDB is pinned to 3.0.0b10: version 2.0.0 tore transactions when the process was killed.",
    ),
    (
        "semantic",
        "Every write appends to the changes table inside its own transaction; indexes follow that log.",
    ),
    ("semantic", "BM25 runs on tantivy. rank-bm25 stays in the test suite as the oracle for its scores."),
    (
        "semantic",
        "The default model is all-MiniLM-L6-v2, quantized to 8 bits per channel, and ships in the wheel.",
    ),
    ("semantic", "Up to 50,000 vectors are compared exactly; beyond that usearch builds an HNSW graph."),
    (
        "semantic",
        "PageRank starts at the names in the question and walks through terms, memories and entities.",
    ),
    (
        "semantic",
        "Scores of the three channels become z-scores before they are added with weights .40, .15, .45.",
    ),
    ("procedural", "Before a submission run .ci/run: it lints, checks types and import layers, then tests."),
    ("procedural", "To switch the embedding model of a data directory, use memory-mcp reembed with --model."),
    (
        "procedural",
        "Logs go to stderr. Printing to stdout breaks the client, because the protocol lives there.",
    ),
    (
        "episodic",
        "Async close() of the database client aborted the interpreter in half of the runs we tried.",
    ),
    ("episodic", "We dropped hnswlib because pip has to compile it; its filter callback took 12 to 134 ms."),
    (
        "episodic",
        "Per-tensor quantization cost us too much accuracy: cosine .94 where per-channel reaches .99.",
    ),
)

ENTITIES = (
    ("SurrealDB", "database", "where the records live"),
    ("tantivy", "library", "keyword index"),
    ("usearch", "library", "approximate vector index"),
    ("store module", "module", "retrieval/store, the only home of SurrealQL"),
    ("lexical channel", "module", "retrieval/channels/lexical.py"),
    ("dense channel", "module", "retrieval/channels/dense.py"),
)

RELATIONS = (
    ("store module", "SurrealDB", "uses"),
    ("lexical channel", "tantivy", "uses"),
    ("dense channel", "usearch", "uses"),
    ("lexical channel", "store module", "follows"),
    ("dense channel", "store module", "follows"),
)

QUESTIONS = (
    "what happens to my data if the power goes out?",
    "which library does the lexical channel use for scoring?",
    "why not hnswlib?",
    "how do I change the embedding model?",
    "where should log messages go?",
)

CODE_QUESTIONS = (
    "where are z-scores computed?",
    "what happens when an index file is damaged?",
    "Scope",
)

MIXED_QUESTION = "how do the indexes follow the database?"


def main() -> int:
    """Run the demonstration; returns the exit code."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    paint = Painter(sys.stdout)
    with tempfile.TemporaryDirectory(prefix="memory-mcp-demo-") as folder:
        engine = open_engine(Settings(data_dir=Path(folder), timeout=60.0))
        try:
            _remember(engine, paint)
            for question in QUESTIONS:
                _ask(engine, paint, question)
            _read_code(engine, paint)
            paint.line()
            show_status(paint, _call(engine, "get_status"))
        finally:
            engine.close()
    paint.line()
    paint.line("That was a temporary folder. Keep your own with: .venv/bin/memory-mcp store 'something'")
    return 0


def _remember(engine: Engine, paint: Painter) -> None:
    begin = time.perf_counter()
    for memory_type, content in MEMORIES:
        _call(engine, "store_memory", content=content, memory_type=memory_type)
    ids = {
        name: _call(engine, "create_entity", name=name, entity_type=kind, description=description)["id"]
        for name, kind, description in ENTITIES
    }
    for source, target, relation in RELATIONS:
        _call(
            engine,
            "create_relation",
            from_entity=ids[source],
            to_entity=ids[target],
            relation_type=relation,
        )
    seconds = time.perf_counter() - begin
    paint.line(
        f"Stored {len(MEMORIES)} memories, {len(ENTITIES)} entities and {len(RELATIONS)} relations "
        f"in {seconds:.2f} s, the loading of the model included."
    )


def _read_code(engine: Engine, paint: Painter) -> None:
    folder = Path(retrieval.__file__).parent
    begin = time.perf_counter()
    reply = _call(engine, "index_project", path=str(folder))
    parsed = time.perf_counter() - begin
    engine.projects.embedding.wait(60.0)
    paint.line()
    paint.line(
        f"Indexed {folder}: {reply['files_indexed']} files, {reply['chunks_created']} chunks, searchable by "
        f"words and names after {parsed:.2f} s, by meaning after {time.perf_counter() - begin:.2f} s."
    )
    for question in CODE_QUESTIONS:
        begin = time.perf_counter()
        found = _call(engine, "search_code", query=question, limit=2)
        _head(paint, question, begin)
        show_code(paint, found)
    begin = time.perf_counter()
    both = _call(engine, "recall", query=MIXED_QUESTION, limit=3, include_code=True)
    _head(paint, f"{MIXED_QUESTION} (memories and code)", begin)
    show_found(paint, both)


def _ask(engine: Engine, paint: Painter, question: str) -> None:
    begin = time.perf_counter()
    reply = _call(engine, "recall", query=question, limit=3)
    _head(paint, question, begin)
    show_found(paint, reply)


def _head(paint: Painter, question: str, begin: float) -> None:
    milliseconds = 1000 * (time.perf_counter() - begin)
    paint.line()
    paint.line(f"{paint.bold('? ' + question)}  {paint.dim(f'{milliseconds:.1f} ms')}")


def _call(engine: Engine, tool: str, **arguments: Any) -> dict[str, Any]:
    return TOOLS[tool].call(engine, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
