"""Drafts an entity's page: one line on what it is, then its most informative facts by tier and over time. Pure.

Each fact appears once. What comes first is chosen first (choose_facts.py): a short overview of all times, then recent
facts, then the rest. Of those, live ones (core, working) that are not over go under "Now", those still to come under
"Ahead", the others into a timeline. "Over" and "ahead" are relative to the newest day on which anything was written.
world.md (how things are, by subject) and experience.md (what was done, by month) are drafted likewise.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import chain

from vault_memory.markdown import counts
from vault_memory.markdown.fact_text import first_sentence
from vault_memory.reflect.choose_facts import Turn, choose_in_turns, lately
from vault_memory.reflect.fact import LEAST_SHARE, LEAST_SHARED, LONG_SPAN_DAYS, Fact, timeline_key
from vault_memory.reflect.fact_lines import Body, PageContext, folded
from vault_memory.reflect.generated_blocks import Line
from vault_memory.text.calendar_days import long_day, period_of

BLOCK = "facts"

PAGE_TOKENS = 1800
"""A page must be readable, and fit into a model's context: what does not fit is folded into a count."""

BANK_TOKENS = 2000
"""The limit of world.md and experience.md: what does not fit is on an entity's page."""

OVERVIEW_TOKENS = 220
LATELY_SHARE = 4
"""Recent facts get the first 1/LATELY_SHARE of the room: worth .002 of what LoCoMo's questions ask about."""

HEADLINE_TOKENS = 70
"""The part of OVERVIEW_TOKENS for the first line and its citation."""

STANDING = frozenset(("world", "observation"))

RELATED_LINKS, FOLDED_LINKS = 8, 4
"""How many links to related entities, and to where the folded facts are."""


def size(facts: Sequence[Fact]) -> str:
    """How much is known, as pages say it: `14 facts on 9 days`, `2 facts, one of them of 3 May 2025`."""
    days = [day for fact in facts if (day := known_on(fact))]
    return counts.known_facts(len(facts), len(days), set(days))


def known_on(fact: Fact) -> date | None:
    """The day a page counts a fact under: when it happened or, if still to come then, when it was written down."""
    return min(fact.when, fact.day) if fact.when and fact.day else fact.when


def is_over(fact: Fact, newest: date | None) -> bool:
    """Whether what a fact describes ended before the `newest` day."""
    if newest is None:
        return False
    if fact.kind in ("experience", "opinion"):
        return fact.when is not None and fact.when < newest
    span = fact.occurred
    if span is None or (span.end - span.start).days > LONG_SPAN_DAYS:
        return False
    return span.end < newest


