"""Says whether the notes know anything of a question, against what everyday talk reaches in the same notes.

A word counts by how much it tells in general, which the length of its vector in the builtin embedder says; one that is
not whole there (a rare word, another language's) by its rarity in the notes, or wholly if it has more than letters or
is the name of an entity. A question's figure is mostly the share of its words' weight that one passage holds, with its
neighbours and its note's title. What `everyday.PROMPTS` reach, which have to do with no notes, sets the least figures:
in notes about programming a prompt about code must reach more.

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
from vault_memory.search.candidates import FILE, Candidates, Finder, inverse_frequency, neighbours
from vault_memory.search.everyday import PROMPTS
from vault_memory.search.query import phrases_of, understand
from vault_memory.store.view import ALL, ATTACHMENT, PAGE, Candidate, Store
from vault_memory.text import terms

SAYS_NOTHING, SAYS_ALL = 0.8, 2.2
"""The lengths of word vectors from which a word begins to tell something ("back" .95, "good" .74) and tells all there
is ("dentist" 2.96, "obsidian" 2.1)."""

PART, TITLE = 0.5, 0.6
"""What it counts that only parts of a word (`tile-server`) stand somewhere, or a word in the note's title."""

BESIDES = 1.5
"""Added to the weight of a question's words: of a prompt with one weak word a passage always holds all."""

HELD, KNOWN, LONG = 3.0, 1.0, -0.5
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

    Each lies halfway between what `everyday.PROMPTS` reach (that share of them) in these notes and what is usual.
    """

    unasked: float
    asked: float


QUANTILES, USUAL = Bounds(0.9, 0.5), Bounds(1.05, 0.9)
"""On seven vaults of four kinds 2 to 7 % of other everyday prompts pass unasked, a sixth in notes on programming."""

META = "relevance@1"
"""The index's value that keeps them. Raise `relevance` in store/schema.py when the figures below change."""

NEAR = 0.6
"""A cosine below this share of the closest passage's is far: of 588 questions on seven vaults four lose their line, and
4 to 6 % of twenty lines go in conversations, a tenth of the sample vault's."""

MUCH = 0.5
"""The weight from which on a word that stands nowhere says that something is not known."""

TITLES = 200
"""In so many notes' titles a word is looked for."""


def find_relevance(found: Candidates, finder: Finder, embedder: StaticEmbedder) -> tuple[float, frozenset[int]]:
    """How much of a question the notes know, to be measured against `Bounds`, and which candidates are weak."""
    # A time or a file is there or not; pairs of characters, by which some scripts are searched, are mostly no words.
    if (
        found.mode == "semantic"
        or found.only_time
        or max(found.title.values(), default=0.0) >= FILE
        or terms.RUN.search(found.query.text)
    ):
        return math.inf, frozenset()
    counts = {phrase.casefold(): count for phrase, count in found.words.items()}
    # What stands in most passages is not searched for, yet counts here: a speaker's name, in a conversation.
    common = finder.find_hits([phrase for phrase in found.words if phrase not in found.hits], found.stems)
    hits = {phrase.casefold(): held for phrase, held in (*found.hits.items(), *common.items())}
    capitalised = {name.casefold() for name in found.query.names}
    of_entities = {phrase.strip('"*').casefold() for phrase in found.naming}
    above = {phrase.casefold(): below for phrase, below in found.above.items()}
    held: dict[int, float] = {}
    telling: set[int] = set()
    total = known = 0.0
    for word in found.query.words:
        whole = [phrase.casefold() for phrase in terms.match_terms(word)]
        parts = [phrase for phrase in map(str.casefold, phrases_of([word])) if phrase not in whole]
        passages = max((counts.get(phrase, 0) for phrase in whole), default=0)
        is_known_name = passages and word in capitalised & of_entities
        weight = 1.0 if is_known_name else _weight(word, passages, found, embedder)
        total += weight
        if not passages and not any(phrase in counts for phrase in parts):
            continue
        known += weight * (1.0 if passages else PART)
        titled = _titled(found, finder, whole)
        reached = dict.fromkeys(titled, TITLE)
        for share, phrases in ((PART, parts), (1.0, whole)):
            for hit in {hit for phrase in phrases for hit in hits.get(phrase, ())}:
                for near, reach in neighbours(hit, found.passages):
                    reached[near] = max(reached.get(near, 0.0), share * reach)
        for passage, share in reached.items():
            held[passage] = held.get(passage, 0.0) + weight * share
        if weight:
            under = (above.get(phrase, ()) for phrase in whole)
            telling.update(*([titled] if word in capitalised | of_entities else [reached, *under]))
    most = max(held.values(), default=0.0)
    figure = (HELD * most + KNOWN * known) / (total + BESIDES) + LONG * math.log1p(most)
    return figure, _find_weak(found, telling, hits) if telling else frozenset()


