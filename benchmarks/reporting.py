"""How do figures become tables for people and files for later questions?"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["EVALUATION_DATA", "note", "result_path", "table", "verdict", "write_result"]

_ROOT = Path(__file__).resolve().parents[1]
EVALUATION_DATA = _ROOT.parent / "shared" / "bench"
"""Where evaluation data lies unless said otherwise: beside the project, of which it is no part."""
_PACKAGES = (
    "surrealdb mcp numpy onnxruntime tokenizers tantivy usearch PyStemmer rank-bm25 networkx scipy hnswlib"
).split()


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], remark: str = "") -> None:
    """Print a table, the first column to the left and the figures to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  " + "  ".join(cells).rstrip())
    if remark:
        print(f"  {remark}")


def verdict(value: float, aim: float, *, at_least: bool = False) -> str:
    """Whether an aim is met, in words that stand out where it is not."""
    met = value >= aim if at_least else value <= aim
    return f"{'>=' if at_least else '<='} {aim:g} {'met' if met else 'MISSED'}"


def note(text: str) -> None:
    """Say on stderr what goes on."""
    print(text, file=sys.stderr, flush=True)


def write_result(path: Path, figures: Mapping[str, Any]) -> None:
    """Keep figures with everything needed to doubt them: command, versions, machine, commit, load."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {
        "command": f"python -m {_module()} {' '.join(sys.argv[1:])}".strip(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": _machine(),
        "versions": _versions(),
    }
    path.write_text(json.dumps({**head, **figures}, separators=(",", ":")) + "\n", encoding="utf-8")
    note(f"written: {path}")


def result_path(name: str) -> Path:
    """Where results of this state of the code belong."""
    commit = _commit()
    return _ROOT / "benchmarks" / "results" / f"{name}-{commit[:12] if commit else 'worktree'}.json"


def _module() -> str:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return str(spec.name) if spec else Path(sys.argv[0]).stem


def _commit() -> str | None:
    """The commit that is checked out; None where there is none or files differ from it."""
    try:
        head = _git("rev-parse", "HEAD")
        return None if _git("status", "--porcelain", "--untracked-files=no") else head
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _machine() -> dict[str, Any]:
    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
