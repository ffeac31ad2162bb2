"""What `stats` prints: the figures of a vault as text, and as the `stats@1` document."""

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from vault_memory.reflect.periods import period_of
from vault_memory.rendering.common import Document, clean, plural, schema

if TYPE_CHECKING:
    from vault_memory.health.stats import Curve, Days, Stats


def stats_document(stats: "Stats", vault: str) -> Document:
    """The `stats@1` document."""
    facts, entities, opinions = stats.facts, stats.entities, stats.opinions
    return schema("stats") | {
        "vault": vault,
        "day": stats.today.isoformat(),
        "notes": {"count": stats.notes, "dated": stats.dated, "bytes": stats.notes_bytes},
        "days": _days(stats.days),
        "words": stats.words,
        "facts": {
            "count": facts.total, "kinds": dict(facts.kinds), "tiers": stats.tiers, "inferred": facts.inferred,
            "private": facts.private,
        },
        "entities": {
            "count": entities.paged + entities.mentioned, "with_page": entities.paged, "mentioned": entities.mentioned,
            "most_mentioned": [{"name": name, "facts": count} for name, count in entities.most],
        },
        "opinions": {
            "held": opinions.held, "confidence": dict(opinions.bands), "moved_30_days": opinions.moved,
            "last_told": [_curve(curve) for curve in opinions.curves],
        },
        "summaries": dict(stats.summaries),
        "weeks": [
            {"week": period_of(week.start, "week").name, "notes": week.notes, "facts": week.facts}
            for week in stats.weeks
        ],
        "recalls_30_days": stats.recalls,
        "index": {"bytes": stats.index_bytes, "ratio": round(stats.ratio, 2)},
    }  # fmt: skip


def _days(days: "Days") -> Document:
    gap = {"days": days.gap_days, "from": _iso(days.gap[0]), "to": _iso(days.gap[1])} if days.gap else None
    return {
        "logged": days.logged, "first": _iso(days.first), "last": _iso(days.last), "longest_gap": gap,
        "streak": days.streak, "ahead": days.ahead,
    }  # fmt: skip


def _curve(curve: "Curve") -> Document:
    points = [{"date": day.isoformat(), "confidence": value} for day, value in curve.points]
    return {"opinion": curve.name, "points": points}


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def stats_text(stats: "Stats") -> str:
    """A line a figure, as a person reads them."""
    return "\n".join(f"{name:11}{clean(value)}" for name, value in _lines(stats))


def _lines(stats: "Stats") -> Iterator[tuple[str, str]]:
    facts, entities, opinions = stats.facts, stats.entities, stats.opinions
    yield "notes", f"{stats.notes:,}, {stats.dated:,} with a date; {plural(stats.words, 'word')}"
    yield "days", _days_text(stats.days)
    kinds = [f"{count:,} {kind}" for kind, count in sorted(facts.kinds.items(), key=lambda one: (-one[1], one[0]))]
    total = f"{facts.total:,}: {', '.join(kinds)}" if facts.total else "none yet"
    inferred = f"; {facts.inferred:,} read from log lines" if facts.inferred else ""
    yield "facts", total + inferred + (f"; {facts.private:,} more private to a scope" if facts.private else "")
    if facts.total:
        yield "tiers", ", ".join(f"{count:,} {tier}" for tier, count in stats.tiers.items())
    yield "entities", f"{entities.paged + entities.mentioned:,}, {entities.paged:,} with a page"
    if entities.most:
        yield "mentioned", ", ".join(f"{name} {count:,}" for name, count in entities.most)
    bands = ", ".join(f"{count:,} {band}" for band, count in opinions.bands.items() if count)
    moved = f"; {opinions.moved:,} changed in the last 30 days" if opinions.moved else ""
    yield "opinions", f"{opinions.held:,}: {bands}{moved}" if opinions.held else "none yet"
    written = [plural(count, kind) for kind, count in stats.summaries.items() if count]
    yield "summaries", ", ".join(written) or "none yet: `memory reflect` writes them"
    yield "recalls", f"{plural(stats.recalls, 'different question')} in the last 30 days"
    beside = f", {stats.ratio:.1f} × the size of the notes ({stats.notes_bytes / 1e6:.1f} MB)"
    yield "index", f"{stats.index_bytes / 1e6:.1f} MB{beside if stats.notes_bytes else ''}"


def _days_text(days: "Days") -> str:
    ahead = f"; {days.ahead:,} in the future" if days.ahead else ""
    if not days.logged:
        return f"none with a log yet{ahead}"
    text = f"{days.logged:,} with a log, {days.first} to {days.last}"
    if days.gap:
        text += f"; longest gap {plural(days.gap_days, 'day')} ({days.gap[0]} to {days.gap[1]})"
    return text + (f"; current streak {days.streak:,} days" if days.streak > 1 else "") + ahead
