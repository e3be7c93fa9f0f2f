"""Does the server end although a call does not?"""

import subprocess
import sys
from pathlib import Path

from tests.contract.harness import PATIENCE, environment

PROGRAM = """
import sys, threading
from pathlib import Path
from memory_mcp import server
from memory_mcp.dialects import Dialect, Tool
from memory_mcp.dialects.arguments import Arguments
from memory_mcp.settings import Settings

def hang(engine, args):
    {body}

listing = {{"name": "hang", "inputSchema": {{"type": "object"}}}}
server.GRACE, server.LAST_RESORT = 0.1, {last_resort}
dialect = Dialect("t", "1", "", (listing,), {{"hang": Tool(Arguments, hang)}})
server.serve_stdio(Settings(data_dir=Path(sys.argv[1])), dialect)
"""

MESSAGES = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"t","version":"0"}}}\n'
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}\n'
)


def run(data_dir: Path, body: str, last_resort: float) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body=body, last_resort=last_resort), str(data_dir)],
        input=MESSAGES, capture_output=True, env=environment(), timeout=PATIENCE, check=False,
    )  # fmt: skip


def test_a_call_that_hangs_is_left_behind(tmp_path: Path) -> None:
    done = run(tmp_path, "threading.Event().wait()", last_resort=1.0)
    assert done.returncode == 1
    assert b"leaving without them" in done.stderr


def test_a_call_that_outlives_its_grace_finds_the_engine_closed(tmp_path: Path) -> None:
    done = run(tmp_path, "while True: engine.status()", last_resort=PATIENCE)
    assert done.returncode == 0
    assert done.stderr == b""
