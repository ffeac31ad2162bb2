"""JSON-RPC 2.0 over a socket: listening, framing, limits. What the methods do is its handler's business.

One message a line, UTF-8, answers in ASCII. A connection's messages are answered in order, one at a time; many
connections are served at once. Whatever a client sends, the server lives: a bad message gets an error answer, a client
that sends too long a line, or is another user's, is cut off. Nothing wakes up while nobody asks.
"""

import asyncio
import contextlib
import errno
import hmac
import json
import logging
import os
import socket
import stat
import traceback
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from vault_memory.daemon import client
from vault_memory.errors import BusyError, RefusedError, VaultMemoryError

Handler = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Method and parameters by name -> a result that JSON can hold. It raises errors of errors.py, and UnknownMethodError
for a method it does not know; it must not hold the event loop."""

log = logging.getLogger(__name__)

_ACCEPT_ROUNDS = 8

CLOSING_SECONDS = 5.0
"""What requests in hand may take when the server closes; systemd kills after 90, a person sooner."""


class Server:
    """One listening address and its connections; made, started and closed in one event loop."""

    def __init__(self, handler: Handler, closing_seconds: float = CLOSING_SECONDS) -> None:
        self._handler = handler
        self._closing_seconds = closing_seconds
        self._connections: dict[asyncio.Task[Any], bool] = {}
        """The task of each, and whether it has a request in hand."""
        self._server: asyncio.Server | None = None
        self._made: tuple[Path, int, int] | None = None
        self._token = b""
        self.is_closing = False

    async def start(self, path: Path) -> None:
        """Listen at an address of `client.socket_path`; a socket that a killed daemon left there is taken away.

        With the ending `.port` the address is a loopback port, and the file holds port and token. Raises BusyError
        when another process listens there, RefusedError where folder or file are not this user's own, VaultMemoryError
        where the socket cannot be made.
        """
        client.prepare(path)
        _remove_stale(path)
        try:
            if path.suffix == client.LOOPBACK:
                listening = self._loopback(path)
            else:
                listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                try:
                    listening.bind(str(path))
                    os.chmod(path, 0o600)
                    listening.listen(128)
                except OSError:
                    listening.close()
                    raise
        except OSError as error:
            what = f"The daemon's socket {path} cannot be made: {error.strerror or error}."
            raise VaultMemoryError(what, "Set XDG_RUNTIME_DIR to a folder of your own.") from error
        info = os.lstat(path)
        self._made = path, info.st_dev, info.st_ino
        start = asyncio.start_server if listening.family == socket.AF_INET else asyncio.start_unix_server
        self._server = await start(self._accept, sock=listening, limit=client.LONGEST_REQUEST_BYTES)

    async def listen_again(self, path: Path) -> bool:
        """Listen anew where the file it made is gone, or its address is `path` by now; whether it was so.

        Connections stay as they are. Raises as `start` does; to be ended before `close`.
        """
        if self._made and self._made[0] == path and os.path.lexists(path):
            return False
        # The old one first: Python 3.13 removes its file by name and number, and the new file may have both.
        await self._stop_listening()
        await self.start(path)
        return True

    async def close(self) -> None:
        """Stop listening, let the requests in hand be answered for a bounded time, and remove the file it made."""
        self.is_closing = True
        await self._stop_listening()
        # A handler may close the server that waits for it.
        tasks = {task for task in self._connections if task is not asyncio.current_task()}
        for task in tasks:
            if not self._connections[task]:
                task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self._closing_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await asyncio.sleep(0)  # asyncio closes a connection that was cut off in its next round

    async def _stop_listening(self) -> None:
        """Listen no longer, and remove the file it made unless another stands in its place."""
        if self._server:
            loop = asyncio.get_running_loop()
            with contextlib.suppress(NotImplementedError):  # Windows' loop
                for listening in self._server.sockets:
                    loop.remove_reader(listening.fileno())
            # A connection takes asyncio some rounds from the system's accept to `_accept`, and one whose server is
            # closed between them is never closed itself: its client would wait until this process ends.
            for _ in range(_ACCEPT_ROUNDS):
                await asyncio.sleep(0)
            self._server.close()
            self._server = None
        if self._made:
            path, device, inode = self._made
            self._made = None
            with contextlib.suppress(OSError):  # Python 3.13 may have removed a socket already
                info = os.lstat(path)
                if (info.st_dev, info.st_ino) == (device, inode):
                    os.unlink(path)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        # Nothing is kept to be sent later: `drain` ends when the system has taken it all, and `abort` loses nothing.
        writer.transport.set_write_buffer_limits(high=0)
        try:
            if not self._token and not client.is_same_user(writer.get_extra_info("socket")):
                log.warning("A connection of another user was refused.")
            elif not self.is_closing:
                self._connections[task] = False
                await self._serve(task, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # cut off, gone, or the server closes: the task ends here either way
        finally:
            self._connections.pop(task, None)
            writer.transport.abort()

    async def _serve(self, task: "asyncio.Task[Any]", reader: StreamReader, writer: StreamWriter) -> None:
        """Answer line after line; an unfinished one at the end is never a message."""
        try:
            if self._token:
                first = await reader.readuntil()
                if not hmac.compare_digest(first.strip(), self._token):
                    return
            while not self.is_closing:
                line = await reader.readuntil()
                self._connections[task] = True
                await _send(writer, await self._answer(line))
                self._connections[task] = False
                await asyncio.sleep(0)  # a client that sends much at once must not hold up the others
        except asyncio.LimitOverrunError:
            await _send(writer, _error(None, client.INVALID_REQUEST, "The message is too long."))

    async def _answer(self, line: bytes) -> bytes:
        """The answer to one line; nothing for a notification, which is a request without an id."""
        try:
            message = json.loads(line.decode("utf-8"))
            # Python reads NaN, and half a surrogate pair, which is text until somebody writes it to a file or SQLite.
            json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except (ValueError, RecursionError):
            return _error(None, client.PARSE_ERROR, "The message is not JSON in UTF-8.")
        if not isinstance(message, dict) or isinstance(message.get("id"), dict | list):
            return _error(None, client.INVALID_REQUEST, "A request is an object, its id a text, a number or null.")
        number, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
            return _error(number, client.INVALID_REQUEST, 'A request has "jsonrpc": "2.0" and a method that is text.')
        answer = await self._call(number, method, params)
        return answer if "id" in message else b""

    async def _call(self, number: object, method: str, params: object) -> bytes:
        if not isinstance(params, dict):
            return _error(number, client.BAD_PARAMETERS, "Parameters are given by name, in an object.")
        try:
            return _dumped({"jsonrpc": "2.0", "id": number, "result": await self._handler(method, params)})
        except VaultMemoryError as error:
            known = (code for code, kind in client.ERRORS.items() if isinstance(error, kind))
            return _error(number, next(known, error.exit_code), str(error), error.exit_code, error.next_step)
        except Exception as error:  # the edge: a fault in one answer must not end the server
            # The error's own text may hold a note's: it is for debugging only, as everything of a note is.
            trace = "".join(traceback.format_tb(error.__traceback__))
            log.error("%.80r failed: %s\n%s", method, type(error).__name__, trace)
            log.debug("%.80r failed: %s", method, error)
            return _error(number, client.INTERNAL_ERROR, "The daemon failed at this; its log says where.", exit_code=1)

    def _loopback(self, path: Path) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", 0))
        token = os.urandom(16).hex()
        self._token = token.encode("ascii")
        fresh = path.with_suffix(".new")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(f"{listening.getsockname()[1]} {token}\n")
        os.replace(fresh, path)  # a client reads all of it or none
        return listening


async def _send(writer: StreamWriter, data: bytes) -> None:
    if data:
        writer.write(data + b"\n")
        await writer.drain()


def _dumped(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, allow_nan=False, separators=(",", ":")).encode("ascii")


def _error(number: object, code: int, sentence: str, exit_code: int = 2, next_step: str = "") -> bytes:
    data = {"exit_code": exit_code, "next_step": next_step}
    return _dumped({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": sentence, "data": data}})


def _remove_stale(path: Path) -> None:
    """Take away what a killed daemon left at this address; raises RefusedError, BusyError for anything else."""
    try:
        info = os.lstat(path)
    except OSError:
        return
    if not client.is_own(path):
        raise RefusedError(f"{path} is there and is not the daemon's socket.", "Look what it is, and remove it.")
    if stat.S_ISSOCK(info.st_mode):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1.0)
            failed = probe.connect_ex(str(path))
        # Any other error, as of a full backlog: somebody is there and has not got round to it.
        if failed not in (errno.ECONNREFUSED, errno.ENOENT):
            raise BusyError(f"Another process listens at {path}.", "`memory status` tells which daemon runs.")
    path.unlink(missing_ok=True)
