"""How sure an opinion is, computed afresh from its evidence. Pure.

Evidence is folded in from the prior, oldest first. Each piece draws the value towards the weighted mean of the prior
and all evidence so far, by no more than a step, and only its own way: a support never lowers, a contradiction never
raises; a restatement draws towards the number it states. A piece weighs by its age relative to the newest before it,
so the clock plays no part, and since nothing later is newer for its being there, one piece more moves the end by no
more than its own step, wherever in time it lies.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from vault_memory.reflect.stance import CONTRADICTS, SUPPORTS

RESTATES = "restates"

PRIOR_MASS = 9.0
"""How many pieces of evidence the prior is worth."""

LASTING, HALF_LIFE_DAYS = 0.3, 180.0
"""What of a piece's weight stays for ever, and how soon the rest of it is halved."""

CONTRADICTION_MASS, AGREED_MASS = 1.5, 3.0
"""What a contradiction is worth beside a support, alone and once those of another day agree with it."""

STEP_UP, STEP_DOWN, STEP_DOWN_AGREED = 0.10, 0.15, 0.30
LOWEST, HIGHEST = 0.02, 0.98

STEADY = 0.02
"""A smaller change is no trend."""

RECENT = 3
"""Over so many days with evidence a trend is seen."""

MARKS, MAX_MARKS = "▁▂▃▄▅▆▇█", 12


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece: `key` names the fact, `day` is its ordinal (None: unknown, and older than all others)."""

    key: int
    day: int | None
    relation: str
    """supports, contradicts or restates; any other has no effect."""
    stated: float | None = None
    """The confidence, 0..1, that a restatement gives: one without has no effect. A support lifts no further than it."""


@dataclass(frozen=True)
class Belief:
    """What evidence makes of a prior; `history` has the value after each day that brought evidence."""

    prior: float
    value: float
    shown: float
    """Rounded to .05, from .05 to .95."""
    history: tuple[tuple[int, float], ...]
    trend: str
    """new, rising, falling or steady."""
    sparkline: str
    """The prior and what came of it; "" where no day brought any evidence."""


def confidence(prior: float, evidence: Iterable[Evidence], known_until: int | None = None) -> Belief:
    """How sure to be, from a prior in 0..1 and evidence in any order; of several with one key the oldest counts.

    The prior holds already what was known on the day `known_until`, all that has no day among it.
    """
    tally = _Tally(_bounded(prior))
    value, history = tally.prior, dict[int, float]()
    for piece in _in_order(evidence):
        if known_until is not None and (piece.day is None or piece.day <= known_until):
            continue
        value = _moved(value, piece, tally.with_(piece), tally.is_agreed)
        if piece.day is not None:
            history[piece.day] = value
    course = (tally.prior, *history.values()) if history else ()
    return Belief(tally.prior, value, shown(value), tuple(history.items()), _trend(course), sparkline(course))


def _in_order(evidence: Iterable[Evidence]) -> Sequence[Evidence]:
    """The pieces that count, oldest first; those of one day in an order that no caller decides."""
    telling = [e for e in evidence if e.relation in (SUPPORTS, CONTRADICTS) or _is_restatement(e)]
    ordered = sorted(telling, key=lambda e: (-1 if e.day is None else e.day, e.relation, e.key, e.stated or 0))
    oldest: dict[Hashable, Evidence] = {}
    for piece in ordered:
        oldest.setdefault(_name(piece), piece)
    return list(oldest.values())


def _name(piece: Evidence) -> Hashable:
    """What a piece counts once as: the same words on another day are no new evidence, but say what is held then."""
    return (piece.key, piece.day, piece.stated) if piece.relation == RESTATES else piece.key


def _is_restatement(piece: Evidence) -> bool:
    return piece.relation == RESTATES and piece.stated is not None


def _moved(value: float, piece: Evidence, mean: float, is_agreed: bool) -> float:
    """The value after one more piece, one step at most: towards the mean, and not against the piece.

    Who states it anew says what they hold now: that draws towards their number, not towards the mean.
    """
    if piece.relation == SUPPORTS:
        moved = max(value, min(mean, value + STEP_UP, HIGHEST if piece.stated is None else piece.stated))
    elif piece.relation == CONTRADICTS:
        moved = min(value, max(mean, value - (STEP_DOWN_AGREED if is_agreed else STEP_DOWN)))
    else:
        stated = mean if piece.stated is None else piece.stated
        moved = min(max(stated, value - STEP_DOWN), value + STEP_UP)
    return _bounded(moved)


class _Tally:
    """The weighted mean of the prior and the pieces so far.

    Masses are kept in two sums each, the lasting part and the part that ages, which is scaled when time goes on: so n
    pieces cost n steps. Contradictions have a sum of their own, because their mass changes once two days agree.
    """

    def __init__(self, prior: float) -> None:
        self.prior = prior
        self._newest: int | None = None
        self._days: set[int] = set()
        self._lasting = _Sums()
        self._ageing = _Sums()

    @property
    def is_agreed(self) -> bool:
        """Whether contradictions stand on two days; of one without a day nobody knows that it is another."""
        return len(self._days) > 1

    def with_(self, piece: Evidence) -> float:
        """Take one more piece in, no older than those before, and give the mean."""
        if piece.day is not None and piece.day != self._newest:
            # What has no day is older than all that has one.
            aged = 0.0 if self._newest is None else 2 ** ((self._newest - piece.day) / HALF_LIFE_DAYS)
            self._ageing.scale(aged)
            self._newest = piece.day
        if piece.relation == CONTRADICTS and piece.day is not None:
            self._days.add(piece.day)
        for sums in (self._lasting, self._ageing):
            sums.add(piece)
        return self._mean()

    def _mean(self) -> float:
        against = AGREED_MASS if self.is_agreed else CONTRADICTION_MASS
        target, mass = PRIOR_MASS * self.prior, PRIOR_MASS
        for share, sums in ((LASTING, self._lasting), (1 - LASTING, self._ageing)):
            target += share * sums.target
            mass += share * (sums.mass + against * sums.against)
        return target / mass


@dataclass
class _Sums:
    """Sums over pieces: what they say times their mass, their mass, and how many contradict."""

    target: float = 0.0
    mass: float = 0.0
    against: float = 0.0

    def scale(self, factor: float) -> None:
        self.target, self.mass, self.against = self.target * factor, self.mass * factor, self.against * factor

    def add(self, piece: Evidence) -> None:
        if piece.relation == CONTRADICTS:
            self.against += 1
            return
        self.mass += 1
        self.target += 1 if piece.relation == SUPPORTS else piece.stated or 0.0


def _bounded(value: float) -> float:
    return min(max(value, LOWEST), HIGHEST)


def shown(value: float) -> float:
    """A confidence as it is shown: rounded to .05, never quite sure."""
    return min(max(int(value * 20 + 0.5) / 20, 0.05), 0.95)


def _trend(course: Sequence[float]) -> str:
    """Where it has been going over the last days that brought evidence."""
    if not course:
        return "new"
    change = course[-1] - course[max(len(course) - 1 - RECENT, 0)]
    return "rising" if change > STEADY else "falling" if change < -STEADY else "steady"


def sparkline(values: Sequence[float]) -> str:
    """The last of some values in 0..1, one mark each, on a scale that is the same for every opinion."""
    return "".join(MARKS[min(int(value * len(MARKS)), len(MARKS) - 1)] for value in values[-MAX_MARKS:])
