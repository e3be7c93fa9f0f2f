"""Starting: our packages, or a clear word about whose they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import memory_mcp
from memory_mcp.start import foreign_packages

ROOT = Path(memory_mcp.__file__).parent.parent


def run(*arguments: str, path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
    )


def test_our_own_packages_are_not_foreign() -> None:
    assert foreign_packages() == []


def test_a_package_from_elsewhere_is_foreign() -> None:
    ((name, place),) = foreign_packages(["json"])
    assert name == "json"
    assert place.endswith("json")


def test_a_single_module_from_elsewhere_is_foreign() -> None:
    ((name, place),) = foreign_packages(["textwrap"])
    assert (name, Path(place).name) == ("textwrap", "textwrap.py")


def test_a_missing_package_is_nowhere() -> None:
    assert foreign_packages(["no_such_package"]) == [("no_such_package", "nowhere")]


@pytest.mark.parametrize("name", ["indexer", "retrieval"])
@pytest.mark.parametrize("form", ["package", "module"])
def test_a_shadowed_package_ends_the_program_with_a_clear_message(
    tmp_path: Path, name: str, form: str
) -> None:
    if form == "package":
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('imported the wrong one')\n")
    else:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported the wrong one')\n")
    result = run("-m", "memory_mcp", "status", path=tmp_path, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout == ""
    assert f"{name!r} at {tmp_path}" in result.stderr
    assert "Traceback" not in result.stderr
    assert "wrong one" not in result.stderr


def test_it_starts_where_nothing_is_shadowed(tmp_path: Path) -> None:
    result = run("-m", "memory_mcp", "--version", path=tmp_path, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"memory-mcp {memory_mcp.__version__}\n"
