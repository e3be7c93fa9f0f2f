"""Whatever a client sends: is it refused by the name of the field, and is everything as it was?"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.harness import Lines, an_error

BIG = 1_000_000
"""Characters in a content of a megabyte."""

QUERY_LANGUAGE = (
    "x; DELETE memories", "memories:⟨x⟩", "⟨x⟩", "`x`", "memories:*", "1..", "x' OR '1'='1", "$state",
    "type::record('memories', 'x')", "", " ", "memories:", "../../etc/passwd", "x\0y", "\ud800", "ж",
    "x" * 500,
)  # fmt: skip

REQUIRED = {
    "store_memory": ["content"],
    "get_memory": ["id"],
    "update_memory": ["id"],
    "delete_memory": ["id"],
    "search": ["query"],
    "search_text": ["query"],
    "recall": ["query"],
    "create_entity": ["name"],
    "create_relation": ["from_entity", "to_entity", "relation_type"],
    "get_related": ["entity_id"],
    "get_valid_at": ["timestamp"],
    "invalidate": ["id"],
    "index_project": ["path"],
    "search_code": ["query"],
    "get_index_status": ["project_id"],
    "delete_project": ["project_id"],
}

MINIMAL: dict[str, dict[str, Any]] = {
    "store_memory": {"content": "x"},
    "get_memory": {"id": "x"},
    "update_memory": {"id": "x"},
    "delete_memory": {"id": "x"},
    "list_memories": {},
    "search": {"query": "x"},
    "search_text": {"query": "x"},
    "recall": {"query": "x"},
    "create_entity": {"name": "x"},
    "create_relation": {"from_entity": "x", "to_entity": "y", "relation_type": "r"},
    "get_related": {"entity_id": "x"},
    "get_valid": {},
    "get_valid_at": {"timestamp": "2026-01-06T12:00:00Z"},
    "invalidate": {"id": "x"},
    "index_project": {"path": "no/such/folder"},
    "search_code": {"query": "x"},
    "get_index_status": {"project_id": "x"},
    "list_projects": {},
    "delete_project": {"project_id": "x"},
    "get_status": {},
    "reset_all_memory": {"confirm": True},
}

WRONG_TYPES: list[tuple[str, str, Any, str]] = [
    (tool, field, value, wanted)
    for wanted, values, places in (
        (
            "a string",
            (5, True, ["x"], {"x": 1}),
            (
                "store_memory.content", "store_memory.user_id", "get_memory.id", "update_memory.id",
                "update_memory.content", "update_memory.memory_type", "delete_memory.id", "search.query",
                "search_text.query", "recall.query", "recall.project_id", "recall.language",
                "create_entity.name", "create_entity.entity_type", "create_entity.description",
                "create_entity.user_id",
                "create_relation.from_entity", "create_relation.to_entity", "create_relation.relation_type",
                "get_related.entity_id", "get_valid.user_id", "get_valid_at.timestamp",
                "get_valid_at.user_id", "invalidate.id", "invalidate.reason", "invalidate.superseded_by",
                "index_project.path", "search_code.query", "search_code.project_id",
                "get_index_status.project_id", "delete_project.project_id",
            ),
        ),
        (
            "an integer",
            ("5", 5.5, True, None, [5], float("nan")),
            (
                "list_memories.limit", "list_memories.offset", "search.limit", "search_text.limit",
                "recall.limit", "get_related.depth", "get_valid.limit", "get_valid_at.limit",
                "search_code.limit",
            ),
        ),
        (
            "a finite number",
            ("0.5", True, None, [1], float("nan"), float("inf"), 10**400),
            (
                "recall.vector_weight", "recall.bm25_weight", "recall.ppr_weight", "create_relation.weight",
            ),
        ),
        (
            "true or false",
            ("true", 1, None),
            ("recall.include_memories", "recall.include_code", "index_project.watch"),
        ),
        ("an object", ("x", 5, ["x"], True), ("store_memory.metadata", "update_memory.metadata")),
    )
    for place in places
    for tool, field in [place.split(".")]
    for value in values
]  # fmt: skip

OUT_OF_RANGE: list[tuple[str, str, Any, str]] = [
    ("list_memories", "limit", 0, "must be at least 1, not 0."),
    ("list_memories", "limit", 101, "must be at most 100, not 101."),
    ("list_memories", "limit", -(10**30), f"must be at least 1, not -{10**30}."),
    ("list_memories", "offset", -1, "must be at least 0, not -1."),
    ("search", "limit", 0, "must be at least 1, not 0."),
    ("search", "limit", 51, "must be at most 50, not 51."),
    ("search_text", "limit", 51, "must be at most 50, not 51."),
    ("recall", "limit", 0, "must be at least 1, not 0."),
    ("recall", "limit", 51, "must be at most 50, not 51."),
    ("search_code", "limit", 0, "must be at least 1, not 0."),
    ("search_code", "limit", 51, "must be at most 50, not 51."),
    ("search_code", "limit", 10**30, f"must be at most 50, not {10**30}."),
    ("get_valid", "limit", 0, "must be at least 1, not 0."),
    ("get_valid", "limit", 101, "must be at most 100, not 101."),
    ("get_valid_at", "limit", 101, "must be at most 100, not 101."),
    ("get_related", "depth", 0, "must be at least 1, not 0."),
    ("get_related", "depth", 4, "must be at most 3, not 4."),
    ("get_related", "direction", "sideways", 'must be one of outgoing, incoming, both, not "sideways".'),
    ("create_relation", "weight", -0.1, "must be at least 0, not -0.1."),
    ("create_relation", "weight", 1.1, "must be at most 1, not 1.1."),
    (
        "store_memory", "memory_type", "wishful",
        'must be one of episodic, semantic, procedural, not "wishful".',
    ),
]  # fmt: skip

TEXT_FIELDS = [
    ("store_memory", "content"),
    ("search", "query"),
    ("search_text", "query"),
    ("recall", "query"),
    ("create_entity", "name"),
    ("create_entity", "entity_type"),
    ("create_entity", "description"),
    ("store_memory", "user_id"),
    ("create_entity", "user_id"),
    ("get_valid", "user_id"),
    ("search_code", "query"),
    ("index_project", "path"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lines]:
    """A server with something to lose."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "kept").mkdir()
    (folder / "kept" / "kept.py").write_text("def kept_as_it_is():\n    return 1\n")
    with Lines(folder / "data") as lines:
        lines.shake_hands()
        reply(lines, "index_project", path=str(folder / "kept"))
        reply(lines, "store_memory", content="Kept as it is", metadata={"a": 1})
        ada = reply(lines, "create_entity", name="Ada")["id"]
        bob = reply(lines, "create_entity", name="Bob")["id"]
        reply(lines, "create_relation", from_entity=ada, to_entity=bob, relation_type="knows")
        yield lines
        assert lines.leave() == 0
        assert b"Traceback" not in lines.errors


