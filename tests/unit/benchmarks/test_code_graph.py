"""Does the walk over references lead from a definition to those who use it?"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import networkx
import numpy as np
import pytest

from benchmarks.code_graph import ChunkGraph, search_with_graph
from retrieval.code.ranking import WEIGHTS, Rules
from retrieval.code.search import search_code
from retrieval.fusion import Weights
from retrieval.records import Scope, Vector
from tests.builders import MODEL, SPEC
from tests.fakes import HashModel
from tests.unit.indexer.workshop import Workshop, function

HOME = Scope("engine")
WORDS = Weights(vector=0.0, bm25=0.4, ppr=0.0)
FILES = {
    "money/rates.py": function("exchange_rate", "return TABLE[first, second]"),
    "shop/cart.py": "from money.rates import exchange_rate\n\n\n"
    + function("total_price", "return exchange_rate(first, second)"),
    "shop/page.py": "from shop.cart import total_price\n\n\n"
    + function("show_basket", "return total_price(first, second)"),
    "shop/mail.py": function("send_letter", "return post(first, second)"),
}
model = HashModel(SPEC.dimensions)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    made = Workshop(tmp_path.resolve())
    made.write(FILES)
    made.index()
    yield made
    made.close()


def graph_of(shop: Workshop) -> ChunkGraph:
    return ChunkGraph.of_project(shop.store.code, shop.indexes.code.catalog, shop.project.id)


def row_of(shop: Workshop, name: str) -> int:
    return shop.chunks()[name].row


def walked(shop: Workshop, *seeds: str) -> Mapping[int, float]:
    found = graph_of(shop).walk(dict.fromkeys([row_of(shop, seed) for seed in seeds], 1.0))
    return dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))


def embed(shop: Workshop) -> None:
    chunks = list(shop.chunks().values())
    vectors = {chunk.digest: model.embed([chunk.content])[0] for chunk in chunks}
    holders = [(chunk.id, chunk.row, chunk.digest) for chunk in chunks]
    shop.indexes.commit(lambda: shop.store.code.add_vectors(vectors, holders, MODEL, vectors.keys()))


def test_a_caller_gets_more_than_its_caller_and_an_unrelated_chunk_nothing(shop: Workshop) -> None:
    shares = walked(shop, "exchange_rate")
    ways = [shares[row_of(shop, name)] for name in ("exchange_rate", "total_price", "show_basket")]
    assert ways == sorted(ways, reverse=True)
    assert row_of(shop, "send_letter") not in shares


def test_the_walk_goes_both_ways(shop: Workshop) -> None:
    assert row_of(shop, "exchange_rate") in walked(shop, "show_basket")


def test_a_chunk_without_references_keeps_all(shop: Workshop) -> None:
    assert walked(shop, "send_letter") == {row_of(shop, "send_letter"): pytest.approx(0.0)}


def test_without_a_start_there_is_no_walk(shop: Workshop) -> None:
    assert len(graph_of(shop).walk({})) == 0


def test_a_project_without_code_has_no_edges(tmp_path: Path) -> None:
    shop = Workshop(tmp_path.resolve())
    try:
        shop.write({"notes.md": "# Money\n\nRates are in a table.\n"})
        shop.index()
        graph = graph_of(shop)
        assert (len(graph.rows), len(graph.near)) == (1, 0)
    finally:
        shop.close()


def test_every_project_has_a_graph_of_its_own(shop: Workshop) -> None:
    other = shop.other_project("other", FILES)
    shop.index(other)
    graph = ChunkGraph.of_project(shop.store.code, shop.indexes.code.catalog, other.id)
    assert not set(graph.rows.tolist()) & set(graph_of(shop).rows.tolist())
    assert len(graph.near) == len(graph_of(shop).near) > 0


def test_shares_are_those_of_networkx(shop: Workshop) -> None:
    graph = graph_of(shop)
    known = networkx.Graph()
    known.add_nodes_from(graph.rows.tolist())
    ends = (graph.rows[graph.near].tolist(), graph.rows[graph.far].tolist())
    known.add_weighted_edges_from(zip(*ends, graph.conductance.tolist(), strict=True))
    seeds = {row_of(shop, "total_price"): 1.0, row_of(shop, "send_letter"): 0.5}
    expected = networkx.pagerank(known, alpha=0.5, personalization=seeds, tol=1e-12)
    found = graph.walk(seeds)
    assert dict(zip(found.rows.tolist(), np.exp(found.scores).tolist(), strict=True)) == pytest.approx(
        {row: share for row, share in expected.items() if share}, abs=1e-6
    )


def test_a_caller_is_found_that_has_none_of_the_words(shop: Workshop) -> None:
    def asked(weights: Weights) -> list[int]:
        found = search_with_graph(
            shop.indexes, graph_of(shop), "look up in the table", None, 10, HOME, weights, Rules()
        )
        return [one.row for one in found]

    assert asked(WORDS) == [row_of(shop, "exchange_rate")]
    assert asked(WEIGHTS)[:2] == [row_of(shop, "exchange_rate"), row_of(shop, "total_price")]


@pytest.mark.parametrize("query", ["total price", "exchange_rate", "how is a letter sent?", "zeppelin"])
@pytest.mark.parametrize("has_vector", [True, False])
def test_a_walk_that_weighs_nothing_changes_nothing(shop: Workshop, query: str, has_vector: bool) -> None:
    embed(shop)
    vector: Vector | None = model.embed([query])[0] if has_vector else None
    weights = Weights(vector=0.4, bm25=0.4, ppr=0.0)
    expected = search_code(shop.indexes, query, vector, 10, HOME, None, weights)
    found = search_with_graph(shop.indexes, graph_of(shop), query, vector, 10, HOME, weights, Rules())
    assert found == expected
