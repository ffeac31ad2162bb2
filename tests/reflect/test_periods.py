"""periods.py: names, days and titles of weeks, months and years, and which of them are over."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.reflect import periods
from vault_memory.text.spans import Span

days = st.dates(date(2, 1, 8), date(9999, 12, 20))
kinds = st.sampled_from(periods.KINDS)


@pytest.mark.parametrize(
    ("day", "kind", "name", "title", "start", "end"),
    [
        ("2025-11-27", "week", "2025-W48", "Week 48 of 2025, 24–30 November", "2025-11-24", "2025-11-30"),
        ("2025-11-01", "week", "2025-W44", "Week 44 of 2025, 27 October – 2 November", "2025-10-27", "2025-11-02"),
        (
            "2021-01-03",
            "week",
            "2020-W53",
            "Week 53 of 2020, 28 December 2020 – 3 January 2021",
            "2020-12-28",
            "2021-01-03",
        ),
        ("2025-11-27", "month", "2025-11", "November 2025", "2025-11-01", "2025-11-30"),
        ("2025-11-27", "year", "2025", "2025", "2025-01-01", "2025-12-31"),
    ],
)
def test_period_of(day: str, kind: str, name: str, title: str, start: str, end: str) -> None:
    found = periods.period_of(date.fromisoformat(day), kind)
    assert (found.name, found.title) == (name, title)
    assert (found.start.isoformat(), found.end.isoformat()) == (start, end)
    assert found.path == f"bank/summaries/{name}.md"


@settings(max_examples=40)
@given(days, kinds)
def test_a_day_lies_in_its_period_and_its_neighbours_in_the_next(day: date, kind: str) -> None:
    found = periods.period_of(day, kind)
    assert found.holds(day)
    assert periods.period_of(found.start, kind) == periods.period_of(found.end, kind) == found
    assert periods.period_of(found.start - timedelta(1), kind).end == found.start - timedelta(1)
    assert not found.holds(None)


def test_finer() -> None:
    november = periods.period_of(date(2025, 11, 1), "month")
    assert periods.finer(november) == ["2025-W44", "2025-W45", "2025-W46", "2025-W47", "2025-W48"]
    year = periods.period_of(date(2025, 1, 1), "year")
    assert periods.finer(year) == [f"2025-{month:02}" for month in range(1, 13)]
    assert periods.finer(periods.period_of(date(2025, 11, 1), "week")) == []


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ("2025-11-27", "2025-11-27", "27 Nov"),
        ("2025-11-20", "2025-11-23", "20–23 Nov"),
        ("2025-11-27", "2025-12-01", "27 Nov – 1 Dec"),
        ("2026-01-20", "2026-02-02", "20 Jan 2026 – 2 Feb 2026"),
    ],
)
def test_short_span(start: str, end: str, text: str) -> None:
    span = Span(date.fromisoformat(start), date.fromisoformat(end))
    assert periods.short_span(span, date(2025, 11, 1)) == text
