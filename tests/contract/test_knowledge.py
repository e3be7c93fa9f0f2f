"""Entities and relations, as a client sees them."""

import re
from itertools import pairwise
from typing import Any

import pytest

from tests.contract.harness import Memory


def entity(memory: Memory, name: str, **fields: Any) -> str:
    return str(memory.ask("create_entity", name=name, **fields)["id"])


def names(reply: dict[str, Any]) -> set[str]:
    return {row["name"] for row in reply["entities"]}


@pytest.fixture
def chain(memory: Memory) -> list[str]:
    """Ada → Babbage → Engine → Cards."""
    keys = [entity(memory, name) for name in ("Ada", "Babbage", "Engine", "Cards")]
    for source, target in pairwise(keys):
        memory.ask("create_relation", from_entity=source, to_entity=target, relation_type="knows")
    return keys


def test_ids_are_twenty_letters_and_digits(memory: Memory) -> None:
    ada, grace = entity(memory, "Ada"), entity(memory, "Grace")
    relation = memory.ask("create_relation", from_entity=ada, to_entity=grace, relation_type="inspires")
    for key in (ada, grace, relation["id"]):
        assert re.fullmatch(r"[A-Za-z0-9]{20}", key)


def test_related_entities_and_relations_are_told_in_full(memory: Memory) -> None:
    ada = entity(memory, "Ada", entity_type="person", description="First programmer", user_id="u")
    engine = entity(memory, "Engine")
    key = memory.ask(
        "create_relation", from_entity=engine, to_entity=ada, relation_type="programmed_by", weight=0.5
    )["id"]
    reply = memory.ask("get_related", entity_id=engine)
    [found] = reply["entities"]
    assert found.pop("created_at").endswith("Z")
    assert found == {
        "id": ada, "name": "Ada", "entity_type": "person", "description": "First programmer", "user_id": "u",
    }  # fmt: skip
    ends = {"from_entity": engine, "to_entity": ada}
    assert reply["relations"] == [{"id": key, **ends, "relation_type": "programmed_by", "weight": 0.5}]
    assert (reply["entity_count"], reply["relation_count"]) == (1, 1)


@pytest.mark.parametrize(
    ("depth", "reached"),
    [(1, {"Babbage"}), (2, {"Babbage", "Engine"}), (3, {"Babbage", "Engine", "Cards"})],
)
def test_depth_is_how_far_the_walk_goes(
    memory: Memory, chain: list[str], depth: int, reached: set[str]
) -> None:
    assert names(memory.ask("get_related", entity_id=chain[0], depth=depth)) == reached


@pytest.mark.parametrize(
    ("direction", "reached"),
    [("outgoing", {"Engine"}), ("incoming", {"Ada"}), ("both", {"Ada", "Engine"})],
)
def test_direction_is_which_way(memory: Memory, chain: list[str], direction: str, reached: set[str]) -> None:
    assert names(memory.ask("get_related", entity_id=chain[1], direction=direction)) == reached


def test_one_step_outwards_is_the_default(memory: Memory, chain: list[str]) -> None:
    assert names(memory.ask("get_related", entity_id=chain[1])) == {"Engine"}


def test_an_entity_without_relations_has_none(memory: Memory) -> None:
    assert memory.ask("get_related", entity_id=entity(memory, "Island")) == {
        "entities": [], "relations": [], "entity_count": 0, "relation_count": 0,
    }  # fmt: skip


def test_relations_need_entities_that_exist(memory: Memory) -> None:
    ada = entity(memory, "Ada")
    for source, target in ((ada, "nobody"), ("nobody", ada)):
        text = memory.refuse("create_relation", from_entity=source, to_entity=target, relation_type="knows")
        assert text == "Entity not found: nobody"
    assert memory.refuse("get_related", entity_id="nobody") == "Entity not found: nobody"
    assert memory.ask("get_related", entity_id=ada)["relation_count"] == 0


def test_relations_help_recall(memory: Memory) -> None:
    """What is said of a thing is found by the name of another thing it is related to."""
    memory.store("Orion ships next week")
    memory.store("Lunch is at noon")
    memory.store("Printers are out of paper")
    before = memory.ask("recall", query="Margaret Hamilton", vector_weight=0, bm25_weight=0, ppr_weight=1)
    assert before["results"] == []
    person, project = entity(memory, "Margaret Hamilton"), entity(memory, "Orion")
    memory.ask("create_relation", from_entity=person, to_entity=project, relation_type="works_on")
    after = memory.ask("recall", query="Margaret Hamilton", vector_weight=0, bm25_weight=0, ppr_weight=1)
    assert [row["content"] for row in after["results"]] == ["Orion ships next week"]
