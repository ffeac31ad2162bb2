"""Owns what a sentence states that can be looked up: its dates, numbers, names, signs and whether it denies. Pure.

A sentence is *grounded* when what it states stands in the facts it cites. The check errs on the strict side: a good
sentence refused costs a second try or a plainer text, an invented name let through costs the trust in every page. What
it cannot see: that true words were joined to a false sentence. English only, as dates and number words are; in other
languages every number must still stand in the facts, and every word with a capital (in German every noun).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from vault_memory.text.daily_notes import ordinal
from vault_memory.text.spans import CalendarPart, Span, day_of, unit_of
from vault_memory.text.terms import bases
from vault_memory.text.timewords import MONTHS, VERBS, DateExpression, Tokens, ranged, read, tokens_of

_FUNCTION_WORDS = """
    a an the he she they it its his her hers their theirs them him who whom whose which that this these those there
    here in on at of since after before during when while both also later earlier then now once as by for from with to
    over between most many some several all each every other others another and but or so if because although though
    however still yet more less than about against into onto through until till under above within among around along
    across per via like unlike despite except including such same own few much any no not nor neither either only just
    even often sometimes usually always never mostly mainly currently recently overall together meanwhile finally
    afterwards is are was were be been being has have had does did do can could may might must shall should will
    would what where why how too very well up down out off again
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_MAY_BE_NAMES = frozenset({"will", "may", "can", "do", "well"})
_SHARE = 0.5
"""Of the words that carry meaning so many must be words of the facts, by their first letters."""

_PIECE = re.compile(r"\d+(?:[.,:]\d+)*[^\W\d_]*|[^\W\d_][^\W_]*(?:['’][^\W\d_]+)?(?:(?<=\d)\.\d+)*")
_TO_TWENTY = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
_DOTTED = re.compile(r"[\w-]+(?:\.[^\W\d_][\w-]+)+")
"""The name of a file, of a setting, of a host."""
_UNITS = {word: value for value, word in enumerate(_TO_TWENTY.split())}
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_COUNTS = _UNITS | _TENS | {"twice": 2, "thrice": 3}
_TIMES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_TO_TWELFTH = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_NTH = {word: f"{n}{ordinal(n)}" for n, word in enumerate(_TO_TWELFTH.split(), 1)}
_LITERAL = frozenset({"half", "halves", "dozens", "hundreds", "thousands", "millions", "billions"})
_SUFFIXES = {"k": 1000, "M": 10**6, "bn": 10**9}
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_SIGNS = {"%": r"%|\bper ?cent\b", "€": r"€|\beuros?\b|\bEUR\b", "$": r"\$|\bdollars?\b|\bUSD\b",
          "£": r"£|\bpounds?\b|\bGBP\b", "¥": r"¥|\byen\b|\bJPY\b", "°": r"°|\bdegrees?\b"}  # fmt: skip
_DENIES = re.compile(r"\b(?:not|never|cannot|nor|neither|no longer)\b|n['’]t\b", re.I)
_MAY_DENY = re.compile(
    rf"{_DENIES.pattern}|\b(?:no|none|nobody|nothing|without|instead|rather|stop\w*|quit\w*|avoid\w*|dislik\w*|hate\w*"
    r"|refus\w*|reject\w*|lack\w*|fail\w*|against|except|only|un\w+)\b", re.I,
)  # fmt: skip

Day = tuple[int | None, int | None, int | None]
"""Year, month, day; None where it is not said. A month below 0 is where a quarter or a season begins."""


class Stated(NamedTuple):
    """What one text states. `numbers` are values, or the text of what is more than one (14:30, v2.1, 29th)."""

    text: str
    """Small letters, one form for each letter."""
    days: frozenset[Day]
    weekdays: frozenset[int]
    numbers: frozenset[Decimal | str]
    names: tuple[str, ...]
    """Words written as names, in order."""
    full_names: frozenset[tuple[str, str]]
    """Names that stand side by side and make one."""
    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    """Words side by side."""
    content: frozenset[str]
    """Words that carry a meaning and are neither dates nor numbers."""
    signs: frozenset[str]
    moving: tuple[str, ...]
    """Words for a time that moves on with the reader: yesterday, last week."""


class _Piece(NamedTuple):
    """A word or a number of a text."""

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        folded = self.text.casefold().replace("’", "'")
        return folded.removesuffix("'s").removesuffix("'")

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()

    @property
    def is_name(self) -> bool:
        """Written with a capital somewhere, or in a script that has none: there any word may be a name."""
        return any(c.isupper() or (c.isalpha() and c.lower() == c.upper()) for c in self.text)


def stated(text: str) -> Stated:
    """What a text states."""
    text = unicodedata.normalize("NFKC", text)
    rest, days, weekdays, moving = _dates(text)
    pieces = [_Piece(m[0], m.start(), m.end()) for m in _PIECE.finditer(text)]
    undated = [_Piece(m[0], m.start(), m.end()) for m in _PIECE.finditer(rest)]
    names = [p for p in undated if p.is_name and not p.is_number and not _opens(p)]
    return Stated(
        text.casefold(), frozenset(days), frozenset(weekdays), frozenset(_numbers(undated, rest)),
        tuple(dict.fromkeys(p.word for p in names)), frozenset(_side_by_side(names, rest)),
        frozenset(p.word for p in pieces), frozenset(_side_by_side(pieces, text)),
        frozenset(p.word for p in undated if len(p.word) > 2 and not p.is_number and p.word not in FUNCTION_WORDS),
        frozenset(sign for sign, pattern in _SIGNS.items() if re.search(pattern, text, re.I)), tuple(moving),
    )  # fmt: skip


