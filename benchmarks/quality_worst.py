"""Where does recall lose to a single channel, and on which questions most?"""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.quality_metrics import METRICS, Figures
from benchmarks.quality_sets import EvalSet, Query
from benchmarks.quality_systems import DEFAULT, SINGLE

__all__ = ["show_worst", "worst"]

_METRIC = METRICS.index("NDCG@10")
_WIDTH = 220


def worst(scores: Mapping[str, Figures], count: int) -> list[int]:
    """The places of the questions on which recall loses most NDCG to the better of the single channels."""
    lost = np.max([scores[name][:, _METRIC] for name in SINGLE], axis=0) - scores[DEFAULT][:, _METRIC]
    order = np.argsort(-lost, kind="stable")[:count]
    return [int(place) for place in order if lost[place] > 0]


def show_worst(
    one: EvalSet, rankings: Mapping[str, list[list[str]]], scores: Mapping[str, Figures], count: int
) -> None:
    """Print these questions with the places of what answers them, and what stands first instead."""
    texts = {document.id: document.text for document in one.documents}
    print(f"\n{one.name}: where {DEFAULT} loses most to {' or '.join(SINGLE)}")
    for place in worst(scores, count):
        query = one.queries[place]
        print(f"- {query.id} [{query.category}] {_short(query.text)}")
        for name, found in rankings.items():
            ndcg = scores[name][place, _METRIC]
            print(f"    {name:<9} NDCG {ndcg:.2f}, relevant at {_places(query, found[place])}")
        for key in list(query.relevant)[:2]:
            print(f"    wanted: {key}: {_short(texts.get(key, '(not in the corpus)'))}")
        first = next((key for key in rankings[DEFAULT][place] if key not in query.relevant), None)
        if first is not None:
            print(f"    instead: {first}: {_short(texts[first])}")


def _places(query: Query, ranking: Sequence[str]) -> str:
    places = [str(ranking.index(key) + 1) if key in ranking else "-" for key in query.relevant]
    return " ".join(places[:12])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
