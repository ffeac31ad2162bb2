"""Owns what was told lately: the facts and lines of the notes of the last days, newest first; what was summed up."""

import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.context.prompt_sheet import Piece
from vault_memory.markdown.note import decode, split_lines
from vault_memory.markdown.passages import SUMMARIES
from vault_memory.search.entities import Names
from vault_memory.search.recall import found_at
from vault_memory.search.superseded import superseded
from vault_memory.store.candidate import ASIDE, FACTS, PAGE, Candidate
from vault_memory.store.filters import Filters
from vault_memory.store.journal import passage_key
from vault_memory.store.rows import KINDS, PASSAGES, Store
from vault_memory.vault.vault import Vault

MOST = 2000
"""So many passages are looked at: more than fit into any prompt."""

SUMMED_UP_DAYS = 62
"""A week or a month that began before so many days says nothing of now."""

_WEEK, _MONTH = (re.compile(re.escape(SUMMARIES) + name) for name in (r"\d{4}-W\d\d\.md", r"\d{4}-\d\d\.md"))

_PAGES = "SELECT path FROM note WHERE path > ? AND path <= ? ORDER BY path DESC"

_RECENT = (
    "SELECT n.path, n.day, n.header_tokens, p.id, n.id, p.start_line, p.end_line, p.from_char, p.to_char, p.kind,"
    f" p.tokens, p.section, p.text, coalesce(p.origin, n.origin) FROM note n CROSS JOIN {PASSAGES}"
    " WHERE n.day BETWEEN ? AND ? AND p.section >= 0 AND p.section < ? AND p.kind <> ?"
    " AND coalesce(p.scope, n.scope) IN (SELECT value FROM json_each(?))"
    " ORDER BY p.kind IN (SELECT value FROM json_each(?)) DESC, n.day DESC, n.path, p.start_line DESC, p.id LIMIT ?"
)


class Days(NamedTuple):
    """The days that are asked about, both ends included."""

    first: date
    last: date


class Told(NamedTuple):
    """A passage that was told lately, and the tokens of its note's header."""

    piece: Piece
    name_tokens: int


def told(vault: Vault, store: Store, days: Days, allowed: tuple[str, ...]) -> Iterator[Told]:
    """What was told on those days in these scopes: facts first, then other lines, newest first; nothing superseded."""
    rows = _rows(store, days, allowed)
    facts = [found.id for *_, found in rows if found.kind in FACTS]
    old = superseded(store, Names(store), facts, days.last, Filters(scopes=allowed))
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


def summaries(store: Store, today: date) -> list[str]:
    """The page of the newest week and that of the newest month that have one, of those that are not long over."""
    first = today - timedelta(days=SUMMED_UP_DAYS)
    found = []
    for called, shape in (("%G-W%V", _WEEK), ("%Y-%m", _MONTH)):
        ends = (f"{SUMMARIES}{day.strftime(called)}.md" for day in (first, today))
        found += [path for (path,) in store.rows(_PAGES, *ends) if shape.fullmatch(path)][:1]
    return found


def _rows(store: Store, days: Days, allowed: tuple[str, ...]) -> list[tuple[str, str, int, str, Candidate]]:
    facts = json.dumps(sorted(KINDS.index(kind) for kind in FACTS))
    asked = (days.first.isoformat(), days.last.isoformat(), ASIDE, KINDS.index(PAGE), json.dumps(allowed), facts, MOST)
    return [
        (path, day, name, by, Candidate(*place, KINDS[kind], tokens, section, text))  # type: ignore[call-arg]
        for path, day, name, *place, kind, tokens, section, text, by in store.rows(_RECENT, *asked)
    ]


def _lines(vault: Vault, path: str) -> list[str]:
    try:
        return split_lines(decode(vault.read(path))[0])
    except OSError:
        return []
