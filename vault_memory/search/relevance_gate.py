"""Decides whether the notes have to do with a prompt that nobody asked: where not, a hook stays silent.

And which passages are fit to be handed over there, since they tell something by themselves.
"""

import re

from vault_memory.markdown.note import ASIDE
from vault_memory.search.candidates import Candidates, inverse_frequency
from vault_memory.store.search_queries import Lexicon
from vault_memory.store.view import FACTS, PAGE, PROPOSALS, Candidate
from vault_memory.text import terms

ENOUGH_IN_COMMON, ENOUGH_OF_A_FACT = 0.97, 0.95
"""Of sixty prompts about the sample vault one comes to less in common; of sixty about nothing in it six come to more.

A fact was kept to be told: one that holds a rare word of the prompt, and is near to it, suffices, whatever else the
prompt names. Of twenty prompts about nothing in the sample vault the nearest comes to 0.93.
"""

KNOWN_SHARE = 0.2
"""What it counts that words of the prompt stand anywhere, beside those that one passage holds."""

LEAST_RARITY = 0.25
"""The least that a word counts that is known, against one that is not: in a small vault all stand in many passages."""

MAX_EXPECTED_WORDS = 6
"""So many of the rarest words a passage may be expected to hold: a long prompt has others that the notes know."""

BY_WORDS = 1.0
"""How well a title matches at the most that merely shares words with a question."""


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


def is_about_notes(found: Candidates, lexicon: Lexicon) -> bool:
    """Whether a question that nobody asked has to do with the notes."""
    if terms.RUN.search(found.query.text):  # asked for by pairs of characters, most of which are no words
        return True
    # What has parts (`tile-server`) is known by them.
    words = (phrase for phrase in found.query.phrases if len(lexicon.stems(phrase.strip('"*'))) == 1)
    unknown = sum(not lexicon.count(word).passages for word in words)
    return is_relevant(found, unknown, inverse_frequency(found.totals.passages, 0))


def is_relevant(found: Candidates, unknown: int, rarest: float) -> bool:
    """Whether the prompt names something that the notes know, or its words and its meaning are near enough to them.

    So many of its words are `unknown`, each `rarest` of all: what the prompt is about is not in the notes.
    """
    if found.only_time or found.about or max(found.title.values(), default=0.0) > BY_WORDS:
        return True
    if not found.query.words:  # idle words alone, which stand everywhere
        return False
    if _in_words(found, unknown, rarest) + max(found.cosine.values(), default=0.0) >= ENOUGH_IN_COMMON:
        return True
    return any(
        rare / rarest + found.cosine.get(passage, 0.0) >= ENOUGH_OF_A_FACT
        for term, rare in found.rarity.items()
        for passage in found.hits.get(term, ())
        if found.passages[passage].kind in FACTS
    )


def _in_words(found: Candidates, unknown: int, rarest: float) -> float:
    """How much of the prompt, by the rarity of its words, the notes know, most of all in one passage."""
    rarity = {term: max(rarity, LEAST_RARITY * rarest) for term, rarity in found.rarity.items()}
    held: dict[int, float] = {}
    for term, rare in rarity.items():
        for passage in found.hits.get(term, ()):
            held[passage] = held.get(passage, 0.0) + rare
    if not held:
        return 0.0
    known, missing = sum(rarity.values()), unknown * rarest
    expected = min(known, MAX_EXPECTED_WORDS * max(rarity.values()))
    return min(max(held.values()) / (expected + missing), 1.0) + KNOWN_SHARE * known / (known + missing)


def tells(passage: Candidate, path: str) -> bool:
    """Whether a passage of that note tells something by itself: no comment, query, chart or mere proposal does."""
    if path == PROPOSALS or _QUERY.match(passage.text):
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
