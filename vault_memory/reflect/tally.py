"""Owns counting the facts that reflect reads, without making each: by kind, by tier, by day.

It counts what facts.py gives and nothing else; a test holds the two together.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from vault_memory import decay, journal, uses
from vault_memory.reflect.facts import PROPOSALS, SUMMARIES
from vault_memory.store import KINDS, Store

_FACTS = """
SELECT p.id, p.kind, n.day, f.confidence, f.importance, f.wording, p.text, n.path, p.start_line, p.end_line
FROM fact f CROSS JOIN passage p ON p.id = f.passage_id CROSS JOIN note n ON n.id = p.note_id
WHERE f.part = 0 AND coalesce(p.scope, n.scope) = 'global' AND n.path <> ? AND substr(n.path, 1, ?) <> ?
"""
_PRIVATE = """
SELECT count(*) FROM fact f CROSS JOIN passage p ON p.id = f.passage_id CROSS JOIN note n ON n.id = p.note_id
WHERE f.part = 0 AND coalesce(p.scope, n.scope) <> 'global' AND n.path <> ? AND substr(n.path, 1, ?) <> ?
"""
_TOLD = """
SELECT count(DISTINCT n.day) FROM fact f JOIN passage p ON p.id = f.passage_id JOIN note n ON n.id = p.note_id
WHERE f.wording = ?
"""

_OURS = (PROPOSALS, len(SUMMARIES), SUMMARIES)


@dataclass(frozen=True)
class Tally:
    """How many facts there are; `days` are of those with one, `private` are left out of all else."""

    total: int
    kinds: Mapping[str, int]
    tiers: Mapping[str, int]
    days: Mapping[date, int]
    private: int = 0
    inferred: int = 0


def tally(store: Store, today: date) -> Tally:
    """Count the facts of all notes as they stand on a day."""
    rows = list(store.rows(_FACTS, *_OURS))
    days: Counter[str] = Counter(row[2] for row in rows if row[2])
    return Tally(
        total=len(rows),
        kinds=Counter(KINDS[row[1]] for row in rows),
        tiers=Counter(_tiers(store, rows, today)),
        days={date.fromisoformat(day): count for day, count in days.items()},
        private=int(store.one(_PRIVATE, *_OURS)),
    )


def _tiers(store: Store, rows: Sequence[Sequence[Any]], today: date) -> Iterator[str]:
    used = _used(store, rows, today)
    old, now = date.fromordinal(max(today.toordinal() - decay.OLD_DAYS, 1)).isoformat(), today.isoformat()
    for row in rows:
        day = row[2]
        if row[0] not in used and (not day or day >= now or day < old):
            # Never used, what is old is peripheral and what has not aged is not, whatever they are worth (decay.py).
            yield "peripheral" if day and day < old else "working"
        else:
            yield _tier(store, row, used.get(row[0], ()), today)


def _used(store: Store, rows: Sequence[Sequence[Any]], today: date) -> Mapping[int, tuple[int, ...]]:
    """The days of use of those facts that were of use."""
    known = {passage for (passage,) in store.rows("SELECT DISTINCT passage FROM used")}
    if not known:
        return {}
    keys = ((row[0], (journal.passage_key(row[6]), journal.place_key(_place(row)))) for row in rows)
    return uses.days(store, {i: both for i, both in keys if not known.isdisjoint(both)}, today.toordinal())


def _place(row: Sequence[Any]) -> str:
    path, start, end = row[7:10]
    return f"{path}#L{start}" + (f"-L{end}" if end > start else "")


def _tier(store: Store, row: Sequence[Any], used: tuple[int, ...], today: date) -> str:
    _, kind, day, confidence, importance, wording, text = row[:7]
    if importance is None:
        importance = decay.importance_of(KINDS[kind], text, int(store.one(_TOLD, wording)) or 1)
    trace = decay.Trace(
        day=date.fromisoformat(day).toordinal() if day else None,
        uses=used,
        importance=importance,
        confidence=1.0 if confidence is None else confidence,
        dynamic=decay.is_dynamic(text),
    )
    return decay.tier_of(trace, today.toordinal())
