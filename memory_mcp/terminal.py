"""How does an answer look to a person?

Takes the same replies an agent gets and lays them out for a terminal: one block a result, long text
wrapped, colour only where there is a terminal to show it.
"""

import os
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

__all__ = [
    "Painter",
    "progress_bar",
    "show_code",
    "show_found",
    "show_indexed",
    "show_listed",
    "show_models",
    "show_projects",
    "show_status",
]

_PREVIEW_LINES = 4
_PREVIEW_CODE = 8


class Painter:
    """Writes lines to a stream, with colour if it is a terminal and ``NO_COLOR`` is not set."""

    def __init__(self, stream: TextIO, *, colour: bool | None = None) -> None:
        self._stream = stream
        self._colour = colour if colour is not None else stream.isatty() and not os.environ.get("NO_COLOR")
        self.width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 120))

    def line(self, text: str = "") -> None:
        self._stream.write(text + "\n")

    def bold(self, text: str) -> str:
        return f"\033[1m{text}\033[0m" if self._colour else text

    def dim(self, text: str) -> str:
        return f"\033[2m{text}\033[0m" if self._colour else text

    def paragraph(self, text: str, indent: str) -> None:
        """Wrapped text, cut after a few lines."""
        lines = [
            wrapped
            for line in text.splitlines()
            for wrapped in textwrap.wrap(line, self.width - len(indent)) or [""]
        ]
        self._preview(lines, indent, _PREVIEW_LINES)

    def block(self, text: str, indent: str) -> None:
        """Lines as they are, long ones cut at the edge, cut after a few."""
        room = self.width - len(indent)
        lines = [line if len(line) <= room else line[: room - 1] + "…" for line in text.splitlines()]
        self._preview(lines, indent, _PREVIEW_CODE)

    def _preview(self, lines: Sequence[str], indent: str, most: int) -> None:
        shown = lines[:most]
        for line in shown:
            self.line(indent + line)
        if len(lines) > len(shown):
            self.line(indent + self.dim(f"... {len(lines) - len(shown)} more lines"))


def show_found(paint: Painter, reply: Mapping[str, Any]) -> None:
    """Ranked results of search, search_text and recall."""
    results: Sequence[Mapping[str, Any]] = reply["results"]
    if not results:
        paint.line("Nothing found.")
    for rank, result in enumerate(results, start=1):
        scores = [f"score {result['score']:.3f}"]
        if "vector_score" in result:
            scores.append(f"vector {result['vector_score']:.3f}")
            scores.append(f"bm25 {result['bm25_score']:.3f}")
            scores.append(f"ppr {result['ppr_score']:.4f}")
        where = f"{result['file_path']}:{result['start_line']}" if "file_path" in result else result["id"]
        paint.line(f"{paint.bold(f'{rank:2}.')} {paint.bold('  '.join(scores))}  {paint.dim(where)}")
        paint.paragraph(result["content"], "    ")
    if "subgraph_nodes" in reply:
        paint.line(paint.dim(f"{reply['subgraph_nodes']} graph nodes took part"))


def show_code(paint: Painter, reply: Mapping[str, Any]) -> None:
    """Chunks of search_code, with the place that an editor can open."""
    if not reply["results"]:
        paint.line("Nothing found.")
    for rank, result in enumerate(reply["results"], start=1):
        place = f"{result['file_path']}:{result['start_line']}-{result['end_line']}"
        what = " ".join(part for part in (result["chunk_type"], result["name"]) if part)
        changed = "  (the file has changed since)" if result.get("stale") else ""
        paint.line(f"{paint.bold(f'{rank:2}.')} {paint.bold(place)}  {paint.dim(what + changed)}")
        paint.block(result["content"], "    ")


def show_indexed(paint: Painter, reply: Mapping[str, Any], status: Mapping[str, Any]) -> None:
    """What came of index_project."""
    paint.line(
        f"{paint.bold(reply['project_id'])}: {reply['files_indexed']:,} files, "
        f"{status['total_chunks']:,} chunks ({reply['chunks_created']:,} new)"
    )
    for reason, count in status.get("skipped_files", {}).items():
        paint.line(paint.dim(f"  {count:,} left out: {reason}"))


def show_projects(paint: Painter, rows: Sequence[Mapping[str, Any]], roots: Mapping[str, str]) -> None:
    """The indexed projects and how far they are."""
    if not rows:
        paint.line("No projects. Index one: memory-mcp index FOLDER")
    for row in rows:
        how = row["status"] if row["status"] != "indexing" else f"indexing, {row['progress_percent']:.0f} %"
        paint.line(
            f"{paint.bold(row['project_id'])}  {how}  {row['total_files']:,} files, "
            f"{row['total_chunks']:,} chunks  {paint.dim(roots[row['project_id']])}"
        )


def show_listed(paint: Painter, reply: Mapping[str, Any]) -> None:
    """Memories of list_memories, newest first."""
    memories: Sequence[Mapping[str, Any]] = reply["memories"]
    if not memories:
        paint.line("No memories." if reply["total"] == 0 else f"No memories at offset {reply['offset']}.")
        return
    for memory in memories:
        ended = f"  ended {memory['valid_until']}" if memory["valid_until"] else ""
        head = f"{memory['id']['id']['String']}  {memory['memory_type']}  {memory['ingestion_time']}{ended}"
        paint.line(paint.dim(head))
        paint.paragraph(memory["content"], "    ")
    first = reply["offset"] + 1
    paint.line(paint.dim(f"{first}-{first + len(memories) - 1} of {reply['total']}"))


def show_status(paint: Painter, reply: Mapping[str, Any]) -> None:
    """What get_status says."""
    embedding = reply["embedding"]
    rows = [
        ("version", reply["version"]),
        ("status", reply["status"]),
        ("memories", f"{reply['memories_count']:,}"),
        ("entities", f"{reply['entities_count']:,}"),
        ("code chunks", f"{reply['code_chunks_count']:,}"),
        ("model", f"{embedding['model']} ({embedding['dimensions']}d, {embedding['status']})"),
    ]
    if "error" in embedding:
        rows.append(("problem", embedding["error"]))
    if "indexes" in reply:
        rows.append(
            ("indexes", f"{reply['indexes']['status']}, {reply['indexes']['progress_percent']:.0f} %")
        )
    for name, value in rows:
        paint.line(f"{paint.dim(f'{name:>12}')}  {value}")


def show_models(paint: Painter, models: Sequence[Any], default: str) -> None:
    """The registry as a table."""
    for model in models:
        mark = "*" if model.name == default else " "
        where = "included" if model.bundled else f"{model.size_mb:,} MB download"
        paint.line(
            f"{mark} {paint.bold(f'{model.name:<12}')} {model.dimensions:>5}d  {where:<18} "
            f"{model.licence:<11} {model.description}"
        )


def progress_bar(stream: TextIO, label: str) -> Callable[[int, int], None]:
    """A bar that redraws itself on a terminal, and says nothing elsewhere."""

    def report(done: int, total: int) -> None:
        if not stream.isatty():
            return
        share = done / total if total else 1.0
        filled = round(30 * share)
        stream.write(f"\r{label} [{'#' * filled}{'.' * (30 - filled)}] {done:,}/{total:,} {share:4.0%}")
        if done >= total:
            stream.write("\n")
        stream.flush()

    return report
