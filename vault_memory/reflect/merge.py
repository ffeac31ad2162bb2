"""Owns the three-way merge of a block: what it should say now, what was written last, what a person made of it. Pure.

What a person added or changed stays, what they deleted stays away, the rest keeps up. How it is done:
- The closing marker names the lines that are a person's (`yours`), so a page says by itself which are not ours.
- A block that is not as it was written is compared with what was written last: lines that are new there are a person's
  from now on, and our lines that are gone are to stay away. A changed line is both: theirs instead of ours.
- Their lines come back behind the line they stood behind, or behind the nearest one above that is still there.
- A line of theirs that took the place of one whose fact has since gone from the notes is a conflict: it stays, and is
  told of.
"""

from collections.abc import Container, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from vault_memory.reflect.blocks import Block, Line, line_name, sha, short
from vault_memory.reflect.cite import LINE_NUMBER

NOBODY: frozenset[str] = frozenset()


class Merged(NamedTuple):
    """What is to be written: the block, its lines with what they rest on, and what came of a person's edits.

    `deleted` names the lines that they do not want to see again, `orphaned` are lines of theirs whose fact is gone.
    """

    block: Block
    lines: tuple[Line, ...]
    deleted: frozenset[str] = NOBODY
    orphaned: tuple[str, ...] = ()


class _Edits(NamedTuple):
    """A person's lines by their place among the lines of a block, and the names of ours that they deleted."""

    theirs: dict[int, Line]
    deleted: frozenset[str] = NOBODY


class Known(NamedTuple):
    """Names of lines that a person deleted from the page earlier, and of all facts there are."""

    hidden: Container[str] = NOBODY
    facts: Container[str] = NOBODY


def merged(draft: Sequence[Line], present: Block | None, last: Sequence[Line] | None, known: Known) -> Merged | None:
    """What a block that would hold `draft` by itself is to hold.

    None when a person changed it and `last`, what was written before, is not known.
    """
    if present is None:
        lines = _without(draft, known.hidden, NOBODY)
        return Merged(closed(lines), tuple(lines))
    if present.is_as_written:
        edits = _Edits(_as_marked(present, last or ()))
    elif last is None:
        return None
    else:
        edits = _edited(present, last)
    kept = _without(draft, known.hidden, edits.deleted)
    lines = _placed(kept, present, edits.theirs)
    orphaned = [
        line.text for line in edits.theirs.values() if line.keys and not any(name in known.facts for name in line.names)
    ]
    yours = frozenset(line_name(line.text) for line in edits.theirs.values())
    return Merged(closed(lines, yours), tuple(lines), edits.deleted, tuple(orphaned))


def closed(lines: Sequence[Line], yours: frozenset[str] = NOBODY, by: str = "") -> Block:
    """The block of these lines, with what its closing marker says."""
    texts = tuple(line.text for line in lines)
    cites = tuple(short(key) for line in lines if line_name(line.text) not in yours for key in line.keys)
    return Block(texts, sha(texts), cites, yours, by)


def _without(draft: Sequence[Line], hidden: Container[str], deleted: frozenset[str]) -> list[Line]:
    """The draft without what is to stay away; of a section whose heading is to, nothing is left."""
    found: list[Line] = []
    away = 0  # the level of the heading that stays away, while below it
    for line in draft:
        level = len(line.text) - len(line.text.lstrip("#")) if line.text.startswith("#") else 0
        is_hidden = bool(line.text.strip()) and all(name in hidden or name in deleted for name in line.names)
        if level and (not away or level <= away):
            away = level if is_hidden else 0
        if not away and not is_hidden:
            found.append(line)
    return found


def _as_marked(present: Block, last: Sequence[Line]) -> dict[int, Line]:
    known = {line.text: line for line in last}
    return {
        place: known.get(text, Line(text))
        for place, text in enumerate(present.lines)
        if line_name(text) in present.yours
    }


def _edited(present: Block, last: Sequence[Line]) -> _Edits:
    """What a person did to a block since it was written."""
    theirs = _as_marked(present, last)
    deleted: set[str] = set()
    before = [line.text.rstrip() for line in last]
    after = [text.rstrip() for text in present.lines]
    for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        gone = [line for line in last[i:j] if line.text.strip()]
        deleted |= {name for line in gone if line_name(line.text) not in present.yours for name in line.names}
        new = [place for place in range(k, m) if after[place] and place not in theirs]
        for position, place in enumerate(new):
            # The first lines that came for others took their places, and rest on what those rested on.
            keys = gone[position].keys if position < len(gone) else ()
            theirs[place] = Line(present.lines[place], keys)
    return _Edits(theirs, frozenset(deleted))


def _placed(kept: Sequence[Line], present: Block, theirs: dict[int, Line]) -> list[Line]:
    """Our lines with theirs among them, each behind the nearest line above it that is still there."""
    places = {_bare(line.text): position for position, line in reversed(list(enumerate(kept))) if line.text.strip()}
    behind: dict[int, list[Line]] = {}
    for place, line in sorted(theirs.items()):
        above = (places.get(_bare(present.lines[p])) for p in range(place - 1, -1, -1) if p not in theirs)
        anchor = next((position for position in above if position is not None), -1)
        behind.setdefault(anchor, []).append(line)
    return list(_woven(kept, behind))


def _woven(kept: Sequence[Line], behind: dict[int, list[Line]]) -> Iterator[Line]:
    yield from behind.get(-1, ())
    for position, line in enumerate(kept):
        yield line
        yield from behind.get(position, ())


def _bare(text: str) -> str:
    """A line without the numbers of cited lines, which move."""
    return LINE_NUMBER.sub("L", text.rstrip())
