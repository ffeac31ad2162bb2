"""Converts between days and daily-note names in a moment.js format; touches no files.

Each format is compiled to a pattern once and cached. Week, quarter and time tokens must match but are ignored;
month names are read in English only, weekday names in any language.
"""

import re
from datetime import date, datetime
from functools import lru_cache

from vault_memory.text.calendar_days import MONTH_NAMES, MONTHS, WEEKDAY_NAMES, day_of

_MOMENT = (
    r"\[([^\]]*)\]|(YYYY|gggg|GGGG|MMMM|DDDD|dddd|MMM|DDD|ddd|YY|gg|GG|MM|Mo|DD|Do|dd|ww|wo|WW|Wo|HH|hh"
    r"|mm|ss|M|D|d|e|E|w|W|Q|H|h|m|s|A|a)|(.)"
)
_NAME = r"[^\W\d_]+\.?"
_ORDINAL = "[0-9]{1,2}(?:st|nd|rd|th)"
# Token -> (what it means, its pattern).
_SAYS = {
    "YYYY": ("year", "[0-9]{4}"),
    "YY": ("short year", "[0-9]{2}"),
    "MMMM": ("month name", _NAME),
    "MMM": ("month name", _NAME),
    "MM": ("month", "[0-9]{2}"),
    "Mo": ("month", _ORDINAL),
    "M": ("month", "[0-9]{1,2}"),
    "DD": ("day", "[0-9]{2}"),
    "Do": ("day", _ORDINAL),
    "D": ("day", "[0-9]{1,2}"),
}


def name_day(stem: str, moment_format: str = "YYYY-MM-DD") -> date | None:
    """The day named by a note's path without its suffix; text after the date is allowed ("2026-01-05 Monday").

    `stem` needs at least as many trailing path components as the format has. A name that starts with an ISO date
    is that day under any format. None for other names, and for days that do not exist.
    """
    days: list[tuple[int, int, int]] = []
    parts = stem.split("/")
    components, regex, says = _names(moment_format) or (0, None, ())
    if regex and (match := regex.match("/".join(parts[-components:]))):
        said = dict(zip(says, match.groups(), strict=True))
        number = {what: int(text.rstrip("stndrh")) for what, text in said.items() if what != "month name"}
        short = number.get("short year", 0)  # as moment.js: 68 is 2068, 69 is 1969
        year = number.get("year", short + (2000 if short <= 68 else 1900))
        month = number.get("month") or MONTHS.get(said.get("month name", "").lower().rstrip("."), 0)
        days.append((year, month, number["day"]))
    if iso := re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])", parts[-1]):
        days.append((int(iso[1]), int(iso[2]), int(iso[3])))
    return next(filter(None, (day_of(*numbers) for numbers in days)), None)


@lru_cache(maxsize=16)
def _names(moment_format: str) -> tuple[int, re.Pattern[str], tuple[str, ...]] | None:
    """The fewest trailing path components that name a full day, their pattern, and what each of its groups means."""
    parts = moment_format.strip("/").split("/")
    for count in range(1, len(parts) + 1):
        pattern, says = "", list[str]()
        for literal, token, other in re.findall(_MOMENT, "/".join(parts[-count:]), re.S):
            if token in _SAYS:
                says.append(_SAYS[token][0])
                pattern += f"({_SAYS[token][1]})"
            elif token:
                pattern += _NAME if token in ("dddd", "ddd", "dd", "A", "a") else "[0-9]{1,4}(?:st|nd|rd|th)?"
            else:
                pattern += re.escape(literal or other)
        if "day" in says and {"year", "short year"} & set(says) and {"month", "month name"} & set(says):
            return count, re.compile(pattern + r"(?![^\W_])"), tuple(says)
    return None


def note_path(day: date, folder: str, moment_format: str) -> str:
    """The vault-relative path of a day's note."""
    name = format_day(datetime(day.year, day.month, day.day), moment_format).strip("/")
    return f"{folder}/{name}.md" if folder else f"{name}.md"


def format_day(when: datetime, moment_format: str) -> str:
    """Format a day and time with a moment.js format, in English; unknown tokens stay as they are."""
    week = when.isocalendar()
    month, weekday = MONTH_NAMES[when.month - 1], WEEKDAY_NAMES[when.weekday()]
    values = {
        "YYYY": f"{when.year:04}", "YY": f"{when.year % 100:02}", "GGGG": f"{week.year:04}", "gggg": f"{week.year:04}",
        "MMMM": month, "MMM": month[:3], "MM": f"{when.month:02}", "M": str(when.month),
        "DD": f"{when.day:02}", "D": str(when.day), "Do": f"{when.day}{ordinal(when.day)}",
        "dddd": weekday, "ddd": weekday[:3], "dd": weekday[:2],
        "WW": f"{week.week:02}", "W": str(week.week), "ww": f"{week.week:02}", "w": str(week.week),
        "HH": f"{when.hour:02}", "H": str(when.hour), "mm": f"{when.minute:02}", "ss": f"{when.second:02}",
    }  # fmt: skip
    parts = re.findall(_MOMENT, moment_format, re.S)
    return "".join(literal or other or values.get(token, token) for literal, token, other in parts)


def ordinal(day: int) -> str:
    """The ordinal suffix of a day: `th` for 27."""
    return "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
