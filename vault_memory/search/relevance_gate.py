"""Says whether the notes know anything of a question.

Where somebody asked, a question is known if its words stand in the best passages, or words near to them in the builtin
vectors do: "surgery" is near to "surgeon", "blood type" to nothing. Where nobody asked, more must be held by a single
passage than everyday talk reaches in the same notes: what `PROMPTS` of background_prompts.py reach, which have to do
with no notes, sets the least figure. In notes about programming a prompt about code must reach more.

Which passages are fit to be handed over unasked, since they tell something by themselves, is said here too.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.embedding.builtin_embedder import words as words_of
from vault_memory.markdown.frontmatter import says_property
from vault_memory.markdown.note import ASIDE
from vault_memory.search.answer import Request
from vault_memory.search.background_prompts import PROMPTS
from vault_memory.search.candidates import FILE_SCORE, Candidates, Finder, inverse_frequency, neighbours
from vault_memory.search.query import phrases_of, understand
from vault_memory.store.view import ALL, ATTACHMENT, PAGE, Candidate, Store
from vault_memory.text import terms

SAYS_NOTHING, SAYS_ALL = 0.8, 2.2
"""The lengths of word vectors from which a word begins to tell something ("back" .95, "good" .74) and tells all there
is ("dentist" 2.96, "obsidian" 2.1)."""

PART_SHARE, TITLE_SHARE = 0.5, 0.6
"""What it counts that only parts of a word (`tile-server`) stand somewhere, or a word in the note's title."""

MOST_LACKING, WORDS_BESIDES = 0.2, 0.5
"""A question is known if its words lack no more of what they ask than this share, counted as if there were so many
words more. Of 470 answerable questions over seven vaults, 120 of them asked in other words, .92 are known, and .44 of
400 others, most of them asked of a known name, are not."""

BEST_PASSAGES = 25
"""So many passages are looked into for the words of a question: .05 more of the unanswerable are told than with ten."""

FAR, NEAR = 0.2, 0.5
"""The cosines from which a word begins to stand for another ("sick" and "ill" .28) and does so wholly ("film" and
"movie" .65). With the words alone .26 instead of .45 are told, at the same share of known ones."""

UNREADABLE_WORD = 0.25
"""How far a word is held for which there is no vector (`tmux`, or one of another language), and which stands nowhere:
with .5 three more of twenty short questions that no note answers were taken for known."""

NOTHING_NEAR = 0.4
"""A word of a known question that is held less is named where it stands nowhere: in 4 to 9 % of those known, and in 6
to 24 % of those wrongly taken for known."""

MOST_BESIDE = 2
"""So many words of a question are named with which others do not stand."""

WEIGHT_BESIDES = 1.5
"""Added to the weight of a question's words: of a prompt with one weak word a passage always holds all."""

HELD_WEIGHT, KNOWN_WEIGHT, LENGTH_WEIGHT = 3.0, 1.0, -0.5
"""What counts the share that one passage holds, the share that stands anywhere, and the logarithm of what is held:
of a long prompt much is held by chance. A logistic regression over 850 questions and 230 prompts on seven vaults,
rounded; what it tells apart in a vault hardly changes when that one is left out."""


_CHART = re.compile(r"[ \t]*- [▁-█]+ ")
"""The course of an opinion, as a page draws it (reflect/opinion_page.py)."""

_QUERY = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?:dataview(?:js)?|tasks|query|base|chart)\b", re.IGNORECASE)
"""Code that a plugin of Obsidian runs: what it finds or draws stands elsewhere."""


QUANTILE, USUAL = 0.9, 1.05
"""The least figure of a question nobody asked lies halfway between what that share of `PROMPTS` reaches in these notes
and what is usual: on seven vaults of four kinds 2 to 7 % of other everyday prompts pass, a sixth in notes on
programming."""

OTHER_LANGUAGE = 0.5
"""A language is tried where the notes know at least this share as much of its prompts' words as of the English ones'.
English notes know .05 to .52 as much: a sixth to a third of the time is saved there."""

META = "relevance@4"
"""The index's value that keeps them. Raise `relevance` in store/schema.py when the figures change."""

