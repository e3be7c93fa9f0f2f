"""Ids: random, or given by the key of a call."""

import threading

from memory_mcp.engine.engine import Engine
from memory_mcp.engine.ids import is_retry, keyed, new_id
from memory_mcp.engine.memories import Draft


def test_ids_differ() -> None:
    assert len({new_id() for _ in range(200)}) == 200


def test_a_key_gives_the_same_ids_in_the_same_order() -> None:
    with keyed("k", is_retry=False):
        first = [new_id(), new_id()]
    with keyed("k", is_retry=True):
        assert [new_id(), new_id()] == first
    assert first[0] != first[1]


def test_another_key_gives_others() -> None:
    with keyed("k", is_retry=False):
        one = new_id()
    with keyed("l", is_retry=False):
        assert new_id() != one


def test_ids_look_alike_with_and_without_a_key() -> None:
    with keyed("k", is_retry=False):
        given = new_id()
    for key in (given, new_id()):
        assert len(key) == 20
        assert key.isalnum()
        assert key == key.lower()


def test_a_key_ends_with_its_call() -> None:
    with keyed("k", is_retry=True):
        assert is_retry()
    assert not is_retry()
    with keyed("k", is_retry=False):
        assert not is_retry()


def test_threads_have_calls_of_their_own() -> None:
    seen: list[bool] = []
    with keyed("k", is_retry=True):
        thread = threading.Thread(target=lambda: seen.append(is_retry()))
        thread.start()
        thread.join(30)
    assert seen == [False]


def test_a_call_that_is_made_again_stores_nothing_new(engine: Engine) -> None:
    with keyed("k", is_retry=False):
        first = engine.memories.store(Draft("The okapi is shy."))
    with keyed("k", is_retry=True):
        assert engine.memories.store(Draft("The okapi is shy.")) == first
    assert engine.status().counts.memories == 1


def test_a_call_that_was_not_carried_out_is(engine: Engine) -> None:
    with keyed("k", is_retry=True):
        memory = engine.memories.store(Draft("The okapi is shy."))
    assert engine.memories.get(memory.id) == memory


def test_entities_and_relations_are_made_once(engine: Engine) -> None:
    made = []
    for again in (False, True):
        with keyed("entity", is_retry=again):
            entity = engine.knowledge.create_entity("Okapi")
        with keyed("relation", is_retry=again):
            made.append((entity, engine.knowledge.create_relation(entity.id, entity.id, "likes")))
    assert made[0] == made[1]
    counts = engine.status().counts
    assert (counts.entities, counts.relations) == (1, 1)


def test_a_deletion_that_is_made_again_succeeds(engine: Engine) -> None:
    memory = engine.memories.store(Draft("The okapi is shy."))
    for again in (False, True):
        with keyed("k", is_retry=again):
            engine.memories.delete(memory.id)
