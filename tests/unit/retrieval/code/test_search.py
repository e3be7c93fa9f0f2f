"""Questions about code, from the query to the ranked chunks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.code.search import search_code
from retrieval.errors import IndexesNotReady
from retrieval.fusion import Weights
from retrieval.indexes import Indexes
from retrieval.records import CodeChunk, Scope
from retrieval.store.code import FileChange
from retrieval.store.store import Store
from tests.agreement import assert_agreement
from tests.builders import MODEL, SPEC, a_chunk, a_file
from tests.fakes import HashModel

HOME = Scope("engine")
model = HashModel(SPEC.dimensions)


class Shop:
    """Chunks in a store with its indexes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = Store.open(root / "database")
        self.store.set_model(MODEL, SPEC.dimensions)
        self.indexes = Indexes.open(self.store, root / "indexes", MODEL, SPEC.dimensions)
        self.indexes.catch_up()

    def add(self, *chunks: CodeChunk, embed: bool = True) -> list[CodeChunk]:
        added = []
        for chunk in chunks:
            change = FileChange(chunk.path, a_file(chunk.path, chunk.project), added=(chunk,))

            def write(change: FileChange = change, project: str = chunk.project) -> Any:
                return self.store.code.write_files(project, [change])

            (written,) = self.indexes.commit(write)
            assert isinstance(written.record, CodeChunk)
            added.append(written.record)
        if embed:
            self.embed(*added)
        return added

    def embed(self, *chunks: CodeChunk) -> None:
        vectors = {chunk.digest: model.embed([chunk.content])[0] for chunk in chunks}
        holders = [(chunk.id, chunk.row, chunk.digest) for chunk in chunks]
        self.indexes.commit(lambda: self.store.code.add_vectors(vectors, holders, MODEL, vectors.keys()))

    def ask(
        self, query: str, k: int = 10, scope: Scope = HOME, *, by_words: bool = False, **options: Any
    ) -> list[int]:
        vector = None if by_words else model.embed([query])[0]
        return [one.row for one in search_code(self.indexes, query, vector, k, scope, **options)]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.indexes.close()
    made.store.close()


def test_the_best_comes_first(shop: Shop) -> None:
    parse, _, _ = shop.add(
        a_chunk("def parse(header): return header.split()", name="parse", path="header.py"),
        a_chunk("def send(socket): socket.write()", name="send", path="socket.py"),
        a_chunk("def retry(call): call()", name="retry", path="retry.py"),
    )
    assert shop.ask("parse a header")[0] == parse.row
    assert_agreement(shop.store, shop.indexes, MODEL, shop.root)


def test_nothing_answers_for_an_empty_store(shop: Shop) -> None:
    assert shop.ask("anything") == []


def test_chunks_are_found_before_they_have_vectors(shop: Shop) -> None:
    (chunk,) = shop.add(a_chunk("def parse(header): pass", name="parse"), embed=False)
    assert shop.ask("header") == [chunk.row]
    assert_agreement(shop.store, shop.indexes, MODEL, shop.root)


def test_chunks_with_and_without_vectors_are_found_together(shop: Shop) -> None:
    (first,) = shop.add(a_chunk("header alpha", path="a.py"))
    (second,) = shop.add(a_chunk("header beta", path="b.py"), embed=False)
    assert sorted(shop.ask("header")) == [first.row, second.row]


def test_without_a_vector_words_answer_alone(shop: Shop) -> None:
    chunk, _ = shop.add(a_chunk("header", path="a.py"), a_chunk("socket", path="b.py"))
    assert shop.ask("header", by_words=True) == [chunk.row]


def test_a_vector_finds_what_no_word_does(shop: Shop) -> None:
    chunk, _ = shop.add(a_chunk("header", path="a.py"), a_chunk("socket", path="b.py"))
    (found, *_) = search_code(shop.indexes, "unheard", model.embed(["header"])[0], 5, HOME)
    assert (found.row, found.bm25) == (chunk.row, None)
    assert found.vector == pytest.approx(1.0)


