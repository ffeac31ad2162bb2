"""Owns what facts say of a statement: which are held against it, what each of them says, and who takes it back. Pure.

What two texts say of each other is for polarity.py; here stands what else there is to know: who is meant, which days a
statement cites as its evidence, and on which day something was told that another statement takes back.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import repeat
from typing import NamedTuple, TypeVar

from vault_memory.markdown.facts import OPINIONS_NOTE
from vault_memory.reflect.clauses import name_stems, topics
from vault_memory.reflect.dated import bare, cited, names_note, newest_cited, taken_back
from vault_memory.reflect.model import Fact
from vault_memory.reflect.nearby import Around
from vault_memory.reflect.polarity import CONTRADICTS, RELATED, SUPPORTS, UNRELATED, Stance, summed
from vault_memory.reflect.select import in_order
from vault_memory.reflect.supposed import is_supposed, settled
from vault_memory.text.spans import Span

OPINION = "opinion"

NOBODY = ""
"""The subject of facts that name none: whoever keeps the log."""

SHARED = 4
"""So many stems, idle ones among them, what was only inferred shares with an opinion that it bears out."""

WORDINGS = 3
"""In so many of its wordings, the newest, an opinion is held against the facts."""

DOUBT = 0.5
"""A statement that is held with less than this says that it is rather not so: it decides nothing."""

RELATIONS = (SUPPORTS, CONTRADICTS, RELATED, UNRELATED)
VERSION = 3
"""Raise it whenever polarity.py would read the same words otherwise."""

_Name = TypeVar("_Name", int, str)


@dataclass(frozen=True)
class Given:
    """A confidence that the user gave by hand, 0..1, and the day that was noticed."""

    confidence: float
    day: date


@dataclass(frozen=True)
class Vault:
    """What opinions are read with: an entity's names by its slug, stems of a text, confidences set by hand by key."""

    names: Callable[[str], Sequence[str]]
    stems: Callable[[str], Sequence[str]]
    known: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """What facts were found to say of statements before: the place in RELATIONS, by the hashes of both."""
    given: Mapping[str, Given] = field(default_factory=dict)
    found: dict[tuple[int, int], int] = field(default_factory=dict)
    """The same for all that were looked at now."""


class Back(NamedTuple):
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


def taking_back(stated: Iterable[Fact], vault: Vault) -> list[Back]:
    """The statements that take something back."""
    found = ((fact, taken_back(fact.text, fact.day)) for fact in stated)
    return [Back(fact, days, _names(fact, vault)) for fact, days in found if days]


def _names(fact: Fact, vault: Vault) -> frozenset[str]:
    return name_stems([name for slug in fact.about for name in vault.names(slug)])


@dataclass(frozen=True)
class Sight:
    """All that a statement is looked at with: the facts by whom they are about, and who takes what back."""

    vault: Vault
    around: Mapping[str, Around]
    backs: Sequence[Back]
    judges: dict[int, "Judge"] = field(default_factory=dict)

    def judge(self, statement: Fact) -> "Judge":
        """What tells what facts say of a statement."""
        return self.judges.setdefault(statement.key, Judge(statement, self.vault))

    @cached_property
    def backs_by_key(self) -> Mapping[int, Sequence[Back]]:
        """Who takes what back, by the key of what is said: the same words on another day mean another one."""
        return _grouped((back.fact.key, back) for back in self.backs)

    @cached_property
    def backs_by_slug(self) -> Mapping[str, Sequence[Back]]:
        """The same by whom they are about."""
        return _grouped((slug, back) for back in self.backs for slug in back.fact.about or (NOBODY,))

    def takes_back(self, fact: Fact, told: Sequence[Fact]) -> bool:
        """Whether a fact takes back one of some statements."""
        return any(back.fact == fact and back.takes(told) for back in self.backs_by_key.get(fact.key, ()))

    def stems(self, fact: Fact) -> frozenset[str]:
        return frozenset(self.vault.stems(bare(fact.text)))


def _grouped(pairs: Iterable[tuple[_Name, Back]]) -> Mapping[_Name, Sequence[Back]]:
    found: dict[_Name, list[Back]] = defaultdict(list)
    for key, back in pairs:
        found[key].append(back)
    return dict(found)


class Judge:
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
        pairs = list(zip(repeat(self._key), (fact.key for fact in facts)))
        places = [
            RELATIONS.index(self._stance.relation(fact.text)) if place is None else place
            for place, fact in zip(map(self._vault.known.get, pairs), facts, strict=True)
        ]
        self._vault.found.update(zip(pairs, places, strict=True))
        return [RELATIONS[place] for place in places]

    @cached_property
    def _stance(self) -> Stance:
        return Stance(self._text, self._names)


def is_doubt(fact: Fact) -> bool:
    """Whether a fact is an opinion that its own number makes a doubt."""
    return fact.kind == OPINION and fact.confidence is not None and fact.confidence < DOUBT


