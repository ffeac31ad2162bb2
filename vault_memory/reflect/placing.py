"""Owns where a person's lines go among ours: each behind what it stood behind, and below what it belonged to. Pure.

A line that is moved in belongs to the nearest one above it that is less so, in Markdown as in this. An entry of ours
that has lines of theirs below it does not go without them (`bereft`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vault_memory.reflect.blocks import Line, bare, bullet, heading_level, indent
from vault_memory.reflect.user_edits import Edits, runs

BELOW, BESIDE, INSTEAD = range(3)
"""In which order lines of theirs go to one place: those below the line of ours there, others, and those in place of a
line whose own lines follow."""


class Placing:
    """Their lines among ours; `instead` has, by the places of theirs, where that is of which each took the place."""

    def __init__(self, kept: Sequence[Line], edits: Edits, instead: Mapping[int, int]) -> None:
        self._kept, self._edits, self._instead = kept, edits, instead
        self._places = dict(_numbered(enumerate(kept)))
        ours = ((place, line) for place, line in enumerate(edits.lines) if place not in edits.yours)
        self._numbered = {place: name for name, place in _numbered(ours)}
        self._named: dict[str, int] = {}
        for place, line in enumerate(kept):
            for name in line.names if line.keys or line.slot else ():
                self._named.setdefault(name, place)
        self._sections: list[int] = []
        """By place among ours where the heading is that it stands under."""
        for place, line in enumerate(kept):
            above = self._sections[-1] if self._sections else -1
            self._sections.append(place if heading_level(line.text) else above)
        self._parents = parents([line.text for line in edits.lines])
        self._put: dict[int, tuple[int, int]] = {}
        """Where each of their lines goes: before which of ours, and in which order there."""

    def bereft(self) -> frozenset[int]:
        """The entries of ours with lines of theirs below them that are not among ours any more."""
        return frozenset(
            above
            for place in self._edits.yours
            if (above := self._parents[place]) >= 0 and above not in self._edits.yours
            if self._is_entry(self._edits.lines[above]) and self._above(place) is None
        )

    @staticmethod
    def _is_entry(line: Line) -> bool:
        return bool(line.keys or bullet(line.text))

    def lines(self) -> Iterator[tuple[Line, bool]]:
        """All lines in order, and which are theirs."""
        at: dict[tuple[int, int], list[Line]] = {}
        for first, end in self._parts():
            put, lines = self._placed(first, end)
            self._put.update(dict.fromkeys(range(first, end), put))
            at.setdefault(put, []).extend(lines)
        for place in range(len(self._kept) + 1):
            for order in (BELOW, BESIDE, INSTEAD):
                yield from ((line, True) for line in at.get((place, order), ()))
            if place < len(self._kept):
                yield self._kept[place], False

    def _parts(self) -> Iterator[tuple[int, int]]:
        """Their lines that follow one another, apart where they belong to different ones, as (first, end)."""
        for first, end in runs(self._edits.yours):
            start, root = first, -1
            for place in range(first, end):
                if not self._edits.lines[place].text.strip():
                    continue
                if root >= 0 and not self._goes_with(root, place):
                    yield start, place
                    start, root = place, place
                elif root < 0:
                    root = place
            yield start, end

    def _goes_with(self, root: int, place: int) -> bool:
        """Whether a line goes wherever an earlier one goes: for it is below it, or both belong to the same."""
        if place in self._instead:
            return False
        above = self._parents[place]
        return above >= root or (above == self._parents[root] and root not in self._instead)

    def _placed(self, first: int, end: int) -> tuple[tuple[int, int], list[Line]]:
        """Where lines of theirs go, and the lines with the blank ones that keep them apart."""
        lines = [self._edits.lines[place] for place in range(first, end)]
        root = next((place for place in range(first, end) if self._edits.lines[place].text.strip()), -1)
        if root in self._instead:
            return (self._instead[root], INSTEAD), lines
        below = self._below(root) if root >= 0 and self._parents[root] >= 0 else None
        if below is None:
            return self._beside(first, end, lines)
        (at, order), blanks = below, self._anchor(first)[1]
        if blanks and at < len(self._kept) and not self._kept[at].text.strip():
            return (at + 1, BELOW), lines
        if blanks and lines[0].text.strip():
            lines.insert(0, Line(""))
        return (at, order), lines

    # --- below a line ----------------------------------------------------------------------------------------------

    def _below(self, root: int) -> tuple[int, int] | None:
        """Where a line goes that belongs to another, none where that is not there any more."""
        above = self._parents[root]
        if above in self._put:
            (start, order), depth = self._put[above], indent(self._edits.lines[above].text)
        elif self._is_entry(self._edits.lines[above]) and (found := self._above(root)) is not None:
            start, order, depth = found + 1, BELOW, indent(self._kept[found].text)
        else:
            return None
        at = self._anchor(root)[0] + 1
        is_inside = start < at and all(self._is_deeper(place, depth) for place in range(start, at))
        return (at, BELOW) if is_inside else (start, order)

    def _above(self, place: int) -> int | None:
        """Which of ours a line of theirs is below, where that is still less moved in than it."""
        above = self._parents[place]
        found = self._found(above, self._edits.lines[above])
        depth = indent(self._edits.lines[place].text)
        return found if found is not None and indent(self._kept[found].text) < depth else None

    def _is_deeper(self, at: int, depth: int) -> bool:
        text = self._kept[at].text
        return bool(text.strip()) and indent(text) > depth

    # --- beside a line ---------------------------------------------------------------------------------------------

    def _beside(self, first: int, end: int, lines: list[Line]) -> tuple[tuple[int, int], list[Line]]:
        anchor, blanks = self._anchor(first)
        at = anchor + 1
        if anchor >= 0 and (blanks or not lines[0].text.strip()):
            while at < len(self._kept) and not self._ends_group(at):
                at += 1
            passed = at
            while at < len(self._kept) and at - passed < blanks and not self._kept[at].text.strip():
                at += 1
            if blanks and at == passed and lines[0].text.strip():
                lines.insert(0, Line(""))
        at = self._past_others(at, end, lines)
        below = self._edits.lines[end].text.strip() if end < len(self._edits.lines) else "end"
        follows = self._kept[at].text.strip() if at < len(self._kept) else ""
        if not below and follows and lines[-1].text.strip():
            lines.append(Line(""))
        return (at, BESIDE), lines

    def _past_others(self, at: int, end: int, lines: list[Line]) -> int:
        """Behind what is below another line of ours, unless theirs stood before such lines."""
        depth = next((indent(line.text) for line in lines if line.text.strip()), None)
        below = self._edits.lines[end].text if end < len(self._edits.lines) else ""
        if depth is None or (below.strip() and indent(below) > depth):
            return at
        heads = set(self._instead.values())
        while at < len(self._kept) and at not in heads and self._is_deeper(at, depth):
            at += 1
        return at

    def _ends_group(self, at: int) -> bool:
        """Whether the lines that belong together end before this place among ours."""
        here, above = self._kept[at].text, self._kept[at - 1].text
        return not here.strip() or bool(heading_level(here) or heading_level(above))

    # --- what is still there ---------------------------------------------------------------------------------------

    def _anchor(self, first: int) -> tuple[int, int]:
        """The nearest line above that is still there, -1 for the top; and by how many blank lines they are apart.

        One that is in another section now is left to go there alone.
        """
        blanks, section = 0, self._section(first)
        for place in range(first - 1, -1, -1):
            if place in self._edits.yours:
                continue
            line = self._edits.lines[place]
            if not line.text.strip():
                blanks += 1
                continue
            found = self._found(place, line)
            if found is not None and section in (None, self._sections[found]):
                return found, blanks
        return -1, blanks

    def _section(self, place: int) -> int | None:
        """Where the heading of ours is that a line stands under, -1 for none; None where it is not there any more."""
        for above in range(place - 1, -1, -1):
            if above not in self._edits.yours and heading_level(self._edits.lines[above].text):
                return self._found(above, self._edits.lines[above])
        return -1

    def _found(self, place: int, line: Line) -> int | None:
        at = self._places.get(self._numbered[place])
        if at is None and (line.keys or line.slot):
            at = next((self._named[name] for name in sorted(line.names) if name in self._named), None)
        return at


def parents(texts: Sequence[str]) -> list[int]:
    """By place the nearest line above that is less moved in, -1 where there is none; blank lines belong to none."""
    found: list[int] = []
    open_: list[tuple[int, int]] = []
    for place, text in enumerate(texts):
        depth = indent(text)
        if heading_level(text):
            open_.clear()
        while text.strip() and open_ and open_[-1][0] >= depth:
            open_.pop()
        found.append(open_[-1][1] if open_ and text.strip() else -1)
        if text.strip() and not heading_level(text):
            open_.append((depth, place))
    return found


def _numbered(lines: Iterable[tuple[int, Line]]) -> Iterator[tuple[tuple[str, int], int]]:
    """Each line that says something by its words and which of those with the same words it is, and its place."""
    seen: Counter[str] = Counter()
    for place, line in lines:
        text = bare(line.text)
        yield (text, seen[text]), place
        seen[text] += 1
