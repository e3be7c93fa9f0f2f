"""An issue was reported; are the files that its fix changes among the first found?

    python -m benchmarks.localise --repos DIR [--data FILE] [--only REPO ...] [--systems NAME ...]
        [--semble PYTHON --semble-model DIR] [--json FILE]

SWE-bench Verified: the text of an issue is the question, the tree before the fix is searched, the files that
the fix changes are the answer. ``DIR`` holds git repositories with their history: ``owner+name/repo``,
``owner/name``, ``owner__name`` or ``name``, bare (also with ``.git`` at the end) or with a ``.git`` folder.

A file ranks by its best chunk. An issue is a hit at k when *all* of its files are among the first k (Acc@k;
to count one file of several would be kinder). Twice: among all files that the system indexes, and among
Python files that are no tests, for issues quote tests and change notes quote issues, but no fix is in them.
"""

import argparse
import json
import lzma
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.code_lineup import add_arguments, opened
from benchmarks.code_systems import Indexed, Place, System
from benchmarks.reporting import EVALUATION_DATA, note, result_path, table, write_result

DATA = EVALUATION_DATA / "code_search" / "swebench_verified_dev.jsonl.xz"
"""Where the issues lie unless said otherwise; they are no part of this project."""
CHUNKS = 1_000
"""Chunks that are asked for, so that ten files are among them: a long test file alone has a hundred."""
DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Issue:
    """A report, the commit it was made for, and the files that its fix changed."""

    id: str
    repository: str
    commit: str
    text: str
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Located:
    """At which place, from 1, each file of an issue was found; ``None`` where it was not."""

    issue: Issue
    among_all: dict[str, int | None]
    among_code: dict[str, int | None]
    indexed: Indexed
    seconds: float

    def row(self) -> dict[str, Any]:
        return {
            "issue": self.issue.id,
            "among_all": self.among_all,
            "among_code": self.among_code,
            "files": self.indexed.files,
            "chunks": self.indexed.chunks,
            "index_seconds": round(self.indexed.seconds, 4),
            "us": round(1e6 * self.seconds, 1),
        }


def load_issues(path: Path) -> list[Issue]:
    """The issues of a file of JSON lines, compressed by xz or not."""
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    rows = (json.loads(line) for line in data.decode().splitlines() if line.strip())
    return [
        Issue(
            row["instance_id"],
            row["repo"],
            row["base_commit"],
            row["problem_statement"],
            frozenset(row["gold"]),
        )
        for row in rows
    ]


def git_directory(repositories: Path, repository: str) -> Path | None:
    """Where the history of ``owner/name`` lies, if it is there."""
    owner, name = repository.split("/")
    for folder in (f"{owner}+{name}/repo", f"{owner}/{name}", f"{owner}__{name}", name):
        for directory in (folder, f"{folder}.git", f"{folder}/.git"):
            if (repositories / directory / "HEAD").is_file():
                return repositories / directory
    return None


def files_of(places: Iterable[Place], *, only_code: bool) -> list[str]:
    """The files of chunks, each once, by its best."""
    paths = dict.fromkeys(place.path for place in places)
    return [path for path in paths if not only_code or is_code(path)]


def is_code(path: str) -> bool:
    """A Python file that is no test."""
    pure = PurePosixPath(path)
    if pure.suffix != ".py" or pure.name == "conftest.py":
        return False
    is_test = pure.stem.startswith("test_") or pure.stem.endswith("_test")
    return not is_test and not {"test", "tests", "testing"} & set(pure.parts[:-1])


def is_hit(found: dict[str, int | None], depth: int) -> bool:
    """Are all files among the first ``depth``?"""
    return all(rank is not None and rank <= depth for rank in found.values())


def measure(systems: Sequence[System], issues: Sequence[Issue], repositories: Path) -> list[list[Located]]:
    """Every issue's tree, checked out once, for every system."""
    runs: list[list[Located]] = [[] for _ in systems]
    for number, issue in enumerate(issues, 1):
        directory = git_directory(repositories, issue.repository)
        assert directory is not None, issue
        with tempfile.TemporaryDirectory(prefix="localise-") as scratch:
            tree = Path(scratch) / "tree"
            _check_out(directory, issue.commit, tree, index=Path(scratch) / "index")
            for system, run in zip(systems, runs, strict=True):
                run.append(_locate(system, issue, tree))
        note(f"{number}/{len(issues)} {issue.id}: {', '.join(_brief(run[-1]) for run in runs)}")
    return runs


