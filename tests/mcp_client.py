"""What tests of the MCP server share: it is spoken to by the SDK's own client, here or in a process, or by hand."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import vaults
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation

from vault_memory.agents.mcp_server import McpServer
from vault_memory.text.agent_frame import CLOSING, OPENING

AGENT = Implementation(name="Test Agent", version="1")
SOURCE = str(Path(__file__).parent.parent)


@contextmanager
def talking(root: Path, folder: Path | None = None) -> Iterator["Session"]:
    """A client of the SDK with a server in this process."""
    server = McpServer(str(root), folder or Path.cwd())
    client = Client(server.protocol(), client_info=AGENT)
    try:
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
            yield Session(client, portal)
    finally:
        server.end()


@contextmanager
def talking_to_process(root: Path, mode: Any = "auto", first: str = "") -> Iterator["Session"]:
    """The same with `memory mcp` in a process of its own, which runs the Python of `first` before anything else."""
    command = vaults.command(root, "mcp", first=first)
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ) | {"PYTHONPATH": SOURCE})
    with tempfile.TemporaryFile("w+") as log:
        client = Client(stdio_client(server, log), mode=mode, client_info=AGENT)
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
            yield Session(client, portal)


class Session:
    """A client whose event loop has a thread of its own, and what tests ask of it."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client, self.run = client, portal.call
        self._portal = portal

    def begin(self, tool: str, **arguments: Any) -> "Future[Any]":
        """Call a tool without waiting for its answer; to cancel the future is to cancel the call."""
        return self._portal.start_task_soon(self.client.call_tool, tool, arguments)

    def call(self, tool: str, **arguments: Any) -> str:
        """The text a tool answers; fails where that is an error."""
        text, is_error = self.try_call(tool, **arguments)
        assert not is_error, text
        return text

    def fail(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is an error."""
        text, is_error = self.try_call(tool, **arguments)
        assert is_error, text
        return text

    def try_call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """What a tool answers, and whether it calls that an error."""
        answer = self.begin(tool, **arguments).result()
        assert isinstance(answer, CallToolResult)
        (content,) = answer.content
        return content.text, answer.is_error  # type: ignore[union-attr]

    def read(self, uri: str) -> str:
        """The text of a resource."""
        (content,) = self.run(self.client.read_resource, uri).contents
        return content.text  # type: ignore[union-attr]

    def search(self, query: str, **options: Any) -> str:
        """The answer to a question once there is an index."""
        while "being built now" in (text := self.call("memory_search", query=query, **options)):
            time.sleep(0.05)
        return text


def inside(text: str) -> str:
    """What of an answer stands in its frame, which is one."""
    _, framed = text.split(f"{OPENING}\n")
    return framed.split(f"\n{CLOSING}")[0]


def outside(text: str) -> str:
    """What of an answer stands before and behind its frame."""
    before, framed = text.split(OPENING)
    return before + framed.split(CLOSING)[1]


class Wire:
    """A server spoken to line by line."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            vaults.command(root, "mcp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(os.environ) | {"PYTHONPATH": SOURCE}, bufsize=0,
        )  # fmt: skip
        vaults._started.append(self.process)  # type: ignore[arg-type]

    def send(self, line: bytes | dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        found = json.loads(line)
        assert found["jsonrpc"] == "2.0"
        return found

    def greet(self) -> dict[str, Any]:
        """Do the handshake; returns the server's answer."""
        client = {"name": "wire", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        found = self.receive()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def ask(self, number: int, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        self.ask(number, "tools/call", name=tool, arguments=arguments)
