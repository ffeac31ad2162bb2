"""Hears what people said to the pages that reflect wrote: lines and pages they deleted, proposals they ticked or
refused, and confidences they gave by hand. The journal remembers it; here it is read from there, and from the pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import RefusedError
from vault_memory.reflect import proposals
from vault_memory.reflect.beliefs import ConfidenceByHand
from vault_memory.reflect.blocks import Block, Line, confidence, text_name
from vault_memory.reflect.core import REMOVE, CoreChange
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.merge import edited
from vault_memory.reflect.proposals import ProposalLine
from vault_memory.store import journal
from vault_memory.store.view import View

LOST_SHARE, LOST_PAGES = 0.25, 3
"""So many pages of one folder gone at once, and this share of them, were lost: it is not synced or not mounted."""

_IN_ITS_PLACE = re.compile(r"\s*[-*+] \*\*[^*]*\*\* ")


class UnreadConfidence(NamedTuple):
    """A line of a person's with a confidence that is none."""

    path: str
    line: str


class FeedbackNote(NamedTuple):
    """What the journal is to note: what was said, of which line, proposal or opinion, a value, and where."""

    what: str
    name: str
    value: float = 0.0
    about: str = ""


@dataclass
class Feedback:
    """All that was said, by earlier runs and on the pages now; `new` is what the journal does not know yet."""

    deleted: Mapping[str, frozenset[str]]
    refused: set[str]
    """Names of proposals that were refused: they are not asked again."""
    given: dict[str, ConfidenceByHand]
    removed: set[str] = field(default_factory=set)
    """The pages that a person removed."""
    rests: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the names of lines of the core that were ticked, the facts they were put there for."""
    forgotten: frozenset[str] = frozenset()
    """The facts that were forgotten."""
    done: set[str] = field(default_factory=set)
    """Names of proposals that were ticked: they are not asked again either, unless one stands open on the page."""
    asked: dict[str, CoreChange] = field(default_factory=dict)
    """What lines of the page may ask that are ticked, or in a person's words, by the proposal's name."""
    ticked: dict[str, CoreChange] = field(default_factory=dict)
    """What is to be done, by the proposal's name."""
    grounds: dict[str, Fact] = field(default_factory=dict)
    """The facts that what is asked rests on, by the proposal's name."""
    lost: set[str] = field(default_factory=set)
    """Names of proposals that were asked and rest on what no note holds any more: they are not done, and go."""
    settled: set[str] = field(default_factory=set)
    """Names of proposals that were answered on the page: they go from there."""
    open: set[str] = field(default_factory=set)
    """Names of proposals that stand on the page."""
    new: list[FeedbackNote] = field(default_factory=list)
    """What the journal is to note."""
    odd: list[UnreadConfidence] = field(default_factory=list)
    """What cannot be heard."""
    day: date = date.min
    """The day on which the new is heard."""

    def hidden(self, path: str) -> frozenset[str]:
        """The names of lines that were deleted from a page."""
        return self.deleted.get(path, frozenset())

    def is_forgotten(self, text: str) -> bool:
        """Whether a line of the core was put there for facts that were all forgotten since."""
        facts = self.rests.get(text_name(text), frozenset())
        return bool(facts) and facts <= self.forgotten


def read(store: View) -> Feedback:
    """What the journals know."""
    deleted: dict[str, set[str]] = {}
    for verdict in journal.verdicts(store, "deleted"):
        deleted.setdefault(verdict.about, set()).add(verdict.name)
    ticked = journal.verdicts(store, "ticked")
    rests: dict[str, set[str]] = defaultdict(set)
    for fact, _, line in (verdict.about.partition(" ") for verdict in ticked if " " in verdict.about):
        rests[line].add(fact)
    return Feedback(
        deleted={path: frozenset(names) for path, names in deleted.items()},
        refused={v.name for v in journal.verdicts(store, "refused")} | deleted.get(proposals.PATH, set()),
        done={v.name for v in ticked},
        given={v.name: ConfidenceByHand(v.value, date.fromordinal(v.day)) for v in journal.verdicts(store, "given")},
        removed={v.about for v in journal.verdicts(store, "removed") if v.value},
        rests={line: frozenset(facts) for line, facts in rests.items()},
        forgotten=frozenset(map(_digits, journal.tombstones(store))),
    )


def _digits(key: int) -> str:
    return f"{key & (1 << 64) - 1:016x}"


class Pages(NamedTuple):
    """The pages that `stood` after the last run, those that are `there` now, and those moved elsewhere."""

    stood: Collection[str]
    there: Collection[str]
    moved: Collection[str] = ()


def hear_pages(feedback: Feedback, pages: Pages) -> frozenset[str]:
    """The pages of those that stood after the last run that are gone; the journal notes them as a person's doing."""
    for path in sorted(feedback.removed.intersection(pages.there)):
        feedback.removed.discard(path)
        feedback.new.append(FeedbackNote("removed", path, 0.0))
    return frozenset(path for path in pages.stood if path not in feedback.removed and path not in pages.there)


