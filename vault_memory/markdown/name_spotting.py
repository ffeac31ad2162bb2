"""Finds whom a plain sentence calls by name: those of known names, by any name of theirs, links or not. Pure.

A capital makes a name. Where a sentence begins every word has one, so there a word that is written small elsewhere
("Will it rain", "Work is at home") names nobody; neither do months and days of the week.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property

from vault_memory.markdown import entities, fact_text
from vault_memory.text.spans import MONTH_NAMES, WEEKDAY_NAMES

LONGEST = 4
"""A name has so many words at most."""

_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_STARTS = re.compile(r"(?:^|[.!?:;…])[\W_]*$")
_CALENDAR = frozenset(name.casefold() for name in (*WEEKDAY_NAMES, *MONTH_NAMES))


class NameIndex:
    """The names of entities: `forms` pairs each with its slug, `words` gives what is written small somewhere."""

    def __init__(self, forms: Iterable[tuple[str, str]], words: Callable[[], Container[str]]) -> None:
        self._forms: dict[tuple[str, ...], set[str]] = {}
        for form, slug in forms:
            self._forms.setdefault(tuple(_WORD.findall(form.casefold())), set()).add(slug)
        self._first = {form[0] for form in self._forms if form}
        self._ask = words

    @cached_property
    def _words(self) -> Container[str]:
        return self._ask()

    def slugs(self, text: str, canonical: Callable[[str], str]) -> list[str]:
        """Who is mentioned or called by name, each once; a name that two have is nobody's."""
        plain = fact_text.readable(text, lambda _: False)
        found = [canonical(name) for name in entities.mentions(text)]
        return list(dict.fromkeys((*found, *self.named(plain))))

    def named(self, text: str) -> Iterator[str]:
        """Who is called by a name, in the order of the text; a name that two have is nobody's."""
        words = list(_WORD.finditer(text))
        at = 0
        while at < len(words):
            end, slug = self._longest(text, words, at)
            if slug:
                yield slug
            at = end

    def _longest(self, text: str, words: list[re.Match[str]], at: int) -> tuple[int, str]:
        """The end and the slug of the longest name that begins with a word; "" where none does."""
        if words[at][0][0].isupper() and words[at][0].casefold() in self._first:
            for end in range(min(at + LONGEST, len(words)), at, -1):
                slugs = self._forms.get(tuple(word[0].casefold() for word in words[at:end]), set())
                if len(slugs) == 1 and (end > at + 1 or self._is_name(text, words[at])):
                    return end, next(iter(slugs))
        return at + 1, ""

    def _is_name(self, text: str, word: re.Match[str]) -> bool:
        """Whether a single word with a capital is one because it is a name."""
        folded = word[0].casefold()
        if folded in _CALENDAR:
            return False
        return not _STARTS.search(text[: word.start()]) or folded not in self._words


def small_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that are written without a capital somewhere."""
    return frozenset(word for text in texts for word in _WORD.findall(text) if word[0].islower())
