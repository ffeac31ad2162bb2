"""What people said to pages holds in later runs, after a rebuild, and where only the journal came."""

import shutil
from datetime import date
from pathlib import Path

import pytest
from reflecting import NOW, journal_lines, reflected, rewrite, texts, without_index
from sample import call
from vaults import fill, memory, opened, put

from vault_memory.reflect import user_feedback

LIKES, SINGS = "Prefers letters to calls", "Sings in the choir of Kallö"
PIANO = "Bought a piano from Bergen"
LOGS = {
    "memory/2025-11-03.md": f"## Retain\n- O(c=0.9) @Mara: {LIKES}.\n- W @Mara: {SINGS}.\n",
    "memory/2025-11-05.md": f"## Retain\n- W @Mara: {PIANO}.\n- W @Odd: Now lives in Oslo.\n",
    "memory/2025-11-06.md": "## Retain\n- W @Odd: Sails on Fridays.\n- W @Mara: Has a cousin in Lund.\n",
}
MARA, OPINIONS = "bank/entities/Mara.md", "bank/opinions.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = fill(tmp_path / "v", LOGS)
    reflected(made)
    return made


def line(root: Path, path: str, words: str) -> str:
    return next(one for one in (root / path).read_text("utf-8").splitlines() if words in one)


def delete(root: Path, path: str, words: str) -> None:
    rewrite(root, path, line(root, path, words) + "\n", "")


def on_another_device(root: Path, target: Path, *, pages: bool) -> Path:
    """The notes and the journals as a sync brings them: no index, nothing that reflect keeps for itself."""
    shutil.copytree(root, target, ignore=shutil.ignore_patterns(".memory", *([] if pages else ["bank"])))
    for file in (root / ".memory/journal").glob("*.jsonl"):
        put(target, f".memory/journal/{file.name}", file.read_bytes())
    return target


# --- lines that were deleted ------------------------------------------------------------------------------------------


def test_a_deleted_or_reworded_line_stays_away_whatever_becomes_of_index_and_page(root: Path, tmp_path: Path) -> None:
    delete(root, MARA, SINGS)
    rewrite(root, MARA, line(root, MARA, PIANO), "- Plays at home.")
    reflected(root)
    assert SINGS not in (root / MARA).read_text("utf-8")
    put(root, "memory/2025-11-08.md", "## Retain\n- W @Mara: Learns to sail.\n")
    reflected(root)
    assert "Learns to sail" in (root / MARA).read_text("utf-8")
    assert SINGS not in (root / MARA).read_text("utf-8")
    without_index(root)
    assert reflected(root).edits == ()
    for pages in (True, False):
        there = on_another_device(root, tmp_path / f"pages {pages}", pages=pages)
        reflected(there)
        assert not [words for words in (SINGS, PIANO) if words in (there / MARA).read_text("utf-8")]
        assert pages == ("Plays at home." in (there / MARA).read_text("utf-8"))
        assert "Learns to sail" in (there / MARA).read_text("utf-8")
    assert SINGS in (root / "bank/world.md").read_text("utf-8"), "from one page, not from all"


# --- numbers that were given by hand ----------------------------------------------------------------------------------


def give(root: Path, number: str, page: str = OPINIONS) -> None:
    old = line(root, page, LIKES)
    rewrite(root, page, old, old.replace("**.90**", f"**{number}**"))


def held(root: Path) -> float:
    """The confidence on the page of the entity, which follows the facts."""
    return float(line(root, MARA, LIKES).removeprefix("- **").partition("**")[0])


@pytest.mark.parametrize(("page", "number"), [(MARA, ".95"), (OPINIONS, "95%")])
def test_a_number_is_heard_on_every_page_that_tells_the_opinion(root: Path, page: str, number: str) -> None:
    give(root, number, page)
    reflected(root)
    for path in (MARA, OPINIONS):
        assert line(root, path, LIKES).startswith("- **.95**")
    assert reflected(root).edits == ()


def test_a_number_given_by_hand_is_the_prior_from_then_on(root: Path, tmp_path: Path) -> None:
    give(root, ".40")
    reflected(root)
    assert (held(root), "**.40**" in line(root, OPINIONS, LIKES)) == (0.4, True)
    assert [one["value"] for one in journal_lines(root, "given")] == [0.4]
    assert reflected(root).edits == ()
    assert len(journal_lines(root, "given")) == 1
    without_index(root)
    assert reflected(root).edits == ()
    for pages in (True, False):
        there = on_another_device(root, tmp_path / f"pages {pages}", pages=pages)
        reflected(there)
        assert held(there) == 0.4
        if pages:
            assert "**.40**" in line(there, OPINIONS, LIKES)


@pytest.mark.parametrize("number", ["1.5", "101%", "high", ""])
def test_one_that_is_no_number_stays_and_counts_for_nothing(root: Path, number: str) -> None:
    give(root, number)
    assert "between 0 and 1 and is ignored." in call("--vault", str(root), "reflect", "--now", NOW).out
    assert f"- **{number}** {LIKES}" in line(root, OPINIONS, LIKES)
    assert held(root) == 0.9
    assert reflected(root).odd == ()


def test_a_dry_run_hears_nothing_for_good(root: Path) -> None:
    give(root, ".40")
    delete(root, MARA, SINGS)
    before = texts(root)
    reflected(root, dry_run=True)
    assert texts(root) == before
    assert journal_lines(root) == []


def test_lines_that_are_damaged_or_of_other_programs_are_passed_over(root: Path) -> None:
    put(
        root,
        ".memory/journal/other.jsonl",
        '{"event":"given","day":"2025-11-09","at":"2025-11-09T08:00:00+00:00","about":"","names":["x"],"value":7}\n'
        '{"event":"deleted","day":"2025-11-09","at":"2025-11-09T08:00:00+00:00","about":"bank/world.md","names":[7]}\n'
        '{"event":"refused"}\n{"event":"wished","names":["x"]}\nnot json\n',
    )
    assert reflected(root).edits == ()
    with opened(memory(root)) as store:
        said = user_feedback.read(store, date(2025, 12, 10))
    assert (said.given, said.refused, dict(said.deleted)) == ({}, set(), {})
