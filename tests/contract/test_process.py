"""How does the server start, refuse to start, and end?"""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.contract.harness import INITIALIZE, PATIENCE, ROOT, Lines, an_error, command, environment

STORE = {"name": "store_memory", "arguments": {"content": "Written at the last moment"}}


def refusal(data_dir: Path, *flags: str, cwd: Path | None = None) -> tuple[int, str]:
    """Exit code and words of a server that does not start, though its input stays open."""
    done = subprocess.run(
        command(data_dir, *flags), stdin=subprocess.DEVNULL, capture_output=True, env=environment(),
        cwd=cwd or data_dir.parent, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.stdout == b""
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("said", ["nothing", "hello", *["listed"] * 5, *["stored"] * 5])
def test_the_end_of_input_is_a_good_end(lines: Lines, said: str) -> None:
    """Also while the engine is being opened and the model loaded; several times, for it is a race."""
    if said != "nothing":
        lines.shake_hands()
    if said == "listed":
        lines.request("tools/list")
    if said == "stored":
        lines.request("tools/call", STORE)
    assert lines.leave() == 0
    assert lines.errors == b""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("said", ["hello", "listed", "stored"])
def test_a_signal_is_a_good_end(lines: Lines, said: str, number: signal.Signals) -> None:
    lines.shake_hands()
    if said == "listed":
        lines.request("tools/list")
    if said == "stored":
        lines.request("tools/call", STORE)
    lines.process.send_signal(number)
    assert lines.ended() == 0
    assert lines.errors == b""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_amid_a_flood_is_a_good_end(lines: Lines) -> None:
    lines.shake_hands()
    with suppress(BrokenPipeError):  # when it has left
        for n in range(2_000):
            lines.post("ping", None) if n % 10 else lines.post("tools/call", STORE)
            if n == 1_000:
                lines.process.send_signal(signal.SIGTERM)
    assert lines.ended() == 0
    assert lines.errors == b""


def test_calls_under_way_are_answered_before_the_end(tmp_path: Path) -> None:
    """Requests piped in at once, as from a shell, get their answers though the input has ended."""
    with Lines(tmp_path / "data") as lines:
        lines.post("initialize", INITIALIZE)
        lines.notify("notifications/initialized")
        calls = {lines.post("tools/call", STORE) for _ in range(3)}
        assert lines.leave() == 0
        answers = {reply["id"]: reply for reply in lines.rest()}
        assert calls <= answers.keys()
        assert not any(answers[call]["result"]["isError"] for call in calls)
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()
        found = lines.call("list_memories").structured_content
        assert isinstance(found, dict)
        assert found["total"] == 3


def test_memories_survive_a_new_process(tmp_path: Path) -> None:
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()
        stored = lines.call("store_memory", content="The capybara is calm").structured_content
        assert lines.leave() == 0
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()
        found = lines.call("recall", query="capybara").structured_content
        assert isinstance(found, dict)
        assert isinstance(stored, dict)
        assert [row["id"] for row in found["results"]] == [stored["id"]]


def test_a_client_that_reads_no_answers_is_no_trouble(tmp_path: Path) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with subprocess.Popen(
        command(tmp_path / "data"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=tmp_path,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(json.dumps(hello).encode() + b"\n" + json.dumps(listing).encode() + b"\n")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_is_heard_though_nobody_reads_the_answers(tmp_path: Path) -> None:
    """The pipe is full, and stays so."""
    with subprocess.Popen(
        command(tmp_path / "data"), cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        for n in range(2, 60):  # sixty answers of nine kilobytes are more than a pipe holds
            process.stdin.write(
                json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/list"}).encode() + b"\n"
            )
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_a_data_directory_has_one_owner(lines: Lines) -> None:
    lines.shake_hands()
    command = [sys.executable, "-m", "memory_mcp", "status", "--data-dir", str(lines.data_dir)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1
    assert "Another memory-mcp" in done.stderr
    assert str(lines.process.pid) in done.stderr
    assert "--data-dir" in done.stderr


def test_a_second_server_shares_the_first_ones_memory(lines: Lines) -> None:
    lines.shake_hands()
    key = lines.call("store_memory", content="Shared by two windows").structured_content["id"]
    with Lines(lines.data_dir) as second:
        second.shake_hands()
        assert second.call("get_memory", id=key).structured_content["content"] == "Shared by two windows"
        assert second.leave() == 0
    assert not lines.call("get_memory", id=key).is_error


def test_a_second_server_with_another_model_is_refused(lines: Lines) -> None:
    lines.shake_hands()
    code, text = refusal(lines.data_dir, "--model", "e5_multi")
    assert code != 0
    assert "--model minilm" in text


def embedded_by_minilm(data_dir: Path) -> None:
    with Lines(data_dir) as lines:
        lines.shake_hands()
        assert not lines.call("store_memory", content="In 384 dimensions").is_error
        assert lines.leave() == 0


@pytest.mark.parametrize("about", ["known", "unknown"])
def test_vectors_of_another_width_are_refused_before_serving(tmp_path: Path, about: str) -> None:
    embedded_by_minilm(tmp_path / "data")
    if about == "unknown":
        (tmp_path / "data" / "about.json").unlink()
    code, text = refusal(tmp_path / "data", "--model", "e5_multi")
    assert code != 0
    assert "Dimension mismatch: database has 384d vectors, configured model produces 768d." in text
    assert "--model minilm" in text
    assert "reembed --model e5_multi" in text
    with Lines(tmp_path / "data") as lines:  # and the refusal left everything as it was
        lines.shake_hands()
        assert not lines.call("get_status").is_error


def test_vectors_of_another_model_are_refused_before_serving(tmp_path: Path) -> None:
    embedded_by_minilm(tmp_path / "data")
    code, text = refusal(tmp_path / "data", "--model", "arctic_xs")
    assert code != 0
    assert "Model mismatch" in text


def test_an_unknown_model_is_refused_before_serving(tmp_path: Path) -> None:
    code, text = refusal(tmp_path / "data", "--model", "gpt")
    assert code != 0
    assert "Unknown embedding model 'gpt'" in text


def test_an_unusable_data_directory_is_refused_before_serving(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, text = refusal(tmp_path / "file" / "data", cwd=tmp_path)
    assert code != 0
    assert "--data-dir" in text
    assert "Traceback" not in text


def test_a_damaged_database_is_reported_by_every_call(tmp_path: Path) -> None:
    embedded_by_minilm(tmp_path / "data")
    database = tmp_path / "data" / "database"
    for file in sorted(database.rglob("*")):
        if file.is_file():
            file.write_bytes(b"not a database" * 100)
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()
        assert len(lines.request("tools/list")["result"]["tools"]) == 21
        for _ in range(2):
            assert an_error(lines.call("get_status")).startswith("Cannot open the database in ")
        assert lines.leave() == 0


def test_what_the_first_answer_does_not_need_is_not_imported() -> None:
    heavy = {"numpy", "surrealdb", "onnxruntime", "tokenizers", "tantivy", "usearch", "fastembed", "scipy"}
    program = (
        "import sys, memory_mcp.cli, memory_mcp.server, memory_mcp.dialects.engine\n"
        "memory_mcp.dialects.engine.engine_dialect()\n"
        f"print(sorted({heavy!r} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment(), cwd=ROOT, check=True
    )
    assert done.stdout.decode().strip() == "[]"
