"""Finds the candidate passages for a question and collects what scoring needs to know about each.

Candidates come from lanes, one per way of finding: by words (FTS5), by meaning (vectors), by entity, by time.
"""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import IndexUnusableError
from vault_memory.markdown.note import ASIDE, says_property
from vault_memory.search.decay import Life, Trace, importance_of, life
from vault_memory.search.names import Names
from vault_memory.search.query import Query
from vault_memory.store import journal, note_queries
from vault_memory.store.embedding_rows import Space, all_spaces, load_vector_functions
from vault_memory.store.search_queries import Lexicon, Search, TermCounts
from vault_memory.store.view import FACTS, Candidate, NoteInfo, State, Totals, View
from vault_memory.text.calendar_days import Span, plus
from vault_memory.text.terms import match_terms, quoted

if TYPE_CHECKING:
    from vault_memory.embedding.configured_embedder import RemoteEmbedder
    from vault_memory.text.date_finder import Window

LEXICAL_POOL, SEMANTIC_POOL, OTHER_POOL = 150, 50, 200
"""Candidates per lane (words, meaning, the others), or as many as the request wants if more; raising them changed
nothing."""

REACH = (1.0, 0.6, 0.4, 0.3)
"""Weight of a term that occurs in the passage itself, or one, two or three passages away in its section."""

SEEDS = 30
"""How many of each lane's best hits also bring in their neighbouring passages."""

RESCORE = 20
"""Binary-code hits kept per wanted semantic result for rescoring with int8; recall of the exact top ten is .97 or
more."""

GOOD_TITLE, NAMED_SCORE, FILE_SCORE, NAMESAKES = 0.8, 7.9, 8.0, 20
"""A note whose title matches this well, relative to the best, contributes passages even if its lines lack the words
(+.065 reciprocal rank when titles are asked for). Of the best NAMESAKES, one whose title contains every word of the
question scores NAMED_SCORE, less for further words (+.05); one whose file is named scores FILE_SCORE."""

OPENING, PAGE_SHARE = 3, 2.4
"""How many passages count as the opening of an entity's page, and their weight, where a fact that mentions the entity
has 1: worth .02 reciprocal rank when titles are asked for."""

TOGETHER = 1.5
"""Scales the mean cosine of a note's passages up to the note's own: their sum is nearer the question than each is."""

MOST_ALIKE = 5
"""How many passages with identical text, repeated across notes, are kept as candidates: the newest or oldest."""

TOO_COMMON = 2
"""A term in more than 1/TOO_COMMON of the passages says nothing and is not searched, unless there is no other."""

MAX_POSTINGS, COUNTED_POSTINGS = 20_000, 5_000
"""Posting-list entries FTS5 may read for a question (0.7 µs each), rarest terms first and at least one list; and the
number up to which matches beyond the pool are counted exactly rather than by a lower bound."""

NAMING_POOL, HALF_A_YEAR = 50, 183
"""The most passages that name the day or month in words, and, in days, how far from the window such a passage may
have been written to mean the same year."""

NAMING_FIT, LAST_FIT, OUTSIDE_FIT = 0.7, 0.4, 0.2
"""Date fit (0..1) of a passage that names the day in question, of the last passage in the order (the first has 1), and
at most of one outside the window."""