def report(systems: Sequence[System], runs: Sequence[Sequence[Located]]) -> None:
    """Print the table."""
    rows = []
    for system, run in zip(systems, runs, strict=True):
        chunks = sum(one.indexed.chunks for one in run)
        seconds = sum(one.indexed.seconds for one in run)
        rows.append(
            [
                system.name,
                *(f"{acc:.3f}" for acc in _accuracy(run, only_code=False)),
                *(f"{acc:.3f}" for acc in _accuracy(run, only_code=True)),
                f"{seconds / len(run):.2f}",
                f"{chunks / seconds:,.0f}",
            ]
        )
    depths = [f"@{depth}" for depth in DEPTHS]
    header = [
        "system",
        "Acc" + depths[0],
        *depths[1:],
        "code" + depths[0],
        *depths[1:],
        "index s",
        "chunks/s",
    ]
    remark = (
        f"{len(runs[0])} issues; a hit has all files of the fix; code: among Python files that are no tests"
    )
    table("Files of a fix", header, rows, remark)


def _accuracy(run: Sequence[Located], *, only_code: bool) -> list[float]:
    found = [one.among_code if only_code else one.among_all for one in run]
    return [sum(is_hit(one, depth) for one in found) / len(found) for depth in DEPTHS]


def _locate(system: System, issue: Issue, tree: Path) -> Located:
    indexed = system.index(tree)
    found = system.search(issue.text, CHUNKS)
    return Located(
        issue,
        _ranks(issue, files_of(found.places, only_code=False)),
        _ranks(issue, files_of(found.places, only_code=True)),
        indexed,
        found.seconds,
    )


def _ranks(issue: Issue, files: Sequence[str]) -> dict[str, int | None]:
    ranks = {path: rank for rank, path in enumerate(files, 1)}
    return {path: ranks.get(path) for path in sorted(issue.files)}


def _brief(one: Located) -> str:
    return "/".join(str(rank or "-") for rank in one.among_all.values())


def _check_out(directory: Path, commit: str, tree: Path, *, index: Path) -> None:
    """The files of a commit, without a trace in the repository: no worktree, index or hook of its own."""
    tree.mkdir()
    command = ["git", "-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null"]
    command += ["--git-dir", str(directory.resolve()), "--work-tree", str(tree)]
    subprocess.run(
        [*command, "checkout", "--quiet", "--force", commit, "--", "."],
        cwd=tree,
        env={**os.environ, "GIT_INDEX_FILE": str(index)},
        capture_output=True,
        check=True,
    )


def _has(directory: Path, commit: str) -> bool:
    command = ["git", "-c", "safe.directory=*", "--git-dir", str(directory), "cat-file", "-e"]
    return not subprocess.run([*command, f"{commit}^{{commit}}"], capture_output=True, check=False).returncode


def _runnable(issues: Sequence[Issue], repositories: Path) -> list[Issue]:
    """Those whose commit is there; says aloud which are not."""
    there = {}
    for issue in issues:
        directory = git_directory(repositories, issue.repository)
        there[issue.id] = directory is not None and _has(directory, issue.commit)
    if missing := sorted(name for name, is_there in there.items() if not is_there):
        note(f"no such commit in {repositories}, not measured: {', '.join(missing)}")
    return [issue for issue in issues if there[issue.id]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repos", type=Path, required=True, help="folder of git repositories")
    parser.add_argument("--data", type=Path, default=DATA, help="issues, JSON lines, may be .xz")
    parser.add_argument("--only", nargs="+", metavar="REPO", help="only these repositories: owner/name")
    parser.add_argument("--json", type=Path, help="write the figures there")
    add_arguments(parser)
    args = parser.parse_args()
    wanted = [one for one in load_issues(args.data) if not args.only or one.repository in args.only]
    issues = _runnable(wanted, args.repos)
    if not issues:
        raise SystemExit(f"no issue whose commit is in {args.repos}")
    with opened(args) as systems:
        runs = measure(systems, issues, args.repos)
        report(systems, runs)
        figures = {
            "missing": sorted({one.id for one in wanted} - {one.id for one in issues}),
            "runs": [
                {
                    "system": system.name,
                    "about": dict(system.about()),
                    "acc": dict(zip(map(str, DEPTHS), _accuracy(run, only_code=False), strict=True)),
                    "acc_code": dict(zip(map(str, DEPTHS), _accuracy(run, only_code=True), strict=True)),
                    "issues": [one.row() for one in run],
                }
                for system, run in zip(systems, runs, strict=True)
            ],
        }
    write_result(args.json or result_path("localise"), figures)


if __name__ == "__main__":
    main()
