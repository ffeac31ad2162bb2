"""What a daemon cannot see or read, or no longer: it is not taken for gone, not forgotten, and tried again."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from daemons import Running, until
from vaults import fill, memory, obeying_permissions, put, run, start

from vault_memory.search.recall_options import build

NOTES = {"a.md": "The ferry to Kallö.\n", "b.md": "The lighthouse keeper.\n", "sub/c.md": "A heron by the weir.\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", NOTES)


def found(daemon: Running, word: str) -> tuple[bool, int, list[str]]:
    """Whether the index had everything, how many notes it was behind, and the notes with that word."""
    answer: Any = daemon.ask("recall", query=word, no_journal=True)
    notes = [result["path"] for result in answer["results"] if word in result["content"]]
    return answer["index"]["fresh"], answer["index"]["pending"], notes


def has_waited(daemon: Running, seconds: float) -> bool:
    """Whether something waits since so long: it was tried again meanwhile."""
    return (daemon.ask("health")["oldest_pending_seconds"] or 0.0) > seconds


# --- a note that cannot be read --------------------------------------------------------------------------------------


def test_a_note_that_could_not_be_read_at_the_start_is_not_forgotten(root: Path) -> None:
    first = obeying_permissions()
    memory(root).index()
    put(root, "b.md", "Otters below the lighthouse.\n")
    os.chmod(root / "b.md", 0)
    alone = json.loads(run(root, "recall", "otters", "--json", "--no-journal", first=first).stdout)
    unread = {"what": "files", "why": "b.md cannot be read, so it was not searched"}
    assert unread in alone["degraded"]
    daemon = Running(root, start(root, "watch", first=first)).ready()
    until(lambda: has_waited(daemon, 1.5))
    asked: Any = daemon.ask("recall", query="otters", no_journal=True)
    assert (asked["degraded"], asked["results"]) == (alone["degraded"], alone["results"])
    assert found(daemon, "Otters") == (alone["index"]["fresh"], alone["index"]["pending"], []) == (False, 1, [])
    os.chmod(root / "b.md", 0o600)
    until(lambda: found(daemon, "Otters") == (True, 0, ["b.md"]))
    assert unread not in daemon.ask("recall", query="otters", no_journal=True)["degraded"]


def test_a_file_that_cannot_be_indexed_leaves_no_answer_behind(root: Path) -> None:
    """Its name is not UTF-8, so no other look would help: it is among the problems, and nothing waits for it."""
    daemon = Running(root, start(root, "watch")).ready().settled()
    with open(os.fsencode(root) + b"/\xff.md", "wb") as handle:
        handle.write(b"Otters.\n")
    put(root, "new.md", "A stoat.\n", 0)
    until(lambda: found(daemon, "stoat")[2] == ["new.md"])
    until(lambda: daemon.ask("health")["oldest_pending_seconds"] is None)
    asked: Any = daemon.ask("recall", query="stoat", no_journal=True)
    assert (asked["index"]["fresh"], asked["index"]["pending"], asked["degraded"]) == (True, 0, [])


# --- what is held back -----------------------------------------------------------------------------------------------


def test_while_obsidians_settings_cannot_be_read_no_answer_is_fresh(root: Path) -> None:
    """They may leave out what is new: with a daemon it is held back, and said, as without one."""
    daemon = Running(root, start(root, "watch")).ready().settled()
    put(root, ".obsidian/app.json", '{"userIgnoreFil', 0)
    put(root, "new.md", "A stoat.\n", 0)
    until(lambda: daemon.ask("health")["trouble"])
    asked: Any = daemon.ask("recall", query="stoat", no_journal=True)
    mine = memory(root)
    (alone,) = mine.answers([build({"query": "stoat"}, mine.config)], keep=False)
    assert (asked["index"]["fresh"], asked["index"]["pending"]) == (alone.fresh, alone.pending) == (False, 1)
    assert [(entry["what"], entry["why"]) for entry in asked["degraded"]] == list(alone.degraded)
    assert any(what == "index" and "app.json" in why for what, why in alone.degraded)
    put(root, ".obsidian/app.json", "{}", 0)
    until(lambda: found(daemon, "stoat") == (True, 0, ["new.md"]))
    until(lambda: daemon.ask("health")["trouble"] is None)
