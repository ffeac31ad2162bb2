"""Owns the three-way merge of a block: what it should say now, what was written last, what a person made of it. Pure.

What a person added or changed stays, what they deleted stays away, the rest keeps up. How it is done:
- The closing marker names the places of the lines that are a person's (`yours`), so a page says by itself which are
  not ours.
- A block that is not as it was written is compared with what was written last (edits.py): lines that are new there are
  a person's from now on, and our lines that are gone are to stay away. A changed line is theirs instead of ours, for as
  long as it stands; the marker names what it stands for (`instead`).
- Where some facts of a line that tells several are to stay away, the others are told each on its own.
- Another bullet, spaces at the end of a line and blank lines are style: a linter makes them on every page. They are
  kept where our line still says the same, and make no line a person's. Indentation tells what belongs to what: theirs.
- Their lines come back behind the line they stood behind, or the nearest one above that is still there; what they set
  apart by a blank line stays apart.
- A line of theirs that took the place of one whose fact has since gone from the notes is a conflict: it stays, and is
  told of.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from vault_memory.reflect.blocks import Block, Line, bare, bullet, heading_level, instead, sha, short
from vault_memory.reflect.edits import NOBODY, Edits, alone, edited, runs

__all__ = ["NOBODY", "Known", "Merged", "closed", "merged"]


class Merged(NamedTuple):
    """What is to be written: the block, its lines with what they rest on, and what came of a person's edits.

    `deleted` names the lines that they do not want to see again, `orphaned` are lines of theirs whose fact is gone.
    """

    block: Block
    lines: tuple[Line, ...]
    deleted: frozenset[str] = NOBODY
    orphaned: tuple[str, ...] = ()
    is_edited: bool = False
    """Whether a person changed more than the style of it since it was written."""


class Known(NamedTuple):
    """Names of lines that a person deleted from the page earlier, and of all facts there are."""

    hidden: Container[str] = NOBODY
    facts: Container[str] = NOBODY


def merged(draft: Sequence[Line], present: Block | None, last: Sequence[Line] | None, known: Known) -> Merged | None:
    """What a block that would hold `draft` by itself is to hold.

    None when a person changed it and `last`, what was written before, is not known.
    """
    if present is None:
        kept = _without(draft, _Away(known.hidden))
        return Merged(closed(kept), tuple(kept))
    if present.is_as_written:
        edits = _as_marked(present, last)
    elif last is None:
        return None
    else:
        edits = edited(present, last)
    standing = {name for line in edits.theirs.values() if line.keys or line.slot for name in line.names}
    said = {bare(line.text) for line in edits.theirs.values() if line.text.strip()}
    kept = _without(draft, _Away(known.hidden, edits.deleted, standing, said))
    kept = _styled(kept, edits)
    lines = list(_Placing(kept, edits).lines()) if edits.yours else [(line, False) for line in kept]
    yours = frozenset(place for place, (_, is_theirs) in enumerate(lines) if is_theirs)
    orphaned = tuple(
        line.text for line in edits.theirs.values() if line.keys and not any(name in known.facts for name in line.names)
    )
    found = tuple(line for line, _ in lines)
    return Merged(closed(found, yours), found, edits.deleted, orphaned, edits.is_edited)


def closed(lines: Sequence[Line], yours: frozenset[int] = frozenset(), by: str = "") -> Block:
    """The block of these lines, with what its closing marker says; `yours` are places among them."""
    texts = tuple(line.text for line in lines)
    cites = tuple(short(key) for place, line in enumerate(lines) if place not in yours for key in line.keys)
    standing = (instead(place, lines[place]) for place in sorted(yours) if lines[place].keys or lines[place].slot)
    return Block(texts, sha(texts), cites, yours, by, tuple(filter(None, standing)))


def _as_marked(present: Block, last: Sequence[Line] | None) -> Edits:
    """A block that nobody has touched: the marker says which lines are theirs, `last` what these stand for."""
    known = last or ()
    is_known = [line.text.rstrip() for line in known] == [text.rstrip() for text in present.lines]
    marked = present.instead_of()
    lines = [line._replace(text=text) for line, text in zip(known, present.lines, strict=True)] if is_known else [
        marked.get(place, Line(text)) for place, text in enumerate(present.lines)
    ]  # fmt: skip
    return Edits(tuple(lines), frozenset(place for place in present.yours if place < len(lines)))


# --- what stays away -------------------------------------------------------------------------------------------------


class _Away(NamedTuple):
    """What is not to be written: names deleted earlier and now, names that lines of theirs stand for, their texts."""

    hidden: Container[str]
    deleted: Container[str] = NOBODY
    standing: Container[str] = NOBODY
    said: Set[str] = NOBODY

    def has_section(self, line: Line) -> bool:
        """Whether this heading is to stay away with all below it."""
        return all(name in self.hidden or name in self.deleted for name in line.names)

    def has(self, line: Line) -> bool:
        """Whether this line is to stay away."""
        if not line.text.strip():
            return False
        if heading_level(line.text):
            return any(alone(name) in away for name in line.names for away in (self.hidden, self.deleted)) or all(
                name in self.standing for name in line.names
            )
        return bool(self.said and bare(line.text) in self.said) or all(map(self._has_name, line.names))

    def has_part(self, line: Line) -> bool:
        """Whether some of the facts that a line tells are to stay away, and it can be told without them."""
        return bool(line.parts) and any(map(self._has_name, line.names))

    def _has_name(self, name: str) -> bool:
        return name in self.hidden or name in self.deleted or name in self.standing


def _without(draft: Sequence[Line], away: _Away) -> list[Line]:
    """The draft without what is to stay away; of a section whose heading is to, nothing is left."""
    found: list[Line] = []
    gone = 0  # the level of the heading that stays away, while below it
    is_cut = False
    for line in draft:
        level = heading_level(line.text)
        if level and (not gone or level <= gone):
            gone = level if away.has_section(line) else 0
        if gone or away.has(line):
            is_cut = True
        elif away.has_part(line):
            found += (part for part in line.parts if not away.has(part))
        elif not (is_cut and not line.text.strip() and not (found and found[-1].text.strip())):
            # Where lines were cut out, the blank ones around them do not pile up.
            found.append(line)
    return found


def _styled(kept: list[Line], edits: Edits) -> list[Line]:
    """Our lines with the bullets and the spaces at their ends that somebody's editor gave them."""
    ours = [line.text for place, line in enumerate(edits.lines) if place not in edits.yours and line.text.strip()]
    exactly = {line.text for line in kept}
    present = {bare(text): text for text in ours if text not in exactly}
    if not present:
        return kept
    found: list[Line] = []
    for line in kept:
        there = present.get(bare(line.text), line.text)
        words = line.text[len(bullet(line.text)) :]
        found.append(line._replace(text=(bullet(there) + words).rstrip() + there[len(there.rstrip()) :]))
    return found


