"""Vectors behind the chunks: all of them, each once, whatever is in the way."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer import embedding as module
from indexer.embedding import Embedding
from retrieval.code.document import embedded_text
from retrieval.embedding.encoder import Encoder
from retrieval.errors import StoreError
from retrieval.records import Scope
from retrieval.store.changes import Change
from tests.builders import MODEL, SPEC
from tests.fakes import HashModel
from tests.unit.indexer.workshop import Workshop, function

WAIT = 30.0
READY = f"{SPEC.query_prefix}ready?"


class Model(HashModel):
    """Notes what it embeds, and can be held up."""

    def __init__(self) -> None:
        super().__init__(SPEC.dimensions)
        self.texts: list[str] = []
        self.reached = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self.failures = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if list(texts) != [READY]:
            self.reached.set()
            assert self.go_on.wait(WAIT)
            if self.failures:
                self.failures -= 1
                raise RuntimeError("out of luck")
            self.texts += texts
        return super().embed(texts)


class Behind:
    """An embedding of a workshop's chunks that has not begun."""

    def __init__(self, shop: Workshop, encoder: Encoder | None = None) -> None:
        self.shop = shop
        self.model = Model()
        self.completed = 0
        self.embedding = Embedding(
            shop.store, shop.indexes, encoder or Encoder(SPEC, lambda: self.model), done=self._done
        )

    def _done(self) -> None:
        self.completed += 1

    def finish(self) -> None:
        self.embedding.wake()
        assert self.embedding.wait(WAIT)

    def missing(self, project: str | None = None) -> int:
        return len(self.embedding.missing(None if project is None else Scope("engine", project)))


@pytest.fixture
def start(shop: Workshop) -> Iterator[Callable[..., Behind]]:
    begun: list[Behind] = []

    def start(**options: Any) -> Behind:
        behind = Behind(shop, **options)
        begun.append(behind)
        behind.embedding.start()
        return behind

    yield start
    for behind in begun:
        behind.model.go_on.set()
        behind.embedding.close()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)


def test_every_chunk_gets_its_vector(shop: Workshop, start: Callable[..., Behind]) -> None:
    shop.write({"a.py": function("alpha") + function("beta"), "b.py": function("gamma")})
    shop.index()
    behind = start()
    assert (behind.missing(), behind.missing("app"), behind.missing("other")) == (3, 3, 0)
    behind.finish()
    assert behind.missing() == 0
    assert behind.completed >= 1
    chunk = shop.chunks()["alpha"]
    assert embedded_text("", "alpha", chunk.content) in behind.model.texts
    stored = shop.store.code.vectors([chunk.digest], MODEL)[chunk.digest]
    assert stored.tolist() == behind.model.embed([embedded_text("", "alpha", chunk.content)])[0].tolist()
    shop.check()


def test_nothing_is_made_for_no_chunks(start: Callable[..., Behind]) -> None:
    behind = start()
    behind.finish()
    assert behind.model.texts == []


def test_equal_chunks_are_embedded_once(shop: Workshop, start: Callable[..., Behind]) -> None:
    shop.write({"a.py": function("alpha"), "b.py": function("alpha")})
    shop.index()
    shop.index(shop.other_project("other", {"c.py": function("alpha")}))
    behind = start()
    behind.finish()
    assert len(behind.model.texts) == 1
    assert len(shop.indexes.code.dense) == 3
    shop.check()


def test_a_vector_that_was_ever_made_is_taken_from_the_store(
    shop: Workshop, start: Callable[..., Behind]
) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()
    behind = start()
    behind.finish()
    behind.model.texts.clear()
    (shop.root / "a.py").rename(shop.root / "b.py")
    shop.index()
    shop.index(shop.other_project("other", {"c.py": function("alpha")}))
    assert behind.missing() == 2
    behind.finish()
    assert behind.model.texts == []
    assert behind.missing() == 0
    shop.check()


