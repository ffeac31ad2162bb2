"""Finds dates in questions, command-line options and facts. Pure; nothing here raises on any text.

date_grammar.py parses the expressions; this module judges them by the words around them. Precision comes first: a
wrong window hides the right answer, a missed one only fails to help.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from vault_memory.text.calendar_days import (
    MONTH_NAMES,
    WEEKDAY_NAMES,
    Span,
    day_of,
    may_hold_date,
    plus,
    shift,
    unit_of,
)
from vault_memory.text.daily_notes import ordinal
from vault_memory.text.date_grammar import (
    NAMES,
    CalendarPart,
    DateExpression,
    Tokens,
    ends_here,
    parse_t,
    ranged,
    read,
    readings,
    resolve,
)
from vault_memory.text.terms import STOP_WORDS

_AGO = r"([0-9]{1,6}) ?([dwmy])"
_LETTERS = {"d": "day", "w": "week", "m": "month", "y": "year"}
_AMBIGUOUS = r"(?<![\w./-])[0-9]{1,2}([/-])[0-9]{1,2}\1[0-9]{4}(?![\w/-])"
_PREPOSITIONS = frozenset(
    {"in", "on", "during", "throughout", "since", "until", "till", "before", "after", "by", "from", "between"}
    | {"around", "near", "circa", "of", "for", "through"}
)
# After these even a round number ("in 2000") is a year.
_YEAR_LEADS = ("in", "during", "throughout", "since", "until", "before", "after")
_MAY_LEADS = ("in", "of", "by", "until")
_FACT_LEADS = ("in", "during", "throughout", "between", "from")

_UNIT = "(?!vs)[b-df-hj-np-tv-xz]{1,3}"
"""A unit, recognised as a short word without a vowel: rpm, m, kg, ms."""
_SEVERAL = "[a-z]{2,}s(?<!ss)(?<!us)(?<!ways)(?<!wards)(?<!haps)"
"""A plural noun, excluding adverbs ("always", "afterwards", "perhaps")."""

AHEAD, PAST, NEAR = "ahead", "before", "near"
"""Modes of `resolve`."""

# "does Will come?" has the name; at the start of a question it is the verb.
_SURELY_AHEAD = (
    r"\b(?:will|won['’]t|shall)\b|^\s*(?:Will|Won['’]t|Shall)\b|['’]ll\b"
    r"|\b(?:is|are|am|['’]s|['’]re) going to\b|\b(?:upcoming|gonna)\b"
)
_DAY_OR_MONTH = "|".join(name[:3].lower() for name in (*WEEKDAY_NAMES, *MONTH_NAMES))
_AHEAD = (
    r"\b(?:plan|plans|planned|planning|due|schedules?|scheduled|deadlines?|appointments?|agenda|next|coming up|happens?"
    r"|takes? place|expires?|arrives?|departs?|leaves|starts|begins|ends|booked|expected|supposed|must|should"
    r"|need to|needs to|have to|has to|to be done|am i free|are we free|do (?:i|we) have)\b"
    rf"|(?:\b(?:is|are)|['’]s) on(?=\s*(?:$|[?.!,0-9]|(?:in|on|at|this|next|for|{_DAY_OR_MONTH})))"
    r"|\b(?:is|are|am)\b[^.?!]{0,40}\b(?:coming|arriving|visiting|leaving|meeting|travelling|flying|starting|happening)\b"
)
_PAST_WORDS = frozenset(
    """did didn't was wasn't were weren't had hadn't been ago ate became began bought broke brought built came caught
    chose did drank drove fell felt flew forgot fought found gave grew happened heard held kept knew lay led left lost
    made met paid ran rang said sang sat saw sent slept sold spent spoke stood swam swore taught thought threw told took
    understood went woke won wore wrote yesterday""".split()  # noqa: SIM905 - long
)
_PRESENT = frozenset("am is are be being isn't aren't can can't could may might would".split())  # noqa: SIM905
"""Verbs that leave the time of the event open: "said it is on 6 December", "is postponed", "would come"."""
_AIMS = frozenset({"for", "until", "till", "by"})
_PUT = r"(?:pushed|brought|put)(?: [^\s.;:]+){0,3}? (?:back|forward|off)"
RESCHEDULED = rf"(?:moved|shifted|postponed|rescheduled|{_PUT})"
"""What is done to a plan that gets another day."""
_FROM = r"(?:,? | (?:(?!(?:to|into|in|out|on)\b)[^\s.;:,]+ ){0,3}from)$"
_AWAY_FROM = re.compile(rf"\b(?:{RESCHEDULED}|changed|switched|delayed){_FROM}", re.I)
"""What says that a plan is moved away from a day; at most _MOVE_CHARS long."""
_IS_MOVED = re.compile(
    rf"\b(?:(?:is|are|was|were|be|been|being|gets?|got) moved|moved(?= (?:the|our|my|his|her|their|it|this|that)\b)"
    rf"|shifted|postponed|rescheduled|{_PUT}){_FROM}",
    re.I,
)
"""The same of a plan alone: who "moved house from 1 May to 8 May" took so long."""
_MOVE_CHARS = 80
_SPOKE = frozenset({"said", "told", "announced", "confirmed", "promised", "agreed"})
_NEAR_WORDS = 5


class Window(NamedTuple):
    """The days a question asks about, the words that name them, and `kind`: on, between, around, since or until.

    `others` are alternative readings: in another tense or, if no year is named, a year earlier.
    """

    span: Span
    text: str
    kind: str
    others: tuple[Span, ...] = ()

    @property
    def middle(self) -> date | None:
        """The day itself, if the question asks for what happened around it; else None."""
        return plus(self.span.start, (self.span.end - self.span.start).days // 2) if self.kind == "around" else None


class _Lead(NamedTuple):
    """The words before an expression: its preposition, the token they start at, whether they include "week of"."""

    word: str
    at: int
    week: bool


def parse_option(text: str, today: date) -> Span | None:
    """The days of a date option (`2025-11`, `30d`, `last week`, `Nov 27`), or None."""
    text = text.strip()
    if match := re.fullmatch(_AGO, text, re.I):
        day = shift(today, _LETTERS[match[2].lower()], -int(match[1]))
        return Span(day, day)
    if (span := parse_t(text)) is not None:
        # Four digits may be a typo for anything else: only a plausible year is accepted.
        return span if len(text) != 4 or 1900 <= span.start.year < 2200 else None
    tokens = Tokens(text)
    at = next(i for i, token in enumerate(tokens) if token.word not in ("the", "on", "in", "from", "between"))
    first = read(tokens, at, today)
    found = first and ranged(tokens, first, today, "between")
    return settle(found, today, "past") if found and tokens[found.stop].kind == "end" else None


def find_window(question: str, today: date) -> Window | None:
    """The window of a question's first time expression; a missing year is chosen by the question's tense."""
    tokens = Tokens(question)
    for found, lead in _dated(tokens, today, today):
        mode = question_tense(question, lead.word)
        span = settle(_moved(found, today, mode), today, mode)
        if span is None:
            continue
        text = question[tokens[lead.at].start : tokens[found.stop - 1].end]
        days, kind = _asked_days(tokens, found, lead, span, mode, today)
        others: list[Span | None] = []
        is_yearless = isinstance(found.first, CalendarPart) and not _tied(found)
        if mode != AHEAD and is_yearless and span.start <= today and kind not in ("since", "until"):
            # The notes may be older than people think.
            first, last = (shift(day, "year", -1) for day in days)
            others.append(Span(first, last) if first.day == days.start.day else None)  # not 29 February
        if mode == NEAR and days == span:
            turned = (settle(found, today, other) for other in (PAST, AHEAD))  # the readings in another tense
            others.append(next((reading for reading in turned if reading and reading != span), None))
        return Window(days, text, kind, tuple(filter(None, others)))
    return None


def ambiguous(question: str) -> tuple[str, list[date]] | None:
    """The first numeric date that may mean two days ("5/9/2026"), with both days, or None."""
    for match in re.finditer(_AMBIGUOUS, question):
        if len(days := readings(match[0])) > 1:
            return match[0], days
    return None


def spelled(span: Span) -> tuple[list[str], list[str]]:
    """How notes spell a day, a month or a year; the second list has the ambiguous forms: just a number."""
    (year, month, day), name = span.start.timetuple()[:3], MONTH_NAMES[span.start.month - 1].lower()
    if span.start == span.end:
        pairs = [(n, m) for n in (str(day), f"{day}{ordinal(day)}") for m in (name, name[:3])]
        names = [f"{n} {m}" for n, m in pairs] + [f"{m} {n}" for n, m in pairs]
        return [*names, span.start.isoformat(), f"{day:02}.{month:02}.{year:04}", f"{day}.{month}.{year:04}"], []
    if span == unit_of(span.start, "month"):
        alone = [f"{lead} may" for lead in _MAY_LEADS] if name == "may" else [name]  # "may" is mostly the verb
        return [f"{name} {year}", f"{name[:3]} {year}", *alone], []
    return [], [str(year)] if span == unit_of(span.start, "year") else []


def occurred(text: str, mentioned: date | None) -> Span | None:
    """The first date or range a fact states; a missing year and relative words are resolved against `mentioned`."""
    if not may_hold_date(text):
        return None
    tokens = Tokens(text)
    anchor = mentioned or date.min
    for found, lead in _dated(tokens, anchor, None):
        words = [token.word for token in tokens[max(lead.at - 6, 0) : lead.at]]
        days = _new_days(text, tokens, found, lead, anchor) or settle(found, anchor, fact_tense(words, lead.word))
        if days and (mentioned or _tied(found)):
            return days
    return None


def _new_days(text: str, tokens: Tokens, found: DateExpression, lead: _Lead, anchor: date) -> Span | None:
    """The second end of a range that something was moved over: "the visit was moved from 1 May to 8 May". Else None."""
    before = tokens[lead.at].end if lead.word else tokens[lead.at].start
    is_from_days = tokens[found.stop].word in ("to", "until", "till")  # "from 3-5 May to 9-12 May"
    if found.second is None or is_from_days or not _IS_MOVED.search(text[max(before - _MOVE_CHARS, 0) : before]):
        return None
    old = resolve(found.first, anchor, NEAR)
    return resolve(found.second, old.start if old else anchor, NEAR)


def days_alone(text: str, mentioned: date | None) -> Span | None:
    """The days of a text that is nothing but a date; relative words are resolved against `mentioned`. Else None."""
    tokens, anchor = Tokens(text), mentioned or date.min
    found = read(tokens, 0, anchor)
    is_alone = found and tokens[found.stop].kind == "end" and (mentioned or _tied(found))
    return settle(found, anchor, NEAR) if found and is_alone else None


def without_days(text: str) -> str:
    """A fact's text without its date expressions."""
    tokens = Tokens(text)
    dated = [(tokens[lead.at].start, tokens[found.stop - 1].end) for found, lead in _dated(tokens, date.min, None)]
    for start, end in reversed(dated):
        text = text[:start] + text[end:]
    return text


