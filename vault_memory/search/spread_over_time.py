"""Owns the spread over a period: its parts, what tells most in each, and the order that takes from all of them. Pure.

Who asks for nothing but a time ("what happened in 2024?") wants an answer from all of it, so the parts take turns; but
what matters much comes before another part's trifle.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date

from vault_memory.markdown.facts import is_decided
from vault_memory.search.decay import importance_of
from vault_memory.store.lanes import SCATTER, SCATTER_OVER, SHORT_TOKENS, DatedPassage

TURN = 0.4
"""What a passage loses for each one of its part that comes before it: a fact that matters goes before another part's
trifle once, hardly twice."""

AWAY = 0.1
"""What each day away from the one asked about costs, where a day is asked "around"."""

LEAST_FACT, PLAIN, SHORT, ELSEWHERE = 0.35, 0.3, 0.2, 0.1
"""What a fact of no importance tells, a line, one of fewer than SHORT_TOKENS, and what is aside or elsewhere."""

TOLD_ELSEWHEN = 0.6
"""What a fact counts that was written down on another day than those it is of, as plans are."""

LAST_FIT, OUTSIDE_FIT = 0.4, 0.2
"""How well the last in the order fits the time, the first fitting it wholly; and at the most what lies outside it."""


def spread(lying: Sequence[DatedPassage], around: date | None = None) -> list[int]:
    """The ids in the order in which they answer for their period; `around` is the day that is meant, if one is."""
    parts: dict[int, list[DatedPassage]] = defaultdict(list)
    for passage in lying:
        parts[passage.part if around is None else abs((passage.day - around).days)].append(passage)
    keys: dict[int, tuple[float, int, int]] = {}
    for part, found in parts.items():
        away = AWAY * part if around else 0.0
        for turn, passage in enumerate(_by_worth(found)):
            keys[passage.id] = (round(away + TURN * turn - telling(passage), 6), turn, _scattered(part))
    return sorted((passage.id for passage in lying), key=keys.__getitem__)


def in_order(order: Sequence[int]) -> dict[int, float]:
    """How well each of an order fits its period: 1 for the first, down to LAST_FIT."""
    step = (1 - LAST_FIT) / max(len(order) - 1, 1)
    return {passage: 1 - step * at for at, passage in enumerate(order)}


def _by_worth(found: Sequence[DatedPassage]) -> list[DatedPassage]:
    """What tells most first; what tells alike takes turns by day, so that no day speaks for its whole part."""
    turns: Counter[tuple[float, date]] = Counter()
    keys: dict[int, tuple[float, int, int]] = {}
    for passage in found:
        worth = telling(passage)
        turns[worth, passage.day] += 1
        keys[passage.id] = (-worth, turns[worth, passage.day], _scattered(passage.day.toordinal()))
    return sorted(found, key=lambda passage: keys[passage.id])


def telling(passage: DatedPassage) -> float:
    """How much a passage tells of its time by itself, 0..1: a fact by its importance, any fact more than a line."""
    if passage.aside or not passage.happened:
        return ELSEWHERE
    importance = passage.importance
    if passage.text is not None:
        importance = importance_of(passage.kind, is_decided(passage.text))
    if importance is not None:
        return (LEAST_FACT + (1 - LEAST_FACT) * importance) * (1.0 if passage.told else TOLD_ELSEWHEN)
    return PLAIN if passage.tokens >= SHORT_TOKENS else SHORT


def _scattered(number: int) -> int:
    """A place for each number of a run such that the first few places lie far apart in the run (golden section)."""
    return number * SCATTER % SCATTER_OVER
