"""Decides whether the notes know anything about a question, and which candidates are relevant enough to show.

A question that was asked is known if its words, or words near them in the builtin vectors, occur in the best passages:
"surgery" is near "surgeon", "blood type" near nothing. For an unsolicited answer a single passage must match more of
the prompt than everyday talk matches in the same notes: the threshold that relevance_threshold.py computes.

`is_informative` tells which passages are worth showing unsolicited, since they make sense by themselves.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence, Set
from typing import NamedTuple

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.embedding.builtin_embedder import words as words_of
from vault_memory.markdown.note import ASIDE, says_property
from vault_memory.search.answer import CLOSEST
from vault_memory.search.candidates import FILE_SCORE, Candidates, Finder, inverse_frequency, neighbours
from vault_memory.search.query import phrases_of
from vault_memory.store.view import ATTACHMENT, PAGE, Candidate, Store
from vault_memory.text import terms

SAYS_NOTHING, SAYS_ALL = 0.8, 2.2
"""Word-vector lengths at which a word's weight leaves 0 ("back" .95, "good" .74) and reaches 1 ("dentist" 2.96,
"obsidian" 2.1)."""

PART_SHARE, TITLE_SHARE = 0.5, 0.6
"""Weight of a word of which only parts occur (`tile-server`), and of a word in the note's title."""

MOST_LACKING, WORDS_BESIDES = 0.2, 0.5
"""A question is known if at most this share of its words' weight is missing, with WORDS_BESIDES added to the total. Of
470 answerable questions over seven vaults, 120 of them paraphrased, .92 are known; of 400 others, most of them about a
known name, .44 are recognised as not known."""

BEST_PASSAGES = 25
"""How many passages are searched for a question's words: recognises .05 more of the unanswerable than ten do."""

FAR, NEAR = 0.2, 0.5
"""Cosines at which one word begins to stand for another ("sick" and "ill" .28) and does so fully ("film" and "movie"
.65). By exact words alone .26 of the unanswerable are recognised instead of .45, at the same share of known ones."""

UNREADABLE_WORD = 0.25
"""Match assumed for a word without a vector (`tmux`, or a foreign word) that occurs nowhere: at .5, three more of
twenty short unanswerable questions passed as known."""

MOST_BESIDE = 2
"""Where words are missing beside others, at most this many of the others are named."""

WEIGHT_BESIDES = 1.5
"""Added to the total weight of a question's words, since a passage always matches all of a prompt with one weak word.
"""

HELD_WEIGHT, KNOWN_WEIGHT, LENGTH_WEIGHT = 3.0, 1.0, -0.5
"""Weights of the share that one passage matches, of the share that occurs anywhere, and of the log of the matched
weight: much of a long prompt matches by chance. From a logistic regression over 850 questions and 230 prompts on seven
vaults, rounded; leaving a vault out hardly changes the separation on it."""


_CHART = re.compile(r"[ \t]*- [▁-█]+ ")
"""An opinion's history as a sparkline (reflect/opinion_page.py)."""

_QUERY = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?:dataview(?:js)?|tasks|query|base|chart)\b", re.IGNORECASE)
"""Code run by an Obsidian plugin: what it finds or draws is elsewhere."""


USUAL = 1.05
"""The usual threshold for unsolicited answers (relevance_threshold.py)."""

META = "relevance@4"
"""The index's metadata key of the threshold. Raise `relevance` in store/schema.py when the figures change."""

NEAR_SHARE = 0.6
"""A cosine below this share of the best passage's counts as far. Of 588 questions on seven vaults, four lose their
line; of twenty lines, 4 to 6 % are dropped in conversations and a tenth in the sample vault."""

BESIDE_SHARE = 0.3
"""The same for passages about a name, measured without it: 8 instead of 14 of 31 lines that share only the name are
handed over, and of 40 questions about names none loses its line (at .6 6 are, but "texts" is no longer near
"messages")."""

LEAST_ASKED_WEIGHT = 0.3
"""The least weight at which words ask something about the names beside them: "hi" has .25, "morning" .29, "key" .33."""

RARE_PASSAGES = 20
"""If a word is in at most this many candidates, and in none together with another word of the question, those are not
weak: they are all there is about it."""

TITLES = 200
"""The most notes looked up by a title word."""


