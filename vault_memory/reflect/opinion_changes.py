"""What became of the opinions since their page was written last: which moved, came or went, and why. Pure.

What was before is what the page said, a person's own edits in it; so nothing is kept for it, and an opinion whose
number stands as it stood has not moved.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

from vault_memory.reflect.beliefs import HeldOpinion
from vault_memory.reflect.blocks import Line, confidence, text_name
from vault_memory.reflect.model import Fact
from vault_memory.reflect.opinion_page import decimal
from vault_memory.reflect.periods import long
from vault_memory.reflect.select import in_order

_STATED = re.compile(r"[-*+] \*\*[^*]+\*\* (?P<text>\S.*)")
_DETAIL = re.compile(r"\s+[-*+] (?P<what>for|against): ")

FOR, AGAINST = "for", "against"
ANEW = "weighed anew: what it rests on is told otherwise now"
BY_HAND = "set by hand"
GONE = "no note states it any more"


class Move(NamedTuple):
    """One opinion: its confidence before (None: it was not there) and after (None: it is no more), and why."""

    statement: str
    before: float | None
    after: float | None
    why: str
    evidence: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class MoveContext:
    """What explains a move: the opinions held now, all facts by key, and how one is cited."""

    opinions: Sequence[HeldOpinion] = ()
    facts: Mapping[int, Fact] | None = None
    cite: Callable[[Fact], str] = lambda fact: ""

    @cached_property
    def of_key(self) -> dict[int, HeldOpinion]:
        """The opinion that a fact states, by the fact's key."""
        return {fact.key: opinion for opinion in self.opinions for fact in opinion.told}


class _Entry(NamedTuple):
    """An opinion as a page tells it: the number, the words, whose statement it is, and the lines below."""

    number: float
    text: str
    keys: tuple[int, ...]
    details: tuple[Line, ...]

    def cited(self, what: str) -> Iterator[Line]:
        """The lines that speak for it, or against it."""
        for line in self.details:
            match = _DETAIL.match(line.text)
            if match and match["what"] == what and line.keys:
                yield line


def moves(was: Sequence[Line], lines: Sequence[Line], known: MoveContext) -> list[Move]:
    """What moved, the farthest first; what is new, the surest first; what is gone."""
    after = {_identity(entry, known): entry for entry in _entries(lines)}
    before = _before(was, after, known)
    both = ((before[name], entry) for name, entry in after.items() if name in before)
    moved = [_moved(old, new, known) for old, new in both if old.number != new.number]
    since = _folded_until(was, known)
    new = [_new(entry, known) for name, entry in after.items() if name not in before and _is_new(entry, since, known)]
    still = after.keys() | {_name(opinion) for opinion in known.opinions}
    gone = [Move(entry.text, entry.number, None, GONE) for name, entry in before.items() if name not in still]
    return [*sorted(moved, key=_distance, reverse=True), *sorted(new, key=lambda one: -(one.after or 0)), *gone]


def _before(was: Sequence[Line], after: Mapping[str, _Entry], known: MoveContext) -> dict[str, _Entry]:
    """The opinions that the page had, by what they are known by now: else by their words."""
    by_text = {entry.text: name for name, entry in after.items()}
    found: dict[str, _Entry] = {}
    for entry in _entries(was):
        found.setdefault(_identity(entry, known) if entry.keys else by_text.get(entry.text, entry.text), entry)
    return found


def _distance(move: Move) -> float:
    return abs((move.after or 0) - (move.before or 0))


def sentence(moves: Sequence[Move]) -> str:
    """How many: `2 opinions moved, 1 new`; "" where there is none."""
    kinds = Counter("new" if one.before is None else "gone" if one.after is None else "moved" for one in moves)
    told = [(kinds[what], what) for what in ("moved", "new", "gone") if kinds[what]]
    nouns = ["", " opinion", " opinions"]
    return ", ".join(f"{n:,}{nouns[min(n, 2)] if not at else ''} {what}" for at, (n, what) in enumerate(told))


def _entries(lines: Sequence[Line]) -> Iterator[_Entry]:
    """The opinions among the lines of a page's block."""
    for at, line in enumerate(lines):
        match = _STATED.match(line.text)
        number = confidence(line.text)
        if match is None or number is None:
            continue
        end = next((n for n in range(at + 1, len(lines)) if not lines[n].text.startswith((" ", "\t"))), len(lines))
        text = match["text"].rpartition(" — ")[0] or match["text"]
        yield _Entry(number, text, line.keys, tuple(lines[at + 1 : end]))


