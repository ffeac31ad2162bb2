"""What `stats` prints and draws: the figures as text and as a document, sparklines, and one SVG drawing."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from vault_memory.reflect.periods import period_of, short_day
from vault_memory.rendering.common import Document, clean, cut, plural, schema
from vault_memory.text.spans import plus

if TYPE_CHECKING:
    from vault_memory.health.stats import Days, Stats, Week

BARS = "▁▂▃▄▅▆▇█"
NO_BAR = "·"
"""Nothing, where the lowest bar is something."""

MAX_WEEKS = 52
MIN_WIDTH = 24

# --- figures ---------------------------------------------------------------------------------------------------------


def stats_document(stats: "Stats", vault: str) -> Document:
    """The `stats@1` document."""
    days, entities, opinions = stats.days, stats.entities, stats.opinions
    gap = {"days": days.gap_days, "from": _iso(days.gap[0]), "to": _iso(days.gap[1])} if days.gap else None
    return schema("stats") | {
        "vault": vault,
        "day": stats.today.isoformat(),
        "notes": {"count": stats.notes, "dated": stats.dated, "bytes": stats.notes_bytes},
        "days": {
            "logged": days.logged, "first": _iso(days.first), "last": _iso(days.last), "longest_gap": gap,
            "streak": days.streak, "ahead": days.ahead,
        },
        "words": stats.words,
        "facts": vars(stats.facts),
        "entities": {
            "count": entities.paged + entities.mentioned, "with_page": entities.paged, "mentioned": entities.mentioned,
            "most_mentioned": [{"name": name, "facts": count} for name, count in entities.most],
        },
        "opinions": {
            "held": opinions.held, "confidence": dict(opinions.bands), "moved_30_days": opinions.moved,
            "last_told": [
                {"opinion": name, "points": [{"date": day.isoformat(), "confidence": value} for day, value in points]}
                for name, points in opinions.curves
            ],
        },
        "summaries": dict(stats.summaries),
        "weeks": [
            {"week": period_of(week.start, "week").name, "notes": week.notes, "facts": week.facts}
            for week in stats.weeks
        ],
        "recalls_30_days": stats.recalls,
        "index": {"bytes": stats.index_bytes, "ratio": round(stats.ratio, 2)},
    }  # fmt: skip


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def stats_text(stats: "Stats") -> str:
    """A line a figure, as a person reads them."""
    facts, entities, opinions = stats.facts, stats.entities, stats.opinions
    kinds = [f"{count:,} {kind}" for kind, count in sorted(facts.kinds.items(), key=lambda one: (-one[1], one[0]))]
    total = f"{facts.count:,}: {', '.join(kinds)}" if facts.count else "none yet"
    inferred = f"; {facts.inferred:,} read from log lines" if facts.inferred else ""
    bands = ", ".join(f"{count:,} {band}" for band, count in opinions.bands.items() if count)
    moved = f"; {opinions.moved:,} changed in the last 30 days" if opinions.moved else ""
    written = [plural(count, kind) for kind, count in stats.summaries.items() if count]
    beside = f", {stats.ratio:.1f} × the size of the notes ({stats.notes_bytes / 1e6:.1f} MB)"
    lines = {
        "notes": f"{stats.notes:,}, {stats.dated:,} with a date; {plural(stats.words, 'word')}",
        "days": _days_text(stats.days),
        "facts": total + inferred + (f"; {facts.private:,} more private to a scope" if facts.private else ""),
        "tiers": ", ".join(f"{count:,} {tier}" for tier, count in facts.tiers.items()) if facts.count else "",
        "entities": f"{entities.paged + entities.mentioned:,}, {entities.paged:,} with a page",
        "mentioned": ", ".join(f"{name} {count:,}" for name, count in entities.most),
        "opinions": f"{opinions.held:,}: {bands}{moved}" if opinions.held else "none yet",
        "summaries": ", ".join(written) or "none yet: `memory reflect` writes them",
        "recalls": f"{plural(stats.recalls, 'different question')} in the last 30 days",
        "index": f"{stats.index_bytes / 1e6:.1f} MB{beside if stats.notes_bytes else ''}",
    }
    return "\n".join(f"{name:11}{clean(value)}" for name, value in lines.items() if value)


def _days_text(days: "Days") -> str:
    ahead = f"; {days.ahead:,} in the future" if days.ahead else ""
    if not days.logged:
        return f"none with a log yet{ahead}"
    text = f"{days.logged:,} with a log, {days.first} to {days.last}"
    if days.gap:
        text += f"; longest gap {plural(days.gap_days, 'day')} ({days.gap[0]} to {days.gap[1]})"
    return text + (f"; current streak {days.streak:,} days" if days.streak > 1 else "") + ahead


# --- what is drawn ---------------------------------------------------------------------------------------------------

Bar = tuple[float | None, str]
"""How high it is (0..1, None for no bar at all), and what it says in figures."""


class Row(NamedTuple):
    """One line of a drawing: its bars, and what stands before and behind them."""

    before: str
    bars: Sequence[Bar]
    behind: str


class Panel(NamedTuple):
    """The rows that share a title and a span of days."""

    title: str
    days: Sequence[date]
    rows: Sequence[Row]

    @property
    def dates(self) -> str:
        """`27 Oct 2025 – 30 Nov 2025`."""
        ends = dict.fromkeys((min(self.days), max(self.days)) if self.days else ())
        return " – ".join(f"{short_day(day)} {day.year}" for day in ends) or "none with a date yet"


def _panels(stats: "Stats", most_weeks: int, columns: int) -> tuple[Panel, Panel]:
    """Notes and facts by week, and the confidence in opinions in so many steps from the first day to the last."""
    weeks, curves = _last_weeks(stats.weeks, most_weeks), stats.opinions.curves
    counts = []
    for name in ("notes", "facts") if weeks else ():
        values = [getattr(week, name) for week in weeks]
        titles = (f"{period_of(week.start, 'week').title}: {plural(getattr(week, name), name[:-1])}" for week in weeks)
        shares = (value / max(values) if value else None for value in values)
        counts.append(Row(f"{name} ", list(zip(shares, titles, strict=True)), f"up to {max(values):,}"))
    days = sorted(day for curve in curves for day, _ in curve.points)
    ends = [days[0] + (days[-1] - days[0]) * (i + 1) / columns for i in range(columns)] if days else []
    held = []
    for curve in curves:
        values = [(curve.at(day), day) for day in ends]
        bars = [(value, "" if value is None else f"{value:.2f} on {day}") for value, day in values]
        held.append(Row(f"{curve.points[-1][1]:.2f} {curve.turn}", bars, curve.name))
    of_weeks = [weeks[0].start, plus(weeks[-1].start, 6)] if weeks else []
    return Panel("Notes and facts per week", of_weeks, counts), Panel("Confidence in opinions", days, held)


def _last_weeks(weeks: "Sequence[Week]", most: int) -> "list[Week]":
    """At most so many weeks up to the last one that has anything, the empty ones between them included."""
    if not weeks:
        return []
    known = {week.start: week for week in weeks}
    last = max(known)
    count = min((last - min(known)).days // 7 + 1, most)
    starts = (last - timedelta(weeks=back) for back in reversed(range(count)))
    return [known.get(start, weeks[0]._replace(start=start, notes=0, facts=0)) for start in starts]


def sparklines(stats: "Stats", width: int) -> str:
    """Notes and facts by week and the opinions' confidence: no line wider than `width` cells (24 at least)."""
    width = max(width, MIN_WIDTH)
    blocks = []
    for panel in _panels(stats, min(MAX_WEEKS, width - 16), min(max((width - 9) // 3, 8), 40)):
        lines = [f"{panel.title}{', ' if panel.rows else ': '}{panel.dates}"]
        for row in panel.rows:
            bars = (NO_BAR if share is None else BARS[min(int(share * len(BARS)), 7)] for share, _ in row.bars)
            lines.append(f"{row.before} {''.join(bars)}  {row.behind}")
        blocks.append("\n".join(cut(line, width).rstrip() for line in lines))
    return "\n\n".join(blocks)


WIDTH, EDGE, ROW_HEIGHT = 800, 36, 34
BARS_LEFT, BARS_WIDTH, CAPTION_CELLS = 112, 300, 46
"""Where a row's bars are drawn, in pixels; and how much of a name fits behind them."""

_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u2028-\u202e\u2066-\u2069]")
"""What XML does not allow, and what turns the direction of text."""

_STYLE = """
text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1d2330; }
.card { fill: #ffffff; stroke: #e3e5ea; } .h1 { font-size: 22px; font-weight: 650; } .h2 { font-weight: 600; }
.dim { fill: #687083; } .end { text-anchor: end; } .bar { fill: #3f6fd8; }
@media (prefers-color-scheme: dark) {
  text { fill: #e7eaf1; } .card { fill: #171a21; stroke: #2b303b; } .dim { fill: #98a1b3; } .bar { fill: #7ba2f7; }
}
"""


def svg(stats: "Stats", title: str) -> str:
    """The same as one SVG document, 800 wide; text stays text, colours follow the reader's light or dark scheme."""
    counts = (plural(stats.notes, "note"), plural(stats.facts.count, "fact"), plural(stats.opinions.held, "opinion"))
    tiers = ", ".join(f"{count:,} {tier}" for tier, count in stats.facts.tiers.items())
    day = Panel("", [stats.today], ()).dates
    marks = [
        _label(EDGE, 54, "h1", cut(title, 60)),
        _label(EDGE, 80, "dim", f"{', '.join(counts)} on {day}; facts by tier: {tiers}"),
    ]
    y = 80
    for panel in _panels(stats, MAX_WEEKS, MAX_WEEKS):
        y += 42
        marks += [_label(EDGE, y, "h2", panel.title), _label(WIDTH - EDGE, y, "dim end", panel.dates)]
        for row in panel.rows:
            y += ROW_HEIGHT
            marks += [_label(EDGE, y, "", row.before), *_svg_bars(row.bars, y)]
            marks.append(_label(BARS_LEFT + BARS_WIDTH + 16, y, "dim", cut(row.behind, CAPTION_CELLS)))
    height = y + 40
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
    card = f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="14"/>'
    named = f"<title>{_text(title)}</title><style>{_STYLE}</style>"
    return "\n".join((head, named, card, *marks, "</svg>\n"))


def _svg_bars(bars: Sequence[Bar], bottom: int) -> Iterator[str]:
    step = BARS_WIDTH / max(len(bars), 12)
    for i, (share, title) in enumerate(bars):
        if share is not None:
            tall = max((ROW_HEIGHT - 8) * share, 2)
            place = (
                f'x="{BARS_LEFT + i * step:.1f}" y="{bottom - tall:.1f}" width="{step * 0.8:.1f}" height="{tall:.1f}"'
            )
            yield f'<rect class="bar" {place}><title>{_text(title)}</title></rect>'


def _label(x: int, y: int, classes: str, what: str) -> str:
    return f'<text class="{classes}" x="{x}" y="{y}">{_text(what)}</text>'


def _text(what: str) -> str:
    return escape(_UNPRINTABLE.sub("\ufffd", " ".join(what.split())))


# --- the file --------------------------------------------------------------------------------------------------------

# The hash of all before it tells whether a drawing was changed by hand.
_SEAL = re.compile(rb"<!-- vault-memory stats sha=([0-9a-f]{12}) -->\s*\Z")


def sealed(drawing: str) -> bytes:
    """A drawing as it is written."""
    data = drawing.encode("utf-8")
    return data + f"<!-- vault-memory stats sha={hashlib.sha256(data).hexdigest()[:12]} -->\n".encode()


def is_ours(data: bytes) -> bool:
    """Whether a file is a drawing of ours as it was written; what git makes of line ends is no change."""
    data = data.replace(b"\r\n", b"\n")
    seal = _SEAL.search(data)
    return seal is not None and sealed(data[: seal.start()].decode("utf-8", "replace")).strip() == data.strip()
