"""Reads the prose of a daily log: the lines that its person wrote. Pure."""

import re
from collections.abc import Iterator

from vault_memory.markdown import facts, scopes
from vault_memory.markdown.note import TEXT, Note

_LEAD = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\d{1,2}[:.]\d\d(?:\s?[ap]m)?\b[\s,–-]*)?", re.IGNORECASE)
"""What precedes the words of a log's line: a bullet and the time of day."""

LINE_CHARS = 1500
"""A longer line of a log is taken as pasted."""

_TASK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[.\]\s")


def prose(note: Note, number: int) -> str:
    """A line of a note as shown; "" in code, comments and managed blocks."""
    return note.shown(number) if note.states[number - 1] == TEXT and not note.is_owned(number) else ""


def own_lines(note: Note) -> Iterator[tuple[int, str]]:
    """The prose lines a person wrote, numbered: no facts, tasks, quotations, code, tables, dialogue or managed blocks,
    and nothing with a scope or an author of its own."""
    told, private = (
        {at for fact in facts.facts(note, None) for at in range(fact.start_line, fact.end_line + 1)},
        (scopes.by_line(note).keys() | scopes.by_line(note, scopes.BY).keys()),
    )
    for number, state in enumerate(note.states, start=1):
        line = note.plain(number)
        if state != TEXT or number in told or number in private or note.is_owned(number):
            continue
        words = _LEAD.sub("", note.shown(number), count=1)
        is_fact = facts.HEAD.match(words) is not None and "(" in words[:3]  # one that is malformed
        text = _readable(words)
        if (
            text
            and len(text) <= LINE_CHARS
            and not (_TASK.match(line) or line.lstrip().startswith((">", "|")) or is_fact)
        ):
            yield number, text


def _readable(line: str) -> str:
    """A line without the tags at its end and with wiki links replaced by their text."""
    words = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]+)\]\]", r"\1", line).split()
    while words and words[-1].startswith("#") and len(words[-1]) > 1:
        words.pop()
    return " ".join(words)
