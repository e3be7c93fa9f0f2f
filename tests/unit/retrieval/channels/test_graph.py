"""The graph follows the log: what is linked to what, and what stays after a restart."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from retrieval.channels.graph import Graph
from retrieval.records import Entity, Memory, Relation, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted, Follower
from retrieval.text.terms import spoken
from tests.builders import a_memory, a_relation, an_entity

Record = Memory | Entity | Relation | Deleted


@dataclass
class Phrases:
    """Stands for the lexical channel: which memories contain a phrase?"""

    memories: dict[int, Memory] = field(default_factory=dict)

    def __call__(self, phrase: str, scope: Scope) -> list[Memory]:
        wanted = f" {' '.join(spoken(phrase))} "
        return [
            memory
            for memory in self.memories.values()
            if memory.space == scope.space and wanted in f" {' '.join(spoken(memory.content))} "
        ]


class Written:
    """A graph and the phrase search beside it, both fed with the same records."""

    def __init__(self, folder: Path) -> None:
        self.phrases = Phrases()
        self.graph = Graph.open(folder, self.phrases)

    def write(self, *records: Record) -> None:
        for record in records:
            if isinstance(record, Memory):
                self.phrases.memories[record.row] = record
            elif isinstance(record, Deleted) and record.table == "memories":
                self.phrases.memories.pop(record.row, None)
        self.graph.apply([Change(seq, record) for seq, record in enumerate(records)])

    def edges(self) -> set[tuple[str, str]]:
        return {(near, far) for near, far, _ in self.graph.triples()}


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path / "graph")


def memory(row: int, content: str, **fields: str | None) -> Memory:
    return a_memory(f"m{row}", row=row, content=content, **fields)


def entity(key: str, name: str, **fields: str | None) -> Entity:
    return an_entity(key, row=0, name=name, **fields)


def test_it_is_a_follower(written: Written) -> None:
    follower: Follower = written.graph
    assert follower.name == "graph"
    assert follower.checkpoint is None


def test_a_memory_is_linked_to_its_terms(written: Written) -> None:
    written.write(memory(0, "Marie knew Bob"))
    assert written.edges() == {
        ("memory 0", "term engine marie"),
        ("memory 0", "term engine bob"),
        ("memory 0", "term engine knew"),
    }


def test_an_update_replaces_the_edges_of_a_memory(written: Written) -> None:
    written.write(memory(0, "Marie knew Bob"), memory(0, "Marie knew Eve"), memory(0, "marie knew Eve"))
    assert {far: round(weight, 3) for _, far, weight in written.graph.triples()} == {
        "term engine marie": 0.1,
        "term engine eve": 1.0,
        "term engine knew": 0.1,
    }


def test_a_deleted_memory_leaves_nothing(written: Written) -> None:
    written.write(memory(0, "Marie knew Bob"), Deleted("memories", "m0", 0))
    assert written.graph.triples() == []
    assert written.graph.nodes == 0


def test_a_change_applied_twice_is_harmless(written: Written) -> None:
    records = (
        memory(0, "we use surreal db"),
        entity("e1", "Surreal DB"),
        entity("e2", "Rust"),
        a_relation("r", "e1", "e2"),
    )
    written.write(*records)
    once = written.graph.triples()
    written.write(*records)
    assert written.graph.triples() == once
    written.write(Deleted("relations", "r", 0), Deleted("relations", "r", 0), Deleted("memories", "x", 99))
    assert ("entity e1", "entity e2") not in written.edges()


@pytest.mark.parametrize("entity_first", [True, False])
def test_an_entity_is_linked_to_the_memories_that_name_it(written: Written, entity_first: bool) -> None:
    records = [
        memory(0, "we like surreal db a lot"),
        memory(1, "Surreal DB's speed"),
        memory(2, "surreal art"),
    ]
    named = entity("e", "Surreal DB")
    written.write(*([named, *records] if entity_first else [*records, named]))
    linked = {far for near, far in written.edges() if near == "entity e"}
    assert linked == {"memory 0", "memory 1"}


def test_an_entity_is_not_linked_across_spaces(written: Written) -> None:
    written.write(
        memory(0, "about Rust", space="a"), entity("e", "Rust", space="b"), memory(1, "Rust", space="a")
    )
    assert not [edge for edge in written.edges() if "entity e" in edge]


def test_a_renamed_entity_keeps_its_relations_and_changes_its_mentions(written: Written) -> None:
    written.write(
        memory(0, "about Rust"),
        memory(1, "about Zig"),
        entity("e", "Rust"),
        entity("f", "LLVM"),
        a_relation("r", "e", "f"),
        entity("e", "Zig"),
    )
    linked = {(near, far) for near, far in written.edges() if "entity e" in (near, far)}
    assert linked == {("entity e", "entity f"), ("entity e", "memory 1")}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (0, 2, 1)])
def test_a_relation_may_come_before_its_entities(written: Written, order: tuple[int, ...]) -> None:
    records: list[Record] = [entity("e", "A1"), entity("f", "B1"), a_relation("r", "e", "f", weight=0.5)]
    written.write(*(records[i] for i in order))
    assert ("entity e", "entity f", 0.5) in written.graph.triples()


def test_a_changed_relation_has_its_new_weight(written: Written) -> None:
    written.write(entity("e", "A1"), entity("f", "B1"), a_relation("r", "e", "f", weight=0.5))
    written.write(a_relation("q", "f", "e", weight=0.3), a_relation("r", "e", "f", weight=0.9))
    weights = [
        round(w, 3) for near, far, w in written.graph.triples() if (near, far) == ("entity e", "entity f")
    ]
    assert sorted(weights) == [0.3, 0.9]
    written.write(Deleted("relations", "q", 0))
    weights = [
        round(w, 3) for near, far, w in written.graph.triples() if (near, far) == ("entity e", "entity f")
    ]
    assert weights == [0.9]


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_relation_of_no_weight_is_no_edge(written: Written, weight: float) -> None:
    written.write(entity("e", "A1"), entity("f", "B1"), a_relation("r", "e", "f", weight=weight))
    assert ("entity e", "entity f") not in written.edges()
    written.write(Deleted("relations", "r", 0))


def test_a_deleted_entity_comes_back_with_its_relations(written: Written) -> None:
    written.write(
        entity("e", "A1"), entity("f", "B1"), a_relation("r", "e", "f"), Deleted("entities", "e", 0)
    )
    assert written.edges() == set()
    written.write(entity("e", "A1"))
    assert ("entity e", "entity f") in written.edges()


def test_relations_do_not_join_spaces_nor_an_entity_with_itself(written: Written) -> None:
    written.write(entity("e", "A1", space="a"), entity("f", "B1", space="b"))
    written.write(a_relation("r", "e", "f", space="a"), a_relation("s", "e", "e", space="a"))
    assert written.edges() == set()


def test_many_changes_leave_no_holes_behind(written: Written) -> None:
    for turn in range(40):
        written.write(*(memory(row, f"Name{turn} Word{row} shared by Everyone") for row in range(60)))
    fresh = Graph.open(Path("nowhere"), written.phrases)
    fresh.apply([Change(1, kept) for kept in written.phrases.memories.values()])
    assert written.graph.triples() == fresh.triples()
    assert written.graph.nodes == fresh.nodes
    assert len(written.graph._edges._target) < 20_000  # 2,400 updates of 10 entries each


def fill(written: Written) -> None:
    written.write(
        memory(0, "Marie knew Bob in \u201cDas Café\u201d"),
        memory(1, "Eve uses surreal db", user_id="eve"),
        memory(2, "gone"),
        memory(5, "Bob’s half \ud800 surrogate Name\ud800"),
        entity("e", "Surreal DB", user_id="eve"),
        entity("f", "Rust"),
        a_relation("r", "e", "f", weight=0.25),
        a_relation("later", "e", "missing"),
        Deleted("memories", "m2", 2),
    )


def test_reopened_it_is_as_before(written: Written, tmp_path: Path) -> None:
    fill(written)
    before = written.graph.triples()
    written.graph.save(Checkpoint("db", 9))
    written.graph.close()
    again = Written(tmp_path / "graph")
    assert again.graph.checkpoint == Checkpoint("db", 9)
    assert again.graph.triples() == before
    assert again.graph.nodes == written.graph.nodes
    # and it can still be written to, including the numbers that were free
    again.phrases.memories = written.phrases.memories
    for side in (written, again):
        side.write(memory(6, "Marie likes Rust and surreal db"), entity("missing", "Zig"))
        side.write(Deleted("memories", "m0", 0), Deleted("relations", "r", 0))
    assert again.graph.triples() == written.graph.triples()


def test_saving_goes_on_after_saving(written: Written, tmp_path: Path) -> None:
    fill(written)
    written.graph.save(Checkpoint("db", 9))
    written.write(memory(7, "Marie and Zoe"))
    written.graph.save(Checkpoint("db", 10))
    again = Written(tmp_path / "graph")
    assert again.graph.checkpoint == Checkpoint("db", 10)
    assert ("memory 7", "term engine zoe") in again.edges()


def test_an_empty_graph_can_be_saved(written: Written, tmp_path: Path) -> None:
    written.graph.save(Checkpoint("db", 0))
    again = Written(tmp_path / "graph")
    assert again.graph.checkpoint == Checkpoint("db", 0)
    assert again.graph.nodes == 0


def test_clear_forgets_memory_and_disk(written: Written, tmp_path: Path) -> None:
    fill(written)
    written.graph.save(Checkpoint("db", 9))
    written.graph.clear()
    assert written.graph.checkpoint is None
    assert written.graph.triples() == []
    assert Written(tmp_path / "graph").graph.checkpoint is None
    written.write(memory(0, "Marie"))
    assert written.edges() == {("memory 0", "term engine marie")}


def damage(file: Path) -> Iterable[Callable[[], None]]:
    content = file.read_bytes()
    yield lambda: file.write_bytes(content[: len(content) // 2]) and None
    yield lambda: file.write_bytes(b"") and None
    yield file.unlink
    for at in range(0, len(content), max(1, len(content) // 50)):
        flipped = bytearray(content)
        flipped[at] ^= 1 << (at % 8)
        yield lambda flipped=flipped: file.write_bytes(flipped) and None  # type: ignore[misc]


@pytest.mark.parametrize("name", ["graph.arrays", "checkpoint.json"])
def test_a_damaged_file_is_never_served(written: Written, tmp_path: Path, name: str) -> None:
    fill(written)
    before = written.graph.triples()
    written.graph.save(Checkpoint("db", 123_456))
    for harm in damage(tmp_path / "graph" / name):
        written.graph.save(Checkpoint("db", 123_456))
        harm()
        again = Written(tmp_path / "graph").graph
        if again.checkpoint is None:
            assert again.triples() == []
        else:  # a flip that changes nothing, or makes the checkpoint older, which only replays
            assert again.triples() == before
            assert again.checkpoint.seq <= 123_456


def test_a_checkpoint_of_another_database_is_not_believed(written: Written, tmp_path: Path) -> None:
    fill(written)
    written.graph.save(Checkpoint("db", 9))
    other = Written(tmp_path / "other")
    other.graph.save(Checkpoint("another", 9))
    (tmp_path / "other" / "checkpoint.json").replace(tmp_path / "graph" / "checkpoint.json")
    assert Written(tmp_path / "graph").graph.checkpoint is None
