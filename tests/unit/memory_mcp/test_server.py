"""Does whatever a tool does become the right reply?"""

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.server.session import ServerSession

from memory_mcp import server as server_module
from memory_mcp.dialects import Call, Dialect, Tool
from memory_mcp.dialects.arguments import Arguments
from memory_mcp.opening import Opening
from memory_mcp.server import build_server
from retrieval.errors import EncoderNotReady, InvalidInput, MemoryNotFound, MemoryServerError, StoreError

WAIT = 30.0


class Greeting(Arguments):
    name: str


def a_dialect(handler: Callable[[Any, Any], dict[str, Any]]) -> Dialect:
    listing = {"name": "greet", "description": "Greet.", "inputSchema": {"type": "object", "properties": {}}}
    return Dialect("test", "1", "Be polite.", (listing,), {"greet": Tool(Greeting, handler)})


def called(
    handler: Callable[[Any, Any], dict[str, Any]],
    *,
    tool: str = "greet",
    arguments: dict[str, Any] | None = None,
    opening: Opening | None = None,
) -> types.CallToolResult:
    """The result of one call through an in-memory client."""
    engine: Any = object()
    server = build_server(a_dialect(handler), opening or Opening(lambda: engine))

    async def call() -> types.CallToolResult:
        async with Client(server, mode="legacy", read_timeout_seconds=WAIT) as client:
            return await client.call_tool(tool, {"name": "Ada"} if arguments is None else arguments)

    return anyio.run(call)


def text(result: types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def test_a_reply_is_told_twice() -> None:
    result = called(lambda engine, args: {"hello": args.name, "none": None, "ž": [1.5]})
    assert result.structured_content == {"hello": "Ada", "none": None, "ž": [1.5]}
    assert json.loads(text(result)) == result.structured_content
    assert text(result) == '{"hello":"Ada","none":null,"ž":[1.5]}'
    assert not result.is_error


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput("name", "too plain."),
        MemoryNotFound("abc"),
        EncoderNotReady(),
        StoreError("Database error. Please try again."),
    ],
)
def test_an_error_of_ours_keeps_its_words(error: MemoryServerError) -> None:
    def fail(engine: Any, args: Greeting) -> dict[str, Any]:
        raise error

    result = called(fail)
    assert result.is_error is True
    assert result.structured_content is None
    assert text(result) == str(error)


def test_any_other_error_is_logged_and_kept_from_the_client(caplog: pytest.LogCaptureFixture) -> None:
    def fail(engine: Any, args: Greeting) -> dict[str, Any]:
        raise ZeroDivisionError("the secret is 42")

    with caplog.at_level(logging.ERROR, "memory_mcp.server"):
        result = called(fail)
    assert result.is_error is True
    assert text(result).startswith("Internal error. ")
    assert "42" not in text(result)
    assert "the secret is 42" in caplog.text


def test_a_reply_that_is_no_json_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    assert text(called(lambda engine, args: {"score": float("nan")})).startswith("Internal error. ")
    assert caplog.records


def test_what_cannot_be_written_is_replaced() -> None:
    def fail(engine: Any, args: Greeting) -> dict[str, Any]:
        raise MemoryNotFound("a\ud800b")

    assert text(called(fail)) == "Memory not found: a?b"


def test_arguments_are_checked_before_the_engine_is_asked_for() -> None:
    def never() -> Any:
        raise AssertionError("opened for nothing")

    result = called(lambda engine, args: {}, arguments={}, opening=Opening(never))
    assert text(result) == "Invalid name: required."
    result = called(lambda engine, args: {}, tool="shout", opening=Opening(never))
    assert text(result) == "Unknown tool: shout. Known are greet."


def test_a_failed_opening_is_the_reply() -> None:
    def fail() -> Any:
        raise StoreError("Cannot open the database.")

    assert text(called(lambda engine, args: {}, opening=Opening(fail))) == "Cannot open the database."


