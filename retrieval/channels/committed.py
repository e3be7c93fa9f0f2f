"""What does the keyword index hold on disk, and which of it matches?

The only module that speaks to tantivy's query side. ``Committed`` is the index as of its last commit:
immutable, shared by any number of searches, replaced by the next one.
"""

import json
import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import tantivy
from numpy.typing import NDArray

from retrieval.channels.fresh import Draft, Statistics, rarity
from retrieval.records import Rows, Scope, Scores

__all__ = ["Committed", "Reach", "document", "open_index"]

MARGIN = 1.5
"""Candidates fetched on another try, as a multiple of what the share allowed so far makes necessary.
At 100k memories and k=100: one in a hundred allowed 1.4 ms (growing fourfold each time: 2.0), half 0.26."""

DOMINANT = 0.9
"""Share of the index from which on a scope takes the statistics of the whole for its own: they hardly
differ, and counting each word's memories again costs 0.3 ms at 100k (0.18 → 0.48 ms a search)."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a scope covers of the committed index: its statistics, and the filter that keeps to it.

    A word is as rare as it is within the scope: what others wrote elsewhere moves no score (ten
    conversations in one index, each asked about itself: LoCoMo R@10 .621 → .635, BEAM .382 → .394).
    Where the scope is all there is, no filter is needed and none is set: it would double the time.
    """

    statistics: Statistics
    passes: Any | None

    def limit(self, query: Any) -> Any:
        return query if self.passes is None else _all_of(query, self.passes)


@dataclass(frozen=True, slots=True)
class Committed:
    """The index as of its last commit."""

    searcher: Any
    schema: Any
    statistics: Statistics
    spaces: tuple[str, ...]  # the first two in the index, as are the owners:
    owners: tuple[str, ...]  # one alone makes a filter unnecessary

    @classmethod
    def of(cls, index: Any) -> Self:
        searcher = index.searcher()
        return cls(
            searcher=searcher,
            schema=index.schema,
            statistics=Statistics(
                searcher.num_docs,
                _measure(searcher, "avg", "length") or 0.0,
                partial(searcher.doc_freq, "body"),
            ),
            spaces=tuple(term for term, _ in searcher.terms_with_prefix("space", "", limit=2)),
            owners=tuple(term for term, _ in searcher.terms_with_prefix("owner", "", limit=2)),
        )

    def highest_row(self) -> int:
        """The highest row of any memory, -1 when there is none."""
        value = _measure(self.searcher, "max", "row")
        return -1 if value is None else int(value)

    def reach(self, scope: Scope) -> Reach:
        if scope.user_id is None:
            name, value, present = "space", scope.space, self.spaces
        else:
            name, value, present = "owner", _owner(scope.space, scope.user_id), self.owners
        if len(present) < 2:
            known = self.statistics if value in present else Statistics(0, 0.0, lambda _: 0)
            return Reach(known, None)
        passes = tantivy.Query.term_query(self.schema, name, value, "basic")
        filtering = tantivy.Query.const_score_query(passes, 0.0)
        count = self.searcher.doc_freq(name, value)
        if count >= DOMINANT * self.statistics.count:
            return Reach(self.statistics, filtering)

        def having(word: str) -> int:
            term = tantivy.Query.term_query(self.schema, "body", word, "basic")
            return int(self.searcher.search(_all_of(term, passes), 1, count=True).count)

        return Reach(Statistics(count, self.statistics.average_length, having), filtering)

    def search(
        self,
        asked: Sequence[str],
        k: int,
        reach: Reach,
        allowed: Callable[[Rows], NDArray[np.bool_]],
        replaced: Container[int],
    ) -> tuple[Rows, Scores]:
        """The best rows within reach that are allowed and not replaced: ``k`` or more, or all there are."""
        if not reach.statistics.count:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
        query = self._any_word(asked, reach)
        limit = k
        while True:
            rows, scores = self._fetch(query, limit)
            if not len(rows):
                return rows, scores
            kept = allowed(rows)
            if replaced:
                kept = kept & [row not in replaced for row in rows.tolist()]
            found = int(np.count_nonzero(kept))
            if len(rows) < limit or found >= k:
                return rows[kept], scores[kept]
            limit = min(math.ceil(limit * MARGIN * k / max(found, 1)), self.statistics.count + 1)

    def containing(self, ways: Sequence[Sequence[str]], reach: Reach, limit: int) -> Rows:
        """Rows within reach in which the words of any of the ways stand one after the other."""
        if not reach.statistics.count:
            return np.empty(0, dtype=np.int64)
        return self._fetch(reach.limit(_any_of([self._phrase(way) for way in ways])), limit)[0]

    def _any_word(self, asked: Sequence[str], reach: Reach) -> Any:
        # a repeated word is a repeated term: a boost would say the same and cost tantivy its fast path
        terms = [tantivy.Query.term_query(self.schema, "body", word, "freq") for word in asked]
        if reach.statistics is not self.statistics:
            weight = {
                word: rarity(reach.statistics, word) / rarity(self.statistics, word) for word in set(asked)
            }
            boost = tantivy.Query.boost_query
            terms = [boost(term, weight[word]) for term, word in zip(terms, asked, strict=True)]
        return reach.limit(_any_of(terms))

    def _phrase(self, way: Sequence[str]) -> Any:
        if len(way) == 1:  # tantivy panics over a phrase of one word
            return tantivy.Query.term_query(self.schema, "body", way[0], "basic")
        return tantivy.Query.phrase_query(self.schema, "body", list(way))

    def _fetch(self, query: Any, limit: int) -> tuple[Rows, Scores]:
        hits = self.searcher.search(query, limit, count=False).hits
        rows = self.searcher.fast_field_values("row", [address for _, address in hits])
        return np.array(rows, dtype=np.int64), np.array([score for score, _ in hits], dtype=np.float64)


