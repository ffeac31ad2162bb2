"""Which fact takes the place of which: a labelled table of pairs, both ways, the rules of order, and what is named."""

from datetime import date
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import steps
from vaults import fill, memory

from vault_memory.markdown.claims import claims, date_in, denials, plans
from vault_memory.markdown.facts import facts
from vault_memory.markdown.note import Problem
from vault_memory.markdown.parse import parse
from vault_memory.markdown.supersession import DatedClaim, reordered, successors

DAY = 740_000


def told(key: int, head: str, text: str, day: int, kind: str = "world", since: int | None = None) -> list[DatedClaim]:
    subjects = [head] if head else []
    found = (*claims(kind, subjects, text, date.fromordinal(day)), *denials(kind, subjects, text))
    begins = [since or (claim.start.toordinal() if claim.start else day) for claim in found]
    return [DatedClaim(key, head.casefold(), *each, key, key) for each in zip(found, repeat(day), begins)]


def replaced(head: str, *texts: str) -> dict[int, int]:
    """Which of these facts of one subject, told a month apart, is replaced by which."""
    every = [claim for i, text in enumerate(texts) for claim in told(i, head, text, DAY + 30 * i)]
    return successors(every, DAY + 1000)


REPLACED = [
    ("Peter", "Uses vim.", "Doesn't use vim any more."),
    ("Peter", "Lives in Zurich.", "Lives in Bern."),
    ("Peter", "Peter lives in Malmö.", "Peter moves from Malmö to Lund on 29 November, into the flat above the shop."),
    ("Peter", "Lives in Zurich.", "No longer lives in Zurich."),
    ("Peter", "Peter now lives in Zurich.", "Peter no longer lives in Zurich; he moved to Bern."),
    ("Peter", "Works at Google.", "Does not work at Google any more."),
    ("Peter", "Works at Google.", "Left Google in March."),
    ("Peter", "Lives in Oslo with Max.", "Lives in Bergen."),
    ("Peter", "Works at Fugro in Leiden.", "Works at Google."),
    ("Peter", "Prefers tea.", "Prefers coffee instead of tea."),
    ("Peter", "Prefers tea over coffee.", "Prefers coffee over tea."),
    ("Tern", "Prefers Postgres for the tile index.", "Now prefers SQLite for the tile index."),
    ("Peter", "Uses vim.", "Switched from vim to Helix."),
    ("Peter", "No longer uses vim.", "Uses vim."),
    ("Peter", "Lives in Oslo since 2019.", "Moved to Bergen last month."),
    ("Peter", "Lives at 22 Iona Street, Edinburgh.", "Lives at 5 Leith Walk, Edinburgh."),
    ("Peter", "Lives at 22 Iona Street, Edinburgh.", "Moved to 5 Leith Walk, Edinburgh EH6 8JQ, on 3 May."),
    ("Peter", "Lives in Leipzig, Karl-Heine-Straße 61.", "Lives in Edinburgh, 22 Iona Street."),
    ("Peter", "Lives in Leipzig.", "Lives at 22 Iona Street, Edinburgh."),
    ("Peter", "Lives at 22 Iona Street.", "Lives at 5 Leith Walk."),
]  # fmt: skip