class Candidates(NamedTuple):
    """All that was found for one question, keyed by passage id unless noted otherwise."""

    query: Query
    mode: str = "hybrid"
    only_time: bool = False
    """Whether only a time, or a listing, is asked for; `date_fit` then encodes the order of the passages."""
    degraded: Sequence[tuple[str, str]] = ()
    """(what, why) of each step that did not run or found nothing."""
    lexical: Mapping[int, float] = {}
    """BM25 scores of the lexical lane."""
    semantic: Sequence[int] = ()
    entity: Mapping[int, float] = {}
    """Weights of passages that mention an entity of the question or are on its page."""
    temporal: Sequence[int] = ()
    title: Mapping[int, float] = {}
    """By note id: how well its title, aliases, path and tags match, 0..1; more if the question names the note."""
    named_notes: Mapping[int, float] = {}
    """The notes whose whole title, file name or alias is in the question → the share of its words that this takes."""
    entity_slugs: Sequence[str] = ()
    """The entities that the question names."""
    name_terms: Collection[str] = ()
    """The terms that only name those entities."""
    terms: Mapping[str, TermCounts] = {}
    """The question's informative terms, with how often each occurs."""
    words: Mapping[str, int] = {}
    """All of its terms that occur anywhere, with the number of passages that contain each."""
    space: Space | None = None
    vector: bytes = b""
    """The question's vector in `space`, that of one embedder: vectors of different models are not comparable."""
    beyond_pool: int = 0
    """How many matching passages are not candidates."""
    totals: Totals = Totals(0, 0, 0)

    passages: Mapping[int, Candidate] = {}
    notes: Mapping[int, NoteInfo] = {}
    note_cosine: Mapping[int, float] = {}
    """Both by note id."""
    rarity: Mapping[str, float] = {}
    """Each term's inverse document frequency over passages."""
    note_rarity: Mapping[str, float] = {}
    """The same over notes: what a note is about recurs in it."""
    stems: Mapping[int, Sequence[str]] = {}
    """The stems of each candidate, in order."""
    hits: Mapping[str, Mapping[int, int]] = {}
    """By term: its count in each candidate that contains it."""
    cosine: Mapping[int, float] = {}
    date_fit: Mapping[int, float] = {}
    """How well its day fits the question's time window, 0..1."""
    heading_hits: Mapping[str, Collection[int]] = {}
    """By term: the candidates whose note title or section heading contains it."""
    repeats: Mapping[int, float] = {}
    """For text repeated verbatim across notes, how little it says: up to 1 if it is in all of them."""
    order: Mapping[int, float] = {}
    """1 for the passage the question wants first (latest or earliest), down to 0."""


_DISTANCES = [(distance, REACH[abs(distance)]) for distance in range(1 - len(REACH), len(REACH))]


def neighbours(hit: int, passages: Mapping[int, Candidate]) -> list[tuple[int, float]]:
    """Return the candidates near one in its section, itself included, each with the weight of a term in it there."""
    here = passages[hit]
    note, section = here.note_id, here.section
    return [
        (near.id, reach)
        for distance, reach in _DISTANCES
        if (near := passages.get(hit + distance)) and near.note_id == note and near.section == section
    ]


