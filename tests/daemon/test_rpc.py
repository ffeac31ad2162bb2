"""JSON-RPC 2.0 over a real socket: the protocol, many clients, and every kind of bad one."""

import json
import logging
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from daemons import until
from rpc_server import NOTE, PATIENCE_SECONDS, Raw, Served, request, served

from vault_memory.daemon.client import LONGEST_REQUEST_BYTES, call
from vault_memory.errors import RefusedError, VaultMemoryError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


@pytest.fixture
def path(short_folder: Path) -> Path:
    return short_folder / "r" / "x.sock"


@pytest.fixture
def server(path: Path) -> Iterator[Served]:
    with served(path) as it:
        yield it


def lives(server: Served) -> bool:
    with Raw(server.path) as raw:
        try:
            return bool(raw.ask(request("health", 9)) == {"jsonrpc": "2.0", "id": 9, "result": {"ok": True}})
        except ConnectionError:
            return False


def error_of(answer: Any) -> tuple[Any, int]:
    """Id and code of an error answer that has all that an error has."""
    assert set(answer) == {"jsonrpc", "id", "error"} and answer["jsonrpc"] == "2.0"
    error = answer["error"]
    assert set(error) == {"code", "message", "data"} and set(error["data"]) == {"exit_code", "next_step"}
    assert error["message"].endswith(".") and "Traceback" not in error["message"]
    return answer["id"], error["code"]


def test_a_request_is_answered(server: Served) -> None:
    with Raw(server.path) as raw:
        assert raw.ask(request("echo", "a", text="naïve 𝄞")) == {
            "jsonrpc": "2.0", "id": "a", "result": {"text": "naïve 𝄞"},
        }  # fmt: skip
        assert raw.ask(b'{"jsonrpc": "2.0", "id": 2, "method": "echo"}\r')["result"] == {}
        assert raw.ask(request("nothing")) == {"jsonrpc": "2.0", "id": 1, "result": None}


REFUSED = [
    (b"", None, -32700),
    (b"{", None, -32700),
    (b"\xff\xfe", None, -32700),
    (b"\xef\xbb\xbf" + request("echo"), None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"a": -Infinity}}', None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"a": "\\ud800"}}', None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"a": ' + b"9" * 5000 + b"}}", None, -32700),
    (b"[" * 100_000, None, -32700),
    (b"[" * 400 + b"]" * 400, None, -32600),
    (b"[]", None, -32600),
    (b"[" + request("echo") + b"]", None, -32600),
    (b'{"id": 1, "method": "echo"}', 1, -32600),
    (b'{"jsonrpc": "2.0", "id": [1], "method": "echo"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": [1]}', 1, -32602),
    (request("rpc.discover"), 1, -32601),
    (request("usage"), 1, -32602),
    (request("fault"), 1, -32603),
    (request("unwritable"), 1, -32603),
    (request("busy"), 1, 75),
    (request("remote"), 1, 1),
]


@pytest.mark.parametrize(("line", "number", "code"), REFUSED, ids=lambda value: repr(value)[:50])
def test_what_cannot_be_answered_gets_an_error_and_the_connection_goes_on(
    server: Served, line: bytes, number: object, code: int
) -> None:
    with Raw(server.path) as raw:
        answer = raw.ask(line)
        assert error_of(answer) == (number, code)
        assert raw.ask(request("echo", 2))["id"] == 2


def test_a_fault_is_logged_with_its_place_and_without_its_text(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "vault_memory.daemon.rpc"), Raw(server.path) as raw:
        raw.ask(request("fault"))
    [record] = caplog.records
    assert "ZeroDivisionError" in record.getMessage() and "in handle" in record.getMessage()
    assert NOTE not in record.getMessage()


def test_a_notification_gets_no_answer(server: Served) -> None:
    with Raw(server.path) as raw:
        for method in ("echo", "fault", "unheard"):
            raw.send(b'{"jsonrpc": "2.0", "method": "%s"}\n' % method.encode())
        assert raw.ask(request("echo", 7))["id"] == 7
    assert server.asked == ["echo", "fault", "unheard", "echo"]


def test_closing_leaves_no_client_waiting(path: Path) -> None:
    for _ in range(10):
        with served(path) as server:
            raw = Raw(path)  # the server may be anywhere between the system's accept and serving it
        with raw:
            answer = raw.answer()
            assert answer is None
        until(lambda: server.connections == 0)


@pytest.mark.parametrize("end", [b"", b"\r"])
def test_an_unfinished_line_is_never_done(server: Served, end: bytes) -> None:
    with Raw(server.path) as raw:
        raw.send(request("echo") + end)
        raw.socket.shutdown(socket.SHUT_WR)
        assert raw.answer() is None
    assert server.asked == []


