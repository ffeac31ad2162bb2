"""Finds the names that stand in the prose of daily logs on several days: whom or what a page may be made for. Pure.

A name is written with a capital within a sentence, and nowhere with a small letter. German logs are left out, where
every noun is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vault_memory.capture import cues
from vault_memory.text.calendar_days import CALENDAR_WORDS

NAME_DAYS = 3
"""A name is proposed that stands in the logs of so many days."""

Sightings = list[tuple[str, bool]]
"""Where a name stands, one line a log, and whether within a sentence; none where the word is no name."""

_RUN = re.compile(r"(?<![\w@#/.-])[^\W\d_a-z]\w*[a-z]\w*(?: [^\W\d_a-z]\w*[a-z]\w*){0,2}(?![\w/@-])")
"""Up to three words with a capital; a word of capitals alone is an abbreviation."""

_START = re.compile(r"(?:^|[.!?:;…])[\W_]*$")
_WORD = re.compile(r"[^\W\d_]+")


def add_names(
    names: dict[str, Sightings], path: str, lines: Sequence[tuple[int, str]], languages: Sequence[str]
) -> None:
    """Add the names of one log to those that were met."""
    words = _WORD.findall(" ".join(text for _, text in lines).casefold())
    if cues.language_of(words, (*languages, "de")) == "de":
        return
    for number, text in lines:
        for name, is_within in _names_in(text):
            places = names.setdefault(name, [(f"{path}#L{number}", is_within)])
            if places and len(places) <= NAME_DAYS and not any(place.startswith(f"{path}#") for place, _ in places):
                places.append((f"{path}#L{number}", is_within))


def _names_in(text: str) -> Iterator[tuple[str, bool]]:
    for run in _RUN.finditer(text):
        is_within = _START.search(text[: run.start()]) is None
        rest = run[0].partition(" ")[2]
        name = rest if rest and not is_within else run[0]  # the first word may have its capital from the sentence
        if len(name) > 2 and CALENDAR_WORDS.isdisjoint(name.casefold().split()):
            yield name, is_within or name == rest


def often_named(names: Mapping[str, Sightings]) -> list[str]:
    """The names of enough days, those that stand within a sentence somewhere."""
    found = (name for name, places in names.items() if len(places) >= NAME_DAYS and any(within for _, within in places))
    return sorted(found)


def drop_words(names: dict[str, Sightings], texts: Iterable[str]) -> None:
    """Strike out those that some text writes with a small letter: they are words."""
    small = {word for text in texts for word in _WORD.findall(text) if word.islower()}
    for name in names:
        if name.casefold() in small:
            names[name] = []
