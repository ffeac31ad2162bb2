"""Which claim takes the place of which older one, and how a ranking shows it. Pure.

Wrong forgetting is worse than repeating, so a claim is ended only by one about the same subject and the same attribute
that can hold only one way at a time; what is merely similar ("likes tea", "likes trains") never meets.
"""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from vault_memory.markdown import entities

STATES, CHANGES, REPLACES, ENDS = "states", "changes", "replaces", "ends"
"""How a claim is made: plainly, with a word of change ("now"), "now … instead" of the only one, or as over."""

ANY = "any"
"""The slot of "switched from X": ends X whatever was said to be done with it."""


class Claim(NamedTuple):
    """What a fact says of its subject: `slot` is the attribute, `value` its words; `whole` when it says nothing else.

    Only a fact that says nothing else can be superseded: the rest of it may still hold. `start` is the later day from
    which it holds, if it names one.
    """

    slot: str
    value: str
    how: str = STATES
    whole: bool = True
    start: date | None = None

    @property
    def is_negative(self) -> bool:
        """Whether it says that something is not so any more."""
        return self.how == ENDS


class DatedClaim(NamedTuple):
    """A claim with who it is about and when: `day` it was written down and `since` it holds, as ordinals or unknown."""

    key: int
    subject: str
    claim: Claim
    day: int | None
    since: int | None
    note: int = 0
    line: int = 0


_COUNTRIES = (
    "europe asia africa america england scotland wales ireland britain uk usa us germany france spain portugal italy"
    " switzerland austria belgium netherlands holland luxembourg denmark sweden norway finland iceland poland czechia"
    " slovakia hungary romania bulgaria greece turkey ukraine russia china japan korea india pakistan thailand vietnam"
    " indonesia australia canada mexico brazil argentina chile peru egypt morocco kenya nigeria israel skåne bavaria"
    " texas california"
)
COUNTRIES = frozenset(_COUNTRIES.split())
"""A country and a town in it are no contradiction."""


def naming_slots(path: str, block_id: str) -> tuple[str, str]:
    """The slots under which other facts may name the one with a block id: from anywhere, and from its own note."""
    return f"^{entities.link_name(path)}#{block_id}".casefold(), f"^#{block_id}".casefold()


def supersedes(newer: Claim, older: Claim) -> bool:
    """Whether a newer claim of the same subject takes the place of an older one; who and when is the caller's."""
    if not older.whole:
        return False
    if newer.slot == ANY:
        # What is used no more may be liked as before.
        return not older.is_negative and older.slot != "like" and older.value.removesuffix("|") == newer.value
    if newer.slot != older.slot:
        return False
    if newer.is_negative or older.is_negative:
        # A fact that is named by its block id does not end the one that names it.
        ends = newer.is_negative if newer.slot.startswith("^") else True
        return ends and newer.is_negative != older.is_negative and newer.value == older.value
    if newer.slot == "prefer":
        return newer.how != STATES and _prefers_otherwise(newer.value, older.value)
    return _may_rival(newer.slot) and _are_rivals(newer.value, older.value)


def _may_rival(slot: str) -> bool:
    """Whether claims of other values in a slot may take each other's place."""
    return slot.partition(":")[0] in ("live", "work", "prefer", ANY)


def _are_rivals(one: str, other: str) -> bool:
    """Whether two places or employers exclude each other: "Bern, Switzerland" is Bern, and in Switzerland."""
    first, second = one.split(), other.split()
    if not first or not second or set(first) <= set(second) or set(second) <= set(first):
        return False
    return (first[-1] in COUNTRIES) == (second[-1] in COUNTRIES)


def _prefers_otherwise(newer: str, older: str) -> bool:
    """Whether two preferences are about the same thing: the same context, or the same kind of thing at the end."""
    new, new_context = newer.split("|")
    old, old_context = older.split("|")
    if new == old or new_context != old_context:
        return False
    return bool(new_context) or (len(new.split()) > 1 and new.split()[-1:] == old.split()[-1:])


