"""How well does semble, a live peer, answer the same questions?

It runs in an environment of its own, so that neither its packages nor its threads are in our process.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.code_systems import Found, Indexed, Place

__all__ = ["Semble"]

_WORKER = Path(__file__).with_name("code_semble_worker.py")


class Semble:
    """A ``System`` of semble with a model from a folder; nothing is downloaded."""

    name = "semble"

    def __init__(self, python: Path, model: Path) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="semble-")
        self._complaints = Path(self._scratch.name, "stderr")  # a pipe nobody reads would fill up
        with self._complaints.open("wb") as complaints:
            self._process = subprocess.Popen(
                [python.absolute(), "-I", _WORKER, model.resolve(strict=True)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env={**os.environ, "SEMBLE_CACHE_LOCATION": self._scratch.name, "HF_HUB_OFFLINE": "1"},
                text=True,
                encoding="utf-8",
            )
        try:
            self._about: dict[str, str] = self._receive()
        except BaseException:
            self.close()
            raise

    def about(self) -> Mapping[str, str]:
        return self._about

    def index(self, root: Path) -> Indexed:
        reply = self._ask({"root": str(root.resolve())})
        return Indexed(reply["files"], reply["chunks"], reply["seconds"])

    def search(self, query: str, k: int) -> Found:
        reply = self._ask({"query": query, "k": k})
        return Found([Place(*place) for place in reply["places"]], reply["seconds"])

    def close(self) -> None:
        try:
            self._process.communicate(timeout=60)  # closing its input ends it
        finally:
            self._process.kill()
            self._scratch.cleanup()

    def _ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        return self._receive()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait(timeout=60)
            last = self._complaints.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"semble left without an answer (code {self._process.returncode}): {last}")
        reply: dict[str, Any] = json.loads(line)
        return reply
