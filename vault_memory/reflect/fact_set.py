"""Reads reflect's facts from the index: Retain bullets, and statements in logs that are conversations.

Left out and counted: facts private to a scope (anybody may open a page), and forgotten ones.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown import entities, fact_text, provenance
from vault_memory.reflect.fact import Fact
from vault_memory.search import decay
from vault_memory.search.names import Names
from vault_memory.search.superseded_facts import superseded
from vault_memory.store import journal, note_queries
from vault_memory.store.view import KINDS, Filters, View
from vault_memory.text.calendar_days import Span

_KEYS = re.compile(r"([^(]*?[WBOS][ \t]*)\(([^()]*)\)(.*)", re.DOTALL)


@dataclass(frozen=True)
class FactSet:
    """All facts that reflect may use, sorted by day, path and line; and how many were left out, by reason."""

    facts: tuple[Fact, ...]
    left_out: Mapping[str, int]
    speakers: Mapping[str, str]
    """The most frequent spelling, by slug, of names known from conversations or from links in them."""
    withheld: frozenset[int] = frozenset()
    """The keys of the facts left out: they must go from every page, however many there are."""


class FactRow(NamedTuple):
    """One fact's row in the index; `speaker` is None for a Retain bullet, "" for one inferred about the user."""

    id: int
    kind: int
    text: str
    path: str
    line: int
    end_line: int
    day: str | None
    since: str | None
    until: str | None
    scope: str
    whole: str
    confidence: float | None
    importance: float | None
    block_id: str | None
    key: int
    decided: int
    wording: int
    speaker: str | None
    by: str
    tokens: int


def read(view: View, names: Names, today: date, with_private: bool = False) -> FactSet:
    """Read the facts of all notes, with tiers and supersession as of `today`.

    `with_private` includes facts private to a scope: only to answer a user's query, never for a page.
    """
    left_out, rows, forgotten = Counter[str](), list[FactRow](), journal.forgotten(view)
    withheld, pages = set(forgotten), (view.layout.summaries, view.layout.proposals)
    for row in map(FactRow._make, note_queries.fact_rows(view)):
        if row.path.startswith(pages):
            continue
        is_private = row.scope != "global" and not with_private
        if is_private or (forgotten and _words(row) in forgotten):
            left_out["private" if is_private else "forgotten"] += 1
            withheld.update((row.key, *_before_private(row)))
        else:
            rows.append(row)
    finder = _EntityFinder(view, names, rows)
    facts = {row.id: fact for row, fact in zip(rows, _aged(view, rows, finder, today), strict=True)}
    # Private and forgotten facts supersede nothing: a page would drop a fact without being able to say why.
    after = superseded(view, names, facts, today, Filters(), by_each_other=True)
    for id_, newer in after.items():
        if id_ in facts and newer.id in facts:
            facts[id_] = facts[id_]._replace(succeeded_by=facts[newer.id].key)
    ordered = tuple(sorted(facts.values(), key=lambda fact: (fact.day or date.min, fact.path, fact.line)))
    return FactSet(ordered, dict(left_out), finder.called, frozenset(withheld.difference(fact.key for fact in ordered)))


def _before_private(row: FactRow) -> Iterator[int]:
    """The key of a bullet before `scope=` made it private."""
    if "scope" in row.whole and (keys := _KEYS.match(row.whole)):
        left = ",".join(part for part in keys[2].split(",") if part.partition("=")[0].strip() != "scope").strip()
        yield journal.passage_key(f"{keys[1]}({left}){keys[3]}" if left else keys[1] + keys[3])


# --- who a fact is about ---------------------------------------------------------------------------------------------


class _EntityFinder:
    """Finds the entities that facts are about, as canonical slugs."""

    def __init__(self, view: View, names: Names, rows: Sequence[FactRow]) -> None:
        self._canonical = canonical = lru_cache(1 << 16)(names.canonical)
        self._mentioned: dict[int, list[str]] = defaultdict(list)
        for passage, slug in note_queries.mentioned_slugs(view):
            self._mentioned[passage].append(canonical(slug))
        speakers = Counter(row.speaker for row in rows if row.speaker)
        plain = {row.whole for row in rows if row.speaker is not None and "[[" in row.whole}
        linked = Counter(name for text in plain for name in entities.mentions(text))
        self.called: dict[str, str] = {}
        for counts in (linked, speakers):  # the most frequent spelling comes last, and wins
            self.called |= {canonical(name): name for name in sorted(counts, key=lambda name: (counts[name], name))}
        forms = [(form, slug) for slug in names.pages for form in names.forms(slug)]
        forms += [(name, canonical(name)) for name in speakers]
        self._called = fact_text.NameIndex(forms, lambda: (row.text for row in rows))

    def find(self, row: FactRow) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The entities a fact is about, and its subjects among them: those before the colon, or the speaker."""
        if row.speaker is not None:
            speaker = [self._canonical(row.speaker)] if row.speaker else []
            named = [*map(self._canonical, entities.mentions(row.text)), *self._called.named(row.text)]
            return tuple(dict.fromkeys((*speaker, *named))), tuple(speaker)
        mentioned = self._mentioned.get(row.id)
        if not mentioned:
            return (), ()
        head = row.whole.partition(":")[0]
        if "(" in head and ")" not in head and (keys := _KEYS.match(row.whole)):  # colon in a key: `(by=agent:moss)`
            head = keys[1] + keys[3].partition(":")[0]
        subjects = tuple(dict.fromkeys(map(self._canonical, entities.mentions(head))))
        return tuple(dict.fromkeys((*subjects, *sorted(mentioned)))), subjects


def _aged(view: View, rows: Sequence[FactRow], finder: _EntityFinder, today: date) -> Iterator[Fact]:
    """The facts of these rows, in the same order, with importance and tier as of `today`."""
    # On how many days each wording was written; untrusted rows do not count.
    days = {(row.wording, row.day) for row in rows if row.wording and row.day and provenance.is_trusted(row.by)}
    told = Counter(wording for wording, _ in days)
    used = journal.days_of_use(view, ((row.id, _words(row)) for row in rows), today.toordinal())
    for row in rows:
        kind, day = KINDS[row.kind], date.fromisoformat(row.day) if row.day else None
        importance = row.importance
        if importance is None:
            importance = decay.importance_of(kind, bool(row.decided), told.get(row.wording, 1))
        about, subjects = finder.find(row)
        since, until = row.since, row.until or row.since
        occurred = Span(date.fromisoformat(since), date.fromisoformat(until)) if since and until else None
        sure = 1.0 if row.confidence is None else row.confidence
        trace = decay.Trace(day.toordinal() if day else None, used.get(row.id, ()), importance, sure)
        tier = decay.tier_of(trace, today.toordinal())
        tokens = row.tokens if row.speaker is None or "\n" not in row.whole else 0  # one line of a longer passage
        # Positional arguments: with keywords this takes twice as long.
        yield Fact(
            row.key, kind, provenance.without_citation(row.text), row.path, row.line, day, occurred, about, subjects,
            row.end_line - row.line, row.scope, row.confidence, importance, tier, row.block_id,
            row.speaker is not None, by=row.by, tokens=tokens,
        )  # fmt: skip


def _words(row: FactRow) -> int:
    """The journal's key for the passage of a fact."""
    return row.key if row.speaker is None else journal.passage_key(row.whole)
