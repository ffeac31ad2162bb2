"""Owns the ranking: what was found about candidate passages becomes one score. Pure: it never sees the index.

How it works (the Guide's page Recall has what each step was worth when measured):
- A passage is scored with the passages around it: `coverage` spreads a term's hit to its neighbours, and the embedding
  it is compared by was made with theirs.
- A short note is judged as a whole, a passage of a long one by itself; `_note_share` blends the two.
- The best passages of a first round say which direction to look in, the best notes which other words (noterank.py):
  pseudo-relevance feedback. Both count for notes only, where the risk of drifting is small.
- In a conversation it matters who speaks, and an answer follows its question.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from heapq import nsmallest
from operator import add, mul
from typing import Any, NamedTuple

from vault_memory.markdown.speakers import speaker
from vault_memory.search.rank_notes import NoteRanker, over_best
from vault_memory.search.weights import WEIGHTS, Features
from vault_memory.store.candidate import ASIDE, FACTS, PAGE, Candidate, Evidence, Feedback

REACH = (1.0, 0.6, 0.4, 0.3)
"""How much a term counts that stands in the passage itself, or one, two or three passages away in its section."""

_WEIGHTS = tuple((distance, REACH[abs(distance)]) for distance in range(1 - len(REACH), len(REACH)))

NOTE_SHARE = 0.9
NOTE_TOKENS_LIST, NOTE_TOKENS_PROSE = 150, 400
"""A note up to so many tokens is judged as a whole; a list item stands for itself sooner than a piece of prose."""

FEEDBACK_PASSAGES = 8

CONTRAST = 0.5
"""How far a passage of a short note falls behind the best there, against one that stands for itself."""

NAMED_ONLY = 0.4
"""The least that being about an entity of the question counts, for what has none of its other words."""

KEPT = 1 << 13
"""Of so many texts it is remembered how they are written (some 600 bytes each): those of some thirty questions."""

MIN_RUN = 3
_PLAIN = re.compile(r"\w+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")

_TIME_WORDS = frozenset(
    """yesterday today tonight tomorrow last next ago week weeks weekend weekends month months year years day days since
    recently just monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december morning summer winter spring autumn fall""".split()  # noqa: SIM905 - long
).union(map(str, range(1900, 2100)))


class Shape(NamedTuple):
    """How a passage is written: as a list item, by whom in a conversation ("" for nobody), where it asks, as code."""

    is_item: bool
    speaker: str
    asks: bool
    """Somebody asks there: a question in code is an example, and what follows is no answer to it."""
    ends_asking: bool
    is_code: bool


class Ranker:
    """Ranks one question's candidates, in two rounds."""

    def __init__(self, found: Evidence) -> None:
        self._found = found
        best = max(found.lexical.values(), default=0.0) or 1.0
        self._lexical = {i: score / best for i, score in found.lexical.items()}
        self._reached: dict[int, list[tuple[int, float]]] = {}
        self._sections = {i: (p.section, p.note_id) for i, p in found.passages.items()}
        self._short = 1 / max(len(found.rarity), 1) ** 3
        self._coverage = self._covered(found.rarity)
        self._ranked_notes = NoteRanker(found)
        self._features: Mapping[str, Sequence[float]] = {}
        self._lent_to: dict[int, float] = {}

    # --- first round ---------------------------------------------------------------------------------------------

    def first_round(self) -> list[int]:
        """The passages to learn a direction from: the best by words and meaning alone."""
        found = self._found
        notes = over_best(self._ranked_notes.asked)

        def score(passage: Candidate) -> float:
            words = self._lexical.get(passage.id, 0.0) + 2 * self._coverage.get(passage.id, 0.0)
            meaning = 2 * found.cosine.get(passage.id, 0.0)
            return words + meaning + notes.get(passage.note_id, 0.0) - 2 * passage.is_heading

        best = nsmallest(FEEDBACK_PASSAGES, found.passages.values(), key=lambda p: -score(p))
        return [passage.id for passage in best]

    def near(self) -> dict[str, int]:
        """The stems of the best notes, with the number of candidate notes that hold each."""
        return self._ranked_notes.near()

    # --- second round --------------------------------------------------------------------------------------------

    def rank(self, feedback: Feedback) -> dict[int, float]:
        """The score of every passage, best first; ties keep the candidates' order, so that answers repeat."""
        self._features = self._columns(feedback)
        if self._found.only_meaning and self._found.cosine:  # a question of nothing but a time has no meaning
            self._features = {"semantic": _column(self._found.cosine, list(self._found.passages))}
        totals = [0.0] * len(self._found.passages)
        for name, column in self._features.items():
            weight: float = getattr(WEIGHTS, name)
            totals = list(map(add, totals, map(weight.__mul__, column)))  # half the time of a loop
        scores = self._lent(dict(zip(self._found.passages, totals, strict=True)))
        return dict(sorted(scores.items(), key=lambda pair: -pair[1]))

    def _lent(self, scores: dict[int, float]) -> dict[int, float]:
        """The same scores, but a heading above the best passage of its section changes places with it.

        The heading holds the word; what stands below it answers.
        """
        of_headings = sorted(i for i, p in self._found.passages.items() if p.is_heading)
        headings = {(p.note_id, -p.section): p.id for p in map(self._found.passages.__getitem__, of_headings)}
        best: dict[tuple[int, int], int] = {}
        for passage in self._found.passages.values():
            place, here = (passage.note_id, passage.section), passage.id
            if place in headings:
                best[place] = max(best.get(place, here), here, key=lambda i: (scores[i], -i))
        for place, below in best.items():
            heading = headings[place]
            if scores[heading] > scores[below]:
                self._lent_to |= {below: scores[heading] - scores[below], heading: scores[below] - scores[heading]}
        return {i: score + self._lent_to.get(i, 0.0) for i, score in scores.items()}

    def features(self, passage_id: int) -> Features:
        """What is known of one candidate, after `rank`."""
        row = self._row[passage_id]
        known = {name: float(column[row]) for name, column in self._features.items()}
        return Features._make(known.get(name, 0.0) for name in Features._fields)

    def _columns(self, feedback: Feedback) -> dict[str, Sequence[float]]:
        """By feature, its value for every passage in order; without those that are 0 for all.

        A column at a time: at some 350 candidates that is a quarter of the work of one candidate after another.
        """
        found, passages = self._found, self._found.passages.values()
        ids, notes = list(found.passages), self._notes
        scores, similar = self._ranked_notes.rank(feedback.rarity)
        share = list(map(self._note_share, passages, self._shapes))
        words = [self._in_words(p) for p in passages]
        # Code that holds the very question shows how to ask it.
        examples = [quotes and s.is_code for s, (_, _, quotes) in zip(self._shapes, words, strict=True)]
        title = _column(found.title, notes)
        columns: dict[str, Sequence[float]] = {
            "coverage": self._own(_column(self._coverage, ids), share),
            "semantic": self._own(_column(found.cosine, ids), share),
            "note_coverage": _times([part / len(found.rarity or "1") for part in share], self._best_covered()),
            "note": _times(share, _column(scores, notes)),
            "similar": _times(share, _column(similar, notes)),
            "note_semantic": _times(share, [found.notes[note].cosine for note in notes]),
            "feedback": _times(share, _column(feedback.cosine, ids)),
            "form": [form for form, _, _ in words],
            "phrase": [phrase for _, phrase, _ in words],
            "fact": [p.kind in FACTS for p in passages] if not found.only_time else (),
            "speaker": self._said_by_the_one_asked_about(),
            "reply": [self._reply(p) for p in passages],
            "question": [quotes or s.ends_asking for s, (_, _, quotes) in zip(self._shapes, words, strict=True)],
            "time": [tells_time(p.text) for p in passages] if found.asks_when else (),
            "date": _column(found.days, ids),
            "entity": self._about(ids),
            "title": title,
            "titled": [self._short * score for score in title],
            "exact": [any(exact in p.text for exact in found.exact) for p in passages] if found.exact else (),
            "order": _column(found.order, ids),
            "aside": [p.section == ASIDE or example for p, example in zip(passages, examples, strict=True)],
            "page": [p.kind == PAGE for p in passages],
        }
        return {name: column for name, column in columns.items() if any(column)}

    def _about(self, ids: Sequence[int]) -> Sequence[float]:
        """How much each is about an entity of the question: in full where it also has the question's other words.

        Who asks what Anna broke does not want all that is known of Anna.
        """
        others = {term: rarity for term, rarity in self._found.rarity.items() if term not in self._found.naming}
        about = _column(self._found.about, ids)
        if not others or not about:
            return about
        covered = self._covered(others)
        most = max(covered.values(), default=0.0) or 1.0
        return [
            value * (NAMED_ONLY + (1 - NAMED_ONLY) * covered.get(i, 0.0) / most)
            for i, value in zip(ids, about, strict=True)
        ]

    @cached_property
    def _shapes(self) -> list[Shape]:
        return [shape(passage.text) for passage in self._found.passages.values()]

    @cached_property
    def _plain(self) -> list[bool]:
        """Whether each candidate is neither a heading nor aside."""
        return [0 <= passage.section < ASIDE for passage in self._found.passages.values()]

    @cached_property
    def _notes(self) -> list[int]:
        """The note of each candidate, in order."""
        return [passage.note_id for passage in self._found.passages.values()]

    def _best_covered(self) -> Sequence[float]:
        """The coverage of the best passage of each candidate's note."""
        covered = _column(self._coverage, list(self._found.passages))
        best: dict[int, float] = {}
        for note, value in zip(self._notes, covered, strict=False):
            if value > best.get(note, 0.0):
                best[note] = value
        return [best.get(note, 0.0) for note in self._notes]

    def _own(self, values: Sequence[float], shares: Sequence[float]) -> Sequence[float]:
        """Each value less what its note decides, and in a short note less how far it stays behind the best there.

        The best passage of a short note leaves nearly all to the note; the others must not all come level with it.
        """
        best: dict[int, float] = {}
        for note, value, is_plain in zip(self._notes, values, self._plain, strict=False):  # no values, no column
            if is_plain and value > best.get(note, -1.0):
                best[note] = value
        rows = zip(self._notes, values, shares, strict=False)
        return [(1 - s) * value - CONTRAST * s * s * max(best.get(n, value) - value, 0.0) for n, value, s in rows]

    def _in_words(self, passage: Candidate) -> tuple[float, float, bool]:
        """Form and phrase of a passage that the lexical lane found, and whether it quotes the whole question.

        What quotes the question asks it; what answers stands elsewhere.
        """
        found = self._found
        if passage.id not in self._lexical:
            return 0.0, 0.0, False
        folded = passage.text.casefold()
        held = sum([word in folded for word in found.words])
        quotes = bool(found.whole) and held == len(found.words) and f" {found.whole} " in _written(folded)
        return self._short * held / max(len(found.words), 1), longest_run(found.spoken, folded), quotes

    def _reply(self, passage: Candidate) -> float:
        before = self._found.passages.get(passage.id - 1)
        here = (passage.note_id, passage.section)
        if before is None or (before.note_id, before.section) != here or not shape(before.text).asks:
            return 0.0
        return self._lexical.get(before.id, 0.0)

    @cached_property
    def _row(self) -> dict[int, int]:
        """Where a passage stands in a column."""
        return {passage_id: row for row, passage_id in enumerate(self._found.passages)}

    def explain(self, passage_id: int) -> dict[str, Any]:
        """Why a passage has its score, after `rank`: raw score and rank in each lane, and what each feature added."""
        passage, found = self._found.passages[passage_id], self._found
        features = self.features(passage_id)._asdict()
        added = {name: getattr(WEIGHTS, name) * value for name, value in features.items()}
        added["section"] = self._lent_to.get(passage_id, 0.0)  # a heading changed places with what stands below it
        lanes = {"lexical": found.lexical, "semantic": found.cosine, "entity": found.about, "temporal": found.days}
        return {
            "lanes": {
                lane: {"score": round(scores[passage_id], 4), "rank": _place(scores, passage_id)}
                for lane, scores in lanes.items()
                if scores.get(passage_id)
            },
            "note_share": round(self._note_share(passage, shape(passage.text)), 3),
            "boosts": {name: round(value, 4) for name, value in added.items() if value},
        }

    def _said_by_the_one_asked_about(self) -> Sequence[float]:
        """1 for what the one speaker says whom the question names; with two of them named, nothing."""
        asked = {*self._found.words, *(name.casefold() for name in self._found.names)}
        both = zip(self._shapes, self._found.passages.values(), strict=True) if asked else ()
        said = ["" if p.kind == PAGE else s.speaker for s, p in both]  # nobody speaks on a page that begins with a name
        named = {name: asked.intersection(name.split()) for name in said}
        words = {word for name in named.values() for word in name}
        is_one = len(words) == 1 or sum(map(bool, named.values())) == 1
        return [bool(named[name]) for name in said] if is_one else ()

    # --- what both rounds share ------------------------------------------------------------------------------------

    def _covered(self, terms: Mapping[str, float]) -> dict[int, float]:
        """The share of these terms, by rarity, in each passage and, less, around it in its section."""
        total = sum(terms.values()) or 1.0
        covered: dict[int, float] = {}
        for term, rarity in terms.items():
            best: dict[int, float] = {}
            for hit in self._found.hits.get(term, ()):
                for passage_id, weight in self._around(hit):
                    if weight > best.get(passage_id, 0.0):
                        best[passage_id] = weight
            for passage_id, weight in best.items():
                covered[passage_id] = covered.get(passage_id, 0.0) + weight * rarity / total
        return covered

    def _around(self, passage_id: int) -> list[tuple[int, float]]:
        """The candidates within reach of one in its section, itself among them, each with what a term there counts."""
        found = self._reached.get(passage_id)
        if found is None:
            sections = self._sections
            place = sections[passage_id]
            found = [(passage_id + d, weight) for d, weight in _WEIGHTS if sections.get(passage_id + d) == place]
            self._reached[passage_id] = found
        return found

    def _note_share(self, passage: Candidate, written: Shape) -> float:
        """How much of the score the note as a whole decides: 0.9 for a short note, less and less for a longer one."""
        of_list, of_prose = self._shares[passage.note_id]
        return of_list if written.is_item else of_prose

    @cached_property
    def _shares(self) -> dict[int, tuple[float, float]]:
        """By note: the share for its list items and for its prose."""
        return {
            note: (
                NOTE_SHARE * min(1.0, NOTE_TOKENS_LIST / max(facts.tokens, 1)),
                NOTE_SHARE * min(1.0, NOTE_TOKENS_PROSE / max(facts.tokens, 1)),
            )
            for note, facts in self._found.notes.items()
        }