NEAR_SHARE = 0.6
"""A cosine below this share of the closest passage's is far: of 588 questions on seven vaults four lose their line, and
4 to 6 % of twenty lines go in conversations, a tenth of the sample vault's."""

LEAST_ASKED_WEIGHT = 0.3
"""The weight of words that ask something of the names beside them: "hi" has .25, "morning" .29, "key" .33."""

RARE_PASSAGES = 20
"""Passages that contain a word found in at most this many of them, and never beside another word of the question, are
not weak: they are all there is about it."""

TITLES = 200
"""In so many notes' titles a word is looked for."""


class Relevance(NamedTuple):
    """What the notes hold of one question."""

    figure: float = math.inf
    """To be measured against the least figure of the vault (`kept_least`) where nobody asked."""
    asks: bool = True
    """Whether it asks for a name alone ("Who is Peter?") or for something besides: "Hi Peter" does neither."""
    missing: tuple[str, ...] = ()
    """The words for which a question is not known."""
    missing_with: tuple[str, ...] = ()
    """The words with which no note has them, where they stand elsewhere."""
    unmentioned: tuple[str, ...] = ()
    """The words of a known question that no note has, nor anything like them."""
    weak: frozenset[int] = frozenset()
    """The candidates that have hardly to do with it."""


class _Word(NamedTuple):
    """What is known of one word of a question."""

    word: str
    weight: float
    is_name: bool
    """Whether it names an entity that the notes know."""
    known: float
    """1 where it stands anywhere, PART_SHARE where only parts of it do."""
    reached: Mapping[int, float]
    """How far each candidate holds it, with its neighbours and its note's title, 0..1."""
    holders: Sequence[Collection[int]] = ()
    """The candidates that are about it."""

    @property
    def asks(self) -> float:
        """How far it asks something, 0..1."""
        return min(self.weight / LEAST_ASKED_WEIGHT, 1.0)


def find_relevance(found: Candidates, finder: Finder, best: Sequence[int] = ()) -> Relevance:
    """How much of a question the notes know; where somebody asked it, the `best` passages must hold its words."""
    if not _is_measurable(found):
        return Relevance()
    hits = _hits(found, finder)
    words = _words(found, finder, hits)
    lacking = _find_lacking(found, words, best[:BEST_PASSAGES]) if best else Relevance()
    return lacking._replace(
        figure=_figure(words),
        asks=_asks(found, [word for word in words if not word.is_name]),
        weak=_find_weak(found, finder, words, hits),
    )


def _asks(found: Candidates, besides: Sequence[_Word]) -> bool:
    """Whether words besides names ask for something, or there are none ("Who is Peter?", "Wer ist Peter?")."""
    if sum(word.weight * word.known for word in besides) >= LEAST_ASKED_WEIGHT:
        return True
    return not besides or not {word.word for word in besides} & set(found.query.unknown(()))


def _is_measurable(found: Candidates) -> bool:
    """A time or a file is there or not; pairs of characters, by which some scripts are searched, are hardly words."""
    return not (
        found.mode == "semantic"
        or found.only_time
        or max(found.title.values(), default=0.0) >= FILE_SCORE
        or terms.RUN.search(found.query.text)
    )


def _hits(found: Candidates, finder: Finder) -> dict[str, Collection[int]]:
    """What is searched for, and what stands in most passages, yet counts here: a speaker's name, in a conversation."""
    common = finder.find_hits([phrase for phrase in found.words if phrase not in found.hits], found.stems)
    return {phrase.casefold(): held for phrase, held in (*found.hits.items(), *common.items())}


