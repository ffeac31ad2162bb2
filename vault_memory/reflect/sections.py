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
from vault_memory.reflect.periods import Period, short, short_span
from vault_memory.reflect.select import in_order, is_decided
from vault_memory.text.languages import STOP_WORDS
from vault_memory.text.spans import MONTH_NAMES, Span

DECIDED, ALSO = "Decided", "Also"

MOST = {"week": 48, "month": 40, "year": 32}
"""The most tokens of one fact's text, by the kind of the period: the longer ago, the denser."""

LINES = 6
"""No fact's text takes more than one of so many parts of a short page."""

HEADINGS_FROM = 300
"""A page with a limit under this is a single list: headings and links around the facts would be a good part of it."""

NAMED = 3
"""How many entities the opening line names; one on a short page, where the room is for facts."""

_LINKED = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")
_BROKEN = re.compile(r"[.;!?]\s|[!?…]$")
"""What would read badly with another fact behind it."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """What a summary needs of its vault.

    `shown` gives an entity's name by its slug, as a link where it has a page; `exists` whether a link's target does;
    `stems` and `rarity` are those of `select.Weigh`; `count` counts tokens; `summaries` are the names of the periods
    that have a page.
    """

    cite: Citations
    shown: Callable[[str], str]
    exists: Callable[[str], bool]
    stems: Callable[[str], Sequence[str]]
    rarity: Callable[[str], float]
    count: Callable[[str], int]
    summaries: Collection[str] = frozenset()
    source: Callable[[Fact], int] | None = None
    """The tokens of a fact as it stands in its note; where it is not given, those the fact knows, or of its text."""

    def source_tokens(self, fact: Fact) -> int:
        """What a fact costs where it stands: its page may have a share of that."""
        return self.source(fact) if self.source else fact.tokens or self.count(fact.text)


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
    _parts: dict[str, tuple[Line, ...]] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """The most tokens of one fact's text; a first sentence may be somewhat longer."""
        return min(MOST[self.period.kind], max(self.limit // LINES, 1))

    @property
    def with_headings(self) -> bool:
        """Whether there is room for headings."""
        return self.limit >= HEADINGS_FROM

    @cached_property
    def threads(self) -> Counter[str]:
        """How many of the period's facts are about each entity."""
        return Counter(slug for fact in self.facts for slug in dict.fromkeys(fact.about))

    @cached_property
    def named(self) -> list[str]:
        """The entities that most facts are about, for the opening line: there they are linked, and plain below."""
        if not self.is_opened:
            return []
        ranked = sorted(self.threads, key=lambda slug: (-self.threads[slug], slug))
        return [slug for slug in ranked if self.threads[slug] > 1][: NAMED if self.with_headings else 1]

    def shown(self, slug: str) -> str:
        """The name of an entity below the opening line."""
        name = self.context.shown(slug)
        return unlinked(name) if slug in self.named else name

    @cached_property
    def _by_key(self) -> dict[int, Fact]:
        return {fact.key: fact for fact in (*self.newer, *self.facts)}

    def text(self, fact: Fact) -> str:
        """The words of a fact as they stand on the page."""
        found = self._texts.get(id(fact))
        if found is None:
            text = fact_text.readable(fact.text, self.context.exists)
            found = self._texts[id(fact)] = fact_text.clipped(text, self.most, self.context.count)
        return found

    def thread(self, fact: Fact) -> str:
        """The entity under which a fact is told: of its subjects the one with most facts; "" where it has none."""
        slugs = fact.subjects or fact.about
        return min(slugs, key=lambda slug: (-self.threads[slug], slugs.index(slug)), default="")

    def says_how_it_stands(self, fact: Fact, section: str) -> bool:
        """Whether a fact that holds no more is told as one: of some it is not known, and some have too few words."""
        return fact.succeeded_by is None or self._told(fact, section).endswith(self._until(fact) or "\0")

    def lines(self, taken: Iterable[Fact]) -> list[tuple[str, tuple[Fact, ...]]]:
        """The lines of the page for these facts, each with the facts it cites: none for a heading or an empty line."""
        sections = self._sections(taken)
        found: list[tuple[str, tuple[Fact, ...]]] = []
        for name, facts in sections.items():
            if name and list(sections) != [ALSO]:
                title = name if name in (DECIDED, ALSO) else self.shown(name)
                found += [("", ()), (f"### {title}", ())]
            elif not found:
                found.append(("", ()))
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

    def listed(self, facts: Sequence[Fact], section: str) -> list[tuple[str, tuple[Fact, ...]]]:
        found: list[tuple[str, tuple[Fact, ...]]] = []
        for fact in facts:
            joined = self._joined(found[-1][1][-1], fact, section) if found and len(found[-1][1]) == 1 else None
            if joined:
                found[-1] = joined
            else:
                found.append((self._alone(fact, section), (fact,)))
        return found

    def line(self, text: str, cited: Sequence[Fact]) -> Line:
        """A line of the page as one of its block, which can be taken apart where it tells several facts."""
        return Line(text, tuple(fact.key for fact in cited), parts=self._parts.get(text, ()))

    def _alone(self, fact: Fact, section: str) -> str:
        return f"- {self._told(fact, section)} — {self.context.cite.of(fact)}"

    def _joined(self, one: Fact, other: Fact, section: str) -> tuple[str, tuple[Fact, ...]] | None:
        """Two short facts of one day about one thing, on one line under one citation; None where they stand apart."""
        if one.path != other.path or one.when != other.when or one.block_id or other.block_id:
            return None
        if self.thread(one) != self.thread(other) or self._lead(one, section) != self._lead(other, section):
            return None
        if _BROKEN.search(self.text(one)) or one.is_trusted != other.is_trusted:
            return None
        text = f"{self._told(one, section)}; {self.text(other)}{self._until(other)}"
        if self.context.count(text) > self.most or any(
            fact_text.surely_traced(text, f.text, 2) < fact_text.TRACEABLE for f in (one, other)
        ):
            return None
        joined = f"- {text} — {self.context.cite.several((one, other))}"
        self._parts[joined] = tuple(Line(self._alone(fact, section), (fact.key,)) for fact in (one, other))
        return joined, (one, other)

    def _told(self, fact: Fact, section: str) -> str:
        """A fact with the day and the name that its own words leave out, as far as it stays traceable."""
        text = self.text(fact)
        ends = f"{text}{self._until(fact)}"
        forms = (f"{self._lead(fact, section)}{ends}", ends)
        return next((told for told in forms if fact_text.traced(told, fact.text) >= fact_text.TRACEABLE), text)

    def _lead(self, fact: Fact, section: str) -> str:
        parts = [part for part in (self._day(fact), self._name(fact, section)) if part]
        return f"{', '.join(parts)}: " if parts else ""

    def _day(self, fact: Fact) -> str:
        """The day of a fact where neither its citation nor its words tell it."""
        if fact.when is None:
            return ""
        span = fact.occurred if fact.occurred and fact.kind != "opinion" else Span(fact.when, fact.when)
        is_cited = span.start == span.end == fact.day
        is_long = (span.end - span.start).days > LONG_SPAN_DAYS
        return "" if is_cited or is_long or _says(self.text(fact), span) else short_span(span, self.period.start)

    def _name(self, fact: Fact, section: str) -> str:
        """Whom a fact is about where neither the heading nor its words tell it."""
        slug = self.thread(fact) if fact.subjects else ""
        if not slug or slug == section:
            return ""
        spoken = _words(self.text(fact))
        names = (self.context.shown(subject) for subject in fact.subjects)
        return "" if any(_words(unlinked(name)) & spoken for name in names) else self.shown(slug)

    def _until(self, fact: Fact) -> str:
        """For a fact that another of the period took the place of: since when."""
        newer = self._by_key.get(fact.succeeded_by) if fact.succeeded_by is not None else None
        if newer is None or newer is fact:
            return ""
        later = newer.when and fact.when and newer.when > fact.when
        return f" (until {short(newer.when, self.period.start)})" if later and newer.when else " (no longer)"


def _says(text: str, span: Span) -> bool:
    """Whether a text itself names the first day of a span, in words or as an ISO date."""
    day = span.start
    number = re.search(rf"(?<![\d:.]){day.day}(?:st|nd|rd|th)?(?![\d:])", text)
    month = MONTH_NAMES[day.month - 1][:3].casefold()
    return day.isoformat() in text or (number is not None and month in text.casefold())


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if word not in STOP_WORDS}
