"""The values that ranking is given: candidate passages and their notes."""

import re
from typing import NamedTuple

from vault_memory.markdown.note import ASIDE

FACTS = frozenset(("world", "experience", "opinion", "observation"))
"""Kinds that someone wrote down to be remembered: each stands for itself."""
PAGE = "page"
"""What reflect wrote."""

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


class NoteInfo(NamedTuple):
    """What an answer says of a passage's note, and its length for ranking."""

    id: int
    path: str
    day: str | None
    title: str
    headings: str
    header_tokens: int
    tokens: int
    words: int


class NoteFacts(NamedTuple):
    """What ranking needs to know of a note: its length, and how near it is to the question (cosine)."""

    tokens: int
    words: int
    cosine: float = 0.0


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
