"""Owns the opinions that the facts hold: which statements are one opinion, what bears on it, how sure it makes. Pure.

An opinion is what O facts state: the same words about the same entities, or statements that support each other both
ways. All other facts about its subjects are held against it (polarity.py) and its confidence is computed afresh from
them (confidence.py): from what it was given first, or from what the user gave it by hand.

A number that somebody wrote down holds all that was known then: facts up to that day, and those that the statement
cites as its evidence, are listed and do not move it once more; what came later does. A fact that bears on it unclearly
is listed and moves nothing.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from vault_memory.markdown.facts import DEFAULT_OPINION_CONFIDENCE, OPINIONS_NOTE
from vault_memory.reflect.bearing import NOBODY, OPINION, Case, Given, Sight, Vault, first_told, stated_on, taking_back
from vault_memory.reflect.blocks import short
from vault_memory.reflect.confidence import RESTATES, Belief, Evidence, confidence
from vault_memory.reflect.dated import bare
from vault_memory.reflect.model import Fact
from vault_memory.reflect.nearby import Around
from vault_memory.reflect.polarity import CONTRADICTS, RELATED, SUPPORTS
from vault_memory.reflect.select import in_order

KEPT = 40
"""So many opinions about one subject are weighed: those stated on most days, then the newest."""

NEAR = 0.4
"""Two statements that share so many of their stems are one also where only one is found to support the other."""

_LETTERS = re.compile(r"\w+")
_MARKS = {n: None for n in range(128) if not _LETTERS.match(chr(n))}


@dataclass(frozen=True)
class Opinion:
    """An opinion and what it rests on; every list is in the order of a timeline. `statement` is its newest wording."""

    statement: Fact
    told: tuple[Fact, ...]
    prior: float
    belief: Belief
    supports: tuple[Fact, ...] = ()
    contradicts: tuple[Fact, ...] = ()
    related: tuple[Fact, ...] = ()
    since: date | None = None
    """The day of the prior: when it was first told, or given by hand."""
    is_given: bool = False
    """Whether the prior is one that the user gave by hand."""
    taken_back: frozenset[int] = frozenset()
    """Keys of those that contradict it by saying that it was wrong to write it."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """Slugs of those it is about."""
        return self.statement.subjects or self.statement.about

    @property
    def stated(self) -> tuple[tuple[date, float], ...]:
        """The numbers it was stated with, one a day, and since when each; of what has no day nobody knows when."""
        of_day = {fact.day: fact.confidence for fact in self.told if fact.day and fact.confidence is not None}
        numbers = sorted(of_day.items())
        return tuple(one for n, one in enumerate(numbers) if not n or numbers[n - 1][1] != one[1])

    @property
    def updated(self) -> date | None:
        """The day of the newest fact that it rests on."""
        days = (stated_on(fact) for fact in (*self.told, *self.supports, *self.contradicts))
        return max((day for day in days if day), default=None)


@dataclass(frozen=True)
class Held:
    """The opinions, surest first, and the statements of each of those that are not weighed."""

    opinions: tuple[Opinion, ...]
    unweighed: tuple[tuple[Fact, ...], ...] = ()

    @property
    def more(self) -> int:
        """How many more are stated than are weighed."""
        return len(self.unweighed)


def held(facts: Iterable[Fact], vault: Vault, about_whom: str | None = None) -> Held:
    """The opinions that these facts hold (those about one entity); the order given plays no part.

    What came from outside is nobody's opinion here, and bears on none.
    """
    about: dict[str, list[Fact]] = defaultdict(list)
    stated: list[Fact] = []
    for fact in sorted((fact for fact in facts if fact.is_trusted), key=in_order):
        if fact.kind == OPINION:
            stated.append(fact)
        for slug in fact.about or (NOBODY,):
            about[slug].append(fact)
    sight = Sight(vault, {slug: Around(found) for slug, found in about.items()}, taking_back(stated, vault))
    clusters, unweighed = _clusters(stated if about_whom is None else _about(stated, about_whom), sight)
    found = [_opinion(told, sight) for told in clusters]
    found.sort(key=lambda one: (-one.belief.shown, one.statement.text, one.statement.key))
    return Held(tuple(found), tuple(unweighed))


def as_stated(told: Sequence[Fact], vault: Vault) -> Opinion:
    """What statements of one opinion make of it by themselves, nothing else held against it."""
    return _weighed(told, {}, vault)


def _about(stated: Sequence[Fact], slug: str) -> list[Fact]:
    """The statements that mention an entity, and all others of the same subjects: they may be one opinion."""
    subjects = {_subjects(fact) for fact in stated if slug in fact.about}
    return [fact for fact in stated if _subjects(fact) in subjects]


# --- which statements are one ----------------------------------------------------------------------------------------


def _clusters(stated: Iterable[Fact], sight: Sight) -> tuple[list[list[Fact]], list[tuple[Fact, ...]]]:
    """Statements of one opinion together: those in the same words, and those that say the same of one subject.

    Besides, those that are too many of one subject to be weighed.
    """
    worded: dict[tuple[tuple[str, ...], str], list[Fact]] = defaultdict(list)
    for fact in stated:
        worded[_subjects(fact), _wording(fact)].append(fact)
    by_subject: dict[tuple[str, ...], list[list[Fact]]] = defaultdict(list)
    for (subjects, _), told in worded.items():
        by_subject[subjects].append(told)
    found: list[list[Fact]] = []
    for groups in by_subject.values():
        groups.sort(key=_weight)
        found += _joined(groups[:KEPT], sight)
    return found, [tuple(told) for groups in by_subject.values() for told in groups[KEPT:]]


def _weight(told: Sequence[Fact]) -> tuple[int, int, int, int]:
    """What is stated on most days first, then the newest."""
    first = told[0]
    if len(told) == 1:  # as nearly all are
        return (-(first.path == OPINIONS_NOTE), -bool(first.day), -(first.day or date.min).toordinal(), first.key)
    mine = any(fact.path == OPINIONS_NOTE for fact in told)
    days = {fact.day for fact in told if fact.day}
    return (-mine, -len(days), -max(days, default=date.min).toordinal(), first.key)


def _subjects(fact: Fact) -> tuple[str, ...]:
    return tuple(sorted(fact.subjects or fact.about))


def _wording(fact: Fact) -> str:
    """What makes two statements the same: their letters, without case, punctuation and what they cite."""
    text = bare(fact.text).casefold()
    return text.translate(_MARKS) if text.isascii() else "".join(_LETTERS.findall(text))


class _Group:
    """Statements taken for one opinion so far."""

    def __init__(self, told: list[Fact], sight: Sight) -> None:
        self.told, self.said = told, told[-1]
        self.stems = sight.stems(self.said)


def _joined(groups: Sequence[list[Fact]], sight: Sight) -> Iterator[list[Fact]]:
    """Groups of one subject, those that support each other both ways as one."""
    kept: list[_Group] = []
    for told in groups:
        new = _Group(told, sight)
        same = next((old for old in kept if _says_the_same(old, new, sight)), None)
        if same:
            same.told = sorted([*same.told, *told], key=in_order)
        else:
            kept.append(new)
    yield from (group.told for group in kept)


def _says_the_same(one: _Group, other: _Group, sight: Sight) -> bool:
    shared = one.stems & other.stems
    if len(shared) < 2:
        return False
    both = ((one, other), (other, one))
    if any(sight.takes_back(first.said, second.told) for first, second in both):
        return False
    supports = sum(sight.judge(first.said).relation(second.said) == SUPPORTS for first, second in both)
    return supports == 2 or (supports == 1 and len(shared) >= NEAR * len(one.stems | other.stems))


# --- what bears on it ------------------------------------------------------------------------------------------------


def _opinion(told: Sequence[Fact], sight: Sight) -> Opinion:
    bearing = Case(_newest(told), told, sight).bearing()
    back = frozenset(fact.key for fact in bearing[CONTRADICTS] if sight.takes_back(fact, told))
    return replace(_weighed(told, bearing, sight.vault), taken_back=back)


def _newest(told: Sequence[Fact]) -> Fact:
    return told[-1] if told[-1].day else next((fact for fact in reversed(told) if fact.day), told[-1])


def _weighed(told: Sequence[Fact], bearing: Mapping[str, Sequence[Fact]], vault: Vault) -> Opinion:
    """What statements of one opinion, and the facts that bear on it, make of it."""
    first = first_told(told)
    known = (vault.given.get(short(fact.key)) for fact in told)
    by_hand = max((one for one in known if one), key=lambda one: one.day, default=None)
    given = by_hand or _given(first)
    supports, contradicts, related = (tuple(bearing.get(way, ())) for way in (SUPPORTS, CONTRADICTS, RELATED))
    pieces = [
        *(_piece(fact, SUPPORTS, _confidence(fact) if fact.kind == OPINION else None) for fact in supports),
        *(_piece(fact, CONTRADICTS) for fact in contradicts),
        *(_piece(fact, RESTATES, fact.confidence) for fact in told if fact is not first),
    ]
    return Opinion(
        statement=_newest(told),
        told=tuple(told),
        prior=given.confidence,
        belief=confidence(given.confidence, pieces, None if given.day == date.min else given.day.toordinal()),
        supports=supports,
        contradicts=contradicts,
        related=related,
        since=given.day if given.day != date.min else None,
        is_given=by_hand is not None,
    )


def _given(first: Fact) -> Given:
    """The confidence that a statement gives, and the day on which it did.

    date.min where that is not known: then whatever bears on it may have come later.
    """
    return Given(_confidence(first), stated_on(first) or date.min)


def _confidence(fact: Fact) -> float:
    return DEFAULT_OPINION_CONFIDENCE if fact.confidence is None else fact.confidence


def _piece(fact: Fact, relation: str, number: float | None = None) -> Evidence:
    """What a fact is as evidence; told again without a number, an opinion stays as sure as it was.

    An opinion bears another out no further than it is held itself: two that say nearly the same prop up neither.
    """
    day = stated_on(fact)
    return Evidence(_evidence_key(fact), day.toordinal() if day else None, relation, number)


def _evidence_key(fact: Fact) -> int:
    """What a fact counts once as: its words and whom it is about, however its bullet is written."""
    said = "\0".join((_wording(fact), *_subjects(fact))).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big", signed=True)