def test_many_chunks_are_made_in_batches_of_similar_length(
    shop: Workshop, start: Callable[..., Behind], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(module, "STRETCH", 4)
    shop.write({f"{i}.py": function(f"name{i}", f"return '{'x' * (40 - i)}'") for i in range(9)})
    shop.index()
    behind = start()
    before = shop.store.state().seq
    behind.finish()
    lengths = [len(text) for text in behind.model.texts]
    assert [lengths[i : i + 4] for i in (0, 4, 8)] == [sorted(lengths[i : i + 4]) for i in (0, 4, 8)]
    assert shop.store.state().seq == before + 5
    shop.check()


def test_a_chunk_that_goes_meanwhile_gets_no_vector(shop: Workshop, start: Callable[..., Behind]) -> None:
    shop.write({"a.py": function("alpha"), "b.py": function("beta")})
    shop.index()
    gone = shop.chunks()["alpha"]
    behind = start()
    behind.model.go_on.clear()
    behind.embedding.wake()
    assert behind.model.reached.wait(WAIT)
    (shop.root / "a.py").unlink()
    shop.index()
    behind.model.go_on.set()
    behind.finish()
    assert shop.store.code.vectors([gone.digest], MODEL) == {}
    assert len(shop.indexes.code.dense) == 1
    shop.check()


def test_while_it_is_held_nothing_is_made(shop: Workshop, start: Callable[..., Behind]) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()
    behind = start()
    behind.embedding.hold()
    behind.embedding.hold()
    behind.embedding.wake()
    behind.embedding.release()
    assert not behind.embedding.wait(0.05)
    assert behind.missing() == 1
    behind.embedding.release()
    assert behind.embedding.wait(WAIT)
    assert behind.missing() == 0


def test_what_was_left_by_a_stop_is_made_next_time(
    shop: Workshop, start: Callable[..., Behind], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 1)
    shop.write({f"{i}.py": function(f"name{i}") for i in range(4)})
    shop.index()
    first = start()
    first.model.go_on.clear()
    first.embedding.wake()
    assert first.model.reached.wait(WAIT)
    closing = threading.Thread(target=first.embedding.close)
    closing.start()
    assert first.embedding._stopping.wait(WAIT)
    first.model.go_on.set()
    closing.join(WAIT)
    assert first.missing() == 3  # the batch under way was kept
    second = start()
    second.finish()
    assert len(first.model.texts) + len(second.model.texts) == 4
    shop.check()


def test_it_waits_for_a_model_that_is_still_loading(shop: Workshop, start: Callable[..., Behind]) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()
    loaded = threading.Event()

    def slow() -> Model:
        assert loaded.wait(WAIT)
        return Model()

    behind = start(encoder=Encoder(SPEC, slow, wait_seconds=WAIT))
    behind.embedding.wake()
    assert not behind.embedding.wait(0.05)
    loaded.set()
    assert behind.embedding.wait(WAIT)
    assert behind.missing() == 0


def test_closing_does_not_wait_for_a_model_that_is_still_loading(
    shop: Workshop, start: Callable[..., Behind]
) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()
    loading, loaded = threading.Event(), threading.Event()

    def slow() -> Model:
        loading.set()
        assert loaded.wait(WAIT)
        return Model()

    behind = start(encoder=Encoder(SPEC, slow, wait_seconds=10 * WAIT))
    behind.embedding.wake()
    assert loading.wait(WAIT)
    closing = threading.Thread(target=behind.embedding.close)
    closing.start()
    closing.join(WAIT)
    assert not closing.is_alive()
    loaded.set()


def test_without_a_model_code_stays_without_vectors(
    shop: Workshop, start: Callable[..., Behind], caplog: pytest.LogCaptureFixture
) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()

    def broken() -> Model:
        raise OSError("no such file")

    behind = start(encoder=Encoder(SPEC, broken))
    with caplog.at_level(logging.WARNING):
        behind.finish()
    assert "no such file" in caplog.text
    assert (behind.missing(), behind.completed) == (1, 1)


def test_a_model_that_stumbles_is_asked_again(
    shop: Workshop, start: Callable[..., Behind], caplog: pytest.LogCaptureFixture
) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()
    behind = start()
    behind.model.failures = 2
    with caplog.at_level(logging.WARNING):
        behind.finish()
    assert caplog.text.count("vectors have to wait: out of luck") == 2
    assert behind.missing() == 0
    shop.check()


def test_a_store_that_refuses_is_asked_again(
    shop: Workshop, start: Callable[..., Behind], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write({"a.py": function("alpha")})
    shop.index()
    behind = start()
    add_vectors = shop.store.code.add_vectors

    def refuse(*_: Any) -> list[Change]:
        monkeypatch.setattr(shop.store.code, "add_vectors", add_vectors)
        raise StoreError("disk full")

    monkeypatch.setattr(shop.store.code, "add_vectors", refuse)
    behind.finish()
    assert behind.missing() == 0


def test_an_index_that_cannot_follow_is_waited_for(
    shop: Workshop, start: Callable[..., Behind], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 1)
    shop.write({f"{i}.py": function(f"name{i}") for i in range(3)})
    shop.index()
    behind = start()
    index: Any = shop.indexes.code.catalog
    apply = index.apply

    def fail(changes: Sequence[Change]) -> None:
        monkeypatch.setattr(index, "apply", apply)
        raise OSError("disk full")

    monkeypatch.setattr(index, "apply", fail)
    behind.finish()
    assert shop.indexes.wait(WAIT)
    assert behind.missing() == 0
    shop.check()


def test_a_damaged_shelf_does_not_matter(
    shop: Workshop, start: Callable[..., Behind], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write({"a.py": function("alpha"), "b.py": function("beta")})
    shop.index()
    lost = shop.chunks()["alpha"].row
    shelf: Any = shop.indexes.code.shelf
    read = shelf.read

    def damaged(rows: Any) -> list[Any]:
        return [
            None if row == lost else record for row, record in zip(rows.tolist(), read(rows), strict=True)
        ]

    monkeypatch.setattr(shelf, "read", damaged)
    behind = start()
    behind.finish()
    assert behind.missing() == 0
    monkeypatch.undo()
    shop.check()
