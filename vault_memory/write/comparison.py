"""Compares a new statement with the known ones: is it new, a repetition, a repeated opinion, or a replacement?"""

import heapq
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from vault_memory.embedding.builtin_embedder import StaticEmbedder
from vault_memory.markdown import facts
from vault_memory.markdown.claims import claims
from vault_memory.markdown.entities import slug
from vault_memory.markdown.provenance import without_citation
from vault_memory.markdown.supersession import supersedes
from vault_memory.search.relevance_gate import telling_weight
from vault_memory.store import note_queries
from vault_memory.store.note_queries import KnownFact
from vault_memory.store.vectors import dot, length
from vault_memory.store.view import KINDS, View
from vault_memory.text import date_finder
from vault_memory.text.calendar_days import MONTHS
from vault_memory.text.scope_syntax import GLOBAL
from vault_memory.text.word_classes import denies, grammar_of, grammars, language_of, words_of

CREATE, MERGE, SUPERSEDE, SKIP, SAME = "create", "merge", "supersede", "skip", "same"

SIMILAR, IN_BATCH = 0.7, 0.85
"""Builtin cosines from which statements are compared, and from which only names and numbers set them apart."""

REPEATED_WORDS, LEAST_REPEATED = 0.4, 3
"""The second of two bans in one batch is a repetition if they share this fraction of the shorter one's content words,
and at least this many. No other pair in five labelled sets of sessions qualifies."""

NEAREST, NEAREST_COSINES = 3, 20
"""How many of the nearest known statements are compared in full, and how many are ranked and reported at all."""

NAME_LENGTH, SAME_LETTERS = 1.8, 5
"""The vector length from which a word is as distinctive as a name, and the prefix that stands for its inflections."""

_LETTERS = {word: letter for letter, word in facts.KINDS.items()}
_WORD = re.compile(r"[^\W_]{3,}|\d+")
NUMBER = re.compile(r"(?<![\w-])\d+(?:[.:,/-]\d+)*(?:[a-z]{1,3}\d{0,2})?(?!\w)")
DAY = re.compile(  # weekdays in the languages of capture, months in English
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|lundis?"
    r"|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|lunes|martes|miércoles|jueves|viernes|sábados?"
    rf"|domingos?|(?:segunda|terça|quarta|quinta|sexta)s?|{'|'.join(MONTHS)})\b",
    re.IGNORECASE,
)


class KnownStatement(NamedTuple):
    """A known or proposed statement and its source; `is_refused` if a person rejected it."""

    text: str
    source: str
    kind: str = "W"
    is_refused: bool = False
    is_batch: bool = False
    """Whether it was found in this run or is a pending proposal: no note contains it yet."""
    scope: str = GLOBAL
    slugs: frozenset[str] = frozenset()
    """The slugs of the entities it mentions."""

    def is_about_same(self, text: str, names: Iterable[str]) -> bool:
        """Whether it shares an entity with a text about these names, or neither of them names any."""
        own = set(map(slug, names))
        own |= {one for one in self.slugs if _stands_in(one, text)}
        return any(one in self.slugs or _stands_in(one, self.text) for one in own) or not (own or self.slugs)


def _repeats(text: str, other: str) -> bool:
    """Whether a text denies the same thing as another, in mostly the same words, without a change or a new number.

    Affirmations do not count: the same words may be about somebody else."""
    words, known = words_of(text), words_of(other)
    one, two = ({word[:SAME_LETTERS] for word in each if len(word) > 2} - _closed_words() for each in (words, known))
    is_changed = any(each.has("changes", words) for each in grammars())
    if not (denies(text) and denies(other)) or is_changed or set(NUMBER.findall(text)) - set(NUMBER.findall(other)):
        return False
    return len(one & two) >= max(LEAST_REPEATED, REPEATED_WORDS * min(len(one), len(two)))


@cache
def _closed_words() -> frozenset[str]:
    return frozenset(word[:SAME_LETTERS] for each in grammars() for word in each.common)


@cache
def _function_words(language: str) -> frozenset[str]:
    grammar = grammar_of(language or "en")
    return (grammar.common | grammar.classes["now"]) - grammar.classes["changes"] - grammar.classes["wishes"]


