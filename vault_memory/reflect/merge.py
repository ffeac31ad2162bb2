"""Merges a generated block with what a person made of it. Pure.

Three promises: words that a person added, changed or deleted stay so; a merge with nothing new changes nothing; a
conflict is told. How they are kept:
- A block that is not as it was written is compared, line by line, with what was written last. A line of ours that is
  gone was deleted: it stays away (the journal keeps that). A line that is not ours is theirs, from now on.
- A line that replaced one of ours, or was moved, is theirs and stands for what it replaced, which stays away for as
  long as it is there. It takes the place of ours in the draft; a line that was only moved stays where it was put.
- All other lines of theirs stay behind the line they stood behind, or the nearest one above it that is still there. An
  entry of ours that lines of theirs belong to stays with them.
- A line in which only the confidence of an opinion differs, or a note's name that Obsidian changed in its links, stays
  ours, to be kept up to date; so does one with another bullet or other spaces. Blank lines are nobody's.
- A line of theirs whose fact has gone from the notes is a conflict: it stays, and is told.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from vault_memory.reflect.blocks import (
    Block,
    Line,
    bare,
    bullet,
    heading_level,
    indent,
    replacement,
    sha,
    short,
    without_confidence,
)

NOBODY: frozenset[str] = frozenset()

LINKED = re.compile(r"(?<=\[\[)[^\[\]|#]+")
"""The names in links."""

_BLOCK_ID = re.compile(r"\s(\^[\w-]+)\s*$")


class MergeResult(NamedTuple):
    """What is to be written: the block, its lines with the facts they cite, and what became of a person's edits.

    `deleted` names lines that they do not want to see again, `orphaned` are lines of theirs whose fact is gone.
    """

    block: Block
    lines: tuple[Line, ...]
    deleted: frozenset[str] = NOBODY
    orphaned: tuple[str, ...] = ()
    is_edited: bool = False
    """Whether a person changed more than its style since it was written."""


class MergeContext(NamedTuple):
    """Names of lines that a person deleted earlier, the names of all facts, and whether a link's name is in use."""

    hidden: Container[str] = NOBODY
    facts: Container[str] = NOBODY
    is_linked: Callable[[str], bool] = lambda name: True


class Edits(NamedTuple):
    """A block as it stands: its lines with the facts each stands for, which are a person's (by place), which of our
    names are gone, and by place what those said before that replaced one of ours."""

    lines: tuple[Line, ...]
    yours: frozenset[int]
    deleted: frozenset[str] = NOBODY
    changed: Mapping[int, str] = {}
    is_edited: bool = False


def merged(
    draft: Sequence[Line], present: Block | None, last: Sequence[Line] | None, context: MergeContext
) -> MergeResult | None:
    """What a block is to hold that would hold `draft` by itself; None where it was edited and `last` is not known."""
    if present is None:
        lines = tuple(line for line, _ in _Layout(draft, Edits((), frozenset()), context).lines())
        return MergeResult(closed(lines), lines)
    if not present.is_as_written and last is None:
        return None
    edits = _without_ours(edited(present, last), draft, context)
    layout = _Layout(draft, edits, context)
    while lone := layout.lone_parents():
        edits = edits._replace(yours=edits.yours | lone)
        layout = _Layout(draft, edits, context)
    found = list(layout.lines())
    yours = frozenset(place for place, (_, is_theirs) in enumerate(found) if is_theirs)
    all_lines = tuple(line for line, _ in found)
    orphaned = tuple(line.text for line, is_theirs in found if is_theirs and _is_orphan(line, context.facts))
    return MergeResult(closed(all_lines, yours), all_lines, edits.deleted, orphaned, edits.is_edited)


def closed(lines: Sequence[Line], yours: frozenset[int] = frozenset(), by: str = "") -> Block:
    """The block of these lines, with what its closing marker says; `yours` are places among them."""
    texts = tuple(line.text for line in lines)
    cites = tuple(short(key) for place, line in enumerate(lines) if place not in yours for key in line.keys)
    instead = (replacement(place, lines[place]) for place in sorted(yours) if lines[place].stands_for)
    return Block(texts, sha(texts), cites, yours, by, tuple(filter(None, instead)))


def alone(name: str) -> str:
    """The name of a heading that was deleted without what stood below it."""
    return f"{name}~"


# --- what a person did -----------------------------------------------------------------------------------------------


def edited(present: Block, last: Sequence[Line] | None) -> Edits:
    """What a person did to a block, `last` being what was written there; without it only what the marker says."""
    if last is None:
        marked = present.replacements()
        lines = tuple(marked.get(place, Line(text)) for place, text in enumerate(present.lines))
        return Edits(lines, _said(present, present.yours))
    now, before = _said(present, range(len(present.lines))), [at for at, line in enumerate(last) if line.text.strip()]
    return _Comparison(present, last, sorted(now), before).edits()


