"""Owns what one edit changes on a page: facts new on it, changed, retracted, folded away; and that as a sentence. Pure.

It knows the block that was and the block to be, and which facts there are; not what the page is about.
"""

import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_memory.reflect.blocks import Block, Line, bare, short
from vault_memory.reflect.user_edits import NOBODY, edited

_CITED = re.compile(r"(\[\[[^\[\]]+\]\]|\[[^\[\]]*\]\([^()\s]+\))(?: (L\d+(?:, L\d+)*))?")


class Change(NamedTuple):
    """How many facts an edit puts on a page and takes from it, each counted once; how many lines it only words anew."""

    new: int = 0
    changed: int = 0
    """The cited line is there, and says something else."""
    retracted: int = 0
    """The cited line is gone."""
    folded: int = 0
    """The fact is there, but has no room on the page any more."""
    deleted: int = 0
    """A person took it out."""
    reworded: int = 0
    is_moved: bool = False
    """Whether lines about facts stand in another order, or elsewhere."""
    is_edited: bool = False
    """Whether a person changed the page, and that is kept."""

    @property
    def is_of_facts(self) -> bool:
        """Whether other facts stand there."""
        return any((self.new, self.changed, self.retracted, self.folded, self.deleted))


@dataclass(frozen=True)
class Compared:
    """A block as it was and as it is to be; `was` are its lines as they stand (`standing`), `deleted` as merged."""

    was: Sequence[Line]
    cites: Collection[str]
    lines: Sequence[Line]
    deleted: frozenset[str] = NOBODY
    is_edited: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The facts on the page as it was, and on it still: what a person took out of it among them."""
        return frozenset(self.cites).union(*(line.facts for line in self.was))


def standing(block: Block | None, last: Sequence[Line] | None) -> tuple[Line, ...]:
    """The lines of a block as they stand, with the facts that each rests on where what was written last is known."""
    if block is None:
        return ()
    if last is None:
        return tuple(map(Line, block.lines))
    return tuple(last) if block.lines == tuple(line.text for line in last) else edited(block, last).lines


def change(of: Compared, facts: Container[str]) -> Change:
    """What changes from one block to the other; `facts` are the names of all facts there are."""
    before, after = of.names, frozenset[str]().union(*(line.facts for line in of.lines))
    new = after - before
    gone = before - after
    deleted = gone.intersection(name.rpartition("/")[2] for name in of.deleted)
    retracted = {name for name in gone - deleted if name not in facts}
    changed = (_places(of.was, retracted) & _places(of.lines, new)).total()
    return Change(
        new=len(new) - changed,
        changed=changed,
        retracted=len(retracted) - changed,
        folded=len(gone - deleted - retracted),
        deleted=len(deleted),
        reworded=_reworded(of, before),
        is_moved=_order(of.was) != _order(of.lines),
        is_edited=of.is_edited,
    )


def _places(lines: Sequence[Line], names: Container[str]) -> Counter[tuple[str, str]]:
    """Where the facts of these names stand, as their lines cite them: a note and a line, or a block id."""
    found: set[tuple[str, tuple[str, str]]] = set()
    for line in lines:
        cited = list(_cited(line.text))
        if len(cited) == len(line.keys):
            found.update((short(key), place) for key, place in zip(line.keys, cited, strict=True))
    return Counter(place for name, place in found if name in names)


def _cited(text: str) -> Iterator[tuple[str, str]]:
    for link, numbers in _CITED.findall(text.rpartition(" — ")[2]):
        if "#^" in link:
            yield link, ""
        else:
            yield from ((link, number) for number in numbers.split(", ") if number)


def _reworded(of: Compared, before: Container[str]) -> int:
    """The lines about facts that stood there before, told in other words."""
    said = {bare(line.text) for line in of.was}
    known = (line for line in of.lines if line.keys and all(name in before for name in line.facts))
    return sum(bare(line.text) not in said for line in known)


def _order(lines: Sequence[Line]) -> list[str]:
    return [bare(line.text) for line in lines if line.keys]


def sentence(change: Change) -> str:
    """What changed: `2 facts new, 1 retracted`; never empty."""
    counts = (
        (change.new, "new"), (change.changed, "changed"), (change.retracted, "retracted"),
        (change.folded, "folded away"), (change.deleted, "taken out by you"),
    )  # fmt: skip
    told = [(count, what) for count, what in counts if count]
    parts = [f"{count:,}{_noun(count) if not at else ''} {what}" for at, (count, what) in enumerate(told)]
    kept = ["what you changed is kept"] if change.is_edited and not change.deleted else []
    if parts or kept:
        return "; ".join([", ".join(parts), *kept] if parts else kept)
    if change.reworded:
        return f"the same facts, {change.reworded:,} line{'s' * (change.reworded != 1)} told anew"
    return f"the same facts, {'in another order' if change.is_moved else 'counted anew'}"


def _noun(count: int) -> str:
    return " fact" if count == 1 else " facts"
