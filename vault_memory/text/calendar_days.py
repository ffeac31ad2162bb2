"""Days, spans of days, calendar arithmetic, and the English words for them. Pure.

Nothing here raises: a day outside the calendar (years 1 to 9999) is clamped to its first or last day.
"""

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}

MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Span(NamedTuple):
    """Local days from `start` to `end`, both included; `start <= end` always."""

    start: date
    end: date

    def isoformat(self) -> str:
        """`2025-11-27`, or `2025-11-27/2025-12-01` for several days."""
        if self.start == self.end:
            return self.start.isoformat()
        return f"{self.start.isoformat()}/{self.end.isoformat()}"


def day_of(year: int, month: int, day: int) -> date | None:
    """The date, or None when the calendar has no such day."""
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def plus(day: date, days: int) -> date:
    """`day` moved by `days`, kept inside the calendar."""
    return date.fromordinal(min(max(day.toordinal() + days, 1), date.max.toordinal()))


def shift(day: date, unit: str, count: int) -> date:
    """`day` moved by `count` units, kept inside its month and inside the calendar."""
    if unit in ("day", "week"):
        return plus(day, max(min(count, 10**7), -(10**7)) * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * _MONTHS_IN[unit]
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        return date.min if year < 1 else date.max
    return min(plus(date(year, month + 1, 1), day.day - 1), month_end(year, month + 1))


def unit_of(day: date, unit: str) -> Span:
    """The day itself, or the calendar week, month, quarter or year that contains it."""
    if unit == "day":
        return Span(day, day)
    if unit == "week":
        monday = plus(day, -day.weekday())
        return Span(monday, plus(monday, 6))
    months = _MONTHS_IN[unit]
    first = (day.month - 1) // months * months + 1
    return Span(date(day.year, first, 1), month_end(day.year, first + months - 1))


def month_end(year: int, month: int) -> date:
    """The last day of a month."""
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return date(year, month, _MONTH_DAYS[month - 1] + leap)


# --- weeks, months and years by name --------------------------------------------------------------------------------

PERIODS = ("week", "month", "year")
"""The kinds of period that get a summary, from the finest to the coarsest."""


class Period(NamedTuple):
    """One week, month or year; `name` is the name of its page, `start` and `end` are its first and last day.

    A week is an ISO week, from Monday to Sunday, and belongs to the year of its Thursday: `2025-W48`.
    """

    kind: str
    name: str
    start: date
    end: date

    @property
    def title(self) -> str:
        """Its name for people: `Week 48 of 2025, 24–30 November`, `November 2025`, `2025`."""
        if self.kind != "week":
            return self.name if self.kind == "year" else f"{MONTH_NAMES[self.start.month - 1]} {self.start.year}"
        year, week = self.name.split("-W")
        first, last = long_day(self.start, self.end), long_day(self.end, self.start)
        days = f"{self.start.day}–{last}" if self.start.month == self.end.month else f"{first} – {last}"
        return f"Week {int(week)} of {int(year)}, {days}"

    def holds(self, day: date | None) -> bool:
        return day is not None and self.start <= day <= self.end


def kind_of(path: str) -> str:
    """The kind of the period whose page is at this path."""
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
    """The names of the next finer periods that overlap this one, in order: months of a year, weeks of a month."""
    if period.kind == "week":
        return []
    kind, days = PERIODS[PERIODS.index(period.kind) - 1], range(period.start.toordinal(), period.end.toordinal() + 1)
    return list(dict.fromkeys(period_of(date.fromordinal(day), kind).name for day in days))


def long_day(day: date, beside: date | None = None) -> str:
    """A day in full, `27 November 2025`; without the year if `beside` is in the same year."""
    text = f"{day.day} {MONTH_NAMES[day.month - 1]}"
    return text if beside is not None and day.year == beside.year else f"{text} {day.year}"


def short_day(day: date, beside: date | None = None) -> str:
    """A short day, `27 Nov`; with the year if `beside` is in another year."""
    text = f"{day.day} {MONTH_NAMES[day.month - 1][:3]}"
    return text if beside is None or day.year == beside.year else f"{text} {day.year}"


def short_span(span: Span, beside: date | None = None) -> str:
    """A short span: `27 Nov`, `20–23 Nov`, `27 Nov – 1 Dec`."""
    if span.start == span.end:
        return short_day(span.start, beside)
    if (span.start.year, span.start.month) == (span.end.year, span.end.month):
        return f"{span.start.day}–{short_day(span.end, beside)}"
    return f"{short_day(span.start, beside)} – {short_day(span.end, beside)}"


# --- the words of time ---------------------------------------------------------------------------------------------

MONTHS = {name.lower(): n for n, name in enumerate(MONTH_NAMES, 1)}
MONTHS |= {name[:3]: n for name, n in MONTHS.items()} | {"sept": 9}
WEEKDAYS = {name.lower(): n for n, name in enumerate(WEEKDAY_NAMES)}
WEEKDAYS |= {name[:3]: n for name, n in WEEKDAYS.items()} | {"tues": 1, "thur": 3, "thurs": 3}
# Northern meteorological seasons; winter belongs to the year of its December.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
QUARTERS = {"q1": 1, "q2": 4, "q3": 7, "q4": 10, **SEASONS}
UNITS = {name + s: name for name in ("day", "week", "month", "quarter", "year") for s in ("", "s")}
DAYS_AWAY = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
CALENDAR_WORDS = frozenset(
    [*MONTHS, *WEEKDAYS, *UNITS, *DAYS_AWAY, *QUARTERS, "night", "weekend", "morning", "evening"]
)
_HINT = r"q[1-4]|[^\W\d_]+|[0-9]{4}|[0-9](?=st|nd|rd|th)"


def may_hold_date(text: str) -> bool:
    """Cheap test for whether the text may contain a date: most do not, and tokenising costs several times as much."""
    words = re.findall(_HINT, text.lower())
    return not CALENDAR_WORDS.isdisjoint(words) or any(word[0].isdigit() for word in words)