def _find_lacking(found: Candidates, words: Sequence[_Word], best: Sequence[int]) -> Relevance:
    """Which words the best passages lack, of those that are about the names in the question.

    That a name is known says nothing of what is asked of it: Bram may be known, and no favourite colour of his.
    """
    names = [word for word in words if word.is_name]
    about = set(found.about).union(*(name.reached for name in names))
    seen = [i for i in best if not names or i in about]
    # Where no word stands anywhere, what is near to one is only a guess.
    is_met = any(word.known for word in words)
    texts = [found.passages[i].text for i in seen if i in found.passages] if is_met else []
    asked = [word for word in words if not word.is_name]
    held = _find_held([word for word in asked if word.asks], texts, seen)
    lacks = {word.word: word.asks * (1 - held.get(word.word, 1.0)) for word in asked}
    if sum(lacks.values()) < MOST_LACKING * WORDS_BESIDES:
        return Relevance()
    sayable = found.query.unknown(())  # only now: this reads the grammar of all languages
    asked = [word for word in asked if word.word in sayable]
    total = sum(word.asks for word in asked) + WORDS_BESIDES
    if sum(lacks[word.word] for word in asked) < MOST_LACKING * total:
        nowhere = (w.word for w in asked if not w.known and held.get(w.word, 1.0) < NOTHING_NEAR)
        return Relevance(unmentioned=tuple(nowhere))
    least = max(UNREADABLE_WORD, min(held.values()))
    missing = [word for word in asked if held.get(word.word, 1.0) <= least]
    if unknown := tuple(word.word for word in missing if not word.known):
        return Relevance(missing=unknown)
    others = sorted((word for word in asked if word not in missing), key=lambda word: -word.weight)
    written = {name.casefold(): name for name in found.query.names}
    beside = tuple(written.get(word.word, word.word) for word in names or others[:MOST_BESIDE])
    return Relevance(missing=tuple(word.word for word in missing) if beside else (), missing_with=beside)


def _find_held(words: Sequence[_Word], texts: Sequence[str], passages: Collection[int]) -> dict[str, float]:
    """How far each word stands in some passages or around them, or a word that is near to it, 0..1."""
    reached = {word.word: max((word.reached.get(i, 0.0) for i in passages), default=0.0) for word in words}
    sought = [word for word, share in reached.items() if share < NEAR]
    held = dict.fromkeys(reached, 1.0)
    around = {word for text in texts for word in words_of(text) if len(word) > 2} - terms.STOP_WORDS if sought else ()
    for word, cosine in zip(sought, builtin().nearest(sought, around), strict=True):
        share = (max(reached[word], cosine) - FAR) / (NEAR - FAR)
        is_unreadable = word.isalpha() and builtin().word_length(word) is None
        held[word] = min(max(share, UNREADABLE_WORD * is_unreadable), 1.0)
    return held


def _figure(words: Sequence[_Word]) -> float:
    """How much of these words the notes know, and one passage holds."""
    held: dict[int, float] = {}
    for word in words:
        for passage, share in word.reached.items():
            held[passage] = held.get(passage, 0.0) + word.weight * share
    most = max(held.values(), default=0.0)
    total, known = sum(word.weight for word in words), sum(word.weight * word.known for word in words)
    return (HELD_WEIGHT * most + KNOWN_WEIGHT * known) / (total + WEIGHT_BESIDES) + LENGTH_WEIGHT * math.log1p(most)


def _words(found: Candidates, finder: Finder, hits: Mapping[str, Collection[int]]) -> list[_Word]:
    counts = {phrase.casefold(): count for phrase, count in found.words.items()}
    capitalised = {name.casefold() for name in found.query.names}
    of_entities = {phrase.strip('"*').casefold() for phrase in found.naming}
    above = {phrase.casefold(): below for phrase, below in found.above.items()}
    words: list[_Word] = []
    for word in found.query.words:
        whole = [phrase.casefold() for phrase in terms.match_terms(word)]
        parts = [phrase for phrase in map(str.casefold, phrases_of([word])) if phrase not in whole]
        passages = max((counts.get(phrase, 0) for phrase in whole), default=0)
        is_name = bool(passages) and word in capitalised and (word in of_entities or bool(finder.names.note(word)))
        weight, length = 1.0, builtin().word_length(word)  # `HO-212` and `p95`, which have none, name one thing
        if not is_name and length is not None:
            weight = telling_weight(length)
        elif not is_name and passages and word.isalpha():
            total = found.totals.passages
            weight = min(inverse_frequency(total, passages) / inverse_frequency(total, 0), 1.0)
        if not passages and not any(phrase in counts for phrase in parts):
            words.append(_Word(word, weight, False, 0.0, {}))
            continue
        notes = {note for note, _ in finder.search.titles(whole, TITLES)} & found.title.keys() if whole else set()
        titled = [i for i, passage in found.passages.items() if passage.note_id in notes] if notes else []
        reached = {i: 1.0 if found.passages[i].note_id in found.called else TITLE_SHARE for i in titled}
        for share, phrases in ((PART_SHARE, parts), (1.0, whole)):
            for hit in {hit for phrase in phrases for hit in hits.get(phrase, ())}:
                for near, reach in neighbours(hit, found.passages):
                    reached[near] = max(reached.get(near, 0.0), share * reach)
        under = [above[phrase] for phrase in whole if phrase in above]
        holders = [titled] if word in capitalised or word in of_entities else [reached, *under]
        words.append(_Word(word, weight, is_name, 1.0 if passages else PART_SHARE, reached, holders))
    return words