def property_day(value: object) -> date | None:
    """The day of a frontmatter `date` or `created`, as written: no time zone is applied."""
    if isinstance(value, date):  # or a datetime
        return date(value.year, value.month, value.day)
    found = read(Tokens(value.strip().removeprefix("[[")), 0, date.min) if isinstance(value, str) else None
    span = settle(found, date.min, NEAR) if found and _tied(found) else None
    return span.start if span and span.start == span.end else None


def settle(found: DateExpression, anchor: date, mode: str) -> Span | None:
    """The days of an expression; either end of a range may supply the other's year."""
    first, second = found.first, found.second
    if second is None:
        return resolve(first, anchor, mode)
    mode = "past" if mode == PAST else mode  # a range that has begun may reach a few days ahead
    if isinstance(first, CalendarPart) and isinstance(second, CalendarPart):
        turns = (first.month, first.day or 1) > (second.month, second.day or 31)
        if second.year is None and first.year is not None:
            second = second._replace(year=first.year + turns)
        elif first.year is None and (last := resolve(second, anchor, mode)):
            year = last.start.year if second.year is None else second.year
            first, second = first._replace(year=year - turns), second._replace(year=year)
    start, end = resolve(first, anchor, mode), resolve(second, anchor, mode)
    return Span(start.start, end.end) if start and end and start.start <= end.end else None


