"""Merges a new draft of a generated block with what a person did to the block. Pure.

Three texts meet, line by line: the block as it was last written, as it is now, and the new draft. Generated lines are
"ours", a person's are "yours", as in the block's marker. Three guarantees: what a person added, changed or deleted
stays that way; a merge with nothing new changes nothing; conflicts are reported.

`find_edits` compares the block with what was last written:
- A line of ours that is missing was deleted. It stays away: the journal remembers its name.
- A line that is not ours is yours from now on. If it replaced one of ours, that one stays away as long as yours exists.
- A line that differs only in an opinion's confidence, the name of a renamed note, the bullet or spaces stays ours.
  Blank lines are nobody's.

`merge_block` takes the draft without what was deleted:
- A line of yours that replaced one of ours takes its place; one that was only moved stays where it was put.
- Any other line of yours stays behind the line above it, or the nearest above that still exists. An entry of ours with
  lines of yours below it stays with them.
- A line of yours whose fact has gone from the notes is a conflict: it stays, and is reported.

Only the device that wrote a block has its last text. Other devices know your lines from the marker, and from the
journal which of ours stay away.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain, count, pairwise, takewhile
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
"""What remains of a forgotten entry that a person wrote something below."""

LINKED = re.compile(r"(?<=\[\[)[^\[\]|#]+")
"""The note names in wikilinks."""

_BLOCK_ID = re.compile(r"\s(\^[\w-]+)\s*$")


class MergeResult(NamedTuple):
    """The block to write, and its lines with the facts they rest on."""

    block: Block
    lines: tuple[Line, ...]
    replaced: frozenset[str] = NO_NAMES
    """The names of lines of ours that one of yours replaces, for the journal: only the lines themselves are gone."""
    orphaned: tuple[str, ...] = ()
    """Lines of yours whose facts are all gone."""


class PageHistory(NamedTuple):
    """What is known besides a page and its draft: the names of all facts, and of those that no page may show because
    they are forgotten or private; and whether a link of a given name leads to a note."""

    facts: Container[str] = NO_NAMES
    withheld: Container[str] = NO_NAMES
    is_linked: Callable[[str], bool] = lambda name: True
    last: Callable[[str], Sequence[Line] | None] = lambda sha: None
    """Returns the lines of a block as last written, by its hash."""
    hidden: Callable[[str], Container[str]] = lambda path: NO_NAMES
    """Returns the names of the lines that were deleted from a page, by its path."""
    force: bool = False
    unread: str = ""
    """A note that cannot be read: a missing fact may be in it."""


class Edits(NamedTuple):
    """A block as it is now: its lines, each with the facts or slot of the line of ours that it is or replaced; the
    positions of yours; and the names of the lines of ours that were deleted."""

    lines: tuple[Line, ...] = ()
    yours: frozenset[int] = frozenset()
    deleted: frozenset[str] = NO_NAMES
    is_edited: bool = False
    """Whether more than its style was changed since it was written."""

    def without(self, is_settled: Callable[[str], bool]) -> "Edits":
        """The same without the settled lines."""
        left = [place for place, line in enumerate(self.lines) if not is_settled(line.text)]
        yours = frozenset(at for at, place in enumerate(left) if place in self.yours)
        return self._replace(lines=tuple(self.lines[place] for place in left), yours=yours)


def name_alone(name: str) -> str:
    """The name under which a line is deleted alone, without what is below it."""
    return f"{name}~"


# --- what was done to the block --------------------------------------------------------------------------------------


def find_edits(
    present: Block, last: Sequence[Line] | None, is_linked: Callable[[str], bool] = lambda name: True
) -> Edits:
    """Find what a person did to a block, given the lines `last` written; without them only what its marker records."""
    texts = present.lines
    if last is None:
        return Edits(tuple(map(Line, texts)), present.yours.intersection(_text_places(texts)))
    written = [line.text for line in last]
    same, hunks = _compare(written, texts)
    replaced = _find_replaced(written, texts, hunks)
    lines, yours = list(map(Line, texts)), {place for _, new in hunks for place in new}
    for place, was in same.items():
        lines[place] = last[was]._replace(text=texts[place])
        if was in present.yours:
            yours.add(place)
    for place, was in replaced.items():
        line, is_ours = last[was], was not in present.yours
        if is_ours and _is_renamed(line.text, texts[place], is_linked):
            lines[place] = line._replace(text=texts[place])
            yours.discard(place)
        elif is_ours or line.stands_for:
            slot = "" if line.keys else next(iter(line.names))
            lines[place] = Line(texts[place], line.keys, slot, of=line.of)
    gone = {at for old, _ in hunks for at in old}
    standing = {name for place in yours if lines[place].stands_for for name in lines[place].names}
    deleted = _deleted_names(present, last, gone, replaced.values()) - standing
    is_edited = [bare(text) for text in written if text.strip()] != [bare(text) for text in texts if text.strip()]
    return Edits(tuple(lines), frozenset(yours), frozenset(deleted), is_edited)


Hunk = tuple[Sequence[int], Sequence[int]]
"""The positions of some lines that were written, and of those that are in their place now."""


def _compare(written: Sequence[str], texts: Sequence[str]) -> tuple[dict[int, int], list[Hunk]]:
    """Which lines are as written, by their positions now, with those at which they were written; and the rest."""
    before, now = _text_places(written), _text_places(texts)
    same, hunks = dict[int, int](), list[Hunk]()
    compared = [without_confidence(written[at]) for at in before], [without_confidence(texts[at]) for at in now]
    for what, i, j, k, m in SequenceMatcher(None, *compared, autojunk=False).get_opcodes():
        if what == "equal":
            same.update(zip(now[k:m], before[i:j], strict=True))
        else:
            hunks.append((before[i:j], now[k:m]))
    return same, hunks


def _text_places(texts: Sequence[str]) -> list[int]:
    return [place for place, text in enumerate(texts) if text.strip()]


def _find_replaced(written: Sequence[str], texts: Sequence[str], hunks: Sequence[Hunk]) -> dict[int, int]:
    """Map the positions of new lines to those of the written lines they replaced: by the same words (it was moved);
    within a hunk by block id or citation; the rest in order, if as many were added as removed."""
    found: dict[int, int] = {}

    def pair(gone: Sequence[int], new: Sequence[int], name: Callable[[str], str]) -> None:
        left = {name(written[at]): at for at in reversed(gone) if at not in found.values()}
        for place in new:
            if place not in found and (known := name(texts[place])) in left and known:
                found[place] = left.pop(known)

    pair([at for gone, _ in hunks for at in gone], [place for _, new in hunks for place in new], bare)
    for gone, new in hunks:
        pair(gone, new, _mark)
        others = [place for place in new if place not in found], [at for at in gone if at not in found.values()]
        if len(others[0]) == len(others[1]):
            found.update(zip(*others, strict=True))
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


# --- the merged block ------------------------------------------------------------------------------------------------


def merge_block(draft: Sequence[Line], edits: Edits, past: PageHistory, hidden: Container[str]) -> MergeResult:
    """Merge a draft with the edits to its block; `hidden` are the names of lines deleted earlier."""
    merged = _MergedLines(_keep_parents(edits, draft, past, hidden))
    merged.take(draft, lambda name: name in hidden or name in edits.deleted)
    merged.add_yours()
    # Never two blank lines of ours in a row, nor one on top.
    found = [
        (line, place is not None)
        for at, (line, place) in enumerate(merged.lines)
        if place is not None or line.text.strip() or (at > 0 and merged.lines[at - 1][0].text.strip())
    ]
    lines = tuple(line for line, _ in found)
    yours = frozenset(at for at, (_, is_yours) in enumerate(found) if is_yours)
    standing = (lines[at] for at in yours if lines[at].stands_for)
    replaced = frozenset(name_alone(name) for line in standing for name in line.names)
    resting = ((lines[at].text, lines[at].facts) for at in sorted(yours) if lines[at].keys)
    orphaned = tuple(text for text, names in resting if not any(name in past.facts for name in names))
    texts = tuple(line.text for line in lines)
    cites = tuple(fact_name(key) for at, line in enumerate(lines) if at not in yours for key in line.keys)
    block = Block(texts, sha(texts), cites, yours)
    return MergeResult(block, lines, replaced, orphaned)


def _keep_parents(edits: Edits, draft: Sequence[Line], past: PageHistory, hidden: Container[str]) -> Edits:
    """Make an entry of ours yours if the draft no longer has it and lines of yours are below it; a forgotten or
    private one is replaced by FORGOTTEN."""
    lines, yours, texts = list(edits.lines), set(edits.yours), [line.text for line in edits.lines]
    told = {name for line in draft for name in (text_name(line.text), *line.names) if name not in hidden}
    for place in sorted(edits.yours):
        while (place := _parent(texts, place)) >= 0 and place not in yours and bullet(texts[place]):
            line = lines[place]
            if told.isdisjoint((text_name(line.text), *line.names)):
                yours.add(place)
                if line.facts and all(name in past.withheld for name in line.facts):
                    lines[place] = Line(line.text[: indent(line.text)] + FORGOTTEN)
    return edits._replace(lines=tuple(lines), yours=frozenset(yours))


def _parent(texts: Sequence[str], place: int) -> int:
    """The position of the nearest less indented line above, within the section; -1 if there is none."""
    for above in range(place - 1, -1, -1):
        if heading_level(texts[above]):
            break
        if texts[above].strip() and indent(texts[above]) < indent(texts[place]):
            return above
    return -1


class _MergedLines:
    """The lines of the merged block so far, each of yours with its position in the current block."""

    def __init__(self, edits: Edits) -> None:
        self.lines: list[tuple[Line, int | None]] = []
        self._edits, self._texts = edits, [line.text for line in edits.lines]
        self._yours = [place for place in sorted(edits.yours) if self._texts[place].strip()]

    def take(self, draft: Iterable[Line], is_deleted: Callable[[str], bool]) -> None:
        """Take the lines of the draft that were not deleted, or the lines of yours that replaced them."""
        named = ((name, place) for place in reversed(self._yours) for name in self._edits.lines[place].names)
        standing = {name: place for name, place in named if self._edits.lines[place].stands_for}
        gone: int | None = None
        for line in draft:
            # A heading encloses deeper headings and all other lines, an entry the lines indented below it.
            depth = heading_level(line.text) or 7 + indent(line.text)
            if gone is not None and depth > gone:
                continue  # below a deleted heading or entry
            gone = None
            if not line.text.strip():
                self.lines.append((line, None))
            elif standing.keys() >= line.names:
                taken = [place for _, place in self.lines]
                for place in sorted({standing[name] for name in line.names}):
                    if place not in taken and bare(self._texts[place]) != bare(line.text):  # else it was only moved
                        self.lines.append((self._edits.lines[place], place))
            elif not all(name in standing or is_deleted(name) or is_deleted(name_alone(name)) for name in line.names):
                self.lines.append((line, None))
            elif not heading_level(line.text) or all(map(is_deleted, line.names)):
                gone = depth

    def add_yours(self) -> None:
        """Add the other lines of yours, each behind the line that it stands behind now."""
        taken = {place for _, place in self.lines}
        places = [place for place in self._yours if place not in taken]
        between = {
            place
            for before, after in pairwise(places)
            if not any(map(str.strip, self._texts[before + 1 : after]))  # blank lines inside what was written
            for place in range(before + 1, after)
        }
        added = between.union(places)
        for place in sorted(added):
            self._add(place, added)

    def _add(self, place: int, added: Container[int]) -> None:
        """Add a line of yours behind its anchor and what is below that, or behind the paragraph if set apart."""
        is_apart, is_apart_below = (self._is_blank(near) and near not in added for near in (place - 1, place + 1))
        at, depth = self._anchor(place, added) + 1, indent(self._texts[place])
        end = next(near for near in count(place) if near not in added)
        below = self._index(end) if is_apart and end < len(self._texts) else -1
        if below >= at:  # it stands on top of a paragraph
            at = below
        else:
            while 0 < at < len(self.lines) and self._goes_on(at, is_apart, depth):
                at += 1
        blank: tuple[Line, None] = (Line(""), None)
        is_last = at == len(self.lines)
        new = [blank] * is_apart + [(self._edits.lines[place], place)] + [blank] * (is_apart_below and not is_last)
        self.lines[at:at] = new

    def _goes_on(self, at: int, is_apart: bool, depth: int) -> bool:
        """Whether the line at `at` continues the paragraph before it or, if not `is_apart`, is deeper than `depth`."""
        before, text = (line.text for line, _ in self.lines[at - 1 : at + 1])
        is_of_it = not (heading_level(before) or heading_level(text)) if is_apart else indent(text) > depth
        return bool(text.strip()) and is_of_it

    def _is_blank(self, place: int) -> bool:
        return 0 <= place < len(self._texts) and not self._texts[place].strip()

    def _anchor(self, place: int, added: Container[int]) -> int:
        """The index of the nearest line above that still exists, in the same section; -1 for the top."""
        if place - 1 in added:
            return self._index(place - 1)
        above = [(near, at) for near in range(place - 1, -1, -1) if (at := self._index(near)) >= 0]
        start = next((at for near, at in above if heading_level(self._texts[near])), -1)
        following = range(start + 1, len(self.lines))
        end = next((at for at in following if heading_level(self.lines[at][0].text)), len(self.lines))
        parent = _parent(self._texts, place)
        return next((at for near, at in above if near == parent or start <= at < end), -1)

    def _index(self, place: int) -> int:
        """The index that a line of the current block now has in the merged lines; -1 if it is not there."""
        found = next((at for at, (_, own) in enumerate(self.lines) if own == place), -1)
        if found >= 0 or place in self._edits.yours or self._is_blank(place):
            return found
        was, ours = self._edits.lines[place], [(at, line) for at, (line, own) in enumerate(self.lines) if own is None]
        same = (at for at, line in ours if bare(line.text) == bare(was.text))
        named = (at for at, line in ours if not line.names.isdisjoint(was.names))
        return next(chain(same, named), -1)
