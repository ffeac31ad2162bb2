"""Reads the list items of the core, memory.md, and changes one of them. Pure.

Reflect never changes it unasked: only a proposal that a person ticked does (proposals.py).
"""

import re
from itertools import pairwise
from typing import NamedTuple

from vault_memory.errors import ConflictError
from vault_memory.markdown.note import TEXT
from vault_memory.markdown.parse import parse
from vault_memory.text import tokens
from vault_memory.write.rewrite import decode_utf8

PATHS = ("memory.md", "MEMORY.md")

TOKENS = 2000
"""The core is handed to agents whole."""

HEADING = "## Learnt"
"""Where ticked additions go."""

START = b"# Memory\n"
"""A core that is not there yet."""

ADD, CHANGE, REMOVE = "add", "change", "remove"

_ITEM = re.compile(r"([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)(?!\[ \])(\S.*)$")
_STARTS = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}(?:[ \t]|$)|[ \t]*(?:```|~~~|---|___|\*\*\*|>|<!--|%%)")
"""What begins something else than more of the line before."""

_ENDS = re.compile(r"(\r\n|\n|\r)")


class Item(NamedTuple):
    """A list item of the core: its line, 1-based, and its text."""

    line: int
    text: str


class CoreChange(NamedTuple):
    """What a ticked proposal asks: `text` is to stand there, `old` is the item it is about ("" for an addition)."""

    what: str
    text: str
    old: str = ""


def list_items(path: str, data: bytes) -> list[Item]:
    """The list items of the core that stand in one line."""
    note = parse(path, data)
    lines = [line if state == TEXT else "" for line, state in zip(note.lines, note.states, strict=True)]
    found: list[Item] = []
    for number, (line, following) in enumerate(pairwise([*lines, ""]), 1):
        goes_on = following.strip() and not _STARTS.match(following)
        if (match := _ITEM.match(line)) and not goes_on:
            found.append(Item(number, match[2].rstrip()))
    return found


def apply_change(path: str, data: bytes, change: CoreChange) -> bytes:
    """The core with one change made; all other bytes stay, and all where a run that was killed made it already.

    Raises ConflictError when the item is not there any more, or the core would grow beyond its limit of tokens.
    """
    parts, there = _ENDS.split(decode_utf8(path, data)), list_items(path, data)
    found = next((item for item in reversed(there) if item.text == change.old), None)
    at = 2 * (found.line - 1) if found else 0
    if change.what == REMOVE:
        is_done = found is None
    else:
        is_done = found is None and any(item.text == change.text for item in there)
    if is_done:
        return data
    if change.what == ADD:
        parts = [_added(parts, change.text)]
    elif found is None:
        raise ConflictError(f'{path} has no line "{change.old}" any more: it was left alone.', "Change it by hand.")
    elif change.what == REMOVE:
        del parts[at : at + 2]
    else:
        match = _ITEM.match(parts[at])
        parts[at] = f"{match[1] if match else '- '}{change.text}"
    after = "".join(parts).encode("utf-8")
    size = tokens.count(after.decode("utf-8")) if len(after) > len(data) else 0
    if size > TOKENS:
        raise ConflictError(
            f"{path} would have {size:,} tokens, of {TOKENS:,} at most: what was ticked was not put there.",
            "Shorten it, or take a line out; the tick stays until then.",
        )
    return after


def has_room(data: bytes, text: str) -> bool:
    """Whether an addition would stay within the limit; few bytes are few tokens, and need no counting."""
    after = f"{data.decode('utf-8', 'replace')}\n- {text}\n"
    return len(after.encode("utf-8", "replace")) + len(HEADING) + 4 <= TOKENS or tokens.count(after) <= TOKENS


def _added(parts: list[str], text: str) -> str:
    """The text with an item at the end of the section `HEADING`, which is made where there is none."""
    lines, newline = parts[::2], next(iter(parts[1::2]), "\n")
    at = next((i for i, line in enumerate(lines) if line.strip() == HEADING), None)
    if at is None:
        body = "".join(parts)
        lead = "" if not body.strip("\ufeff") else newline if body.endswith(("\n", "\r")) else newline * 2
        return f"{body}{lead}{HEADING}{newline}{newline}- {text}{newline}"
    end = next((i for i in range(at + 1, len(lines)) if re.match(r"#{1,2} ", lines[i])), len(lines))
    last = max((i for i in range(at, end) if lines[i].strip()), default=at)
    lead = newline if last == at else ""
    head, tail = "".join(parts[: 2 * last + 1]), "".join(parts[2 * last + 1 :])
    return f"{head}{newline}{lead}- {text}{tail or newline}"
