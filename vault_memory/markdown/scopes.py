"""Determines the scope and origin of each line of a note, from list items, fields, properties and folders. Pure.

facts.py reads the scope of a well-formed fact; here a typo must never widen access.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_memory.markdown import facts as retain
from vault_memory.markdown import provenance
from vault_memory.markdown.facts import BULLET, HEAD
from vault_memory.markdown.frontmatter import guarded
from vault_memory.markdown.note import BLANK, HEADING, TEXT, Note, Problem
from vault_memory.text.scope_syntax import (
    AGENT_NOTES,
    GLOBAL,
    NO_SCOPE,
    UNREADABLE_SCOPE,
    Folders,
    agent_project,
    folder_key,
    is_scope,
    normal_scope,
)


class LineKey(NamedTuple):
    """A key that applies to all lines of the list item that names it: its pattern, how a value is read, and how
    several values combine."""

    named: re.Pattern[str]
    hint: str
    read: Callable[[str], str]
    joined: Callable[[set[str]], str]


SCOPE = LineKey(
    re.compile(r"\bscopes?[ \t]*=[ \t]*([^\s,()]*)|\([^()]*?\bscopes?[ \t]*::?[ \t]*([^\s,()]*)", re.IGNORECASE),
    "scope", lambda text: normal_scope(text) if text else UNREADABLE_SCOPE,
    lambda found: next(iter(found)) if len(found) == 1 else UNREADABLE_SCOPE,
)  # fmt: skip
BY = LineKey(
    re.compile(r"\([^()]*?\bby[ \t]*=[ \t]*([^,()]*)()", re.IGNORECASE),
    "by",
    provenance.normal,
    provenance.least_trusted,
)

_QUOTED = re.compile(r"[ \t]*+>[ \t]?")
_FIELD = re.compile(
    r"(?:^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)]|\[.\])[ \t])*+|[\[(])[ \t*_]*+scopes?[ \t*_]*+::([^\])]*)", re.IGNORECASE
)
"""A field as Dataview reads it: a whole line or list item, or in brackets."""


@dataclass
class _Item:
    """An open list item: first line, quote depth, indent, effective value and the values it names."""

    first: int
    quotes: int
    indent: int
    value: str | None
    named: set[str] = field(default_factory=set)
    is_head_read: bool = False

    def holds(self, line: str) -> bool:
        """Whether a line is indented as part of the item."""
        quotes, text = _unquoted(line, self.quotes)
        lead = text[: len(text) - len(text.lstrip(" \t"))]
        return quotes == self.quotes and len(lead.expandtabs(4)) > self.indent

    def read(self, text: str, key: LineKey) -> str | None:
        """The value named in the item's head, or in any text until a head is seen; None if there is none."""
        if self.is_head_read:
            return None
        head = HEAD.match(text)
        self.is_head_read = head is not None
        matches = key.named.finditer(text[: head.start(5)] if head else text)
        if values := {key.read(match[1] or match[2] or "") for match in matches}:
            self.named |= values
            self.value = key.joined(self.named)
        return self.value if values else None


def scope_problems(note: Note) -> Iterator[Problem]:
    """Yield the problems with the scopes named in a note's properties and fields."""
    if said := _named_scope(note.properties):
        if not is_scope(said):
            yield Problem(note.path, 1, f"`scope: {said:.80}` {NO_SCOPE}", "warning")
    elif any(guarded(key) == "scope" for key in note.properties):
        yield Problem(note.path, 1, "`scope` names no scope: it counts for nothing", "warning")
    for number, said in _fields(note):
        if not is_scope(said):
            yield Problem(note.path, number, f"`scope:: {said:.80}` {NO_SCOPE}")


def _fields(note: Note) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(note.lines, 1):
        if "::" in line and note.states[number - 1] == TEXT:
            yield from ((number, match[1].strip()) for match in _FIELD.finditer(note.plain(number)))


