"""Does a set go through the real engine and come back as figures?"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import quality_store
from benchmarks.quality import measure
from benchmarks.quality_candidates import ask_all, documents_of_rows
from benchmarks.quality_metrics import METRICS
from benchmarks.quality_sets import Document, EvalSet, Knowledge, Query
from benchmarks.quality_store import drafts_of, opened, prepare, questions_of
from benchmarks.quality_systems import SYSTEMS, reciprocal_ranks
from benchmarks.quality_worst import worst
from memory_mcp.engine.checks import MAX_CONTENT
from memory_mcp.engine.engine import Engine, open_engine
from retrieval.fusion import Weights
from tests.builders import an_encoder, some_settings

PEOPLE = ("Ada Lovelace", "Grace Hopper", "Alan Turing", "Edsger Dijkstra")
PLACES = ("London", "Arlington", "Manchester", "Nuenen")


def a_set() -> EvalSet:
    documents = [
        Document(f"{group}/{person}", f"{person} lived in {place}, said {group}.", group)
        for group in ("first", "second")
        for person, place in zip(PEOPLE, PLACES, strict=True)
    ]
    queries = [
        Query(f"q{i}", f"Where did {person} live?", {f"first/{person}": 1.0}, "first", "who")
        for i, person in enumerate(PEOPLE)
    ]
    return EvalSet("people", tuple(documents), tuple(queries), corpus="1", asked_of=4)


@pytest.fixture(autouse=True)
def fake_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened_with_fake(folder: Path) -> Engine:
        engine = open_engine(some_settings(folder), encoder=an_encoder())
        engine.wait(30)
        return engine

    monkeypatch.setattr(quality_store, "_open", opened_with_fake)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with opened(prepare(tmp_path, a_set())) as ready:
        yield ready


def test_every_system_answers_every_question_from_its_group(engine: Engine) -> None:
    run = measure(engine, a_set())
    assert list(run.rankings) == [system.name for system in SYSTEMS]
    for rankings in run.rankings.values():
        assert all(key.startswith("first/") for ranking in rankings for key in ranking)
    assert run.estimates("BM25")["MRR@10"].mean == 1.0
    assert run.estimates("default")["R@5"].mean == 1.0


def test_the_rows_have_ids_and_no_texts(engine: Engine) -> None:
    run = measure(engine, a_set())
    text = json.dumps(run.row())
    assert "lived in" not in text
    assert "Where did" not in text
    assert run.row()["rows"][0]["found"]["default"][0] == "first/Ada Lovelace"
    assert len(run.row()["rows"][0]["scores"]["default"]) == len(METRICS)


@pytest.mark.parametrize(
    "weights",
    [
        Weights(),
        Weights(0.5, 0.5, 0),
        Weights(1, 0, 0),
        Weights(0, 1, 0),
        Weights(0, 0, 1),
        Weights(0, 0.4, 0.6),
        Weights(0.3, 0, 0.7),
    ],
)
def test_candidates_fused_later_rank_as_recall_does(engine: Engine, weights: Weights) -> None:
    for asked in ask_all(engine, a_set()):
        answer = questions_of(engine, "first").recall(asked.query.text, 10, weights)
        assert asked.rank(weights, 10).tolist() == [found.hit.row for found in answer.found]


def test_rows_are_known_by_their_document(engine: Engine) -> None:
    assert sorted(documents_of_rows(engine).values()) == sorted(d.id for d in a_set().documents)


def test_what_was_prepared_is_taken_as_it_is_until_the_corpus_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = a_set()
    with opened(prepare(tmp_path, one)) as engine:
        before = engine.memories.list(1, 0).memories[0].id
    with opened(prepare(tmp_path, one)) as engine:
        assert engine.memories.list(1, 0).memories[0].id == before
    capsys.readouterr()
    with opened(prepare(tmp_path, replace(one, documents=one.documents[:3], corpus="2"))) as engine:
        assert engine.status().counts.memories == 3
    assert "people: corpus changed since it was prepared; stored again" in capsys.readouterr().err


def test_knowledge_is_added_to_the_memories_that_are_there(tmp_path: Path) -> None:
    plain = a_set()
    prepare(tmp_path, plain)
    knowledge = Knowledge(("Ada Lovelace", "London"), (("Ada Lovelace", "lived in", "London"),))
    known = replace(plain, name="people+openie", extracted="x", knowledge=knowledge)
    with opened(prepare(tmp_path, known)) as engine:
        counts = engine.status().counts
        assert (counts.memories, counts.entities, counts.relations) == (8, 2, 1)
    with opened(prepare(tmp_path, plain)) as engine:
        assert engine.status().counts.entities == 0


def test_a_document_too_long_for_a_memory_becomes_several() -> None:
    drafts = drafts_of(Document("long", "word " * (MAX_CONTENT // 4), "g", {"speaker": "Ada"}))
    assert len(drafts) == 2
    assert all(len(draft.content) <= MAX_CONTENT for draft in drafts)
    assert "".join(draft.content for draft in drafts).split() == ["word"] * (MAX_CONTENT // 4)
    assert drafts[1].metadata == {"speaker": "Ada", "document": "long"}
    assert drafts[1].user_id == "g"


def test_reciprocal_ranks() -> None:
    # b: 1/62 + 1/61, a: 1/61, c: 1/62
    assert reciprocal_ranks([["a", "b"], ["b", "c"]]) == ["b", "a", "c"]


def test_the_worst_questions_are_those_that_lose_most_to_a_single_channel() -> None:
    def with_ndcg(*values: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        scores = np.zeros((len(values), len(METRICS)))
        scores[:, METRICS.index("NDCG@10")] = values
        return scores

    scores = {
        "BM25": with_ndcg(0.2, 0.9, 0.5),
        "dense": with_ndcg(0.8, 0.1, 0.5),
        "default": with_ndcg(0.7, 0.1, 1),
    }
    assert worst(scores, 3) == [1, 0]
