"""Which claim takes the place of which older one, and how a ranking shows it. Pure.

Wrong forgetting is worse than repeating: a claim is ended only by one about the same subject and an attribute that can
hold only one way at a time.
"""

import math
from collections.abc import Container, Iterable, Mapping
from datetime import date
from typing import NamedTuple

STATES, CHANGES, ENDS = "states", "changes", "ends"
"""How a claim is made: plainly, with a word of change ("now"), or as over."""

ANY = "any"
"""The slot of "switched from X": ends X whatever was said to be done with it."""


class Claim(NamedTuple):
    """What a fact says of its subject: `slot` is the attribute, `value` its words, `start` a day from which it holds.

    Only what says nothing else (`whole`) can be superseded: the rest of a fact may still hold.
    """

    slot: str
    value: str
    how: str = STATES
    whole: bool = True
    start: date | None = None

    def repeats(self, other: "Claim") -> bool:
        """Whether both say the same to be so, or to be over."""
        return self[:2] == other[:2] and (self.how == ENDS) == (other.how == ENDS)


class DatedClaim(NamedTuple):
    """A claim with who it is about and when: `day` it was written down and `since` it holds, as ordinals or unknown."""

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
"""A country and a town in it are no contradiction."""

_RIVAL_SLOTS = ("live", "work", "prefer", ANY)
"""Claims of other values in one of these may take each other's place."""


def supersedes(newer: Claim, older: Claim) -> bool:
    """Whether a newer claim of the same subject takes the place of an older one; who and when is the caller's."""
    if not older.whole:
        return False
    if newer.slot == ANY:
        return older.how != ENDS and older.value.removesuffix("|") == newer.value
    if newer.slot != older.slot:
        return False
    if ENDS in (newer.how, older.how):
        # A fact that is named by its block id does not end the one that names it.
        is_end = newer.how == ENDS or not newer.slot.startswith("^")
        return is_end and newer.how != older.how and newer.value == older.value
    if newer.slot == "prefer":
        # About the same thing: in the same context, or of the same kind, which stands at the end.
        (new, new_context), (old, old_context) = newer.value.split("|"), older.value.split("|")
        is_same_kind = len(new.split()) > 1 and new.split()[-1:] == old.split()[-1:]
        is_same_thing = new_context == old_context and (bool(new_context) or is_same_kind)
        return newer.how != STATES and new != old and is_same_thing
    if not newer.slot.startswith(("live", "work")):
        return False
    # Two places or employers exclude each other; but "Bern, Switzerland" is Bern, and in Switzerland.
    one, other = newer.value.split(), older.value.split()
    if not one or not other or set(one) <= set(other) or set(other) <= set(one):
        return False
    return (one[-1] in COUNTRIES) == (other[-1] in COUNTRIES)


def successors(told: Iterable[DatedClaim], today: int, asked: Container[int] | None = None) -> dict[int, int]:
    """Which memory takes the place of which, by key: the newest that does, unless the older was said again since.

    Newer is what was written later and holds from no earlier day; what holds from after `today` replaces nothing yet.
    `asked` limits the answer to these keys.
    """
    groups: dict[tuple[str, str, str], list[DatedClaim]] = {}
    for one in told:
        value = "" if one.claim.slot.partition(":")[0] in _RIVAL_SLOTS else one.claim.value
        groups.setdefault((one.subject, one.claim.slot, value), []).append(one)
    found: dict[int, int] = {}
    for (subject, slot, _), group in groups.items():
        every = [*group, *(groups.get((subject, ANY, ""), ()) if slot != ANY else ())]
        for older in group if asked is None else [one for one in group if one.key in asked]:
            known = [t for t in every if t.key != older.key and (t.since is None or t.since <= today)]
            later = (t for t in known if _is_newer(t, older))
            rivals = (t for t in later if supersedes(t.claim, older.claim))
            newest = max(rivals, key=lambda t: (t.day or 0, t.note, t.line), default=None)
            again = (t for t in known if t.claim.repeats(older.claim))
            if newest and not any(_is_newer(t, newest, or_plain=True) for t in again):
                found[older.key] = newest.key
    return found


def _is_newer(one: DatedClaim, other: DatedClaim, or_plain: bool = False) -> bool:
    """Whether one was told after the other; `or_plain` where no word of change is needed to know it: it repeats."""
    if other.day is None:
        changes = or_plain or one.claim.how != STATES
        return changes and (one.day is not None or (one.note == other.note and one.line > other.line))
    since, before = one.since or one.day or 0, other.since or other.day
    if one.day is None or since < before:
        return False
    lines = one.note == other.note and (since, one.line) > (before, other.line)
    return one.day > other.day or (one.day == other.day and lines)


def reordered(scores: Mapping[int, float], followed: Mapping[int, int]) -> dict[int, float]:
    """Scores, best first, in which each superseded memory comes right after its successor, which rises to its place."""
    new_scores = dict(scores)
    followed = {old: new for old, new in followed.items() if old in scores and new in scores}
    for _ in followed:  # a chain is no longer than that
        for old, new in followed.items():
            new_scores[new] = max(new_scores[new], new_scores[old])
    for _ in followed:
        for old, new in followed.items():
            new_scores[old] = min(new_scores[old], math.nextafter(new_scores[new], -math.inf))
    return dict(sorted(new_scores.items(), key=lambda pair: -pair[1]))
