"""Lays out the facts of a page: the heading each goes under, and the day and name put before its text. Pure.

Each thread (a person, a place, a project) with two facts or more gets a heading; the rest follow. The only words added
to those of the facts are names, days, and "until" a day or "no longer" for superseded ones.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from vault_memory.markdown import fact_text
from vault_memory.markdown.counts import and_more
from vault_memory.reflect.fact import LONG_SPAN_DAYS, Citations, Fact, timeline_key
from vault_memory.reflect.generated_blocks import Line
from vault_memory.text.calendar_days import MONTH_NAMES, Period, Span, short_day, short_span
from vault_memory.text.output import listed, plural
from vault_memory.text.terms import STOP_WORDS
from vault_memory.text.vault_layout import STANDARD, Layout

T = TypeVar("T")

ALSO = "Also"

FACT_TOKENS, CITATION_TOKENS = 44, 14
"""The maximum tokens of one fact's text, and what its line costs besides.

With 40, the pages of four LoCoMo conversations contain .02 less of what the questions ask about.
"""

FEWEST_ROOMS = 6
"""On a short page, a fact's text takes at most this fraction (1/n) of the limit."""

HEADINGS_FROM = 300
"""Below this token limit a page is a single list: headings and links would take up too much of it."""

NAMED_ENTITIES = 3
"""How many entities the opening line names; on a short page one, to leave room for facts."""

_LINKED = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")


@dataclass(frozen=True, slots=True)
class PageContext:
    """What laying out a page needs to know about its vault."""

    cite: Citations
    link_entity: Callable[[str], str]
    """The name of the entity with a slug, as a link if it has a page."""
    exists: Callable[[str], bool]
    """Whether a link's target exists."""
    stems: Callable[[str], Sequence[str]]
    """The content stems of a text."""
    count: Callable[[str], int]
    """The token count of a text."""
    summaries: Collection[str] = frozenset()
    """The names of the periods that have a summary page."""
    layout: Layout = STANDARD

    def tokens(self, lines: Iterable[Line]) -> int:
        return self.count("\n".join(line.text for line in lines))

    def fit(self, what: Sequence[T], tokens: int, lines: Callable[[Sequence[T]], Iterable[Line]]) -> tuple[Line, ...]:
        """Lay out as many of the first facts or opinions as fit into `tokens`."""
        sizes = range(1, len(what) + 1)
        most = bisect_left(sizes, True, key=lambda size: self.tokens(lines(what[:size])) > tokens)
        return tuple(lines(what[:most]))


def counted_each(noun: str, counts: Iterable[tuple[int, str]]) -> str:
    """`2 facts new, 1 retracted`: the noun follows the first number only; "" if every number is 0."""
    told = [(number, what) for number, what in counts if number]
    return ", ".join(
        f"{number:,} {what}" if at else f"{plural(number, noun)} {what}" for at, (number, what) in enumerate(told)
    )


def folded(facts: Iterable[Fact], told: Iterable[Fact], links: int, where: Callable[[Fact], str]) -> str:
    """How many facts are folded away, and the places with most of them; "" if there are none."""
    places = Counter(map(where, facts)) - Counter(map(where, told))
    fullest = sorted(places, key=lambda place: (-places[place], place))[:links]
    among = "on" if len(fullest) == len(places) else "the most on"
    at = f", {among} {listed([f'{place} ({places[place]})' for place in fullest])}" if fullest else ""
    return and_more(places.total(), "fact", f"{at}.") if places else ""


def unlinked(name: str) -> str:
    """A name with links replaced by their display text."""
    return _LINKED.sub(r"\1\2", name)