def _find_weak(
    found: Candidates, finder: Finder, words: Sequence[_Word], hits: Mapping[str, Collection[int]]
) -> frozenset[int]:
    """The candidates that share at most a name with the question, they and their neighbours, and are far from its
    meaning, in notes called by none of its words: none that holds all of its words, be they all of names.

    Where more is asked than a name, so is what holds nothing else, which is near in meaning to whatever is asked of it.
    """
    telling = set[int]().union(*(each for word in words if word.weight for each in word.holders))
    if not telling:
        return frozenset()
    held = {w.word: {i for p in phrases_of([w.word]) for i in hits.get(p.casefold(), ())} for w in words}
    others = {word: set[int]().union(*(held[other] for other in held if other != word)) for word in held}
    rare = (own for word, own in held.items() if len(own) <= RARE_PASSAGES and own.isdisjoint(others[word]))
    telling.update(*rare)
    names = [word.word for word in words if word.is_name]
    bare = set[int]()
    if names and len(names) < len(words):
        idle = finder.lexicon.idle.union(*map(finder.lexicon.stems, names))
        bare = {i for name in names for i in held[name] if idle.issuperset(found.stems[i])}
    least = NEAR_SHARE * max((cosine for i, cosine in found.cosine.items() if i not in bare), default=0.0)
    weak = {i for i in found.passages if found.cosine.get(i, 0.0) < least} - telling
    weak -= set[int].intersection(*held.values())
    return frozenset(weak | bare if len(weak | bare) < len(found.passages) else weak)


def telling_weight(length: float) -> float:
    """How much a word tells by the length of its vector, 0..1."""
    return min(max((length - SAYS_NOTHING) / (SAYS_ALL - SAYS_NOTHING), 0.0), 1.0)


def find_least(finder: Finder) -> float:
    """The least figure of a question nobody asked for what a finder sees, from what everyday prompts reach there.

    Of several languages that of the notes reaches most.
    """
    now = datetime.now(UTC)
    highest = 0.0
    least_known = 0.0
    for language, prompts in PROMPTS.items():
        queries = [understand(Request(prompt, now, mode="lexical")) for prompt in prompts]
        phrases = [phrase for query in queries for phrase in query.phrases]
        known = sum(finder.lexicon.count(phrase).passages > 0 for phrase in phrases) / len(phrases)
        if known < least_known:
            continue
        if language == "en":
            least_known = OTHER_LANGUAGE * known
        reached = []
        for query in queries:
            found = finder.find(query)
            measurable = _is_measurable(found)
            reached.append(_figure(_words(found, finder, _hits(found, finder))) if measurable else math.inf)
        highest = max(highest, sorted(reached)[int(QUANTILE * len(reached))])
    return (highest + USUAL) / 2


def keep_least(store: Store) -> None:
    """Find the least figure of an index that has grown or shrunk much, for all who ask, and keep it in there."""
    finder = Finder(store.view(ALL))
    finder.refresh()
    least = find_least(finder)
    with store.writing():
        store.set_meta(META, f"{least:.4f}")


def kept_least(store: Store) -> float:
    """What `keep_least` kept, the usual figure in an index whose making was cut short."""
    return float(str(store.meta(META) or USUAL))


def is_informative(passage: Candidate) -> bool:
    """Whether a passage tells something by itself: no comment, query or chart does."""
    if passage.kind == ATTACHMENT or _QUERY.match(passage.text):
        return False
    if passage.section == ASIDE:  # an author or an address often stands in properties only
        return says_property(passage.text)
    return passage.kind != PAGE or not _CHART.match(passage.text)