def _contrasts(text: str) -> frozenset[str]:
    """The words of contrast and of liking in a text: function words that may be all that sets two statements apart."""
    words = words_of(text)
    classes = grammar_of(language_of(words) or "en").classes
    return (classes["contrasts"] | classes["likes"]).intersection(words)


def _swaps_names(text: str, known: KnownStatement) -> bool:
    """Whether the names that two statements share are in another order, unless each is preceded by the same word."""
    one, two = (_names(each, known.slugs) for each in (text, known.text))
    shared = [name for name in one if name in two]
    return shared != [name for name in two if name in one] and any(one[name] != two[name] for name in shared)


def _names(text: str, slugs: Collection[str]) -> dict[str, str]:
    """The capitalised words and the given names of a text in their order, with the word before each; no weekdays."""
    found: dict[str, str] = {}
    before = ""
    for word in re.findall(r"[^\W_]+", text):
        lower = word.casefold()
        if (word[0].isupper() or lower in slugs) and not DAY.fullmatch(word):
            found.setdefault(lower, before)
        before = lower
    return found


@cache
def _changing_words() -> frozenset[str]:
    return frozenset(word[:SAME_LETTERS].rstrip("s") for each in grammars() for word in each.classes["changes"])


def _stands_in(name: str, text: str) -> bool:
    """Whether a text contains a name, given as its slug."""
    words = re.escape(name).replace(r"\-", "[ -]")
    return re.search(rf"(?<!\w){words}(?!\w)", text.casefold()) is not None


def newest_facts(view: View, slugs: Collection[str], limit: int) -> list[KnownFact]:
    """The newest facts of each kind that mention one of these entities, or of all entities if none is given."""
    kinds = (KINDS.index(word) for word in facts.KINDS.values())
    return [one for kind in kinds for one in note_queries.facts_about(view, slugs, kind, limit)]


def known_statement(fact: KnownFact) -> KnownStatement:
    """A fact as a statement to compare with."""
    return KnownStatement(
        without_citation(fact.narrative), fact.source, _LETTERS[KINDS[fact.kind]],
        scope=fact.scope, slugs=fact.slugs,
    )  # fmt: skip


class Comparison(NamedTuple):
    """What to do with a new statement, the known one that decided it, and the cosines of the nearest, highest first."""

    decision: str
    known: KnownStatement | None = None
    cosines: tuple[float, ...] = ()
    vector: bytes = b""
    """The new statement's vector in the builtin space."""

    @property
    def similarity(self) -> float:
        return self.cosines[0] if self.cosines else 0.0