def test_every_candidate_that_has_a_vector_has_its_cosine(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk proposed by words alone is compared by meaning, too."""
    monkeypatch.setattr("retrieval.code.search.POOL", 1)
    near, worded = shop.add(a_chunk("socket", path="a.py"), a_chunk("header", path="b.py"))
    found = search_code(shop.indexes, "header", model.embed(["socket"])[0], 5, HOME)
    by_row = {one.row: one for one in found}
    assert by_row[near.row].vector == pytest.approx(1.0)
    assert by_row[worded.row].vector is not None


def test_a_definition_is_found_by_its_name_alone(shop: Shop) -> None:
    (chunk, _) = shop.add(
        a_chunk("fn body", name="HttpRouter", path="a.rs"), a_chunk("fn other", name="Other", path="b.rs")
    )
    assert shop.ask("HttpRouter", by_words=True)[0] == chunk.row


def test_the_words_of_the_path_count(shop: Shop) -> None:
    (chunk, _) = shop.add(
        a_chunk("def handle(): pass", path="billing/invoice.py"), a_chunk("def handle(): ...", path="x.py")
    )
    assert shop.ask("invoice", by_words=True)[0] == chunk.row


def test_projects_languages_and_spaces(shop: Shop) -> None:
    here, there, rust, elsewhere = shop.add(
        a_chunk("header one"),
        a_chunk("header two", project="other"),
        a_chunk("header three", path="a.rs", language="rust"),
        a_chunk("header four", space="memento", project="third"),
    )
    for by_words in (True, False):
        assert set(shop.ask("header", by_words=by_words)) == {here.row, there.row, rust.row}
        assert set(shop.ask("header", scope=Scope("engine", "other"), by_words=by_words)) == {there.row}
        assert set(shop.ask("header", language="rust", by_words=by_words)) == {rust.row}
        assert set(shop.ask("header", scope=Scope("memento"), by_words=by_words)) == {elsewhere.row}
        assert shop.ask("header", language="go", by_words=by_words) == []
        assert shop.ask("header", scope=Scope("engine", "nobody"), by_words=by_words) == []


def test_equal_chunks_are_told_once(shop: Shop) -> None:
    shop.add(
        a_chunk("header of all", path="a.py"),
        a_chunk("header of all", path="b.py"),
        a_chunk("header of all", project="other"),
        a_chunk("header of one", path="c.py"),
    )
    found = shop.ask("header")
    digests = shop.indexes.code.catalog.digests(np.array(found))
    assert len(found) == len(set(digests)) == 2


def test_equal_chunks_leave_room_for_others(shop: Shop) -> None:
    shop.add(
        a_chunk("header x", path="a.py"), a_chunk("header x", path="b.py"), a_chunk("header y", path="c.py")
    )
    assert len(shop.ask("header", 2)) == 2


def test_the_limit_is_kept(shop: Shop) -> None:
    shop.add(*(a_chunk(f"header {i}", path=f"{i}.py") for i in range(6)))
    assert len(shop.ask("header", 3)) == 3


def test_weights_switch_a_channel_off(shop: Shop) -> None:
    shop.add(a_chunk("header", path="a.py"), a_chunk("socket", path="b.py"))
    for one in search_code(
        shop.indexes, "header", model.embed(["header"])[0], 5, HOME, weights=Weights(0, 1, 0)
    ):
        assert one.vector is None


def test_what_is_removed_is_not_found(shop: Shop) -> None:
    (chunk, other) = shop.add(a_chunk("header one", path="a.py"), a_chunk("header two", path="b.py"))
    gone = FileChange(chunk.path, None, removed=((chunk.id, chunk.row),))
    shop.indexes.commit(lambda: shop.store.code.write_files("app", [gone]))
    assert shop.ask("header") == [other.row]
    assert_agreement(shop.store, shop.indexes, MODEL, shop.root)


def test_indexes_that_are_not_current_say_so(shop: Shop) -> None:
    shop.indexes._live.clear()
    with pytest.raises(IndexesNotReady):
        shop.ask("header")
    shop.indexes._live.set()
