"""Owns what an opinion states: one thing or several, each with the attribute it has and what it is about. Pure."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from vault_memory.reflect import polarwords as table
from vault_memory.reflect.clauses import EPITHET, NAME, OBJECT, Part, Word, concepts, parts
from vault_memory.reflect.dated import bare

_REASON = re.compile(r",?\s+\b(?:because|so that|which)\b[^.;:]*", re.I)
"""Why it is believed is not what is believed."""


class Statement(NamedTuple):
    """One part of an opinion: its telling words, the attribute it has (None: no more than its topics), and topics."""

    part: Part
    words: tuple[Word, ...]
    predicate: Word | None
    topics: dict[str, Word]
    modifiers: dict[str, Word]
    is_all: bool = True
    """Whether the opinion states nothing else: one word then is enough ("Klara is vegetarian")."""

    @property
    def is_attitude(self) -> bool:
        return self.predicate is not None and self.predicate.concept in table.ATTITUDES

    @property
    def asked(self) -> frozenset[str]:
        """The concepts of which a fact must have one to say anything of it."""
        units = {quantity.unit.split()[0] for quantity in self.part.quantities if quantity.unit}
        days = concepts(" ".join(table.MONTHS)) if "date" in units else frozenset[str]()
        ends = concepts(" ".join(table.ENDING)) if self.has_object else frozenset[str]()
        return frozenset(word.concept for word in self.words) - {NAME} | units | days | ends

    @property
    def has_object(self) -> bool:
        """Whether it tells what is done with the entity ("uses it for everything")."""
        return not self.predicate and any(word.role == OBJECT for word in self.words)

    @property
    def doer(self) -> str:
        """Who it says does it."""
        return self.predicate.subject if self.predicate else ""

    @property
    def leans(self) -> int:
        """+1 or -1: the side of its attribute that it takes."""
        return leaning(self.predicate) if self.predicate else 1


def plain(opinion: str) -> str:
    """An opinion without its reasons and what it cites."""
    return _REASON.sub("", bare(" ".join(opinion.split())))


def stated(text: str, names: frozenset[str]) -> list[Statement]:
    """What a plain opinion states of the entity of these names (stems)."""
    found = [one for part in parts(text, names) for one in _of_part(part)]
    return [one._replace(is_all=len(found) == 1) for one in found]


def _of_part(part: Part) -> Iterable[Statement]:
    """What a part of an opinion states: one thing, or one in each clause that has an attribute of its own."""
    sided = list(dict.fromkeys(word.clause for word in part.words if word.side))
    if len(sided) < 2:
        yield from [_statement(part, part.words)] if part.words or part.quantities else []
        return
    before: tuple[Word, ...] = ()
    for n, end in zip(sided, [*sided[1:], len(part.words)], strict=True):
        start = n if n != sided[0] else 0
        words = tuple(word for word in part.words if start <= word.clause < end)
        if not any(not word.side and word.concept != NAME for word in words):
            words = (*(word for word in before if not word.side), *words)  # "good for the back, and cheap"
        yield _statement(part, words)
        before = words


def _statement(part: Part, words: tuple[Word, ...]) -> Statement:
    sided = [word for word in words if word.side]
    attitudes = [word for word in sided if word.concept in table.ATTITUDES]
    # Who does not read long mails: it is the reading that is denied.
    stated = [word for word in sided if not (word.is_denied and word.role == EPITHET)]
    narrow = [word for word in stated if word.concept not in table.BROAD]
    predicate = next(iter([*attitudes[:1], *narrow[-1:], *stated[-1:]]), None)
    topics = {word.concept: word for word in words if not word.side and word.concept != NAME}
    modifiers = {word.concept: word for word in sided if not predicate or word.concept != predicate.concept}
    return Statement(part, words, predicate, topics, modifiers)


def leaning(word: Word) -> int:
    """The side of its attribute that a word takes, with what its clause denies: +1 or -1, or 0 for none."""
    return -word.side if word.is_denied else word.side
