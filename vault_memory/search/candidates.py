"""Owns the gathering of evidence for one question: which lanes run, what they find, what ranking must know of it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import NamedTuple

from vault_memory.embedding.query_vector import QueryEmbedder, QueryVector
from vault_memory.search.answer import Request
from vault_memory.search.entities import Names
from vault_memory.search.lexical import WordLane
from vault_memory.search.ordering import Ordered, Ordering
from vault_memory.search.query import Question
from vault_memory.search.rank import REACH, Ranker, inverse_frequency
from vault_memory.search.rank_notes import note_frequency
from vault_memory.search.relevance_feedback import Teacher
from vault_memory.search.relevance_gate import has_footing
from vault_memory.search.temporal import TimeLane
from vault_memory.store.candidate import Candidate, Evidence, Feedback, NoteFacts
from vault_memory.store.lanes import Search
from vault_memory.store.lexicon import Holding
from vault_memory.store.view import Totals, View
from vault_memory.text import terms
from vault_memory.text.dates import Window
from vault_memory.text.spans import Span, plus

LEXICAL_POOL, SEMANTIC_POOL = 150, 50
"""Candidates of the two main lanes, or as many as are asked for; more of them changed nothing when measured."""

SEEDS = 30
"""So many of the best of each lane bring the passages around them along."""

OTHER_POOL = 200
"""Candidates of the entity and the temporal lane."""

RESCORE = 20
"""Bit codes kept for each semantic result wanted before int8 decides: of the exact ten best, .97 or more are found."""

TITLED = 0.8
"""Notes whose title matches this well, against the best, are looked into even where their lines lack the words."""

OPENING, PAGE = 3, 2.4
"""So many passages open an entity's page, and are this much more about it than a fact that mentions it."""

ABOUT_ONLY = 4.0
"""How much more it counts to be about an entity when that is all the question asks."""


@dataclass(frozen=True)
class Lanes:
    """The ranked candidates, and what is to be said of how the lanes ran."""

    ordered: Ordered
    sizes: Mapping[str, int]
    mode: str
    embedder: str | None
    about: Sequence[str]
    degraded: Sequence[tuple[str, str]]
    window: Window | None
    beyond_pool: int
    has_footing: bool
    words: Mapping[str, int]
    """What of the question stands anywhere, and in how many passages; `passages` is how many there are."""
    passages: int


class Found(NamedTuple):
    """What the lanes found for a question, before it is ranked; `toward` is where it points, if anywhere.

    `embeddings` are those of the candidates in that space; `beyond_pool` is how much more lies in the time that is all
    that was asked for.
    """

    evidence: Evidence
    toward: QueryVector | None
    embeddings: Mapping[int, int]
    sizes: Mapping[str, int]
    mode: str
    about: Sequence[str]
    degraded: Sequence[tuple[str, str]]
    window: Window | None
    beyond_pool: int
    words: Mapping[str, int]


class Caught(NamedTuple):
    """What each lane found by itself: scores or an order by passage id, `titles` by note id."""

    mode: str
    held: Mapping[str, Holding]
    """The terms that tell something, and where they stand."""
    words: Mapping[str, int]
    """In how many passages each of its terms stands that stands anywhere."""
    lexical: Mapping[int, float]
    semantic: Sequence[int]
    entity: Mapping[int, float]
    temporal: Sequence[int]
    titles: Mapping[int, float]
    about: Sequence[str]
    toward: QueryVector | None
    only_time: bool

    @property
    def sizes(self) -> dict[str, int]:
        """How many each lane found."""
        lanes = ("lexical", "semantic", "entity", "temporal")
        return {lane: len(getattr(self, lane)) for lane in lanes}