class Relevance(NamedTuple):
    """What the notes know about one question."""

    score: float = math.inf
    """Compared with the vault's threshold (`load_threshold`) for unsolicited answers."""
    asks: bool = True
    """Whether it asks for a name alone ("Who is Peter?") or for something more; "Hi Peter" does neither."""
    missing: tuple[str, ...] = ()
    """The words that make the question not known."""
    missing_with: tuple[str, ...] = ()
    """The words beside which no note has the missing ones, if those do occur elsewhere."""
    weak: frozenset[int] = frozenset()
    """The candidates that hardly concern it."""
    hidden: tuple[int, ...] = ()
    """The best passages with its rare words, if those about its name would hide them."""


class _Word(NamedTuple):
    """What is known of one word of a question."""

    word: str
    weight: float
    is_name: bool
    """Whether it names an entity that the notes know."""
    known: float = 0.0
    """1 if it occurs anywhere, PART_SHARE if only parts of it do, else 0."""
    hits: Set[int] = frozenset()
    """The candidates that contain it or a part of it."""
    match: Mapping[int, float] = {}
    """How well each candidate matches it, with its neighbours and its note's title, 0..1."""
    strong: Collection[int] = ()
    """The candidates that are never weak, since they match it; of a name only those in a note with that title."""


def find_relevance(found: Candidates, finder: Finder, ranked: Sequence[int]) -> Relevance:
    """Measure how much of a question the notes know, whose best `ranked` passages must contain its words."""
    if not _is_measurable(found):
        return Relevance()
    words = _measured_words(found, finder)
    relevance = _find_missing(found, words, ranked[:BEST_PASSAGES]) if ranked else Relevance()
    return relevance._replace(
        score=_score(words),
        asks=not found.query.request.unasked or _asks(found, [word for word in words if not word.is_name]),
        weak=_find_weak(found, finder, words, () if relevance.missing else ranked),
        hidden=_find_hidden(found, words, ranked),
    )


def find_score(found: Candidates, finder: Finder) -> float:
    """Return only the score of a question's `Relevance`."""
    return _score(_measured_words(found, finder)) if _is_measurable(found) else math.inf


def _asks(found: Candidates, besides: Sequence[_Word]) -> bool:
    """Return whether words besides names ask for something, or there are none ("Who is Peter?", "Wer ist Peter?").

    After an interrogative any word does: "where does Peter live?" asks, "hi Peter" does not.
    """
    if sum(word.weight * word.known for word in besides) >= LEAST_ASKED_WEIGHT:
        return True
    if found.query.text.rstrip().endswith("?"):
        from vault_memory.text.word_classes import grammars, words_of  # lazy: only hooks ask for this

        first = words_of(found.query.text)[:1]
        if any(grammar.has("interrogatives", first) for grammar in grammars()):
            return True
    return not besides or not {word.word for word in besides} & set(found.query.unknown(()))


def _is_measurable(found: Candidates) -> bool:
    """Times and files are simply found or not; the character pairs used for some scripts are not words to measure."""
    return not (
        found.mode == "semantic"
        or found.only_time
        or max(found.title.values(), default=0.0) >= FILE_SCORE
        or terms.RUN.search(found.query.text)
    )


def _find_missing(found: Candidates, words: Sequence[_Word], best: Sequence[int]) -> Relevance:
    """Find the words missing from the best passages, counting only passages about the names in the question, if any.

    A known name says nothing about what is asked of it: Bram may be known, but not his favourite colour.
    """
    names, asked = [word for word in words if word.is_name], [word for word in words if not word.is_name]
    about_names = set(found.entity).union(*(name.match for name in names))
    held = _match_in(
        [i for i in best if not names or i in about_names],
        [word for word in asked if word.weight],
        # If no word occurs anywhere, a near word is only a guess.
        found.passages if any(word.known for word in words) else {},
    )
    share = {word.word: min(word.weight / LEAST_ASKED_WEIGHT, 1.0) for word in asked}
    lack = {word: weight * (1 - held.get(word, 1.0)) for word, weight in share.items()}
    if sum(lack.values()) < MOST_LACKING * WORDS_BESIDES:
        return Relevance()
    content_words = found.query.unknown(())  # only now: this reads the grammar of all languages
    asked = [word for word in asked if word.word in content_words]
    total = sum(share[word.word] for word in asked) + WORDS_BESIDES
    if sum(lack[word.word] for word in asked) < MOST_LACKING * total:
        return Relevance()

    # The question is not known: because of the words that are nowhere, else of those that never stand beside others.
    least = max(UNREADABLE_WORD, min(held.values()))
    missing = [word for word in asked if held.get(word.word, 1.0) <= least]
    if nowhere := tuple(word.word for word in missing if not word.known):
        return Relevance(missing=nowhere)
    others = sorted((word for word in asked if word not in missing), key=lambda word: -word.weight)
    written = {name.casefold(): name for name in found.query.names}
    beside = tuple(written.get(word.word, word.word) for word in names or others[:MOST_BESIDE])
    return Relevance(missing=tuple(word.word for word in missing) if beside else (), missing_with=beside)