@dataclass(frozen=True)
class Body:
    """Lays out the facts of one period on a page of at most `limit` tokens."""

    period: Period
    facts: Sequence[Fact]
    context: PageContext
    limit: int
    newer: Sequence[Fact] = ()
    """Facts that supersede some of `facts` and may appear elsewhere."""
    is_opened: bool = True
    """Whether an opening line names and links the entities with most facts."""
    _texts: dict[int, str] = field(default_factory=dict)

    @property
    def fact_tokens(self) -> int:
        """The maximum tokens of one fact's text; a first sentence may be somewhat longer."""
        return min(FACT_TOKENS, max(self.limit // FEWEST_ROOMS, 1))

    def cost(self, fact: Fact) -> int:
        """The approximate token cost of a fact's line, for selection: whole pages are measured exactly."""
        return min(self.context.count(fact.text), self.fact_tokens) + CITATION_TOKENS

    @property
    def with_headings(self) -> bool:
        return self.limit >= HEADINGS_FROM

    @cached_property
    def _by_key(self) -> dict[int | None, Fact]:
        return {fact.key: fact for fact in (*self.newer, *self.facts)}

    @cached_property
    def threads(self) -> Counter[str]:
        return Counter(slug for fact in self.facts for slug in dict.fromkeys(fact.about))

    @cached_property
    def named(self) -> list[str]:
        """The entities with most facts: the opening line links them, so below they are plain text."""
        if not self.is_opened:
            return []
        ranked = sorted(self.threads, key=lambda slug: (-self.threads[slug], slug))
        return [slug for slug in ranked if self.threads[slug] > 1][: NAMED_ENTITIES if self.with_headings else 1]

    def name_entity(self, slug: str) -> str:
        name = self.context.link_entity(slug)
        return unlinked(name) if slug in self.named else name

    def text(self, fact: Fact) -> str:
        """A fact's text as shown on the page."""
        if id(fact) not in self._texts:
            text = fact_text.readable(fact.text, self.context.exists)
            self._texts[id(fact)] = fact_text.clipped(text, self.fact_tokens, self.context.count)
        return self._texts[id(fact)]

    def thread(self, fact: Fact) -> str:
        """The entity a fact is filed under: its subject with most facts; "" if it is about nobody."""
        slugs = fact.subjects or fact.about
        return min(slugs, key=lambda slug: (-self.threads[slug], slugs.index(slug)), default="")

    def says_how_it_stands(self, fact: Fact) -> bool:
        """Whether the page can show a fact correctly: one that is superseded needs its successor here to say so."""
        return fact.succeeded_by is None or bool(self._until(fact))

    def lines(self, taken: Iterable[Fact]) -> list[Line]:
        """The lines of the page for these facts, under headings if the limit allows."""
        sections = self._sections(taken)
        found: list[Line] = []
        for name, facts in sections.items():
            if name and list(sections) != [ALSO]:
                found += [Line(""), Line(f"### {name if name == ALSO else self.name_entity(name)}")]
            elif not found:
                found.append(Line(""))
            found += self.listed(facts, name)
        return found

    def _sections(self, taken: Iterable[Fact]) -> dict[str, list[Fact]]:
        """The facts in timeline order by the slug of their thread, else under `ALSO`."""
        ordered = sorted(taken, key=timeline_key)
        if not self.with_headings:
            return {"": ordered}
        counts = Counter(map(self.thread, ordered))
        threads = [slug for slug in counts if slug and counts[slug] > 1]
        threads.sort(key=lambda slug: (-self.threads[slug], slug))
        found: dict[str, list[Fact]] = {name: [] for name in (*threads, ALSO)}
        for fact in ordered:
            found.get(self.thread(fact), found[ALSO]).append(fact)
        return {name: facts for name, facts in found.items() if facts}

    def listed(self, facts: Iterable[Fact], section: str) -> list[Line]:
        """A line for each fact."""
        return [Line(f"- {self.words(fact, section)} — {self.context.cite.fact(fact)}", (fact.key,)) for fact in facts]

    def words(self, fact: Fact, section: str) -> str:
        """A fact's text, after the day and the name that it omits."""
        lead = ", ".join(filter(None, (self._day(fact), self._name(fact, section))))
        return f"{lead and f'{lead}: '}{self.text(fact)}{self._until(fact)}"

    def _day(self, fact: Fact) -> str:
        """The day of a fact, unless its citation or its text already gives it."""
        if fact.when is None:
            return ""
        span = fact.occurred if fact.occurred and fact.kind != "opinion" else Span(fact.when, fact.when)
        if span.start == span.end == fact.day or (span.end - span.start).days > LONG_SPAN_DAYS:
            return ""
        text, day = self.text(fact), span.start
        number = re.search(rf"(?<![\d:.]){day.day}(?:st|nd|rd|th)?(?![\d:])", text)
        is_told = number is not None and MONTH_NAMES[day.month - 1][:3].casefold() in text.casefold()
        return "" if is_told or day.isoformat() in text else short_span(span, self.period.start)

    def _name(self, fact: Fact, section: str) -> str:
        if not fact.subjects or self.thread(fact) == section:
            return ""
        spoken = _words(self.text(fact))
        names = [self.name_entity(subject) for subject in fact.subjects]
        return "" if any(_words(unlinked(name)) & spoken for name in names) else ", ".join(names)

    def _until(self, fact: Fact) -> str:
        """For a fact superseded by another known here: ` (until <day>)`, or ` (no longer)`."""
        newer = self._by_key.get(fact.succeeded_by)
        if newer is None or newer is fact:
            return ""
        later = newer.when and fact.when and newer.when > fact.when
        return f" (until {short_day(newer.when, self.period.start)})" if later and newer.when else " (no longer)"


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if word not in STOP_WORDS}
