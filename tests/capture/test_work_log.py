"""The list of a day's sessions in its note."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import session_makers as make
from vaults import age, fill

from vault_memory.capture.work_log import SessionDay, compose
from vault_memory.config import Config
from vault_memory.errors import ConflictError, UsageError
from vault_memory.federation import Federation
from vault_memory.health.doctor import lint

pytestmark = pytest.mark.usefixtures("no_editor")

PATH = "memory/2026-03-01.md"
SAID = [("user", "Remember that the spare key hangs behind the door."), ("user", "Mara owns the billing module.")]
AT = datetime(2026, 3, 1, 10, 2, tzinfo=UTC).astimezone()
ONE = SessionDay("sessions/claude-code/s1", date(2026, 3, 1), AT, "project:tern", "Deploy")


@pytest.fixture
def memory(tmp_path: Path, tmp_data: Path) -> Federation:
    vault = fill(tmp_path / "Notes", {PATH: "# Sunday\r\n\r\nWent out.\r\n"})
    make.claude(tmp_path / "claude", "s1", SAID)
    tools = {"sessions_tools": ("claude-code",), "sessions_claude_code": tmp_path / "claude"}
    return Federation(Config(vault=vault, sessions_log=True, **tools))  # type: ignore[arg-type]


def note(memory: Federation) -> str:
    return (memory.vault.root / PATH).read_bytes().decode()


def test_a_sessions_time_project_title_and_what_was_captured_stand_in_the_days_note(memory: Federation) -> None:
    memory.capture()
    entry, *captured = note(memory).partition("## Sessions")[2].split("\r\n")[2:5]
    began = datetime(2026, 3, 1, 10, 0, tzinfo=UTC).astimezone()
    assert entry.startswith(f"- {began:%H:%M} (scope=project:app-")
    assert entry.endswith(" Remember that the spare key hangs behind the door. — sessions/claude-code/s1")
    assert captured[0] == "  - The spare key hangs behind the door."
    assert "Mara" not in note(memory)  # nobody has ticked it
    assert note(memory).startswith("# Sunday\r\n\r\nWent out.\r\n")
    (proposal,) = memory.proposals()
    memory.capture(yes=[proposal.name])
    assert "  - Mara owns the billing module." in note(memory)
    assert memory.capture().run == ""  # a second run writes nothing


def test_only_who_sees_the_project_finds_it(memory: Federation) -> None:
    memory.capture()
    found = memory.recall("billing module", scopes=["global"], journal=False).results
    assert not [each for each in found if "Mara" in each.content]


def test_recall_gives_what_was_captured_once_the_fact_rather_than_its_copy_in_the_list(memory: Federation) -> None:
    memory.capture()
    answer = memory.recall("where does the spare key hang?", journal=False, now="2026-03-02", all=True)
    told = [each.content for each in answer.results if "spare key hangs behind the door." in each.content]
    assert [text.startswith("- W(") for text in told] == [True, False]  # a session's title is another statement


def test_it_grows_with_the_session_and_tells_no_more_what_was_refused(memory: Federation, tmp_path: Path) -> None:
    memory.capture()
    (proposal,) = memory.proposals()
    memory.capture(no=[proposal.name])
    assert "Mara" not in note(memory)
    make.claude(tmp_path / "claude", "s1", [*SAID, ("user", "Remember that Ines prefers the late shift.")])
    make.claude(tmp_path / "claude", "s2", [("user", "hello")])
    memory.capture()
    assert [line.split(" — ")[-1] for line in note(memory).splitlines() if line.startswith("- 1")] == [
        "sessions/claude-code/s1", "sessions/claude-code/s2",
    ]  # fmt: skip
    assert "  - Ines prefers the late shift." in note(memory)


def test_what_a_person_writes_around_it_stays_and_what_they_edit_in_it_too(memory: Federation, tmp_path: Path) -> None:
    memory.capture()
    file = memory.vault.root / PATH
    file.write_bytes(file.read_bytes().replace(b"Went out.", b"Went home.") + b"\r\nLate.\r\n")
    age(file, 60)
    make.claude(tmp_path / "claude", "s2", [("user", "hello")])
    memory.capture()
    assert "Went home." in note(memory) and note(memory).endswith("\r\nLate.\r\n") and "/s2" in note(memory)
    file.write_bytes(file.read_bytes().replace(b"  - The spare key", b"  - The second key"))
    age(file, 60)
    make.claude(tmp_path / "claude", "s3", [("user", "hello")])
    (problem,) = memory.capture().problems
    assert "was edited" in problem and "/s3" not in note(memory) and "The second key" in note(memory)


def test_it_is_undone_with_the_capture(memory: Federation) -> None:
    before = note(memory)
    memory.capture()
    memory.undo()
    assert note(memory) == before


def test_what_is_forgotten_is_in_no_file_of_the_vault_any_more_but_those_kept_for_an_undo(
    memory: Federation, tmp_path: Path
) -> None:
    make.claude(tmp_path / "claude", "s1", [("user", "Remember that Ünal is allergic to spare key."), *SAID[1:]])
    memory.capture()
    root, before = memory.vault.root, note(memory)
    (fact,) = memory.facts()
    done = memory.forget(memory.plan_forget(fact.path, fact.start_line, fact.start_line))
    assert done.warnings == ("It was captured from sessions/claude-code/s1#m1, which stays.",)
    memory.index()
    texts = [file for file in root.rglob("*") if file.is_file() and "index.sqlite" not in file.name]
    left = [file for file in texts if b"allergic" in file.read_bytes()]
    assert {file.relative_to(root).parts[:2] for file in left} == {(".memory", "history")}
    assert "Mara" in (root / "bank/proposals.md").read_text() and "(title forgotten) — sessions/" in note(memory)
    assert not [entry for entry in memory.journal() if "spare key" in entry.text]
    assert memory.capture(since="2026-01-01").written == []  # nor is it captured anew
    with pytest.raises(UsageError, match="forget") as refused:
        memory.undo()
    assert f"--undo {done.run}`" in refused.value.next_step
    memory.undo(done.run)
    assert note(memory) == before and [each.text for each in memory.facts()] == [fact.text]
    assert lint(memory) == []


def test_one_of_several_lines_from_one_message_is_forgotten_though_its_words_were_changed(
    memory: Federation, tmp_path: Path
) -> None:
    said = "Remember that Ines prefers tea.\nRemember that the lease ends in May 2031."
    make.claude(tmp_path / "claude", "s1", [("user", said)])
    memory.capture()
    file = memory.vault.root / PATH
    file.write_bytes(file.read_bytes().replace(b"prefers tea. \xe2", b"prefers green tea. \xe2"))
    age(file, 60)
    (fact,) = [fact for fact in memory.facts() if "green" in fact.text]
    memory.forget(memory.plan_forget(fact.path, fact.start_line, fact.start_line))
    below = note(memory).partition("## Sessions")[2]
    assert "  - Ines" not in below and "  - The lease ends in May 2031." in below


def test_a_fact_is_still_written_below_retain(memory: Federation) -> None:
    fill(memory.vault.root, {PATH: "## Retain\n- W: Tea.\n"})
    memory.capture()
    done = memory.retain("Coffee.", date="2026-03-01")
    assert "## Sessions" in note(memory)
    assert note(memory).splitlines()[done.line - 1] == "- W: Coffee."
    assert done.line < note(memory).splitlines().index("<!-- memory:begin sessions -->") + 1


def test_it_is_off_until_it_is_asked_for(memory: Federation) -> None:
    Federation(Config(vault=memory.vault.root, **{
        "sessions_tools": ("claude-code",), "sessions_claude_code": memory.config.sessions_claude_code,
    })).capture()  # type: ignore[arg-type]  # fmt: skip
    assert "## Sessions" not in note(memory)


def test_broken_markers_are_left_alone() -> None:
    with pytest.raises(ConflictError):
        compose(PATH, b"<!-- memory:begin sessions -->\n", [ONE], {})