def _match_in(ids: Sequence[int], words: Sequence[_Word], passages: Mapping[int, Candidate]) -> dict[str, float]:
    """Return how well some passages, or words in them that are near in meaning, match each word at best, 0..1."""
    exact = {word.word: max((word.match.get(i, 0.0) for i in ids), default=0.0) for word in words}
    unsure = [word for word, share in exact.items() if share < NEAR]
    texts = [passages[i].text for i in ids if i in passages] if unsure else []
    around = {word for text in texts for word in words_of(text) if len(word) > 2} - terms.STOP_WORDS
    match = dict.fromkeys(exact, 1.0)
    for word, cosine in zip(unsure, builtin().nearest(unsure, around), strict=True):
        share = (max(exact[word], cosine) - FAR) / (NEAR - FAR)
        is_unreadable = word.isalpha() and builtin().word_length(word) is None
        match[word] = min(max(share, UNREADABLE_WORD * is_unreadable), 1.0)
    return match


def _score(words: Sequence[_Word]) -> float:
    """Combine how much of these words the notes know and how much a single passage contains."""
    matched: dict[int, float] = {}
    for word in words:
        for passage, share in word.match.items():
            matched[passage] = matched.get(passage, 0.0) + word.weight * share
    most = max(matched.values(), default=0.0)
    total, known = sum(word.weight for word in words), sum(word.weight * word.known for word in words)
    return (HELD_WEIGHT * most + KNOWN_WEIGHT * known) / (total + WEIGHT_BESIDES) + LENGTH_WEIGHT * math.log1p(most)


def _measured_words(found: Candidates, finder: Finder) -> list[_Word]:
    # Terms too common to be searched count here, such as a speaker's name. A question's words are case folded.
    common = finder.find_hits([phrase for phrase in found.words if phrase not in found.hits], found.stems)
    hits = {phrase.casefold(): held for phrase, held in (*found.hits.items(), *common.items())}
    counts = {phrase.casefold(): count for phrase, count in found.words.items()}
    heading_hits = {phrase.casefold(): below for phrase, below in found.heading_hits.items()}
    capitalised = {name.casefold() for name in found.query.names}
    of_entities = {phrase.strip('"*').casefold() for phrase in found.name_terms}
    words: list[_Word] = []
    for word in found.query.words:
        whole = [phrase.casefold() for phrase in terms.match_terms(word)]
        parts = [phrase for phrase in map(str.casefold, phrases_of([word])) if phrase not in whole]
        passages = max((counts.get(phrase, 0) for phrase in whole), default=0)

        is_name = bool(passages) and word in capitalised and (word in of_entities or bool(finder.names.note(word)))
        weight, length = 1.0, builtin().word_length(word)  # `HO-212` and `p95` have none: they name one thing
        if not is_name and length is not None:
            weight = telling_weight(length)
        elif not is_name and passages and word.isalpha():
            total = found.totals.passages
            weight = min(inverse_frequency(total, passages) / inverse_frequency(total, 0), 1.0)
        if not passages and not any(phrase in counts for phrase in parts):
            words.append(_Word(word, weight, False))
            continue

        notes = {note for note, _ in finder.search.titles(whole, TITLES)} & found.title.keys() if whole else set()
        titled = [i for i, passage in found.passages.items() if passage.note_id in notes] if notes else []
        match = {i: 1.0 if found.passages[i].note_id in found.named_notes else TITLE_SHARE for i in titled}
        of_whole, of_parts = ({i for p in phrases for i in hits.get(p, ())} for phrases in (whole, parts))
        for share, hit_by in ((PART_SHARE, of_parts), (1.0, of_whole)):
            for hit in hit_by:
                for near, reach in neighbours(hit, found.passages):
                    match[near] = max(match.get(near, 0.0), share * reach)
        headed = set().union(*(heading_hits.get(phrase, ()) for phrase in whole))
        strong = titled if word in capitalised or word in of_entities else headed.union(match)
        known = 1.0 if passages else PART_SHARE
        words.append(_Word(word, weight, is_name, known, of_whole | of_parts, match, strong))
    return words