def by_line(note: Note, key: LineKey = SCOPE) -> dict[int, str]:
    """The value of `key` for each line of the list items that name it, including their paragraphs, lists and code.

    A field's scope also applies to its line, and can only restrict access.
    """
    found = _by_item(note, key) if any(key.hint in line.casefold() for line in note.lines) else {}  # nearly no note
    for number, said in _fields(note) if key is SCOPE else ():
        scope = SCOPE.read(said)
        if scope != GLOBAL:
            found[number] = SCOPE.joined({scope, found.get(number, scope)})
    return found


def _by_item(note: Note, key: LineKey) -> dict[int, str]:
    found: dict[int, str] = {}
    items: list[_Item] = []
    after_blank = True
    for number, line in enumerate(note.lines, 1):
        state = note.states[number - 1]
        quotes, text = _unquoted(line)
        if state == BLANK or not text.strip():
            after_blank = True
            continue
        bullet = BULLET.match(text)
        if state == HEADING:
            items.clear()
        # A line directly below an item continues it, even without an indent.
        while items and (bullet or after_blank) and not items[-1].holds(line):
            items.pop()
        after_blank = False
        if bullet:
            indent = len(bullet[1].expandtabs(4))
            items.append(_Item(number, quotes, indent, items[-1].value if items else None))
        if items:
            item = items[-1]
            if named := item.read(bullet[2] if bullet else text, key):
                found |= dict.fromkeys(range(item.first, number), named)
            if item.value:
                found[number] = item.value
    return found


def _unquoted(line: str, most: int = -1) -> tuple[int, str]:
    """The quote depth of a line, up to `most`, and the line without those quote marks."""
    quotes = 0
    while quotes != most and (match := _QUOTED.match(line)):
        quotes, line = quotes + 1, line[match.end() :]
    return quotes, line


def of_passage(found: Mapping[int, str], start: int, end: int, key: LineKey) -> str | None:
    """The value that `by_line` found for a passage; if its lines differ, a scope that nobody has, or the least trusted
    origin."""
    named = {found[n] for n in range(start, end + 1) if n in found} if found else None
    return key.joined(named) if named else None


# --- whole notes -----------------------------------------------------------------------------------------------------


def note_scope(properties: Mapping[str, object], path: str, folders: Folders) -> str:
    """The scope of a whole note: its own, in any spelling of the property (frontmatter.guarded), else its folder's."""
    said = _named_scope(properties)
    return normal_scope(said) if said else folder_scope(path, folders)


def _named_scope(properties: Mapping[str, object]) -> str:
    """The scope named in a note's properties, as text; "" for none. Any non-empty value counts, even `no`."""
    value = next((value for key, value in properties.items() if guarded(key) == "scope"), None)
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return "" if value is None or value == [] else str(value).strip()


def folder_scope(path: str, folders: Folders) -> str:
    """The scope of the nearest configured folder that contains a note, or GLOBAL.

    An agent's folder has its project's scope, unless the user restricted a folder around it or configured it directly.
    """
    project = agent_project(path)
    own = f"{AGENT_NOTES}/{project}" if project else ""
    name = f"{folder_key(path)}/"
    holding = [(folder, scope) for folder, scope in folders if not folder or name.startswith(f"{folder}/")]
    folder, scope = max(holding, key=lambda pair: len(pair[0]), default=("", GLOBAL))
    return normal_scope(f"project:{project}") if scope == GLOBAL and len(folder) < len(own) else scope


class LineAccess(NamedTuple):
    """The scope and the origin of a line."""

    scope: str
    by: str


def line_access(note: Note, folders: Folders) -> list[LineAccess]:
    """The scope and origin of each line of a note, which an edit must not change for lines it does not replace."""
    whole = note_scope(note.properties, note.path, folders)
    of_whole, by = provenance.note_origin(note.properties, note.path), by_line(note, BY)
    own = dict.fromkeys(range(1, len(note.lines) + 1), whole) | by_line(note)
    for fact in retain.facts(note, None):
        lines = range(fact.start_line, fact.end_line + 1)
        own |= dict.fromkeys(lines, fact.scope) if fact.scope else {}
        by |= dict.fromkeys(lines, fact.by) if fact.by else {}
    return [LineAccess(own[n], provenance.line_origin(by.get(n), of_whole) or of_whole) for n in own]
