"""Is a folder of documents, queries and grades read as it says?"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality_sets import Document, Query, date_of, load_sets, sampled, unpacked

CORPUS: list[dict[str, Any]] = [
    {"id": "a/1", "text": "Ada: hi", "group": "a", "date": "1:56 pm on 8 May, 2023", "speaker": "Ada"},
    {"id": 2, "text": "Oxford is a city.", "title": "Oxford"},
    {"id": "3", "text": "is a river.", "title": "Isis"},
]
QUERIES: list[dict[str, Any]] = [
    {"id": "q1", "text": "who?", "group": "a", "cat": "temporal"},
    {"id": "q2", "text": "what?"},
    {"id": "unjudged", "text": "why?"},
]


def a_set(folder: Path, corpus: list[dict[str, Any]] = CORPUS) -> Path:
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in corpus) + "\n")
    (folder / "queries.jsonl").write_text("\n".join(json.dumps(row) for row in QUERIES))
    (folder / "qrels.tsv").write_text("q1\ta/1\t1\nq2\t2\t2\nq2\t3\t0\n")
    return folder


def test_documents_and_judged_queries_are_read(tmp_path: Path) -> None:
    a_set(tmp_path / "chat")
    (one,) = load_sets(tmp_path)
    about = {"speaker": "Ada", "date": "1:56 pm on 8 May, 2023", "event_time": "2023-05-08T13:56:00+00:00"}
    assert one.name == "chat"
    assert one.documents == (
        Document("a/1", "Ada: hi", "a", about),
        Document("2", "Oxford is a city."),
        Document("3", "Isis\nis a river."),
    )
    assert one.queries == (
        Query("q1", "who?", {"a/1": 1.0}, "a", "temporal"),
        Query("q2", "what?", {"2": 2.0}),
    )


def test_grades_may_have_a_header_and_the_four_columns_of_trec(tmp_path: Path) -> None:
    folder = a_set(tmp_path / "chat")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t0\ta/1\t1\nq2\t0\t2\t1\n")
    (one,) = load_sets(tmp_path)
    assert [query.relevant for query in one.queries] == [{"a/1": 1.0}, {"2": 1.0}]


def test_a_line_without_a_grade_is_an_error_that_names_it(tmp_path: Path) -> None:
    folder = a_set(tmp_path / "chat")
    (folder / "qrels.tsv").write_text("q1\ta/1\t1\nq2\t2\tgood\n")
    with pytest.raises(SystemExit, match=r"qrels.tsv:2"):
        load_sets(tmp_path)


def test_the_folder_may_be_a_set_itself(tmp_path: Path) -> None:
    assert [one.name for one in load_sets(a_set(tmp_path / "chat"))] == ["chat"]


def test_unknown_sets_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    a_set(tmp_path / "chat")
    with pytest.raises(SystemExit, match="no such set: talk; there are chat"):
        load_sets(tmp_path, ["talk"])


def test_another_corpus_has_another_digest(tmp_path: Path) -> None:
    a_set(tmp_path / "one")
    a_set(tmp_path / "same")
    a_set(tmp_path / "shorter", CORPUS[:2])
    one, same, shorter = load_sets(tmp_path)
    assert one.corpus == same.corpus != shorter.corpus


def test_extracted_knowledge_makes_a_second_set(tmp_path: Path) -> None:
    a_set(tmp_path / "lab_chat")
    a_set(tmp_path / "other")
    extracted = {
        "docs": [
            {
                "extracted_entities": ["Oxford", " oxford "],
                "extracted_triples": [["OXFORD", "lies on", "the  Isis"], ["broken", "pair"], ["a", "", "b"]],
            }
        ]
    }
    (tmp_path / "openie_chat_results_x.json").write_text(json.dumps(extracted))
    plain, known, _ = load_sets(tmp_path)
    assert [plain.name, known.name] == ["lab_chat", "lab_chat+openie"]
    assert plain.knowledge is None
    assert known.knowledge is not None
    assert known.knowledge.entities == ("Oxford", "the Isis")
    assert known.knowledge.relations == (("Oxford", "lies on", "the Isis"),)
    assert (known.plain, known.corpus) == (plain.name, plain.corpus)
    assert known.extracted


def test_archives_are_unpacked_for_the_while(tmp_path: Path) -> None:
    folder = a_set(tmp_path / "made" / "chat")
    data = tmp_path / "data"
    data.mkdir()
    with tarfile.open(data / "sets.tar.xz", "w:xz") as archive:
        archive.add(folder, "chat")
    with unpacked(data) as found:
        assert [one.name for one in load_sets(found)] == ["chat"]
    assert not found.exists()
    with unpacked(folder.parent) as found:
        assert found == folder.parent


def test_a_folder_without_sets_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="neither"), unpacked(tmp_path):
        pass


def test_a_sample_is_the_same_for_the_same_seed_and_in_order(tmp_path: Path) -> None:
    a_set(tmp_path / "chat")
    (one,) = load_sets(tmp_path)
    few = sampled(one, 1, seed=1)
    assert few == sampled(one, 1, seed=1)
    assert (len(few.queries), few.asked_of) == (1, 2)
    assert sampled(one, 2, seed=1) is one
    assert sampled(one, None, seed=1) is one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("March-15-2024", "2024-03-15T00:00:00+00:00"),
        ("2023/04/10", "2023-04-10T00:00:00+00:00"),
        ("2024-03-15T10:00:00+02:00", "2024-03-15T10:00:00+02:00"),
        ("some day", None),
        ("", None),
    ],
)
def test_dates(text: str, expected: str | None) -> None:
    assert date_of(text) == expected
