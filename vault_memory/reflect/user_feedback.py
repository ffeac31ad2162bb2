"""Reads the user's answers to generated pages: deleted lines and pages, confidences set by hand, ticked proposals.

The journal remembers them. A line of the page of proposals, which has one block by reflect and one by capture:

    - [x] O @Nora: Prefers dark themes. — sessions/claude-code/1a2b#m7 ^p-1a2b3c4d
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from vault_memory.errors import RefusedError
from vault_memory.reflect.generated_blocks import Block, Line, PageLine, leading_confidence, text_name
from vault_memory.reflect.merge import find_edits
from vault_memory.reflect.opinions import ConfidenceByHand
from vault_memory.store import journal
from vault_memory.store.view import View
from vault_memory.text.vault_layout import Layout

LOST_SHARE, LOST_PAGES = 0.25, 3
"""If this many pages of a folder, and this share of them, are gone at once, it is probably not synced or mounted."""

TICK, REFUSAL = "x", "-"

_TICKS = frozenset("xXyY✓✔☑✅")
_LINE = re.compile(
    r"\s*+(?:[-*+]|\d{1,9}[.)])\s*+(?P<boxes>(?:(?:\[[^\[\]]{0,5}\]|[✓✔☑✅]\ufe0f?)\s*+)*+)(?P<text>\S.*?)"
    r" \^p-(?P<name>[0-9a-f]{8})(?P<rest>.*)$"
)
"""A list item with its boxes: `- []`, `-[x]`, `- [ ] [x]`, `1. [x]`, `- ✅` also count; without a box it is open."""
_BOX = re.compile(r"\[([^\[\]]*)\]|([✓✔☑✅])")

_IN_A_BANK = re.compile(r"/((?:entities|summaries)/[^/]+\.md|(?:world|experience|opinions|proposals)\.md)$")
_IN_ITS_PLACE = re.compile(r"\s*[-*+] \*\*[^*]*\*\* ")


class UserAnswer(NamedTuple):
    """One answer for the journal; `name` identifies a line, proposal or opinion, `about` the page or fact."""

    what: str
    name: str
    about: str = ""
    value: float = 0.0
    day: date | None = None


@dataclass
class Feedback:
    """All answers, from earlier runs and on the current pages; `new` are those not yet in the journal."""

    today: date
    forgotten: frozenset[str] = frozenset()
    """The keys of forgotten facts."""
    deleted: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The names of deleted lines, by page."""
    removed: set[str] = field(default_factory=set)
    """The paths of pages that the user removed."""
    given: dict[str, ConfidenceByHand] = field(default_factory=dict)
    facts_behind: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The facts behind each ticked line of the core, by the line's name."""
    refused: set[str] = field(default_factory=set)
    """Names of refused proposals, which are never proposed again."""
    done: set[str] = field(default_factory=set)
    """Names of ticked proposals, which are not proposed again unless they are still open on the page."""
    new: list[UserAnswer] = field(default_factory=list)
    odd: list[PageLine] = field(default_factory=list)
    """Lines in which the user replaced a confidence with something that is not one."""

    def hidden(self, path: str) -> Set[str]:
        """The names of lines deleted from a page."""
        return self.deleted.get(path, set())

    def is_forgotten(self, text: str) -> bool:
        """Whether a line of the core was added for facts that have all been forgotten since."""
        facts = self.facts_behind.get(text_name(text), set())
        return bool(facts) and facts <= self.forgotten


def read(view: View, today: date) -> Feedback:
    """The answers recorded in the journals."""
    found = Feedback(today, forgotten=frozenset(map(journal.digits, journal.forgotten(view))))
    for page, name, *_ in journal.verdicts(view, "deleted"):
        found.deleted[_page_now(page, view.layout)].add(name)
    for about, name, *_ in journal.verdicts(view, "ticked"):
        found.done.add(name)
        fact, _, line = about.partition(" ")
        if line:
            found.facts_behind[line].add(fact)
    found.refused |= {name for _, name, *_ in journal.verdicts(view, "refused")} | found.hidden(view.layout.proposals)
    for _, name, value, day in journal.verdicts(view, "given"):
        found.given[name] = ConfidenceByHand(value, date.fromordinal(day))
    pages = ((_page_now(page, view.layout), value) for page, _, value, _ in journal.verdicts(view, "removed"))
    found.removed |= {page for page, value in pages if value}
    return found


def _page_now(path: str, layout: Layout) -> str:
    """The current path of a page named in the journal, whatever the bank's folder was called then."""
    found = _IN_A_BANK.search(path)
    return f"{layout.bank}/{found[1]}" if found else path


def refuse_lost(stood: Iterable[str], gone: Iterable[str]) -> None:
    """Raise RefusedError if more pages of a folder are gone at once than a user would plausibly delete."""
    counts, lost = (Counter(path.rpartition("/")[0] or "the vault" for path in paths) for paths in (stood, gone))
    much = [folder for folder in sorted(lost) if LOST_PAGES <= lost[folder] >= LOST_SHARE * counts[folder]]
    if much:
        gone_pages = " and ".join(f"{lost[folder]:,} of {counts[folder]:,} pages of {folder}" for folder in much)
        raise RefusedError(
            f"{gone_pages} are gone since the last run: nothing was written.",
            "Check that everything is synced and mounted; `memory reflect --force` recreates them from the notes.",
        )


def read_given_confidences(feedback: Feedback, path: str, block: Block | None, last: Sequence[Line] | None) -> None:
    """Add the confidences changed by hand on a page to `feedback`; `last` are the lines last written there."""
    if block is None or last is None or block.is_as_written:
        return
    before = {name: leading_confidence(line.text) for line in last for name in line.names if line.keys}
    for line in find_edits(block, last).lines:
        number = leading_confidence(line.text)
        for name in sorted(line.names) if line.keys and _IN_ITS_PLACE.match(line.text) else ():
            if before.get(name) in (None, number):
                continue
            if number is None:
                feedback.odd.append(PageLine(path, line.text))
            elif name not in feedback.given or feedback.given[name].confidence != number:
                # Otherwise an earlier run, which left this page alone, has already recorded it.
                feedback.given[name] = ConfidenceByHand(number, feedback.today)
                feedback.new.append(UserAnswer("given", name, value=number, day=feedback.today))


# --- a line of the page of proposals ---------------------------------------------------------------------------------


class ProposalLine(NamedTuple):
    """A proposal as written on its line, possibly reworded by the user."""

    name: str
    mark: str
    """TICK in whatever form, REFUSAL, "" for none, otherwise what the user wrote in the box."""
    text: str
    """The proposed text, including anything the user wrote after the name."""
    line: str


def read_line(line: str) -> ProposalLine | None:
    match = _LINE.match(line)
    if match is None:
        return None
    boxes = _BOX.findall(match["boxes"])
    marks = {(inside or drawn).strip().removesuffix("\ufe0f") for inside, drawn in boxes} - {""}
    mark = TICK if marks and marks <= _TICKS else " ".join(sorted(marks))
    return ProposalLine(match["name"], mark, " ".join(filter(None, (match["text"], match["rest"].strip()))), line)
