"""The opinions that the facts hold: which statements are one opinion, what bears on it, how sure it makes. Pure.

An opinion is what O facts state in the same words about the same entities. Every other fact about its subjects is held
against it (stance.py), and its confidence is computed afresh from them (confidence.py): from what it was given first,
or from what the user gave it by hand. What speaks for or against it is what is certain in any language: the same words
or their negation, a claim that takes its place, a source that it cites. What merely shares words is related to it.

A number that somebody wrote down holds all that was known then: facts up to that day, and those that the statement
cites as its evidence, are listed and do not move it once more; what came later does.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from vault_memory.errors import RemoteError
from vault_memory.markdown.entities import link_name
from vault_memory.markdown.fact_text import EvidenceSource, newest_source, sources, without_evidence
from vault_memory.markdown.facts import DEFAULT_OPINION_CONFIDENCE, OPINIONS_NOTE
from vault_memory.reflect import stance
from vault_memory.reflect.blocks import short
from vault_memory.reflect.confidence import RESTATES, Belief, Evidence, confidence
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.select import in_order
from vault_memory.reflect.stance import CONTRADICTS, RELATED, RELATIONS, SUPPORTS, Sentence, sentence

OPINION = "opinion"

NOBODY = ""
"""The subject of facts that name none: whoever keeps the log."""

DOUBT = 0.5
"""A statement that is held with less than this says that it is rather not so: it decides nothing."""

WORDINGS = 3
"""In so many of its wordings, the newest, an opinion is held against the facts."""

LEAST_SHARED, LEAST_SHARE = 2, 0.5
"""A fact is related to a statement when it holds so many of its telling words, and so large a part of them."""

MAX_RELATED = 12
"""So many related facts are listed, and asked about where a model is configured: the nearest, then the newest."""

LOOKED_AT = 200
"""So many of the newest facts about a subject that hold a word are looked at."""

_LETTERS = re.compile(r"\w+")


@dataclass(frozen=True)
class ConfidenceByHand:
    """A confidence that the user gave, 0..1, and the day that was noticed."""

    confidence: float
    day: date


@dataclass(frozen=True)
class OpinionInputs:
    """What opinions are read with: an entity's names by its slug, the stems of a text, those that tell nothing."""

    names: Callable[[str], Sequence[str]]
    stems: Callable[[str], Sequence[str]]
    idle: Container[str] = frozenset()
    by_hand: Mapping[str, ConfidenceByHand] = field(default_factory=dict)
    """Confidences set by hand, by the short key of the statement."""
    known: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """What a model said before that facts mean: the place in RELATIONS, by the hashes of statement and fact."""
    verdicts: dict[tuple[int, int], int] = field(default_factory=dict)
    """The same for all that were looked at now."""
    ask: stance.Ask | None = None


@dataclass(frozen=True)
class HeldOpinion:
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


def is_doubt(fact: Fact) -> bool:
    """Whether a fact is an opinion that its own number makes a doubt."""
    return fact.kind == OPINION and fact.confidence is not None and fact.confidence < DOUBT


def stated_on(fact: Fact) -> date | None:
    """The day of a fact, no older than what it cites: a list of opinions has none of its own."""
    return max((day for day in (fact.day, newest_source(fact.text)) if day), default=None)


def held(facts: Iterable[Fact], inputs: OpinionInputs, about_whom: str | None = None) -> tuple[HeldOpinion, ...]:
    """The opinions that these facts hold (those about one entity), surest first; the order given plays no part.

    What came from outside is nobody's opinion here, and bears on none.
    """
    about: dict[str, list[Fact]] = defaultdict(list)
    groups: dict[tuple[tuple[str, ...], Sentence], list[Fact]] = defaultdict(list)
    for fact in sorted((fact for fact in facts if fact.is_trusted), key=in_order):
        if fact.kind == OPINION:
            groups[_subjects(fact), _sentence(fact, inputs)].append(fact)
        for slug in fact.about or (NOBODY,):
            about[slug].append(fact)
    subjects = {slug: _Subject(found, inputs) for slug, found in about.items()}
    wanted = (told for told in groups.values() if about_whom is None or any(about_whom in f.about for f in told))
    found = [_opinion(told, subjects, inputs) for told in wanted]
    return tuple(sorted(found, key=lambda one: (-one.belief.shown, one.statement.text, one.statement.key)))


def _subjects(fact: Fact) -> tuple[str, ...]:
    return tuple(sorted(fact.subjects or fact.about))