def _find_weak(found: Candidates, finder: Finder, words: Sequence[_Word], ranked: Sequence[int]) -> frozenset[int]:
    """Return the candidates that, with their neighbours and title, share at most a name with the question and are far
    from its meaning. One that contains all of its words is never weak, even if they are all names.

    If the question asks for more than a name, passages of nothing but the name are weak too: their vectors are near
    any question about it. If the notes know what is asked (`ranked`), so are those far from it but for the name.
    """
    strong = set[int]().union(*(word.strong for word in words if word.weight))
    if not strong:
        return frozenset()
    hits = {word.word: set(word.hits) for word in words}
    for word, own in hits.items():
        if len(own) <= RARE_PASSAGES and not any(own & others for other, others in hits.items() if other != word):
            strong |= own
    names = [word.word for word in words if word.is_name]
    bare = set[int]()
    if names and len(names) < len(words):
        idle = finder.lexicon.stop_stems.union(*map(finder.lexicon.stems, names))
        bare = {i for name in names for i in hits[name] if idle.issuperset(found.stems[i])}
        bare |= _find_beside(found, finder, words, bare).difference(ranked[:CLOSEST]) if ranked else set()
    if found.query.window:  # its days are near what is asked
        return frozenset(bare)
    least = NEAR_SHARE * max((cosine for i, cosine in found.cosine.items() if i not in bare), default=0.0)
    weak = {i for i in found.passages if found.cosine.get(i, 0.0) < least} - strong
    weak -= set[int].intersection(*hits.values())
    return frozenset(weak | bare if len(weak | bare) < len(found.passages) else weak)


def _find_beside(found: Candidates, finder: Finder, words: Sequence[_Word], bare: Set[int]) -> set[int]:
    """Return the passages about the question's names that are far from the rest of it and contain none of its words."""
    others = [word for word in words if not word.is_name]
    asked = [word for word in others if word.known and word.weight >= LEAST_ASKED_WEIGHT]
    if not asked:
        return set()
    named = set(found.entity).union(*(word.hits for word in words if word.is_name)) - bare
    nearness = finder.cosines(" ".join(word.word for word in others), found)
    least = BESIDE_SHARE * max((nearness.get(i, 0.0) for i in named), default=0.0)
    said = {i for word in others for i in word.hits if word in asked or len(word.hits) <= RARE_PASSAGES}
    return {i for i in named if nearness.get(i, 0.0) < least} - said


def _find_hidden(found: Candidates, words: Sequence[_Word], ranked: Sequence[int]) -> tuple[int, ...]:
    """Return the best passages with the rare words of a question about a name, if none of the first CLOSEST has them.

    What the name's page and facts gain for the name would otherwise hide the line that answers without saying it.
    Words that hardly ask for anything ("thanks", "new") do not count, however rare.
    """
    others = [word for word in words if not word.is_name]
    if len(others) == len(words) or found.query.request.preset != "tuned":
        return ()
    texts = [i for i in ranked if i in found.passages and 0 <= found.passages[i].section < ASIDE]
    left = [
        word
        for word in others
        if word.weight >= LEAST_ASKED_WEIGHT
        and 0 < len(word.hits) <= RARE_PASSAGES
        and word.hits.isdisjoint(ranked[:CLOSEST])
    ]

    def weights(passage: int) -> tuple[float, float]:
        rare, every = (sum(word.weight for word in some if passage in word.hits) for some in (left, others))
        return rare, every

    hidden = list[int]()
    while left and texts and len(hidden) < CLOSEST - 1:
        best = max(texts, key=weights)  # the first of equals
        if not weights(best)[0]:
            break
        hidden.append(best)
        left = [word for word in left if best not in word.hits]
    return tuple(hidden)


def telling_weight(length: float) -> float:
    """Return a word's weight by the length of its vector, 0..1."""
    return min(max((length - SAYS_NOTHING) / (SAYS_ALL - SAYS_NOTHING), 0.0), 1.0)


def load_threshold(store: Store) -> float:
    """Return the threshold that an index has stored, or the usual one if its build was interrupted."""
    return float(str(store.meta(META) or USUAL))


def is_informative(passage: Candidate) -> bool:
    """Return whether a passage makes sense by itself: comments, plugin queries and charts do not."""
    if passage.kind == ATTACHMENT or _QUERY.match(passage.text):
        return False
    if passage.section == ASIDE:  # an author or an address is often only in the properties
        return says_property(passage.text)
    return passage.kind != PAGE or not _CHART.match(passage.text)