def count_stems(wanted: set[str], stems: Mapping[int, Sequence[str]]) -> dict[str, dict[int, int]]:
    """How often each wanted stem stands in which candidate."""
    hits: dict[str, dict[int, int]] = {}
    for passage_id, found in stems.items():
        for stem in wanted.intersection(found):
            hits.setdefault(stem, {})[passage_id] = found.count(stem)
    return hits


def longest_run(spoken: Sequence[str], text: str) -> float:
    """The longest run of at least three of the question's words that stands in a text, as a share of all its words."""
    if len(spoken) < MIN_RUN or sum([word in text for word in spoken]) < MIN_RUN:
        return 0.0
    written, longest = _written(text), 0
    for runs in _runs(tuple(spoken)):
        if not any(run in written for run in runs):
            break  # a longer run would hold one of these
        longest = runs[0].count(" ") - 1
    return longest / len(spoken)


@lru_cache(maxsize=4)  # the same for all candidates of a question
def _runs(spoken: Sequence[str]) -> list[list[str]]:
    """The runs of words as `_written` has them, by length from MIN_RUN on."""
    return [
        [f" {' '.join(spoken[start : start + length])} " for start in range(len(spoken) - length + 1)]
        for length in range(MIN_RUN, len(spoken) + 1)
    ]


