"""Are two result files compared question by question?"""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compare import compare, read
from benchmarks.quality_metrics import METRICS


def a_file(path: Path, values: dict[str, float], **fields: Any) -> Path:
    """Results in which every metric of a question has the same value."""
    rows = [
        {"id": key, "category": key[0], "scores": {"default": [value] * len(METRICS), "BM25": [0] * 6}}
        for key, value in values.items()
    ]
    one = {"set": "chat", "corpus": "1", "extracted": "", "rows": rows}
    content = {
        "benchmark": "quality",
        "metrics": METRICS,
        "systems": {"default": "", "BM25": ""},
        "sets": [one],
    }
    path.write_text(json.dumps({**content, **fields}))
    return path


def test_questions_are_paired_by_their_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = read(a_file(tmp_path / "a.json", {"x1": 0.2, "x2": 0.4, "y1": 1.0}), "default")
    after = read(a_file(tmp_path / "b.json", {"x2": 0.9, "x1": 0.2, "z1": 0.0}), "default")
    (outcome,) = compare(before, after, ["R@10"])
    assert outcome.queries == 2
    assert (outcome.before, outcome.after) == pytest.approx((0.3, 0.55))
    assert outcome.paired.difference.mean == pytest.approx(0.25)
    assert (outcome.paired.better, outcome.paired.worse) == (1, 0)
    assert "chat: 2 questions are in both, of 3 and 3" in capsys.readouterr().err


def test_two_systems_of_one_file(tmp_path: Path) -> None:
    path = a_file(tmp_path / "a.json", {"x1": 0.5, "x2": 0.7})
    outcomes = compare(read(path, "BM25"), read(path, "default"), METRICS)
    assert [outcome.metric for outcome in outcomes] == list(METRICS)
    assert {round(outcome.paired.difference.mean, 6) for outcome in outcomes} == {0.6}


def test_by_category(tmp_path: Path) -> None:
    path = a_file(tmp_path / "a.json", {"x1": 0.5, "x2": 0.7, "y1": 0.1})
    outcomes = compare(read(path, "BM25"), read(path, "default"), ["R@5"], by_category=True)
    assert [(outcome.name, outcome.queries) for outcome in outcomes] == [
        ("chat", 3),
        ("chat: x", 2),
        ("chat: y", 1),
    ]


def test_other_documents_are_said_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = read(a_file(tmp_path / "a.json", {"x1": 0.2}), "default")
    rows = [{"id": "x1", "category": "", "scores": {"default": [0.2] * len(METRICS)}}]
    changed = [{"set": "chat", "corpus": "2", "extracted": "", "rows": rows}]
    compare(before, read(a_file(tmp_path / "b.json", {}, sets=changed), "default"), ["R@5"])
    assert "different documents" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "system", "problem"),
    [
        ({"benchmark": "speed"}, "default", "not written by benchmarks.quality"),
        ({"metrics": ["R@5"]}, "default", "other metrics"),
        ({}, "RRF", "no system 'RRF'; it has default, BM25"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, fields: dict[str, Any], system: str, problem: str
) -> None:
    with pytest.raises(SystemExit, match=problem):
        read(a_file(tmp_path / "a.json", {"x1": 1.0}, **fields), system)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"gone.json cannot be read"):
        read(tmp_path / "gone.json", "default")
