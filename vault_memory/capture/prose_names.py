"""Finds the names that stand in the prose of daily logs on several days: whom or what a page may be made for. Pure.

A name is written with a capital within a sentence, and nowhere with a small letter. German logs are left out, where
every noun is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from vault_memory.text.calendar_days import CALENDAR_WORDS
from vault_memory.text.word_classes import language_of

NAME_DAYS = 3
"""A name is proposed that stands in the logs of so many days."""

MAX_NAME_WORDS = 3
"""Names of people, places and firms seldom have more words; a headline has."""

_SPELLED = re.compile(r"(?<![\w@#/.-])[^\W\d_]\w*(?![\w/@-])")
_START = re.compile(r"(?:^|[.!?:;…])[\W_]*$")
_WORD = re.compile(r"[^\W\d_]+")


def find_names(logs: Iterable[tuple[str, Sequence[tuple[int, str]]]], languages: Sequence[str]) -> dict[str, list[str]]:
    """The names in logs (path and numbered lines) that stand within a sentence in one of them, each with a line of each
    log that holds it; a name of which each word stands somewhere with a small letter is none."""
    found: dict[str, dict[str, str]] = {}
    within, small = set[str](), set[str]()
    for path, lines in logs:
        words = _WORD.findall(" ".join(text for _, text in lines))
        small.update(filter(str.islower, words))
        if language_of([word.casefold() for word in words], (*languages, "de")) == "de":
            continue
        for number, text in lines:
            for name, is_within in _names_in(text):
                found.setdefault(name, {}).setdefault(path, f"{path}#L{number}")
                within |= {name} if is_within else set()
    return {name: [*found[name].values()] for name in within if not small.issuperset(name.casefold().split())}


def _names_in(text: str) -> Iterator[tuple[str, bool]]:
    for start, run in _capitalised(text):
        is_within = _START.search(text[:start]) is None
        rest = run.partition(" ")[2]
        name = rest if rest and not is_within else run  # the first word may have its capital from the sentence
        if len(name) > 2 and CALENDAR_WORDS.isdisjoint(name.casefold().split()):
            yield name, is_within or name == rest


def _capitalised(text: str) -> Iterator[tuple[int, str]]:
    """Words with a capital that stand side by side, and where; a word of capitals alone is an abbreviation."""
    runs: list[list[re.Match[str]]] = []
    for word in _SPELLED.finditer(text):
        if word[0][0].isupper() and not word[0].isupper():
            is_next = runs and len(runs[-1]) < MAX_NAME_WORDS and text[runs[-1][-1].end() : word.start()] == " "
            runs[-1:] = [[*runs[-1], word]] if is_next else [*runs[-1:], [word]]
    return ((run[0].start(), text[run[0].start() : run[-1].end()]) for run in runs)


def names_within(text: str) -> set[str]:
    """The names that stand within sentences of a text."""
    return {name for name, is_within in _names_in(text) if is_within}
