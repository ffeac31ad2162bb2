"""DaemonMemory: the same methods, types and errors as Memory's, from another process."""

import inspect
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from daemons import start_daemon
from vaults import fill

from vault_memory import ConflictError, DaemonMemory, Memory, NotRunningError, RefusedError, UsageError

NOTES = {
    "memory.md": "# Core\n- Lives in Bergen.\n",
    "memory/2025-11-26.md": "Anna lives in Leipzig.\n",
    "memory/2025-11-27.md": "## Retain\n- O(c=0.9) @Peter: Prefers short messages.\n- W @Peter: Has a blue bicycle.\n",
}
INTERNAL = {"answer", "answers", "add_other_sources", "bundle", "retain_once", "create_note", "edit", "project_summary"}
"""Methods of Memory for the project's own interfaces, with internal values."""

QUESTIONS: dict[str, Callable[[Memory | DaemonMemory], Any]] = {
    "recall": lambda memory: memory.recall("what does Peter prefer?", since=date(2025, 1, 1), journal=False).results,
    "get": lambda memory: memory.get("memory.md", (1, 2)),
    "no note": lambda memory: memory.get("none.md"),
    "entity": lambda memory: memory.entity("Peter"),
    "no entity": lambda memory: memory.entity("Zora"),
    "entities": lambda memory: memory.entities(),
    "similar names": lambda memory: memory.similar_names("Petar"),
    "context": lambda memory: memory.context("what does Peter prefer?", now="2025-11-28").text,
    "planned retain": lambda memory: memory.retain("Rows.", entities=["Peter"], date=date(2025, 11, 29), dry_run=True),
    "planned reflect": lambda memory: memory.reflect(dry_run=True, now="2025-11-28").edits,
    "removal": lambda memory: memory.plan_forget("memory/2025-11-27.md", 3, 3),
    "check": lambda memory: memory.check(),
    "facts": lambda memory: memory.facts(entity="Peter"),
    "journal": lambda memory: memory.journal(2),
    "planned capture": lambda memory: memory.capture(dry_run=True).items,
    "proposals": lambda memory: memory.proposals(),
    "gate": lambda memory: memory.gating_scalar("Peter has a red boat", turns=["Peter?"]),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", NOTES)


@pytest.fixture
def daemon(root: Path) -> DaemonMemory:
    start_daemon(root)
    return DaemonMemory(root)


def test_it_has_memorys_methods_with_their_signatures_and_docstrings() -> None:
    methods = {name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}
    for name in methods - INTERNAL - {"close"}:
        ours, theirs = getattr(DaemonMemory, name), getattr(Memory, name)
        assert (inspect.signature(ours), inspect.getdoc(ours)) == (inspect.signature(theirs), inspect.getdoc(theirs))


def test_it_answers_as_a_memory_does(root: Path, daemon: DaemonMemory) -> None:
    with Memory(root) as memory:
        for what, question in QUESTIONS.items():
            assert question(daemon) == question(memory), what


def test_what_it_writes_is_searchable_forgotten_and_undone(root: Path, daemon: DaemonMemory) -> None:
    kept = daemon.retain("Plays the *oboe*.", entities=["Peter"], date="2025-11-30")
    assert daemon.recall("oboe", k=1).results[0].source == f"{kept.path}#L{kept.line}"
    planned = daemon.plan_forget(kept.path, kept.line, kept.line)
    done = daemon.forget(planned)
    assert (done.removal, done.run != "") == (planned, True)
    assert "oboe" in daemon.recall("oboe").understood.unknown
    with pytest.raises(ConflictError):
        daemon.forget(planned)
    assert daemon.undo(done.run).paths == [kept.path]
    assert "oboe" in (root / kept.path).read_text("utf-8")


def test_its_errors_are_memorys(daemon: DaemonMemory) -> None:
    with pytest.raises(RefusedError, match="leads out of the vault"):
        daemon.get("../secret.md")
    with pytest.raises(UsageError, match="whole number"):
        daemon.recall("tea", k=-1)
    with pytest.raises(UsageError, match="cannot be passed to a daemon"):
        daemon.index(progress=print)


def test_without_a_daemon_it_says_so(tmp_path: Path) -> None:
    with DaemonMemory(fill(tmp_path, NOTES)) as memory, pytest.raises(NotRunningError):
        memory.recall("tea")
