"""Fusion: the stated edge cases."""

import math

import numpy as np
import pytest

from retrieval.errors import InvalidInput
from retrieval.fusion import Weights, fuse, z_scores
from retrieval.records import Scores

NAN = math.nan


def column(*values: float) -> Scores:
    return np.array(values, dtype=np.float64)


def test_z_scores_have_mean_nought_and_deviation_one() -> None:
    z = z_scores(column(1, 2, 3, 10))
    assert z is not None
    assert z.mean() == pytest.approx(0)
    assert z.std() == pytest.approx(1)
    assert z.tolist() == sorted(z.tolist())


def test_a_candidate_that_was_not_found_gets_the_lowest_score() -> None:
    z = z_scores(column(0.9, NAN, 0.5))
    assert z is not None
    assert z.tolist() == z_scores(column(0.9, 0.5, 0.5)).tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "scores", [(), (0.7,), (NAN, NAN), (0.4, 0.4, 0.4), (0.4, NAN), (0.3, 0.3 + 1e-17)], ids=str
)
def test_scores_that_tell_nothing_apart(scores: tuple[float, ...]) -> None:
    assert z_scores(column(*scores)) is None


def test_equal_large_scores_with_rounding_noise_tell_nothing_apart() -> None:
    assert z_scores(column(1e6, 1e6 + 1e-6, 1e6)) is None


def test_scores_are_not_changed_in_place() -> None:
    scores = column(1, NAN, 3)
    z_scores(scores)
    assert np.isnan(scores[1])


def test_the_sum_is_weighted() -> None:
    a, b = column(1, 2, 3), column(3, 1, 1)
    fused = fuse({"a": a, "b": b}, {"a": 0.75, "b": 0.25})
    expected = 0.75 * z_scores(a) + 0.25 * z_scores(b)  # type: ignore[operator]
    assert fused == pytest.approx(expected)


def test_only_the_proportion_of_weights_matters() -> None:
    channels = {"a": column(1, 2, 4), "b": column(3, NAN, 1)}
    assert fuse(channels, {"a": 1, "b": 3}) == pytest.approx(fuse(channels, {"a": 0.1, "b": 0.3}))


@pytest.mark.parametrize("silent", [(NAN, NAN, NAN), (0.5, 0.5, 0.5)], ids=["empty", "flat"])
def test_a_silent_channel_gives_its_weight_to_the_others(silent: tuple[float, ...]) -> None:
    spoken = {"a": column(1, 2, 4), "b": column(3, NAN, 1)}
    weights = {"a": 0.2, "b": 0.3, "c": 0.5}
    assert fuse({**spoken, "c": column(*silent)}, weights) == pytest.approx(fuse(spoken, weights))


def test_a_channel_of_no_weight_is_not_heard() -> None:
    channels = {"a": column(1, 2, 4), "b": column(9, -9, 0)}
    assert fuse(channels, {"a": 1, "b": 0}) == pytest.approx(fuse({"a": channels["a"]}, {"a": 1}))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_when_nobody_has_anything_to_say_all_scores_are_nought(size: int) -> None:
    channels = {"a": np.full(size, 0.5), "b": np.full(size, NAN)}
    assert fuse(channels, {"a": 1.0, "b": 1.0}).tolist() == [0.0] * size


def test_one_channel_alone_keeps_its_order() -> None:
    scores = column(0.2, 0.9, NAN, 0.5)
    fused = fuse({"a": scores}, {"a": 0.3})
    assert np.argsort(-fused)[:2].tolist() == [1, 3]
    assert fused[0] == fused[2] == fused.min()


def test_the_default_weights() -> None:
    assert Weights() == Weights(vector=0.40, bm25=0.15, ppr=0.45)


@pytest.mark.parametrize("name", ["vector", "bm25", "ppr"])
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, -math.inf])
def test_a_weight_that_is_no_amount_is_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        Weights(**{name: value})
    assert caught.value.field == f"{name}_weight"


def test_weights_that_are_all_nought_are_refused() -> None:
    with pytest.raises(InvalidInput, match="all 0"):
        Weights(0, 0, 0)


def test_one_weight_is_enough() -> None:
    assert Weights(0, 0, 1e-9).ppr == 1e-9
