"""Answers queries for opinions: the same opinions as on reflect's page, with all their evidence.

It writes nothing and needs no page to exist.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from vault_memory.reflect import fact_set
from vault_memory.reflect.confidence import round_confidence
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.opinions import NOBODY, OPINION, HeldOpinion, find_opinions
from vault_memory.reflect.page_drafts import PageJobs
from vault_memory.search.entity_profile import FactLine, marked
from vault_memory.search.names import Names
from vault_memory.store import note_queries
from vault_memory.text.scope_syntax import GLOBAL


@dataclass(frozen=True)
class Moment:
    """The confidence, 0..1, at the end of a day."""

    date: str
    confidence: float


@dataclass(frozen=True)
class Opinion:
    """An opinion in the format `opinions@1`: facts newest first, confidences rounded to .05, `history` oldest first.

    `evidence` is every place it was written. An opinion private to a scope is weighed by the facts that scope sees.
    """

    statement: str
    confidence: float
    entities: tuple[str, ...]
    trend: str
    evidence: Sequence[FactLine]
    superseded_by: str | None = None
    supports: Sequence[FactLine] = ()
    contradicts: Sequence[FactLine] = ()
    related: Sequence[FactLine] = ()
    history: Sequence[Moment] = ()
    sparkline: str = ""
    updated: str | None = None
    """The day of the newest statement, support or contradiction."""
    set_by_hand: str | None = None
    """The day of the confidence that the user set by hand, if any."""
    weighed: bool = True
    """Always true; kept for compatibility with readers of `opinions@1`."""
    scope: str = GLOBAL


def query_opinions(jobs: PageJobs, entity: str | None = None) -> list[Opinion]:
    """The opinions, or with `entity` those about it: surest first, superseded ones last."""
    names, public = Names(jobs.store), Names(jobs.store.public())
    by_all, by_some = (each.canonical(entity) if entity else None for each in (public, names))
    # The public opinions, on their page or folded away there; and those stated in some scope.
    shared = find_opinions(jobs.fact_set.facts, jobs.opinion_inputs, by_all)
    found = [*((opinion, GLOBAL) for opinion in shared), *_private(jobs, names, by_some)]
    parts = ((one.statements, one.supports, one.contradicts, one.related) for one, _ in found)
    lines = _lines(jobs, names, chain.from_iterable(chain.from_iterable(parts)))
    slugs = {slug for one, _ in found for slug in one.statement.about}
    called = {slug: names.shown(slug) or jobs.fact_set.speakers.get(slug) or slug for slug in slugs}
    opinions = [_opinion(one, scope, lines, called) for one, scope in found]
    return sorted(opinions, key=lambda one: (bool(one.superseded_by), -one.confidence, one.statement))


def _private(jobs: PageJobs, names: Names, about: str | None) -> Iterator[tuple[HeldOpinion, str]]:
    """The opinions stated in each private scope, weighed by the facts that scope sees."""
    scopes = note_queries.scopes_of_opinions(jobs.store)
    if not scopes:
        return
    everything = fact_set.read(jobs.store, names, jobs.asked.today, with_private=True).facts
    for scope in scopes:
        mine = [fact for fact in everything if fact.scope == scope]
        whom = {slug for fact in mine if fact.kind == OPINION for slug in fact.about or (NOBODY,)}
        visible = (fact for fact in everything if fact.scope in (GLOBAL, scope))
        bearing = [fact for fact in visible if not whom.isdisjoint(fact.about or (NOBODY,))]
        for opinion in find_opinions(bearing, jobs.opinion_inputs, about):
            if any(fact.scope == scope for fact in opinion.statements):
                yield opinion, scope


def _lines(jobs: PageJobs, names: Names, facts: Iterable[Fact]) -> dict[tuple[str, int], FactLine]:
    """These facts as written in their notes, by path and line; each with what superseded it."""
    known = {(fact.path, fact.line): fact for fact in facts}
    bullets = [_line(fact) for fact in known.values() if not fact.is_inferred]
    inferred = [_line(fact) for fact in known.values() if fact.is_inferred]  # inferred facts make no claims
    every = [*marked(jobs.store, names, bullets, jobs.asked.today), *inferred]
    return {(line.path, line.start_line): line for line in every}


def _line(fact: Fact) -> FactLine:
    occurred = fact.occurred.isoformat() if fact.occurred else None
    return FactLine(
        kind=fact.kind, text=fact.text, path=fact.path, start_line=fact.line, end_line=fact.line + fact.more_lines,
        date=_iso(fact.day), occurred=occurred, confidence=fact.confidence,
        by=fact.by, trusted=fact.is_trusted,
    )  # fmt: skip


def _opinion(
    opinion: HeldOpinion, scope: str, lines: Mapping[tuple[str, int], FactLine], called: Mapping[str, str]
) -> Opinion:
    statement = lines[opinion.statement.path, opinion.statement.line]

    def newest_first(facts: Sequence[Fact]) -> list[FactLine]:
        """Newest first; undated facts last."""
        ordered = sorted(facts, key=lambda f: (-f.day.toordinal() if f.day else 0, f.path, f.line))
        return [lines[fact.path, fact.line] for fact in ordered]

    return Opinion(
        statement=statement.text,
        confidence=opinion.confidence.rounded,
        entities=tuple(called[slug] for slug in opinion.statement.about),
        trend=opinion.confidence.trend,
        evidence=newest_first(opinion.statements),
        superseded_by=statement.superseded_by,
        supports=newest_first(opinion.supports),
        contradicts=newest_first(opinion.contradicts),
        related=newest_first(opinion.related),
        history=_history(opinion),
        sparkline=opinion.confidence.sparkline,
        updated=_iso(opinion.updated),
        set_by_hand=_iso(opinion.since) if opinion.is_given else None,
        scope=scope,
    )


def _history(opinion: HeldOpinion) -> tuple[Moment, ...]:
    """The confidence over time, starting with the prior unless older evidence moved it."""
    days = opinion.confidence.history
    start = opinion.since.toordinal() if opinion.since else None
    first = [(start, opinion.confidence.prior)] if start and (not days or start < days[0][0]) else []
    return tuple(Moment(date.fromordinal(day).isoformat(), round_confidence(value)) for day, value in (*first, *days))


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
