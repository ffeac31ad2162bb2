"""Owns the reading of a short English sentence word by word: what is denied, ended, set apart or only supposed. Pure.

It knows no grammar beyond the order of words, and nothing of what is compared with what; that is polarity.py's.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vault_memory.reflect import polarwords as table
from vault_memory.text import english

NAME = "@"
"""The concept that stands for whichever name of the entity was written."""


EPITHET, COMPLEMENT, OBJECT = "epithet", "complement", "object"
"""What a thing is with which something is done ("reads long mails"); what one is ("is free"); a name, not a subject."""


NEAR = 6
"""So many words before it may bear on a word."""


class Word(NamedTuple):
    """A word that tells: what it is about, and on which side of it (0: it has no sides).

    `is_denied` is how its clause has it, `is_over` when it was so before; `is_apart` when it is left out or the lesser
    of two. `subject` is what its clause speaks of as far as the words before tell: "" of nothing named, "@", "i",
    "everybody", or another concept; `holder` who likes or wants what comes after: "" unknown, "@", "i", or another.
    `clause` counts the clauses of its part; `role` is one of EPITHET, COMPLEMENT, OBJECT or "".
    """

    concept: str
    side: int = 0
    is_denied: bool = False
    is_over: bool = False
    is_apart: bool = False
    subject: str = ""
    holder: str = ""
    clause: int = 0
    role: str = ""


class Quantity(NamedTuple):
    """A number as it was written, without separators of thousands, and what it counts ("" nothing said)."""

    number: str
    unit: str


class Part(NamedTuple):
    """What stands between two full stops or semicolons: its telling words in order, and how it is told.

    `hedges` are the words that make it a supposition; `other` is somebody else it speaks of ("brother"), or "".
    """

    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...] = ()
    hedges: frozenset[str] = frozenset()
    repeats: bool = False
    changes: bool = False
    does: bool = False
    other: str = ""
    has_pronoun: bool = False


class _Tokens(NamedTuple):
    """Words as written and their stems, beside each other."""

    written: Sequence[str]
    stems: Sequence[str]

    def clauses(self) -> "Iterator[_Tokens]":
        """Its clauses: a comma, a colon or a conjunction begins a new one."""
        start = 0
        for i, word in enumerate(self.stems):
            if word in _COMMAS or (word in table.BREAKS and not self._only_adds(i)):
                if i > start:
                    yield _Tokens(self.written[start:i], self.stems[start:i])
                start = i if word not in _COMMAS else i + 1
        if start < len(self.stems):
            yield _Tokens(self.written[start:], self.stems[start:])

    def _only_adds(self, at: int) -> bool:
        """Whether an "and" adds no clause but a word or two, of which the same is said: "not fast and reliable"."""
        rest = self.stems[at + 1 : at + 4]
        return self.stems[at] == "and" and (len(rest) < 3 or any(w in _COMMAS or w in table.BREAKS for w in rest))


_COMMAS = (",", ":")
_MARKUP = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]|@(?=\w)|[*`]")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_STOP = re.compile(r"(?<=[.!?])\s+|;\s|\s[–—-]\s")
_TOKEN = re.compile(r"\d(?:[ ,.'’:]?\d)*|[^\W\d_]+(?:-[^\W\d_]+)*|[,:?%€$£’]")
_SHORT_FORM = re.compile(r"(?<=can)['’]t\b|(?<=wo)n['’]t\b|n['’]t\b", re.I)
_POSSESSIVE = re.compile(r"['’](?:s|ll|re|ve|d|m)?(?!\w)")
_PLURALS = (
    ("ies", "y", 2), ("sses", "ss", 2), ("ches", "ch", 2), ("shes", "sh", 2), ("xes", "x", 2), ("ss", "ss", 1),
    ("us", "us", 1), ("is", "is", 1), ("s", "", 3),
)  # fmt: skip
_ENDINGS = (
    ("ied", "y", 2), ("ier", "y", 3), ("iest", "y", 3), ("ily", "y", 2), ("ingly", "", 3), ("edly", "", 3),
    ("ing", "", 3), ("eed", "eed", 1), ("ed", "", 3), ("ably", "able", 2), ("ly", "", 4),
)  # fmt: skip
"""Endings, what is put in their place, and how much of the word must be left."""


@lru_cache(1 << 15)
def stem(word: str) -> str:
    """A word without its ending, near enough to know "reply", "replies" and "replied" for one."""
    word = word.casefold()
    word = english.BASES.get(word, word)
    if word in _KEPT or len(word) < 4 or word[0].isdigit():
        return word
    for endings in (_PLURALS, _ENDINGS):
        if word in _KEPT:
            return word
        word = next((word[: -len(e)] + put for e, put, left in endings if _ends(word, e, left)), word)
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _ends(word: str, ending: str, left: int) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= left


_ITSELF = {"costly", "friendly", "unfriendly", "orderly", "evening", "plane"}
"""Words that are no form of another: what is costly does not cost, an evening is not even, a plane no plan."""

_KEPT = table.DENYING | table.DENYING_ALL | table.IDLE | table.BREAKS | _ITSELF


def name_stems(names: Sequence[str]) -> frozenset[str]:
    """The stems by which an entity is known in a sentence."""
    words = (stem(word) for name in names for word in re.findall(r"[^\W_]+", name))
    return frozenset(word for word in words if len(word) > 1 and word not in table.IDLE)


@lru_cache(1 << 13)
def concepts(text: str) -> frozenset[str]:
    """All that the words of a text are about; what shares none of it with an opinion says nothing of it."""
    return frozenset(_meaning(word)[0] for tokens in _tokens(text) for word in tokens.stems)


@lru_cache(1 << 12)
def topics(text: str, names: frozenset[str] = frozenset()) -> frozenset[str]:
    """What a text is about by itself: not how good or how much, nor that somebody told or thought it; without names."""
    return frozenset(
        concept
        for tokens in _tokens(text)
        for word in tokens.stems
        if word not in names and word not in _SILENT and word not in _TELLING and word[0].isalpha()
        for concept, _ in (_meaning(word),)
        if concept not in table.ATTITUDES and concept not in table.BROAD
    )


@lru_cache(1 << 12)
def parts(text: str, names: frozenset[str]) -> tuple[Part, ...]:
    """The parts of a text; `names` are the stems of the entity's names (`name_stems`)."""
    return tuple(_part(tokens, names) for tokens in _tokens(text))


