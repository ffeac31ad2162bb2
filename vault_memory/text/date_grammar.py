"""The English grammar of dates: which expression starts at a word of a text. Pure.

One table says which reader may start at a word. A reader answers what it found and, as `sort`, how sure it is; whether
the words around let a doubtful one count is for date_finder.py to say.
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
# Patterns stay text here: `re` compiles and keeps them on first use, which most questions never reach.
# What is glued to other signs (1.10, 10.0.0.1, 3/4, v2024, 1,500) must end up in `junk`, never in `num`.
_TOKEN = (
    r"(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?(?!\w))"
    r"|(?P<iso>(?<![\w.:/#$€£@+\\=-])[0-9]{4}(?:/[0-9]{2}/[0-9]{2}|-W[0-9]{2}|-[0-9]{2}(?:-[0-9]{2})?)"
    r"(?:(?<=-[0-9]{2}-[0-9]{2})[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?: ?Z| ?[+-][0-9]{2}:?[0-9]{2})?)?"
    r"(?:/[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?)?(?!\w|[-/.:]\w))"
    # Before `num`, which would take the 5 of 5-9-2026.
    r"|(?P<numeric>(?<![\w.:/#$€£@+\\=&<>~-])(?:[0-9]{1,2}(?P<sep>[./-])[0-9]{1,2}(?P=sep)[0-9]{4}"
    r"|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}|(?:19|20)[0-9]{6})(?!\w|[-/.:]\w))"
    r"|(?P<num>(?<![\w.:/#$€£@+\\=&<>~])(?<![0-9],)[0-9]{1,4}(?:st|nd|rd|th|['’]s)?"
    r"(?!\w|[%°$€£]|[.:/,][0-9]))"
    r"|(?P<junk>\w+(?:[.:/,'’@+-]\w+)*)"
    r"|(?P<dash>[–—-])"
    r"|(?P<mark>[^\w\s])"
)


class Token(NamedTuple):
    """A word, number or sign of a text: `kind` is the group of `_TOKEN`, `word` its text in lower case."""

    kind: str
    word: str
    start: int
    end: int
    raw: str

    @property
    def capital(self) -> bool:
        """Written as a name is: "May", neither "may" nor "MB"."""
        return self.raw[:1].isupper() and self.raw[1:].islower()


Tokens = list[Token]

_END = Token("end", "", 0, 0, "")


def tokens_of(text: str) -> Tokens:
    """Tokens in order, then enough end marks that a reader may look ahead without a bounds check."""
    tokens = []
    for match in re.finditer(_TOKEN, text):
        raw = match.group()
        word = raw.lower()
        if word[-2:] in ("'s", "’s") and word[0].isalpha():
            word = word[:-2]
        tokens.append(Token(match.lastgroup or "", word, match.start(), match.end(), raw))
    return tokens + [_END] * 10


# How far "two weeks ago" reaches either way, in days.
_SLACK = {"day": 0, "week": 3, "month": 15, "quarter": 45, "year": 183}
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_COUNTS |= {"eight": 8, "nine": 9, "ten": 10, "couple": 2, "few": 3, "several": 3}
_TURNS = {"last": "last", "past": "last", "previous": "last", "this": "this", "current": "this", "next": "next"}
_MOVES = {"last": -1, "this": 0, "next": 1}
_TURNED_TIMES = {"last": ("night",), "this": ("morning", "afternoon", "evening")}
_TO = ("to", "until", "till", "through", "thru")
# Months that are verbs, and months that are people.
VERBS = frozenset({"may", "march", "mar"})
NAMES = frozenset({"april", "june", "jan", "august"})
# A word that may follow a bare month, year or weekday; any other one makes it the front half of a noun.
_LINKS = frozenset(
    """a about after again also an and as at because before between but by did do does during for from he her his i if
    in is it my of on only onward onwards or our please she so that the their then there they though till to until was
    we were what when where which while who why with you your""".split()  # noqa: SIM905 - long
)


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
    return Span(first.start, last.end) if first and last and first.start <= last.end else None


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
    with suppress(ValueError):
        if match and match["week"]:
            return unit_of(date.fromisocalendar(int(match["year"]), int(match["week"]), 1), "week")
        if match:
            start = date(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
            return unit_of(start, "day" if match["day"] else "month" if match["month"] else "year")
    return None


def days_of(part: CalendarPart, year: int) -> Span | None:
    """The days of `part` in `year`, or None when there are none."""
    start = day_of(year, part.month, part.day or 1)
    if start is None:
        return None
    if part.day:
        return Span(start, start)
    over, month = divmod(part.month + part.months - 2, 12)
    return Span(start, month_end(year + over, month + 1) if year + over <= 9999 else date.max)


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


class DateExpression(NamedTuple):
    """What a reader saw up to token `stop`: one expression, or the two ends of a range.

    `sort` is how sure it is: "fixed" is a date whatever stands around it, "relative" is clear once the day it
    was said is known, "vague" is clear only in a question, the others (month, year,
    season, day, weekday, ordinal, number) need the right words around them.
    """

    first: CalendarPart | Span
    stop: int
    sort: str = "fixed"
    second: CalendarPart | Span | None = None


_Reader = Callable[[Tokens, int, date], DateExpression | None]


def read(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    """The expression that starts at token `at`, its relative words counted from `anchor`."""
    token = tokens[at]
    if token.kind == "num":
        return _number(tokens, at, anchor)
    if token.kind == "iso":
        word = token.word.upper()
        is_year = len(word) != 7 or word[:2] in ("19", "20")
        span = parse_t(word.replace("/", "-") if word[4] == "/" else word) if is_year else None
        return DateExpression(span, at + 1) if span else None
    if token.kind == "numeric":  # 5.9.2026, 25/9/2026, 20260905; the last may be any number
        days = readings(token.word)
        is_version = tokens[at - 1].word in ("version", "release", "build", "section", "chapter")
        sort = "number" if token.word.isdigit() else "fixed"
        return DateExpression(days[0], at + 1, sort) if len(days) == 1 and not is_version else None
    reader = _READERS.get(token.word)
    return reader(tokens, at, anchor) if reader else None


def ranged(tokens: Tokens, first: DateExpression, anchor: date, lead: str) -> DateExpression:
    """`first` together with the expression after "to" or a dash (or "and", after "between"), if any."""
    if first.second is not None or not _joins(tokens[first.stop], lead):
        return first
    start = first.stop + 1 + (tokens[first.stop + 1].word == "the")
    part = first.first if isinstance(first.first, CalendarPart) else None
    day, behind = day_number(tokens[start]), tokens[start + 1].word
    if part and part.day and day and behind not in MONTHS and behind != "of":  # the rest of "Nov 3-10, 2025"
        year, stop = _year_at(tokens, start + 1)
        is_tight = tokens[start - 1].kind == "dash" or year or ends_here(tokens, stop)
        if is_tight and day > part.day:
            return DateExpression(part, stop, "fixed", CalendarPart(year or part.year, part.month, 1, day))
    second = read(tokens, start, anchor)
    if second is None or second.second is not None:
        return first
    lends = part is not None and isinstance(second.first, CalendarPart) and second.first.year is not None
    known = ("fixed", "relative", "vague")  # the doubtfuller of both; any other sort is the most doubtful
    doubt = max(first.sort, second.sort, key=lambda sort: known.index(sort) if sort in known else len(known))
    return DateExpression(first.first, second.stop, second.sort if lends else doubt, second.first)


def _joins(token: Token, lead: str) -> bool:
    return token.kind == "dash" or token.word in _TO or (token.word == "and" and lead == "between")


def day_number(token: Token) -> int | None:
    """The day of a month that a number may be."""
    digits = token.word.rstrip("stndrh")
    if token.kind != "num" or len(digits) > 2 or not digits.isdigit():
        return None
    return int(digits) if 1 <= int(digits) <= 31 else None


def year_number(token: Token) -> int | None:
    """The year that a number may be."""
    digits = token.word[:4]
    if token.kind != "num" or digits[:2] not in ("19", "20") or token.word[4:] not in ("", "'s", "’s"):
        return None
    return int(digits) if len(digits) == 4 and digits.isdigit() else None


def _year_at(tokens: Tokens, at: int) -> tuple[int | None, int]:
    """A year at `at`, or after a comma or "of" there, and the token behind it."""
    skip = at + (tokens[at].word in (",", "of"))
    year = year_number(tokens[skip])
    return (year, skip + 1) if year is not None else (None, at)


def _number(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    year = year_number(tokens[at])
    if year is not None:
        return DateExpression(CalendarPart(year, 1, 12), at + 1, "year" if len(tokens[at].word) == 4 else "fixed")
    if ago := _ago(tokens, at, anchor):
        return ago
    day = day_number(tokens[at])
    return None if day is None else _day_first(tokens, at, anchor, day)


def _day_first(tokens: Tokens, at: int, anchor: date, day: int) -> DateExpression | None:
    """Reads "27 November 2025", "the 27th of Nov", "3-10 Nov", "5. September", "the 27th"."""
    ordinal = not tokens[at].word.isdigit()
    dotted = tokens[at + 1].word == "."
    month_at = at + 1 + dotted
    month_at += tokens[month_at].word == "of"
    word = tokens[month_at].word
    if word in MONTHS:
        year, stop = _year_at(tokens, month_at + 1)
        if dotted and year is None:  # "option 5. May I …"
            return None
        sure = ordinal or year is not None or word not in VERBS
        return DateExpression(CalendarPart(year, MONTHS[word], 1, day), stop, "fixed" if sure else "day")
    if _joins(tokens[at + 1], tokens[at - 1].word) and (end := day_number(tokens[at + 2])) and end > day:
        # A month must follow at once: without that, "1-2-3-4-…" would nest as deep as it is long.
        month_at = at + 3 + (tokens[at + 3].word == "of")
        rest = _day_first(tokens, at + 2, anchor, end) if tokens[month_at].word in MONTHS else None
        if rest and isinstance(rest.first, CalendarPart):
            return DateExpression(rest.first._replace(day=day), rest.stop, rest.sort, rest.first)
    # "the 27th": of this month or the one before.
    month = unit_of(plus(anchor, 7), "month").start
    spans = (days_of(CalendarPart(None, m.month, 1, day), m.year) for m in (month, shift(month, "month", -1)))
    span = next((span for span in spans if span and span.start <= plus(anchor, 7)), None)
    return DateExpression(span, at + 1, "ordinal") if span and ordinal else None


def _month(tokens: Tokens, at: int, anchor: date) -> DateExpression:
    """Reads "Nov 27, 2025", "November 2025", "November"."""
    word, behind = tokens[at].word, at + 1
    if tokens[behind].word == "." and (len(word) == 3 or word == "sept") and tokens[behind + 1].kind == "num":
        behind += 1
    day = day_number(tokens[behind])
    year, stop = _year_at(tokens, behind + 1 if day else behind)
    part = CalendarPart(year, MONTHS[word], 1, day)
    if year is not None:
        return DateExpression(part, stop)
    if day:
        # "March 5" is written as a date; "May 5 users log in?" is not.
        sure = word not in VERBS or (tokens[at].capital and (word != "may" or at > 0))
        return DateExpression(part, stop, "fixed" if sure else "day")
    return DateExpression(part, at + 1, "month")


def _quarter(tokens: Tokens, at: int, anchor: date) -> DateExpression:
    """Reads "summer 2024", "Q3"."""
    word, (year, stop) = tokens[at].word, _year_at(tokens, at + 1)
    sort = "season" if word in SEASONS else "month"
    return DateExpression(CalendarPart(year, QUARTERS[word], 3), stop, sort if year is None else "fixed")


def _weekday(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    """Reads "Tuesday", "Tuesday, Nov 25", "Tue 25 Nov", "Tuesday last week"; "sat" alone is as often no day."""
    word, behind = tokens[at].word, at + 1
    behind += tokens[behind].word == ","
    if tokens[behind + 1].word == "week" and tokens[behind].word in _TURNS:
        turn = 7 * _MOVES[_TURNS[tokens[behind].word]]
        day = plus(unit_of(anchor, "week").start, turn + WEEKDAYS[word])
        return DateExpression(Span(day, day), behind + 2, "relative")
    dated = read(tokens, behind, anchor) if tokens[behind].word not in WEEKDAYS else None
    if dated and dated.sort == "fixed" and (isinstance(dated.first, Span) or dated.first.day):
        return dated
    day = plus(anchor, -((anchor.weekday() - WEEKDAYS[word]) % 7))
    return DateExpression(Span(day, day), at + 1, "weekday") if len(word) > 5 else None


def _named(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    """Reads "yesterday"; a capital inside a sentence or a quotation mark before it makes it a title."""
    token, before = tokens[at], tokens[at - 1]
    if (token.capital and before.kind == "word") or before.word in ('"', "“", "'", "‘", "*", "["):
        return None
    day = plus(anchor, DAYS_AWAY[token.word])
    return DateExpression(Span(day, day), at + 1, "vague" if day == anchor else "relative")


def _before_yesterday(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    if (tokens[at + 1].word, tokens[at + 2].word) != ("before", "yesterday"):
        return None
    return DateExpression(Span(plus(anchor, -2), plus(anchor, -2)), at + 3, "relative")


def counted_unit(tokens: Tokens, at: int) -> tuple[int, str, int] | None:
    """Reads "two weeks", "a couple of days": the count, the unit, the token behind."""
    word = tokens[at].word
    if tokens[at].kind == "num" and word.isdigit():
        count, behind = int(word), at + 1
    elif word in _COUNTS:
        at += word == "a" and tokens[at + 1].word in ("couple", "few")
        behind = at + 1 + (tokens[at + 1].word == "of")
        count = _COUNTS[tokens[at].word]
    else:
        return None
    unit = UNITS.get(tokens[behind].word)
    return (count, unit, behind + 1) if unit else None


def _ago(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    """Reads "two weeks ago": as wide as its unit is vague, and never past `anchor`."""
    counted = counted_unit(tokens, at)
    if counted is None or tokens[counted[2]].word != "ago":
        return None
    count, unit, stop = counted
    day = shift(anchor, unit, -count)
    slack = _SLACK[unit] or (2 if "few" in (tokens[at].word, tokens[at + 1].word) else 0)
    return DateExpression(Span(plus(day, -slack), min(plus(day, slack), anchor)), stop + 1, "relative")


def _turn(tokens: Tokens, at: int, anchor: date) -> DateExpression | None:
    """Reads "last week", "past three days", "this morning", "last Tuesday", "next November"."""
    turn, behind = _TURNS[tokens[at].word], at + 1
    word = tokens[behind].word
    if tokens[behind + 1].word == "of":
        return None
    if word in UNITS.values():
        last, move = shift(anchor, word, -1), _MOVES[turn]
        if word == "day":
            return None
        if tokens[at].word == "past":
            return DateExpression(Span(last, anchor), behind + 1, "vague")
        span = unit_of(shift(anchor, word, move), word)
        return DateExpression(span, behind + 1, "relative" if move else "vague")
    sort = "relative" if turn == "last" else "vague"
    if word == "weekend":
        saturday = plus(unit_of(anchor, "week").start, 5 + 7 * _MOVES[turn])
        return DateExpression(Span(saturday, plus(saturday, 1)), behind + 1, sort)
    if word in _TURNED_TIMES.get(turn, ()):
        day = plus(anchor, _MOVES[turn])
        return DateExpression(Span(day, day), behind + 1, sort)
    if (counted := counted_unit(tokens, behind)) and turn != "this" and not word.startswith("a"):
        other = shift(anchor, counted[1], counted[0] if turn == "next" else -counted[0])
        return DateExpression(Span(min(other, anchor), max(other, anchor)), counted[2], "vague")
    return _turn_named(tokens, behind, anchor, turn)


def _turn_named(tokens: Tokens, at: int, anchor: date, turn: str) -> DateExpression | None:
    """A weekday, month, season, quarter or yearless date after last, this or next."""
    word = tokens[at].word
    if word in WEEKDAYS:
        if len(word) < 6 and not (tokens[at].capital and ends_here(tokens, at + 1)) and tokens[at + 1].kind != "end":
            return None
        ahead = WEEKDAYS[word] - anchor.weekday()
        day = plus(anchor, {"last": ahead % 7 - 7, "this": ahead, "next": (ahead - 1) % 7 + 1}[turn])
        return DateExpression(Span(day, day), at + 1, "relative" if turn == "last" else "vague")
    found = read(tokens, at, anchor) if word in MONTHS or word in QUARTERS else None
    if found is None or not isinstance(found.first, CalendarPart) or found.first.year is not None:
        return None
    if (word in VERBS or word in ("fall", "spring")) and not ends_here(tokens, found.stop):
        return None
    span = resolve(found.first, anchor, turn)
    return DateExpression(span, found.stop, "relative" if turn == "last" else "vague") if span else None


def ends_here(tokens: Tokens, stop: int) -> bool:
    """Whether the words from `stop` leave the expression whole: not "2000 tokens", not "March release"."""
    token = tokens[stop]
    if token.kind in ("end", "mark"):
        return True
    if token.kind == "dash":
        return token.start > tokens[stop - 1].end
    if token.word in _LINKS:
        return not (token.word in ("to", "and", "or") and tokens[stop + 1].kind in ("num", "junk"))
    return token.capital


_READERS: dict[str, _Reader] = {
    **dict.fromkeys(_COUNTS, _ago),
    **dict.fromkeys(MONTHS, _month),
    **dict.fromkeys(QUARTERS, _quarter),
    **dict.fromkeys(WEEKDAYS, _weekday),
    **dict.fromkeys(DAYS_AWAY, _named),
    **dict.fromkeys(_TURNS, _turn),
    "day": _before_yesterday,
}
