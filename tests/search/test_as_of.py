"""`--as-of`: what had been written by a day, with a real git and a real journal."""

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import asking
import pytest
from sample import call
from vaults import fill, put

from vault_memory.config import Config
from vault_memory.memory import Memory
from vault_memory.search.answer import Answer
from vault_memory.store import journal
from vault_memory.store.view import Filters
from vault_memory.vault.undo_history import UndoHistory

D = date(2025, 10, 20)
NOTES = {"memory/2025-10-01.md": "The heron stood by the weir.\n", "memory/2025-11-01.md": "The heron left the weir.\n"}


def ask(root: Path, query: str, as_of: date | None = D) -> Answer:
    return asking.ask(Memory(Config(vault=root)), query, filters=Filters(as_of=as_of))


def asked(root: Path, query: str, day: date) -> None:
    """Write down that this was asked on a day, and what it was answered."""
    cited = [journal.CitedPassage(result.source, result.key) for result in ask(root, query, None).results]
    journal.note_recall(root, query, datetime(day.year, day.month, day.day, 12, tzinfo=UTC), cited)


def texts(answer: Answer) -> set[str]:
    return {line.strip() for result in answer.results for line in result.content.split("\n")}


def repository(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True, capture_output=True)


def commit(root: Path, day: str) -> None:
    dates = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["add", "-A", "--", ":!.memory"], [*who, "commit", "-qm", "save"]):
        subprocess.run(["git", *command], cwd=root, env=os.environ | dates, check=True, capture_output=True)


def saved(root: Path, day: str, notes: Mapping[str, str | bytes]) -> None:
    """Write these notes and commit them as of a day."""
    fill(root, notes)
    commit(root, day)


@pytest.fixture
def versioned(tmp_path: Path) -> Path:
    """A vault whose undated note has one line of 1 October and one of 15 November."""
    repository(tmp_path)
    saved(tmp_path, "2025-10-01", NOTES | {"Birds.md": "A heron eats eels.\n"})
    saved(tmp_path, "2025-11-15", {"Birds.md": "A heron eats eels.\n\nA heron nests in March.\n"})
    return tmp_path


def test_notes_dated_later_are_out_but_not_what_was_told_of_later_days(tmp_path: Path) -> None:
    fact = "## Retain\n- W(t=2025-12-24) @Mara: Mara sails home at Christmas.\n"
    fill(tmp_path, NOTES | {"memory/2025-10-02.md": fact})
    assert ask(tmp_path, "when does Mara sail").results
    heron = {"The heron stood by the weir.", "The heron left the weir."}
    assert texts(ask(tmp_path, "heron")) & heron == {"The heron stood by the weir."}
    assert texts(ask(tmp_path, "heron", None)) >= heron


def test_lines_git_knows_to_be_later_are_out(versioned: Path) -> None:
    answer = ask(versioned, "heron")
    assert texts(answer) == {"The heron stood by the weir.", "A heron eats eels."}
    assert answer.omitted["later"] == 1
    assert "as-of" not in dict(answer.degraded)
    assert "later" not in ask(versioned, "heron", None).omitted


def test_a_line_git_saw_later_in_a_dated_note_is_out(versioned: Path) -> None:
    saved(versioned, "2025-11-16", {"memory/2025-10-01.md": "The heron stood by the weir.\n\nThe heron was a stork.\n"})
    answer = ask(versioned, "heron")
    assert texts(answer) == {"The heron stood by the weir.", "A heron eats eels."}
    assert "The heron was a stork." in texts(ask(versioned, "heron", date(2025, 11, 17)))


def test_a_line_added_later_is_out_though_an_older_one_begins_with_it(versioned: Path) -> None:
    old = "A stork nests in March and in April.\n"
    saved(versioned, "2025-10-02", {"Nests.md": old})
    saved(versioned, "2025-11-16", {"Nests.md": f"{old}\nA stork nests in March\n"})
    answer = ask(versioned, "stork nests in March")
    assert "A stork nests in March" not in texts(answer)
    assert (answer.omitted["changed"], answer.omitted["later"]) == (0, 1)


