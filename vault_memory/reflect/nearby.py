"""Owns which facts about a subject are held against a statement: those that share most words with it. Pure.

It knows no opinions. All facts of a vault are read for it each night: what it does once a fact must cost little.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from vault_memory.reflect.dated import names_note
from vault_memory.reflect.model import Fact

LOOKED_AT = 150
"""So many facts about its subject are held against an opinion: those that share most words with it, then the newest."""

ENOUGH = 4
"""Of words that together stand in so many times LOOKED_AT facts the nearest are taken."""

MOST_WORDS = 255
"""Of more words of a statement the rarest are asked for."""

_BEGINNINGS = re.compile(r"([^\W_]{3,5})[^\W_]*")
"""How words begin, near enough to find what may bear on them."""


class Around:
    """The facts about one subject, in the order of a timeline."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts

    def near(self, text: str, own: Container[int]) -> list[Fact]:
        """The facts that share most words with a text, the newest where they share as many; in order.

        Those of the keys `own` are left out.
        """
        if len(self._facts) <= LOOKED_AT:
            return [fact for fact in self._facts if fact.key not in own]
        words = sorted(set(_beginnings(text)))
        shared = _most_shared([self._words.holding(word) for word in words], len(self._facts))
        places = islice((place for place in shared if self._facts[place].key not in own), LOOKED_AT)
        return [self._facts[place] for place in sorted(places)]

    def of_notes(self, names: frozenset[str]) -> list[Fact]:
        """The facts that stand in the notes to which these links lead."""
        return [fact for fact in self._facts if names_note(names, fact.path)] if names else []

    @cached_property
    def _words(self) -> "_Words":
        return _Words([fact.text for fact in self._facts])


class _Holding(NamedTuple):
    """How many texts hold a word, and which: a number with a byte for each text, 1 where it does."""

    number: int
    places: int


class _Words:
    """Which of some texts hold a word, by how it begins.

    Texts are only split; what a written word begins with is found once, however often it stands.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._places = places = defaultdict[str, list[int]](list)
        for place, text in enumerate(texts):
            for written in text.split():
                places[written].append(place)
        self._written: dict[str, list[str]] = defaultdict(list)
        for written in places:
            for word in _beginnings(written):
                self._written[word].append(written)
        self._held: dict[str, _Holding] = {}

    def holding(self, word: str) -> _Holding:
        """The texts that hold a word."""
        if word not in self._held:
            holds = bytearray(self._size)
            for written in self._written.get(word, ()):
                for place in self._places[written]:
                    holds[place] = 1
            self._held[word] = _Holding(holds.count(1), int.from_bytes(holds, "little"))
        return self._held[word]


@lru_cache(1 << 15)
def _beginnings(text: str) -> Sequence[str]:
    return _BEGINNINGS.findall(text.casefold())


def _most_shared(held: Iterable[_Holding], size: int) -> Iterator[int]:
    """The places at which most of some words are held; of those where as many are, the last first.

    The rarest words come first: the frequent ones tell least, and are not asked once enough is found. As numbers the
    bytes of all places are added at once; MOST_WORDS keeps each of them from running over.
    """
    rarest = sorted(held, key=lambda holding: holding.number)[:MOST_WORDS]
    total = found = 0
    for holding in rarest:
        if found >= ENOUGH * LOOKED_AT and size - total.to_bytes(size, "little").count(0) >= ENOUGH * LOOKED_AT:
            break
        total += holding.places
        found += holding.number
    counts = total.to_bytes(size, "little")
    for number in range(len(rarest), 0, -1):
        place = counts.rfind(number)
        while place >= 0:
            yield place
            place = counts.rfind(number, 0, place)
