"""The five tools for code, and code in recall, as a client sees them."""

import os
import re
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.contract.harness import FETCHED, Lines, Memory, connected, until

PAY = '''"""Money."""


def refund_order(order):
    """Give the money back."""
    return order.total


class Ledger:
    def add(self, row):
        self.rows.append(row)
'''
MAIN = 'fn main() {\n    println!("hello");\n}\n'
README = "# App\n\nHow customers get their money back.\n"

FILES, FUNCTIONS = 300, 40
"""Of a project that is large enough to be caught while it is indexed."""

FOUND = {
    "id", "file_path", "content", "language", "start_line", "end_line", "chunk_type", "name", "score",
}  # fmt: skip
RECALLED = {"id", "content", "source", "score", "vector_score", "bm25_score", "ppr_score"}
PLACE = {"file_path", "start_line", "end_line"}
STATUS = {
    "project_id", "status", "total_files", "indexed_files", "total_chunks", "progress_percent",
    "eta_seconds", "started_at", "completed_at",
}  # fmt: skip
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def write_app(folder: Path) -> Path:
    """A small project: two languages, a document."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "pay.py").write_text(PAY)
    (folder / "src" / "main.rs").write_text(MAIN)
    (folder / "README.md").write_text(README)
    return folder


def write_many(folder: Path, files: int = FILES, functions: int = FUNCTIONS) -> Path:
    """A project that takes a second or two to parse, and much longer to embed."""
    for n in range(files):
        module = folder / f"part_{n % 10}" / f"module_{n}.py"
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(
            "\n\n".join(
                f'def task_{n}_{k}(value):\n    """Job {k} of module {n}."""\n    return value + {n * k}\n'
                for k in range(functions)
            )
        )
    return folder


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return write_app(tmp_path / "app")


@pytest.fixture
def indexed(memory: Memory, app: Path) -> Memory:
    """A server that has the small project, with its vectors."""
    assert memory.ask("index_project", path=str(app))["project_id"] == "app"
    assert finished(memory)["status"] == "completed"
    return memory


def finished(memory: Memory, project: str = "app") -> dict[str, Any]:
    """The status of a project once nothing happens to it any more."""

    def status() -> dict[str, Any] | None:
        now = memory.ask("get_index_status", project_id=project)
        return None if now["status"] == "indexing" else now

    return dict(until(status))


def paths(reply: dict[str, Any]) -> list[str]:
    return [row["file_path"] for row in reply["results"]]


def names(reply: dict[str, Any]) -> list[str | None]:
    return [row["name"] for row in reply["results"]]


# What is answered


def test_indexing_tells_what_is_there(memory: Memory, app: Path) -> None:
    reply = memory.ask("index_project", path=str(app))
    assert reply == {"project_id": "app", "files_indexed": 3, "chunks_created": reply["chunks_created"]}
    assert type(reply["files_indexed"]) is int
    assert type(reply["chunks_created"]) is int
    assert memory.ask("get_status")["code_chunks_count"] == reply["chunks_created"] > 0


def test_found_code_is_as_specified(indexed: Memory) -> None:
    reply = indexed.ask("search_code", query="give a customer the money back for an order")
    assert set(reply) == {"results", "count"}
    assert reply["count"] == len(reply["results"]) > 1
    for row in reply["results"]:
        assert set(row) == FOUND
        for field in ("id", "file_path", "content", "language", "chunk_type"):
            assert isinstance(row[field], str)
            assert row[field]
        assert row["name"] is None or (isinstance(row["name"], str) and row["name"])
        assert type(row["start_line"]) is int
        assert type(row["end_line"]) is int
        assert 1 <= row["start_line"] <= row["end_line"]
        assert isinstance(row["score"], float)
    scores = [row["score"] for row in reply["results"]]
    assert scores == sorted(scores, reverse=True)
    best = reply["results"][0]
    assert (best["file_path"], best["language"]) == ("src/pay.py", "python")
    assert (best["chunk_type"], best["name"], best["start_line"]) == ("function", "refund_order", 4)
    assert best["content"].startswith("def refund_order(order):")


def test_the_lines_of_a_chunk_are_where_its_content_is(indexed: Memory, app: Path) -> None:
    for row in indexed.ask("search_code", query="money", limit=50)["results"]:
        lines = (app / row["file_path"]).read_text().splitlines()[row["start_line"] - 1 : row["end_line"]]
        assert row["content"].strip() in "\n".join(lines)


def test_the_status_of_an_index_is_as_specified(indexed: Memory) -> None:
    status = indexed.ask("get_index_status", project_id="app")
    assert set(status) == STATUS
    chunks = indexed.ask("get_status")["code_chunks_count"]
    times = {status.pop("started_at"), status.pop("completed_at")}
    assert status == {
        "project_id": "app", "status": "completed", "total_files": 3, "indexed_files": 3,
        "total_chunks": chunks, "progress_percent": 100.0, "eta_seconds": None,
    }  # fmt: skip
    for instant in times:
        assert RFC_3339.fullmatch(instant)
        assert datetime.fromisoformat(instant).tzinfo is not None


def test_the_status_of_an_index_under_way_tells_how_long_it_takes(memory: Memory, tmp_path: Path) -> None:
    """The vectors are still to be made when the project has been parsed."""
    write_many(tmp_path / "app")
    chunks = memory.ask("index_project", path=str(tmp_path / "app"))["chunks_created"]
    status = memory.ask("get_index_status", project_id="app")
    assert set(status) == STATUS
    assert status["status"] == "indexing"
    assert (status["total_files"], status["total_chunks"]) == (FILES, chunks)
    assert type(status["indexed_files"]) is int
    assert 0 <= status["indexed_files"] < FILES
    assert isinstance(status["progress_percent"], float)
    assert 0 < status["progress_percent"] < 100
    assert type(status["eta_seconds"]) is int
    assert status["eta_seconds"] >= 0
    assert status["completed_at"] is None


def test_files_that_are_left_out_are_counted(memory: Memory, app: Path) -> None:
    (app / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert memory.ask("index_project", path=str(app))["files_indexed"] == 3
    status = memory.ask("get_index_status", project_id="app")
    assert set(status) == STATUS | {"skipped_files"}
    assert status["skipped_files"] == {"binary": 1}


def test_a_file_that_is_left_out_for_what_it_holds_is_not_counted_as_indexed(
    memory: Memory, app: Path
) -> None:
    (app / "data.py").write_bytes(b"x = 1\n\0\0\0\n")
    assert memory.ask("index_project", path=str(app))["files_indexed"] == 3
    status = finished(memory)
    assert status["skipped_files"] == {"binary": 1}
    assert status["indexed_files"] == status["total_files"] == 3


def test_projects_are_listed(memory: Memory, tmp_path: Path) -> None:
    assert memory.ask("list_projects") == {"projects": [], "count": 0}
    for name in ("one", "Two words"):
        memory.ask("index_project", path=str(write_app(tmp_path / name)))
    assert memory.ask("list_projects") == {"projects": ["one", "two-words"], "count": 2}


def test_two_folders_of_one_name_are_two_projects(memory: Memory, tmp_path: Path) -> None:
    first = memory.ask("index_project", path=str(write_app(tmp_path / "a" / "app")))["project_id"]
    write_app(tmp_path / "b" / "app")
    (tmp_path / "b" / "app" / "src" / "pay.py").write_text("def refund_everything():\n    pass\n")
    second = memory.ask("index_project", path=str(tmp_path / "b" / "app"))["project_id"]
    assert first == "app"
    assert re.fullmatch(r"app-[0-9a-z]{6}", second)
    assert memory.ask("list_projects") == {"projects": [first, second], "count": 2}
    for project, name in ((first, "refund_order"), (second, "refund_everything")):
        found = names(memory.ask("search_code", query="refund", project_id=project))
        assert name in found
        assert len({"refund_order", "refund_everything"} & set(found)) == 1
    assert memory.ask("delete_project", project_id=first)["chunks_deleted"] > 0
    assert memory.ask("list_projects") == {"projects": [second], "count": 1}
    assert "refund_order" not in names(memory.ask("search_code", query="refund"))


def test_the_same_code_in_two_projects_is_found_once_and_in_either(indexed: Memory, tmp_path: Path) -> None:
    indexed.ask("index_project", path=str(write_app(tmp_path / "copy")))
    assert names(indexed.ask("search_code", query="refund_order")).count("refund_order") == 1
    for project in ("app", "copy"):
        found = indexed.ask("search_code", query="refund_order", project_id=project)
        assert names(found).count("refund_order") == 1
    indexed.ask("delete_project", project_id="app")
    assert names(indexed.ask("search_code", query="refund_order")).count("refund_order") == 1


def test_a_project_from_index_to_delete(indexed: Memory) -> None:
    chunks = indexed.ask("get_status")["code_chunks_count"]
    assert indexed.ask("search_code", query="refund order")["count"] > 0
    assert indexed.ask("delete_project", project_id="app") == {"chunks_deleted": chunks}
    assert indexed.ask("search_code", query="refund order") == {"results": [], "count": 0}
    assert indexed.ask("list_projects") == {"projects": [], "count": 0}
    assert indexed.ask("get_status")["code_chunks_count"] == 0
    for tool in ("get_index_status", "delete_project"):
        assert indexed.refuse(tool, project_id="app") == "Project not found: app"
    assert indexed.refuse("search_code", query="x", project_id="app") == "Project not found: app"


def test_indexing_again_does_only_what_changed(indexed: Memory, app: Path) -> None:
    again = indexed.ask("index_project", path=str(app))
    assert again == {"project_id": "app", "files_indexed": 3, "chunks_created": 0}
    (app / "src" / "tax.py").write_text("def value_added_tax(net):\n    return net * 0.2\n")
    (app / "src" / "main.rs").unlink()
    again = indexed.ask("index_project", path=str(app / "src" / ".." / ".." / "app"))
    assert again == {"project_id": "app", "files_indexed": 3, "chunks_created": 1}
    assert paths(indexed.ask("search_code", query="value_added_tax"))[0] == "src/tax.py"
    assert "src/main.rs" not in paths(indexed.ask("search_code", query="main", limit=50))
    assert finished(indexed)["total_files"] == 3


def test_an_answer_is_what_the_file_says_now(indexed: Memory, app: Path) -> None:
    (app / "src" / "pay.py").write_text("# moved\n\n" + PAY.replace("Give the money back", "Pay it back"))
    best = indexed.ask("search_code", query="refund_order")["results"][0]
    assert "Pay it back" in best["content"]
    assert best["start_line"] == 6
    assert set(best) == FOUND


def test_code_of_a_folder_that_is_gone_is_marked(indexed: Memory, app: Path) -> None:
    shutil.rmtree(app)
    reply = indexed.ask("search_code", query="refund_order")
    assert reply["count"] > 0
    for row in reply["results"]:
        assert set(row) == FOUND | {"stale"}
        assert row["stale"] is True
    recalled = indexed.ask("recall", query="refund_order", include_code=True)["results"][0]
    assert set(recalled) == RECALLED | PLACE | {"stale"}


def test_a_watched_project_is_followed(memory: Memory, app: Path) -> None:
    memory.ask("index_project", path=str(app), watch=True)
    (app / "src" / "tax.py").write_text("def value_added_tax(net):\n    return net * 0.2\n")
    until(lambda: "src/tax.py" in paths(memory.ask("search_code", query="value_added_tax")))
    assert memory.ask("index_project", path=str(app), watch=False)["chunks_created"] == 0


@pytest.mark.parametrize("tool", ["search_code", "recall"])
def test_a_limit_is_kept(memory: Memory, tmp_path: Path, tool: str) -> None:
    (tmp_path / "app").mkdir()
    for n in range(60):
        (tmp_path / "app" / f"otter_{n}.py").write_text(f"def otter_{n}():\n    return {n}\n")
    memory.ask("index_project", path=str(tmp_path / "app"))
    flags = {} if tool == "search_code" else {"include_code": True, "include_memories": False}
    for limit, count in (({}, 10), ({"limit": 1}, 1), ({"limit": 50}, 50), ({"limit": 5.0}, 5)):
        reply = memory.ask(tool, query="otter", **flags, **limit)
        assert len(reply["results"]) == count
        assert reply["count" if tool == "search_code" else "code_count"] == count
    for bad in (0, 51, -1):
        assert memory.refuse(tool, query="otter", limit=bad, **flags).startswith("Invalid limit: must be ")


# Code in recall


def test_recall_brings_both_sources_together(indexed: Memory) -> None:
    indexed.store("Refunds are paid out on Mondays")
    indexed.store("The cat sleeps")
    reply = indexed.ask("recall", query="refund an order", include_code=True)
    assert set(reply) == {"results", "query", "subgraph_nodes", "memories_count", "code_count"}
    assert reply["query"] == "refund an order"
    by_source: dict[str, list[dict[str, Any]]] = {"memory": [], "code": []}
    for row in reply["results"]:
        by_source[row["source"]].append(row)
        assert set(row) == RECALLED | (PLACE if row["source"] == "code" else set())
        assert 0 <= row["score"] <= 1
    assert (reply["memories_count"], reply["code_count"]) == tuple(map(len, by_source.values()))
    assert min(reply["memories_count"], reply["code_count"]) > 0
    assert by_source["memory"][0]["content"] == "Refunds are paid out on Mondays"
    assert by_source["code"][0]["content"].startswith("def refund_order")
    assert by_source["code"][0]["file_path"] == "src/pay.py"
    scores = [row["score"] for row in reply["results"]]
    assert scores == sorted(scores, reverse=True)
    assert {row["source"] for row in reply["results"][:2]} == {"memory", "code"}


def test_recall_counts_what_it_returns(indexed: Memory) -> None:
    for n in range(12):
        indexed.store(f"Refund number {n}")
    for limit in (1, 2, 3, 10, 50):
        reply = indexed.ask("recall", query="refund", include_code=True, limit=limit)
        sources = [row["source"] for row in reply["results"]]
        assert len(sources) <= limit
        assert reply["memories_count"] == sources.count("memory")
        assert reply["code_count"] == sources.count("code")
    assert len(sources) > 12


def test_recall_of_memories_alone_holds_no_code(indexed: Memory) -> None:
    indexed.store("Refunds are paid out on Mondays")
    reply = indexed.ask("recall", query="refund")
    assert (reply["memories_count"], reply["code_count"]) == (1, 0)
    assert set(reply["results"][0]) == RECALLED


def test_recall_of_code_alone_holds_no_memory(indexed: Memory) -> None:
    indexed.store("Refunds are paid out on Mondays")
    reply = indexed.ask("recall", query="refund", include_code=True, include_memories=False)
    assert (reply["memories_count"], reply["subgraph_nodes"]) == (0, 0)
    assert reply["code_count"] == len(reply["results"]) > 0
    assert {row["source"] for row in reply["results"]} == {"code"}


def test_recall_can_be_narrowed_to_a_language_or_a_project(indexed: Memory, tmp_path: Path) -> None:
    (tmp_path / "other" / "src").mkdir(parents=True)
    (tmp_path / "other" / "src" / "pay.py").write_text("def send_parcel(order):\n    return order.weight\n")
    other = indexed.ask("index_project", path=str(tmp_path / "other"))["project_id"]
    only = {"include_code": True, "include_memories": False}
    for language, path in (("rust", "src/main.rs"), ("python", "src/pay.py")):
        reply = indexed.ask("recall", query="main money", language=language, **only)
        assert set(paths(reply)) == {path}
    for language in ("javascript", "typescript", "go"):
        assert indexed.ask("recall", query="money", language=language, **only)["results"] == []
    for project, name in (("app", "refund_order"), (other, "send_parcel")):
        reply = indexed.ask("recall", query="refund_order send_parcel", project_id=project, **only)
        assert reply["results"][0]["content"].startswith(f"def {name}")
        assert sum(row["content"].startswith("def ") for row in reply["results"]) == 1


def test_a_channel_without_weight_scores_no_code(indexed: Memory) -> None:
    words = indexed.ask(
        "recall", query="refund order", include_code=True, include_memories=False, vector_weight=0
    )
    assert words["results"][0]["bm25_score"] > 0
    assert all(row["vector_score"] == 0 for row in words["results"])


# What is refused


def test_a_path_that_is_no_project_is_named(memory: Memory, app: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "nowhere", app / "README.md", tmp_path / "empty", Path("/"), Path("no/such")):
        assert memory.refuse("index_project", path=str(path)).startswith(f"Invalid path: {path}")
    for blank in ("", " "):
        assert memory.refuse("index_project", path=blank).startswith("Invalid path: ")
    assert memory.ask("list_projects")["count"] == 0


def test_an_unknown_project_is_named(memory: Memory) -> None:
    for tool in ("get_index_status", "delete_project"):
        assert memory.refuse(tool, project_id="nope") == "Project not found: nope"
    assert memory.refuse("search_code", query="x", project_id="nope") == "Project not found: nope"
    text = memory.refuse("recall", query="x", include_code=True, project_id="nope")
    assert text == "Project not found: nope"


def test_an_unknown_language_is_named(memory: Memory) -> None:
    text = memory.refuse("recall", query="x", include_code=True, language="klingon")
    assert text.startswith("Invalid language: ")
    for known in ("rust", "python", "javascript", "typescript", "go"):
        assert f" {known}," in text


@pytest.mark.parametrize("field", ["project_id", "language"])
def test_a_filter_of_code_needs_code(memory: Memory, field: str) -> None:
    text = memory.refuse("recall", query="x", **{field: "rust"})
    assert text == f"Invalid {field}: requires include_code=true."


def test_null_is_no_filter(indexed: Memory) -> None:
    assert indexed.ask("search_code", query="money", project_id=None)["count"] > 0
    reply = indexed.ask("recall", query="money", include_code=True, project_id=None, language=None)
    assert reply["code_count"] > 0


# What else there is


def test_a_reset_counts_and_takes_the_code(indexed: Memory, app: Path) -> None:
    chunks = indexed.ask("get_status")["code_chunks_count"]
    deleted = indexed.ask("reset_all_memory", confirm=True)["deleted"]
    assert deleted == {"memories": 0, "entities": 0, "relations": 0, "code_chunks": chunks}
    assert indexed.ask("get_status")["code_chunks_count"] == 0
    assert indexed.ask("list_projects") == {"projects": [], "count": 0}
    assert indexed.ask("search_code", query="refund") == {"results": [], "count": 0}
    again = indexed.ask("index_project", path=str(app))
    assert again == {"project_id": "app", "files_indexed": 3, "chunks_created": chunks}
    assert finished(indexed)["status"] == "completed"


def test_code_survives_a_new_process(app: Path, tmp_path: Path) -> None:
    with connected(tmp_path / "data") as memory:
        memory.ask("index_project", path=str(app))
        before = finished(memory)
        found = memory.ask("search_code", query="refund an order")
    with connected(tmp_path / "data") as memory:
        assert memory.ask("get_index_status", project_id="app") == before
        assert memory.ask("search_code", query="refund an order") == found


@pytest.mark.usefixtures("silent_hub")
def test_code_is_found_by_words_while_the_model_loads(app: Path, tmp_path: Path) -> None:
    with connected(tmp_path / "data", "--model", FETCHED, "--timeout", "1") as memory:
        until(lambda: not memory.call("get_status").is_error)
        assert memory.ask("index_project", path=str(app))["files_indexed"] == 3
        assert names(memory.ask("search_code", query="refund_order"))[0] == "refund_order"
        only = {"include_code": True, "include_memories": False}
        reply = memory.ask("recall", query="refund_order", **only)
        assert reply["results"][0]["vector_score"] == 0
        status = memory.ask("get_index_status", project_id="app")
        assert (status["status"], status["indexed_files"]) == ("indexing", 0)
        assert memory.ask("get_status")["embedding"]["status"] == "loading"
        assert memory.ask("delete_project", project_id="app")["chunks_deleted"] > 0


@pytest.mark.usefixtures("absent_hub")
def test_code_is_found_by_words_without_a_model(app: Path, tmp_path: Path) -> None:
    with connected(tmp_path / "data", "--model", FETCHED) as memory:
        until(lambda: memory.ask("get_status")["embedding"]["status"] == "error")
        assert memory.ask("index_project", path=str(app))["files_indexed"] == 3
        assert names(memory.ask("search_code", query="refund_order"))[0] == "refund_order"
        assert finished(memory)["status"] == "completed"
        assert memory.ask("index_project", path=str(app))["chunks_created"] == 0
        assert memory.ask("delete_project", project_id="app")["chunks_deleted"] > 0


def contents(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file and folder below, with its date, rights and bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (about.st_mtime_ns, about.st_mode, data)
    return found


def test_nothing_is_written_but_in_the_data_directory(
    app: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setitem(os.environ, "HOME", str(tmp_path / "home"))
    if git := shutil.which("git"):
        subprocess.run([git, "init", "--quiet", str(app)], check=True)
        subprocess.run([git, "-C", str(app), "add", "."], check=True)
        os.utime(app / "README.md", (1, 1))  # what "git status" would note in its index
    before = contents(tmp_path)
    with connected(tmp_path_factory.mktemp("elsewhere") / "data") as memory:
        memory.ask("index_project", path=str(app), watch=True)
        finished(memory)
        memory.ask("search_code", query="refund")
        memory.ask("index_project", path=str(app))
        memory.ask("delete_project", project_id="app")
    assert contents(tmp_path) == before


def test_the_data_directory_is_no_code(app: Path) -> None:
    with connected(app / "memory") as memory:
        assert memory.ask("index_project", path=str(app))["files_indexed"] == 3
        found = paths(memory.ask("search_code", query="checkpoint database json", limit=50))
        assert not any(path.startswith("memory/") for path in found)


# Long calls


def test_progress_is_told_to_a_client_that_asks(memory: Memory, tmp_path: Path) -> None:
    seen = memory.follow("index_project", path=str(write_many(tmp_path / "app")))
    assert len(seen) >= 3
    assert seen == sorted(set(seen))
    assert {total for _, total in seen} == {FILES}
    assert seen[-1][0] == FILES


@pytest.fixture
def busy(lines: Lines, tmp_path: Path) -> tuple[Lines, int]:
    """A server that has just begun to index some hundred files, and the id of that call."""
    write_many(tmp_path / "app")
    lines.shake_hands()
    assert not lines.call("get_status").is_error
    arguments = {"path": str(tmp_path / "app")}
    call = {"name": "index_project", "arguments": arguments, "_meta": {"progressToken": "how far"}}
    sent = lines.post("tools/call", call)
    for _ in range(2):
        note = lines.reply()
        assert note["method"] == "notifications/progress"
        assert note["params"]["progressToken"] == "how far"
    assert note["params"]["progress"] < note["params"]["total"] == FILES
    return lines, sent


def answer(lines: Lines, sent: int) -> dict[str, Any]:
    """The reply to one request, whatever comes before it."""
    while True:
        reply = lines.reply()
        if reply.get("id") == sent:
            return dict(reply["result"])


def ask(lines: Lines, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict(
        answer(lines, lines.post("tools/call", {"name": tool, "arguments": arguments}))["structuredContent"]
    )


def test_other_calls_are_answered_while_a_project_is_indexed(busy: tuple[Lines, int]) -> None:
    lines, sent = busy
    status = ask(lines, "get_index_status", project_id="app")
    assert (status["status"], status["total_files"]) == ("indexing", FILES)
    assert status["indexed_files"] <= FILES
    assert ask(lines, "search_code", query="task_0_1")["results"][0]["name"] == "task_0_1"
    assert answer(lines, sent)["structuredContent"]["files_indexed"] == FILES


def test_a_cancelled_index_stops_and_can_be_taken_up_again(busy: tuple[Lines, int], tmp_path: Path) -> None:
    lines, sent = busy
    lines.notify("notifications/cancelled", requestId=sent)

    def stopped() -> dict[str, Any] | None:
        status = ask(lines, "get_index_status", project_id="app")
        return None if status["status"] == "indexing" else status

    status = until(stopped)
    assert status["status"] == "pending"
    assert 0 < status["total_chunks"] < FILES * FUNCTIONS
    assert status["completed_at"] is None
    again = ask(lines, "index_project", path=str(tmp_path / "app"))
    assert again["files_indexed"] == FILES
    assert again["chunks_created"] == FILES * FUNCTIONS - status["total_chunks"]
    assert ask(lines, "get_status")["code_chunks_count"] == FILES * FUNCTIONS
    assert lines.leave() == 0
    assert lines.errors == b""
    assert not any(reply.get("id") == sent for reply in lines.rest())


def test_a_project_can_be_deleted_while_it_is_indexed(busy: tuple[Lines, int]) -> None:
    lines, _ = busy
    assert ask(lines, "delete_project", project_id="app")["chunks_deleted"] > 0
    assert ask(lines, "list_projects") == {"projects": [], "count": 0}
    assert ask(lines, "get_status")["code_chunks_count"] == 0
    assert lines.leave() == 0
    assert lines.errors == b""


def test_a_cancelled_index_says_how_far_it_came(busy: tuple[Lines, int]) -> None:
    lines, sent = busy
    lines.notify("notifications/cancelled", requestId=sent)
    until(lambda: ask(lines, "get_index_status", project_id="app")["status"] == "pending")
    status = ask(lines, "get_index_status", project_id="app")
    assert status["total_files"] == FILES
    assert status["indexed_files"] * FUNCTIONS <= status["total_chunks"]


def test_a_reset_while_a_project_is_indexed_leaves_nothing(busy: tuple[Lines, int]) -> None:
    lines, sent = busy
    reset = lines.post("tools/call", {"name": "reset_all_memory", "arguments": {"confirm": True}})
    replies: dict[int, dict[str, Any]] = {}
    while not {sent, reset} <= replies.keys():
        reply = lines.reply()
        if "id" in reply:
            replies[reply["id"]] = reply["result"]
    assert replies[reset]["structuredContent"]["deleted"]["code_chunks"] > 0
    assert ask(lines, "list_projects") == {"projects": [], "count": 0}
    assert ask(lines, "get_status")["code_chunks_count"] == 0
