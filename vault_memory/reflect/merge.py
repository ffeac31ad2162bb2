"""Merges a generated block with what a person made of it. Pure.

Three promises: words that a person added, changed or deleted stay so; a merge with nothing new changes nothing; a
conflict is told. How they are kept:
- A block that is not as it was written is compared, line by line, with what was written last. A line of ours that is
  gone was deleted: it stays away (the journal keeps that). A line that is not ours is theirs, from now on.
- A line that replaced one of ours, or was moved, is theirs and keeps what it replaced away for as long as it is there.
  It takes the place of ours in the draft; a line that was only moved stays where it was put.
- All other lines of theirs stay behind the line they stood behind, or the nearest one above it that is still there. An
  entry of ours that lines of theirs belong to stays with them.
- A line in which only an opinion's confidence, the name of a renamed note, the bullet or spaces differ stays ours, and
  is kept up to date. Blank lines are nobody's.
- What a line of theirs replaced is known from the last text, which only the device that wrote it has; the others know
  from the journal that ours stays away.
- A line of theirs whose fact has gone from the notes is a conflict: it stays, and is told.
"""

import re
from collections.abc import Callable, Collection, Container, Sequence
from difflib import SequenceMatcher
from itertools import chain, takewhile
from typing import NamedTuple

from vault_memory.reflect.generated_blocks import (
    Block,
    Line,
    bare,
    bullet,
    fact_name,
    heading_level,
    indent,
    sha,
    text_name,
    without_confidence,
)

NO_NAMES: frozenset[str] = frozenset()

FORGOTTEN = "- (forgotten)"
"""What is left of a forgotten entry where a person wrote below it."""

LINKED = re.compile(r"(?<=\[\[)[^\[\]|#]+")
"""The names in links."""

_BLOCK_ID = re.compile(r"\s(\^[\w-]+)\s*$")


class MergeResult(NamedTuple):
    """What is to be written: the block, and what its lines rest on."""

    block: Block
    lines: tuple[Line, ...]
    replaced: frozenset[str] = NO_NAMES
    """The names of lines that have one of theirs in their place, for the journal: the lines alone are gone."""
    orphaned: tuple[str, ...] = ()
    """Lines of theirs on a fact that is gone."""


class KnownFacts(NamedTuple):
    """The names of all facts, and of those that no page may tell, for they are forgotten or private; and whether a link
    of some name leads to a note."""

    names: Container[str] = NO_NAMES
    withheld: Container[str] = NO_NAMES
    is_linked: Callable[[str], bool] = lambda name: True


class Edits(NamedTuple):
    """A block as it stands: its lines, each with the facts or the slot of the line of ours that it is or replaced, the
    places of a person's, and the names of ours that are gone: nobody wants them again."""

    lines: tuple[Line, ...] = ()
    yours: frozenset[int] = frozenset()
    deleted: frozenset[str] = NO_NAMES
    is_edited: bool = False
    """Whether a person changed more than its style since it was written."""

    def without(self, is_settled: Callable[[str], bool]) -> "Edits":
        """The same without the lines that have been dealt with."""
        left = [place for place, line in enumerate(self.lines) if not is_settled(line.text)]
        yours = frozenset(at for at, place in enumerate(left) if place in self.yours)
        return self._replace(lines=tuple(self.lines[place] for place in left), yours=yours)


def merge_block(draft: Sequence[Line], edits: Edits, facts: KnownFacts, hidden: Container[str]) -> MergeResult:
    """What a block is to hold that would hold `draft` by itself; `hidden` are the names of lines deleted earlier."""
    edits = _keep_parents(edits, draft, facts, hidden)
    found = _MergedLines(draft, edits, hidden).lines()
    lines = tuple(line for line, _ in found)
    yours = frozenset(at for at, (_, is_theirs) in enumerate(found) if is_theirs)
    standing = (lines[at] for at in yours if lines[at].stands_for)
    replaced = frozenset(name_alone(name) for line in standing for name in line.names)
    resting = ((lines[at].text, lines[at].facts) for at in sorted(yours) if lines[at].keys)
    orphaned = tuple(text for text, names in resting if not any(name in facts.names for name in names))
    texts = tuple(line.text for line in lines)
    cites = tuple(fact_name(key) for at, line in enumerate(lines) if at not in yours for key in line.keys)
    block = Block(texts, sha(texts), cites, yours)
    return MergeResult(block, lines, replaced, orphaned)


def name_alone(name: str) -> str:
    """The name of a line that is gone without what stood below it."""
    return f"{name}~"


# --- what a person did -----------------------------------------------------------------------------------------------


