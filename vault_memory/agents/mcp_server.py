"""Serves a vault over MCP on standard input and output, using the SDK; errors become answers.

The implementation of the tools (mcp_answers.py) is imported, with all it needs, only after the client's handshake.
"""

import asyncio
import json
import logging
import os
import re
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from vault_memory.agents import mcp_tools
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.startup import APP, __version__

if TYPE_CHECKING:
    from vault_memory.agents.mcp_answers import Caller
    from vault_memory.agents.vault_session import VaultSession

Context = ServerRequestContext[Any, Any]
Result = TypeVar("Result")

log = logging.getLogger(__name__)

LAST_WRITE_SECONDS = 0.7
"""How long a running write may take after the client has gone; cutting it off never leaves a damaged note."""

_MARKDOWN = "text/markdown"

RESOURCES = types.ListResourcesResult(resources=[types.Resource(
    name="core", uri=mcp_tools.CORE_URI, mime_type=_MARKDOWN,
    description="What should be known at any time: the core files.",
)])  # fmt: skip

TEMPLATES = types.ListResourceTemplatesResult(resource_templates=[
    types.ResourceTemplate(
        name="entity", uri_template=mcp_tools.ENTITY_URI + "{name}", mime_type=_MARKDOWN,
        description="What is known of a person, place, project or thing.",
    ),
    types.ResourceTemplate(
        name="note", uri_template=mcp_tools.NOTE_URI + "{path}", mime_type=_MARKDOWN,
        description="A note by its path in the vault, percent-encoded.",
    ),
])  # fmt: skip


def serve(vault: str | None, folder: Path) -> NoReturn:
    """Serve until standard input is closed or SIGINT arrives, then end the process.

    `vault` is as on the command line, `folder` is the client's working directory.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    server = McpServer(vault, folder)

    def stop(*_: object) -> NoReturn:
        server.end()
        os._exit(0)

    signal.signal(signal.SIGINT, stop)  # asyncio would wait for the thread that reads standard input
    try:
        asyncio.run(server.run())
    except BaseExceptionGroup as group:
        if group.split((OSError, asyncio.CancelledError))[1]:  # not just a client that went away
            raise
    finally:
        server.end()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(0)  # without waiting for threads whose answers nobody reads


class McpServer:
    """The server of one client."""

    def __init__(self, vault: str | None, folder: Path) -> None:
        self._vault, self._folder = vault, folder
        self._answers = ThreadPoolExecutor(1, "answers")
        self._slow = ThreadPoolExecutor(1, "slow")
        self._reflecting = ThreadPoolExecutor(1, "reflect")
        self._session: VaultSession | None = None
        self._written: Future[str] | None = None
        self._is_warming = False

    def protocol(self) -> Server[Any]:
        """Return the SDK's server, with a handler for each kind of request."""
        return Server[Any](
            APP, version=__version__, instructions=mcp_tools.INSTRUCTIONS, on_list_tools=self._list_tools,
            on_call_tool=self._call, on_list_resources=_always_answer(RESOURCES),
            on_list_resource_templates=_always_answer(TEMPLATES), on_read_resource=self._read,
        )  # fmt: skip

    async def run(self) -> None:
        """Serve the connection on standard input and output until it ends."""
        server = self.protocol()
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
            to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception]()

            async def forward() -> None:
                """Reject malformed messages here: the SDK would drop them, and the sender would wait for ever."""
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    async with to_server:
                        async for read in incoming:
                            if isinstance(read, Exception):
                                await outgoing.send(_refusal(read))
                            else:
                                await to_server.send(read)

            group.start_soon(forward)
            await server.run(from_client, outgoing, server.create_initialization_options())

    def end(self) -> None:
        """Give a running write a moment to finish.

        May run in a signal handler, so it takes none of the executors' locks, which this thread may hold.
        """
        if self._written:
            wait([self._written], LAST_WRITE_SECONDS)

    # --- listing -------------------------------------------------------------------------------------------------

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        def may_edit() -> bool:
            from vault_memory.config import load

            with suppress(VaultMemoryError):  # the next call will report what is wrong
                return load(self._vault, cwd=self._folder).mcp_edit
            return False

        with_edit = await asyncio.wrap_future(self._slow.submit(may_edit))
        self._warm_up()
        tools = []
        for tool in mcp_tools.tools(with_edit):
            hints = types.ToolAnnotations(
                read_only_hint=tool.only_reads, destructive_hint=None if tool.only_reads else tool.may_destroy,
                open_world_hint=False,
            )  # fmt: skip
            tools.append(
                types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)
            )
        return types.ListToolsResult(tools=tools)

    # --- calls ---------------------------------------------------------------------------------------------------

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = next((tool for tool in mcp_tools.tools(True) if tool.name == params.name), None)
            if tool is None:
                known = ", ".join(tool.name for tool in mcp_tools.tools(False))
                raise UsageError(f"`{params.name:.80}` is not a tool.", f"There are {known}.")
            given = mcp_tools.checked(tool, params.arguments or {})
            structured: dict[str, Any] = {}

            def work() -> str:
                from vault_memory.agents import mcp_answers

                return mcp_answers.TOOLS[params.name](self._caller(context, structured), given)

            pools = {"memory_store": self._slow, "memory_edit": self._slow, "memory_reflect": self._reflecting}
            pool = pools.get(params.name, self._answers)
            future = pool.submit(work)
            if pool is self._slow:
                self._written = future
            return _answer(await asyncio.wrap_future(future), structured)
        except Exception as error:
            return _answer(_error_text(error, params.name), is_error=True)

    async def _read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)

        def work() -> str:
            from vault_memory.agents import mcp_answers

            return mcp_answers.resource(self._caller(context), uri)

        try:
            text = await asyncio.wrap_future(self._answers.submit(work))
        except Exception as error:
            code = types.INVALID_PARAMS if isinstance(error, UsageError) else types.INTERNAL_ERROR
            raise MCPError(code, _error_text(error, "resource")) from error
        contents = types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[contents])

    # --- the threads ---------------------------------------------------------------------------------------------

    def _caller(self, context: Context, structured: dict[str, Any] | None = None) -> "Caller":
        from vault_memory.agents.mcp_answers import Caller

        params = context.session.client_params
        name = params.client_info.name if params and params.client_info else ""
        agent = re.sub(r"[^a-z0-9]+", "-", name.casefold())[:64].strip("-")  # as scopes spell it
        return Caller(self._vault_session(), agent, structured)

    def _vault_session(self) -> "VaultSession":
        from vault_memory.agents.vault_session import VaultSession

        if self._session is None:
            self._session = VaultSession(self._vault, self._folder)
        return self._session

    def _warm_up(self) -> None:
        """Load in advance, after the handshake, what the first question would wait for."""

        def load() -> None:
            with suppress(Exception):  # the next question will report what is wrong
                self._vault_session().warm_up()

        if not self._is_warming:
            self._is_warming = True
            self._answers.submit(load)


