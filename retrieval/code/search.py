"""Here is a question about code; which chunks answer it?

Query → channels → ranking. Words and vectors each propose candidates within the projects and the language
asked about; ``retrieval.code.ranking`` fuses them and applies what is known of code. Vectors may be missing,
all or some: what has been parsed is found by words and names at once.
"""

import numpy as np

from retrieval.code.catalog import View
from retrieval.code.indexes import CodeIndexes
from retrieval.code.ranking import WEIGHTS, Ranked, Rules, rank
from retrieval.fusion import Weights
from retrieval.indexes import Indexes
from retrieval.records import Ranking, Scope, Vector

__all__ = ["POOL", "candidates", "once", "search_code"]

POOL = 150
"""Candidates a channel proposes. 300 are level in NDCG@10 (.902 and .902) and take twice the time."""
SUPPORT_POOL = 50
"""Candidates by words from everywhere, beside ``POOL`` from the code itself: in a whole repository tests say
the words of a question more often than the code (18 repositories, without vectors: .853 → .874)."""


def search_code(
    indexes: Indexes,
    query: str,
    vector: Vector | None,
    k: int,
    scope: Scope,
    language: str | None = None,
    weights: Weights = WEIGHTS,
    rules: Rules = Rules(),
) -> list[Ranked]:
    """The best chunks of a scope, equal ones once."""
    with indexes.current():
        code = indexes.code
        view = code.catalog.view(scope, language)
        ranked = rank(query, candidates(code, query, vector, scope, view), view, weights, 2 * k, rules)
        return once(code, ranked)[:k]


def candidates(
    code: CodeIndexes, query: str, vector: Vector | None, scope: Scope, view: View
) -> dict[str, Ranking]:
    """What each channel proposes; what only the words found has its cosine, too."""
    words = _by_words(code, query, scope, view)
    if vector is None:
        return {"bm25": words}
    near = code.dense.search(vector, POOL, view.allowed)
    worded = np.setdiff1d(words.rows, near.rows)
    cosines = code.dense.score(vector, worded)
    has = ~np.isnan(cosines)
    rows, scores = np.concatenate((near.rows, worded[has])), np.concatenate((near.scores, cosines[has]))
    return {"bm25": words, "vector": Ranking(rows, scores)}


def once(code: CodeIndexes, ranked: list[Ranked]) -> list[Ranked]:
    """The first of chunks that say the same."""
    digests = code.catalog.digests(np.array([one.row for one in ranked], dtype=np.int64))
    first = dict(zip(reversed(digests), reversed(ranked), strict=True))
    return [one for digest, one in zip(digests, ranked, strict=True) if first[digest] is one]


def _by_words(code: CodeIndexes, query: str, scope: Scope, view: View) -> Ranking:
    core = code.lexical.search(query, POOL, scope, view.core)
    rest = code.lexical.search(query, SUPPORT_POOL, scope, view.allowed)
    new = ~np.isin(rest.rows, core.rows)
    rows = np.concatenate((core.rows, rest.rows[new]))
    scores = np.concatenate((core.scores, rest.scores[new]))
    best = np.lexsort((rows, -scores))
    return Ranking(rows[best], scores[best])