# --- where their lines go --------------------------------------------------------------------------------------------


class _Placing:
    """Their lines among ours."""

    def __init__(self, kept: Sequence[Line], edits: Edits) -> None:
        self._kept, self._edits = kept, edits
        self._places = dict(_numbered(enumerate(kept)))
        ours = ((place, line) for place, line in enumerate(edits.lines) if place not in edits.yours)
        self._numbered = {place: name for name, place in _numbered(ours)}
        self._named: dict[str, int] = {}
        for place, line in enumerate(kept):
            for name in line.names if line.keys or line.slot else ():
                self._named.setdefault(name, place)

    def lines(self) -> Iterator[tuple[Line, bool]]:
        """All lines in order, and which are theirs."""
        at: dict[int, list[Line]] = {}
        for first, end in runs(self._edits.yours):
            place, lines = self._placed(first, end)
            at.setdefault(place, []).extend(lines)
        for place in range(len(self._kept) + 1):
            yield from ((line, True) for line in at.get(place, ()))
            if place < len(self._kept):
                yield self._kept[place], False

    def _placed(self, first: int, end: int) -> tuple[int, list[Line]]:
        """Before which of ours a run of theirs goes, and the run with the blank lines that keep it apart."""
        lines = [self._edits.lines[place] for place in range(first, end)]
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
        below = self._edits.lines[end].text.strip() if end < len(self._edits.lines) else "end"
        follows = self._kept[at].text.strip() if at < len(self._kept) else ""
        if not below and follows and lines[-1].text.strip():
            lines.append(Line(""))
        return at, lines

    def _ends_group(self, at: int) -> bool:
        """Whether the lines that belong together end before this place among ours."""
        here, above = self._kept[at].text, self._kept[at - 1].text
        return not here.strip() or bool(heading_level(here) or heading_level(above))

    def _anchor(self, first: int) -> tuple[int, int]:
        """The nearest line above that is still there, -1 for the top; and by how many blank lines they are apart."""
        blanks = 0
        for place in range(first - 1, -1, -1):
            if place in self._edits.yours:
                continue
            line = self._edits.lines[place]
            if not line.text.strip():
                blanks += 1
                continue
            found = self._found(place, line)
            if found is not None:
                return found, blanks
        return -1, blanks

    def _found(self, place: int, line: Line) -> int | None:
        at = self._places.get(self._numbered[place])
        if at is None and (line.keys or line.slot):
            at = next((self._named[name] for name in sorted(line.names) if name in self._named), None)
        return at


def _numbered(lines: Iterable[tuple[int, Line]]) -> Iterator[tuple[tuple[str, int], int]]:
    """Each line that says something by its words and which of those with the same words it is, and its place."""
    seen: Counter[str] = Counter()
    for place, line in lines:
        text = bare(line.text)
        yield (text, seen[text]), place
        seen[text] += 1
