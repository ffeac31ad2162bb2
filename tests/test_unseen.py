"""What a daemon cannot see or read, or no longer: it is not taken for gone, not forgotten, and tried again."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from daemons import Running, until
from vaults import fill, memory, obeying_permissions, put, run, start

NOTES = {"a.md": "The ferry to Kallö.\n", "b.md": "The lighthouse keeper.\n", "sub/c.md": "A heron by the weir.\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", NOTES)


def found(daemon: Running, word: str) -> tuple[bool, int, list[str]]:
    """Whether the index had everything, how many notes it was behind, and the notes with that word."""
    answer: Any = daemon.ask("recall", query=word, no_journal=True)
    paths = [result["path"] for result in answer["results"] if word in result["content"]]
    return answer["index"]["fresh"], answer["index"]["pending"], paths


def has_waited(daemon: Running, seconds: float) -> bool:
    """Whether something waits since so long: it was tried again meanwhile."""
    return (daemon.ask("health")["oldest_pending_seconds"] or 0.0) > seconds


# --- a note that cannot be read --------------------------------------------------------------------------------------


def test_a_note_that_could_not_be_read_at_the_start_is_not_forgotten(root: Path) -> None:
    first = obeying_permissions()
    memory(root).index()
    put(root, "b.md", "Otters below the lighthouse.\n")
    os.chmod(root / "b.md", 0)
    alone = json.loads(run(root, "recall", "otters", "--json", "--no-journal", first=first).stdout)["index"]
    daemon = Running(root, start(root, "watch", first=first)).ready()
    until(lambda: has_waited(daemon, 1.5))
    assert found(daemon, "Otters") == (alone["fresh"], alone["pending"], []) == (False, 1, [])
    os.chmod(root / "b.md", 0o600)
    until(lambda: found(daemon, "Otters") == (True, 0, ["b.md"]))


def test_a_note_in_a_renamed_folder_that_cannot_be_read_is_not_forgotten(root: Path) -> None:
    first = obeying_permissions()
    daemon = Running(root, start(root, "watch", first=first)).ready().settled()
    os.chmod(root / "sub/c.md", 0)
    (root / "sub").rename(root / "moved")
    until(lambda: has_waited(daemon, 1.5))
    assert found(daemon, "heron")[:2] == (False, 1)
    os.chmod(root / "moved/c.md", 0o600)
    until(lambda: found(daemon, "heron") == (True, 0, ["moved/c.md"]))
