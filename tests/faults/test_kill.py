"""kill -9 at any moment: no acknowledged write lost, no half of one kept, every index right afterwards."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import retrieval.indexes
from memory_mcp.engine.engine import Engine, open_engine
from retrieval.records import Entity, Memory, Relation
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC, an_encoder, some_settings
from tests.fakes import HashModel
from tests.faults.writer import SmallDense, moment, unique_word

ROOT = Path(__file__).parents[2]
KINDS = ("writing", "saving", "opening", "catching up", "closing")
PARTS = ("catalog.arrays", "dense.arrays", "lexical", "graph")

Line = dict[str, Any]


@dataclass
class Ledger:
    """What has been acknowledged, so what must be there."""

    memories: dict[str, Memory] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    number: int = 0

    def take(self, begin: Line, done: Any) -> None:
        """Enter an operation whose outcome is known."""
        now = moment(begin["number"])
        key: str = begin.get("id", "")
        match begin["begin"]:
            case "store":
                for content, (new, row) in zip(begin["contents"], done, strict=True):
                    self.memories[new] = stored(new, row, content, begin["number"])
            case "update":
                self.memories[key] = replace(self.memories[key], content=begin["content"], updated_at=now)
            case "retype":
                metadata = {"n": begin["number"]}
                self.memories[key] = replace(
                    self.memories[key], memory_type="procedural", metadata=metadata, updated_at=now
                )
            case "delete":
                del self.memories[key]
            case "invalidate":
                before = self.memories[key]
                self.memories[key] = replace(
                    before,
                    valid_until=before.valid_until or now,
                    invalidation_reason=f"operation {begin['number']}",
                    updated_at=now,
                )
            case "entity":
                new, row = done
                self.entities[new] = Entity(new, row, begin["name"], None, None, "engine", None, now)
            case "relation":
                self.relations[done] = Relation(
                    done, begin["near"], begin["far"], f"relation{begin['number']}", 0.5, "engine", None, now
                )

    def settle(self, begin: Line, there: "Ledger") -> bool:
        """An operation was in flight: find out whether it took place, and enter it, as a whole, if it did."""
        match begin["begin"]:
            case "store":
                fresh = {m.content: m for key, m in there.memories.items() if key not in self.memories}
                if not fresh:
                    return False
                assert fresh.keys() == set(begin["contents"]), "half of a batch"
                self.take(begin, [(fresh[content].id, fresh[content].row) for content in begin["contents"]])
            case "entity":
                keys = there.entities.keys() - self.entities.keys()
                for key in keys:
                    self.take(begin, (key, there.entities[key].row))
                return bool(keys)
            case "relation":
                keys = there.relations.keys() - self.relations.keys()
                for key in keys:
                    self.take(begin, key)
                return bool(keys)
            case _:  # a memory that is still as it was, or changed, or gone
                if there.memories.get(begin["id"]) == self.memories[begin["id"]]:
                    return False
                self.take(begin, None)
        return True

    @classmethod
    def of(cls, engine: Engine) -> "Ledger":
        """What is there."""

        def table(name: Any) -> dict[str, Any]:
            return {record.id: record for page in engine._store.scan(name) for record in page}

        return cls(table("memories"), table("entities"), table("relations"))


def stored(key: str, row: int, content: str, number: int) -> Memory:
    now = moment(number)
    return Memory(
        id=key, row=row, content=content, memory_type="semantic", space="engine", user_id=None,
        metadata={"n": number}, importance=1.0, event_time=now, ingestion_time=now, updated_at=now,
        valid_from=now,
    )  # fmt: skip


@dataclass
class Chain:
    """One data directory through many kills."""

    root: Path
    chance: random.Random
    ledger: Ledger = field(default_factory=Ledger)
    seen: Counter[str] = field(default_factory=Counter)

    def round(self, kind: str) -> None:
        """Run, kill, and look at what is left; every other time at a copy, so that kills add up."""
        if kind == "catching up":
            self.damage()
        begin = self.kill_one(kind)
        folder = self.root / "data"
        if copied := self.chance.random() < 0.5:
            folder = self.root / "copy"
            shutil.copytree(self.root / "data", folder)
        self.check(folder, begin)
        if copied:
            shutil.rmtree(folder)

    def damage(self) -> None:
        """Take away one index, or all, so that there is something to catch up with."""
        folder = self.root / "data" / "indexes"
        for part in self.chance.sample(PARTS, self.chance.choice((1, 1, 4))):
            path = folder / part
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def kill_one(self, kind: str) -> Line | None:
        """Let a writer live for a while; returns the operation that was in flight, if any."""
        chance = self.chance
        count = {"closing": 4, "opening": 0, "catching up": 0}.get(kind, 60)
        save_after = 2 if kind == "saving" else 100_000
        reached, spin = {
            "writing": (after(*chance.choice((("begin", 40), ("done", 40))), chance), 0.006),
            "saving": (after("saving", 12, chance), 0.010),
            "opening": (after("opening", 1, chance), 0.080),
            "catching up": (after("opened", 1, chance), 0.030),
            "closing": (after("closing", 1, chance), 0.030),
        }[kind]
        command = [
            sys.executable,
            "-m",
            "tests.faults.writer",
            str(self.root / "data"),
            str(chance.randrange(10**9)),
        ]
        command += [str(self.ledger.number), str(count), str(save_after)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
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
        return self.enter(lines)

    def enter(self, lines: list[Line]) -> Line | None:
        """Enter what was acknowledged."""
        begin: Line | None = None
        for line in lines:
            if "begin" in line:
                assert begin is None
                begin = line
                self.ledger.number = line["number"] + 1
            elif "done" in line:
                assert begin is not None
                self.ledger.take(begin, line["done"])
                begin = None
        return begin

    def check(self, folder: Path, begin: Line | None) -> None:
        """Everything is there, nothing else is, and everything agrees."""
        now = moment(self.ledger.number)
        engine = open_engine(some_settings(folder), encoder=an_encoder(), now=lambda: now)
        try:
            engine.wait(60)
            assert engine.status().rebuilding is None
            there = Ledger.of(engine)
            if begin is not None:
                kept = self.ledger.settle(begin, there)
                self.seen[f"in flight: {'kept' if kept else 'lost'}"] += 1
            assert there.memories == self.ledger.memories
            assert there.entities == self.ledger.entities
            assert there.relations == self.ledger.relations
            self.check_vectors(engine)
            assert_agreement(engine._store, engine._indexes, MODEL, self.root)
            self.check_searches(engine)
        finally:
            engine.close()

    def check_vectors(self, engine: Engine) -> None:
        memories = list(self.ledger.memories.values())
        expected = HashModel(SPEC.dimensions).embed([memory.content for memory in memories])
        vectors = engine._store.vectors(list(self.ledger.memories), MODEL)
        for memory, vector in zip(memories, expected, strict=True):
            assert vectors[memory.id].tobytes() == vector.tobytes(), memory.content

    def check_searches(self, engine: Engine) -> None:
        for memory in self.ledger.memories.values():
            word = memory.content.split()[0]
            valid = memory.valid_until is None
            by_words = [found.memory.id for found in engine.questions.search_text(word, 50).found]
            assert (memory.id in by_words) is valid
            by_meaning = [
                f.memory.id for f in engine.questions.search(memory.content, 50).found if f.hit.score > 0.999
            ]
            assert (memory.id in by_meaning) is valid
        gone = unique_word(self.ledger.number + 1)
        assert engine.questions.search_text(gone).found == ()


def after(name: str, most: int, chance: random.Random) -> Callable[[Line], bool]:
    """Whether a line is the one to wait for: one of the first few of its kind."""
    left = [chance.randint(1, most)]

    def reached(line: Line) -> bool:
        if name in line or line.get("event") == name:
            left[0] -= 1
        return left[0] <= 0

    return reached


def busy(seconds: float) -> None:
    """Pass a moment without giving up the processor, so that it is as short as asked for."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@pytest.fixture
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chain]:
    monkeypatch.setattr(retrieval.indexes, "Dense", SmallDense)
    made = Chain(tmp_path, random.Random())
    yield made
    sys.stderr.write(f"{dict(sorted(made.seen.items()))}\n")