def _identity(entry: _Entry, known: MoveContext) -> str:
    """What an opinion is known by, whichever of its statements the page tells."""
    opinion = _opinion(entry, known)
    return _name(opinion) if opinion else f"{entry.keys[0]}" if entry.keys else text_name(entry.text)


def _name(opinion: HeldOpinion) -> str:
    return f"held {opinion.told[0].key} {opinion.statement.key}"


def _opinion(entry: _Entry, known: MoveContext) -> HeldOpinion | None:
    return next((known.of_key[key] for key in entry.keys if key in known.of_key), None)


# --- what is new -----------------------------------------------------------------------------------------------------


def _folded_until(was: Sequence[Line], known: MoveContext) -> date | None:
    """Where a page had no room for some opinions, the newest day it told of: older ones may have been among those."""
    if not any(line.slot == "folded" for line in was):
        return None
    facts = known.facts or {}
    days = [day for line in was for key in line.keys if key in facts and (day := facts[key].day)]
    return max(days, default=None)


def _is_new(entry: _Entry, since: date | None, known: MoveContext) -> bool:
    opinion = _opinion(entry, known)
    if opinion is None:
        return False  # a person's own words
    return since is None or all(fact.day and fact.day > since for fact in opinion.told)


def _new(entry: _Entry, known: MoveContext) -> Move:
    opinion = _opinion(entry, known)
    told = opinion.told[-1:] if opinion else ()
    return Move(entry.text, None, entry.number, "".join(_when("told", fact, known) for fact in told), told)


# --- why one moved ---------------------------------------------------------------------------------------------------


def _moved(before: _Entry, after: _Entry, known: MoveContext) -> Move:
    opinion = _opinion(after, known)
    why, evidence = _why(before, after, opinion, known) if opinion else (ANEW, ())
    return Move(after.text, before.number, after.number, why, evidence)


def _why(before: _Entry, after: _Entry, opinion: HeldOpinion, known: MoveContext) -> tuple[str, tuple[Fact, ...]]:
    """What moved it: what is new that way, else what is gone that spoke the other way."""
    is_up = after.number > before.number
    bearing, what, verb = (
        (opinion.supports, FOR, "borne out") if is_up else (opinion.contradicts, AGAINST, "contradicted")
    )
    new = _since(_newer(bearing, list(before.cited(what))), opinion)
    if new:
        return _told_of(verb, new, known), tuple(new)
    told = _newer(opinion.told, [Line("", before.keys)]) if before.keys else []
    again = [fact for fact in _since(told, opinion) if fact.day]
    if again:
        stated = again[0].confidence
        return _told_of(f"told again{f' as {decimal(stated)}' if stated else ''}", again, known), tuple(again)
    other = AGAINST if is_up else FOR
    gone = [line for line in before.cited(other) if not any(key in (known.facts or {}) for key in line.keys)]
    if gone:
        spoke = "against it" if is_up else "for it"
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        return f"what spoke {spoke} is gone ({gone[0].text.rpartition(' — ')[2]}{more})", ()
    return BY_HAND if opinion.is_given else ANEW, ()


def _since(facts: Iterable[Fact], opinion: HeldOpinion) -> list[Fact]:
    """The facts that are later than a number that a person gave it: all that was before is in that."""
    return [fact for fact in facts if not opinion.is_given or (fact.day and opinion.since and fact.day > opinion.since)]


def _newer(facts: Sequence[Fact], listed: Sequence[Line]) -> list[Fact]:
    """The facts that came since these lines were written, newest first: a page lists only the newest of them."""
    keys = {key for line in listed for key in line.keys}
    listed_at = [in_order(fact) for fact in facts if fact.key in keys]
    new = [fact for fact in reversed(facts) if fact.key not in keys]
    return [fact for fact in new if not listed_at or in_order(fact) > max(listed_at)]


def _told_of(verb: str, facts: Sequence[Fact], known: MoveContext) -> str:
    more = f", and {len(facts) - 1} more" if len(facts) > 1 else ""
    return f"{_when(verb, facts[0], known)}{more}"


def _when(verb: str, fact: Fact, known: MoveContext) -> str:
    on = f" on {long(fact.day)}" if fact.day else ""
    return f"{verb}{on} ({known.cite(fact)})"
