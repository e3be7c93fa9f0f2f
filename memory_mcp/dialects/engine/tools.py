"""What does each tool take, and whom does it ask?

Handlers translate, call, render. The engine's modules are imported inside them: the list of tools is
answered before the engine is loaded.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from memory_mcp.dialects import Call, Reply, Tool
from memory_mcp.dialects.arguments import Arguments, Number, Whole
from memory_mcp.dialects.engine import render

if TYPE_CHECKING:
    from memory_mcp.engine.engine import Engine

__all__ = ["TOOLS"]

Results = Annotated[Whole, Field(ge=1, le=50)]
PageSize = Annotated[Whole, Field(ge=1, le=100)]


class NoArguments(Arguments):
    """Nothing to say."""


class StoreArgs(Arguments):
    """A new memory."""

    content: str
    memory_type: Literal["episodic", "semantic", "procedural"] | None = None
    user_id: str | None = None
    metadata: dict[str, Any] | None = None


class IdArgs(Arguments):
    """One memory."""

    id: str


class UpdateArgs(Arguments):
    """One memory, and what should be different."""

    id: str
    content: str | None = None
    memory_type: str | None = None
    metadata: dict[str, Any] | None = None


class ListArgs(Arguments):
    """A page of memories."""

    limit: PageSize = 20
    offset: Annotated[Whole, Field(ge=0)] = 0


class SearchArgs(Arguments):
    """A question."""

    query: str
    limit: Results = 10


class RecallArgs(Arguments):
    """A question, where to look, and how much each channel counts."""

    query: str
    limit: Results = 10
    include_memories: bool = True
    include_code: bool = False
    project_id: str | None = None
    language: str | None = None
    vector_weight: Number = 0.40
    bm25_weight: Number = 0.15
    ppr_weight: Number = 0.45


class EntityArgs(Arguments):
    """A new named thing."""

    name: str
    entity_type: str | None = None
    description: str | None = None
    user_id: str | None = None


class RelationArgs(Arguments):
    """A new edge."""

    from_entity: str
    to_entity: str
    relation_type: str
    weight: Annotated[Number, Field(ge=0, le=1)] = 1.0


class RelatedArgs(Arguments):
    """Where to start, how far to go."""

    entity_id: str
    depth: Annotated[Whole, Field(ge=1, le=3)] = 1
    direction: Literal["outgoing", "incoming", "both"] = "outgoing"


class ValidArgs(Arguments):
    """Whose memories."""

    user_id: str | None = None
    limit: PageSize = 20


class ValidAtArgs(Arguments):
    """When, and whose memories."""

    timestamp: str
    user_id: str | None = None
    limit: PageSize = 20


class InvalidateArgs(Arguments):
    """Which memory ends, why, and what replaces it."""

    id: str
    reason: str | None = None
    superseded_by: str | None = None


class IndexArgs(Arguments):
    """Which folder, and whether to follow its changes."""

    path: str
    watch: bool = False


class CodeArgs(Arguments):
    """A question about code."""

    query: str
    project_id: str | None = None
    limit: Results = 10


class ProjectArgs(Arguments):
    """One project."""

    project_id: str


class ResetArgs(Arguments):
    """Whether it is meant. Anything but ``true`` is a no: this tool refuses by answer, not by error."""

    confirm: Any = False


def store_memory(engine: "Engine", args: StoreArgs) -> Reply:
    from memory_mcp.engine.memories import Draft

    memory = engine.memories.store(Draft(args.content, args.memory_type, args.user_id, args.metadata))
    return {"id": memory.id}


def get_memory(engine: "Engine", args: IdArgs) -> Reply:
    return render.memory(engine.memories.get(args.id))


def update_memory(engine: "Engine", args: UpdateArgs) -> Reply:
    changed = engine.memories.update(
        args.id, content=args.content, memory_type=args.memory_type, metadata=args.metadata
    )
    return render.memory(changed)


def delete_memory(engine: "Engine", args: IdArgs) -> Reply:
    engine.memories.delete(args.id)
    return {"deleted": True}


def list_memories(engine: "Engine", args: ListArgs) -> Reply:
    return render.page(engine.memories.list(args.limit, args.offset), args.limit, args.offset)


def search(engine: "Engine", args: SearchArgs) -> Reply:
    return render.answer(engine.questions.search(args.query, args.limit), args.query)


def search_text(engine: "Engine", args: SearchArgs) -> Reply:
    return render.answer(engine.questions.search_text(args.query, args.limit), args.query)


def recall(engine: "Engine", args: RecallArgs) -> Reply:
    from memory_mcp.engine.recall import Sources
    from retrieval.fusion import Weights

    weights = Weights(args.vector_weight, args.bm25_weight, args.ppr_weight)
    sources = Sources(args.include_memories, args.include_code, args.project_id, args.language)
    return render.recalled(engine.recall(args.query, args.limit, weights, sources), args.query)


def create_entity(engine: "Engine", args: EntityArgs) -> Reply:
    entity = engine.knowledge.create_entity(
        args.name, entity_type=args.entity_type, description=args.description, user_id=args.user_id
    )
    return {"id": entity.id}


def create_relation(engine: "Engine", args: RelationArgs) -> Reply:
    relation = engine.knowledge.create_relation(
        args.from_entity, args.to_entity, args.relation_type, args.weight
    )
    return {"id": relation.id}


def get_related(engine: "Engine", args: RelatedArgs) -> Reply:
    return render.related(engine.knowledge.related(args.entity_id, args.depth, args.direction))


def get_valid(engine: "Engine", args: ValidArgs) -> Reply:
    return render.memories(engine.memories.valid(args.limit, user_id=args.user_id))


def get_valid_at(engine: "Engine", args: ValidAtArgs) -> Reply:
    from memory_mcp.engine.checks import instant

    at = instant("timestamp", args.timestamp)
    found = engine.memories.valid(args.limit, user_id=args.user_id, at=at)
    return {**render.memories(found), "timestamp": render.time(at)}


def invalidate(engine: "Engine", args: InvalidateArgs) -> Reply:
    engine.memories.invalidate(args.id, reason=args.reason, superseded_by=args.superseded_by)
    return {"invalidated": True}


def index_project(engine: "Engine", args: IndexArgs, call: Call) -> Reply:
    return render.indexed(
        engine.projects.index(args.path, watch=args.watch, report=call.report, stopped=call.stopped)
    )


def search_code(engine: "Engine", args: CodeArgs) -> Reply:
    return render.code(engine.code.search(args.query, args.limit, project=args.project_id))


def get_index_status(engine: "Engine", args: ProjectArgs) -> Reply:
    return render.index_status(engine.projects.status(args.project_id))


def list_projects(engine: "Engine", args: NoArguments) -> Reply:
    names = [project.id for project in engine.projects.all()]
    return {"projects": names, "count": len(names)}


def delete_project(engine: "Engine", args: ProjectArgs) -> Reply:
    return {"chunks_deleted": engine.projects.delete(args.project_id)}


def get_status(engine: "Engine", args: NoArguments) -> Reply:
    return render.status(engine.status())


def reset_all_memory(engine: "Engine", args: ResetArgs) -> Reply:
    if args.confirm is not True:
        return {"reset": False, "message": "Confirmation required. Set confirm=true to delete all data."}
    return render.reset(engine.reset())


TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        "store_memory": Tool(StoreArgs, store_memory),
        "get_memory": Tool(IdArgs, get_memory),
        "update_memory": Tool(UpdateArgs, update_memory),
        "delete_memory": Tool(IdArgs, delete_memory),
        "list_memories": Tool(ListArgs, list_memories),
        "search": Tool(SearchArgs, search),
        "search_text": Tool(SearchArgs, search_text),
        "recall": Tool(RecallArgs, recall),
        "create_entity": Tool(EntityArgs, create_entity),
        "create_relation": Tool(RelationArgs, create_relation),
        "get_related": Tool(RelatedArgs, get_related),
        "get_valid": Tool(ValidArgs, get_valid),
        "get_valid_at": Tool(ValidAtArgs, get_valid_at),
        "invalidate": Tool(InvalidateArgs, invalidate),
        "index_project": Tool(IndexArgs, index_project, is_long=True),
        "search_code": Tool(CodeArgs, search_code),
        "get_index_status": Tool(ProjectArgs, get_index_status),
        "list_projects": Tool(NoArguments, list_projects),
        "delete_project": Tool(ProjectArgs, delete_project),
        "get_status": Tool(NoArguments, get_status),
        "reset_all_memory": Tool(ResetArgs, reset_all_memory),
    }
)
"""Every tool of the contract, by name."""
