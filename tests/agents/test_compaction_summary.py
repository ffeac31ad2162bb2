"""What stands for a conversation after a compaction: kept with its session, found, told to the next, never captured."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import session_makers as make
from hooks import context, hooked_here, recorded, settings
from vaults import fill, memory

from vault_memory.capture.sources import SessionReader, load_marks
from vault_memory.config import load
from vault_memory.federation import Federation
from vault_memory.search.recall_options import build

SUMMARY = (
    "Remember that the zebra crossing was painted; the user always wants it white. api_key=sk-ant-api03-Qm4xT7vB2nL8"
)


@pytest.fixture
def project(tmp_path: Path, tmp_data: Path) -> Path:
    settings(f'[sessions]\ntools = ["claude-code"]\nclaude_code = {json.dumps(str(tmp_path / "claude"))}\n')
    subprocess.run(["git", "init", "-q", tmp_path / "quay"], check=True)
    memory(fill(tmp_path / "vault", {"memory.md": "# Core\n- We meet on Mondays.\n"})).index()
    return tmp_path / "quay"


def compact(project: Path, says: str, wrapped: bool = False) -> Federation:
    """Have a session compacted as Claude Code does: it may write a record of its own around the summary."""
    file = make.claude(
        project.parent / "claude", "one", [*make.talk(1), ("user", "Thanks for the okapi.")], str(project)
    )
    if wrapped:
        *before, last = file.read_text().splitlines()
        said = f"This session is being continued from a previous conversation.\n\n{says}\n\nResume directly."
        record = {
            "type": "user", "isCompactSummary": True, "timestamp": make.STAMP.format(day=1, minute=5),
            "cwd": str(project), "message": {"role": "user", "content": said},
        }  # fmt: skip
        file.write_text("\n".join([*before, json.dumps(record), last, ""]))
    hooked_here(
        project.parent / "vault", "PostCompact", recorded("PostCompact", "one", compact_summary=f"Summary:\n{says}")
    )
    federation = Federation(load(str(project.parent / "vault"), os.environ, project))
    federation.refresh_sessions()
    return federation


@pytest.mark.parametrize("wrapped", [True, False])
def test_the_summary_of_a_compaction_is_kept_once_and_found(project: Path, tmp_data: Path, wrapped: bool) -> None:
    federation = compact(project, SUMMARY, wrapped)
    text = (tmp_data / "sessions" / "claude-code" / "one.md").read_text()
    assert text.count("Summary: Remember that the zebra crossing") == 1 == text.count("zebra")
    assert "Resume directly" not in text and "Qm4xT7vB2nL8" not in text
    (answer,) = federation.answers([build({"query": "zebra crossing", "source": "sessions"}, federation.config)])
    assert answer.results[0].source.startswith("sessions/claude-code/one#m")
    marks = load_marks(federation.config.vault, os.environ)
    (session,) = SessionReader(federation.config, os.environ, marks, None).unread([])
    assert not any("zebra" in said.text for said in session.messages)
    before = text
    federation.refresh_sessions()
    assert (tmp_data / "sessions" / "claude-code" / "one.md").read_text() == before


def test_the_next_session_of_the_project_is_told_how_the_last_summary_begins(project: Path) -> None:
    compact(project, f"The zebra crossing was painted. {'It took all day. ' * 60}")
    given = recorded("SessionStart", "two", cwd=str(project))
    told = context(hooked_here(project.parent / "vault", "SessionStart", given), "SessionStart")
    assert "Summary: The zebra crossing was painted." in told and told.count("all day") < 30
    elsewhere = recorded("SessionStart", "three", cwd=str(project.parent))
    assert "zebra" not in hooked_here(project.parent / "vault", "SessionStart", elsewhere)


def test_a_summary_is_kept_only_where_sessions_are(project: Path, tmp_data: Path) -> None:
    settings("")
    hooked_here(project.parent / "vault", "PostCompact", recorded("PostCompact", "one", compact_summary=SUMMARY))
    assert not list(tmp_data.rglob(".summaries"))
