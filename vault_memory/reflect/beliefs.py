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
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

from vault_memory.reflect.blocks import short
from vault_memory.reflect.clauses import name_stems, topics
from vault_memory.reflect.confidence import RESTATES, Belief, Evidence, confidence
from vault_memory.reflect.dated import bare, cited, names_note, newest_cited, taken_back
from vault_memory.reflect.model import Fact
from vault_memory.reflect.nearby import Around
from vault_memory.reflect.polarity import CONTRADICTS, RELATED, SUPPORTS, UNRELATED, Stance, summed
from vault_memory.reflect.select import in_order
from vault_memory.retain import DEFAULT_OPINION_CONFIDENCE, OPINIONS_NOTE
from vault_memory.spans import Span

OPINION = "opinion"

NOBODY = ""
"""The subject of facts that name none: whoever keeps the log."""

KEPT = 40
"""So many opinions about one subject are weighed: those stated on most days, then the newest."""

SHARED = 4
"""So many stems, idle ones among them, what was only inferred shares with an opinion that it bears out."""

WORDINGS = 3
"""In so many of its wordings, the newest, an opinion is held against the facts."""

RELATIONS = (SUPPORTS, CONTRADICTS, RELATED, UNRELATED)
VERSION = 2
"""Raise it whenever polarity.py would read the same words otherwise."""

NEAR = 0.4
"""Two statements that share so many of their stems are one also where only one is found to support the other."""

_LETTERS = re.compile(r"\w+")
_MARKS = {n: None for n in range(128) if not _LETTERS.match(chr(n))}


@dataclass(frozen=True)
class Given:
    """A confidence that the user gave by hand, 0..1, and the day that was noticed."""

    confidence: float
    day: date


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
    taken_back: frozenset[int] = frozenset()
    """Keys of those that contradict it by saying that it was wrong to write it."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """Slugs of those it is about."""
        return self.statement.subjects or self.statement.about

    @property
    def updated(self) -> date | None:
        """The day of the newest fact that it rests on."""
        days = (_stated_on(fact) for fact in (*self.told, *self.supports, *self.contradicts))
        return max((day for day in days if day), default=None)


@dataclass(frozen=True)
class Vault:
    """What opinions are read with: an entity's names by its slug, stems of a text, confidences set by hand by key."""

    names: Callable[[str], Sequence[str]]
    stems: Callable[[str], Sequence[str]]
    known: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """What facts were found to say of statements before: the place in RELATIONS, by the hashes of both."""
    given: Mapping[str, Given] = field(default_factory=dict)
    found: list[tuple[int, int, int]] = field(default_factory=list)
    """The same for all that were looked at now: the hashes of both, and the place."""


@dataclass(frozen=True)
class Held:
    """The opinions, surest first, and how many more are stated that are not weighed."""

    opinions: tuple[Opinion, ...]
    more: int = 0


def held(facts: Iterable[Fact], vault: Vault) -> Held:
    """The opinions that these facts hold; the order given plays no part."""
    about: dict[str, list[Fact]] = defaultdict(list)
    stated: list[Fact] = []
    for fact in sorted(facts, key=in_order):
        if fact.kind == OPINION:
            stated.append(fact)
        for slug in fact.about or (NOBODY,):
            about[slug].append(fact)
    sight = _Sight(vault, {slug: Around(found) for slug, found in about.items()}, _taking_back(stated, vault))
    clusters, more = _clusters(stated, sight)
    found = [_opinion(told, sight) for told in clusters]
    return Held(tuple(sorted(found, key=lambda one: (-one.belief.shown, one.statement.text, one.statement.key))), more)


class _Back(NamedTuple):
    """A statement that takes back what was told on some days."""

    fact: Fact
    days: tuple[Span, ...]
    names: frozenset[str]
    """Stems of the names of those it is about."""

    def takes(self, told: Iterable[Fact]) -> bool:
        """Whether one of some statements was told on such a day, and of what this one speaks of."""
        for one in told:
            is_of_then = one.day is not None and any(span.start <= one.day <= span.end for span in self.days)
            if is_of_then and not topics(one.text, self.names).isdisjoint(topics(self.fact.text, self.names)):
                return True
        return False


def _taking_back(stated: Iterable[Fact], vault: Vault) -> dict[int, _Back]:
    """The statements that take something back, by key."""
    found = ((fact, taken_back(fact.text, fact.day)) for fact in stated)
    return {fact.key: _Back(fact, days, _names(fact, vault)) for fact, days in found if days}


