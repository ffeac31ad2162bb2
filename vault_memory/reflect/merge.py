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
  apart by a blank line stays apart (placing.py). An entry of ours with lines of theirs below it stays with them: it is
  theirs too, once the draft does not have it any more.
- A line of theirs that says what one of the draft says is that line, and so is one in which only the name of a note is
  another, as the draft has it too: Obsidian renames a note in all lines that link it.
- The confidence of an opinion is what its evidence makes of it: given by hand it is heard (verdicts.py), and stands as
  it was given until the evidence moves it, in their line as in ours.
- A line of theirs that took the place of one whose fact has since gone from the notes is a conflict: it stays, and is
  told of.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence, Set
from typing import NamedTuple

from vault_memory.reflect.blocks import (
    Block,
    Line,
    bare,
    bullet,
    confidence,
    heading_level,
    indent,
    instead,
    sha,
    short,
    with_confidence_of,
)
from vault_memory.reflect.confidence import shown
from vault_memory.reflect.placing import Placing
from vault_memory.reflect.user_edits import NOBODY, Edits, alone, edited

__all__ = ["LINKED", "NOBODY", "Known", "Merged", "closed", "merged"]

LINKED = re.compile(r"(?<=\[\[)[^\[\]|#]+")
"""The names in links."""


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
    renamed: frozenset[str] = NOBODY
    """The facts of lines in which only a note has another name: the draft tells them as it has them."""


class Known(NamedTuple):
    """Names of lines that a person deleted from the page earlier, and of all facts there are."""

    hidden: Container[str] = NOBODY
    facts: Container[str] = NOBODY
    is_linked: Callable[[str], bool] = lambda name: True
    """Whether a note or a fact has this name, as a link has it."""
    same: Mapping[str, str] = {}
    """By the names of facts that state the same opinion what all of these are known by: a line that opens an entry with
    one of them tells what one with another would."""

    def called(self, line: Line) -> frozenset[str]:
        """What a line is known by, and what it is an entry of."""
        is_entry = bool(self.same) and bool(line.text) and not line.text[0].isspace()
        return line.names.union(filter(None, map(self.same.get, line.names))) if is_entry else line.names


def merged(draft: Sequence[Line], present: Block | None, last: Sequence[Line] | None, known: Known) -> Merged | None:
    """What a block that would hold `draft` by itself is to hold.

    None when a person changed it and `last`, what was written before, is not known.
    """
    if present is None:
        kept = _Without(draft, _Away(known)).kept
        return Merged(closed(kept), tuple(kept))
    if present.is_as_written:
        edits = _as_marked(present, last)
    elif last is None:
        return None
    else:
        edits = edited(present, last)
    edits, renamed = _taken_back(_with_confidences(edits, draft, known), draft, known)
    lines = _laid_out(draft, edits, known)
    yours = frozenset(place for place, (_, is_theirs) in enumerate(lines) if is_theirs)
    found = tuple(line for line, _ in lines)
    theirs = [line for line, is_theirs in lines if is_theirs]
    orphaned = tuple(line.text for line in theirs if _is_orphan(line, known.facts))
    return Merged(closed(found, yours), found, edits.deleted, orphaned, edits.is_edited, renamed)


def _laid_out(draft: Sequence[Line], edits: Edits, known: Known) -> list[tuple[Line, bool]]:
    """All lines in order, and which are theirs: with them those of ours that lines of theirs are below of."""
    while True:
        theirs = edits.theirs
        standing = {name for line in theirs.values() if line.keys or line.slot for name in known.called(line)}
        said = {bare(line.text) for line in theirs.values() if line.text.strip()}
        away = _Away(known, edits.deleted, standing, said)
        without = _Without(draft, away)
        kept = _styled(without.kept, edits)
        if not edits.yours:
            return [(line, False) for line in kept]
        placing = Placing(kept, edits, without.places(theirs))
        bereft = placing.bereft()
        if not bereft:
            return list(placing.lines())
        edits = edits._replace(yours=edits.yours | bereft)


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


# --- what only looks like an edit ------------------------------------------------------------------------------------


def _taken_back(edits: Edits, draft: Sequence[Line], known: Known) -> tuple[Edits, frozenset[str]]:
    """The edits without lines of theirs that say what the draft says by itself; and the facts that these told."""
    if not edits.yours:
        return edits, NOBODY
    drafted = {bare(line.text): line for line in reversed(draft) if line.text.strip()}
    lines, ours, renamed = list(edits.lines), set[int](), set[str]()
    for place, line in edits.theirs.items():
        same, was = drafted.get(bare(line.text)), edits.new.get(place)
        if not (was and _is_renamed(was, line.text, known.is_linked)):
            if same is None or not same.names.isdisjoint(line.names):
                continue  # their own line; or what they made of ours, as a number by hand that is told since
            if not _is_orphan(line, known.facts) if was is None else bare(was) == bare(line.text):
                continue
        if same:
            lines[place] = same._replace(text=line.text)
        ours.add(place)
        renamed |= line.facts
    is_edited = edits.is_edited and not (edits.new and not edits.deleted and ours.issuperset(edits.new))
    left = edits._replace(lines=tuple(lines), yours=edits.yours - ours, is_edited=is_edited)
    return left, frozenset(renamed)


