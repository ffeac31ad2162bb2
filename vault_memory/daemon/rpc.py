"""A JSON-RPC 2.0 server on a local socket: listening, framing and limits; a handler implements the methods.

Messages are single lines of UTF-8, answers are ASCII. Each connection has a thread, which answers in order. No input
from a client brings the server down: a bad message gets an error answer, and too long a line ends the connection. The
socket's folder is closed to other users. An idle server causes no wake-ups.
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
from vault_memory.errors import RefusedError, VaultMemoryError
from vault_memory.vault.safe_files import replace_durably

Handler = Callable[[str, dict[str, Any]], Any]
"""(method, parameters by name) -> a JSON-serialisable result. Raises errors of errors.py; UnknownMethodError for an
unknown method."""

log = logging.getLogger(__name__)

CLOSING_SECONDS = 5.0
"""How long a closing server waits for running requests; systemd kills after 90 s, a person sooner."""


class Server:
    """One listening address and its connections."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._changed = threading.Condition()
        self._connections: set[socket.socket] = set()
        self._address: tuple[socket.socket, Path, tuple[int, int]] | None = None
        """The listening socket, with the path and identity of its file."""
        self._token = b""
        self._is_closing = False

    def start(self, path: Path) -> None:
        """Listen at an address from `client.socket_path`, removing a socket that a killed daemon left there.

        If it ends in `.port`, the server listens on a loopback port, and the file contains port and token. Raises
        RefusedError if folder or file are not this user's own, VaultMemoryError if the socket cannot be created.
        """
        client.prepare(path)
        if os.path.lexists(path) and not client.is_own(path):
            what = f"{path} is there and is not the daemon's socket."
            raise RefusedError(what, "Find out what it is, and remove it.")
        path.unlink(missing_ok=True)  # the caller holds the vault's lock, so no other daemon is running
        try:
            listening = self._listen(path)
        except OSError as error:
            what = f"The daemon's socket {path} cannot be made: {error.strerror or error}."
            raise VaultMemoryError(what, "Set XDG_RUNTIME_DIR to a folder of your own.") from error
        info = os.lstat(path)
        self._address = listening, path, (info.st_dev, info.st_ino)
        threading.Thread(target=self._accept, args=(listening,), name="accept", daemon=True).start()

    def listen_again(self, path: Path) -> bool:
        """Listen anew if the socket file is gone or the address has changed to `path`; return whether that was so.

        Existing connections are not affected. Raises as `start` does.
        """
        with self._changed:
            if self._is_closing or (self._address and self._address[1] == path and os.path.lexists(path)):
                return False
            self._stop_listening()
            self.start(path)
            return True

    def close(self) -> None:
        """Stop listening, remove the socket file, and give running requests a bounded time to finish."""
        with self._changed:
            self._is_closing = True
            self._stop_listening()
            for connection in self._connections:
                _cut_off(connection, socket.SHUT_RD)  # an idle one ends at once, a busy one after its answer
            self._changed.wait_for(lambda: not self._connections, CLOSING_SECONDS)
            for connection in self._connections:
                _cut_off(connection)

    def _stop_listening(self) -> None:
        """Stop listening, and remove the socket file unless it has been replaced by another."""
        if self._address:
            (listening, path, identity), self._address = self._address, None
            _cut_off(listening)  # closing alone does not wake the accepting thread
            listening.close()
            with contextlib.suppress(OSError):
                info = os.lstat(path)
                if (info.st_dev, info.st_ino) == identity:
                    os.unlink(path)

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                if not self._address or self._address[0] is not listening:
                    return
                time.sleep(0.1)  # out of file descriptors for now
                continue
            with self._changed:
                if self._is_closing:
                    connection.close()
                    return
                self._connections.add(connection)
            try:
                threading.Thread(target=self._serve, args=(connection,), name="connection", daemon=True).start()
            except RuntimeError as error:  # out of threads for now
                log.warning("A connection was closed: %s", error)
                connection.close()
                self._forget(connection)

    def _serve(self, connection: socket.socket) -> None:
        """Answer line by line; an incomplete line at the end is ignored."""
        try:
            # An OSError means that the connection was shut down by us, or closed by the client.
            with contextlib.suppress(OSError), connection, connection.makefile("rb") as lines:
                if self._token and not hmac.compare_digest(lines.readline(100).strip(), self._token):
                    return
                while (line := lines.readline(client.LONGEST_REQUEST_BYTES + 1)).endswith(b"\n"):
                    if self._is_closing:
                        return
                    if answer := self._answer(line):
                        connection.sendall(answer)
                if len(line) > client.LONGEST_REQUEST_BYTES:
                    connection.sendall(_error(None, client.INVALID_REQUEST, "The message is too long."))
        finally:
            self._forget(connection)

    def _forget(self, connection: socket.socket) -> None:
        with self._changed:
            self._connections.discard(connection)
            self._changed.notify_all()

    def _answer(self, line: bytes) -> bytes:
        """Answer one line; a notification (a request without an id) gets no answer."""
        try:
            message = json.loads(line.decode("utf-8"))
            # Python accepts NaN and lone surrogates, which fail only when written to a file or to SQLite.
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
        except Exception as error:  # a bug in one answer must not end the server
            # The error's message may quote a note, so it is logged for debugging only.
            trace = "".join(traceback.format_tb(error.__traceback__))
            log.error("%.80r failed: %s\n%s", method, type(error).__name__, trace)
            log.debug("%.80r failed: %s", method, error)
            return _error(number, client.INTERNAL_ERROR, "The daemon failed at this; its log says where.", exit_code=1)

    def _listen(self, path: Path) -> socket.socket:
        if path.suffix == client.LOOPBACK:
            listening = socket.create_server(("127.0.0.1", 0))
            token = os.urandom(16).hex()
            self._token = token.encode("ascii")
            replace_durably(path, f"{listening.getsockname()[1]} {token}\n".encode("ascii"))
            return listening
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(str(path))
            os.chmod(path, 0o600)
            listening.listen(128)
        except OSError:
            listening.close()
            raise
        return listening


def _cut_off(connection: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    """Shut a socket down, which wakes any thread blocked on it."""
    with contextlib.suppress(OSError):
        connection.shutdown(how)


def _line(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _error(number: object, code: int, sentence: str, exit_code: int = 2, next_step: str = "") -> bytes:
    data = {"exit_code": exit_code, "next_step": next_step}
    return _line({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": sentence, "data": data}})
