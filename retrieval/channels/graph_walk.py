"""Here is a question and some first candidates; what else is connected to them?

The walk happens on a small part of the graph, chosen around the question:

1. what the question names (terms, entities, and entities related to those), with all memories that mention
   it;
2. what the best of these memories and of the candidates mention besides, rarest and best supported first,
   with all memories that mention that.

Terms and entities are chosen, memories follow: the part holds every visible memory of a chosen term, so
the PageRank of the part is that of a complete neighbourhood and not of a sample. Memories that may not be
seen are left out before anything is passed on, so they neither conduct nor appear.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.adjacency import Adjacency, Nodes
from retrieval.channels.graph_nodes import ENTITY, Directory
from retrieval.records import Ranking, Rows, Scope, Scores

__all__ = ["Allowed", "Choice", "Part", "Whole", "reseeded"]

Allowed = Callable[[Rows], NDArray[np.bool_]]

HUB = 64
"""Mentions above which a term or entity leads to no new memories, only between those already found: what
64 memories share says little about any two of them. R@5 is the same from 32 to 256 (± .005)."""

CANDIDATE_SHARE = 0.01
"""Weight of all candidates together where the names in the question weigh 1. More of it and the walk repeats
the other channels. R@5 on MuSiQue, Hotpot, LoCoMo (a quarter of it) and BEAM: .703 .890 .594 .420 at .01,
.683 .870 .603 .433 at .03, .646 .840 .561 .448 at 1. Candidates lead where the question names nothing that
is known."""

EXPANDED = 12
"""Memories whose other terms are looked at.
With 8 to 300 R@5 is the same (± .01) on MuSiQue, Hotpot and LoCoMo."""

MENTIONS = 384
"""Mentions of the terms chosen in the second step, which bounds the work. With 200 to 20,000 R@5 is the
same (± .01), at 0.2 to 1.5 ms a walk."""

RELATED = 24
"""Entities added because relations lead to them from a named one."""

RELATION_HOPS = 3
"""How far they may be: with damping 0.5 a fourth hop carries 3 % of the evidence."""


RELATION_WEIGHT = 0.2
"""What a relation of weight 1 conducts, where a mention in a memory of one term conducts 1: as much as one in
a memory of 25 terms. On MuSiQue with entities and triples from OpenIE, whose facts are all in the text too:
R@5 .703 with terms alone, .719 with entities, with relations .711 for .03 to .2 and .672 at 3."""

WELL_KNOWN = 4096
"""Mentions above which a named term is no place to start at all, and reading them would take long."""

_Edges = tuple[Nodes, Nodes, NDArray[np.float32]]

_NONE: Nodes = np.empty(0, np.int64)

_UNSEEN = -2
"""The place of a memory that was met and may not be seen."""


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole graph: memories to what they mention, entities to entities under the same numbers.

    ``scratch`` is as long as the graph, all -1, and is left so.
    """

    mentions: Adjacency
    relations: Adjacency
    directory: Directory
    scratch: Nodes


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the graph, ready to walk on. ``mentions`` and ``links`` are edges by place, not by node."""

    memories: Nodes
    others: Nodes
    memory_seeds: Scores
    other_seeds: Scores
    mentions: tuple[Nodes, Nodes, Scores]
    links: tuple[Nodes, Nodes, Scores]


class Choice:
    """One choice in the making; ``run`` it once. ``place`` numbers memories and others, each from 0."""

    def __init__(self, whole: Whole, scope: Scope, allowed: Allowed) -> None:
        self.edges = whole.mentions
        self.links = whole.relations
        self.directory = whole.directory
        self.place = whole.scratch
        self.scope = scope
        self.allowed = allowed
        self.user = None if scope.user_id is None else whole.directory.user_code(scope.user_id)
        self.touched: list[Nodes] = []
        self.memories: Nodes = _NONE

    def run(self, named: Sequence[int], candidates: Ranking) -> Part | None:
        """The part of the graph to walk on; None when nothing is named and no candidate is known."""
        try:
            return self._run(self._visible_of(named), candidates)
        finally:
            for nodes in self.touched:
                self.place[nodes] = -1

    def _run(self, named: Nodes, candidates: Ranking) -> Part | None:
        # 1. what the question names
        first = self._with_related(named)
        self._number_others(first, 0)
        candidate_seeds = self._place_candidates(candidates)
        rows = self.edges.gather(first)
        mentions = self._read(first, rows, 0)
        named_seeds = np.zeros(len(first))
        if len(named):
            named_seeds[: len(named)] = self._named_seeds(named, rows)
        first, named_seeds, mentions = self._without_unheard(first, named_seeds, mentions)
        if not len(first) and not len(self.memories):
            return None
        memory_seeds = _padded(candidate_seeds, len(self.memories))

        # 2. what the memories found so far mention besides
        other, memory, weight = mentions
        mass = memory_seeds
        if len(other):
            shared = named_seeds / np.maximum(np.bincount(other, weight, len(first)), 1e-9)
            mass = mass + np.bincount(memory, shared[other] * weight, len(mass))
        second = self._mentioned_besides(mass)
        others = np.concatenate((first, second))
        self._number_others(second, len(first))
        more = self._read(second, self.edges.gather(second), len(first))

        return Part(
            memories=self.memories,
            others=others,
            memory_seeds=_padded(memory_seeds, len(self.memories)),
            other_seeds=_padded(named_seeds, len(others)),
            mentions=self._mentions(others, _joined(mentions, more)),
            links=self._links(others),
        )

    def _visible_of(self, nodes: Sequence[int]) -> Nodes:
        """Those of the named terms and entities that are a place to start for this caller."""
        named = np.array(nodes, np.int64)
        if not len(named):
            return named
        return named[(self.edges.degree[named] <= WELL_KNOWN) & self._is_visible(named)]

    def _named_seeds(self, named: Nodes, rows: _Edges) -> Scores:
        """How much it says that the question names these: rare things most, names more than words.

        Whether a thing is a name, the memories know better than the question, which may be all in lower
        case: by the mean weight of its mentions. By rarity alone any odd verb beats the name that is asked
        about (MuSiQue R@5 .692, with the mean weight .722). A question that names nothing but words weighs
        the square of theirs beside the candidates (R@10 on a quarter of LoCoMo .667 → .674, on
        BEAM .512 → .516).
        """
        # an entity that no memory mentions yet may still have relations
        degree = np.maximum(self.edges.degree[named], 1)
        mean_weight = np.bincount(rows[0], rows[2], len(named))[: len(named)] / degree
        mean_weight[self.directory.kind[named] == ENTITY] = 1.0
        telling = mean_weight / degree
        seeds: Scores = telling * (min(1.0, float(mean_weight.max())) ** 2 / telling.sum())
        return seeds

    def _without_unheard(self, first: Nodes, seeds: Scores, mentions: _Edges) -> tuple[Nodes, Scores, _Edges]:
        """Without the terms of which no memory may be seen: to this caller they are unknown words."""
        other, memory, weight = mentions
        heard = np.bincount(other, minlength=len(first)) > 0
        heard |= self.directory.kind[first] == ENTITY
        if heard.all():
            return first, seeds, mentions
        place = heard.cumsum() - 1
        first, kept = first[heard], seeds[heard]
        self._number_others(first, 0)
        if len(kept) and kept.sum() > 0:
            kept *= seeds.sum() / kept.sum()
        return first, kept, (place[other], memory, weight)

    def _is_visible(self, nodes: Nodes) -> NDArray[np.bool_]:
        """Whether nodes other than memories may take part: not the entities of another user."""
        if self.user is None:
            return np.ones(len(nodes), np.bool_)
        visible: NDArray[np.bool_] = self.directory.user[nodes] == self.user
        visible |= self.directory.kind[nodes] != ENTITY
        return visible

    def _with_related(self, nodes: Nodes) -> Nodes:
        """The nodes, then the entities that relations lead to from the entities among them."""
        frontier = nodes[self.directory.kind[nodes] == ENTITY]
        if not len(frontier):
            return nodes
        known = set(nodes.tolist())
        found: list[int] = []
        for _ in range(RELATION_HOPS):
            _, near, _ = self.links.gather(frontier)
            near = near[self._is_visible(near)]
            fresh = [node for node in dict.fromkeys(near.tolist()) if node not in known]
            fresh = fresh[: RELATED - len(found)]
            if not fresh:
                break
            found += fresh
            known.update(fresh)
            frontier = np.array(fresh, np.int64)
        return np.concatenate((nodes, np.array(found, np.int64)))

    def _number_others(self, nodes: Nodes, offset: int) -> None:
        self.place[nodes] = np.arange(offset, offset + len(nodes))
        self.touched.append(nodes)

    def _number_memories(self, nodes: Nodes) -> None:
        """Number those of the memories that are new and may be seen; repeats are welcome."""
        fresh = nodes[self.place[nodes] == -1]
        if not len(fresh):
            return
        order = np.arange(len(fresh))
        self.place[fresh] = order
        fresh = fresh[self.place[fresh] == order]  # of equal ones the last has left its number
        self.touched.append(fresh)
        visible = self.allowed(self.directory.row[fresh])
        self.place[fresh] = _UNSEEN
        fresh = fresh[visible]
        count = len(self.memories)
        self.place[fresh] = np.arange(count, count + len(fresh))
        self.memories = np.concatenate((self.memories, fresh))

    def _place_candidates(self, candidates: Ranking) -> Scores:
        """Number the candidates; returns their seeds, by number."""
        nodes = self.directory.memories(candidates.rows)
        known = nodes >= 0
        nodes = nodes[known]
        self._number_memories(nodes)
        places = self.place[nodes]
        seen = places >= 0
        weights = np.maximum(candidates.scores[known][seen], 0.0)
        total = weights.sum()
        if total <= 0:
            weights, total = np.ones(len(weights)), max(len(weights), 1)
        seeds = np.zeros(len(self.memories))
        seeds[places[seen]] = weights * (CANDIDATE_SHARE / total)
        return seeds

    def _read(self, nodes: Nodes, rows: _Edges, offset: int) -> _Edges:
        """The rows of ``nodes`` as edges (other, memory, weight) by place, to memories that may be seen."""
        owner, target, weight = rows
        hub = self.edges.degree[nodes] > HUB
        self._number_memories(target[~hub[owner]] if hub.any() else target)
        place = self.place[target]
        seen = place >= 0
        return owner[seen] + offset, place[seen], weight[seen]

    def _mentioned_besides(self, mass: Scores) -> Nodes:
        """The terms and entities that carry most from memories of this mass to others."""
        best = np.arange(len(mass))
        if len(mass) > EXPANDED:
            best = np.argpartition(mass, len(mass) - EXPANDED)[-EXPANDED:]
        owner, target, weight = self.edges.gather(self.memories[best])
        degree = self.edges.degree[target]
        # what one memory mentions alone leads back to it and nowhere else
        useful = (degree > 1) & (degree <= HUB) & (self.place[target] == -1)
        if self.user is not None:
            useful &= self._is_visible(target)
        owner, target, degree = owner[useful], target[useful], degree[useful]
        if not len(target):
            return _NONE
        conductance = weight[useful] / degree
        total = np.bincount(owner, conductance, len(best))
        flow = conductance * (mass[best] / np.maximum(total, 1e-9))[owner]
        order = np.arange(len(target))
        self.place[target] = order
        is_first = self.place[target] == order
        terms = target[is_first]
        self.place[terms] = np.arange(len(terms))
        flow = np.bincount(self.place[target], flow, len(terms))
        self.place[terms] = -1
        ranked = np.argsort(-flow)
        cost = self.edges.degree[terms[ranked]].cumsum()
        chosen: Nodes = terms[ranked[: max(1, int(cost.searchsorted(MENTIONS, "right")))]]
        return chosen

    def _rarity(self, others: Nodes) -> Scores:
        return 1.0 / np.maximum(self.edges.degree[others], 1)

    def _mentions(self, others: Nodes, edges: _Edges) -> tuple[Nodes, Nodes, Scores]:
        """Edges between memories and chosen others, with what they conduct."""
        other, memory, weight = edges
        rarity = self._rarity(others)
        # who mentions much says less about each: BEAM R@10 .492 → .512, Hotpot R@5 .885 → .890,
        # against MuSiQue R@5 .721 → .708 and, on a quarter of LoCoMo, R@10 .672 → .667
        brevity = 1.0 / np.sqrt(np.maximum(self.edges.degree[self.memories], 1))
        return memory, other, weight * rarity[other] * brevity[memory]

    def _links(self, others: Nodes) -> tuple[Nodes, Nodes, Scores]:
        """Relations between two chosen entities, each once, with what they conduct."""
        (entities,) = (self.directory.kind[others] == ENTITY).nonzero()
        owner, target, weight = self.links.gather(others[entities])
        if not len(owner):
            return _NONE, _NONE, np.empty(0)
        near, far = entities[owner], self.place[target]
        once = near < far
        near, far = near[once], far[once]
        rarity = self._rarity(others)
        return near, far, RELATION_WEIGHT * weight[once] * np.sqrt(rarity[near] * rarity[far])


def _joined(some: _Edges, more: _Edges) -> _Edges:
    if not len(more[0]):
        return some
    return (
        np.concatenate((some[0], more[0])),
        np.concatenate((some[1], more[1])),
        np.concatenate((some[2], more[2])),
    )


def reseeded(part: Part, rows: Rows, candidates: Ranking) -> Part:
    """The same part with the seeds of these candidates; ``rows`` are those of its memories."""
    same = rows == candidates.rows[:, None]
    candidate, place = same.nonzero()
    weights = candidates.scores[candidate]
    total = weights.sum()
    if not total > 0:
        return part
    seeds = np.zeros(len(rows))
    seeds[place] = weights * (CANDIDATE_SHARE / total)
    return replace(part, memory_seeds=seeds)


def _padded(values: Scores, size: int) -> Scores:
    padded = np.zeros(size)
    padded[: len(values)] = values
    return padded
