"""What is kept and by whom, and what the journal tells."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hooks import hooked, recorded
from vaults import fill, memory

from vault_memory.capture.admission import Gating
from vault_memory.errors import UsageError
from vault_memory.rendering.capture import facts_text, journal_text
from vault_memory.store.journal import note_verdicts
from vault_memory.vault import locations

NOTES = {
    "memory/2026-03-01.md": "## Retain\n- W @Bob: Lives in Leipzig.\n- O(c=0.9, by=agent:moss) @Ann: Prefers tea.\n",
    "memory/2026-03-09.md": "## Retain\n- B(by=web) @Bob: Won a prize.\n",
}


@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        ({}, ["Won a prize.", "Lives in Leipzig.", "Prefers tea."]),
        ({"entity": "Bob"}, ["Won a prize.", "Lives in Leipzig."]),
        ({"kinds": ["O"]}, ["Prefers tea."]),
        ({"since": "2026-03-05"}, ["Won a prize."]),
        ({"by": "agent"}, ["Prefers tea."]),
        ({"by": "agent:moss"}, ["Prefers tea."]),
        ({"by": "person"}, ["Lives in Leipzig."]),
        ({"by": "web", "entity": "Ann"}, []),
    ],
)
def test_facts_are_listed_newest_first_by_what_is_asked(tmp_path: Path, wanted: dict, texts: list[str]) -> None:
    assert [fact.text for fact in memory(fill(tmp_path / "Notes", NOTES)).facts(**wanted)] == texts


def test_a_fact_that_a_newer_one_replaces_is_marked(tmp_path: Path) -> None:
    newer = {"memory/2026-03-05.md": "## Retain\n- W @Bob: Lives in Oslo.\n"}
    found = memory(fill(tmp_path / "Notes", NOTES | newer)).facts(entity="Bob", kinds=["W"])
    assert [fact.superseded_by for fact in found] == [None, "memory/2026-03-05.md#L2"]
    assert facts_text(found).endswith("(memory/2026-03-01.md#L2) ← older; see 2026-03-05#L2")


def test_a_wrong_kind_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="kind"):
        memory(fill(tmp_path / "Notes", NOTES)).facts(kinds=["Z"])


def test_an_unknown_teller_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`martian` does not say who"):
        memory(fill(tmp_path / "Notes", NOTES)).facts(by="martian")


def test_the_journal_tells_of_recalls_captures_and_forgetting_without_forgotten_words(tmp_path: Path) -> None:
    notes = NOTES | {"memory/2026-03-02.md": "Remember: the gate code changes every week.\n"}
    of = memory(fill(tmp_path / "Notes", notes))
    of.recall("where does Bob live?")
    of.capture()
    of.forget(of.plan_forget("memory/2026-03-01.md", 2, 2))
    found = {entry.event: entry for entry in of.journal()}
    assert "memory/2026-03-01.md#L2" in found["recall"].about
    assert "The gate code changes every week." in found["proposed"].text
    assert found["tombstone"].about == ("memory/2026-03-01.md#L2",)
    assert not found["tombstone"].text


def test_the_journal_of_all_devices_is_readable_and_tells_why_something_was_left_out(
    tmp_path: Path, tmp_data: Path
) -> None:
    notes = NOTES | {"memory/2026-03-02.md": "Bob owns the billing module.\nBob lives in Leipzig.\n"}
    of = memory(fill(tmp_path / "Notes", notes))
    of.recall("where does Bob live?")
    of.capture()
    of.capture(no=[of.proposals()[0].name])
    hooked(of.vault.root, "SessionEnd", recorded("SessionEnd", "s1"))
    assert of.capture().proposed == 0
    journal = of.vault.root / ".memory" / "journal"
    recalls, captures = sorted(journal.iterdir(), key=lambda file: len(file.name))
    captures.rename(journal / "other.captures.jsonl")
    recalls.rename(journal / "other.jsonl")
    of.recall("who is Ann?")
    found = of.journal()
    assert {entry.device for entry in found} == {"other", locations.device_id()}
    text = re.sub(r"gate 0\.\d\d", "gate .", journal_text(found, 1))
    asked, *told, asked_first = [line[18:] for line in text.splitlines()]
    assert asked.startswith("asked              memory/") and asked_first.startswith("asked              memory/")
    assert told == [
        "session ended      sessions/claude-code/s1",
        "refused            W @Bob: Bob owns the billing module. — memory/2026-03-02.md#L1",
        "proposed           W @Bob: Bob owns the billing module. — memory/2026-03-02.md#L1  (gate .)",
        "left out           memory/2026-03-02.md#L2  (known; gate .)",
    ]
    (proposed,) = [entry for entry in found if entry.event == "proposed"]
    assert set(proposed.signals) == set(Gating._fields)


def test_the_journal_says_that_words_are_forgotten_only_if_they_are_and_what_was_undone(
    tmp_path: Path, tmp_data: Path
) -> None:
    of = memory(fill(tmp_path / "Notes", NOTES | {"memory/2026-03-02.md": "Bob owns the billing module.\n"}))
    of.recall("zxqwv", budget=5)
    note_verdicts(of.vault.root, "ticked", ["1a2b3c4d"], datetime.now(UTC), "0123456789abcdef 0123456789abcdef")
    of.capture()
    of.capture(no=[of.proposals()[0].name])
    assert "undone" not in journal_text(of.journal(), 1)
    of.undo()
    said = [re.sub(r" +", " ", line[18:]) for line in journal_text(of.journal(), 1).splitlines()]
    assert said[0] == "undone W @Bob: Bob owns the billing module. — memory/2026-03-02.md#L1"
    assert "asked (without a result)" in said and "ticked (a proposal of reflect)" in said
    assert "forgotten" not in " ".join(said)
