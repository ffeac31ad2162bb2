"""Ranks candidates: their scores with feedback and age, then what was superseded right behind its successor.

`Scorer` never sees the index. The Guide's page Recall has what each step was worth when measured. The sources: for
learning from the best of a first round RM3 (Lavrenko & Croft 2001), for notes BM25 over their candidate passages
(Robertson & Zaragoza 2009) and score regularisation over the notes most alike (Diaz 2005).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from heapq import nsmallest
from itertools import chain
from operator import add, itemgetter, mul
from typing import Any, NamedTuple

from vault_memory.markdown import replaced_claims
from vault_memory.markdown.note import ASIDE, speaker
from vault_memory.search import decay
from vault_memory.search.candidates import Candidates, Finder, inverse_frequency, neighbours
from vault_memory.search.decay import Life, Trace
from vault_memory.search.successors import BEST_LINES, Successor, leading_facts, superseded
from vault_memory.store import journal, note_queries
from vault_memory.store.vectors import combine
from vault_memory.store.view import FACTS, PAGE, Candidate, NoteInfo
from vault_memory.text.calendar_days import CALENDAR_WORDS

NOTE_SHARE, NOTE_TOKENS_LIST, NOTE_TOKENS_PROSE = 0.9, 150, 400
"""The most that a note decides of its passages, one of up to so many tokens: a list item stands for itself sooner."""

CONTRAST = 0.5
"""How far a passage of a short note falls behind the best there, against one that stands for itself."""

BELOW = 0.4
"""How much a term counts that stands in the title of the note or the heading of the section."""

UNTOLD = 0.8
"""How much less a word counts in what stands in all notes word for word."""

K1, B = 2.0, 0.6
"""Of BM25: in notes a term's count matters for longer than in passages, and length for less."""

FEEDBACK_PASSAGES, FEEDBACK_NOTES, FEEDBACK_TERMS = 8, 5, 60
FEEDBACK_SHARE, FEEDBACK_SPREAD = 1.5, 5
"""What the learnt terms weigh together for each term of the question, so that one word is not outvoted; none is learnt
that stands in more than one of so many notes, nor one that stands in only one."""

NOTE_MEANING = 0.5
"""How much the cosine of a note counts beside its words when the best notes are chosen."""

COMPARED_NOTES, LIKE_NOTES, LIKE_TERMS = 50, 3, 20
"""So many of the best notes are compared, by their most telling terms; each listens to so many most like it."""

AGED = 100
"""So many of the best have their age looked up, or as many as are asked for: it only parts what is nearly alike."""

REMEMBERED_TEXTS = 1 << 13
"""Of so many texts, those of thirty questions, it is remembered how they are written (some 600 bytes each)."""

