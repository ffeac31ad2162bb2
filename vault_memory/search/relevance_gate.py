"""Says whether the notes know anything of a question, against what everyday talk reaches in the same notes.

A word counts by how much it tells in general, which the length of its vector in the builtin embedder says; one that is
not whole there (a rare word, another language's) by its rarity in the notes, or wholly if it has more than letters or
is the name of an entity. A question's figure is mostly the share of its words' weight that one passage holds, with its
neighbours and its note's title. What `PROMPTS` of background_prompts.py reach, which have to do with no notes,
sets the least figures: in notes about programming a prompt about code must reach more.

Which passages are fit to be handed over unasked, since they tell something by themselves, is said here too.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from vault_memory.embedding.builtin_embedder import StaticEmbedder
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

_COMMENT = re.compile(r"%%|<!--|-->")
_PROPERTY = re.compile(r"(\w[\w .-]*):(?=[ \t\r\n]|$)")

_OF_THE_FILE = re.compile(
    r"(?:title|alias(?:es)?|tags?|type|date|day|created|modified|updated|kind|by|scope|u?id|cssclass(?:es)?|publish"
    r"|permalink)?",
    re.IGNORECASE,
)
"""Properties that tell of a file what its name, path and links tell as well; a line below none is like them."""


class Bounds(NamedTuple):
    """The least figures of a question nobody asked, and of one that somebody asked, for the notes to know of it.

    Each lies halfway between what `PROMPTS` reach (that share of them) in these notes and what is usual.
    """

    unasked: float
    asked: float


QUANTILES, USUAL = Bounds(0.9, 0.5), Bounds(1.05, 0.9)
"""On seven vaults of four kinds 2 to 7 % of other everyday prompts pass unasked, a sixth in notes on programming."""

OTHER_LANGUAGE = 0.5
"""A language is tried where the notes know at least this share as much of its prompts' words as of the English ones'.
English notes know .05 to .52 as much: a sixth to a third of the time is saved there."""

META = "relevance@3"
"""The index's value that keeps them. Raise `relevance` in store/schema.py when the figures change."""

NEAR_SHARE = 0.6
"""A cosine below this share of the closest passage's is far: of 588 questions on seven vaults four lose their line, and
4 to 6 % of twenty lines go in conversations, a tenth of the sample vault's."""

TELLING_WEIGHT = 0.5
"""The weight from which on a word that does not stand there says that something is not known."""

LEAST_ASKED_WEIGHT = 0.3
"""The weight that words beside a name must have to ask anything of it: "hi" has .25, "morning" .29, "key" .33."""

TITLES = 200
"""In so many notes' titles a word is looked for."""


class Relevance(NamedTuple):
    """What the notes hold of one question."""

    figure: float = math.inf
    """Of all of it: to be measured against the bounds of the vault (`find_bounds`) where nobody asked."""
    asked: float = math.inf
    """Of what is asked of the names in it, in what is about them: to be measured where somebody asked."""
    asks: bool = True
    """Whether it asks for more than is known by its names: "Hi Peter" does not."""
    unknown: tuple[str, ...] = ()
    """Its telling words that no note has."""
    apart: tuple[str, ...] = ()
    """Else those that none has which is about the names in it."""
    names: tuple[str, ...] = ()
    """These names."""
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
    told_by: Sequence[Collection[int]] = ()
    """The candidates that are about it."""


def find_relevance(found: Candidates, finder: Finder, embedder: StaticEmbedder) -> Relevance:
    """How much of a question the notes know."""
    # A time or a file is there or not; pairs of characters, by which some scripts are searched, are mostly no words.
    if (
        found.mode == "semantic"
        or found.only_time
        or max(found.title.values(), default=0.0) >= FILE_SCORE
        or terms.RUN.search(found.query.text)
    ):
        return Relevance()
    # What stands in most passages is not searched for, yet counts here: a speaker's name, in a conversation.
    common = finder.find_hits([phrase for phrase in found.words if phrase not in found.hits], found.stems)
    hits = {phrase.casefold(): held for phrase, held in (*found.hits.items(), *common.items())}
    words = _words(found, finder, embedder, hits)
    names = [word for word in words if word.is_name]
    rest = [word for word in words if not word.is_name]
    about = set(found.about).union(*(word.reached for word in names)) if names else None
    # That a name is known says nothing of what is asked of it: Bram may be known, and no favourite colour of his.
    telling = {word.word: word for word in rest if word.weight >= TELLING_WEIGHT}
    unknown = tuple(word for word in found.query.unknown(found.words) if word in telling)
    apart: tuple[str, ...] = ()
    if about is not None and not unknown:
        elsewhere = [word for word, each in telling.items() if each.known and about.isdisjoint(each.reached)]
        apart = tuple(found.query.without_idle(elsewhere))
    return Relevance(
        figure=_figure(words),
        asked=_figure(rest, about),
        asks=sum(word.weight * word.known for word in rest) >= LEAST_ASKED_WEIGHT,
        unknown=unknown,
        apart=apart,
        names=tuple(word.word for word in names),
        weak=_find_weak(found, finder, words, hits),
    )


