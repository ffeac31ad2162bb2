"""The English grammar of dates: parses the date expression that starts at a given token of a text. Pure.

One table (`_FORMS`) contains all expressions as patterns over signs, one sign per token. The `sort` of a parsed
expression says how certain it is; date_finder.py decides whether its context makes an uncertain one a date.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from vault_memory.text.calendar_days import (
    DAYS_AWAY,
    MONTHS,
    QUARTERS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    Span,
    day_of,
    month_end,
    plus,
    shift,
    unit_of,
)

_ISO = (
    r"(?P<year>[0-9]{4})(?:-W(?P<week>[0-9]{2})|-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[T ][0-9]{2}:[0-9]{2}[0-9:.,]*(?: ?Z| ?[+-][0-9:]{2,5})?)?)?)?"
)
# Patterns stay strings: `re` compiles and caches them on first use, which most questions never reach.
# Numbers glued to other characters (1.10, 10.0.0.1, 3/4, v2024, 1,500) must end up in `junk`, never in `num`.
_TOKEN = (
    r"(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?(?!\w))"
    r"|(?P<iso>(?<![\w.:/#$€£@+\\=-])[0-9]{4}(?:/[0-9]{2}/[0-9]{2}|-W[0-9]{2}|-[0-9]{2}(?:-[0-9]{2})?)"
    r"(?:(?<=-[0-9]{2}-[0-9]{2})[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?: ?Z| ?[+-][0-9]{2}:?[0-9]{2})?)?"
    r"(?:/[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?)?(?!\w|[-/.:]\w))"
    # Before `num`, which would take the 5 of 5-9-2026.
    r"|(?P<numeric>(?<![\w.:/#$€£@+\\=&<>~-])(?:[0-9]{1,2}(?P<sep>[./-])[0-9]{1,2}(?P=sep)[0-9]{4}"
    r"|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})(?!\w|[-/.:]\w))"
    r"|(?P<num>(?<![\w.:/#$€£@+\\=&<>~])(?<![0-9],)[0-9]{1,4}(?:st|nd|rd|th)?"
    r"(?!\w|[%°$€£]|[.:/,][0-9]))"
    r"|(?P<junk>\w+(?:[.:/,'’@+-]\w+)*)"
    r"|(?P<dash>[–—-])"
    r"|(?P<mark>[^\w\s])"
)


# Tolerance of "two weeks ago" in either direction, in days.
_SLACK = {"day": 0, "week": 3, "month": 15, "quarter": 45, "year": 183}


class Token(NamedTuple):
    """A word, number or punctuation mark: `kind` is its group in `_TOKEN`, `word` its text in lower case."""

    kind: str
    word: str
    start: int
    end: int
    raw: str

    @property
    def capital(self) -> bool:
        """Whether it is capitalised like a name: "May", but not "may" or "MB"."""
        return self.raw[:1].isupper() and self.raw[1:].islower()

    @property
    def number(self) -> int:
        """The value of a day, a year or a count, without an ordinal suffix."""
        return int(self.word.rstrip("stndrh"))


_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_COUNTS |= {"eight": 8, "nine": 9, "ten": 10, "couple": 2, "few": 3, "several": 3}
_TURNS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
_TIMES = {-1: ("night",), 0: ("morning", "afternoon", "evening")}

_SIGNS: dict[str, str] = {
    **dict.fromkeys(_COUNTS, "C"), **dict.fromkeys(("couple", "few"), "F"), "a": "a",
    **{name: "m" if len(name) == 3 or name == "sept" else "M" for name in MONTHS},
    **dict.fromkeys(QUARTERS, "Q"), **dict.fromkeys(WEEKDAYS, "W"), **dict.fromkeys(DAYS_AWAY, "A"),
    **dict.fromkeys(_TURNS, "T"), **{name: "u" if name.endswith("s") else "U" for name in UNITS}, "weekend": "E",
    **dict.fromkeys(sum(_TIMES.values(), ()), "S"), **dict.fromkeys(("to", "until", "till", "through", "thru"), ">"),
    "of": "f", "the": "t", "and": "&", "between": "B", "ago": "g", "before": "b", ".": ".", ",": ",",
}  # fmt: skip
"""Word -> its sign in the grammar below. M: month, m: abbreviated month, Q: quarter or season, W: weekday, A: today,
yesterday …, T: last, this or next, U: unit of time, u: plural unit, C F a: count; and for numbers D: day of the month,
O: the same as an ordinal, Y: year, N: other, I: ISO date, #: other numeric date. x: anything else, $: end of text."""