@pytest.fixture
def lines(server: Lines) -> Iterator[Lines]:
    """The server, which must hold after the test what it held before."""
    before = snapshot(server)
    yield server
    assert snapshot(server) == before


def reply(lines: Lines, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = lines.call(tool, **arguments)
    assert not result.is_error, result
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def snapshot(lines: Lines) -> tuple[Any, ...]:
    status = reply(lines, "get_status")
    listed = reply(lines, "list_memories", limit=100)
    found = reply(lines, "search_text", query="kept")
    projects = reply(lines, "list_projects")
    code = [row["id"] for row in reply(lines, "search_code", query="kept_as_it_is")["results"]]
    counts = {name: count for name, count in status.items() if name.endswith("_count")}
    return listed, found, projects, code, counts


def refused(lines: Lines, tool: str, /, **arguments: Any) -> str:
    return an_error(lines.call(tool, **arguments))


def test_an_unknown_tool_is_named(lines: Lines) -> None:
    assert refused(lines, "drop_everything").startswith("Unknown tool: drop_everything. ")
    assert refused(lines, "").startswith("Unknown tool: . Known are store_memory, ")


@pytest.mark.parametrize(("tool", "fields"), REQUIRED.items())
def test_a_missing_argument_is_named(lines: Lines, tool: str, fields: list[str]) -> None:
    for field in fields:
        arguments = {name: value for name, value in MINIMAL[tool].items() if name != field}
        assert refused(lines, tool, **arguments) == f"Invalid {field}: required."


@pytest.mark.parametrize("tool", MINIMAL)
def test_an_unknown_argument_is_named(lines: Lines, tool: str) -> None:
    text = refused(lines, tool, **MINIMAL[tool], colour="blue")
    assert text.startswith("Invalid colour: unknown argument; known are ")


@pytest.mark.parametrize(("tool", "field", "value", "wanted"), WRONG_TYPES)
def test_a_wrong_type_is_named(lines: Lines, tool: str, field: str, value: Any, wanted: str) -> None:
    text = refused(lines, tool, **(MINIMAL[tool] | {field: value}))
    assert text.startswith(f"Invalid {field}: must be {wanted}, not ")


@pytest.mark.parametrize(("tool", "field", "value", "problem"), OUT_OF_RANGE)
def test_a_value_out_of_range_is_named(lines: Lines, tool: str, field: str, value: Any, problem: str) -> None:
    assert refused(lines, tool, **(MINIMAL[tool] | {field: value})) == f"Invalid {field}: {problem}"


@pytest.mark.parametrize(("tool", "field"), TEXT_FIELDS)
@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "x" * BIG, "a\0b", "a\ud800b", "\udc00"],
    ids=["empty", "blank", "1MB", "NUL", "high", "low"],
)
def test_text_that_cannot_be_kept_is_refused(lines: Lines, tool: str, field: str, text: str) -> None:
    assert refused(lines, tool, **(MINIMAL[tool] | {field: text})).startswith(f"Invalid {field}: ")


