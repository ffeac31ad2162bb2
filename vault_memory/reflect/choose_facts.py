"""Selects the most informative facts within a token budget. Pure, and independent of page layout.

Extractive selection as budgeted submodular maximisation (H. Lin and J. Bilmes, "A Class of Submodular Functions for
Document Summarization", ACL 2011; the greedy rule with a scaled cost is from their NAACL 2010 paper). A fact covers
the people and things it is about. Covering one is worth `weight · (1 - 2^-n)`: the first fact about it earns half of
the weight, the next a quarter. Each fact also has a worth of its own. Selection is greedy by gain per cost^SCALE, and
lazy, because gains only ever fall.

Outside the formula: of facts that say the same, and of statements of the same state that differ only in their numbers,
only the newest is taken; and a superseded fact only after the one that superseded it. Tiers play no part, so the same
facts give the same selection on every day.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.markdown.fact_text import sentence
from vault_memory.reflect.fact import Fact, timeline_key

SCALE = 0.7
"""The exponent of a fact's cost: 1 favours the shortest facts, 0 the longest."""

IMPORTANCE, DETAIL = 5.0, 2.0
"""The worth of a fact of importance 1, and of each detail in it.

Without details, the pages of four LoCoMo conversations contain 21 % of what the questions ask about, not 36 %.
"""

SUPERSEDED, AHEAD = 0.5, 0.7
"""The weight of a superseded fact, and of a plan for a later day: if it came to anything, another fact says so.
Without these factors, 12 and 40 lines of the sample vault's pages state what is no longer or not yet the case.
"""

LATELY = timedelta(days=14)
"""Facts written within this many days of the newest count as recent."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

MOST_DETAILS = 3
_DETAIL = re.compile(r"\d+(?:[.,:]\d+)*|[\"“*_][A-Z]|(?<=[a-z,;:] )(?!I\b)[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
"""A number, a title, or a name that does not start the sentence; beyond MOST_DETAILS it is a list and adds nothing."""


class Turn(NamedTuple):
    """One round of selection: its maximum tokens, and which facts it may take (None: any)."""

    budget: int
    of: Callable[[Fact], bool] | None = None


def choose_in_turns(
    facts: Sequence[Fact], cost: Callable[[Fact], int], turns: Iterable[Turn], focus: str = ""
) -> list[list[Fact]]:
    """The facts that each turn selects, given what the turns before it took; the order of `facts` does not matter.

    `cost` gives the tokens of a fact; `focus` is the slug that all are about, which is worth nothing.
    """
    choice = _Choice(_candidates(facts, cost, focus))
    return [choice.take(turn) for turn in turns]


def lately(facts: Iterable[Fact]) -> Callable[[Fact], bool]:
    """A test for whether a fact was written within LATELY of the newest of these; independent of the clock."""
    newest = max((fact.day for fact in facts if fact.day), default=None)
    return lambda fact: newest is not None and fact.day is not None and fact.day >= newest - LATELY


# --- candidates ------------------------------------------------------------------------------------------------------


class _Candidate(NamedTuple):
    """A fact, the slugs it covers and with what share; `waits_for` is the key of the fact that superseded it."""

    fact: Fact
    about: tuple[str, ...]
    share: float
    worth: float
    cost: int
    waits_for: int | None


def _candidates(facts: Sequence[Fact], cost: Callable[[Fact], int], focus: str) -> list[_Candidate]:
    """The weighed facts in timeline order, which also breaks ties."""
    keys = {fact.key for fact in facts}
    facts = list(_without_repeats(facts))
    outdated = set(map(id, _outdated(facts)))
    ordered = sorted((fact for fact in facts if id(fact) not in outdated), key=timeline_key)
    found = []
    for fact in ordered:
        waits_for = fact.succeeded_by if fact.succeeded_by in keys and fact.succeeded_by != fact.key else None
        is_ahead = bool(fact.when and fact.day and fact.when > fact.day)
        share = (SUPERSEDED if waits_for is not None else 1.0) * (AHEAD if is_ahead else 1.0)
        # A day still to come does not count as a detail: a plan may come to nothing.
        has_happened = fact.occurred is not None and (fact.day is None or fact.occurred.start <= fact.day)
        details = DETAIL * min(len(_DETAIL.findall(fact.text)) + has_happened, MOST_DETAILS)
        sure = 1.0 if fact.confidence is None else fact.confidence
        worth = sure * (IMPORTANCE * fact.importance**2 + details)
        about = tuple(slug for slug in dict.fromkeys(fact.about) if slug != focus)
        found.append(_Candidate(fact, about, share, share * worth, max(cost(fact), 1), waits_for))
    return found


def _without_repeats(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts; of those with the same words only the newest, with the highest importance of them all.

    One more number, name or `not` makes it another statement. A fact from outside never takes the place of one written
    here.
    """
    for found in _in_the_same_words(facts, lambda text: text):
        newest = max(found, key=lambda fact: (fact.is_trusted, fact.day or date.min, fact.path, fact.line))
        highest = max(fact.importance for fact in found)
        yield newest if newest.importance == highest else newest._replace(importance=highest)