def test_one_that_waits_does_not_keep_another_waiting(server: Served) -> None:
    with Raw(server.path) as slow:
        slow.send(request("hold") + b"\n")
        until(lambda: "hold" in server.asked)
        assert lives(server)
        server.held.set()
        assert slow.answer()["result"] == "held"


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_too_long_is_answered_and_cut_off(server: Served, end: bytes) -> None:
    line = request("echo", 1)
    with Raw(server.path) as raw:
        assert raw.ask(line.ljust(LONGEST_REQUEST_BYTES))["id"] == 1
        raw.send(line.ljust(LONGEST_REQUEST_BYTES + 1) + end)
        assert error_of(raw.answer()) == (None, -32600)
        assert raw.answer() is None
    assert lives(server)


def test_clients_that_go_away_at_any_moment(server: Served) -> None:
    for _ in range(5):
        for sent in (b"", b"{", request("echo") + b"\n", request("large", 1, length=500_000) + b"\n"):
            with Raw(server.path) as raw:
                raw.send(sent)
    until(lambda: lives(server))  # some may not have been met yet, and count until they are
    until(lambda: server.connections == 0)


def test_it_answers_again_once_threads_can_be_started_again(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "connection":
            raise RuntimeError("can't start new thread")
        started(thread)

    with monkeypatch.context() as without_threads:
        without_threads.setattr(threading.Thread, "start", start)
        assert not lives(server)
    assert lives(server) and server.server.listen_again(server.path) is False


def test_a_server_stays_reachable_and_keeps_its_connections(server: Served) -> None:
    made = server.path.stat().st_ino
    with Raw(server.path) as raw:
        assert raw.ask(request("health"))["result"] == {"ok": True}
        assert server.server.listen_again(server.path) is False
        assert server.path.stat().st_ino == made
        server.path.unlink()
        server.path.parent.rmdir()
        assert server.server.listen_again(server.path) is True
        assert lives(server)
        moved = server.path.with_name("y.sock")
        assert server.server.listen_again(moved) is True
        assert not server.path.exists()
        server.path = moved
        assert lives(server)
        assert raw.ask(request("health"))["result"] == {"ok": True}


def test_what_a_killed_server_left_is_taken_away(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(path))
    left.listen()
    left.close()
    assert path.exists()
    with served(path) as server:
        assert lives(server)


def start_in_vain(path: Path, expected: type[VaultMemoryError]) -> None:
    server = Served(path).server
    with pytest.raises(expected):
        server.start(path)
    server.close()


def test_anything_else_at_the_address_is_left_alone(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_text("mine")
    start_in_vain(path, RefusedError)
    assert path.read_text() == "mine"
    path.unlink()
    path.symlink_to(path.parent / "elsewhere")
    start_in_vain(path, RefusedError)
    assert path.is_symlink()
    start_in_vain(path.with_name("x" * 120 + ".sock"), VaultMemoryError)


def test_closing_waits_for_the_request_in_hand(path: Path) -> None:
    with served(path) as server, Raw(path) as raw, Raw(path) as idle, ThreadPoolExecutor(1) as beside:
        raw.send(request("hold", 1) + b"\n" + request("echo", 2) + b"\n")
        until(lambda: server.asked == ["hold"] and server.connections == 2)
        closing = beside.submit(server.server.close)
        assert idle.answer() is None
        until(lambda: not path.exists())
        with pytest.raises(OSError):
            Raw(path)
        assert not closing.done()
        server.held.set()
        closing.result(PATIENCE_SECONDS)
        assert raw.answer()["result"] == "held"
        assert raw.answer() is None  # what was not begun is not done
        until(lambda: server.connections == 0)
    assert server.asked == ["hold"]


def loopback(path: Path, first_line: bytes) -> Any:
    with socket.create_connection(("127.0.0.1", int(path.read_text().split()[0])), PATIENCE_SECONDS) as it:
        it.sendall(first_line + b"\n" + request("echo") + b"\n")
        try:
            line = it.makefile("rb").readline()
        except ConnectionError:
            return None
        return json.loads(line) if line else None


def test_over_a_loopback_port_only_who_knows_the_token_is_answered(short_folder: Path) -> None:
    path = short_folder / "r" / "x.port"
    with served(path) as server:
        assert path.stat().st_mode & 0o777 == 0o600
        token = path.read_text().split()[1].encode()
        assert loopback(path, token)["result"] == {}
        for wrong in (b"", token[:-1], token + b"0", b"POST / HTTP/1.1", b"x" * 5000):
            answer = loopback(path, wrong)
            assert answer is None or error_of(answer) == (None, -32600)
        assert server.asked == ["echo"]
        assert call(path, "echo", {"a": 1}) == {"a": 1}
    assert not path.exists()
