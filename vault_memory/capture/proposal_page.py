"""Writes what was captured on the page of proposals, and reads a person's answers there. Pure.

    - [ ] O(scope=project:tern) @Nora: Prefers dark themes. — sessions/claude-code/1a2b#m7 ^p-1a2b3c4d

A tick has it written into the log of the day it was said, in the words that stand there; `[-]`, or a deleted line,
refuses it for good. Where more than half is gone at once, or the page is, nobody refused anything.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vault_memory.reflect.blocks import Block, Page, put_block, read_page, sha
from vault_memory.store.view import PROPOSALS

PATH, BLOCK = PROPOSALS, "captured"

_HEADING = "## From sessions and logs"
_INTRO = (
    "Tick what should be remembered (`[x]`), mark what should not (`[-]`); it happens at the next `memory capture`."
)
_LINE = re.compile(r"\s*[-*+] \[(?P<box>.)\] (?P<bullet>.+?) \^p-(?P<name>[0-9a-f]{8})\s*$")


class OpenProposal(NamedTuple):
    """A proposal that waits for an answer: what it is known by, the fact as a bullet's text, and when it was said."""

    name: str
    text: str
    day: str
    score: float = 0.0
    proposed: str = ""
    """The day on which it was put on the page; "" where it is held back."""


class PageAnswers(NamedTuple):
    """What a person answered: names and the bullets they ticked, names they refused, and how many lines are gone of
    which nobody knows why."""

    ticked: Mapping[str, str]
    refused: frozenset[str]
    lost: int = 0


def read_answers(page: Page, shown: Sequence[OpenProposal]) -> PageAnswers:
    """The answers on a page that is known to have `shown` these."""
    lines = page.block.lines if page.block else ()
    found = {match["name"]: match for match in map(_LINE.match, lines) if match}
    wanted = {one.name for one in shown}
    ticked = {name: match["bullet"] for name, match in found.items() if name in wanted and match["box"] in "xX"}
    refused = {name for name, match in found.items() if name in wanted and match["box"] not in " xX"}
    gone = wanted - found.keys()
    if (len(gone) == 1 and page.block) or 2 * len(gone) <= len(wanted):
        return PageAnswers(ticked, frozenset(refused | gone))
    return PageAnswers(ticked, frozenset(refused), len(gone))


def compose(path: str, before: bytes | None, proposals: Sequence[OpenProposal], held: int) -> bytes:
    """The page with these proposals in its block; raises ConflictError where its markers are broken."""
    page = read_page(path, before if before is not None else b"# Proposals\n", BLOCK)
    texts = (f"- [ ] {one.text} ^p-{one.name}" for one in proposals)
    lines = [_HEADING, "", *([_INTRO, "", *texts] if proposals else ["Nothing open."])]
    if held:
        lines += ["", f"{held} more wait for another day."]
    if page.block is None and not proposals and not held:
        return before if before is not None else b""
    if page.block and page.block.lines == tuple(lines):
        return before or b""
    return put_block(page, BLOCK, Block(tuple(lines), sha(lines)))
