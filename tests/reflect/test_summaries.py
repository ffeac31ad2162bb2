"""summaries.py and fact_lines.py: the page of a period, over made-up facts and the real token counter."""

import random
import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

import pytest
from reflecting import page_context

from vault_memory.reflect import summaries
from vault_memory.reflect.edit_plan import Draft
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.fact_lines import PageContext
from vault_memory.reflect.summaries import summary, too_little
from vault_memory.text.calendar_days import Period, Span, period_of

NOVEMBER = period_of(date(2025, 11, 1), "month")
PAGES = {"ann-berg": "[[Ann Berg|Ann]]", "castle": "[[The Castle]]", "tern": "[[Tern]]"}
TARGETS = {"Ann Berg", "The Castle", "Tern", "Runbook"}


def context(facts: Iterable[Fact], **more: object) -> PageContext:
    return page_context(
        facts, link_entity=lambda slug: PAGES.get(slug, slug.title()), exists=TARGETS.__contains__, **more
    )


def fact(text: str, day: int = 3, line: int = 10, *about: str, **more: object) -> Fact:
    on = more.pop("on", None) or date(2025, 11, day)
    values = {"key": day * 1000 + line, "kind": "experience", "path": f"memory/{on}.md", "day": on, **more}
    return Fact(text=text, line=line, about=about, subjects=about, **values)  # type: ignore[arg-type]


def page(facts: Sequence[Fact], period: Period = NOVEMBER, **more: object) -> Draft:
    found = summary(period, facts, context(facts, **more))
    assert found
    return found


def costing(tokens: int, *facts: Fact) -> list[Fact]:
    """The facts as if each cost so much where it stands in its note."""
    return [one._replace(tokens=tokens) for one in facts]


def written(draft: Draft) -> list[str]:
    return [line.text for line in draft.lines]


def bullets(draft: Draft) -> list[str]:
    return [text for text in written(draft) if text.startswith("- ")]


def cited(draft: Draft) -> list[int]:
    """The keys of the facts it tells, in the order of the citations."""
    return [key for line in draft.lines for key in line.keys]


SAMPLE = ["tern", "castle", "tern", "ann-berg", "", "castle", "tern"]
VOCABULARY = (
    "anchor boards rafters harbour kettle lanterns mooring noon orchard parcel quarry ridge saddle timber umbrella"
    " valley wagon yarn bakery cellar ditch engine ferry gravel hatch iron jetty kiln ladder meadow north oven pump"
    " quay rope stable tower upland village window carried painted mended counted measured borrowed sold wrote found"
)


def month_of(number: int, start: date = date(2025, 11, 1), days: int = 30) -> list[Fact]:
    """So many facts with the people and threads of a real log, spread over some days; the same each time."""
    dice = random.Random(7)
    found = []
    for n in range(number):
        about = [SAMPLE[n % len(SAMPLE)]] if SAMPLE[n % len(SAMPLE)] else []
        text = " ".join(dice.sample(VOCABULARY.split(), 18)).capitalize()
        found.append(fact(f"{text}.", 0, n + 1, *about, on=start + timedelta(n % days), key=n + 1))
    return found


# --- the page as a person reads it -----------------------------------------------------------------------------------


def test_a_small_month() -> None:
    facts = [
        fact("Rolled node 2 back to see whether the garbled tiles go away; they did not.", 3, 10, "tern"),
        fact(
            "We decided to write packs beside and to rename them, on every node and without a setting.", 4, 11, "tern"
        ),
        fact("The rotation truncates the pack while readers have it mapped, which explains the tiles.", 5, 12, "tern"),
        fact("Felt off on the east side, and rot at the eave as far as the second rafter.", 6, 13, "castle"),
        fact("New boards and battens on the east side; the corner stayed dry under the hose.", 7, 14, "castle"),
        fact("Prefers a short message on the phone and the rest in a file that she can keep.", 8, 15, "ann-berg"),
        fact("Baked with a cold proof of 14 hours, straight from the fridge, the best so far.", 8, 16),
    ]
    draft = page(costing(200, *facts), summaries={"2025-W45", "2025-W30"})
    assert written(draft) == [
        "Mostly [[Tern]] (3) and [[The Castle]] (2); 7 facts on 6 days.",
        "",
        "### Tern",
        "- Rolled node 2 back to see whether the garbled tiles go away; they did not — [[2025-11-03]] L10",
        "- We decided to write packs beside and to rename them, on every node and without a setting"
        " — [[2025-11-04]] L11",
        "- The rotation truncates the pack while readers have it mapped, which explains the tiles — [[2025-11-05]] L12",
        "",
        "### The Castle",
        "- Felt off on the east side, and rot at the eave as far as the second rafter — [[2025-11-06]] L13",
        "- New boards and battens on the east side; the corner stayed dry under the hose — [[2025-11-07]] L14",
        "",
        "### Also",
        "- [[Ann Berg|Ann]]: Prefers a short message on the phone and the rest in a file that she can keep"
        " — [[2025-11-08]] L15",
        "- Baked with a cold proof of 14 hours, straight from the fridge, the best so far — [[2025-11-08]] L16",
        "",
        "Weeks: [[2025-W45]]",
    ]
    assert draft.start == (
        "---\nperiod: 2025-11\nfrom: 2025-11-01\nto: 2025-11-30\nwritten: extractive\n---\n# November 2025\n"
    )
    assert (draft.path, draft.why) == ("bank/summaries/2025-11.md", "November 2025: 7 facts on 6 days")
    assert [key % 1000 for key in cited(draft)] == [10, 11, 12, 13, 14, 15, 16]


