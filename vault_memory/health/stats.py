"""The figures of a vault, read from its index as of one day.

A day counts as logged when a dated note is of it; pages below `bank/` are none, whatever their properties say. What is
dated after that day is counted as ahead, and is in no gap, streak or week.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.markdown.fact_text import readable
from vault_memory.markdown.passages import SUMMARIES
from vault_memory.reflect.opinion_query import Opinion, query_opinions
from vault_memory.reflect.page_jobs import Options, PageJobs
from vault_memory.reflect.periods import KINDS as PERIODS
from vault_memory.reflect.periods import period_of
from vault_memory.reflect.plan_run import RunPlanner
from vault_memory.search.entity_profile import listing
from vault_memory.store import note_queries, schema
from vault_memory.text.date_grammar import parse_t
from vault_memory.text.scope_syntax import GLOBAL
from vault_memory.text.spans import plus

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress
    from vault_memory.memory import Memory

BANK = "bank/"
LATELY_DAYS = 30
MAX_MENTIONED = 10
MAX_CURVES = 10

TIERS = ("core", "working", "peripheral")

BANDS = (("sure", 0.8), ("likely", 0.6), ("open", 0.4), ("doubted", 0.0))
"""How sure an opinion is, and the least confidence of it."""

_EMPHASIS = re.compile(r"(\*{1,3}|`+)(?=\S)(.+?)(?<=\S)\1")


class Week(NamedTuple):
    """One week, by its Monday: how many notes and how many facts are of its days."""

    start: date
    notes: int
    facts: int


Points = tuple[tuple[date, float], ...]
"""(day, confidence 0..1), the oldest first."""


class Curve(NamedTuple):
    """How sure one was of something: what, and each time it was stated."""

    name: str
    points: Points

    def at(self, day: date) -> float | None:
        """The confidence at the end of a day: what was stated last holds; None before it was ever stated."""
        return next((value for since, value in reversed(self.points) if since <= day), None)

    @property
    def turn(self) -> str:
        """`↗`, `↘` or `→`: which way it went last."""
        if len(self.points) < 2:
            return "→"
        before, now = self.points[-2][1], self.points[-1][1]
        return "↗" if now > before else "↘" if now < before else "→"


class Days(NamedTuple):
    """The days with a log up to today, the longest gap between two of them, and how many on end there are now."""

    logged: int = 0
    first: date | None = None
    last: date | None = None
    gap: tuple[date, date] | None = None
    streak: int = 0
    ahead: int = 0

    @property
    def gap_days(self) -> int:
        return (self.gap[1] - self.gap[0]).days + 1 if self.gap else 0


class Entities(NamedTuple):
    """How many entities have a page, how many are only mentioned, and (name, facts) of those mentioned most."""

    paged: int
    mentioned: int
    most: tuple[tuple[str, int], ...]


class Opinions(NamedTuple):
    """Opinions that hold, by how sure they are; how many of them moved in the last 30 days; the last told as curves."""

    held: int
    bands: Mapping[str, int]
    moved: int
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Tally:
    """How many facts there are; those `private` to some scope are left out of all else."""

    count: int
    kinds: Mapping[str, int]
    tiers: Mapping[str, int]
    inferred: int = 0
    private: int = 0


@dataclass(frozen=True)
class Stats:
    """The figures of one vault as of `today`; sizes in bytes, `recalls` the different questions of the last 30 days."""

    today: date
    notes: int
    dated: int
    words: int
    notes_bytes: int
    index_bytes: int
    days: Days
    facts: Tally
    entities: Entities
    opinions: Opinions
    summaries: Mapping[str, int]
    recalls: int
    weeks: tuple[Week, ...]

    @property
    def ratio(self) -> float:
        """How many times the notes' bytes the index takes; 0 where there are no notes."""
        return self.index_bytes / self.notes_bytes if self.notes_bytes else 0.0


def stats(memory: "Memory", today: date, progress: "Progress | None" = None) -> Stats:
    """Read the figures of a vault as it stands on a day."""
    options = Options(today, entity_days=memory.config.reflect_entity_days)
    return memory.index_file.read(lambda view, _: _figures(RunPlanner(memory.vault, view, options).jobs), (), progress)