@dataclass(frozen=True)
class EntityPage:
    """The page of one entity: its facts, and the lines about opinions on it."""

    slug: str
    name: str
    known: Sequence[Fact]
    context: PageContext
    opinions: Sequence[Line] = ()
    newer: Sequence[Fact] = ()
    """Facts that supersede some of `known`, whoever they are about."""
    newest: date | None = None
    """The newest day on which anything about it was written."""

    def lines(self, tokens: int = PAGE_TOKENS, paragraph: Sequence[Line] = ()) -> tuple[Line, ...]:
        """The block's lines within `tokens`: facts outside the overview give way, also to a paragraph."""
        first, best, more = self._choose(tokens)
        opening = [*self._opening(first), *paragraph]
        return self.context.fit(more, tokens, lambda rest: [*opening, *self._below(first, best, rest)])

    @cached_property
    def _facts(self) -> list[Fact]:
        return sorted(self.known, key=timeline_key)

    @cached_property
    def _body(self) -> Body:
        last = max((fact.when for fact in self._facts if fact.when), default=date.min)
        return Body(period_of(last, "month"), self._facts, self.context, PAGE_TOKENS, self.newer)

    def _choose(self, tokens: int) -> tuple[list[Fact], list[Fact], list[Fact]]:
        """The headline fact, if any may be one; the rest of the overview; and the other candidates, best first."""
        telling = [fact for fact in self._facts if self._body.says_how_it_stands(fact)]
        heading = self._heading(telling)
        turns = (
            Turn(HEADLINE_TOKENS, lambda fact: id(fact) in heading),
            Turn(OVERVIEW_TOKENS - HEADLINE_TOKENS),
            Turn(tokens // LATELY_SHARE, lately(telling)),
            Turn(tokens),
        )
        head, best, new, more = choose_in_turns(telling, self._body.cost, turns, self.slug)
        best.sort(key=lambda fact: fact.succeeded_by is not None)
        rest = [*new, *more]
        chosen = [*head, *best, *rest]
        may_head = [fact for fact in chosen if id(fact) in heading]
        now = [next(self._retellings(fact, may_head), fact) for fact in head]
        now += [next(self._retellings(fact, chosen), fact) for fact in best]
        stands = list({id(fact): fact for fact in now}.values())
        told = set(map(id, stands))
        first = [fact for fact in stands[:1] if fact.is_trusted]
        return first, stands[len(first) :], [fact for fact in [*rest, *head, *best] if id(fact) not in told]

    def _retellings(self, fact: Fact, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Later facts about the same matter, newest first: they share enough words with the fact's first sentence."""
        stems = self.context.stems
        names = {stem for name in (self.name, self.slug) for stem in stems(name)}
        telling = {stem for stem in stems(first_sentence(fact.text)) if stem not in names}
        for newer in sorted(facts, key=timeline_key, reverse=True):
            is_later = fact.when and newer.when and fact.when < newer.when and not self._is_ahead(newer)
            if not is_later or newer.kind == "opinion" or newer.succeeded_by is not None or not newer.is_trusted:
                continue
            shared = telling.intersection(stems(newer.text))
            if len(shared) >= max(LEAST_SHARED, LEAST_SHARE * len(telling)):
                yield newer

    def _heading(self, telling: Sequence[Fact]) -> set[int]:
        """The ids of the facts that may be the headline: undated ones, else those not over, else any not superseded;
        never untrusted facts, which appear below, marked."""
        telling = [fact for fact in telling if fact.is_trusted]
        holding = [fact for fact in telling if fact.succeeded_by is None]
        own = [fact for fact in holding if fact.kind in STANDING and self.slug in fact.subjects]
        lasting = [fact for fact in own if fact.day is None and not self._is_ahead(fact)]
        stands = [fact for fact in own if not self._is_ahead(fact) and not is_over(fact, self.newest)]
        found = next((some for some in (lasting, stands, holding, telling) if some), [])
        return set(map(id, found))

    def _opening(self, first: Sequence[Fact]) -> list[Line]:
        """The headline, and how much is known."""
        found = [Line("## In the logs")]
        for fact in first:
            text = self._body.words(fact, self.slug).replace("**", "")
            found += [Line(""), Line(f"**{text}** — {self.context.cite.fact(fact)}", (fact.key,))]
        # With opinions only, their own heading says enough.
        return [*found, Line(""), self._how_much()] if self._facts else found

    def _below(self, first: Sequence[Fact], best: Sequence[Fact], rest: Sequence[Fact]) -> Iterator[Line]:
        """Everything below the opening: the overview, opinions and the other facts."""
        yield from self._section("", sorted(best, key=timeline_key, reverse=True))
        now, ahead, earlier = list[Fact](), list[Fact](), list[Fact]()
        for fact in rest:
            is_gone = fact.tier == "peripheral" or fact.succeeded_by is not None
            is_alive = not is_gone and not is_over(fact, self.newest)
            (ahead if self._is_ahead(fact) else now if is_alive else earlier).append(fact)
        now.sort(key=lambda fact: (-(fact.when or date.min).toordinal(), fact.path, fact.line))
        yield from self._section("### Now", now)
        if self.opinions:
            yield from (Line(""), Line("### Opinions"), Line(""), *self.opinions)
        yield from self._section("### Ahead", sorted(ahead, key=timeline_key))
        if earlier:
            yield from (Line(""), Line("### Earlier"))
            for title, of_month in by_month(earlier):
                yield from self._section(f"**{title}**", of_month)
        if closing := folded(self._facts, [*first, *best, *rest], FOLDED_LINKS, self._where):
            yield from (Line(""), Line(closing, slot="folded"))

    def _section(self, title: str, facts: Sequence[Fact]) -> Iterator[Line]:
        if facts:
            yield from (Line(""), *([Line(title), Line("")] if title else ()))
            yield from self._body.listed(facts, self.slug)

    def _is_ahead(self, fact: Fact) -> bool:
        is_later = fact.when is not None and self.newest is not None and fact.when > self.newest
        return is_later and fact.succeeded_by is None

    def _how_much(self) -> Line:
        days = sorted({day for fact in self._facts if (day := known_on(fact))})
        text = size(self._facts)
        if len(days) > 1:
            text += f", {long_day(days[0], days[-1])} to {long_day(days[-1])}"
        related = Counter(slug for fact in self._facts for slug in dict.fromkeys(fact.about))
        del related[self.slug]
        ranked = sorted(related, key=lambda slug: (-related[slug], slug))[:RELATED_LINKS]
        together = ", ".join(f"{self.context.link_entity(slug)} ({related[slug]})" for slug in ranked)
        return Line(f"{text}{f'; together with {together}' if together else ''}.", slot="opening")

    def _where(self, fact: Fact) -> str:
        """Where to look up a folded fact: the summary of its month if there is one, else its note."""
        month = period_of(fact.when, "month").name if fact.when else ""
        context = self.context
        return context.cite.link(context.layout.summary(month) if month in context.summaries else fact.path)


def by_month(facts: Iterable[Fact]) -> Iterator[tuple[str, list[Fact]]]:
    """The facts of each month in timeline order, newest month first and undated facts last."""
    months: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: (known_on(fact) or date.min, timeline_key(fact)), reverse=True):
        day = known_on(fact)
        title = period_of(day, "month").title if day else "Of no day"
        months.setdefault(title, []).append(fact)
    for title, of_month in months.items():
        yield title, sorted(of_month, key=timeline_key)


# --- world.md and experience.md --------------------------------------------------------------------------------------


def bank_lines(known: Sequence[Fact], context: PageContext, *, is_world: bool) -> tuple[Line, ...]:
    """The block of world.md (how things are now) or of experience.md (what was done) within BANK_TOKENS."""
    if is_world:
        newest = max((fact.day for fact in known if fact.day), default=None)
        standing = (fact for fact in known if fact.kind in STANDING and fact.succeeded_by is None)
        facts = [fact for fact in standing if not is_over(fact, newest)]
    else:
        facts = [fact for fact in known if fact.kind == "experience"]
    if not facts:
        return ()
    last = max((fact.when for fact in facts if fact.when), default=date.min)
    newer = () if is_world else known
    body = Body(period_of(last, "month"), facts, context, BANK_TOKENS, newer, is_opened=False)
    telling = [fact for fact in facts if body.says_how_it_stands(fact)]
    turns = [Turn(BANK_TOKENS // LATELY_SHARE, lately(telling)), Turn(BANK_TOKENS)]
    chosen = [*chain(*choose_in_turns(telling, body.cost, turns))]

    def lines(taken: Sequence[Fact]) -> list[Line]:
        found = [Line("## From the logs")]
        if is_world:
            for line in body.lines(taken):
                found += [line, Line("")] if line.text.startswith("#") else [line]
        else:
            for title, of_month in by_month(taken):
                found += [Line(""), Line(f"### {title}"), Line(""), *body.listed(of_month, "")]
        if more := len(facts) - len(taken):
            rest = counts.and_more(more, "fact", ": on the pages of those they are about, and in the logs.")
            found += [Line(""), Line(rest, slot="folded")]
        return found

    return context.fit(chosen, BANK_TOKENS, lines)
