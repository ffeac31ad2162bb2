"""Owns the block on an entity's page: what it is in one line, the best that is known, by tier, over time. Pure.

A fact stands there once. What is told first is chosen first (select.py): a short overview of all times, then what is
alive (core and working), then a timeline of what has aged. What has no room is counted, with links to where it stands.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from vault_memory.reflect.blocks import Line
from vault_memory.reflect.model import Fact
from vault_memory.reflect.periods import long, page_of, period_of
from vault_memory.reflect.sections import Body, Context, counted
from vault_memory.reflect.select import TIERS, Weigh, chosen, in_order

BLOCK = "facts"

PAGE_TOKENS = 1800
"""A page is to be read, and to be handed to a model: what has no room in this is folded away."""

OVERVIEW_TOKENS, ALIVE_TOKENS = 220, 560
FACT_TOKENS = 44
"""The most tokens of one fact's text."""

CITATION_TOKENS = 14

WEIGHED = 800
"""So many facts are looked at closely; of more only the weightiest of each month are, and the newest."""

RELATED = 8
FOLDED = 4
"""How many links say where folded facts stand."""


@dataclass(frozen=True)
class Profile:
    """All that is known of one entity: its facts, and the lines that tell of the opinions held about it."""

    slug: str
    name: str
    facts: Sequence[Fact]
    opinions: Sequence[Line] = ()
    newer: Sequence[Fact] = ()
    """Facts that took the place of some of `facts`, whomever they are about."""


def lines(profile: Profile, context: Context, tokens: int = PAGE_TOKENS) -> tuple[Line, ...]:
    """The lines of an entity's block, within `tokens`; the order of the facts given plays no part."""
    page = _Page(profile, context, tokens)
    found = list(page.lines())
    while (over := context.count("\n".join(line.text for line in found)) - tokens) > 0 and page.shrinks(over):
        found = list(page.lines())
    return tuple(found)


def size(facts: Sequence[Fact]) -> str:
    """How much is known, as the page says it: `14 facts on 9 days`, `2 facts of 3 May 2025`."""
    days = {fact.when for fact in facts if fact.when}
    text = counted(len(facts), "fact")
    if not days:
        return text
    return f"{text} of {long(*days)}" if len(days) == 1 else f"{text} on {len(days):,} days"


