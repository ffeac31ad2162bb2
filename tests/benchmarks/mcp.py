"""Owns the figures of the MCP server: how soon it is ready, what the first and the later calls take, bytes and end."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.benchmarks import made, process
from tests.benchmarks.timing import percentile
from vault_memory.config import Config
from vault_memory.memory import Memory

QUESTIONS = 100
NAME = {"name": "benchmark", "version": "1"}


class Server:
    """`memory mcp`, spoken to line by line: a client's own time is not measured."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "vault_memory", "--vault", str(root), "mcp"]
        self.started = time.perf_counter()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._number = 0
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": NAME}
        self.ask("initialize", **params)
        self.ready_seconds = time.perf_counter() - self.started
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one request."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())["result"]

    def call(self, tool: str, **arguments: Any) -> float:
        """The seconds a call takes; fails for an answer that is an error."""
        started = time.perf_counter()
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert not answer["isError"], answer
        return time.perf_counter() - started

    def read(self, uri: str) -> float:
        """The seconds that reading a resource takes."""
        started = time.perf_counter()
        self.ask("resources/read", uri=uri)
        return time.perf_counter() - started

    def end(self) -> float:
        """Close its standard input; the seconds until it has ended."""
        assert self._process.stdin
        started = time.perf_counter()
        self._process.stdin.close()
        self._process.wait()
        return time.perf_counter() - started

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")


def run(notes: int, starts: int) -> None:
    """Print the figures of a made-up vault of so many notes, without a daemon and with one."""
    with process.own_folders(None) as folder:
        root = folder / "vault"
        made.write(root, notes)
        memory = Memory(Config(vault=root))
        memory.index()
        print(f"{notes} notes; load of the machine {os.getloadavg()[0]:.1f}")
        _starts(root, starts)
        settings = Path(os.environ["XDG_CONFIG_HOME"]) / "vault-memory/config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text("[mcp]\nedit = true\n", "utf-8")  # the sixth tool, which no start above has
        _calls("in the process", root, notes)
        daemon = process.watch(root)
        try:
            daemon.settled()
            _calls("with a daemon", root, notes)
        finally:
            daemon.process.kill()


def _starts(root: Path, starts: int) -> None:
    ready, ended, spent, size = [], [], [], 0
    for _ in range(starts):
        server = Server(root)
        ready.append(server.ready_seconds)
        spent.append(process.use(server.pid).cpu_seconds)
        lists = ("tools/list", "resources/list", "resources/templates/list")
        size = sum(len(json.dumps(server.ask(method), separators=(",", ":"))) for method in lists)
        ended.append(server.end())
    print(f"ready           {percentile(ready, 0.5):6.2f} s  (best {min(ready):.2f}, {starts} starts; "
          f"{min(spent):.2f} s of processor)")  # fmt: skip
    print(f"ends after      {percentile(ended, 0.5):6.2f} s")
    print(f"schemas         {size:6} bytes")


def _calls(how: str, root: Path, notes: int) -> None:
    server = Server(root)
    asked = made.questions(QUESTIONS, notes)
    server.ask("tools/list")
    first = server.call("memory_search", query=asked[0])
    path = made.note(0, 12)[0]
    before = process.use(server.pid).cpu_seconds
    times = {"memory_search": [server.call("memory_search", query=query) for query in asked]}
    spent = (process.use(server.pid).cpu_seconds - before) / len(asked)
    times |= {
        "memory_get": [server.call("memory_get", path=path) for _ in range(50)],
        "memory_status": [server.call("memory_status") for _ in range(20)],
        "memory_store": [server.call("memory_store", content=f"Fact {number} is kept") for number in range(10)],
        "memory_edit": [server.call("memory_edit", action="append", text=f"- Line {number}") for number in range(5)],
        "memory_reflect": [server.call("memory_reflect", dry_run=True) for _ in range(2)],
        "memory://core": [server.read("memory://core") for _ in range(20)],
        "memory://entity": [server.read(f"memory://entity/{made.PEOPLE[0]}") for _ in range(20)],
        "memory://note": [server.read(f"memory://note/{quote(path)}") for _ in range(20)],
    }
    print(f"{how}: first memory_search {first:.2f} s after being greeted, {process.use(server.pid).memory_mb:.0f} MB; "
          f"{1000 * spent:.0f} ms of processor a search")  # fmt: skip
    for tool, values in times.items():
        shares = (percentile(values, 0.5), percentile(values, 0.95), max(values))
        print("  {:15} p50 {:.1f} ms  p95 {:.1f} ms  max {:.1f} ms".format(tool, *(1000 * share for share in shares)))
    server.end()
