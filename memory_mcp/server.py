"""A client speaks MCP to us; what does it hear?

The only module that knows the protocol's library. It checks arguments, runs the handlers of one dialect in
worker threads, and is the one place where errors become replies.
"""

import functools
import json
import logging
import os
import signal
import sys
import threading
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.models import InitializationOptions
from mcp.shared.message import SessionMessage
from mcp_types.version import is_version_at_least
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from memory_mcp.dialects import Call, Dialect, Reply
from memory_mcp.dialects.arguments import parse
from memory_mcp.dialects.engine import engine_dialect
from memory_mcp.lines import MAX_LINE, TooLong
from memory_mcp.opening import Opening, claim
from memory_mcp.owner.hello import KEY, RETRY
from memory_mcp.owner.lock import FolderLock
from memory_mcp.settings import Settings
from memory_mcp.wire import Wire
from retrieval.errors import MemoryServerError

__all__ = ["build_server", "converse", "serve_stdio"]

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any]

CALLS_AT_ONCE = 32
"""Calls that run side by side. Most of them wait: for the model, or for one another's writes."""

AFTER_HANDSHAKE = 0.3
"""Seconds until the engine is opened if a client shakes hands and then asks for nothing. Opening it at once
would take the interpreter away from ``tools/list``, which clients ask for within milliseconds."""

AFTER_LISTING = 0.02
"""Seconds until the engine is opened once the tools are listed: the answer is on its way by then."""

PROGRESS_SECONDS = 0.2
"""Seconds between two notes on progress."""

GRACE = 3.0
"""Seconds that running calls have to answer when we are asked to leave. Clients wait 2 to 4 before a kill."""

LAST_RESORT = 10.0
"""Seconds after which we leave whatever still hangs. Nothing acknowledged is lost, as with kill -9."""


def build_server(dialect: Dialect, opening: Opening, *, user_id: str | None = None) -> Server[Any]:
    """An MCP server that speaks ``dialect``; its client sees the memories of ``user_id``, or of all."""
    tools = [types.Tool.model_validate(row) for row in dialect.listing]
    limiter = anyio.CapacityLimiter(CALLS_AT_ONCE)

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        opening.begin(after=AFTER_LISTING)
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = dialect.tools.get(params.name)
        is_long = tool is not None and tool.is_long
        cancelled = threading.Event()
        call = Call(_teller(context), cancelled.is_set) if is_long else Call()
        asked = _Asked(params.name, params.arguments or {}, params.meta or {}, user_id)
        run = functools.partial(_call, dialect, opening, asked, call)
        try:
            # a long call that is cancelled is told so, and ends by itself; others are over in no time
            result = await anyio.to_thread.run_sync(run, limiter=limiter, abandon_on_cancel=is_long)
        finally:
            cancelled.set()
        if not is_version_at_least(context.protocol_version, "2025-06-18"):
            result.structured_content = None  # not known before; the text says the same
        return result

    async def initialized(context: Context, params: Any) -> None:
        opening.begin(after=AFTER_HANDSHAKE)

    server = Server[Any](
        dialect.name,
        version=dialect.version,
        instructions=dialect.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.add_notification_handler("notifications/initialized", types.NotificationParams, initialized)
    return server


def serve_stdio(
    settings: Settings, dialect: Dialect | None = None, *, lock: FolderLock | None = None
) -> NoReturn:
    """Serve one client on standard input and output until it leaves or a signal comes, then end the process.

    Other windows of the user come in through a socket meanwhile. Raises MemoryServerError before anything is
    served if the data directory cannot be ours.
    """
    opening = claim(settings, lock)
    server = build_server(dialect or engine_dialect(settings.tools), opening, user_id=settings.user_id)
    anyio.run(_serve, settings, server, opening, Wire.standard())
    # Everything is closed and written. An interpreter that winds down while a model is still being loaded
    # is aborted by the loader's C++ ("terminate called without an active exception", one end in four).
    _leave(0)


def _teller(context: Context) -> Callable[[int, int], None]:
    """What sends a client that asked for it the progress of its call, a few times a second, from a thread."""
    last = 0.0

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < PROGRESS_SECONDS and done < total:
            return
        last = now
        # a call that is cancelled while it tells would end right here, before it could put things in order
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError, CancelledError):
            anyio.from_thread.run(context.session.report_progress, done, total)

    return report


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call: which tool, with what, and on whose behalf."""

    name: str
    arguments: Mapping[str, Any]
    meta: Mapping[str, Any]
    user_id: str | None

    @contextmanager
    def keyed(self) -> Iterator[None]:
        """A call that a relay may have to make again has a key (``memory_mcp/engine/ids.py``)."""
        key = self.meta.get(KEY)
        if not isinstance(key, str):
            yield
            return
        from memory_mcp.engine.ids import keyed

        with keyed(f"{self.user_id}\0{key}", is_retry=self.meta.get(RETRY) is True):
            yield


def _call(dialect: Dialect, opening: Opening, asked: _Asked, call: Call) -> types.CallToolResult:
    """Run one tool. Whatever happens becomes a result: a tool error is for the model to read and correct."""
    try:
        tool = dialect.tools.get(asked.name)
        if tool is None:
            return _error(f"Unknown tool: {asked.name}. Known are {', '.join(dialect.tools)}.")
        # a wrong call is answered before the engine is there
        arguments = parse(tool.arguments, asked.arguments)
        with asked.keyed():
            return _success(tool.run(opening.engine_for(asked.user_id), arguments, call))
    except MemoryServerError as error:
        return _error(str(error))
    except Exception:
        log.exception("tool %s failed", asked.name)
        return _error("Internal error. The server's log on stderr has the detail; please report it.")


def _success(reply: Reply) -> types.CallToolResult:
    text = json.dumps(reply, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=reply)


def _error(text: str) -> types.CallToolResult:
    # An error repeats what it was given, and that may be half of a surrogate pair.
    readable = text.encode("utf-8", "replace").decode("utf-8")
    return types.CallToolResult(content=[types.TextContent(text=readable)], is_error=True)


# Standard input and output


async def _serve(settings: Settings, server: Server[Any], opening: Opening, wire: Wire) -> None:
    from memory_mcp.hosting import Host

    over = anyio.Event()
    host = Host(settings, opening)
    last_resort = threading.Timer(LAST_RESORT, _give_up)
    last_resort.daemon = True

    async def leave() -> None:
        last_resort.start()
        await host.stop()
        # Calls that are still running find the engine closed, and end.
        await anyio.to_thread.run_sync(opening.close)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(host.run)
        if sys.platform != "win32":  # there, Ctrl-C ends the process by itself
            tasks.start_soon(_listen, over)
        await converse(server, wire, over, leave)
        tasks.cancel_scope.cancel()
    last_resort.cancel()


async def converse(
    server: Server[Any], wire: Wire, over: anyio.Event, leave: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Speak with one client until it leaves or ``over`` is set; calls that run then have a while to answer.

    ``leave`` ends what calls need that are still running after that.
    """
    to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
    talk = _Talk(wire, to_server)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, requests, answers, _options(server))
        tasks.start_soon(talk.send, from_server)
        tasks.start_soon(talk.receive)
        tasks.start_soon(_pass_on, over, talk.over)
        await talk.over.wait()
        with anyio.move_on_after(GRACE):
            await talk.answered()
        await to_server.aclose()
        if leave is not None:
            await leave()
            await talk.sent.wait()
        else:
            with anyio.move_on_after(GRACE):
                await talk.sent.wait()
        tasks.cancel_scope.cancel()
    wire.flush(1.0)