@pytest.mark.parametrize("field", ["content", "metadata"])
def test_an_update_is_checked_like_a_new_memory(lines: Lines, field: str) -> None:
    key = reply(lines, "list_memories")["memories"][0]["id"]["id"]["String"]
    for text in ("", "x" * BIG, "a\0b", "\ud800"):
        if field == "content" or text:
            value = text if field == "content" else {"text": text}
            assert refused(lines, "update_memory", id=key, **{field: value}).startswith(f"Invalid {field}")
    assert refused(lines, "update_memory", id=key, memory_type="wishful").startswith("Invalid memory_type: ")
    assert refused(lines, "invalidate", id=key, reason="\ud800").startswith("Invalid reason: ")


@pytest.mark.parametrize("tool", ["get_memory", "update_memory", "delete_memory", "invalidate"])
@pytest.mark.parametrize("key", QUERY_LANGUAGE)
def test_an_id_is_never_read_as_a_query(lines: Lines, tool: str, key: str) -> None:
    assert refused(lines, tool, id=key).startswith("Memory not found: ")


@pytest.mark.parametrize("key", QUERY_LANGUAGE)
def test_an_entity_id_is_never_read_as_a_query(lines: Lines, key: str) -> None:
    assert refused(lines, "get_related", entity_id=key).startswith("Entity not found: ")
    for ends in ({"from_entity": key, "to_entity": "y"}, {"from_entity": "y", "to_entity": key}):
        assert refused(lines, "create_relation", relation_type="r", **ends).startswith("Entity not found: ")


@pytest.mark.parametrize("key", QUERY_LANGUAGE)
def test_a_project_id_is_never_read_as_a_query(lines: Lines, key: str) -> None:
    for tool in ("get_index_status", "delete_project"):
        assert refused(lines, tool, project_id=key).startswith("Project not found: ")
    assert refused(lines, "search_code", query="x", project_id=key).startswith("Project not found: ")
    text = refused(lines, "recall", query="x", include_code=True, project_id=key)
    assert text.startswith("Project not found: ")


@pytest.mark.parametrize("language", QUERY_LANGUAGE)
def test_a_language_is_never_read_as_a_query(lines: Lines, language: str) -> None:
    text = refused(lines, "recall", query="x", include_code=True, language=language)
    assert text.startswith("Invalid language: ")


@pytest.mark.parametrize("key", ["x" * BIG, "\0" * BIG, "\ud800" * BIG], ids=["text", "NUL", "surrogates"])
def test_a_large_name_is_not_repeated(lines: Lines, key: str) -> None:
    for tool, arguments in (
        ("get_index_status", {"project_id": key}),
        ("delete_project", {"project_id": key}),
        ("search_code", {"query": "x", "project_id": key}),
        ("recall", {"query": "x", "include_code": True, "project_id": key}),
        ("recall", {"query": "x", "include_code": True, "language": key}),
        ("index_project", {"path": key}),
        ("index_project", {"path": key[:90_000]}),
    ):
        assert len(refused(lines, tool, **arguments)) < 2_000


@pytest.mark.parametrize("field", ["vector_weight", "bm25_weight", "ppr_weight"])
def test_a_negative_weight_is_named(lines: Lines, field: str) -> None:
    text = refused(lines, "recall", query="x", **{field: -0.1})
    assert text == f"Invalid {field}: must be a number of at least 0, not -0.1."


def test_some_weight_is_needed(lines: Lines) -> None:
    text = refused(lines, "recall", query="x", vector_weight=0, bm25_weight=0, ppr_weight=0)
    assert text.startswith("Invalid vector_weight: ")


