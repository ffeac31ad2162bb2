"""What a person is told of a reflect, and the `reflect@1` document."""

from typing import Any

import pytest

from vault_memory.reflect.core_proposals import ProposalCounts
from vault_memory.reflect.edit_plan import Edit, FactChanges, PageProblem
from vault_memory.reflect.generated_blocks import PageLine
from vault_memory.reflect.job import ReflectReport
from vault_memory.reflect.opinion_page import Move
from vault_memory.rendering.reflect import reflect_text


def edit(path: str, why: str = "2 facts new", *, is_new: bool = False, **more: Any) -> Edit:
    return Edit(path, None if is_new else b"before\n", b"after\n", why, **more)


def told(*edits: Edit, **more: Any) -> list[str]:
    verbose = more.pop("verbose", False)
    return reflect_text(ReflectReport(edits, facts=9, **more), verbose).split("\n")


def move(before: float | None, after: float | None, why: str = "because", words: str = "The sea is cold") -> Move:
    return Move(words, before, after, why)


def test_opinions_say_where_they_went_and_why() -> None:
    page = edit("bank/opinions.md", "2 opinions moved, 1 new, 1 gone")
    found = told(page, moves=(move(0.85, 0.7), move(0.5, 0.6), move(None, 0.9), move(0.4, None)))
    assert found[0] == "1 page updated, 2 opinions moved."
    assert found[2:] == [
        "Opinions",
        '  ↓ "The sea is cold" .85 → .70:', "    because",
        '  ↑ "The sea is cold" .50 → .60:', "    because",
        '  + "The sea is cold" .90',
        '  - "The sea is cold" .40:', "    because",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("proposed", "said"),
    [
        (ProposalCounts(1, 3), "1 proposal for memory.md: tick it in bank/proposals.md."),
        (ProposalCounts(0, 1), "Nothing proposed for memory.md: 1 opinion below .85."),
        (ProposalCounts(0, 0),
         "Nothing proposed for memory.md: nothing new is certain or important enough yet."),
        (ProposalCounts(2, 0), "2 proposals for memory.md: tick them in bank/proposals.md."),
    ],
)  # fmt: skip
def test_proposals_or_what_kept_them_back(proposed: ProposalCounts, said: str) -> None:
    assert " ".join(line.strip() for line in told(edit("bank/world.md"), proposed=proposed)[2:]) == said


def test_what_stands_nowhere_is_said() -> None:
    folded = edit("bank/world.md", change=FactChanges(new=1, folded=2))
    untold = {"bank/summaries/2025-W40.md": "Week 40 has 2 facts.", "bank/summaries/2025-W41.md": "Week 41 has 1 fact."}
    found = told(folded, left_out={"private": 2, "forgotten": 1}, untold=untold)
    assert found[2:] == [
        "Left out: 2 private and 1 forgotten facts.",
        "2 older facts on 1 page are now only counted.",
        "Skipped 2 weeks with too little to summarise (-v for details).",
    ]
    assert told(folded, untold=untold, verbose=True)[-2:] == list(untold.values())
    one = edit("bank/world.md", change=FactChanges(new=1, folded=1))
    assert "1 older fact on 1 page is now only counted." in told(one)


def test_a_run_with_nothing_to_do_is_one_line() -> None:
    untold, private = {"bank/summaries/2025-W40.md": "Week 40 has 2 facts."}, {"private": 2}
    assert told(unchanged=26, untold=untold, left_out=private) == ["Nothing new: 26 pages already up to date."]
    assert told(unchanged=1, proposed=ProposalCounts(1, 0)) == [
        "Nothing new: 1 page already up to date. 1 proposal for memory.md waits in", "  bank/proposals.md."
    ]  # fmt: skip
    assert told() == ["Nothing new to write."]
    assert reflect_text(ReflectReport(())).startswith("Nothing to write yet: no note holds a fact.")


def test_what_was_not_written_and_what_is_left_of_a_person_is_said_each_time() -> None:
    skipped = PageProblem("bank/world.md", "bank/world.md is not UTF-8.", "Save it as UTF-8.", 5)
    assert told(skipped=(skipped,)) == ["Nothing was written.", "  ! bank/world.md is not UTF-8. Save it as UTF-8."]
    found = told(unchanged=1, orphaned=tuple(PageLine("bank/world.md", f"- mine {n}") for n in range(5)))
    assert found[1] == '  ! bank/world.md: no note supports your line "- mine 0" any more. Keep or delete it.'
    assert found[4:] == ["    … and 2 more lines like that (-v lists them)"]


def test_what_a_note_says_moves_no_cursor() -> None:
    page = edit("bank/\x1b[2J.md", "why\x1b[2J")
    assert "\x1b" not in "\n".join(
        told(page, moves=(move(0.5, 0.6, "why\x1b[2J", "a\x1b[2J"), move(0.5, None, "\x07")))
    )
