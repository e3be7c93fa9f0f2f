"""PageRank against networkx, and a graph that followed the log against one built from the records."""

import math
import tempfile
from pathlib import Path

import networkx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.channels.graph import Graph
from retrieval.channels.graph_walk import RELATION_WEIGHT, Choice, Part, Whole
from retrieval.channels.pagerank import DAMPING, pagerank
from retrieval.records import Entity, Memory, Ranking, Relation, Rows, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted
from retrieval.text.terms import spoken
from tests.builders import a_memory, a_relation, an_entity, everything

EXACT = 1e-12

WORDS = ("Marie Curie", "Oxford", "rust", "surreal db", "getUserName", "src/main.rs", "river", "Vistula")
NAMES = ("Marie Curie", "rust", "surreal db", "Vistula")
KEYS = ("e1", "e2", "e3", "e4")


def oracle(part: Part, graph: networkx.Graph) -> dict[tuple[str, int], float]:
    """Networkx on the same nodes, with the seeds as personalization."""
    seeds = {("m", place): seed for place, seed in enumerate(part.memory_seeds.tolist())}
    seeds |= {("o", place): seed for place, seed in enumerate(part.other_seeds.tolist())}
    graph.add_nodes_from(seeds)
    scores: dict[tuple[str, int], float] = networkx.pagerank(
        graph, alpha=DAMPING, personalization=seeds, tol=1e-14, max_iter=1000, weight="weight"
    )
    return scores


def conduct(graph: networkx.Graph, near: tuple[str, int], far: tuple[str, int], weight: float) -> None:
    """Add to the conductance between two nodes: parallel edges add up."""
    before = graph.get_edge_data(near, far, {"weight": 0.0})["weight"]
    graph.add_edge(near, far, weight=before + weight)


def assert_same(part: Part, expected: dict[tuple[str, int], float]) -> None:
    memories, others = pagerank(part.mentions, part.links, part.memory_seeds, part.other_seeds, EXACT)
    for place, score in enumerate(memories.tolist()):
        assert math.isclose(score, expected["m", place], abs_tol=1e-6)
    for place, score in enumerate(others.tolist()):
        assert math.isclose(score, expected["o", place], abs_tol=1e-6)


@st.composite
def parts(draw: st.DrawFn) -> Part:
    memories, others = draw(st.integers(1, 8)), draw(st.integers(2, 8))
    conductance = st.floats(1e-3, 10)
    mention = st.tuples(st.integers(0, memories - 1), st.integers(0, others - 1), conductance)
    link = st.tuples(st.integers(0, others - 1), st.integers(0, others - 1), conductance)
    mentions = draw(st.lists(mention, max_size=25))
    links = [edge for edge in draw(st.lists(link, max_size=8)) if edge[0] != edge[1]]
    seeds = draw(st.lists(st.floats(0, 1), min_size=memories + others, max_size=memories + others))
    seeds[draw(st.integers(0, memories + others - 1))] = 1.0
    return Part(
        memories=np.arange(memories),
        others=np.arange(others),
        memory_seeds=np.array(seeds[:memories]),
        other_seeds=np.array(seeds[memories:]),
        mentions=_columns(mentions),
        links=_columns(links),
    )


def _columns(edges: list[tuple[int, int, float]]) -> tuple[Rows, Rows, np.ndarray]:
    return (
        np.array([edge[0] for edge in edges], np.int64),
        np.array([edge[1] for edge in edges], np.int64),
        np.array([edge[2] for edge in edges], np.float64),
    )


@given(parts())
@settings(max_examples=150, deadline=None)
def test_pagerank_is_that_of_networkx(part: Part) -> None:
    graph = networkx.Graph()
    for near, far, weight in zip(*part.mentions, strict=True):
        conduct(graph, ("m", int(near)), ("o", int(far)), float(weight))
    for near, far, weight in zip(*part.links, strict=True):
        conduct(graph, ("o", int(near)), ("o", int(far)), float(weight))
    assert_same(part, oracle(part, graph))


Record = Memory | Entity | Relation | Deleted


def a_text() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), max_size=4).map(" and ".join)


