"""Makes a real server of rpc.py with a small handler, in a thread of its own, and raw connections to it."""

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_memory.daemon.rpc import Server
from vault_memory.errors import BusyError, RemoteError, UnknownMethodError, UsageError

PATIENCE_SECONDS = 30.0
"""No test waits so long unless it fails."""


class Served:
    """A server in a thread; its handler counts what it is asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asked: list[str] = []
        self.server = Server(self.handle)
        self.held = threading.Event()

    def handle(self, method: str, params: dict[str, Any]) -> Any:
        self.asked.append(method)
        if method not in METHODS:
            raise UnknownMethodError(f"{method!r} is not known.", "Ask for something else.")
        if method == "hold":
            self.held.wait()
        return METHODS[method](params)

    @property
    def connections(self) -> int:
        """How many there are."""
        return len(self.server._connections)


NOTE = "a line of a note"


def _raise(error: Exception) -> Any:
    raise error


METHODS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "health": lambda params: {"ok": True},
    "echo": lambda params: params,
    "large": lambda params: "ß" * params["length"],
    "hold": lambda params: "held",
    "nothing": lambda params: None,
    "usage": lambda params: _raise(UsageError("`k` must be a number.", "For example k=8.")),
    "busy": lambda params: _raise(BusyError("Another process writes.", "Try again.")),
    "remote": lambda params: _raise(RemoteError("ollama did not answer.", "Start it.")),
    "fault": lambda params: _raise(ZeroDivisionError(NOTE)),
    "unwritable": lambda params: {1, 2},
    "nan": lambda params: float("nan"),
}


@contextmanager
def served(path: Path) -> Iterator[Served]:
    it = Served(path)
    it.server.start(path)
    try:
        yield it
    finally:
        it.held.set()
        it.server.close()


class Raw:
    """A connection that sends whatever it is told."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_SECONDS)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> Any:
        """The next answer; None when the server has cut this connection off."""
        try:
            line = self.file.readline()
        except ConnectionError:
            return None
        assert line.isascii()
        return json.loads(line) if line else None

    def ask(self, data: bytes) -> Any:
        self.send(data + b"\n")
        return self.answer()

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def request(method: str, number: object = 1, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


if __name__ == "__main__":  # a server in a process of its own, for tests that stop or kill it
    import sys

    logging.disable()

    Served(Path(sys.argv[1])).server.start(Path(sys.argv[1]))
    print("ready", flush=True)
    threading.Event().wait()