def _moved(found: DateExpression, today: date, mode: str) -> DateExpression:
    """A weekday or "the 27th", parsed as the last such day, moved to the next one when the question looks ahead."""
    first = found.first
    if mode != AHEAD or not isinstance(first, Span) or found.second is not None or first.start >= today:
        return found
    if found.sort == "weekday":
        first = Span(plus(first.start, 7), plus(first.end, 7))
    elif found.sort == "ordinal":
        months = (shift(unit_of(today, "month").start, "month", count) for count in (1, 2))
        days = (day_of(month.year, month.month, first.start.day) for month in months)
        first = next((Span(day, day) for day in days if day), first)
    return found._replace(first=first)


def _dated(tokens: Tokens, anchor: date, today: date | None) -> Iterator[tuple[DateExpression, _Lead]]:
    at = 0
    while tokens[at].kind != "end":
        first, stop = read(tokens, at, anchor), at + 1
        if first is not None:
            lead = _lead(tokens, at)
            found = ranged(tokens, first, anchor, lead.word)
            # Recurring days and names ("every last Friday", "Black Friday") are skipped entirely.
            if tokens[at - 1].word in ("every", "each", "black", "good"):
                stop = found.stop
            elif _is_date(tokens, at, found, lead, today):
                yield found, lead
                stop = found.stop
        at = stop


