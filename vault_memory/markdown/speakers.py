"""Whose turn a line of a conversation is: `- Name: …`, `**Name:** …`, `[10:32] Name Surname: …`. Pure."""

import re

SPEAKER = re.compile(
    r"\s*(?:[-*+>]\s+|\d{1,9}[.)]\s+)*"  # a list item, a quotation
    r"(?:\[[^\[\]]{1,30}\]\s*|\(?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[AaPp][Mm])?\)?[\s,–-]+"  # [10:32], 10:32 -
    r"|\d[\d/.-]{5,9},?\s+\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp][Mm])?\s+-\s+)?"  # 12/03/24, 10:32 - (exported chats)
    r"(?:\*\*|__|@)?(?P<name>[^\W\d_a-z][\w.'’-]{0,30}(?: [^\W\d_a-z][\w.'’-]{0,30}){0,3})(?:\*\*|__)?"
    r":(?:\*\*|__)?(?:\s|$)"
)
"""How a line of a conversation begins: `- Name: …`, `**Name:** …`, `[10:32] Name Surname: …`."""

MAX_LABEL_CHARS = 160
"""So long are a mark, a time and a name before the colon at the most."""


def turn(text: str) -> re.Match[str] | None:
    """How a line begins that may be somebody's turn; its group `name` says whose."""
    return SPEAKER.match(text) if ":" in text[:MAX_LABEL_CHARS] else None


def speaker(text: str) -> str:
    """Who says a line of a conversation, case folded, or ""."""
    match = turn(text)
    return match["name"].casefold() if match else ""
