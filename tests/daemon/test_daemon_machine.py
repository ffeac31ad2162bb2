"""Whatever happens to a vault, its index and its daemon, in any order: once settled, nothing is missing or stale."""

import os
import shutil
from typing import Any

import pytest
from daemons import Running, start_daemon
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from vault_machine import QUESTIONS, VaultMachine, answers, assert_rows_hang_together
from vaults import index_digest, memory, run, snapshot

EXAMPLES = int(os.environ.get("DAEMON_MACHINE_EXAMPLES", 0))
"""So many other sequences each time instead of the same few: for a long run."""

SMALL, LARGE = (2, 12), (8, 30)
"""Sequences and their longest length, by default and in the slow tests."""


class DaemonMachine(VaultMachine):
    """The same vault, with a daemon that watches it, and is stopped, killed and started again."""

    def __init__(self) -> None:
        super().__init__()
        self.daemon: Running | None = start_daemon(self.root)

    def teardown(self) -> None:
        try:
            self.equals_a_fresh_build()
            assert self.running().stop() == 0
        finally:
            if self.daemon:
                self.daemon.kill()
            shutil.rmtree(self.top)

    def running(self) -> Running:
        self.daemon = self.daemon or start_daemon(self.root)
        return self.daemon

    # --- what happens to the daemon ----------------------------------------------------------------------------------

    @precondition(lambda self: self.daemon)
    @rule()
    def kill_daemon(self) -> None:
        self.running().kill()
        self.daemon = None

    @precondition(lambda self: self.daemon)
    @rule()
    def stop_daemon(self) -> None:
        assert self.running().stop() == 0
        self.daemon = None

    @precondition(lambda self: not self.daemon)
    @rule()
    def start_daemon(self) -> None:
        self.running()

    @precondition(lambda self: self.daemon)
    @rule(query=st.sampled_from(QUESTIONS))
    def ask(self, query: str) -> None:
        """While anything may be going on: what is cited is there."""
        for source, _, _, content in asked(self.running(), query):
            path, _, lines = source.partition("#L")
            text = (self.root / path).read_bytes().decode("utf-8", "replace")
            assert set(content.split("\n")) <= set(text.split("\n")), (source, lines)

    # --- what happens to the index -----------------------------------------------------------------------------------

    @rule()
    def catch_up(self) -> None:
        with self.mine.index_file.reading() as (_, freshness):
            assert freshness.fresh == (freshness.pending == 0)  # the daemon may be at it

    @rule()
    def rebuild_elsewhere(self) -> None:
        ended = run(self.root, "index", "--rebuild")
        assert (ended.returncode, ended.stderr) == (0, "")

    @rule(suffixes=st.sampled_from([("",), ("", "-wal", "-shm"), ("", "-wal", "-shm", ".lock")]))
    def delete_index(self, suffixes: tuple[str, ...]) -> None:
        """Not its log alone: SQLite forbids that under a process that has the index open."""
        for suffix in suffixes:
            self.mine.index_file.path.with_name(self.mine.index_file.path.name + suffix).unlink(missing_ok=True)

    # --- what must hold ----------------------------------------------------------------------------------------------

    @rule()
    def equals_a_fresh_build(self) -> None:
        before = snapshot(self.root)
        daemon = self.running().settled()
        fresh = memory(self.root, index_path=self.top / "fresh.sqlite")
        fresh.index(rebuild=True)
        assert index_digest(self.mine) == index_digest(fresh)
        assert_rows_hang_together(self.mine)
        assert [[" ".join(map(str, found)) for found in asked(daemon, query)] for query in QUESTIONS] == answers(fresh)
        assert self.mine.index_file.check()[0] == fresh.index_file.check()[0]
        assert snapshot(self.root) == before


def asked(daemon: Running, query: str) -> list[tuple[Any, ...]]:
    """What the daemon finds for one question, in order."""
    answer = daemon.ask("recall", query=query, now="2025-12-01T00:00:00Z", k=1000, all=True, no_journal=True)
    return [(r["source"], r["kind"], r["tier"], r["content"]) for r in answer["results"]]


def machine(examples: int, steps: int) -> Any:
    """The state machine as a test of so many sequences."""
    case = type("TestCase", (DaemonMachine.TestCase,), {})
    case.settings = settings(
        VaultMachine.TestCase.settings,
        max_examples=EXAMPLES or examples,
        stateful_step_count=steps,
        derandomize=not EXAMPLES,
    )
    return case


TestDaemon = machine(*SMALL)
TestDaemonForLong = pytest.mark.slow(machine(*LARGE))
