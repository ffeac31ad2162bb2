"""Owns the gathering of evidence for one question: which lanes run, what they find, what ranking must know of it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from vault_memory.embedding.meaning import Direction, Meaning
from vault_memory.index.lexicon import Holding, Lexicon
from vault_memory.index.postings import HeldPostings
from vault_memory.index.search import Search
from vault_memory.index.shelf import NoteInfo
from vault_memory.index.store import Store, Totals
from vault_memory.language import terms
from vault_memory.language.dates import Window
from vault_memory.notes.entities import slug
from vault_memory.ranking.evidence import Candidate, Evidence, Feedback, NoteFacts
from vault_memory.ranking.footing import has_footing
from vault_memory.ranking.noterank import note_frequency
from vault_memory.ranking.rank import REACH, Ranker, count_stems, inverse_frequency
from vault_memory.retrieval.answer import Request
from vault_memory.retrieval.feedback import Teacher
from vault_memory.retrieval.knowledge import Names
from vault_memory.retrieval.ordering import Ordered, Ordering
from vault_memory.retrieval.query import Question
from vault_memory.retrieval.timelane import TimeLane

LEXICAL_POOL, SEMANTIC_POOL = 150, 50
"""Candidates of the two main lanes, or as many as are asked for; more of them changed nothing when measured."""

COUNTED = 5_000
"""Up to so many entries of FTS5's lists what lies beyond the pool is counted; of more it is said at least."""

POSTINGS = 20_000
"""FTS5 reads so many entries of its lists for a question (0.7 µs each), or one list: the rarest terms first."""

SEEDS = 30
"""So many of the best of each lane bring the passages around them along."""

OTHER_POOL = 200
"""Candidates of the entity and the temporal lane."""

RESCORE = 20
"""Bit codes kept for each semantic result wanted before int8 decides: of the exact ten best, .97 or more are found."""

COMMON = 2
"""A term in more than one of so many passages tells nothing and is not searched, unless there is no other."""


TITLED = 0.8
"""Notes whose title matches this well, against the best, are looked into even where their lines lack the words."""

NAMED, FILE = 3.0, 8.0
"""How well a note's title matches that is all of the question, and when it names its file; the best by words is 1."""

NAMESAKES = 20
"""Among so many of the best titles one that is the whole question is looked for."""

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
    toward: Direction | None
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
    toward: Direction | None
    only_time: bool

    @property
    def sizes(self) -> dict[str, int]:
        """How many each lane found."""
        lanes = ("lexical", "semantic", "entity", "temporal")
        return {lane: len(getattr(self, lane)) for lane in lanes}


