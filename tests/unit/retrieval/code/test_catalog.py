"""The catalog of code: where chunks stand, what they define, and who asks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.channels.arrays import load_arrays, save_arrays
from retrieval.code.catalog import CodeCatalog, Known
from retrieval.code.ranking import Entry
from retrieval.records import CodeChunk, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted, Embedded
from tests.builders import a_chunk, a_memory, an_entity, unit_vector

HOME = Scope("engine")
HERE = Checkpoint("db", 7)


def placed(row: int, **fields: Any) -> CodeChunk:
    return a_chunk(f"content {row}", row=row, **fields)


def put(catalog: CodeCatalog, *chunks: CodeChunk) -> None:
    catalog.apply([Change(1, chunk) for chunk in chunks])


def drop(catalog: CodeCatalog, *rows: int) -> None:
    catalog.apply([Change(2, Deleted("chunks", "gone", row)) for row in rows])


def rows(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


def named(catalog: CodeCatalog, name: str, scope: Scope = HOME, language: str | None = None) -> list[int]:
    found: list[int] = catalog.view(scope, language).named(name).tolist()
    return found


def in_files(catalog: CodeCatalog, stem: str, scope: Scope = HOME) -> list[int]:
    found: list[int] = catalog.view(scope).in_files(stem).tolist()
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "code" / "catalog.arrays"


@pytest.fixture
def catalog(path: Path) -> CodeCatalog:
    return CodeCatalog.open(path)


def reopened(catalog: CodeCatalog, path: Path) -> CodeCatalog:
    catalog.save(HERE)
    catalog.close()
    return CodeCatalog.open(path)


def test_an_empty_catalog(catalog: CodeCatalog) -> None:
    assert (catalog.name, catalog.checkpoint) == ("catalog of chunks", None)
    assert catalog.living().tolist() == []
    assert catalog.file("app", "src/app.py") == []
    assert catalog.paths("app") == []
    assert named(catalog, "run") == []


def test_what_is_known_of_a_chunk(catalog: CodeCatalog) -> None:
    chunk = placed(
        3, path="lib/Router.rb", language="ruby", chunk_type="method", name="Call", breadcrumb="Rack.Router",
        start_line=4, end_line=9,
    )  # fmt: skip
    put(catalog, chunk)
    assert catalog.entries(rows(3)) == [
        Entry(3, "lib/Router.rb", "ruby", "method", "Call", "Rack.Router", 4, 9)
    ]
    assert catalog.ids(rows(3)) == [chunk.id]
    assert catalog.digests(rows(3)) == [chunk.digest]
    assert catalog.projects(rows(3)) == ["app"]


def test_a_file_is_in_the_order_of_its_lines(catalog: CodeCatalog) -> None:
    later, earlier = placed(0, start_line=9, end_line=12), placed(1, start_line=1, end_line=8)
    put(catalog, later, earlier, placed(2, path="other.py"))
    known = [
        Known(earlier.id, 1, earlier.digest, 1, 8, "python", "function"),
        Known(later.id, 0, later.digest, 9, 12, "python", "function"),
    ]
    assert catalog.file("app", "src/app.py") == known


def test_files_of_two_projects_are_two(catalog: CodeCatalog) -> None:
    put(catalog, placed(0), placed(1, project="other"))
    assert [known.row for known in catalog.file("other", "src/app.py")] == [1]
    assert (catalog.paths("app"), catalog.paths("nobody")) == (["src/app.py"], [])


def test_a_path_that_is_also_a_project_or_a_name(catalog: CodeCatalog) -> None:
    put(catalog, placed(0, project="app", path="app", name="app", breadcrumb="app", language="app"))
    assert [known.row for known in catalog.file("app", "app")] == [0]
    assert named(catalog, "app", Scope("engine", "app"), "app") == [0]


def test_a_view_is_of_a_space_a_project_and_a_language(catalog: CodeCatalog) -> None:
    put(
        catalog,
        placed(0),
        placed(1, project="other"),
        placed(2, language="rust"),
        placed(3, space="memento"),
    )
    everywhere = catalog.living()

    def seen(scope: Scope, language: str | None = None) -> list[int]:
        found: list[int] = everywhere[catalog.view(scope, language).allowed(everywhere)].tolist()
        return found

    assert seen(HOME) == [0, 1, 2]
    assert seen(Scope("engine", "app")) == [0, 2]
    assert seen(Scope("engine", "app"), "rust") == [2]
    assert seen(HOME, "python") == [0, 1]
    assert seen(Scope("memento")) == [3]
    assert seen(Scope("nowhere")) == []
    assert seen(HOME, "cobol") == []
    assert seen(Scope("engine", "nobody")) == []


def test_a_view_tells_the_code_itself_from_what_supports_it(catalog: CodeCatalog, path: Path) -> None:
    put(
        catalog,
        placed(0, path="src/app.py"),
        placed(1, path="tests/test_app.py"),
        placed(2, path="README.md", language="markdown"),
        placed(3, path="src/app.py", project="other"),
    )
    for one in (catalog, reopened(catalog, path)):
        view = one.view(Scope("engine", "app"))
        assert view.core(one.living()).tolist() == [True, False, False, False]
        assert view.allowed(one.living()).tolist() == [True, True, True, False]


def test_files_of_two_projects_are_two_in_a_view_of_all(catalog: CodeCatalog) -> None:
    put(catalog, placed(0), placed(1, project="other"))
    assert [entry.path for entry in catalog.view(HOME).entries(rows(0, 1))] == [
        "app/src/app.py",
        "other/src/app.py",
    ]
    (entry,) = catalog.view(Scope("engine", "other")).entries(rows(1))
    assert entry.path == "src/app.py"


def test_rows_of_a_project(catalog: CodeCatalog) -> None:
    put(catalog, placed(0), placed(2, project="other"), placed(5))
    assert catalog.rows_of(Scope("engine", "app")).tolist() == [0, 5]
    assert catalog.rows_of(HOME).tolist() == [0, 2, 5]
    assert catalog.rows_of(Scope("engine", "nobody")).tolist() == []


def test_definitions_are_found_by_folded_names(catalog: CodeCatalog) -> None:
    put(catalog, placed(0, name="Plug.Conn"), placed(1, name="LIMIT, retries, …"), placed(2, name="conn"))
    assert named(catalog, "conn") == [0, 2]
    assert named(catalog, "plug.conn") == [0]
    assert named(catalog, "retries") == [1]
    assert named(catalog, "Conn") == []


def test_definitions_outside_of_the_view_are_not_found(catalog: CodeCatalog) -> None:
    put(catalog, placed(0, name="run"), placed(1, name="run", project="other"))
    assert named(catalog, "run", Scope("engine", "other")) == [1]
    assert named(catalog, "run", language="rust") == []


@pytest.mark.parametrize(
    ("path_of_file", "stem"),
    [
        ("src/Router.py", "router"),
        ("a/router.test.ts", "router"),
        ("x/.eslintrc.js", "eslintrc"),
        ("Make", "make"),
    ],
)
def test_files_are_found_by_folded_stems(catalog: CodeCatalog, path_of_file: str, stem: str) -> None:
    put(catalog, placed(0, path=path_of_file), placed(1, path=path_of_file), placed(2, path="other.py"))
    assert in_files(catalog, stem) == [0, 1]
    assert in_files(catalog, stem, Scope("engine", "nobody")) == []


def test_a_moved_chunk_has_its_new_lines(catalog: CodeCatalog) -> None:
    put(catalog, placed(0, name="run"), placed(0, name="run", start_line=7, end_line=8))
    assert [(known.start_line, known.end_line) for known in catalog.file("app", "src/app.py")] == [(7, 8)]
    assert named(catalog, "run") == [0]


def test_what_is_dropped_is_found_nowhere(catalog: CodeCatalog) -> None:
    put(catalog, placed(0, name="run"), placed(1, name="run"))
    drop(catalog, 0)
    assert catalog.living().tolist() == [1]
    assert named(catalog, "run") == [1]
    assert in_files(catalog, "app") == [1]
    drop(catalog, 1, 1, 99)
    assert catalog.paths("app") == []
    assert (named(catalog, "run"), in_files(catalog, "app")) == ([], [])
    assert catalog.view(HOME).allowed(rows(0, 1)).tolist() == [False, False]


def test_a_dropped_row_has_no_id(catalog: CodeCatalog) -> None:
    """Whoever compares an id that it had before learns that the chunk is gone."""
    put(catalog, placed(0), placed(1))
    drop(catalog, 0)
    assert catalog.ids(rows(0, 1)) == ["", placed(1).id]


def test_rows_that_never_were_have_no_id(catalog: CodeCatalog) -> None:
    """A catalog may have been cleared since the rows were found."""
    assert catalog.ids(rows(0, 5_000)) == ["", ""]
    put(catalog, placed(2))
    assert catalog.ids(rows(0, 2, 5_000)) == ["", placed(2).id, ""]


def test_a_chunk_may_return_under_another_row(catalog: CodeCatalog) -> None:
    put(catalog, placed(0, name="run"))
    drop(catalog, 0)
    chunk = a_chunk("content 0", row=1, name="run")
    put(catalog, chunk)
    assert [(known.id, known.row) for known in catalog.file("app", "src/app.py")] == [(chunk.id, 1)]
    assert (named(catalog, "run"), in_files(catalog, "app")) == ([1], [1])


def test_other_records_are_none_of_its_business(catalog: CodeCatalog) -> None:
    put(catalog, placed(0))
    catalog.apply(
        [
            Change(1, a_memory(row=1)),
            Change(2, an_entity(row=0)),
            Change(3, Deleted("memories", "m", 0)),
            Change(4, Embedded("chunks", 0), unit_vector()),
        ]
    )
    assert catalog.living().tolist() == [0]


def test_it_grows(catalog: CodeCatalog) -> None:
    put(catalog, *(placed(row, path=f"f{row % 7}.py", name=f"n{row}") for row in range(3_000)))
    assert len(catalog.living()) == 3_000
    assert named(catalog, "n2999") == [2_999]
    assert len(catalog.file("app", "f3.py")) == len(range(3, 3_000, 7))


def test_everything_survives_a_reopening(catalog: CodeCatalog, path: Path) -> None:
    chunks = [
        placed(0, name="Grüße", path="Zoë/ключ.py"), placed(1, language="rust"), placed(2, space="memento"),
        placed(4, project="other", name="run"),
    ]  # fmt: skip
    put(catalog, *chunks, placed(3, name="run"))
    drop(catalog, 3)
    again = reopened(catalog, path)
    assert again.checkpoint == HERE
    assert again.living().tolist() == [0, 1, 2, 4]
    for row in (rows(0), rows(1), rows(2), rows(4)):
        assert again.entries(row) == catalog.entries(row)
        assert again.ids(row) == catalog.ids(row)
        assert again.digests(row) == catalog.digests(row)
    assert (named(again, "grüße"), named(again, "run"), in_files(again, "ключ")) == ([0], [4], [0])
    assert again.file("app", "Zoë/ключ.py") == catalog.file("app", "Zoë/ключ.py")


def test_a_reopened_catalog_takes_in_more(catalog: CodeCatalog, path: Path) -> None:
    put(catalog, placed(0, name="run"))
    again = reopened(catalog, path)
    put(again, placed(1, name="stop", path="new.py"))
    drop(again, 0)
    assert (named(again, "run"), named(again, "stop"), again.paths("app")) == ([], [1], ["new.py"])


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a\nb"], ids=["nul", "half a character", "two lines"])
def test_awkward_texts_survive_a_reopening(catalog: CodeCatalog, path: Path, name: str) -> None:
    put(catalog, placed(0, name=name, path="last.py"))
    again = reopened(catalog, path)
    assert again.entries(rows(0)) == catalog.entries(rows(0))


def test_an_empty_catalog_survives_a_reopening(catalog: CodeCatalog, path: Path) -> None:
    again = reopened(catalog, path)
    assert again.checkpoint == HERE
    put(again, placed(0, name=""))
    assert reopened(again, path).paths("app") == ["src/app.py"]


def test_what_was_not_saved_is_not_there(catalog: CodeCatalog, path: Path) -> None:
    put(catalog, placed(0))
    catalog.save(HERE)
    put(catalog, placed(1))
    assert CodeCatalog.open(path).living().tolist() == [0]


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "truncated":
        path.write_bytes(data[:-1])
    elif how == "flipped":
        data[len(data) // 2] ^= 4
        path.write_bytes(data)
    elif how == "foreign":
        save_arrays(path, HERE, {"vectors": np.zeros((2, 2))})
    elif how == "another shape":
        loaded = load_arrays(path)
        assert loaded is not None
        save_arrays(path, HERE, {**loaded[1], "path": np.zeros(3, np.int32)})
    elif how == "a folder":
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize("how", ["truncated", "flipped", "foreign", "another shape", "a folder"])
def test_a_damaged_catalog_starts_empty(catalog: CodeCatalog, path: Path, how: str) -> None:
    put(catalog, *(placed(row, name="run") for row in range(20)))
    catalog.save(HERE)
    damage(path, how)
    again = CodeCatalog.open(path)
    assert again.checkpoint is None
    assert again.living().tolist() == []
    put(again, placed(0, name="run"))
    assert named(again, "run") == [0]


def test_clearing_forgets_in_memory_and_on_disk(catalog: CodeCatalog, path: Path) -> None:
    put(catalog, placed(0, name="run"))
    catalog.save(HERE)
    catalog.clear()
    assert catalog.checkpoint is None
    assert (catalog.living().tolist(), named(catalog, "run"), catalog.paths("app")) == ([], [], [])
    assert CodeCatalog.open(path).checkpoint is None
