"""Computes the confidence in an opinion from its first number and the evidence since. Pure.

Evidence is folded into the prior, oldest first. Each piece pulls the value towards the weighted mean of the prior and
all evidence so far, by at most one step and only in its own direction: support never lowers it, a contradiction never
raises it, a restatement pulls towards the number it states. A piece is weighted by its age relative to the newest piece
so far, so the clock plays no part, and one more piece moves the result by no more than its own step.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

SUPPORTS, CONTRADICTS, RELATED, UNRELATED = "supports", "contradicts", "related", "unrelated"
RELATIONS = (SUPPORTS, CONTRADICTS, RELATED, UNRELATED)
"""The index stores a verdict as its position in this tuple."""

RESTATES = "restates"

PRIOR_MASS = 9.0
"""The weight of the prior, in pieces of evidence."""

LASTING, HALF_LIFE_DAYS = 0.3, 180.0
"""The share of a piece's weight that never decays, and the half-life of the rest."""

CONTRADICTION_MASS, AGREED_MASS = 1.5, 3.0
"""The weight of a contradiction relative to a support: on its own, and once one from another day agrees with it."""

STEP_UP, STEP_DOWN, STEP_DOWN_AGREED = 0.10, 0.15, 0.30
LOWEST, HIGHEST = 0.02, 0.98

STEADY = 0.02
"""A smaller change does not count as a trend."""

TREND_DAYS = 3
"""A trend compares with the value this many days with evidence ago."""

MARKS, MAX_MARKS = "▁▂▃▄▅▆▇█", 12


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence. `key` identifies the fact; `day` is an ordinal (None: unknown, sorted as oldest)."""

    key: str
    day: int | None
    relation: str
    """supports, contradicts or restates."""
    stated: float | None = None
    """The confidence, 0..1, that the fact states: without one a restatement has no effect. It also caps a support."""


@dataclass(frozen=True)
class Confidence:
    """A prior updated by evidence; `history` has the value after each day with evidence."""

    prior: float
    value: float
    rounded: float
    """To the nearest .05, within .05 to .95, as pages show it."""
    history: tuple[tuple[int, float], ...]
    trend: str
    """new, rising, falling or steady."""
    sparkline: str
    """The prior and the values after it, at most the last MAX_MARKS; "" if no day has evidence."""


def weigh_evidence(prior: float, evidence: Iterable[Evidence], known_until: int | None = None) -> Confidence:
    """Update a prior in 0..1 with evidence in any order; of several pieces with the same key only the oldest counts.

    The prior already reflects what was known up to the day `known_until`, including all undated evidence.
    """
    prior = value = _bounded(prior)
    history, taken = dict[int, float](), list[Evidence]()
    telling = (piece for piece in evidence if piece.relation != RESTATES or piece.stated is not None)
    oldest: dict[Hashable, Evidence] = {}
    # Pieces of the same day get a fixed order, whatever order the caller passed.
    for piece in sorted(telling, key=lambda e: (-1 if e.day is None else e.day, e.relation, e.key, e.stated or 0)):
        # Repeating the words on another day is no new evidence, but a newly stated number is.
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
    return Confidence(prior, value, round_confidence(value), tuple(history.items()), trend, marks)


def _move(value: float, prior: float, pieces: Sequence[Evidence]) -> float:
    """The value after the last piece: at most one step towards the mean, never against the piece's direction."""
    piece = pieces[-1]
    if piece.relation == RESTATES:  # a stated number is the target itself, not the mean
        stated = piece.stated or 0.0
        return min(max(stated, value - STEP_DOWN), value + STEP_UP)
    # An undated contradiction may be of the same day, so it does not count as agreement.
    is_agreed = len({one.day for one in pieces if one.relation == CONTRADICTS and one.day is not None}) > 1
    mean = _mean(prior, pieces, AGREED_MASS if is_agreed else CONTRADICTION_MASS)
    if piece.relation == SUPPORTS:
        return max(value, min(mean, value + STEP_UP, HIGHEST if piece.stated is None else piece.stated))
    return min(value, max(mean, value - (STEP_DOWN_AGREED if is_agreed else STEP_DOWN)))


def _mean(prior: float, pieces: Sequence[Evidence], against: float) -> float:
    """The weighted mean of the prior and some pieces, newest last; a contradiction weighs `against` supports."""
    target, mass, newest = PRIOR_MASS * prior, PRIOR_MASS, pieces[-1].day
    for piece in pieces:
        if piece.day is None or newest is None:  # undated pieces count as older than all dated ones
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
    """A confidence as pages show it: rounded to .05, never certain."""
    return min(max(int(value * 20 + 0.5) / 20, 0.05), 0.95)