def _said(block: Block, places: Iterable[int]) -> frozenset[int]:
    """Those of these places with a line that says something."""
    return frozenset(place for place in places if place < len(block.lines) and block.lines[place].strip())


class _Comparison:
    """A block and what was written last; `now` and `before` are the places of lines that are not blank."""

    def __init__(self, present: Block, last: Sequence[Line], now: Sequence[int], before: Sequence[int]) -> None:
        self._present, self._last = present, last
        self._lines = [Line(text) for text in present.lines]
        self._yours: set[int] = set()
        self._changed: dict[int, str] = {}
        hunks: list[tuple[list[int], list[int]]] = []
        texts = [bare(last[at].text) for at in before], [bare(present.lines[at]) for at in now]
        for what, i, j, k, m in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
            if what == "equal":
                self._keep(zip(now[k:m], before[i:j], strict=True))
            else:
                hunks.append((list(before[i:j]), list(now[k:m])))
        self._gone = [at for gone, _ in hunks for at in gone]
        self._yours.update(at for _, new in hunks for at in new)
        self._deleted = self._resolved(hunks)
        self._is_edited = bool(hunks)

    def edits(self) -> Edits:
        names = self._names_of(self._deleted)
        return Edits(tuple(self._lines), frozenset(self._yours), names, self._changed, self._is_edited)

    def _keep(self, same: Iterable[tuple[int, int]]) -> None:
        for place, was in same:
            self._lines[place] = self._last[was]._replace(text=self._lines[place].text)
            if was in self._present.yours:
                self._yours.add(place)

    def _resolved(self, hunks: Sequence[tuple[list[int], list[int]]]) -> list[int]:
        """Have new lines stand for those they replaced or are; the places of those that are gone altogether."""
        texts = {bare(self._last[at].text): at for at in reversed(self._gone)}
        left = set(self._gone)
        for _, new in hunks:
            for place in new:
                was = texts.get(bare(self._lines[place].text))
                if was in left:  # moved
                    self._stand_for(place, was)
                    left.discard(was)
        for gone, new in hunks:
            lost = [at for at in gone if at in left]
            for place, was in self._pairs(lost, [at for at in new if not self._lines[at].stands_for]):
                self._stand_for(place, was)
                self._changed[place] = self._last[was].text
                left.discard(was)
        return sorted(left)

    def _pairs(self, gone: list[int], new: list[int]) -> Iterator[tuple[int, int]]:
        """Which new line replaced which that is gone: by block id or citation, else one by one if as many came."""
        marks = {mark: at for at in gone if (mark := _mark(self._last[at].text))}
        found = {at: marks.pop(mark) for at in new if (mark := _mark(self._lines[at].text)) in marks}
        gone, new = [at for at in gone if at not in found.values()], [at for at in new if at not in found]
        if len(gone) == len(new):
            pairs = zip(new, gone, strict=True)
            found.update(
                (at, was) for at, was in pairs if self._is_heading(self._lines[at]) == self._is_heading(self._last[was])
            )
        yield from found.items()

    @staticmethod
    def _is_heading(line: Line) -> bool:
        return heading_level(line.text) > 0

    def _stand_for(self, place: int, was: int) -> None:
        line = self._last[was]
        if line.stands_for or was not in self._present.yours:
            slot = "" if line.keys else next(iter(line.names))
            self._lines[place] = Line(self._lines[place].text, line.keys, slot, of=line.of)

    def _names_of(self, deleted: Sequence[int]) -> frozenset[str]:
        """What lines that are gone are known by; a heading with all of its section, or alone."""
        found: set[str] = set()
        for at in deleted:
            line = self._last[at]
            if at in self._present.yours and not line.stands_for:
                continue  # their own
            is_alone = self._is_heading(line) and not self._is_section_gone(at, deleted)
            found.update(alone(name) if is_alone else name for name in line.names)
        return frozenset(found - {name for place in self._yours for name in self._names(place)})

    def _names(self, place: int) -> frozenset[str]:
        return self._lines[place].names if self._lines[place].stands_for else NOBODY

    def _is_section_gone(self, heading: int, deleted: Container[int]) -> bool:
        level = heading_level(self._last[heading].text)
        for at in range(heading + 1, len(self._last)):
            text = self._last[at].text
            if 0 < heading_level(text) <= level:
                break
            if text.strip() and at not in self._gone and at not in self._present.yours:
                return False
        return True


