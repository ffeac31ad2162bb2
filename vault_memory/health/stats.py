"""Computes a vault's statistics as of one day: the `stats@1` document, from which text and drawings are made.

A day counts as logged if a note has that date; pages of the bank never count, whatever their properties say. Days after
the given one are counted as ahead, and are part of no gap, streak or week.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from vault_memory.markdown.fact_text import readable
from vault_memory.reflect.job import parse_request
from vault_memory.reflect.opinion_query import Opinion, query_opinions
from vault_memory.reflect.page_drafts import PageJobs
from vault_memory.reflect.run_plan import RunPlanner
from vault_memory.search.entity_profile import listing
from vault_memory.store import note_queries, schema
from vault_memory.store.view import View
from vault_memory.text.calendar_days import PERIODS, period_of, plus
from vault_memory.text.date_grammar import parse_t
from vault_memory.text.scope_syntax import GLOBAL

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress
    from vault_memory.memory import Memory

LATELY_DAYS = 30
MAX_MENTIONED = 10
MAX_CURVES = 10

TIERS = ("core", "working", "peripheral")

BANDS = (("sure", 0.8), ("likely", 0.6), ("open", 0.4), ("doubted", 0.0))
"""Bands of confidence, each with its minimum."""

Figures = dict[str, Any]
Points = Sequence[Mapping[str, Any]]
"""An opinion's history, oldest first: each `date` on which it was stated, and its `confidence` (0..1) from then on."""

_EMPHASIS = re.compile(r"(\*{1,3}|`+)(?=\S)(.+?)(?<=\S)\1")


def stats(memory: "Memory", today: date, progress: "Progress | None" = None) -> Figures:
    """The `stats@1` document of a vault as of a day; sizes are in bytes."""
    asked, config = parse_request(now=today), memory.config

    def ask(view: View, _: object) -> Figures:
        return _figures(RunPlanner(memory.vault, view, config, asked).jobs)

    return {
        "schema": "vault-memory/stats@1", "vault": str(memory.vault.root), "day": today.isoformat(),
        **memory.index_file.read(ask, (), progress),
    }  # fmt: skip


def _figures(jobs: PageJobs) -> Figures:
    store, today, known = jobs.store, jobs.asked.today, jobs.fact_set
    notes, dated, words, notes_bytes = note_queries.note_figures(store)
    logged = note_queries.notes_by_day(store)
    tiers = Counter(fact.tier for fact in known.facts)
    notes_of, facts_of = _by_week(logged, today), _by_week(Counter(fact.day for fact in known.facts if fact.day), today)
    rows = listing(store.public(), with_links=False)
    paged = sum(row.page is not None for row in rows)
    summaries = dict.fromkeys(PERIODS, 0)
    for path in note_queries.note_paths(store, store.layout.summaries):
        name = path.removeprefix(store.layout.summaries).removesuffix(".md")
        if span := parse_t(name):  # a page is named after its period: `2025-W48`, `2025-11`, `2025`
            for kind in PERIODS:
                summaries[kind] += period_of(span.start, kind).name == name
    index_bytes = schema.size(store.file)
    return {
        "notes": {"count": notes, "dated": dated, "bytes": notes_bytes},
        "days": days_of(logged, today),
        "words": words,
        "facts": {
            "count": len(known.facts), "kinds": dict(Counter(fact.kind for fact in known.facts)),
            "tiers": {tier: tiers[tier] for tier in TIERS}, "inferred": sum(fact.is_inferred for fact in known.facts),
            "private": known.left_out.get("private", 0),  # not included in any other figure
        },
        "entities": {
            "count": len(rows), "with_page": paged, "mentioned": len(rows) - paged,
            "most_mentioned": [{"name": r.name, "facts": r.mentions} for r in rows[:MAX_MENTIONED] if r.mentions],
        },
        "opinions": _opinions(query_opinions(jobs), today),
        "summaries": summaries,
        "weeks": [
            {"week": period_of(start, "week").name, "notes": notes_of[start], "facts": facts_of[start]}
            for start in sorted({*notes_of, *facts_of})
        ],
        "recalls_30_days": note_queries.count_questions(store, plus(today, -LATELY_DAYS), today),
        "index": {"bytes": index_bytes, "ratio": round(index_bytes / notes_bytes, 2) if notes_bytes else 0.0},
    }  # fmt: skip


def days_of(logged: Iterable[date], today: date) -> Figures:
    """The number of days with a log up to today, the longest gap between them, and the current streak."""
    known = set(logged)
    past = sorted(day for day in known if day <= today)
    between = [(plus(a, 1), plus(b, -1)) for a, b in pairwise(past) if (b - a).days > 1]
    gap = max(between, key=lambda days: (days[1] - days[0], days[0]), default=None)
    streak = 0
    for day in reversed(past):
        if (today - day).days != streak + (past[-1] < today):  # today may have no log yet
            break
        streak += 1
    return {
        "logged": len(past), "first": past[0].isoformat() if past else None,
        "last": past[-1].isoformat() if past else None,
        "longest_gap": gap and {"days": (gap[1] - gap[0]).days + 1, "from": str(gap[0]), "to": str(gap[1])},
        "streak": streak, "ahead": len(known) - len(past),
    }  # fmt: skip


def _by_week(days: Mapping[date, int], today: date) -> Counter[date]:
    found: Counter[date] = Counter()
    for day, count in days.items():
        if day <= today:
            found[plus(day, -day.weekday())] += count
    return found


def _opinions(held: Iterable[Opinion], today: date) -> Figures:
    """Current opinions: their number by band, how many moved in the last 30 days, and those stated most recently."""
    # Anyone may see a figure or drawing, so opinions that are private to a scope are left out.
    holding = [opinion for opinion in held if opinion.scope == GLOBAL and not opinion.superseded_by]
    bands = dict.fromkeys((band for band, _ in BANDS), 0)
    told: list[tuple[str, str, Points]] = []
    for opinion in holding:
        bands[next((band for band, least in BANDS if opinion.confidence >= least - 1e-9), BANDS[-1][0])] += 1
        points = [vars(moment) for moment in opinion.history if moment.date <= today.isoformat()]
        if points:
            about = f"{', '.join(opinion.entities)}: " if opinion.entities else ""
            statement = _EMPHASIS.sub(r"\2", readable(opinion.statement, lambda _: False))
            told.append((opinion.statement, about + statement, points))
    told.sort(key=lambda one: one[0])
    told.sort(key=lambda one: (one[2][-1]["date"], one[2][-1]["confidence"]), reverse=True)
    return {
        "held": len(holding), "confidence": bands, "moved_30_days": sum(has_moved(one[2], today) for one in told),
        "last_told": [{"opinion": name, "points": points} for _, name, points in told[:MAX_CURVES]],
    }  # fmt: skip


def confidence_at(points: Points, day: date) -> float | None:
    """The confidence at the end of a day, as stated last; None before the first statement."""
    return next((point["confidence"] for point in reversed(points) if point["date"] <= day.isoformat()), None)


def has_moved(points: Points, today: date) -> bool:
    """Whether the confidence differs from that of 30 days ago, or of the first statement since if it is newer."""
    since = plus(today, -LATELY_DAYS)
    values = [point["confidence"] for point in points if point["date"] > since.isoformat()]
    before = confidence_at(points, since)
    return bool(values) and values[-1] != (values[0] if before is None else before)
