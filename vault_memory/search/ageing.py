"""Owns how old what was found is: each candidate's day, importance, use and tier, read from the index.

Only facts and dated logs age; a passage that is neither has no life here, and nothing is taken off its score.
"""

import json
from collections.abc import Mapping
from datetime import date

from vault_memory.markdown.facts import is_decided
from vault_memory.search import decay
from vault_memory.search.decay import Life, Trace
from vault_memory.store import journal, usage
from vault_memory.store.candidate import FACTS, Candidate
from vault_memory.store.row_cache import NoteInfo
from vault_memory.store.view import View

_DATED = frozenset(("note", "session"))


def lives(
    store: View, passages: Mapping[int, Candidate], notes: Mapping[int, NoteInfo], today: date
) -> dict[int, Life]:
    """How the facts and the lines of dated notes among these passages stand on a day."""
    facts = {i: p for i, p in passages.items() if p.kind in FACTS}
    logs = {i: p for i, p in passages.items() if p.kind in _DATED and notes[p.note_id].day}
    used: dict[int, tuple[int, ...]] = {}
    if usage.is_any(store):
        keys = {i: journal.passage_key(p.text) for i, p in (facts | logs).items()}
        used = usage.days(store, keys, today.toordinal())
    known = _fact_rows(store, facts, today)
    found = {i: _fact(p, _day(notes[p.note_id]), known.get(i), used.get(i, ()), today) for i, p in facts.items()}
    return found | _logs(logs, notes, used, today)


def _logs(
    logs: Mapping[int, Candidate], notes: Mapping[int, NoteInfo], used: Mapping[int, tuple[int, ...]], today: date
) -> dict[int, Life]:
    days = {note: _day(info) for note, info in notes.items()}
    found: dict[int, Life] = {}
    for passage_id, passage in logs.items():
        day = days[passage.note_id]
        found[passage_id] = decay.life(Trace(day, used.get(passage_id, ())), today.toordinal(), False)
    return found


def _fact(
    passage: Candidate, day: int | None, row: tuple[float | None, float | None, int] | None, used: tuple[int, ...],
    today: date,
) -> Life:  # fmt: skip
    confidence, importance, told_days = row or (None, None, 1)
    if importance is None:
        importance = decay.importance_of(passage.kind, is_decided(passage.text), told_days)
    trace = Trace(
        day=day,
        uses=used,
        importance=importance,
        confidence=confidence if confidence is not None else 1.0,
        dynamic=decay.is_dynamic(passage.text),
    )
    return decay.life(trace, today.toordinal())


def _fact_rows(
    store: View, facts: Mapping[int, Candidate], today: date
) -> dict[int, tuple[float | None, float | None, int]]:
    """Confidence, importance, and on how many days up to today the same words were told, of each fact."""
    sql = (
        "SELECT f.passage_id, f.confidence, f.importance, count(DISTINCT n.day) FROM json_each(?) j"
        " JOIN fact f ON f.passage_id = j.value JOIN fact g ON g.wording = f.wording"
        " JOIN passage p ON p.id = g.passage_id JOIN note n ON n.id = p.note_id AND n.day <= ?"
        " GROUP BY f.passage_id"
    )
    told = {row[0]: (row[1], row[2], row[3]) for row in store.rows(sql, json.dumps(list(facts)), today.isoformat())}
    missing = [i for i in facts if i not in told]
    sql = "SELECT passage_id, confidence, importance FROM json_each(?) j JOIN fact ON passage_id = j.value"
    return told | {row[0]: (row[1], row[2], 1) for row in store.rows(sql, json.dumps(missing))}


def _day(note: NoteInfo) -> int | None:
    return date.fromisoformat(note.day).toordinal() if note.day else None
