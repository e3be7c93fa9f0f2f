"""The opt-in tools about symbols, as a client sees them: absent, and there with ``--tools symbols``."""

import json
import subprocess
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import annotated_types
import pytest

from memory_mcp.dialects.engine import engine_dialect
from memory_mcp.dialects.engine.symbol_tools import SYMBOL_TOOLS
from memory_mcp.settings import add_settings, read_settings
from retrieval.errors import SettingsError
from tests.contract.harness import INITIALIZE, PATIENCE, Lines, Memory, command, connected, environment
from tests.unit.indexer.test_symbol_graph import FILES
from tests.unit.memory_mcp.engine.test_symbols import write

NAMES = ["find_symbol", "get_callers", "get_callees", "project_map"]
SPEC = json.loads(Path(__file__).with_name("engine_spec.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("symbols")
    with connected(root / "data", "--tools", "symbols") as memory:
        memory.ask("index_project", path=str(write(root / "shop_project", FILES)))
        yield memory


# Off and on


def test_without_the_flag_there_are_the_21_tools_of_the_contract(server: Memory) -> None:
    assert [tool.name for tool in server.tools()] == [tool["name"] for tool in SPEC["tools"]]
    assert "Unknown tool" in server.refuse("find_symbol", name="x")


def test_with_it_they_come_after_those(client: Memory) -> None:
    assert [tool.name for tool in client.tools()] == [tool["name"] for tool in SPEC["tools"]] + NAMES


def test_they_say_that_they_only_read(client: Memory) -> None:
    for tool in client.tools()[-4:]:
        hints = tool.annotations
        assert hints is not None
        assert hints.title
        assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
        assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)
        assert tool.description


def test_a_variable_turns_them_on(tmp_path: Path) -> None:
    messages = (
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
    result = subprocess.run(
        command(tmp_path / "data"),
        input=b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages),
        capture_output=True,
        timeout=PATIENCE,
        env=environment() | {"MEMORY_MCP_TOOLS": "Symbols"},
        check=False,
    )
    assert b"project_map" in result.stdout


def test_an_unknown_set_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    with Lines(tmp_path / "data", "--tools", "gadgets") as lines:
        assert lines.ended() == 2
    assert b"--tools must be one of symbols, not 'gadgets'." in lines.errors


def settings_of(argv: list[str], **variables: str) -> tuple[str, ...]:
    parser = ArgumentParser()
    add_settings(parser)
    return read_settings(parser.parse_args(argv), variables, Path("/home/ada")).tools


def test_sets_are_given_once_or_more_often_or_in_a_list() -> None:
    assert settings_of([]) == ()
    assert settings_of(["--tools", "symbols"]) == ("symbols",)
    assert settings_of(["--tools", "symbols", "--tools", " Symbols, symbols,"]) == ("symbols",)
    assert settings_of(["--tools=symbols"], MEMORY_MCP_TOOLS="gadgets") == ("symbols",)
    assert settings_of([], MEMORY_MCP_TOOLS=" ") == ()


@pytest.mark.parametrize("argv", [["--tools", ""], ["--tools", "symbols,gadgets"]])
def test_a_bad_set_names_its_flag(argv: list[str]) -> None:
    with pytest.raises(SettingsError, match="--tools"):
        settings_of(argv)
    with pytest.raises(SettingsError, match="MEMORY_MCP_TOOLS must be one of symbols, not 'gadgets'"):
        settings_of([], MEMORY_MCP_TOOLS="gadgets")


# The schemas


@pytest.mark.parametrize("row", engine_dialect(["symbols"]).listing[-4:], ids=lambda row: row["name"])
def test_a_schema_and_its_model_say_the_same(row: dict[str, Any]) -> None:
    fields = SYMBOL_TOOLS[row["name"]].arguments.model_fields
    schema = row["inputSchema"]
    assert list(fields) == list(schema["properties"])
    assert [name for name, field in fields.items() if field.is_required()] == schema["required"]
    for name, said in schema["properties"].items():
        field = fields[name]
        assert said["description"]
        assert said.get("nullable", False) is (not field.is_required() and field.default is None)
        if "default" in said:
            assert said["default"] == field.default
        bounds = {type(one): one for one in field.metadata}
        if said["type"] == "integer":
            assert said["minimum"] == bounds[annotated_types.Ge].ge
            assert said["maximum"] == bounds[annotated_types.Le].le
            assert str(said["maximum"]) in said["description"]


# The answers


def test_find_symbol(client: Memory) -> None:
    assert client.ask("find_symbol", name="Basket.add_item") == {
        "results": [
            {
                "name": "add_item",
                "kind": "method",
                "scope": "Basket",
                "file_path": "shop/cart.py",
                "start_line": 4,
                "end_line": 5,
                "project_id": "shop_project",
                "signature": "def add_item(self, item)",
                "references": 2,
            }
        ],
        "count": 1,
        "total": 1,
    }


def test_find_symbol_takes_all_its_arguments(client: Memory) -> None:
    reply = client.ask("find_symbol", name="BASKET", project_id="shop_project", kind="class", limit=1)
    assert (reply["count"], reply["total"]) == (1, 2)
    assert (reply["results"][0]["name"], reply["results"][0]["scope"]) == ("Basket", None)
    assert client.ask("find_symbol", name="zebra") == {"results": [], "count": 0, "total": 0}


def test_get_callers(client: Memory) -> None:
    reply = client.ask("get_callers", name="place_order")
    assert reply["results"] == []
    assert reply["definitions"][0]["signature"] == "def place_order(items)"
    reply = client.ask(
        "get_callers", name="add_item", project_id="shop_project", file_path="shop/cart.py", limit=1
    )
    assert reply["results"] == [
        {
            "name": "place_order",
            "kind": "function",
            "scope": None,
            "file_path": "shop/orders.py",
            "start_line": 3,
            "end_line": 7,
            "project_id": "shop_project",
            "reference": "call",
            "line": 6,
            "text": "basket.add_item(item)",
            "certain": True,
            "target": {"name": "Basket.add_item", "file_path": "shop/cart.py", "start_line": 4},
        }
    ]
    assert (reply["count"], reply["total"]) == (1, 2)


def test_callers_outside_of_definitions_are_files(client: Memory) -> None:
    rows = client.ask("get_callers", name="Basket")["results"]
    assert [(row["name"], row["line"]) for row in rows if row["kind"] == "file"] == [
        ("orders.py", 1),
        ("test_cart.py", 1),
    ]


def test_callers_that_are_not_certain_have_no_target(client: Memory, tmp_path: Path) -> None:
    text = "def work_hard(): pass\n"
    root = write(tmp_path / "far", {"x/a.py": text, "y/b.py": text, "z/c.py": "def go():\n    work_hard()\n"})
    key = client.ask("index_project", path=str(root))["project_id"]
    reply = client.ask("get_callers", name="work_hard", project_id=key)
    assert [row["file_path"] for row in reply["definitions"]] == ["x/a.py", "y/b.py"]
    [row] = reply["results"]
    assert (row["name"], row["line"], row["certain"], row["target"]) == ("go", 2, False, None)
    client.ask("delete_project", project_id=key)


def test_get_callees(client: Memory) -> None:
    reply = client.ask("get_callees", name="Basket")
    assert reply["results"] == [
        {
            "name": "price_of",
            "kind": "function",
            "scope": None,
            "file_path": "shop/prices.py",
            "start_line": 3,
            "end_line": 4,
            "project_id": "shop_project",
            "signature": "def price_of(item)",
            "reference": "call",
            "line": 8,
            "text": "return sum(price_of(item) for item in self.items)",
            "source": {"name": "Basket.total_price", "file_path": "shop/cart.py", "start_line": 7},
        }
    ]
    assert [row["name"] for row in reply["definitions"]] == ["Basket"]
    assert (reply["count"], reply["total"]) == (1, 1)


def test_project_map(client: Memory) -> None:
    reply = client.ask("project_map", project_id="shop_project")
    text = reply.pop("map")
    assert text.startswith("shop/cart.py\n  3: class Basket\n    4: def add_item(self, item)\n")
    assert reply == {
        "project_id": "shop_project",
        "tokens": -(-len(text) // 4),
        "files_shown": 4,
        "files_total": 4,
        "definitions_shown": 13,
        "definitions_total": 13,
    }


def test_project_map_with_a_focus(client: Memory) -> None:
    reply = client.ask("project_map", project_id="shop_project", token_budget=100, focus="orders")
    assert reply["map"].startswith("shop/orders.py\n")
    assert reply["tokens"] <= 100
    assert reply["focus_matches"] > 0


# Refusals


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("find_symbol", {}, "Invalid name: required."),
        ("find_symbol", {"name": 3}, "Invalid name: must be a string, not 3."),
        ("find_symbol", {"name": " "}, "Invalid name: must not be empty."),
        ("find_symbol", {"name": "a", "limit": 51}, "Invalid limit: must be at most 50, not 51."),
        (
            "find_symbol",
            {"name": "a", "kind": "gadget"},
            "Invalid kind: is not known: 'gadget'. Known are class, constant, function, method.",
        ),
        ("find_symbol", {"name": "a", "project_id": "no"}, "Project not found: no"),
        ("get_callers", {"name": "a", "project_id": "no"}, "Project not found: no"),
        ("get_callers", {"name": "a", "limit": 0}, "Invalid limit: must be at least 1, not 0."),
        ("get_callees", {"name": "a", "limit": 201}, "Invalid limit: must be at most 200, not 201."),
        ("get_callees", {"name": "a", "file_path": ""}, "Invalid file_path: must not be empty."),
        ("project_map", {}, "Invalid project_id: required."),
        ("project_map", {"project_id": "no"}, "Project not found: no"),
        (
            "project_map",
            {"project_id": "shop_project", "token_budget": 99},
            "Invalid token_budget: must be at least 100, not 99.",
        ),
        (
            "project_map",
            {"project_id": "shop_project", "tokens": 99},
            "Invalid tokens: unknown argument; known are project_id, token_budget, focus.",
        ),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    client: Memory, tool: str, arguments: dict[str, Any], text: str
) -> None:
    assert client.refuse(tool, **arguments) == text