def _with_confidences(edits: Edits, draft: Sequence[Line], known: Known) -> Edits:
    """The edits with the confidences that the draft has for the opinions that lines of theirs stand for."""
    ours = {name: line for line in draft if confidence(line.text) is not None for name in known.called(line)}
    lines = list(edits.lines)
    for place, line in edits.theirs.items() if ours else ():
        given = confidence(line.text) if line.keys else None
        same = next((ours[name] for name in sorted(known.called(line)) if name in ours), None)
        if given is not None and same and shown(given) != confidence(same.text):
            lines[place] = line._replace(text=with_confidence_of(line.text, same.text))
    return edits._replace(lines=tuple(lines))


def _is_orphan(line: Line, facts: Container[str]) -> bool:
    if not line.keys:
        return not all(name in facts for name in line.retold)
    return not any(name in facts for name in line.facts)


def _is_renamed(was: str, text: str, is_linked: Callable[[str], bool]) -> bool:
    """Whether lines differ only in names of notes, of which the old ones are nowhere any more."""
    if was == text or LINKED.sub("", bare(was)) != LINKED.sub("", bare(text)):
        return False
    pairs = zip(LINKED.findall(was), LINKED.findall(text), strict=True)
    return all(is_linked(new) and not is_linked(old) for old, new in pairs if old != new)


# --- what stays away -------------------------------------------------------------------------------------------------


class _Away(NamedTuple):
    """What is not to be written: names deleted earlier and now, names that lines of theirs stand for, their texts."""

    known: Known
    deleted: Container[str] = NOBODY
    standing: Set[str] = NOBODY
    said: Set[str] = NOBODY

    def has_section(self, line: Line) -> bool:
        """Whether this heading is to stay away with all below it."""
        return all(map(self._is_deleted, line.names))

    def has(self, line: Line) -> bool:
        """Whether this line is to stay away."""
        if not line.text.strip():
            return False
        if heading_level(line.text):
            return any(self._is_deleted(alone(name)) for name in line.names) or all(
                name in self.standing for name in line.names
            )
        return self.is_told(line) or all(map(self._has_name, line.names))

    def is_told(self, line: Line) -> bool:
        """Whether a line of theirs stands in the place of this one."""
        if self.said and bare(line.text) in self.said:
            return True
        return line.names <= self.standing or any(name in self.standing for name in self.called(line) - line.names)

    def called(self, line: Line) -> frozenset[str]:
        """What a line is known by, and what it is an entry of."""
        return self.known.called(line)

    def has_part(self, line: Line) -> bool:
        """Whether some of the facts that a line tells are to stay away, and it can be told without them."""
        return bool(line.parts) and any(map(self._has_name, line.names))

    def _has_name(self, name: str) -> bool:
        return self._is_deleted(name) or name in self.standing

    def _is_deleted(self, name: str) -> bool:
        return name in self.known.hidden or name in self.deleted


class _Without:
    """The draft without what is to stay away; of a section whose heading is to, nothing is left, nor of an entry."""

    def __init__(self, draft: Sequence[Line], away: _Away) -> None:
        self.kept: list[Line] = []
        self._away = away
        self._told: list[tuple[Line, int]] = []
        """The lines in whose place one of theirs stands, and where that is."""
        gone = 0  # the level of the heading that stays away, while below it
        depth = -1  # how far the entry is moved in that stays away, while below it
        is_cut = False
        for line in draft:
            level = heading_level(line.text)
            if level and (not gone or level <= gone):
                gone = level if away.has_section(line) else 0
            if not line.text.strip() or indent(line.text) <= depth:
                depth = -1
            if gone or depth >= 0 or away.has(line):
                is_cut = True
                if not gone and depth < 0 and line.text.strip() and not level:
                    depth = self._cut(line)
            elif away.has_part(line):
                self.kept += (part for part in line.parts if not away.has(part))
            elif not (is_cut and not line.text.strip() and not (self.kept and self.kept[-1].text.strip())):
                # Where lines were cut out, the blank ones around them do not pile up.
                self.kept.append(line)

    def _cut(self, line: Line) -> int:
        """Leave a line out; how far it is moved in where what is below it goes with it, else -1."""
        if not self._away.is_told(line):
            return indent(line.text)
        self._told.append((line, len(self.kept)))
        return -1

    def places(self, theirs: Mapping[int, Line]) -> dict[int, int]:
        """By the places of lines of theirs, before which of those kept each goes whose own lines follow there."""
        found: dict[int, int] = {}
        for line, at in self._told:
            depth = indent(line.text)
            if at == len(self.kept) or not self.kept[at].text.strip() or indent(self.kept[at].text) <= depth:
                continue
            for place, one in theirs.items():
                is_it = (one.keys or one.slot) and not self._away.called(line).isdisjoint(self._away.called(one))
                if place not in found and is_it and indent(one.text) <= depth:
                    found[place] = at
                    break
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