def _outdated(facts: Iterable[Fact]) -> Iterator[Fact]:
    """World facts that a later note repeats in the same words with other numbers."""
    stated = (fact for fact in facts if fact.kind == "world" and fact.subjects and fact.day)
    for found in _in_the_same_words(stated, lambda text: _NUMBER.sub(" ", text)):
        newest = max((fact.day for fact in found if fact.day and fact.succeeded_by is None), default=date.min)
        numbers = {number for fact in found if fact.day == newest for number in _NUMBER.findall(fact.text)}
        for fact in found:
            if fact.day and fact.day < newest and not numbers.issuperset(_NUMBER.findall(fact.text)):
                yield fact


def _in_the_same_words(facts: Iterable[Fact], worded: Callable[[str], str]) -> Iterator[list[Fact]]:
    """The facts, those together that have the same subjects and the same words in `worded`."""
    found: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        said = sentence(worded(fact.text), tuple(slug.replace("-", " ") for slug in fact.subjects))
        found[fact.subjects, said if said.words else fact.key].append(fact)
    yield from found.values()


# --- selection -------------------------------------------------------------------------------------------------------


class _Choice:
    """The candidates taken so far, and the coverage left for each slug; slugs with more facts are worth more."""

    def __init__(self, candidates: Sequence[_Candidate]) -> None:
        self._candidates, self._taken = candidates, list[_Candidate]()
        counts = Counter(slug for one in candidates for slug in one.about)
        self._left = {slug: 2 + math.log2(count) for slug, count in counts.items()}

    def take(self, turn: Turn) -> list[Fact]:
        """The facts that one turn takes, in the order taken."""
        budget, before, keys = turn.budget, len(self._taken), {one.fact.key for one in self._taken}
        waiting: dict[int, list[int]] = defaultdict(list)
        heap: list[tuple[float, int]] = []
        for at, one in enumerate(self._candidates):
            if one.fact.key in keys or (turn.of and not turn.of(one.fact)):
                continue
            if one.waits_for is None or one.waits_for in keys:
                heap.append((-self._rate(one), at))
            else:
                waiting[one.waits_for].append(at)
        heapq.heapify(heap)
        while heap:
            _, at = heapq.heappop(heap)
            one = self._candidates[at]
            if one.cost > budget:
                continue  # for good: the budget only shrinks
            now = (-self._rate(one), at)
            if heap and now > heap[0]:
                heapq.heappush(heap, now)
            else:
                self._taken.append(one)
                for slug in one.about:
                    self._left[slug] *= math.exp2(-one.share)
                budget -= one.cost
                for other in waiting.pop(one.fact.key, ()):
                    heapq.heappush(heap, (-self._rate(self._candidates[other]), other))
        return [one.fact for one in self._taken[before:]]

    def _rate(self, one: _Candidate) -> float:
        """The gain of a fact per cost^SCALE."""
        left = sum(map(self._left.__getitem__, one.about))
        return (left * (1 - math.exp2(-one.share)) + one.worth) / math.pow(one.cost, SCALE)