def records() -> st.SearchStrategy[list[Record]]:
    memory = st.builds(
        lambda row, text, space: a_memory(f"m{row}", row=row, content=text, space=space),
        st.integers(0, 7), a_text(), st.just("engine"),
    )  # fmt: skip
    entity = st.builds(
        lambda key, name: an_entity(key, row=int(key[1:]), name=name),
        st.sampled_from(KEYS), st.sampled_from(NAMES),
    )  # fmt: skip
    relation = st.builds(
        lambda key, near, far, weight: a_relation(key, near, far, weight=weight),
        st.sampled_from(("r1", "r2", "r3")), st.sampled_from(KEYS), st.sampled_from(KEYS),
        st.sampled_from((0.25, 0.5, 1.0)),
    )  # fmt: skip
    gone = st.one_of(
        st.integers(0, 7).map(lambda row: Deleted("memories", f"m{row}", row)),
        st.sampled_from(KEYS).map(lambda key: Deleted("entities", key, int(key[1:]))),
        st.sampled_from(("r1", "r2", "r3")).map(lambda key: Deleted("relations", key, 0)),
    )
    return st.lists(st.one_of(memory, memory, entity, relation, gone), max_size=40)


class Followed:
    """A graph fed with records, and the records as they are now."""

    def __init__(self, folder: Path) -> None:
        self.now: dict[tuple[str, str], Record] = {}
        self.graph = Graph.open(folder, self.mentions)

    def mentions(self, name: str, scope: Scope) -> list[Memory]:
        wanted = f" {' '.join(spoken(name))} "
        return [
            record
            for record in self.now.values()
            if isinstance(record, Memory) and wanted in f" {' '.join(spoken(record.content))} "
        ]

    def write(self, record: Record) -> None:
        table = record.table if isinstance(record, Deleted) else TABLES[type(record)]
        if isinstance(record, Deleted):
            self.now.pop((table, record.id), None)
        else:
            self.now[table, record.id] = record
        self.graph.apply([Change(1, record)])


TABLES = {Memory: "memories", Entity: "entities", Relation: "relations"}


@given(records(), st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_following_the_log_equals_building_from_the_records(log: list[Record], restart: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        followed = Followed(Path(folder) / "a")
        for number, record in enumerate(log):
            if number == restart:
                followed.graph.save(Checkpoint("db", number))
                followed.graph = Graph.open(Path(folder) / "a", followed.mentions)
            followed.write(record)
        built = Followed(Path(folder) / "b")
        built.now = dict(followed.now)
        for table in ("entities", "memories", "relations"):
            for (kept_in, _), record in followed.now.items():
                if kept_in == table:
                    built.write(record)
        assert followed.graph.triples() == built.graph.triples()
        assert followed.graph.nodes == built.graph.nodes
        assert followed.graph.edges == len(followed.graph.triples())


@given(records(), a_text(), st.lists(st.integers(0, 9), max_size=3), st.sets(st.integers(0, 7), max_size=3))
@settings(max_examples=150, deadline=None)
def test_a_walk_is_pagerank_over_what_was_chosen(
    log: list[Record], query: str, rows: list[int], hidden: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        followed = Followed(Path(folder))
        for record in log:
            followed.write(record)
        graph = followed.graph
        scratch = np.full(graph._edges.size, -1, np.int64)
        candidates = Ranking(np.array(rows, np.int64), np.ones(len(rows)))
        whole = Whole(graph._edges, graph._links, graph._directory, scratch)
        part = Choice(whole, Scope("engine"), lambda asked: ~np.isin(asked, list(hidden))).run(
            graph._directory.named(query, "engine"), candidates
        )
        assert (scratch == -1).all()
        if part is None:
            return
        directory = graph._directory
        places = {directory.title(node): ("m", place) for place, node in enumerate(part.memories.tolist())}
        assert not hidden & set(directory.row[part.memories].tolist())
        places |= {directory.title(node): ("o", place) for place, node in enumerate(part.others.tolist())}
        mentioned: dict[str, int] = {}
        for near, far, _ in graph.triples():
            if "memory" in near + far:
                mentioned[near] = mentioned.get(near, 0) + 1
                mentioned[far] = mentioned.get(far, 0) + 1
        expected = networkx.Graph()
        for near, far, weight in graph.triples():
            if near in places and far in places:
                rarity = 1 / max(mentioned.get(near, 1), 1), 1 / max(mentioned.get(far, 1), 1)
                if far.startswith("entity"):
                    factor = RELATION_WEIGHT * math.sqrt(rarity[0] * rarity[1])
                elif near.startswith("memory"):
                    factor = math.sqrt(rarity[0]) * rarity[1]
                else:
                    factor = rarity[0] * math.sqrt(rarity[1])
                conduct(expected, places[near], places[far], weight * factor)
        assert_same(part, oracle(part, expected))
        scope = Scope("engine")
        walked = graph.walk(graph.choose(query, scope, candidates, everything), candidates, 100)
        assert walked.nodes == 0 or len(walked.ranking) <= walked.nodes
