"""In which order chunks answer a code question."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from retrieval.code.question import defined_names
from retrieval.code.ranking import LOOKUP, WEIGHTS, Entry, Ranked, Rules, rank
from retrieval.fusion import Weights
from retrieval.records import Ranking, Rows

ALL = Rules()


def rows(found: list[int]) -> Rows:
    return np.array(found, dtype=np.int64)


@dataclass
class Shelf:
    """A lookup over a list."""

    chunks: list[Entry] = field(default_factory=list)

    def add(self, path: str, name: str = "", chunk_type: str = "function", scope: str = "") -> int:
        row = len(self.chunks)
        self.chunks.append(Entry(row, path, "python", chunk_type, name, scope, 10 * row + 1, 10 * row + 9))
        return row

    def entries(self, rows: Rows) -> list[Entry]:
        return [self.chunks[row] for row in rows.tolist()]

    def named(self, name: str) -> Rows:
        return rows([c.row for c in self.chunks if name in map(str.lower, defined_names(c.name))])

    def in_files(self, stem: str) -> Rows:
        return rows([c.row for c in self.chunks if c.path.split("/")[-1].split(".")[0].lower() == stem])


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def found(*scores: float) -> Ranking:
    """Rows 0, 1, … with these scores."""
    order = np.argsort(-np.array(scores), kind="stable")
    return Ranking(order.astype(np.int64), np.array(scores)[order])


def order(query: str, shelf: Shelf, *scores: float, rules: Rules = ALL) -> list[int]:
    return [hit.row for hit in ranked(query, shelf, *scores, rules=rules)]


def ranked(query: str, shelf: Shelf, *scores: float, rules: Rules = ALL) -> list[Ranked]:
    return rank(query, {"bm25": found(*scores)}, shelf, WEIGHTS, 10, rules)


def test_without_rules_the_fused_scores_decide(shelf: Shelf) -> None:
    for path in ("a.py", "b.py", "c.py"):
        shelf.add(path)
    channels = {"bm25": found(1, 2, 3), "vector": found(0.9, 0.1, 0.2)}
    hits = rank("anything", channels, shelf, Weights(0.9, 0.1, 0), 10)
    assert [hit.row for hit in hits] == [0, 2, 1]


def test_the_definition_of_a_name_in_prose_gains(shelf: Shelf) -> None:
    shelf.add("a.py", "run")
    defines = shelf.add("b.py", "open_pool")
    shelf.add("c.py", "stop")
    assert order("when is open_pool called", shelf, 3, 2.5, 1)[0] == defines


def test_a_definition_that_no_channel_found_is_a_candidate(shelf: Shelf) -> None:
    shelf.add("a.py", "run")
    defines = shelf.add("b.py", "open_pool")
    assert defines in order("where is open_pool", shelf, 3)


def test_a_definition_in_the_case_of_the_question_wins(shelf: Shelf) -> None:
    shelf.add("a.py", "router")
    shelf.add("b.py", "Router")
    assert order("Router", shelf, 2, 2, rules=Rules(path=False))[0] == 1


def test_a_definition_in_another_case_counts_where_there_is_no_other(shelf: Shelf) -> None:
    shelf.add("a.py", "run")
    shelf.add("b.py", "Router")
    assert order("router", shelf, 2, 2)[0] == 1


def test_a_definition_in_the_named_scope_wins(shelf: Shelf) -> None:
    shelf.add("a.py", "send", scope="Socket")
    shelf.add("b.py", "send", scope="Session")
    assert order("Session.send", shelf, 2, 2)[0] == 1


def test_a_long_definition_is_its_first_chunk(shelf: Shelf) -> None:
    shelf.add("a.py", "Session", "class")
    shelf.add("a.py", "Session", "class")
    assert order("Session", shelf, 1, 3)[0] == 0


def test_a_lookup_is_answered_by_the_definition_whatever_else_is_found(shelf: Shelf) -> None:
    shelf.add("open_pool.py", "run")
    defines = shelf.add("b.py", "open_pool")
    assert order("open_pool", shelf, 9, 1)[0] == defines


def test_files_share_what_a_name_is_worth(shelf: Shelf) -> None:
    for path in ("a.py", "b.py"):
        shelf.add(path, "open_pool")
    shelf.add("c.py", "run")
    reasons = {hit.row: hit.reasons.get("definition") for hit in ranked("open_pool", shelf, 3, 2, 1)}
    assert reasons == {0: LOOKUP / 2, 1: LOOKUP / 2, 2: None}


def test_a_test_that_defines_the_name_too_takes_nothing_from_it(shelf: Shelf) -> None:
    shelf.add("a.py", "open_pool")
    shelf.add("tests/test_a.py", "open_pool")
    assert ranked("open_pool", shelf, 2, 1)[0].reasons["definition"] == LOOKUP


def test_a_guess_counts_less_than_a_name(shelf: Shelf) -> None:
    shelf.add("a.py", "Router")
    shelf.add("b.py", "run")
    guess = ranked("how Router works", shelf, 2, 1)[0].reasons["definition"]
    sure = ranked("how `Router` works", shelf, 2, 1)[0].reasons["definition"]
    assert guess < sure


def test_a_name_made_of_the_questions_words_wins(shelf: Shelf) -> None:
    shelf.add("a.py", "run")
    shelf.add("b.py", "retry_request")
    assert order("how requests are retried", shelf, 2, 2)[0] == 1


def test_a_file_named_by_the_questions_words_wins(shelf: Shelf) -> None:
    shelf.add("src/app.py")
    shelf.add("src/http_parser.py")
    shelf.add("src/pool.py")
    assert order("how http bodies are parsed", shelf, 2, 2, 1)[0] == 1


def test_a_beginning_is_as_good_as_the_word(shelf: Shelf) -> None:
    shelf.add("app.py")
    shelf.add("auth.py")
    assert order("authentication of users", shelf, 2, 2)[0] == 1


def test_mod_rs_has_the_name_of_its_folder(shelf: Shelf) -> None:
    shelf.add("src/app/mod.rs")
    shelf.add("src/routing/mod.rs")
    assert order("routing of requests", shelf, 2, 2)[0] == 1


def test_a_file_that_is_named_is_a_candidate(shelf: Shelf) -> None:
    shelf.add("a.py")
    named = shelf.add("src/routing.py")
    assert named in order("errors in routing.py", shelf, 2)


def test_a_lookup_finds_the_file_of_that_name(shelf: Shelf) -> None:
    shelf.add("a.js")
    named = shelf.add("lib/response.js")
    assert named in order("response", shelf, 2)


def test_a_declaration_stands_back(shelf: Shelf) -> None:
    shelf.add("pool.h", "open_pool", "declaration")
    shelf.add("pool.c", "open_pool", "function")
    assert order("opening a pool", shelf, 2, 2)[0] == 1


def test_tests_stand_back(shelf: Shelf) -> None:
    shelf.add("tests/test_pool.py")
    shelf.add("pool.py")
    assert order("pool of connections", shelf, 2, 1) == [1, 0]


def test_tests_do_not_stand_back_when_asked_for(shelf: Shelf) -> None:
    shelf.add("tests/test_pool.py")
    shelf.add("app.py")
    assert order("tests of the pool", shelf, 2, 1) == [0, 1]


def test_a_file_with_several_good_chunks_wins(shelf: Shelf) -> None:
    for path in ("a.py", "b.py", "b.py", "c.py"):
        shelf.add(path)
    assert order("anything", shelf, 3, 2.9, 2.8, 1)[0] == 1


def test_further_chunks_of_a_file_make_way(shelf: Shelf) -> None:
    for path in ("a.py", "a.py", "b.py", "c.py"):
        shelf.add(path)
    assert order("anything", shelf, 3, 2.9, 2.5, 1)[:3] == [0, 2, 1]


@pytest.mark.parametrize("rule", ["definition", "name", "path", "minor", "support", "file", "spread"])
def test_each_rule_can_be_switched_off(shelf: Shelf, rule: str) -> None:
    shelf.add("tests/open_pool.py", "open_pool", "test")
    shelf.add("tests/open_pool.py", "open_pool", "function")
    shelf.add("b.py", "run")
    without = ranked("open_pool", shelf, 3, 2, 1, rules=Rules(**{rule: False}))
    assert all(rule not in hit.reasons for hit in without)
    assert any(rule in hit.reasons for hit in ranked("open_pool", shelf, 3, 2, 1))


def test_the_score_is_the_fused_one_and_the_reasons(shelf: Shelf) -> None:
    shelf.add("tests/open_pool.py", "open_pool", "test")
    shelf.add("tests/open_pool.py", "open_pool", "function")
    shelf.add("b.py", "run")
    for hit in ranked("open_pool", shelf, 3, 2, 1):
        assert hit.score == pytest.approx(hit.fused + sum(hit.reasons.values()))


def test_a_channel_that_did_not_find_a_chunk_says_so(shelf: Shelf) -> None:
    for path in ("a.py", "b.py"):
        shelf.add(path)
    channels = {"bm25": found(2, 1), "vector": Ranking(rows([1]), np.array([0.5]))}
    first = next(hit for hit in rank("anything", channels, shelf, WEIGHTS, 10) if hit.row == 0)
    assert (first.bm25, first.vector, first.ppr) == (2.0, None, None)


def test_a_channel_of_no_weight_proposes_nothing(shelf: Shelf) -> None:
    for path in ("a.py", "b.py"):
        shelf.add(path)
    channels = {"bm25": found(2), "ppr": Ranking(rows([1]), np.array([0.5]))}
    assert [hit.row for hit in rank("anything", channels, shelf, Weights(0.4, 0.4, 0), 10)] == [0]


def test_nothing_found_is_no_result(shelf: Shelf) -> None:
    assert rank("anything", {}, shelf, WEIGHTS, 10) == []


def test_no_more_than_k_results(shelf: Shelf) -> None:
    for path in ("a.py", "b.py", "c.py"):
        shelf.add(path)
    assert len(rank("anything", {"bm25": found(3, 2, 1)}, shelf, WEIGHTS, 2)) == 2


def test_equal_scores_are_in_the_order_of_rows(shelf: Shelf) -> None:
    for path in ("a.py", "b.py", "c.py"):
        shelf.add(path)
    assert order("anything", shelf, 1, 1, 1) == [0, 1, 2]
