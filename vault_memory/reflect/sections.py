"""Lays out the facts of a page: under which heading each stands, what goes before its words, and which share a line.

Pure. What was decided comes first, then each thread (a person, a place, a project) with two facts or more, then the
rest. A word that no fact holds is only ever a name, a day, or "until" one.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from vault_memory.markdown import fact_text
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.fact import LONG_SPAN_DAYS, Citations, Fact
from vault_memory.reflect.periods import Period, short_day, short_span
from vault_memory.reflect.select import in_order, is_decided
from vault_memory.text.spans import MONTH_NAMES, Span
from vault_memory.text.terms import STOP_WORDS

DECIDED, ALSO = "Decided", "Also"

FACT_TOKENS = {"week": 48, "month": 40, "year": 32}
"""The most tokens of one fact's text, by the kind of the period: the longer ago, the denser."""

FEWEST_ROOMS = 6
"""No fact's text takes more than one of so many parts of a short page."""

HEADINGS_FROM = 300
"""A page with a limit under this is a single list: headings and links around the facts would be a good part of it."""

NAMED_ENTITIES = 3
"""How many the opening line names; one on a short page, where the room is for facts."""

_LINKED = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")


@dataclass(frozen=True, slots=True)
class PageContext:
    """What a summary needs of its vault.

    `link_entity` gives an entity's name by its slug, as a link where it has a page; `exists` tells whether a link's
    target does; `stems` and `rarity` are those of `select.Weights`; `count` counts tokens; `summaries` are the names of
    the periods that have a page.
    """

    cite: Citations
    link_entity: Callable[[str], str]
    exists: Callable[[str], bool]
    stems: Callable[[str], Sequence[str]]
    rarity: Callable[[str], float]
    count: Callable[[str], int]
    summaries: Collection[str] = frozenset()