def open_index(folder: Path, *, must_exist: bool) -> Any:
    """tantivy's index in the folder, made if need be. ValueError when there is one that cannot be used."""
    folder.mkdir(parents=True, exist_ok=True)
    if must_exist and not tantivy.Index.exists(str(folder)):
        raise ValueError(f"no index in {folder}")  # tantivy would make an empty one
    fields = tantivy.SchemaBuilder()
    fields.add_text_field("body", tokenizer_name="whitespace", index_option="position")
    # signed: ``delete_documents_by_term`` finds nothing in an unsigned field (tantivy 0.27)
    fields.add_integer_field("row", indexed=True, fast=True)
    fields.add_unsigned_field("length", fast=True)
    fields.add_text_field("space", tokenizer_name="raw", index_option="basic")
    fields.add_text_field("owner", tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(fields.build(), path=str(folder))
    index.config_reader("manual")
    # a missing file of positions shows only when a field is opened
    index.searcher().terms_with_prefix("body", "", limit=1)
    return index


def document(draft: Draft) -> Any:
    """A draft as tantivy takes it in."""
    made = tantivy.Document()
    made.add_text("body", draft.body)
    made.add_integer("row", draft.row)
    made.add_unsigned("length", draft.length)
    made.add_text("space", draft.space)
    made.add_text("owner", _owner(draft.space, draft.user_id))
    return made


def _owner(space: str, user_id: str | None) -> str:
    """One term for a space and a user of it, so that one filter does; nobody is not the empty name."""
    return json.dumps((space, user_id))


def _measure(searcher: Any, what: str, field: str) -> float | None:
    measured = searcher.aggregate(tantivy.Query.all_query(), {"it": {what: {"field": field}}})
    value: float | None = measured["it"]["value"]
    return value


def _any_of(queries: Sequence[Any]) -> Any:
    if len(queries) == 1:
        return queries[0]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _all_of(*queries: Any) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])
