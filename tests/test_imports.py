"""The layers hold, and what is exported is what is documented."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import indexer
import memory_mcp
import retrieval
from retrieval import errors

ROOT = Path(memory_mcp.__file__).parent.parent


def test_the_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


def test_the_documented_errors_are_the_exported_ones() -> None:
    drawn = re.findall(r"^    [│├└─ ]*([A-Z]\w+)", errors.__doc__ or "", re.MULTILINE)
    defined = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert sorted(drawn) == errors.__all__
    assert defined == set(errors.__all__)


MODULES = sorted(
    module.name
    for package in (indexer, memory_mcp, retrieval)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_every_exported_name_exists(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", [])
    assert [entry for entry in exported if not hasattr(module, entry)] == []
    assert len(set(exported)) == len(exported)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_asks_its_question(name: str) -> None:
    assert (importlib.import_module(name).__doc__ or "").strip()


HEAVY = ("surrealdb", "onnxruntime", "fastembed", "tantivy", "usearch", "scipy", "networkx", "numpy")


def test_what_is_slow_to_import_waits_until_it_is_needed() -> None:
    """The command line answers --version, --help and wrong flags without them."""
    script = "import sys, memory_mcp.start, memory_mcp.cli; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True, cwd=ROOT
    )
    assert set(HEAVY) & set(result.stdout.split()) == set()
