"""kill -9 amid an index: it goes on by itself, nothing twice, nothing half, every index right afterwards."""

import json
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import indexer.embedding
import indexer.pipeline
import indexer.removal
import memory_mcp.engine.projects
import retrieval.code.indexes
import retrieval.indexes
from memory_mcp.engine.engine import Engine, open_engine
from retrieval.code.document import embedded_text
from retrieval.records import CodeChunk
from retrieval.store.store import Store
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC, an_encoder, some_settings
from tests.contract.harness import Lines, until
from tests.contract.test_code import write_many
from tests.fakes import HashModel
from tests.faults.indexing import an_encoder_that, in_small_steps, settle
from tests.faults.test_kill import Line, after, busy
from tests.faults.writer import unique_word

ROOT = Path(__file__).parents[2]
KINDS = ("parsing", "embedding", "saving", "resuming", "opening")


@dataclass
class Chain:
    """One project, and one data directory through many kills."""

    root: Path
    chance: random.Random
    number: int = 0
    is_open: bool = False
    """Whether the database says that the project is being indexed."""
    stored: set[str] = field(default_factory=set)
    """Digests that have a vector in the database."""
    seen: Counter[str] = field(default_factory=Counter)

    @property
    def folder(self) -> Path:
        return self.root / "app"

    def round(self, kind: str) -> None:
        """Change the project, run, kill; every other time look at what is left, so that kills add up."""
        self.edit()
        if kind == "resuming":
            self.kill_one("parsing")
        self.kill_one(kind)
        if self.chance.random() < 0.5:
            self.check()

    def edit(self) -> None:
        """Write, change, move and delete some files."""
        files = sorted(self.folder.rglob("*.py"))
        for file in self.chance.sample(files, min(len(files), 3)):
            match self.chance.choice(("write", "shift", "delete", "move")):
                case "write":
                    self.write(file)
                case "shift":
                    file.write_text("# a line before\n\n" + file.read_text())
                case "delete":
                    file.unlink()
                case "move":
                    self.number += 1
                    file.rename(file.with_name(f"moved_{self.number}.py"))
        for _ in range(8 if files else 24):
            self.write(self.folder / f"part{self.number % 3}" / f"module_{self.number}.py")

    def write(self, file: Path) -> None:
        functions = []
        for _ in range(self.chance.randint(1, 5)):
            self.number += 1
            word = unique_word(self.number)
            functions.append(
                f'def {word}(value):\n    """The {word} of a sharedk value."""\n    return value\n'
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n\n".join(functions))

    def kill_one(self, kind: str) -> None:
        """Let a process work for a while."""
        chance = self.chance
        task = {"resuming": "resume", "deleting": "delete"}.get(kind, "index")
        save_after = 2 if kind == "saving" else 100_000
        name, most, spin = {
            "parsing": (chance.choice(("begin", "done")), 8, 0.01),
            "embedding": ("embedded", 4, 0.01),
            "saving": ("done", 20, 0.02),
            "resuming": (chance.choice(("opened", "begin", "done", "embedded")), 4, 0.05),
            "opening": ("opening", 1, 0.20),
            "deleting": ("deleting", 1, 0.05),
        }[kind]
        reached = after(name, most, chance)
        command = [sys.executable, "-m", "tests.faults.indexing", str(self.root / "data"), str(self.folder)]
        with subprocess.Popen(
            [*command, task, str(save_after)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            lines: list[Line] = []
            for text in process.stdout:
                lines.append(json.loads(text))
                if reached(lines[-1]):
                    busy(chance.random() * spin)
                    break
            process.send_signal(signal.SIGKILL)
            lines += [json.loads(text) for text in process.stdout if text.endswith("\n")]
            code = process.wait(60)
            assert code in (-signal.SIGKILL, 0), process.stderr.read()
        self.seen[f"{kind}: {'killed' if code else 'finished before'}"] += 1
        self.enter(lines)

    def enter(self, lines: list[Line]) -> None:
        """What the process read was not stored before; take down what is."""
        self.note_embedded([digest for line in lines for digest in line.get("embedded", ())])
        self.look()

    def note_embedded(self, digests: list[str]) -> None:
        assert not set(digests) & self.stored, "embedded though its vector was stored"
        assert len(digests) == len(set(digests)), "embedded twice"

    def look(self) -> None:
        """Take down what is in the database, which nobody has opened yet."""
        store = Store.open(self.root / "data" / "database")
        try:
            self.stored = {key.id[0] for key in store._db.run("SELECT VALUE id FROM code_vectors")[0]}
            self.is_open = any(project.status == "indexing" for project in store.code.projects())
        finally:
            store.close()

    def check(self) -> None:
        """It goes on by itself, and in the end there is what a first index of the folder would have."""
        read: list[str] = []
        engine = open_engine(some_settings(self.root / "data"), encoder=an_encoder_that(read.extend))
        try:
            settle(engine)
            if not self.is_open:  # it was killed before it began, or after the end
                engine.projects.index(str(self.folder))
                settle(engine)
            status = engine.projects.status("app")
            assert (status.status, status.percent) == ("completed", 100.0)
            assert status.indexed_files == status.total_files == len(list(self.folder.rglob("*.py")))
            self.note_embedded(read)
            chunks = chunks_of(engine)
            assert chunks == self.expected()
            assert status.total_chunks == len(chunks)
            assert_agreement(engine._store, engine._indexes, MODEL, self.root)
            check_vectors(engine, chunks)
            for chunk in filter(_is_named, chunks.values()):
                found = engine.code.search(chunk.name, 5)
                assert found[0].chunk.id == chunk.id
                assert not found[0].is_stale
        finally:
            engine.close()
        self.look()

    def expected(self) -> dict[str, CodeChunk]:
        """The chunks of a fresh index."""
        engine = open_engine(some_settings(self.root / "fresh"), encoder=an_encoder())
        try:
            engine.wait(60)
            engine.projects.index(str(self.folder))
            return chunks_of(engine)
        finally:
            engine.close()
            shutil.rmtree(self.root / "fresh")


def _is_named(chunk: CodeChunk) -> bool:
    return chunk.name != ""


def chunks_of(engine: Engine) -> dict[str, CodeChunk]:
    """Every chunk by its id, without its row."""
    found = [chunk for page in engine._store.scan("chunks") for chunk in page]
    chunks = {chunk.id: replace(chunk, row=-1) for chunk in found if isinstance(chunk, CodeChunk)}
    assert len(chunks) == len(found)
    return chunks


def check_vectors(engine: Engine, chunks: dict[str, CodeChunk]) -> None:
    texts = {
        chunk.digest: embedded_text(chunk.breadcrumb, chunk.name, chunk.content) for chunk in chunks.values()
    }
    vectors = engine._store.code.vectors(texts, MODEL)
    expected = HashModel(SPEC.dimensions).embed(list(texts.values()))
    assert vectors.keys() == texts.keys()
    for digest, vector in zip(texts, expected, strict=True):
        assert vectors[digest].tobytes() == vector.tobytes()


@pytest.fixture
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chain]:
    for module, name in (
        (indexer.pipeline, "BATCH_CHUNKS"),
        (indexer.embedding, "BATCH"),
        (indexer.embedding, "STRETCH"),
        (indexer.removal, "AT_ONCE"),
        (memory_mcp.engine.projects, "ALONE_SECONDS"),
        (retrieval.indexes, "Dense"),
        (retrieval.code.indexes, "Dense"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))  # so that it is put back
    in_small_steps()
    made = Chain(tmp_path, random.Random())
    made.folder.mkdir()
    yield made
    sys.stderr.write(f"{dict(sorted(made.seen.items()))}\n")


def test_killed_in_every_part_of_an_index(chain: Chain) -> None:
    for kind in KINDS:
        chain.round(kind)
    chain.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_killed_amid_indexes_again_and_again(chain: Chain, seed: int) -> None:
    """120 rounds in all. The seed decides what is written and where the kill is aimed; the rest is chance."""
    chain.chance = random.Random(seed)
    kinds = [*KINDS, *chain.chance.choices(KINDS[:4], k=7)]
    chain.chance.shuffle(kinds)
    for kind in kinds:
        chain.round(kind)
    chain.check()


def test_a_delete_that_was_killed_can_be_done_again(chain: Chain) -> None:
    chain.edit()
    chain.check()
    chain.kill_one("deleting")
    engine = open_engine(some_settings(chain.root / "data"), encoder=an_encoder())
    try:
        settle(engine)
        assert_agreement(engine._store, engine._indexes, MODEL, chain.root)
        left = len(chunks_of(engine))
        for project in engine.projects.all():
            assert engine.projects.delete(project.id) == left
        assert chunks_of(engine) == {}
        assert engine.projects.all() == []
        assert_agreement(engine._store, engine._indexes, MODEL, chain.root)
    finally:
        engine.close()
    chain.look()
    chain.check()


def test_a_project_that_was_half_deleted_does_not_pass_for_complete(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.edit()
    chain.check()
    engine = open_engine(some_settings(chain.root / "data"), encoder=an_encoder())
    settle(engine)
    before = len(chunks_of(engine))
    write = engine._store.code.write_files
    left = iter((True, True))

    def killed(*args: Any) -> Any:
        if next(left, None) is None:
            raise SystemExit
        return write(*args)

    monkeypatch.setattr(engine._store.code, "write_files", killed)
    with pytest.raises(SystemExit):
        engine.projects.delete("app")
    engine.close()
    engine = open_engine(some_settings(chain.root / "data"), encoder=an_encoder())
    try:
        settle(engine)
        for project in engine.projects.all():
            assert project.status != "completed" or len(chunks_of(engine)) == before
    finally:
        engine.close()


# Leaving in order


def test_an_index_that_is_closed_amid_goes_on_at_the_next_start(chain: Chain) -> None:
    chain.edit()
    reached, go_on = threading.Event(), threading.Event()
    engine = open_engine(some_settings(chain.root / "data"), encoder=an_encoder())
    engine.wait(60)

    def report(done: int, total: int) -> None:
        if done == total // 2:
            reached.set()
            go_on.wait(60)

    with ThreadPoolExecutor() as pool:
        indexing = pool.submit(engine.projects.index, str(chain.folder), report=report)
        assert reached.wait(60)
        closing = pool.submit(engine.close)
        until(engine.projects._closing.is_set)
        go_on.set()
        closing.result(60)
        indexing.exception(60)
    chain.look()
    assert chain.is_open
    chain.check()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_amid_an_index_is_a_good_end_and_it_goes_on_at_the_next_start(tmp_path: Path) -> None:
    """The real server; the vectors are being made."""
    chain = Chain(tmp_path, random.Random())
    for _ in range(6):
        chain.edit()
    files = len(list(chain.folder.rglob("*.py")))
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()
        indexed = lines.call("index_project", path=str(chain.folder)).structured_content
        assert isinstance(indexed, dict)
        assert indexed["files_indexed"] == files
        lines.process.send_signal(signal.SIGTERM)
        assert lines.ended() == 0
        assert lines.errors == b""
    chain.look()
    assert chain.is_open
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()

        def completed() -> bool:
            status = lines.call("get_index_status", project_id="app").structured_content
            assert isinstance(status, dict)
            assert status["total_chunks"] == indexed["chunks_created"]
            return bool(status["status"] == "completed" and status["indexed_files"] == files)

        until(completed)
        assert lines.leave() == 0
        assert lines.errors == b""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_amid_a_long_parse_is_a_good_end(tmp_path: Path) -> None:
    """It takes longer than calls are waited for."""
    folder = write_many(tmp_path / "app", files=800, functions=40)
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()
        call = {"name": "index_project", "arguments": {"path": str(folder)}, "_meta": {"progressToken": 1}}
        lines.post("tools/call", call)
        assert lines.reply()["params"]["progress"] < 800
        lines.process.send_signal(signal.SIGTERM)
        assert lines.ended() == 0
        assert lines.errors == b""
    with Lines(tmp_path / "data") as lines:
        lines.shake_hands()

        def parsed() -> bool:
            status = lines.call("get_index_status", project_id="app").structured_content
            assert isinstance(status, dict)
            assert status["status"] == "indexing"
            return bool(status["total_chunks"] == 32_000)

        until(parsed, every=0.5)
        assert lines.leave() == 0
        assert lines.errors == b""
