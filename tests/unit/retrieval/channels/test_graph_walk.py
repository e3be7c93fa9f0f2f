"""What a walk finds, and what it must not."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.channels.graph import Graph, Step, Walk
from retrieval.channels.graph_walk import HUB
from retrieval.records import Entity, Memory, Ranking, Relation, Rows, Scope
from retrieval.store.changes import Change, Deleted
from tests.builders import a_memory, a_relation, an_entity, everything

SCOPE = Scope("engine")


def memory(row: int, content: str, space: str = "engine") -> Memory:
    return a_memory(f"m{row}", row=row, content=content, space=space)


def a_graph(tmp_path: Path, *records: Memory | Entity | Relation | Deleted) -> Graph:
    graph = Graph.open(tmp_path / "graph", lambda name, scope: [])
    graph.apply([Change(seq, record) for seq, record in enumerate(records)])
    return graph


def candidates(*rows: int) -> Ranking:
    return Ranking(np.array(rows, np.int64), 1.0 / np.arange(1, len(rows) + 1))


def walk(graph: Graph, query: str, *rows: int, scope: Scope = SCOPE, without: tuple[int, ...] = ()) -> Walk:
    def allowed(asked: Rows) -> NDArray[np.bool_]:
        return ~np.isin(asked, without)

    part = graph.choose(query, scope, candidates(*rows), allowed)
    return graph.walk(part, candidates(*rows), 10)


def found(result: Walk) -> list[int]:
    rows: list[int] = result.ranking.rows.tolist()
    return rows


CHAIN = (
    memory(0, "Marie Curie lived in Kraków"),
    memory(1, "Kraków lies on the Vistula"),
    memory(2, "Otters swim in the Vistula"),
    memory(3, "Bob likes Paris"),
)


def test_an_empty_graph_answers_nothing(tmp_path: Path) -> None:
    result = walk(a_graph(tmp_path), "Marie Curie")
    assert (found(result), result.nodes) == ([], 0)


def test_the_first_memory_is_found(tmp_path: Path) -> None:
    assert found(walk(a_graph(tmp_path, CHAIN[0]), "where did Marie Curie live?")) == [0]


def test_a_memory_is_found_through_another(tmp_path: Path) -> None:
    result = walk(a_graph(tmp_path, *CHAIN), "river of Marie Curie?")
    assert found(result)[:2] == [0, 1]
    assert 3 not in found(result)


def test_candidates_lead_the_walk_where_nothing_is_named(tmp_path: Path) -> None:
    result = walk(a_graph(tmp_path, *CHAIN), "what about that?", 0)
    assert found(result) == [0, 1]


@pytest.mark.parametrize("query", ["Marie Curie", "where did marie curie work", "MARIE CURIE'S HOME"])
def test_the_case_of_a_question_does_not_matter(tmp_path: Path, query: str) -> None:
    assert found(walk(a_graph(tmp_path, *CHAIN), query))[0] == 0


def test_scores_fall_and_the_limit_holds(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *(memory(row, f"Marie knows Person{row}") for row in range(30)))
    ranking = walk(graph, "Marie", 7, 3).ranking
    assert ranking.rows.tolist()[:2] == [7, 3]
    assert len(ranking) == 10
    assert np.all(np.diff(ranking.scores) <= 0)


def test_equal_scores_come_by_row(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *(memory(row, "Marie") for row in (4, 2, 9)))
    assert found(walk(graph, "Marie")) == [2, 4, 9]


def test_the_number_of_nodes_is_that_of_the_part_walked_on(tmp_path: Path) -> None:
    # memories 0 and 1, the terms "marie curie" and "kraków"; what one memory has alone leads nowhere
    assert walk(a_graph(tmp_path, *CHAIN[:2]), "Marie Curie").nodes == 4


def test_a_memory_that_may_not_be_seen_neither_appears_nor_conducts(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *CHAIN)
    assert 2 in found(walk(graph, "Vistula and Marie Curie"))
    result = walk(graph, "Marie Curie", without=(1,))
    assert found(result) == [0]
    assert found(walk(graph, "Marie Curie", 1, without=(0, 1))) == []


def test_a_word_that_only_hidden_memories_have_is_unknown(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *CHAIN)
    assert walk(graph, "Bob", without=(3,)).nodes == 0
    assert found(walk(graph, "Bob and Marie Curie", without=(3,))) == found(walk(graph, "Marie Curie"))
    assert walk(graph, "Bob and Marie Curie", without=(3,)).nodes == walk(graph, "Marie Curie").nodes


def test_nothing_walks_across_spaces(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, memory(0, "Marie Curie", "a"), memory(1, "Marie Curie", "b"))
    assert found(walk(graph, "Marie Curie", scope=Scope("a"))) == [0]
    assert found(walk(graph, "Marie Curie", scope=Scope("nowhere"))) == []


def related(user: str | None) -> tuple[Memory | Entity | Relation, ...]:
    return (
        an_entity("e1", name="Orion"),
        an_entity("e2", name="Cygnus", user_id=user),
        an_entity("e3", name="Lyra"),
        memory(0, "orion ships friday"),
        memory(1, "lyra needs review"),
        a_relation("r1", "e1", "e2"),
        a_relation("r2", "e2", "e3"),
    )


def test_relations_are_walked_in_both_directions(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *related(None))
    assert found(walk(graph, "what about orion?")) == [0, 1]
    assert found(walk(graph, "what about lyra?")) == [1, 0]


def test_the_entities_of_another_user_do_not_conduct(tmp_path: Path) -> None:
    records = [
        an_entity(r.id, name=r.name, user_id=r.user_id or "me") if isinstance(r, Entity) else r
        for r in related("you")
    ]
    graph = a_graph(tmp_path, *records)
    assert found(walk(graph, "what about orion?", scope=Scope("engine", "me"))) == [0]
    assert found(walk(graph, "what about orion?", scope=Scope("engine", "you"))) == [0]
    assert found(walk(graph, "what about orion?")) == [0, 1]


def test_a_user_without_entities_sees_none(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *related(None))
    assert found(walk(graph, "what about orion?", scope=Scope("engine", "stranger"))) == [0]


def test_an_unknown_candidate_is_passed_over(tmp_path: Path) -> None:
    assert found(walk(a_graph(tmp_path, *CHAIN), "hm?", 999, -1, 3)) == [3]


def test_a_hub_leads_to_no_new_memories(tmp_path: Path) -> None:
    crowd = [memory(row, f"Crowd {'Rare' if row < 2 else ''}") for row in range(HUB + 10)]
    graph = a_graph(tmp_path, *crowd)
    assert set(found(walk(graph, "Rare"))) == {0, 1}


def test_what_is_written_is_found_by_the_next_walk(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *CHAIN)
    graph.apply([Change(9, memory(4, "Marie Curie liked cycling"))])
    assert 4 in found(walk(graph, "Marie Curie"))
    graph.apply([Change(10, Deleted("memories", "m4", 4))])
    assert 4 not in found(walk(graph, "Marie Curie"))


def test_why_names_the_seeds_and_the_path(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *CHAIN)
    result = walk(graph, "river of Marie Curie?")
    why = graph.why(result, 1)
    assert why is not None
    assert why.named == ("marie curie",)
    assert why.path == (Step("marie curie"), Step(None, 0), Step("kraków"), Step(None, 1))
    assert graph.why(result, 3) is None
    assert graph.why(Walk(), 0) is None


def test_the_same_walk_gives_the_same_answer(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *CHAIN)
    first, second = (
        graph.walk(graph.choose("Vistula", SCOPE, candidates(3), everything), candidates(3), 10)
        for _ in range(2)
    )
    assert found(first) == found(second)
    assert first.ranking.scores.tolist() == second.ranking.scores.tolist()


def test_a_walk_may_start_from_other_candidates_than_the_choice(tmp_path: Path) -> None:
    graph = a_graph(tmp_path, *CHAIN)
    part = graph.choose("hm?", SCOPE, candidates(0), everything)
    assert found(graph.walk(part, candidates(0), 10))[0] == 0
    assert found(graph.walk(part, candidates(1), 10))[0] == 1
    assert found(graph.walk(part, candidates(999), 10)) == found(graph.walk(part, candidates(0), 10))
