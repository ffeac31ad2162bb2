"""The periods that are summed up: weeks, months and years, their days, names and titles. Pure.

A week is the ISO week, from Monday to Sunday, and belongs to the year its Thursday lies in: `2025-W48`. Its days may
lie in two months, and it is then one of the weeks of both.
"""

from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown.passages import SUMMARIES
from vault_memory.text.spans import MONTH_NAMES, Span, plus, unit_of

KINDS = ("week", "month", "year")
"""From the finest to the coarsest."""


class Period(NamedTuple):
    """One week, month or year; `name` is that of its page, `start` and `end` are its first and its last day."""

    kind: str
    name: str
    start: date
    end: date

    @property
    def path(self) -> str:
        """Where its page lies in the vault."""
        return page_of(self.name)

    @property
    def title(self) -> str:
        """What a person calls it: `Week 48 of 2025, 24–30 November`, `November 2025`, `2025`."""
        if self.kind == "week":
            year, week = self.name.split("-W")
            return f"Week {int(week)} of {int(year)}, {_from_to(self.start, self.end)}"
        return (
            f"{MONTH_NAMES[self.start.month - 1]} {self.start.year}" if self.kind == "month" else str(self.start.year)
        )

    def holds(self, day: date | None) -> bool:
        """Whether a day is one of its days; what has no day is in no period."""
        return day is not None and self.start <= day <= self.end


def page_of(name: str) -> str:
    """Where the page of a period lies, by the period's name."""
    return f"{SUMMARIES}{name}.md"


def kind_of(path: str) -> str:
    """The kind of the period whose page lies there."""
    name = path.removeprefix(SUMMARIES)
    return "week" if "-W" in name else "month" if "-" in name else "year"


@lru_cache(1 << 16)
def period_of(day: date, kind: str) -> Period:
    """The week, month or year a day lies in."""
    span = unit_of(day, kind)
    return Period(kind, _name(day, kind), span.start, span.end)


def grouped(days: Iterable[date]) -> dict[Period, list[date]]:
    """The weeks, then the months, then the years that these days lie in, in order, each with its days in order.

    The finer come first, so that who writes them in turn can link them from the coarser.
    """
    known = sorted(set(days))
    found: dict[Period, list[date]] = {}
    for kind in KINDS:
        last: date | None = None
        for day in known:
            if last is None or day > last:
                period = period_of(day, kind)
                inside, last = found.setdefault(period, []), period.end
            inside.append(day)
    return found


def finer(period: Period) -> list[str]:
    """The names of the next finer periods with a day in this one, in order: months of a year, weeks of a month."""
    if period.kind == "week":
        return []
    kind = KINDS[KINDS.index(period.kind) - 1]
    names: dict[str, None] = {}
    day = period.start
    while day <= period.end:
        found = period_of(day, kind)
        names[found.name] = None
        if found.end >= period.end:
            break
        day = plus(found.end, 1)
    return list(names)


def long(day: date, beside: date | None = None) -> str:
    """A day as a person writes it, `27 November 2025`; without its year where that is the year of `beside`."""
    text = f"{day.day} {MONTH_NAMES[day.month - 1]}"
    return text if beside is not None and day.year == beside.year else f"{text} {day.year}"


def short(day: date, beside: date | None = None) -> str:
    """A day in a few letters, `27 Nov`; with its year where that is not the year of `beside`."""
    text = f"{day.day} {MONTH_NAMES[day.month - 1][:3]}"
    return text if beside is None or day.year == beside.year else f"{text} {day.year}"


def short_span(span: Span, beside: date | None = None) -> str:
    """Days in a few letters: `27 Nov`, `20–23 Nov`, `27 Nov – 1 Dec`."""
    if span.start == span.end:
        return short(span.start, beside)
    if (span.start.year, span.start.month) == (span.end.year, span.end.month):
        return f"{span.start.day}–{short(span.end, beside)}"
    return f"{short(span.start, beside)} – {short(span.end, beside)}"


def _name(day: date, kind: str) -> str:
    if kind == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return f"{day.year:04}-{day.month:02}" if kind == "month" else f"{day.year:04}"


def _from_to(start: date, end: date) -> str:
    """`24–30 November`, `27 October – 2 November`, `29 December 2025 – 4 January 2026`."""
    last = f"{end.day} {MONTH_NAMES[end.month - 1]}"
    if (start.year, start.month) == (end.year, end.month):
        return f"{start.day}–{last}"
    first = f"{start.day} {MONTH_NAMES[start.month - 1]}"
    return f"{first} – {last}" if start.year == end.year else f"{first} {start.year} – {last} {end.year}"