async def _pass_on(first: anyio.Event, second: anyio.Event) -> None:
    await first.wait()
    second.set()


class _Talk:
    """Lines to messages and back, and which requests are still without an answer."""

    def __init__(self, wire: Wire, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        self.over = anyio.Event()
        self.sent = anyio.Event()
        self._wire = wire
        self._to_server = to_server
        self._open: set[types.RequestId] = set()
        self._closed_one = anyio.Event()

    async def receive(self) -> None:
        async for line in self._wire.lines():
            if self.over.is_set():  # a signal came: what is asked from here on has no answer
                return
            try:
                message = _read(line)
            except _Refused as refused:
                log.warning("%s", refused)
                self._wire.send(_write(refused.reply))
                continue
            match message:
                case types.JSONRPCRequest():
                    self._open.add(message.id)
                case types.JSONRPCNotification(method="notifications/cancelled"):
                    self._close((message.params or {}).get("requestId"))  # is never answered
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._to_server.send(SessionMessage(message))
        self.over.set()

    async def send(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                self._wire.send(_write(item.message))
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._close(item.message.id)
        self.sent.set()

    async def answered(self) -> None:
        """Wait until every request has its answer."""
        while self._open:
            await self._closed_one.wait()

    def _close(self, request: Any) -> None:
        if isinstance(request, str | int):
            self._open.discard(request)
        self._closed_one.set()
        self._closed_one = anyio.Event()


class _Refused(Exception):
    """A line that is no message, and what to tell its sender."""

    def __init__(self, code: int, text: str, request: types.RequestId | None = None) -> None:
        super().__init__(text)
        self.reply = types.JSONRPCError(
            jsonrpc="2.0", id=request, error=types.ErrorData(code=code, message=text)
        )


def _read(line: bytes | TooLong) -> types.JSONRPCMessage:
    """The message in a line, or _Refused.

    The library's own transport drops what it cannot read without a word, and the client waits for ever. It
    cannot read half of a surrogate pair, which is to be refused by the name of its field, and it takes a
    request with an unusable id for a notification.
    """
    if isinstance(line, TooLong):
        raise _Refused(types.INVALID_REQUEST, f"Invalid request: a line has more than {MAX_LINE} bytes.")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise _Refused(types.PARSE_ERROR, "Parse error: a line is not JSON in UTF-8.") from None
    request = value.get("id") if isinstance(value, dict) else None
    if isinstance(request, bool) or not isinstance(request, str | int):
        request = None
    try:
        message: types.JSONRPCMessage = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        text = "Invalid request: not a JSON-RPC 2.0 message."
        raise _Refused(types.INVALID_REQUEST, text, request) from None
    if isinstance(message, types.JSONRPCNotification) and "id" in value:
        raise _Refused(types.INVALID_REQUEST, "Invalid request: id must be a string or an integer.")
    return message


def _write(message: types.JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")
    except PydanticSerializationError:  # half of a surrogate pair, in an id: ASCII can spell it
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode("ascii")


def _options(server: Server[Any]) -> InitializationOptions:
    # The library would announce "listChanged": false, which the contract does not.
    capabilities = types.ServerCapabilities(tools=types.ToolsCapability())
    return server.create_initialization_options().model_copy(update={"capabilities": capabilities})


async def _listen(over: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            over.set()


def _give_up() -> None:
    log.error("calls are still running %.0f s after the end was asked for; leaving without them", LAST_RESORT)
    _leave(1)


def _leave(code: int) -> NoReturn:
    logging.shutdown()
    os._exit(code)
