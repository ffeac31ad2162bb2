"""Owns drawing a vault as SVG: one file that stands alone, without a script or a font of its own. Pure.

Text stays text; colours follow the reader's light or dark scheme. It draws what plot.py describes.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from xml.sax.saxutils import escape

from vault_memory.reflect.periods import long, period_of, short
from vault_memory.rendering.plot import (
    MOST_CURVES,
    MOST_WEEKS,
    Curve,
    Picture,
    Week,
    last_weeks,
    months_of,
    percent,
    reach,
    span_of,
)

Place = tuple[float, float, float, float]
"""x, y, width, height."""

WIDTH, EDGE = 800, 36
RIGHT = WIDTH - EDGE
FIELD = RIGHT - EDGE

_ROW = 34
"""Height of an opinion's line."""

_STRIP = 56
"""Height of the bars of notes, and of those of facts."""

_PLAIN = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u2028-\u202e\u2066-\u2069]")
"""What XML does not allow, and what turns the direction of the text around it."""

STYLE = """
text { font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.card { fill: #ffffff; stroke: #e3e5ea; }
.ink { fill: #1d2330; } .dim { fill: #687083; } .rule { stroke: #e3e5ea; } .trough { fill: #f3f4f7; }
.notes { fill: #94a3c4; } .facts { fill: #3f6fd8; } .up { fill: #2b8a57; } .down { fill: #c2542d; }
.curve { fill: none; stroke: #3f6fd8; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.dot { fill: #3f6fd8; } .core { fill: #2450ae; } .working { fill: #6b94ea; } .peripheral { fill: #cfdaf2; }
.h1 { font-size: 22px; font-weight: 650; } .h2 { font-size: 14px; font-weight: 600; } .big { font-size: 26px; }
.big { font-weight: 600; } .mid { font-size: 13px; } .small { font-size: 11.5px; } .end { text-anchor: end; }
.num { font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) {
  .card { fill: #171a21; stroke: #2b303b; }
  .ink { fill: #e7eaf1; } .dim { fill: #98a1b3; } .rule { stroke: #2b303b; } .trough { fill: #1f232c; }
  .notes { fill: #5d6b8a; } .facts { fill: #7ba2f7; } .up { fill: #63c492; } .down { fill: #ee8f6a; }
  .curve { stroke: #7ba2f7; } .dot { fill: #7ba2f7; }
  .core { fill: #a4c0fb; } .working { fill: #5b84dd; } .peripheral { fill: #2e3f68; }
}
"""


def svg(picture: Picture) -> str:
    """The picture as one SVG document, 800 wide, that is readable at that width."""
    drawing = _Drawing()
    drawing.head(picture)
    drawing.weeks(picture.weeks)
    drawing.curves(picture.curves[:MOST_CURVES])
    drawing.tiers(picture.tiers)
    height = drawing.foot(picture.until)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
            ' role="img" aria-labelledby="title desc">',
            f'<title id="title">{_text(picture.title)}</title>',
            f'<desc id="desc">{_text(told(picture))}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="14"/>',
            *drawing.marks,
            "</svg>\n",
        )
    )


def told(picture: Picture) -> str:
    """The picture in words, for those who cannot see it."""
    said = [", ".join(f"{count:,} {noun}" for count, noun in picture.counts)] if picture.counts else []
    weeks = last_weeks(picture.weeks, MOST_WEEKS)
    if weeks:
        notes, facts = sum(week.notes for week in weeks), sum(week.facts for week in weeks)
        said.append(f"{span_of(weeks)}: {notes:,} notes and {facts:,} facts")
    said += [f"{curve.name}: {_history(curve)}" for curve in picture.curves[:MOST_CURVES]]
    if picture.tiers:
        said.append("facts by tier: " + ", ".join(f"{tier} {count:,}" for tier, count in picture.tiers.items()))
    return ". ".join(said) + "."


def _history(curve: Curve) -> str:
    return ", ".join(f"{value:.2f} on {day.isoformat()}" for day, value in curve.points[-12:])