@lru_cache(1 << 12)
def _tokens(text: str) -> tuple[_Tokens, ...]:
    plain = _ASIDE.sub("", _MARKUP.sub(lambda match: match[1] or "", " ".join(text.split())))
    plain = table.joined(plain)
    if "'" in plain or "’" in plain:
        plain = _POSSESSIVE.sub(" ’ ", _SHORT_FORM.sub(" not", plain))
    found = [_TOKEN.findall(piece) for piece in _STOP.split(plain) if piece]
    return tuple(_Tokens(written, [stem(word) for word in written]) for written in found if written)


def _side_words() -> Iterator[tuple[str, str, int]]:
    for line in table.OPPOSITES.strip().splitlines():
        name = line.split()[0]
        for side, words in zip((1, -1), line.split("/"), strict=True):
            yield from ((word, name, side) for word in words.split())


def _compared(word: str) -> Iterator[str]:
    """An adjective with its comparative forms; of other words nobody writes them."""
    for ending in ("er", "est"):
        yield from (word, word + ending, word + word[-1] + ending, word + ending[1:])


_SIDES = {stem(form): (name, side) for word, name, side in _side_words() for form in _compared(word)}
_SIDES |= {stem(word): (name, side) for word, name, side in _side_words()}
_SAME = {stem(word): stem(line.split()[0]) for line in table.SYNONYMS.strip().splitlines() for word in line.split()}
_HEDGES = frozenset(map(stem, table.HEDGES)) | {"?"}
_OTHERS = frozenset(map(stem, table.OTHERS))
_REPEATS = frozenset(map(stem, table.REPEATS))
_CHANGED = frozenset(map(stem, table.CHANGED)) | table.CHANGED
_DEEDS = frozenset(map(stem, table.DEEDS))
_MONTHS = frozenset(map(stem, table.MONTHS))
_TELLING = frozenset(map(stem, table.TELLING))
_SKIPPED = (table.IDLE | table.DENYING) - table.PRONOUNS - table.FIRST_PERSON


@lru_cache(1 << 15)
def _meaning(stem_: str) -> tuple[str, int]:
    """The concept a stem stands for and its side of it: `unreliable` is the other side of `reliable`."""
    if found := _SIDES.get(stem_):
        return found
    for prefix in ("un", "dis"):
        rest = stem_.removeprefix(prefix)
        if rest != stem_ and rest in _SIDES and (prefix == "un" or rest in table.PREFIXED):
            return _SIDES[rest][0], -_SIDES[rest][1]
    return _SAME.get(stem_, stem_), 0


