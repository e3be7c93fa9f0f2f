"""Which named things are there, and how are they connected?"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_mcp.engine import checks
from memory_mcp.engine.ids import is_retry, new_id
from memory_mcp.engine.memories import Memories
from retrieval.errors import EntityNotFound, InvalidInput
from retrieval.indexes import Indexes
from retrieval.records import Entity, Relation, Scope
from retrieval.store.store import Store

__all__ = ["Direction", "Knowledge", "Related"]

Direction = Literal["outgoing", "incoming", "both"]

MAX_RELATED = 1_000
"""Relations followed by one question; a hub has more than anyone can read."""


@dataclass(frozen=True, slots=True)
class Related:
    """What was reached from an entity, nearest first, and the relations that led there."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


class Knowledge:
    """The entities and relations of one scope."""

    def __init__(
        self, store: Store, indexes: Indexes, memories: Memories, scope: Scope, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._memories = memories
        self._scope = scope
        self._now = now

    def create_entity(
        self,
        name: str,
        *,
        entity_type: str | None = None,
        description: str | None = None,
        user_id: str | None = None,
    ) -> Entity:
        """Add a named thing."""
        entity = Entity(
            id=new_id(),
            row=-1,
            name=checks.check_text("name", name, longest=checks.MAX_NAME),
            entity_type=_optional("entity_type", entity_type, checks.MAX_NAME),
            description=_optional("description", description, checks.MAX_CONTENT),
            space=self._scope.space,
            user_id=self._memories.owner(user_id),
            created_at=self._now(),
        )
        if is_retry() and (made := self._store.entities([entity.id]).get(entity.id)) is not None:
            return made
        created = self._indexes.commit(lambda: [self._store.create_entity(entity)])[0].record
        assert isinstance(created, Entity)
        return created

    def create_relation(
        self, from_entity: str, to_entity: str, relation_type: str, weight: float = 1.0
    ) -> Relation:
        """Connect two entities that exist."""
        checks.check_text("relation_type", relation_type, longest=checks.MAX_NAME)
        if not (math.isfinite(weight) and 0 <= weight <= 1):
            raise InvalidInput("weight", f"must be between 0 and 1, not {weight}.")
        source, target = self._entity(from_entity), self._entity(to_entity)
        relation = Relation(
            id=new_id(),
            from_entity=source.id,
            to_entity=target.id,
            relation_type=relation_type,
            weight=float(weight),
            space=self._scope.space,
            user_id=source.user_id if source.user_id == target.user_id else None,
            created_at=self._now(),
        )
        if is_retry() and (made := self._store.relations([relation.id]).get(relation.id)) is not None:
            return made
        created = self._indexes.commit(lambda: [self._store.create_relation(relation)])[0].record
        assert isinstance(created, Relation)
        return created

    def related(self, given_id: str, depth: int = 1, direction: Direction = "outgoing") -> Related:
        """Everything within ``depth`` relations of an entity."""
        checks.check_limit("depth", depth, lowest=1, highest=3)
        start = self._entity(given_id)
        reached: dict[str, Entity] = {start.id: start}
        relations: dict[str, Relation] = {}
        frontier = [start.id]
        for _ in range(depth):
            found = self._store.relations_of(
                frontier,
                outgoing=direction in ("outgoing", "both"),
                incoming=direction in ("incoming", "both"),
                limit=MAX_RELATED,
            )
            ends = {end for relation in found for end in (relation.from_entity, relation.to_entity)}
            neighbours = self._store.entities(sorted(ends - reached.keys()))
            fresh = {key: entity for key, entity in neighbours.items() if self._visible(entity)}
            seen = reached.keys() | fresh.keys()
            relations.update(
                (relation.id, relation)
                for relation in found
                if relation.from_entity in seen and relation.to_entity in seen
            )
            reached.update(fresh)
            frontier = list(fresh)
            if not frontier or len(relations) >= MAX_RELATED:
                break
        del reached[start.id]
        return Related(tuple(reached.values()), tuple(relations.values()))

    def _entity(self, given_id: str) -> Entity:
        key = checks.entity_id(given_id)
        entity = self._store.entities([key]).get(key)
        if entity is None or not self._visible(entity):
            raise EntityNotFound(given_id)
        return entity

    def _visible(self, entity: Entity) -> bool:
        return entity.space == self._scope.space and self._scope.user_id in (None, entity.user_id)


def _optional(field: str, text: str | None, longest: int) -> str | None:
    return None if text is None else checks.check_text(field, text, longest=longest)
