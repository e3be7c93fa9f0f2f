"""Which relations does an entity have?

Relations name entities by id and may come before them or outlast them, so they are kept on their own; the
graph has an edge for a relation while both its ends are there.
"""

import json
import math
from dataclasses import dataclass

from retrieval.records import Relation

__all__ = ["KnownRelation", "Relations", "known"]


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """What the graph remembers of a relation."""

    from_entity: str
    to_entity: str
    weight: float
    space: str

    @property
    def conducts(self) -> bool:
        """A relation of no weight is a record like others, but no edge."""
        return self.from_entity != self.to_entity and math.isfinite(self.weight) and self.weight > 0


class Relations:
    """Relations by id and by either end."""

    def __init__(self) -> None:
        self._known: dict[str, KnownRelation] = {}
        self._of_entity: dict[str, set[str]] = {}

    def __getitem__(self, relation_id: str) -> KnownRelation:
        return self._known[relation_id]

    def get(self, relation_id: str) -> KnownRelation | None:
        return self._known.get(relation_id)

    def of_entity(self, entity_id: str) -> list[KnownRelation]:
        """Relations from or to an entity."""
        return [self._known[key] for key in self._of_entity.get(entity_id, ())]

    def put(self, relation_id: str, relation: KnownRelation) -> None:
        self.remove(relation_id)
        self._known[relation_id] = relation
        for entity in (relation.from_entity, relation.to_entity):
            self._of_entity.setdefault(entity, set()).add(relation_id)

    def remove(self, relation_id: str) -> None:
        relation = self._known.pop(relation_id, None)
        if relation is None:
            return
        for entity in {relation.from_entity, relation.to_entity}:
            held = self._of_entity[entity]
            held.discard(relation_id)
            if not held:
                del self._of_entity[entity]

    def dumps(self) -> str:
        """All relations as JSON."""
        return json.dumps(
            [
                [key, known.from_entity, known.to_entity, known.weight, known.space]
                for key, known in self._known.items()
            ]
        )

    @classmethod
    def loads(cls, text: str) -> "Relations":
        """The relations that ``dumps`` wrote."""
        relations = cls()
        for key, from_entity, to_entity, weight, space in json.loads(text):
            relations.put(key, KnownRelation(from_entity, to_entity, weight, space))
        return relations


def known(relation: Relation) -> KnownRelation:
    """What the graph remembers of a record."""
    return KnownRelation(relation.from_entity, relation.to_entity, relation.weight, relation.space)
