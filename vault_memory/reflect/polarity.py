"""Owns what a fact says of an opinion about the same entity: supports it, contradicts it, or neither. Pure, by rules.

Precise over complete: a fact falsely counted against an opinion is worse than one that is only listed, so what is told
as a supposition, of somebody else, or of less than half of what the opinion is about, decides nothing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown.claims import claims
from vault_memory.markdown.supersede import Claim, supersedes
from vault_memory.reflect import polarwords as table
from vault_memory.reflect import statements
from vault_memory.reflect.clauses import COMPLEMENT, NAME, Part, Quantity, Word, concepts, name_stems, parts
from vault_memory.reflect.statements import Statement, leaning

SUPPORTS, CONTRADICTS, RELATED, UNRELATED = "supports", "contradicts", "related", "unrelated"

HALF = 0.5
"""Of an opinion's topics so much must be in a fact that shares the attribute."""

LONGEST_CLAIM = 1000
"""A longer text claims nothing that could be told by rules, and reading it for that would cost much."""

MOST = 0.66
"""Of its topics so much must be in a fact where the opinion has no attribute but them."""


def relation(opinion: str, fact: str, names: Sequence[str] = ()) -> str:
    """What a fact says of an opinion about the same entity, whose names are left out of the comparison."""
    return Stance(opinion, names).relation(fact)


class Stance:
    """An opinion made ready to be compared with many facts about the same entity."""

    def __init__(self, opinion: str, names: Sequence[str] = ()) -> None:
        self._names = tuple(names)
        self._stems = name_stems(names)
        self._plain = plain = statements.plain(opinion)
        self._statements = statements.stated(plain, self._stems)
        self._claims = _claims(plain, self._names)
        slots = {claim.slot.partition(":")[0] for claim in self._claims} & table.SLOT_WORDS.keys()
        self._concepts = frozenset(concept for one in self._statements for concept in one.asked).union(
            *(concepts(table.SLOT_WORDS[slot]) for slot in slots)
        )

    def relation(self, fact: str) -> str:
        """What a fact says of it: the clause that bears on it decides, and clauses at odds decide nothing."""
        if self._concepts.isdisjoint(concepts(fact)):
            return UNRELATED
        if fact == self._plain:
            return SUPPORTS
        found = self._read(fact)
        if self._claims and not {SUPPORTS, CONTRADICTS} & found:
            found.add(self._by_claims(fact))
        return summed(found)

    def _read(self, fact: str) -> set[str]:
        """What each part of a fact says of each statement; together they may support, but not contradict."""
        told = parts(fact, self._stems)
        found = {_judged(one, part) for one in self._statements for part in told}
        if CONTRADICTS not in found and SUPPORTS not in found and len(told) > 1:
            whole = _whole(told)
            told_at_length = (one for one in self._statements if one.is_all or one.predicate)
            found |= {_judged(one, whole) for one in told_at_length} - {CONTRADICTS}
        return found

    def _by_claims(self, fact: str) -> str:
        """Where both claim a value of one slot: the same supports, and what takes its place contradicts."""
        for told in _claims(fact, self._names):
            for held in self._claims:
                if supersedes(told, held):
                    return CONTRADICTS
                if told[:2] == held[:2] and told.is_negative == held.is_negative:
                    return SUPPORTS
        return UNRELATED


@lru_cache(1 << 12)
def _claims(text: str, names: tuple[str, ...]) -> tuple[Claim, ...]:
    return tuple(claims("opinion", names, text)) if len(text) <= LONGEST_CLAIM else ()


def summed(found: set[str]) -> str:
    """What several verdicts on one fact come to: those at odds decide nothing."""
    if SUPPORTS in found and CONTRADICTS in found:
        return RELATED
    return next((one for one in (SUPPORTS, CONTRADICTS, RELATED) if one in found), UNRELATED)


