"""Owns the values that ranking is given: candidate passages, and all that was found about them. Pure data."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

ASIDE = 1 << 30
"""The section of frontmatter and of comments, which belong to no text around them."""

FACTS = frozenset(("world", "experience", "opinion", "observation"))
PAGE = "page"
"""What reflect wrote."""
"""Kinds that someone wrote down to be remembered: each stands for itself."""


PROPOSALS = "bank/proposals.md"
"""What reflect would put into the core: it waits there for somebody to tick it."""

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


class Candidate(NamedTuple):
    """A passage with what ranking and answering need of it."""

    id: int
    note_id: int
    start_line: int
    end_line: int
    from_char: int | None
    to_char: int | None
    kind: str
    tokens: int
    section: int
    """How many headings stand above it; negative for a heading itself, ASIDE for frontmatter and comments."""
    text: str

    @property
    def is_heading(self) -> bool:
        return self.section < 0


class NoteFacts(NamedTuple):
    """What ranking needs to know of a note: its length, and how near it is to the question (cosine)."""

    tokens: int
    words: int
    cosine: float = 0.0


@dataclass(frozen=True)
class Evidence:
    """All that was found for one question, by passage id unless named otherwise."""

    passages: Mapping[int, Candidate]
    notes: Mapping[int, NoteFacts]
    """By note id."""
    rarity: Mapping[str, float] = field(default_factory=dict)
    """The question's terms, with their inverse document frequency among passages."""
    note_rarity: Mapping[str, float] = field(default_factory=dict)
    """The same among notes: what a note is about comes up in it again and again."""
    hits: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """By term: how often it stands in which candidate."""
    stems: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """The stems of each candidate, in order."""
    lexical: Mapping[int, float] = field(default_factory=dict)
    """BM25 of those the lexical lane found."""
    cosine: Mapping[int, float] = field(default_factory=dict)
    days: Mapping[int, float] = field(default_factory=dict)
    """How well its day fits the question's time, 0..1."""
    title: Mapping[int, float] = field(default_factory=dict)
    """By note id: how well its title, aliases, path and tags match, 0..1; more where the question names its file."""
    order: Mapping[int, float] = field(default_factory=dict)
    """1 for what the question wants first (latest, earliest), down to 0."""
    about: Mapping[int, float] = field(default_factory=dict)
    """How much it counts that they mention an entity of the question, or stand on its page."""
    naming: Collection[str] = ()
    """The terms that only name those entities."""
    words: Sequence[str] = ()
    """The question's content words as they were written, case folded."""
    spoken: Sequence[str] = ()
    """All of its words, in order, case folded."""
    whole: str = ""
    """The question word by word, for telling who asks it too."""
    names: Sequence[str] = ()
    exact: Sequence[str] = ()
    asks_when: bool = False
    only_time: bool = False
    """Nothing but a time is asked for: `days` then holds the order in which passages tell of it."""
    only_meaning: bool = False
    """Whether only the passages' meaning is to be compared."""
    average_note_words: float = 1.0


class Feedback(NamedTuple):
    """What the first round adds: the rarity of telling stems, and each candidate's cosine to where the best point."""

    rarity: Mapping[str, float] = {}
    cosine: Mapping[int, float] = {}


def tells(passage: Candidate, path: str) -> bool:
    """Whether a passage of that note tells something by itself: no comment, query, chart or mere proposal does."""
    if path == PROPOSALS or _QUERY.match(passage.text):
        return False
    if passage.section == ASIDE:
        return _says_a_property(passage.text)
    return passage.kind != PAGE or not _CHART.match(passage.text)


def _says_a_property(text: str) -> bool:
    """Whether properties say something of what the note is about: an author or an address often stands only there."""
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