SIMILAR = [
    ("Peter", "Prefers tea.", "Hates tea."),
    ("Peter", "Lives in Zurich.", "Moved from Slack to Teams."),
    ("Flat", "The rent is 1,200.", "The rent is 1,350."),
    ("Peter", "Prefers tea.", "Prefers coffee."),
    ("Peter", "Works at Fugro.", "Left Fugro a message about the tender."),
    ("Peter", "Works at Fugro.", "Left Fugro early today."),
    ("Peter", "Prefers tea for breakfast.", "Now prefers wine for dinner."),
    ("Peter", "His brother lives in Oslo.", "Lives in Bern."),
    ("Peter", "Lives in Bern.", "Lives in Switzerland."),
    ("Peter", "Lives in Edinburgh.", "Lives at 22 Iona Street."),
    ("Peter", "Lives in Edinburgh.", "Lives at Flat 3, 5 Leith Walk."),
    ("Peter", "Lives in Bern.", "Lives at 12 Laupenstrasse, 3008."),
    ("Peter", "Lives at 5 Leith Walk, Edinburgh.", "Lives at 5 Leith Walk, EH6 8LN."),
    ("Peter", "Lives at 22 Iona Street, Edinburgh.", "Lives in Edinburgh, 22 Iona Street."),
    ("Peter", "Lives in Edinburgh.", "Moved to Edinburgh 3 December."),
    ("Peter", "Lives in Bern.", "Lives in Bern, near the station."),
    ("Peter", "Lives in Zurich.", "Lives in Zurich."),
    ("Peter", "Lives in Zurich.", "Wants to move to Bern."),
    ("Peter", "Lives in Zurich.", "Will live in Bern from May."),
    ("Peter", "Lives in Zurich.", "Also lives in Bern in the summer."),
    ("Peter", "Lives in Zurich.", "Moved to the sales team."),
    ("Peter", "Prefers aisle seats.", "Prefers window seats on trains now."),
    ("Peter", "Works at Google.", "Works on Tern."),
    ("Peter", "Uses vim.", "Uses Emacs."),
    ("Peter", "Uses vim.", "Switched from Emacs to Helix."),
    # What holds at times only claims nothing.
    ("Peter", "Uses vim.", "No longer uses vim in the evening."),
    ("Peter", "Prefers coffee.", "Switched from coffee to tea in the evening."),
    ("Peter", "Works at Siemens on Mondays.", "Works at Bosch on Fridays."),
    ("Peter", "Lives in Oslo.", "Lives in Bergen in summer."),
    ("Peter", "Lives in Oslo.", "Lives in the Old Town."),
    ("Peter", "Does not live in Oslo.", "Does not live in Bern."),
]  # fmt: skip


@pytest.mark.parametrize(("head", "older", "newer"), REPLACED)
def test_a_newer_claim_takes_the_place_of_the_older(head: str, older: str, newer: str) -> None:
    assert replaced(head, older, newer) == {0: 1}


@pytest.mark.parametrize(("head", "older", "newer"), SIMILAR)
def test_what_is_only_similar_stays(head: str, older: str, newer: str) -> None:
    assert replaced(head, older, newer) == {}
    assert replaced(head, newer, older) == {}


@pytest.mark.parametrize(
    ("older", "newer"),
    [("Lives in Zurich and has two cats.", "Lives in Bern."), ("Lives in Zurich. Has two cats.", "Lives in Bern.")],
)
def test_a_fact_that_says_more_is_never_retired(older: str, newer: str) -> None:
    assert replaced("Peter", older, newer) == {}


def test_the_newest_is_named() -> None:
    texts = ("Lives in Zurich.", "Lives in Bern.", "Lives in Basel.")
    assert replaced("Peter", *texts) == {0: 2, 1: 2}


def test_what_was_said_again_since_holds() -> None:
    assert replaced("Peter", "Lives in Zurich.", "Lives in Bern.", "Lives in Zurich again.") == {1: 2}


def test_an_experience_ends_a_claim_but_is_none() -> None:
    moved = told(2, "Peter", "Switched from vim to Helix.", DAY + 9, "experience")
    assert successors([*told(1, "Peter", "Uses vim.", DAY), *moved], DAY + 99) == {1: 2}
    assert told(3, "Peter", "Uses vim.", DAY, "experience") == []


def test_what_holds_later_replaces_nothing_yet() -> None:
    pair = [*told(1, "Peter", "Lives in Malmö.", DAY), *told(2, "Peter", "Moves to Lund.", DAY + 5, since=DAY + 20)]
    assert successors(pair, DAY + 19) == {}
    assert successors(pair, DAY + 20) == {1: 2}


@pytest.mark.parametrize("newer", ["Lives in Bern from 2030.", "Lives in Bern from May 2030."])
def test_what_a_sentence_says_to_begin_later_counts_from_then(newer: str) -> None:
    begins = date(2030, 5 if "May" in newer else 1, 1).toordinal()
    pair = [*told(1, "Peter", "Lives in Lund.", DAY), *told(2, "Peter", newer, DAY + 30)]
    assert successors(pair, begins - 1) == {}
    assert successors(pair, begins) == {1: 2}


@pytest.mark.parametrize("text", ["Lives in Bern until the end of May 2025.", "Works at Bosch from June."])
def test_a_beginning_that_nothing_dates_and_an_end_claim_nothing(text: str) -> None:
    assert claims("world", ["Peter"], text) == []


