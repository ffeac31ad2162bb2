"""What `stats` prints and draws: the figures as text and as a document, sparklines, and one SVG file."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from vault_memory.errors import RefusedError, UsageError, VaultError
from vault_memory.reflect.periods import period_of, short_day
from vault_memory.rendering.common import Document, clean, cut, plural, schema
from vault_memory.text.spans import plus
from vault_memory.vault import safe_files
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import is_hidden, printable

if TYPE_CHECKING:
    from vault_memory.health.stats import Curve, Days, Stats, Week

BARS = "▁▂▃▄▅▆▇█"
NO_BAR = "·"
"""A week without anything: the lowest bar is something."""

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


# --- in a terminal ---------------------------------------------------------------------------------------------------


def sparklines(stats: "Stats", width: int) -> str:
    """Notes and facts by week and the opinions' confidence: no line wider than `width` cells (24 at least)."""
    width = max(width, MIN_WIDTH)
    weeks, curves = _last_weeks(stats.weeks, min(MAX_WEEKS, width - 16)), stats.opinions.curves
    lines = [f"Notes and facts per week{', ' if weeks else ': '}{_dates(_days_of_weeks(weeks))}"]
    for name, values in _by_name(weeks):
        most = max(values)
        bars = "".join(_bar(value / most) if value > 0 else NO_BAR for value in values)
        lines.append(f"{name}  {bars}  up to {most:,}")
    days = _days_of_curves(curves)
    lines += ["", f"Confidence in opinions{', ' if curves else ': '}{_dates(days)}"]
    room = min(max((width - 9) // 3, 8), 40)
    for curve in curves:  # blank before it was first stated
        ends = (days[0] + timedelta(days=round((days[1] - days[0]).days * (i + 1) / room)) for i in range(room))
        drawn = "".join(" " if (value := curve.at(day)) is None else _bar(value) for day in ends)
        lines.append(f"{curve.points[-1][1]:.2f} {curve.turn} {drawn}  {curve.name}")
    return "\n".join(cut(line, width).rstrip() for line in lines)


def _bar(share: float) -> str:
    return BARS[min(max(int(share * len(BARS)), 0), len(BARS) - 1)]


# --- what is drawn ---------------------------------------------------------------------------------------------------


def _last_weeks(weeks: "Sequence[Week]", most: int) -> "list[Week]":
    """At most so many weeks up to the last one that has anything, the empty ones between them included."""
    if not weeks:
        return []
    known = {week.start: week for week in weeks}
    last = max(known)
    count = min((last - min(known)).days // 7 + 1, most)
    starts = (last - timedelta(weeks=back) for back in reversed(range(count)))
    return [known.get(start, weeks[0]._replace(start=start, notes=0, facts=0)) for start in starts]


def _by_name(weeks: "Sequence[Week]") -> list[tuple[str, list[int]]]:
    return [(name, [getattr(week, name) for week in weeks]) for name in ("notes", "facts") if weeks]


def _days_of_weeks(weeks: "Sequence[Week]") -> list[date]:
    return [weeks[0].start, plus(weeks[-1].start, 6)] if weeks else []


def _days_of_curves(curves: "Sequence[Curve]") -> list[date]:
    days = [day for curve in curves for day, _ in curve.points]
    return [min(days), max(days)] if days else []


def _dates(days: Sequence[date]) -> str:
    """`27 Oct 2025 – 30 Nov 2025`."""
    return " – ".join(f"{short_day(day)} {day.year}" for day in days) or "none with a date yet"


# --- as SVG ----------------------------------------------------------------------------------------------------------

WIDTH, EDGE = 800, 36
RIGHT = WIDTH - EDGE

_BARS_HEIGHT, _ROW_HEIGHT = 56, 34

_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u2028-\u202e\u2066-\u2069]")
"""What XML does not allow, and what turns the direction of text."""

_STYLE = """
text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1d2330; }
.card { fill: #ffffff; stroke: #e3e5ea; } .h1 { font-size: 22px; font-weight: 650; } .h2 { font-weight: 600; }
.dim { fill: #687083; } .end { text-anchor: end; } .trough { fill: #f3f4f7; }
.notes { fill: #94a3c4; } .facts, .dot { fill: #3f6fd8; } .curve { fill: none; stroke: #3f6fd8; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e7eaf1; } .card { fill: #171a21; stroke: #2b303b; } .dim { fill: #98a1b3; } .trough { fill: #1f232c; }
  .notes { fill: #5d6b8a; } .facts, .dot { fill: #7ba2f7; } .curve { stroke: #7ba2f7; }
}
"""


def svg(stats: "Stats", title: str) -> str:
    """The figures as one SVG document, 800 wide; text stays text, colours follow the reader's light or dark scheme."""
    counts = (plural(stats.notes, "note"), plural(stats.facts.count, "fact"), plural(stats.opinions.held, "opinion"))
    tiers = ", ".join(f"{count:,} {tier}" for tier, count in stats.facts.tiers.items())
    weeks, curves = _last_weeks(stats.weeks, MAX_WEEKS), stats.opinions.curves
    y = 122.0
    marks = [
        _label(EDGE, 54, "h1", cut(title, 60)),
        _label(EDGE, 80, "dim", f"{', '.join(counts)} on {_dates([stats.today])}; facts by tier: {tiers}"),
        _label(EDGE, y, "h2", "Notes and facts per week"), _label(RIGHT, y, "dim end", _dates(_days_of_weeks(weeks))),
    ]  # fmt: skip
    for name, values in _by_name(weeks):
        y += _BARS_HEIGHT + 14
        marks += _week_bars(name, values, weeks, y)
    y += 44
    days = _days_of_curves(curves)
    marks += [_label(EDGE, y, "h2", "Confidence in opinions"), _label(RIGHT, y, "dim end", _dates(days))]
    for curve in curves:
        marks += _curve(curve, days, y + 14)
        y += _ROW_HEIGHT
    height = int(y + 40)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
    card = f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="14"/>'
    named = f"<title>{_text(title)}</title><style>{_STYLE}</style>"
    return "\n".join((head, named, card, *marks, "</svg>\n"))


def _week_bars(name: str, values: Sequence[int], weeks: "Sequence[Week]", bottom: float) -> Iterator[str]:
    most, left = max(values), EDGE + 76
    step = min((RIGHT - left) / len(weeks), 40.0)
    yield _label(EDGE, bottom - 18, "", name)
    yield _label(EDGE, bottom - 2, "dim", f"up to {most:,}")
    for i, (value, week) in enumerate(zip(values, weeks, strict=True)):
        if value:
            tall = max(_BARS_HEIGHT * value / most, 2)
            title = f"{period_of(week.start, 'week').title}: {value:,} {name}"
            yield _box(name, (left + i * step, bottom - tall, step * 0.78, tall), title)


def _curve(curve: "Curve", days: Sequence[date], top: float) -> Iterator[str]:
    """A line an opinion, from no confidence (below) to certain (above)."""
    left, right = EDGE + 372.0, RIGHT - 66.0
    history = ", ".join(f"{value:.2f} on {day}" for day, value in curve.points[-12:])
    yield _label(EDGE, top + 21, "", cut(curve.name, 48))
    yield _box("trough", (left - 6, top + 3, right - left + 12, _ROW_HEIGHT - 6), f"{curve.name}: {history}")
    length = max((days[1] - days[0]).days, 1)
    spots = [
        (left + (right - left) * (day - days[0]).days / length, top + _ROW_HEIGHT - 8 - (_ROW_HEIGHT - 16) * value)
        for day, value in curve.points
    ]
    path = f"M{spots[0][0]:.1f} {spots[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in spots[1:])
    yield f'<path class="curve" d="{path}H{right:.1f}"/>'
    yield from (f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in spots)
    yield _label(RIGHT, top + 21, "end", f"{curve.points[-1][1]:.2f} {curve.turn}")


def _label(x: float, y: float, classes: str, what: str) -> str:
    return f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}">{_text(what)}</text>'


def _box(classes: str, place: tuple[float, float, float, float], title: str) -> str:
    x, y, width, height = (f"{number:.1f}" for number in place)
    inside = f"<title>{_text(title)}</title>"
    return f'<rect class="{classes}" x="{x}" y="{y}" width="{width}" height="{height}" rx="2">{inside}</rect>'


def _text(what: str) -> str:
    return escape(_UNPRINTABLE.sub("\ufffd", " ".join(what.split())))


# --- the file --------------------------------------------------------------------------------------------------------

# The hash of all before it: a drawing that was changed by hand is never overwritten.
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


def write_drawing(vault: Vault, file: Path, drawing: str, force: bool = False) -> Path:
    """Write a drawing whole or not at all, in the vault or elsewhere; returns where it lies.

    Raises UsageError for a name that is not that of an SVG file, RefusedError for a hidden place in the vault, a link
    out of it, and (unless forced) a file that is not ours, VaultError where the system refuses.
    """
    named = Path(os.path.abspath(file))
    if named.suffix.lower() != ".svg":
        raise UsageError(f"{printable(str(file))} is not the name of an SVG file.", "For example --plot stats.svg.")
    target = Path(os.path.realpath(named))
    shown, before = printable(str(target)), None
    try:
        before = target.read_bytes()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise VaultError(f"{shown} cannot be read: {error.strerror}.", "Choose another file.") from error
    if before is not None and (target.suffix.lower() != ".svg" or not (force or is_ours(before))):
        what = "is not a drawing made by this program, or has been changed since: it was left alone."
        raise RefusedError(f"{shown} {what}", "Choose another file, or replace it with --force.")
    bases = (vault.root, Path(os.path.abspath(vault.config.vault)))
    inside = [path.relative_to(base).as_posix() for path in (named, target) for base in bases if base in path.parents]
    if not inside:
        _write_outside(target, sealed(drawing), before is not None)
    elif is_hidden(inside[0]):
        raise RefusedError(
            f"{printable(inside[0])} is in a hidden folder of the vault, or hidden itself: nothing was written.",
            "Choose a file that is not hidden.",
        )
    else:
        vault.write(inside[0], sealed(drawing), before)
    return named


def _write_outside(target: Path, data: bytes, exists: bool) -> None:
    part = target.with_name(f".{target.name}.{os.urandom(6).hex()}.part")
    try:
        part.write_bytes(data)
        if exists:
            safe_files.keep_attributes(target, part)
        os.replace(part, target)
    except OSError as error:
        what = f"{printable(str(target))} cannot be written: {error.strerror or error}."
        raise VaultError(what, "Check the folder, its permissions and free space.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
