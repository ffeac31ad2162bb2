"""Reads a line of the page of proposals: how its box is marked, what it proposes, and what it is known by. Pure.

    - [x] O @Nora: Prefers dark themes. — sessions/claude-code/1a2b#m7 ^p-1a2b3c4d

Of that page one block is of reflect (core_proposals.py), another of capture.
"""

import re
from typing import NamedTuple

TICK, REFUSAL = "x", "-"

_TICKS = frozenset("xXyY✓✔☑✅")
_LINE = re.compile(
    r"\s*+(?:[-*+]|\d{1,9}[.)])\s*+(?P<boxes>(?:(?:\[[^\[\]]{0,5}\]|[✓✔☑✅]\ufe0f?)\s*+)*+)(?P<text>\S.*?)"
    r" \^p-(?P<name>[0-9a-f]{8})(?P<rest>.*)$"
)
"""A list item with its boxes: `- []`, `-[x]`, `- [ ] [x]`, `1. [x]`, `- ✅` are read too; one without is open."""
_BOX = re.compile(r"\[([^\[\]]*)\]|([✓✔☑✅])")


class ProposalLine(NamedTuple):
    """A proposal as its line states it, maybe in a person's words."""

    name: str
    mark: str
    """TICK however it is drawn, REFUSAL, "" for none, else what somebody wrote there."""
    text: str
    """What is proposed, also where somebody went on writing behind the name."""
    line: str


def read_line(line: str) -> ProposalLine | None:
    match = _LINE.match(line)
    if match is None:
        return None
    boxes = _BOX.findall(match["boxes"])
    marks = {(inside or drawn).strip().removesuffix("\ufe0f") for inside, drawn in boxes} - {""}
    mark = TICK if marks and marks <= _TICKS else " ".join(sorted(marks))
    return ProposalLine(match["name"], mark, " ".join(filter(None, (match["text"], match["rest"].strip()))), line)
