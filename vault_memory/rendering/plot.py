"""Owns what is drawn of a vault, and drawing it in a terminal: bars, lines and shares of block characters. Pure.

It knows no index and no clock: days and numbers in, text out. picture.py draws the same as SVG.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.reflect.periods import short
from vault_memory.text.spans import MONTHS, plus

BARS = "▁▂▃▄▅▆▇█"
NONE = "·"
"""Stands for a week without anything: the lowest bar is something."""

MOST_WEEKS = 52
MOST_CURVES = 10
SHADES = {"core": "█", "working": "▓", "peripheral": "░"}

_LABEL = 7
"""Cells of the labels at the left."""

_LEAST_WIDTH = 24


class Week(NamedTuple):
    """One week, by its Monday: how many notes and how many facts are of its days."""

    start: date
    notes: int
    facts: int


Points = tuple[tuple[date, float], ...]
"""(day, confidence 0..1), the oldest first."""


class Curve(NamedTuple):
    """How sure one was of something: what, and each time it was told."""

    name: str
    points: Points

    def at(self, day: date) -> float | None:
        """How sure one was at the end of a day: what was told last holds; None before it was ever told."""
        return next((value for told, value in reversed(self.points) if told <= day), None)

    @property
    def turn(self) -> str:
        """`↗`, `↘` or `→`: which way it went with the last telling."""
        if len(self.points) < 2:
            return "→"
        before, now = self.points[-2][1], self.points[-1][1]
        return "↗" if now > before else "↘" if now < before else "→"


@dataclass(frozen=True)
class Picture:
    """All that is drawn of one vault; `counts` are (number, noun) for the head, `weeks` those with anything, in order.

    `curves` come in the order they are drawn in; `tiers` are facts by tier, the most used first.
    """

    title: str
    until: date
    counts: Sequence[tuple[int, str]] = ()
    weeks: Sequence[Week] = ()
    curves: Sequence[Curve] = ()
    tiers: Mapping[str, int] = field(default_factory=dict)


# --- what both drawings need ----------------------------------------------------------------------------------------


def last_weeks(weeks: Sequence[Week], most: int) -> list[Week]:
    """At most so many weeks up to the last one that has anything, those that have nothing between them."""
    if not weeks:
        return []
    known = {week.start: week for week in weeks}
    last = max(known)
    span = min((last - min(known)).days // 7 + 1, most)
    starts = (last - timedelta(weeks=back) for back in reversed(range(span)))
    return [known.get(start, Week(start, 0, 0)) for start in starts]


def months_of(weeks: Sequence[Week]) -> dict[int, str]:
    """The short name of each month, the year's for January, by the first of the weeks that begins in it."""
    named: dict[int, str] = {}
    for position, week in enumerate(weeks):
        if position == 0 or week.start.month != weeks[position - 1].start.month:
            named[position] = str(week.start.year) if week.start.month == 1 else MONTHS[week.start.month - 1][:3]
    return named


def reach(curves: Iterable[Curve]) -> tuple[date, date] | None:
    """The first and the last day that any of the curves tells of."""
    days = [day for curve in curves for day, _ in curve.points]
    return (min(days), max(days)) if days else None


def parts(counts: Sequence[int], width: int) -> list[int]:
    """Whole cells for each count, `width` together; what there is at all gets a cell, as far as there are any."""
    total = sum(counts)
    if not total or width <= 0:
        return [0] * len(counts)
    exact = [count * width / total for count in counts]
    cells = [max(int(share), count > 0) for share, count in zip(exact, counts, strict=True)]
    while sum(cells) > width:
        cells[max(range(len(cells)), key=lambda i: (cells[i] > 1, cells[i] - exact[i], cells[i]))] -= 1
    while sum(cells) < width:
        cells[max(range(len(cells)), key=lambda i: exact[i] - cells[i])] += 1
    return cells


def percent(count: int, total: int) -> str:
    """`12 %`; `<1 %` for what there is, but hardly."""
    share = 100 * count / total if total else 0.0
    return "<1 %" if 0 < share < 1 else f"{share:.0f} %"