def _names(fact: Fact, vault: Vault) -> frozenset[str]:
    return name_stems([name for slug in fact.about for name in vault.names(slug)])


@dataclass(frozen=True)
class _Sight:
    """All that a statement is looked at with: the facts by whom they are about, and who takes what back."""

    vault: Vault
    around: Mapping[str, Around]
    backs: Mapping[int, _Back]
    judges: dict[int, "_Judge"] = field(default_factory=dict)

    def judge(self, statement: Fact) -> "_Judge":
        """What tells what facts say of a statement."""
        return self.judges.setdefault(statement.key, _Judge(statement, self.vault))

    def takes_back(self, fact: Fact, told: Iterable[Fact]) -> bool:
        """Whether a fact takes back one of some statements."""
        return fact.key in self.backs and self.backs[fact.key].takes(told)

    def stems(self, fact: Fact) -> frozenset[str]:
        return frozenset(self.vault.stems(bare(fact.text)))


class _Judge:
    """What facts say of one statement; what was found before is not worked out again."""

    def __init__(self, statement: Fact, vault: Vault) -> None:
        self._text, self._vault = bare(statement.text), vault
        self._names = [name for slug in statement.about for name in vault.names(slug)]
        said = "\0".join((str(VERSION), self._text, *self._names)).encode("utf-8", "replace")
        self._key = int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big", signed=True)

    def relation(self, fact: Fact) -> str:
        """What one fact says of it."""
        return self.relations([fact])[0]

    def relations(self, facts: Sequence[Fact]) -> list[str]:
        """What each of some facts says of it."""
        keys = [fact.key for fact in facts]
        before = map(self._vault.known.get, zip(repeat(self._key), keys))
        places = [
            RELATIONS.index(self._stance.relation(fact.text)) if place is None else place
            for place, fact in zip(before, facts, strict=True)
        ]
        self._vault.found.extend(zip(repeat(self._key), keys, places))
        return [RELATIONS[place] for place in places]

    @cached_property
    def _stance(self) -> Stance:
        return Stance(self._text, self._names)


# --- which statements are one ----------------------------------------------------------------------------------------


def _clusters(stated: Iterable[Fact], sight: _Sight) -> tuple[list[list[Fact]], int]:
    """Statements of one opinion together: those in the same words, and those that say the same of one subject."""
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
    return found, sum(max(len(groups) - KEPT, 0) for groups in by_subject.values())


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

    def __init__(self, told: list[Fact], sight: _Sight) -> None:
        self.told, self.said = told, told[-1]
        self.stems = sight.stems(self.said)


def _joined(groups: Sequence[list[Fact]], sight: _Sight) -> Iterator[list[Fact]]:
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


def _says_the_same(one: _Group, other: _Group, sight: _Sight) -> bool:
    shared = one.stems & other.stems
    if len(shared) < 2:
        return False
    both = ((one, other), (other, one))
    if any(sight.takes_back(first.said, second.told) for first, second in both):
        return False
    supports = sum(sight.judge(first.said).relation(second.said) == SUPPORTS for first, second in both)
    return supports == 2 or (supports == 1 and len(shared) >= NEAR * len(one.stems | other.stems))


# --- what bears on it ------------------------------------------------------------------------------------------------


def _opinion(told: Sequence[Fact], sight: _Sight) -> Opinion:
    statement = told[-1] if told[-1].day else next((fact for fact in reversed(told) if fact.day), told[-1])
    first = next((fact for fact in told if fact.path == OPINIONS_NOTE), told[0])
    known = (sight.vault.given.get(short(fact.key)) for fact in told)
    given = max((one for one in known if one), key=lambda one: one.day, default=None)
    given = given or _given(first)
    bearing = _Case(statement, told, sight).bearing()
    pieces = [
        *(_piece(fact, SUPPORTS) for fact in bearing[SUPPORTS]),
        *(_piece(fact, CONTRADICTS) for fact in bearing[CONTRADICTS]),
        *(_piece(fact, RESTATES) for fact in told if fact is not first),
    ]
    return Opinion(
        statement=statement,
        told=tuple(told),
        prior=given.confidence,
        belief=confidence(given.confidence, [piece for piece in pieces if _came_later(piece, given.day)]),
        supports=tuple(bearing[SUPPORTS]),
        contradicts=tuple(bearing[CONTRADICTS]),
        related=tuple(bearing[RELATED]),
        taken_back=frozenset(fact.key for fact in bearing[CONTRADICTS] if sight.takes_back(fact, told)),
    )


