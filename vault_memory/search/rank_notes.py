"""Owns the ranking of whole notes among the candidates, by their words. Pure: it never sees the index.

Three steps, each of which lets notes of prose be found whose own words miss the question's:
- BM25 of the question's terms over the note's candidate passages (Robertson & Zaragoza 2009).
- The best few notes teach further terms (pseudo-relevance feedback: RM3 after Lavrenko & Croft 2001).
- What the notes most like it score counts for a note too: closely associated notes tend to answer the same questions
  (the cluster hypothesis; score regularisation after Diaz 2005).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from itertools import chain
from operator import itemgetter

from vault_memory.store.candidate import Evidence

K1, B = 2.0, 0.6
"""BM25 constants: in notes a term's count matters for longer than in passages, and length for less."""

FEEDBACK_NOTES, FEEDBACK_TERMS = 5, 60

FEEDBACK_SHARE = 1.5
"""What the learnt terms weigh together for each term of the question: a question of one word is not outvoted."""

MEANING = 0.5
"""How much the cosine of a note counts beside its words when the best notes are chosen."""

COMPARED, LIKE = 50, 3
"""So many of the best notes are compared with each other, and each listens to so many of those most like it."""

LIKE_TERMS = 20
"""By so many of its most telling terms a note is compared."""


class NoteRanker:
    """Ranks the notes of one question's candidates."""

    def __init__(self, found: Evidence) -> None:
        self._found = found
        self._norms = {
            note: K1 * (1 - B + B * facts.words / found.average_note_words) for note, facts in found.notes.items()
        }
        self.asked = self._asked()

    def best(self, scores: Mapping[int, float], count: int) -> list[int]:
        """The best notes by words and meaning; ties keep the order of the notes."""
        notes = self._found.notes
        worth = {note: score + MEANING * notes[note].cosine for note, score in scores.items()}
        return sorted(worth, key=worth.__getitem__, reverse=True)[:count]

    def near(self) -> dict[str, int]:
        """The stems of the best notes, with the number of candidate notes that hold each."""
        stems = set().union(*(self._counts[n] for n in self.best(self.asked, COMPARED)))
        holding = Counter(chain.from_iterable(self._counts.values()))
        return {stem: count for stem, count in holding.items() if stem in stems}

    def rank(self, rarity: Mapping[str, float]) -> tuple[dict[int, float], dict[int, float]]:
        """The score of each note, and the mean score of those most like it, both against the best score.

        `rarity` is the inverse document frequency of those stems of `near` that tell something.
        """
        learnt = self.learnt(rarity)
        scores = {note: self.asked[note] + self._weight(note, learnt) for note in self.asked}
        scores = over_best(scores)
        return scores, self._of_similar(scores, rarity)

    def learnt(self, rarity: Mapping[str, float]) -> dict[str, float]:
        """The stems that tell most about the best notes, by the alphabet, each with its weight times its rarity."""
        gains: dict[str, float] = defaultdict(float)
        for note in self.best(self.asked, FEEDBACK_NOTES):
            for stem, gain in self._gains(note, rarity).items():
                gains[stem] += gain
        kept = sorted(zip(gains.values(), gains, strict=True), reverse=True)[:FEEDBACK_TERMS]
        total = sum(gain for gain, _ in kept)
        share = FEEDBACK_SHARE * max(len(self._found.note_rarity), 1)
        return {stem: share * rarity[stem] * gain / total for gain, stem in sorted(kept, key=itemgetter(1))}

    def _asked(self) -> dict[int, float]:
        """BM25 of the question's terms, over the best."""
        scores = dict.fromkeys(self._found.notes, 0.0)
        note_of = {i: passage.note_id for i, passage in self._found.passages.items()}
        norms = self._norms
        for term, weight in self._found.note_rarity.items():
            counts: dict[int, int] = defaultdict(int)
            for passage_id, count in self._found.hits.get(term, {}).items():
                counts[note_of[passage_id]] += count
            for note, count in counts.items():
                scores[note] += weight * count * (K1 + 1) / (count + norms[note])
        return scores

    @cached_property
    def _counts(self) -> dict[int, Counter[str]]:
        """How often each stem stands in each note's candidate passages."""
        stems: dict[int, list[str]] = {note: [] for note in self._found.notes}
        passages = self._found.passages
        for passage_id, found in self._found.stems.items():
            stems[passages[passage_id].note_id] += found
        return {note: Counter(found) for note, found in stems.items()}

    def _weight(self, note: int, weights: Mapping[str, float]) -> float:
        counts, norm, most = self._counts[note], self._norms[note], K1 + 1
        held = [(weight, counts[stem]) for stem, weight in weights.items() if stem in counts]
        return sum([weight * count * most / (count + norm) for weight, count in held])

    def _gains(self, note: int, rarity: Mapping[str, float]) -> dict[str, float]:
        """What each telling stem of a note is worth in it."""
        norm, most = self._norms[note], K1 + 1
        return {s: rarity[s] * c * most / (c + norm) for s, c in self._counts[note].items() if s in rarity}

    def _of_similar(self, scores: Mapping[int, float], rarity: Mapping[str, float]) -> dict[int, float]:
        near = self.best(scores, COMPARED)
        likeness = similarities({note: self._gains(note, rarity) for note in near})
        return {
            note: sum([scores[other] for other in sorted(like, key=like.__getitem__, reverse=True)[:LIKE]]) / LIKE
            for note, like in likeness.items()
        }


def similarities(vectors: Mapping[int, Mapping[str, float]]) -> dict[int, dict[int, float]]:
    """The cosine of each pair of sparse vectors that share a term, by their most telling terms."""
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for key, vector in vectors.items():
        kept = sorted(zip(vector.values(), vector, strict=True), reverse=True)[:LIKE_TERMS]  # faster than nlargest
        length = sum([weight * weight for weight, _ in kept]) ** 0.5 or 1.0
        for weight, term in kept:
            postings[term].append((key, weight / length))
    found: dict[int, dict[int, float]] = {key: defaultdict(float) for key in vectors}
    for held in postings.values():
        places = [(found[key], key, weight) for key, weight in held]
        for i, (of_first, first, weight) in enumerate(places):
            for of_second, second, other in places[:i]:
                product = weight * other
                of_first[second] += product
                of_second[first] += product
    return found


def over_best(scores: Mapping[int, float]) -> dict[int, float]:
    """Scores divided by the best of them."""
    best = max(scores.values(), default=0.0) or 1.0
    return {key: score / best for key, score in scores.items()}


def note_frequency(total: int, holding: int) -> float:
    """Inverse document frequency among notes, above 0 even for a term in all of them: a vault may be a few notes."""
    holding = min(holding, total)
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))
