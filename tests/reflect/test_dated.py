"""dated.py: which days a statement takes back, and which notes it cites as its evidence."""

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.reflect import statements
from vault_memory.reflect.dated import bare, cited, names_note, newest_cited, taken_back

MONDAY = date(2025, 11, 17)

TAKES_BACK = """
Coffee is fine for me; what I wrote on 13 October was wrong.      | 2025-10-13
Felt is louder than sheet. I thought otherwise on 14 October.     | 2025-10-14
I thought quite differently on 2025-10-14.                        | 2025-10-14
On 14 October I saw it differently.                               | 2025-10-14
Contrary to what I said on 3 Nov, the boat is dry.                | 2025-11-03
I was wrong about the kiln on [[2025-10-02]].                     | 2025-10-02
I was wrong on Oct. 2 about the kiln.                             | 2025-10-02
We were mistaken about the roof on 9 September 2024.              | 2024-09-09
What we decided yesterday was a mistake.                          | 2025-11-16
My note of 2 November is not true.                                | 2025-11-02
I take back what I said on 5 November about the tenor.            | 2025-11-05
I have changed my mind since 20 October: bees are no trouble.     | 2025-10-20
Not the oven: what I noted on 1 June turned out to be wrong.      | 2025-06-01
"""

KEEPS = """
Coffee is fine for me.
What I wrote on 13 October was right.
What I wrote on 13 October was not wrong.
If what I wrote on 13 October was wrong, the roof will tell.
Perhaps I was wrong on 13 October.
Was I wrong on 13 October?
Nobody thinks I was wrong on 13 October.
Peter says I was wrong on 13 October.
Peter was wrong on 13 October.
I said on 13 October that the kiln was wrong.
What I wrote was wrong.
What I wrote in October was wrong.
The clock was wrong on 13 October.
The boat came back on 13 October.
"""


@pytest.mark.parametrize("row", TAKES_BACK.strip().splitlines())
def test_who_takes_back_what_was_told_on_a_day(row: str) -> None:
    text, _, day = (part.strip() for part in row.partition("|"))
    assert [(span.start, span.end) for span in taken_back(text, MONDAY)] == [(date.fromisoformat(day),) * 2]


@pytest.mark.parametrize("text", KEEPS.strip().splitlines())
def test_who_takes_nothing_back(text: str) -> None:
    assert taken_back(text, MONDAY) == ()


def test_a_day_of_the_year_lies_behind_who_takes_it_back() -> None:
    assert [span.start for span in taken_back("What I wrote on 20 December was wrong.", date(2026, 1, 3))] == [
        date(2025, 12, 20)
    ]
    assert taken_back("What I wrote today was wrong.", MONDAY) == ()


def test_without_a_day_of_its_own_only_a_date_with_a_year_is_one() -> None:
    assert [span.start for span in taken_back("I was wrong on 2025-10-13.", None)] == [date(2025, 10, 13)]
    assert taken_back("I was wrong yesterday.", None) == ()


@pytest.mark.parametrize(
    ("text", "rest", "names"),
    [
        ("Sound. Evidence: [[2025-10-28]], [[2025-11-04]].", "Sound.", {"2025-10-28", "2025-11-04"}),
        ("Sound. Evidence: [[memory/2025-11-04|then]] L5, L6.", "Sound.", {"memory/2025-11-04"}),
        ("Sound! Evidence: [[Trip to Oslo#^boat]] and 2025-11-04", "Sound!", {"trip to oslo", "2025-11-04"}),
        ("Evidence: [[2025-11-04]]", "", {"2025-11-04"}),
        ("Sound. Evidence: the mark on the hull.", "Sound. Evidence: the mark on the hull.", set()),
        ("Sound. Evidence: [[2025-11-04]] shows it.", "Sound. Evidence: [[2025-11-04]] shows it.", set()),
        ("Sound, see [[2025-11-04]].", "Sound, see [[2025-11-04]].", set()),
    ],
)
def test_what_is_cited(text: str, rest: str, names: set[str]) -> None:
    assert (bare(text), cited(text)) == (rest, names)
    assert statements.plain(text) == rest


def test_a_link_leads_to_a_note_by_its_name_or_its_path() -> None:
    assert names_note(frozenset(["2025-11-04"]), "memory/2025-11-04.md")
    assert names_note(frozenset(["memory/2025-11-04"]), "memory/2025-11-04.md")
    assert not names_note(frozenset(["other/2025-11-04"]), "memory/2025-11-04.md")


def test_the_newest_day_that_is_cited() -> None:
    assert newest_cited("So. Evidence: [[2025-11-04]], [[memory/2025-11-09 Sunday]], [[Boat]].") == date(2025, 11, 9)
    assert newest_cited("So it was on 2025-11-04.") is None


BITS = "Evidence: [[2025-11-04]] , ; and . L5 I was wrong what we said on 13 October otherwise ? ! – 2025-11-04 [[ ]]"
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(BITS.split(" ")), max_size=16).map(" ".join))


@given(texts, st.one_of(st.none(), st.dates()))
def test_any_text_is_read(text: str, day: date | None) -> None:
    assert text.startswith(bare(text))
    assert bool(cited(text)) <= (bare(text) != text)
    assert all(day is None or span.start < day for span in taken_back(text, day))


@pytest.mark.parametrize("bit", ["[[2025-11-04]] ", "2025-11-04, ", "what I said ", "I was ", "[[", "13 October was "])
def test_a_long_line_is_read_in_time_that_grows_with_it(bit: str) -> None:
    long = f"Wrong. Evidence: {bit * (60_000 // len(bit))}x"
    start = time.process_time()
    assert bare(long) == long
    assert taken_back(long, MONDAY) == ()
    assert time.process_time() - start < 3