def stated_on(fact: Fact) -> date | None:
    """The day of a fact, no older than what it cites: a list of opinions has none of its own."""
    return max((day for day in (fact.day, newest_cited(fact.text)) if day), default=None)


def first_told(told: Sequence[Fact]) -> Fact:
    """The statement whose number an opinion begins with: the one in the user's own list, else the oldest."""
    return next((fact for fact in told if fact.path == OPINIONS_NOTE), told[0])


class Case:
    """One opinion with all that may bear on it."""

    def __init__(self, statement: Fact, told: Sequence[Fact], sight: Sight) -> None:
        self._told, self._sight = told, sight
        self._names = _names(statement, sight.vault)
        self._slugs = statement.subjects or statement.about or (NOBODY,)
        newest = {fact.text: fact for fact in (*told, statement)}
        self._said = list(newest.values())[-WORDINGS:]
        self._judges = [sight.judge(fact) for fact in self._said]
        self._cited = frozenset[str]().union(*(cited(fact.text) for fact in told))
        self._since = stated_on(first_told(told))
        self._supposed = bare(statement.text) if is_supposed(bare(statement.text)) else ""

    def bearing(self) -> Mapping[str, list[Fact]]:
        """The facts by what they say of it, in the order of a timeline."""
        found: dict[str, list[Fact]] = defaultdict(list)
        facts = self._candidates()
        told = [judge.relations(facts) for judge in self._judges]
        said = told[0] if len(told) == 1 else [summed(set(one)) for one in zip(*told, strict=True)]
        is_any = bool(self._cited or self._supposed)
        for fact, relation in zip(facts, said, strict=True):
            if relation != UNRELATED or is_any or fact.key in self._sight.backs_by_key:  # nearly all say nothing of it
                found[self._relation(fact, relation)].append(fact)
        return found

    def _candidates(self) -> Sequence[Fact]:
        """The facts about its subjects but for its own statements, in the order of a timeline."""
        own = {fact.key for fact in self._told}
        text = " ".join(bare(fact.text) for fact in self._said)
        around = [self._sight.around[slug] for slug in self._slugs if slug in self._sight.around]
        near = [one.near(text, own) for one in around]
        noted = [one.of_notes(self._cited) for one in around]
        backs = [[back.fact for back in self._sight.backs_by_slug.get(slug, ())] for slug in self._slugs]
        lists = [facts for facts in (*near, *noted, *backs) if facts]
        if len(lists) > 1:  # else it is in order, and holds nothing twice
            found = {(fact.path, fact.line, fact.key): fact for facts in lists for fact in facts}
            lists = [sorted(found.values(), key=in_order)]
        return [fact for facts in lists for fact in facts if fact.key not in own]

    def _relation(self, fact: Fact, relation: str) -> str:
        """What a fact says of it; what is doubted where it is stated bears neither way."""
        found = self._taken(fact, relation)
        return RELATED if found in (SUPPORTS, CONTRADICTS) and is_doubt(fact) else found

    def _taken(self, fact: Fact, relation: str) -> str:
        """What it says at its word: what takes it back contradicts it, and what is cited for it bears it out."""
        if relation == CONTRADICTS or self._sight.takes_back(fact, self._told):
            return CONTRADICTS
        if self._supposed and fact.kind != OPINION and (found := settled(self._supposed, fact.text, self._names)):
            return found
        if self._cited and names_note(self._cited, fact.path) and self._shares_topic(fact):
            return SUPPORTS
        if relation == RELATED:
            return self._unclear(fact)
        if relation == SUPPORTS and fact.kind == OPINION and not self._is_later(fact):
            return RELATED  # each of two that say nearly the same would be the evidence of the other
        return "" if fact.is_inferred and not self._is_near(fact) else relation

    def _unclear(self, fact: Fact) -> str:
        """What a fact says that may bear on it: an opinion that this one contradicts contradicts it."""
        if fact.kind == OPINION:
            back = self._sight.judge(fact)
            if any(back.relation(one) == CONTRADICTS for one in self._said):
                return CONTRADICTS
        return RELATED if self._shares_topic(fact, 2) else ""

    def _is_later(self, fact: Fact) -> bool:
        """Whether it was told after this one was held already."""
        day = stated_on(fact)
        return day is not None and (self._since is None or day > self._since)

    def _shares_topic(self, fact: Fact, number: int = 1) -> bool:
        """Whether it speaks of so many things that a wording speaks of, or of all of them."""
        told = topics(fact.text, self._names)
        said = (topics(bare(one.text), self._names) for one in self._said)
        return any(len(told & one) >= min(number, len(one) or 1) for one in said)

    def _is_near(self, fact: Fact) -> bool:
        """Whether talk shares enough with it to bear it out: it is full of love and of making things."""
        stems = self._sight.stems(fact)
        return any(len(stems & self._sight.stems(one)) >= SHARED for one in self._said)
