"""Owns the gathering of evidence for one question: which lanes run, what they find, what ranking needs to know of it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import apsw

from vault_memory import schema, terms
from vault_memory.answer import Request
from vault_memory.embed import StaticEmbedder, bit_code
from vault_memory.errors import IndexUnusableError
from vault_memory.knowledge import Names
from vault_memory.query import Question
from vault_memory.rank import REACH, Candidate, Evidence
from vault_memory.search import Search
from vault_memory.store import Store

LEXICAL_POOL = 300
SEMANTIC_POOL = 200
LANE_POOL = 300
RESCORE = 10
"""Bit codes kept for each semantic result wanted before int8 decides (DESIGN.md §6: × 10 gives recall@10 .98)."""

COMMON = 2
"""A term in more than one of so many passages tells nothing and is not searched, unless there is no other."""


@dataclass(frozen=True)
class Lanes:
    """What the lanes found, and what is to be said of how they ran."""

    evidence: Evidence
    allowed: frozenset[int]
    """Candidates that may be shown; the others only lend context."""
    sizes: Mapping[str, int]
    mode: str
    embedder: str | None
    about: Sequence[str]
    degraded: Sequence[tuple[str, str]]


class Gatherer:
    """Runs the lanes over one open store."""

    def __init__(self, store: Store, search: Search, names: Names, embedder: StaticEmbedder) -> None:
        self._store, self._search, self._names, self._embedder = store, search, names, embedder
        self._total = int(store.one("SELECT coalesce(sum(count), 0) FROM note"))
        self._space = store.one("SELECT id FROM embedder WHERE name = ?", embedder.id)
        self._tokenize = store.connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        self._vectors_loaded = False

    def gather(self, question: Question, request: Request) -> Lanes:
        """Find candidates for a question by every lane its mode allows."""
        mode = "hybrid" if request.mode == "auto" else request.mode
        degraded: list[tuple[str, str]] = []
        about = self._names.in_question(question.entity_slugs)
        phrases, idf = self._telling(question.phrases)
        lexical = self._lexical(phrases, question) if mode != "semantic" else {}
        vector = self._query_vector(question, degraded) if mode != "lexical" else None
        semantic = self._semantic(vector) if vector else {}
        entity = self._search.mentioning([s for a in about for s in self._names.slugs(a)], LANE_POOL) if about else []
        temporal = self._within(question)
        found = {*lexical, *semantic, *entity, *temporal}
        passages = self._with_neighbours(found)
        evidence = Evidence(
            passages=passages,
            idf=idf,
            counts=self._counts(phrases, passages, lexical),
            lexical=lexical,
            cosine=self._search.cosines(list(passages), vector) if vector else {},
            title=self._titles(phrases),
            words={note.id: note.words for note in self._search.notes({p.note_id for p in passages.values()}).values()},
            days=self._days(question, passages),
            order=self._order(question, passages),
            about=frozenset(entity),
            names=question.names,
            exact=question.exact,
            kinds=question.kinds,
            asks_when=question.asks_when,
        )
        return Lanes(
            evidence=evidence,
            allowed=frozenset(passages),
            sizes={"lexical": len(lexical), "semantic": len(semantic), "entity": len(entity), "temporal": len(temporal)},
            mode=mode if vector or mode == "lexical" else "lexical",
            embedder=self._embedder.id if vector else None,
            about=about,
            degraded=degraded,
        )  # fmt: skip

    # --- words ---------------------------------------------------------------------------------------------------

    def _telling(self, phrases: Sequence[str]) -> tuple[list[str], list[float]]:
        """The phrases that tell something, with their inverse document frequency; all of them if none does."""
        counted = [(phrase, self._count(phrase)) for phrase in phrases]
        present = [(phrase, count) for phrase, count in counted if count]
        telling = [(p, c) for p, c in present if c * COMMON <= self._total] or present
        return [p for p, _ in telling], [max(math.log((self._total - c + 0.5) / (c + 0.5)), 1e-6) for _, c in telling]

    def _count(self, phrase: str) -> int:
        known = self._store.one("SELECT passages FROM frequent WHERE term = ?", " ".join(self._stems(phrase.strip('"*'))))
        return int(known) if known is not None else self._search.count(phrase)

    def _stems(self, text: str) -> list[str]:
        found = self._tokenize(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
        return list(found)

    def _lexical(self, phrases: Sequence[str], question: Question) -> dict[int, float]:
        if phrases:
            return dict(self._search.lexical(" OR ".join(phrases), LEXICAL_POOL))
        if question.phrases or question.window or not question.text.strip():
            return {}
        # Nothing but punctuation was asked for: the only way is to read.
        return dict.fromkeys(self._search.substring(question.text.strip(), LANE_POOL), 1.0)

    def _counts(
        self, phrases: Sequence[str], passages: Mapping[int, Candidate], lexical: Iterable[int]
    ) -> dict[int, list[int]]:
        """How often each phrase stands in each passage the lexical lane found, by FTS5's own tokenizer."""
        wanted = [(self._stems(phrase.strip('"*')), phrase.endswith("*")) for phrase in phrases]
        counts: dict[int, list[int]] = {}
        for passage_id in lexical:
            passage = passages.get(passage_id)
            if passage is not None:
                stems = self._stems(terms.index_text(terms.body(passage.text, passage.kind not in ("note", "page"))))
                counts[passage_id] = [_occurrences(stems, phrase, prefix) for phrase, prefix in wanted]
        return counts

    def _titles(self, phrases: Sequence[str]) -> dict[int, float]:
        if not phrases:
            return {}
        found = self._search.titles(" OR ".join(phrases), LANE_POOL)
        best = max((score for _, score in found), default=0.0) or 1.0
        return {note: score / best for note, score in found}

    # --- vectors -------------------------------------------------------------------------------------------------

    def _query_vector(self, question: Question, degraded: list[tuple[str, str]]) -> bytes | None:
        if not self._space or not question.text.strip():
            return None
        try:
            if not self._vectors_loaded:
                schema.load_vector_functions(self._store.connection)
                self._vectors_loaded = True
        except (apsw.Error, IndexUnusableError) as error:
            degraded.append(("semantic", f"sqlite-vec cannot be loaded ({error}); words only"))
            return None
        (vector,) = self._embedder.embed([question.text])
        return vector if any(vector) else None

    def _semantic(self, vector: bytes) -> dict[int, float]:
        pool = SEMANTIC_POOL * RESCORE
        return dict(self._search.semantic(self._space, bit_code(vector), vector, pool, SEMANTIC_POOL))

    # --- time ----------------------------------------------------------------------------------------------------

    def _within(self, question: Question) -> list[int]:
        if not question.window:
            return []
        return self._search.within(question.window.span.start, question.window.span.end, LANE_POOL)

    def _days(self, question: Question, passages: Mapping[int, Candidate]) -> dict[int, float]:
        """How well each passage's day fits the question's window: 1 inside, fading out within as many days again."""
        if not question.window:
            return {}
        start, end = question.window.span
        soft = timedelta(days=max((end - start).days, 2))
        fits = {}
        for passage_id, days in self._search.days(passages).items():
            fits[passage_id] = max(_fit(day_from, day_to, start, end, soft) for day_from, day_to in days)
        return fits

    def _order(self, question: Question, passages: Mapping[int, Candidate]) -> dict[int, float]:
        """For "last time" and "first time": 1 for the newest (oldest) dated note among the candidates, down to 0."""
        if not (question.wants_latest or question.wants_earliest):
            return {}
        notes = self._search.notes({p.note_id for p in passages.values()})
        dated = sorted((n.day, n.id) for n in notes.values() if n.day)
        ranks = {day: i for i, day in enumerate(sorted({day for day, _ in dated}, reverse=question.wants_earliest))}
        return {note_id: (ranks[day] + 1) / len(ranks) for day, note_id in dated}

    # --- around --------------------------------------------------------------------------------------------------

    def _with_neighbours(self, found: Iterable[int]) -> dict[int, Candidate]:
        """The passages found and those right beside them: an answer often stands in the line after what matched."""
        ids = {i + distance for i in found for distance in (-1, 0, 1)}
        return self._search.passages(ids)


def _occurrences(stems: Sequence[str], phrase: Sequence[str], prefix: bool) -> int:
    if not phrase:
        return 0
    if len(phrase) == 1:
        return sum(stem.startswith(phrase[0]) for stem in stems) if prefix else stems.count(phrase[0])
    width = len(phrase)
    return sum(list(stems[i : i + width]) == list(phrase) for i in range(len(stems) - width + 1))


def _fit(day_from: date, day_to: date, start: date, end: date, soft: timedelta) -> float:
    if day_from <= end and day_to >= start:
        return 1.0
    away = start - day_to if day_to < start else day_from - end
    return max(0.0, 0.5 * (1 - away / soft))
