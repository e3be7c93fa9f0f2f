"""Does the encoder say honestly whether it is loading, ready or failed, and keep order and prefixes?"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.embedding.encoder import BULK, Encoder, Failed, Loading, Model, Ready, open_encoder
from retrieval.embedding.registry import Bundled, find_model
from retrieval.errors import EncoderFailed, EncoderNotReady
from tests.fakes import HashModel

SPEC = replace(find_model("minilm"), name="fake", dimensions=64)
PREFIXED = replace(SPEC, query_prefix="query: ", passage_prefix="passage: ")
PATIENCE = 10.0


class Recorder(HashModel):
    """Remembers the batches it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        return super().embed(texts)

    @property
    def after_probe(self) -> list[list[str]]:
        return self.batches[1:]  # the first is the check at load time


def held(gate: threading.Event) -> Callable[[], Model]:
    def load() -> Model:
        assert gate.wait(PATIENCE)
        return HashModel()

    return load


def failing(error: Exception) -> Callable[[], Model]:
    def load() -> Model:
        raise error

    return load


def test_nothing_is_loaded_before_somebody_asks() -> None:
    encoder = Encoder(SPEC, failing(AssertionError("must not run")))
    assert encoder.state == Loading()
    assert encoder.dimensions == 64


def test_loading_then_ready() -> None:
    gate = threading.Event()
    encoder = Encoder(SPEC, held(gate))
    encoder.start()
    assert encoder.state == Loading()
    gate.set()
    state = encoder.wait(PATIENCE)
    assert isinstance(state, Ready)
    assert state.seconds >= 0
    assert encoder.wait(0) == state


def test_starting_twice_loads_once() -> None:
    loads: list[int] = []

    def load() -> Model:
        loads.append(1)
        return HashModel()

    encoder = Encoder(SPEC, load)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: encoder.start(), range(32)))
    encoder.wait(PATIENCE)
    assert loads == [1]


def test_embedding_starts_the_load() -> None:
    assert Encoder(SPEC, HashModel).embed_query("hello").shape == (64,)


def test_wait_is_bounded_while_loading() -> None:
    gate = threading.Event()
    encoder = Encoder(SPEC, held(gate), wait_seconds=0.02)
    begin = time.monotonic()
    with pytest.raises(EncoderNotReady, match=r"^Embedding service not ready\. Please try again\.$"):
        encoder.embed_query("hello")
    with pytest.raises(EncoderNotReady):
        encoder.embed_passages(["hello"])
    assert time.monotonic() - begin < 5
    assert encoder.wait(0.0) == Loading()
    gate.set()
    assert isinstance(encoder.wait(PATIENCE), Ready)


def test_those_who_wait_get_their_vector() -> None:
    gate = threading.Event()
    encoder = Encoder(SPEC, held(gate), wait_seconds=PATIENCE)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(encoder.embed_query, f"text {number}") for number in range(4)]
        gate.set()
        assert all(future.result(PATIENCE).shape == (64,) for future in waiting)


def test_known_failure_keeps_its_reason() -> None:
    encoder = Encoder(SPEC, failing(EncoderFailed("no network")))
    assert encoder.wait(PATIENCE) == Failed("no network")
    with pytest.raises(EncoderFailed, match="failed to load: no network"):
        encoder.embed_query("hello")


def test_any_other_failure_becomes_a_reason_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    encoder = Encoder(SPEC, failing(RuntimeError("out of paper")))
    assert encoder.wait(PATIENCE) == Failed("RuntimeError: out of paper")
    assert "fake failed to load" in caplog.text


def test_wrong_dimension_is_found_at_load_time() -> None:
    encoder = Encoder(SPEC, lambda: HashModel(32))
    assert encoder.wait(PATIENCE) == Failed("fake should give 64 dimensions and gives 32")


def test_vectors_that_are_not_of_unit_length_are_found_at_load_time() -> None:
    class Long(HashModel):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return super().embed(texts) * np.float32(2)

    assert Encoder(SPEC, Long).wait(PATIENCE) == Failed("fake gives vectors of length 2 instead of 1")


