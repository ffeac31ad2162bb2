"""The date grammar: tables of what is a date and what only looks like one, and properties over any text."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.text import date_finder
from vault_memory.text.calendar_days import MONTH_NAMES, Span
from vault_memory.text.daily_notes import name_day
from vault_memory.text.date_grammar import parse_t

TODAY = date(2025, 12, 3)  # a Wednesday
MENTIONED = date(2025, 11, 27)  # a Thursday


def iso(span: Span | None) -> str | None:
    return span.isoformat() if span else None


def spelled(text: str) -> list[tuple[str, ...]]:
    """Rows of a table written one a line, the columns apart by ` | `."""
    return [tuple(cell.strip() for cell in line.split(" | ")) for line in text.strip().splitlines()]


# --- options ----------------------------------------------------------------------------------------------

OPTIONS = spelled("""
2025-11-27T10:00:00Z | 2025-11-27
2025-11 | 2025-11-01/2025-11-30
2025 | 2025-01-01/2025-12-31
2020-W53 | 2020-12-28/2021-01-03
2025-11-06 / 2025-11-10 | 2025-11-06/2025-11-10
30d | 2025-11-03
999999y | 0001-01-01
two weeks ago | 2025-11-16/2025-11-22
last 30 days | 2025-11-03/2025-12-03
today | 2025-12-03
last night | 2025-12-02
the day before yesterday | 2025-12-01
past week | 2025-11-26/2025-12-03
last weekend | 2025-11-29/2025-11-30
tuesday | 2025-12-02
last wednesday | 2025-11-26
next Friday | 2025-12-05
Nov. 27 | 2025-11-27
nov 27 | 2025-11-27
from May to July 2023 | 2023-05-01/2023-07-31
Dec 20 to Jan 5 | 2024-12-20/2025-01-05
next March | 2026-03-01/2026-03-31
the winter of 2023 | 2023-12-01/2024-02-29
Q3 2025 | 2025-07-01/2025-09-30
Thursday the 27th | 2025-11-27
""")


@pytest.mark.parametrize(("text", "span"), OPTIONS)
def test_an_option_is_read(text: str, span: str) -> None:
    assert iso(date_finder.parse_option(text, TODAY)) == span


NO_OPTIONS = """
banana
/
2025/11/27/
2025-13
2025-W54
30 February 2025
12/11/2025
Nov 27 at noon
d
Nov 27 -
/2025-11-27
2025-12-01/2025-11-27
Dec 1 2025 - Nov 1 2025
٣ days ago
Christmas
""".strip().splitlines()


@pytest.mark.parametrize("text", ["", " ", *NO_OPTIONS])
def test_an_option_not_understood_is_none(text: str) -> None:
    assert date_finder.parse_option(text, TODAY) is None


# --- questions --------------------------------------------------------------------------------------------

WINDOWS = spelled("""
what happened around Nov 27 | around | 2025-11-24/2025-11-30 | around Nov 27
what changed since last week | since | 2025-11-24/2025-12-03 | since last week
anything after Nov 27 | since | 2025-11-28/2025-12-03 | after Nov 27
everything before March 2024 | until | 0001-01-01/2024-02-29 | before March 2024
what was open by the end of November | until | 0001-01-01/2025-11-30 | by the end of November
what was it in mid-November like | on | 2025-11-01/2025-11-30 | in mid-November
two weeks ago I said what | on | 2025-11-16/2025-11-22 | two weeks ago
what happened on the 27th of November | on | 2025-11-27 | on the 27th of November
what did Peter say on Tuesday last week | on | 2025-11-25 | on Tuesday last week
what did Peter say on Friday | on | 2025-11-28 | on Friday
Fri 28 Nov | on | 2025-11-28 | Fri 28 Nov
yesterday's decisions | on | 2025-12-02 | yesterday's
trips in 2019–2021 | between | 2019-01-01/2021-12-31 | in 2019–2021
from Nov 3 to today | between | 2025-11-03/2025-12-03 | from Nov 3 to today
where were we last winter | on | 2024-12-01/2025-02-28 | last winter
what did we build in 2023 | on | 2023-01-01/2023-12-31 | in 2023
notes of the week of Nov 3 | on | 2025-11-03/2025-11-09 | of the week of Nov 3
over the past two weeks | on | 2025-11-19/2025-12-03 | past two weeks
what is on Friday evening | on | 2025-12-05 | on Friday
what ruined the streak in March that year | on | 2025-03-01/2025-03-31 | in March
this year's goals | on | 2025-01-01/2025-12-31 | this year's
2025-11-06/2025-11-10 | on | 2025-11-06/2025-11-10 | 2025-11-06/2025-11-10
what happened on 2024/09/05 | on | 2024-09-05 | on 2024/09/05
what is planned for 5. September 2026 | on | 2026-09-05 | for 5. September 2026
from 1.9.2025 to 5.9.2025 | between | 2025-09-01/2025-09-05 | from 1.9.2025 to 5.9.2025
""")


@pytest.mark.parametrize(("question", "kind", "span", "text"), WINDOWS)
def test_a_window_is_found(question: str, kind: str, span: str, text: str) -> None:
    window = date_finder.find_window(question, TODAY)
    assert window is not None
    assert (window.kind, window.span.isoformat(), window.text) == (kind, span, text)


# Asked on Sunday 2025-11-30 unless another day is said.
TENSES = spelled("""
what happens on 12 December | 2025-11-30 | 2025-12-12
what happened on 12 December | 2025-11-30 | 2024-12-12
what happens on 29 November | 2025-11-30 | 2026-11-29
who said what on 12 January | 2025-11-30 | 2025-01-12
who is on call on 6 November | 2025-12-09 | 2025-11-06
any appointment in October? | 2025-11-30 | 2026-10-01/2026-10-31
what is on Friday | 2025-12-09 | 2025-12-12
what did we do on Friday | 2025-12-09 | 2025-12-05
what is due on the 27th | 2025-11-30 | 2025-12-27
when do we meet on the 31st, will it be late? | 2025-11-02 | 2025-12-31
trips we made between 20 December and 5 January | 2025-11-30 | 2024-12-20/2025-01-05
what will we do between 1 and 5 November | 2025-11-30 | 2026-11-01/2026-11-05
anything new since May | 2025-11-30 | 2025-05-01/2025-11-30
what must be done by 12 December | 2025-11-30 | 2025-11-30/2025-12-12
does Will come in January | 2025-11-30 | 2026-01-01/2026-01-31
what is planned for Feb 29 | 2025-11-30 | 2028-02-29
""")


@pytest.mark.parametrize(("question", "today", "span"), TENSES)
def test_the_tense_says_which_year_is_meant(question: str, today: str, span: str) -> None:
    window = date_finder.find_window(question, date.fromisoformat(today))
    assert window is not None
    assert window.span.isoformat() == span


@pytest.mark.parametrize(
    ("question", "span", "others"),
    [
        ("notes of 12 July", "2026-07-12", "2025-07-12"),
        ("12 January", "2026-01-12", "2025-01-12 2027-01-12"),
        ("what happened around 12 July", "2025-07-09/2025-07-15", "2024-07-09/2024-07-15"),
        ("what was done between 28 December and 3 January", "2025-12-28/2026-01-03", "2024-12-28/2025-01-03"),
        ("what happened in July 2025", "2025-07-01/2025-07-31", ""),
        ("what happened on Monday", "2026-02-16", ""),
        ("what did we do on 29 February", "2024-02-29", ""),
        ("what did we do on the 12th", "2026-02-12", ""),
        ("what has changed since July", "2025-07-01/2026-02-16", ""),
        ("what is planned for 12 July", "2026-07-12", ""),
        ("trips in July", "2026-07-01/2026-07-31", "2025-07-01/2025-07-31"),
    ],
)
def test_without_a_year_there_is_another_reading(question: str, span: str, others: str) -> None:
    window = date_finder.find_window(question, date(2026, 2, 16))
    assert window is not None
    assert (window.span.isoformat(), [each.isoformat() for each in window.others]) == (span, others.split())


NO_WINDOW = """
we moved the port to 8080
which service is on 8080 or 10.0.0.1:2024
what may 5 people do
give me a second
I sat on the mat
version 1.10 of the tool
what happened on 5/9/2026
ratio 13/9/20265
option 5. May I
limit of 2048
call +49-2024-555
what is 192.168.20.24
what does April prefer
fall back to the default
did this fall under the rule
spring boot in Spring Boot
Black Friday deals
each May
last time we tried Y
what happened on Feb 30
memory/2025-11-27.md
CVE-2025-1127
on the 27th floor
who plays "Yesterday" best
""".strip().splitlines()


@pytest.mark.parametrize("question", ["", " ", *NO_WINDOW])
def test_what_only_looks_like_a_date_is_no_window(question: str) -> None:
    assert date_finder.find_window(question, TODAY) is None


def test_the_first_expression_that_exists_wins() -> None:
    window = date_finder.find_window("not on Feb 30 2025 but yesterday or in 2023", TODAY)
    assert window is not None
    assert window.text == "yesterday"


# --- facts ------------------------------------------------------------------------------------------------

# The second column without a day of mention ("-" for none), the third mentioned on 2025-11-27.
FACTS = spelled("""
Trip to Lisbon Nov 27–Dec 1, 2025 with Anna | 2025-11-27/2025-12-01 | 2025-11-27/2025-12-01
Trip 2025-11-06 – 2025-11-10. | 2025-11-06/2025-11-10 | 2025-11-06/2025-11-10
In 1959 RAND hired him | 1959-01-01/1959-12-31 | 1959-01-01/1959-12-31
in 2021 prices rose by a tenth | 2021-01-01/2021-12-31 | 2021-01-01/2021-12-31
the survey from 2018 shows that all read it | 2018-01-01/2018-12-31 | 2018-01-01/2018-12-31
lost the boat in the 2008 floods. | 2008-01-01/2008-12-31 | 2008-01-01/2008-12-31
died in 2019, near Oslo | 2019-01-01/2019-12-31 | 2019-01-01/2019-12-31
growth between 1929 and 1982 concluded | 1929-01-01/1982-12-31 | 1929-01-01/1982-12-31
met on 3.5.2024 in Oslo | 2024-05-03 | 2024-05-03
met on 5/3/2024 or 3/5/2024 | - | -
met on 3 May | - | 2025-05-03
met on 3 May, and every week since | - | 2025-05-03
moves out on 3 May | - | 2026-05-03
away Dec 30 to Jan 2 | - | 2025-12-30/2026-01-02
away from Nov 3 to 10 | - | 2025-11-03/2025-11-10
deadline 2025-11-27T10:00:00+01:00. | 2025-11-27 | 2025-11-27
lived there between 2019 and 2021, then left | 2019-01-01/2021-12-31 | 2019-01-01/2021-12-31
in spring 2024 he left | 2024-03-01/2024-05-31 | 2024-03-01/2024-05-31
see [[2025-11-20]] for it | 2025-11-20 | 2025-11-20
Yesterday we fixed it | - | 2025-11-26
dentist last Tuesday | - | 2025-11-25
today we planned Nov 30, 2025 | 2025-11-30 | 2025-11-30
yesterday he said 2024-01-01 | 2024-01-01 | 2025-11-26
every 3 May 2024 | - | -
every year, first on 3 May 2024 | 2024-05-03 | 2024-05-03
""")


@pytest.mark.parametrize(("fact", "alone", "mentioned"), FACTS)
def test_a_fact_states_when_it_occurred(fact: str, alone: str, mentioned: str) -> None:
    assert (iso(date_finder.occurred(fact, None)) or "-") == alone
    assert (iso(date_finder.occurred(fact, MENTIONED)) or "-") == mentioned


@pytest.mark.parametrize(
    "fact",
    """
