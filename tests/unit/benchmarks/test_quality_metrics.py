"""Do the figures of quality mean what their names say?"""

import math

import numpy as np
import pytest

from benchmarks.quality_metrics import METRICS, estimates, ndcg, paired, reciprocal_rank, score

TEN = [f"other{i}" for i in range(10)]


def at(*places: int) -> list[str]:
    """A ranking of ten with the relevant documents r1, r2, … at these places, counted from 1."""
    ranking = list(TEN)
    for number, place in enumerate(places, 1):
        ranking[place - 1] = f"r{number}"
    return ranking


def of(ranking: list[str], **relevant: float) -> dict[str, float]:
    return dict(zip(METRICS, score(ranking, relevant), strict=True))


def test_recall_is_the_share_of_the_relevant_and_all_is_whether_none_is_missing() -> None:
    figures = of(at(1, 7, 9), r1=1, r2=1, r3=1, r4=1)
    assert (figures["R@5"], figures["R@10"]) == (0.25, 0.75)
    assert (figures["all@5"], figures["all@10"]) == (0.0, 0.0)
    figures = of(at(5, 6), r1=1, r2=1)
    assert (figures["R@5"], figures["R@10"]) == (0.5, 1.0)
    assert (figures["all@5"], figures["all@10"]) == (0.0, 1.0)


def test_the_eleventh_document_does_not_count() -> None:
    assert score([*TEN, "r1"], {"r1": 1.0}) == (0.0,) * len(METRICS)


def test_an_empty_ranking_finds_nothing() -> None:
    assert score([], {"r1": 1.0}) == (0.0,) * len(METRICS)


@pytest.mark.parametrize(
    ("ranking", "relevant", "expected"),
    [
        (at(1), {"r1": 1.0}, 1.0),
        (at(2), {"r1": 1.0}, 1 / math.log2(3)),
        (at(1, 3), {"r1": 1.0, "r2": 1.0}, (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        # grades 1 and 3 in the wrong order: 1 + 3 / log2(3) of 3 + 1 / log2(3)
        (at(1, 2), {"r1": 1.0, "r2": 3.0}, (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        # of twelve relevant ones ten fit
        ([f"r{i}" for i in range(10)], {f"r{i}": 1.0 for i in range(12)}, 1.0),
    ],
)
def test_ndcg(ranking: list[str], relevant: dict[str, float], expected: float) -> None:
    assert ndcg(ranking, relevant) == pytest.approx(expected)


def test_reciprocal_rank_is_that_of_the_first_relevant_one() -> None:
    assert reciprocal_rank(at(4, 2), {"r1": 1.0, "r2": 1.0}) == 0.5


def test_intervals_are_the_same_for_the_same_seed_and_hold_the_mean() -> None:
    values = np.random.default_rng(1).random((60, 2))
    first, again, other = estimates(values, 7), estimates(values, 7), estimates(values, 8)
    assert first == again != other
    for column, figure in enumerate(first):
        assert figure.mean == pytest.approx(values[:, column].mean())
        assert figure.low < figure.mean < figure.high


def test_an_interval_is_as_wide_as_the_normal_distribution_says() -> None:
    values = np.tile([0.0, 1.0], 200)[:, None]
    (figure,) = estimates(values)
    half = 1.96 * 0.5 / math.sqrt(400)
    assert figure.low == pytest.approx(0.5 - half, abs=0.005)
    assert figure.high == pytest.approx(0.5 + half, abs=0.005)


def test_values_that_do_not_differ_have_no_interval() -> None:
    (figure,) = estimates(np.full((5, 1), 0.25))
    assert (figure.low, figure.high) == pytest.approx((0.25, 0.25))


def test_without_queries_there_is_no_mean() -> None:
    with pytest.raises(ValueError, match="no queries"):
        estimates(np.empty((0, 1)))


def test_the_same_on_both_sides_is_no_difference() -> None:
    values = np.array([0.1, 0.9, 0.4])
    found = paired(values, values)
    assert (found.difference.mean, found.p, found.better, found.worse) == (0.0, 1.0, 0, 0)


def test_a_permutation_counts_the_signs_that_are_as_far_off() -> None:
    # of 2^4 ways to set the signs of four equal differences two are as far from 0: p = 2/16
    found = paired(np.ones(4), np.zeros(4))
    assert found.p == pytest.approx(2 / 16, abs=0.01)
    assert (found.better, found.worse) == (4, 0)


def test_a_difference_on_every_query_is_hardly_chance() -> None:
    found = paired(np.full(40, 0.6), np.full(40, 0.5))
    assert found.p < 0.001
    assert found.difference.mean == pytest.approx(0.1)
    assert found == paired(np.full(40, 0.6), np.full(40, 0.5))