class Comparer:
    """Compares statements with the known ones, to which new ones can be added."""

    def __init__(self, known: Iterable[KnownStatement], embedder: StaticEmbedder) -> None:
        self._embedder = embedder
        self._known = list(known)
        self._vectors = [(vector, length(vector)) for vector in embedder.embed([one.text for one in self._known])]

    def add(self, statement: KnownStatement, vector: bytes) -> None:
        """Add a statement with its vector, so that later ones are compared with it as well."""
        self._known.append(statement)
        self._vectors.append((vector, length(vector)))

    def known_end(self, text: str, scope: str) -> KnownStatement | None:
        """The known statement with whose words a request ends: "Please remember that" may come before it."""
        said = words_of(text)
        open_to = (known for known in self._known if not known.is_batch and known.scope in (GLOBAL, scope))
        ends = ((known, words_of(known.text)) for known in open_to)
        return next((known for known, its in ends if len(its) >= LEAST_REPEATED and said[-len(its) :] == its), None)

    def compare(self, text: str, kind: str, names: Sequence[str], scope: str = "") -> Comparison:
        """Compare a statement of a kind about these names with the known ones.

        A scoped statement is compared only with those that everyone in its scope can see, and with those a person
        refused, which can do no more than suppress it; one without a scope, with all.
        """
        (vector,) = self._embedder.embed([text])
        ranked = self._rank(vector, scope)
        cosines = tuple(near for near, _ in ranked)
        if again := next((known for _, known in ranked if known.is_batch and _repeats(text, known.text)), None):
            return Comparison(SKIP, again, cosines, vector)
        for near, known in ranked[:NEAREST]:
            if decision := self._decide(text, kind, names, known, near):
                return Comparison(decision, known, cosines, vector)
        for _, known in ranked:
            if not known.is_refused and known.is_about_same(text, names) and self._fills_same_slot(text, kind, known):
                return Comparison(SUPERSEDE, known, cosines, vector)
        return Comparison(CREATE, None, cosines, vector)

    def _rank(self, vector: bytes, scope: str) -> list[tuple[float, KnownStatement]]:
        own = length(vector)
        pairs = (
            (dot(vector, other) / (own * its) if own and its else 0.0, known)
            for known, (other, its) in zip(self._known, self._vectors, strict=True)
            if not scope or known.is_refused or known.scope in (GLOBAL, scope)
        )
        return heapq.nlargest(NEAREST_COSINES, pairs, key=lambda pair: pair[0])

    def _decide(self, text: str, kind: str, names: Sequence[str], known: KnownStatement, near: float) -> str:
        """The decision that a known statement implies for a new one; "" if it has no bearing on it."""
        if near < SIMILAR:
            return ""
        may_replace = not known.is_refused and known.is_about_same(text, names)
        if may_replace and self._fills_same_slot(text, kind, known):
            return SUPERSEDE
        says_nothing_new = self._says_nothing_new(text, known)
        if known.is_refused:
            return SKIP if self.telling(text, near) <= self.telling(known.text) else ""
        if known.is_batch and says_nothing_new:
            return SKIP
        newer, older = (list(claims("world", tuple(names), one)) for one in (text, known.text))
        if may_replace and any(supersedes(new, old) for new in newer for old in older):
            return SUPERSEDE
        if kind == known.kind == "O" and not known.is_batch and denies(text) == denies(known.text):
            return MERGE  # kept all the same
        return SKIP if says_nothing_new else ""

    def _says_nothing_new(self, text: str, known: KnownStatement) -> bool:
        """Whether a statement has no content word, no word of contrast and no order of names that a known one lacks."""
        if denies(text) != denies(known.text) or not self._content(text) <= self._content(known.text, known):
            return False
        return _contrasts(text) <= {*words_of(known.text)} and not _swaps_names(text, known)

    def _fills_same_slot(self, text: str, kind: str, known: KnownStatement) -> bool:
        """Whether two statements have the same content words but for one number or the day ("the deadline moved to
        10 May"); experiences in the past tense never do, because what was done on two days was done twice."""
        if "B" in (kind, known.kind) and date_finder.fact_tense(text.lower().split()) == date_finder.PAST:
            return False
        numbers, days = (
            tuple(set(pattern.findall(one.casefold())) for one in (text, known.text)) for pattern in (NUMBER, DAY)
        )
        changed = [(new - old, old - new) for new, old in (numbers, days)]
        if not any(new and old for new, old in changed) or max(map(len, changed[0])) > 1:
            return False
        aside = _changing_words() | self._content("", known)
        one, two = (self._content(NUMBER.sub(" ", DAY.sub(" ", each))) for each in (text, known.text))
        return denies(text) == denies(known.text) and bool(one & two) and one - aside == two - aside

    def telling(self, text: str, near: float = 0.0) -> set[str]:
        """The prefixes of a text's distinctive words (names, numbers, rare words): a new one makes it a new statement.

        For a text as `near` as IN_BATCH, only the numbers and names.
        """
        found: set[str] = set()
        for place, word in enumerate(_WORD.findall(text)):
            length = self._embedder.word_length(word.casefold())
            is_name = any(map(str.isdigit, word)) or (place > 0 and word[0].isupper())
            if is_name or (near < IN_BATCH and (length is None or length >= NAME_LENGTH)):
                found.add(word.casefold()[:SAME_LETTERS] if word.isalpha() else word.casefold())
        return found

    def _content(self, text: str, known: KnownStatement | None = None) -> set[str]:
        """The prefixes of a text's content words, without an s at their end, and its numbers, with those of the
        entities that a `known` statement mentions."""
        text = f"{text} {' '.join(known.slugs)}" if known else text
        found: set[str] = set()
        closed = _function_words(language_of(words_of(text)))
        for word in _WORD.findall(text.casefold()):
            stem, length = word[:SAME_LETTERS].rstrip("s"), self._embedder.word_length(word)
            if word.isdigit() or (word not in closed and (length is None or telling_weight(length))):
                found.add(stem)
        return found