@pytest.mark.parametrize(
    "timestamp",
    ["", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30", "12:00", "1767700800", "2026-01-06T25:00:00Z",
     "2026-01-06T12:00:00+99:00", "0001-01-01T00:00:00+23:00", "\ud800", "\0"],
)  # fmt: skip
def test_a_malformed_timestamp_is_named(lines: Lines, timestamp: str) -> None:
    assert refused(lines, "get_valid_at", timestamp=timestamp).startswith("Invalid timestamp: ")
    if timestamp:
        for field in ("event_time", "valid_from", "valid_until", "expires_at"):
            text = refused(lines, "store_memory", content="x", metadata={field: timestamp})
            assert text.startswith("Invalid metadata")
            assert field in text


def test_a_time_must_be_a_timestamp_and_the_end_after_the_start(lines: Lines) -> None:
    text = refused(lines, "store_memory", content="x", metadata={"valid_from": 1767700800})
    assert text.startswith("Invalid metadata.valid_from: ")
    backwards = {"valid_from": "2026-01-02T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"}
    assert refused(lines, "store_memory", content="x", metadata=backwards).startswith(
        "Invalid metadata.valid_until: "
    )


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"deep": {"text": "\0"}}, "metadata.deep.text"),
        ({"deep": [1, {"text": "\ud800"}]}, "metadata.deep[1].text"),
        ({"\ud800": 1}, "metadata"),
        ({"n": float("nan")}, "metadata.n"),
        ({"n": [float("inf")]}, "metadata.n[0]"),
        ({"n": 2**63}, "metadata.n"),
        ({"text": "x" * BIG}, "metadata"),
        (json.loads('{"a":' * 40 + "1" + "}" * 40), "metadata.a"),
    ],
)
def test_metadata_that_cannot_be_kept_is_named(lines: Lines, metadata: dict[str, Any], field: str) -> None:
    assert refused(lines, "store_memory", content="x", metadata=metadata).startswith(f"Invalid {field}")


def test_a_name_that_is_no_text_is_refused(lines: Lines) -> None:
    assert "unknown argument" in refused(lines, "search", query="x", **{"\ud800": 1})
    assert refused(lines, "\ud800").startswith("Unknown tool: ")


@pytest.mark.parametrize("confirm", [False, None, "true", 1, "yes", [], {}])
def test_a_reset_without_a_clear_yes_is_no_error_and_no_reset(lines: Lines, confirm: Any) -> None:
    assert reply(lines, "reset_all_memory", confirm=confirm) == {
        "reset": False,
        "message": "Confirmation required. Set confirm=true to delete all data.",
    }


def test_a_reset_without_an_answer_is_no_error_and_no_reset(lines: Lines) -> None:
    assert reply(lines, "reset_all_memory")["reset"] is False


@pytest.mark.parametrize(
    "line",
    [
        b"not json", b"{", b"[]", b"[1]", b"5", b"null", b'"text"', b"\xff\xfe\xfd", b"{}", b"[" * 200_000,
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":' + b"9" * 5000 + b"}}",
        b"x" * 20_000_000,
    ],
    ids=lambda line: line[:24].decode("ascii", "replace"),
)  # fmt: skip
def test_a_line_that_is_no_message_is_answered(lines: Lines, line: bytes) -> None:
    lines.line(line)
    answer = lines.reply()
    assert answer["error"]["code"] in (-32700, -32600)
    assert answer["id"] in (None, 1)


@pytest.mark.parametrize("params", [None, {}, {"name": 5}, {"name": "search", "arguments": [1]}])
def test_a_call_that_is_no_call_is_a_protocol_error(lines: Lines, params: Any) -> None:
    assert lines.request("tools/call", params)["error"]["code"] == -32602


def test_absent_and_null_arguments_are_none(lines: Lines) -> None:
    for params in ({"name": "get_valid"}, {"name": "get_valid", "arguments": None}):
        assert lines.request("tools/call", params)["result"]["isError"] is False


def test_blank_lines_and_stray_messages_are_passed_over(lines: Lines) -> None:
    for line in (b"", b"\r", b"   "):
        lines.line(line)
    lines.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    lines.send({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}})
    lines.notify("notifications/unheard_of")
    assert lines.request("ping")["result"] == {}


def test_an_id_of_half_a_surrogate_pair_is_answered(lines: Lines) -> None:
    lines.line(rb'{"jsonrpc":"2.0","id":"\ud800","method":"ping"}')
    assert lines.reply() == {"jsonrpc": "2.0", "id": "\ud800", "result": {}}


def test_an_unknown_method_is_a_protocol_error(lines: Lines) -> None:
    assert lines.request("tools/explode")["error"]["code"] == -32601
