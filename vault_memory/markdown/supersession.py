"""Decides which claims supersede older ones, and so which facts; and orders rankings accordingly. Pure.

A fact is read as claims (claims.py) when it is indexed; a query brings the claims of a vault here
(search/superseded_facts.py), and a new statement is compared by its own (write/comparison.py, reflect/opinions.py).
Wrongly hiding a fact is worse than repeating it: a claim is superseded only by one about the same subject, and for an
attribute that has one value at a time.
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

STATES, CHANGES, ENDS = "states", "changes", "ends"
"""How a claim is made: plainly, with a word of change ("now"), or as something that has ended."""

PLANNED, SAID = "planned", "said"
"""Slot prefixes: of a plan, followed by its day, and of a whole statement, followed by its words."""

ANY = "any"
"""The slot of "switched from X", which ends X in any slot."""


class Claim(NamedTuple):
    """What a fact says about its subject: `slot` is the attribute, `value` its words, `start` the day it holds from.

    Only a claim that is the `whole` fact can be superseded: otherwise the rest may still be true.
    """

    slot: str
    value: str
    how: str = STATES
    whole: bool = True
    start: date | None = None

    @property
    def statement(self) -> tuple[str, str, bool]:
        """What is claimed to hold, or to have ended: equal for claims that repeat each other."""
        return self.slot, self.value, self.how == ENDS


class DatedClaim(NamedTuple):
    """A claim of the fact `key` with its subject, the `day` it was written and the day it holds `since`, as ordinals or
    None."""

    key: int
    subject: str
    claim: Claim
    day: int | None
    since: int | None
    note: int = 0
    line: int = 0


COUNTRIES = frozenset(
    """europe asia africa america england scotland wales ireland britain uk usa us germany france spain portugal italy
    switzerland austria belgium netherlands holland luxembourg denmark sweden norway finland iceland poland czechia
    slovakia hungary romania bulgaria greece turkey ukraine russia china japan korea india pakistan thailand vietnam
    indonesia australia canada mexico brazil argentina chile peru egypt morocco kenya nigeria israel skåne bavaria
    texas california""".split()  # noqa: SIM905
)
"""A country and a town in it do not contradict each other."""


def supersedes(newer: Claim, older: Claim) -> bool:
    """Whether a newer claim supersedes an older one; the caller has checked their subject and order."""
    if not older.whole:
        return False
    if newer.slot == ANY:
        return older.how != ENDS and older.value.removesuffix("|") == newer.value
    if newer.slot != older.slot:
        return False
    if newer.slot.startswith(PLANNED):
        # More than half of the words must match: two things may be planned for the same day.
        what, planned = set(newer.value.split()), set(older.value.split())
        return newer.how == ENDS != older.how and 2 * len(what & planned) > len(what)
    if ENDS in (newer.how, older.how):
        # A fact referred to by block id does not end the one that refers to it.
        is_end = newer.how == ENDS or not newer.slot.startswith("^")
        return is_end and newer.how != older.how and newer.value == older.value
    if newer.slot == "prefer":
        # The same thing: the same context, or the same kind, which is the last word.
        (new, new_context), (old, old_context) = newer.value.split("|"), older.value.split("|")
        is_same_kind = len(new.split()) > 1 and new.split()[-1:] == old.split()[-1:]
        is_same_thing = new_context == old_context and (bool(new_context) or is_same_kind)
        return newer.how != STATES and new != old and is_same_thing
    if newer.slot not in ("live", "work"):
        return False
    # Two places or employers exclude each other, but "Bern, Switzerland" agrees with both Bern and Switzerland.
    one, other = (claim.value.replace(",", "").split() for claim in (newer, older))
    if not one or not other or set(one) <= set(other) or set(other) <= set(one):
        return False
    streets = [claim.value.split(",") for claim in (newer, older) if any(map(str.isdigit, claim.value))]
    if len(streets) == 1 and all(any(map(str.isdigit, part)) for part in streets[0][1:]):
        return False  # a street alone, without a town, may be in the other's
    if len(streets) == 2 and streets[0][0] == streets[1][0]:
        return False  # "5 Leith Walk, Edinburgh" and "5 Leith Walk, EH6 8LN"
    return (one[-1] in COUNTRIES) == (other[-1] in COUNTRIES)


def successors(told: Iterable[DatedClaim], today: int, asked: Container[int] | None = None) -> dict[int, int]:
    """Map the key of each superseded fact to that of its newest successor, unless the older one was repeated since.

    A newer claim was written later and does not hold from an earlier day; one that holds only after `today` does not
    supersede anything yet. `asked` limits the answer to these keys.
    """
    newest_first = sorted(told, key=_order, reverse=True)
    rivals = defaultdict[tuple[str, str, str, bool], dict[Claim, list[DatedClaim]]](dict)
    repeats = defaultdict[tuple[object, ...], list[DatedClaim]](list)
    for one in newest_first:
        if one.since is None or one.since <= today:
            place = one.subject, one.claim.slot, _rivalry(one.claim), one.claim.how != STATES
            rivals[place].setdefault(one.claim, []).append(one)  # the same claim is compared once
            repeats[one.subject, *one.claim.statement].append(one)

    @cache
    def is_repeated_since(statement: tuple[object, ...], newer: DatedClaim) -> bool:
        return any(_is_newer(one, newer, or_plain=True) for one in repeats.get(statement, ()))

    found: dict[int, DatedClaim] = {}
    for older in newest_first:
        subject, claim = older.subject, older.claim
        if not claim.whole or (asked is not None and older.key not in asked):
            continue
        # What has no day is only superseded by a change.
        places = (
            (subject, *slot, is_change)
            for slot in {(claim.slot, _rivalry(claim)), (ANY, claim.value.removesuffix("|"))}
            for is_change in ((True,) if older.day is None else (True, False))
        )
        newer = [rival for place in places if (rival := _newest_rival(older, rivals.get(place, {})))]
        newest = max(newer, key=_order, default=None)
        if newest is None or (older.key in found and _order(found[older.key]) >= _order(newest)):
            continue
        if not is_repeated_since((subject, *claim.statement), newest):
            found[older.key] = newest
    return {old: newest.key for old, newest in found.items()}


def _order(one: DatedClaim) -> tuple[int, int, int]:
    return one.day or 0, one.note, one.line


def _rivalry(claim: Claim) -> str:
    """The key that two claims in one slot must share for one to supersede the other."""
    slot = claim.slot.partition(":")[0]
    if slot == "prefer":
        preferred, context = claim.value.split("|")
        return context or " ".join(preferred.split()[-1:])
    return "" if slot in ("live", "work", PLANNED) else claim.value


def _newest_rival(older: DatedClaim, told: Mapping[Claim, Sequence[DatedClaim]]) -> DatedClaim | None:
    """The newest claim that supersedes an older one; usually among the first, since `told` is sorted newest first."""
    best: DatedClaim | None = None
    for claim, said in told.items():
        if (best and _order(said[0]) <= _order(best)) or (said[0].day or 0) < (older.day or 0):
            break
        if supersedes(claim, older.claim):
            one = next((one for one in said if one.key != older.key and _is_newer(one, older)), None)
            best = max(filter(None, (best, one)), key=_order, default=None)
    return best


def _is_newer(one: DatedClaim, other: DatedClaim, or_plain: bool = False) -> bool:
    """Whether one was written after the other; `or_plain` if, as for a repetition, no word of change is needed."""
    if other.day is None:
        changes = or_plain or one.claim.how != STATES
        return changes and (one.day is not None or (one.note == other.note and one.line > other.line))
    since, before = one.since or one.day or 0, other.since or other.day
    if one.day is None or since < before:
        return False
    lines = one.note == other.note and (since, one.line) > (before, other.line)
    return one.day > other.day or (one.day == other.day and lines)


def reordered(scores: Mapping[int, float], followed: Mapping[int, int]) -> dict[int, float]:
    """Scores, best first, with each superseded fact right after its successor, which takes the higher score."""
    new_scores = dict(scores)
    followed = {old: new for old, new in followed.items() if old in scores and new in scores}
    chains: list[list[int]] = []
    seen: set[int] = set()
    for old in followed:
        chain: list[int] = []
        while old in followed and old not in seen:
            seen.add(old)
            chain.append(old)
            old = followed[old]
        chains.append(chain)
    in_turn = [old for chain in reversed(chains) for old in chain]  # each before its successor
    for old in in_turn:
        new_scores[followed[old]] = max(new_scores[followed[old]], new_scores[old])
    for old in reversed(in_turn):
        new_scores[old] = min(new_scores[old], math.nextafter(new_scores[followed[old]], -math.inf))
    return dict(sorted(new_scores.items(), key=lambda pair: -pair[1]))