class Gatherer:
    """Runs the lanes over one open store."""

    def __init__(self, store: View, search: Search, names: Names, query_embedder: QueryEmbedder) -> None:
        self._store, self._search, self._names, self._query_embedder = store, search, names, query_embedder
        self._ordering = Ordering(store, search, names)
        self._time = TimeLane(search)
        self._words = WordLane(store, search)

    def look_again(self) -> None:
        """Forget what was known of the whole index: it has changed."""
        self.__dict__.pop("_totals", None)
        self._words.look_again()

    @cached_property
    def _totals(self) -> Totals:
        return self._store.totals()

    def gather(self, question: Question, request: Request) -> Lanes:
        """Find candidates for a question by every lane its mode allows, and rank them."""
        found = self.find(question, request)
        ordered = self._ordering.order(request, found.evidence, lambda ranker: self.learn(ranker, found))
        return Lanes(
            ordered=ordered,
            sizes=found.sizes,
            mode=found.mode,
            embedder=found.toward.space.name if found.toward else None,
            about=found.about,
            degraded=found.degraded,
            window=found.window,
            beyond_pool=found.beyond_pool,
            has_footing=not request.unasked or self._has_footing(question, found.evidence),
            words=found.words,
            passages=self._totals.passages,
        )

    def find(self, question: Question, request: Request) -> Found:
        """Find candidates for a question by every lane its mode allows, and what ranking must know of them."""
        degraded: list[tuple[str, str]] = []
        question, temporal, beyond = self._in_time(question, max(OTHER_POOL, request.wanted), request.today)
        caught = self._caught(question, request, temporal, degraded)
        degraded += _unmet(question, caught)
        passages = self._candidates(caught)
        evidence = self._evidence(question, passages, caught)
        embeddings: Mapping[int, int] = {}
        if toward := caught.toward:
            embeddings = self._search.embeddings(toward.space, passages)
            evidence = replace(evidence, cosine=self._search.cosines(toward.space, embeddings, toward.vector))
        if not caught.only_time:
            is_full = len(caught.lexical) >= max(LEXICAL_POOL, request.wanted)
            beyond = self._words.beyond(caught.held, evidence.hits) if caught.held and is_full else 0
        found_something = toward or caught.only_time or caught.mode == "lexical"
        return Found(
            evidence, toward, embeddings, caught.sizes, caught.mode if found_something else "lexical", caught.about,
            degraded, question.window, beyond, caught.words,
        )  # fmt: skip

    def _in_time(self, question: Question, pool: int, today: date) -> tuple[Question, list[int], int]:
        """The question by what lies in its time; the passages that lie there, and how many more."""
        temporal, beyond, is_known = self._time.within(question, pool, today)
        for other in question.others if not is_known else ():
            if (found := self._time.within(other, pool, today)).is_known:
                question, (temporal, beyond, _) = other, found
                break
        # The words of a time of which nothing is known are all that is left of it.
        if not temporal and any(self._words.lexicon.count(phrase).passages for phrase in question.otherwise):
            question = replace(question, phrases=question.phrases + question.otherwise)
        return question, temporal, beyond

    def _caught(
        self, question: Question, request: Request, temporal: Sequence[int], degraded: list[tuple[str, str]]
    ) -> Caught:
        """What each lane finds; `degraded` gets what could not be used."""
        mode = "hybrid" if request.mode == "auto" else request.mode
        about = self._names.in_question(question.entity_slugs)
        counts = self._words.counts(question)
        held = self._words.telling(counts, self._totals.passages)
        titles = self._words.titles(question, OTHER_POOL)  # a word may stand in a title alone
        unmet = mode != "semantic" and not (held or titles or about)
        # A question of nothing but a time ("what happened around Nov 7") has no meaning to compare.
        only_time = question.window is not None and (not question.phrases or (unmet and bool(temporal)))
        toward = self._query_embedder.embed(question.text, degraded) if mode != "lexical" and not only_time else None
        pool = max(LEXICAL_POOL, request.wanted)
        return Caught(
            mode=mode,
            held=held,
            words=self._words.known(counts, bool(titles)) if mode != "semantic" else {},
            lexical=self._words.lexical(held, question, pool) if mode != "semantic" else {},
            semantic=self._semantic(toward, max(SEMANTIC_POOL, request.wanted)) if toward else [],
            entity=self._entity(about),
            temporal=temporal,
            titles=titles,
            about=about,
            toward=toward,
            only_time=only_time,
        )

    def _candidates(self, caught: Caught) -> dict[int, Candidate]:
        """The passages that the lanes found, and those around them."""
        best_titles = [note for note, score in caught.titles.items() if score >= TITLED]
        titled = self._search.opening(best_titles, SEMANTIC_POOL)
        lanes = (list(caught.lexical), caught.semantic, list(caught.entity), caught.temporal, titled)
        passages = self._with_neighbours(lanes, caught.lexical)
        if (
            caught.only_time
        ):  # what stands beside a line of that time was found itself, or is counted as beyond the pool
            passages = {i: passages[i] for i in passages if i in {*caught.entity, *caught.temporal}}
        return passages

    def _semantic(self, toward: QueryVector, pool: int) -> list[int]:
        found = self._search.semantic(toward.space, toward.vector, pool * RESCORE, pool)
        return [i for i, _ in found]

    def _evidence(self, question: Question, passages: Mapping[int, Candidate], caught: Caught) -> Evidence:
        """What the lanes found, and what the candidates' own text, day and note tell."""
        stems = {i: self._words.lexicon.of_passage(p.text, p.kind) for i, p in passages.items()}
        held = caught.held if caught.mode != "semantic" else {}
        named = self._name_words(caught.about)
        alone = bool(caught.about) and named.issuperset(question.words)  # "tell me about The Castle"
        total = self._totals
        return Evidence(
            passages=passages,
            notes=self._note_facts(dict.fromkeys(p.note_id for p in passages.values()), caught.toward),
            rarity={p: inverse_frequency(total.passages, found.passages) for p, found in held.items()},
            note_rarity={p: note_frequency(total.notes, found.notes) for p, found in held.items()},
            hits=self._words.hits(list(held), stems),
            stems=stems,
            lexical=caught.lexical,
            title=caught.titles,
            about={i: ABOUT_ONLY * weight for i, weight in caught.entity.items()} if alone else caught.entity,
            naming=frozenset(phrase for phrase in caught.held if phrase.strip('"*').casefold() in named),
            days=self._time.fits(question, passages, caught.temporal, caught.only_time),
            order=self._time.order(question, {i: passages[i].note_id for i in caught.lexical if i in passages}),
            words=question.words,
            spoken=question.spoken,
            names=question.names,
            exact=question.exact,
            whole=question.whole,
            asks_when=question.asks_when,
            only_time=caught.only_time,
            only_meaning=caught.mode == "semantic",
            average_note_words=max(total.words / max(total.notes, 1), 1.0),
        )

    def _note_facts(self, ids: Collection[int], toward: QueryVector | None) -> dict[int, NoteFacts]:
        near = self._search.note_cosines(toward.space, ids, toward.vector) if toward else {}
        known = self._search.notes(ids)
        return {n: NoteFacts(known[n].tokens, known[n].words, near.get(n, 0.0)) for n in ids}

    def learn(self, ranker: Ranker, found: Found) -> Feedback:
        """What the best of the first round teach."""
        teacher = Teacher(self._search, self._words.lexicon, self._totals.notes)
        return teacher.learn(ranker, found.evidence, found.toward, found.embeddings)

    def _has_footing(self, question: Question, found: Evidence) -> bool:
        """Whether a question that nobody asked has to do with the notes."""
        if terms.has_runs(question.text):  # asked for by pairs of characters, most of which are no words
            return True
        # What has parts (`tile-server`) is known by them.
        words = (phrase for phrase in question.phrases if len(self._words.lexicon.stems(phrase.strip('"*'))) == 1)
        unknown = sum(not self._words.lexicon.count(word).passages for word in words)
        return has_footing(found, unknown, inverse_frequency(self._totals.passages, 0))

    # --- entities ------------------------------------------------------------------------------------------------

    def _entity(self, about: Sequence[str]) -> dict[int, float]:
        """Passages on the pages of the question's entities, and the facts that mention them."""
        if not about:
            return {}
        slugs = [slug for name in about for slug in self._names.slugs(name)]
        on_pages = self._search.on_pages(slugs, OTHER_POOL // 4)
        found = dict.fromkeys((*on_pages, *self._search.mentioning(slugs, OTHER_POOL)), 1.0)
        return found | dict.fromkeys(on_pages[:OPENING], PAGE)

    def _name_words(self, about: Sequence[str]) -> frozenset[str]:
        """The words that these entities are called by, case folded."""
        forms = [*about, *(form for slug in about for form in self._names.forms(slug))]
        return frozenset(word for form in forms for word in form.casefold().replace("-", " ").split())

    # --- around --------------------------------------------------------------------------------------------------

    def _with_neighbours(self, lanes: Sequence[Sequence[int]], lexical: Mapping[int, float]) -> dict[int, Candidate]:
        """The passages found and, for each lane's best, those around them: an answer often stands beside what matched.

        A heading alone answers nothing, unless its words were asked for; what stands below it comes with it.
        """
        reach = range(1 - len(REACH), len(REACH))
        found = set().union(*lanes)
        best = {i for lane in lanes for i in lane[:SEEDS]}
        loaded = self._search.passages({i + distance for i in best for distance in reach} | found)
        keep: set[int] = set()
        for i, here in loaded.items():
            if i not in found or (here.is_heading and i not in lexical):
                continue
            keep.add(i)
            for distance in reach if i in best else ():
                near = loaded.get(i + distance)
                if near and near.note_id == here.note_id and near.section == abs(here.section):
                    keep.add(near.id)
        return {i: passage for i, passage in loaded.items() if i in keep}


ONLY_TIME, ONLY_MEANING = "the date alone decides", "these are the closest by meaning"


def _dated(span: Span) -> str:
    """`2025`, `2025-11`, `2025-11-27` or `2025-11-27 to 2025-12-02`."""
    start, end = span.start.isoformat(), span.end.isoformat()
    if (start[4:], end) == ("-01-01", f"{start[:4]}-12-31"):
        return start[:4]
    if start[:7] == end[:7] and span.start.day == 1 and plus(span.end, 1).day == 1:
        return start[:7]
    return start if start == end else f"{start} to {end}"


def _unmet(question: Question, caught: Caught) -> Iterator[tuple[str, str]]:
    """What of the question nothing was found for."""
    if question.words and caught.mode != "semantic" and not caught.lexical:
        yield "lexical", f"no note contains any of these words; {ONLY_TIME if caught.only_time else ONLY_MEANING}"
    if question.unread:
        yield "temporal", question.unread
    if question.window and not caught.temporal:
        yield "temporal", f"no notes are dated {_dated(question.window.span)}"
