"""Are issues asked of the right tree, and files ranked by their best chunk?"""

import json
import lzma
import subprocess
from pathlib import Path

import pytest

from benchmarks.code_bm25 import over_windows
from benchmarks.code_systems import Place
from benchmarks.localise import Issue, files_of, git_directory, is_code, is_hit, load_issues, measure


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_file_ranks_by_its_best_chunk() -> None:
    places = [Place("a.py", 5, 9), Place("tests/t.py", 1, 2), Place("a.py", 1, 4), Place("b.py", 1, 1)]
    assert files_of(places, only_code=False) == ["a.py", "tests/t.py", "b.py"]
    assert files_of(places, only_code=True) == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/flask/app.py", True),
        ("src/flask/testing.py", True),
        ("src/_pytest/pytester.py", True),
        ("tests/test_app.py", False),
        ("testing/acceptance.py", False),
        ("pkg/test_app.py", False),
        ("pkg/app_test.py", False),
        ("conftest.py", False),
        ("CHANGES.rst", False),
    ],
)
def test_what_is_code(path: str, expected: bool) -> None:
    assert is_code(path) is expected


@pytest.mark.parametrize(
    ("found", "depth", "expected"),
    [
        ({"a": 1}, 1, True),
        ({"a": 2}, 1, False),
        ({"a": 1, "b": 5}, 5, True),
        ({"a": 1, "b": 6}, 5, False),
        ({"a": 1, "b": None}, 10, False),
    ],
)
def test_a_hit_has_all_files(found: dict[str, int | None], depth: int, expected: bool) -> None:
    assert is_hit(found, depth) is expected


@pytest.mark.parametrize("folder", ["o+n/repo", "o/n.git", "o__n", "n/.git"])
def test_repositories_are_found_by_their_usual_names(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "HEAD").touch()
    assert git_directory(tmp_path, "o/n") == tmp_path / folder


def test_a_repository_that_is_not_there(tmp_path: Path) -> None:
    assert git_directory(tmp_path, "o/n") is None


def test_issues_are_read_compressed(tmp_path: Path) -> None:
    row = {"instance_id": "i", "repo": "o/n", "base_commit": "c", "problem_statement": "p"}
    line = json.dumps({**row, "gold": {"a.py": ["f"], "b.py": []}})
    (tmp_path / "x.jsonl.xz").write_bytes(lzma.compress(f"{line}\n".encode()))
    assert load_issues(tmp_path / "x.jsonl.xz") == [Issue("i", "o/n", "c", "p", frozenset({"a.py", "b.py"}))]


def test_the_tree_before_the_fix_is_searched_and_the_repository_left_alone(tmp_path: Path) -> None:
    repository = tmp_path / "n"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "old.py").write_text("def zeppelin():\n    pass\n")
    (repository / "other.py").write_text("def balloon():\n    pass\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    before = git(repository, "rev-parse", "HEAD")
    git(repository, "mv", "old.py", "new.py")
    git(repository, "commit", "-qm", "two")
    issue = Issue("i", "o/n", before, "the zeppelin crashes", frozenset({"old.py"}))

    [[located]] = measure([over_windows()], [issue], tmp_path)

    assert located.among_all == {"old.py": 1}
    assert located.indexed.files == 2
    assert git(repository, "status", "--porcelain") == ""
    assert not (repository / "old.py").exists()
