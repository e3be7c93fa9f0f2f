"""From a question to ranked hits: channels, candidates, fusion."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.fusion import Weights
from retrieval.indexes import Indexes
from retrieval.records import Memory, Scope
from retrieval.search import Hit, Recalled, recall, search_vectors, search_words
from retrieval.store.store import Store
from tests.builders import MODEL, NOW, SPEC, a_memory
from tests.fakes import HashModel

HOME = Scope("engine")
BY_WORDS = Weights(vector=0, bm25=1, ppr=0)
BY_MEANING = Weights(vector=1, bm25=0, ppr=0)
BY_GRAPH = Weights(vector=0, bm25=0, ppr=1)

CONTENTS = {
    "river": "The Danube flows through Vienna and Budapest",
    "city": "Vienna is the capital of Austria",
    "cake": "Sachertorte is a chocolate cake",
    "hotel": "Sachertorte was made famous by a hotel in Vienna",
}


@dataclass
class Library:
    store: Store
    indexes: Indexes
    model: HashModel

    def add(self, key: str, content: str, **fields: Any) -> Memory:
        memory = a_memory(key.ljust(20, "x"), content=content, **fields)
        vectors = self.model.embed([content])
        change = self.indexes.commit(lambda: self.store.create_memories([memory], vectors, MODEL))[0]
        assert isinstance(change.record, Memory)
        return change.record

    def recall(
        self, query: str, weights: Weights | None = None, k: int = 10, scope: Scope = HOME
    ) -> Recalled:
        weights = weights or Weights()
        vector = self.model.embed([query])[0] if weights.vector > 0 else None
        return recall(self.indexes, query, vector, k, scope, NOW, weights)

    def keys(self, hits: "list[Hit] | tuple[Hit, ...]") -> list[str]:
        rows = np.array([hit.row for hit in hits], dtype=np.int64)
        return [key.rstrip("x") for key in self.indexes.catalog.ids(rows)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library that no test changes."""
    root = tmp_path_factory.mktemp("search")
    yield from opened(root)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    yield from opened(tmp_path)


def opened(root: Path) -> Iterator[Library]:
    store = Store.open(root / "database")
    store.set_model(MODEL, SPEC.dimensions)
    indexes = Indexes.open(store, root / "indexes", MODEL, SPEC.dimensions)
    indexes.catch_up()
    library = Library(store, indexes, HashModel(SPEC.dimensions))
    for key, content in CONTENTS.items():
        library.add(key, content)
    yield library
    indexes.close()
    store.close()


def test_words_find_memories_that_have_them(shared: Library) -> None:
    hits = search_words(shared.indexes, "capital Vienna", 10, HOME, NOW)
    assert shared.keys(hits)[0] == "city"
    assert set(shared.keys(hits)) == {"city", "river", "hotel"}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_vectors_find_the_nearest(shared: Library) -> None:
    query = shared.model.embed([CONTENTS["cake"]])[0]
    hits = search_vectors(shared.indexes, query, 2, HOME, NOW)
    assert shared.keys(hits)[0] == "cake"
    assert hits[0].score == pytest.approx(1.0)
    assert len(hits) == 2


def test_a_search_by_one_channel_has_no_scores_of_others(shared: Library) -> None:
    (hit,) = search_words(shared.indexes, "Danube", 1, HOME, NOW)
    assert (hit.vector, hit.bm25, hit.ppr) == (None, None, None)


def test_recall_explains_itself(shared: Library) -> None:
    hit = shared.recall("chocolate cake").hits[0]
    assert shared.keys([hit]) == ["cake"]
    assert hit.vector is not None
    assert hit.bm25 is not None
    assert hit.ppr is not None


def test_recall_ranks_by_the_fused_score(shared: Library) -> None:
    scores = [hit.score for hit in shared.recall("Vienna hotel").hits]
    assert scores == sorted(scores, reverse=True)


def test_a_candidate_that_a_channel_did_not_find_has_no_score_there(shared: Library) -> None:
    recalled = shared.recall("Danube", Weights(1, 1, 0)).hits
    hits = dict(zip(shared.keys(recalled), recalled, strict=True))
    assert hits["cake"].bm25 is None
    assert hits["river"].bm25 is not None


def test_the_graph_reaches_what_shares_no_word_with_the_question(shared: Library) -> None:
    """Danube - Vienna - hotel: the river memory connects them."""
    recalled = shared.recall("Danube", BY_GRAPH)
    assert shared.keys(recalled.hits)[0] == "river"
    assert {"city", "hotel"} <= set(shared.keys(recalled.hits))
    assert recalled.subgraph_nodes > len(recalled.hits)


