"""By which way did the walk reach this memory?

For people who ask why something was found; computed when they ask. A path is worth its seed times the
chance of each step, so the strongest one is a shortest path over negative logarithms.
"""

import heapq
import math

import numpy as np

from retrieval.channels.graph_walk import Part
from retrieval.channels.pagerank import DAMPING

__all__ = ["strongest_path"]


def strongest_path(part: Part, memory: int) -> list[int]:
    """Nodes from a seed to the memory at a place of ``part``; empty when no seed leads there."""
    seeds = np.concatenate((part.memory_seeds, part.other_seeds))
    steps = _steps(part, len(seeds))
    cost = {place: -math.log(seeds[place]) for place in seeds.nonzero()[0].tolist()}
    came_from: dict[int, int] = {}
    queue = [(spent, place) for place, spent in cost.items()]
    heapq.heapify(queue)
    while queue:
        spent, place = heapq.heappop(queue)
        if place == memory:
            break
        if spent > cost[place]:
            continue
        for after, chance in steps[place]:
            total = spent - math.log(chance)
            if total < cost.get(after, math.inf):
                cost[after] = total
                came_from[after] = place
                heapq.heappush(queue, (total, after))
    if memory not in cost:
        return []
    path = [memory]
    while path[-1] in came_from:
        path.append(came_from[path[-1]])
    nodes = np.concatenate((part.memories, part.others))
    return [int(node) for node in nodes[path[::-1]]]


def _steps(part: Part, size: int) -> list[list[tuple[int, float]]]:
    """Where a walker may go from each place, memories first and others after, and the chance of it."""
    memory, other, conductance = part.mentions
    near, far, link = part.links
    shift = len(part.memories)
    start = np.concatenate((memory, other + shift, near + shift, far + shift))
    end = np.concatenate((other + shift, memory, far + shift, near + shift))
    weight = np.concatenate((conductance, conductance, link, link))
    chance = DAMPING * weight / np.bincount(start, weight, size)[start]
    steps: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for source, target, value in zip(start.tolist(), end.tolist(), chance.tolist(), strict=True):
        steps[source].append((target, value))
    return steps
