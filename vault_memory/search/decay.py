"""Computes how memories age: recency, frequency, worth and tiers. Pure.

Days are ordinals (`date.toordinal()`), so that replaying a journal creates no date objects. An old, unused memory is
not obsolete: nothing here deletes, and SWAY only decides near ties.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

HALF_LIFE_DAYS, STRETCH = 30.0, 1.5
"""Half-life at importance 0, and the exponent by which importance stretches it."""

BETA: Mapping[str, float] = {"core": 0.8, "working": 1.0, "peripheral": 1.3}
FLOORS: Mapping[str, float] = {"core": 0.9, "working": 0.7, "peripheral": 0.5}
LEAST_MULTIPLIER = 0.3
"""Lower bound of the multiplier: of a fact by tier (FLOORS), and of a dated line that is no fact."""

UP_RECALLS, UP_WORTH = 3, 0.4
CORE_RECALLS, CORE_WORTH, CORE_IMPORTANCE = 10, 0.7, 0.8
DOWN_WORTH, OLD_DAYS = 0.15, 60
CORE_DOWN_WORTH, CORE_DOWN_DAYS = 0.35, 90

SWAY = 0.1
"""What a multiplier of 0 would subtract from a score (ranking.py), where an exact hit adds 2.0. Subtracted rather than
multiplied, since those scores may be negative and a factor below 1 would then raise them."""

IMPORTANCE: Mapping[str, float] = {"world": 0.5, "experience": 0.4, "opinion": 0.5, "observation": 0.4}
DECIDED, REPEATED, REPEATED_DAYS = 0.2, 0.15, 3
"""Importance of a fact without `i=`, by kind: a single event or mere observation matters less than how things are."""


class Trace(NamedTuple):
    """The ageing inputs of one memory: `uses` are the days it was used, ascending; one without a `day` never ages."""

    day: int | None
    uses: Sequence[int] = ()
    importance: float = 0.5
    confidence: float = 1.0

    def age(self, today: int) -> int | None:
        """Return the days since its last use, or since its own day if later; None without a day."""
        return None if self.day is None else max(today - max((self.day, *self.uses)), 0)


class Life(NamedTuple):
    """The state of a memory on a day: `tier` is None if it is no fact, `age_days` if it has no day."""

    tier: str | None
    age_days: int | None
    importance: float
    worth: float
    multiplier: float


def half_life(importance: float) -> float:
    """Return the half-life in days, 30·e^(1.5·importance); importance in 0..1."""
    return HALF_LIFE_DAYS * math.exp(STRETCH * importance)


def importance_of(kind: str, decided: bool, told_days: int = 1) -> float:
    """Return the importance of a fact without `i=`, 0..1: by kind, more for a decision or if told on several days."""
    return min(IMPORTANCE.get(kind, 0.5) + DECIDED * decided + REPEATED * (told_days >= REPEATED_DAYS), 1.0)


def life(trace: Trace, today: int, is_fact: bool = True) -> Life:
    """Return the state of a memory on day `today`, ignoring later uses."""
    trace = trace._replace(uses=tuple(day for day in trace.uses if day <= today))
    tier = tier_of(trace, today) if is_fact else None
    worth = worth_of(trace, today, tier or "working")
    left = max(FLOORS[tier] if tier else LEAST_MULTIPLIER, LEAST_MULTIPLIER + (1 - LEAST_MULTIPLIER) * worth)
    return Life(tier, trace.age(today), trace.importance, worth, 1.0 if trace.day is None else left)


def tier_of(trace: Trace, today: int) -> str:
    """Return the tier on day `today`: a fact starts as working; uses promote it, and disuse between them demotes it.

    Worth only falls between uses, so checking just before each use and at the end catches every demotion.
    """
    tier, uses = "working", trace.uses
    for count, day in enumerate((*uses, today)):
        before = trace._replace(uses=uses[:count])
        if tier == "core":
            lately = sum(used > day - CORE_DOWN_DAYS for used in before.uses)
            if lately < UP_RECALLS and worth_of(before, day, tier) < CORE_DOWN_WORTH:
                tier = "working"
        if tier == "working" and trace.day is not None:
            is_quiet = day - trace.day > OLD_DAYS and count < UP_RECALLS
            if is_quiet or worth_of(before, day, tier) < DOWN_WORTH:
                tier = "peripheral"
        if count < len(uses):
            used = trace._replace(uses=uses[: count + 1])
            if tier == "peripheral" and count + 1 >= UP_RECALLS and worth_of(used, day, tier) >= UP_WORTH:
                tier = "working"
            is_often = count + 1 >= CORE_RECALLS and trace.importance >= CORE_IMPORTANCE
            if tier == "working" and is_often and worth_of(used, day, tier) >= CORE_WORTH:
                tier = "core"
    return tier


def worth_of(trace: Trace, today: int, tier: str) -> float:
    """Return 0.4·recency + 0.3·frequency + 0.3·importance·confidence, 0..1.

    Recency is exp(-ln2·(d/HL)^β), one half at the half-life for every β, and 1 without a day. Frequency is
    (1-e^(-n/5))·(0.5+0.5·e^(-gap/30)), where `gap` is the mean number of days between uses: frequent use counts, and
    more so at short intervals.
    """
    uses, count = trace.uses, len(trace.uses)
    recent = math.exp(-math.log(2) * ((trace.age(today) or 0) / half_life(trace.importance)) ** BETA[tier])
    gap = (uses[-1] - uses[0]) / (count - 1) if count > 1 else 0.0
    frequent = (1 - math.exp(-count / 5)) * (0.5 + 0.5 * math.exp(-gap / 30))
    return 0.4 * recent + 0.3 * frequent + 0.3 * (trace.importance * trace.confidence)
