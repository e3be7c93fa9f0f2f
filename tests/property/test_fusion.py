"""Fusion against a plain Python reference."""

import math
import statistics
from typing import Final

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from retrieval.fusion import fuse, z_scores
from retrieval.records import Scores

Column = list[float | None]
"""The scores of one channel; None where it did not find the candidate."""

NAMES: Final = ("vector", "bm25", "ppr")

# Scores a thousandth apart or equal: whether scores differ must not be a question of rounding.
scores = st.one_of(st.none(), st.integers(-20_000, 20_000).map(lambda value: value / 1000))
columns = st.integers(0, 12).flatmap(
    lambda size: st.tuples(*(st.lists(scores, min_size=size, max_size=size) for _ in NAMES))
)
weights = st.tuples(*(st.one_of(st.just(0.0), st.floats(0.01, 100)) for _ in NAMES)).filter(any)


def as_array(column: Column) -> Scores:
    return np.array([math.nan if value is None else value for value in column], dtype=np.float64)


def reference_z(column: Column) -> list[float] | None:
    found = [value for value in column if value is not None]
    if not found:
        return None
    lowest = min(found)
    filled = [lowest if value is None else value for value in column]
    if len(set(filled)) == 1:
        return None
    mean, deviation = statistics.fmean(filled), statistics.pstdev(filled)
    return [(value - mean) / deviation for value in filled]


def reference_fuse(channels: dict[str, Column], weights: dict[str, float]) -> list[float]:
    size = len(next(iter(channels.values())))
    heard = {
        name: z
        for name, column in channels.items()
        if weights[name] > 0 and (z := reference_z(column)) is not None
    }
    total = sum(weights[name] for name in heard)
    return [
        sum(weights[name] * z[i] for name, z in heard.items()) / total if heard else 0.0 for i in range(size)
    ]


def fused(table: tuple[Column, ...], given_weights: tuple[float, ...]) -> Scores:
    channels = {name: as_array(column) for name, column in zip(NAMES, table, strict=True)}
    return fuse(channels, dict(zip(NAMES, given_weights, strict=True)))


@given(column=st.lists(scores, max_size=15))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_z_scores(column: Column) -> None:
    expected = reference_z(column)
    found = z_scores(as_array(column))
    if expected is None:
        assert found is None
    else:
        assert found == pytest.approx(expected, abs=1e-9)


@given(table=columns, chosen=weights)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_fusion(table: tuple[Column, ...], chosen: tuple[float, ...]) -> None:
    channels = dict(zip(NAMES, table, strict=True))
    expected = reference_fuse(channels, dict(zip(NAMES, chosen, strict=True)))
    found = fused(table, chosen)
    assert found == pytest.approx(expected, abs=1e-9)
    assert np.isfinite(found).all()


@given(table=columns, chosen=weights, factor=st.floats(1e-3, 1e3), shift=st.integers(-1_000, 1_000))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_scale_and_origin_of_a_channel_do_not_matter(
    table: tuple[Column, ...], chosen: tuple[float, ...], factor: float, shift: int
) -> None:
    moved = tuple([None if value is None else value * 4 + shift for value in column] for column in table)
    assert fused(moved, chosen) == pytest.approx(fused(table, chosen), abs=1e-6)
    assert fused(table, tuple(weight * factor for weight in chosen)) == pytest.approx(
        fused(table, chosen), abs=1e-9
    )


@given(table=columns, chosen=weights, data=st.data())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_the_order_of_candidates_does_not_matter(
    table: tuple[Column, ...], chosen: tuple[float, ...], data: st.DataObject
) -> None:
    size = len(table[0])
    order = data.draw(st.permutations(range(size)))
    shuffled = tuple([column[i] for i in order] for column in table)
    assert fused(shuffled, chosen) == pytest.approx(
        fused(table, chosen)[list(order)] if size else [], abs=1e-9
    )


@given(table=columns, chosen=weights)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_better_everywhere_is_better(table: tuple[Column, ...], chosen: tuple[float, ...]) -> None:
    """A candidate at least as good in every channel is not ranked below the other."""
    assume(len(table[0]) >= 2)
    filled = [[-math.inf if value is None else value for value in column] for column in table]
    ranked = fused(table, chosen)
    for i in range(len(table[0])):
        for j in range(len(table[0])):
            if all(column[i] >= column[j] for column in filled):
                assert ranked[i] >= ranked[j] - 1e-9
