"""How fast is a project indexed, beside the bare model, and what does indexing it again cost?

    python -m benchmarks.indexing --path DIR [--json FILE]

Indexes a copy of a folder through the engine. The model alone embeds the same texts in the same run, half of
them before and half of them after, so that a machine that slows down slows both. Then nothing is changed and
it is indexed again; then one file is edited, and again.
"""

import argparse
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.reporting import note, result_path, table, verdict, write_result
from indexer.embedding import BATCH
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.settings import Settings
from retrieval.code.document import embedded_text

_PATIENCE = 7200.0


@dataclass(frozen=True, slots=True)
class Timed:
    """A pass over the project: until words find everything, until vectors do, and what it made."""

    parsed: float
    complete: float
    chunks: int


def index(engine: Engine, root: Path) -> Timed:
    """Index, and wait for the vectors."""
    begun = time.perf_counter()
    done = engine.projects.index(str(root))
    parsed = time.perf_counter() - begun
    engine.projects.embedding.wait(_PATIENCE)
    return Timed(parsed, time.perf_counter() - begun, done.chunks)


def texts_of(engine: Engine) -> list[str]:
    """What the model reads of the project, every text once, as the engine orders it."""
    with engine._indexes.lock:
        code = engine._indexes.code
        chunks = [chunk for chunk in code.shelf.read(code.catalog.living()) if chunk is not None]
    texts = {chunk.digest: embedded_text(chunk.breadcrumb, chunk.name, chunk.content) for chunk in chunks}
    return sorted(texts.values(), key=len)


def embed(engine: Engine, texts: list[str]) -> float:
    """Seconds that the model alone takes."""
    begun = time.perf_counter()
    for start in range(0, len(texts), BATCH):
        engine._encoder._ready_model().embed(texts[start : start + BATCH])
    return time.perf_counter() - begun


def measure(path: Path) -> dict[str, Any]:
    """All passes over a copy of a folder."""
    with tempfile.TemporaryDirectory(prefix="memory-mcp-indexing-") as scratch:
        root = Path(scratch) / path.name
        shutil.copytree(path, root, symlinks=True)
        texts, first_half = _prepared(root, Path(scratch) / "first")
        note("indexing")
        engine = open_engine(Settings(data_dir=Path(scratch) / "data"))
        engine.wait(_PATIENCE)
        first = index(engine, root)
        resident = psutil.Process().memory_info().rss
        note("the model alone, second half")
        bare = first_half + embed(engine, texts[1::2])
        again = index(engine, root)
        edited = _edit(root)
        one_file = index(engine, root)
        files = engine.projects.all()[0].total_files
        engine.close()
    return {
        "files": files,
        "chunks": first.chunks,
        "texts": len(texts),
        "parsed_seconds": first.parsed,
        "complete_seconds": first.complete,
        "bare_seconds": bare,
        "again_seconds": again.complete,
        "edited": edited,
        "edited_seconds": one_file.complete,
        "edited_chunks": one_file.chunks,
        "rss_mb": resident / 1e6,
    }


def _prepared(root: Path, data_dir: Path) -> tuple[list[str], float]:
    """The texts of the project, and the seconds that the model alone takes for every other one."""
    engine = open_engine(Settings(data_dir=data_dir))
    engine.wait(_PATIENCE)
    with engine.projects.held():
        engine.projects.index(str(root))
        texts = texts_of(engine)
        note("the model alone, first half")
        seconds = embed(engine, texts[::2])
    engine.close()
    return texts, seconds


def _edit(root: Path) -> str:
    """Append a line to the largest source file, and name it."""
    files = [file for file in root.rglob("*.*") if file.is_file() and file.suffix in _EDITABLE]
    largest = max(files, key=lambda file: file.stat().st_size)
    with largest.open("a", encoding="utf-8") as file:
        file.write("\n# one line more\n")
    return str(largest.relative_to(root))


_EDITABLE = {
    ".py",
    ".js",
    ".ts",
    ".go",
    ".rs",
    ".java",
    ".rb",
    ".php",
    ".c",
    ".h",
    ".cc",
    ".kt",
    ".swift",
    ".sh",
}


def report(figures: dict[str, Any]) -> None:
    """Print the ratios."""
    throughput = figures["texts"] / figures["complete_seconds"]
    bare = figures["texts"] / figures["bare_seconds"]
    again = figures["again_seconds"] / figures["complete_seconds"]
    rows = [
        ["until words find everything", f"{figures['parsed_seconds']:.2f} s", "", ""],
        ["until vectors do", f"{figures['complete_seconds']:.2f} s", f"{throughput:,.0f} texts/s", ""],
        ["the model alone", f"{figures['bare_seconds']:.2f} s", f"{bare:,.0f} texts/s", ""],
        [
            "engine / model alone",
            "",
            f"{throughput / bare:.3f}",
            verdict(throughput / bare, 0.85, at_least=True),
        ],
        ["again, nothing changed", f"{figures['again_seconds']:.3f} s", f"{again:.4f}", verdict(again, 0.02)],
        [
            f"again, {figures['edited']} edited",
            f"{figures['edited_seconds']:.3f} s",
            f"{figures['edited_chunks']} chunks",
            "",
        ],
        ["memory of the process", f"{figures['rss_mb']:,.0f} MB", "", verdict(figures["rss_mb"], 1500)],
    ]
    remark = f"{figures['files']:,} files, {figures['chunks']:,} chunks, {figures['texts']:,} texts"
    table("Indexing", ["what", "took", "ratio or rate", "aim"], rows, remark)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--path", type=Path, required=True, help="a folder of source files; it is copied")
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    figures = {"path": args.path.name, **measure(args.path.resolve())}
    report(figures)
    write_result(args.json or result_path("indexing"), figures)


if __name__ == "__main__":
    main()