def _lead(tokens: Tokens, at: int) -> _Lead:
    """The preposition before token `at`, looking past articles and "the end of"."""
    before = _skip_back(tokens, at - 1)
    word, part = tokens[before].word, tokens[before - 1].word
    if word not in _PREPOSITIONS:
        return _Lead("", at, False)
    if word != "of" or part not in ("week", "end", "start", "beginning", "middle", "month"):
        return _Lead(word, before, False)
    outer = _skip_back(tokens, before - 2)
    if tokens[outer].word in _PREPOSITIONS:
        return _Lead(tokens[outer].word, outer, part == "week")
    return _Lead("in", before - 1, part == "week")


def _skip_back(tokens: Tokens, at: int) -> int:
    """The token at or before `at` that is no article; before the first one are the end tokens."""
    while tokens[at].word in ("the", "early", "mid", "late") or tokens[at - 1].word == "mid":
        at -= 1
    return at


def _tied(found: DateExpression) -> bool:
    if found.sort in ("relative", "vague", "weekday", "ordinal"):
        return False
    ends = [found.first] if found.second is None else [found.first, found.second]
    return any(isinstance(end, Span) or end.year is not None for end in ends)


def _is_date(tokens: Tokens, at: int, found: DateExpression, lead: _Lead, today: date | None) -> bool:
    """Whether the surrounding words make it a date; `today` is None for a fact, where the test is stricter."""
    led, is_fact = lead.word, today is None
    match found.sort:
        case "fixed" | "relative":
            return True
        case "month":
            is_somebody = tokens[at].word in NAMES and led in ("of", "from", "by", "for")
            return led in (_FACT_LEADS if is_fact else _PREPOSITIONS) and not is_somebody
        case "year":
            if today is None:
                return led in _FACT_LEADS and not _counts_something(tokens, at, found.stop, led)
            last = found.second or found.first
            year = last.year if isinstance(last, CalendarPart) else None
            if year is None or year > today.year + 1:
                return False
            return led in _YEAR_LEADS or (led != "" and year % 100 != 0)
        case "season":
            return tokens[at].word in ("summer", "autumn", "winter") and led in ("in", "during", "throughout")
        # The rest count in questions only.
        case "weekday":
            return not is_fact and (led != "" or not tokens[at - 1].capital)
        case "ordinal":
            is_whole = ends_here(tokens, found.stop) or tokens[found.stop].word in STOP_WORDS  # no "27th floor"
            return not is_fact and led != "" and tokens[at - 1].word == "the" and is_whole
    return not is_fact  # vague


