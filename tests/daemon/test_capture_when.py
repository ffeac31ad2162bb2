"""When a daemon captures, what it says of it, and what can be asked of it."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import session_makers as make
from daemons import until
from hooks import hooked_here, recorded
from sample import call
from vaults import fill, memory

from vault_memory.config import load
from vault_memory.daemon import rpc_methods
from vault_memory.daemon.background import Background
from vault_memory.daemon.settings import LiveSettings
from vault_memory.reflect.run_log import NightlyRun, RunLog

WANTED = "Please remember: I'm allergic to walnuts."

SIGNED = "# Day\n\n- woke up late\n- signed the lease for the Bergen office, 1,200 a month from 1 March\n- soup\n"


@pytest.fixture
def root(tmp_path: Path, tmp_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMORY_SESSIONS_TOOLS", "claude-code")
    monkeypatch.setenv("MEMORY_SESSIONS_CLAUDE_CODE", str(tmp_path / "claude"))
    return fill(tmp_path / "vault", {"memory.md": "# Core\n"})


@pytest.fixture(autouse=True)
def _log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "vault_memory")


@contextmanager
def background(root: Path, at: str = "") -> Iterator[Background]:
    fill(root, {".memory/config.toml": f'[reflect]\nat = "{at}"\n'})
    mine = Background(root, LiveSettings(load(str(root))))
    yield mine
    mine.stop()
    mine.wait()


def said(tmp_path: Path, minutes_ago: float, session: str = "s1") -> Path:
    """A session whose last message was so long ago."""
    file = make.claude(
        tmp_path / "claude", session, [("user", WANTED), ("user", "Our code review takes place on Wednesdays.")]
    )
    at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(line | {"timestamp": at.isoformat()}) + "\n" for line in lines))
    return file


def walnuts(root: Path) -> bool:
    return any("walnuts" in note.read_text() for note in root.glob("memory/*.md"))


def test_a_session_that_rests_is_captured_from(root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said(tmp_path, minutes_ago=11)
    with background(root) as mine:
        mine.index_was_updated(changed=False)
        until(lambda: "capture: 1 written, 1 proposed, 1 waiting, 0 problems" in caplog.text)
    assert walnuts(root) and "walnuts" not in caplog.text
    told = call("--vault", str(root), "status").out
    assert "capture  " in told and "1 written, 1 proposed, 1 waiting for your answer" in told


def test_one_that_goes_on_waits_until_it_has_ended(
    root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said(tmp_path, minutes_ago=1)
    with background(root) as mine:
        mine.index_was_updated(changed=False)
        until(lambda: "sessions: 1 changed" in caplog.text and not mine.is_busy("sessions"))
        assert "capture" not in caplog.text
        hooked_here(root, "SessionEnd", recorded("SessionEnd", "s1"))  # it captures nothing itself
        assert not walnuts(root)
        mine.index_was_updated(changed=False)
        until(lambda: "capture: 1 written" in caplog.text)
    assert walnuts(root)


def test_what_goes_on_is_left_out_where_that_is_asked_for(root: Path, tmp_path: Path) -> None:
    said(tmp_path, minutes_ago=5)
    fill(root, {"memory/2026-03-05.md": SIGNED})
    of = memory(root, sessions_tools=("claude-code",), sessions_claude_code=tmp_path / "claude")
    assert of.capture(idle_minutes=10).items == []
    assert {item.source.partition("#")[0] for item in of.capture(idle_minutes=3).items} == {"sessions/claude-code/s1"}
    assert [item.source for item in of.capture().items] == ["memory/2026-03-05.md#L4"]


@pytest.mark.parametrize("variable", ["MEMORY_CAPTURE_MODE", "MEMORY_SESSIONS_TOOLS"])
def test_where_it_is_off_the_daemon_captures_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, variable: str
) -> None:
    monkeypatch.setenv(variable, "off" if "MODE" in variable else "openclaw")
    said(tmp_path, minutes_ago=60)
    with background(root) as mine:
        mine.index_was_updated(changed=False)
        until(lambda: not mine.is_busy("sessions"))
    assert "capture" not in caplog.text and not walnuts(root)


def test_at_night_it_comes_before_the_pages_and_a_page_it_cannot_read_stops_nothing(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(root, {"memory/2026-03-05.md": "Remember: the gate code changes every week.\n", "bank/proposals.md": "\0"})
    RunLog(root).record(NightlyRun("00:00", datetime.now().date() - timedelta(days=3)))
    with background(root, at="00:00") as mine:
        mine.index_was_updated(changed=False)
        until(lambda: "reflect:" in caplog.text)
    lines = [line for line in caplog.text.splitlines() if "capture" in line or "reflect" in line]
    assert "capture: 0 written" in lines[0] and "0 problems" not in lines[0] and "reflect:" in lines[1]


def test_a_reflect_by_hand_captures_nothing_and_takes_nothing_away(root: Path, tmp_path: Path) -> None:
    said(tmp_path, minutes_ago=60)
    call("--vault", str(root), "reflect")
    assert not walnuts(root)
    call("--vault", str(root), "capture")
    before = (root / "bank" / "proposals.md").read_text()
    call("--vault", str(root), "reflect")
    call("--vault", str(root), "capture")
    captured = before[before.index("<!-- memory:begin captured") :]
    assert captured in (root / "bank" / "proposals.md").read_text()


def test_the_gate_by_its_method(root: Path, tmp_path: Path) -> None:
    said(tmp_path, minutes_ago=60)
    of = memory(root, sessions_tools=("claude-code",), sessions_claude_code=tmp_path / "claude")
    of.capture()
    new, known = (
        rpc_methods.call("gating_scalar", of, {"text": text})
        for text in ("Ines prefers the late shift", "Please remember: I'm allergic to walnuts.")
    )
    assert new["H"] > known["H"] and new["G"] > known["G"]
    again = rpc_methods.call("gating_scalar", of, {"text": "We ship", "turns": ["We ship"] * 5})
    assert again["InputFreq"] == 1
