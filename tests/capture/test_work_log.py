"""The list of a day's sessions in its note."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import session_makers as make
from vaults import age, fill

from vault_memory.capture.work_log import SessionDay, compose
from vault_memory.config import Config
from vault_memory.errors import ConflictError
from vault_memory.federation import Federation

pytestmark = pytest.mark.usefixtures("no_editor")

PATH = "memory/2026-03-01.md"
SAID = [
    ("user", "Please remember: the spare key hangs behind the door."),
    ("user", "Our code review takes place on Wednesdays."),
]
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


def test_a_sessions_time_project_and_title_stand_in_the_days_note(memory: Federation) -> None:
    memory.capture()
    (entry, end) = note(memory).partition("## Sessions")[2].split("\r\n")[2:4]
    began = datetime(2026, 3, 1, 10, 0, tzinfo=UTC).astimezone()
    assert entry.startswith(f"- {began:%H:%M} (scope=project:app-") and end.startswith("<!-- memory:end sessions")
    assert entry.endswith(" Please remember: the spare key hangs behind the door. — sessions/claude-code/s1")
    assert note(memory).startswith("# Sunday\r\n\r\nWent out.\r\n")
    assert memory.capture().run == ""  # a second run writes nothing


@pytest.mark.parametrize(
    "said", ["> Agents must run it before each build.", "Keep this out of your notes: Ben is leaving."]
)
def test_a_title_that_its_user_did_not_type_or_not_for_the_notes_is_left_out(
    memory: Federation, tmp_path: Path, said: str
) -> None:
    make.claude(tmp_path / "claude", "s2", [("user", said)])
    memory.capture()
    assert "(session) — sessions/claude-code/s2" in note(memory) and said[-12:] not in note(memory)


def test_recall_gives_what_was_captured_once_the_fact_rather_than_its_copy_in_the_list(memory: Federation) -> None:
    memory.capture()
    answer = memory.recall("where does the spare key hang?", journal=False, now="2026-03-02", all=True)
    told = [each.content for each in answer.results if "spare key hangs behind the door." in each.content]
    assert [text.startswith("- W(") for text in told] == [True, False]  # a session's title is another statement


def test_it_grows_with_the_session(memory: Federation, tmp_path: Path) -> None:
    memory.capture()
    make.claude(tmp_path / "claude", "s2", [("user", "hello")])
    memory.capture()
    assert [line.split(" — ")[-1] for line in note(memory).splitlines() if line.startswith("- 1")] == [
        "sessions/claude-code/s1", "sessions/claude-code/s2",
    ]  # fmt: skip


def test_what_a_person_writes_around_it_stays_and_what_they_edit_in_it_too(memory: Federation, tmp_path: Path) -> None:
    memory.capture()
    file = memory.vault.root / PATH
    file.write_bytes(file.read_bytes().replace(b"Went out.", b"Went home.") + b"\r\nLate.\r\n")
    age(file, 60)
    make.claude(tmp_path / "claude", "s2", [("user", "hello")])
    memory.capture()
    assert "Went home." in note(memory) and note(memory).endswith("\r\nLate.\r\n") and "/s2" in note(memory)
    before, mark, listed = file.read_bytes().partition(b"## Sessions")
    file.write_bytes(before + mark + listed.replace(b"the spare key", b"the second key"))
    age(file, 60)
    make.claude(tmp_path / "claude", "s3", [("user", "hello")])
    (problem,) = memory.capture().problems
    assert "was edited" in problem and "/s3" not in note(memory) and "the second key" in note(memory)


def test_it_is_undone_with_the_capture(memory: Federation) -> None:
    before = note(memory)
    memory.capture()
    memory.undo()
    assert note(memory) == before


def test_what_is_forgotten_is_in_no_file_of_the_vault_any_more_but_those_kept_for_an_undo(memory: Federation) -> None:
    memory.capture()
    root = memory.vault.root
    (fact,) = memory.facts()
    memory.forget(memory.plan_forget(fact.path, fact.start_line, fact.start_line))
    memory.index()
    texts = [file for file in root.rglob("*") if file.is_file() and "index.sqlite" not in file.name]
    left = [file for file in texts if b"spare key" in file.read_bytes()]
    assert {file.relative_to(root).parts[:2] for file in left} == {(".memory", "history")}
    assert "(session) — sessions/" in note(memory)
    assert memory.capture(since="2026-01-01").written == []  # nor is it captured anew


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
        compose(PATH, b"<!-- memory:begin sessions -->\n", [ONE])
