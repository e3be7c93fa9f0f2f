"""Entities and relations in the store."""

from datetime import timedelta

import pytest

from retrieval.errors import StoreError
from retrieval.store.store import Counts, Store
from tests.builders import MODEL, NOW, a_memory, a_relation, an_entity, unit_vectors


@pytest.fixture
def chain(store: Store) -> Store:
    """a -> b -> c, and c -> a."""
    for key in "abc":
        store.create_entity(an_entity(key))
    for i, (key, start, end) in enumerate((("ab", "a", "b"), ("bc", "b", "c"), ("ca", "c", "a"))):
        store.create_relation(a_relation(key, start, end, created_at=NOW + timedelta(seconds=i)))
    return store


def related(
    store: Store, *entities: str, outgoing: bool = True, incoming: bool = False, limit: int = 10
) -> list[str]:
    found = store.relations_of(entities, outgoing=outgoing, incoming=incoming, limit=limit)
    return [relation.id for relation in found]


def test_an_entity_reads_as_written(store: Store) -> None:
    change = store.create_entity(
        an_entity("e", name="Zoë", entity_type="person", description="d", user_id="ada")
    )
    assert store.entities(["e", "unknown"]) == {"e": change.record}
    assert change.record.row == 0  # type: ignore[union-attr]


def test_entities_have_rows_of_their_own(store: Store) -> None:
    store.create_memories([a_memory("m")], unit_vectors(1), MODEL)
    rows = [store.create_entity(an_entity(key)).record.row for key in "ab"]  # type: ignore[union-attr]
    assert rows == [0, 1]


def test_a_relation_reads_as_written(store: Store) -> None:
    relation = a_relation("r", "a", "b", weight=0.1, user_id="ada", relation_type="née")
    store.create_relation(relation)
    assert store.relations_of(["a"], outgoing=True, incoming=False, limit=1) == [relation]


@pytest.mark.parametrize(
    ("outgoing", "incoming", "expected"),
    [(True, False, ["ab"]), (False, True, ["ca"]), (True, True, ["ab", "ca"]), (False, False, [])],
)
def test_relations_by_direction(chain: Store, outgoing: bool, incoming: bool, expected: list[str]) -> None:
    assert related(chain, "a", outgoing=outgoing, incoming=incoming) == expected


def test_relations_of_several_entities_come_once_and_oldest_first(chain: Store) -> None:
    assert related(chain, "c", "b", "a", incoming=True) == ["ab", "bc", "ca"]


def test_relations_are_limited(chain: Store) -> None:
    assert len(related(chain, "a", "b", "c", limit=2)) == 2


def test_a_loop_is_one_relation(store: Store) -> None:
    store.create_relation(a_relation("aa", "a", "a"))
    assert related(store, "a", incoming=True) == ["aa"]


def test_two_relations_may_join_the_same_entities(store: Store) -> None:
    store.create_relation(a_relation("one", "a", "b"))
    store.create_relation(a_relation("two", "a", "b", created_at=NOW + timedelta(seconds=1)))
    assert related(store, "a") == ["one", "two"]


def test_counters_follow(chain: Store) -> None:
    assert chain.state().counts == Counts(memories=0, entities=3, relations=3)
    assert chain.state().seq == 6


def test_a_second_entity_of_the_same_id_is_refused(chain: Store) -> None:
    before = chain.state()
    with pytest.raises(StoreError):
        chain.create_entity(an_entity("a"))
    with pytest.raises(StoreError):
        chain.create_relation(a_relation("ab", "b", "a"))
    assert chain.state() == before
    assert related(chain, "b") == ["bc"]