def find_edits(
    present: Block, last: Sequence[Line] | None, is_linked: Callable[[str], bool] = lambda name: True
) -> Edits:
    """What a person did to a block, `last` being what was written there; without it only what the marker says."""
    lines, now = [Line(text) for text in present.lines], _text_places(present.lines)
    if last is None:
        return Edits(tuple(lines), present.yours.intersection(now))
    written = [line.text for line in last]
    before, yours, hunks = _text_places(written), set[int](), list[tuple[list[int], list[int]]]()
    texts = [without_confidence(written[at]) for at in before], [without_confidence(present.lines[at]) for at in now]
    for what, i, j, k, m in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if what != "equal":
            hunks.append((before[i:j], now[k:m]))
            yours.update(now[k:m])
            continue
        for place, was in zip(now[k:m], before[i:j], strict=True):
            lines[place] = last[was]._replace(text=lines[place].text)
            if was in present.yours:
                yours.add(place)
    replaced = _find_replaced(present.lines, written, hunks)
    for place, was in replaced.items():
        line, text = last[was], lines[place].text
        if was not in present.yours and _is_renamed(line.text, text, is_linked):
            lines[place] = line._replace(text=text)
            yours.discard(place)
        elif line.stands_for or was not in present.yours:
            slot = "" if line.keys else next(iter(line.names))
            lines[place] = Line(text, line.keys, slot, of=line.of)
    deleted = _deleted_names(present, last, {at for gone, _ in hunks for at in gone}, replaced.values())
    standing = {name for place in yours if lines[place].stands_for for name in lines[place].names}
    is_edited = [bare(written[at]) for at in before] != [bare(present.lines[at]) for at in now]
    return Edits(tuple(lines), frozenset(yours), frozenset(deleted - standing), is_edited)


def _text_places(texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if text.strip()]


def _find_replaced(
    texts: Sequence[str], written: Sequence[str], hunks: Sequence[tuple[list[int], list[int]]]
) -> dict[int, int]:
    """By the places of new lines those of the written ones that they took the place of.

    One with the same words was moved. Within a hunk a block id or citation tells, else one by one if as many came as
    went.
    """
    left = {bare(written[at]): at for gone, _ in reversed(hunks) for at in reversed(gone)}
    found = {place: left.pop(bare(texts[place])) for _, new in hunks for place in new if bare(texts[place]) in left}
    for gone, new in hunks:
        marks = {mark: at for at in gone if at not in found.values() and (mark := _mark(written[at]))}
        found |= {at: marks.pop(mark) for at in new if at not in found and (mark := _mark(texts[at])) in marks}
        rest = [at for at in new if at not in found], [at for at in gone if at not in found.values()]
        if len(rest[0]) == len(rest[1]):
            found.update(zip(*rest, strict=True))
    return found


def _deleted_names(present: Block, last: Sequence[Line], gone: Container[int], replaced: Collection[int]) -> set[str]:
    """What lines of ours that are gone altogether are known by; a heading with all of its section, or alone."""
    found: set[str] = set()
    for at, line in enumerate(last):
        if at not in gone or at in replaced or (at in present.yours and not line.stands_for):
            continue
        is_left = False
        if level := heading_level(line.text):
            below = takewhile(lambda n: not 0 < heading_level(last[n].text) <= level, range(at + 1, len(last)))
            is_left = any(last[n].text.strip() and n not in present.yours and n not in gone for n in below)
        found.update(name_alone(name) if is_left else name for name in line.names)
    return found


def _mark(text: str) -> str:
    """The block id or the citation at the end of a line, by which it is known whatever its words; or ""."""
    if found := _BLOCK_ID.search(text):
        return found[1]
    _, dash, cited = text.rpartition(" — ")
    return cited.strip() if dash and "]" in cited else ""


def _is_renamed(was: str, text: str, is_linked: Callable[[str], bool]) -> bool:
    """Whether lines differ only in names of notes, of which the old ones are nowhere any more."""
    if bare(was) == bare(text) or LINKED.sub("", bare(was)) != LINKED.sub("", bare(text)):
        return False
    pairs = zip(LINKED.findall(was), LINKED.findall(text), strict=True)
    return all(is_linked(new) and not is_linked(old) for old, new in pairs if old != new)


def _keep_parents(edits: Edits, draft: Sequence[Line], facts: KnownFacts, hidden: Container[str]) -> Edits:
    """The edits, with an entry of ours that the draft does not have any more as theirs, where lines of theirs stand
    below it; of one that was forgotten only its place."""
    lines, theirs, texts = list(edits.lines), set(edits.yours), [line.text for line in edits.lines]
    told = {name for line in draft for name in (text_name(line.text), *line.names) if name not in hidden}
    for place in sorted(edits.yours):
        while (place := parent(texts, place)) >= 0 and place not in theirs and bullet(texts[place]):
            line = lines[place]
            if told.isdisjoint((text_name(line.text), *line.names)):
                theirs.add(place)
                if line.facts and all(name in facts.withheld for name in line.facts):
                    lines[place] = Line(line.text[: indent(line.text)] + FORGOTTEN)
    return edits._replace(lines=tuple(lines), yours=frozenset(theirs))


def parent(texts: Sequence[str], place: int) -> int:
    """The place of the nearest line above that is less moved in; -1 where there is none."""
    for above in range(place - 1, -1, -1):
        if heading_level(texts[above]):
            break
        if texts[above].strip() and indent(texts[above]) < indent(texts[place]):
            return above
    return -1


# --- the lines of both -----------------------------------------------------------------------------------------------


