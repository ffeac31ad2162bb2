"""Owns what people said to the pages that reflect wrote: lines they deleted, proposals they ticked or refused, and
confidences they gave by hand. The journal remembers it; here it is read from there, and from the pages themselves."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from vault_memory import journal, uses
from vault_memory.reflect import proposals
from vault_memory.reflect.beliefs import Given
from vault_memory.reflect.blocks import Block, Line
from vault_memory.reflect.core import Change
from vault_memory.reflect.edits import edited
from vault_memory.store import Store

_STATED = re.compile(r"\s*[-*+] \*\*(?P<number>[01]?\.\d{1,4}|[01])\*\* ")


@dataclass
class Said:
    """All that was said, by earlier runs and on the pages now; `new` is what the journal does not know yet."""

    deleted: Mapping[str, frozenset[str]]
    refused: set[str]
    given: dict[str, Given]
    ticked: dict[str, Change] = field(default_factory=dict)
    """What is to be done, by the proposal's name."""
    settled: set[str] = field(default_factory=set)
    """Names of proposals that were answered on the page: they go from there."""
    new: list[tuple[str, str, float]] = field(default_factory=list)
    """What the journal is to note: refused or given, the name, and a value."""
    day: date = date.min
    """The day on which the new is heard."""

    def hidden(self, path: str) -> frozenset[str]:
        """The names of lines that were deleted from a page."""
        return self.deleted.get(path, frozenset())


def read(store: Store) -> Said:
    """What the journals know."""
    deleted: dict[str, set[str]] = {}
    for verdict in uses.verdicts(store, "deleted"):
        deleted.setdefault(verdict.about, set()).add(verdict.name)
    return Said(
        deleted={path: frozenset(names) for path, names in deleted.items()},
        refused={v.name for v in uses.verdicts(store, "refused")} | deleted.get(proposals.PATH, set()),
        given={v.name: Given(v.value, date.fromordinal(v.day)) for v in uses.verdicts(store, "given")},
    )


def hear_proposals(said: Said, block: Block | None, last: Iterable[Line] | None) -> None:
    """Take in what was ticked, refused and deleted on the page of proposals."""
    if block and last is not None and not block.is_as_written:
        said.refused |= edited(block, list(last)).deleted  # the journal notes it with the page
    for answer in proposals.answers(block.lines if block else ()):
        said.settled.add(answer.name)
        if answer.change is None:
            said.refused.add(answer.name)
            said.new.append(("refused", answer.name, 0.0))
        else:
            said.ticked[answer.name] = answer.change


def hear_opinions(said: Said, block: Block | None, last: Iterable[Line] | None, today: date) -> None:
    """Take in the confidences that were changed by hand on the page of opinions."""
    if block is None or block.is_as_written or last is None:
        return
    said.day = today
    for name, number in _changed(block, list(last)):
        if name in said.given and said.given[name].confidence == number:
            continue  # a run that left this page alone heard it before
        said.given[name] = Given(number, today)
        said.new.append(("given", name, number))


def _changed(block: Block, last: list[Line]) -> Iterator[tuple[str, float]]:
    """The numbers that stand in lines of theirs, where ours had another, by what the line was known by."""
    before = {name: _number(line.text) for line in last for name in line.names if line.keys}
    edits = edited(block, last)
    for place in sorted(edits.yours):
        line = edits.lines[place]
        number = _number(line.text)
        for name in line.names if line.keys and number is not None else ():
            if number is not None and before.get(name) not in (None, number):
                yield name, number


def _number(text: str) -> float | None:
    match = _STATED.match(text)
    return float(match["number"]) if match and float(match["number"]) <= 1 else None


def note(root: Path, said: Said, now: datetime) -> None:
    """Have the journal remember what it does not know yet; raises RefusedError or VaultError."""
    journal.note_verdicts(root, "refused", [name for what, name, _ in said.new if what == "refused"], now)
    for what, name, value in said.new:
        if what == "given":
            journal.note_given(root, name, value, now, said.day)