def counted(number: int, noun: str) -> str:
    """`1 fact`, `2 facts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unlinked(name: str) -> str:
    """A name as it is read: what a link shows."""
    return _LINKED.sub(r"\1\2", name)


@dataclass(frozen=True)
class Body:
    """How the facts of one period are told on a page of at most `limit` tokens."""

    period: Period
    facts: Sequence[Fact]
    context: PageContext
    limit: int
    newer: Sequence[Fact] = ()
    """Facts that took the place of some of `facts`, and are told elsewhere."""
    is_opened: bool = True
    """Whether an opening line names, and links, those that most facts are about."""
    _texts: dict[int, str] = field(default_factory=dict)

    @property
    def fact_tokens(self) -> int:
        """The most tokens of one fact's text; a first sentence may be somewhat longer."""
        return min(FACT_TOKENS[self.period.kind], max(self.limit // FEWEST_ROOMS, 1))

    @property
    def with_headings(self) -> bool:
        return self.limit >= HEADINGS_FROM

    @cached_property
    def threads(self) -> Counter[str]:
        return Counter(slug for fact in self.facts for slug in dict.fromkeys(fact.about))

    @cached_property
    def named(self) -> list[str]:
        """The entities that most facts are about, for the opening line: there they are linked, and plain below."""
        if not self.is_opened:
            return []
        ranked = sorted(self.threads, key=lambda slug: (-self.threads[slug], slug))
        return [slug for slug in ranked if self.threads[slug] > 1][: NAMED_ENTITIES if self.with_headings else 1]

    def name_entity(self, slug: str) -> str:
        name = self.context.link_entity(slug)
        return unlinked(name) if slug in self.named else name

    @cached_property
    def _by_key(self) -> dict[int | None, Fact]:
        return {fact.key: fact for fact in (*self.newer, *self.facts)}

    def text(self, fact: Fact) -> str:
        """The words of a fact as they stand on the page."""
        if id(fact) not in self._texts:
            text = fact_text.readable(fact.text, self.context.exists)
            self._texts[id(fact)] = fact_text.clipped(text, self.fact_tokens, self.context.count)
        return self._texts[id(fact)]

    def thread(self, fact: Fact) -> str:
        """The entity under which a fact is told: of its subjects the one with most facts; "" where it has none."""
        slugs = fact.subjects or fact.about
        return min(slugs, key=lambda slug: (-self.threads[slug], slugs.index(slug)), default="")

    def says_how_it_stands(self, fact: Fact, section: str) -> bool:
        """Whether a fact that holds no more is told as one: of some it is not known, and some have too few words."""
        return fact.succeeded_by is None or self._phrase(fact, section).endswith(self._until(fact) or "\0")

    def lines(self, taken: Iterable[Fact]) -> list[Line]:
        """The lines of the page for these facts, under headings where there is room for them."""
        sections = self._sections(taken)
        found: list[Line] = []
        for name, facts in sections.items():
            if name and list(sections) != [ALSO]:
                title = name if name in (DECIDED, ALSO) else self.name_entity(name)
                found += [Line(""), Line(f"### {title}")]
            elif not found:
                found.append(Line(""))
            found += self.listed(facts, name)
        return found

    def _sections(self, taken: Iterable[Fact]) -> dict[str, list[Fact]]:
        """The facts in the order of a timeline under the slug of their thread, or what else their heading is."""
        ordered = sorted(taken, key=in_order)
        if not self.with_headings:
            return {"": ordered}
        decided = [fact for fact in ordered if fact.is_trusted and is_decided(fact.text)]
        rest = [fact for fact in ordered if fact not in decided]
        counts = Counter(map(self.thread, rest))
        threads = [slug for slug in counts if slug and counts[slug] > 1]
        threads.sort(key=lambda slug: (-self.threads[slug], slug))
        found = {DECIDED: decided, **{slug: [] for slug in threads}, ALSO: []}
        for fact in rest:
            found.get(self.thread(fact), found[ALSO]).append(fact)
        return {name: facts for name, facts in found.items() if facts}

    def listed(self, facts: Iterable[Fact], section: str) -> list[Line]:
        """A line for each fact, or for two short ones of one day about one thing."""
        found: list[Line] = []
        alone: Fact | None = None
        for fact in facts:
            joined = self._joined(alone, fact, section) if alone else None
            if joined:
                found[-1], alone = joined, None
            else:
                found.append(self._alone(fact, section))
                alone = fact
        return found

    def _alone(self, fact: Fact, section: str) -> Line:
        return Line(f"- {self._phrase(fact, section)} — {self.context.cite.fact(fact)}", (fact.key,))

    def _joined(self, one: Fact, other: Fact, section: str) -> Line | None:
        """Two facts on one line, under one citation, which can be taken apart; None where they stand apart."""
        shared, others = ((f.path, f.when, f.is_trusted, self.thread(f), self._lead(f, section)) for f in (one, other))
        if one.block_id or other.block_id or shared != others:
            return None
        text = f"{self._phrase(one, section)}; {self.text(other)}{self._until(other)}"
        if self.context.count(text) > self.fact_tokens or any(
            fact_text.surely_traced(text, f.text, 2) < fact_text.TRACEABLE for f in (one, other)
        ):
            return None
        parts = (self._alone(one, section), self._alone(other, section))
        return Line(f"- {text} — {self.context.cite.several((one, other))}", (one.key, other.key), parts=parts)

    def _phrase(self, fact: Fact, section: str) -> str:
        """A fact with the day and the name that its own words leave out, as far as it stays traceable."""
        text = self.text(fact)
        ends = f"{text}{self._until(fact)}"
        forms = (f"{self._lead(fact, section)}{ends}", ends)
        source = " ".join((*map(self.context.link_entity, fact.subjects), fact.text))
        return next((told for told in forms if fact_text.traced(told, source) >= fact_text.TRACEABLE), text)

    def _lead(self, fact: Fact, section: str) -> str:
        parts = [part for part in (self._day(fact), self._name(fact, section)) if part]
        return f"{', '.join(parts)}: " if parts else ""

    def _day(self, fact: Fact) -> str:
        """The day of a fact where neither its citation nor its words tell it."""
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
        """For a fact that another of the period took the place of: since when."""
        newer = self._by_key.get(fact.succeeded_by)
        if newer is None or newer is fact:
            return ""
        later = newer.when and fact.when and newer.when > fact.when
        return f" (until {short_day(newer.when, self.period.start)})" if later and newer.when else " (no longer)"


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if word not in STOP_WORDS}
