"""Days, spans of days, the arithmetic of the calendar, and the English words for them. Pure.

Nothing here raises: what leaves the calendar (years 1 to 9999) is clamped to its first or last day.
"""

import re
from datetime import date
from typing import NamedTuple

_ISO = (
    r"([0-9]{4})(?:-W([0-9]{2})|-([0-9]{2})(?:-([0-9]{2})"
    r"(?:[T ][0-9]{2}:[0-9]{2}[0-9:.,]*(?: ?Z| ?[+-][0-9:]{2,5})?)?)?)?"
)
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


class CalendarPart(NamedTuple):
    """`months` whole months from `month`, or one `day` of it; without a year until something resolves it."""

    year: int | None
    month: int
    months: int = 1
    day: int | None = None


def parse_t(text: str) -> Span | None:
    """The value of the Retain key `t=`: an ISO date, week, month or year, or two of them as `from/to`."""
    start, slash, end = text.strip().partition("/")
    first = _iso(start)
    last = _iso(end) if slash else first
    if first is None or last is None or first.start > last.end:
        return None
    return Span(first.start, last.end)


def readings(text: str) -> list[CalendarPart]:
    """The days that a date in numbers may be: with dots the day comes first, with slashes or dashes day or month."""
    if text.isdigit() and len(text) == 8:
        text = f"{text[:4]}/{text[4:6]}/{text[6:]}"
    numbers = [int(number) for number in re.split("[./-]", text) if number.isdecimal()]
    if len(numbers) != 3:
        return []
    first, second, year = numbers
    if first > 999:
        found = {CalendarPart(first, second, 1, year)}
    elif "." in text:
        found = {CalendarPart(year, second, 1, first)}
    else:
        found = {CalendarPart(year, second, 1, first), CalendarPart(year, first, 1, second)}
    return sorted(part for part in found if part.year and days_of(part, part.year))


def _iso(text: str) -> Span | None:
    match = re.fullmatch(_ISO, text.strip())
    if match is None:
        return None
    year, week, month, day = (int(group) if group else None for group in match.groups())
    if year is None:
        return None
    if week is not None:
        try:
            return unit_of(date.fromisocalendar(year, week, 1), "week")
        except ValueError:
            return None
    if month is None:
        return days_of(CalendarPart(year, 1, 12), year)
    return None if day == 0 else days_of(CalendarPart(year, month, 1, day), year)


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
    return min(plus(date(year, month + 1, 1), day.day - 1), _month_end(year, month + 1))


def unit_of(day: date, unit: str) -> Span:
    """The calendar week, month, quarter or year `day` lies in."""
    if unit == "day":
        return Span(day, day)
    if unit == "week":
        monday = plus(day, -day.weekday())
        return Span(monday, plus(monday, 6))
    months = _MONTHS_IN[unit]
    first = (day.month - 1) // months * months + 1
    return Span(date(day.year, first, 1), _month_end(day.year, first + months - 1))


def days_of(part: CalendarPart, year: int) -> Span | None:
    """The days of `part` in `year`, or None when there are none."""
    start = day_of(year, part.month, part.day or 1)
    if start is None:
        return None
    if part.day:
        return Span(start, start)
    over, month = divmod(part.month + part.months - 2, 12)
    return Span(start, _month_end(year + over, month + 1) if year + over <= 9999 else date.max)


def _month_end(year: int, month: int) -> date:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return date(year, month, _MONTH_DAYS[month - 1] + leap)


def resolve(what: CalendarPart | Span, anchor: date, mode: str) -> Span | None:
    """Days of `what`; a missing year is sought around `anchor`.

    The last that has begun ("before") or will within a week ("past"), the next not yet over ("ahead"), the nearest
    ("near"; of two the earlier), or as people say it: "last", "this", "next".
    """
    if isinstance(what, Span):
        return what
    if what.year is not None:
        return days_of(what, what.year)
    if mode == "this":
        return days_of(what, anchor.year)
    # 29 February may be eight years away; anything else, and a winter that began last year, is within two.
    reach = 8 if (what.month, what.day) == (2, 29) else 2
    years = range(anchor.year - reach, anchor.year + reach + 1)
    spans = [span for year in years if (span := days_of(what, year))]
    if mode == "near":
        return min(spans, key=lambda s: max((s.start - anchor).days, (anchor - s.end).days, 0), default=None)
    if mode in ("next", "ahead"):
        return next((s for s in spans if (s.start > anchor if mode == "next" else s.end >= anchor)), None)
    # In "past", a few days ahead is meant as ahead, not as last year's.
    latest = plus(anchor, 7) if mode == "past" else anchor
    return next((s for s in reversed(spans) if (s.end < anchor if mode == "last" else s.start <= latest)), None)


# --- the words of time ---------------------------------------------------------------------------------------------

MONTHS = {name.lower(): n for n, name in enumerate(MONTH_NAMES, 1)}
MONTHS |= {name[:3]: n for name, n in MONTHS.items()} | {"sept": 9}
WEEKDAYS = {name.lower(): n for n, name in enumerate(WEEKDAY_NAMES)}
WEEKDAYS |= {name[:3]: n for name, n in WEEKDAYS.items()} | {"tues": 1, "thur": 3, "thurs": 3}
# Northern meteorological seasons; winter belongs to the year its December lies in.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
QUARTERS = {"q1": 1, "q2": 4, "q3": 7, "q4": 10, **SEASONS}
UNITS = {name + s: name for name in ("day", "week", "month", "quarter", "year") for s in ("", "s")}
DAYS_AWAY = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
CALENDAR_WORDS = frozenset(
    [*MONTHS, *WEEKDAYS, *UNITS, *DAYS_AWAY, *QUARTERS, "night", "weekend", "morning", "evening"]
)
_HINT = r"q[1-4]|[^\W\d_]+|[0-9]{4}|[0-9](?=st|nd|rd|th)"


def may_hold_date(text: str) -> bool:
    """Whether the text may hold a date: most hold none, and reading their tokens costs several times this."""
    words = re.findall(_HINT, text.lower())
    return not CALENDAR_WORDS.isdisjoint(words) or any(word[0].isdigit() for word in words)