def test_what_held_earlier_replaces_nothing() -> None:
    """DatedClaim later, of an earlier time: neither is known to be the newer."""
    pair = [*told(1, "Peter", "Lives in Malmö.", DAY), *told(2, "Peter", "Lives in Lund.", DAY + 5, since=DAY - 900)]
    assert successors(pair, DAY + 99) == {}


def undated(key: int, text: str, note: int = 7) -> list[DatedClaim]:
    return [one._replace(day=None, since=None, note=note) for one in told(key, "Anna", text, DAY)]


def test_a_dated_change_is_newer_than_what_has_no_day() -> None:
    old = undated(1, "Lives in Oslo.")
    assert successors([*old, *told(2, "Anna", "Now lives in Bergen.", DAY)], DAY) == {1: 2}
    assert successors([*old, *told(2, "Anna", "Moved to Bergen.", DAY)], DAY) == {1: 2}
    assert successors([*old, *told(2, "Anna", "Lives in Bergen.", DAY)], DAY) == {}
    vim = undated(1, "Uses vim.")
    assert successors([*vim, *told(2, "Anna", "No longer uses vim.", DAY)], DAY) == {1: 2}
    again = told(3, "Anna", "Lives in Oslo.", DAY + 9)
    assert successors([*old, *told(2, "Anna", "Now lives in Bergen.", DAY), *again], DAY + 9).get(1) is None


def test_in_one_undated_note_a_later_line_that_tells_of_a_change_decides() -> None:
    old, plain, change = (undated(n, text) for n, text in enumerate(
        ("Lives in Oslo.", "Lives in Bergen.", "Now lives in Bergen."), 1
    ))  # fmt: skip
    assert successors([*old, *plain], DAY) == {}
    assert successors([*old, *change], DAY) == {1: 3}
    assert successors([*old, *undated(3, "Now lives in Bergen.", note=8)], DAY) == {}
    above = [one._replace(line=9) for one in old]
    assert successors([*above, *change], DAY) == {}


def test_of_one_day_the_line_decides_in_one_note_only() -> None:
    first, second = told(1, "Peter", "Lives in Malmö.", DAY), told(2, "Peter", "Lives in Lund.", DAY)
    together = [one._replace(note=7) for one in (*first, *second)]
    assert successors(together, DAY) == {1: 2}
    assert successors([*first, *second], DAY) == {}
    turned = [one._replace(since=DAY + 3) if one.key == 1 else one for one in together]
    assert successors(turned, DAY + 3) == {2: 1}


words = st.sampled_from(["Peter", "lives", "in", "works", "at", "prefers", "uses", "Bern", "tea", "now", "instead",
                         "no", "longer", "moved", "from", "to"])  # fmt: skip


@given(st.lists(words, max_size=9), st.lists(words, max_size=9))
def test_of_two_at_most_one_is_replaced(first: list[str], second: list[str]) -> None:
    found = replaced("Peter", " ".join(first), " ".join(second))
    assert found in ({}, {0: 1})


CLAIMS = ("Peter lives in Town{}.", "Peter now lives in Town{}.", "Now prefers tea{} over coffee.", "Works at Firm.")


@pytest.mark.parametrize("day", [DAY, None])
@pytest.mark.parametrize("text", CLAIMS)
def test_twice_as_many_claims_take_about_twice_the_steps(text: str, day: int | None) -> None:
    def taken(count: int) -> int:
        every = [
            one._replace(note=0, line=n, day=day, since=day)
            for n in range(count)
            for one in told(n, "Peter", text.format(n), DAY)
        ]
        assert len(every) >= count
        return steps(lambda: reordered(dict.fromkeys(range(count), 1.0), successors(every, DAY)))

    assert taken(800) < 3 * taken(400)


