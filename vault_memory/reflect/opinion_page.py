"""Lays out opinions on a page, with trend and evidence, and finds what moved since the page was written. Pure.

- **.85** Prefers concise replies on WhatsApp — [[2025-11-27]] L14
  - ▅▆▇ rising from .70, last on 27 November 2025
  - for: Skips messages that need scrolling — [[2025-11-11]] L36

The previous state is what the page said, including the user's edits: nothing else is stored, and an opinion whose
number is unchanged has not moved.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, takewhile
from typing import NamedTuple

from vault_memory.markdown import fact_text
from vault_memory.markdown.counts import and_more
from vault_memory.reflect.confidence import round_confidence
from vault_memory.reflect.fact import Fact, timeline_key
from vault_memory.reflect.fact_lines import FACT_TOKENS, PageContext, counted_each, unlinked
from vault_memory.reflect.generated_blocks import Line, fact_name, leading_confidence
from vault_memory.reflect.opinions import HeldOpinion
from vault_memory.text.calendar_days import long_day

BLOCK = "opinions"

PAGE_TOKENS = 4000
"""The limit of the page of opinions; the least certain, then the oldest, are folded away first."""

OPINION_TOKENS = 12
"""The least that an opinion with its citation costs."""

_STATED = re.compile(r"[-*+] \*\*[^*]+\*\* (?P<text>\S.*)")

ANEW = "reweighed: what it rests on has changed"
BY_HAND = "set by hand"
GONE = "no note says so any more"

NO_LONGER = " (no longer)"
"""Follows an opinion that a newer fact supersedes."""

MAX_FACTS = {"for": 3, "against": 3, "related": 1}
"""How many facts are listed that support an opinion, contradict it or are merely related."""


def page(opinions: Sequence[HeldOpinion], context: PageContext, tokens: int = PAGE_TOKENS) -> tuple[Line, ...]:
    """The block of opinions.md, grouped by subject, those with most opinions first.

    If there are too many, current opinions come before superseded ones, then the surest, then the newest.
    """
    if not opinions:
        return ()
    ranks = [(one.is_superseded, -one.confidence.rounded, -(one.updated or date.min).toordinal()) for one in opinions]
    ranked = sorted(range(len(opinions)), key=ranks.__getitem__)[: tokens // OPINION_TOKENS]
    entries = {place: tuple(entry(opinions[place], context)) for place in ranked}

    def lines(places: Sequence[int]) -> list[Line]:
        by_subject: dict[str, list[int]] = defaultdict(list)
        for place in sorted(places):
            by_subject[next(iter(opinions[place].subjects), "")].append(place)
        found = [Line("## As the logs have it")]
        for subject, told in sorted(by_subject.items(), key=lambda pair: (not pair[0], -len(pair[1]), pair[0])):
            title = unlinked(context.link_entity(subject)) if subject else "Everything else"
            found += [Line(""), Line(f"### {title}"), Line("")]
            found += chain.from_iterable(map(entries.__getitem__, told))
        if folded := len(opinions) - len(places):
            found += [Line(""), Line(and_more(folded, tail=": see `memory opinions`."), slot="folded")]
        return found

    return context.fit(ranked, tokens, lines)


def entry(opinion: HeldOpinion, context: PageContext, is_short: bool = False) -> Iterator[Line]:
    """One opinion with its trend and the evidence for and against it; if `is_short`, only the newest of each."""
    name, of = fact_name(opinion.statement.key), fact_name(opinion.statements[0].key)
    held, day = opinion.confidence, opinion.updated
    said = _cited_words(opinion.statement, context, NO_LONGER if opinion.is_superseded else "")
    yield Line(f"- **{decimal(held.rounded)}** {said}", (opinion.statement.key,))
    if held.history:
        prior = round_confidence(held.prior)
        start = f" from {decimal(prior)}" if prior != held.rounded else ""
        last = f", last on {long_day(day)}" if day else ""
        yield Line(f"  - {held.sparkline} {held.trend}{start}{last}", slot=f"course {name}")
    for word, facts in zip(MAX_FACTS, (opinion.supports, opinion.contradicts, opinion.related), strict=True):
        worded, most = _newest_of_each(facts, context), MAX_FACTS[word]
        if is_short:
            most = int(word != "related")
        for fact in worded[:most]:
            yield Line(f"  - {word}: {_cited_words(fact, context)}", (fact.key,), of=of)
        if len(worded) > most and word != "related":
            yield Line(f"  - {word}: {len(worded) - most} more", slot=f"{word} {name}")


def _newest_of_each(facts: Sequence[Fact], context: PageContext) -> list[Fact]:
    """The facts newest first; of those that read the same on a page, only the newest."""
    ordered = sorted(facts, key=timeline_key)
    newest = {fact_text.readable(fact.text, context.exists).casefold(): fact for fact in ordered}
    return sorted(newest.values(), key=timeline_key, reverse=True)


def _cited_words(fact: Fact, context: PageContext, mark: str = "") -> str:
    text = fact_text.clipped(fact_text.readable(fact.text, context.exists), FACT_TOKENS, context.count)
    return f"{text}{mark} — {context.cite.fact(fact)}"


def decimal(value: float) -> str:
    """A confidence as `.85`."""
    return f"{value:.2f}".lstrip("0")


# --- what moved since the page was written ---------------------------------------------------------------------------


class Move(NamedTuple):
    """One opinion's change: its confidence before (None: it is new) and after (None: it is gone), and why."""

    statement: str
    before: float | None
    after: float | None
    why: str
    evidence: tuple[Fact, ...] = ()