def _mark(text: str) -> str:
    """The block id or the citation at the end of a line, by which it is known whatever its words; or ""."""
    if found := _BLOCK_ID.search(text):
        return found[1]
    _, dash, cited = text.rpartition(" — ")
    return cited.strip() if dash and "]" in cited else ""


def _without_ours(edits: Edits, draft: Sequence[Line], context: MergeContext) -> Edits:
    """The edits without lines of theirs in which only a confidence or the name of a note differs from ours."""
    drafted = {name: line for line in reversed(draft) if line.text.strip() for name in line.names}
    lines, ours = list(edits.lines), set[int]()
    for place in edits.yours:
        line, was = edits.lines[place], edits.changed.get(place)
        names = sorted(line.names) if line.stands_for else ()
        same = next((drafted[name] for name in names if name in drafted), None)
        is_moved = same is not None and was is None and bare(same.text) == bare(line.text)
        if same and not is_moved and without_confidence(same.text) == without_confidence(line.text):
            lines[place] = same  # a confidence given by hand was heard before
            ours.add(place)
        elif was is not None and _is_renamed(was, line.text, context.is_linked):
            ours.add(place)
    return edits._replace(lines=tuple(lines), yours=edits.yours - ours)


def _is_renamed(was: str, text: str, is_linked: Callable[[str], bool]) -> bool:
    """Whether lines differ only in names of notes, of which the old ones are nowhere any more."""
    if was == text or LINKED.sub("", bare(was)) != LINKED.sub("", bare(text)):
        return False
    pairs = zip(LINKED.findall(was), LINKED.findall(text), strict=True)
    return all(is_linked(new) and not is_linked(old) for old, new in pairs if old != new)


def _is_orphan(line: Line, facts: Container[str]) -> bool:
    if not line.keys:
        return not all(name in facts for name in line.retold)
    return not any(name in facts for name in line.facts)


# --- the lines of both -----------------------------------------------------------------------------------------------


