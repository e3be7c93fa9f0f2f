"""Records are values."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from retrieval import records
from retrieval.records import MEMORY_TYPES, Ranking, Scope
from tests.builders import a_memory, a_relation, an_entity


def test_a_ranking_starts_empty() -> None:
    ranking = Ranking()
    assert len(ranking) == 0
    assert ranking.rows.dtype == np.dtype(np.int64)
    assert ranking.scores.dtype == np.dtype(np.float64)


def test_the_length_of_a_ranking_is_its_rows() -> None:
    assert len(Ranking(np.array([3, 1]), np.array([0.5, 0.1]))) == 2


def test_records_compare_by_value() -> None:
    assert a_memory("a") == a_memory("a") != replace(a_memory("a"), content="other")
    assert Scope("engine") == Scope("engine", None) != Scope("engine", "ada")


@pytest.mark.parametrize("record", [a_memory(), an_entity(), a_relation("r", "a", "b"), Scope("s")], ids=repr)
def test_records_cannot_be_changed(record: object) -> None:
    with pytest.raises(FrozenInstanceError):
        record.space = "other"  # type: ignore[attr-defined]


def test_the_three_types_of_memory() -> None:
    assert MEMORY_TYPES == ("episodic", "semantic", "procedural")


def test_every_exported_name_exists() -> None:
    assert all(hasattr(records, name) for name in records.__all__)
