"""Ranks candidates: scores with pseudo-relevance feedback and age, then superseded facts moved behind their successors.

The Recall page of the Guide reports the measured gain of each step. Sources: RM3 for the feedback (Lavrenko & Croft
2001); for notes, BM25 over their candidate passages (Robertson & Zaragoza 2009) and score regularisation over the most
similar notes (Diaz 2005).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from operator import add, itemgetter, mul
from typing import Any, NamedTuple

from vault_memory.markdown import supersession
from vault_memory.markdown.note import ASIDE, says_property, speaker
from vault_memory.search import decay
from vault_memory.search.candidates import NAMED_SCORE, Candidates, Finder, inverse_frequency, lives_of, neighbours
from vault_memory.search.decay import Life
from vault_memory.search.superseded_facts import BEST_LINES, Successor, leading_facts, superseded
from vault_memory.store.vectors import mean_direction
from vault_memory.store.view import ATTACHMENT, FACTS, PAGE, Candidate, NoteInfo
from vault_memory.text.calendar_days import CALENDAR_WORDS

NOTE_SHARE, NOTE_TOKENS_LIST, NOTE_TOKENS_PROSE = 0.9, 150, 400
"""The note's largest share in a passage's score, and the note size in tokens (by kind of passage) up to which it
applies; the share shrinks as the note grows, sooner for list items, which are more self-contained."""

CONTRAST = 0.5
"""How much a passage in a short note is penalised for scoring below the best passage of that note."""

HEADING_SHARE = 0.4
"""Weight of a term that occurs in the note's title or the section's heading."""

REPEATED_LOSS = 0.8
"""How much less a word counts in text repeated verbatim in every note."""

K1, B = 2.0, 0.6
"""BM25 parameters for notes: term frequency saturates later than in passages, and length matters less."""

FEEDBACK_PASSAGES, FEEDBACK_NOTES, FEEDBACK_TERMS = 8, 5, 60
FEEDBACK_SHARE, FEEDBACK_SPREAD = 1.5, 5
"""The total weight of the learnt terms per term of the question, so that a one-word question is not outvoted; terms in
more than 1/FEEDBACK_SPREAD of the notes, or in only one note, are not learnt."""

FEEDBACK_COVERAGE = 0.7
"""Only passages with this share of the best coverage teach anything. For questions made of a rare and a common word of
a vault, the mean reciprocal rank rises from .75 to .84, .81 to .88, .88 to .89 and .73 to .79 on four vaults."""

NOTE_MEANING = 0.5
"""Weight of a note's cosine, relative to its lexical score, when the best notes are chosen."""

COMPARED_NOTES, LIKE_NOTES, LIKE_TERMS = 50, 3, 20
"""How many of the best notes are compared, how many of the most similar ones smooth a note's score, and how many of
its heaviest terms represent a note."""

AGED_PASSAGES = 100
"""Age is looked up for this many of the best (more if more results are wanted): it only breaks near ties."""

