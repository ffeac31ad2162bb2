"""Asking the daemon: the same answers and errors as in this process, and never a hang where none answers."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rpc_server
from daemons import freeze
from rpc_server import PATIENCE_SECONDS, Served, request, served

from vault_memory import errors
from vault_memory.daemon.client import LONGEST_REQUEST_BYTES, call
from vault_memory.errors import LostError, NotRunningError, VaultMemoryError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets and signals")


@pytest.fixture
def path(short_folder: Path) -> Path:
    (short_folder / "r").mkdir(mode=0o700)
    return short_folder / "r" / "x.sock"


@pytest.fixture
def server(path: Path) -> Iterator[Served]:
    with served(path) as it:
        yield it


@contextmanager
def answering(path: Path, *answers: bytes) -> Iterator[None]:
    """A listener that gives one client these bytes, one after each line it sends, and then ends the connection."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.settimeout(PATIENCE_SECONDS)
    listening.bind(str(path))
    listening.listen()

    def serve() -> None:
        peer, _ = listening.accept()
        with peer, peer.makefile("rb") as lines:
            peer.settimeout(PATIENCE_SECONDS)
            for answer in answers:
                lines.readline()
                peer.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE_SECONDS)
        listening.close()


@contextmanager
def process(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a process of its own."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(folder for folder in sys.path if folder)}
    command = [sys.executable, str(Path(rpc_server.__file__)), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as it:
        try:
            assert it.stdout and it.stdout.readline() == b"ready\n"
            yield it
        finally:
            it.kill()


ALIVE = b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n'


def test_answers_come_as_they_were_given(server: Served) -> None:
    params = {"query": "naïve 𝄞 \x00\n", "k": 8, "deep": [{"a": None}, 1.5, True]}
    assert call(server.path, "echo", params) == params
    assert call(server.path, "echo") == {}
    assert call(server.path, "nothing") is None
    assert server.asked == ["health", "echo"] * 2 + ["health", "nothing"]


@pytest.mark.parametrize("error", [
    error for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, VaultMemoryError) and error.exit_code != 1
] + [VaultMemoryError])  # fmt: skip
def test_an_error_comes_out_as_in_this_process(error: type[VaultMemoryError], path: Path) -> None:
    rpc_server.METHODS["raise"] = lambda params: rpc_server._raise(error("What is wrong.", "What to do."))
    with served(path):
        with pytest.raises(VaultMemoryError) as told:
            call(path, "raise")
        assert type(told.value) in (error, error.__base__)  # the class that the API names
        assert isinstance(error(""), type(told.value))
        assert (str(told.value), told.value.next_step) == ("What is wrong.", "What to do.")
        assert told.value.exit_code == error.exit_code


def test_no_socket(path: Path, short_folder: Path) -> None:
    for missing in (path, short_folder / "none" / "x.sock", path.with_suffix(".port")):
        with pytest.raises(NotRunningError):
            call(missing, "echo")


def test_a_stopped_daemon_is_given_up_and_does_nothing_on_waking(path: Path) -> None:
    with process(path) as daemon:
        assert call(path, "echo", {"a": 1}) == {"a": 1}
        freeze(daemon)
        with pytest.raises(NotRunningError):  # the system accepts for it
            call(path, "echo")
        daemon.send_signal(signal.SIGCONT)
        assert call(path, "echo", {"a": 2}) == {"a": 2}


@pytest.mark.parametrize("answer", [b"", b"{", b"HTTP/1.1 400\r\n\r\n", b"[" * 99_999 + b"\n", b"[]\n", b'{"id": 7}\n'])
def test_who_does_not_speak_the_protocol_counts_as_none(answer: bytes, path: Path) -> None:
    with answering(path, answer), pytest.raises(NotRunningError):
        call(path, "echo")


@pytest.mark.parametrize("answer", [b"", b'{"jsonrpc": "2.0", "id": 2, "res', b"nonsense\n", b"[]\n", ALIVE])
def test_an_answer_that_is_lost_is_told_apart(answer: bytes, path: Path) -> None:
    with answering(path, ALIVE, answer), pytest.raises(LostError):
        call(path, "echo")


def test_an_answer_that_takes_too_long(server: Served) -> None:
    with pytest.raises(LostError, match="in time"):
        call(server.path, "hold", wait_seconds=0.1)
    assert call(server.path, "echo") == {}


def test_a_request_of_the_longest_length_and_a_longer_one(server: Served) -> None:
    empty = len(request("echo", 2, text="").replace(b" ", b"")) + 1
    text = "x" * (LONGEST_REQUEST_BYTES - empty)
    assert call(server.path, "echo", {"text": text}) == {"text": text}
    with pytest.raises(NotRunningError):
        call(server.path, "echo", {"text": text + "x"})
    assert server.asked == ["health", "echo"]


@pytest.mark.parametrize("value", ["\udcff", float("nan")])
def test_what_json_cannot_hold_is_left_to_this_process(value: object, server: Served) -> None:
    with pytest.raises(NotRunningError):
        call(server.path, "echo", {"query": value})
    assert server.asked == []