# --- one part --------------------------------------------------------------------------------------------------------


def _part(tokens: _Tokens, names: frozenset[str]) -> Part:
    stems = frozenset(tokens.stems)
    return Part(
        words=tuple(w for n, clause in enumerate(tokens.clauses()) for w in _clause(clause, names, n)),
        quantities=tuple(_quantities(tokens)),
        hedges=_hedges(tokens) if not _HEDGES.isdisjoint(stems) else frozenset(),
        repeats=not _REPEATS.isdisjoint(stems),
        changes=not _CHANGED.isdisjoint(stems),
        does=not _DEEDS.isdisjoint(stems),
        other=_other(tokens, names),
        has_pronoun=not table.PRONOUNS.isdisjoint(stems),
    )


def _hedges(tokens: _Tokens) -> frozenset[str]:
    """The words that make it a supposition; "May" with a capital is a month."""
    pairs = zip(tokens.written, tokens.stems, strict=True)
    return frozenset(stem_ for word, stem_ in pairs if stem_ in _HEDGES and word != "May")


def _other(tokens: _Tokens, names: frozenset[str]) -> str:
    """Who else a part begins with ("her brother", "Anna's boss"), or ""."""
    heads = [word for word in tokens.stems[:4] if word != "’"]
    first = heads[0] if heads else ""
    owned = first in table.POSSESSIVES or first in names
    return next((word for word in heads[1:3] if owned and word in _OTHERS and word not in names), "")


class _Clause:
    """What has been said so far in a clause, as its words are read one after another."""

    def __init__(self, stems: Sequence[str]) -> None:
        self.is_denied = sum(word in table.DENYING_ALL for word in stems) % 2 == 1
        self.is_over = "anymore" in stems
        self.is_apart = self.prefers = self.has_preferred = self.is_owner = self.is_switched = self.has_done = False
        self.is_ahead = self.has_told = False
        self.subject = ""

    def begin(self, word: str, is_name: bool) -> None:
        """What a clause begins by setting apart ends where it says who does what: "instead of coffee Ben wants tea"."""
        if self.is_apart and self.is_ahead and (is_name or word in table.PRONOUNS or word in table.FIRST_PERSON):
            self.is_apart = self.is_ahead = False

    def step(self, word: str, concept: str, is_name: bool) -> None:
        """Take one word in: from here on it counts."""
        if word in table.APART and not self.has_told:
            self.is_ahead = True
        self.has_told = self.has_told or (word not in _SILENT and word not in table.APART) or is_name
        if word in table.DENYING or word in table.ENDING:
            self.is_denied = not self.is_denied
            self.is_over = self.is_over or word in table.ENDING
            self.is_switched = self.is_switched or word == "switchedfrom"
        elif word == "to" and self.is_switched:
            self.is_denied = self.is_over = self.is_switched = False
        elif word in table.APART:
            self.is_apart = self.is_apart or word != "over" or self.prefers
        elif word == "to" and self.has_preferred:
            self.is_apart = True  # "tea to coffee"; not "to drink tea"
        self.has_preferred = self.has_preferred or (self.prefers and word not in _SILENT)
        self.prefers = self.prefers or concept == "like"
        self.has_done = self.has_done or word in _DEEDS or (not is_name and _is_topic(word))
        self._speak_of(word, concept, is_name)

    def _speak_of(self, word: str, concept: str, is_name: bool) -> None:
        """Whose phone it is matters: `Peter's phone is slow` says nothing of Peter."""
        is_named = is_name or (word in table.PRONOUNS and word not in table.POSSESSIVES)
        if word == "’" or word in table.POSSESSIVES:
            self.is_owner = self.subject in ("", NAME)
        elif self.is_owner and word not in table.IDLE:
            self.subject, self.is_owner = (NAME if is_name else concept), False
        elif not self.subject and (word in ("i", "we") or word in table.ANYBODY):
            self.subject = "everybody" if word in table.ANYBODY else "i"
        elif not self.subject and (is_named or (word not in _SILENT and not _meaning(word)[1])):
            self.subject = NAME if is_named else concept