class Tokens(list[Token]):
    """The tokens of a text, followed by enough end tokens for look-ahead; `signs` has one character per token."""

    def __init__(self, text: str) -> None:
        for match in re.finditer(_TOKEN, text):
            word = match[0].lower()
            if word[-2:] in ("'s", "’s") and word[0].isalpha():
                word = word[:-2]
            self.append(Token(match.lastgroup or "", word, match.start(), match.end(), match[0]))
        self.signs = "".join(map(_sign, self)) + "$" * 10
        self += [Token("end", "", 0, 0, "")] * 10


def _sign(token: Token) -> str:
    if token.kind != "num":
        return {"iso": "I", "numeric": "#", "dash": "-"}.get(token.kind) or _SIGNS.get(token.word, "x")
    if re.fullmatch("(?:19|20)[0-9]{2}", token.word):
        return "Y"
    is_plain = token.word.isdigit()
    if re.fullmatch("[0-9]{1,2}(?:st|nd|rd|th)?", token.word) and 1 <= token.number <= 31:
        return "D" if is_plain else "O"
    return "N" if is_plain else "x"


# Months that are also verbs, and months that are also first names.
VERBS = frozenset({"may", "march", "mar"})
NAMES = frozenset({"april", "june", "jan", "august"})


class CalendarPart(NamedTuple):
    """`months` whole months from `month`, or one `day` of that month; `year` may be None until resolved."""

    year: int | None
    month: int
    months: int = 1
    day: int | None = None


def parse_t(text: str) -> Span | None:
    """The days of the Retain key `t=`: an ISO date, week, month or year, or two of them as `from/to`; else None."""
    start, slash, end = text.strip().partition("/")
    first = _iso(start)
    last = _iso(end) if slash else first
    return Span(first.start, last.end) if first and last and first.start <= last.end else None


def readings(text: str) -> list[date]:
    """The days a numeric date may mean: with dots the day comes first, with slashes or dashes the day or the month."""
    first, second, third = map(int, re.split("[./-]", text))
    if first > 999:
        found = {day_of(first, second, third)}
    else:
        found = {day_of(third, second, first), None if "." in text else day_of(third, first, second)}
    return sorted(filter(None, found))


