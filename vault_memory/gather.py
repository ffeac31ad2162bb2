"""Owns the gathering of evidence for one question: which lanes run, what they find, what ranking must know of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from vault_memory.answer import Request
from vault_memory.dates import Window
from vault_memory.entities import slug
from vault_memory.evidence import Candidate, Evidence, Feedback, NoteFacts
from vault_memory.feedback import Teacher
from vault_memory.knowledge import Names
from vault_memory.lexicon import Holding, Lexicon
from vault_memory.meaning import Direction, Meaning
from vault_memory.noterank import note_frequency
from vault_memory.ordering import Ordered, Ordering
from vault_memory.query import Question
from vault_memory.rank import REACH, Ranker, count_stems, inverse_frequency
from vault_memory.search import Search
from vault_memory.shelf import NoteInfo
from vault_memory.spread import OUTSIDE_FIT, in_order, spread
from vault_memory.store import Store, Totals

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


OCCURRED = 0.7
"""A fact told at another time about the days in question, against one told in them."""

HALF_A_YEAR = 183
"""A day named without its year is that of the nearest one, counted from when it was written."""

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


class Gatherer:
    """Runs the lanes over one open store."""

    def __init__(self, store: Store, search: Search, names: Names, meaning: Meaning) -> None:
        self._store, self._search, self._names, self._meaning = store, search, names, meaning
        self._ordering = Ordering(store, search, names)
        self._lexicon = Lexicon(store)

    def look_again(self) -> None:
        """Forget what was known of the whole index: it has changed."""
        self.__dict__.pop("_totals", None)
        self._lexicon.look_again()

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
        )

    def find(self, question: Question, request: Request) -> Found:
        """Find candidates for a question by every lane its mode allows, and what ranking must know of them."""
        mode = "hybrid" if request.mode == "auto" else request.mode
        degraded: list[tuple[str, str]] = []
        about = self._names.in_question(question.entity_slugs)
        lying = max(OTHER_POOL, request.wanted)
        temporal, beyond = self._within(question, lying)
        if not temporal and question.other and (found := self._within(question.other, lying))[0]:
            question, (temporal, beyond) = question.other, found
        # The words of a time of which nothing is known are all that is left of it.
        if not temporal and self._telling(question.otherwise):
            question = replace(question, phrases=question.phrases + question.otherwise)
        held = self._telling(question.phrases)
        pool, near = max(LEXICAL_POOL, request.wanted), max(SEMANTIC_POOL, request.wanted)
        lexical = self._lexical(held, question, pool) if mode != "semantic" else {}
        titles = self._titles(question)  # a word may stand in a title alone
        unmet = mode != "semantic" and not (held or titles or about)
        # A question of nothing but a time ("what happened around Nov 7") has no meaning to compare.
        only_time = question.window is not None and (not question.phrases or (unmet and bool(temporal)))
        toward = self._meaning.of(question.text, degraded) if mode != "lexical" and not only_time else None
        semantic = self._semantic(toward, near) if toward else []
        entity = self._entity(about)
        if question.words and mode != "semantic" and not lexical:
            left = "the time alone decides" if only_time else "these are guesses by meaning"
            degraded.append(("lexical", f"no word of the question occurs in what was searched: {left}"))
        if question.unread:
            degraded.append(("temporal", question.unread))
        if question.window and not temporal:
            degraded.append(("temporal", f"nothing is known of {question.window.span.isoformat()}"))
        titled = self._search.opening([n for n, score in titles.items() if score >= TITLED], SEMANTIC_POOL)
        passages = self._with_neighbours((list(lexical), semantic, list(entity), temporal, titled), lexical)
        if only_time:  # what stands beside a line of that time was found itself, or is counted as beyond the pool
            passages = {i: passages[i] for i in passages if i in {*entity, *temporal}}
        named = self._name_words(about)
        if about and named.issuperset(question.words):  # "tell me about The Castle"
            entity = {i: ABOUT_ONLY * weight for i, weight in entity.items()}
        sizes = {"lexical": len(lexical), "semantic": len(semantic), "entity": len(entity), "temporal": len(temporal)}
        embeddings = self._search.embeddings(toward.space, passages) if toward else {}
        cosine = self._search.cosines(toward.space, embeddings, toward.vector) if toward else {}
        naming = frozenset(phrase for phrase in held if phrase.strip('"*').casefold() in named)
        days = self._days(question, passages, temporal, only_time)
        order = self._order(question, {i: passages[i].note_id for i in lexical if i in passages})
        evidence = self._evidence(question, passages, held if mode != "semantic" else {}, toward)
        if not only_time:
            beyond = self._beyond(held, evidence.hits) if held and len(lexical) >= pool else 0
        return Found(
            replace(evidence, lexical=lexical, cosine=cosine, title=titles, about=entity, days=days, order=order,
                naming=naming, only_time=only_time, only_meaning=mode == "semantic"),
            toward, embeddings, sizes, mode if toward or only_time or mode == "lexical" else "lexical", about, degraded,
            question.window, beyond,
        )  # fmt: skip

    def _semantic(self, toward: Direction, pool: int) -> list[int]:
        found = self._search.semantic(toward.space, toward.vector, pool * RESCORE, pool)
        return [i for i, _ in found]

    def _evidence(
        self, question: Question, passages: Mapping[int, Candidate], held: Mapping[str, Holding],
        toward: Direction | None,
    ) -> Evidence:  # fmt: skip
        """What the candidates' own text, day and note tell; the lanes' scores are still to come."""
        stems = {i: self._lexicon.of_passage(p.text, p.kind) for i, p in passages.items()}
        notes = dict.fromkeys(p.note_id for p in passages.values())
        near = self._search.note_cosines(toward.space, notes, toward.vector) if toward else {}
        known = self._search.notes(notes)
        return Evidence(
            passages=passages,
            notes={n: NoteFacts(known[n].tokens, known[n].words, near.get(n, 0.0)) for n in notes},
            rarity={p: inverse_frequency(self._totals.passages, found.passages) for p, found in held.items()},
            note_rarity={p: note_frequency(self._totals.notes, found.notes) for p, found in held.items()},
            hits=self._hits(list(held), stems),
            stems=stems,
            words=question.words,
            spoken=question.spoken,
            names=question.names,
            exact=question.exact,
            whole=question.whole,
            asks_when=question.asks_when,
            average_note_words=max(self._totals.words / max(self._totals.notes, 1), 1.0),
        )

    def learn(self, ranker: Ranker, found: Found) -> Feedback:
        """What the best of the first round teach."""
        teacher = Teacher(self._search, self._lexicon, self._totals.notes)
        return teacher.learn(ranker, found.evidence, found.toward, found.embeddings)

    # --- words ---------------------------------------------------------------------------------------------------

    def _telling(self, phrases: Sequence[str]) -> dict[str, Holding]:
        """The phrases that tell something, with where they stand; all that occur if none does."""
        counts = {phrase: self._lexicon.count(phrase) for phrase in phrases}
        present = {phrase: found for phrase, found in counts.items() if found.passages}
        return {p: found for p, found in present.items() if found.passages * COMMON <= self._totals.passages} or present

    def _lexical(self, held: Mapping[str, Holding], question: Question, pool: int) -> dict[int, float]:
        if held:
            return dict(self._search.lexical(" OR ".join(_searched(held)), pool))
        if question.phrases or question.window or not question.text.strip():
            return {}
        # Nothing but punctuation was asked for: the only way is to read.
        return dict.fromkeys(self._search.substring(question.text.strip(), pool), 1.0)

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
        found = self._search.titles(" OR ".join(question.phrases), OTHER_POOL) if question.phrases else []
        best = max((score for _, score in found), default=0.0) or 1.0
        titles = {note: score / best for note, score in found}
        whole = slug(question.text)
        named = [n.id for n in self._search.notes(list(titles)[:NAMESAKES]).values() if whole in _slugs(n)]
        return titles | dict.fromkeys(named, NAMED) | dict.fromkeys(self._search.files(question.files), FILE)

    # --- entities and time ---------------------------------------------------------------------------------------

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

    def _within(self, question: Question, pool: int) -> tuple[list[int], int]:
        """Passages of the question's days, in the order in which they tell of them; and how many more there are."""
        if not question.window:
            return [], 0
        lying, total = self._search.within(question.window.span, pool)
        order = spread(lying, question.window.middle)[:pool]
        return order + self._naming(question, order), total - len(order)

    def _naming(self, question: Question, found: Sequence[int]) -> list[int]:
        """Other passages that name the question's day or month; those that say no year are of the nearest."""
        if not question.window or not question.named:
            return []
        naming = dict(self._search.lexical(" OR ".join(question.named), OTHER_POOL // 4))
        start = question.window.span.start
        near = {i for i, day, _ in self._search.days(naming) if not day or abs((day - start).days) <= HALF_A_YEAR}
        by_path = self._search.passages(near.difference(found))  # equal scores in the same order in every index
        return sorted(by_path, key=lambda i: -naming[i])

    def _days(
        self, question: Question, passages: Mapping[int, Candidate], order: Sequence[int], only_time: bool
    ) -> dict[int, float]:
        """How well each passage's day fits the question's window: 1 inside, fading out within as many days again.

        "Around" a day prefers the day itself to the edges of its window. Where nothing else is asked, the order in
        which they tell of the window decides, and what lies outside comes last.
        """
        if not question.window:
            return {}
        start, end = question.window.span
        soft = timedelta(days=max((end - start).days, 3))
        if question.window.middle:
            start = end = question.window.middle
        fits: dict[int, float] = {}
        for passage_id, day, occurred in self._search.days(passages):
            told = _fit(day, day, start, end, soft) if day else 0.0
            happened = _fit(*occurred, start, end, soft) if occurred else 1.0
            told *= 1.0 if happened == 1.0 else OCCURRED
            fits[passage_id] = max(told, OCCURRED * happened if occurred else 0.0)
        if question.named:
            fits |= {i: max(fits[i], OCCURRED) for i in order if i in fits}
        return {i: OUTSIDE_FIT * fit for i, fit in fits.items()} | in_order(order) if only_time else fits

    def _order(self, question: Question, found: Mapping[int, int]) -> dict[int, float]:
        """For "last time" and "first time": 1 for the newest (oldest) of the passages found by words, down to 0.

        `found` maps these passages to their notes.
        """
        if not (question.wants_latest or question.wants_earliest):
            return {}
        day_of = {note.id: note.day for note in self._search.notes(set(found.values())).values() if note.day}
        days = sorted(set(day_of.values()), reverse=question.wants_earliest)
        place = {day: (i + 1) / len(days) for i, day in enumerate(days)}
        return {i: place[day_of[note_id]] for i, note_id in found.items() if note_id in day_of}

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


def _fit(first: date, last: date, start: date, end: date, soft: timedelta) -> float:
    if first <= end and last >= start:
        return 1.0
    away = start - last if last < start else first - end
    return max(0.0, 0.5 * (1 - away / soft))
