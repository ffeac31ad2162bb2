"""verdicts.py: what people said to pages holds in later runs, after a rebuild, and where only the journal came."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from reflecting import block, reflected, rewrite, texts
from vaults import fill, memory, opened, put, run

from vault_memory.reflect import user_feedback

LIKES, SINGS = "Prefers letters to calls", "Sings in the choir of Kallö"
LOGS = {
    "memory/2025-11-03.md": f"## Retain\n- O(c=0.9) @Mara: {LIKES}.\n- W @Mara: {SINGS}.\n",
    "memory/2025-11-05.md": "## Retain\n- W @Mara: Bought a piano from Bergen.\n- W @Odd: Now lives in Oslo.\n",
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


def journals(root: Path) -> list[dict[str, object]]:
    files = sorted((root / ".memory/journal").glob("*.jsonl"))
    return [json.loads(one) for file in files for one in file.read_text().splitlines()]


def without_index(root: Path) -> None:
    for file in (root / ".memory").glob("index.sqlite*"):
        file.unlink()


def on_another_device(root: Path, target: Path, *, pages: bool) -> Path:
    """The notes and the journals as a sync brings them: no index, nothing that reflect keeps for itself."""
    shutil.copytree(root, target, ignore=shutil.ignore_patterns(".memory", *([] if pages else ["bank"])))
    for file in (root / ".memory/journal").glob("*.jsonl"):
        put(target, f".memory/journal/{file.name}", file.read_bytes())
    return target


# --- lines that were deleted ------------------------------------------------------------------------------------------


def test_a_deleted_line_stays_away_whatever_becomes_of_index_and_page(root: Path, tmp_path: Path) -> None:
    delete(root, MARA, SINGS)
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
        assert SINGS not in (there / MARA).read_text("utf-8")
        assert "Learns to sail" in (there / MARA).read_text("utf-8")
    assert SINGS in (root / "bank/world.md").read_text("utf-8"), "from one page, not from all"


def test_a_reworded_line_is_no_deletion(root: Path, tmp_path: Path) -> None:
    rewrite(root, MARA, SINGS, "Sings the alto in Kallö")
    reflected(root)
    put(root, "memory/2025-11-08.md", "## Retain\n- W @Mara: Learns to sail.\n")
    for there in (root, on_another_device(root, tmp_path / "there", pages=True)):
        reflected(there)
        said = (there / MARA).read_text("utf-8")
        assert ("Sings the alto" in said, SINGS in said, "Learns to sail" in said) == (True, False, True)
        assert not (there / ".memory/journal").exists() or not [one for one in journals(there) if "names" in one]
    alone = on_another_device(root, tmp_path / "alone", pages=False)
    reflected(alone)
    assert SINGS in (alone / MARA).read_text("utf-8")


def test_a_line_reworded_and_then_deleted_stays_away(root: Path, tmp_path: Path) -> None:
    rewrite(root, MARA, SINGS, "Sings the alto in Kallö")
    reflected(root)
    delete(root, MARA, "Sings the alto in Kallö")
    reflected(root)
    alone = on_another_device(root, tmp_path / "alone", pages=False)
    reflected(alone)
    assert SINGS not in (alone / MARA).read_text("utf-8")


TOGETHER = "memory/2025-11-07.md"
NETS, BREAD = "Mends torn herring nets, old sails, long ropes", "Bakes dark rye bread, cinnamon buns, almond cakes"


def grouped(root: Path, *facts: str) -> str:
    """A day with short facts about one person, and the page's lines that tell of it."""
    put(root, TOGETHER, "## Retain\n" + "".join(f"- W @Mara: {fact}.\n" for fact in facts))
    reflected(root)
    return "\n".join(one for one in (root / MARA).read_text("utf-8").splitlines() if "[[2025-11-07]]" in one)


def test_facts_told_together_and_a_third_of_their_day(root: Path) -> None:
    line = grouped(root, NETS, BREAD)
    assert line.endswith(f"{BREAD}; {NETS} — [[2025-11-07]] L3, L2"), "told on one line"
    rewrite(root, MARA, line + "\n", "")
    assert grouped(root, NETS, BREAD) == ""
    for facts in ((NETS, BREAD, "Owns a dog"), ("Owns a dog", NETS, BREAD)):
        told = grouped(root, *facts)
        assert ("Owns a dog" in told, "nets" in told, "bread" in told) == (True, False, False)


def test_facts_told_together_and_reworded_keep_up_with_a_third(root: Path) -> None:
    line = grouped(root, NETS, BREAD)
    rewrite(root, MARA, line, "- Handy with nets and dough — [[2025-11-07]] L2, L3")
    for facts in ((NETS, BREAD), ("Owns a dog", NETS, BREAD)):
        told = grouped(root, *facts)
        assert told.count("Handy with nets and dough") == 1
        assert ("Owns a dog" in told, NETS in told, BREAD in told) == ("Owns a dog" in facts, False, False)
    grouped(root, "Owns a dog")
    assert "Handy with nets" in (root / MARA).read_text("utf-8"), "theirs, though nothing bears it out any more"


