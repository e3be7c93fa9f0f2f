"""The process that gets killed: writes at random and says what it is about to do, and what is done.

    python -m tests.faults.writer DATA_DIR SEED FIRST_NUMBER COUNT SAVE_AFTER

Every line is a JSON object. ``{"event": ...}`` tells where in its life the process is, ``{"begin": ...}``
announces an operation with everything needed to know its outcome, ``{"done": ...}`` acknowledges it.
"""

import json
import random
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import retrieval.indexes
from memory_mcp.engine.engine import Engine, open_engine
from memory_mcp.engine.memories import Draft
from retrieval.channels.dense import Dense
from tests.builders import NOW, an_encoder, some_settings

__all__ = ["SmallDense", "moment", "unique_word"]

SMALL = 25
"""Vectors above which this test's stores have a graph."""

OPERATIONS = (
    "store",
    "store",
    "store",
    "update",
    "update",
    "retype",
    "delete",
    "invalidate",
    "entity",
    "relation",
)
LINES = 100_000


class SmallDense(Dense):
    """The dense channel with a limit that a test reaches."""

    @classmethod
    def open(cls, path: Path, dimensions: int, *, table: str = "memories", exact_limit: int = SMALL) -> Self:
        return super().open(path, dimensions, table=table, exact_limit=exact_limit)


def unique_word(number: int) -> str:
    """A word for each number, of letters only."""
    letters = ""
    for _ in range(5):
        number, digit = divmod(number, 26)
        letters = chr(ord("a") + digit) + letters
    return f"{letters}k"


def moment(number: int) -> datetime:
    """The time at which operation ``number`` takes place."""
    return NOW + timedelta(seconds=number)


def say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Writer:
    """Random operations with a number each."""

    def __init__(self, engine: Engine, clock: list[datetime], chance: random.Random) -> None:
        self.engine = engine
        self.clock = clock
        self.chance = chance
        self.memories = [memory.id for memory in engine.memories.list(LINES, 0).memories]
        self.entities = [entity.id for page in engine._store.scan("entities") for entity in page]

    def step(self, number: int) -> None:
        self.clock[0] = moment(number)
        kind = self.chance.choice(OPERATIONS)
        if kind in ("update", "retype", "delete", "invalidate") and not self.memories:
            kind = "store"
        if kind == "relation" and len(self.entities) < 2:
            kind = "entity"
        done = getattr(self, kind)(number)
        say(done=done, number=number)

    def store(self, number: int) -> Any:
        count = self.chance.choice((1, 1, 1, 2, 5))
        contents = [f"{unique_word(number)} part{chr(97 + i)}k sharedk {'long ' * i}" for i in range(count)]
        say(begin="store", number=number, contents=contents)
        stored = self.engine.memories.store_many(
            [Draft(content, metadata={"n": number}) for content in contents]
        )
        self.memories += [memory.id for memory in stored]
        return [[memory.id, memory.row] for memory in stored]

    def update(self, number: int) -> Any:
        key = self.chance.choice(self.memories)
        content = f"{unique_word(number)} rewrittenk sharedk"
        say(begin="update", number=number, id=key, content=content)
        self.engine.memories.update(key, content=content)
        return key

    def retype(self, number: int) -> Any:
        key = self.chance.choice(self.memories)
        say(begin="retype", number=number, id=key)
        self.engine.memories.update(key, memory_type="procedural", metadata={"n": number})
        return key

    def delete(self, number: int) -> Any:
        key = self.memories.pop(self.chance.randrange(len(self.memories)))
        say(begin="delete", number=number, id=key)
        self.engine.memories.delete(key)
        return key

    def invalidate(self, number: int) -> Any:
        key = self.chance.choice(self.memories)
        say(begin="invalidate", number=number, id=key)
        self.engine.memories.invalidate(key, reason=f"operation {number}")
        return key

    def entity(self, number: int) -> Any:
        name = unique_word(self.chance.randrange(number + 1)).capitalize()  # some memories have that word
        say(begin="entity", number=number, name=name)
        entity = self.engine.knowledge.create_entity(name)
        self.entities.append(entity.id)
        return [entity.id, entity.row]

    def relation(self, number: int) -> Any:
        near, far = self.chance.sample(self.entities, 2)
        say(begin="relation", number=number, near=near, far=far)
        return self.engine.knowledge.create_relation(near, far, f"relation{number}", 0.5).id


def announce_saves(engine: Engine) -> None:
    """Say when an index is about to be written to disk."""
    for index in engine._indexes._followers():
        save: Callable[[Any], None] = index.save

        def announced(checkpoint: Any, save: Callable[[Any], None] = save, name: str = index.name) -> None:
            say(event="saving", index=name)
            save(checkpoint)

        index.save = announced  # type: ignore[method-assign]


def main(data_dir: str, seed: str, first: str, count: str, save_after: str) -> None:
    retrieval.indexes._SAVE_AFTER = int(save_after)
    setattr(retrieval.indexes, "Dense", SmallDense)  # noqa: B010  (a name it imports)
    clock = [moment(int(first))]
    say(event="opening")
    engine = open_engine(some_settings(Path(data_dir)), encoder=an_encoder(), now=lambda: clock[0])
    say(event="opened")
    engine.wait(60)
    announce_saves(engine)
    say(event="ready")
    writer = Writer(engine, clock, random.Random(int(seed)))
    for number in range(int(first), int(first) + int(count)):
        writer.step(number)
    say(event="closing")
    engine.close()
    say(event="closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
