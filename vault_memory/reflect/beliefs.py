"""Owns the opinions that the facts hold: which statements are one opinion, what bears on it, how sure it makes. Pure.

An opinion is what O facts state: the same words about the same entities, or statements that support each other both
ways. All other facts about its subjects are held against it (polarity.py) and its confidence is computed afresh from
them (confidence.py): from what it was given first, or from what the user gave it by hand, which no older fact then
moves. A fact that bears on it unclearly is listed and moves nothing.
"""

import hashlib
import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from vault_memory.reflect.blocks import short
from vault_memory.reflect.confidence import RESTATES, Belief, Evidence, confidence
from vault_memory.reflect.model import Fact
from vault_memory.reflect.polarity import CONTRADICTS, RELATED, SUPPORTS, UNRELATED, Stance
from vault_memory.reflect.select import in_order
from vault_memory.reflect.wording import bare
from vault_memory.retain import DEFAULT_OPINION_CONFIDENCE, OPINIONS_NOTE

OPINION = "opinion"

NOBODY = ""
"""The subject of facts that name none: whoever keeps the log."""

KEPT = 40
"""So many opinions about one subject are weighed: those stated on most days, then the newest."""

SHARED = 4
"""So many stems, idle ones among them, what was only inferred shares with an opinion that it bears out."""

ENOUGH = 4
"""Of words that together stand in so many times LOOKED_AT facts the nearest are taken."""

RELATIONS = (SUPPORTS, CONTRADICTS, RELATED, UNRELATED)
VERSION = 1
"""Raise it whenever polarity.py would read the same words otherwise."""

_LETTERS = re.compile(r"\w+")
_WORDS = re.compile(r"[^\W_]{3,}")

NEAR = 0.4
"""Two statements that share so many of their stems are one also where only one is found to support the other."""