lives here since 2019
today was good
party every 3 May
costs $2024 in total
you may 5 times do it
she may march on, may she not
a song called Yesterday
found the header in 2000 files
no error in 2048 tests, none in Oslo
it was missing in 2000 files of the archive
it runs between 1900 and 2000 rpm
the cable broke in 1950 m depth
shavings from the 1938 battens, and a knife
""".strip().splitlines(),
)
def test_a_fact_without_a_clear_day(fact: str) -> None:
    assert date_finder.occurred(fact, MENTIONED) is None


AHEAD_OF_A_NOVEMBER_DAY = spelled("""
The dentist visit of Peter is postponed from 25 November to 2 December. | 2026-12-02
The dentist visit of Peter was moved from 25 November to 2 December. | 2026-12-02
We pushed the party back from 28 November to 5 December | 2026-12-05
The release shifted from 2026-12-01 to 2026-12-20. | 2026-12-20
Rescheduled, 1 Dec to 8 Dec 2026: the audit. | 2026-12-08
We moved the visit from 28 December to 4 January. | 2027-01-04
The concert is brought forward from 8 December to 1 December. | 2026-12-01
The survey was put off from Nov 30, 2026 to Dec 7 | 2026-12-07
The office is moved to Bergen from 1 December to 8 December. | 2026-12-01/2026-12-08
The heating is switched off from 1 December to 8 December. | 2026-12-01/2026-12-08
Ann moved house from 1 December to 8 December. | 2026-12-01/2026-12-08
The exhibition was moved into the hall, from 1 December to 8 December 2026. | 2026-12-01/2026-12-08
the train ticket was bought for 5 December | 2026-12-05
Anna asked for the report by 4 December | 2026-12-04
the voucher was renewed until 10 January | 2027-01-10
Frau Albrecht said the inspection is on 6 December | 2026-12-06
Mum told us she flies in on 6 December | 2026-12-06
the parcel was expected on 3 December | 2026-12-03
the boiler is being replaced on 12 December | 2026-12-12
I bought the car on 12 December | 2025-12-12
she said it on 12 December | 2025-12-12
Frau Albrecht said the inspection was on 6 December | 2025-12-06
we stayed in Rome from 2 December to 9 December | 2025-12-02/2025-12-09
he was in hospital from 20 March to 4 April | 2026-03-20/2026-04-04
the fence will be painted on 3 October | 2027-10-03
Nora, born on 12 December | 2025-12-12
we wanted to leave on 12 December | 2026-12-12
the flat is nice and we bought it on 12 December | 2025-12-12
""")


@pytest.mark.parametrize(("fact", "days"), AHEAD_OF_A_NOVEMBER_DAY)
def test_a_past_verb_turns_back_only_a_date_on_which_something_happened(fact: str, days: str) -> None:
    assert iso(date_finder.occurred(fact, date(2026, 11, 19))) == days


# --- notes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stem", "moment_format", "day"),
    [
        ("2026-01-05 Monday", "YYYY-MM-DD", "2026-01-05"),
        ("2024-02-29", "YYYY-MM-DD", "2024-02-29"),
        ("0000-01-01", "YYYY-MM-DD", None),
        ("2026-01-055", "YYYY-MM-DD", None),
        ("", "YYYY-MM-DD", None),
        ("2026/01-January/05 Monday", "YYYY/MM-MMMM/DD dddd", "2026-01-05"),
        ("69-1-5", "YY-M-D", "1969-01-05"),
        ("5th January 2026", "Do MMMM YYYY", "2026-01-05"),
        ("Smarch 5, 2026", "MMMM D, YYYY", None),
        ("2026-W02", "gggg-[W]ww", None),
        ("٢٠٢٥-١١-٢٧", "YYYY-MM-DD", None),
    ],
)
def test_the_day_of_a_note_name(stem: str, moment_format: str, day: str | None) -> None:
    found = name_day(stem, moment_format)
    assert (found.isoformat() if found else None) == day


@pytest.mark.parametrize(
    ("value", "day"),
    [
        (date(2025, 11, 27), "2025-11-27"),
        (datetime(2025, 11, 27, 23, 30, tzinfo=UTC), "2025-11-27"),
        (datetime(2025, 11, 27, 0, 30, tzinfo=timezone(timedelta(hours=9))), "2025-11-27"),
        ("2025-11-27", "2025-11-27"),
        ("2025-11-27T10:00:00.123Z", "2025-11-27"),
        ("[[2025-11-27]]", "2025-11-27"),
        ("11/12/2025", None),
        ("Thursday, November 27, 2025", "2025-11-27"),
        ("{{date}}", None),
        ("2025-11", None),
        ("", None),
        (20251127, None),
        (["2025-11-27"], None),
    ],
)
def test_the_day_of_a_property(value: object, day: str | None) -> None:
    found = date_finder.property_day(value)
    assert (found.isoformat() if found else None) == day


# --- any text, any day ------------------------------------------------------------------------------------

WORDS = """
may march May Nov november feb 27th 3 31 2025 2000 9999 2025-11-27 2025-W01 9999-12-31 0001-01-01 last next past this
since until before after around between from to and of the in on week weeks day month quarter year ago a couple few two
monday Sun sat winter summer q4 yesterday tomorrow night - – , . / " 's mid early every weekend
"""

texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(WORDS.split()), max_size=10).map(" ".join),
    st.lists(st.sampled_from(WORDS.split()), max_size=8).map("".join),
)
days = st.one_of(st.dates(), st.sampled_from([date.min, date.max, date(2024, 2, 29), date(9999, 12, 25)]))


@given(texts, days)
def test_no_text_raises_and_every_span_is_in_order(text: str, day: date) -> None:
    window = date_finder.find_window(text, day)
    spans = [date_finder.parse_option(text, day), date_finder.occurred(text, day), date_finder.occurred(text, None)]
    spans += [parse_t(text), window.span if window else None]
    assert all(span.start <= span.end for span in spans if span)
    assert window is None or (window.text in text and window.text.strip() == window.text != "")
    date_finder.property_day(text)


@given(st.dates(), days)
def test_an_iso_day_is_that_day_everywhere(day: date, today: date) -> None:
    text, span = day.isoformat(), Span(day, day)
    assert date_finder.parse_option(text, today) == parse_t(text) == date_finder.occurred(f"met {text}.", today) == span
    window = date_finder.find_window(f"what happened on {text}?", today)
    assert window is not None
    assert window.span == span
    assert name_day(text, "YYYY-MM-DD") == date_finder.property_day(text) == day


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)), st.dates())
def test_a_spelled_day_is_that_day(day: date, today: date) -> None:
    name = MONTH_NAMES[day.month - 1]
    for text in (f"{name} {day.day}, {day.year}", f"{day.day} {name[:3]} {day.year}", f"{day.day} {name} {day.year}"):
        assert date_finder.parse_option(text, today) == Span(day, day)
        assert date_finder.occurred(f"met on {text} in Oslo", None) == Span(day, day)


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)), st.dates())
def test_a_day_in_numbers_is_that_day_or_none(day: date, today: date) -> None:
    y, m, d = day.timetuple()[:3]
    for text in (f"{d}.{m}.{y}", f"{d:02}.{m:02}.{y}", f"{y}/{m}/{d}"):
        assert date_finder.parse_option(text, today) == Span(day, day)
    for text in (f"{d}/{m}/{y}", f"{m}/{d}/{y}", f"{m:02}-{d:02}-{y}"):
        clear = d > 12 or d == m
        assert date_finder.parse_option(text, today) == (Span(day, day) if clear else None)
        doubt = date_finder.ambiguous(f"what happened on {text}?")
        assert doubt is None if clear else doubt and doubt[0] == text and day in doubt[1]