def test_a_fact_deleted_alone_stays_away_in_company(root: Path) -> None:
    line = grouped(root, NETS)
    rewrite(root, MARA, line + "\n", "")
    assert grouped(root, NETS) == ""
    told = grouped(root, NETS, BREAD)
    assert ("nets" in told, told.endswith(f"{BREAD} — [[2025-11-07]] L3")) == (False, True)
    assert f"{NETS}; {BREAD}" in (root / "bank/world.md").read_text("utf-8"), "from one page, not from all"


def test_without_the_journal_it_would_come_back(root: Path) -> None:
    delete(root, MARA, SINGS)
    reflected(root)
    without_index(root)
    shutil.rmtree(root / ".memory/journal")
    put(root, "memory/2025-11-08.md", "## Retain\n- W @Mara: Learns to sail.\n")
    reflected(root)
    assert SINGS in (root / MARA).read_text("utf-8")


# --- numbers that were given by hand ----------------------------------------------------------------------------------


def give(root: Path, number: str) -> None:
    old = line(root, OPINIONS, LIKES)
    rewrite(root, OPINIONS, old, old.replace("**.90**", f"**{number}**"))


def held(root: Path) -> float:
    """The confidence on the page of the entity, which follows the facts."""
    return float(line(root, MARA, LIKES).removeprefix("- **").partition("**")[0])


def test_a_number_given_by_hand_is_the_prior_from_then_on(root: Path, tmp_path: Path) -> None:
    give(root, ".40")
    reflected(root)
    assert (held(root), "**.40**" in line(root, OPINIONS, LIKES)) == (0.4, True)
    assert [one["value"] for one in journals(root) if one["event"] == "given"] == [0.4]
    assert reflected(root).edits == ()
    assert len([one for one in journals(root) if one["event"] == "given"]) == 1
    without_index(root)
    assert reflected(root).edits == ()
    for pages in (True, False):
        there = on_another_device(root, tmp_path / f"pages {pages}", pages=pages)
        reflected(there)
        assert held(there) == 0.4
        if pages:
            assert "**.40**" in line(there, OPINIONS, LIKES)


def test_an_opinion_with_a_number_by_hand_returns_with_it_when_its_page_is_lost(root: Path, tmp_path: Path) -> None:
    give(root, ".40")
    reflected(root)
    there = on_another_device(root, tmp_path / "there", pages=False)
    reflected(there)
    assert line(there, OPINIONS, LIKES).startswith("- **.40** ")


def test_only_facts_of_later_days_move_it(root: Path) -> None:
    give(root, ".40")
    reflected(root, "2025-12-10")
    put(root, "memory/2025-11-09.md", f"## Retain\n- O(c=0.98) @Mara: {LIKES}.\n- W @Mara: {LIKES}!\n")
    reflected(root, "2025-12-11")
    assert held(root) == 0.4
    put(root, "memory/2025-12-11.md", f"## Retain\n- O(c=0.98) @Mara: {LIKES}.\n")
    reflected(root, "2025-12-12")
    assert 0.4 < held(root) <= 0.5
    assert "**.50**" in line(root, OPINIONS, LIKES)


def test_a_number_that_was_heard_keeps_its_day(root: Path) -> None:
    give(root, ".40")
    for day in ("2025-12-10", "2025-12-15"):
        reflected(root, day, only=("entities",))
    reflected(root, "2025-12-20")
    assert [one["day"] for one in journals(root) if one["event"] == "given"] == ["2025-12-10"]
    with opened(memory(root)) as store:
        (given,) = user_feedback.read(store).given.values()
    assert (given.confidence, given.day) == (0.4, date(2025, 12, 10))


def test_a_number_changed_again_is_heard_again(root: Path) -> None:
    give(root, ".40")
    reflected(root)
    old = line(root, OPINIONS, LIKES)
    rewrite(root, OPINIONS, old, old.replace("**.40**", "**.65**"))
    reflected(root)
    assert held(root) == 0.65


@pytest.mark.parametrize("number", ["1.40", "high", ""])
def test_what_is_no_confidence_is_an_edit_like_any_other(root: Path, number: str) -> None:
    give(root, number)
    reflected(root)
    assert held(root) == 0.9
    assert not [one for one in journals(root) if one["event"] == "given"]
    assert f"**{number}**" in line(root, OPINIONS, LIKES)


def test_words_changed_beside_the_number_give_none(root: Path) -> None:
    rewrite(root, OPINIONS, LIKES, "Likes letters more than calls")
    reflected(root)
    assert not [one for one in journals(root) if one["event"] == "given"]
    assert "Likes letters more than calls" in (root / OPINIONS).read_text("utf-8")


def test_a_dry_run_hears_nothing_for_good(root: Path) -> None:
    give(root, ".40")
    delete(root, MARA, SINGS)
    before = texts(root)
    reflected(root, dry_run=True)
    assert texts(root) == before
    assert not (root / ".memory/journal").exists() or journals(root) == []


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
        said = user_feedback.read(store)
    assert (said.given, said.refused, dict(said.deleted)) == ({}, set(), {})


def test_status_still_works_with_verdicts(root: Path) -> None:
    delete(root, MARA, SINGS)
    reflected(root)
    assert run(root, "status").returncode == 0
    assert block(texts(root)[MARA])
