"""What is kept and by whom, and what the journal tells."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hooks import hooked, recorded
from vaults import fill, memory

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


SAID = "# Day\n\n- woke up late\n- signed the lease for the Bergen office, 1,200 a month from 1 March\n- soup\n"


def test_the_journal_of_all_devices_tells_what_became_of_a_proposal_without_its_words(
    tmp_path: Path, tmp_data: Path
) -> None:
    of = memory(fill(tmp_path / "Notes", NOTES | {"memory/2026-03-02.md": SAID}))
    of.recall("where does Bob live?")
    of.capture()
    of.capture(no=[of.proposals()[0].name])
    hooked(of.vault.root, "SessionEnd", recorded("SessionEnd", "s1"))
    of.forget(of.plan_forget("memory/2026-03-01.md", 2, 2))
    journal = of.vault.root / ".memory" / "journal"
    for file in list(journal.iterdir()):
        file.rename(journal / file.name.replace(locations.device_id(), "other"))
    found = of.journal()
    assert {entry.device for entry in found} == {"other"}
    told = [line[18:] for line in journal_text(found, 1).splitlines()]
    assert told[1:4] == [
        "session ended      sessions/claude-code/s1",
        "refused            memory/2026-03-02.md#L4",
        "proposed           memory/2026-03-02.md#L4",
    ]
    assert told[0].startswith("forgotten") and told[4].startswith("asked              memory/")
    assert "lease" not in "".join(file.read_text() for file in journal.iterdir())


def test_the_journal_says_what_was_undone(tmp_path: Path, tmp_data: Path) -> None:
    of = memory(fill(tmp_path / "Notes", NOTES | {"memory/2026-03-02.md": SAID}))
    of.recall("zxqwv", budget=5)
    note_verdicts(of.vault.root, "ticked", ["1a2b3c4d"], datetime.now(UTC), "0123456789abcdef 0123456789abcdef")
    of.capture()
    of.capture(no=[of.proposals()[0].name])
    assert "undone" not in journal_text(of.journal(), 1)
    of.undo()
    said = [re.sub(r" +", " ", line[18:]) for line in journal_text(of.journal(), 1).splitlines()]
    assert said[0] == "undone memory/2026-03-02.md#L4"
    assert "ticked (a proposal of reflect)" in said
