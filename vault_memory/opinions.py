"""Owns opinions: for now, the beliefs as they were written, in Retain lines and in bank/opinions.md.

Statements are told apart by entity and wording; the same one written again on a later day is its history.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from vault_memory.history import marked
from vault_memory.knowledge import FACT_COLUMNS, FactLine, Names, fact_line
from vault_memory.store import KINDS, Store


@dataclass(frozen=True)
class Opinion:
    """A belief: its latest statement and confidence (0..1), and every place it was written, newest first."""

    statement: str
    confidence: float
    entities: tuple[str, ...]
    trend: str
    evidence: Sequence[FactLine]
    superseded_by: str | None = None


def held(store: Store, entity: str | None, today: date) -> list[Opinion]:
    """The opinions held (about one entity), most confident first; those behind that hold no longer."""
    names = Names(store)
    wanted = names.canonical(entity) if entity else None
    sql = FACT_COLUMNS + " WHERE p.kind = ? ORDER BY n.day DESC, n.path, p.start_line"
    mentioned = _mentioned(store, names)
    groups: dict[tuple[tuple[str, ...], str], list[FactLine]] = defaultdict(list)
    facts = [fact_line(row) for row in store.rows(sql, KINDS.index("opinion"))]
    for fact in marked(store, facts, today):
        about = mentioned.get((fact.path, fact.start_line), ())
        if wanted is None or wanted in about:
            groups[about, _wording(fact.text)].append(fact)
    opinions = [_opinion(names, about, told) for (about, _), told in groups.items()]
    return sorted(opinions, key=lambda o: (bool(o.superseded_by), -o.confidence, o.statement))


def _mentioned(store: Store, names: Names) -> dict[tuple[str, int], tuple[str, ...]]:
    sql = (
        "SELECT n.path, p.start_line, name.slug FROM passage p JOIN note n ON n.id = p.note_id"
        " JOIN mention m ON m.passage_id = p.id JOIN name ON name.id = m.name_id WHERE p.kind = ? ORDER BY name.slug"
    )
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for path, line, slug in store.rows(sql, KINDS.index("opinion")):
        found[path, line].append(names.canonical(slug))
    return {place: tuple(dict.fromkeys(slugs)) for place, slugs in found.items()}


def _wording(text: str) -> str:
    """What makes two statements the same: their words, without case and punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _opinion(names: Names, about: tuple[str, ...], facts: list[FactLine]) -> Opinion:
    newest, oldest = facts[0], facts[-1]
    change = (newest.confidence or 0) - (oldest.confidence or 0)
    trend = "new" if len(facts) == 1 else "rising" if change > 0.02 else "falling" if change < -0.02 else "steady"
    return Opinion(
        statement=newest.text,
        confidence=newest.confidence or 0.0,
        entities=tuple(names.shown(slug) or slug for slug in about),
        trend=trend,
        evidence=facts,
        superseded_by=newest.superseded_by,
    )