MIN_RUN = 3
_PLAIN = re.compile(r"\w+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_POINTER = re.compile(r"\s*(?:(?:[-*+]\s+)?(?:<?\w+://\S+>?|!\[\[[^\[\]]*\]\])|\[\w+\]\(\w+://\S+\))\s*")
"""A line that is only an address or embed. A one-word link (`[Source](…)`) says nothing either, except in a list."""
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")

# "Last night" is caught by "last"; "night" alone gives no date. Short names of days and months are also other words.
_TIME_WORDS = frozenset(word for word in CALENDAR_WORDS if len(word) > 3 and word != "night").union(
    ("may", "day", "ago", "last", "next", "since", "recently", "just"), map(str, range(1900, 2100))
)

WEIGHTS: Mapping[str, float] = {
    # The IDF-weighted share of the question's terms in the passage and, discounted, around it. This feature and the
    # next six are blended by the note's length: the shorter the note, the more the note's own features count.
    "coverage": 6.5,
    "semantic": 5.5,  # cosine of question and passage, -1..1
    "note_coverage": 3.0,  # the coverage of the note's best passage
    "note": 1.0,  # BM25 of the note, against the best
    "similar": 2.8,  # the mean note score of the most similar notes
    "note_semantic": 1.6,  # cosine of question and note, -1..1
    "feedback": 3.8,  # cosine of the passage and the direction of the first round's best passages, -1..1
    # The share of the question's words that occur exactly as written, divided by the cube of the number of terms: all
    # of it for one term, an eighth for two, a 27th for three. In a long question no single word decides.
    "form": 4.0,
    "phrase": 2.5,  # the longest run of the question's words, as a share of them
    "fact": 0.5,  # 1 for a fact written down to be remembered
    "speaker": 3.6,  # 1 if said by the one speaker the question names
    "reply": 2.0,  # the lexical score of the question just before it
    "question": -0.7,  # 1 for a passage that ends in a question or quotes the question asked
    "time": 2.3,  # 1 if it contains a time word and the question asks when
    "date": 3.8,  # how well its day fits the question's time window
    "entity": 1.5,  # how much it is about an entity of the question; above 1 for the entity's own page
    "title": 1.0,  # how well its note's title, aliases, path and tags match
    "titled": 3.0,  # the same, scaled down for longer questions as `form` is
    "exact": 2.0,  # 1 if it contains a quoted part, path, option or version of the question verbatim
    # Where the question contains an error, for passages tagged `#fix`: coverage of the question relative to the best.
    "fix": 9.0,
    "order": 7.0,  # 1 for the newest (or oldest) where the question asks for the last (or first), down to 0
    "aside": -3.0,  # 1 for frontmatter, comments, bare links, and code that quotes the question: an example of asking
    "page": -2.0,  # 1 for lines written by reflect: the line each derives from says the same and should come first
    "repeated": -2.0,  # how little a text repeated verbatim in many notes says, up to 1
}
"""The weight of each feature of a passage; features are 0..1 unless noted. Rounded, since none is certain.

Most are fitted (tests/benchmarks/fit.py); note_coverage, form, phrase, title, titled, exact and order are tuned on
known-item questions (tests/benchmarks/known.py); fact, entity, aside and page by hand on the sample vault.
"""

FIX = "#fix"
"""Marks what solved a problem: capture appends it to a case."""


class Scorer:
    """Scores one question's candidates in two rounds; only `learn` queries the index."""

    def __init__(self, found: Candidates) -> None:
        self._found = found
        self._ids, self._passages = list(found.passages), list(found.passages.values())
        self._notes = [passage.note_id for passage in self._passages]
        self._pointers = {passage.id for passage in self._passages if only_points(passage.text)}
        self._lexical = over_best(found.lexical)
        self._short = 1 / max(len(found.rarity), 1) ** 3
        self._telling: dict[tuple[str, int], float] = {}
        """Weight of a term in a text repeated across notes, relative to its most telling occurrence; 1 elsewhere."""
        for term, hits in found.hits.items():
            told = {i: 1 - REPEATED_LOSS * found.repeats[i] for i in hits if i in found.repeats}
            most = max(told.values(), default=1.0) if len(told) == len(hits) else 1.0
            self._telling |= {(term, i): share / most for i, share in told.items()}
        self._properties = {
            p.id: NAMED_SCORE * found.named_notes[p.note_id]
            for p in self._passages
            if p.section == ASIDE and found.named_notes.get(p.note_id, 1.0) < 1 and says_property(p.text)
        }
        """The properties of each note whose name is only part of the question, with a title score: a property is a
        statement about what the title names."""
        self._coverage = self._covered()
        average = max(found.totals.words / max(found.totals.notes, 1), 1.0)
        self._norms = {n: K1 * (1 - B + B * note.words / average) for n, note in found.notes.items()}
        self._asked = dict.fromkeys(found.notes, 0.0)
        """Each note's BM25 for the question's terms."""
        for term, weight in found.note_rarity.items():
            counts: dict[int, float] = defaultdict(float)
            for passage_id, count in found.hits.get(term, {}).items():
                counts[found.passages[passage_id].note_id] += count * self._telling.get((term, passage_id), 1.0)
            for note, times in counts.items():
                self._asked[note] += weight * times * (K1 + 1) / (times + self._norms[note])
        self._counts: dict[int, Counter[str]] = {note: Counter() for note in found.notes}
        """Stem counts over each note's candidate passages."""
        for passage_id, stems in found.stems.items():
            self._counts[found.passages[passage_id].note_id].update(stems)
        self._features: Mapping[str, Sequence[float]] = {}
        self._shares: list[float] = []
        """The note's share in each passage's score."""
        for passage in self._passages:
            most_tokens = NOTE_TOKENS_LIST if _LIST_ITEM.match(passage.text) else NOTE_TOKENS_PROSE
            self._shares.append(NOTE_SHARE * min(1.0, most_tokens / max(found.notes[passage.note_id].tokens, 1)))
        self._lent_to: dict[int, float] = {}

    def learn(self, finder: Finder) -> tuple[dict[str, float], Mapping[int, float]]:
        """Return the pseudo-relevance feedback of the first round's best, as arguments for `score`.

        Empty when the question has neither terms nor a vector to rank by.
        """
        found, space, cosine = self._found, self._found.space, dict[int, float]()
        if not found.rarity and not space:
            return {}, cosine
        if space and self._passages:
            # Move the question's vector halfway to the mean direction of the best by words and meaning alone.
            notes = over_best(self._asked)
            first = {
                p.id: (self._lexical.get(p.id, 0.0) + 2 * self._coverage.get(p.id, 0.0))
                + 2 * found.cosine.get(p.id, 0.0) + notes[p.note_id] - 2 * (p.section < 0)
                for p in self._passages
            }  # fmt: skip
            best = nsmallest(FEEDBACK_PASSAGES, self._ids, key=lambda i: -first[i])
            # Of many lines that share one common word with the question ("Ran 6 km") there is nothing to learn.
            enough = FEEDBACK_COVERAGE * max(self._coverage.values(), default=0.0)
            best = [i for i in best if self._coverage.get(i, 0.0) >= enough] or best
            vectors = [v for v in finder.search.vectors(space, best) if any(v)]
            middle = mean_direction(vectors) if vectors else found.vector
            cosine = finder.search.cosines(space, found.passages, mean_direction([found.vector, middle]))
        stems = set().union(*(self._counts[n] for n in self._best_notes(self._asked, COMPARED_NOTES)))
        # For stems not among the frequent ones, the number of candidate notes that contain them is close enough.
        counts = {s: count for s, count in Counter(chain.from_iterable(self._counts.values())).items() if s in stems}
        frequent, total = finder.lexicon.frequent, found.totals.notes
        counts |= {stem: frequent[stem].notes for stem in counts.keys() & frequent.keys()}
        rarity = {count: inverse_frequency(total, count) for count in set(counts.values())}
        return {
            stem: rarity[count]
            for stem, count in counts.items()
            if 1 < count <= total // FEEDBACK_SPREAD
            and len(stem) > 2
            and stem not in finder.lexicon.stop_stems
            and not stem.isdigit()
        }, cosine

    def score(self, rarity: Mapping[str, float], feedback: Mapping[int, float]) -> dict[int, float]:
        """Return the score of every passage, best first; ties keep the candidates' order, so that answers are stable.

        `rarity` is the inverse document frequency of the informative stems of the best notes; `feedback` is each
        candidate's cosine to the direction of the first round's best passages (see `learn`).
        """
        found = self._found
        if found.only_time and not found.query.window:
            self._features = {"date": _column(found.date_fit, self._ids)}
        elif found.query.request.mode == "semantic" and found.cosine:
            self._features = {"semantic": _column(found.cosine, self._ids)}
        else:
            self._features = self._columns(rarity, feedback)
        totals = [0.0] * len(self._ids)
        for name, column in self._features.items():
            totals = list(map(add, totals, map(WEIGHTS[name].__mul__, column)))  # half the time of a loop
        scores = dict(zip(self._ids, totals, strict=True))
        # A heading that scores above the best passage of its section swaps scores with it: the heading contains the
        # word, the text below it answers.
        headings = {(p.note_id, -p.section): p.id for p in sorted(self._passages) if p.section < 0}
        best: dict[int, int] = {}
        for passage in self._passages:
            heading = headings.get((passage.note_id, passage.section))
            if heading is not None and passage.id not in self._pointers:
                best[heading] = max(best.get(heading, passage.id), passage.id, key=lambda i: (scores[i], -i))
        for heading, below in best.items():
            if (lent := scores[heading] - scores[below]) > 0:
                self._lent_to |= {below: lent, heading: -lent}
        lifted = {i: score + self._lent_to.get(i, 0.0) for i, score in scores.items()}
        return dict(sorted(lifted.items(), key=lambda pair: -pair[1]))

    def features(self, passage_id: int) -> dict[str, float]:
        """Return one candidate's features, omitting those that are 0 for every candidate; valid after `score`."""
        row = self._ids.index(passage_id)
        return {name: float(column[row]) for name, column in self._features.items()}

    def explain(self, passage_id: int) -> dict[str, Any]:
        """Explain a passage's score: raw score and rank in each lane and each feature's contribution. After `score`."""
        found = self._found
        if passage_id not in found.passages:  # a successor that no lane found
            return {"lanes": {}, "note_share": 0.0, "boosts": {}}
        added = {name: WEIGHTS[name] * value for name, value in self.features(passage_id).items()}
        added["section"] = self._lent_to.get(passage_id, 0.0)  # a heading swapped scores with a passage below it
        lanes = {"lexical": found.lexical, "semantic": found.cosine, "entity": found.entity, "temporal": found.date_fit}
        return {
            "lanes": {
                lane: {"score": round(own, 4), "rank": 1 + sum(score > own for score in scores.values())}
                for lane, scores in lanes.items()
                if (own := scores.get(passage_id))
            },
            "note_share": round(self._shares[self._ids.index(passage_id)], 3),
            "boosts": {name: round(value, 4) for name, value in added.items() if value},
        }

    # --- the features of passages, a column each ---------------------------------------------------------------------

    def _columns(self, rarity: Mapping[str, float], feedback: Mapping[int, float]) -> dict[str, Sequence[float]]:
        """Return each feature's values for all passages in order, omitting features that are 0 for every passage.

        Computed by column: with some 350 candidates that is a quarter of the work of going candidate by candidate.
        """
        found, ids, query, passages = self._found, self._ids, self._found.query, self._passages
        title = _column(found.title, self._notes)
        # Do not penalise repeated text for a word of the question that occurs nowhere else.
        repeated = {i: REPEATED_LOSS * notes for i, notes in found.repeats.items()}
        for (_, i), telling in self._telling.items():
            repeated[i] = min(repeated[i], 1 - telling)
        best_covered = max(self._coverage.values(), default=0.0) or 1.0
        columns: dict[str, Sequence[float]] = {
            "fact": [p.kind in FACTS for p in passages] if not found.only_time else (),
            "speaker": self._speaks(),
            "time": [
                not _TIME_WORDS.isdisjoint(_PLAIN.findall(p.text.casefold())) for p in passages
            ] if query.asks_when else (),
            "date": _column(found.date_fit, ids),
            "entity": _column(found.entity, ids),
            "title": [max(score, self._properties.get(i, 0.0)) for i, score in zip(ids, title, strict=False)],
            "titled": [self._short * score for score in title],
            "exact": [any(exact in p.text for exact in query.exact) for p in passages] if query.exact else (),
            "fix": [
                self._coverage.get(p.id, 0.0) / best_covered if FIX in p.text else 0.0 for p in passages
            ] if query.holds_error else (),
            "order": _column(found.order, ids),
            "page": [p.kind == PAGE for p in passages],
            "repeated": _column(repeated, ids),
            **self._blended(rarity, feedback),
            **self._wording(),
        }  # fmt: skip
        return {name: columns[name] for name in WEIGHTS if any(columns[name])}

    def _blended(self, rarity: Mapping[str, float], feedback: Mapping[int, float]) -> dict[str, Sequence[float]]:
        """Return the features that blend a passage with its note; the shorter the note, the larger the note's share.

        `map` and `zip` stop at the shorter input, so a feature without values yields an empty column.
        """
        found, ids, notes = self._found, self._ids, self._notes
        covered = _column(self._coverage, ids)
        best_covered = dict(sorted(zip(notes, covered, strict=False), key=itemgetter(1)))  # the last wins: the best
        learnt, scores, most = self.learnt(rarity), dict(self._asked), K1 + 1
        for note, counts in self._counts.items():  # add BM25 of the learnt stems
            held = [(weight, counts[stem]) for stem, weight in learnt.items() if stem in counts]
            norm = self._norms[note]
            scores[note] += sum([weight * count * most / (count + norm) for weight, count in held])
        scores = over_best(scores)
        likeness = similarities({n: self._gains(n, rarity) for n in self._best_notes(scores, COMPARED_NOTES)})
        similar: dict[int, float] = {}
        for note, like in likeness.items():
            nearest = sorted(like, key=like.__getitem__, reverse=True)[:LIKE_NOTES]
            similar[note] = sum([scores[other] for other in nearest]) / LIKE_NOTES
        of_note = {
            "note": _column(scores, notes),
            "similar": _column(similar, notes),
            "note_semantic": _column(found.note_cosine, notes),
            "feedback": _column(feedback, ids),
            "note_coverage": [value / max(len(found.rarity), 1) for value in _column(best_covered, notes)],
        }
        return {
            "coverage": self._own_share(covered),
            "semantic": self._own_share(_column(found.cosine, ids)),
            **{name: list(map(mul, self._shares, column)) for name, column in of_note.items()},
        }

    def _own_share(self, values: Sequence[float]) -> Sequence[float]:
        """Scale each value by the passage's own share; in a short note, also subtract its gap to the note's best value.

        The best passage of a short note is scored almost entirely by the note; without the penalty the note's other
        passages would all draw level with it.
        """
        placed = zip(self._passages, values, strict=False)
        standing = ((p.note_id, value) for p, value in placed if 0 <= p.section < ASIDE)
        best = dict(sorted(standing, key=itemgetter(1)))
        rows = zip(self._notes, values, self._shares, strict=False)
        return [(1 - s) * value - CONTRAST * s * s * max(best.get(n, value) - value, 0.0) for n, value, s in rows]

    def _wording(self) -> dict[str, Sequence[float]]:
        """Return the features of wording: exact words and runs in lexical hits, questions and replies, asides."""
        query = self._found.query
        form, phrase, quotes = ([0.0] * len(self._ids) for _ in range(3))
        for row, passage in enumerate(self._passages):
            if passage.id not in self._lexical:
                continue
            folded = passage.text.casefold()
            held = sum([word in folded for word in query.words])
            form[row] = self._short * held / max(len(query.words), 1)
            phrase[row] = longest_run(query.spoken_words, folded)
            # A passage that quotes the question asks it, and the answer is elsewhere; in code it is a usage example.
            quotes[row] = (
                bool(query.full_text) and held == len(query.words) and f" {query.full_text} " in _written(folded)
            )
        rows = [(p, quoted, _FENCE.match(p.text) is not None) for p, quoted in zip(self._passages, quotes, strict=True)]
        # A question in code is an example, and no answer follows it.
        asks = {
            (p.id + 1, p.note_id, p.section): self._lexical.get(p.id, 0.0)
            for p, _, is_code in rows
            if "?" in p.text and not is_code
        }
        return {
            "form": form,
            "phrase": phrase,
            "reply": [asks.get((p.id, p.note_id, p.section), 0.0) for p in self._passages],
            "question": [quoted or p.text.endswith("?") for p, quoted, _ in rows],
            "aside": [
                (p.section == ASIDE and p.id not in self._properties) or p.id in self._pointers or (quoted and is_code)
                for p, quoted, is_code in rows
            ],
        }

    def _speaks(self) -> Sequence[float]:
        """Return 1 for what is said by the one speaker whom the question names; empty if it names several."""
        asked = {*self._found.query.words, *(name.casefold() for name in self._found.query.names)}
        # A page's line that begins with a name is not speech.
        said = ["" if p.kind == PAGE else speaker(p.text) for p in self._passages]
        named = {name: asked.intersection(name.split()) for name in said}
        words = {word for name in named.values() for word in name}
        is_one = len(words) == 1 or sum(map(bool, named.values())) == 1
        return [bool(named[name]) for name in said] if is_one else ()

    def _covered(self) -> Mapping[int, float]:
        """Return the IDF-weighted share of the question's terms in each passage and, discounted, around it."""
        found, total = self._found, sum(self._found.rarity.values()) or 1.0
        covered: dict[int, float] = defaultdict(float)
        around: dict[int, list[tuple[int, float]]] = {}
        for term, rarity in found.rarity.items():
            best = dict.fromkeys(found.heading_hits.get(term, ()), HEADING_SHARE)
            for hit in found.hits.get(term, ()):
                telling = self._telling.get((term, hit), 1.0)
                if hit not in around:
                    around[hit] = neighbours(hit, found.passages)
                for passage_id, reach in around[hit]:
                    best[passage_id] = max(best.get(passage_id, 0.0), reach * telling)
            for passage_id, weight in best.items():
                covered[passage_id] += weight * rarity / total
        return covered

    # --- whole notes -------------------------------------------------------------------------------------------------

    def _best_notes(self, scores: Mapping[int, float], count: int) -> list[int]:
        """Return the best notes by words and meaning; ties keep the order of the notes."""
        cosine = self._found.note_cosine
        worth = {note: score + NOTE_MEANING * cosine.get(note, 0.0) for note, score in scores.items()}
        return sorted(worth, key=worth.__getitem__, reverse=True)[:count]

    def learnt(self, rarity: Mapping[str, float]) -> dict[str, float]:
        """Return the stems most characteristic of the best notes, alphabetically, with weight times IDF."""
        gains: dict[str, float] = defaultdict(float)
        for note in self._best_notes(self._asked, FEEDBACK_NOTES):
            for stem, gain in self._gains(note, rarity).items():
                gains[stem] += gain
        kept = sorted(zip(gains.values(), gains, strict=True), reverse=True)[:FEEDBACK_TERMS]
        total = sum(gain for gain, _ in kept)
        share = FEEDBACK_SHARE * max(len(self._found.note_rarity), 1)
        return {stem: share * rarity[stem] * gain / total for gain, stem in sorted(kept, key=itemgetter(1))}

    def _gains(self, note: int, rarity: Mapping[str, float]) -> dict[str, float]:
        norm, most = self._norms[note], K1 + 1
        return {s: rarity[s] * c * most / (c + norm) for s, c in self._counts[note].items() if s in rarity}


def longest_run(spoken: Sequence[str], text: str) -> float:
    """Return the longest run of at least MIN_RUN of the question's words in a text, as a share of all its words."""
    if len(spoken) < MIN_RUN or sum([word in text for word in spoken]) < MIN_RUN:
        return 0.0
    written, longest, start = _written(text), 0, 0
    for end in range(1, len(spoken) + 1):
        while f" {' '.join(spoken[start:end])} " not in written and start < end:
            start += 1
        longest = max(longest, end - start)
    return longest / len(spoken) if longest >= MIN_RUN else 0.0


def _column(values: Mapping[int, float], keys: Sequence[int]) -> Sequence[float]:
    return [values.get(key, 0.0) for key in keys] if values else ()


def _written(text: str) -> str:
    return f" {' '.join(_PLAIN.findall(text))} "


def only_points(text: str) -> bool:
    """Return whether a text is nothing but addresses and embeds: their content is elsewhere."""
    return all(map(_POINTER.fullmatch, text.split("\n")))


def similarities(vectors: Mapping[int, Mapping[str, float]]) -> dict[int, dict[int, float]]:
    """Return the cosine of each pair of sparse vectors that share a term, each cut to its LIKE_TERMS heaviest terms."""
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
    """Return the scores divided by the best of them."""
    best = max(scores.values(), default=0.0) or 1.0
    return {key: score / best for key, score in scores.items()}


class Ranking(NamedTuple):
    """The candidates in rank order with details of each; a preset's threshold dropped `below_threshold` of them."""

    candidates: Candidates
    passages: Mapping[int, Candidate]
    """The candidates, and successors and leading facts that no lane found."""
    scores: Mapping[int, float] = {}
    """Best first."""
    steps: Callable[[int], Mapping[str, Any]] = lambda _: {}
    """Explains the score of a passage."""
    lives: Mapping[int, Life] = {}
    """How facts and dated lines have aged; only for the best."""
    ages: Mapping[int, float] = {}
    """What age adds to their scores (negative)."""
    successors: Mapping[int, Successor] = {}
    behind: Mapping[int, int] = {}
    """Superseded passage → successor, which it is placed right behind."""
    settling: frozenset[int] = frozenset()
    """Passages placed for reasons other than their words: successors, leading facts, the best of a named note. They
    are kept even if they match weakly."""
    below_threshold: int = 0
    notes: Mapping[int, NoteInfo] = {}
    """Loaded once the order is settled."""

    def explain(self, passage_id: int) -> dict[str, Any]:
        """Explain a passage's score, its age and how many passages it superseded."""
        why = dict(self.steps(passage_id))
        if passage_id in self.ages:
            why["boosts"] = {**why["boosts"], "age": round(self.ages[passage_id], 4)}
        if life := self.lives.get(passage_id):
            why["life"] = {
                "tier": life.tier, "age_days": life.age_days, "importance": round(life.importance, 3),
                "worth": round(life.worth, 3), "multiplier": round(life.multiplier, 3),
            }  # fmt: skip
        if olds := sum(new.id == passage_id for new in self.successors.values()):
            why["successor_of"] = olds
        return why


def rank(found: Candidates, finder: Finder) -> Ranking:
    """Score a question's candidates by the requested preset, using the index they were found in."""
    request, passages = found.query.request, found.passages
    today = min(request.today, request.filters.as_of or request.today)
    successors = superseded(finder.view, finder.names, passages, today, request.filters)
    # If the question asks about a time, the older fact was valid then.
    newer = {} if found.date_fit else successors
    behind = {old: new.id for old, new in newer.items() if not _is_wanted(found, finder, old, new)}
    ranking = Ranking(found, passages, successors=successors, behind=behind)
    if request.preset != "tuned":
        return by_preset(ranking._replace(lives=lives_of(finder.view, passages, today)))

    # By features and age. A question about a time wants old passages; the latest or first are ordered by date already.
    scorer = Scorer(found)
    scores = scorer.score(*scorer.learn(finder))
    lives = lives_of(finder.view, {i: passages[i] for i in list(scores)[: max(AGED_PASSAGES, request.wanted)]}, today)
    ages = {} if found.date_fit or found.order else {i: decay.SWAY * (life.multiplier - 1) for i, life in lives.items()}
    scores = {i: score + ages.get(i, 0.0) for i, score in scores.items()}

    # Superseded facts come right behind the newer ones, which may have been found by no lane.
    brought = finder.search.passages({new for old, new in behind.items() if new not in scores and old in lives})
    scores |= dict.fromkeys(brought, min(scores.values(), default=0.0))
    scores = supersession.reordered(scores, behind)
    passages = {**passages, **brought}

    # Whatever its words: the best line of a note that the question names, then the fact that settles the matter.
    settling = set(behind.values())
    if request.mode != "semantic":
        best = max(scores.values(), default=0.0)
        # A question of nothing but a title's words means that note.
        meant = set() if found.query.asks_when else {n for n, score in found.title.items() if score >= NAMED_SCORE}
        places = {
            i: math.nextafter(best, math.inf if passages[i].note_id in meant else -math.inf)
            for i in _best_of_named(found, scores, meant.union(found.named_notes))
        }
        scores = _raised(scores, places)
        settling |= places.keys()
    if ages and request.mode != "semantic":
        leading = leading_facts([passages[i] for i in list(scores)[:BEST_LINES]], finder, today)
        places = {fact.id: math.nextafter(scores[line], -math.inf) for fact, line in leading.items()}
        scores = _raised(scores, places)
        settling |= places.keys()
        passages |= {fact.id: fact for fact in leading}
    return ranking._replace(
        passages=passages, scores=scores, steps=scorer.explain, lives=lives, ages=ages, settling=frozenset(settling)
    )


def promoted(ranking: Ranking, passages: Sequence[int]) -> Ranking:
    """Return the ranking with some passages placed directly behind the best one."""
    second = math.nextafter(max(ranking.scores.values(), default=0.0), -math.inf)
    return ranking._replace(
        scores=_raised(ranking.scores, dict.fromkeys(passages, second)),
        settling=frozenset(ranking.settling).union(passages),
    )


def _raised(scores: Mapping[int, float], places: Mapping[int, float]) -> dict[int, float]:
    """Return the scores, best first, raised to at least those of `places`."""
    raised = {i: max(score, scores.get(i, -math.inf)) for i, score in places.items()}
    return dict(sorted({**scores, **raised}.items(), key=lambda pair: -pair[1]))


def _best_of_named(found: Candidates, scores: Mapping[int, float], named: Collection[int]) -> list[int]:
    """Return the best informative passage of each of the notes that the question names."""
    best: dict[int, int] = {}
    for passage in (found.passages[i] for i in scores if i in found.passages):
        if passage.note_id not in named or passage.note_id in best:
            continue
        is_line = passage.section >= 0 and passage.kind not in (PAGE, ATTACHMENT) and not only_points(passage.text)
        if says_property(passage.text) if passage.section == ASIDE else is_line:
            best[passage.note_id] = passage.id
    return list(best.values())


def _is_wanted(found: Candidates, finder: Finder, old: int, new: Successor) -> bool:
    """Return whether a question asks for the claim that only the older of two makes: "Malmö" wants that line.

    Only words of the claimed value count: "where does he live" is still answered by "moved to Lund".
    """
    stems = finder.lexicon.stems
    lost = [term for term, hits in found.hits.items() if old in hits and new.id not in hits]
    said = set(stems(new.instead_of)) if lost else set()
    return any(said.intersection(stems(term.strip('"*'))) for term in lost)


def by_preset(ranking: Ranking, judged: Mapping[int, float] | None = None) -> Ranking:
    """Rank by a preset other than `tuned`, by position rather than score, since `classic` diversifies its results.

    `judged` is for `classic`: the scores of a second model, applied before age.
    """
    from vault_memory.search import presets

    preset = ranking.candidates.query.request.preset
    steps, dropped = presets.score(ranking.candidates, ranking.lives, judged)
    places = {i: -float(place) for place, i in enumerate(steps)}
    return ranking._replace(
        scores={i: steps[i]["score"] for i in supersession.reordered(places, ranking.behind)},
        steps=lambda i: {"preset": preset, "steps": {step: round(x, 4) for step, x in steps[i].items()}},
        below_threshold=dropped,
    )