def test_killed_in_every_part_of_its_life(chain: Chain) -> None:
    for kind in KINDS:
        chain.round(kind)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_killed_again_and_again(chain: Chain, seed: int) -> None:
    """120 rounds in all. The seed decides what is written and where the kill is aimed; the rest is chance."""
    chain.chance = random.Random(seed)
    kinds = [*KINDS, *chain.chance.choices(KINDS[:2], k=5)]
    chain.chance.shuffle(kinds)
    for kind in kinds:
        chain.round(kind)


# Leaving in order

LEAVE = {
    "at once": "engine = open_engine(settings, encoder=an_encoder()); engine.close()",
    "after a write": (
        "engine = open_engine(settings, encoder=an_encoder()); engine.wait(60)\n"
        "engine.memories.store(Draft('x')); engine.close()"
    ),
    "after questions": (
        "engine = open_engine(settings, encoder=an_encoder()); engine.wait(60)\n"
        "engine.memories.store(Draft('x')); engine.questions.recall('x'); engine.close()"
    ),
    "while the real model loads": "engine = open_engine(replace(settings, model='minilm')); engine.close()",
    "after the real model worked": (
        "engine = open_engine(replace(settings, model='minilm')); engine.wait(60)\n"
        "engine.memories.store(Draft('x')); engine.questions.recall('x'); engine.close()"
    ),
}
PREPARE = (
    "import sys; from dataclasses import replace; from pathlib import Path\n"
    "from memory_mcp.engine.engine import open_engine; from memory_mcp.engine.memories import Draft\n"
    "from tests.builders import an_encoder, some_settings\n"
    "settings = some_settings(Path(sys.argv[1]))\n"
)


@pytest.mark.parametrize("way", LEAVE)
def test_the_process_ends_with_nought_right_after_closing(tmp_path: Path, way: str) -> None:
    def leave(number: int) -> tuple[int, str]:
        script = PREPARE + LEAVE[way]
        command = [sys.executable, "-W", "error", "-c", script, str(tmp_path / str(number // 2))]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
        return result.returncode, result.stderr

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # two folders, each opened twice
        ends = [end for turn in (0, 1) for end in pool.map(leave, (turn, turn + 2))]
    assert ends == [(0, "")] * 4
