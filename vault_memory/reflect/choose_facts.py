"""Chooses the facts that tell most in few tokens. Pure; it knows neither pages nor what a page says of them.

Extractive selection as budgeted submodular maximisation (H. Lin and J. Bilmes, "A Class of Submodular Functions for
Document Summarization", ACL 2011; the greedy rule with a scaled cost is of their NAACL 2010 paper). A fact covers
the people and things it is about. Coverage of one is worth `weight · (1 - 2^-n)`: the first fact about it takes half of
that, the next a quarter. To that each fact brings what it is worth by itself. Greedy by gain per cost^SCALE, and
lazily, for a gain only ever falls.

Aside from the formula, of two facts in nearly the same words only one is taken, of two that tell how a thing stands in
the same words with other numbers only the newer, and a superseded fact only after the one that took its place. No tier
counts: the same facts are the same choice on every day.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.reflect.fact import Fact, timeline_key

SCALE = 0.7
"""The exponent of a fact's cost: at 1 the shortest facts win, at 0 the longest."""

IMPORTANCE, DETAIL = 5.0, 2.0
"""What a fact of importance 1 and a detail in it are worth.

Without details the pages of four conversations of LoCoMo hold 21 % of what is asked about, not 36 %.
"""

SUPERSEDED, AHEAD = 0.5, 0.7
"""What a fact counts that holds no more, and a plan for a later day: what came of it is told by another fact, if it
came to anything. Without these 12 and 40 lines of the sample vault's pages tell of what is not so any more or not yet.
"""

