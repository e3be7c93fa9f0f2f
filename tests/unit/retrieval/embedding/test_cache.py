"""Does the vector cache keep what is used and forget the rest?"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from retrieval.embedding.cache import LONGEST_KEY, CacheStats, VectorCache
from retrieval.records import Vector


def vector(value: float) -> Vector:
    return np.full(4, value, dtype=np.float32)


def test_returns_what_was_put_and_counts() -> None:
    cache = VectorCache(2)
    assert cache.get("query", "a") is None
    cache.put("query", "a", vector(1))
    found = cache.get("query", "a")
    assert found is not None
    np.testing.assert_array_equal(found, vector(1))
    assert cache.stats == CacheStats(hits=1, misses=1, size=1, capacity=2)


def test_query_and_passage_of_the_same_words_are_two_entries() -> None:
    cache = VectorCache(2)
    cache.put("query", "a", vector(1))
    assert cache.get("passage", "a") is None


def test_least_recently_used_leaves_first() -> None:
    cache = VectorCache(2)
    cache.put("query", "a", vector(1))
    cache.put("query", "b", vector(2))
    cache.get("query", "a")
    cache.put("query", "c", vector(3))
    assert cache.get("query", "b") is None
    assert cache.get("query", "a") is not None
    assert cache.stats.size == 2


def test_long_texts_are_told_apart_by_their_end() -> None:
    cache = VectorCache(4)
    text = "x" * (LONGEST_KEY * 5)
    cache.put("passage", text + "1", vector(1))
    assert cache.get("passage", text + "2") is None
    assert cache.get("passage", text + "1") is not None


def test_long_text_with_a_lone_surrogate_is_a_key_like_any_other() -> None:
    cache = VectorCache(1)
    text = "\ud800" * (LONGEST_KEY + 1)
    cache.put("query", text, vector(1))
    assert cache.get("query", text) is not None


def test_capacity_zero_is_off() -> None:
    cache = VectorCache(0)
    cache.put("query", "a", vector(1))
    assert cache.get("query", "a") is None
    assert cache.stats == CacheStats(hits=0, misses=0, size=0, capacity=0)


def test_cached_vector_cannot_be_spoiled() -> None:
    cache = VectorCache(1)
    original = vector(1)
    cache.put("query", "a", original)
    original[0] = 9
    found = cache.get("query", "a")
    assert found is not None
    assert found[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 5


def test_threads_share_it() -> None:
    cache = VectorCache(50)

    def work(seed: int) -> None:
        for step in range(500):
            text = str((seed * 31 + step) % 80)
            found = cache.get("query", text)
            assert found is None or found[0] == float(text)
            cache.put("query", text, vector(float(text)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    stats = cache.stats
    assert stats.size == 50
    assert stats.hits + stats.misses == 8 * 500
