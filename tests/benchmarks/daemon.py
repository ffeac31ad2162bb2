"""The figures of a daemon over a large vault: how soon it is ready, its memory, a burst of saves, idleness."""

import os
import threading
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.benchmarks import made, process
from tests.benchmarks.timing import percentile
from tests.daemons import Running
from vault_memory.config import Config
from vault_memory.errors import VaultMemoryError
from vault_memory.memory import Memory
from vault_memory.store.view import Store

QUESTIONS = 200
WORD = f"burst{time.time_ns()}"
"""No earlier run over the same vault has saved it."""


class Size(NamedTuple):
    """How many notes there are, how many are saved at once, how many questions a second are asked meanwhile, and how
    long the daemon is left alone.
    """

    notes: int
    saved: int
    recalls: float
    idle_seconds: float


def run(size: Size, vault: Path | None) -> None:
    """Print the figures; a vault that is given has its notes changed."""
    with process.own_folders(None) as folder:
        root = vault or folder / "vault"
        if not vault:
            made.write(root, size.notes)
        memory = Memory(Config(vault=root))
        memory.index()
        print(f"{len(memory.vault.walk().files)} notes, index of {memory.index_file.path.stat().st_size / 1e6:.0f} MB")
        started = time.perf_counter()
        daemon = process.watch(root)
        try:
            _ready(daemon, started)
            _questions(daemon, made.questions(QUESTIONS, size.notes))
            _burst(daemon, memory.index_file.path, size)
            _idle(daemon, size.idle_seconds)
        finally:
            daemon.kill()


def _ready(daemon: Running, started: float) -> None:
    answers = time.perf_counter() - started
    daemon.ask("recall", query="ready", no_journal=True)
    print(f"ready           {time.perf_counter() - started:6.2f} s  (health after {answers:.2f} s)")
    _memory("ready", daemon)


def _memory(when: str, daemon: Running) -> None:
    use = process.use(daemon.process.pid)
    print(f"memory, {when}   {use.memory_mb:6.0f} MB  (of files {use.mapped_mb:.0f})")


def _questions(daemon: Running, asked: list[str]) -> None:
    inside = [daemon.ask("recall", query=query, no_journal=True)["seconds"] for query in asked]
    print(f"{len(inside)} questions   {_milliseconds(inside)} inside")
    _memory("asked", daemon)


def _burst(daemon: Running, index: Path, size: Size) -> None:
    """Save many notes as fast as can be, and ask meanwhile, until all of them are found."""
    asking = _Asking(daemon, made.questions(QUESTIONS, size.notes, seed=8), size.recalls)
    before = process.use(daemon.process.pid)
    asking.start()
    started = time.perf_counter()
    files = Random(1).sample(sorted(daemon.root.rglob("*.md")), size.saved)
    for number, file in enumerate(files):
        _save(file, f"\nOne more line, {WORD} {WORD}{number}.\n".encode(), atomically=bool(number % 2))
    saved, log = time.perf_counter() - started, 0.0
    with closing(Store.open(index)) as store:
        while (found := _holding(store)) < len(files) and time.perf_counter() - started < 300:
            log = max(log, index.with_name(f"{index.name}-wal").stat().st_size / 1e6)
            time.sleep(0.1)
    took = time.perf_counter() - started
    asking.end()
    after = process.use(daemon.process.pid)
    print(f"burst           {took:6.2f} s  {found} of {len(files)} notes, saved in {saved:.2f} s; "
          f"{after.cpu_seconds - before.cpu_seconds:.1f} s of processor, write-ahead log {log:.0f} MB")  # fmt: skip
    print(f"questions then  {_milliseconds(asking.inside)} inside, {asking.not_fresh} not fresh")
    for error in asking.errors[:5]:
        print(f"# {error}")
    print(f"  from outside  {_milliseconds(asking.outside)}")
    _memory("burst", daemon)


def _save(file: Path, line: bytes, atomically: bool) -> None:
    if not atomically:
        with open(file, "ab") as opened:
            opened.write(line)
        return
    part = file.with_suffix(".part")
    part.write_bytes(file.read_bytes() + line)
    os.replace(part, file)


def _holding(store: Store) -> int:
    """How many notes are found by the word that was saved in all of them."""
    sql = (
        "SELECT count(DISTINCT p.note_id) FROM passage_fts f CROSS JOIN passage p ON p.id = f.rowid"
        " WHERE f.passage_fts MATCH ?"
    )
    return int(store.one(sql, WORD))


class _Asking(threading.Thread):
    """Asks so many questions a second until it is told to end."""

    def __init__(self, daemon: Running, asked: list[str], a_second: float) -> None:
        super().__init__()
        self._daemon, self._asked, self._a_second, self._over = daemon, asked, a_second, threading.Event()
        self.inside: list[float] = []
        self.outside: list[float] = []
        self.errors: list[str] = []
        self.not_fresh = 0

    def run(self) -> None:
        due = time.perf_counter()
        while not self._over.wait(max(due - time.perf_counter(), 0)):
            due = max(due + 1 / self._a_second, time.perf_counter())
            started = time.perf_counter()
            query = self._asked[len(self.inside) % len(self._asked)]
            try:
                answer = self._daemon.ask("recall", query=query, no_journal=True)
            except VaultMemoryError as error:
                self.errors.append(str(error))
                continue
            self.outside.append(time.perf_counter() - started)
            self.inside.append(answer["seconds"])
            self.not_fresh += not answer["index"]["fresh"]

    def end(self) -> None:
        self._over.set()
        self.join()


def _idle(daemon: Running, seconds: float) -> None:
    daemon.settled()
    time.sleep(2)
    before = process.use(daemon.process.pid)
    time.sleep(seconds)
    after = process.use(daemon.process.pid)
    cpu = after.cpu_seconds - before.cpu_seconds
    print(f"idle            {cpu:6.2f} s of processor in {seconds:.0f} s ({100 * cpu / seconds:.2f} %), "
          f"{(after.wakeups - before.wakeups) / seconds:.2f} wake-ups a second, {after.threads} threads, "
          f"{after.files} files")  # fmt: skip


def _milliseconds(values: list[float]) -> str:
    shares = (percentile(values, 0.5), percentile(values, 0.95), max(values))
    return "p50 {:.1f} ms  p95 {:.1f} ms  max {:.1f} ms".format(*(1000 * share for share in shares))