def ungrounded(sentence: str, facts: Iterable[Stated], subject: Stated) -> Iterator[str]:
    """What a sentence states and neither its facts nor the subject's names do, a few words each."""
    said, cited = stated(sentence), list(facts)
    known = [*cited, subject]
    yield from (f"“{word}” means another day tomorrow" for word in said.moving)
    yield from _undated(said, known)
    yield from _uncounted(said, known)
    yield from _unnamed(said, known)
    signs = frozenset().union(*(one.signs for one in known))
    yield from (f"the sign {sign} is in none of the facts it cites" for sign in sorted(said.signs - signs))
    dotted = [word for word in _DOTTED.findall(said.text) if not any(word in one.text for one in known)]
    yield from (f"“{word[:40]}” is in none of the facts it cites" for word in dotted)
    yield from _denied(sentence, [one.text for one in cited])
    if shared(said, known) < _SHARE:
        yield "too few of its words are words of the facts it cites"


def shared(said: Stated, known: Iterable[Stated]) -> float:
    """The share of a sentence's words with a meaning that stand in what is known, 0..1; 0 where it has none."""
    there = {_stem(form) for one in known for word in one.words for form in (word, *bases(word))}
    mine = said.content
    found = [word for word in mine if not there.isdisjoint({_stem(form) for form in (word, *bases(word))})]
    return len(found) / len(mine) if mine else 0.0


def _stem(word: str) -> str:
    return word[:4]


def _opens(piece: _Piece) -> bool:
    """Whether a word has its capital from the sentence that it begins, or is no name but a number."""
    word = piece.word.partition("'")[0]
    return word in _COUNTS or word in _TIMES or word in _NTH or word in FUNCTION_WORDS - _MAY_BE_NAMES


# --- dates -----------------------------------------------------------------------------------------------------------


def _dates(text: str) -> tuple[str, set[Day], set[int], list[str]]:
    """The text with its dates blanked out; their days; the weekdays named; what moves on with the reader."""
    tokens, days, weekdays, moving = tokens_of(text), set[Day](), set[int](), list[str]()
    rest, at = list(text), 0
    while tokens[at].kind != "end":
        found = read(tokens, at, _ANCHOR)
        found = found and ranged(tokens, found, _ANCHOR, tokens[at - 1].word if at else "")
        if found is None or not _is_date(tokens, at, found):
            at += 1
            continue
        start, end = tokens[at].start, tokens[found.stop - 1].end
        if found.sort in ("weekday", "abbreviation"):
            weekdays.update(end.start.weekday() for end in _ends(found) if isinstance(end, Span))
        elif found.sort in ("relative", "vague"):
            moving.append(text[start:end])
        else:
            days |= _days(found)
        rest[start:end] = "\0" * (end - start)  # no blank: the words around it do not stand side by side
        at = found.stop
    return "".join(rest), days, weekdays, moving


_ANCHOR = date(2001, 1, 1)
"""Relative words are never resolved here; the readers want a day all the same."""


def _is_date(tokens: Tokens, at: int, found: DateExpression) -> bool:
    word, capital = tokens[at].word, tokens[at].capital
    if found.sort == "month":
        return word in MONTHS and (capital or word not in VERBS)
    if found.sort in ("weekday", "abbreviation"):
        return capital
    if found.sort == "ordinal":
        return False  # "the 29th" is looked up as a number
    return found.sort != "season"


def _ends(found: DateExpression) -> list[CalendarPart | Span]:
    return [found.first] if found.second is None else [found.first, found.second]


def _days(found: DateExpression) -> set[Day]:
    days = {day for end in _ends(found) for day in _of_end(end)}
    first, second = found.first, found.second
    if (
        isinstance(first, CalendarPart)
        and isinstance(second, CalendarPart)
        and first.year is None
        and second.year is not None
    ):
        # "Nov 27–Dec 1, 2025" says the year of both.
        turns = (first.month, first.day or 1) > (second.month, second.day or 31)
        days.add((second.year - turns, first.month, first.day))
    return days


def _of_end(end: CalendarPart | Span) -> Iterator[Day]:
    if isinstance(end, CalendarPart):
        yield end.year, {12: None, 3: -end.month}.get(end.months, end.month), end.day
    elif end == unit_of(end.start, "year"):
        yield end.start.year, None, None
    elif end == unit_of(end.start, "month"):
        yield end.start.year, end.start.month, None
    else:
        yield from ((day.year, day.month, day.day) for day in (end.start, end.end))


