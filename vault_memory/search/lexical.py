"""Owns the lexical lane: which words of a question tell something, where they stand, what FTS5 finds by them."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from vault_memory.markdown.entities import slug
from vault_memory.search.query import Question
from vault_memory.search.rank import count_stems
from vault_memory.store.lanes import Search
from vault_memory.store.lexicon import Holding, Lexicon
from vault_memory.store.row_cache import NoteInfo
from vault_memory.store.term_cache import HeldPostings
from vault_memory.store.view import View

COUNTED = 5_000
"""Up to so many entries of FTS5's lists what lies beyond the pool is counted; of more it is said at least."""

POSTINGS = 20_000
"""FTS5 reads so many entries of its lists for a question (0.7 µs each), or one list: the rarest terms first."""

COMMON = 2
"""A term in more than one of so many passages tells nothing and is not searched, unless there is no other."""

NAMED, FILE = 3.0, 8.0
"""How well a note's title matches that is all of the question, and when it names its file; the best by words is 1."""

NAMESAKES = 20
"""Among so many of the best titles one that is the whole question is looked for."""


class WordLane:
    """The lane over one open store."""

    def __init__(self, store: View, search: Search) -> None:
        self._search = search
        self.lexicon = Lexicon(store)
        self._postings = HeldPostings(store)

    def look_again(self) -> None:
        """Forget what was known of the whole index: it has changed."""
        self.lexicon.look_again()
        self._postings.look_again()

    def counts(self, question: Question) -> dict[str, Holding]:
        """Where each of the question's phrases stands."""
        return {phrase: self.lexicon.count(phrase) for phrase in question.phrases}

    def known(self, counts: Mapping[str, Holding], titled: bool) -> dict[str, int]:
        """In how many passages each phrase stands that stands anywhere: what a title alone has counts as one."""
        in_titles = (p for p, held in counts.items() if titled and not held.passages and self._search.titles((p,), 1))
        return {p: held.passages for p, held in counts.items() if held.passages} | dict.fromkeys(in_titles, 1)

    def telling(self, counts: Mapping[str, Holding], passages: int) -> dict[str, Holding]:
        """The phrases that tell something in so many passages, with where they stand; all that occur if none does."""
        present = {phrase: found for phrase, found in counts.items() if found.passages}
        return {p: found for p, found in present.items() if found.passages * COMMON <= passages} or present

    def lexical(self, held: Mapping[str, Holding], question: Question, pool: int) -> dict[int, float]:
        """The score of each of the best passages by BM25, best first."""
        if held:
            searched = _searched(held)
            found = self.held(searched, pool)
            return dict(self._search.lexical(searched, pool) if found is None else self._search.in_order(found, pool))
        if question.phrases or question.window or not question.text.strip():
            return {}
        # Nothing but punctuation was asked for: the only way is to read.
        return dict.fromkeys(self._search.substring(question.text.strip(), pool), 1.0)

    def held(self, phrases: Sequence[str], pool: int) -> list[tuple[int, float]] | None:
        """What the lexical lane finds by lists that are held; None where FTS5 is to be asked."""
        stems = [self.lexicon.stems(phrase.strip('"')) for phrase in phrases]
        if (
            self._search.allowed.is_filtered
            or any(len(found) != 1 for found in stems)
            or any("*" in p for p in phrases)
        ):
            return None
        return self._postings.best([found[0] for found in stems], pool)

    def beyond(self, held: Mapping[str, Holding], hits: Mapping[str, Mapping[int, int]]) -> int:
        """How many passages that hold a searched word are no candidates: counted, or at least so many."""
        counts = {phrase: held[phrase].passages for phrase in _searched(held)}
        if self._search.allowed.is_filtered or sum(counts.values()) <= COUNTED:
            return self._search.matching(" OR ".join(counts)) - len(set().union(*(hits.get(p, ()) for p in counts)))
        return max(max(count - len(hits.get(phrase, ())) for phrase, count in counts.items()), 1)

    def hits(self, phrases: Sequence[str], stems: Mapping[int, Sequence[str]]) -> dict[str, dict[int, int]]:
        """How often each phrase stands in each candidate, by FTS5's own tokenizer."""
        wanted = {phrase: self.lexicon.stems(phrase.strip('"*')) for phrase in phrases}
        single = {found[0]: phrase for phrase, found in wanted.items() if len(found) == 1 and not phrase.endswith("*")}
        hits = {single[stem]: counts for stem, counts in count_stems(set(single), stems).items()}
        for phrase in wanted.keys() - single.values():
            counted = ((i, _occurrences(found, wanted[phrase], phrase.endswith("*"))) for i, found in stems.items())
            hits[phrase] = {i: count for i, count in counted if count}
        return hits

    def titles(self, question: Question, pool: int) -> dict[int, float]:
        """How well the title, names, path and tags of notes match, and which of them the question names by its file."""
        found = self._search.titles(question.phrases, pool) if question.phrases else []
        best = max((score for _, score in found), default=0.0) or 1.0
        titles = {note: score / best for note, score in found}
        whole = slug(question.text)
        named = [n.id for n in self._search.notes(list(titles)[:NAMESAKES]).values() if whole in _slugs(n)]
        return titles | dict.fromkeys(named, NAMED) | dict.fromkeys(self._search.files(question.files), FILE)


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
