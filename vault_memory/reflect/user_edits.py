"""Owns what a person did to a block since it was written: which lines are theirs now, and what they took out. Pure.

Lines are compared by what they say (blocks.bare). Blank lines say nothing, so they are shared out afterwards: between
two lines of ours as many are ours as were written there, the first and the last; the others are the person's.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from vault_memory.reflect.blocks import Block, Line, bare, heading_level

NOBODY: frozenset[str] = frozenset()

_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")

ALIKE = 0.5
"""A line is taken for a changed one rather than a new one from this share of common characters on."""

SHARED = 0.25
"""Lines that are alike share at least this share of what any three characters in a row make."""


class Edits(NamedTuple):
    """A block as it stands: its lines with what each rests on or stands for, which of them (by place) are a person's,
    and the names of ours that are gone altogether."""

    lines: tuple[Line, ...]
    yours: frozenset[int]
    deleted: frozenset[str] = NOBODY
    is_edited: bool = False
    """Whether anything but style differs from what was written."""
    new: Mapping[int, str] = {}
    """By the places of lines that were not there when it was written, what the line each came from said; or ""."""

    @property
    def theirs(self) -> dict[int, Line]:
        """The lines that are a person's, by place."""
        return {place: self.lines[place] for place in sorted(self.yours)}


def _mark(text: str) -> str:
    """The block id at the end of a line, by which it is known whatever else is changed in it; or ""."""
    found = _BLOCK_ID.search(text)
    return found[0].strip() if found else ""


@lru_cache(maxsize=1 << 12)
def _trigrams(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 3] for at in range(max(len(text) - 2, 1)))


def alone(name: str) -> str:
    """The name of a heading that was taken out, or reworded, but not what stood below it."""
    return f"{name}~"


def edited(present: Block, last: Sequence[Line]) -> Edits:
    """What a person did to a block, `last` being what was written there."""
    return _Compared(present, last).edits()