class Gatherer:
    """Runs the lanes over one open store."""

    def __init__(self, store: Store, search: Search, names: Names, meaning: Meaning) -> None:
        self._store, self._search, self._names, self._meaning = store, search, names, meaning
        self._ordering = Ordering(store, search, names)
        self._time = TimeLane(search)
        self._lexicon = Lexicon(store)
        self._postings = HeldPostings(store)

    def look_again(self) -> None:
        """Forget what was known of the whole index: it has changed."""
        self.__dict__.pop("_totals", None)
        self._lexicon.look_again()
        self._postings.look_again()

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
        question, temporal, beyond = self._in_time(question, max(OTHER_POOL, request.wanted))
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
            beyond = self._beyond(caught.held, evidence.hits) if caught.held and is_full else 0
        found_something = toward or caught.only_time or caught.mode == "lexical"
        return Found(
            evidence, toward, embeddings, caught.sizes, caught.mode if found_something else "lexical", caught.about,
            degraded, question.window, beyond, caught.words,
        )  # fmt: skip

    def _in_time(self, question: Question, pool: int) -> tuple[Question, list[int], int]:
        """The question by what lies in its time; the passages that lie there, and how many more."""
        temporal, beyond = self._time.within(question, pool)
        if not temporal and question.other and (found := self._time.within(question.other, pool))[0]:
            question, (temporal, beyond) = question.other, found
        # The words of a time of which nothing is known are all that is left of it.
        if not temporal and any(self._lexicon.count(phrase).passages for phrase in question.otherwise):
            question = replace(question, phrases=question.phrases + question.otherwise)
        return question, temporal, beyond

    def _caught(
        self, question: Question, request: Request, temporal: Sequence[int], degraded: list[tuple[str, str]]
    ) -> Caught:
        """What each lane finds; `degraded` gets what could not be used."""
        mode = "hybrid" if request.mode == "auto" else request.mode
        about = self._names.in_question(question.entity_slugs)
        counts = {phrase: self._lexicon.count(phrase) for phrase in question.phrases}
        held = self._telling(counts)
        titles = self._titles(question)  # a word may stand in a title alone
        unmet = mode != "semantic" and not (held or titles or about)
        # A question of nothing but a time ("what happened around Nov 7") has no meaning to compare.
        only_time = question.window is not None and (not question.phrases or (unmet and bool(temporal)))
        toward = self._meaning.of(question.text, degraded) if mode != "lexical" and not only_time else None
        return Caught(
            mode=mode,
            held=held,
            words=self._known(counts, bool(titles)) if mode != "semantic" else {},
            lexical=self._lexical(held, question, max(LEXICAL_POOL, request.wanted)) if mode != "semantic" else {},
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

    def _semantic(self, toward: Direction, pool: int) -> list[int]:
        found = self._search.semantic(toward.space, toward.vector, pool * RESCORE, pool)
        return [i for i, _ in found]

    def _evidence(self, question: Question, passages: Mapping[int, Candidate], caught: Caught) -> Evidence:
        """What the lanes found, and what the candidates' own text, day and note tell."""
        stems = {i: self._lexicon.of_passage(p.text, p.kind) for i, p in passages.items()}
        held = caught.held if caught.mode != "semantic" else {}
        named = self._name_words(caught.about)
        alone = bool(caught.about) and named.issuperset(question.words)  # "tell me about The Castle"
        total = self._totals
        return Evidence(
            passages=passages,
            notes=self._note_facts(dict.fromkeys(p.note_id for p in passages.values()), caught.toward),
            rarity={p: inverse_frequency(total.passages, found.passages) for p, found in held.items()},
            note_rarity={p: note_frequency(total.notes, found.notes) for p, found in held.items()},
            hits=self._hits(list(held), stems),
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

    def _note_facts(self, ids: Collection[int], toward: Direction | None) -> dict[int, NoteFacts]:
        near = self._search.note_cosines(toward.space, ids, toward.vector) if toward else {}
        known = self._search.notes(ids)
        return {n: NoteFacts(known[n].tokens, known[n].words, near.get(n, 0.0)) for n in ids}

    def learn(self, ranker: Ranker, found: Found) -> Feedback:
        """What the best of the first round teach."""
        teacher = Teacher(self._search, self._lexicon, self._totals.notes)
        return teacher.learn(ranker, found.evidence, found.toward, found.embeddings)

    # --- words ---------------------------------------------------------------------------------------------------

    def _known(self, counts: Mapping[str, Holding], titled: bool) -> dict[str, int]:
        """In how many passages each phrase stands that stands anywhere: what a title alone has counts as one."""
        in_titles = (p for p, held in counts.items() if titled and not held.passages and self._search.titles((p,), 1))
        return {p: held.passages for p, held in counts.items() if held.passages} | dict.fromkeys(in_titles, 1)

    def _telling(self, counts: Mapping[str, Holding]) -> dict[str, Holding]:
        """The phrases that tell something, with where they stand; all that occur if none does."""
        present = {phrase: found for phrase, found in counts.items() if found.passages}
        return {p: found for p, found in present.items() if found.passages * COMMON <= self._totals.passages} or present

    def _has_footing(self, question: Question, found: Evidence) -> bool:
        """Whether a question that nobody asked has to do with the notes."""
        if terms.has_runs(question.text):  # asked for by pairs of characters, most of which are no words
            return True
        # What has parts (`tile-server`) is known by them.
        words = (phrase for phrase in question.phrases if len(self._lexicon.stems(phrase.strip('"*'))) == 1)
        unknown = sum(not self._lexicon.count(word).passages for word in words)
        return has_footing(found, unknown, inverse_frequency(self._totals.passages, 0))

    def _lexical(self, held: Mapping[str, Holding], question: Question, pool: int) -> dict[int, float]:
        if held:
            searched = _searched(held)
            found = self._held(searched, pool)
            return dict(self._search.lexical(searched, pool) if found is None else self._search.in_order(found, pool))
        if question.phrases or question.window or not question.text.strip():
            return {}
        # Nothing but punctuation was asked for: the only way is to read.
        return dict.fromkeys(self._search.substring(question.text.strip(), pool), 1.0)

    def _held(self, phrases: Sequence[str], pool: int) -> list[tuple[int, float]] | None:
        """What the lexical lane finds by lists that are held; None where FTS5 is to be asked."""
        stems = [self._lexicon.stems(phrase.strip('"')) for phrase in phrases]
        if self._search.is_filtered or any(len(found) != 1 for found in stems) or any("*" in p for p in phrases):
            return None
        return self._postings.best([found[0] for found in stems], pool)

    def _beyond(self, held: Mapping[str, Holding], hits: Mapping[str, Mapping[int, int]]) -> int:
        """How many passages that hold a searched word are no candidates: counted, or at least so many."""
        counts = {phrase: held[phrase].passages for phrase in _searched(held)}
        if self._search.is_filtered or sum(counts.values()) <= COUNTED:
            return self._search.matching(" OR ".join(counts)) - len(set().union(*(hits.get(p, ()) for p in counts)))
        return max(max(count - len(hits.get(phrase, ())) for phrase, count in counts.items()), 1)

    def _hits(self, phrases: Sequence[str], stems: Mapping[int, Sequence[str]]) -> dict[str, dict[int, int]]:
        """How often each phrase stands in each candidate, by FTS5's own tokenizer."""
        wanted = {phrase: self._lexicon.stems(phrase.strip('"*')) for phrase in phrases}
        single = {found[0]: phrase for phrase, found in wanted.items() if len(found) == 1 and not phrase.endswith("*")}
        hits = {single[stem]: counts for stem, counts in count_stems(set(single), stems).items()}
        for phrase in wanted.keys() - single.values():
            counted = ((i, _occurrences(found, wanted[phrase], phrase.endswith("*"))) for i, found in stems.items())
            hits[phrase] = {i: count for i, count in counted if count}
        return hits

    def _titles(self, question: Question) -> dict[int, float]:
        """How well the title, names, path and tags of notes match, and which of them the question names by its file."""
        found = self._search.titles(question.phrases, OTHER_POOL) if question.phrases else []
        best = max((score for _, score in found), default=0.0) or 1.0
        titles = {note: score / best for note, score in found}
        whole = slug(question.text)
        named = [n.id for n in self._search.notes(list(titles)[:NAMESAKES]).values() if whole in _slugs(n)]
        return titles | dict.fromkeys(named, NAMED) | dict.fromkeys(self._search.files(question.files), FILE)

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


def _unmet(question: Question, caught: Caught) -> Iterator[tuple[str, str]]:
    """What of the question nothing was found for."""
    if question.words and caught.mode != "semantic" and not caught.lexical:
        left = "the time alone decides" if caught.only_time else "these are guesses by meaning"
        yield "lexical", f"no word of the question occurs in what was searched: {left}"
    if question.unread:
        yield "temporal", question.unread
    if question.window and not caught.temporal:
        yield "temporal", f"nothing is known of {question.window.span.isoformat()}"


def _searched(held: Mapping[str, Holding]) -> list[str]:
    """The rarest phrases, as many as may be walked through; the others still count for what is found by these."""
    rarest = sorted(held, key=lambda phrase: (held[phrase].passages, phrase))
    walked = accumulate(held[phrase].passages for phrase in rarest)
    return [phrase for n, (phrase, total) in enumerate(zip(rarest, walked, strict=True)) if not n or total <= POSTINGS]


def _slugs(note: NoteInfo) -> tuple[str, str]:
    """What a note is called: by its title, and by its file."""
    return slug(note.title), slug(note.path.rpartition("/")[2].removesuffix(".md"))


def _occurrences(stems: Sequence[str], phrase: Sequence[str], prefix: bool) -> int:
    if not phrase:
        return 0
    if prefix:
        return sum(stem.startswith(phrase[0]) for stem in stems)
    width = len(phrase)
    return sum(list(stems[i : i + width]) == list(phrase) for i in range(len(stems) - width + 1))
