"""How sure an opinion is, computed afresh from its evidence. Pure.

Evidence is folded in from the prior, oldest first. Each piece draws the value towards the weighted mean of the prior
and all evidence so far, by no more than a step, and only its own way: a support never lowers, a contradiction never
raises; a restatement draws towards the number it states. A piece weighs by its age relative to the newest before it,
so the clock plays no part, and one piece more moves the end by no more than its own step.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

SUPPORTS, CONTRADICTS, RELATED, UNRELATED = "supports", "contradicts", "related", "unrelated"
RELATIONS = (SUPPORTS, CONTRADICTS, RELATED, UNRELATED)
"""The index keeps the place of a verdict in this list."""

RESTATES = "restates"

PRIOR_MASS = 9.0
"""How many pieces of evidence the prior is worth."""

LASTING, HALF_LIFE_DAYS = 0.3, 180.0
"""What of a piece's weight stays for ever, and how soon the rest is halved."""

CONTRADICTION_MASS, AGREED_MASS = 1.5, 3.0
"""What a contradiction is worth beside a support, alone and once those of another day agree with it."""

STEP_UP, STEP_DOWN, STEP_DOWN_AGREED = 0.10, 0.15, 0.30
LOWEST, HIGHEST = 0.02, 0.98

STEADY = 0.02
"""A smaller change is no trend."""

TREND_DAYS = 3
"""Days with evidence."""

MARKS, MAX_MARKS = "▁▂▃▄▅▆▇█", 12


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece: `key` names the fact, `day` is its ordinal (None: unknown, and older than all others)."""

    key: str
    day: int | None
    relation: str
    """supports, contradicts or restates."""
    stated: float | None = None
    """The confidence, 0..1, that a restatement gives: one without has no effect. A support lifts no further than it."""


@dataclass(frozen=True)
class Belief:
    """What evidence makes of a prior; `history` has the value after each day that brought evidence."""

    prior: float
    value: float
    rounded: float
    """To .05, from .05 to .95: as pages show it."""
    history: tuple[tuple[int, float], ...]
    trend: str
    """new, rising, falling or steady."""
    sparkline: str
    """The prior and what came of it; "" where no day brought any evidence."""


def weigh_evidence(prior: float, evidence: Iterable[Evidence], known_until: int | None = None) -> Belief:
    """How sure to be, from a prior in 0..1 and evidence in any order; of several with one key the oldest counts.

    The prior holds already what was known on the day `known_until`, all that has no day among it.
    """
    prior = value = _bounded(prior)
    history, taken = dict[int, float](), list[Evidence]()
    telling = (piece for piece in evidence if piece.relation != RESTATES or piece.stated is not None)
    oldest: dict[Hashable, Evidence] = {}
    # Those of one day stand in an order that no caller decides.
    for piece in sorted(telling, key=lambda e: (-1 if e.day is None else e.day, e.relation, e.key, e.stated or 0)):
        # The same words on another day are no new evidence, but a number stated anew is what is held then.
        name = (piece.key, piece.day, piece.stated) if piece.relation == RESTATES else piece.key
        oldest.setdefault(name, piece)
    for piece in oldest.values():
        if known_until is not None and (piece.day is None or piece.day <= known_until):
            continue
        taken.append(piece)
        value = _bounded(_move(value, prior, taken))
        if piece.day is not None:
            history[piece.day] = value
    course = (prior, *history.values()) if history else ()
    marks = "".join(MARKS[min(int(value * len(MARKS)), len(MARKS) - 1)] for value in course[-MAX_MARKS:])
    trend = "new"
    if course:
        change = course[-1] - course[max(len(course) - 1 - TREND_DAYS, 0)]
        trend = "rising" if change > STEADY else "falling" if change < -STEADY else "steady"
    return Belief(prior, value, round_confidence(value), tuple(history.items()), trend, marks)


def _move(value: float, prior: float, pieces: Sequence[Evidence]) -> float:
    """The value after the last of these pieces, one step at most: towards the mean, and not against the piece."""
    piece = pieces[-1]
    if piece.relation == RESTATES:  # what they hold now draws towards their number, not towards the mean
        stated = piece.stated or 0.0
        return min(max(stated, value - STEP_DOWN), value + STEP_UP)
    # Of a contradiction without a day nobody knows that it is of another.
    is_agreed = len({one.day for one in pieces if one.relation == CONTRADICTS and one.day is not None}) > 1
    mean = _mean(prior, pieces, AGREED_MASS if is_agreed else CONTRADICTION_MASS)
    if piece.relation == SUPPORTS:
        return max(value, min(mean, value + STEP_UP, HIGHEST if piece.stated is None else piece.stated))
    return min(value, max(mean, value - (STEP_DOWN_AGREED if is_agreed else STEP_DOWN)))


def _mean(prior: float, pieces: Sequence[Evidence], against: float) -> float:
    """The mean of the prior and some pieces, the newest last; a contradiction weighs `against` times a support."""
    target, mass, newest = PRIOR_MASS * prior, PRIOR_MASS, pieces[-1].day
    for piece in pieces:
        if piece.day is None or newest is None:  # what has no day is older than all that has one
            aged = float(newest is None)
        else:
            aged = 2 ** ((piece.day - newest) / HALF_LIFE_DAYS)
        weight = LASTING + (1 - LASTING) * aged
        if piece.relation == CONTRADICTS:
            mass += against * weight
            continue
        mass += weight
        target += weight * (1.0 if piece.relation == SUPPORTS else piece.stated or 0.0)
    return target / mass


def _bounded(value: float) -> float:
    return min(max(value, LOWEST), HIGHEST)


def round_confidence(value: float) -> float:
    """A confidence as it is shown: rounded to .05, never quite sure."""
    return min(max(int(value * 20 + 0.5) / 20, 0.05), 0.95)