def runs(places: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Places that follow one another, as (first, end)."""
    first = end = -1
    for place in sorted(places):
        if place != end:
            if end >= 0:
                yield first, end
            first = place
        end = place + 1
    if end >= 0:
        yield first, end


class _Compared:
    """A block and what was written last, line by line."""

    def __init__(self, present: Block, last: Sequence[Line]) -> None:
        self._last, self._yours = last, present.yours
        self._lines = [Line(text) for text in present.lines]
        self._said_before = [place for place, line in enumerate(last) if line.text.strip()]
        self._said_now = [place for place, text in enumerate(present.lines) if text.strip()]
        self._same: dict[int, int] = {}
        """Place now → place in `last` of the same line."""
        self._changed: list[tuple[list[int], list[int]]] = []
        """Lines gone and lines new in the same spot, by place."""
        self._sources: dict[int, int] = {}
        """Place now → place in `last` of the line that a new one came from."""

    def edits(self) -> Edits:
        self._compare()
        new = [place for _, found in self._changed for place in found]
        gone = [place for found, _ in self._changed for place in found]
        self._stand_for(gone)
        kept = {place for place, before in self._same.items() if before in self._yours}
        for place in self._same:
            self._lines[place] = self._last[self._same[place]]._replace(text=self._lines[place].text)
        yours = kept | set(new)
        yours |= set(self._their_blanks(yours))
        is_edited = bool(new or gone)
        came = {place: self._last[self._sources[place]].text if place in self._sources else "" for place in new}
        return Edits(tuple(self._lines), frozenset(yours), frozenset(self._deleted(gone)), is_edited, came)

    def _compare(self) -> None:
        before = [bare(self._last[place].text) for place in self._said_before]
        now = [bare(self._lines[place].text) for place in self._said_now]
        for what, i, j, k, m in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
            if what == "equal":
                self._same.update(zip(self._said_now[k:m], self._said_before[i:j], strict=True))
            else:
                self._changed.append((self._said_before[i:j], self._said_now[k:m]))

    # --- what new lines stand for --------------------------------------------------------------------------------

    def _stand_for(self, gone: Sequence[int]) -> None:
        """Have a line that was moved, copied or reworded rest on what the line it came from rests on."""
        texts: dict[str, int] = {}
        for place in (*gone, *self._said_before):
            texts.setdefault(bare(self._last[place].text), place)
        for left, came in self._changed:
            rest, new = list(left), []
            for place in came:
                source = texts.get(bare(self._lines[place].text))
                if source is None:
                    new.append(place)
                    continue
                self._sources[place] = source
                if source in gone or self._last[source].keys:
                    self._inherit(place, source)
                    rest = [one for one in rest if one != source]
            for place, source in self._pairs(rest, new):
                self._inherit(place, source)

    def _pairs(self, gone: list[int], new: list[int]) -> Iterator[tuple[int, int]]:
        """Which new line took the place of which that is gone, by place."""
        marks = {mark: source for source in gone if (mark := _mark(self._last[source].text))}
        known = {place: marks.pop(mark) for place in new if (mark := _mark(self._lines[place].text)) in marks}
        yield from known.items()
        gone, new = [one for one in gone if one not in known.values()], [one for one in new if one not in known]
        if len(gone) == len(new):
            yield from (pair for pair in zip(new, gone, strict=True) if self._are_of_a_kind(*pair))
            return
        left = list(gone)
        for place in new:
            ratios = [(self._alike(place, source), -source) for source in left if self._are_of_a_kind(place, source)]
            ratio, source = max(ratios, default=(0.0, 0))
            if ratio >= ALIKE:
                left.remove(-source)
                yield place, -source

    def _are_of_a_kind(self, place: int, source: int) -> bool:
        """Whether both are headings, or neither is."""
        return bool(heading_level(self._lines[place].text)) == bool(heading_level(self._last[source].text))

    def _alike(self, place: int, source: int) -> float:
        """How alike two lines are; 0 for most, which share too little to be compared at length (1 ms a pair)."""
        was, now = self._last[source].text, self._lines[place].text
        ours, theirs = _trigrams(was), _trigrams(now)
        if 2 * len(ours & theirs) < SHARED * (len(ours) + len(theirs)):
            return 0.0
        return SequenceMatcher(None, was, now, autojunk=False).ratio()

    def _inherit(self, place: int, source: int) -> None:
        line = self._last[source]
        self._sources[place] = source
        if source in self._yours and not (line.keys or line.slot):
            return
        slot = "" if line.keys else next(iter(line.names))
        self._lines[place] = Line(self._lines[place].text, line.keys, slot, of=line.of)

    # --- what was taken out --------------------------------------------------------------------------------------

    def _deleted(self, gone: Sequence[int]) -> Iterator[str]:
        """What is gone altogether: what was moved or reworded stands there, as theirs."""
        away = set(gone)
        new = (self._lines[place] for _, came in self._changed for place in came)
        standing = {name for line in new if line.keys or line.slot for name in line.names}
        for place in gone:
            line = self._last[place]
            if place in self._yours and not (line.keys or line.slot):
                continue  # their own line, which never stood for one of ours
            is_section = heading_level(line.text) and not self._is_reworded(line) and self._is_all_gone(place, away)
            lone = heading_level(line.text) and not is_section
            yield from (alone(name) if lone else name for name in line.names - standing)

    def _is_reworded(self, heading: Line) -> bool:
        """Whether a line of theirs stands in its place: then it is that heading, not its section, that went."""
        return any(line.slot and line.slot in heading.names for line in self._lines)

    def _is_all_gone(self, heading: int, away: set[int]) -> bool:
        """Whether nothing of ours that stood below a heading is there any more."""
        level = heading_level(self._last[heading].text)
        for place in range(heading + 1, len(self._last)):
            text = self._last[place].text
            if 0 < heading_level(text) <= level:
                break
            if text.strip() and place not in away and place not in self._yours:
                return False
        return True

    # --- blank lines ---------------------------------------------------------------------------------------------

    def _their_blanks(self, yours: set[int]) -> Iterator[int]:
        """The blank lines that are a person's: those beyond what was written between two lines of ours."""
        known = self._in_order(yours)
        ours = list(known)
        ends = zip([-1, *ours], [*ours, len(self._lines)], strict=True)
        for above, below in ends:
            first = known[above] if above >= 0 else -1
            last = known[below] if below < len(self._lines) else len(self._last)
            between = range(first + 1, last)
            allowed = sum(not self._last[place].text.strip() and place not in self._yours for place in between)
            yield from self._beyond(list(range(above + 1, below)), allowed)

    def _in_order(self, yours: set[int]) -> dict[int, int]:
        """Place now → place in `last` of our lines, and of those reworded where they stood."""
        known = {place: before for place, before in self._same.items() if place not in yours}
        for gone, came in self._changed:
            top = -1
            for place in came:
                if (source := self._sources.get(place, -1)) in gone and source > top:
                    known[place] = top = source
        return dict(sorted(known.items()))

    def _beyond(self, region: list[int], allowed: int) -> Iterator[int]:
        """The blank lines of a region but for so many at its beginning, or else at its end."""
        said = [place for place in region if self._lines[place].text.strip()]
        first, end = (said[0], said[-1]) if said else (region[-1] + 1, region[-1]) if region else (0, 0)
        for place in region:
            if self._lines[place].text.strip():
                continue
            if place < first and place - region[0] < allowed:
                continue
            lead = min(first - region[0], allowed)
            if place > end and said and region[-1] - place < allowed - lead:
                continue
            yield place
