"""The soak: a daemon under edits, questions and kill -9 for some minutes, and whether all was well at the end."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.benchmarks import made, process
from tests.benchmarks.editor import Editor
from tests.benchmarks.timing import percentile
from vault_memory.daemon import client
from vault_memory.errors import LostError, NotRunningError, VaultMemoryError

CONNECTIONS = 5
AWAY_SECONDS = 1.0
"""So long after the daemon answers again a question may still go without an answer."""


class Plan(NamedTuple):
    """How long, over how many notes, edits and questions a second; seconds between two kills, 0 for none."""

    minutes: float
    notes: int
    edits: float
    recalls: float
    kill_every: float


@dataclass
class Seen:
    """What happened meanwhile; seconds, by the daemon's own clock for questions and by ours for what was saved."""

    inside: list[float] = field(default_factory=list)
    searchable: list[float] = field(default_factory=list)
    not_fresh: int = 0
    unanswered: list[tuple[float, float]] = field(default_factory=list)
    """When such a question was asked, and when that was known."""
    away: list[tuple[float, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def unexcused(self) -> list[float]:
        """When questions were asked that went without an answer though a daemon was there."""
        return [
            asked
            for asked, told in self.unanswered
            if not any(asked <= ended and told >= begun for begun, ended in self.away)
        ]


def run(plan: Plan) -> int:
    """Print what happened; returns how many things were not as they must be."""
    with process.own_folders(None) as folder:
        root = folder / "vault"
        made.write(root, plan.notes)
        soak = _Soak(root, plan)
        try:
            soak.go()
            return soak.report()
        finally:
            soak.daemon.kill()


class _Soak:
    def __init__(self, root: Path, plan: Plan) -> None:
        self._root, self._plan, self._seen = root, plan, Seen()
        self._editor = Editor(root)
        self._begun = time.monotonic()
        self._over = threading.Event()
        self._latest: tuple[str, str, float] | None = None
        self.daemon = process.watch(root)
        self._asked = made.questions(200, plan.notes)

    def go(self) -> None:
        """Edit, ask and kill until the time is over."""
        self.daemon.settled()
        self._begun = time.monotonic()
        self._print_use("start")
        work: list[Callable[[], None]] = [self._edit, self._look_for_saved, *[self._ask] * CONNECTIONS]
        threads = [threading.Thread(target=self._guarded, args=(one,)) for one in work]
        for thread in threads:
            thread.start()
        try:
            self._kill_now_and_then()
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def report(self) -> int:
        """Print the figures and what must be 0; returns how many of those are not."""
        started = time.monotonic()
        self.daemon.settled(120)
        print(f"settled {time.monotonic() - started:.1f} s after the last edit")
        self._print_use("end")
        seen = self._seen
        print(f"{len(seen.inside)} questions answered, {seen.not_fresh} of them not fresh; "
              f"{len(seen.unanswered)} not, as the daemon was away")  # fmt: skip
        print(f"inside          {_milliseconds(seen.inside)}")
        print(f"saved to found  {_milliseconds(seen.searchable)}")
        faults = {
            "words not found": self._lost(),
            "notes changed": self._editor.differing(),
            "index differs": ["by its digest, or it was behind"] * self._differs(),
            "unanswered": [f"{at - self._begun:.1f} s" for at in seen.unexcused()],
            "errors": seen.errors,
            "log errors": self._logged("ERROR"),
        }
        for what, found in faults.items():
            print(f"{what:15} {len(found)}", *(f"# {one}" for one in found[:5]), sep="\n")
        warnings = self._logged("WARNING")
        print(f"log warnings    {len(warnings)}", *(f"# {one}" for one in warnings[:5]), sep="\n")
        return sum(map(len, faults.values()))

    # --- at once -------------------------------------------------------------------------------------------------

    def _kill_now_and_then(self) -> None:
        until = self._begun + 60 * self._plan.minutes
        every = self._plan.kill_every or 60.0
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(every, left))
            self._print_use("after")
            # The last one is left alone, for a daemon that has been through some of it must be there at the end.
            if self._plan.kill_every and until - time.monotonic() > every / 2:
                killed = time.monotonic()
                self.daemon.kill()
                self.daemon = process.watch(self._root)
                self._seen.away.append((killed, time.monotonic() + AWAY_SECONDS))
                self._print_use("killed")

    def _edit(self) -> None:
        def one() -> None:
            path = self._editor.edit()
            if path and self._latest is None and path in self._editor.words:
                self._latest = path, self._editor.words[path], time.monotonic()

        self._steadily(self._plan.edits, one)

    def _ask(self) -> None:
        random = Random()
        line = _Asker(self.daemon.socket, self._seen)

        def one() -> None:
            answer = line.ask(random.choice(self._asked))
            if answer:
                self._seen.inside.append(answer["seconds"])
                self._seen.not_fresh += not answer["index"]["fresh"]

        self._steadily(self._plan.recalls / CONNECTIONS, one)

    def _look_for_saved(self) -> None:
        """Follow one saved note after the other until it is found, unless something else happens to it first."""
        line = _Asker(self.daemon.socket, Seen())

        def one() -> None:
            if self._latest is None:
                return
            path, word, saved = self._latest
            if self._editor.words.get(path) != word or any(a <= saved <= b for a, b in self._seen.away):
                self._latest = None
                return
            answer = line.ask(word)
            if answer and any(result["path"] == path for result in answer["results"]):
                self._seen.searchable.append(time.monotonic() - saved)
                self._latest = None

        self._steadily(50, one)

    def _steadily(self, a_second: float, one: Callable[[], None]) -> None:
        due = time.monotonic()
        while not self._over.is_set():
            one()
            due = max(due + 1 / a_second, time.monotonic() - 1)
            self._over.wait(max(due - time.monotonic(), 0))

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._seen.errors.append(f"{type(error).__name__}: {error}")

    # --- at the end ----------------------------------------------------------------------------------------------

    def _lost(self) -> list[str]:
        """The notes that are not found by the word that was saved last in them."""
        socket = self.daemon.socket
        return [path for path, word in self._editor.words.items() if path not in _found(socket, word)]

    def _differs(self) -> bool:
        """Whether the index is not that of a fresh build, or had to be brought up to date for the comparison."""
        before = self.daemon.ask("status")["index"]["generation"]
        call = [sys.executable, "-m", "vault_memory", "--vault", str(self._root), "index", "--check", "--json"]
        ended = subprocess.run(call, capture_output=True, text=True, check=False)
        same = ended.returncode == 0 and json.loads(ended.stdout)["same"]
        return not same or self.daemon.ask("status")["index"]["generation"] != before

    def _logged(self, level: str) -> list[str]:
        """The log's lines of that level; a folder that is moved while it is looked at is a warning."""
        log = Path(self.daemon.ask("health")["log"])
        lines = [line for file in sorted(log.parent.glob(f"{log.name}*")) for line in file.read_text().splitlines()]
        return [line for line in lines if f" {level} " in line]

    def _print_use(self, when: str) -> None:
        use = process.use(self.daemon.process.pid)
        print(f"{time.monotonic() - self._begun:6.0f} s {when:7} {use.memory_mb:6.0f} MB {use.files:3} files"
              f" {use.threads:3} threads {use.cpu_seconds:6.1f} s of processor", flush=True)  # fmt: skip


class _Asker:
    """Asks the daemon, and notes when it was not there."""

    def __init__(self, socket: Path, seen: Seen) -> None:
        self._socket, self._seen = socket, seen

    def ask(self, query: str) -> dict[str, Any] | None:
        """The answer, or None where there was none."""
        asked = time.monotonic()
        try:
            return client.call(self._socket, "recall", {"query": query, "no_journal": True})  # type: ignore[no-any-return]
        except (NotRunningError, LostError):
            self._seen.unanswered.append((asked, time.monotonic()))
            return None


def _found(socket: Path, word: str) -> set[str]:
    with contextlib.suppress(VaultMemoryError):
        return {
            result["path"] for result in client.call(socket, "recall", {"query": word, "no_journal": True})["results"]
        }
    return set()


def _milliseconds(values: list[float]) -> str:
    if not values:
        return "none"
    shares = (percentile(values, 0.5), percentile(values, 0.95), max(values))
    return "p50 {:.1f} ms  p95 {:.1f} ms  max {:.1f} ms".format(*(1000 * s for s in shares)) + f"  ({len(values)})"