LATELY = timedelta(days=14)
"""What was written in so many days before the newest of some facts is how things stand by now."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

MOST_DETAILS = 3
_DETAIL = re.compile(r"\d+(?:[.,:]\d+)*|[\"“*_][A-Z]|(?<=[a-z,;:] )(?!I\b)[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
"""A number, a title, a name that does not begin the sentence; more of them are a list, and tell no more."""


ALIKE = 0.6
"""Two facts that share more of their stems than this (Jaccard) say the same."""


class Weights(NamedTuple):
    """What facts are weighed by: the `stems` of a text, and the `cost` of a fact in tokens.

    `focus` are the slugs that all the facts are about: they tell nothing here.
    """

    stems: Callable[[str], Sequence[str]]
    cost: Callable[[Fact], int]
    focus: frozenset[str] = frozenset()


class Turn(NamedTuple):
    """One turn of a choice: how many tokens it may take at most, and from which of the facts (None: from all)."""

    budget: int
    of: Callable[[Fact], bool] | None = None


def choose_in_turns(facts: Sequence[Fact], budget: int, weigh: Weights, turns: Iterable[Turn]) -> list[list[Fact]]:
    """What each turn takes of the facts: what tells most beside all that was taken in the turns before it.

    All together take no more than the budget, of tokens; the order given plays no part.
    """
    choice, found = _Choice(_candidates(facts, weigh)), list[list[Fact]]()
    for turn in turns:
        taken = choice.take(min(turn.budget, budget), turn.of)
        budget -= sum(one.cost for one in taken)
        found.append([one.fact for one in taken])
    return found


def lately(facts: Iterable[Fact]) -> Callable[[Fact], bool]:
    """Tells of a fact whether it was written within a fortnight of the newest of these; of no clock."""
    newest = max((fact.day for fact in facts if fact.day), default=None)
    return lambda fact: newest is not None and fact.day is not None and fact.day >= newest - LATELY


# --- what there is to choose from ------------------------------------------------------------------------------------


class _Candidate(NamedTuple):
    """A fact, what it covers and how much of a mention it is; `waits_for` the key of what took its place."""

    fact: Fact
    stems: frozenset[str]
    about: tuple[str, ...]
    share: float
    worth: float
    cost: int
    waits_for: int | None


def _candidates(facts: Sequence[Fact], weigh: Weights) -> list[_Candidate]:
    """The facts as they are weighed, in the order of a timeline, which also decides ties."""
    keys = {fact.key for fact in facts}
    outdated = set(map(id, _outdated(facts, weigh)))
    ordered = sorted((fact for fact in facts if id(fact) not in outdated), key=timeline_key)
    found = []
    for fact in ordered:
        stems = frozenset(weigh.stems(fact.text))
        waits_for = fact.succeeded_by if fact.succeeded_by in keys and fact.succeeded_by != fact.key else None
        when = fact.when
        is_ahead = when is not None and fact.day is not None and when > fact.day
        share = (SUPERSEDED if waits_for is not None else 1.0) * (AHEAD if is_ahead else 1.0)
        # A plan for a day may still come to nothing.
        has_happened = fact.occurred is not None and (fact.day is None or fact.occurred.start <= fact.day)
        details = DETAIL * min(len(_DETAIL.findall(fact.text)) + has_happened, MOST_DETAILS)
        sure = 1.0 if fact.confidence is None else fact.confidence
        worth = sure * (IMPORTANCE * fact.importance**2 + details)
        about = tuple(slug for slug in dict.fromkeys(fact.about) if slug not in weigh.focus)
        cost = max(weigh.cost(fact), 1)
        found.append(_Candidate(fact, stems, about, share, share * worth, cost, waits_for))
    return found


def _outdated(facts: Iterable[Fact], weigh: Weights) -> Iterator[Fact]:
    """What tells how a thing stood before its number changed, by a later note in the same words."""
    alike: dict[tuple[tuple[str, ...], frozenset[str]], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "world" and fact.subjects and fact.day and _NUMBER.search(fact.text):
            alike[fact.subjects, frozenset(weigh.stems(_NUMBER.sub(" ", fact.text)))].append(fact)
    for (_, stems), found in alike.items():
        newest = max((fact.day for fact in found if fact.day and fact.succeeded_by is None), default=date.min)
        numbers = {number for fact in found if fact.day == newest for number in _NUMBER.findall(fact.text)}
        for fact in found if stems else ():
            if fact.day and fact.day < newest and not numbers.issuperset(_NUMBER.findall(fact.text)):
                yield fact


# --- the choice ------------------------------------------------------------------------------------------------------


class _Choice:
    """What is taken of the candidates so far, and what is left to be covered of each that the facts are about; who is
    told of more often is worth more."""

    def __init__(self, candidates: Sequence[_Candidate]) -> None:
        self._candidates, self._taken = candidates, list[_Candidate]()
        counts = Counter(slug for one in candidates for slug in one.about)
        self._left = {slug: 2 + math.log2(count) for slug, count in counts.items()}

    def take(self, budget: int, of: Callable[[Fact], bool] | None) -> list[_Candidate]:
        """What one turn takes, in order."""
        before, keys = len(self._taken), {one.fact.key for one in self._taken}
        had = set(map(id, self._taken))
        waiting: dict[int, list[int]] = defaultdict(list)
        heap: list[tuple[float, int]] = []
        for at, one in enumerate(self._candidates):
            if id(one) in had or (of and not of(one.fact)):
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
            elif not any(_says_the_same(one, other) for other in self._taken):
                self._add(one)
                budget -= one.cost
                for other in waiting.pop(one.fact.key, ()):
                    heapq.heappush(heap, (-self._rate(self._candidates[other]), other))
        return self._taken[before:]

    def _rate(self, one: _Candidate) -> float:
        """The gain of a fact for what it costs."""
        left = sum(map(self._left.__getitem__, one.about))
        return (left * (1 - math.exp2(-one.share)) + one.worth) / math.pow(one.cost, SCALE)

    def _add(self, one: _Candidate) -> None:
        self._taken.append(one)
        for slug in one.about:
            self._left[slug] *= math.exp2(-one.share)


def _says_the_same(one: _Candidate, other: _Candidate) -> bool:
    if one.fact.key == other.fact.key:  # the same words, be they none that tell
        return True
    shared = len(one.stems & other.stems)
    return shared > ALIKE * (len(one.stems) + len(other.stems) - shared)