# --- text -----------------------------------------------------------------------------------------------------------


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: two for the wide characters of East Asia and emoji."""
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """As much of a text as `width` cells hold, with `…` where something is missing."""
    if cells(text) <= width:
        return text
    kept, used = "", 0
    for character in text:
        used += _cells(character)
        if used > width - 1:
            break
        kept += character
    return f"{kept.rstrip()}…" if width > 0 else ""


def bars(values: Sequence[int], wide: int = 1) -> str:
    """A bar for each number, against the highest of them; wider than one cell they have a gap between them."""
    most = max(values, default=0)
    drawn = (NONE if value <= 0 else _bar(value / most) for value in values)
    return "".join(bar * max(wide - 1, 1) + " " * (wide > 1) for bar in drawn).rstrip()


def _bar(share: float) -> str:
    """The bar for a share of 0..1."""
    return BARS[min(max(int(share * len(BARS)), 0), len(BARS) - 1)]


def line(curve: Curve, since: date, until: date, width: int) -> str:
    """A curve from day to day over `width` cells; blank before it was first told."""
    days = (until - since).days
    found = (curve.at(since + timedelta(days=round(days * (i + 1) / width))) for i in range(width))
    return "".join(" " if value is None else _bar(value) for value in found)


def text(picture: Picture, width: int) -> str:
    """Notes and facts by week, the opinions' confidence, the tiers: no line longer than `width` cells (24 at least)."""
    width = max(width, _LEAST_WIDTH)
    blocks = (_weeks(picture, width), _curves(picture, width), _tiers(picture, width))
    return "\n\n".join("\n".join(cut(row, width).rstrip() for row in block) for block in blocks)


def _weeks(picture: Picture, width: int) -> Iterator[str]:
    most_notes = max((week.notes for week in picture.weeks), default=0)
    weeks = last_weeks(picture.weeks, min(MOST_WEEKS, width - _LABEL - len(f" ≤ {most_notes:,}") - 4))
    if not weeks:
        yield "Notes and facts per week: none with a day yet"
        return
    wide = min(max((width - _LABEL - 12) // len(weeks), 1), 3)
    yield f"Notes and facts per week, {span_of(weeks)}"
    for name, values in (("notes", [week.notes for week in weeks]), ("facts", [week.facts for week in weeks])):
        yield f"{name:{_LABEL}}{bars(values, wide):{len(weeks) * wide}} ≤ {max(values):,}"
    yield " " * _LABEL + _axis(months_of(weeks), wide, len(weeks) * wide)


def span_of(weeks: Sequence[Week]) -> str:
    """`27 Oct 2025 – 30 Nov 2025`: the days of these weeks."""
    return f"{_dated(weeks[0].start)} – {_dated(plus(weeks[-1].start, 6))}"


def _dated(day: date) -> str:
    return f"{short(day)} {day.year}"


def _axis(named: Mapping[int, str], wide: int, width: int) -> str:
    """The names under their columns; one that would run into the one before it is left out."""
    axis = ""
    for position, name in named.items():
        at = position * wide
        if (at > len(axis) or not axis) and at + len(name) <= width + 4:
            axis = f"{axis:{at}}{name}" if at else name
    return axis


def _curves(picture: Picture, width: int) -> Iterator[str]:
    curves = picture.curves[:MOST_CURVES]
    days = reach(curves)
    if days is None:
        yield "Opinions: none with a day yet"
        return
    since, until = days
    room = min(max((width - 9) // 3, 8), 40)
    yield f"How sure, {_dated(since)} – {_dated(until)}"
    for curve in curves:
        yield f"{curve.points[-1][1]:.2f} {curve.turn} {line(curve, since, until, room)}  {curve.name}"


def _tiers(picture: Picture, width: int) -> Iterator[str]:
    total = sum(picture.tiers.values())
    if not total:
        yield "Tiers: no facts yet"
        return
    shares = parts(list(picture.tiers.values()), min(width, 80))
    yield "Facts by tier"
    yield "".join(SHADES[tier] * share for tier, share in zip(picture.tiers, shares, strict=True))
    legend = [f"{SHADES[tier]} {tier} {n:,} ({percent(n, total)})" for tier, n in picture.tiers.items()]
    one = "   ".join(legend)
    yield from [one] if len(one) <= width else legend
