"""Composes the list of a day's sessions in its daily note. Pure.

    - 10:02 (scope=project:tern) Deploy of quill — sessions/claude-code/1a2b

The scope in a line keeps the entry from agents to which it is not open.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from vault_memory.errors import ConflictError
from vault_memory.reflect.generated_blocks import Block, put_block, read_page, sha
from vault_memory.text.scope_syntax import GLOBAL

BLOCK = "sessions"

_HEADING = "## Sessions"
_ENTRY = re.compile(r"- (?P<time>\d\d:\d\d )?(?:\(scope=\S+\) )?(?P<title>.*) — (?P<name>sessions/\S+)")

NO_TITLE = "(session)"
"""The title of a session whose own its user did not type, or that was forgotten."""


class SessionDay(NamedTuple):
    """One session on one day; `name` is as cited, `at` when it began that day (None: unknown)."""

    name: str
    day: date
    at: datetime | None
    scope: str
    title: str

    def __str__(self) -> str:
        time = f"{self.at.astimezone():%H:%M} " if self.at else ""
        scope = "" if self.scope == GLOBAL else f"(scope={self.scope}) "
        return f"- {time}{scope}{self.title} — {self.name}"


def compose(path: str, before: bytes, days: Iterable[SessionDay], forgotten: Sequence[str] = ()) -> bytes:
    """The note with these sessions added to those already in its block.

    A title that contains one of the `forgotten` texts is removed for good. Raises ConflictError if the markers are
    broken or somebody has edited the block."""
    page = read_page(path, before, BLOCK)
    if page.block and not page.block.is_as_written:
        what = f"{path}: its list of sessions was edited and stays as it is."
        raise ConflictError(what, "Delete the block to have it written anew.")
    standing = filter(None, map(_ENTRY.match, page.block.lines if page.block else ()))
    entries = {match["name"]: _without(match, forgotten) for match in standing}
    entries |= {one.name: str(one) for one in days if NO_TITLE not in entries.get(one.name, "")}
    if not entries:
        return before
    lines = [_HEADING, ""]
    lines += (entry for _, entry in sorted(entries.items(), key=lambda pair: (_time(pair[1]), pair[0])))
    if page.block and page.block.lines == tuple(lines):
        return before
    return put_block(page, BLOCK, Block(tuple(lines), sha(lines)))


def _without(entry: re.Match[str], forgotten: Sequence[str]) -> str:
    """An entry, its title replaced if it contains a forgotten text."""
    is_told = any(text.casefold().rstrip(".") in entry["title"].casefold() for text in forgotten)
    return entry[0].replace(entry["title"], NO_TITLE) if is_told else entry[0]


def _time(entry: str) -> str:
    match = _ENTRY.match(entry)
    return (match and match["time"]) or ""
