"""What a person types about code, and what they see."""

import json
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.cli import main

SOURCE = '''"""A small zoo."""


class Okapi:
    """Shy."""

    def hide(self) -> str:
        return "behind a tree"


def feed(animal: Okapi) -> str:
    return animal.hide()
'''


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    folder = tmp_path / "zoo"
    folder.mkdir()
    (folder / "animals.py").write_text(SOURCE, encoding="utf-8")
    (folder / "empty.py").touch()
    return folder


@pytest.fixture
def data_dir(tmp_path: Path, zoo: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A data directory in which the zoo is indexed."""
    place = str(tmp_path / "data")
    assert main(["index", str(zoo), "--data-dir", place]) == 0
    assert "zoo: 1 files" in capsys.readouterr().out
    return place


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_indexing_says_what_was_left_out(
    tmp_path: Path, zoo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", str(zoo), "--data-dir", str(tmp_path / "data")]) == 0
    assert "1 left out: empty" in capsys.readouterr().out


def test_indexing_as_json_is_the_tools_reply(
    data_dir: str, zoo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = told(capsys, "index", str(zoo), "--data-dir", data_dir)
    assert reply == {"project_id": "zoo", "files_indexed": 1, "chunks_created": 0}


def test_code_is_shown_with_its_place(data_dir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code", "where does the okapi hide", "--limit", "1", "--data-dir", data_dir]) == 0
    out = capsys.readouterr().out
    assert " 1. animals.py:" in out
    assert "class Okapi" in out


def test_projects_are_shown_with_their_folders(
    data_dir: str, zoo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["projects", "--data-dir", data_dir]) == 0
    out = capsys.readouterr().out
    assert out.startswith("zoo  completed  1 files")
    assert str(zoo) in out
    [row] = told(capsys, "projects", "--data-dir", data_dir)
    assert (row["project_id"], row["status"], row["root"]) == ("zoo", "completed", str(zoo))


def test_no_projects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["projects", "--data-dir", str(tmp_path)]) == 0
    assert "No projects" in capsys.readouterr().out


def test_symbols_and_a_map(data_dir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symbols", "Okapi.hide", "--data-dir", data_dir]) == 0
    assert "animals.py:" in capsys.readouterr().out
    assert main(["map", "zoo", "--data-dir", data_dir]) == 0
    assert "class Okapi" in capsys.readouterr().out


def test_a_deleted_project_is_gone_and_its_files_are_not(
    data_dir: str, zoo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["delete-project", "zoo", "--data-dir", data_dir]) == 0
    assert "chunks deleted" in capsys.readouterr().out
    assert told(capsys, "projects", "--data-dir", data_dir) == []
    assert (zoo / "animals.py").read_text(encoding="utf-8") == SOURCE


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["index", "/nowhere/at/all"], "Invalid path: /nowhere/at/all"),
        (["code", "x", "--project", "nobody"], "Project not found: nobody"),
        (["delete-project", "nobody"], "Project not found: nobody"),
        (["map", "nobody"], "Project not found: nobody"),
        (["code", "x", "--limit", "0"], "limit"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str], says: str
) -> None:
    assert main([*argv, "--data-dir", str(tmp_path)]) == 1
    assert says in capsys.readouterr().err
