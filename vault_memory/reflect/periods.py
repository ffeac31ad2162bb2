"""The periods that are summed up: weeks, months and years, their days, names and titles. Pure.

A week is the ISO week, from Monday to Sunday, and belongs to the year its Thursday lies in: `2025-W48`. Its days may
lie in two months, and it is then one of the weeks of both.
"""

from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.text.spans import MONTH_NAMES, Span, plus, unit_of

KINDS = ("week", "month", "year")
"""From the finest to the coarsest."""


class Period(NamedTuple):
    """One week, month or year; `name` is that of its page, `start` and `end` are its first and last day."""

    kind: str
    name: str
    start: date
    end: date

    @property
    def title(self) -> str:
        """What a person calls it: `Week 48 of 2025, 24–30 November`, `November 2025`, `2025`."""
        if self.kind != "week":
            return self.name if self.kind == "year" else f"{MONTH_NAMES[self.start.month - 1]} {self.start.year}"
        year, week = self.name.split("-W")
        first, last = long_day(self.start, self.end), long_day(self.end, self.start)
        days = f"{self.start.day}–{last}" if self.start.month == self.end.month else f"{first} – {last}"
        return f"Week {int(week)} of {int(year)}, {days}"

    def holds(self, day: date | None) -> bool:
        return day is not None and self.start <= day <= self.end


def kind_of(path: str) -> str:
    """The kind of the period whose page lies there."""
    name = path.rpartition("/")[2]
    return "week" if "-W" in name else "month" if "-" in name else "year"


@lru_cache(1 << 16)
def period_of(day: date, kind: str) -> Period:
    span = unit_of(day, kind)
    if kind == "week":
        year, week, _ = day.isocalendar()
        return Period(kind, f"{year:04}-W{week:02}", span.start, span.end)
    return Period(kind, day.isoformat()[: 7 if kind == "month" else 4], span.start, span.end)


def finer(period: Period) -> list[str]:
    """The names of the next finer periods with a day in this one, in order: months of a year, weeks of a month."""
    names: list[str] = []
    day = period.start
    while period.kind != "week":
        found = period_of(day, KINDS[KINDS.index(period.kind) - 1])
        names.append(found.name)
        if found.end >= period.end:
            break
        day = plus(found.end, 1)
    return names


def long_day(day: date, beside: date | None = None) -> str:
    """A day as a person writes it, `27 November 2025`; without its year where that is the year of `beside`."""
    text = f"{day.day} {MONTH_NAMES[day.month - 1]}"
    return text if beside is not None and day.year == beside.year else f"{text} {day.year}"


def short_day(day: date, beside: date | None = None) -> str:
    """A day in a few letters, `27 Nov`; with its year where that is not the year of `beside`."""
    text = f"{day.day} {MONTH_NAMES[day.month - 1][:3]}"
    return text if beside is None or day.year == beside.year else f"{text} {day.year}"


def short_span(span: Span, beside: date | None = None) -> str:
    """Days in a few letters: `27 Nov`, `20–23 Nov`, `27 Nov – 1 Dec`."""
    if span.start == span.end:
        return short_day(span.start, beside)
    if (span.start.year, span.start.month) == (span.end.year, span.end.month):
        return f"{span.start.day}–{short_day(span.end, beside)}"
    return f"{short_day(span.start, beside)} – {short_day(span.end, beside)}"
