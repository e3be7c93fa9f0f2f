"""gitignore(5) line by line; whether git agrees is asked in ``tests/property/test_ignore_oracle.py``."""

import os
from pathlib import Path

import pytest

from indexer.ignore import IgnoreFile, Ignores
from indexer.ignore_sources import repository_of, rules_above


def ignored(lines: str, path: str, *, folder: bool = False, ignore_case: bool = False) -> bool:
    rules = Ignores((IgnoreFile.of(lines.encode(), ignore_case=ignore_case),))
    return rules.ignored(path.encode(), folder=folder)


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("*.log", "deep/down/a.log", True),
        ("/*.log", "a.log", True),
        ("/*.log", "deep/a.log", False),
        ("doc/*.txt", "doc/a.txt", True),
        ("doc/*.txt", "doc/deep/a.txt", False),
        ("doc/*.txt", "x/doc/a.txt", False),
        ("**/doc", "x/y/doc", True),
        ("**/doc", "doc", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a/x", True),
        ("a/**", "a", False),
        ("foo**/bar", "foobar", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[[:digit:]]", "7", True),
        ("[]-]", "]", True),
        ("[z-a]", "m", False),
        ("\\#a", "#a", True),
        ("#a", "#a", False),
        ("\\!a", "!a", True),
        ("a\\*", "a*", True),
        ("a\\*", "ab", False),
        ("a ", "a", True),
        ("a\\ ", "a ", True),
        ("a\\ ", "a", False),
        ("a\t", "a", False),
        ("a\r", "a", True),
        ("[a", "[a", False),
        ("a\\", "a\\", False),
        ("", "a", False),
        ("/", "a", False),
        ("é", "é", True),
    ],
)
def test_a_line_and_a_path(line: str, path: str, expected: bool) -> None:
    assert ignored(line, path) is expected


def test_a_trailing_slash_is_for_folders() -> None:
    assert ignored("build/", "x/build", folder=True)
    assert not ignored("build/", "x/build")


def test_the_last_matching_line_decides() -> None:
    assert not ignored("*.log\n!keep.log", "keep.log")
    assert ignored("!keep.log\n*.log", "keep.log")


def test_a_byte_order_mark_is_not_part_of_the_first_line() -> None:
    assert IgnoreFile.of(b"\xef\xbb\xbfa\n").verdict(b"a", b"a", False)


def test_case_counts_unless_the_repository_says_otherwise() -> None:
    assert not ignored("*.LOG", "a.log")
    assert ignored("*.LOG", "a.log", ignore_case=True)


def test_a_deeper_file_decides_over_a_shallower_one() -> None:
    top = Ignores((IgnoreFile.of(b"*.log"),))
    deep = top.below(IgnoreFile.of(b"!*.log", b"sub/"))
    assert not deep.ignored(b"sub/a.log", folder=False)
    assert deep.ignored(b"a.log", folder=False)


def test_a_pattern_is_anchored_where_its_file_lies() -> None:
    rules = Ignores((IgnoreFile.of(b"/a", b"sub/"),))
    assert rules.ignored(b"sub/a", folder=False)
    assert not rules.ignored(b"a", folder=False)
    assert not rules.ignored(b"sub/x/a", folder=False)


def test_memoryignore_decides_over_every_gitignore() -> None:
    rules = Ignores(
        git=(IgnoreFile.of(b"*.log"), IgnoreFile.of(b"!b.py", b"sub/")),
        memory=(IgnoreFile.of(b"!a.log\nb.py"),),
    )
    assert not rules.ignored(b"a.log", folder=False)
    assert rules.ignored(b"sub/b.py", folder=False)
    assert rules.ignored(b"c.log", folder=False)


def test_hostile_patterns_do_not_stall() -> None:
    stars = "*a" * 60 + "b"
    assert not ignored(stars, "a" * 250)
    deep = "**/a/" * 40 + "b"
    assert not ignored(deep, "/".join("a" * 60))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    return home


def test_the_global_excludes_file_is_found_without_git(tmp_path: Path, home: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("by-default")
    assert rules_above(project).ignores.ignored(b"by-default", folder=False)
    (home / ".gitconfig").write_text('[user]\n\tname = x\n[Core]\n\texcludesFile = "~/mine" ; own\n')
    (home / "mine").write_text("by-setting")
    assert rules_above(project).ignores.ignored(b"by-setting", folder=False)
    assert not rules_above(project).ignores.ignored(b"by-default", folder=False)


def test_rules_above_the_root_hold_below_it(tmp_path: Path, home: Path) -> None:
    top = tmp_path / "top"
    (top / ".git" / "info").mkdir(parents=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (top / ".git" / "info" / "exclude").write_text("private\n")
    (top / ".git" / "config").write_text("[core]\n\tignorecase = true\n")
    (top / "sub" / "deep").mkdir(parents=True)
    (top / ".gitignore").write_text("/sub/deep/x\n")
    (top / "sub" / ".gitignore").write_text("deep/y\n")
    above = rules_above(top / "sub" / "deep")
    assert above.prefix == b"sub/deep/"
    assert above.ignore_case
    for name in (b"x", b"y", b"PRIVATE"):
        assert above.ignores.ignored(above.prefix + name, folder=False)


def test_a_linked_ignore_file_is_not_followed(tmp_path: Path, home: Path) -> None:
    (tmp_path / "rules").write_text("*.py\n")
    top = tmp_path / "top"
    (top / ".git").mkdir(parents=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (top / "sub").mkdir()
    (top / ".gitignore").symlink_to(tmp_path / "rules")
    assert not rules_above(top / "sub").ignores.ignored(b"sub/a.py", folder=False)


@pytest.mark.parametrize(
    "content", [b"", b"gitdir: ", b"gitdir: /nowhere\0\n", b"\xff\xfe", b"something else"]
)
def test_a_strange_git_file_is_no_repository(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    found = repository_of(tmp_path)
    assert found is None or os.fspath(found.git_dir)