class Finder:
    """Runs the lanes over one view of an open index and caches what it learns about it.

    After a change of the index only the stems of texts are still valid, which take 5 ms of a question to find again.
    """

    def __init__(self, view: View, remote: "RemoteEmbedder | None" = None) -> None:
        self.view, self._remote = view, remote
        self.search, self.lexicon = Search(view), Lexicon(view)
        self._can_compare = False
        self._state: State | None = None
        self.refresh()

    def refresh(self) -> None:
        """Drop what was cached if the index has changed, by this connection or another."""
        state = self.view.state()
        if state != self._state:
            self._state, self.totals, self.names = state, self.view.totals(), Names(self.view)
            self.lexicon.read_frequent()

    def find(self, query: Query) -> Candidates:
        """Find candidates for a question by every lane its mode allows, with the features scoring needs."""
        request, degraded = query.request, list[tuple[str, str]]()
        with_words, with_meaning = request.mode != "semantic", request.mode != "lexical"

        # The question as the index knows it: compounds, the year meant, entities, and the terms worth a search.
        query = self._compounded(query) if with_words else query
        query, temporal, beyond = self._in_time(query)
        known = note_queries.known_slugs(self.view, query.entity_slugs)
        entities = list(dict.fromkeys(map(self.names.canonical, known)))
        counts = {phrase: self.lexicon.count(phrase) for phrase in query.phrases}
        present = {phrase: held for phrase, held in counts.items() if held.passages}
        rare = {p: held for p, held in present.items() if held.passages * TOO_COMMON <= self.totals.passages}
        terms = rare or present

        # The notes it may be about, by their names.
        named = self.names.named_in(query.title_slugs, query.words) if with_words else {}
        title = self._titles(query, named)
        opening = self.search.opening([note for note, score in title.items() if score >= GOOD_TITLE], SEMANTIC_POOL)
        openings = self.search.passages(opening)  # with a note's properties only if they say something
        titled = [i for i in opening if openings[i].section < ASIDE or says_property(openings[i].text)]
        in_titles = [p for p, held in counts.items() if title and not held.passages and self.search.titles((p,), 1)]
        words = {p: held.passages for p, held in present.items()} | dict.fromkeys(in_titles, 1)

        # The lanes. A question of nothing but a time ("what happened around Nov 7") has no meaning to compare.
        is_unmet = with_words and not (terms or title or entities)
        is_of_time = query.window is not None and (not query.phrases or (is_unmet and bool(temporal)))
        only_time = request.is_listing or is_of_time
        space, vector = self._embedded(query.text, degraded) if with_meaning and not only_time else (None, b"")
        pool = max(SEMANTIC_POOL, request.wanted)
        semantic = [i for i, _ in self.search.semantic(space, vector, pool * RESCORE, pool)] if space else []
        entity, name_terms = self._entity_lane(entities, present) if entities else ({}, frozenset[str]())
        lexical = self._lexical(query, terms) if with_words else {}

        if query.words and with_words and not (lexical or titled):
            is_filtered = any(request.filters._replace(scopes=()))  # scopes are never revealed
            where = "nothing that the filters let through" if is_filtered else "no note"
            degraded.append(("lexical", f"{where} contains any of these words"))
        if query.unread:
            degraded.append(("temporal", query.unread))
        if query.window and not temporal:
            degraded.append(("temporal", f"no notes are dated {_dated(query.window.span)}"))
        mode = "hybrid" if request.mode == "auto" else request.mode
        return self._with_features(Candidates(
            query, mode if space or only_time else "lexical", only_time, degraded, lexical=lexical, semantic=semantic,
            entity=entity, temporal=temporal, title=title, named_notes=named, entity_slugs=entities,
            name_terms=name_terms, terms=terms, words=words if with_words else {}, space=space, vector=vector,
            beyond_pool=beyond if only_time else 0, totals=self.totals,
        ), titled)  # fmt: skip

    def _compounded(self, query: Query) -> Query:
        """Replace each word that occurs nowhere by the indexed compounds that contain it."""
        parts: dict[str, list[str]] = {}
        for word in query.words:
            phrases = match_terms(word)
            if len(phrases) != 1 or self.lexicon.count(phrases[0]).passages or self.search.titles(phrases, 1):
                continue
            if found := self.lexicon.compounds(phrases[0].strip('"')):
                parts[word] = found
        if not parts:
            return query
        said = [part for word in query.words for part in parts.get(word, [word])]
        gone = {phrase for word in parts for phrase in match_terms(word)}
        longer = [quoted(part) for found in parts.values() for part in found]
        phrases = [phrase for phrase in query.phrases if phrase.casefold() not in gone] + longer
        return query._replace(words=tuple(dict.fromkeys(said)), phrases=tuple(dict.fromkeys(phrases)))

    # --- words -------------------------------------------------------------------------------------------------------

    def _lexical(self, query: Query, terms: Mapping[str, TermCounts]) -> dict[int, float]:
        pool = max(LEXICAL_POOL, query.request.wanted)
        if not terms:
            # A question of punctuation alone has no terms; only a substring scan can find it.
            is_mute = not (query.phrases or query.window) and query.text.strip()
            return dict.fromkeys(self.search.substring(query.text.strip(), pool), 1.0) if is_mute else {}
        limit, wanted = 0, pool
        while limit < wanted:  # one line repeated every day must not fill the pool
            limit = wanted
            found = dict(self.search.lexical(_searched(terms), limit))
            passages = self.search.passages(found)
            repeats = self.search.repeats(passages.values())
            notes = self.search.notes({passages[i].note_id for i in repeats})
            alike: dict[str, list[int]] = defaultdict(list)
            days = {i: notes[passages[i].note_id].day or "" for i in repeats}
            for i in sorted(repeats, key=days.__getitem__, reverse=not query.wants_earliest):
                alike[passages[i].text].append(i)
            crowds = [ids for ids in alike.values() if len(ids) > MOST_ALIKE]
            wanted = pool + sum(repeats[ids[0]] for ids in crowds)
        dropped = {i for ids in crowds for i in ids[MOST_ALIKE:]}
        return dict([pair for pair in found.items() if pair[0] not in dropped][:pool])

    def _beyond(self, terms: Mapping[str, TermCounts], hits: Mapping[str, Mapping[int, int]]) -> int:
        """Return how many passages with a searched term are not candidates: exact, or a lower bound."""
        counts = {phrase: terms[phrase].passages for phrase in _searched(terms)}
        if self.search.is_filtered or sum(counts.values()) <= COUNTED_POSTINGS:
            return self.search.matching(" OR ".join(counts)) - len(set().union(*(hits.get(p, ()) for p in counts)))
        return max(max(count - len(hits.get(phrase, ())) for phrase, count in counts.items()), 1)

    def find_hits(self, phrases: Sequence[str], stems: Mapping[int, Sequence[str]]) -> dict[str, dict[int, int]]:
        """Count each phrase in each candidate, using FTS5's own tokenizer."""
        hits: dict[str, dict[int, int]] = {phrase: {} for phrase in phrases}
        single: dict[str, list[str]] = defaultdict(list)
        for phrase in phrases:
            wanted = self.lexicon.stems(phrase.strip('"*'))
            width, is_prefix = len(wanted), phrase.endswith("*")
            if width == 1 and not is_prefix:
                single[wanted[0]].append(phrase)
                continue
            for passage_id, found in stems.items() if wanted else ():
                if is_prefix:
                    count = sum(stem.startswith(wanted[0]) for stem in found)
                else:
                    count = sum(list(found[i : i + width]) == wanted for i in range(len(found) - width + 1))
                if count:
                    hits[phrase][passage_id] = count
        for passage_id, found in stems.items() if single else ():
            for stem in single.keys() & found:
                for phrase in single[stem]:
                    hits[phrase][passage_id] = found.count(stem)
        return hits

    def _titles(self, query: Query, named: Collection[int]) -> dict[int, float]:
        """Return how well each note's title, names, path and tags match; a file that is named scores highest."""
        found = self.search.titles(query.phrases, OTHER_POOL) if query.phrases else []
        best = max((score for _, score in found), default=0.0) or 1.0
        titles = {note: score / best for note, score in found} | dict.fromkeys(named, 1.0)
        phrases = query.title_phrases if query.words else ()
        namesakes = self.search.titles(phrases, NAMESAKES, with_all=True) if phrases else ()
        asked = {stem for phrase in phrases for stem in self.lexicon.stems(phrase.strip('"*'))}
        for note in self.search.notes([note for note, _ in namesakes]).values():
            forms = [note.title, *(form for form, _ in note_queries.names_of_note(self.view, note.path))]
            names = [{*self.lexicon.stems(form)} - self.lexicon.stop_stems for form in forms]
            # A file name such as CRDT names the note even if its title spells the term out.
            words = min((len(name) for name in names if asked <= name), default=len(names[0]))
            share = min(len(phrases) / max(words, 1), 1.0)
            titles[note.id] = max(titles.get(note.id, 0.0), NAMED_SCORE * share)
        files = self.search.files(query.files) if query.files else ()
        return titles | dict.fromkeys(files, FILE_SCORE)

    # --- meaning and entities ----------------------------------------------------------------------------------------

    def _embedded(self, text: str, degraded: list[tuple[str, str]]) -> tuple[Space | None, bytes]:
        """Embed a question with the configured embedder if it can be used, else with the builtin one.

        What could not be used is appended to `degraded` with the reason.
        """
        space = all_spaces(self.view).get(builtin().id)
        if not space or not text.strip():
            return None, b""
        try:
            if not self._can_compare:
                load_vector_functions(self.view)
                self._can_compare = True
        except IndexUnusableError as error:
            degraded.append(("semantic", f"sqlite-vec cannot be loaded ({error}); searched by words only"))
            return None, b""
        if self._remote:
            from vault_memory.embedding.configured_embedder import configured_vector

            if found := configured_vector(self.view, self._remote, text, degraded):
                return found
        (vector,) = builtin().embed([text])
        return (space, vector) if any(vector) else (None, b"")

    def cosines(self, text: str, found: Candidates) -> Mapping[int, float]:
        """Return the cosine of each candidate with another text, in the builtin space; empty without vectors."""
        space = all_spaces(self.view).get(builtin().id) if found.space else None
        (vector,) = builtin().embed([text])
        return self.search.cosines(space, found.passages, vector) if space and any(vector) else {}

    def _entity_lane(self, entities: Sequence[str], terms: Collection[str]) -> tuple[dict[int, float], frozenset[str]]:
        """Return passages on these entities' pages and facts that mention them; and the terms that only name them."""
        slugs = [slug for name in entities for slug in self.names.slugs(name)]
        forms = [*entities, *(form for slug in entities for form in self.names.forms(slug))]
        named = {word for form in forms for word in form.casefold().replace("-", " ").split()}
        on_pages = self.search.on_pages(slugs, OTHER_POOL // 4)
        weights = dict.fromkeys((*on_pages, *self.search.mentioning(slugs, OTHER_POOL)), 1.0)
        name_terms = frozenset(phrase for phrase in terms if phrase.strip('"*').casefold() in named)
        return weights | dict.fromkeys(on_pages[:OPENING], PAGE_SHARE), name_terms

    # --- what the lanes found ----------------------------------------------------------------------------------------

    def _passages(self, found: Candidates, titled: Sequence[int]) -> dict[int, Candidate]:
        """Load the passages found and the neighbours of each lane's best: the answer is often next to the match.

        A heading answers nothing by itself and is dropped unless it matches the question's words; a heading among the
        best still brings in the text below it.
        """
        if found.only_time:  # neighbours were found themselves, or are counted as beyond the pool
            passages = self.search.passages({*found.entity, *found.temporal})
            return {i: passage for i, passage in passages.items() if passage.section >= 0}
        lanes = (list(found.lexical), found.semantic, list(found.entity), found.temporal, titled)
        ids = set().union(*lanes)
        best = {i for lane in lanes for i in lane[:SEEDS]}
        reach = range(1 - len(REACH), len(REACH))
        loaded = self.search.passages({i + distance for i in best for distance in reach} | ids)
        found_ids = [i for i in loaded if i in ids and (loaded[i].section >= 0 or i in found.lexical)]
        around = {(i + distance, loaded[i].note_id, abs(loaded[i].section))
                  for i in found_ids if i in best for distance in reach}  # fmt: skip
        kept = {*found_ids, *(i for i, p in loaded.items() if (i, p.note_id, p.section) in around)}
        return {i: passage for i, passage in loaded.items() if i in kept}

    def _with_features(self, found: Candidates, titled: Sequence[int]) -> Candidates:
        found = found._replace(passages=self._passages(found, titled))
        query, passages, space = found.query, found.passages, found.space
        note_ids, total = dict.fromkeys(p.note_id for p in passages.values()), found.totals.notes
        unordered = self.search.notes(note_ids)
        notes = {note: unordered[note] for note in note_ids}  # in the order of the passages, which decides ties
        stems = {i: self.lexicon.of_passage(p.text, p.kind) for i, p in passages.items()}
        terms = {} if query.request.mode == "semantic" else found.terms
        hits = self.find_hits(list(terms), stems)
        is_full = not found.only_time and len(found.lexical) >= max(LEXICAL_POOL, query.request.wanted)
        repeats = self.search.repeats(passages.values())
        cosine = self.search.cosines(space, passages, found.vector) if space else {}
        of_note: dict[int, list[float]] = defaultdict(list)
        for i, own in cosine.items():
            of_note[passages[i].note_id].append(own)
        held_by = {p: min(held.notes, total) for p, held in terms.items()}
        return found._replace(
            beyond_pool=self._beyond(terms, hits) if terms and is_full else found.beyond_pool,
            cosine=cosine,
            note_cosine={note: TOGETHER * sum(own) / len(own) for note, own in of_note.items()},
            notes=notes,
            rarity={p: inverse_frequency(found.totals.passages, held.passages) for p, held in terms.items()},
            # Above 0 even for a term in every note: a vault may have only a few.
            note_rarity={p: math.log(1 + (total - n + 0.5) / (n + 0.5)) for p, n in held_by.items()},
            stems=stems,
            hits=hits,
            heading_hits=self._heading_hits(passages, notes, terms),
            repeats={i: min(math.log(held) / math.log(max(total, 2)), 1.0) for i, held in repeats.items()},
            date_fit=_date_fit(found, notes),
            order=_ordinals(found, notes) if query.wants_latest or query.wants_earliest else {},
        )

    def _heading_hits(
        self, passages: Mapping[int, Candidate], notes: Mapping[int, NoteInfo], terms: Collection[str]
    ) -> dict[str, list[int]]:
        wanted = {term: self.lexicon.stems(term.strip('"')) for term in terms if not term.endswith("*")}
        below: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, passage in passages.items():
            if 0 <= passage.section < ASIDE:
                below[passage.note_id, passage.section].append(i)
        hits: dict[str, list[int]] = defaultdict(list)
        headings = {note: json.loads(notes[note].headings) for note, _ in below}
        for (note, section), ids in below.items():
            heading = headings[note][section - 1][2] if 0 < section <= len(headings[note]) else ""
            stems = {*self.lexicon.of_passage(notes[note].title, "note"), *self.lexicon.of_passage(heading, "note")}
            for term, parts in wanted.items():
                if parts and stems.issuperset(parts):
                    hits[term] += ids
        return hits

    # --- time --------------------------------------------------------------------------------------------------------

    def _in_time(self, query: Query) -> tuple[Query, Sequence[int], int]:
        """Return the question, read for the year known to the index; the passages in its window; and how many more.

        A listing wants the newest; a question without a time none.
        """
        pool, window = max(OTHER_POOL, query.request.wanted), query.window
        if query.request.is_listing:
            newest, total = self.search.newest(pool)
            return query, newest, total - len(newest)
        if not window:
            return query, (), 0
        passages, beyond, is_known = self._within(query, window, pool)
        for other in query.others() if not is_known else ():
            found = self._within(other, other.window or window, pool)
            if found[-1]:
                query, (passages, beyond, _) = other, found
                break
        # If nothing is known of that time, search for its words instead.
        if not passages and any(self.lexicon.count(phrase).passages for phrase in query.fallback_phrases):
            query = query._replace(phrases=(*query.phrases, *query.fallback_phrases))
        return query, passages, beyond

    def _within(self, query: Query, window: "Window", pool: int) -> tuple[list[int], int, bool]:
        """Return the window's passages, most relevant to it first; how many more there are; and whether anything is
        known of that time."""
        order, total = self.search.within(window.span, window.middle, pool)
        naming: dict[int, date | None] = {}
        if query.date_phrases:
            # Passages that name the day or month, with their own day: without a year, only those near.
            named = dict(self.search.lexical(query.date_phrases, NAMING_POOL))
            passages = self.search.passages(named)  # equal scores in the same order in every index
            days = _days(self.search.notes({p.note_id for p in passages.values()}))
            for i in sorted(passages, key=lambda i: -named[i]):
                day = days[passages[i].note_id]
                if not day or abs((day - window.span.start).days) <= HALF_A_YEAR:
                    naming[i] = day
        # An undated note that names a day ("rent is due on the 7th of November") may mean any year, or the future; it
        # is no evidence that anything is known of a past day.
        is_ahead = window.span.end > query.request.today
        is_known = bool(order) or any(is_ahead or day for day in naming.values())
        return order + [i for i in naming if i not in set(order)], total - len(order), is_known


def _days(notes: Mapping[int, NoteInfo]) -> dict[int, date | None]:
    return {i: date.fromisoformat(note.day) if note.day else None for i, note in notes.items()}


def _date_fit(found: Candidates, notes: Mapping[int, NoteInfo]) -> dict[int, float]:
    """Return how well each passage's day fits the window: 1 inside, outside .5 falling to 0 a window's length away.

    "Around" a day prefers the day itself to the edges of its window. If nothing but the time is asked, the temporal
    lane's order decides, from 1 for the first down to LAST_FIT for the last, and what lies outside comes last.
    """
    step = (1 - LAST_FIT) / max(len(found.temporal) - 1, 1)
    order = {passage: 1 - step * at for at, passage in enumerate(found.temporal)}
    window = found.query.window
    if not window:
        return order
    start, end = window.span
    soft = timedelta(days=max((end - start).days, 3))
    if window.middle:
        start = end = window.middle
    fits: dict[int, float] = {}
    days = _days(notes)
    for passage in found.passages.values():
        day, since, until = days[passage.note_id], passage.occurred_from, passage.occurred_to
        spans = [(day, day)] if day else []
        spans += [(date.fromisoformat(since), date.fromisoformat(until))] if since and until else []
        fits[passage.id] = max((_fit(span, start, end, soft) for span in spans), default=0.0)
    if found.query.date_phrases:
        fits |= {i: max(fits[i], NAMING_FIT) for i in found.temporal if i in fits}
    return {i: OUTSIDE_FIT * fit for i, fit in fits.items()} | order if found.only_time else fits


def _ordinals(found: Candidates, notes: Mapping[int, NoteInfo]) -> dict[int, float]:
    """For "last time" and "first time", score lexical hits by date: 1 for the newest (oldest), down to 0."""
    passages = found.passages
    days = {i: day for i in found.lexical if i in passages and (day := notes[passages[i].note_id].day)}
    order = sorted(set(days.values()), reverse=found.query.wants_earliest)
    place = {day: number / len(order) for number, day in enumerate(order, 1)}
    return {i: place[day] for i, day in days.items()}


def _fit(told: tuple[date, date], start: date, end: date, soft: timedelta) -> float:
    first, last = told
    if first <= end and last >= start:
        return 1.0
    away = start - last if last < start else first - end
    return max(0.0, 0.5 * (1 - away / soft))


def _searched(terms: Mapping[str, TermCounts]) -> list[str]:
    """Return the rarest phrases whose postings fit in MAX_POSTINGS; the others still count in scoring."""
    rarest = sorted(terms, key=lambda phrase: (terms[phrase].passages, phrase))
    walked = accumulate(terms[phrase].passages for phrase in rarest)
    walks = zip(rarest, walked, strict=True)
    return [phrase for n, (phrase, total) in enumerate(walks) if not n or total <= MAX_POSTINGS]


def _dated(span: Span) -> str:
    """`2025`, `2025-11`, `2025-11-27` or `2025-11-27 to 2025-12-02`."""
    start, end = span.start.isoformat(), span.end.isoformat()
    if (start[4:], end) == ("-01-01", f"{start[:4]}-12-31"):
        return start[:4]
    if start[:7] == end[:7] and span.start.day == 1 and plus(span.end, 1).day == 1:
        return start[:7]
    return start if start == end else f"{start} to {end}"


def inverse_frequency(total: int, holding: int) -> float:
    """Return BM25's inverse document frequency, but at least 1e-6: a term that is everywhere says next to nothing."""
    holding = min(holding, total)  # the cached count may predate deletions
    return max(math.log((total - holding + 0.5) / (holding + 0.5)), 1e-6)


def lives_of(view: View, passages: Mapping[int, Candidate], today: date) -> dict[int, Life]:
    """Return the age and worth, on a day, of facts and of lines of dated notes; nothing else ages."""
    days, now = _days(Search(view).notes({p.note_id for p in passages.values()})), today.toordinal()
    facts = [i for i, p in passages.items() if p.kind in FACTS]
    dated = [i for i, p in passages.items() if p.kind in ("note", "session") and days[p.note_id]]
    keys = ((i, journal.passage_key(passages[i].text)) for i in (*facts, *dated))
    used = journal.days_of_use(view, keys, now)
    traces: dict[int, Trace] = {}
    for i in (*dated, *facts):
        day = days[passages[i].note_id]
        traces[i] = Trace(day.toordinal() if day else None, used.get(i, ()))
    known = note_queries.told_facts(view, facts, today)
    for i in facts:
        confidence, (importance, decided, told_days) = passages[i].confidence, known.get(i, (None, False, 1))
        if importance is None:
            importance = importance_of(passages[i].kind, decided, told_days)
        traces[i] = traces[i]._replace(importance=importance, confidence=1.0 if confidence is None else confidence)
    return {i: life(trace, now, passages[i].kind in FACTS) for i, trace in traces.items()}
