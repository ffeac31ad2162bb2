"""Owns the ranking: features of candidate passages become one score. Pure: it never sees the index.

The weights were fitted on chat logs and prose (see CONTRIBUTING.md) and are rounded, so that no single one is tuned.
Measured reasons: a line is found best with the lines around it, both in words (`coverage`) and in meaning (the
embedding's own context), and with how much its note is about the question (`note`).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


K1, B = 1.2, 0.75
"""BM25's usual constants (Robertson & Zaragoza 2009)."""

REACH = (1.0, 0.6, 0.4, 0.3)
"""How much a term counts that stands in the passage itself, or one, two or three passages away in its section."""

WEIGHTS: Mapping[str, float] = {
    "lexical": 1.2,
    "coverage": 4.0,
    "semantic": 3.5,
    "note": 1.9,
    "title": 1.0,
    "speaker": 3.6,
    "entity": 1.5,
    "exact": 2.0,
    "time": 2.6,
    "date": 4.6,
    "reply": 2.2,
    "question": -0.8,
    "heading": -1.5,
    "kind": 0.4,
    "order": 1.0,
}
"""What each feature (0..1, semantic -1..1) adds to a passage's score."""


class Candidate(NamedTuple):
    """A passage with what ranking and answering need of it and of its note."""

    id: int
    note_id: int
    start_line: int
    end_line: int
    from_char: int | None
    to_char: int | None
    kind: str
    tokens: int
    section: int
    text: str


@dataclass
class Evidence:
    """All that was found for one question, by passage id unless named otherwise."""

    passages: Mapping[int, Candidate]
    idf: Sequence[float] = ()
    """Of each question term."""
    counts: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """How often each question term stands in a passage; only passages the lexical lane found."""
    lexical: Mapping[int, float] = field(default_factory=dict)
    cosine: Mapping[int, float] = field(default_factory=dict)
    title: Mapping[int, float] = field(default_factory=dict)
    """By note id: how well its title, aliases, path and tags match, 0..1."""
    words: Mapping[int, int] = field(default_factory=dict)
    """By note id: its length."""
    days: Mapping[int, float] = field(default_factory=dict)
    """By passage: how well its day fits the question's time, 0..1."""
    order: Mapping[int, float] = field(default_factory=dict)
    """By note id: 1 for what the question wants first (latest, earliest), down to 0."""
    about: frozenset[int] = frozenset()
    """Passages that mention an entity of the question."""
    names: Sequence[str] = ()
    exact: Sequence[str] = ()
    kinds: Sequence[str] = ()
    asks_when: bool = False


class Ranked(NamedTuple):
    """A passage's score and what it is made of."""

    id: int
    score: float
    parts: Mapping[str, float]


_SPEAKER = re.compile(r"\s*[-*+]\s+\**([^\W\d_a-z][\w.'’ -]{0,30}?)\**:\s")
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week(?:end)?s?|months?|years?|days?|since|recently"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|(?:19|20)\d\d|morning|summer|winter|spring|autumn|fall)\b",
    re.I,
)


def rank(found: Evidence) -> list[Ranked]:
    """Score every passage, best first; ties go to the earlier row, so that an answer is the same each time."""
    features = _Features(found)
    ranked = []
    for passage in found.passages.values():
        parts = {name: value for name, value in features.of(passage) if value}
        ranked.append(Ranked(passage.id, sum(WEIGHTS[name] * value for name, value in parts.items()), parts))
    return sorted(ranked, key=lambda r: (-r.score, r.id))


class _Features:
    """The features of one question's candidates, each computed where it is cheapest."""

    def __init__(self, found: Evidence) -> None:
        self._found = found
        self._best = max(found.lexical.values(), default=0.0) or 1.0
        self._idf_total = sum(found.idf) or 1.0
        self._notes = _note_scores(found)
        said = {_speaker(p.text) for p in found.passages.values()} - {""}
        named = [name for name in found.names if name.casefold() in said]
        # With two speakers named, neither is who is asked about.
        self._speaker = named[0].casefold() if len(named) == 1 else ""

    def of(self, passage: Candidate) -> "list[tuple[str, float]]":
        found, text = self._found, passage.text
        before = found.passages.get(passage.id - 1)
        asked = before is not None and before.section == passage.section and "?" in before.text
        return [
            ("lexical", found.lexical.get(passage.id, 0.0) / self._best),
            ("coverage", self._coverage(passage)),
            ("semantic", found.cosine.get(passage.id, 0.0)),
            ("note", self._notes.get(passage.note_id, 0.0)),
            ("title", found.title.get(passage.note_id, 0.0)),
            ("speaker", float(bool(self._speaker) and _speaker(text) == self._speaker)),
            ("entity", float(passage.id in found.about)),
            ("exact", float(any(exact in text for exact in found.exact))),
            ("time", float(found.asks_when and _TIME.search(text) is not None)),
            ("date", found.days.get(passage.id, 0.0)),
            ("reply", found.lexical.get(passage.id - 1, 0.0) / self._best if asked else 0.0),
            ("question", float(text.rstrip().endswith("?"))),
            ("heading", float(passage.section < 0)),
            ("kind", float(passage.kind in found.kinds)),
            ("order", found.order.get(passage.note_id, 0.0)),
        ]

    def _coverage(self, passage: Candidate) -> float:
        """The share of the question's terms (by rarity) in the passage and, counting less, around it in its section."""
        best = [0.0] * len(self._found.idf)
        for distance in range(-len(REACH) + 1, len(REACH)):
            counts = self._found.counts.get(passage.id + distance)
            if counts is None:
                continue
            other = self._found.passages[passage.id + distance]
            if other.section == passage.section and other.note_id == passage.note_id:
                weight = REACH[abs(distance)]
                best = [max(b, weight) if count else b for b, count in zip(best, counts, strict=True)]
        return sum(b * idf for b, idf in zip(best, self._found.idf, strict=True)) / self._idf_total


def _speaker(text: str) -> str:
    """Who says a line of a conversation (`- Name: …`), case folded, or ""."""
    match = _SPEAKER.match(text)
    return match[1].casefold() if match else ""


def _note_scores(found: Evidence) -> dict[int, float]:
    """BM25 of each note over its passages that the lexical lane found, divided by the best note's."""
    totals: dict[int, list[int]] = {}
    for passage_id, counts in found.counts.items():
        note = found.passages[passage_id].note_id
        before = totals.get(note)
        totals[note] = [a + b for a, b in zip(before, counts, strict=True)] if before else list(counts)
    if not totals:
        return {}
    average = sum(found.words.get(note, 1) for note in totals) / len(totals)
    held = [sum(1 for counts in totals.values() if counts[i]) for i in range(len(found.idf))]
    rarity = [math.log(1 + (len(totals) - h + 0.5) / (h + 0.5)) for h in held]
    scores = {}
    for note, counts in totals.items():
        norm = K1 * (1 - B + B * found.words.get(note, 1) / average)
        scores[note] = sum(r * count / (count + norm) for r, count in zip(rarity, counts, strict=True))
    best = max(scores.values()) or 1.0
    return {note: score / best for note, score in scores.items()}
