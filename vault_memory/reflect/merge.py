"""Merges a new draft of a generated block with the user's edits to the block. Pure.

Three guarantees: what the user added, changed or deleted stays that way; a merge with nothing new changes nothing;
conflicts are reported. "Ours" are generated lines, "theirs" the user's. How the guarantees are kept:
- A block that is not as written is compared, line by line, with what was last written. A missing line of ours was
  deleted: it stays away (the journal remembers). A line that is not ours is theirs from now on.
- A line that replaced one of ours, or was moved, is theirs, and keeps out what it replaced for as long as it exists.
  It takes our line's place in the draft; a line that was only moved stays where it was put.
- Any other line of theirs stays after the line it followed, or the nearest one above that still exists. An entry of
  ours that has lines of theirs below it stays with them.
- A line that differs only in an opinion's confidence, the name of a renamed note, the bullet or spaces stays ours and
  is kept up to date. Blank lines are nobody's.
- Which line theirs replaced is known from the last text, which only the device that wrote it has; other devices know
  from the journal that ours stays away.
- A line of theirs whose fact has gone from the notes is a conflict: it stays, and is reported.
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
"""What remains of a forgotten entry that the user wrote something below."""

LINKED = re.compile(r"(?<=\[\[)[^\[\]|#]+")
"""The note names in wikilinks."""

_BLOCK_ID = re.compile(r"\s(\^[\w-]+)\s*$")


class MergeResult(NamedTuple):
    """The block to write, and its lines with the facts they rest on."""

    block: Block
    lines: tuple[Line, ...]
    replaced: frozenset[str] = NO_NAMES
    """The names of lines of ours that one of theirs replaces, for the journal: only the lines themselves are gone."""
    orphaned: tuple[str, ...] = ()
    """Lines of theirs whose facts are all gone."""


class KnownFacts(NamedTuple):
    """The names of all facts, and of those that no page may show because they are forgotten or private; and whether a
    link of a given name leads to a note."""

    names: Container[str] = NO_NAMES
    withheld: Container[str] = NO_NAMES
    is_linked: Callable[[str], bool] = lambda name: True


class Edits(NamedTuple):
    """A block as it is now: its lines, each with the facts or slot of the line of ours that it is or replaced; the
    positions of theirs; and the names of the lines of ours that they deleted."""

    lines: tuple[Line, ...] = ()
    yours: frozenset[int] = frozenset()
    deleted: frozenset[str] = NO_NAMES
    is_edited: bool = False
    """Whether they changed more than its style since it was written."""

    def without(self, is_settled: Callable[[str], bool]) -> "Edits":
        """The same without the settled lines."""
        left = [place for place, line in enumerate(self.lines) if not is_settled(line.text)]
        yours = frozenset(at for at, place in enumerate(left) if place in self.yours)
        return self._replace(lines=tuple(self.lines[place] for place in left), yours=yours)


def merge_block(draft: Sequence[Line], edits: Edits, facts: KnownFacts, hidden: Container[str]) -> MergeResult:
    """Merge a draft with the edits to its block; `hidden` are the names of lines deleted earlier."""
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
    """The name under which a line is deleted alone, without what is below it."""
    return f"{name}~"


# --- the user's edits ------------------------------------------------------------------------------------------------


def find_edits(
    present: Block, last: Sequence[Line] | None, is_linked: Callable[[str], bool] = lambda name: True
) -> Edits:
    """Find what the user did to a block, given the lines `last` written; without them only what its marker records."""
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
    """Map the positions of new lines to those of the written lines they replaced: by the same words (it was moved);
    within a hunk by block id or citation; the rest in order, if as many were added as removed."""
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
    """The names of the lines of ours that were deleted; a heading alone if generated lines of its section remain."""
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
    """The block id or citation at the end of a line, which identifies it whatever its words; or ""."""
    if found := _BLOCK_ID.search(text):
        return found[1]
    _, dash, cited = text.rpartition(" — ")
    return cited.strip() if dash and "]" in cited else ""


def _is_renamed(was: str, text: str, is_linked: Callable[[str], bool]) -> bool:
    """Whether two lines differ only in linked note names, the old of which no longer exist while the new ones do."""
    if bare(was) == bare(text) or LINKED.sub("", bare(was)) != LINKED.sub("", bare(text)):
        return False
    pairs = zip(LINKED.findall(was), LINKED.findall(text), strict=True)
    return all(is_linked(new) and not is_linked(old) for old, new in pairs if old != new)


def _keep_parents(edits: Edits, draft: Sequence[Line], facts: KnownFacts, hidden: Container[str]) -> Edits:
    """Make an entry of ours theirs if the draft no longer has it and lines of theirs are below it; a forgotten or
    private one is replaced by FORGOTTEN."""
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
    """The position of the nearest less indented line above, within the section; -1 if there is none."""
    for above in range(place - 1, -1, -1):
        if heading_level(texts[above]):
            break
        if texts[above].strip() and indent(texts[above]) < indent(texts[place]):
            return above
    return -1


# --- the merged lines ------------------------------------------------------------------------------------------------


class _MergedLines:
    """The draft without the deleted lines, and with theirs inserted."""

    def __init__(self, draft: Sequence[Line], edits: Edits, hidden: Container[str]) -> None:
        self._edits, self._texts = edits, [line.text for line in edits.lines]
        self._found: list[tuple[Line, int | None]] = []
        """The lines in order, each of theirs with its position in the current block."""
        theirs = [place for place in sorted(edits.yours) if self._texts[place].strip()]
        self._keep(draft, theirs, lambda name: name in hidden or name in edits.deleted)
        kept = {place for _, place in self._found}
        runs: list[tuple[int, int]] = []  # lines that stay together, including blank ones between them
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
        """All lines in order, and whether each is theirs; never two blank lines of ours in a row."""
        lines: list[tuple[Line, bool]] = []
        for line, place in self._found:
            if place is not None or line.text.strip() or (lines and lines[-1][0].text.strip()):
                lines.append((line, place is not None))
        return lines

    def _keep(self, draft: Sequence[Line], theirs: Sequence[int], is_deleted: Callable[[str], bool]) -> None:
        """Keep the lines of the draft, or the lines of theirs that replace them."""
        named = ((name, place) for place in reversed(theirs) for name in self._edits.lines[place].names)
        standing = {name: place for name, place in named if self._edits.lines[place].stands_for}
        gone_level, gone_depth = 0, -1
        """The level of a deleted heading, and the indentation of a deleted entry, while in what is below it."""
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
        """Insert a run of theirs after its anchor and what is below that, or after the paragraph if set apart."""
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
        """Whether the line at `at` continues the paragraph before it or, if not `is_apart`, is deeper than `depth`."""
        before, text = (line.text for line, _ in self._found[at - 1 : at + 1])
        is_of_it = not (heading_level(before) or heading_level(text)) if is_apart else indent(text) > depth
        return bool(text.strip()) and is_of_it

    def _is_blank(self, place: int) -> bool:
        return 0 <= place < len(self._texts) and not self._texts[place].strip()

    def _anchor(self, first: int) -> int:
        """The index of the nearest line above that still exists, in the same section; -1 for the top."""
        above = [(place, at) for place in range(first - 1, -1, -1) if (at := self._at(place)) is not None]
        start = next((at for place, at in above if heading_level(self._texts[place])), -1)
        following = range(start + 1, len(self._found))
        end = next((at for at in following if heading_level(self._found[at][0].text)), len(self._found))
        near = (at for place, at in above if place == parent(self._texts, first) or start <= at < end)
        return next(near, -1)

    def _at(self, place: int) -> int | None:
        """The index that a line of the current block now has in the merged lines."""
        line = self._edits.lines[place]
        if place in self._edits.yours:
            return next((at for at, (_, own) in enumerate(self._found) if own == place), None)
        ours = [(at, one) for at, (one, own) in enumerate(self._found) if own is None and one.text.strip()]
        by_name = (at for name in sorted(line.names) for at, one in ours if name in one.names)
        return next(chain((at for at, one in ours if bare(one.text) == bare(line.text)), by_name), None)
