"""What a daemon cannot see or read, or no longer: it is not taken for gone, not forgotten, and tried again."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from daemons import Running, until
from vaults import fill, memory, obeying_permissions, paths, put, run, start

from vault_memory.search.request import build

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


# --- a drive mounted inside the vault --------------------------------------------------------------------------------


class Drive:
    """A folder of notes that is mounted inside the vault, and can be taken away."""

    def __init__(self, image: Path, at: Path) -> None:
        self.image, self.at = image, at

    def mount(self) -> None:
        assert _mounts("mount", "--bind", str(self.image), str(self.at))

    def unmount(self) -> None:
        assert _mounts("umount", "--lazy", str(self.at))


def _mounts(*arguments: str) -> bool:
    return subprocess.run(arguments, check=False, capture_output=True).returncode == 0


@pytest.fixture
def drive(root: Path, tmp_path: Path) -> Iterator[Drive]:
    if not hasattr(os, "geteuid") or os.geteuid() or not shutil.which("mount"):
        pytest.skip("only root may mount")
    made = Drive(fill(tmp_path / "image", {"x.md": "An otter.\n", "in/y.md": "A badger.\n"}), root / "my ext")
    made.at.mkdir()
    if not _mounts("mount", "--bind", str(made.image), str(made.at)):
        pytest.skip("this machine lets nobody mount")
    yield made
    with suppress(AssertionError):
        made.unmount()


ON_DRIVE = {"my ext/x.md", "my ext/in/y.md"}


@pytest.mark.parametrize("look", [["index"], ["index", "my ext"], ["index", "my ext/x.md"], ["recall", "otter"]])
def test_an_unmounted_drive_has_lost_no_note(root: Path, drive: Drive, look: list[str]) -> None:
    assert run(root, "index").returncode == 0
    drive.unmount()
    put(root, "a.md", "changed, so that there is something to do\n")
    said = run(root, *(str(root / part) if part.startswith("my ext") else part for part in look), "--json")
    assert paths(memory(root)) > ON_DRIVE, said
    assert "my ext" in said.stdout and said.returncode == (1 if look[0] == "index" else 0)
    again = json.loads(run(root, "recall", "otter", "--json", "--no-journal").stdout)
    assert (again["index"]["fresh"], again["index"]["pending"]) == (False, 2)
    assert [entry["what"] for entry in again["degraded"]] == ["files"]
    drive.mount()
    assert json.loads(run(root, "recall", "otter", "--json", "--no-journal").stdout)["index"]["fresh"]
    (drive.image / "x.md").unlink()
    assert memory(root).index().removed == 1  # what is gone from a drive that is mounted is gone


def test_only_a_rebuild_that_is_asked_for_forgets_an_unmounted_drive(root: Path, drive: Drive) -> None:
    memory(root, daily_format="DD.MM.YYYY").index()
    drive.unmount()
    refused = run(root, "index")  # other settings: it would have to be built anew
    assert (refused.returncode, "nothing was deleted" in refused.stderr) == (6, True)
    assert run(root, "index", "--rebuild").returncode == 0
    assert paths(memory(root)) == NOTES.keys()
    assert memory(root).index().failed == []


def test_a_daemon_waits_for_a_drive_to_come_back(root: Path, drive: Drive) -> None:
    daemon = Running(root, start(root, "watch")).ready().settled()
    drive.unmount()
    assert found(daemon, "otter")[0] is False
    until(lambda: has_waited(daemon, 1.5))
    put(root, "b.md", "A dipper.\n")
    until(lambda: found(daemon, "dipper")[2] == ["b.md"])
    assert found(daemon, "otter")[:2] == (False, 1)
    assert paths(memory(root)) > ON_DRIVE
    drive.mount()
    until(lambda: found(daemon, "otter") == (True, 0, ["my ext/x.md"]))


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
