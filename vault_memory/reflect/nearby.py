"""Owns which facts about a subject are held against a statement: those that share most words with it. Pure.

It knows no opinions. All facts of a vault are read for it each night: what it does once a fact must cost little.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import islice

from vault_memory.reflect.dated import names_note
from vault_memory.reflect.model import Fact

LOOKED_AT = 150
"""So many facts about its subject are held against an opinion: those that share most words with it, then the newest."""

ENOUGH = 4
"""Of words that together stand in so many times LOOKED_AT facts the nearest are taken."""

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
        shared = _most_shared(self._words.holding(word) for word in sorted(set(_beginnings(text))))
        places = islice((place for place in shared if self._facts[place].key not in own), LOOKED_AT)
        return [self._facts[place] for place in sorted(places)]

    def of_notes(self, names: frozenset[str]) -> list[Fact]:
        """The facts that stand in the notes to which these links lead."""
        return [fact for fact in self._facts if names_note(names, fact.path)] if names else []

    @cached_property
    def _words(self) -> "_Words":
        return _Words([fact.text for fact in self._facts])


class _Words:
    """Which of some texts hold a word, by how it begins.

    Texts are only split; what a written word begins with is found once, however often it stands.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._places = places = defaultdict[str, list[int]](list)
        for place, text in enumerate(texts):
            for written in text.split():
                places[written].append(place)
        self._written: dict[str, list[str]] = defaultdict(list)
        for written in places:
            for word in _beginnings(written):
                self._written[word].append(written)
        self._held: dict[str, Set[int]] = {}

    def holding(self, word: str) -> Set[int]:
        """The places of the texts that hold it."""
        if word not in self._held:
            self._held[word] = set[int]().union(*(self._places[written] for written in self._written.get(word, ())))
        return self._held[word]


def _beginnings(text: str) -> list[str]:
    return _BEGINNINGS.findall(text.casefold())


def _most_shared(held: Iterable[Set[int]]) -> Iterator[int]:
    """The places that some sets hold, those first that most of them do, of those that as many hold the last.

    The rarest words come first: the frequent ones tell least, and are not asked once enough is found.
    """
    shared: Counter[int] = Counter()
    for places in sorted(held, key=len):
        if len(shared) >= ENOUGH * LOOKED_AT:
            break
        shared.update(places)
    counted: dict[int, list[int]] = defaultdict(list)
    for place, number in shared.items():
        counted[number].append(place)
    for number in sorted(counted, reverse=True):
        yield from sorted(counted[number], reverse=True)
