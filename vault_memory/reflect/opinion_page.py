"""How opinions stand on a page, with their course and evidence; and what moved since it was written. Pure.

- **.85** Prefers concise replies on WhatsApp — [[2025-11-27]] L14
  - also: Wants short messages — [[2025-10-29]] L16
  - ▅▆▇ rising from .70, last on 27 November 2025
  - stated .70 on 29 October, .85 on 27 November 2025
  - for: Skips messages that need scrolling — [[2025-11-11]] L36

What was before is what the page said, a person's own edits in it; so nothing is kept for it, and an opinion whose
number stands as it stood has not moved.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

from vault_memory.markdown import fact_text
from vault_memory.reflect.beliefs import HeldOpinion
from vault_memory.reflect.blocks import Line, confidence, short, text_name
from vault_memory.reflect.confidence import shown
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.periods import long
from vault_memory.reflect.sections import PageContext, unlinked
from vault_memory.reflect.select import in_order

BLOCK = "opinions"
PATH = "bank/opinions.md"

PAGE_TOKENS = 4000
"""What a page of opinions may cost; those that are least sure, and oldest, are folded away first."""

LEAST_TOKENS = 12
"""No opinion with its citation costs less."""

FRAME_TOKENS = 30
"""The heading, and the line that counts what is folded."""

TEXT_TOKENS = 44

STATED = 3
"""So many of the numbers it was stated with are told, the newest."""


_STATED = re.compile(r"[-*+] \*\*[^*]+\*\* (?P<text>\S.*)")
_DETAIL = re.compile(r"\s+[-*+] (?P<what>for|against): ")

FOR, AGAINST = "for", "against"
ANEW = "weighed anew: what it rests on is told otherwise now"
BY_HAND = "set by hand"
GONE = "no note states it any more"


class Detail(NamedTuple):
    """How many facts are named that speak for an opinion, against it or unclearly; and how many other wordings."""

    supports: int = 3
    contradicts: int = 3
    related: int = 1
    wordings: int = 2


def page(opinions: Sequence[HeldOpinion], context: PageContext, tokens: int = PAGE_TOKENS) -> tuple[Line, ...]:
    """The block of bank/opinions.md: by whom they are about, those with most opinions first."""
    if not opinions:
        return ()
    lines = [Line("## As the logs have it")]
    kept = _fitting(opinions, context, tokens - FRAME_TOKENS)
    for subject, of_subject in _by_subject([opinion for opinion in opinions if id(opinion) in kept]):
        told = [line for opinion in of_subject for line in kept[id(opinion)]]
        lines += [Line(""), Line(_title(subject, context)), Line(""), *told]
    folded = len(opinions) - len(kept)
    if folded:
        lines += [Line(""), Line(f"…and {folded:,} more: see `memory opinions`.", slot="folded")]
    return tuple(lines)


def _fitting(opinions: Sequence[HeldOpinion], context: PageContext, tokens: int) -> Mapping[int, Sequence[Line]]:
    """The entries that there is room for, by the opinion's id: the surest, and of those as sure the newest, first."""
    kept: dict[int, Sequence[Line]] = {}
    titled: set[str] = set()
    for one in sorted(opinions, key=lambda one: (-one.belief.shown, -(one.updated or date.min).toordinal())):
        if tokens < LEAST_TOKENS:
            break
        lines, subject = tuple(entry(one, context)), _subject(one)
        cost = context.count("\n".join(line.text for line in lines)) + 1
        if subject not in titled:
            cost += context.count(_title(subject, context)) + 3
        if cost <= tokens:
            tokens -= cost
            kept[id(one)] = lines
            titled.add(subject)
    return kept


def _subject(opinion: HeldOpinion) -> str:
    return next(iter(opinion.subjects), "")


def _title(subject: str, context: PageContext) -> str:
    return f"### {unlinked(context.shown(subject)) if subject else 'Everything else'}"


def _by_subject(opinions: Sequence[HeldOpinion]) -> list[tuple[str, list[HeldOpinion]]]:
    found: dict[str, list[HeldOpinion]] = defaultdict(list)
    for opinion in opinions:
        found[_subject(opinion)].append(opinion)
    return sorted(found.items(), key=lambda pair: (not pair[0], -len(pair[1]), pair[0]))


def entry(opinion: HeldOpinion, context: PageContext, detail: Detail | None = None) -> Iterator[Line]:
    """One opinion with what speaks for and against it."""
    detail = detail or Detail()
    name, of = short(opinion.statement.key), short(opinion.told[0].key)
    yield Line(f"- **{decimal(opinion.belief.shown)}** {_told(opinion.statement, context)}", (opinion.statement.key,))
    for fact in _other_wordings(opinion, context)[: detail.wordings]:
        yield Line(f"  - also: {_told(fact, context)}", (fact.key,), of=of)
    if opinion.belief.history:
        yield Line(f"  - {_course(opinion)}", slot=f"course {name}")
    if len(opinion.stated) > 1:
        yield Line(f"  - {_stated(opinion)}", slot=f"stated {name}")
    for word, facts, most in (
        ("for", opinion.supports, detail.supports),
        ("against", opinion.contradicts, detail.contradicts),
        ("related", opinion.related, detail.related),
    ):
        worded = _newest_of_each(facts, context)
        for fact in worded[:most]:
            yield Line(f"  - {word}: {_told(fact, context)}", (fact.key,), of=of)
        if len(worded) > most and word != "related":
            yield Line(f"  - {word}: {len(worded) - most} more", slot=f"{word} {name}")


def _other_wordings(opinion: HeldOpinion, context: PageContext) -> list[Fact]:
    """The newest statement of each other wording of an opinion."""
    if len(opinion.told) == 1:  # as nearly all are
        return []
    own = _worded(opinion.statement, context)
    return [fact for fact in _newest_of_each(opinion.told, context) if _worded(fact, context) != own]


def _newest_of_each(facts: Sequence[Fact], context: PageContext) -> list[Fact]:
    """The newest of those that say the same on a page, newest first."""
    newest = {_worded(fact, context): fact for fact in sorted(facts, key=in_order)}
    return sorted(newest.values(), key=in_order, reverse=True)


def _worded(fact: Fact, context: PageContext) -> str:
    return fact_text.readable(fact.text, context.exists).casefold()


def _told(fact: Fact, context: PageContext) -> str:
    text = fact_text.clipped(fact_text.readable(fact.text, context.exists), TEXT_TOKENS, context.count)
    return f"{text} — {context.cite.of(fact)}"


def _course(opinion: HeldOpinion) -> str:
    """Where the confidence has been going, from where, and since when it has not."""
    belief, day = opinion.belief, opinion.updated
    start = f" from {decimal(shown(belief.prior))}" if shown(belief.prior) != belief.shown else ""
    last = f", last on {long(day)}" if day else ""
    return f"{belief.sparkline} {belief.trend}{start}{last}"


def _stated(opinion: HeldOpinion) -> str:
    """The last numbers it was stated with: `stated .60 on 18 March, .85 on 20 March 2025`."""
    last = opinion.stated[-STATED:]
    days = [day for day, _ in last]
    told = (
        f"{decimal(number)} on {long(day, beside)}"
        for (day, number), beside in zip(last, [*days[1:], None], strict=True)
    )
    return f"stated {', '.join(told)}"


def decimal(value: float) -> str:
    """A confidence as `.85`."""
    return f"{value:.2f}".lstrip("0")


# --- what moved since the page was written ---------------------------------------------------------------------------


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


def summarize_moves(moves: Sequence[Move]) -> str:
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