class _Entry(NamedTuple):
    """An opinion as shown on a page: its number, its words, the facts listed, and the current opinion, if any."""

    number: float
    text: str
    told: frozenset[int]
    opinion: HeldOpinion | None

    @property
    def name(self) -> str:
        return str(self.opinion.statements[0].key) if self.opinion else self.text


def summarize_moves(moves: Sequence[Move]) -> str:
    """`2 opinions moved, 1 new`; "" if there are none."""
    kinds = Counter("new" if one.before is None else "gone" if one.after is None else "moved" for one in moves)
    return counted_each("opinion", ((kinds[what], what) for what in ("moved", "new", "gone")))


def find_moves(
    was: Sequence[Line], lines: Sequence[Line], opinions: Sequence[HeldOpinion], cite: Callable[[Fact], str]
) -> list[Move]:
    """How opinions changed from one block of their page to the next.

    Those that moved come first, largest move first; then new ones, surest first; then those that are gone.
    """
    of_key: dict[int | str, HeldOpinion] = {fact.key: one for one in opinions for fact in one.statements}
    after = _entries(lines, of_key)
    # If the last written text is not known, a statement is identified by its words.
    of_key |= {entry.text: entry.opinion for entry in after.values() if entry.opinion}
    before = _entries(was, of_key)
    moved, new = list[Move](), list[Move]()
    for name, entry in after.items():
        old, opinion = before.get(name), entry.opinion
        if old and old.number != entry.number:
            why, evidence = _why(old, entry.number, opinion, cite) if opinion else (ANEW, ())
            moved.append(Move(entry.text, old.number, entry.number, why, evidence))
        elif opinion and not old:
            last = opinion.statements[-1]
            new.append(Move(entry.text, None, entry.number, _when("told", last, cite), (last,)))
    moved.sort(key=lambda move: -abs((move.after or 0) - (move.before or 0)))
    new.sort(key=lambda move: -(move.after or 0))
    still = after.keys() | {str(opinion.statements[0].key) for opinion in opinions}  # folded away is not gone
    gone = [Move(entry.text, entry.number, None, GONE) for name, entry in before.items() if name not in still]
    return [*moved, *new, *gone]


def _entries(lines: Sequence[Line], opinions: Mapping[int | str, HeldOpinion]) -> dict[str, _Entry]:
    """The opinions of a block by name; `opinions` has them by the keys of their statements, else by their words."""
    found: dict[str, _Entry] = {}
    for at, line in enumerate(lines):
        match, number = _STATED.match(line.text), leading_confidence(line.text)
        if match and number is not None:
            text = (match["text"].rpartition(" — ")[0] or match["text"]).removesuffix(NO_LONGER)
            below = takewhile(lambda line: line.text.startswith((" ", "\t")), lines[at + 1 :])
            told = frozenset(line.keys).union(*(each.keys for each in below))
            opinion = next((opinions[name] for name in (*line.keys, text) if name in opinions), None)
            entry = _Entry(number, text, told, opinion)
            found.setdefault(entry.name, entry)
    return found


def _why(
    before: _Entry, number: float, opinion: HeldOpinion, cite: Callable[[Fact], str]
) -> tuple[str, tuple[Fact, ...]]:
    """Why an opinion moved to a number, and the newest fact that explains it, unless the page already listed that."""
    is_up = number > before.number
    stated = opinion.statements[-1].confidence
    for verb, facts in (
        ("borne out" if is_up else "contradicted", opinion.supports if is_up else opinion.contradicts),
        (f"told again{f' as {decimal(stated)}' if stated else ''}", opinion.statements if before.told else ()),
    ):
        newest, since = facts[-1] if facts else None, opinion.since
        # A number set by hand already reflects everything up to its day.
        is_counted = not opinion.is_given or (newest and newest.day and since and newest.day > since)
        if newest and newest.key not in before.told and is_counted:
            return _when(verb, newest, cite), (newest,)
    return BY_HAND if opinion.is_given else ANEW, ()


def _when(verb: str, fact: Fact, cite: Callable[[Fact], str]) -> str:
    return f"{verb}{f' on {long_day(fact.day)}' if fact.day else ''} ({cite(fact)})"
