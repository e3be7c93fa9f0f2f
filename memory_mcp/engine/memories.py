"""What do we remember, and since when?

Storing, reading, changing and ending memories. Every method is scoped: a memory of another space or user
does not exist for the caller.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_mcp.engine import checks
from memory_mcp.engine.ids import is_retry, new_id
from retrieval.embedding.encoder import Encoder
from retrieval.errors import IndexesNotReady, InvalidInput, MemoryNotFound, StoreError
from retrieval.indexes import Indexes
from retrieval.records import Memory, Scope
from retrieval.store.changes import Change
from retrieval.store.store import Store

__all__ = ["Draft", "Memories", "Page"]

_TIMES = ("event_time", "valid_from", "valid_until", "expires_at")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller asks to remember. Times may also be given inside ``metadata``, under the same names."""

    content: str
    memory_type: str | None = None
    user_id: str | None = None
    metadata: Mapping[str, Any] | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Page:
    """Some memories out of ``total``."""

    memories: tuple[Memory, ...]
    total: int


class Memories:
    """The memories of one scope."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        encoder: Encoder,
        scope: Scope,
        *,
        timeout: float,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._encoder = encoder
        self._scope = scope
        self._timeout = timeout
        self._now = now

    def store(self, draft: Draft) -> Memory:
        """Remember one thing."""
        return self.store_many([draft])[0]

    def store_many(self, drafts: Sequence[Draft]) -> list[Memory]:
        """Remember several things in one transaction: all of them, or none."""
        memories = [self._memory(draft) for draft in drafts]
        if is_retry() and (made := self._store.memories([memory.id for memory in memories])):
            return list(made.values())  # all of them: they were one transaction
        vectors = self._encoder.embed_passages([memory.content for memory in memories])
        changes = self._indexes.commit(
            lambda: self._store.create_memories(memories, vectors, self._encoder.spec.name)
        )
        return [change.record for change in changes if isinstance(change.record, Memory)]

    def get(self, given_id: str) -> Memory:
        """The memory with this id."""
        key = checks.memory_id(given_id)
        memory = self._store.memories([key]).get(key)
        if memory is None or not self._visible(memory):
            raise MemoryNotFound(given_id)
        return memory

    def update(
        self,
        given_id: str,
        *,
        content: str | None = None,
        memory_type: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Change the given fields; a new content is embedded again."""
        before = self.get(given_id)
        changed: dict[str, Any] = {"updated_at": self._now()}
        if content is not None:
            changed["content"] = checks.check_text("content", content, longest=checks.MAX_CONTENT)
        if (kind := checks.check_memory_type(memory_type)) is not None:
            changed["memory_type"] = kind
        if metadata is not None:
            changed["metadata"] = checks.check_metadata(metadata)
            changed.update(_times(changed["metadata"]))
        vector = None
        if content is not None and content != before.content:
            vector = self._encoder.embed_passages([content])[0]

        def write() -> Sequence[Change]:
            # Read again inside the step: another call may have changed the other fields meanwhile.
            current = self.get(given_id)
            memory = replace(current, **changed)
            if (memory.valid_from, memory.valid_until) != (current.valid_from, current.valid_until):
                _check_order(memory)  # one invalidated before it began is in no order, and that stands
            return [self._store.update_memory(memory, vector, self._encoder.spec.name)]

        return self._written(write)

    def delete(self, given_id: str) -> None:
        """Forget a memory for good."""
        try:
            self._indexes.commit(lambda: [self._store.delete_memory(self.get(given_id))])
        except MemoryNotFound:
            if not is_retry():
                raise

    def invalidate(
        self, given_id: str, *, reason: str | None = None, superseded_by: str | None = None
    ) -> Memory:
        """End a memory's validity now; one that has already ended keeps its end."""
        if reason is not None:
            checks.check_text("reason", reason, longest=checks.MAX_CONTENT)

        def write() -> Sequence[Change]:
            memory = self.get(given_id)
            successor = None
            if superseded_by is not None:
                try:
                    successor = self.get(superseded_by).id
                except MemoryNotFound:
                    problem = f"there is no memory {superseded_by!r:.100}."
                    raise InvalidInput("superseded_by", problem) from None
                if successor == memory.id:
                    raise InvalidInput("superseded_by", "a memory cannot supersede itself.")
            now = self._now()
            ended = memory.valid_until is not None and memory.valid_until <= now
            memory = replace(
                memory,
                valid_until=memory.valid_until if ended else now,
                invalidation_reason=reason if reason is not None else memory.invalidation_reason,
                superseded_by=successor if successor is not None else memory.superseded_by,
                updated_at=now,
            )
            return [self._store.update_memory(memory, None, self._encoder.spec.name)]

        return self._written(write)

    def list(self, limit: int, offset: int) -> Page:
        """Memories, newest first, valid or not."""
        self.wait()
        with self._indexes.current():
            rows = self._indexes.catalog.visible(self._scope)
        return Page(tuple(self._indexes.memories(rows[offset : offset + limit])), len(rows))

    def valid(
        self, limit: int, *, user_id: str | None = None, at: datetime | None = None
    ) -> tuple[Memory, ...]:
        """Memories that are valid now, or were or will be at an instant, newest first."""
        scope = replace(self._scope, user_id=self.owner(user_id))
        self.wait()
        with self._indexes.current():
            rows = self._indexes.catalog.valid(scope, at or self._now())
        return tuple(self._indexes.memories(rows[:limit]))

    def owner(self, user_id: str | None) -> str | None:
        """Whose memories a call is about: a server that serves one user serves no other."""
        bound = self._scope.user_id
        if user_id is None:
            return bound
        checks.check_text("user_id", user_id, longest=checks.MAX_NAME)
        if bound is not None and user_id != bound:
            raise InvalidInput("user_id", f"this server only serves user {bound!r}; leave it out.")
        return user_id

    def wait(self) -> None:
        """Wait for indexes that are being built, a bounded while."""
        if not self._indexes.wait(self._timeout):
            if self._indexes.failed is not None:
                raise StoreError(
                    f"The indexes could not be built: {self._indexes.failed}. Memories are safe; "
                    "start again, or see the log on stderr."
                )
            progress = self._indexes.progress
            raise IndexesNotReady(progress.percent if progress else 100.0)

    def _memory(self, draft: Draft) -> Memory:
        now = self._now()
        metadata = checks.check_metadata(draft.metadata)
        times = {"event_time": now, "valid_from": now, "valid_until": None, "expires_at": None}
        memory = Memory(
            id=new_id(),
            row=-1,
            content=checks.check_text("content", draft.content, longest=checks.MAX_CONTENT),
            memory_type=checks.check_memory_type(draft.memory_type) or "semantic",
            space=self._scope.space,
            user_id=self.owner(draft.user_id),
            metadata=metadata,
            importance=1.0,
            ingestion_time=now,
            updated_at=now,
            **{**times, **_times(metadata)},
        )
        _check_order(memory)
        return memory

    def _visible(self, memory: Memory) -> bool:
        return memory.space == self._scope.space and self._scope.user_id in (None, memory.user_id)

    def _written(self, write: Callable[[], Sequence[Change]]) -> Memory:
        record = self._indexes.commit(write)[0].record
        assert isinstance(record, Memory)
        return record


def _times(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The instants that metadata gives, since the contract has no arguments for them."""
    return {
        name: checks.instant(f"metadata.{name}", metadata[name])
        for name in _TIMES
        if metadata.get(name) is not None
    }


def _check_order(memory: Memory) -> None:
    if memory.valid_until is not None and memory.valid_until <= memory.valid_from:
        raise InvalidInput("metadata.valid_until", "must be later than valid_from.")
