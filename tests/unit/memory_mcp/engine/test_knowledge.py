"""Entities and relations through the engine."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from memory_mcp.engine import knowledge as module
from memory_mcp.engine.engine import Engine
from memory_mcp.engine.knowledge import Direction
from retrieval.errors import EntityNotFound, InvalidInput
from retrieval.records import Entity
from tests.builders import NOW


def entity(engine: Engine, name: str, **fields: Any) -> Entity:
    return engine.knowledge.create_entity(name, **fields)


@pytest.fixture
def names(engine: Engine) -> dict[str, str]:
    """a -> b -> c -> d, d -> a, and x -> a; the ids by name."""
    keys = {name: entity(engine, name).id for name in "abcdx"}
    for start, end in ("ab", "bc", "cd", "da", "xa"):
        engine.knowledge.create_relation(keys[start], keys[end], f"{start}{end}")
    return keys


def reached(
    engine: Engine, key: str, depth: int = 1, direction: Direction = "outgoing"
) -> tuple[list[str], list[str]]:
    related = engine.knowledge.related(key, depth, direction)
    return [e.name for e in related.entities], sorted(r.relation_type for r in related.relations)


def test_an_entity_has_what_was_given(engine: Engine) -> None:
    made = entity(engine, "Zoë", entity_type="person", description="d", user_id="ada")
    assert (made.name, made.entity_type, made.description, made.user_id) == ("Zoë", "person", "d", "ada")
    assert (made.space, made.created_at, made.row) == ("engine", NOW, 0)
    assert len(made.id) == 20
    assert engine.status().counts.entities == 1


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 1_001}, "name"),
        ({"name": "a\0"}, "name"),
        ({"name": "a", "entity_type": " "}, "entity_type"),
        ({"name": "a", "description": ""}, "description"),
        ({"name": "a", "user_id": ""}, "user_id"),
    ],
)
def test_a_bad_entity_is_refused(engine: Engine, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.knowledge.create_entity(**fields)
    assert caught.value.field == field
    assert engine.status().counts.entities == 0


def test_two_entities_may_share_a_name(engine: Engine) -> None:
    assert entity(engine, "same").id != entity(engine, "same").id


def test_a_relation_has_what_was_given(engine: Engine, names: dict[str, str]) -> None:
    relation = engine.knowledge.create_relation(f"entities:{names['a']}", names["c"], "likes", 0.25)
    assert (relation.from_entity, relation.to_entity) == (names["a"], names["c"])
    assert (relation.relation_type, relation.weight, relation.created_at) == ("likes", 0.25, NOW)


def test_a_relation_weighs_one_unless_said(engine: Engine, names: dict[str, str]) -> None:
    assert engine.knowledge.create_relation(names["a"], names["c"], "likes").weight == 1.0


@pytest.mark.parametrize("weight", [-0.01, 1.01, math.nan, math.inf])
def test_a_weight_lies_between_nought_and_one(engine: Engine, names: dict[str, str], weight: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.knowledge.create_relation(names["a"], names["b"], "likes", weight)
    assert caught.value.field == "weight"


def test_a_relation_needs_a_type(engine: Engine, names: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.knowledge.create_relation(names["a"], names["b"], "")
    assert caught.value.field == "relation_type"


@pytest.mark.parametrize("unknown", ["nobody", "", "memories:abc", "e:x", "'; DELETE entities --"])
def test_relations_need_entities_that_exist(engine: Engine, names: dict[str, str], unknown: str) -> None:
    for ends in ((names["a"], unknown), (unknown, names["a"])):
        with pytest.raises(EntityNotFound):
            engine.knowledge.create_relation(*ends, "likes")
    assert engine.status().counts.relations == 5


@pytest.mark.parametrize(
    ("depth", "direction", "entities", "relations"),
    [
        (1, "outgoing", ["b"], ["ab"]),
        (1, "incoming", ["d", "x"], ["da", "xa"]),
        (1, "both", ["b", "d", "x"], ["ab", "da", "xa"]),
        (2, "outgoing", ["b", "c"], ["ab", "bc"]),
        (2, "both", ["b", "d", "x", "c"], ["ab", "bc", "cd", "da", "xa"]),
        (3, "outgoing", ["b", "c", "d"], ["ab", "bc", "cd"]),
        (3, "incoming", ["d", "x", "c", "b"], ["bc", "cd", "da", "xa"]),
    ],
)
def test_depth_and_direction(
    engine: Engine,
    names: dict[str, str],
    depth: int,
    direction: Direction,
    entities: list[str],
    relations: list[str],
) -> None:
    found, through = reached(engine, names["a"], depth, direction)
    assert (sorted(found), through) == (sorted(entities), relations)


def test_nearer_ones_come_first(engine: Engine, names: dict[str, str]) -> None:
    assert reached(engine, names["a"], 3)[0] == ["b", "c", "d"]


def test_a_cycle_ends_where_it_began(engine: Engine) -> None:
    keys = [entity(engine, name).id for name in ("one", "two")]
    engine.knowledge.create_relation(keys[0], keys[1], "to")
    engine.knowledge.create_relation(keys[1], keys[0], "fro")
    engine.knowledge.create_relation(keys[0], keys[0], "self")
    assert reached(engine, keys[0], 3) == (["two"], ["fro", "self", "to"])


def test_several_relations_between_the_same_two(engine: Engine, names: dict[str, str]) -> None:
    engine.knowledge.create_relation(names["a"], names["b"], "again")
    assert reached(engine, names["a"]) == (["b"], ["ab", "again"])


def test_an_entity_without_relations(engine: Engine) -> None:
    assert reached(engine, entity(engine, "alone").id, 3, "both") == ([], [])


def test_an_id_may_carry_its_table(engine: Engine, names: dict[str, str]) -> None:
    assert reached(engine, f"entities:{names['a']}")[0] == ["b"]


@pytest.mark.parametrize("depth", [0, -1, 4])
def test_depth_is_one_to_three(engine: Engine, names: dict[str, str], depth: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.knowledge.related(names["a"], depth)
    assert caught.value.field == "depth"


def test_an_unknown_entity(engine: Engine) -> None:
    with pytest.raises(EntityNotFound, match="Entity not found: nobody"):
        engine.knowledge.related("nobody")


def test_a_hub_is_cut(engine: Engine, names: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_RELATED", 2)
    for name in "bcdx":
        engine.knowledge.create_relation(names["a"], names[name], "hub")
    related = engine.knowledge.related(names["a"], 3)
    assert len(related.relations) == 2


def test_other_users_entities_do_not_exist(reopen: Callable[..., Engine]) -> None:
    engine = reopen()
    hers, his, nobodys = (entity(engine, name, user_id=user).id for name, user in
                          (("hers", "ada"), ("his", "bob"), ("nobodys", None)))  # fmt: skip
    also = entity(engine, "also hers", user_id="ada").id
    engine.knowledge.create_relation(hers, his, "hers to his")
    engine.knowledge.create_relation(his, also, "his to hers")
    engine.knowledge.create_relation(hers, also, "among hers")
    assert reached(engine, hers, 2)[0] == ["also hers", "his"] or reached(engine, hers, 2)[0] == [
        "his",
        "also hers",
    ]

    engine = reopen(user_id="ada")
    assert reached(engine, hers, 3, "both") == (["also hers"], ["among hers"])
    for key in (his, nobodys):
        with pytest.raises(EntityNotFound):
            engine.knowledge.related(key)
        with pytest.raises(EntityNotFound):
            engine.knowledge.create_relation(hers, key, "x")
    assert entity(engine, "new").user_id == "ada"
    with pytest.raises(InvalidInput):
        entity(engine, "new", user_id="bob")


def test_another_space_does_not_exist(reopen: Callable[..., Engine]) -> None:
    key = entity(reopen(), "here").id
    with pytest.raises(EntityNotFound):
        reopen(space="memento").knowledge.related(key)


def test_a_relation_belongs_to_a_user_whose_both_ends_are(reopen: Callable[..., Engine]) -> None:
    engine = reopen()
    a, b, c = (
        entity(engine, name, user_id=user).id for name, user in (("a", "ada"), ("b", "ada"), ("c", None))
    )
    assert engine.knowledge.create_relation(a, b, "x").user_id == "ada"
    assert engine.knowledge.create_relation(a, c, "x").user_id is None


def test_the_graph_survives_a_reopening(reopen: Callable[..., Engine]) -> None:
    engine = reopen()
    a, b = entity(engine, "a").id, entity(engine, "b").id
    engine.knowledge.create_relation(a, b, "ab", 0.5)
    before = engine.knowledge.related(a)
    assert reopen().knowledge.related(a) == before
