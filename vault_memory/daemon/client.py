"""Asks a running daemon: one connection, one call at a time. What a method means is none of its business.

On the path of every `memory recall`: where no daemon is, it costs one look at a file; `socket` and `json` come later.
"""

import os
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from vault_memory import startup
from vault_memory.daemon import address
from vault_memory.errors import (
    LostError,
    NotRunningError,
    UnknownMethodError,
    UsageError,
    VaultMemoryError,
    of_exit_code,
)
from vault_memory.startup import __version__

if TYPE_CHECKING:
    import socket

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
BAD_PARAMETERS = -32602
INTERNAL_ERROR = -32603
OTHER_SETTINGS = -32001
"""JSON-RPC 2.0, section 5.1, and one of those it leaves to servers; every other code is an exit code of errors.py."""

LONGEST_REQUEST_BYTES = 1 << 20
"""A request's longest line. A note to keep has a place in it; what is longer is no question and no note to keep."""

ALIVE_SECONDS = 1.0
"""How long a daemon may take to answer `health`, which it does between any two things it does."""

_CHUNK_BYTES = 1 << 18


def connect(path: address.StrPath, wait_seconds: float = 0.2) -> "Client":
    """A connection to the daemon at an address of `address.socket_path`; close it, or use it in a `with`.

    Raises NotRunningError where nobody listens, or anybody but this user.
    """
    if not address.is_own(path):
        raise _not_running(path)
    try:
        # A Unix socket's backlog that is full, and a file left by a daemon that was killed, are told at once.
        return Client(path, _opened(path, wait_seconds))
    except (OSError, ValueError) as error:
        raise _not_running(path) from error


def asked(
    vault: address.StrPath, method: str, params: Mapping[str, Any], wait_seconds: float = 60.0
) -> dict[str, Any] | None:
    """What a vault's daemon answers a program of this version and environment.

    None where none runs that can be asked: then the program does it itself.
    """
    process = {"version": __version__, "environment": startup.relevant_environment(os.environ)}
    try:
        with connect(address.known(vault)) as daemon:
            found = daemon.call(method, {**params, "process": process}, wait_seconds)
    except (NotRunningError, LostError, UnknownMethodError):
        return None
    return found if isinstance(found, dict) else None


class Client:
    """One connection to a daemon. An instance is for one thread, and closed after any error but an answered one."""

    def __init__(self, path: address.StrPath, connection: "socket.socket") -> None:
        self._path = path
        self._socket = connection
        self._read = bytearray()
        self._last_id = 0

    def call(self, method: str, params: Mapping[str, Any] | None = None, wait_seconds: float = 60.0) -> Any:  # noqa: ANN401
        """Return the daemon's answer to one request.

        Raises NotRunningError when the daemon does not answer `health` within ALIVE_SECONDS, has other settings than
        this process or cannot be sent such a request (too long, or text that UTF-8 cannot hold): then it was not asked.
        Raises LostError when it goes away, or `wait_seconds` pass, after the request went out; else the error it
        answered, of the class and exit code it has in the daemon.
        """
        health, health_id = self._message("health", {})
        request, number = self._message(method, params or {})
        if len(request) > LONGEST_REQUEST_BYTES:
            raise _not_running(self._path)
        try:
            # The request goes out when `health` is answered: a daemon that is stopped now would do it on waking,
            # though this process has done it by then, and a fact would be kept twice.
            self._send(health, ALIVE_SECONDS)
            self._answer(health_id, ALIVE_SECONDS)
            self._send(request, wait_seconds)
        except (OSError, LostError) as error:
            self.close()
            raise _not_running(self._path) from error  # an unfinished line is never done
        answer = self._answer(number, wait_seconds)
        if answer.get("error") is None:
            return answer.get("result")
        raise _error_of(answer["error"] if isinstance(answer["error"], dict) else {})

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _message(self, method: str, params: Mapping[str, Any]) -> tuple[bytes, int]:
        import json

        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        try:
            text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            return text.encode("utf-8") + b"\n", self._last_id
        except ValueError as error:
            raise _not_running(self._path) from error

    def _send(self, line: bytes, wait_seconds: float) -> None:
        self._socket.settimeout(wait_seconds)
        self._socket.sendall(line)

    def _answer(self, number: int, wait_seconds: float) -> Mapping[str, Any]:
        import json

        try:
            answer = json.loads(self._line(time.monotonic() + wait_seconds))
            if isinstance(answer, dict) and answer.get("id") == number:
                return answer
            why = "what it answered is no answer to what it was asked"
        except (OSError, EOFError) as error:
            why = "it did not answer in time" if isinstance(error, TimeoutError) else "the connection ended"
        except (ValueError, RecursionError):
            why = "its answer is not JSON"
        self.close()  # what may still come would be taken for the answer to another call
        raise LostError(f"The daemon's answer was lost: {why}.", "`memory status` tells whether it runs; try again.")

    def _line(self, until: float) -> bytes:
        searched = 0
        while (end := self._read.find(b"\n", searched)) < 0:
            searched = len(self._read)
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            data = self._socket.recv(_CHUNK_BYTES)
            if not data:
                raise EOFError
            self._read += data
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line


def _error_of(error: Mapping[str, Any]) -> VaultMemoryError:
    """The error an answer tells of."""
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    sentence, next_step = str(error.get("message", "The daemon answered an error.")), str(data.get("next_step", ""))
    code = error.get("code")
    kinds = {OTHER_SETTINGS: NotRunningError, UNKNOWN_METHOD: UnknownMethodError, BAD_PARAMETERS: UsageError}
    if isinstance(code, int) and code in kinds:
        return kinds[code](sentence, next_step)
    exit_code = data.get("exit_code", code)
    return of_exit_code(exit_code if isinstance(exit_code, int) else 1, sentence, next_step)


def _not_running(path: address.StrPath) -> NotRunningError:
    return NotRunningError(f"No daemon answers at {path}.", "`memory watch` starts one.")


def _opened(path: address.StrPath, wait_seconds: float) -> "socket.socket":
    import socket

    if address.is_loopback(path):
        with open(path, encoding="ascii") as file:
            port, token = file.read().split()
        connection = socket.create_connection(("127.0.0.1", int(port)), wait_seconds)
        connection.sendall(token.encode("ascii") + b"\n")
        return connection
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(wait_seconds)
        connection.connect(os.fspath(path))
        # Another could have put a socket in the file's place since `is_own` looked.
        if not address.is_same_user(connection):
            raise PermissionError(os.fspath(path))
    except OSError:
        connection.close()
        raise
    return connection