def _undated(said: Stated, known: list[Stated]) -> Iterator[str]:
    days = frozenset().union(*(one.days for one in known))
    numbers = frozenset().union(*(one.numbers for one in known))
    for day in sorted(said.days, key=str):
        lone = Decimal(day[0]) if day[0] is not None and day[1:] == (None, None) else None
        if lone not in numbers and not any(_says(there, day) for there in days):
            yield f"the date {_shown(day)} is in none of the facts it cites"
    spoken = frozenset().union(*(one.weekdays for one in known))
    spoken |= {whole.weekday() for day in days if None not in day and (whole := day_of(*day))}  # type: ignore[arg-type]
    if said.weekdays - spoken:
        yield "the weekday it names is in none of the facts it cites"


def _says(there: Day, asked: Day) -> bool:
    return all(a is None or a == b for a, b in zip(asked, there, strict=True))


def _shown(day: Day) -> str:
    return "-".join("?" if part is None else f"{part:02}" for part in day)


# --- numbers ---------------------------------------------------------------------------------------------------------


def _numbers(pieces: list[_Piece], text: str) -> Iterator[Decimal | str]:
    """The values of a text: "2.5k", "three hundred" and "twenty-five" are one each."""
    at = 0
    while at < len(pieces):
        piece, at = pieces[at], at + 1
        value = _value(piece)
        if isinstance(value, Decimal):
            after = pieces[at] if at < len(pieces) and _joined(text, piece, pieces[at]) else None
            if after and (piece.word, after.word) in _NO_NUMBER:
                continue
            if after and value in _TENS_AND_TWENTY and 0 < _UNITS.get(after.word, 0) < 10:
                value, at = value + _UNITS[after.word], at + 1
            elif after and after.word in _TIMES:
                value, at = value * _TIMES[after.word], at + 1
            yield value
        elif value is not None:
            yield value
        elif piece.word in _NTH:
            yield _NTH[piece.word]
        elif piece.word in _TIMES:
            yield Decimal(_TIMES[piece.word])
        elif piece.word in _LITERAL or (not piece.is_name and any(c.isdigit() for c in piece.text)):
            yield piece.word


def _uncounted(said: Stated, known: list[Stated]) -> Iterator[str]:
    words = frozenset().union(*(one.words for one in known))
    numbers = frozenset().union(*(one.numbers for one in known))
    numbers |= {f"{day}{ordinal(day)}" for one in known for _, _, day in one.days if day}
    numbers |= {Decimal(1)} if words & {"a", "an", "one"} else set()
    for number in sorted(said.numbers - numbers, key=str):
        shown = f"{number:f}" if isinstance(number, Decimal) else number
        yield f"the number {shown[:40]} is in none of the facts it cites"


_NO_NUMBER = (("one", "of"), ("one", "another"))
_TENS_AND_TWENTY = frozenset(Decimal(value) for value in (20, *_TENS.values()))


def _joined(text: str, one: _Piece, other: _Piece) -> bool:
    return text[one.end : other.start] in (" ", "-")


def _value(piece: _Piece) -> Decimal | str | None:
    """A number's value, its text where it is more than one (14:30, 1.2.3), None for what is no number."""
    if not piece.is_number:
        return Decimal(_COUNTS[piece.word]) if piece.word in _COUNTS else None
    match = re.match(r"[\d.,:]*\d", piece.text)
    digits = match[0] if match else piece.text
    suffix = piece.text[len(digits) :]
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".") if digits.count(",") == 1 and "." not in digits else digits
    if suffix in _ORDINAL or not re.fullmatch(r"\d{1,30}(?:\.\d{1,30})?", digits):
        return piece.word
    return Decimal(digits) * _SUFFIXES.get(suffix, 1)


# --- names -----------------------------------------------------------------------------------------------------------


def _side_by_side(pieces: list[_Piece], text: str) -> Iterator[tuple[str, str]]:
    for one, other in pairwise(pieces):
        if text[one.end : other.start] in (" ", "-", "_"):
            yield one.word, other.word


def _unnamed(said: Stated, known: list[Stated]) -> Iterator[str]:
    words = frozenset().union(*(one.words for one in known))
    missing = [name for name in said.names if name not in words and not _inside(name, known)]
    yield from (f"the name “{name[:40]}” is in none of the facts it cites" for name in missing)
    pairs = frozenset().union(*(one.pairs for one in known))
    for one, other in sorted(said.full_names - pairs):
        if not {one, other} & set(missing):
            yield f"“{one[:40]} {other[:40]}” stands so in none of the facts it cites"


def _inside(name: str, known: list[Stated]) -> bool:
    """Whether a word of a script without spaces stands somewhere in a longer run."""
    return not name.isascii() and name == name.upper() and any(name in one.text for one in known)


# --- denials ---------------------------------------------------------------------------------------------------------


def _denied(sentence: str, facts: list[str]) -> Iterator[str]:
    """A “not” that no fact has, or that every one of them has and the sentence lost."""
    if _DENIES.search(sentence) and not any(_MAY_DENY.search(fact) for fact in facts):
        yield "it denies what none of the facts it cites denies"
    if facts and all(_DENIES.search(fact) for fact in facts) and not _MAY_DENY.search(sentence):
        yield "it leaves out the “not” of the facts it cites"