def test_what_is_folded_away_is_counted() -> None:
    facts = month_of(90)
    draft = page(facts)
    closing = next(text for text in written(draft) if text.startswith("…and"))
    assert closing.startswith(f"…and {90 - len(cited(draft))} more facts, the most on [[2025-11-")
    counts = [int(number) for number in re.findall(r"\]\] \((\d+)\)", closing)]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) <= summaries.FOLDED_LINKS


def test_what_matters_most_is_told_and_what_is_named_has_a_line() -> None:
    born = "After a long night in the hospital she gave birth to our daughter, who is well."
    facts = [
        fact("Compared the gauges upstream with those downstream of the weir, on foot.", 1, 1, "tern"),
        fact("Fixed the export of the gauges and rewrote the reader for it.", 2, 2, "tern"),
        fact("Passed its test at Kwik Fit for 54 pounds and needs 2 tyres by June.", 3, 3, "car"),
        fact("Talked to Mrs Hay of Leith about 14 copies of *The Tidewright*.", 4, 4, "castle"),
        fact(born, 5, 5, "ann-berg", importance=0.9),
        fact("Paid 45 pounds to Cycle Service for 2 wheels of the Raleigh.", 6, 6, "bike"),
    ]
    draft = page(costing(46, *facts))
    assert any(born[:-1] in text for text in bullets(draft))
    assert not any("gauges" in text for text in bullets(draft))
    assert written(draft)[0] == "6 facts on 6 days."
    said_again = page(costing(46, *facts, fact(born, 7, 7, "ann-berg")))
    assert any(born[:-1] in text for text in bullets(said_again))


# --- what goes before the words ----------------------------------------------------------------------------------


OTHERS = [
    fact("Waited for the letter of the building office, which did not come that day.", 20, 1),
    fact("Repaired the old cello for an orchestra that needs it before the winter.", 21, 2),
]


def walked(text: str, *days: str, **more: object) -> Fact:
    """A fact of 3 November about these days."""
    first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    return fact(text, 3, 9, occurred=Span(first, last), **more)


WALK = "Walked along the river with two sandwiches."


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (fact("Prefers concise replies on the phone.", 3, 9, "ann-berg"), "- [[Ann Berg|Ann]]: Prefers"),
        (walked(WALK, "2025-11-02"), "- 2 Nov: Walked"),
        (walked(WALK, "2025-11-03"), "- Walked"),
        (walked("Was away from home with two suitcases.", "2025-11-20", "2025-11-23"), "- 20–23 Nov: Was"),
        (walked("The ship was right, it goes to all on 8 December.", "2025-12-08", kind="opinion"), "- The ship"),
    ],
)
def test_a_line_says_what_its_words_leave_out(one: Fact, expected: str) -> None:
    lines = bullets(page(costing(200, one, *OTHERS)))
    assert [line for line in lines if line.startswith(expected)], lines


# --- too little ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1, 2])
def test_few_facts_have_no_page(number: int) -> None:
    assert summary(NOVEMBER, month_of(number), context(month_of(3))) is None
    assert f"November 2025 has {number} fact" in too_little(NOVEMBER, month_of(number))


# --- limits and laws -------------------------------------------------------------------------------------------------


def test_only_facts_dated_in_the_period_are_told() -> None:
    inside = month_of(40)
    outside = month_of(40, date(2025, 12, 1)) + month_of(40, date(2025, 10, 1))
    undated = [one._replace(day=None) for one in month_of(5)]
    assert page([*inside, *outside, *undated]) == page(inside)
