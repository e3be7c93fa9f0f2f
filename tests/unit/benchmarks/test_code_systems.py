"""Do the systems that take part answer with places of the folder they were given?"""

import sys
from pathlib import Path

import pytest

from benchmarks.code_bm25 import over_chunks, over_windows
from benchmarks.code_search import measure, report
from benchmarks.code_semble import Semble
from benchmarks.code_systems import Place, System
from benchmarks.code_tasks import Repository, Target, Task

FAKE_SEMBLE = """
class SembleIndex:
    loaded_from_disk = False

    @classmethod
    def from_path(cls, root, model_path):
        print("a library that prints", root)
        self = cls()
        chunk = type("Chunk", (), {"file_path": "pkg/x.py", "start_line": 2, "end_line": 4})
        self.chunks = [chunk]
        self.stats = type("Stats", (), {"indexed_files": 1})
        return self

    def search(self, query, top_k):
        if query == "crash":
            raise ValueError("no such thing")
        return [type("Hit", (), {"chunk": chunk}) for chunk in self.chunks[:top_k]]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "repos" / "shop"
    (root / "src").mkdir(parents=True)
    filler = "".join(f"value_{number} = {number}\n" for number in range(60))
    (root / "src" / "prices.py").write_text(f"{filler}\ndef add_discount(price):\n    return price * 0.9\n")
    (root / "src" / "mail.py").write_text("def send_letter(to):\n    post(to)\n")
    (root / "README.md").write_text("A discount, a discount, a discount.\n")
    return root


@pytest.mark.parametrize("make", [over_windows, over_chunks])
def test_bm25_finds_the_lines_that_hold_the_words(make: type[System], project: Path) -> None:
    system = make()
    indexed = system.index(project / "src")
    best = system.search("where is the discount added to a price?", 10).places[0]
    assert best.path == "prices.py"
    assert best.start_line <= 62 <= best.end_line
    assert indexed.files == 2
    assert indexed.seconds > 0


@pytest.mark.parametrize("make", [over_windows, over_chunks])
def test_bm25_finds_nothing_where_no_word_occurs(make: type[System], project: Path) -> None:
    system = make()
    system.index(project)
    assert system.search("zeppelin", 10).places == []


@pytest.mark.parametrize("make", [over_windows, over_chunks])
def test_bm25_answers_where_nothing_is_written(make: type[System], tmp_path: Path) -> None:
    (tmp_path / "empty.py").touch()
    system = make()
    assert system.index(tmp_path).chunks == 0
    assert not system.search("anything", 10).places


@pytest.mark.parametrize("make", [over_windows, over_chunks])
def test_indexing_forgets_the_folder_before(make: type[System], project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("zeppelin = 1\n")
    (other / "b.py").write_text("balloon = 1\n")
    system = make()
    system.index(project)
    system.index(other)
    assert not system.search("discount", 10).places
    assert system.search("zeppelin", 10).places == [Place("a.py", 1, 1)]


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A Python that has a semble: this one's, with a path file in a virtual environment."""
    packages = tmp_path / "env" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    (tmp_path / "env" / "bin").mkdir()
    python = tmp_path / "env" / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    (packages / "semble" / "index").mkdir(parents=True)
    (packages / "semble" / "__init__.py").write_text(FAKE_SEMBLE)
    (packages / "semble" / "index" / "__init__.py").touch()
    (packages / "semble" / "index" / "dense.py").write_text("def load_model(path): pass\n")
    for name in ("semble", "model2vec", "semble_grammars", "numpy"):
        about = packages / f"{name}-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    return python


def test_semble_answers_from_its_own_environment(environment: Path, project: Path, tmp_path: Path) -> None:
    semble = Semble(environment, tmp_path)
    try:
        assert semble.about()["semble"] == "1.2"
        assert semble.index(project).chunks == 1
        assert semble.search("what?", 10).places == [Place("pkg/x.py", 2, 4)]
    finally:
        semble.close()


def test_what_semble_complained_of_is_told(environment: Path, project: Path, tmp_path: Path) -> None:
    semble = Semble(environment, tmp_path)
    try:
        semble.index(project)
        with pytest.raises(RuntimeError, match="no such thing"):
            semble.search("crash", 10)
    finally:
        semble.close()


def test_a_python_without_semble_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="No module named 'semble'"):
        Semble(Path(sys.executable), tmp_path)


def test_figures_are_taken_of_every_question(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = (
        Task("add discount", "symbol", (Target("src/prices.py", (62, 63)),)),
        Task("zeppelin", "semantic", (Target("src/mail.py"),)),
    )
    shop = Repository("shop", "python", "0" * 40, "src", tasks)
    runs = measure([over_windows(), over_chunks()], [shop], project.parent)
    report(runs)
    for run in runs:
        assert [one.ndcg for one in run.asked] == [1.0, 0.0]
        row = run.row()
        assert row["ndcg10_by_category"] == {"semantic": 0.0, "symbol": 1.0}
        assert [one["ranks"] for one in row["queries"]] == [[1], [None]]
        assert "zeppelin" not in str(row)
    assert "0.500" in capsys.readouterr().out
