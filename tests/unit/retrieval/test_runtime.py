"""The model runtime keeps to itself."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_loading_it_writes_nothing_into_the_home_folder(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    program = "from retrieval.runtime import onnx_runtime; onnx_runtime().SessionOptions()"
    subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        cwd=ROOT,
        check=True,
        timeout=60,
    )
    assert list(tmp_path.rglob("*")) == []