def _find_weak(found: Candidates, telling: Collection[int], hits: Mapping[str, Collection[int]]) -> frozenset[int]:
    """The candidates that share at most a name with the question, they and their neighbours, and are far from its
    meaning, in notes called by none of its words: none that holds all of its words, be they all of names."""
    held = [{i for phrase in phrases_of([word]) for i in hits.get(phrase.casefold(), ())} for word in found.query.words]
    whole = set.intersection(*held) if len(held) > 1 else set()
    least = NEAR * max(found.cosine.values(), default=0.0)
    far = (i for i in found.passages if found.cosine.get(i, 0.0) < least)
    return frozenset(i for i in far if i not in telling and i not in whole)


def telling_weight(length: float) -> float:
    """How much a word tells by the length of its vector, 0..1."""
    return min(max((length - SAYS_NOTHING) / (SAYS_ALL - SAYS_NOTHING), 0.0), 1.0)


def _weight(word: str, passages: int, found: Candidates, embedder: StaticEmbedder) -> float:
    """How much a word tells, 0..1; so many passages hold it."""
    length = embedder.word_length(word)
    if length is not None:
        return telling_weight(length)
    if not passages or not word.isalpha():  # `HO-212` and `p95` name one thing
        return 1.0
    total = found.totals.passages
    return min(inverse_frequency(total, passages) / inverse_frequency(total, 0), 1.0)


def _titled(found: Candidates, finder: Finder, phrases: Sequence[str]) -> list[int]:
    """The candidates in notes whose title, names, path or tags hold a word."""
    notes = {note for note, _ in finder.search.titles(phrases, TITLES)} & found.title.keys() if phrases else set()
    return [i for i, passage in found.passages.items() if passage.note_id in notes] if notes else []


def unknown_words(found: Candidates, embedder: StaticEmbedder) -> list[str]:
    """The words of a question that tell much and stand nowhere."""
    unknown = found.query.unknown(found.words)
    return [word for word in unknown if _weight(word, 0, found, embedder) >= MUCH]


def find_bounds(finder: Finder, embedder: StaticEmbedder) -> Bounds:
    """The bounds for what a finder sees, from what everyday prompts reach there: 0.1 s for 1,000 notes."""
    now = datetime.now(UTC)
    reached = sorted(
        find_relevance(finder.find(understand(Request(prompt, now, mode="lexical"))), finder, embedder)[0]
        for prompt in PROMPTS
    )
    asked, unasked = (reached[int(share * len(reached))] for share in (QUANTILES.asked, QUANTILES.unasked))
    return Bounds((unasked + USUAL.unasked) / 2, (asked + USUAL.asked) / 2)


def keep_bounds(store: Store, embedder: StaticEmbedder) -> None:
    """Find the bounds of an index that has grown or shrunk much, for all who ask, and keep them in it."""
    view = store.view(ALL)
    finder = Finder(view, embedder)
    finder.refresh()
    value = written_bounds(view.totals().passages, find_bounds(finder, embedder))
    with store.writing():
        store.set_meta(META, value)


def written_bounds(passages: int, bounds: Bounds) -> str:
    """The bounds for so many passages, as the index keeps them."""
    return f"{passages} {bounds.unasked:.4f} {bounds.asked:.4f}"


def parsed_bounds(value: str | int | None) -> tuple[int, Bounds] | None:
    """What `written_bounds` wrote; None for anything else."""
    match str(value).split():
        case [passages, unasked, asked]:
            return int(passages), Bounds(float(unasked), float(asked))
    return None


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
