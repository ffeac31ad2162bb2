"""A question of which the notes know nothing is answered from sessions, where somebody asked it."""

from dataclasses import replace
from pathlib import Path

import pytest
import session_makers as make
from vaults import fill

from vault_memory.agents.mcp_answers import Caller, search
from vault_memory.agents.vault_session import VaultSession
from vault_memory.config import Config
from vault_memory.context.bundle import ContextRequest, bundle
from vault_memory.daemon import rpc_methods
from vault_memory.federation import Federation

NOTES = {
    f"memory/2026-02-{day:02}.md": f"- Rowed to the island with Bo, {what}.\n- Paid {day} kr for {what} at the quay.\n"
    for day, what in enumerate(("herring", "mackerel", "cod", "plaice", "turbot", "salmon", "trout", "pike"), 1)
}
QUESTION = "Which linter does the zeppelin use?"
TALK = [
    ("user", QUESTION),
    ("assistant", "I would have to look that up."),
    ("user", "The zeppelin uses the linter called oxlint."),
    ("assistant", "Noted: oxlint for the zeppelin."),
]


@pytest.fixture
def config(tmp_path: Path, tmp_data: Path) -> Config:
    make.claude(tmp_path / "claude", "one", TALK)
    vault = fill(tmp_path / "Notes", NOTES)
    made = Config(vault=vault, sessions_tools=("claude-code",), sessions_claude_code=tmp_path / "claude")
    Federation(made).refresh_sessions()
    return made


def recall(config: Config, query: str, **options: object) -> dict:
    return rpc_methods.call("recall", Federation(config), {"query": query, "no_journal": True, **options})


def test_sessions_answer_what_no_note_knows(config: Config) -> None:
    found = recall(config, QUESTION)
    assert not found["known"]
    told = [each for each in found["results"] if each["kind"] == "session"]
    assert told[0]["source"] == "sessions/claude-code/one#m3" and told == found["results"][: len(told)]
    assert all("?" not in each["content"] for each in told), "the question itself answers nothing"
    assert [each["rank"] for each in found["results"]] == list(range(1, len(found["results"]) + 1))
    text = recall(config, QUESTION, as_text=True)
    assert text["before"][0].endswith("From sessions:") and "oxlint" in text["text"]


def test_an_agent_is_told_so(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make.claude(tmp_path / "claude", "two", [("user", "The harpoon is stored at Lindgren's.")], folder="none")
    monkeypatch.setenv("MEMORY_SESSIONS_TOOLS", "claude-code")
    monkeypatch.setenv("MEMORY_SESSIONS_CLAUDE_CODE", str(tmp_path / "claude"))
    Federation(config).index()
    caller = Caller(VaultSession(str(config.vault), tmp_path), "claude-code")
    lines = search(caller, {"query": "Where is the harpoon stored?"}).splitlines()
    assert lines[0].startswith("No note mentions “harpoon”") and lines[0].endswith("From sessions:")
    assert any(line.startswith("## sessions/claude-code/two") for line in lines)
    assert "## sessions" not in search(caller._replace(agent="moss"), {"query": "Where is the harpoon stored?"})


def test_known_questions_and_further_vaults_stay_as_they_were(config: Config, tmp_path: Path) -> None:
    of_notes = recall(config, "What did I pay for the turbot at the quay?")
    assert of_notes["known"] and {each["kind"] for each in of_notes["results"]} == {"note"}
    unknown = "Which dentist does the harpoon use?"
    assert "session" not in {each["kind"] for each in recall(config, unknown)["results"]}
    off = replace(config, sessions_tools=())
    assert "session" not in {each["kind"] for each in recall(off, QUESTION)["results"]}
    more = replace(config, roots=((fill(tmp_path / "more", {"a.md": "- Nothing of it.\n"}), ""),))
    assert recall(more, QUESTION)["results"][0]["kind"] == "session"


def test_the_question_alone_is_no_answer(tmp_path: Path, tmp_data: Path) -> None:
    make.claude(tmp_path / "claude", "one", TALK[:2])
    vault = fill(tmp_path / "Notes", NOTES)
    config = Config(vault=vault, sessions_tools=("claude-code",), sessions_claude_code=tmp_path / "claude")
    Federation(config).refresh_sessions()
    assert "session" not in {each["kind"] for each in recall(config, QUESTION)["results"]}


def test_only_whom_a_session_is_open_to_is_told(config: Config) -> None:
    found = recall(config, QUESTION, scope=["global"])
    assert "session" not in {each["kind"] for each in found["results"]}


def test_what_was_said_off_the_record_is_told_to_nobody(config: Config, tmp_path: Path) -> None:
    make.claude(
        tmp_path / "claude",
        "two",
        [("user", "Keep this out of your notes: I applied at Swisstopo as a zeppelin pilot.")],
    )
    memory = Federation(config)
    memory.refresh_sessions()
    found = recall(config, "who applied at Swisstopo?", source="sessions")
    assert "Swisstopo" not in str(found["results"])
    assert "Swisstopo" not in str(memory.sessions_below("sessions/", ()))
    assert memory.get("sessions/claude-code/two", None, None, ()).text.endswith(" User: [off the record]")


def test_what_was_taken_back_is_told_to_nobody(config: Config, tmp_path: Path) -> None:
    said = (
        "Remember that my zeppelin is called Graf.",
        "Noted.",
        "Which linter?",
        "oxlint",
        "Please forget what I told you about the zeppelin.",
    )
    talk = [("assistant" if at % 2 else "user", text) for at, text in enumerate(said)]
    make.claude(tmp_path / "claude", "two", talk)
    memory = Federation(config)
    memory.refresh_sessions()
    told = memory.get("sessions/claude-code/two", None, None, ()).text
    assert "Graf" not in told and told.count("[off the record]") == 2 and "Which linter?" in told
    assert "Graf" not in str(recall(config, "what is my zeppelin called?", source="sessions")["results"])


def test_a_context_never_asks_sessions_unless_told(config: Config) -> None:
    memory = Federation(config)
    wanted = ContextRequest(QUESTION, scopes=("global", "project:app"))
    assert "oxlint" not in bundle(memory, wanted).text
    assert "oxlint" not in bundle(memory, wanted._replace(unasked=True), patience=0).text