def successors(told: Iterable[DatedClaim], today: int, asked: Container[int] | None = None) -> dict[int, int]:
    """Which memory takes the place of which, by key: the newest that does, unless the older was said again since.

    `asked` limits the answer to these keys.

    Newer is what was written later and holds from no earlier day; what holds only from after `today` replaces nothing
    yet. Two claims of one day are told apart by their lines in one note, and not at all in two. Against what has no day
    only words of change are newer: with a day of their own, or further down in the same undated note.
    """
    groups: dict[tuple[str, str, str], list[DatedClaim]] = {}
    for one in told:
        value = "" if _may_rival(one.claim.slot) else one.claim.value
        groups.setdefault((one.subject, one.claim.slot, value), []).append(one)
    found: dict[int, int] = {}
    for (subject, slot, _), group in groups.items():
        rivals = [*group, *(groups.get((subject, ANY, ""), ()) if slot != ANY else ())]
        found |= _in_group([one for one in group if asked is None or one.key in asked], rivals, today)
    return found


def _in_group(olders: Sequence[DatedClaim], group: Sequence[DatedClaim], today: int) -> Iterable[tuple[int, int]]:
    for older in olders:
        known = [t for t in group if t.key != older.key and (t.since is None or t.since <= today)]
        later = (t for t in known if _is_newer(t, older))
        rivals = [t for t in later if supersedes(t.claim, older.claim) or _replaces_only(t, older, group)]
        if not rivals:
            continue
        newest = max(rivals, key=lambda t: (t.day or 0, t.note, t.line))
        if not any(_repeats(t.claim, older.claim) and _is_newer(t, newest, or_plain=True) for t in known):
            yield older.key, newest.key


def _repeats(one: Claim, other: Claim) -> bool:
    return one[:2] == other[:2] and one.is_negative == other.is_negative


def _is_newer(one: DatedClaim, other: DatedClaim, or_plain: bool = False) -> bool:
    """Whether one was told after the other; `or_plain` where no word of change is needed to know it: it repeats."""
    if other.day is None:
        changes = or_plain or one.claim.how in (CHANGES, REPLACES, ENDS)
        return changes and (one.day is not None or (one.note == other.note and one.line > other.line))
    since, before = one.since or one.day or 0, other.since or other.day
    if one.day is None or since < before:
        return False
    lines = one.note == other.note and (since, one.line) > (before, other.line)
    return one.day > other.day or (one.day == other.day and lines)


def _replaces_only(newer: DatedClaim, older: DatedClaim, group: Sequence[DatedClaim]) -> bool:
    """`now prefers Y instead`: ends the only preference there was; of several nobody knows which."""
    if newer.claim.how != REPLACES or older.claim.slot != "prefer" or not older.claim.whole:
        return False
    before = {t.claim.value for t in group if t.claim.slot == "prefer" and t.claim.how != ENDS and _is_newer(newer, t)}
    return before == {older.claim.value} != {newer.claim.value}


def reordered(scores: Mapping[int, float], followed: Mapping[int, int]) -> dict[int, float]:
    """Scores in which each superseded memory comes right after its successor, which rises to where it stood.

    `followed` maps keys to their successors; both have scores. Best first.
    """
    raised = dict(scores)
    for _ in followed:
        for old, new in followed.items():
            raised[new] = max(raised[new], raised[old])
    lowered = dict(raised)
    for old in sorted(followed, key=lambda key: (_depth(key, followed), key)):
        lowered[old] = min(lowered[old], math.nextafter(lowered[followed[old]], -math.inf))
    return dict(sorted(lowered.items(), key=lambda pair: -pair[1]))


def _depth(key: int, followed: Mapping[int, int]) -> int:
    """How many successors a memory has one behind the other; none follows itself, for each is newer."""
    depth = 0
    while key in followed and depth <= len(followed):
        key, depth = followed[key], depth + 1
    return depth
