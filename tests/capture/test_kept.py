"""What is kept and by whom, and what the journal tells."""

from pathlib import Path

import pytest
from vaults import fill, memory

from vault_memory.errors import UsageError

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


def test_a_wrong_kind_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="kind"):
        memory(fill(tmp_path / "Notes", NOTES)).facts(kinds=["Z"])


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
