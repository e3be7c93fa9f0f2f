"""What the walk lists, what it leaves out, and why."""

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from indexer.walk import InvalidPath, Limits, Reason, Skip, check_root, project_id, read_text, walk
from indexer.walk_content import inspect

with_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture(autouse=True)
def no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own excludes and identity stay out of it."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder.resolve()


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, "-C", str(folder), *arguments], check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")


def paths(root: Path, *, ask_git: bool = True, look_inside: bool = True) -> list[str]:
    return [file.path for file in walk(root, ask_git=ask_git, look_inside=look_inside).files]


class TestListing:
    def test_files_come_sorted_with_their_stat(self, root: Path) -> None:
        write(root, {"b.py": "b\n", "a/z.py": "zz\n", "a.py": "a\n"})
        walked = walk(root)
        assert [file.path for file in walked.files] == ["a.py", "a/z.py", "b.py"]
        about = (root / "a/z.py").stat()
        file = walked.files[1]
        assert file.stamp == (3, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
        assert not file.settled(walked.started_ns)
        assert file.settled(walked.started_ns + 10**10)

    def test_nested_ignore_files_hold_without_git(self, root: Path) -> None:
        write(root, {".gitignore": "*.log\nout/\n", "a.log": "x", "out/b.py": "x", "c.py": "x"})
        write(
            root, {"sub/.gitignore": "!*.log\n/d.py\n", "sub/a.log": "x", "sub/d.py": "x", "sub/x/d.py": "x"}
        )
        assert paths(root) == [".gitignore", "c.py", "sub/.gitignore", "sub/a.log", "sub/x/d.py"]

    def test_memoryignore_leaves_out_and_brings_back(self, root: Path) -> None:
        write(root, {".gitignore": "build/\n*.log\n", ".memoryignore": "!build/\n!a.log\nprivate/\n"})
        write(root, {"build/x.py": "x", "a.log": "x", "b.log": "x", "private/p.py": "x"})
        walked = walk(root)
        assert [file.path for file in walked.files] == [".gitignore", ".memoryignore", "a.log", "build/x.py"]
        assert walked.skipped == {"excluded by .memoryignore": 1}
        assert walked.examples == {"excluded by .memoryignore": ("private/",)}

    def test_dependencies_are_left_out_and_can_be_brought_back(self, root: Path) -> None:
        write(root, {"node_modules/x/a.js": "x", "env/pyvenv.cfg": "x", "env/lib.py": "x", "a.py": "x"})
        write(root, {"Cargo.toml": "x", "target/debug/a.rs": "x", "other/target/a.rs": "x"})
        walked = walk(root)
        assert [file.path for file in walked.files] == ["Cargo.toml", "a.py", "other/target/a.rs"]
        assert walked.skipped == {"dependencies or build output": 3}
        write(root, {".memoryignore": "!node_modules/\n"})
        assert "node_modules/x/a.js" in paths(root)

    def test_too_many_files_are_an_error(self, root: Path) -> None:
        write(root, {f"{n}.py": "x" for n in range(4)})
        with pytest.raises(InvalidPath, match="more than 3 files"):
            walk(root, limits=Limits(max_files=3))


@with_git
class TestGit:
    def test_tracked_files_count_even_where_a_rule_ignores_them(self, root: Path) -> None:
        write(root, {"a.log": "x", "vendor/v.go": "x", "go.mod": "x", "gone.py": "x"})
        commit(root)
        write(root, {".gitignore": "*.log\n", "b.log": "x", "new.py": "x"})
        (root / "gone.py").unlink()
        walked = walk(root)
        assert walked.by_git
        assert [file.path for file in walked.files] == [
            ".gitignore",
            "a.log",
            "go.mod",
            "new.py",
            "vendor/v.go",
        ]
        assert walked.skipped == {}

    def test_untracked_dependencies_are_left_out(self, root: Path) -> None:
        write(
            root, {"a.js": "x", "node_modules/x/b.js": "x", "node_modules/y/b.js": "x", "v/pyvenv.cfg": "x"}
        )
        git(root, "init", "-q")
        walked = walk(root)
        assert [file.path for file in walked.files] == ["a.js"]
        assert walked.examples == {"dependencies or build output": ("node_modules/", "v/")}

    def test_memoryignore_holds_for_tracked_files(self, root: Path) -> None:
        write(
            root,
            {"a.py": "x", "sub/b.py": "x", "sub/c.py": "x", "sub/.memoryignore": "/b.py\n", "d/e.py": "x"},
        )
        write(root, {".memoryignore": "d/\n"})
        commit(root)
        walked = walk(root)
        assert [file.path for file in walked.files] == [
            ".memoryignore",
            "a.py",
            "sub/.memoryignore",
            "sub/c.py",
        ]
        assert walked.examples == {"excluded by .memoryignore": ("d/", "sub/b.py")}

    def test_memoryignore_brings_back_what_git_ignores(self, root: Path) -> None:
        write(root, {".gitignore": "gen/\n", ".memoryignore": "!gen/\n", "gen/a.py": "x", "b.py": "x"})
        commit(root)
        assert paths(root) == [".gitignore", ".memoryignore", "b.py", "gen/a.py"]

    def test_a_folder_inside_a_work_tree(self, root: Path) -> None:
        write(root, {".gitignore": "*.log\n/sub/x.py\n", "sub/a.py": "x", "sub/x.py": "x", "sub/a.log": "x"})
        write(root, {".memoryignore": "/sub/m.py\n", "sub/m.py": "x"})
        commit(root)
        assert paths(root / "sub") == paths(root / "sub", ask_git=False) == ["a.py"]

    def test_an_ignored_folder_is_walked_when_asked_for(self, root: Path) -> None:
        write(
            root,
            {
                ".gitignore": "out/\n",
                "out/deep/a.py": "x",
                "out/deep/.gitignore": "b.py\n",
                "out/deep/b.py": "x",
            },
        )
        commit(root)
        assert paths(root / "out" / "deep") == [".gitignore", "a.py"]

    def test_submodules_and_nested_repositories_are_walked(self, root: Path, tmp_path: Path) -> None:
        library = tmp_path / "library"
        write(library, {"l.py": "x", ".gitignore": "*.tmp2\n", "tracked.log": "x"})
        commit(library)
        write(root, {".gitignore": "*.log\n", "a.py": "x"})
        commit(root)
        git(root, "submodule", "add", "-q", str(library), "lib")
        write(root, {"lib/new.py": "x", "lib/x.tmp2": "x", "other/o.py": "x"})
        git(root / "other", "init", "-q")
        found = paths(root)
        assert found == paths(root, ask_git=False)
        assert [path for path in found if "git" not in path] == [
            "a.py",
            "lib/l.py",
            "lib/new.py",
            "lib/tracked.log",
            "other/o.py",
        ]
        write(root, {".memoryignore": "lib/\n"})
        assert not [path for path in paths(root) if path.startswith("lib/")]

    def test_repositories_in_a_folder_without_one(self, root: Path) -> None:
        write(root, {"one/.gitignore": "*.log\n", "one/a.log": "x", "two/b.log": "x"})
        commit(root / "one")
        commit(root / "two")
        assert paths(root) == ["one/.gitignore", "two/b.log"]

    def test_a_worktree_is_a_project_but_not_part_of_another(self, root: Path) -> None:
        write(root, {"a.py": "x"})
        commit(root)
        git(root, "worktree", "add", "-q", "trees/feature")
        walked = walk(root)
        assert [file.path for file in walked.files] == ["a.py"]
        assert walked.examples == {"another worktree of the same repository": ("trees/feature/",)}
        assert paths(root, ask_git=False) == ["a.py"]
        own = walk(root / "trees" / "feature")
        assert own.by_git
        assert [file.path for file in own.files] == ["a.py"]

    def test_worktrees_of_a_bare_repository_are_all_there_is(self, root: Path, tmp_path: Path) -> None:
        write(tmp_path / "origin", {"a.py": "x"})
        commit(tmp_path / "origin")
        git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "origin"), str(root / ".bare"))
        (root / ".git").write_text("gitdir: ./.bare\n")
        git(root, "worktree", "add", "-q", "main-tree")
        assert "main-tree/a.py" in paths(root)

    @pytest.mark.parametrize("damage", ["HEAD", "config", "index"])
    def test_a_damaged_repository_is_walked_without_git(self, root: Path, damage: str) -> None:
        write(root, {".gitignore": "*.log\n", "a.py": "x", "a.log": "x"})
        commit(root)
        (root / ".git" / damage).write_bytes(b"\0broken")
        assert paths(root) == [".gitignore", "a.py"]

    def test_the_environment_and_the_repository_cannot_redirect_git(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(root, {"a.py": "x"})
        commit(root)
        write(tmp_path / "elsewhere", {"secret.py": "x"})
        commit(tmp_path / "elsewhere")
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere" / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere" / ".git" / "index"))
        assert paths(root) == ["a.py"]

    def test_a_repository_that_names_another_work_tree_is_not_believed(
        self, root: Path, tmp_path: Path
    ) -> None:
        write(root, {"a.py": "x"})
        commit(root)
        git(root, "config", "core.worktree", str(tmp_path / "home"))
        walked = walk(root)
        assert not walked.by_git
        assert [file.path for file in walked.files] == ["a.py"]

    def test_no_program_named_by_the_repository_is_run(self, root: Path, tmp_path: Path) -> None:
        write(root, {"a.py": "x"})
        commit(root)
        hook = tmp_path / "hook"
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
        git(root, "config", "core.fsmonitor", str(hook))
        assert paths(root) == ["a.py"]
        assert not (tmp_path / "ran").exists()

    def test_nothing_in_the_repository_is_written(self, root: Path) -> None:
        write(root, {"a.py": "x"})
        commit(root)
        before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")}
        walk(root)
        assert {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")} == before

    def test_a_tracked_folder_that_became_a_link_is_not_entered(self, root: Path, tmp_path: Path) -> None:
        write(root, {"a.py": "x", "sub/b.py": "x"})
        commit(root)
        shutil.rmtree(root / "sub")
        write(tmp_path / "outside", {"b.py": "x"})
        (root / "sub").symlink_to(tmp_path / "outside")
        assert paths(root) == ["a.py"]

    def test_without_git_on_the_machine(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, {".gitignore": "*.log\n", "a.py": "x", "a.log": "x"})
        commit(root)
        monkeypatch.setenv("PATH", str(root / "nowhere"))
        walked = walk(root)
        assert not walked.by_git
        assert [file.path for file in walked.files] == [".gitignore", "a.py"]


class TestLeftOut:
    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("a.png", "x", Reason.BINARY),
            ("data", b"a\0b", Reason.BINARY),
            ("data", bytes(range(1, 32)) * 20 + b"\xff\xfe\x80", Reason.BINARY),
            ("odd.txt", b"\xff\xfea\0\x00\xd8", Reason.BINARY),
            ("a.go", "// Code generated by stringer; DO NOT EDIT.\npackage a\n", Reason.GENERATED),
            (
                "a.py",
                "# -*- coding: utf-8 -*-\n# Generated by the compiler.  DO NOT EDIT!\n",
                Reason.GENERATED,
            ),
            ("a.js", "/**\n * @generated SignedSource<<1>>\n */\n", Reason.GENERATED),
            ("a.cs", "// <auto-generated/>\n", Reason.GENERATED),
            ("a.rs", "/* automatically generated by rust-bindgen 0.59 */\n", Reason.GENERATED),
            ("a.java", "/**\n * Autogenerated by Thrift\n *\n * DO NOT EDIT\n */\n", Reason.GENERATED),
            ("a.js.map", "{}", Reason.GENERATED),
            ("a.min.js", "x", Reason.MINIFIED),
            ("bundle.js", "var a=1;" * 1000, Reason.MINIFIED),
            ("Cargo.lock", "x", Reason.LOCK_FILE),
            ("package-lock.json", "{}", Reason.LOCK_FILE),
            ("big.py", "x = 1\n" * 200_000, Reason.TOO_LARGE),
            ("empty.py", "", Reason.EMPTY),
            (".env", "KEY=1", Reason.SECRET),
            (".env.local", "KEY=1", Reason.SECRET),
            ("id_rsa", "x", Reason.SECRET),
            ("a.py~", "x", Reason.SCRATCH),
        ],
    )
    def test_a_counted_reason(self, root: Path, name: str, content: str | bytes, reason: Reason) -> None:
        write(root, {name: content, "kept.py": "x = 1\n"})
        walked = walk(root)
        assert [file.path for file in walked.files] == ["kept.py"]
        assert walked.skipped == {reason: 1}
        assert walked.examples == {reason: (name,)}
        text = read_text(root / name)
        assert text == Skip(reason)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("README.md", "* @generated files: do not edit\n" + "a long line " * 1000),
            ("a.py", 'MARKER = "@generated, do not edit"\n'),
            ("models.py", "# the id is automatically generated by the database\n"),
            ("migration.py", "# Generated by Django 5.0\n"),
            ("first_line.py", "x = '" + "a" * 9000 + "'\n" + "y = 1\n" * 20_000),
            (".env.example", "KEY="),
            ("latin.c", b"/* caf\xe9 */\nint main;\n"),
            ("bom.py", b"\xef\xbb\xbfx = 1\n"),
            ("wide.cs", "class A {}\n".encode("utf-16")),
        ],
    )
    def test_what_a_person_wrote_is_kept(self, root: Path, name: str, content: str | bytes) -> None:
        write(root, {name: content})
        assert paths(root) == [name]
        assert isinstance(read_text(root / name), str)

    def test_examples_are_few(self, root: Path) -> None:
        write(root, {f"{n}.png": "x" for n in range(9)} | {"a.py": "x"})
        walked = walk(root, limits=Limits(examples=2))
        assert walked.skipped == {"binary": 9}
        assert walked.examples == {"binary": ("0.png", "1.png")}

    def test_without_looking_inside_no_file_is_opened(self, root: Path) -> None:
        write(root, {"bundle.js": "var a=1;" * 1000})
        assert paths(root, look_inside=False) == ["bundle.js"]

    def test_links_are_not_followed(self, root: Path, tmp_path: Path) -> None:
        write(tmp_path / "outside", {"o.py": "x"})
        write(root, {"a.py": "x", "sub/b.py": "x"})
        (root / "out.py").symlink_to(tmp_path / "outside" / "o.py")
        (root / "out").symlink_to(tmp_path / "outside")
        (root / "in.py").symlink_to("a.py")
        (root / "loop").symlink_to(".")
        (root / "broken").symlink_to("nowhere")
        walked = walk(root)
        assert [file.path for file in walked.files] == ["a.py", "sub/b.py"]
        assert walked.skipped == {"link inside the project": 3, "link out of the project": 2}
        assert read_text(root / "out.py") == Skip(Reason.SPECIAL)

    def test_pipes_and_sockets_are_never_opened(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, {"a.py": "x"})
        os.mkfifo(root / "pipe")
        monkeypatch.chdir(root)  # a socket's path must be short
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket")
            walked = walk(root)
        assert walked.skipped == {"not a regular file": 2}
        assert read_text(root / "pipe") == Skip(Reason.SPECIAL)

    def test_names_that_are_not_utf8_do_no_harm(self, root: Path) -> None:
        write(root, {"a.py": "x"})
        try:
            Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe.py")).write_text("x")
        except OSError:
            pytest.skip("the file system takes UTF-8 only")
        walked = walk(root)
        assert [file.path for file in walked.files] == ["a.py"]
        assert walked.skipped == {"name is not valid UTF-8": 1}
        assert walked.examples["name is not valid UTF-8"] == ("??.py",)

    def test_a_file_gone_since_the_walk(self, root: Path) -> None:
        assert read_text(root / "gone.py") == Skip(Reason.UNREADABLE)
        assert inspect(root / "gone.py") is Reason.UNREADABLE


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a\r\né\n".encode(), "a\r\né\n"),
        (b"\xef\xbb\xbfa\n", "a\n"),
        ("é\n".encode("utf-16"), "é\n"),
        (b"\xfe\xff" + "é\n".encode("utf-16-be"), "é\n"),
        ("é\n".encode("utf-32"), "é\n"),
        (b"caf\xe9 \x93x\x94\n", "café “x”\n"),
        (b"caf\xe9 \x81\n", "café \x81\n"),
        (("a" * 8191 + "é").encode(), "a" * 8191 + "é"),
    ],
)
def test_text_is_decoded(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert read_text(path) == text
    assert inspect(path) is None


class TestRoot:
    def test_what_cannot_be_a_project(self, root: Path, tmp_path: Path) -> None:
        write(root, {"a.py": "x"})
        (tmp_path / "bare" / ".git").mkdir(parents=True)
        (tmp_path / "loop").symlink_to("loop")
        for path, why in (
            (root / "a.py", "not a folder"),
            (root / "missing", "does not exist"),
            (tmp_path / "bare", "no files"),
            (tmp_path / "loop", "loop|levels"),
            ("/", "whole file system"),
            ("~", "home directory"),
            (tmp_path, "home directory"),
            ("/proc/self", "operating system"),
            ("", "empty"),
            ("a\0b", "null"),
            ("~nobody-of-that-name", "home"),
        ):
            with pytest.raises(InvalidPath, match=why) as caught:
                check_root(path)
            assert str(caught.value).startswith(f"Invalid path: {path} (")
            assert str(caught.value).endswith(")")
            assert caught.value.code == "INVALID_PATH"

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
    def test_an_unreadable_folder(self, root: Path) -> None:
        write(root, {"a.py": "x"})
        root.chmod(0)
        try:
            with pytest.raises(InvalidPath, match="may not be read"):
                walk(root)
        finally:
            root.chmod(0o700)

    def test_a_link_to_a_folder_is_that_folder(self, root: Path, tmp_path: Path) -> None:
        write(root, {"a.py": "x"})
        (tmp_path / "alias").symlink_to(root)
        assert walk(tmp_path / "alias").root == root


class TestProjectId:
    def test_it_is_readable_and_stays(self, tmp_path: Path) -> None:
        root = tmp_path / "My App"
        root.mkdir()
        first = project_id(root, {})
        assert first == "my-app"
        assert project_id(root, {"other": tmp_path}) == first

    def test_folders_of_one_name_do_not_collide(self, tmp_path: Path) -> None:
        one, two = tmp_path / "one" / "app", tmp_path / "two" / "app"
        one.mkdir(parents=True)
        two.mkdir(parents=True)
        second = project_id(two, {"app": one})
        assert second.startswith("app-")
        assert len(second) == len("app-") + 6
        assert project_id(one, {"app": one, second: two}) == "app"

    def test_a_known_folder_keeps_its_id(self, tmp_path: Path) -> None:
        root = tmp_path / "app"
        root.mkdir()
        (tmp_path / "alias").symlink_to(root)
        assert project_id(tmp_path / "alias", {"given": root}) == "given"

    def test_a_taken_id_gets_a_longer_ending(self, tmp_path: Path) -> None:
        root = tmp_path / "app"
        elsewhere = tmp_path / "elsewhere"
        short = project_id(root, {"app": elsewhere})
        longer = project_id(root, {"app": elsewhere, short: elsewhere})
        assert longer.startswith(short)
        assert len(longer) == len(short) + 1

    def test_a_name_without_letters_still_gives_an_id(self, tmp_path: Path) -> None:
        assert project_id(tmp_path / "...", {}) == "project"