def _names(fact: Fact, inputs: OpinionInputs) -> tuple[str, ...]:
    return tuple(name for slug in fact.about for name in inputs.names(slug))


def _sentence(fact: Fact, inputs: OpinionInputs) -> Sentence:
    return sentence(fact.text, _names(fact, inputs))


# --- what bears on it ------------------------------------------------------------------------------------------------


class _Subject:
    """The facts about one subject, in the order of a timeline, as they are looked up."""

    def __init__(self, facts: Sequence[Fact], inputs: OpinionInputs) -> None:
        self.facts, self._inputs = facts, inputs

    @cached_property
    def by_key(self) -> Mapping[int, Fact]:
        return {fact.key: fact for fact in self.facts}

    @cached_property
    def by_words(self) -> Mapping[tuple[str, ...], Sequence[tuple[Fact, bool]]]:
        """The facts by their words, each with whether it denies them."""
        found: dict[tuple[str, ...], list[tuple[Fact, bool]]] = defaultdict(list)
        for fact in self.facts:
            words, is_denied = _sentence(fact, self._inputs)
            found[words].append((fact, is_denied))
        return found

    @cached_property
    def by_note(self) -> Mapping[str, Sequence[Fact]]:
        """The facts by their note's name, and by its path."""
        found: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            path = fact.path.removesuffix(".md").casefold()
            for name in {path, link_name(fact.path).casefold()}:
                found[name].append(fact)
        return found

    @cached_property
    def _by_stem(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(self.facts):
            for stem in set(self._inputs.stems(fact.text)):
                found[stem].append(place)
        return found

    def nearest(self, stems: frozenset[str], least: float) -> Iterator[Fact]:
        """The facts that hold at least so many of these stems: those that hold most, of those the newest, first."""
        shared = Counter(place for stem in stems for place in self._by_stem.get(stem, ())[-LOOKED_AT:])
        for place in sorted(shared, key=lambda place: (-shared[place], -place)):
            if shared[place] >= least:
                yield self.facts[place]


def _opinion(told: Sequence[Fact], subjects: Mapping[str, _Subject], inputs: OpinionInputs) -> HeldOpinion:
    """What statements of one opinion, and the facts that bear on it, make of it."""
    first, newest = first_told(told), _newest(told)
    found = _Bearing(told, newest, [subjects[slug] for slug in newest.subjects or newest.about or (NOBODY,)], inputs)
    supports, contradicts, related = (found.of(relation) for relation in (SUPPORTS, CONTRADICTS, RELATED))
    known = (inputs.by_hand.get(short(fact.key)) for fact in told)
    by_hand = max((one for one in known if one), key=lambda one: one.day, default=None)
    # date.min where the day is not known: then whatever bears on it may have come later.
    given = by_hand or ConfidenceByHand(_confidence(first), stated_on(first) or date.min)
    pieces = [
        *(_piece(fact, SUPPORTS, _confidence(fact) if fact.kind == OPINION else None) for fact in supports),
        *(_piece(fact, CONTRADICTS) for fact in contradicts),
        *(_piece(fact, RESTATES, fact.confidence) for fact in told if fact is not first),
    ]
    return HeldOpinion(
        statement=newest,
        told=tuple(told),
        prior=given.confidence,
        belief=confidence(given.confidence, pieces, None if given.day == date.min else given.day.toordinal()),
        supports=supports,
        contradicts=contradicts,
        related=related,
        since=given.day if given.day != date.min else None,
        is_given=by_hand is not None,
    )


def first_told(told: Sequence[Fact]) -> Fact:
    """The statement whose number an opinion begins with: the one in the user's own list, else the oldest."""
    return next((fact for fact in told if fact.path == OPINIONS_NOTE), told[0])


def _newest(told: Sequence[Fact]) -> Fact:
    return told[-1] if told[-1].day else next((fact for fact in reversed(told) if fact.day), told[-1])


class _Bearing:
    """What the facts about the subjects of one opinion say of it."""

    def __init__(self, told: Sequence[Fact], newest: Fact, subjects: Sequence[_Subject], inputs: OpinionInputs) -> None:
        self._told, self._newest, self._inputs = told, newest, inputs
        self._names = _names(newest, inputs)
        self._own = {fact.key for fact in told}
        self._since = stated_on(first_told(told))
        self._found: dict[tuple[str, int, int], tuple[str, Fact]] = {}
        stems = self._telling_stems(newest)
        self._replaced(subjects)
        self._worded(subjects)
        self._cited(subjects, stems)
        self._related(subjects, stems)

    def of(self, relation: str) -> tuple[Fact, ...]:
        """The facts that say this of it, in the order of a timeline."""
        return tuple(sorted((fact for said, fact in self._found.values() if said == relation), key=in_order))

    def _take(self, fact: Fact, relation: str) -> None:
        """Note what a fact says; what was noted of it before counts."""
        if fact.key in self._own:
            return
        if is_doubt(fact) or (relation == SUPPORTS and fact.kind == OPINION and not self._is_later(fact)):
            relation = RELATED  # each of two that say nearly the same would be the evidence of the other
        self._found.setdefault((fact.path, fact.line, fact.key), (relation, fact))

    def _is_later(self, fact: Fact) -> bool:
        """Whether it was told after this one was held already."""
        day = stated_on(fact)
        return day is not None and (self._since is None or day > self._since)

    def _replaced(self, subjects: Sequence[_Subject]) -> None:
        """What takes the place of one of its statements speaks against it."""
        for key in {fact.succeeded_by for fact in self._told if fact.succeeded_by is not None}:
            for subject in subjects:
                if key in subject.by_key:
                    self._take(subject.by_key[key], CONTRADICTS)

    def _worded(self, subjects: Sequence[_Subject]) -> None:
        """What says the same words, or their negation."""
        own = _sentence(self._newest, self._inputs)
        for subject in subjects:
            for fact, is_denied in subject.by_words.get(own.words, ()) if own.words else ():
                self._take(fact, SUPPORTS if is_denied == own.is_denied else CONTRADICTS)

    def _cited(self, subjects: Sequence[_Subject], stems: frozenset[str]) -> None:
        """What stands in the notes that it cites, and shares a word with it, or has the very block id."""
        for source in frozenset[EvidenceSource]().union(*(sources(fact.text) for fact in self._told)):
            for subject in subjects:
                for fact in subject.by_note.get(source.note, ()):
                    is_it = fact.block_id == source.block_id
                    if is_it if source.block_id else not stems.isdisjoint(self._inputs.stems(fact.text)):
                        self._take(fact, SUPPORTS)

    def _related(self, subjects: Sequence[_Subject], stems: frozenset[str]) -> None:
        """What shares enough of its words; a model may have said what it means, or is asked."""
        least = max(min(LEAST_SHARED, len(stems)), LEAST_SHARE * len(stems))
        found: dict[int, Fact] = {}
        for subject in subjects:
            near = (fact for fact in subject.nearest(stems, least) if fact.key not in self._own)
            for fact, _ in zip(near, range(MAX_RELATED), strict=False):
                found.setdefault(fact.key, fact)
        for fact in found.values():
            if (fact.path, fact.line, fact.key) not in self._found:
                self._take(fact, self._verdict(fact))

    def _telling_stems(self, fact: Fact) -> frozenset[str]:
        stems, idle = self._inputs.stems, self._inputs.idle
        names = {stem for name in self._names for stem in stems(name)}
        return frozenset(s for s in stems(without_evidence(fact.text)) if s not in idle and s not in names)

    def _verdict(self, fact: Fact) -> str:
        """What a model says of a related fact; RELATED where there is none, or it does not answer."""
        pair = (stance.verdict_key(self._newest.text, self._names), fact.key)
        place = self._inputs.known.get(pair)
        if place is None and self._inputs.ask:
            try:
                found = stance.verdict(self._inputs.ask, self._newest.text, fact.text)
            except RemoteError:
                return RELATED
            place = RELATIONS.index(found)
        if place is None:
            return RELATED
        self._inputs.verdicts[pair] = place
        return RELATIONS[place]


def _confidence(fact: Fact) -> float:
    return DEFAULT_OPINION_CONFIDENCE if fact.confidence is None else fact.confidence


def _piece(fact: Fact, relation: str, number: float | None = None) -> Evidence:
    """What a fact is as evidence; told again without a number, an opinion stays as sure as it was.

    An opinion bears another out no further than it is held itself: two that say nearly the same prop up neither.
    """
    day = stated_on(fact)
    # It counts once by its words and whom it is about, however its bullet is written.
    said = "\0".join(("".join(_LETTERS.findall(without_evidence(fact.text).casefold())), *_subjects(fact)))
    key = int.from_bytes(hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)
    return Evidence(key, day.toordinal() if day else None, relation, number)