@pytest.mark.parametrize("asked", [True, False])
def test_the_engine_is_opened_soon_after_the_tools_are_listed_or_the_handshake(
    asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "AFTER_LISTING" if asked else "AFTER_HANDSHAKE", 0.001)
    monkeypatch.setattr(server_module, "AFTER_HANDSHAKE" if asked else "AFTER_LISTING", 10 * WAIT)
    opened = threading.Event()

    def open_now() -> Any:
        opened.set()
        return object()

    server = build_server(a_dialect(lambda engine, args: {}), Opening(open_now))

    async def connect() -> None:
        async with Client(server, mode="legacy") as client:
            if asked:
                assert [tool.name for tool in (await client.list_tools()).tools] == ["greet"]
            assert await anyio.to_thread.run_sync(opened.wait, WAIT)

    anyio.run(connect)


def test_a_slow_call_does_not_hold_up_the_others() -> None:
    release = threading.Event()

    def greet(engine: Any, args: Greeting) -> dict[str, Any]:
        assert args.name != "slow" or release.wait(WAIT)
        return {"hello": args.name}

    engine: Any = object()
    server = build_server(a_dialect(greet), Opening(lambda: engine))
    finished: list[str] = []

    async def both() -> None:
        async with Client(server, mode="legacy", read_timeout_seconds=WAIT) as client:

            async def call(name: str) -> None:
                await client.call_tool("greet", {"name": name})
                finished.append(name)
                release.set()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call, "slow")
                tasks.start_soon(call, "fast")

    anyio.run(both)
    assert finished == ["fast", "slow"]


def a_long_tool(handler: Callable[[Any, Any, Call], dict[str, Any]]) -> Any:
    listing = {"name": "greet", "description": "Greet.", "inputSchema": {"type": "object", "properties": {}}}
    dialect = Dialect("test", "1", "", (listing,), {"greet": Tool(Greeting, handler, is_long=True)})
    engine: Any = object()
    return build_server(dialect, Opening(lambda: engine))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_long_call_tells_how_far_it_is(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "PROGRESS_SECONDS", 0.0)

    def count(engine: Any, args: Greeting, call: Call) -> dict[str, Any]:
        for done in range(4):
            call.report(done, 3)
        return {"stopped": call.stopped()}

    seen: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total))

    async def follow() -> types.CallToolResult:
        async with Client(a_long_tool(count), mode=mode, read_timeout_seconds=WAIT) as client:
            await client.call_tool("greet", {"name": "Ada"})  # nobody listens: nothing is told
            return await client.call_tool("greet", {"name": "Ada"}, progress_callback=note)

    assert anyio.run(follow).structured_content == {"stopped": False}
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_progress_is_not_told_more_often_than_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "PROGRESS_SECONDS", 10 * WAIT)
    seen: list[float] = []

    def count(engine: Any, args: Greeting, call: Call) -> dict[str, Any]:
        for done in range(1_001):
            call.report(done, 1_000)
        return {}

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async def follow() -> None:
        async with Client(a_long_tool(count), mode="legacy", read_timeout_seconds=WAIT) as client:
            await client.call_tool("greet", {"name": "Ada"}, progress_callback=note)

    anyio.run(follow)
    assert seen in ([0, 1_000], [1_000])  # the clock may be younger than the pause


def test_a_cancelled_call_is_told_so_and_ends_by_itself(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it is just telling how far it is."""
    telling, over = threading.Event(), threading.Event()
    ends: list[Any] = []

    async def tell(session: Any, done: int, total: int) -> None:
        telling.set()
        await anyio.sleep_forever()

    def work(engine: Any, args: Greeting, call: Call) -> dict[str, Any]:
        try:
            call.report(1, 1)
            end = time.monotonic() + WAIT
            while not call.stopped() and time.monotonic() < end:
                pass
            ends.append(call.stopped())
        except BaseException as error:  # noqa: BLE001
            ends.append(error)
        over.set()
        return {}

    async def cancel() -> None:
        async with Client(a_long_tool(work), mode="legacy", read_timeout_seconds=WAIT) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "greet", {"name": "Ada"})
                assert await anyio.to_thread.run_sync(telling.wait, WAIT)
                tasks.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(over.wait, WAIT)
            assert [tool.name for tool in (await client.list_tools()).tools] == ["greet"]

    monkeypatch.setattr(ServerSession, "report_progress", tell)
    anyio.run(cancel)
    assert ends == [True]
    assert not caplog.records