def _figure(words: Sequence[_Word], among: Collection[int] | None = None) -> float:
    """How much of these words the notes know, and one passage (of some) holds."""
    held: dict[int, float] = {}
    for word in words:
        for passage, share in word.reached.items():
            held[passage] = held.get(passage, 0.0) + word.weight * share
    most = max((held[i] for i in held if among is None or i in among), default=0.0)
    total, known = sum(word.weight for word in words), sum(word.weight * word.known for word in words)
    return (HELD_WEIGHT * most + KNOWN_WEIGHT * known) / (total + WEIGHT_BESIDES) + LENGTH_WEIGHT * math.log1p(most)


def _words(
    found: Candidates, finder: Finder, embedder: StaticEmbedder, hits: Mapping[str, Collection[int]]
) -> list[_Word]:
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
        weight, length = 1.0, embedder.word_length(word)  # `HO-212` and `p95`, which have none, name one thing
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
        reached = dict.fromkeys(titled, TITLE_SHARE)
        for share, phrases in ((PART_SHARE, parts), (1.0, whole)):
            for hit in {hit for phrase in phrases for hit in hits.get(phrase, ())}:
                for near, reach in neighbours(hit, found.passages):
                    reached[near] = max(reached.get(near, 0.0), share * reach)
        under = [above[phrase] for phrase in whole if phrase in above]
        told_by = [titled] if word in capitalised or word in of_entities else [reached, *under]
        words.append(_Word(word, weight, is_name, 1.0 if passages else PART_SHARE, reached, told_by))
    return words


def _find_weak(
    found: Candidates, finder: Finder, words: Sequence[_Word], hits: Mapping[str, Collection[int]]
) -> frozenset[int]:
    """The candidates that share at most a name with the question, they and their neighbours, and are far from its
    meaning, in notes called by none of its words: none that holds all of its words, be they all of names.

    Where more is asked than a name, so is what holds nothing else, which is near in meaning to whatever is asked of it.
    """
    telling = set[int]().union(*(each for word in words if word.weight for each in word.told_by))
    if not telling:
        return frozenset()
    held = {w.word: {i for p in phrases_of([w.word]) for i in hits.get(p.casefold(), ())} for w in words}
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


def find_bounds(finder: Finder, embedder: StaticEmbedder) -> Bounds:
    """The bounds for what a finder sees, from what everyday prompts reach there.

    Of several languages that of the notes reaches most. It takes 0.4 to 0.7 s for 800 to 1,000 notes (2,400 to 7,000
    passages).
    """
    now = datetime.now(UTC)
    unasked, asked = [], []
    least_known = 0.0
    for language, prompts in PROMPTS.items():
        queries = [understand(Request(prompt, now, mode="lexical")) for prompt in prompts]
        phrases = [phrase for query in queries for phrase in query.phrases]
        known = sum(finder.lexicon.count(phrase).passages > 0 for phrase in phrases) / len(phrases)
        if known < least_known:
            continue
        if language == "en":
            least_known = OTHER_LANGUAGE * known
        reached = sorted(find_relevance(finder.find(query), finder, embedder).figure for query in queries)
        unasked.append(reached[int(QUANTILES.unasked * len(reached))])
        asked.append(reached[int(QUANTILES.asked * len(reached))])
    return Bounds((max(unasked) + USUAL.unasked) / 2, (max(asked) + USUAL.asked) / 2)


def keep_bounds(store: Store, embedder: StaticEmbedder) -> None:
    """Find the bounds of an index that has grown or shrunk much, for all who ask, and keep them in it."""
    finder = Finder(store.view(ALL))
    finder.refresh()
    bounds = find_bounds(finder, embedder)
    with store.writing():
        store.set_meta(META, f"{bounds.unasked:.4f} {bounds.asked:.4f}")


def kept_bounds(store: Store) -> Bounds | None:
    """What `keep_bounds` kept; None for an index whose making was cut short."""
    kept = str(store.meta(META) or "").split()[-2:]
    return Bounds(*map(float, kept)) if kept else None


def tells(passage: Candidate) -> bool:
    """Whether a passage tells something by itself: no comment, query or chart does."""
    if passage.kind == ATTACHMENT or _QUERY.match(passage.text):
        return False
    if passage.section == ASIDE:  # an author or an address often stands in properties only
        return _says_a_property(passage.text)
    return passage.kind != PAGE or not _CHART.match(passage.text)


def _says_a_property(text: str) -> bool:
    if _COMMENT.search(text):
        return False
    name = ""
    for line in text.split("\n"):
        named = _PROPERTY.match(line)
        name = named[1] if named else name
        value = line[named.end() :] if named else line
        if not _OF_THE_FILE.fullmatch(name) and value.strip(" \t\r-\"'[]{}~"):
            return True
    return False
