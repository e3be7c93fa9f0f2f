"""Is NDCG@10 counted as semble counts it, over the right places?"""

import json
import math
from pathlib import Path

import pytest

from benchmarks.code_systems import Place
from benchmarks.code_tasks import Repository, Target, Task, absent, load_repositories, ndcg, ranks


def second() -> float:
    return 1 / math.log2(3)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([1], 1.0),
        ([2], second()),
        ([None], 0.0),
        ([10], 1 / math.log2(11)),
        ([1, 2], 1.0),
        ([2, 1], 1.0),
        ([1, None], 1 / (1 + second())),
        ([1, 1], 1 / (1 + second())),  # one chunk shows both: its place gains once
        ([], 0.0),
        ([*range(1, 11), None, None], 1.0),  # the ideal has ten places, however many targets there are
    ],
)
def test_ndcg(found: list[int | None], expected: float) -> None:
    assert ndcg(found) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (Place("a.py", 1, 9), False),
        (Place("a.py", 1, 10), True),
        (Place("a.py", 12, 13), True),
        (Place("a.py", 20, 40), True),
        (Place("a.py", 21, 40), False),
        (Place("b/a.py", 10, 20), False),
    ],
)
def test_lines_must_overlap(place: Place, expected: bool) -> None:
    assert Target("a.py", (10, 20)).is_at(place) is expected


def test_a_file_without_lines_is_found_anywhere_in_it() -> None:
    assert Target("a.py").is_at(Place("a.py", 900, 901))


def repository(*targets: Target, root: str = "src") -> Repository:
    return Repository("r", "python", "0" * 40, root, (Task("q", "semantic", targets),))


def test_a_target_ranks_at_the_first_chunk_that_shows_it() -> None:
    asked = repository(Target("src/a.py"), Target("src/b.py"))
    places = [Place("c.py", 1, 5), Place("a.py", 1, 5), Place("a.py", 6, 9)]
    assert ranks(asked, asked.tasks[0], places) == [2, None]


def test_the_eleventh_chunk_does_not_count() -> None:
    asked = repository(Target("a.py"), root="")
    places = [Place("b.py", line, line) for line in range(1, 11)]
    assert ranks(asked, asked.tasks[0], [*places, Place("a.py", 1, 1)]) == [None]


def test_repositories_and_their_questions_are_read(tmp_path: Path) -> None:
    described = [
        {"name": "z", "language": "go", "url": "u", "revision": "1"},
        {"name": "a", "language": "lua", "url": "u", "revision": "2", "benchmark_root": "lua/a"},
    ]
    lines = {"path": "lua/a/y.lua", "start_line": 3, "end_line": 9}
    asked = {"query": "how", "relevant": ["lua/a/x.lua"], "secondary": [lines], "category": "architecture"}
    (tmp_path / "annotations").mkdir()
    (tmp_path / "repos.json").write_text(json.dumps(described))
    (tmp_path / "annotations" / "a.json").write_text(json.dumps([asked]))
    (tmp_path / "annotations" / "z.json").write_text("[]")

    first, last = load_repositories(tmp_path)

    targets = (Target("lua/a/x.lua"), Target("lua/a/y.lua", (3, 9)))
    assert first == Repository("a", "lua", "2", "lua/a", (Task("how", "architecture", targets),))
    assert (last.name, last.root, last.tasks) == ("z", "", ())


def test_files_that_a_checkout_lacks_are_named(tmp_path: Path) -> None:
    (tmp_path / "here.py").touch()
    assert absent(repository(Target("here.py"), Target("gone.py")), tmp_path) == ["gone.py"]
