"""Ranks candidates: their scores with feedback and age, then what was superseded right behind its successor.

The Guide's page Recall has what each step was worth when measured. The sources: for learning from the best of a first
round RM3 (Lavrenko & Croft 2001), for notes BM25 over their candidate passages (Robertson & Zaragoza 2009) and score
regularisation over the notes most alike (Diaz 2005).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from operator import add, itemgetter, mul
from typing import Any, NamedTuple

from vault_memory.markdown import replaced_claims
from vault_memory.markdown.frontmatter import says_property
from vault_memory.markdown.note import ASIDE, speaker
from vault_memory.search import decay
from vault_memory.search.candidates import NAMED_SCORE, Candidates, Finder, inverse_frequency, neighbours
from vault_memory.search.decay import Life
from vault_memory.search.superseded_facts import BEST_LINES, Successor, leading_facts, superseded
from vault_memory.store.vectors import mean_direction
from vault_memory.store.view import ATTACHMENT, FACTS, PAGE, Candidate, NoteInfo
from vault_memory.text.calendar_days import CALENDAR_WORDS

NOTE_SHARE, NOTE_TOKENS_LIST, NOTE_TOKENS_PROSE = 0.9, 150, 400
"""The most that a note decides of its passages, one of up to so many tokens: a list item stands for itself sooner."""

CONTRAST = 0.5
"""How far a passage of a short note falls behind the best there, against one that stands for itself."""

HEADING_SHARE = 0.4
"""How much a term counts that stands in the title of the note or the heading of the section."""

REPEATED_LOSS = 0.8
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

AGED_PASSAGES = 100
"""So many of the best have their age looked up, or as many as are asked for: it only parts what is nearly alike."""

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
    """Scores one question's candidates, in two rounds; only `learn` asks the index."""

    def __init__(self, found: Candidates) -> None:
        self._found = found
        self._ids, self._passages = list(found.passages), list(found.passages.values())
        self._notes = [passage.note_id for passage in self._passages]
        self._shapes = [shape(passage.text) for passage in self._passages]
        self._lexical = over_best(found.lexical)
        self._short = 1 / max(len(found.rarity), 1) ** 3
        self._telling: dict[tuple[str, int], float] = {}
        """How much a term tells in a text that stands in many notes, against where it tells most; elsewhere 1."""
        for term, hits in found.hits.items():
            told = {i: 1 - REPEATED_LOSS * found.repeats[i] for i in hits if i in found.repeats}
            most = max(told.values(), default=1.0) if len(told) == len(hits) else 1.0
            self._telling |= {(term, i): share / most for i, share in told.items()}
        self._properties = {
            p.id: NAMED_SCORE * found.called[p.note_id]
            for p in self._passages
            if p.section == ASIDE and found.called.get(p.note_id, 1.0) < 1 and says_property(p.text)
        }
        """The properties of a note of which the question asks more than its name, with how well that title matches:
        what they say is said of the title."""
        self._coverage = self._covered()
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
        self._counts: dict[int, Counter[str]] = {note: Counter() for note in found.notes}
        """How often each stem stands in each note's candidate passages."""
        for passage_id, stems in found.stems.items():
            self._counts[found.passages[passage_id].note_id].update(stems)
        self._features: Mapping[str, Sequence[float]] = {}
        self._shares: list[float] = []
        """How much of each passage's score its note decides."""
        for note, written in zip(self._notes, self._shapes, strict=True):
            most_tokens = NOTE_TOKENS_LIST if written.is_item else NOTE_TOKENS_PROSE
            self._shares.append(NOTE_SHARE * min(1.0, most_tokens / max(found.notes[note].tokens, 1)))
        self._lent_to: dict[int, float] = {}

    def learn(self, finder: Finder) -> tuple[dict[str, float], Mapping[int, float]]:
        """What the best of a first round teach (pseudo-relevance feedback), as `score` takes it.

        Nothing when nothing was asked that any passage could be best at.
        """
        found, space, cosine = self._found, self._found.space, dict[int, float]()
        if not found.rarity and not space:
            return {}, cosine
        if space and self._passages:
            # A direction halfway to the mean direction of those that are the best by words and meaning alone.
            notes = over_best(self._asked)
            first = {
                p.id: (self._lexical.get(p.id, 0.0) + 2 * self._coverage.get(p.id, 0.0))
                + 2 * found.cosine.get(p.id, 0.0) + notes[p.note_id] - 2 * (p.section < 0)
                for p in self._passages
            }  # fmt: skip
            best = nsmallest(FEEDBACK_PASSAGES, self._ids, key=lambda i: -first[i])
            vectors = [v for v in finder.search.vectors(space, best) if any(v)]
            middle = mean_direction(vectors) if vectors else found.vector
            cosine = finder.search.cosines(space, found.passages, mean_direction([found.vector, middle]))
        stems = set().union(*(self._counts[n] for n in self._best_notes(self._asked, COMPARED_NOTES)))
        # Stems that are not among the frequent ones are rare: how many candidate notes hold them is near enough.
        counts = {s: count for s, count in Counter(chain.from_iterable(self._counts.values())).items() if s in stems}
        frequent, total = finder.lexicon.frequent, found.totals.notes
        counts |= {stem: frequent[stem].notes for stem in counts.keys() & frequent.keys()}
        rarity = {count: inverse_frequency(total, count) for count in set(counts.values())}
        return {
            stem: rarity[count]
            for stem, count in counts.items()
            if 1 < count <= total // FEEDBACK_SPREAD
            and len(stem) > 2
            and stem not in finder.lexicon.idle
            and not stem.isdigit()
        }, cosine

    def score(self, rarity: Mapping[str, float], feedback: Mapping[int, float]) -> dict[int, float]:
        """The score of every passage, best first; ties keep the candidates' order, so that answers repeat.

        `rarity` is the inverse document frequency of those stems of the best notes that tell something, `feedback` each
        candidate's cosine to where the best passages of the first round point (see `learn`).
        """
        found = self._found
        if found.only_time and not found.query.window:
            self._features = {"date": _column(found.days, self._ids)}
        elif found.query.request.mode == "semantic" and found.cosine:
            self._features = {"semantic": _column(found.cosine, self._ids)}
        else:
            self._features = self._columns(rarity, feedback)
        totals = [0.0] * len(self._ids)
        for name, column in self._features.items():
            totals = list(map(add, totals, map(WEIGHTS[name].__mul__, column)))  # half the time of a loop
        scores = dict(zip(self._ids, totals, strict=True))
        # A heading above the best passage of its section changes places with it: the heading holds the word, what
        # stands below it answers.
        headings = {(p.note_id, -p.section): p.id for p in sorted(self._passages) if p.section < 0}
        best: dict[int, int] = {}
        for passage, written in zip(self._passages, self._shapes, strict=True):
            heading = headings.get((passage.note_id, passage.section))
            if heading is not None and not written.only_points:
                best[heading] = max(best.get(heading, passage.id), passage.id, key=lambda i: (scores[i], -i))
        for heading, below in best.items():
            if (lent := scores[heading] - scores[below]) > 0:
                self._lent_to |= {below: lent, heading: -lent}
        lifted = {i: score + self._lent_to.get(i, 0.0) for i, score in scores.items()}
        return dict(sorted(lifted.items(), key=lambda pair: -pair[1]))

    def features(self, passage_id: int) -> dict[str, float]:
        """The features of one candidate that are not 0 for all, after `score`."""
        row = self._ids.index(passage_id)
        return {name: float(column[row]) for name, column in self._features.items()}

    def explain(self, passage_id: int) -> dict[str, Any]:
        """Why a passage has its score, after `score`: raw score and rank in each lane, and what each feature added."""
        found = self._found
        if passage_id not in found.passages:  # it took the place of one that a lane found
            return {"lanes": {}, "note_share": 0.0, "boosts": {}}
        added = {name: WEIGHTS[name] * value for name, value in self.features(passage_id).items()}
        added["section"] = self._lent_to.get(passage_id, 0.0)  # a heading changed places with what stands below it
        lanes = {"lexical": found.lexical, "semantic": found.cosine, "entity": found.about, "temporal": found.days}
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
        """By feature, its value for every passage in order; without those that are 0 for all.

        A column at a time: at some 350 candidates that is a quarter of the work of one candidate after another.
        """
        found, ids, query, passages = self._found, self._ids, self._found.query, self._passages
        title = _column(found.title, self._notes)
        # A word of the question may stand nowhere but in what is repeated.
        repeated = {i: REPEATED_LOSS * notes for i, notes in found.repeats.items()}
        for (_, i), telling in self._telling.items():
            repeated[i] = min(repeated[i], 1 - telling)
        best_covered = max(self._coverage.values(), default=0.0) or 1.0
        columns: dict[str, Sequence[float]] = {
            "fact": [p.kind in FACTS for p in passages] if not found.only_time else (),
            "speaker": self._speaks(),
            "time": [tells_time(p.text) for p in passages] if query.asks_when else (),
            "date": _column(found.days, ids),
            "entity": _column(found.about, ids),
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
        """The features of a passage itself and those of its note: the more the note is one thought, the more it counts.

        `map` and `zip` go as far as the shorter: where nothing is known of a feature, there is no column.
        """
        found, ids, notes = self._found, self._ids, self._notes
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

    def _own(self, values: Sequence[float]) -> Sequence[float]:
        """Each value less what its note decides, and in a short note less how far it stays behind the best there.

        The best passage of a short note leaves nearly all to the note; the others must not all come level with it.
        """
        placed = zip(self._passages, values, strict=False)
        standing = ((p.note_id, value) for p, value in placed if 0 <= p.section < ASIDE)
        best = dict(sorted(standing, key=itemgetter(1)))
        rows = zip(self._notes, values, self._shares, strict=False)
        return [(1 - s) * value - CONTRAST * s * s * max(best.get(n, value) - value, 0.0) for n, value, s in rows]

    def _wording(self) -> dict[str, Sequence[float]]:
        """What the question's words, as they were written, say of passages that the lexical lane found; who asks."""
        query = self._found.query
        form, phrase, quotes = ([0.0] * len(self._ids) for _ in range(3))
        for row, passage in enumerate(self._passages):
            if passage.id not in self._lexical:
                continue
            folded = passage.text.casefold()
            held = sum([word in folded for word in query.words])
            form[row] = self._short * held / max(len(query.words), 1)
            phrase[row] = longest_run(query.spoken, folded)
            # What quotes the question asks it; what answers stands elsewhere. Code that does shows how to ask it.
            quotes[row] = bool(query.whole) and held == len(query.words) and f" {query.whole} " in _written(folded)
        rows = list(zip(self._passages, quotes, self._shapes, strict=True))
        asks = {(p.id + 1, p.note_id, p.section): self._lexical.get(p.id, 0.0) for p, _, s in rows if s.asks}
        return {
            "form": form,
            "phrase": phrase,
            "reply": [asks.get((p.id, p.note_id, p.section), 0.0) for p in self._passages],
            "question": [quoted or s.ends_asking for _, quoted, s in rows],
            "aside": [
                (p.section == ASIDE and p.id not in self._properties) or s.only_points or (q and s.is_code)
                for p, q, s in rows
            ],
        }

    def _speaks(self) -> Sequence[float]:
        """1 for what the one speaker says whom the question names; with two of them named, nothing."""
        asked = {*self._found.query.words, *(name.casefold() for name in self._found.query.names)}
        # Nobody speaks on a page that begins with a name.
        said = ["" if p.kind == PAGE else s.speaker for s, p in zip(self._shapes, self._passages, strict=True)]
        named = {name: asked.intersection(name.split()) for name in said}
        words = {word for name in named.values() for word in name}
        is_one = len(words) == 1 or sum(map(bool, named.values())) == 1
        return [bool(named[name]) for name in said] if is_one else ()

    def _covered(self) -> Mapping[int, float]:
        """The share of the question's terms, by rarity, in each passage and, less, around it in its section."""
        found, total = self._found, sum(self._found.rarity.values()) or 1.0
        covered: dict[int, float] = defaultdict(float)
        around: dict[int, list[tuple[int, float]]] = {}
        for term, rarity in found.rarity.items():
            best = dict.fromkeys(found.above.get(term, ()), HEADING_SHARE)
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


def _written(text: str) -> str:
    return f" {' '.join(_PLAIN.findall(text))} "


def shape(text: str) -> Shape:
    """How a text is written."""
    is_code = _FENCE.match(text) is not None
    asks = "?" in text and not is_code
    only_points = all(map(_POINTER.fullmatch, text.split("\n")))
    return Shape(_LIST_ITEM.match(text) is not None, speaker(text), asks, text.endswith("?"), is_code, only_points)


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
    ages: Mapping[int, float] = {}
    """What that takes off their scores."""
    successors: Mapping[int, Successor] = {}
    behind: Mapping[int, int] = {}
    """Which of them come right behind which, since they were superseded."""
    settling: frozenset[int] = frozenset()
    """What stands where it does for what others say, newer and leading facts: its own words need not be telling."""
    below_threshold: int = 0
    notes: Mapping[int, NoteInfo] = {}
    origins: Mapping[int, str] = {}
    """Who those are from that no person wrote; this and `notes` are looked up once the order is settled."""

    def explain(self, passage_id: int) -> dict[str, Any]:
        """What made its score, what is known of its age, and how many it took the place of."""
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
    """Score the candidates of a question by the preset that was asked for, over the index they were found in."""
    request, passages = found.query.request, found.passages
    today = min(request.today, request.filters.as_of or request.today)
    followed = superseded(finder.store, finder.names, passages, today, request.filters)
    # In a time that is asked for, the older holds.
    behind = {} if found.days else {o: n.id for o, n in followed.items() if not _is_wanted(found, finder, o, n)}
    ranking = Ranking(found, passages, successors=followed, behind=behind)
    if request.preset != "tuned":
        return by_preset(ranking._replace(lives=finder.lives(passages, today)))
    scorer = Scorer(found)
    scores = scorer.score(*scorer.learn(finder))
    lives = finder.lives({i: passages[i] for i in list(scores)[: max(AGED_PASSAGES, request.wanted)]}, today)
    # Who asks for a time asks for what is old, or says himself that the newest is wanted.
    ages = {} if found.days or found.order else {i: decay.SWAY * (life.multiplier - 1) for i, life in lives.items()}
    aged = {i: score + ages.get(i, 0.0) for i, score in scores.items()}
    brought = finder.search.passages({new for old, new in behind.items() if new not in aged and old in lives})
    least = min(aged.values(), default=0.0)
    passages = {**passages, **brought}
    scores = replaced_claims.reordered(aged | dict.fromkeys(brought, least), behind)
    settling = frozenset(behind.values())
    if request.mode != "semantic":
        places = dict.fromkeys(
            _best_of_called(found, scores), math.nextafter(max(scores.values(), default=0.0), -math.inf)
        )
        scores = _raised(scores, places)
        settling = settling.union(places)
    if ages and request.mode != "semantic":
        leading = leading_facts([passages[i] for i in list(scores)[:BEST_LINES]], finder, today)
        places = {fact.id: math.nextafter(scores[line], -math.inf) for fact, line in leading.items()}
        scores = _raised(scores, places)
        settling = settling.union(places)
        passages |= {fact.id: fact for fact in leading}
    return ranking._replace(
        passages=passages, scores=scores, steps=scorer.explain, lives=lives, ages=ages, settling=settling
    )


def _raised(scores: Mapping[int, float], places: Mapping[int, float]) -> dict[int, float]:
    """The scores, best first, with at least those of `places`."""
    raised = {i: max(score, scores.get(i, -math.inf)) for i, score in places.items()}
    return dict(sorted({**scores, **raised}.items(), key=lambda pair: -pair[1]))


def _best_of_called(found: Candidates, scores: Mapping[int, float]) -> list[int]:
    """The best passage that says something of each note whose name the question holds."""
    best: dict[int, int] = {}
    for i in scores:
        passage = found.passages.get(i)
        if passage and passage.note_id in found.called and _says_something(passage):
            best.setdefault(passage.note_id, i)
    return list(best.values())


def _says_something(passage: Candidate) -> bool:
    if passage.section == ASIDE:
        return says_property(passage.text)
    return passage.section >= 0 and passage.kind not in (PAGE, ATTACHMENT) and not shape(passage.text).only_points


def _is_wanted(found: Candidates, finder: Finder, old: int, new: Successor) -> bool:
    """Whether a question asks for what the older of two says and the newer does not: "Malmö" wants that line.

    Words for what is asked do not count: "where does he live" is answered by "moved to Lund".
    """
    stems = finder.lexicon.stems
    lost = [term for term, hits in found.hits.items() if old in hits and new.id not in hits]
    said = set(stems(new.instead_of)) if lost else set()
    return any(said.intersection(stems(term.strip('"*'))) for term in lost)


def by_preset(ranking: Ranking, judged: Mapping[int, float] | None = None) -> Ranking:
    """The order of another preset; `classic` spreads its results, so its places are kept rather than its scores.

    `judged` is for `classic`: the scores of a second model, which count before age.
    """
    from vault_memory.search import presets

    preset = ranking.candidates.query.request.preset
    steps, dropped = presets.score(ranking.candidates, ranking.lives, judged)
    places = {i: -float(place) for place, i in enumerate(steps)}
    return ranking._replace(
        scores={i: steps[i]["score"] for i in replaced_claims.reordered(places, ranking.behind)},
        steps=lambda i: {"preset": preset, "steps": {step: round(x, 4) for step, x in steps[i].items()}},
        below_threshold=dropped,
    )