def _iso(text: str) -> Span | None:
    match = re.fullmatch(_ISO, text.strip())
    with suppress(ValueError):
        if match and match["week"]:
            return unit_of(date.fromisocalendar(int(match["year"]), int(match["week"]), 1), "week")
        if match:
            start = date(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
            return unit_of(start, "day" if match["day"] else "month" if match["month"] else "year")
    return None


def days_of(part: CalendarPart, year: int) -> Span | None:
    """The days of `part` in `year`, or None if that day does not exist."""
    start = day_of(year, part.month, part.day or 1)
    if start is None:
        return None
    if part.day:
        return Span(start, start)
    over, month = divmod(part.month + part.months - 2, 12)
    return Span(start, month_end(year + over, month + 1) if year + over <= 9999 else date.max)


def resolve(what: CalendarPart | Span, anchor: date, mode: str) -> Span | None:
    """The days of `what`; `mode` says how a missing year is chosen around `anchor`.

    "before" is the latest that has begun, "past" the latest that has begun or will within a week, "ahead" the next not
    yet over, "near" the nearest (the earlier of two); "last", "this" and "next" are as in speech.
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
    # In "past", a date a few days ahead means this year's, not last year's.
    latest = plus(anchor, 7) if mode == "past" else anchor
    return next((s for s in reversed(spans) if (s.end < anchor if mode == "last" else s.start <= latest)), None)


class DateExpression(NamedTuple):
    """An expression parsed up to token `stop`: a single one, or the two ends of a range.

    `sort` says how certain it is: "fixed" is a date in any context, "relative" is clear once the day it was said is
    known, "vague" is clear only in a question; the others (month, year, season, weekday, ordinal) need the right
    words around them.
    """

    first: CalendarPart | Span
    stop: int
    sort: str = "fixed"
    second: CalendarPart | Span | None = None


class _FormMatch(NamedTuple):
    """The match of a form: tokens `at` up to but excluding `stop`, and the tokens of its named groups."""

    tokens: Tokens
    at: int
    stop: int
    named: dict[str, Token]
    anchor: date

    def span(self, start: date, end: date | None = None, sort: str = "relative") -> DateExpression:
        return DateExpression(Span(start, end or start), self.stop, sort)

    def shifted(self, move: int) -> date:
        """The anchor moved by the count and unit of "two weeks", `move` times."""
        word = self.named["count"].word
        return shift(self.anchor, UNITS[self.named["unit"].word], move * (_COUNTS.get(word) or int(word)))


# --- a reader for each form ------------------------------------------------------------------------------------------


def _iso_day(form: _FormMatch) -> DateExpression | None:
    word = form.tokens[form.at].word.upper()
    is_year = len(word) != 7 or word[:2] in ("19", "20")
    span = parse_t(word.replace("/", "-") if word[4] == "/" else word) if is_year else None
    return DateExpression(span, form.stop) if span else None


def _day_in_numbers(form: _FormMatch) -> DateExpression | None:
    days = [CalendarPart(day.year, day.month, 1, day.day) for day in readings(form.tokens[form.at].word)]
    return DateExpression(days[0], form.stop) if len(days) == 1 else None


def _calendar(form: _FormMatch) -> DateExpression | None:
    """A day, days of one month, a month, a quarter, a season or a year."""
    named = form.named
    month, year, day, last = (named.get(name) for name in ("month", "year", "day", "last"))
    if month is None:
        year = named["year"]
        return DateExpression(CalendarPart(year.number, 1, 12), form.stop, "year")
    if "dot" in named and year is None:  # "option 5. May I …"
        return None
    start, months = (QUARTERS[month.word], 3) if month.word in QUARTERS else (MONTHS[month.word], 1)
    part = CalendarPart(year and year.number, start, months, day and day.number)
    if day is None:
        sort = "fixed" if year else "season" if month.word in SEASONS else "month"
        return DateExpression(part, form.stop, sort)
    if not (year or month.word not in VERBS or month.capital):  # "may 5 users log in?"
        return None
    if last is None:
        return DateExpression(part, form.stop)
    is_loose = form.tokens[form.stop - 1] is last and "dash" not in named and not ends_here(form.tokens, form.stop)
    if last.number <= day.number or is_loose:
        return None
    return DateExpression(part, form.stop, second=part._replace(day=last.number))


def _ago(form: _FormMatch) -> DateExpression:
    """The day that long ago, widened by the tolerance of its unit, and never past the anchor."""
    day = form.shifted(-1)
    slack = _SLACK[UNITS[form.named["unit"].word]] or (2 if form.named["count"].word == "few" else 0)
    return form.span(plus(day, -slack), min(plus(day, slack), form.anchor))


def _ordinal(form: _FormMatch) -> DateExpression | None:
    """Such a day of this month or the one before, at most a week ahead."""
    day, month = form.named["day"].number, unit_of(plus(form.anchor, 7), "month").start
    spans = (days_of(CalendarPart(None, m.month, 1, day), m.year) for m in (month, shift(month, "month", -1)))
    span = next((span for span in spans if span and span.start <= plus(form.anchor, 7)), None)
    return DateExpression(span, form.stop, "ordinal") if span else None


def _weekday_with_day(form: _FormMatch) -> DateExpression | None:
    dated = read(form.tokens, form.stop, form.anchor)
    is_day = dated and dated.sort in ("fixed", "ordinal") and (isinstance(dated.first, Span) or dated.first.day)
    return dated._replace(sort="fixed") if dated and is_day else None


def _weekday(form: _FormMatch) -> DateExpression | None:
    """The last such day, or that of last, this or next week; "sat" alone is too often not a day."""
    named, anchor = form.named, form.anchor
    day = WEEKDAYS[named["weekday"].word]
    if "turn" in named and named["unit"].word == "week":
        return form.span(plus(unit_of(anchor, "week").start, 7 * _TURNS[named["turn"].word] + day))
    last = plus(anchor, -((anchor.weekday() - day) % 7))
    return DateExpression(Span(last, last), form.at + 1, "weekday") if len(named["weekday"].word) > 5 else None


def _day_away(form: _FormMatch) -> DateExpression | None:
    """Today, yesterday or tomorrow; capitalised in mid-sentence or after a quotation mark, it is a title."""
    first, before = form.tokens[form.at], form.tokens[form.at - 1]
    if (first.capital and before.kind == "word") or before.word in ('"', "“", "'", "‘", "*", "["):
        return None
    away = DAYS_AWAY[form.named["away"].word]
    if "day" in form.named:  # the day before yesterday
        return form.span(plus(form.anchor, -2)) if first.word == "day" and away == -1 else None
    return form.span(plus(form.anchor, away), sort="relative" if away else "vague")


def _relative_period(form: _FormMatch) -> DateExpression | None:
    """A unit, a count of units, a weekend, a weekday or a time of day after "last", "this" or "next"."""
    named, anchor, turn = form.named, form.anchor, form.named["turn"].word
    move = _TURNS[turn]
    unit = UNITS[named["unit"].word] if "unit" in named else "week"
    this, is_name = unit_of(shift(anchor, unit, move), unit), True
    if "count" in named:
        other = form.shifted(move)
        return form.span(min(other, anchor), max(other, anchor), "vague") if move else None
    if turn == "past" and "unit" in named:
        this, move = Span(shift(anchor, unit, -1), anchor), 0
    elif "weekend" in named:
        this = Span(plus(this.start, 5), this.end)
    elif "time" in named:
        day = plus(anchor, move)
        this = Span(day, day)
    elif "weekday" in named:
        ahead = WEEKDAYS[named["weekday"].word] - anchor.weekday()
        day = plus(anchor, (ahead, (ahead - 1) % 7 + 1, ahead % 7 - 7)[move])
        this = Span(day, day)
        is_name = len(named["weekday"].word) > 5 or named["weekday"].capital  # not "the last sat on it"
    is_date = unit != "day" and is_name and ("time" not in named or named["time"].word in _TIMES.get(move, ()))
    is_clear = move < 0 or (move > 0 and "unit" in named)
    return form.span(*this, "relative" if is_clear else "vague") if is_date else None


def _relative_month(form: _FormMatch) -> DateExpression | None:
    """A month, season, quarter or yearless date after "last", "this" or "next"."""
    turn = ("this", "next", "last")[_TURNS[form.named["turn"].word]]
    found = read(form.tokens, form.stop, form.anchor)
    if found is None or not isinstance(found.first, CalendarPart) or found.first.year is not None:
        return None
    is_word = form.tokens[form.stop].word in VERBS | {"fall", "spring"}
    span = resolve(found.first, form.anchor, turn)
    if span is None or (is_word and not ends_here(form.tokens, found.stop)):
        return None
    return DateExpression(span, found.stop, "relative" if turn == "last" else "vague")


# --- all forms -------------------------------------------------------------------------------------------------------

_COUNTED = "(?:a(?=F))?(?P<count>[aCFDN])f?(?P<unit>[Uu])"
"""A count of units: two weeks, a couple of days."""

_IN_YEAR = "(?:[,f]?(?P<year>Y))?"
_MONTH = r"(?P<month>M|m(?:\.(?=[DOY]))?)"
_TURN = "(?P<turn>T)"

_FORMS: tuple[tuple[str, str, Callable[[_FormMatch], DateExpression | None]], ...] = (
    ("I", "I", _iso_day),
    ("#", "#", _day_in_numbers),  # 5.9.2026, 25/9/2026
    ("Y", "(?P<year>Y)", _calendar),
    ("aCFDN", f"{_COUNTED}g", _ago),
    ("DO", rf"(?P<day>[DO])(?P<dot>\.)?f?(?P<month>[Mm]){_IN_YEAR}", _calendar),  # 27 November, the 27th of Nov
    ("DO", f"(?P<day>[DO])(?:[->]|(?<=B[DO])&)(?P<last>[DO])f?(?P<month>[Mm]){_IN_YEAR}", _calendar),  # 3-10 Nov
    ("O", "(?P<day>O)", _ordinal),
    ("Mm", f"{_MONTH}(?P<day>[DO])(?:(?P<dash>-)|>|(?<=B..)&)t?(?P<last>[DO])(?![fMm]){_IN_YEAR}", _calendar),
    ("Mm", f"{_MONTH}(?P<day>[DO])?{_IN_YEAR}", _calendar),  # Nov 27, 2025; November 2025; November
    ("Q", f"(?P<month>Q){_IN_YEAR}", _calendar),
    ("W", "W,?t?(?!W)", _weekday_with_day),  # Tuesday, Nov 25; Monday the 16th
    ("W", f"(?P<weekday>W)(?:,?{_TURN}(?P<unit>U))?", _weekday),
    ("AU", "(?P<day>Ub)?(?P<away>A)", _day_away),
    ("T", f"{_TURN}(?:(?P<unit>U)|(?P<weekend>E)|(?P<time>S)|(?P<weekday>W))(?!f)", _relative_period),
    ("T", f"{_TURN}(?!a){_COUNTED}", _relative_period),
    ("T", f"{_TURN}(?=[MmQ][^f])", _relative_month),
)
"""(Signs a form may begin with, its pattern over signs, its reader); the first form that yields an expression wins."""


def read(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    """The expression that starts at token `at`, relative words resolved against `anchor`; None if there is none."""
    sign = tokens.signs[at]
    if sign in "x$.,-":
        return None
    for beginnings, pattern, reader in _FORMS:
        if sign in beginnings and (match := re.compile(pattern).match(tokens.signs, at)):
            named = {name: tokens[match.start(name)] for name, found in match.groupdict().items() if found}
            if expression := reader(_FormMatch(tokens, at, match.end(), named, anchor)):
                return expression
    return None


def ranged(tokens: Tokens, first: DateExpression, anchor: date, lead: str) -> DateExpression:
    """`first` together with the expression after "to" or a dash (or "and", after "between"), if any."""
    joint = tokens.signs[first.stop]
    if first.second is not None or not (joint in "->" or (joint == "&" and lead == "between")):
        return first
    start = first.stop + 1 + (tokens.signs[first.stop + 1] == "t")
    second = read(tokens, start, anchor)
    if second is None or second.second is not None:
        return first
    ends = first.first, second.first
    lends = isinstance(ends[0], CalendarPart) and isinstance(ends[1], CalendarPart) and ends[1].year is not None
    known = ("fixed", "relative", "vague")  # the less certain of the two; any other sort is the least certain
    doubt = max(first.sort, second.sort, key=lambda sort: known.index(sort) if sort in known else len(known))
    return DateExpression(first.first, second.stop, second.sort if lends else doubt, second.first)


def ends_here(tokens: Tokens, stop: int) -> bool:
    """Whether the expression ends at `stop` instead of modifying what follows ("2000 tokens", "March release")."""
    token = tokens[stop]
    if token.kind in ("end", "mark"):
        return True
    if token.kind == "dash":
        return token.start > tokens[stop - 1].end
    return token.capital
