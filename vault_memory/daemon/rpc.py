"""JSON-RPC 2.0 over a socket: listening, framing, limits. What the methods do is its handler's business.

One message a line, UTF-8, answers in ASCII. Each connection has a thread, and its messages are answered in order.
Whatever a client sends, the server lives: a bad message gets an error answer, who sends too long a line is cut off. No
other user enters the folder of the socket. Nothing wakes up while nobody asks.
"""

import contextlib
import hmac
import json
import logging
import os
import socket
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_memory.daemon import client
from vault_memory.errors import BusyError, RefusedError, VaultMemoryError

Handler = Callable[[str, dict[str, Any]], Any]
"""Method and parameters by name -> a result that JSON can hold. It raises errors of errors.py, and UnknownMethodError
for a method it does not know."""

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 100
"""Each has a thread of 0.1 MB. Who comes later is told to try again; our own clients do the work themselves then."""

CLOSING_SECONDS = 5.0
"""What requests in hand may take when the server closes; systemd kills after 90, a person sooner."""


class Server:
    """One listening address and its connections."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._changed = threading.Condition()
        self._connections: dict[socket.socket, bool] = {}
        """Each, and whether it has a request in hand."""
        self._listening: socket.socket | None = None
        self._made: tuple[Path, int, int] | None = None
        self._token = b""
        self._is_closing = False

    def start(self, path: Path) -> None:
        """Listen at an address of `client.socket_path`; a socket that a killed daemon left there is taken away.

        With the ending `.port` the address is a loopback port, and the file holds port and token. Raises RefusedError
        where folder or file are not this user's own, VaultMemoryError where the socket cannot be made.
        """
        client.prepare(path)
        _remove_stale(path)
        try:
            self._listening = self._listen_on_port(path) if path.suffix == client.LOOPBACK else _listen(path)
        except OSError as error:
            what = f"The daemon's socket {path} cannot be made: {error.strerror or error}."
            raise VaultMemoryError(what, "Set XDG_RUNTIME_DIR to a folder of your own.") from error
        info = os.lstat(path)
        self._made = path, info.st_dev, info.st_ino
        threading.Thread(target=self._accept, args=(self._listening,), name="accept", daemon=True).start()

    def listen_again(self, path: Path) -> bool:
        """Listen anew where the file it made is gone, or its address is `path` by now; whether it was so.

        Connections stay as they are. Raises as `start` does.
        """
        with self._changed:
            if self._is_closing or (self._made and self._made[0] == path and os.path.lexists(path)):
                return False
            self._stop_listening()
            self.start(path)
            return True

    def close(self) -> None:
        """Stop listening, remove the file it made, and let the requests in hand be answered for a bounded time."""
        with self._changed:
            self._is_closing = True
            self._stop_listening()
            for connection in [each for each, is_busy in self._connections.items() if not is_busy]:
                _cut_off(connection)
            self._changed.wait_for(lambda: not any(self._connections.values()), CLOSING_SECONDS)
            for connection in self._connections:
                _cut_off(connection)

    def _stop_listening(self) -> None:
        """Listen no longer, and remove the file it made unless another stands in its place."""
        if self._listening:
            listening, self._listening = self._listening, None
            _cut_off(listening)  # closing alone does not wake the thread that accepts
            listening.close()
        if self._made:
            path, device, inode = self._made
            self._made = None
            with contextlib.suppress(OSError):
                info = os.lstat(path)
                if (info.st_dev, info.st_ino) == (device, inode):
                    os.unlink(path)

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                if self._listening is not listening:
                    return
                time.sleep(0.1)  # no more files may be opened just now
                continue
            with self._changed:
                if self._is_closing:
                    connection.close()
                    return
                is_full = len(self._connections) >= MAX_CONNECTIONS
                if not is_full:
                    self._connections[connection] = False
            if is_full:
                _turn_away(connection)
                continue
            try:
                threading.Thread(target=self._serve, args=(connection,), name="connection", daemon=True).start()
            except RuntimeError as error:  # no more threads just now
                log.warning("A connection was closed: %s", error)
                self._mark(connection, None)
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._answer_lines(connection)
        except OSError:
            pass  # cut off, or gone
        finally:
            self._mark(connection, None)

    def _answer_lines(self, connection: socket.socket) -> None:
        """Answer line after line; an unfinished one at the end is never a message."""
        with connection.makefile("rb") as lines:
            if self._token and not hmac.compare_digest(lines.readline(100).strip(), self._token):
                return
            while (line := lines.readline(client.LONGEST_REQUEST_BYTES + 1)).endswith(b"\n"):
                if not self._mark(connection, True):
                    return
                if answer := self._answer(line):
                    connection.sendall(answer)
                self._mark(connection, False)
            if len(line) > client.LONGEST_REQUEST_BYTES:
                connection.sendall(_error(None, client.INVALID_REQUEST, "The message is too long."))

    def _mark(self, connection: socket.socket, is_busy: bool | None) -> bool:
        """Note whether a connection has a request in hand, None when it has ended; whether one may begin."""
        with self._changed:
            if is_busy is None:
                self._connections.pop(connection, None)
            elif not (is_busy and self._is_closing):
                self._connections[connection] = is_busy
            self._changed.notify_all()
            return not self._is_closing

    def _answer(self, line: bytes) -> bytes:
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
        answer = self._call(number, method, params)
        return answer if "id" in message else b""

    def _call(self, number: object, method: str, params: object) -> bytes:
        if not isinstance(params, dict):
            return _error(number, client.BAD_PARAMETERS, "Parameters are given by name, in an object.")
        try:
            return _line({"jsonrpc": "2.0", "id": number, "result": self._handler(method, params)})
        except VaultMemoryError as error:
            known = (code for code, kind in client.ERRORS.items() if isinstance(error, kind))
            return _error(number, next(known, error.exit_code), str(error), error.exit_code, error.next_step)
        except Exception as error:  # the edge: a fault in one answer must not end the server
            # The error's own text may hold a note's: it is for debugging only, as everything of a note is.
            trace = "".join(traceback.format_tb(error.__traceback__))
            log.error("%.80r failed: %s\n%s", method, type(error).__name__, trace)
            log.debug("%.80r failed: %s", method, error)
            return _error(number, client.INTERNAL_ERROR, "The daemon failed at this; its log says where.", exit_code=1)

    def _listen_on_port(self, path: Path) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", 0))
        token = os.urandom(16).hex()
        self._token = token.encode("ascii")
        fresh = path.with_suffix(".new")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(f"{listening.getsockname()[1]} {token}\n")
        os.replace(fresh, path)  # a client reads all of it or none
        return listening


def _listen(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(path))
        os.chmod(path, 0o600)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def _cut_off(connection: socket.socket) -> None:
    """Wake whoever waits for this socket, in whichever thread."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _turn_away(connection: socket.socket) -> None:
    """Say that there are too many connections; who sends nothing to be told so is not waited for."""
    busy = BusyError(f"The daemon has {MAX_CONNECTIONS} connections already.", "Try again in a moment.")
    with connection, contextlib.suppress(OSError):
        connection.setblocking(False)
        connection.sendall(_error(None, busy.exit_code, str(busy), busy.exit_code, busy.next_step))


def _line(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _error(number: object, code: int, sentence: str, exit_code: int = 2, next_step: str = "") -> bytes:
    data = {"exit_code": exit_code, "next_step": next_step}
    return _line({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": sentence, "data": data}})


def _remove_stale(path: Path) -> None:
    """Take away what a killed daemon left at this address: the vault's lock tells that none is alive.

    Raises RefusedError for anything else.
    """
    if not os.path.lexists(path):
        return
    if not client.is_own(path):
        raise RefusedError(f"{path} is there and is not the daemon's socket.", "Find out what it is, and remove it.")
    path.unlink(missing_ok=True)
