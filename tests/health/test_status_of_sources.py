"""What status and doctor say of sessions and further vaults, and how texts of sessions that are off are deleted."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import session_makers as make
from vaults import fill

from vault_memory.config import Config
from vault_memory.errors import BusyError, UsageError
from vault_memory.federation import Federation
from vault_memory.health.doctor import Check, daemon_checks, doctor, forget_sessions
from vault_memory.health.status import status
from vault_memory.memory import Memory
from vault_memory.rendering.status import status_text
from vault_memory.startup import __version__
from vault_memory.vault import locations


@pytest.fixture
def config(tmp_path: Path, tmp_data: Path) -> Config:
    make.claude(tmp_path / "claude", "one", make.talk(1))
    make.openclaw(tmp_path / "openclaw", "two", make.talk(2))
    vault = fill(tmp_path / "Notes", {"memory/2026-03-01.md": "# Day\n\n## Retain\n- W @Ann: Deploys with quill7.\n"})
    config = Config(
        vault=vault, sessions_tools=("claude-code", "openclaw"), sessions_claude_code=tmp_path / "claude",
        sessions_openclaw=tmp_path / "openclaw",
    )  # fmt: skip
    Memory(config).index()
    Federation(config).refresh_sessions()
    return config


def checks(config: Config, name: str) -> list[Check]:
    return [check for check in doctor(Federation(config)) if check.name == name]


def test_status_tells_of_sessions_where_they_lie_and_how_old_they_are(config: Config, tmp_path: Path) -> None:
    found = status(Federation(config))
    assert json.loads(json.dumps(found)) == found
    sessions = found["sessions"]
    assert (sessions["transcripts"], sessions["messages"], sessions["pending"]) == (2, 8, 0)
    assert sessions["folder"].endswith("sessions") and sessions["bytes"] > 1000 and sessions["swept"].startswith("20")
    assert "2 from claude-code, openclaw, 8 messages\n" in status_text(found) and ", up to date\n" in status_text(found)
    make.claude(tmp_path / "claude", "three", make.talk(3))
    assert ", 1 session behind\n" in status_text(status(Federation(config)))
    assert checks(config, "sessions")[0].fix == "Run `memory index`."
    assert status(Federation(config), ("global",))["sessions"] is None


def test_doctor_tells_of_a_folder_that_is_not_there(config: Config, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "openclaw")
    (gone, held) = checks(config, "sessions")
    assert gone.level == "notice" and str(tmp_path / "openclaw") in gone.message
    assert held.level == "ok" and held.message.startswith("2 sessions in ")


def test_sessions_that_were_switched_off_are_told_and_deleted(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    make.claude(tmp_path / "claude", "other", make.talk(3))
    Federation(config).refresh_sessions()
    (tmp_path / "claude" / "-nowhere-app" / "one.jsonl").unlink()
    off = replace(config, sessions_tools=())
    Memory(off).index()
    (kept,) = checks(off, "sessions")
    assert kept.level == "notice" and "3 sessions of claude-code, openclaw" in kept.message
    assert "--forget sessions` deletes them; some may be the only copy" in kept.fix
    assert checks(off, "sessions") == [kept] and doctor(Federation(off), fix=True)  # that deletes no text
    assert (tmp_data / "sessions" / "claude-code" / "one.md").exists()
    with pytest.raises(UsageError):
        forget_sessions(Federation(config))
    with locations.writer_lock(tmp_data / "sessions" / ".state" / "sweep", 0), pytest.raises(BusyError):
        forget_sessions(Federation(off))
    assert "3 sessions were deleted" in forget_sessions(Federation(off)).message
    assert not (tmp_data / "sessions").exists() and checks(off, "sessions") == []
    with pytest.raises(UsageError):
        forget_sessions(Federation(off))
    Federation(config).refresh_sessions()
    assert {file.name for file in (tmp_data / "sessions").glob("*/*.md")} == {"other.md", "two.md"}


def test_one_tool_that_was_switched_off(config: Config, tmp_data: Path) -> None:
    off = replace(config, sessions_tools=("openclaw",))
    assert "1 session of claude-code" in checks(off, "sessions")[-1].message
    forget_sessions(Federation(off))
    assert not (tmp_data / "sessions" / "claude-code").exists()
    assert (tmp_data / "sessions" / "openclaw" / "two.md").exists()
    with Federation(off).sessions.index_file.reading() as (store, freshness):
        assert freshness.fresh and list(store.rows("SELECT path FROM note")) == [("openclaw/two.md",)]
    assert len(checks(off, "sessions")) == 1


def test_further_vaults_are_listed(config: Config, tmp_path: Path) -> None:
    work = fill(tmp_path / "Work", {"plan.md": "# Plan\n\nZebras first.\n"})
    both = replace(config, roots=((work, "user:ada"), (tmp_path / "Gone", "")))
    assert f"root     work: {work}, user:ada, not indexed yet" in status_text(status(Federation(both)))
    list(Federation(both).refresh_further_vaults())
    found = status(Federation(both))
    first, gone = found["roots"]
    assert (first["name"], first["path"], first["scope"]) == ("work", str(work), "user:ada")
    assert (first["notes"], first["fresh"], first["pending"], first["why_not"]) == (1, True, 0, None)
    assert gone["name"] == "gone" and "Gone" in gone["why_not"] and not gone["fresh"]
    text = status_text(found)
    assert f"root     work: {work}, user:ada, 1 note, " in text and "root     gone: " in text
    assert [check.level for check in checks(both, "roots")] == ["ok", "warning"]
    fill(work, {"more.md": "more\n"})
    assert "1 note behind" in status_text(status(Federation(both)))
    assert checks(both, "roots")[0].fix == "Run `memory index`."
    assert status(Federation(both), ("global",))["roots"] == []


def test_what_a_daemon_cannot_do_is_told() -> None:
    health = {"pid": 1, "socket": "s", "log": "l", "version": __version__, "why": None, "mend": None}
    health |= {"trouble": None, "settings": None}
    assert [check.level for check in daemon_checks(health)] == ["ok"]
    assert [check.level for check in daemon_checks(None)] == ["notice"]
    health |= {"version": "0", "why": "no watches left", "trouble": {"what": "disk full", "mend": "Make room."}}
    found = [(check.name, check.level) for check in daemon_checks(health | {"settings": "line 1"})]
    assert found[0] == ("daemon", "ok") and found[3] == ("indexing", "error")
    assert [name for name, level in found if level == "warning"] == ["version", "watching", "settings"]