class _Layout:
    """The draft without what stays away, and their lines among it."""

    def __init__(self, draft: Sequence[Line], edits: Edits, context: MergeContext) -> None:
        self._edits, self._context = edits, context
        self._theirs = {place: edits.lines[place] for place in sorted(edits.yours) if edits.lines[place].text.strip()}
        self._standing = {
            name: at for at, line in reversed(self._theirs.items()) if line.stands_for for name in line.names
        }
        ours = {bare(line.text) for place, line in enumerate(edits.lines) if place not in edits.yours}
        self._said = {bare(line.text) for line in self._theirs.values()} - ours
        self._parents = parents([line.text for line in edits.lines])
        self._kept: list[tuple[Line, int | None]] = []
        """Lines in order, those of theirs that stand in the place of one of ours with their own place."""
        self._keep(draft)
        self._at_name: dict[str, int] = {}
        self._at_text: dict[str, int] = {}
        for at, (line, place) in enumerate(self._kept):
            if place is None and line.text.strip():
                self._at_text.setdefault(bare(line.text), at)
                for name in line.names:
                    self._at_name.setdefault(name, at)
        self._at_place = {place: at for at, (_, place) in enumerate(self._kept) if place is not None}

    # --- what stays away -----------------------------------------------------------------------------------------

    def _keep(self, draft: Sequence[Line]) -> None:
        gone_level, gone_depth, is_cut = 0, -1, False
        """The level of a heading and the indentation of an entry that stay away with all below, while below it."""
        for line in draft:
            level, is_blank = heading_level(line.text), not line.text.strip()
            if level and (not gone_level or level <= gone_level):
                gone_level = level if all(map(self._is_deleted, line.names)) else 0
            if is_blank or indent(line.text) <= gone_depth:
                gone_depth = -1
            if gone_level or gone_depth >= 0:
                is_cut = True
            elif is_blank:
                if not is_cut or (self._kept and self._kept[-1][0].text.strip()):
                    self._kept.append((line, None))
            elif not self._put(line):
                is_cut = True
                if not level and not self._is_told(line):
                    gone_depth = indent(line.text)

    def _put(self, line: Line) -> bool:
        """Put a line of the draft among those kept, or what stands for it; whether it is there itself."""
        if self._is_told(line):
            self._put_standing(line)
            return False
        if heading_level(line.text):
            is_away = any(self._is_deleted(alone(name)) for name in line.names)
        else:
            is_away = all(self._is_deleted(name) or name in self._standing for name in line.names)
        if is_away:
            return False
        if line.parts and any(self._is_deleted(name) or name in self._standing for name in line.names):
            for part in line.parts:
                self._put(part)
        else:
            self._kept.append((line, None))
        return True

    def _is_told(self, line: Line) -> bool:
        """Whether a line of theirs stands in the place of this one, or says the same."""
        return bare(line.text) in self._said or all(name in self._standing for name in line.names)

    def _put_standing(self, line: Line) -> None:
        """Put the line of theirs that stands for this one in its place, unless it says the same: that was moved."""
        places = {self._standing[name] for name in line.names if name in self._standing}
        known = {place for _, place in self._kept}
        for place in sorted(places - known):
            if bare(self._theirs[place].text) != bare(line.text):
                self._kept.append((self._theirs[place], place))

    def _is_deleted(self, name: str) -> bool:
        return name in self._context.hidden or name in self._edits.deleted

    # --- where lines of theirs go --------------------------------------------------------------------------------

    def lone_parents(self) -> frozenset[int]:
        """The entries of ours with lines of theirs below them that the draft does not have any more."""
        above = {self._parents[place] for place in self._theirs}
        return frozenset(
            at
            for at in above
            if at >= 0 and at not in self._edits.yours and bullet(self._edits.lines[at].text)
            if self._found(at) is None
        )

    def lines(self) -> Iterator[tuple[Line, bool]]:
        """All lines in order, and which are theirs."""
        inserted: dict[int, list[tuple[int, int]]] = {}
        for first, end in self._runs():
            inserted.setdefault(self._place_of(first, end), []).append((first, end))
        found: list[tuple[Line, bool]] = []
        for at in range(len(self._kept) + 1):
            for first, end in inserted.get(at, ()):
                if found and found[-1][0].text.strip() and self._is_blank(first - 1):
                    found.append((Line(""), False))
                found += ((line, True) for line in self._edits.lines[first:end])
                following = self._kept[at][0].text.strip() if at < len(self._kept) else ""
                is_last = (first, end) == inserted[at][-1]
                if self._is_blank(end) and is_last and following:
                    found.append((Line(""), False))
            if at < len(self._kept):
                line, place = self._kept[at]
                found.append((line, place is not None))
        yield from found

    def _is_blank(self, place: int) -> bool:
        lines = self._edits.lines
        return 0 <= place < len(lines) and not lines[place].text.strip()

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Their lines that stay together, as (first, end): blank lines between them are kept, ends are trimmed."""
        first = end = -1
        for place in self._theirs:
            if place in self._at_place:
                continue
            between = (self._is_blank(at) for at in range(end, place))
            if first >= 0 and all(between) and indent(self._text(place)) >= indent(self._text(first)):
                end = place + 1
                continue
            if first >= 0:
                yield first, end
            first, end = place, place + 1
        if first >= 0:
            yield first, end

    def _text(self, place: int) -> str:
        return self._edits.lines[place].text

    def _place_of(self, first: int, end: int) -> int:
        """Before which of the lines kept a run of theirs goes."""
        at = self._anchor(first) + 1
        following = self._text(end) if end < len(self._edits.lines) else ""
        depth = indent(self._text(first))
        if self._is_blank(first - 1):
            below = self._found(end) if following.strip() else None
            if below is not None and below >= at:
                return below
            while 0 < at < len(self._kept) and not self._ends_group(at):
                at += 1
        elif at and not (following.strip() and indent(following) > depth):  # else it was put before such lines
            while at < len(self._kept) and self._kept[at][0].text.strip() and indent(self._kept[at][0].text) > depth:
                at += 1
        return at

    def _ends_group(self, at: int) -> bool:
        here, above = self._kept[at][0].text, self._kept[at - 1][0].text
        return not here.strip() or bool(heading_level(here) or heading_level(above))

    def _anchor(self, first: int) -> int:
        """Where the nearest line above is that is still there, in the same section; -1 for the top."""
        section = self._section(first)
        for place in range(first - 1, -1, -1):
            found = self._found(place)
            if found is not None and (section is None or place == self._parents[first] or self._is_in(found, section)):
                return found
        return -1

    def _section(self, place: int) -> int | None:
        """Where the heading is now that a line stood under; None for none, or one that is not there any more."""
        above = next((at for at in range(place - 1, -1, -1) if heading_level(self._text(at))), None)
        return None if above is None else self._found(above)

    def _is_in(self, at: int, section: int) -> bool:
        return at >= section and not any(heading_level(line.text) for line, _ in self._kept[section + 1 : at + 1])

    def _found(self, place: int) -> int | None:
        """Where a line of the block as it stands is among those kept."""
        line = self._edits.lines[place]
        if not line.text.strip():
            return None
        if place in self._edits.yours:
            return self._at_place.get(place)
        at = self._at_text.get(bare(line.text))
        return at if at is not None else next(
            (self._at_name[name] for name in sorted(line.names) if name in self._at_name), None
        )  # fmt: skip


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
