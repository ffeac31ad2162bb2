"""Finds the fact that says what another tells is over: done, found, closed, no longer so, or another version. Pure.

It only says where a fact stands on a page, so it may be wider than supersede.py, which retires facts: what is over is
history, not how things stand. English only; facts of no day are ended by none.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from vault_memory.reflect.model import Fact
from vault_memory.text.languages import STOP_WORDS

LEAST_SHARED, SHARED = 2, 0.5
"""What is done is the same thing in so many words, and in so much of the words of what was open."""

LEAST_STATED = 3
"""Of fewer words beside its number a state may be of anything."""

LOOKED_AT = 300
"""So many of the newest facts about a subject may say that something is over: each is held against each told."""

PENDING_DAYS = 14
"""What was only to be done, and of which nobody has told anything for so long, is no news."""

_DONE = re.compile(
    r"\b(?:closed|fixed|solved|resolved|finished|completed|done|delivered|paid|bill(?:ed)?|signed|sent|arrived|merged"
    r"|repaired|mended|found|granted|passed|cancelled|canceled|called off|settled|handed in|submitted|shipped|released"
    r"|cured|corrected|went live|(?:not|never) (?:been )?(?:seen|come back|returned|happened)\b.{0,40}\bsince)\b",
    re.I,
)
_NOT_YET = re.compile(
    r"\b(?:not|never|n't|cannot|to be|will|if|until|before|unless|planned|should|must|except|nearly|half)\b", re.I
)
_GONE = re.compile(
    r"\b(?:(?:no longer|stopped) \w+|gave up|given up|(?:switch|mov|chang|postpon|shift)ed (?:away )?from|instead of)\b"
    r" (?P<what>.+?)(?= (?:to|because|since|and|but)\b|[,.;:]|$)",
    re.I,
)
_TICKET = re.compile(r"\b[A-Z]{2,}-\d+(?:-\d+)*\b")
_VERSION = re.compile(r"\b(?:version|release|edition|revision|draft)(?: is)? (?P<number>\d+(?:\.\d+)*)", re.I)
_PENDING = re.compile(
    r"\b(?:(?:has|have|is|are|still|remains?|needs?) to be|is due|are due|planned|scheduled|to be decided"
    r"|until (?:\w+day|\d|tomorrow|next|(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*)"
    r"|waiting for|not yet|wants? (?:an?|the|to))\b",
    re.I,
)


class _End(NamedTuple):
    """A fact that ends others: by the words it shares with them, `gone` those of what is so no longer."""

    fact: Fact
    words: frozenset[str]
    gone: frozenset[str]
    closed: frozenset[str]
    version: str
    is_done: bool
    is_state: bool
    """Whether it tells, with a number, how something is."""


class _Open(NamedTuple):
    """What of a fact may be over."""

    words: frozenset[str]
    tickets: frozenset[str]
    version: str
    is_open: bool
    is_state: bool


class Endings:
    """What some facts say to be over; `stems` of a text, as everywhere."""

    def __init__(self, facts: Iterable[Fact], stems: Callable[[str], Sequence[str]], focus: str = "") -> None:
        self._stems = stems
        self._names = self._words_of(focus.replace("-", " "))
        self._found: dict[int, Fact | None] = {}
        self._ends: dict[str, list[_End]] = {}
        self._about: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            for slug in (fact.about or ("",)) if fact.day is not None and fact.is_trusted else ():
                self._about[slug].append(fact)

    def of(self, fact: Fact) -> Fact | None:
        """A later fact that says that what this one tells is over; the same fact is looked at once."""
        if id(fact) not in self._found:
            self._found[id(fact)] = self._of(fact)
        return self._found[id(fact)]

    def _of(self, fact: Fact) -> Fact | None:
        if fact.day is None or fact.kind == "opinion":
            return None
        is_open = _done(fact.text) is None
        words = self._words_of(fact.text) - self._names
        version = _VERSION.search(fact.text)
        tickets = frozenset(_TICKET.findall(fact.text))
        for slug in fact.about or ("",):
            for end in self._ends_of(slug):
                if _is_later(end.fact, fact) and _ends(
                    end, _Open(words, tickets, version["number"] if version else "", is_open, _is_state(fact))
                ):
                    return end.fact
        return None

    def _ends_of(self, slug: str) -> list[_End]:
        """What the newest facts about one say to be over; worked out where it is asked for."""
        if slug not in self._ends:
            told = sorted(self._about.get(slug, ()), key=lambda fact: (fact.day or date.min, fact.path, fact.line))
            self._ends[slug] = [end for fact in told[-LOOKED_AT:] if (end := self._end(fact))]
        return self._ends[slug]

    def _end(self, fact: Fact) -> _End | None:
        done, gone = _done(fact.text), _GONE.search(fact.text)
        version = _VERSION.search(fact.text)
        is_state = _is_state(fact)
        if not (done or gone or version or is_state):
            return None
        words = self._words_of(fact.text) - self._names
        closed = _TICKET.findall(fact.text[: done.end()].rpartition(";")[2]) if done else ()
        what = self._words_of(gone["what"]) - self._names if gone else frozenset()
        number = version["number"] if version and fact.kind != "opinion" else ""
        return _End(fact, words, what, frozenset(closed), number, done is not None, is_state)

    def _words_of(self, text: str) -> frozenset[str]:
        """The stems of a text that tell what it is about."""
        return frozenset(stem for stem in self._stems(text) if stem not in STOP_WORDS and len(stem) > 1)


def _is_state(fact: Fact) -> bool:
    return fact.kind in ("world", "observation") and any(map(str.isdigit, fact.text))


def _is_another_number(end: _End, told: _Open) -> bool:
    """Whether the one says in all the words of the other that its number is another now."""
    words = {word for word in told.words if not word[0].isdigit()}
    is_same = len(words) >= LEAST_STATED and words <= end.words
    return is_same and not {word for word in told.words if word[0].isdigit()} <= end.words


def is_pending(fact: Fact, newest: date | None) -> bool:
    """Whether a fact only says what was to be done, a good while before anything newer was told."""
    if newest is None or fact.day is None or (newest - fact.day).days <= PENDING_DAYS:
        return False
    return (fact.when is None or fact.when <= newest) and _PENDING.search(fact.text) is not None


def _done(text: str) -> re.Match[str] | None:
    """Where a text says that something is done, if it does, and not that it is not or is to be."""
    for match in _DONE.finditer(text):
        clause = re.split(r"[.;,:]\s", text[: match.start()])[-1]
        if not _NOT_YET.search(clause):
            return match
    return None


def _is_later(one: Fact, other: Fact) -> bool:
    if one.key == other.key or one.day is None or other.day is None:
        return False
    return one.day > other.day or (one.path == other.path and one.line > other.line)


def _ends(end: _End, told: _Open) -> bool:
    if told.is_open and not end.closed.isdisjoint(told.tickets):
        return True
    beside = {word for word in told.words & end.words if not word[0].isdigit()}
    if end.is_state and told.is_state and _is_another_number(end, told):
        return True
    if end.version and told.version:
        return end.version != told.version and len(beside) >= LEAST_SHARED
    if end.gone and end.gone <= told.words:
        return bool(beside - end.gone) or len(end.words - end.gone) <= 1
    telling = [word for word in told.words if not word[0].isdigit()]
    return end.is_done and told.is_open and len(beside) >= max(LEAST_SHARED, SHARED * len(telling))