def _clause(tokens: _Tokens, names: frozenset[str], number: int) -> Iterator[Word]:
    if tokens.stems[0] in table.CONCESSIONS:
        return
    if number and _is_contrast(tokens.stems, names):
        found = (_meaning(word)[0] for word in tokens.stems if _is_topic(word))
        yield from (Word(concept, is_apart=True, clause=number - 1) for concept in found)
        return
    so_far = _Clause(tokens.stems)
    for i, word in enumerate(tokens.stems):
        is_name = word in names
        so_far.begin(word, is_name)
        concept, side = (NAME, 0) if is_name else _meaning(word)
        if is_name or (word not in _SILENT and not word[0].isdigit()):
            holder = _holder(tokens, i, names) if concept in table.ATTITUDES else ""
            how = (so_far.is_denied, so_far.is_over and so_far.is_denied, so_far.is_apart)
            role = _role(tokens.stems, i, names) if not is_name else OBJECT if so_far.has_done else ""
            # What a thing is called right before its name is said of it: "slow tests".
            is_said = side and concept not in table.DONE and not names.isdisjoint(tokens.stems[i + 1 : i + 2])
            yield Word(concept, side, *how, NAME if is_said else so_far.subject, holder, number, role)
        so_far.step(word, concept, is_name)


def _is_contrast(stems: Sequence[str], names: frozenset[str]) -> bool:
    """Whether a clause only sets something apart from what stands before it: "letters, not calls"."""
    rest = stems[stems[0] in ("and", "but") :]
    if rest[:1] != ["not"] or len(rest) > NEAR:
        return False
    return any(map(_is_topic, rest)) and not any(
        word in names or word in table.PRONOUNS or word in table.FIRST_PERSON or word in _DEEDS or _meaning(word)[1]
        for word in rest
    )


_SILENT = frozenset().union(
    table.IDLE, table.DENYING, table.DENYING_ALL, table.ENDING - {"giveup"}, table.BREAKS, table.APART,
    _REPEATS, _HEDGES, _MONTHS, map(stem, table.NUMBERS), ",:?%’€$£",
)  # fmt: skip
"""Words that are no topic: they say how and how much, not what."""


def _role(stems: Sequence[str], at: int, names: frozenset[str]) -> str:
    """What a word is in its clause, as far as its neighbours tell."""
    before = next((word for word in reversed(stems[max(at - NEAR, 0) : at]) if word not in _ARTICLES), "")
    if before in _BE:
        return COMPLEMENT
    after = stems[at + 1 : at + 2]
    is_between = bool(before and after) and _is_topic(before, names) and _is_topic(after[0], names)
    return EPITHET if is_between else ""


def _is_topic(word: str, names: frozenset[str] = frozenset()) -> bool:
    return word not in _SILENT and word not in names and word[0].isalpha() and not _meaning(word)[1]


_BE = frozenset(("is", "are", "was", "were", "be", "been", "am"))
_ARTICLES = frozenset(("a", "an", "the", "so", "very", "too", "really", "always", "mostly", "often", "not", "never"))


def _holder(tokens: _Tokens, at: int, names: frozenset[str]) -> str:
    """Who likes or wants: the name or pronoun before the verb, auxiliaries and adverbs passed over."""
    if tokens.written[at].endswith("ed") and (at + 1 == len(tokens.stems) or tokens.stems[at + 1] in table.APART):
        return ""  # "letters preferred": by nobody named
    for i in range(at - 1, max(at - 1 - NEAR, -1), -1):
        word = tokens.stems[i]
        if word in names:
            return NAME
        if word in table.FIRST_PERSON:
            return "i"
        if word in table.PRONOUNS:
            return NAME
        if word not in _SKIPPED:
            return word if word in _OTHERS or tokens.written[i][0].isupper() else ""
    return ""


def _quantities(tokens: _Tokens) -> Iterator[Quantity]:
    for i, written in enumerate(tokens.written):
        number = _number(written)
        if not number:
            continue
        after = tokens.stems[i + 1] if i + 1 < len(tokens.stems) else ""
        before = tokens.stems[i - 1] if i else ""
        if after in _MONTHS:
            yield Quantity(f"{number} {after}", "date")
        elif before in ("€", "$", "£"):
            yield Quantity(number, before)
        else:
            yield Quantity(number, _unit(tokens.stems[i + 1 : i + 4]))


def _number(written: str) -> str:
    """A number without separators of thousands, or ""."""
    if written[0].isdigit():
        return re.sub(r"(?<=\d)[ ,'’](?=\d{3})", "", written)
    return table.NUMBERS.get(written.casefold(), "")


def _unit(after: Sequence[str]) -> str:
    """What a number counts, and for how long: 9,000 kr a month are not 9,000 kr a year."""
    if not after or not after[0].isalpha():
        return after[0] if after and after[0] == "%" else ""
    return f"{after[0]} per {after[2]}" if len(after) == 3 and after[1] in ("a", "an", "per") else after[0]