def test_prefixes_reach_the_model() -> None:
    model = Recorder()
    encoder = Encoder(PREFIXED, lambda: model)
    encoder.embed_query("a")
    encoder.embed_passages(["a", "b"])
    assert model.after_probe == [["query: a"], ["passage: a", "passage: b"]]


def test_repeated_query_is_embedded_once() -> None:
    model = Recorder()
    encoder = Encoder(SPEC, lambda: model)
    first, second = encoder.embed_query("a"), encoder.embed_query("a")
    np.testing.assert_array_equal(first, second)
    assert len(model.after_probe) == 1
    assert (encoder.cache_stats.hits, encoder.cache_stats.misses, encoder.cache_stats.size) == (1, 1, 1)


def test_passages_keep_their_order_through_cache_and_duplicates() -> None:
    model = Recorder()
    encoder = Encoder(SPEC, lambda: model)
    encoder.embed_passages(["two"])
    found = encoder.embed_passages(["one", "two", "three", "one"])
    np.testing.assert_array_equal(found, HashModel().embed(["one", "two", "three", "one"]))
    assert model.after_probe == [["two"], ["one", "three"]]


def test_no_passages_need_no_model() -> None:
    encoder = Encoder(SPEC, failing(AssertionError("must not run")))
    assert encoder.embed_passages([]).shape == (0, 64)


def test_bulk_work_does_not_push_queries_out() -> None:
    encoder = Encoder(SPEC, HashModel, cache_size=4)
    encoder.embed_query("kept")
    encoder.embed_passages([f"chunk {number}" for number in range(BULK)])
    encoder.embed_query("kept")
    assert encoder.cache_stats.hits == 1


def test_cache_can_be_turned_off() -> None:
    encoder = Encoder(SPEC, HashModel, cache_size=0)
    encoder.embed_query("a")
    encoder.embed_query("a")
    assert (encoder.cache_stats.hits, encoder.cache_stats.size) == (0, 0)


def test_threads_get_the_right_vectors() -> None:
    encoder = Encoder(SPEC, HashModel, cache_size=10)
    texts = [f"topic {number}" for number in range(40)]
    expected = HashModel().embed(texts)

    def ask(number: int) -> None:
        at = number % len(texts)
        np.testing.assert_array_equal(encoder.embed_query(texts[at]), expected[at])
        np.testing.assert_array_equal(encoder.embed_passages(texts[at : at + 3]), expected[at : at + 3])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(200)))


def test_closed_encoder_answers_with_a_reason() -> None:
    encoder = Encoder(SPEC, HashModel)
    encoder.embed_query("a")
    encoder.close()
    assert encoder.state == Failed("the encoder was closed")
    with pytest.raises(EncoderFailed, match="closed"):
        encoder.embed_query("a")


def test_closing_while_loading_drops_the_model() -> None:
    gate = threading.Event()
    encoder = Encoder(SPEC, held(gate), wait_seconds=PATIENCE)
    encoder.start()
    encoder.close()
    gate.set()
    assert encoder.wait(PATIENCE) == Failed("the encoder was closed")


def test_open_encoder_loads_the_bundled_model(tmp_path: Path) -> None:
    encoder = open_encoder(find_model("minilm"), cache_dir=tmp_path)
    assert encoder.state == Loading()
    assert isinstance(encoder.wait(PATIENCE), Ready)
    query = encoder.embed_query("Where are sessions stored?")
    near, far = encoder.embed_passages(["Sessions live in PostgreSQL.", "Lunch is at noon."])
    assert query @ near > query @ far


def test_missing_bundled_model_is_a_failed_state(tmp_path: Path) -> None:
    encoder = open_encoder(replace(SPEC, source=Bundled("gone")), cache_dir=tmp_path)
    assert encoder.wait(PATIENCE) == Failed("the bundled model gone is missing; install memory-mcp again")