def _column(values: Mapping[int, float], keys: Sequence[int]) -> Sequence[float]:
    return [values.get(key, 0.0) for key in keys] if values else ()


def _times(shares: Sequence[float], values: Sequence[float]) -> Sequence[float]:
    return list(map(mul, shares, values))  # to the shorter: no values, no column


def _place(scores: Mapping[int, float], key: int) -> int:
    """The rank of one score among all, 1 for the best."""
    return 1 + sum(score > scores[key] for score in scores.values())


@lru_cache(maxsize=KEPT)
def _written(text: str) -> str:
    """The words of a text with one space around each."""
    return f" {' '.join(_PLAIN.findall(text))} "


@lru_cache(maxsize=KEPT)  # the same passages are candidates again and again, in a process that stays
def shape(text: str) -> Shape:
    """How a text is written."""
    is_code = _FENCE.match(text) is not None
    asks = "?" in text and not is_code
    return Shape(_LIST_ITEM.match(text) is not None, speaker(text), asks, text.endswith("?"), is_code)


@lru_cache(maxsize=KEPT)
def tells_time(text: str) -> bool:
    """Whether a text holds a word of time or a year."""
    return not _TIME_WORDS.isdisjoint(_PLAIN.findall(text.casefold()))


def inverse_frequency(total: int, holding: int) -> float:
    """BM25's inverse document frequency, never below a trace: a term everywhere tells next to nothing."""
    holding = min(holding, total)  # a count kept from when there was more
    return max(math.log((total - holding + 0.5) / (holding + 0.5)), 1e-6)