def _counts_something(tokens: Tokens, at: int, stop: int, led: str) -> bool:
    """Whether the number before token `stop` counts what follows ("in 2048 tests", "in 1950 m") and so is no year.

    The end of the phrase tells a plural noun from a verb ("from 2018 shows that"). After "the" a year may modify the
    noun ("in the 2008 floods"); only after "from" does it then give an origin rather than a time.
    """
    word, after = tokens[stop].raw, tokens[stop + 1]
    if re.fullmatch(_UNIT, word):
        return True
    is_several = re.fullmatch(_SEVERAL, word) is not None and word not in STOP_WORDS
    is_phrase = after.kind in ("end", "mark", "dash") or after.word in _PREPOSITIONS or after.word == "and"
    return is_several and is_phrase and (tokens[at - 1].word != "the" or led == "from")


def _asked_days(
    tokens: Tokens, found: DateExpression, lead: _Lead, span: Span, mode: str, today: date
) -> tuple[Span, str]:
    """The days that an expression of these days (`span`) asks about with its preposition, and the window's kind."""
    if lead.week:
        span = Span(unit_of(span.start, "week").start, unit_of(span.end, "week").end)
    if found.second is not None:
        return span, "between"
    if lead.word in ("around", "near", "circa"):
        return Span(plus(span.start, -3), plus(span.end, 3)), "around"
    is_onward = lead.word == "from" and tokens[found.stop].word in ("on", "onward", "onwards")
    if lead.word in ("after", "since") or is_onward:
        start = plus(span.end, 1) if lead.word == "after" else span.start
        return Span(start, date.max if mode == AHEAD and start > today else max(start, today)), "since"
    if lead.word in ("until", "till", "by", "before"):
        end = plus(span.start, -1) if lead.word == "before" else span.end
        return Span(today if mode == AHEAD and end >= today else date.min, end), "until"
    return span, "on"


def question_tense(text: str, lead: str) -> str:
    """The mode in which to resolve a question's date; `lead` is the preposition before it."""
    plain = text.lower()
    if re.search(_SURELY_AHEAD, text):
        return AHEAD
    ahead = re.search(_AHEAD, plain) is not None
    if any(map(_is_past, re.findall(r"[a-z]+(?:['’]t)?", plain))):
        return NEAR if ahead and lead == "for" else PAST  # "what was planned for May" may still be to come
    if lead == "since":
        return PAST
    return AHEAD if ahead else NEAR


def fact_tense(words: Sequence[str], lead: str = "") -> str:
    """The mode in which to resolve a fact's date, from its lower-cased words before the date, punctuation included.

    The nearest verb before the date decides. A past tense places the event on that day ("bought it on 12 December"),
    unless the preposition `lead` points ahead ("bought it for"), the verb moves something from that day ("moved it
    from 25 November to") or reports what others said ("said the shop opens on").
    """
    clause = list(words)[-_NEAR_WORDS:]
    for at in range(len(clause) - 1, -1, -1):
        word = clause[at]
        if word in ("will", "shall", "due", "deadline"):
            return AHEAD
        if word == "born":
            return PAST
        if word in ("to", ".", ";", ":") or word in _PRESENT or re.match(_AHEAD, word):
            return NEAR
        if _is_past(word):
            before = clause[max(at - 2, 0) : at]
            if "will" in before or "shall" in before:  # "will be painted"
                return AHEAD
            is_reported = word in _SPOKE and len(clause) - at > 2
            is_aimed = lead in _AIMS or _AWAY_FROM.search(" ".join((*clause[at:], lead))) is not None
            return NEAR if not _PRESENT.isdisjoint(before) or is_reported or is_aimed else PAST
    return NEAR


def _is_past(word: str) -> bool:
    is_regular = len(word) > 4 and word.endswith("ed") and not (word.endswith("eed") or re.match(_AHEAD, word))
    return is_regular or word.replace("’", "'") in _PAST_WORDS
