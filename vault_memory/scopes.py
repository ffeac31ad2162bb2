"""Owns which notes, and which of their lines, are private: list items that name a scope, however badly. Pure.

A well-formed fact's own scope is retain.py's business; here a slip must never widen access.
"""

import re

from vault_memory.note import BLANK, HEADING, Note
from vault_memory.retain import BULLET, HEAD, UNREADABLE_SCOPE, normal_scope

_NAMED = re.compile(r"\bscope[ \t]*=[ \t]*([^\s,()]*)|\([^()]*?\bscope[ \t]*:[ \t]*([^\s,()]*)", re.IGNORECASE)


def of_note(note: Note) -> str:
    """The scope of a whole note, whatever the case of the property's name."""
    value = next((value for key, value in note.properties.items() if key.casefold() == "scope"), None)
    return normal_scope(str(value)) if value else "global"


class _Item:
    """An open list item: where it began, how far it is indented, its scope, and whether its head has been read."""

    def __init__(self, first: int, indent: int, outer: str | None) -> None:
        self.first, self.indent, self.scope, self.head_read = first, indent, outer, False


def by_line(note: Note) -> dict[int, str]:
    """The scope of each line that a list item with a scope holds: its paragraphs, lists and code, to its last line."""
    found: dict[int, str] = {}
    if not any("cope" in line or "COPE" in line for line in note.lines):
        return found  # nearly every note
    items: list[_Item] = []
    after_blank = True
    for number, line in enumerate(note.lines, 1):
        state = note.states[number - 1]
        if state == BLANK or not line.strip():
            after_blank = True
            continue
        bullet = BULLET.match(line)
        _close(items, line, state == HEADING, bullet is not None or after_blank)
        after_blank = False
        if bullet:
            indent = len(bullet[1].expandtabs(4))
            items.append(_Item(number, indent, items[-1].scope if items else None))
        if items:
            _read(items[-1], bullet[2] if bullet else line, number, found)
    return found


def _close(items: list[_Item], line: str, heading: bool, may_end: bool) -> None:
    """End the items this line is no part of; a line right below an item continues it even without an indent."""
    indent = len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
    while items and (heading or (may_end and items[-1].indent >= indent)):
        items.pop()


def _read(item: _Item, text: str, number: int, found: dict[int, str]) -> None:
    """Look for the item's scope in its head, in all of the text while no head is seen; it holds from the first line."""
    named = None if item.head_read else _NAMED.search(_head(item, text))
    if named:
        item.scope = normal_scope(named[1] or named[2]) if named[1] or named[2] else UNREADABLE_SCOPE
        found.update((n, item.scope) for n in range(item.first, number))
    if item.scope:
        found[number] = item.scope


def _head(item: _Item, text: str) -> str:
    match = HEAD.match(text)
    item.head_read = match is not None
    return text[: match.start(5)] if match else text


def of_lines(found: dict[int, str], start: int, end: int) -> str | None:
    """The scope of a passage of several lines; one that nobody has where they differ."""
    named = {found[n] for n in range(start, end + 1) if n in found} if found else set()
    return named.pop() if len(named) == 1 else UNREADABLE_SCOPE if named else None