LOOKED_AT = 150
"""So many facts about its subject are held against an opinion: those that share most words with it, then the newest."""


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
    since: date | None = None
    """The day of the prior: when it was first told, or given by hand."""
    is_given: bool = False
    """Whether the prior is one that the user gave by hand."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """Slugs of those it is about."""
        return self.statement.subjects or self.statement.about

    @property
    def updated(self) -> date | None:
        """The day of the newest fact that it rests on."""
        days = [fact.day for fact in (*self.told, *self.supports, *self.contradicts) if fact.day]
        return max(days, default=None)


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
    """The opinions, surest first, and the statements of each of those that are not weighed."""

    opinions: tuple[Opinion, ...]
    unweighed: tuple[tuple[Fact, ...], ...] = ()

    @property
    def more(self) -> int:
        """How many more are stated than are weighed."""
        return len(self.unweighed)


def held(facts: Iterable[Fact], vault: Vault, about_whom: str | None = None) -> Held:
    """The opinions that these facts hold (those about one entity); the order given plays no part."""
    about: dict[str, list[Fact]] = defaultdict(list)
    stated: list[Fact] = []
    for fact in sorted(facts, key=in_order):
        if fact.kind == OPINION:
            stated.append(fact)
        for slug in fact.about or (NOBODY,):
            about[slug].append(fact)
    around = {slug: _Around(found) for slug, found in about.items()}
    clusters, unweighed = _clusters(stated if about_whom is None else _about(stated, about_whom), vault)
    found = [_opinion(told, around, vault) for told in clusters]
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


def _clusters(stated: Sequence[Fact], vault: Vault) -> tuple[list[list[Fact]], list[tuple[Fact, ...]]]:
    """Statements of one opinion together: those in the same words, and those that say the same of one subject.

    Besides, those that are too many of one subject to be weighed.
    """
    worded: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Fact]] = defaultdict(list)
    for fact in stated:
        worded[_subjects(fact), tuple(_LETTERS.findall(bare(fact.text).casefold()))].append(fact)
    by_subject: dict[tuple[str, ...], list[list[Fact]]] = defaultdict(list)
    for (subjects, _), told in worded.items():
        by_subject[subjects].append(told)
    found: list[list[Fact]] = []
    for groups in by_subject.values():
        groups.sort(key=_weight)
        found += _joined(groups[:KEPT], vault)
    return found, [tuple(told) for groups in by_subject.values() for told in groups[KEPT:]]


def _weight(told: Sequence[Fact]) -> tuple[int, int, int, int]:
    """What is stated on most days first, then the newest."""
    mine = any(fact.path == OPINIONS_NOTE for fact in told)
    days = {fact.day for fact in told if fact.day}
    return (-mine, -len(days), -max((day.toordinal() for day in days), default=0), told[0].key)


def _subjects(fact: Fact) -> tuple[str, ...]:
    return tuple(sorted(fact.subjects or fact.about))


class _Group:
    """Statements taken for one opinion so far."""

    def __init__(self, told: list[Fact], vault: Vault) -> None:
        self.told = told
        self.stance = _stance(told[-1], vault)
        self.stems = frozenset(vault.stems(bare(told[-1].text)))


def _joined(groups: Sequence[list[Fact]], vault: Vault) -> Iterator[list[Fact]]:
    """Groups of one subject, those that support each other both ways as one."""
    kept: list[_Group] = []
    for told in groups:
        new = _Group(told, vault)
        same = next((old for old in kept if _says_the_same(old, new)), None)
        if same:
            same.told = sorted([*same.told, *told], key=in_order)
        else:
            kept.append(new)
    yield from (group.told for group in kept)


def _says_the_same(one: _Group, other: _Group) -> bool:
    shared = one.stems & other.stems
    if len(shared) < 2:
        return False
    both = ((one, other), (other, one))
    supports = sum(first.stance.relation(second.told[-1].text) == SUPPORTS for first, second in both)
    return supports == 2 or (supports == 1 and len(shared) >= NEAR * len(one.stems | other.stems))


def _stance(fact: Fact, vault: Vault) -> Stance:
    return Stance(fact.text, [name for slug in fact.about for name in vault.names(slug)])


# --- what bears on it ------------------------------------------------------------------------------------------------


def _opinion(told: Sequence[Fact], around: Mapping[str, "_Around"], vault: Vault) -> Opinion:
    statement = _newest(told)
    judge = _Judge(statement, vault)
    bearing: dict[str, list[Fact]] = defaultdict(list)
    topic = frozenset(vault.stems(bare(statement.text)))
    for fact in _bearing(statement, told, around):
        relation = judge.relation(fact)
        if fact.is_inferred and relation != CONTRADICTS and len(topic.intersection(vault.stems(fact.text))) < SHARED:
            relation = ""  # talk is full of love and of making things
        bearing[relation].append(fact)
    return _weighed(told, bearing, vault)


def _newest(told: Sequence[Fact]) -> Fact:
    return told[-1] if told[-1].day else next((fact for fact in reversed(told) if fact.day), told[-1])


def _weighed(told: Sequence[Fact], bearing: Mapping[str, Sequence[Fact]], vault: Vault) -> Opinion:
    """What statements of one opinion, and the facts that bear on it, make of it."""
    mine = next((fact for fact in told if fact.path == OPINIONS_NOTE), None)
    first = mine or told[0]
    known = (vault.given.get(short(fact.key)) for fact in told)
    given = max((one for one in known if one), key=lambda one: one.day, default=None)
    prior = given.confidence if given else _confidence(first)
    pieces = [
        *(_piece(fact, SUPPORTS) for fact in bearing.get(SUPPORTS, ())),
        *(_piece(fact, CONTRADICTS) for fact in bearing.get(CONTRADICTS, ())),
        *(_piece(fact, RESTATES) for fact in told if fact is not first),
    ]
    if given:
        pieces = [piece for piece in pieces if piece.day and piece.day > given.day.toordinal()]
    return Opinion(
        statement=_newest(told),
        told=tuple(told),
        prior=prior,
        belief=confidence(prior, pieces),
        supports=tuple(bearing.get(SUPPORTS, ())),
        contradicts=tuple(bearing.get(CONTRADICTS, ())),
        related=tuple(bearing.get(RELATED, ())),
        since=given.day if given else first.day,
        is_given=given is not None,
    )


def _confidence(fact: Fact) -> float:
    return DEFAULT_OPINION_CONFIDENCE if fact.confidence is None else fact.confidence


def _piece(fact: Fact, relation: str) -> Evidence:
    stated = _confidence(fact) if relation == RESTATES else None
    return Evidence(fact.key, fact.day.toordinal() if fact.day else None, relation, stated)


class _Judge:
    """What facts say of one statement; what was found before is not worked out again."""

    def __init__(self, statement: Fact, vault: Vault) -> None:
        self._statement, self._vault = statement, vault
        names = "\0".join(name for slug in statement.about for name in vault.names(slug))
        said = f"{VERSION}\0{statement.text}\0{names}".encode("utf-8", "replace")
        self._key = int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big", signed=True)
        self._stance: Stance | None = None

    def relation(self, fact: Fact) -> str:
        pair = (self._key, fact.key)
        place = self._vault.known.get(pair)
        if place is None:
            self._stance = self._stance or _stance(self._statement, self._vault)
            place = RELATIONS.index(self._stance.relation(fact.text))
        self._vault.found.append((*pair, place))
        return RELATIONS[place]


class _Around:
    """The facts about one subject, by the stems they hold."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts
        self._holding: dict[str, list[int]] | None = None

    def near(self, text: str, own: Container[int]) -> list[Fact]:
        """The facts that share most stems with a text, the newest first where they share as many."""
        if len(self._facts) <= LOOKED_AT:
            return [fact for fact in self._facts if fact.key not in own]
        if self._holding is None:
            self._holding = defaultdict(list)
            for at, fact in enumerate(self._facts):
                for word in _rough(fact.text):
                    self._holding[word].append(at)
        held = sorted((self._holding.get(word, []) for word in _rough(text)), key=len)
        shared: Counter[int] = Counter()
        for places in held:  # the rarest words first: the frequent ones tell least, and hold most
            if len(shared) >= ENOUGH * LOOKED_AT:
                break
            shared.update(places)
        best = heapq.nlargest(LOOKED_AT + len(self._facts) // 100, shared, key=lambda at: (shared[at], at))
        return [self._facts[at] for at in best if self._facts[at].key not in own][:LOOKED_AT]


def _rough(text: str) -> frozenset[str]:
    """The words of a text, near enough to find what may bear on it."""
    return frozenset(word[:5] for word in _WORDS.findall(text.casefold()))


def _bearing(statement: Fact, told: Sequence[Fact], around: Mapping[str, _Around]) -> list[Fact]:
    """The facts about an opinion's subjects but for its own statements, in the order of a timeline."""
    own = {fact.key for fact in told}
    found: dict[int, Fact] = {}
    for slug in statement.subjects or statement.about or (NOBODY,):
        if slug in around:
            found |= {fact.key: fact for fact in around[slug].near(statement.text, own)}
    return sorted(found.values(), key=in_order)