class _Page:
    """One page in the making."""

    def __init__(self, profile: Profile, context: Context, tokens: int) -> None:
        self._profile, self._context, self._tokens = profile, context, tokens
        self._past, self._alive = tokens, ALIVE_TOKENS
        self._facts = sorted(profile.facts, key=in_order)
        last = max((fact.when for fact in self._facts if fact.when), default=date.min)
        self._body = Body(period_of(last, "month"), self._facts, context, PAGE_TOKENS, profile.newer)
        self._weigh = Weigh(context.stems, context.rarity, self._cost, frozenset([profile.slug]))

    def _cost(self, fact: Fact) -> int:
        return min(self._context.count(fact.text), FACT_TOKENS) + CITATION_TOKENS

    def shrinks(self, by: int) -> bool:
        """Take some tokens from what its timeline, or what is alive, may cost; whether there was anything to take."""
        had = (self._past, self._alive)
        self._past = max(self._past - by, 0)
        self._alive = self._alive if had[0] else max(self._alive - by, 0)
        return had != (self._past, self._alive)

    def lines(self) -> Iterator[Line]:
        rest = [fact for fact in weighed(self._facts) if self._body.says_how_it_stands(fact, self._profile.slug)]
        best = chosen(rest, OVERVIEW_TOKENS, self._weigh)
        best.sort(key=lambda fact: fact.succeeded_by is not None)
        opening = [Line("## In the logs"), Line(""), *self._headline(best), self._opening()]
        yield from opening
        yield from self._section("", sorted(best[1:], key=in_order, reverse=True))
        alive = [fact for fact in _unlike(rest, best) if fact.tier != "peripheral" and fact.succeeded_by is None]
        now = chosen(alive, self._alive, self._weigh)
        now.sort(
            key=lambda fact: (-TIERS.get(fact.tier, 1.0), -(fact.when or date.min).toordinal(), fact.path, fact.line)
        )
        yield from self._section("### Now", now)
        if self._profile.opinions:
            yield from (Line(""), Line("### Opinions"), Line(""), *self._profile.opinions)
        used = sum(map(self._cost, (*best, *now))) + self._count(self._profile.opinions) + self._count(opening) + 60
        self._past = min(self._past, max(self._tokens - used, 0))
        past = chosen(_unlike(rest, [*best, *now]), self._past, self._weigh)
        yield from self._timeline(past)
        yield from self._closing([*best, *now, *past])

    def _count(self, lines: Iterable[Line]) -> int:
        return self._context.count("\n".join(line.text for line in lines))

    def _headline(self, best: Sequence[Fact]) -> Iterator[Line]:
        """The one fact that tells most."""
        for line in self._listed(best[:1]):
            cited = f" — {self._context.cite.of(best[0])}"
            text = line.text.removeprefix("- ").removesuffix(cited)
            yield from (line._replace(text=f"**{text.replace('**', '')}**{cited}"), Line(""))

    def _opening(self) -> Line:
        """How much there is, from when to when, and whom it goes with."""
        days = sorted({fact.when for fact in self._facts if fact.when})
        text = size(self._facts)
        if len(days) > 1:
            text += f", {long(days[0], days[-1])} to {long(days[-1])}"
        related = Counter(slug for fact in self._facts for slug in dict.fromkeys(fact.about))
        del related[self._profile.slug]
        ranked = sorted(related, key=lambda slug: (-related[slug], slug))[:RELATED]
        together = ", ".join(f"{self._context.shown(slug)} ({related[slug]})" for slug in ranked)
        return Line(f"{text}{f'; together with {together}' if together else ''}.", slot="opening")

    def _section(self, title: str, facts: Sequence[Fact]) -> Iterator[Line]:
        if not facts:
            return
        yield Line("")
        if title:
            yield from (Line(title), Line(""))
        yield from self._listed(facts)

    def _listed(self, facts: Sequence[Fact]) -> Iterator[Line]:
        for text, cited in self._body.listed(facts, self._profile.slug):
            yield self._body.line(text, cited)

    def _timeline(self, facts: Sequence[Fact]) -> Iterator[Line]:
        if not facts:
            return
        yield from (Line(""), Line("### Earlier"))
        for title, of_month in by_month(facts):
            yield from (Line(""), Line(f"**{title}**"), Line(""))
            yield from self._listed(of_month)

    def _closing(self, told: Sequence[Fact]) -> Iterator[Line]:
        """How many facts are folded away, and where they stand."""
        folded = _without(self._facts, told)
        if not folded:
            return
        places = Counter(map(self._where, folded))
        fullest = sorted(places, key=lambda place: (-places[place], place))[:FOLDED]
        links = ", ".join(f"{place} ({places[place]})" for place in fullest)
        more = f"…and {len(folded)} more fact{'s' * (len(folded) != 1)}"
        yield from (
            Line(""),
            Line(f"{more}, {'on' if len(fullest) == len(places) else 'most of them on'} {links}.", slot="folded"),
        )

    def _where(self, fact: Fact) -> str:
        """Where a folded fact is to be looked up: the summary of its month if there is one, else its note."""
        month = period_of(fact.when, "month").name if fact.when else ""
        if month and month in self._context.summaries:
            return self._context.cite.link(page_of(month))
        return self._context.cite.link(fact.path)


def by_month(facts: Iterable[Fact]) -> Iterator[tuple[str, list[Fact]]]:
    """The facts of each month in the order of a timeline, the newest month first; those of no day come last."""
    months: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: (fact.when or date.min, in_order(fact)), reverse=True):
        title = period_of(fact.when, "month").title if fact.when else "Of no day"
        months.setdefault(title, []).append(fact)
    for title, of_month in months.items():
        yield title, sorted(of_month, key=in_order)


def weighed(facts: Sequence[Fact]) -> list[Fact]:
    """The facts worth a close look, where there are too many: by month, and within one by tier, importance and day."""
    if len(facts) <= WEIGHED:
        return list(facts)
    months: dict[tuple[int, int], list[Fact]] = {}
    for fact in facts:
        months.setdefault((fact.when.year, fact.when.month) if fact.when else (0, 0), []).append(fact)
    for found in months.values():
        found.sort(key=lambda fact: (-TIERS.get(fact.tier, 1.0), -fact.importance, fact.is_inferred, in_order(fact)))
    ranked = [(position, month) for month, found in months.items() for position in range(len(found))]
    # The best of every month, then the second best of every month; of months that tie the newest first.
    ranked.sort(key=lambda pair: (pair[0], (-pair[1][0], -pair[1][1])))
    return sorted((months[month][position] for position, month in ranked[:WEIGHED]), key=in_order)


def _without(facts: Iterable[Fact], told: Iterable[Fact]) -> list[Fact]:
    known = set(map(id, told))
    return [fact for fact in facts if id(fact) not in known]


def _unlike(facts: Iterable[Fact], told: Iterable[Fact]) -> list[Fact]:
    """The facts that are not told in the same words already, from this note or another."""
    known = {fact.key for fact in told}
    return [fact for fact in facts if fact.key not in known]
