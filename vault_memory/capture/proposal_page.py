"""Writes what was captured on the page of proposals, and reads a person's answers there. Pure.

    - [ ] O(scope=project:tern) @Nora: Prefers dark themes. — sessions/claude-code/1a2b#m7 ^p-1a2b3c4d
      instead of ~~Prefers light themes.~~ — memory/2025-11-27.md#L12

A tick has it written into the log of the day it was said, in the words that stand there; `[-]`, or a deleted line,
refuses it for good. Where more than half is gone at once, or the block is as it was written, nobody refused anything:
the page may be older than the journal. A line that a person reworded stays as they left it; where they delete
`instead of …`, the old fact goes on beside the new one.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from vault_memory.capture.names import NAME_DAYS
from vault_memory.reflect.blocks import Block, Page, put_block, read_page, sha

BLOCK = "captured"

PAGE_SCORE = 0.5
"""A page is proposed after the facts that are worth as much or more."""

_PAGE = "page: "
_HEADING = "## From sessions and logs"
_INTRO = (
    "Tick what should be remembered (`[x]`), mark what should not (`[-]`); it happens at the next `memory capture`."
)
_LINE = re.compile(r"\s*[-*+] \[ ?(?P<box>.) ?\] (?P<bullet>.+?) \^p-(?P<name>[0-9a-f]{8})(?P<rest>.*)$")
_INSTEAD = re.compile(r"\s*instead of ~~.*~~ — \S+\s*$")
_ITEM = re.compile(r"\s*[-*+] ")


class OpenProposal(NamedTuple):
    """A proposal that waits for an answer: what it is known by, the fact as a bullet's text, and when it was said."""

    name: str
    text: str
    day: str
    score: float = 0.0
    proposed: str = ""
    """The day on which it was put on the page; "" where it is held back."""
    found: str = ""
    """The day on which it was found."""
    is_personal: bool = False
    """Whether a tick makes it hold everywhere: it is about who said it, or what they prefer."""
    replaces: int = 0
    """What the statement is known by whose place it takes; 0 for none."""

    @property
    def is_page(self) -> bool:
        """Whether it proposes a page for a name."""
        return wanted_page(self.text) != ""

    @property
    def statement(self) -> str:
        """What it says, without its kind, names and citation."""
        return statement(self.text)

    @property
    def source(self) -> str:
        """The message or line that it cites."""
        return self.text.rpartition(" — ")[2]


class PageAnswers(NamedTuple):
    """What a person answered: names and the bullets they ticked, names they refused, how many lines are gone of which
    nobody knows why, by their names all lines as they stand, and the lines that are a person's own."""

    ticked: Mapping[str, str]
    refused: frozenset[str]
    lost: int = 0
    lines: Mapping[str, str] = {}
    others: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    """The names of those whose line `instead of …` somebody deleted."""


class OldStatement(NamedTuple):
    """What a proposal takes the place of, and where it stands."""

    text: str
    source: str


def read_answers(page: Page, shown: Sequence[OpenProposal]) -> PageAnswers:
    """The answers on a page that is known to have `shown` these."""
    lines = page.block.lines if page.block else ()
    found = {match["name"]: match for match in map(_LINE.match, lines) if match}
    # A line without its name may be any of those that are gone.
    others = tuple(text for text in lines if _ITEM.match(text) and not _LINE.match(text))
    wanted = {one.name for one in shown}
    ticked = {name: words(match[0]) for name, match in found.items() if name in wanted and match["box"] in "xX"}
    refused = {name for name, match in found.items() if name in wanted and match["box"] not in " xX"}
    standing = {name: match[0] for name, match in found.items() if name in wanted and match["box"] != "-"}
    below = dict(pairwise((*lines, "")))
    beside = frozenset(name for name, match in found.items() if not _INSTEAD.match(below[match[0]]))
    gone = wanted - found.keys()
    is_edited = page.block is not None and not page.block.is_as_written and not others
    if is_edited and (len(gone) == 1 or 2 * len(gone) <= len(wanted)):
        return PageAnswers(ticked, frozenset(refused | gone), lines=standing, beside=beside)
    return PageAnswers(ticked, frozenset(refused), len(gone), standing, others, beside)


def compose(
    path: str, before: bytes | None, proposals: Sequence[OpenProposal], held: int, answers: PageAnswers,
    old: Mapping[int, OldStatement],
) -> bytes:  # fmt: skip
    """The page with these proposals in its block, in a person's words where they reworded one, and their own lines.

    `old` are the statements that some take the place of, by what those are known by. Raises ConflictError where the
    markers are broken.
    """
    page = read_page(path, before if before is not None else b"# Proposals\n", BLOCK)
    texts: list[str] = []
    for one in proposals:
        texts.append(answers.lines.get(one.name) or line(one))
        if one.replaces in old and one.name not in answers.beside:
            texts.append("  instead of ~~{}~~ — {}".format(*old[one.replaces]))
    texts += answers.others
    lines = [_HEADING, "", *([_INTRO, "", *texts] if texts else ["Nothing open."])]
    if held:
        lines += ["", f"{held} more wait for another day."]
    if page.block is None and not texts and not held:
        return before if before is not None else b""
    if page.block and page.block.lines == tuple(lines):
        return before or b""
    return put_block(page, BLOCK, Block(tuple(lines), sha(lines)))


def line(proposal: OpenProposal) -> str:
    """A proposal as its line."""
    return f"- [ ] {proposal.text} ^p-{proposal.name}"


def statement(text: str) -> str:
    """What a bullet's text says, without its kind, names and citation."""
    return text.partition(": ")[2].rpartition(" — ")[0] or text


def propose_page(name: str, source: str) -> OpenProposal:
    """The proposal of a page for what a name stands for, and a line that holds it."""
    digits = hashlib.blake2b(f"page\0{name.casefold()}".encode("utf-8", "replace"), digest_size=4).hexdigest()
    return OpenProposal(digits, f"{_PAGE}{name}, named on {NAME_DAYS} days — {source}", "", PAGE_SCORE)


def wanted_page(text: str) -> str:
    """The name for which a proposal wants a page; "" where it states a fact."""
    name = text.removeprefix(_PAGE).partition(" — ")[0].partition(",")[0].strip()
    return name if text.startswith(_PAGE) else ""


def words(text: str) -> str:
    """The fact that a line of the page states, also where somebody went on writing behind its name."""
    match = _LINE.match(text)
    return " ".join(filter(None, (match["bullet"], match["rest"].strip()))) if match else ""
