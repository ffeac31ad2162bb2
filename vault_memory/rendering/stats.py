"""Renders the `stats@1` document as text, as sparklines and as an SVG drawing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from vault_memory.health.stats import confidence_at
from vault_memory.integrations.install import seal
from vault_memory.text.calendar_days import period_of, plus, short_day
from vault_memory.text.output import clean, cut, plural

BARS = "▁▂▃▄▅▆▇█"
NO_BAR = "·"
"""No value; even the lowest bar stands for a value."""

MAX_WEEKS = 52
MIN_WIDTH = 24

Figures = Mapping[str, Any]
"""The `stats@1` document."""


def stats_text(stats: Figures) -> str:
    """The figures as text, one line each."""
    notes, facts, entities, opinions = stats["notes"], stats["facts"], stats["entities"], stats["opinions"]
    kinds = [f"{count:,} {kind}" for kind, count in sorted(facts["kinds"].items(), key=lambda one: (-one[1], one[0]))]
    total = f"{facts['count']:,}: {', '.join(kinds)}" if kinds else "none yet"
    inferred = f"; {facts['inferred']:,} read from log lines" if facts["inferred"] else ""
    private = f"; {facts['private']:,} more private to a scope" if facts["private"] else ""
    bands = ", ".join(f"{count:,} {band}" for band, count in opinions["confidence"].items() if count)
    moved = f"; {opinions['moved_30_days']:,} changed in the last 30 days" if opinions["moved_30_days"] else ""
    written = [plural(count, kind) for kind, count in stats["summaries"].items() if count]
    beside = f", {stats['index']['ratio']:.1f} × the size of the notes ({notes['bytes'] / 1e6:.1f} MB)"
    lines = {
        "notes": f"{notes['count']:,}, {notes['dated']:,} with a date; {plural(stats['words'], 'word')}",
        "days": _days_text(stats["days"]),
        "facts": total + inferred + private,
        "tiers": ", ".join(f"{count:,} {tier}" for tier, count in facts["tiers"].items()) if facts["count"] else "",
        "entities": f"{entities['count']:,}, {entities['with_page']:,} with a page",
        "mentioned": ", ".join(f"{one['name']} {one['facts']:,}" for one in entities["most_mentioned"]),
        "opinions": f"{opinions['held']:,}: {bands}{moved}" if opinions["held"] else "none yet",
        "summaries": ", ".join(written) or "none yet: `memory reflect` writes them",
        "recalls": f"{plural(stats['recalls_30_days'], 'different question')} in the last 30 days",
        "index": f"{stats['index']['bytes'] / 1e6:.1f} MB{beside if notes['bytes'] else ''}",
    }
    return "\n".join(f"{name:11}{clean(value)}" for name, value in lines.items() if value)


def _days_text(days: Figures) -> str:
    ahead = f"; {days['ahead']:,} in the future" if days["ahead"] else ""
    if not days["logged"]:
        return f"none with a log yet{ahead}"
    text = f"{days['logged']:,} with a log, {days['first']} to {days['last']}"
    if gap := days["longest_gap"]:
        text += f"; longest gap {plural(gap['days'], 'day')} ({gap['from']} to {gap['to']})"
    return text + (f"; current streak {days['streak']:,} days" if days["streak"] > 1 else "") + ahead


# --- drawings --------------------------------------------------------------------------------------------------------

Bar = tuple[float | None, str]
"""Its height (0..1, None for no bar), and its value as text."""


class Row(NamedTuple):
    """One line of a drawing: its bars and the labels before and after them."""

    before: str
    bars: Sequence[Bar]
    behind: str


class Panel(NamedTuple):
    """Rows that share a title and a date range."""

    title: str
    days: Sequence[date]
    rows: Sequence[Row]

    @property
    def dates(self) -> str:
        """`27 Oct 2025 – 30 Nov 2025`."""
        ends = dict.fromkeys((min(self.days), max(self.days)) if self.days else ())
        return " – ".join(f"{short_day(day)} {day.year}" for day in ends) or "none with a date yet"


def _panels(stats: Figures, most_weeks: int, columns: int) -> tuple[Panel, Panel]:
    """Notes and facts per week, and the opinions' confidence in `columns` steps from the first day to the last."""
    weeks, curves = _last_weeks(stats["weeks"], most_weeks), stats["opinions"]["last_told"]
    counts = []
    for name in ("notes", "facts") if weeks else ():
        values = [week[name] for week in weeks.values()]
        titles = (f"{period_of(start, 'week').title}: {plural(week[name], name[:-1])}" for start, week in weeks.items())
        shares = (value / max(values) if value else None for value in values)
        counts.append(Row(f"{name} ", list(zip(shares, titles, strict=True)), f"up to {max(values):,}"))
    days = sorted(date.fromisoformat(point["date"]) for curve in curves for point in curve["points"])
    ends = [days[0] + (days[-1] - days[0]) * (i + 1) / columns for i in range(columns)] if days else []
    held = []
    for curve in curves:
        points = curve["points"]
        shown = [(confidence_at(points, day), day) for day in ends]
        bars = [(value, "" if value is None else f"{value:.2f} on {day}") for value, day in shown]
        before, now = points[max(len(points) - 2, 0)]["confidence"], points[-1]["confidence"]
        turn = "↗" if now > before else "↘" if now < before else "→"
        held.append(Row(f"{now:.2f} {turn}", bars, curve["opinion"]))
    of_weeks = [min(weeks), plus(max(weeks), 6)] if weeks else []
    return Panel("Notes and facts per week", of_weeks, counts), Panel("Confidence in opinions", days, held)