@pytest.mark.parametrize("piece", ["is ", " ", "since ", "moved from a "])
def test_a_long_odd_fact_takes_linear_time(piece: str) -> None:
    text, day = "x" + piece * (100_000 // len(piece)) + "x", date.fromordinal(DAY)
    assert date_in(text, day) is None and list(plans(text, day, None)) == []


def test_a_long_chain_is_put_in_order_at_once() -> None:
    chain = {n: n + 1 for n in range(400)}
    scores = {n: float(n) for n in range(401)}
    assert list(reordered(dict(reversed(scores.items())), chain)) == [*range(400, -1, -1)]
    assert list(reordered({n: 1.0 - n for n in range(401)}, chain)) == [*range(400, -1, -1)]


# --- in a vault -------------------------------------------------------------------------------------------------------


def successor(root: Path, name: str, text: str) -> str | None:
    found = memory(root).entity(name)
    assert found is not None
    return next(fact.superseded_by for fact in found.facts if fact.text == text)


@pytest.mark.parametrize(
    ("named", "place"),
    [("[[2025-11-03#^buero]]", "memory/2025-11-03.md"), ("[[2025-11-04#^buero]]", None), ("^buero", None)],
)
def test_a_fact_may_name_the_one_whose_place_it_takes(tmp_path: Path, named: str, place: str | None) -> None:
    root = fill(tmp_path / "v", {
        "memory/2025-11-03.md": "## Retain\n- W @Nora: Mag das neue Büro. ^buero\n",
        "memory/2025-11-09.md": f"## Retain\n- W(supersedes={named}) @Nora @Odd: Hasst das neue Büro. ^anders\n",
    })  # fmt: skip
    assert successor(root, "Nora", "Mag das neue Büro.") == ("memory/2025-11-09.md#L2" if place else None)
    assert successor(root, "Nora", "Hasst das neue Büro.") is None
    (root / "memory/2025-11-03.md").rename(root / "memory/2025-11-02.md")  # nobody changed the link
    assert successor(root, "Nora", "Mag das neue Büro.") is None


def test_in_its_own_note_a_block_id_alone_names_a_fact(tmp_path: Path) -> None:
    lines = "- W @Nora: Mag das Büro. ^a\n- W(supersedes=^a) @Nora: Hasst das Büro.\n"
    root = fill(tmp_path / "v", {"memory/2025-11-03.md": f"## Retain\n{lines}"})
    assert successor(root, "Nora", "Mag das Büro.") == "memory/2025-11-03.md#L3"
    (root / "memory/2025-11-03.md").rename(root / "memory/2025-11-02.md")
    assert successor(root, "Nora", "Mag das Büro.") == "memory/2025-11-02.md#L3"
    kept, fresh = memory(root).index_file.check()
    assert kept == fresh


def test_a_name_that_names_nothing_is_a_finding() -> None:
    problems: list[Problem] = []
    note = parse("memory/2025-11-03.md", b"## Retain\n- W(supersedes=tea) @Nora: Prefers coffee.\n")
    assert list(facts(note, None, problems)) == []
    assert "names no fact" in problems[0].message


@pytest.mark.parametrize(
    ("first", "second", "is_replaced"),
    [
        ("W(t=2025-11-28) @Bo: The contract for phase 2 is to be signed on 28 November; it is worth 400 000.",
         "W(t=2025-12-12) @Bo: The signing of phase 2 is moved from 28 November to Friday 12 December.", True),
        ("W(t=2025-10-25/2025-10-26) @Bo: Roof work planned for the weekend of 25 and 26 October.",
         "B @Bo: The roof work was postponed from 25 October to November because of the storm.", True),
        ("W(t=2025-11-28) @Bo: The sweep inspects the stove on 28 November.",
         "W @Bo: The stove delivery is moved from 28 November to 3 December.", False),
        ("O(c=0.8) @Bo: Likes the new office.", "O(c=0.6) @Bo: Doesn't like the new office.", True),
        ("O @Bo: Mag das neue Büro.", "O @Bo: Mag das neue Büro nicht mehr.", True),
        ("O @Bo: Doesn't like the new office.", "O @Bo: Likes the new office.", True),
        ("B @Bo: Went to the sauna.", "B @Bo: Did not go to the sauna.", False),
        ("O @Bo: Likes the new office.", "O @Bo: Hates the new office.", False),
    ],
)  # fmt: skip
def test_a_day_that_is_moved_and_a_denial_take_the_place_of_what_was_said(
    tmp_path: Path, first: str, second: str, is_replaced: bool
) -> None:
    of = memory(fill(tmp_path, {
        "memory/2025-10-01.md": f"## Retain\n- {first}\n", "memory/2025-10-20.md": f"## Retain\n- {second}\n",
    }))  # fmt: skip
    results = of.recall(first.partition(": ")[2], now="2025-11-01", k=5).results
    marks = {result.path: result.superseded_by for result in results}
    assert marks["memory/2025-10-01.md"] == ("memory/2025-10-20.md#L2" if is_replaced else None)