def _given(first: Fact) -> Given:
    """The confidence that a statement gives, and the day on which it did.

    date.min where that is not known: then whatever bears on it may have come later.
    """
    return Given(_confidence(first), _stated_on(first) or date.min)


def _stated_on(fact: Fact) -> date | None:
    """The day of a fact, no older than what it cites: a list of opinions has none of its own."""
    return max((day for day in (fact.day, newest_cited(fact.text)) if day), default=None)


def _confidence(fact: Fact) -> float:
    return DEFAULT_OPINION_CONFIDENCE if fact.confidence is None else fact.confidence


def _piece(fact: Fact, relation: str) -> Evidence:
    stated, day = _confidence(fact) if relation == RESTATES else None, _stated_on(fact)
    return Evidence(fact.key, day.toordinal() if day else None, relation, stated)


def _came_later(piece: Evidence, day: date) -> bool:
    """Whether a piece was not known yet when the confidence was given."""
    return day == date.min or (piece.day is not None and piece.day > day.toordinal())


class _Case:
    """One opinion with all that may bear on it."""

    def __init__(self, statement: Fact, told: Sequence[Fact], sight: _Sight) -> None:
        self._told, self._sight = told, sight
        self._names = _names(statement, sight.vault)
        self._slugs = statement.subjects or statement.about or (NOBODY,)
        newest = {fact.text: fact for fact in (*told, statement)}
        self._said = list(newest.values())[-WORDINGS:]
        self._judges = [sight.judge(fact) for fact in self._said]
        self._cited = frozenset[str]().union(*(cited(fact.text) for fact in told))

    def bearing(self) -> Mapping[str, list[Fact]]:
        """The facts by what they say of it, in the order of a timeline."""
        found: dict[str, list[Fact]] = defaultdict(list)
        facts = self._candidates()
        told = [judge.relations(facts) for judge in self._judges]
        said = told[0] if len(told) == 1 else [summed(set(one)) for one in zip(*told, strict=True)]
        for fact, relation in zip(facts, said, strict=True):
            if relation != UNRELATED or self._cited or fact.key in self._sight.backs:  # nearly all say nothing of it
                found[self._relation(fact, relation)].append(fact)
        return found

    def _candidates(self) -> Sequence[Fact]:
        """The facts about its subjects but for its own statements, in the order of a timeline."""
        own = {fact.key for fact in self._told}
        text = " ".join(bare(fact.text) for fact in self._said)
        around = [self._sight.around[slug] for slug in self._slugs if slug in self._sight.around]
        near = [one.near(text, own) for one in around]
        more = [fact for one in around for fact in one.of_notes(self._cited) if fact.key not in own]
        more += [back.fact for back in self._sight.backs.values() if self._is_about_it(back.fact, own)]
        if len(near) == 1 and not more:
            return near[0]
        found = {fact.key: fact for facts in (*near, more) for fact in facts}
        return sorted(found.values(), key=in_order)

    def _is_about_it(self, fact: Fact, own: Container[int]) -> bool:
        return fact.key not in own and not frozenset(fact.about or (NOBODY,)).isdisjoint(self._slugs)

    def _relation(self, fact: Fact, relation: str) -> str:
        """What a fact says of it: what takes it back contradicts it, and what is cited for it bears it out."""
        if fact.key in self._sight.backs and self._sight.takes_back(fact, self._told):
            return CONTRADICTS
        if relation == CONTRADICTS:
            return relation
        if self._cited and names_note(self._cited, fact.path) and self._shares_topic(fact):
            return SUPPORTS
        if relation == RELATED:
            return self._unclear(fact)
        return "" if fact.is_inferred and not self._is_near(fact) else relation

    def _unclear(self, fact: Fact) -> str:
        """What a fact says that may bear on it: an opinion that this one contradicts contradicts it."""
        if fact.kind == OPINION:
            back = self._sight.judge(fact)
            if any(back.relation(one) == CONTRADICTS for one in self._said):
                return CONTRADICTS
        return RELATED if self._shares_topic(fact, 2) else ""

    def _shares_topic(self, fact: Fact, number: int = 1) -> bool:
        """Whether it speaks of so many things that a wording speaks of, or of all of them."""
        told = topics(fact.text, self._names)
        said = (topics(bare(one.text), self._names) for one in self._said)
        return any(len(told & one) >= min(number, len(one) or 1) for one in said)

    def _is_near(self, fact: Fact) -> bool:
        """Whether talk shares enough with it to bear it out: it is full of love and of making things."""
        stems = self._sight.stems(fact)
        return any(len(stems & self._sight.stems(one)) >= SHARED for one in self._said)
