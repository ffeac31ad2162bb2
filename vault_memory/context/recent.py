"""Owns what was told lately: the facts and lines of the notes of the last days, newest first; what was summed up."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.context.prompt_sheet import Piece
from vault_memory.markdown.note import decode, split_lines
from vault_memory.markdown.passages import SUMMARIES
from vault_memory.search.names import Names
from vault_memory.search.recall import found_at
from vault_memory.search.superseded import superseded
from vault_memory.store.candidate import FACTS, PAGE
from vault_memory.store.filters import Filters
from vault_memory.store.journal import passage_key
from vault_memory.store.note_rows import note_paths, recent_passages
from vault_memory.store.view import View
from vault_memory.text.spans import Span
from vault_memory.vault.vault import Vault

MOST = 2000
"""So many passages are looked at: more than fit into any prompt."""

SUMMED_UP_DAYS = 62
"""A week or a month that began before so many days says nothing of now."""

_WEEK, _MONTH = (re.compile(re.escape(SUMMARIES) + name) for name in (r"\d{4}-W\d\d\.md", r"\d{4}-\d\d\.md"))


class Told(NamedTuple):
    """A passage that was told lately, and the tokens of its note's header."""

    piece: Piece
    name_tokens: int


def told(vault: Vault, view: View, days: Span) -> Iterator[Told]:
    """What was told on those days: facts first, then other lines, newest first; nothing that is superseded."""
    rows = recent_passages(view, days, MOST, preferred=FACTS, without=(PAGE,))
    facts = [row.passage.id for row in rows if row.passage.kind in FACTS]
    old = superseded(view, Names(view), facts, days.end, Filters())
    files: dict[str, list[str]] = {}
    for path, day, name_tokens, by, found in rows:
        if found.id in old:
            continue
        if path not in files:
            files[path] = _lines(vault, path)
        start = found_at([found], files[path])
        if start is None:
            continue
        end = start + found.end_line - found.start_line
        piece = Piece(path, day, start, end, found.kind, found.text, found.tokens, passage_key(found.text), by=by)
        yield Told(piece, name_tokens)


def summaries(view: View, today: date) -> list[str]:
    """The page of the newest week and that of the newest month that have one, of those that are not long over."""
    first = today - timedelta(days=SUMMED_UP_DAYS)
    pages = note_paths(view, SUMMARIES.rstrip("/"))
    found = []
    for called, shape in (("%G-W%V", _WEEK), ("%Y-%m", _MONTH)):
        start, end = (f"{SUMMARIES}{day.strftime(called)}.md" for day in (first, today))
        found += [path for path in pages if start < path <= end and shape.fullmatch(path)][-1:]
    return found


def _lines(vault: Vault, path: str) -> list[str]:
    try:
        return split_lines(decode(vault.read(path))[0])
    except OSError:
        return []
