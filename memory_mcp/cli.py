"""What does a person type, and what do they get?

Every command but ``serve`` and ``reembed`` calls tools of the default dialect, on the same engine: a
person sees what an agent sees, laid out for a terminal or, with ``--json``, as the agent gets it.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import memory_mcp
from memory_mcp.owner.lock import FolderLock
from memory_mcp.settings import Settings, add_settings, read_settings
from memory_mcp.terminal import (
    Painter,
    progress_bar,
    show_code,
    show_found,
    show_indexed,
    show_listed,
    show_models,
    show_projects,
    show_status,
)
from memory_mcp.terminal_code import show_map, show_symbols
from retrieval.errors import MemoryServerError, SettingsError, StoreLocked

__all__ = ["main"]

Show = Callable[[Painter, Mapping[str, Any]], None]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 1 for a refusal, 2 for a wrong call."""
    parser = _parser()
    given = list(sys.argv[1:] if argv is None else argv)
    if not given and not sys.stdin.isatty():
        given = ["serve"]  # an MCP client that was told nothing but the program's name
    flags = parser.parse_args(given)
    try:
        if flags.list_models:
            return _list_models()
        if flags.command is None:
            parser.print_help()
            return 2
        settings = read_settings(flags, os.environ, Path.home())
        logging.basicConfig(
            level=settings.logging_level,
            stream=sys.stderr,
            format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        )
        run: Callable[[Settings, argparse.Namespace], int] = flags.run
        return run(settings, flags)
    except MemoryServerError as error:
        sys.stderr.write(f"memory-mcp: {error}\n")
        return 2 if isinstance(error, SettingsError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `| head` has seen enough; nothing may be flushed into it at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


# Commands


def _serve(settings: Settings, flags: argparse.Namespace) -> int:
    try:
        lock = FolderLock.acquire(settings.data_dir)
    except StoreLocked:
        return _relay(settings)
    from memory_mcp.server import serve_stdio

    return serve_stdio(settings, lock=lock)


def _relay(settings: Settings) -> int:
    from memory_mcp.owner.relay import Owner, relay

    def own(settings: Settings, lock: FolderLock) -> Owner:
        from memory_mcp.hosting import own

        return own(settings, lock)

    return relay(settings, own)


def _store(settings: Settings, flags: argparse.Namespace) -> int:
    arguments: dict[str, Any] = {"content": sys.stdin.read() if flags.content == "-" else flags.content}
    if flags.type:
        arguments["memory_type"] = flags.type
    if flags.metadata:
        try:
            arguments["metadata"] = json.loads(flags.metadata)
        except ValueError as error:
            raise SettingsError(f"--metadata must be a JSON object: {error}.") from None
    return _call(settings, flags, "store_memory", arguments, lambda paint, reply: paint.line(reply["id"]))


def _recall(settings: Settings, flags: argparse.Namespace) -> int:
    arguments: dict[str, Any] = {"query": flags.query, "limit": flags.limit}
    for name in ("vector_weight", "bm25_weight", "ppr_weight"):
        if (weight := getattr(flags, name)) is not None:
            arguments[name] = weight
    return _call(settings, flags, "recall", arguments, show_found)


def _search(settings: Settings, flags: argparse.Namespace) -> int:
    tool = "search_text" if flags.text else "search"
    return _call(settings, flags, tool, {"query": flags.query, "limit": flags.limit}, show_found)


def _list(settings: Settings, flags: argparse.Namespace) -> int:
    arguments = {"limit": flags.limit, "offset": flags.offset}
    return _call(settings, flags, "list_memories", arguments, show_listed)


def _status(settings: Settings, flags: argparse.Namespace) -> int:
    return _call(settings, flags, "get_status", {}, show_status, wait_for_model=True)


def _index(settings: Settings, flags: argparse.Namespace) -> int:
    from memory_mcp.dialects import Call
    from memory_mcp.dialects.engine.tools import TOOLS
    from memory_mcp.engine.engine import open_engine

    engine = open_engine(settings)
    try:
        call = Call(progress_bar(sys.stderr, "reading files"))
        arguments = {"path": flags.path, "watch": flags.watch}
        reply = TOOLS["index_project"].call(engine, arguments, call)
        report = progress_bar(sys.stderr, "making vectors")
        project = {"project_id": reply["project_id"]}
        while not engine.projects.embedding.wait(0.2):
            status = TOOLS["get_index_status"].call(engine, project)
            report(status["indexed_files"], status["total_files"])
        status = TOOLS["get_index_status"].call(engine, project)
        report(status["indexed_files"], status["total_files"])
    finally:
        engine.close()
    if flags.json:
        print(json.dumps(reply, ensure_ascii=False))
    else:
        show_indexed(Painter(sys.stdout), reply, status)
    return 0


def _code(settings: Settings, flags: argparse.Namespace) -> int:
    arguments = {"query": flags.query, "limit": flags.limit, "project_id": flags.project}
    return _call(settings, flags, "search_code", arguments, show_code)


def _symbols(settings: Settings, flags: argparse.Namespace) -> int:
    arguments = {"name": flags.name, "limit": flags.limit, "project_id": flags.project, "kind": flags.kind}
    return _call(settings, flags, "find_symbol", arguments, show_symbols)


def _map(settings: Settings, flags: argparse.Namespace) -> int:
    arguments = {"project_id": flags.project, "token_budget": flags.tokens, "focus": flags.focus}
    return _call(settings, flags, "project_map", arguments, show_map)


def _projects(settings: Settings, flags: argparse.Namespace) -> int:
    from memory_mcp.dialects.engine.tools import TOOLS
    from memory_mcp.engine.engine import open_engine

    engine = open_engine(settings)
    try:
        names = TOOLS["list_projects"].call(engine, {})["projects"]
        rows = [TOOLS["get_index_status"].call(engine, {"project_id": name}) for name in names]
        roots = {project.id: project.root for project in engine.projects.all()}
    finally:
        engine.close()
    if flags.json:
        print(json.dumps([{**row, "root": roots[row["project_id"]]} for row in rows], ensure_ascii=False))
    else:
        show_projects(Painter(sys.stdout), rows, roots)
    return 0


def _delete_project(settings: Settings, flags: argparse.Namespace) -> int:
    def show(paint: Painter, reply: Mapping[str, Any]) -> None:
        paint.line(f"{reply['chunks_deleted']:,} chunks deleted; the files are as they were.")

    return _call(settings, flags, "delete_project", {"project_id": flags.project}, show)


def _reembed(settings: Settings, flags: argparse.Namespace) -> int:
    from memory_mcp.engine.reembed import reembed

    embedded = reembed(settings, report=progress_bar(sys.stderr, "embedding"))
    reply = {"model": settings.model, "embedded": embedded}
    if flags.json:
        print(json.dumps(reply))
    else:
        print(f"{embedded:,} memories embedded; the database now uses {settings.model}.")
    return 0


def _call(
    settings: Settings,
    flags: argparse.Namespace,
    tool: str,
    arguments: Mapping[str, Any],
    show: Show,
    *,
    wait_for_model: bool = False,
) -> int:
    from memory_mcp.dialects.engine.symbol_tools import SYMBOL_TOOLS
    from memory_mcp.dialects.engine.tools import TOOLS
    from memory_mcp.engine.engine import open_engine

    engine = open_engine(settings)
    try:
        if wait_for_model:
            engine.wait(settings.timeout)
        reply = {**TOOLS, **SYMBOL_TOOLS}[tool].call(engine, arguments)
    finally:
        engine.close()
    if flags.json:
        print(json.dumps(reply, ensure_ascii=False))
    else:
        show(Painter(sys.stdout), reply)
    return 0


def _list_models() -> int:
    from retrieval.embedding.registry import DEFAULT_MODEL, MODELS

    show_models(Painter(sys.stdout), MODELS, DEFAULT_MODEL)
    return 0


# The command line


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memory-mcp",
        description="Local memory for coding agents: stores, searches and recalls, over MCP or by hand.",
        epilog="example: memory-mcp store 'We deploy on Fridays' && memory-mcp recall 'when do we deploy?'",
    )
    parser.add_argument("--version", action="version", version=f"memory-mcp {memory_mcp.__version__}")
    parser.add_argument("--list-models", action="store_true", help="show the embedding models and leave")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def command(
        name: str,
        run: Callable[[Settings, argparse.Namespace], int],
        summary: str,
        example: str,
        *,
        json: bool = True,
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary, epilog=f"example: {example}")
        added.set_defaults(run=run)
        if json:
            added.add_argument("--json", action="store_true", help="print the reply as JSON")
        add_settings(added)
        return added

    command(
        "serve",
        _serve,
        "Speak MCP on stdin and stdout.",
        "memory-mcp serve --data-dir ~/memories",
        json=False,
    )

    store = command(
        "store",
        _store,
        "Remember something.",
        "memory-mcp store 'Releases are cut from main' --type procedural",
    )
    store.add_argument("content", help="what to remember; - reads standard input")
    store.add_argument("--type", metavar="TYPE", help="episodic, semantic (default) or procedural")
    store.add_argument("--metadata", metavar="JSON", help="a JSON object kept with it")

    recall = command(
        "recall",
        _recall,
        "Find memories by meaning, words and connections together.",
        "memory-mcp recall 'how are releases made?' --limit 3",
    )
    recall.add_argument("query")
    recall.add_argument("--limit", type=int, default=10, metavar="N", help="1 to 50 (default: 10)")
    for channel, default in (("vector", "0.40"), ("bm25", "0.15"), ("ppr", "0.45")):
        recall.add_argument(f"--{channel}-weight", type=float, metavar="W", help=f"default: {default}")

    search = command(
        "search", _search, "Find memories by meaning, or by words.", "memory-mcp search --text 'release main'"
    )
    search.add_argument("query")
    search.add_argument("--text", action="store_true", help="by words (BM25) instead of by meaning")
    search.add_argument("--limit", type=int, default=10, metavar="N", help="1 to 50 (default: 10)")

    listing = command("list", _list, "Show memories, newest first.", "memory-mcp list --limit 5 --json")
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="1 to 100 (default: 20)")
    listing.add_argument("--offset", type=int, default=0, metavar="N", help="how many to skip")

    index = command(
        "index",
        _index,
        "Index the code of a folder, or bring its index up to date; can be stopped and run again.",
        "memory-mcp index ~/src/my-project",
    )
    index.add_argument("path", help="the project's folder")
    index.add_argument("--watch", action="store_true", help="follow its changes while a server runs")

    code = command(
        "code", _code, "Find code by meaning, words and names.", "memory-mcp code 'where are retries done?'"
    )
    code.add_argument("query")
    code.add_argument("--project", metavar="NAME", help="only this project (default: all)")
    code.add_argument("--limit", type=int, default=10, metavar="N", help="1 to 50 (default: 10)")

    symbols = command(
        "symbols", _symbols, "Find where something is defined.", "memory-mcp symbols Session.send"
    )
    symbols.add_argument("name", help="a name, with its scope if you like")
    symbols.add_argument("--project", metavar="NAME", help="only this project (default: all)")
    symbols.add_argument("--kind", metavar="KIND", help="only functions, classes, …")
    symbols.add_argument("--limit", type=int, default=20, metavar="N", help="default: 20")

    outline = command(
        "map", _map, "Show an outline of a project: what matters most in it.", "memory-mcp map my-project"
    )
    outline.add_argument("project", help="as `projects` shows it")
    outline.add_argument("--tokens", type=int, default=1024, metavar="N", help="how long (default: 1024)")
    outline.add_argument("--focus", metavar="WORDS", help="what you are working on: words or paths")

    command("projects", _projects, "Show the indexed projects.", "memory-mcp projects")
    forget = command(
        "delete-project",
        _delete_project,
        "Delete the index of a project; its files stay.",
        "memory-mcp delete-project my-project",
    )
    forget.add_argument("project", help="as `projects` shows it")

    command("status", _status, "Show counts, model and health.", "memory-mcp status")
    command(
        "reembed",
        _reembed,
        "Change the model of a data directory; can be stopped and run again.",
        "memory-mcp reembed --model bge_small",
    )
    return parser
