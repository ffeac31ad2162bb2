"""A question about sessions: what was appended since is taken in first, for a bounded time, or told of."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
import session_makers as make
from daemons import until
from vaults import fill

from vault_memory.config import Config
from vault_memory.federation import Federation
from vault_memory.rendering.recall import recall_document, recall_notes
from vault_memory.search.answer import Answer
from vault_memory.search.recall_options import build
from vault_memory.sessions import ledger, sync
from vault_memory.vault import locations


@pytest.fixture
def config(tmp_path: Path, tmp_data: Path) -> Config:
    (tmp_path / "claude").mkdir()
    vault = fill(tmp_path / "Notes", {"memory/2026-03-01.md": "# Day\n\n## Retain\n- W @Ann: Deploys with quill7.\n"})
    return Config(vault=vault, sessions_tools=("claude-code",), sessions_claude_code=tmp_path / "claude")


def answered(config: Config, query: str, source: str = "sessions") -> Answer:
    (answer,) = Federation(config).answers([build({"query": query, "source": source}, config)])
    return answer


def said(file: Path, session: str, text: str) -> None:
    with file.open("a") as handle:
        handle.write(make.claude_lines(session, [("user", text)])[1] + "\n")


@pytest.mark.parametrize("source", ["sessions", "all"])
def test_what_was_appended_is_found_at_the_next_question(source: str, config: Config, tmp_path: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    Federation(config).refresh_sessions()
    said(file, "one", "zebras as well")
    make.claude(tmp_path / "claude", "two", [("user", "giraffes in another one")])
    found = answered(config, "zebras", source)
    assert found.results[0].source == "sessions/claude-code/one#m5" and found.fresh and not found.pending
    assert answered(config, "giraffes", source).results[0].path == "sessions/claude-code/two"


def test_before_the_first_reading_nothing_is_read(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    make.claude(tmp_path / "claude", "one", make.talk(1))
    assert "`memory index` reads them" in answered(config, "quill1").degraded[0][1]
    assert not (tmp_data / "sessions").exists()


def test_while_another_process_reads_the_answer_says_how_far_it_is_behind(
    config: Config, tmp_path: Path, tmp_data: Path
) -> None:
    files = [make.claude(tmp_path / "claude", f"s{number}", make.talk(number)) for number in range(5)]
    Federation(config).refresh_sessions()
    for file in files[:3]:
        said(file, file.stem, "zebras")
    with locations.writer_lock(tmp_data / "sessions" / ledger.STATE / "sweep", 0):
        found = answered(config, "quill1", "all")
    assert (found.fresh, found.pending) == (False, 3)
    assert "The index is 3 sessions behind; `memory index` updates it." in recall_notes(found)[1]
    assert not recall_document(found)["index"]["fresh"]


def test_the_last_message_of_opencode_is_read_once_it_has_settled(config: Config, tmp_path: Path) -> None:
    """It is left alone while it may be written: nothing need change until it is read."""
    root = tmp_path / "opencode"
    make.opencode(root, "ses_1", make.talk(1))
    make.opencode_message(root, "ses_1", 3, "assistant", "the last one", updated=int((time.time() - 3) * 1000))
    config = replace(config, sessions_tools=("opencode",), sessions_opencode=root)
    first = Federation(config).refresh_sessions()
    assert first and first.messages == 3
    until(lambda: (again := Federation(config).refresh_sessions()) and again.messages == 1, 10)
    idle = Federation(config).refresh_sessions()
    assert idle and (idle.messages, idle.bytes_read) == (0, 0)


def test_a_long_transcript_is_read_in_parts(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    said_ = [("user", f"message {number} " + "and words " * 400) for number in range(3000)]
    make.claude(tmp_path / "claude", "long", said_)
    parts = 0
    while sync.sync_transcripts(config, os.environ, deadline=time.monotonic() + 0.1).pending:
        parts += 1
        assert parts < 300
    assert parts
    lines = (tmp_data / "sessions" / "claude-code" / "long.md").read_text().splitlines()
    numbers = [
        int(line.split("message ")[1].split()[0]) for line in lines if "message " in line and "title" not in line
    ]
    assert numbers == list(range(3000))
    assert sync.sync_transcripts(config, os.environ).bytes_read == 0


def test_what_an_earlier_version_recorded_is_read_on(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    Federation(config).refresh_sessions()
    state = ledger.state_file(tmp_data / "sessions", "claude-code")
    known = json.loads(state.read_bytes())
    ((key, row),) = known["transcripts"].items()
    known["transcripts"][key] = [*row[:10], 0, ledger.load(state)[key].at]  # the eleventh counted messages then
    known["transcripts"]["odd"] = ["", "", "odd.md", "3"]
    state.write_text(json.dumps(known))
    said(file, "one", "zebras as well")
    report = sync.sync_transcripts(config, os.environ)
    assert (report.messages, report.anew, report.problems) == (1, 0, [])