def test_a_dated_note_counts_by_its_day_where_git_came_later(versioned: Path) -> None:
    """A log is often committed the next morning, or days after: its first commit does not tell when it was written."""
    saved(versioned, "2025-10-25", {"memory/2025-10-19.md": "The heron slept.\n"})
    saved(versioned, "2025-10-20", {"memory/2025-10-20.md": "The heron woke.\n"})
    saved(versioned, "2025-10-21", {"memory/2025-10-20.md": "The heron woke.\n\nThe heron flew in the evening.\n"})
    found = texts(ask(versioned, "heron"))
    assert {"The heron slept.", "The heron woke.", "The heron flew in the evening."} <= found


def test_what_was_moved_is_as_old_as_it_was(versioned: Path) -> None:
    """CommittedLines put in another order, indented, or split off into a note of their own."""
    lines = [f"Heron {n} has its nest in tree {n * 7}." for n in range(5)]
    saved(versioned, "2025-10-02", {"Nests.md": "\n".join(lines) + "\n"})
    put(versioned, "Nests.md", "\n".join([f"  {lines[2]}", lines[1], lines[0]]) + "\n")
    saved(versioned, "2025-11-20", {"Trees.md": "\n".join(lines[3:]) + "\n"})
    answer = ask(versioned, "heron nest tree")
    assert set(lines) <= texts(answer)
    assert "as-of" not in dict(answer.degraded)


def test_a_line_that_is_not_committed_is_later_than_the_last_commit(versioned: Path) -> None:
    put(versioned, "Birds.md", "A heron eats eels.\n\nA heron nests in April.\n")
    assert "A heron nests in April." not in texts(ask(versioned, "heron"))


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        ("A heron eats eels.\nA narwhal.\n", "narwhal"),  # the same paragraph
        ("A narwhal.\n\nA heron eats eels.\n", "narwhal"),
        ("A heron eats crabs.\n", "crabs"),
        ("Nothing.\n", "Nothing"),
        (None, ""),
    ],
)
def test_what_git_has_not_been_given_is_not_as_old_as_the_last_commit(
    tmp_path: Path, now: str | None, lost: str
) -> None:
    repository(tmp_path)
    saved(tmp_path, "2025-10-01", NOTES | {"Birds.md": "A heron eats eels.\n"})
    put(tmp_path, "Birds.md", now) if now else (tmp_path / "Birds.md").unlink()
    answer = ask(tmp_path, f"eels {lost}")
    assert "A heron eats eels." in texts(answer)
    assert not any(lost in text for text in texts(answer) if lost)
    assert "as-of" not in dict(answer.degraded)


def test_as_of_today_is_now(versioned: Path) -> None:
    put(versioned, "Birds.md", "A heron eats crabs.\n")
    for day in (date.today(), date.today() + timedelta(3)):
        answer = ask(versioned, "heron", day)
        assert "A heron eats crabs." in texts(answer)
        assert not answer.degraded and "A heron eats eels." not in texts(answer)


def test_what_nothing_dates_is_said(tmp_path: Path) -> None:
    fill(tmp_path, NOTES | {"Birds.md": "A heron eats eels.\n"})
    answer = ask(tmp_path, "heron eels")
    assert "A heron eats eels." in texts(answer)
    unknown = "1 result from notes without a day, 1 result by the note's day alone"
    assert dict(answer.degraded)["as-of"] == f"not known to have been written by 2025-10-20: {unknown}"


def test_a_vault_put_under_git_later_is_not_later(tmp_path: Path) -> None:
    """Its first commit says when git came, not when the lines did."""
    repository(tmp_path)
    saved(tmp_path, "2025-11-15", {"Birds.md": "A heron eats eels.\n"})
    answer = ask(tmp_path, "heron")
    assert "A heron eats eels." in texts(answer)
    assert "as-of" in dict(answer.degraded)


def test_the_journal_knew_a_line(tmp_path: Path) -> None:
    fill(tmp_path, {"Birds.md": "A heron eats eels.\n"})
    asked(tmp_path, "what do herons eat", date(2025, 10, 5))
    answer = ask(tmp_path, "heron")
    assert "A heron eats eels." in texts(answer)
    assert "as-of" not in dict(answer.degraded)


