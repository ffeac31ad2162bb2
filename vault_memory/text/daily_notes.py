"""Converts between days and daily-note names in a moment.js format; touches no files.

Each format is compiled to a pattern once and cached. Week, quarter and time tokens must match but are ignored.
Obsidian writes the names of months and weekdays in its own language: they are read and written in five.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from functools import cache, lru_cache
from typing import NamedTuple

from vault_memory.text.calendar_days import MONTH_NAMES, WEEKDAY_NAMES, day_of
from vault_memory.text.terms import folded


class DateNames(NamedTuple):
    """The names of months and weekdays in one language, as moment.js has them, in full and short."""

    months: Sequence[str]
    short_months: Sequence[str]
    weekdays: Sequence[str]
    short_weekdays: Sequence[str]


def _names_of(months: str, short_months: str, weekdays: str, short_weekdays: str) -> DateNames:
    return DateNames(months.split(), short_months.split(), weekdays.split(), short_weekdays.split())


DATE_NAMES = {
    "en": DateNames(MONTH_NAMES, [m[:3] for m in MONTH_NAMES], WEEKDAY_NAMES, [d[:3] for d in WEEKDAY_NAMES]),
    "de": _names_of(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Jan. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez.",
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag", "Mo. Di. Mi. Do. Fr. Sa. So.",
    ),
    "fr": _names_of(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
        "lundi mardi mercredi jeudi vendredi samedi dimanche", "lun. mar. mer. jeu. ven. sam. dim.",
    ),
    "es": _names_of(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene. feb. mar. abr. may. jun. jul. ago. sep. oct. nov. dic.",
        "lunes martes miércoles jueves viernes sábado domingo", "lun. mar. mié. jue. vie. sáb. dom.",
    ),
    "pt": _names_of(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        "seg. ter. qua. qui. sex. sáb. dom.",
    ),
}  # fmt: skip
"""By language; Obsidian does not store which one it uses."""

_ORDINALS = {"de": ".", "fr": "", "es": "º", "pt": "º"}
LEAST_NAME = 3
"""The fewest letters of an abbreviated month: "jun", "juil."."""

_MOMENT = (
    r"\[([^\]]*)\]|(YYYY|gggg|GGGG|MMMM|DDDD|dddd|MMM|DDD|ddd|YY|gg|GG|MM|Mo|DD|Do|dd|ww|wo|WW|Wo|HH|hh"
    r"|mm|ss|M|D|d|e|E|w|W|Q|H|h|m|s|A|a)|(.)"
)
_NAME = r"[^\W\d_]+(?:-feira)?\.?"
_ORDINAL = r"[0-9]{1,2}(?:st|nd|rd|th|er|º|\.)?"
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
    parts = unicodedata.normalize("NFC", stem).split("/")
    components, regex, says = _names(moment_format) or (0, None, ())
    if regex and (match := regex.match("/".join(parts[-components:]))):
        said = dict(zip(says, match.groups(), strict=True))
        number = {what: int(text.rstrip("stndrhe.º")) for what, text in said.items() if what != "month name"}
        short = number.get("short year", 0)  # as moment.js: 68 is 2068, 69 is 1969
        year = number.get("year", short + (2000 if short <= 68 else 1900))
        month = number.get("month") or _month_of(said.get("month name", ""))
        days.append((year, month, number["day"]))
    if iso := re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])", parts[-1]):
        days.append((int(iso[1]), int(iso[2]), int(iso[3])))
    return next(filter(None, (day_of(*numbers) for numbers in days)), None)


@cache
def _month_of(name: str) -> int:
    """The month that a name or its abbreviation stands for in any of the languages; 0 if none or several."""
    start = folded(name.lower().rstrip("."))
    months = {
        number for names in DATE_NAMES.values() for number, month in enumerate(names.months, 1)
        if len(start) >= LEAST_NAME and folded(month.lower()).startswith(start)
    }  # fmt: skip
    return months.pop() if len(months) == 1 else 0


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


def note_path(day: date, folder: str, moment_format: str, language: str = "en") -> str:
    """The vault-relative path of a day's note, with the names of months and weekdays in a language of DATE_NAMES."""
    name = format_day(datetime(day.year, day.month, day.day), moment_format, language).strip("/")
    return f"{folder}/{name}.md" if folder else f"{name}.md"


def has_names(moment_format: str) -> bool:
    """Whether a format writes names of months or weekdays, or ordinals, so that its language matters."""
    return any(
        token in ("MMMM", "MMM", "dddd", "ddd", "dd", "Do") for _, token, _ in re.findall(_MOMENT, moment_format)
    )


def format_day(when: datetime, moment_format: str, language: str = "en") -> str:
    """Format a day and time with a moment.js format; unknown tokens stay as they are."""
    week = when.isocalendar()
    names, month, weekday = DATE_NAMES[language], when.month - 1, when.weekday()
    suffix = (
        ordinal(when.day) if language == "en" else "er" if (language, when.day) == ("fr", 1) else _ORDINALS[language]
    )
    values = {
        "YYYY": f"{when.year:04}", "YY": f"{when.year % 100:02}", "GGGG": f"{week.year:04}", "gggg": f"{week.year:04}",
        "MMMM": names.months[month], "MMM": names.short_months[month], "MM": f"{when.month:02}", "M": str(when.month),
        "DD": f"{when.day:02}", "D": str(when.day), "Do": f"{when.day}{suffix}",
        "dddd": names.weekdays[weekday], "ddd": names.short_weekdays[weekday], "dd": names.weekdays[weekday][:2],
        "WW": f"{week.week:02}", "W": str(week.week), "ww": f"{week.week:02}", "w": str(week.week),
        "HH": f"{when.hour:02}", "H": str(when.hour), "mm": f"{when.minute:02}", "ss": f"{when.second:02}",
    }  # fmt: skip
    parts = re.findall(_MOMENT, moment_format, re.S)
    return "".join(literal or other or values.get(token, token) for literal, token, other in parts)


def ordinal(day: int) -> str:
    """The ordinal suffix of a day: `th` for 27."""
    return "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