def _last_weeks(weeks: Sequence[Figures], most: int) -> dict[date, Figures]:
    """At most `most` weeks up to the last one with an entry, by their Mondays, including empty ones."""
    known = {date.fromisoformat(f"{week['week']}-1"): week for week in weeks}
    if not known:
        return {}
    last = max(known)
    count = min((last - min(known)).days // 7 + 1, most)
    starts = (last - timedelta(weeks=back) for back in reversed(range(count)))
    return {start: known.get(start, {"notes": 0, "facts": 0}) for start in starts}


def sparklines(stats: Figures, width: int) -> str:
    """Notes and facts per week and the opinions' confidence; no line is wider than `width` cells (at least 24)."""
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
"""Position and width of a row's bars in pixels, and how many cells of a caption fit after them."""

_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u2028-\u202e\u2066-\u2069]")
"""Characters that XML does not allow, line separators, and those that change the direction of text."""

_STYLE = """
text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1d2330; }
.card { fill: #ffffff; stroke: #e3e5ea; } .h1 { font-size: 22px; font-weight: 650; } .h2 { font-weight: 600; }
.dim { fill: #687083; } .end { text-anchor: end; } .bar { fill: #3f6fd8; }
@media (prefers-color-scheme: dark) {
  text { fill: #e7eaf1; } .card { fill: #171a21; stroke: #2b303b; } .dim { fill: #98a1b3; } .bar { fill: #7ba2f7; }
}
"""


def svg(stats: Figures, title: str) -> str:
    """The same as an SVG document, 800 pixels wide and sealed; colours follow the viewer's light or dark scheme."""
    facts = stats["facts"]
    counts = ((stats["notes"]["count"], "note"), (facts["count"], "fact"), (stats["opinions"]["held"], "opinion"))
    counted = ", ".join(plural(*each) for each in counts)
    tiers = ", ".join(f"{count:,} {tier}" for tier, count in facts["tiers"].items())
    day = Panel("", [date.fromisoformat(stats["day"])], ()).dates
    marks = [
        _label(EDGE, 54, "h1", cut(title, 60)),
        _label(EDGE, 80, "dim", f"{counted} on {day}; facts by tier: {tiers}"),
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
    drawing = "\n".join((head, named, card, *marks, "</svg>\n"))
    return f"{drawing}<!-- {seal(drawing, 'memory stats')} -->\n"


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