class _Drawing:
    """The marks so far, and how far down they reach."""

    def __init__(self) -> None:
        self.marks: list[str] = []
        self._y = 0.0

    def _say(self, x: float, y: float, classes: str, text: str) -> None:
        self.marks.append(f'<text class="{classes}" x="{_n(x)}" y="{_n(y)}">{_text(text)}</text>')

    def _box(
        self, classes: str, place: tuple[float, float, float, float], round_by: float = 0, title: str = ""
    ) -> None:
        x, y, width, height = map(_n, place)
        corner = f' rx="{_n(round_by)}"' if round_by else ""
        inside = f"><title>{_text(title)}</title></rect>" if title else "/>"
        self.marks.append(f'<rect class="{classes}" x="{x}" y="{y}" width="{width}" height="{height}"{corner}{inside}')

    def _rule(self, y: float, since: float = EDGE, until: float = RIGHT) -> None:
        self.marks.append(f'<line class="rule" x1="{_n(since)}" y1="{_n(y)}" x2="{_n(until)}" y2="{_n(y)}"/>')

    def _heading(self, name: str, beside: str) -> None:
        self._y += 38
        self._say(EDGE, self._y, "ink h2", name)
        self._say(RIGHT, self._y, "dim small end", beside)
        self._y += 16

    def head(self, picture: Picture) -> None:
        """The vault's name, and its figures side by side."""
        self._say(EDGE, 54, "ink h1", fit(picture.title, FIELD, 22))
        self._y = 78.0
        if not picture.counts:
            return
        for i, (count, noun) in enumerate(picture.counts):
            x = EDGE + FIELD * i / len(picture.counts)
            self._say(x, 106, "ink big num", f"{count:,}")
            self._say(x, 125, "dim mid", noun)
        self._y = 146.0
        self._rule(self._y)

    def weeks(self, weeks: Sequence[Week]) -> None:
        """Two rows of bars over the same weeks, each against its own highest."""
        shown = last_weeks(weeks, MOST_WEEKS)
        self._heading("Notes and facts per week", span_of(shown) if shown else "none with a day yet")
        if not shown:
            return
        left = EDGE + 76
        step = min((RIGHT - left) / len(shown), 40.0)
        for name, values in (("notes", [w.notes for w in shown]), ("facts", [w.facts for w in shown])):
            self._strip(name, values, shown, (left, step))
        for position, name in months_of(shown).items():
            if left + position * step + 30 <= RIGHT:
                self._say(left + position * step, self._y + 12, "dim small", name)
        self._y += 20

    def _strip(self, name: str, values: Sequence[int], weeks: Sequence[Week], at: tuple[float, float]) -> None:
        left, step = at
        most = max(values)
        bottom = self._y + _STRIP
        self._say(EDGE, bottom - 18, "ink mid", name)
        self._say(EDGE, bottom - 2, "dim small num", f"up to {most:,}")
        self._rule(bottom, left, left + step * len(weeks))
        for i, (value, week) in enumerate(zip(values, weeks, strict=True)):
            if value:
                tall = max((_STRIP - 8) * value / most, 2)
                title = f"{period_of(week.start, 'week').title}: {value:,} {name}"
                self._box(name, (left + i * step, bottom - tall, step * 0.78, tall), min(step * 0.15, 3), title)
        self._y = bottom + 6

    def curves(self, curves: Sequence[Curve]) -> None:
        """A line an opinion: what, how it went from none (below) to certain (above), how sure it is now."""
        days = reach(curves)
        beside = f"{_dated(days[0])} – {_dated(days[1])}" if days else "none with a day yet"
        self._heading("How sure, as it was told", beside)
        if days:
            for curve in curves:
                self._curve(curve, days)
            self._y += 4

    def _curve(self, curve: Curve, days: tuple[date, date]) -> None:
        left, right, top = EDGE + 372.0, RIGHT - 66.0, self._y
        self.marks.append(f"<g><title>{_text(f'{curve.name}: {_history(curve)}')}</title>")
        self._say(EDGE, top + 21, "ink mid", fit(curve.name, 352, 13))
        self._box("trough", (left - 6, top + 3, right - left + 12, _ROW - 6), 4)
        reach_days = max((days[1] - days[0]).days, 1)
        spots = [
            (left + (right - left) * (day - days[0]).days / reach_days, top + _ROW - 8 - (_ROW - 16) * value)
            for day, value in curve.points
        ]
        path = f"M{_n(spots[0][0])} {_n(spots[0][1])}" + "".join(f"H{_n(x)}V{_n(y)}" for x, y in spots[1:])
        self.marks.append(f'<path class="curve" d="{path}H{_n(right)}"/>')
        self.marks += [f'<circle class="dot" cx="{_n(x)}" cy="{_n(y)}" r="3"/>' for x, y in spots]
        self._say(RIGHT - 22, top + 21, "ink mid num end", f"{curve.points[-1][1]:.2f}")
        self._say(RIGHT, top + 21, {"↗": "up", "↘": "down"}.get(curve.turn, "dim") + " mid end", curve.turn)
        self.marks.append("</g>")
        self._y += _ROW

    def tiers(self, tiers: Mapping[str, int]) -> None:
        """One bar that the tiers share, and what each has of it."""
        total = sum(tiers.values())
        self._heading("Facts by tier", f"{total:,} facts" if total else "no facts yet")
        if not total:
            return
        self.marks.append(
            f'<clipPath id="tiers"><rect x="{EDGE}" y="{_n(self._y)}" width="{FIELD}" height="22" rx="6"/></clipPath>'
            '<g clip-path="url(#tiers)">'
        )
        x = float(EDGE)
        for tier, count in tiers.items():
            wide = FIELD * count / total
            self._box(tier, (x, self._y, wide, 22), 0, f"{tier}: {count:,} of {total:,} facts")
            x += wide
        self.marks.append("</g>")
        for i, (tier, count) in enumerate(tiers.items()):
            x = EDGE + FIELD * i / len(tiers)
            self._box(tier, (x, self._y + 34, 11, 11), 3)
            self._say(x + 18, self._y + 44, "ink mid", tier)
            self._say(x + 96, self._y + 44, "dim mid num", f"{count:,} · {percent(count, total)}")
        self._y += 54

    def foot(self, day: date) -> int:
        """The day it is of; returns the height of the whole."""
        self._say(RIGHT, self._y + 26, "dim small end", f"vault-memory, {long(day)}")
        return int(self._y + 46)


def fit(text: str, width: float, size: float) -> str:
    """As much of a text as a width holds at a font size, with `…` where something is missing.

    No font is measured: letters are taken to be as wide as in the widest of the usual fonts.
    """
    room, kept = width / size, ""
    whole = sum(map(_em, text))
    for character in text:
        room -= _em(character)
        if whole > width / size and room < 0.9:
            return f"{kept.rstrip()}…"
        kept += character
    return kept


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.38 if character in " .,:;'|!()[]ijlftr" else 0.95 if character in "MWmw@%—…" else 0.63


def _n(number: float) -> str:
    """A coordinate without needless digits."""
    return f"{number:.1f}".removesuffix(".0")


def _dated(day: date) -> str:
    return f"{short(day)} {day.year}"


def _text(text: str) -> str:
    return escape(_PLAIN.sub("\ufffd", " ".join(text.split())))