def _whole(told: Iterable[Part]) -> Part:
    """All that a fact tells plainly, as one part."""
    plain = [part for part in told if not part.hedges and not part.other]
    words = tuple(word for part in plain for word in part.words)
    return Part(
        words,
        tuple(quantity for part in plain for quantity in part.quantities),
        repeats=any(part.repeats for part in plain),
        does=any(part.does for part in plain),
        has_pronoun=any(part.has_pronoun for part in plain),
    )


# --- one statement against one part ----------------------------------------------------------------------------------


class _Match(NamedTuple):
    """A statement beside a part: what of its topics the part has, and how."""

    one: Statement
    part: Part
    told: dict[str, Word]
    shared: list[str]

    @property
    def cover(self) -> float:
        """The share of the topics that the part has; what the opinion sets apart is not asked for."""
        asked = [concept for concept, word in self.one.topics.items() if not word.is_apart]
        return len([c for c in asked if c in self.shared]) / len(asked) if asked else 1.0

    @property
    def has_object(self) -> bool:
        """Whether it has the first thing that is liked, as the opinion has it: early or short meetings, not any."""
        first = next(iter(self.one.topics), None)
        modified = not self.one.modifiers or not self.told.keys().isdisjoint(self.one.modifiers)
        return modified and (first is None or first in self.told)

    @property
    def has_name(self) -> bool:
        return NAME in self.told or self.part.has_pronoun

    @property
    def is_compared(self) -> bool:
        """Whether it says of another what it is beside the entity: "slower than Ben"."""
        return NAME in self.told and self.told[NAME].is_apart

    @property
    def turned(self) -> int:
        """-1 where something both speak of is set apart in one of them only: "tea over coffee", "without milk"."""
        held = {word.concept: word for word in self.one.words}
        held.setdefault(NAME, Word(NAME))
        both = [(held[concept], word) for concept, word in self.told.items() if concept in held]
        return -1 if any(mine.is_apart != theirs.is_apart for mine, theirs in both) else 1

    @property
    def modified(self) -> int:
        """-1 where what is spoken of is the opposite thing: short messages, long messages."""
        sign = 1
        for concept, word in self.one.modifiers.items():
            if concept in self.told:
                sign *= word.side * self.told[concept].side
        return sign


def _judged(one: Statement, part: Part) -> str:
    """What a part says of a statement; what is only supposed, or of somebody else, is no more than related.

    Nor is what one of its clauses bears out: "Is allergic to nuts, so nothing with nuts".
    """
    verdict = _verdict(_beside(one, part))
    is_plain = part.hedges <= one.part.hedges and one.part.hedges.isdisjoint(table.DOUBTS)
    is_of_it = not part.other or part.other in one.topics
    if verdict == CONTRADICTS and any(_verdict(_beside(one, clause)) == SUPPORTS for clause in _clauses(part)):
        return RELATED
    return verdict if verdict == UNRELATED or (is_plain and is_of_it) else RELATED


def _beside(one: Statement, part: Part) -> _Match:
    told = {word.concept: word for word in part.words}
    return _Match(one, part, told, [concept for concept in one.topics if concept in told])


def _clauses(part: Part) -> list[Part]:
    """The clauses of a part that has several, each by itself."""
    numbers = sorted({word.clause for word in part.words})
    if len(numbers) < 2:
        return []
    return [part._replace(words=tuple(w for w in part.words if w.clause == number)) for number in numbers]


def _verdict(match: _Match) -> str:
    one = match.one
    if one.predicate and one.predicate.concept in match.told:
        return _of_attribute(match, one.predicate)
    if one.predicate and (akin := _told_akin(match, one.predicate.concept)):
        return _of_attribute(akin, one.predicate)
    if changed := _of_numbers(match):
        return changed
    if one.is_attitude:
        return _of_deed(match)
    return _of_topics_alone(match) if one.predicate else _of_topics(match)


# --- of one attribute ------------------------------------------------------------------------------------------------