def _figures(jobs: PageJobs) -> Stats:
    store, today, known = jobs.store, jobs.options.today, jobs.fact_set
    notes, dated, words, size = note_queries.note_figures(store)
    logged = note_queries.notes_by_day(store, without=BANK)
    tiers = Counter(fact.tier for fact in known.facts)
    notes_of, facts_of = _by_week(logged, today), _by_week(Counter(fact.day for fact in known.facts if fact.day), today)
    rows = listing(store, with_private=False, with_notes=False)
    paged = sum(row.page is not None for row in rows)
    most = tuple((row.name, row.mentions) for row in rows[:MAX_MENTIONED] if row.mentions)
    summaries = dict.fromkeys(PERIODS, 0)
    for path in note_queries.note_paths(store, SUMMARIES.rstrip("/")):
        name = path.removeprefix(SUMMARIES).removesuffix(".md")
        if span := parse_t(name):  # a page is named after its period: `2025-W48`, `2025-11`, `2025`
            for kind in PERIODS:
                summaries[kind] += period_of(span.start, kind).name == name
    return Stats(
        today=today, notes=notes, dated=dated, words=words, notes_bytes=size, index_bytes=schema.size(store.file),
        days=days_of(logged, today),
        facts=Tally(
            len(known.facts), Counter(fact.kind for fact in known.facts), {tier: tiers[tier] for tier in TIERS},
            sum(fact.is_inferred for fact in known.facts), known.left_out.get("private", 0),
        ),
        entities=Entities(paged, len(rows) - paged, most), opinions=_opinions(query_opinions(jobs), today),
        summaries=summaries, recalls=note_queries.count_questions(store, plus(today, -LATELY_DAYS), today),
        weeks=tuple(Week(start, notes_of[start], facts_of[start]) for start in sorted({*notes_of, *facts_of})),
    )  # fmt: skip


def days_of(logged: Iterable[date], today: date) -> Days:
    """What the days with a log say of the habit."""
    known = set(logged)
    past = sorted(day for day in known if day <= today)
    if not past:
        return Days(ahead=len(known))
    between = [(plus(a, 1), plus(b, -1)) for a, b in pairwise(past) if (b - a).days > 1]
    gap = max(between, key=lambda days: (days[1] - days[0], days[0]), default=None)
    streak = 0
    for day in reversed(past):
        if (today - day).days != streak + (past[-1] < today):  # today may have no log yet
            break
        streak += 1
    return Days(len(past), past[0], past[-1], gap, streak, len(known) - len(past))


def _by_week(days: Mapping[date, int], today: date) -> Counter[date]:
    found: Counter[date] = Counter()
    for day, count in days.items():
        if day <= today:
            found[plus(day, -day.weekday())] += count
    return found


def _opinions(held: Iterable[Opinion], today: date) -> Opinions:
    # A figure or a drawing is for everybody who sees it: what is private to some scope is in no other than its own.
    holding = [opinion for opinion in held if opinion.scope == GLOBAL and not opinion.superseded_by]
    bands = dict.fromkeys((band for band, _ in BANDS), 0)
    curves: list[tuple[Opinion, Curve]] = []
    for opinion in holding:
        bands[next((band for band, least in BANDS if opinion.confidence >= least - 1e-9), BANDS[-1][0])] += 1
        days = ((date.fromisoformat(moment.date), moment.confidence) for moment in opinion.history)
        if points := tuple((day, value) for day, value in days if day <= today):
            about = f"{', '.join(opinion.entities)}: " if opinion.entities else ""
            statement = _EMPHASIS.sub(r"\2", readable(opinion.statement, lambda _: False))
            curves.append((opinion, Curve(about + statement, points)))
    curves.sort(key=lambda one: (-one[1].points[-1][0].toordinal(), -one[1].points[-1][1], one[0].statement))
    moved = sum(has_moved(curve, today) for _, curve in curves)
    return Opinions(len(holding), bands, moved, tuple(curve for _, curve in curves[:MAX_CURVES]))


def has_moved(curve: Curve, today: date) -> bool:
    """Whether it is not as sure as it was 30 days ago, or as when it was first told since."""
    since = plus(today, -LATELY_DAYS)
    values = [value for day, value in curve.points if day > since]
    before = curve.at(since)
    return bool(values) and values[-1] != (values[0] if before is None else before)
