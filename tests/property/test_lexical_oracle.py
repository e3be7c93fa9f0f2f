"""Does the keyword index rank as rank-bm25 does, whatever was written, changed, deleted and reopened?

The oracle is ``rank_bm25.BM25Okapi`` with Lucene's rarity and tantivy's constants. Texts stay under 40
words: up to there tantivy keeps lengths exactly, beyond it rounds them.

tantivy counts a deleted text in its statistics until the segment that held it is merged, and offers no
way to ask for that. So scores are compared exactly where nothing committed was taken back; after updates
and deletes the rows found must be exact, and the scores are compared again once the index was rebuilt.
"""

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from retrieval.channels.lexical import Lexical
from retrieval.records import Memory, Rows, Scope
from retrieval.store.changes import Change, Checkpoint, Deleted
from retrieval.text.words import query_words, words

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = Scope("engine")
VOCABULARY = ("cat", "dog", "getUserName", "user", "name", "3.11", "utf8", "東京", "café", "the", "running")

texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8).map(" ".join)
batches = st.lists(st.lists(texts, min_size=1, max_size=6), min_size=1, max_size=4)
# None deletes a memory, a text writes it
histories = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.none() | texts), min_size=1, max_size=6), min_size=1, max_size=5
)
few_examples = settings(max_examples=40, deadline=None)


class Lucene(BM25Okapi):  # type: ignore[misc]
    """rank-bm25 with the rarity that Lucene and tantivy use: ln(1 + (N - n + .5) / (n + .5))."""

    def __init__(self, corpus: list[list[str]]) -> None:
        super().__init__(corpus, k1=1.2, b=0.75)

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, having in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - having + 0.5) / (having + 0.5))


def expected(contents: dict[int, str], query: str) -> dict[int, float]:
    if not contents:
        return {}
    oracle = Lucene([words(content) for content in contents.values()])
    scores = oracle.get_scores(query_words(query))
    return {row: score for row, score in zip(contents, scores, strict=True) if score > 0}


def written(row: int, content: str) -> Change:
    memory = Memory(
        id=f"m{row}", row=row, content=content, memory_type="semantic", space="engine", user_id=None,
        metadata={}, importance=0.5, event_time=NOW, ingestion_time=NOW, updated_at=NOW, valid_from=NOW,
    )  # fmt: skip
    return Change(seq=row, record=memory)


def everything(rows: Rows) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=np.bool_)


def answer(index: Lexical, query: str, k: int = 1000) -> dict[int, float]:
    ranking = index.search(query, k, SCOPE, everything)
    pairs = list(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    assert pairs == sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    return dict(pairs)


def assert_same(got: dict[int, float], wanted: dict[int, float]) -> None:
    assert got.keys() == wanted.keys()
    for row, score in wanted.items():
        assert math.isclose(got[row], score, rel_tol=1e-5, abs_tol=1e-6), (row, got[row], score)


@contextmanager
def fresh_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name) / "lexical"


@few_examples
@given(batches, texts)
def test_scores_are_those_of_the_oracle(written_in: list[list[str]], query: str) -> None:
    contents: dict[int, str] = {}
    with fresh_folder() as folder:
        index = Lexical.open(folder)
        for batch in written_in:
            changes = [written(len(contents) + at, content) for at, content in enumerate(batch)]
            contents |= {len(contents) + at: content for at, content in enumerate(batch)}
            index.apply(changes)
            index.save(Checkpoint("db", len(contents)))
            assert_same(answer(index, query), expected(contents, query))
        index.close()
        reopened = Lexical.open(folder)
        wanted = expected(contents, query)
        assert_same(answer(reopened, query), wanted)
        top = answer(reopened, query, k=3)
        assert sorted(top.values()) == sorted(answer(reopened, query).values())[-len(top) :]
        reopened.close()


@few_examples
@given(histories, texts)
def test_drafts_alone_score_as_the_oracle(history: list[list[tuple[int, str | None]]], query: str) -> None:
    contents: dict[int, str] = {}
    with fresh_folder() as folder:
        index = Lexical.open(folder)
        for batch in history:
            index.apply(play(batch, contents))
            assert_same(answer(index, query), expected(contents, query))
        index.save(Checkpoint("db", 1))  # each row reaches tantivy once, as it is in the end
        assert_same(answer(index, query), expected(contents, query))
        index.close()


@few_examples
@given(histories, texts, st.sets(st.integers(0, 4)))
def test_after_updates_and_deletes_the_right_rows_are_found(
    history: list[list[tuple[int, str | None]]], query: str, saves: set[int]
) -> None:
    contents: dict[int, str] = {}
    with fresh_folder() as folder:
        index = Lexical.open(folder)
        for at, batch in enumerate(history):
            index.apply(play(batch, contents))
            if at in saves:
                index.save(Checkpoint("db", at))
                index.close()
                index = Lexical.open(folder)
            assert answer(index, query).keys() == expected(contents, query).keys()
        assert index.count == len(contents)
        index.clear()
        index.apply([written(row, content) for row, content in contents.items()])
        assert_same(answer(index, query), expected(contents, query))
        index.close()


@few_examples
@given(
    histories,
    st.lists(st.sampled_from(("cat", "dog", "user", "name")), min_size=1, max_size=3),
    st.booleans(),
)
def test_containing_finds_neighbours(
    history: list[list[tuple[int, str | None]]], phrase: list[str], save: bool
) -> None:
    contents: dict[int, str] = {}
    with fresh_folder() as folder:
        index = Lexical.open(folder)
        for batch in history:
            index.apply(play(batch, contents))
            if save:
                index.save(Checkpoint("db", 1))
        needle = f" {' '.join(words(' '.join(phrase)))} "
        wanted = sorted(row for row, content in contents.items() if needle in f" {' '.join(words(content))} ")
        assert index.containing(" ".join(phrase), SCOPE, 100).tolist() == wanted
        index.close()


def play(batch: list[tuple[int, str | None]], contents: dict[int, str]) -> list[Change]:
    """The batch as changes; ``contents`` becomes what is there afterwards."""
    changes = []
    for row, content in batch:
        if content is None:
            contents.pop(row, None)
            changes.append(Change(row, Deleted("memories", f"m{row}", row)))
        else:
            contents[row] = content
            changes.append(written(row, content))
    return changes