def _of_attribute(match: _Match, held: Word) -> str:
    """Both speak of one attribute: of the same thing, they agree or they do not."""
    told = _bearing(match, held)
    if told is None or _is_writers(match, told):
        return RELATED
    if short := (_of_attitude if match.one.is_attitude else _of_property)(match, held, told):
        return short
    match.told[held.concept] = told  # of several words for it, the one that bears on the topics
    sign = leaning(held) * leaning(told) * match.turned * match.modified
    if match.cover < HALF:
        narrow = len(match.one.topics) == 1 and held.concept not in table.BROAD and told.subject in ("", NAME)
        return SUPPORTS if narrow and sign > 0 and not match.one.is_attitude else UNRELATED
    return RELATED if _counts_otherwise(match) else SUPPORTS if sign > 0 else CONTRADICTS


def _told_akin(match: _Match, concept: str) -> _Match | None:
    """The same with the word for another attribute that says as much, where all else is the same thing; else None."""
    other = match.told.get(table.AKIN.get(concept, ""))
    if not match.one.topics or other is None or other.role != COMPLEMENT or match.cover < 1:
        return None
    words = tuple(word._replace(concept=concept) if word == other else word for word in match.part.words)
    return _beside(match.one, match.part._replace(words=words))


def _bearing(match: _Match, held: Word) -> Word | None:
    """The word for the attribute whose clause has most of the topics; None where two as near are at odds.

    "Likes tea but hates coffee" says of coffee what it says in its second clause.
    """
    words = [word for word in match.part.words if word.concept == held.concept]
    if len(words) == 1:
        return words[0]
    near = Counter(word.clause for word in match.part.words if word.concept in match.one.topics)
    most = max(near[word.clause] for word in words)
    best = [word for word in words if near[word.clause] == most]
    return best[-1] if len({leaning(word) * (-1 if word.is_apart else 1) for word in best}) == 1 else None


def _is_writers(match: _Match, told: Word) -> bool:
    """Whether who writes does it to the entity: "forgot Nadia's birthday" is nothing that Nadia forgot."""
    if told.concept not in table.DONE or told.subject not in ("", "i") or "i" in (told.holder, match.one.doer):
        return False
    place = match.part.words.index(told)
    return told.subject == "i" or any(w.concept == NAME and w.clause == told.clause for w in match.part.words[place:])


def _of_attitude(match: _Match, held: Word, told: Word) -> str:
    """Why liking the one says nothing certain of liking the other, or ""."""
    one = match.one
    shared = match.cover >= HALF if one.topics else bool(match.told.keys() & (one.modifiers.keys() | {NAME}))
    if not shared:
        is_of_lesser = any(word.is_apart and concept in match.told for concept, word in one.topics.items())
        return RELATED if is_of_lesser else UNRELATED  # who prefers letters to calls may like calls
    return "" if _same_holder(held, told) and match.has_object else RELATED


def _same_holder(held: Word, told: Word) -> bool:
    """Whether the same one likes or wants it; without a subject it is the entity who does."""
    return not told.holder or told.holder == (held.holder or NAME)


def _of_property(match: _Match, held: Word, told: Word) -> str:
    """Why how the one is says nothing certain of how the other is, or ""."""
    if _speaks_otherwise(match, held, told):
        return RELATED if match.cover >= HALF else UNRELATED
    is_bare = not match.one.topics and not match.is_compared
    if is_bare and told.subject not in ("", NAME):
        return UNRELATED
    return RELATED if is_bare and held.concept in table.BROAD and not match.has_name else ""


def _speaks_otherwise(match: _Match, held: Word, told: Word) -> bool:
    """Whether the attribute is said of another thing, which the opinion does not speak of."""
    if told.subject in ("", NAME, held.subject):
        return False
    if held.concept in table.AGENTIVE:
        return True
    is_of_both = held.subject in match.told and told.subject in match.one.topics
    return held.subject not in ("", NAME) and not is_of_both