def _always_answer(result: Result) -> Callable[[Context, types.PaginatedRequestParams | None], Awaitable[Result]]:
    async def answer(context: Context, params: types.PaginatedRequestParams | None) -> Result:
        return result

    return answer


def _answer(text: str, structured: dict[str, Any] | None = None, is_error: bool = False) -> types.CallToolResult:
    text_content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[text_content], structured_content=structured or None, is_error=is_error)


def _refusal(error: Exception) -> SessionMessage:
    """Return the JSON-RPC error for a line that is not a valid message.

    It carries the id of a request if that can be read, but not the id of a response, which would look like a request's.
    """
    found = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    code, why = types.INVALID_REQUEST, "This is not a JSON-RPC 2.0 message; each takes a line of its own."
    given = next((each["input"] for each in found if isinstance(each["input"], dict)), {})
    if line := next((each["input"] for each in found if each["type"] == "json_invalid"), ""):
        try:
            given = json.loads(line)  # accepts lone surrogates, which pydantic rejects
        except (ValueError, TypeError, RecursionError):
            code, why = types.PARSE_ERROR, "This line is not JSON."
    number = given.get("id") if isinstance(given, dict) and not {"result", "error"} & given.keys() else None
    known = number if isinstance(number, int | str) and not isinstance(number, bool) else None
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=why)))


def _error_text(error: Exception, what: str) -> str:
    """Return the error message for an agent; a bug is logged without the error's message, which may quote a note."""
    if isinstance(error, VaultMemoryError):
        from vault_memory.text.agent_frame import defused

        return defused(" ".join(filter(None, (str(error), error.next_step))))
    trace = "".join(traceback.format_tb(error.__traceback__))
    log.error("%.80s failed: %s\n%s", what, type(error).__name__, trace)
    return f"{what:.80} failed: {type(error).__name__}. The server goes on; its log on standard error says where."