MIN_RUN = 3
_PLAIN = re.compile(r"\w+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_POINTER = re.compile(r"\s*(?:(?:[-*+]\s+)?(?:<?\w+://\S+>?|!\[\[[^\[\]]*\]\])|\[\w+\]\(\w+://\S+\))\s*")
"""A line that only says where something is; a link of one word (`[Source](…)`) names nothing, but in a list."""
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")

# "Last night" has its "last"; a night alone tells no date. Shorter names of days and months are other words too.
_TIME_WORDS = frozenset(word for word in CALENDAR_WORDS if len(word) > 3 and word != "night").union(
    ("may", "day", "ago", "last", "next", "since", "recently", "just"), map(str, range(1900, 2100))
)

WEIGHTS: Mapping[str, float] = {
    # The share of the question's terms, by rarity, in the passage and, less, around it. This and the next five are
    # blended by the note's length: the more the note is one thought, the more its own features count.
    "coverage": 6.5,
    "semantic": 5.5,  # cosine of question and passage, -1..1
    "note_coverage": 3.0,  # the coverage of the note's best passage
    "note": 1.0,  # BM25 of the note, against the best
    "similar": 2.8,  # the mean of that of the notes most like it
    "note_semantic": 1.6,  # cosine of question and note, -1..1
    "feedback": 3.8,  # cosine of the passage and where the best passages of the first round point, -1..1
    # The share of the question's words that stand there as they were written, for a question of one word; an eighth of
    # it for one of two, a 27th for one of three: in a long one no word decides.
    "form": 4.0,
    "phrase": 2.5,  # the longest run of the question's words, as a share of them
    "fact": 0.5,  # 1 for what someone wrote down to be remembered
    "speaker": 3.6,  # 1 when the one speaker asked about says it
    "reply": 2.0,  # the lexical score of the question just before it
    "question": -0.7,  # 1 for what is itself a question, or quotes the one asked
    "time": 2.3,  # 1 for a word of time where the question asks when
    "date": 3.8,  # how well its day fits the question's time
    "entity": 1.5,  # how much it is about an entity of the question; above 1 for the entity's own page
    "title": 1.0,  # how well its note's title, aliases, path and tags match
    "titled": 3.0,  # the same, for a short question likewise
    "exact": 2.0,  # 1 when it holds a quoted part, path, option or version of the question to the letter
    # For what is tagged `#fix` where the question holds an error: how much of the question it covers, against the best.
    "fix": 9.0,
    "order": 7.0,  # 1 for the newest (or oldest) where the question asks for the last (or first), down to 0
    "aside": -3.0,  # 1 for frontmatter and comments, and for code that holds the very question: an example of asking it
    "page": -2.0,  # 1 for what reflect wrote: the line that it was told from says it too, and comes first
    "repeated": -2.0,  # how little tells what stands in many notes word for word, up to 1
}
"""What each feature of a passage, 0..1 unless said otherwise, adds to its score; rounded, since none is certain.

Most are fitted (tests/benchmarks/fit.py); note_coverage, form, phrase, title, titled, exact and order are chosen by
known-item questions (tests/benchmarks/known.py); fact, entity, aside and page by hand on the sample vault.
"""

FIX = "#fix"
"""Marks what cured a problem: capture puts it behind a case."""


class Shape(NamedTuple):
    """How a passage is written: as a list item, by whom in a conversation ("" for nobody), as a question, as code."""

    is_item: bool
    speaker: str
    asks: bool
    """Somebody asks there: a question in code is an example, and what follows is no answer to it."""
    ends_asking: bool
    is_code: bool
    only_points: bool
    """Nothing but addresses and embeds: what they show stands elsewhere."""


class Scorer:
    """Scores one question's candidates, in two rounds."""

    def __init__(self, found: Candidates) -> None:
        self._found = found
        self._ids, passages = list(found.passages), list(found.passages.values())
        self._notes = [passage.note_id for passage in passages]
        self._lexical = over_best(found.lexical)
        self._sections = {i: (p.section, p.note_id) for i, p in found.passages.items()}
        self._reached: dict[int, list[tuple[int, float]]] = {}
        self._telling: dict[tuple[str, int], float] = {}
        """How much a term tells in a text that stands in many notes, against where it tells most; elsewhere 1."""
        for term, hits in found.hits.items():
            told = {i: 1 - UNTOLD * found.repeats[i] for i in hits if i in found.repeats}
            most = max(told.values(), default=1.0) if len(told) == len(hits) else 1.0
            self._telling |= {(term, i): share / most for i, share in told.items()}
        self._coverage = self._covered(found.rarity)
        self._short = 1 / max(len(found.rarity), 1) ** 3
        self._shapes = [shape(passage.text) for passage in passages]
        average = max(found.totals.words / max(found.totals.notes, 1), 1.0)
        self._norms = {n: K1 * (1 - B + B * note.words / average) for n, note in found.notes.items()}
        self._asked = dict.fromkeys(found.notes, 0.0)
        """BM25 of the question's terms for each note."""
        for term, weight in found.note_rarity.items():
            counts: dict[int, float] = defaultdict(float)
            for passage_id, count in found.hits.get(term, {}).items():
                counts[found.passages[passage_id].note_id] += count * self._telling.get((term, passage_id), 1.0)
            for note, times in counts.items():
                self._asked[note] += weight * times * (K1 + 1) / (times + self._norms[note])
        stems: dict[int, list[str]] = {note: [] for note in found.notes}
        for passage_id, each in found.stems.items():
            stems[found.passages[passage_id].note_id] += each
        self._counts = {note: Counter(each) for note, each in stems.items()}
        """How often each stem stands in each note's candidate passages."""
        self._features: Mapping[str, Sequence[float]] = {}
        self._shares: list[float] = []
        """How much of each passage's score its note decides."""
        self._lent_to: dict[int, float] = {}

    def best_passages(self) -> list[int]:
        """The passages to learn a direction from: the best by words and meaning alone."""
        cosine, notes = self._found.cosine, over_best(self._asked)
        scores = {
            i: (self._lexical.get(i, 0.0) + 2 * self._coverage.get(i, 0.0)) + 2 * cosine.get(i, 0.0)
            + notes[passage.note_id] - 2 * (passage.section < 0)
            for i, passage in self._found.passages.items()
        }  # fmt: skip
        return nsmallest(FEEDBACK_PASSAGES, self._ids, key=lambda i: -scores[i])

    def near_stems(self) -> dict[str, int]:
        """The stems of the best notes, with the number of candidate notes that hold each."""
        stems = set().union(*(self._counts[n] for n in self._best_notes(self._asked, COMPARED_NOTES)))
        holding = Counter(chain.from_iterable(self._counts.values()))
        return {stem: count for stem, count in holding.items() if stem in stems}

    def score(self, rarity: Mapping[str, float], feedback: Mapping[int, float]) -> dict[int, float]:
        """The score of every passage, best first; ties keep the candidates' order, so that answers repeat.

        `rarity` is the inverse document frequency of those stems of `near_stems` that tell something, `feedback` each
        candidate's cosine to where the best passages of the first round point.
        """
        self._features = self._columns(rarity, feedback)
        # A question of nothing but a time has no meaning.
        if self._found.query.request.mode == "semantic" and self._found.cosine:
            self._features = {"semantic": _column(self._found.cosine, self._ids)}
        if self._found.only_time and not self._found.query.window:
            self._features = {"date": _column(self._found.days, self._ids)}
        totals = [0.0] * len(self._ids)
        for name, column in self._features.items():
            totals = list(map(add, totals, map(WEIGHTS[name].__mul__, column)))  # half the time of a loop
        scores = dict(zip(self._ids, totals, strict=True))
        # A heading above the best passage of its section changes places with it: the heading holds the word, what
        # stands below it answers.
        passages = self._found.passages
        headings = {(p.note_id, -p.section): i for i, p in sorted(passages.items()) if p.section < 0}
        best: dict[tuple[int, int], int] = {}
        for here, passage in passages.items():
            place = (passage.note_id, passage.section)
            if place in headings and not shape(passage.text).only_points:
                best[place] = max(best.get(place, here), here, key=lambda i: (scores[i], -i))
        for place, below in best.items():
            heading = headings[place]
            if scores[heading] > scores[below]:
                self._lent_to |= {below: scores[heading] - scores[below], heading: scores[below] - scores[heading]}
        lent = {i: score + self._lent_to.get(i, 0.0) for i, score in scores.items()}
        return dict(sorted(lent.items(), key=lambda pair: -pair[1]))

    def features(self, passage_id: int) -> dict[str, float]:
        """The features of one candidate that are not 0 for all, after `score`."""
        row = self._ids.index(passage_id)
        return {name: float(column[row]) for name, column in self._features.items()}

    def _columns(self, rarity: Mapping[str, float], feedback: Mapping[int, float]) -> dict[str, Sequence[float]]:
        """By feature, its value for every passage in order; without those that are 0 for all.

        A column at a time: at some 350 candidates that is a quarter of the work of one candidate after another.
        """
        found, ids, query = self._found, self._ids, self._found.query
        passages = list(found.passages.values())
        # A word of the question may stand nowhere but in what is repeated.
        repeated = {i: UNTOLD * notes for i, notes in found.repeats.items()}
        for (_, i), telling in self._telling.items():
            repeated[i] = min(repeated[i], 1 - telling)
        title = _column(found.title, self._notes)
        columns: dict[str, Sequence[float]] = {
            "fact": [p.kind in FACTS for p in passages] if not found.only_time else (),
            "speaker": self._speaks(),
            "time": [tells_time(p.text) for p in passages] if query.asks_when else (),
            "date": _column(found.days, ids),
            "entity": _column(found.about, ids),
            "title": title,
            "titled": [self._short * score for score in title],
            "exact": [any(exact in p.text for exact in query.exact) for p in passages] if query.exact else (),
            "fix": self._fixes(passages) if query.holds_error else (),
            "order": _column(found.order, ids),
            "page": [p.kind == PAGE for p in passages],
            "repeated": _column(repeated, ids),
            **self._blended(rarity, feedback),
            **self._wording(passages),
        }
        return {name: columns[name] for name in WEIGHTS if any(columns[name])}

    def _fixes(self, passages: Sequence[Candidate]) -> Sequence[float]:
        best = max(self._coverage.values(), default=0.0) or 1.0
        return [self._coverage.get(p.id, 0.0) / best if FIX in p.text else 0.0 for p in passages]

    def _blended(self, rarity: Mapping[str, float], feedback: Mapping[int, float]) -> dict[str, Sequence[float]]:
        """The features of a passage itself and those of its note: the more the note is one thought, the more it counts.

        `map` and `zip` go as far as the shorter: where nothing is known of a feature, there is no column.
        """
        found, ids, notes = self._found, self._ids, self._notes
        for note, shape in zip(notes, self._shapes, strict=True):
            most_tokens = NOTE_TOKENS_LIST if shape.is_item else NOTE_TOKENS_PROSE
            self._shares.append(NOTE_SHARE * min(1.0, most_tokens / max(found.notes[note].tokens, 1)))
        covered = _column(self._coverage, ids)
        best_covered = dict(sorted(zip(notes, covered, strict=False), key=itemgetter(1)))  # the last of a note counts
        scores, similar = self._score_notes(rarity)
        of_note = {
            "note": _column(scores, notes),
            "similar": _column(similar, notes),
            "note_semantic": _column(found.note_cosine, notes),
            "feedback": _column(feedback, ids),
            "note_coverage": [value / max(len(found.rarity), 1) for value in _column(best_covered, notes)],
        }
        return {
            "coverage": self._own(covered),
            "semantic": self._own(_column(found.cosine, ids)),
            **{name: list(map(mul, self._shares, column)) for name, column in of_note.items()},
        }

    def _wording(self, passages: Sequence[Candidate]) -> dict[str, Sequence[float]]:
        """What the question's words, as they were written, say of passages that the lexical lane found; who asks."""
        query, sections, shapes = self._found.query, self._sections, self._shapes
        form, phrase, quotes = ([0.0] * len(passages) for _ in range(3))
        for row, passage in enumerate(passages):
            if passage.id not in self._lexical:
                continue
            folded = passage.text.casefold()
            held = sum([word in folded for word in query.words])
            form[row] = self._short * held / max(len(query.words), 1)
            phrase[row] = longest_run(query.spoken, folded)
            # What quotes the question asks it; what answers stands elsewhere. Code that does shows how to ask it.
            quotes[row] = bool(query.whole) and held == len(query.words) and f" {query.whole} " in _written(folded)
        rows = zip(passages, quotes, shapes, strict=True)
        asks = {i: self._lexical.get(i, 0.0) for i, s in zip(self._ids, shapes, strict=True) if s.asks}
        return {
            "form": form,
            "phrase": phrase,
            "reply": [asks.get(i - 1, 0.0) if sections.get(i - 1) == place else 0.0 for i, place in sections.items()],
            "question": [quoted or s.ends_asking for s, quoted in zip(shapes, quotes, strict=True)],
            "aside": [p.section == ASIDE or s.only_points or (q and s.is_code) for p, q, s in rows],
        }

    def _own(self, values: Sequence[float]) -> Sequence[float]:
        """Each value less what its note decides, and in a short note less how far it stays behind the best there.

        The best passage of a short note leaves nearly all to the note; the others must not all come level with it.
        """
        placed = zip(self._notes, values, self._sections.values(), strict=False)
        standing = ((note, value) for note, value, (section, _) in placed if 0 <= section < ASIDE)
        best = dict(sorted(standing, key=itemgetter(1)))  # the last of a note counts
        # No values, no column.
        rows = zip(self._notes, values, self._shares, strict=False)
        return [(1 - s) * value - CONTRAST * s * s * max(best.get(n, value) - value, 0.0) for n, value, s in rows]

    def _speaks(self) -> Sequence[float]:
        """1 for what the one speaker says whom the question names; with two of them named, nothing."""
        asked = {*self._found.query.words, *(name.casefold() for name in self._found.query.names)}
        both = zip(self._shapes, self._found.passages.values(), strict=True) if asked else ()
        said = ["" if p.kind == PAGE else s.speaker for s, p in both]  # nobody speaks on a page that begins with a name
        named = {name: asked.intersection(name.split()) for name in said}
        words = {word for name in named.values() for word in name}
        is_one = len(words) == 1 or sum(map(bool, named.values())) == 1
        return [bool(named[name]) for name in said] if is_one else ()

    def _covered(self, terms: Mapping[str, float]) -> dict[int, float]:
        """The share of these terms, by rarity, in each passage and, less, around it in its section."""
        total = sum(terms.values()) or 1.0
        covered: dict[int, float] = {}
        for term, rarity in terms.items():
            best: dict[int, float] = {}
            for hit in self._found.hits.get(term, ()):
                telling = self._telling.get((term, hit), 1.0)
                if hit not in self._reached:
                    self._reached[hit] = neighbours(hit, self._found.passages)
                for passage_id, weight in self._reached[hit]:
                    weight *= telling
                    if weight > best.get(passage_id, 0.0):
                        best[passage_id] = weight
            for passage_id in self._found.above.get(term, ()):
                if best.get(passage_id, 0.0) < BELOW:
                    best[passage_id] = BELOW
            for passage_id, weight in best.items():
                covered[passage_id] = covered.get(passage_id, 0.0) + weight * rarity / total
        return covered

    def _best_notes(self, scores: Mapping[int, float], count: int) -> list[int]:
        """The best notes by words and meaning; ties keep the order of the notes."""
        cosine = self._found.note_cosine
        worth = {note: score + NOTE_MEANING * cosine.get(note, 0.0) for note, score in scores.items()}
        return sorted(worth, key=worth.__getitem__, reverse=True)[:count]

    def _score_notes(self, rarity: Mapping[str, float]) -> tuple[dict[int, float], dict[int, float]]:
        """The score of each note, and the mean score of those most like it, both against the best score."""
        learnt, scores, most = self.learnt(rarity), dict(self._asked), K1 + 1
        for note, counts in self._counts.items():  # BM25 of the learnt stems
            held = [(weight, counts[stem]) for stem, weight in learnt.items() if stem in counts]
            norm = self._norms[note]
            scores[note] += sum([weight * count * most / (count + norm) for weight, count in held])
        scores = over_best(scores)
        likeness = similarities({n: self._gains(n, rarity) for n in self._best_notes(scores, COMPARED_NOTES)})
        similar: dict[int, float] = {}
        for note, like in likeness.items():
            nearest = sorted(like, key=like.__getitem__, reverse=True)[:LIKE_NOTES]
            similar[note] = sum([scores[other] for other in nearest]) / LIKE_NOTES
        return scores, similar

    def learnt(self, rarity: Mapping[str, float]) -> dict[str, float]:
        """The stems that tell most about the best notes, by the alphabet, each with its weight times its rarity."""
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

    def explain(self, passage_id: int) -> dict[str, Any]:
        """Why a passage has its score, after `score`: raw score and rank in each lane, and what each feature added."""
        found, row = self._found, self._ids.index(passage_id)
        added = {name: WEIGHTS[name] * value for name, value in self.features(passage_id).items()}
        added["section"] = self._lent_to.get(passage_id, 0.0)  # a heading changed places with what stands below it
        lanes = {"lexical": found.lexical, "semantic": found.cosine, "entity": found.about, "temporal": found.days}
        return {
            "lanes": {
                lane: {"score": round(own, 4), "rank": 1 + sum(score > own for score in scores.values())}
                for lane, scores in lanes.items()
                if (own := scores.get(passage_id))
            },
            "note_share": round(self._shares[row], 3),
            "boosts": {name: round(value, 4) for name, value in added.items() if value},
        }


def longest_run(spoken: Sequence[str], text: str) -> float:
    """The longest run of at least three of the question's words that stands in a text, as a share of all its words."""
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


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _written(text: str) -> str:
    return f" {' '.join(_PLAIN.findall(text))} "


@lru_cache(maxsize=REMEMBERED_TEXTS)  # the same passages are candidates again and again, in a process that stays
def shape(text: str) -> Shape:
    """How a text is written."""
    is_code = _FENCE.match(text) is not None
    asks = "?" in text and not is_code
    only_points = all(map(_POINTER.fullmatch, text.split("\n")))
    return Shape(_LIST_ITEM.match(text) is not None, speaker(text), asks, text.endswith("?"), is_code, only_points)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def tells_time(text: str) -> bool:
    """Whether a text holds a word of time or a year."""
    return not _TIME_WORDS.isdisjoint(_PLAIN.findall(text.casefold()))


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


class Ranking(NamedTuple):
    """The candidates in rank order, with what is to be said of each; `below_threshold` were dropped by a preset."""

    candidates: Candidates
    passages: Mapping[int, Candidate]
    """The candidates, and successors that no lane found."""
    scores: Mapping[int, float] = {}
    """Best first."""
    steps: Callable[[int], Mapping[str, Any]] = lambda _: {}
    """What made the score of each."""
    lives: Mapping[int, Life] = {}
    """How old facts and dated lines are; of the best only."""
    successors: Mapping[int, Successor] = {}
    behind: Mapping[int, int] = {}
    """Which of them come right behind which, since they were superseded."""
    settling: frozenset[int] = frozenset()
    """What stands where it does for what others say, newer and leading facts: its own words need not be telling."""
    below_threshold: int = 0
    repeats: int = 0
    """How many lines of pages were left out for the lines that they cite (pack.py)."""
    notes: Mapping[int, NoteInfo] = {}
    origins: Mapping[int, str] = {}
    """Who those are from that no person wrote; this and `notes` are looked up once the order is settled."""

    def explain(self, passage_id: int) -> dict[str, Any]:
        """What made its score, what is known of its age, and how many it took the place of."""
        why = dict(self.steps(passage_id))
        if life := self.lives.get(passage_id):
            why["life"] = {
                "tier": life.tier, "age_days": life.age_days, "importance": round(life.importance, 3),
                "worth": round(life.worth, 3), "multiplier": round(life.multiplier, 3),
            }  # fmt: skip
        if olds := sum(new.id == passage_id for new in self.successors.values()):
            why["successor_of"] = olds
        return why


def rank(found: Candidates, finder: Finder) -> Ranking:
    """Score the candidates of a question by the preset that was asked for, over the index they were found in."""
    request, passages = found.query.request, found.passages
    today = min(request.today, request.filters.as_of or request.today)
    followed = superseded(finder.store, finder.names, passages, today, request.filters)
    # In a time that is asked for, the older holds.
    behind = {} if found.days else {o: n.id for o, n in followed.items() if not _is_wanted(found, finder, o, n)}
    ranking = Ranking(found, passages, successors=followed, behind=behind)
    if request.preset != "tuned":
        return by_preset(ranking._replace(lives=_lives(finder, passages, today)))
    scorer = Scorer(found)
    scores = scorer.score(*feedback(scorer, found, finder))
    alive = _lives(finder, {i: passages[i] for i in list(scores)[: max(AGED, request.wanted)]}, today)
    # Who asks for a time asks for what is old, or says himself that the newest is wanted.
    ages = {} if found.days or found.order else {i: decay.SWAY * (life.multiplier - 1) for i, life in alive.items()}
    aged = {i: score + ages.get(i, 0.0) for i, score in scores.items()}
    brought = finder.search.passages({new for old, new in behind.items() if new not in aged and old in alive})
    least = min(aged.values(), default=0.0)
    ranking = ranking._replace(passages={**passages, **brought}, lives=alive)

    def steps(passage_id: int) -> Mapping[str, Any]:
        if passage_id not in passages:  # it took the place of one that a lane found
            return {"lanes": {}, "note_share": 0.0, "boosts": {}}
        why = scorer.explain(passage_id)
        age = {"age": round(ages[passage_id], 4)} if passage_id in ages else {}
        return {**why, "boosts": {**why["boosts"], **age}}

    scores = replaced_claims.reordered(aged | dict.fromkeys(brought, least), behind)
    settling = frozenset(behind.values())
    if ages and request.mode != "semantic":
        best = [ranking.passages[i] for i in list(scores)[:BEST_LINES]]
        leading = leading_facts(best, finder, lambda some: _lives(finder, some, today))
        places = {fact.id: math.nextafter(scores[line], -math.inf) for fact, line in leading.items()}
        raised = {i: max(score, scores.get(i, least)) for i, score in places.items()}
        scores = dict(sorted((scores | raised).items(), key=lambda pair: -pair[1]))
        settling = settling.union(places)
        ranking = ranking._replace(passages={**ranking.passages, **{fact.id: fact for fact in leading}})
    return ranking._replace(scores=scores, settling=settling, steps=steps)


def _is_wanted(found: Candidates, finder: Finder, old: int, new: Successor) -> bool:
    """Whether a question asks for what the older of two says and the newer does not: "Malmö" wants that line.

    Words for what is asked do not count: "where does he live" is answered by "moved to Lund".
    """
    stems = finder.lexicon.stems
    lost = [term for term, hits in found.hits.items() if old in hits and new.id not in hits]
    said = set(stems(new.instead_of)) if lost else set()
    return any(said.intersection(stems(term.strip('"*'))) for term in lost)


def feedback(scorer: Scorer, found: Candidates, finder: Finder) -> tuple[dict[str, float], Mapping[int, float]]:
    """What the best of the first round teach (pseudo-relevance feedback), as `Scorer.score` takes it.

    Nothing when nothing was asked that any passage could be best at.
    """
    space, cosine = found.space, dict[int, float]()
    if not found.rarity and not space:
        return {}, cosine
    if space and (best := scorer.best_passages()):
        # A direction halfway to the mean direction of the best.
        vectors = [v for v in finder.search.vectors(space, best) if any(v)]
        middle = combine(list(map(_unit, vectors))) if vectors else found.vector
        cosine = finder.search.cosines(space, found.passages, combine([_unit(found.vector), _unit(middle)]))
    # Stems that are not among the frequent ones are rare: how many candidates hold them is near enough.
    near, notes, frequent = scorer.near_stems(), found.totals.notes, finder.lexicon.frequent
    counts = near | {stem: frequent[stem].notes for stem in near.keys() & frequent.keys()}
    rarity = {count: inverse_frequency(notes, count) for count in set(counts.values())}
    return {
        stem: rarity[count]
        for stem, count in counts.items()
        if 1 < count <= notes // FEEDBACK_SPREAD
        and len(stem) > 2
        and stem not in finder.lexicon.idle
        and not stem.isdigit()
    }, cosine


def _unit(vector: bytes) -> tuple[bytes, float]:
    return vector, 1 / (sum(x * x for x in memoryview(vector).cast("b")) ** 0.5 or 1.0)


def _lives(finder: Finder, passages: Mapping[int, Candidate], today: date) -> dict[int, Life]:
    """How the facts and the lines of dated notes among these passages stand on a day; nothing else ages."""
    notes = finder.search.notes({p.note_id for p in passages.values()})
    days = {note.id: date.fromisoformat(note.day).toordinal() if note.day else None for note in notes.values()}
    facts = [i for i, p in passages.items() if p.kind in FACTS]
    dated = [i for i, p in passages.items() if p.kind in ("note", "session") and days[p.note_id]]
    keys = ((i, journal.passage_key(passages[i].text)) for i in (*facts, *dated))
    used = journal.days_of_use(finder.store, keys, today.toordinal())
    traces = {i: Trace(days[passages[i].note_id], used.get(i, ())) for i in (*dated, *facts)}
    known = note_queries.told_facts(finder.store, facts, today)
    for i in facts:
        confidence, importance, decided, told_days = known.get(i, (None, None, False, 1))
        if importance is None:
            importance = decay.importance_of(passages[i].kind, decided, told_days)
        traces[i] = traces[i]._replace(importance=importance, confidence=1.0 if confidence is None else confidence)
    return {i: decay.life(trace, today.toordinal(), passages[i].kind in FACTS) for i, trace in traces.items()}


def by_preset(ranking: Ranking, judged: Mapping[int, float] | None = None) -> Ranking:
    """The order of another preset; `classic` spreads its results, so its places are kept rather than its scores.

    `judged` is for `classic`: the scores of a second model, which count before age.
    """
    from vault_memory.search import presets

    preset = ranking.candidates.query.request.preset
    scored = presets.score(ranking.candidates, ranking.lives, judged)
    places = {i: -float(place) for place, i in enumerate(scored.scores)}
    return ranking._replace(
        scores={i: scored.scores[i] for i in replaced_claims.reordered(places, ranking.behind)},
        steps=lambda i: {"preset": preset, "steps": {step: round(x, 4) for step, x in scored.steps[i].items()}},
        below_threshold=scored.below_threshold,
    )