def _counts_otherwise(match: _Match) -> bool:
    """Whether a number of the same unit is another: who likes it at 80 degrees may not at 60."""
    pairs = _counted(match)
    return bool(pairs) and all(held.number != told.number for held, told in pairs)


# --- of the same topics ----------------------------------------------------------------------------------------------


def _of_deed(match: _Match) -> str:
    """What is done with what is liked: done again it supports, given up it contradicts."""
    one = match.one
    last = _last(match)
    if not last or match.cover < 1 or (one.modifiers and not match.told.keys() & one.modifiers.keys()):
        return RELATED if last and match.cover >= MOST else UNRELATED
    leans = one.leans * match.turned * match.modified
    if leans > 0 and last.is_over:
        return CONTRADICTS
    is_habit = match.part.repeats or len(one.topics) > 1 or last.is_denied
    return SUPPORTS if match.part.does and is_habit and (leans < 0) == last.is_denied else RELATED


def _of_topics_alone(match: _Match) -> str:
    """The opinion has an attribute, and the fact does not speak of it: only that all is over bears on it."""
    if match.cover < 1 or len(match.one.topics) < 2:
        return UNRELATED
    is_over = any(match.told[concept].is_over for concept in match.shared)
    was_denied = any(match.one.topics[concept].is_denied for concept in match.shared)
    return CONTRADICTS if is_over and not was_denied and match.one.leans > 0 else RELATED


def _of_topics(match: _Match) -> str:
    """Both speak of one thing, and the opinion of no attribute of it: is it denied in one of them?"""
    one, named = match.one, match.told.get(NAME)
    if one.has_object and named and named.is_over and named.subject in ("", "i", NAME, *one.topics):
        return CONTRADICTS
    complement = next((word.concept for word in one.topics.values() if word.role == COMPLEMENT), None)
    if len(match.shared) < (1 if one.is_all else 2) or (complement and complement not in match.told):
        return UNRELATED
    denied = [any(words[c].is_denied for c in match.shared) for words in (one.topics, match.told)]
    agree = (denied[0] == denied[1]) == (match.turned * match.modified > 0)
    if agree and one.part.quantities:
        return RELATED if len(match.shared) > 1 and match.cover == 1 else UNRELATED
    if agree:
        return SUPPORTS if match.cover >= (MOST if one.is_all else 1) else UNRELATED
    return CONTRADICTS if _denies_all(match) else UNRELATED


def _denies_all(match: _Match) -> bool:
    """Whether what one denies is what the other says, not some word of it ("by hand and not in git")."""
    is_over = any(match.told[concept].is_over for concept in match.shared)
    differ = all(match.one.topics[c].is_denied != match.told[c].is_denied for c in match.shared)
    return match.cover == 1 or (match.cover >= HALF and is_over) or (match.cover >= MOST and differ)


def _last(match: _Match) -> Word | None:
    """The last of the opinion's topics that the part has: what it comes down to."""
    return match.told[match.shared[-1]] if match.shared else None


def _of_numbers(match: _Match) -> str:
    """Another number of the same unit about the same thing, told as the one that holds; "" where none is told."""
    pairs = _counted(match)
    if not pairs or match.one.predicate:
        return ""
    topics = {concept for concept in match.one.topics if not any(concept == held.unit for held, _ in pairs)}
    if not (len(topics.intersection(match.shared)) >= HALF * len(topics) if topics else match.has_name):
        return UNRELATED
    if any(held.number == told.number for held, told in pairs):
        return SUPPORTS
    is_told = match.part.changes and (match.one.part.changes or pairs[0][0].unit != "date")
    return CONTRADICTS if is_told and topics <= set(match.shared) else RELATED


def _counted(match: _Match) -> list[tuple[Quantity, Quantity]]:
    """The numbers of both that count the same."""
    held, told = match.one.part.quantities, match.part.quantities
    return [(mine, theirs) for mine in held for theirs in told if mine.unit and mine.unit == theirs.unit]
