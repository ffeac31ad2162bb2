"""Owns the facts that reflect reads, out of the index: what people wrote in notes, never what a page of ours says.

Left out, with their number kept: what is private to some scope (a page is for everybody who opens it), what stands on
pages of proposals and summaries, and what was forgotten.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

from vault_memory import decay, entities, history, journal, uses
from vault_memory.answer import Filters
from vault_memory.knowledge import Names
from vault_memory.reflect.model import Fact
from vault_memory.spans import Span
from vault_memory.store import KINDS, Store

SUMMARIES = "bank/summaries/"
PROPOSALS = "bank/proposals.md"

_FACTS = """
SELECT p.id, p.kind, f.narrative, n.path, p.start_line, p.end_line, n.day, f.occurred_from, f.occurred_to, f.confidence,
  f.importance, f.block_id, f.wording, p.text, coalesce(p.scope, n.scope)
FROM fact f CROSS JOIN passage p ON p.id = f.passage_id CROSS JOIN note n ON n.id = p.note_id
WHERE f.part = 0 ORDER BY n.day, n.path, p.start_line
"""
_MENTIONS = "SELECT m.passage_id, name.text, name.slug FROM mention m JOIN name ON name.id = m.name_id"
_TOLD = """
SELECT f.wording, count(DISTINCT n.day) FROM fact f JOIN passage p ON p.id = f.passage_id
  JOIN note n ON n.id = p.note_id GROUP BY f.wording HAVING count(DISTINCT n.day) > 1
"""


@dataclass(frozen=True)
class Told:
    """All facts that reflect may use, by day, path and line; and how many were left out, by reason."""

    facts: tuple[Fact, ...]
    left_out: dict[str, int]


def read(store: Store, today: date) -> Told:
    """The facts of all notes as they stand on a day."""
    names = Names(store)
    left_out: dict[str, int] = defaultdict(int)
    rows = [row for row in store.rows(_FACTS) if _counts(row, left_out)]
    mentions = _mentions(store, names)
    canonical = lru_cache(1 << 14)(names.canonical)
    found = {row[0]: _fact(row, mentions.get(row[0], ()), canonical) for row in rows}
    found = _aged(store, found, {row[0]: row for row in rows}, today)
    return Told(tuple(_followed(store, names, found, today)), dict(left_out))


def _counts(row: Sequence[Any], left_out: dict[str, int]) -> bool:
    path, scope = row[3], row[14]
    if path.startswith(SUMMARIES) or path == PROPOSALS:
        return False
    if scope != "global":
        left_out["private"] += 1
        return False
    return True


def _mentions(store: Store, names: Names) -> dict[int, tuple[str, ...]]:
    """The entities each passage mentions, as canonical slugs."""
    found: dict[int, list[str]] = defaultdict(list)
    canonical: dict[str, str] = {}
    for passage, _, slug in store.rows(_MENTIONS):
        if slug not in canonical:
            canonical[slug] = names.canonical(slug)
        found[passage].append(canonical[slug])
    return {passage: tuple(sorted(dict.fromkeys(slugs))) for passage, slugs in found.items()}


def _fact(row: Sequence[Any], about: tuple[str, ...], canonical: Callable[[str], str]) -> Fact:
    head = row[13].partition(":")[0] if about else ""
    subjects = tuple(dict.fromkeys(canonical(name) for name in entities.mentions(head)))
    _, kind, text, path, line, _, day, since, until, confidence, importance, block_id, _, whole, _ = row
    return Fact(
        key=journal.passage_key(whole),
        kind=KINDS[kind],
        text=text,
        path=path,
        line=line,
        day=date.fromisoformat(day) if day else None,
        occurred=Span(date.fromisoformat(since), date.fromisoformat(until)) if since and until else None,
        about=tuple(dict.fromkeys((*subjects, *about))),
        subjects=subjects,
        confidence=confidence,
        importance=importance if importance is not None else -1.0,
        block_id=block_id,
    )


def _aged(store: Store, facts: dict[int, Fact], rows: dict[int, Sequence[Any]], today: date) -> dict[int, Fact]:
    """The same facts with importance and tier as of a day."""
    told = dict(store.rows(_TOLD))
    used: dict[int, tuple[int, ...]] = {}
    if uses.is_any(store):
        places = {i: journal.place_key(_place(row)) for i, row in rows.items()}
        used = uses.days(store, {i: (fact.key, places[i]) for i, fact in facts.items()}, today.toordinal())
    aged: dict[int, Fact] = {}
    for i, fact in facts.items():
        importance = fact.importance
        if importance < 0:
            importance = decay.importance_of(fact.kind, rows[i][13], told.get(rows[i][12], 1))
        trace = decay.Trace(
            day=fact.day.toordinal() if fact.day else None,
            uses=used.get(i, ()),
            importance=importance,
            confidence=1.0 if fact.confidence is None else fact.confidence,
            dynamic=decay.is_dynamic(rows[i][13]),
        )
        tier = decay.life(trace, today.toordinal()).tier or "working"
        aged[i] = replace(fact, importance=importance, tier=tier)
    return aged


def _place(row: Sequence[Any]) -> str:
    return f"{row[3]}#L{row[4]}" + (f"-L{row[5]}" if row[5] > row[4] else "")


def _followed(store: Store, names: Names, facts: dict[int, Fact], today: date) -> Iterator[Fact]:
    """The same facts, each with the one that took its place."""
    after = history.superseded(store, names, facts, today, Filters())
    for i, fact in facts.items():
        newer = facts.get(after[i].id) if i in after else None
        yield replace(fact, succeeded_by=newer.key) if newer else fact


def rarity(
    facts: Sequence[Fact], stems: Callable[[str], Sequence[str]], idle: Container[str]
) -> Callable[[str], float]:
    """How rare a stem is among some facts: 1 in one of them alone, 0 in all of them, and for words without sense.

    Not in the whole index: that holds our own pages, and what they say would change what they are to say.
    """
    held = Counter(stem for fact in facts for stem in set(stems(fact.text)))
    most = math.log(max(len(facts), 2))
    return lambda stem: 0.0 if stem in idle else max(1 - math.log(max(held[stem], 1)) / most, 0.0)