@pytest.mark.skipif(sys.platform == "win32", reason="the trap is a shell script")
def test_nothing_the_vault_configures_is_run(versioned: Path) -> None:
    """Law 8: filters, conversions, monitors and hooks of the vault's own .git are left alone."""
    trap = versioned / "trap.sh"
    sprung = versioned / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\ncat\n", "utf-8")
    trap.chmod(0o755)
    put(versioned, ".gitattributes", "*.md filter=trap diff=trap\n")
    keys = (
        "filter.trap.clean", "filter.trap.smudge", "diff.trap.textconv", "diff.trap.command", "core.fsmonitor",
        "diff.external", "core.pager", "pager.blame", "core.sshCommand", "core.editor", "credential.helper",
    )  # fmt: skip
    for key in keys:
        subprocess.run(["git", "config", key, str(trap)], cwd=versioned, check=True)
    hooks = versioned / ".git" / "hooks"
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        (hooks / hook).write_bytes(trap.read_bytes())
        (hooks / hook).chmod(0o755)
    put(versioned, "Birds.md", "A heron eats eels.\n\nA heron nests in March.\n\nA heron sleeps.\n")
    assert not sprung.exists()
    assert ask(versioned, "heron").omitted["later"] == 2
    assert not sprung.exists()
    plain = subprocess.run(["git", "blame", "Birds.md"], cwd=versioned, check=True, capture_output=True)
    assert plain.returncode == 0 and sprung.exists()  # the trap itself works


@pytest.mark.parametrize("text", [b"One heron\rtwo\r", b"heron caf\xe9\n", "heron eel\n".encode("utf-16")])
def test_a_note_of_any_bytes_is_read_as_git_had_it(tmp_path: Path, text: bytes) -> None:
    repository(tmp_path)
    saved(tmp_path, "2025-10-01", {"Old.md": text})
    before = texts(ask(tmp_path, "heron"))
    saved(tmp_path, "2025-11-01", {"Old.md": "Nothing of birds.\n"})
    assert texts(ask(tmp_path, "heron")) == before


def test_a_line_is_told_as_git_had_it_however_it_reads_now(versioned: Path) -> None:
    saved(versioned, "2025-11-20", {"Birds.md": "Storks eat frogs.\n\nThe osprey dives.\n"})
    (result,) = ask(versioned, "what do herons eat?").results[:1]
    assert (result.content, result.source) == ("A heron eats eels.", "Birds.md#L1")
    assert "A heron nests in March." in texts(ask(versioned, "heron nests", date(2025, 11, 16)))


def test_a_note_that_was_deleted_since_is_told_but_nothing_that_was_forgotten(versioned: Path) -> None:
    nests = "The osprey nests at Kallö.\n\n## Retain\n- W @Mara: The heron is called Olga.\n"
    saved(versioned, "2025-10-02", {"Nests.md": nests})
    call("--vault", str(versioned), "forget", "Nests.md#L4", "--yes")
    (versioned / "Nests.md").unlink()
    commit(versioned, "2025-11-20")
    assert "The osprey nests at Kallö." in texts(ask(versioned, "osprey"))
    assert not any("Olga" in text for text in texts(ask(versioned, "what is the heron called")))


def test_without_git_the_kept_history_tells(tmp_path: Path) -> None:
    fill(tmp_path, {"Birds.md": "A heron eats eels.\n"})
    runs = UndoHistory(tmp_path)
    runs.begin("edit").keep("Birds.md", b"A heron eats eels.\n", b"A stork eats frogs.\n")
    put(tmp_path, "Birds.md", "A stork eats frogs.\n")
    answer = ask(tmp_path, "heron", datetime.now(UTC).date() - timedelta(2))
    assert texts(answer) == {"A heron eats eels."}
    assert "1 result from notes without a day" in dict(answer.degraded)["as-of"]


def test_what_nothing_dates_comes_last(tmp_path: Path) -> None:
    fill(tmp_path, NOTES | {"Heron.md": "# Heron\n\nThe heron, the grey heron, is a heron by the weir.\n"})
    days = [result.date for result in ask(tmp_path, "heron by the weir").results]
    assert days == sorted(days, key=lambda day: day is None) and days[0] and days[-1] is None