class _MergedLines:
    """The draft without what stays away, and their lines among it."""

    def __init__(self, draft: Sequence[Line], edits: Edits, hidden: Container[str]) -> None:
        self._edits, self._texts = edits, [line.text for line in edits.lines]
        self._found: list[tuple[Line, int | None]] = []
        """The lines in order, each of theirs with its place in the block as it stands."""
        theirs = [place for place in sorted(edits.yours) if self._texts[place].strip()]
        self._keep(draft, theirs, lambda name: name in hidden or name in edits.deleted)
        kept = {place for _, place in self._found}
        runs: list[tuple[int, int]] = []  # lines that stay together, with the blank ones between them
        for place in (place for place in theirs if place not in kept):
            first, end = runs[-1] if runs else (place, -1)
            is_together = place >= end >= 0 and indent(self._texts[place]) >= indent(self._texts[first])
            if is_together and all(map(self._is_blank, range(end, place))):
                runs[-1] = first, place + 1
            else:
                runs.append((place, place + 1))
        for run in runs:
            self._insert(*run)

    def lines(self) -> list[tuple[Line, bool]]:
        """All lines in order, and which are theirs; of ours no two blank ones in a row."""
        lines: list[tuple[Line, bool]] = []
        for line, place in self._found:
            if place is not None or line.text.strip() or (lines and lines[-1][0].text.strip()):
                lines.append((line, place is not None))
        return lines

    def _keep(self, draft: Sequence[Line], theirs: Sequence[int], is_deleted: Callable[[str], bool]) -> None:
        """Keep the lines of the draft, or what stands for them."""
        named = ((name, place) for place in reversed(theirs) for name in self._edits.lines[place].names)
        standing = {name: place for name, place in named if self._edits.lines[place].stands_for}
        gone_level, gone_depth = 0, -1
        """The level of a heading and the indentation of an entry that stay away with all below, while below it."""
        for line in draft:
            level, is_blank = heading_level(line.text), not line.text.strip()
            if level and (not gone_level or level <= gone_level):
                gone_level = level if all(map(is_deleted, line.names)) else 0
            if is_blank or indent(line.text) <= gone_depth:
                gone_depth = -1
            if gone_level or gone_depth >= 0:
                continue
            if not is_blank and standing.keys() >= line.names:
                kept = [at for _, at in self._found]
                for place in sorted({standing[name] for name in line.names}):
                    if place not in kept and bare(self._texts[place]) != bare(line.text):  # else moved
                        self._found.append((self._edits.lines[place], place))
            elif is_blank or not all(n in standing or is_deleted(n) or is_deleted(name_alone(n)) for n in line.names):
                self._found.append((line, None))
            elif not level:
                gone_depth = indent(line.text)

    def _insert(self, first: int, end: int) -> None:
        """Put a run of theirs behind what is below its anchor, or behind the paragraph where it stands apart."""
        found, at, is_apart = self._found, self._anchor(first) + 1, self._is_blank(first - 1)
        below = self._at(end) if is_apart and end < len(self._texts) else None
        if below is not None and below >= at:
            at = below
        else:
            while 0 < at < len(found) and self._goes_on(at, is_apart, indent(self._texts[first])):
                at += 1
        blank: tuple[Line, None] = (Line(""), None)
        run = [(line, place) for place, line in enumerate(self._edits.lines[first:end], first)]
        found[at:at] = [blank] * is_apart + run + [blank] * (self._is_blank(end) and at < len(found))

    def _goes_on(self, at: int, is_apart: bool, depth: int) -> bool:
        """Whether the line there belongs to the paragraph of the one before it, or lies deeper than `depth`."""
        before, text = (line.text for line, _ in self._found[at - 1 : at + 1])
        is_of_it = not (heading_level(before) or heading_level(text)) if is_apart else indent(text) > depth
        return bool(text.strip()) and is_of_it

    def _is_blank(self, place: int) -> bool:
        return 0 <= place < len(self._texts) and not self._texts[place].strip()

    def _anchor(self, first: int) -> int:
        """Where the nearest line above is that is still there, in the same section; -1 for the top."""
        above = [(place, at) for place in range(first - 1, -1, -1) if (at := self._at(place)) is not None]
        start = next((at for place, at in above if heading_level(self._texts[place])), -1)
        following = range(start + 1, len(self._found))
        end = next((at for at in following if heading_level(self._found[at][0].text)), len(self._found))
        near = (at for place, at in above if place == parent(self._texts, first) or start <= at < end)
        return next(near, -1)

    def _at(self, place: int) -> int | None:
        """Where a line of the block as it stands is by now."""
        line = self._edits.lines[place]
        if place in self._edits.yours:
            return next((at for at, (_, own) in enumerate(self._found) if own == place), None)
        ours = [(at, one) for at, (one, own) in enumerate(self._found) if own is None and one.text.strip()]
        by_name = (at for name in sorted(line.names) for at, one in ours if name in one.names)
        return next(chain((at for at, one in ours if bare(one.text) == bare(line.text)), by_name), None)
