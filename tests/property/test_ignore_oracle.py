"""Does our matcher ignore exactly what ``git check-ignore`` ignores, whatever the patterns and the tree?

Names and patterns are drawn from few letters, so that they meet; patterns are put together from the pieces
that mean something to git, in orders nobody would write.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexer.ignore import IgnoreFile, Ignores
from indexer.walk import walk

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the oracle is git itself")

NAMES = (
    "a",
    "b",
    "ab",
    "ba",
    "abc",
    "a.b",
    "B",
    "a b",
    "a ",
    "é",
    "x[1]",
    "-",
    "#a",
    "!a",
    "a*",
    "a\\b",
    "^",
    "]",
)
PIECES = (
    *("a", "b", "ab", "c", ".", "B", " ", "é", "x", "1", "-", "#", "!", "^", "]"),
    *("*", "**", "***", "?", "/", "//", "**/", "/**/", "/**", "*/", "/*", "!", "#"),
    *("\\", "\\ ", "\\*", "\\/", "\\a", "\\!", "\\#", "\\\\", "[", "[]"),
    *("[ab]", "[a-c]", "[!a]", "[^b]", "[]a]", "[!]]", "[a-]", "[-a]", "[\\]a]", "[a/b]"),
    *("[b-a]", "[a-\\c]", "[\\!-c]", "[[:alpha:]]", "[[:upper:]]", "[[:space:]b]", "[![:alnum:]]"),
    *("[[:punct:]]", "[[:oops:]]", "[[:a]", "[[:]", "[a[:]b]"),
)  # fmt: skip
names = st.sampled_from(NAMES)
starts = st.sampled_from(("", "!", "/", "!/", "**/"))
ends = st.sampled_from(("", "/", "/**", "/*", " "))
lines = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.builds("{}{}{}".format, starts, names, ends),
)
ignore_files = st.lists(lines, min_size=1, max_size=6)
Tree = dict[str, "Tree | None"]
trees = st.recursive(
    st.dictionaries(names, st.none(), min_size=1, max_size=4),
    lambda below: st.dictionaries(names, st.none() | below, min_size=1, max_size=4),
    max_leaves=14,
)


@pytest.fixture(scope="module", autouse=True)
def no_configuration() -> Iterator[None]:
    """The machine's own git settings stay out of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("XDG_CONFIG_HOME", os.devnull)
        yield


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve() / "top"
        top.mkdir()
        subprocess.run(["git", "init", "-q", str(top)], check=True)
        yield top


def grow(folder: Path, tree: Tree) -> None:
    for name, below in tree.items():
        if below is None:
            (folder / name).write_text("x\n", "utf-8")
        else:
            (folder / name).mkdir()
            grow(folder / name, below)


def clear(top: Path) -> None:
    for entry in top.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def below(top: Path) -> list[Path]:
    return sorted(path for path in top.rglob("*") if ".git" not in path.parts)


def by_git(top: Path, paths: list[Path]) -> set[str]:
    spelled = b"\0".join(os.fsencode(path.relative_to(top)) for path in paths)
    command = ["git", "-C", str(top), "check-ignore", "--no-index", "-z", "--stdin"]
    answer = subprocess.run(command, input=spelled, capture_output=True, check=False)
    assert answer.returncode in (0, 1), answer.stderr
    return {os.fsdecode(path) for path in answer.stdout.split(b"\0") if path}


def by_us(top: Path, paths: list[Path]) -> set[str]:
    """Parents first, as the walk goes."""
    rules: dict[Path, Ignores | None] = {}

    def in_folder(folder: Path, above: Ignores) -> Ignores:
        file = folder / ".gitignore"
        base = os.fsencode(folder.relative_to(top).as_posix() + "/") if folder != top else b""
        return above.below(IgnoreFile.of(file.read_bytes(), base)) if file.is_file() else above

    rules[top] = in_folder(top, Ignores())
    ignored = set()
    for path in paths:
        above = rules[path.parent]
        out = above is None or above.ignored(os.fsencode(path.relative_to(top)), folder=path.is_dir())
        if out:
            ignored.add(str(path.relative_to(top)))
        if path.is_dir():
            rules[path] = None if out or above is None else in_folder(path, above)
    return ignored


@settings(max_examples=600, deadline=None)
@given(tree=trees, top_lines=ignore_files)
@example(tree={"foobar": None, "foox": {"y": {"bar": None}}}, top_lines=["foo**/bar"])
@example(tree={"a ": None, "a": None}, top_lines=["a\\ "])
@example(tree={"b": {"a": None}, "a": None}, top_lines=["**\\/a"])
@example(tree={"a": {"b": None, "ab": None}}, top_lines=["a/*", "!a/b"])
@example(tree={"a": {"b": None}}, top_lines=["a", "!a/b"])
@example(tree={"é": None}, top_lines=["??", "[^a]"])
def test_one_ignore_file(repository: Path, tree: Tree, top_lines: list[str]) -> None:
    clear(repository)
    grow(repository, tree)
    (repository / ".gitignore").write_bytes("\n".join(top_lines).encode())
    paths = below(repository)
    assert by_us(repository, paths) == by_git(repository, paths)


@settings(max_examples=250, deadline=None)
@given(
    tree=trees,
    data=st.data(),
    end=st.sampled_from(("\n", "\r\n")),
    mark=st.sampled_from((b"", b"\xef\xbb\xbf")),
)
def test_ignore_files_at_every_level(
    repository: Path, tree: Tree, data: st.DataObject, end: str, mark: bytes
) -> None:
    clear(repository)
    grow(repository, tree)
    folders = [repository, *(path for path in below(repository) if path.is_dir())]
    for folder in data.draw(st.lists(st.sampled_from(folders), min_size=1, max_size=4, unique=True)):
        (folder / ".gitignore").write_bytes(mark + end.join(data.draw(ignore_files)).encode())
    paths = below(repository)
    assert by_us(repository, paths) == by_git(repository, paths)


@settings(max_examples=100, deadline=None)
@given(tree=trees, top_lines=ignore_files, own_lines=ignore_files, excludes=ignore_files)
def test_the_walk_finds_the_same_with_and_without_git(
    repository: Path, tree: Tree, top_lines: list[str], own_lines: list[str], excludes: list[str]
) -> None:
    clear(repository)
    grow(repository, tree)
    (repository / ".gitignore").write_text("\n".join(top_lines), "utf-8")
    (repository / ".memoryignore").write_text("\n".join(own_lines), "utf-8")
    (repository / ".git" / "info" / "exclude").write_text("\n".join(excludes), "utf-8")
    asked = walk(repository)
    alone = walk(repository, ask_git=False)
    assert asked.by_git and not alone.by_git
    assert asked.files == alone.files