def test_without_the_graph_no_nodes_take_part(shared: Library) -> None:
    assert shared.recall("Danube", BY_WORDS).subgraph_nodes == 0


def test_weights_choose_the_channel(shared: Library) -> None:
    assert shared.keys(shared.recall("Danube", BY_WORDS).hits) == ["river"]
    near = shared.keys(shared.recall("Danube", BY_MEANING).hits)
    assert near[0] == "river"
    assert set(near) == set(CONTENTS)


def test_no_more_than_asked_for(shared: Library) -> None:
    assert len(shared.recall("Vienna", k=2).hits) == 2


def test_nothing_found(shared: Library) -> None:
    assert shared.recall("xylophone", BY_WORDS).hits == ()


def test_a_question_without_words_is_answered_by_meaning(shared: Library) -> None:
    assert set(shared.keys(shared.recall("?!").hits)) == set(CONTENTS)
    assert search_words(shared.indexes, "?!", 5, HOME, NOW) == []


def test_another_scope_finds_nothing(shared: Library) -> None:
    for scope in (Scope("memento"), Scope("engine", "ada")):
        assert shared.recall("Vienna", scope=scope).hits == ()
        assert search_words(shared.indexes, "Vienna", 5, scope, NOW) == []
        assert search_vectors(shared.indexes, shared.model.embed(["Vienna"])[0], 5, scope, NOW) == []


def test_one_memory_is_found_with_a_score_of_nought(library: Library) -> None:
    library.add("lone", "Helsinki", space="elsewhere")
    (hit,) = library.recall("Helsinki", scope=Scope("elsewhere")).hits
    assert (library.keys([hit]), hit.score) == (["lone"], 0.0)


def everywhere(library: Library, query: str, scope: Scope = HOME) -> set[str]:
    """What any of the ways to search finds."""
    vector = library.model.embed([query])[0]
    return (
        set(library.keys(search_words(library.indexes, query, 50, scope, NOW)))
        | set(library.keys(search_vectors(library.indexes, vector, 50, scope, NOW)))
        | set(library.keys(library.recall(query, k=50, scope=scope).hits))
        | set(library.keys(library.recall(query, BY_GRAPH, k=50, scope=scope).hits))
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"valid_until": NOW},
        {"expires_at": NOW},
        {"valid_from": NOW + timedelta(microseconds=1)},
        {"space": "memento"},
        {"valid_until": NOW, "user_id": "ada"},
    ],
    ids=["ended", "expired", "not yet", "elsewhere", "ended of a user"],
)
def test_what_is_not_allowed_is_found_by_no_channel(library: Library, fields: dict[str, Any]) -> None:
    library.add("hidden", "Vienna has a hidden Danube island", **fields)
    assert "hidden" not in everywhere(library, "hidden Danube island Vienna")


def test_a_user_finds_only_their_own(library: Library) -> None:
    library.add("hers", "Ada likes Vienna", user_id="ada")
    library.add("his", "Bob likes Vienna", user_id="bob")
    assert everywhere(library, "who likes Vienna", Scope("engine", "ada")) == {"hers"}
    assert {"hers", "his", "city"} <= everywhere(library, "who likes Vienna")


def test_a_hidden_memory_does_not_connect_others(library: Library) -> None:
    library.add("his", "Quagga fed Dodo", user_id="bob")
    library.add("hers", "Dodo bit Moa", user_id="ada")
    assert library.keys(library.recall("Quagga", BY_GRAPH).hits) == ["his", "hers"]
    assert library.keys(library.recall("Quagga", BY_GRAPH, scope=Scope("engine", "ada")).hits) == []


def test_a_deleted_memory_is_found_by_no_channel(library: Library) -> None:
    memory = library.add("gone", "Vienna has a vanishing island")
    library.indexes.commit(lambda: [library.store.delete_memory(memory)])
    assert "gone" not in everywhere(library, "vanishing island Vienna")


def test_an_updated_memory_is_found_by_its_new_words_only(library: Library) -> None:
    memory = library.add("moved", "Gozo island")
    changed = replace(memory, content="Malta fortress")
    vector = library.model.embed([changed.content])[0]
    library.indexes.commit(lambda: [library.store.update_memory(changed, vector, MODEL)])
    assert library.keys(search_words(library.indexes, "fortress", 5, HOME, NOW)) == ["moved"]
    assert search_words(library.indexes, "Gozo", 5, HOME, NOW) == []
    assert library.keys(library.recall("Malta", BY_GRAPH).hits) == ["moved"]
    assert "moved" not in library.keys(library.recall("Gozo", BY_GRAPH).hits)