def refuse_lost(gone: Collection[str], feedback: Feedback, pages: Pages) -> None:
    """Raise RefusedError where more pages of a folder are gone at once than a person tidies away."""
    stood = Counter(_folder(path) for path in pages.stood if path not in feedback.removed)
    lost = Counter(_folder(path) for path in gone if path not in pages.moved)
    much = [folder for folder in sorted(lost) if LOST_PAGES <= lost[folder] >= LOST_SHARE * stood[folder]]
    if much:
        told = " and ".join(f"{lost[folder]:,} of {stood[folder]:,} pages of {folder}" for folder in much)
        raise RefusedError(
            f"{told} are gone since the last run: nothing was written.",
            "Check that everything is synced and mounted; `memory reflect --force` makes them anew from the notes.",
        )


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "the vault"


def hear_proposals(
    feedback: Feedback, block: Block | None, last: Sequence[Line] | None, *, only_ticks: bool = False
) -> None:
    """Take in what was ticked, and if not `only_ticks` refused and deleted, on the page of proposals."""
    if block is None:
        return
    edits = edited(block, last) if last is not None and not block.is_as_written else None
    if edits and not only_ticks:
        feedback.refused |= edits.deleted  # the journal notes it with the page
    written = {one.name: one for line in last or () if (one := proposals.stated(line.text))}
    yours = edits.yours if edits else block.yours if last is not None else ()
    for place, line in enumerate(block.lines):
        one = proposals.stated(line)
        if one is None:
            continue
        feedback.open.add(one.name)
        _answered(feedback, one, only_ticks)
        if one.is_ticked or (one.is_open and place in yours and not only_ticks):
            feedback.asked[one.name] = one.change(written.get(one.name))
        if one.is_ticked:
            feedback.ticked[one.name] = feedback.asked[one.name]


def _answered(feedback: Feedback, one: ProposalLine, only_ticks: bool) -> None:
    """Take in that a proposal was ticked or refused, or that it is open."""
    if one.is_ticked:
        feedback.settled.add(one.name)
        feedback.done.add(one.name)
    elif one.is_open:
        feedback.done.discard(one.name)  # the run that did it was undone
    elif not only_ticks:
        feedback.settled.add(one.name)
        feedback.refused.add(one.name)
        feedback.new.append(FeedbackNote("refused", one.name))


def hear_facts(feedback: Feedback, facts: Iterable[Fact]) -> None:
    """Find the facts that what was asked rests on; what rests on none any more is dropped, for it may be forgotten."""
    resting = {name: change for name, change in feedback.asked.items() if change.what != REMOVE}
    heads = set(resting.values())
    for fact in facts if heads else ():
        for change in heads:
            if (name := proposals.name_for(change, fact)) in resting:
                feedback.grounds[name] = fact
    for name in resting.keys() - feedback.grounds.keys():
        feedback.lost.add(name)
        feedback.settled.add(name)
        feedback.done.discard(name)
        feedback.ticked.pop(name, None)


def hear_done(feedback: Feedback) -> None:
    """Have the journal remember for which facts the lines of the core are there that a tick puts there."""
    for name, change in feedback.ticked.items():
        fact = feedback.grounds.get(name)
        about = f"{_digits(fact.key)} {text_name(change.text)}" if fact else ""
        feedback.new.append(FeedbackNote("ticked", name, about=about))


class PageBlock(NamedTuple):
    """A block of a page as it stands, and what was written there last."""

    path: str
    block: Block | None
    last: list[Line] | None


def hear_opinions(feedback: Feedback, page: PageBlock, today: date) -> None:
    """Take in the confidences that were changed by hand on a page that tells of opinions."""
    block, last = page.block, page.last
    if block is None or block.is_as_written or last is None:
        return
    feedback.day = today
    for name, number, line in _changed(block, last):
        if number is None:
            feedback.odd.append(UnreadConfidence(page.path, line))
        elif name not in feedback.given or feedback.given[name].confidence != number:
            # Else a run that left this page alone heard it before.
            feedback.given[name] = ConfidenceByHand(number, today)
            feedback.new.append(FeedbackNote("given", name, number))


def _changed(block: Block, last: list[Line]) -> Iterator[tuple[str, float | None, str]]:
    """The numbers in lines of theirs where ours had another, by what the line was known by; None where it is none."""
    before = {name: confidence(line.text) for line in last for name in line.names if line.keys}
    edits = edited(block, last)
    for place in sorted(edits.yours):
        line = edits.lines[place]
        number = confidence(line.text)
        for name in sorted(line.names) if line.keys and _IN_ITS_PLACE.match(line.text) else ():
            if before.get(name) not in (None, number):
                yield name, number, line.text


def note(root: Path, feedback: Feedback, now: datetime) -> None:
    """Have the journal remember what it does not know yet; raises RefusedError or VaultError."""
    journal.note_verdicts(root, "refused", [new.name for new in feedback.new if new.what == "refused"], now)
    for new in feedback.new:
        if new.what == "given":
            journal.note_given(root, new.name, new.value, now, feedback.day)
        elif new.what == "ticked":
            journal.note_verdicts(root, "ticked", [new.name], now, new.about)
        elif new.what == "removed":
            journal.note_removed(root, new.name, now, stands=bool(new.value))
