"""The Fact type that reflect works with (day, place, tier, entities), and how pages cite a fact's line. Pure.

A citation is a link that Obsidian opens: `[[2025-11-27]] L12`, or `[[2025-11-27#^id]]` if the line has a block id. If
two notes share a name, the path is included: `[[memory/2025-11-27|2025-11-27]] L12`. A name that a wikilink cannot
express becomes a Markdown link: `[C# notes](Work/C%23%20notes.md) L12`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple
from urllib.parse import quote

from vault_memory.markdown import provenance
from vault_memory.markdown.entities import link_name
from vault_memory.text.calendar_days import Span

LONG_SPAN_DAYS = 16
"""A fact about a longer span than this ("in March", "was built in 1938") is not placed on one day by it."""

LEAST_SHARED, LEAST_SHARE = 2, 0.5
"""A fact is about the same matter as a statement if it contains this many, and this share, of its content words."""

LINE_NUMBER = re.compile(r"(?:(?<=\]\] )|(?<=\.md\) ))L\d+(?:, L\d+)*")
"""The line numbers in a citation: a line that only moved is no reason to rewrite a page."""

_UNFIT = re.compile(r"[#^|\[\]]|%%")
"""Characters that Obsidian does not read as part of the name in a wikilink."""


class Fact(NamedTuple):
    """One fact as written in its note: a Retain bullet, or a line read as one (`is_inferred`).

    `key` is the hash of its text: it identifies the fact wherever its line moves, and changes when any word does.
    `about` are slugs, those before the colon first; `confidence` and `importance` are in 0..1. `tier` is today's tier
    (decay.py), `succeeded_by` the key of the fact that superseded it.

    A tuple, because a large vault has very many of them.
    """

    key: int
    kind: str
    """world, experience, opinion or observation."""
    text: str
    """The narrative, with links and mentions as written but without the citation of a captured message."""
    path: str
    line: int
    """Its first line, 1-based."""
    day: date | None
    """The day it was written down; None if its note has no day."""
    occurred: Span | None = None
    about: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    """The slugs of `about` that come before the colon."""
    more_lines: int = 0
    """How many lines of its bullet follow the first."""
    scope: str = "global"
    confidence: float | None = None
    importance: float = 0.5
    tier: str = "working"
    block_id: str | None = None
    is_inferred: bool = False
    succeeded_by: int | None = None
    by: str = provenance.PERSON
    """Its origin (provenance.py)."""
    tokens: int = 0
    """Its token count as written in its note, markup included; 0 if unknown."""

    @property
    def is_trusted(self) -> bool:
        """Whether it was written here: facts from outside are shown, marked as such, but nothing is built on them."""
        return provenance.is_trusted(self.by)

    @property
    def when(self) -> date | None:
        """Its day in a timeline: when it happened, else when it was written down.

        An opinion belongs to the day it was written down, even if it names another ("right to ship on 8 December").
        """
        span = self.occurred
        if span is None or self.kind == "opinion" or (span.end - span.start).days > LONG_SPAN_DAYS:
            return self.day
        return span.start


def timeline_key(fact: Fact) -> tuple[date, str, int, int]:
    """Sort key: by day, note and line; undated facts last."""
    return (fact.when or date.max, fact.path, fact.line, fact.key)


class Citations:
    """Makes links to the notes of one vault; `paths` are all of its notes, relative to the vault."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._names = Counter(link_name(path).casefold() for path in paths)

    def fact(self, fact: Fact) -> str:
        """The citation of one fact, marked if it came from outside."""
        return self.several([fact])

    def several(self, facts: Sequence[Fact]) -> str:
        """The citation of several facts of one note: `[[2025-11-27]] L12, L14`, or by the block id of the first."""
        first, *more = facts
        if first.block_id:
            where = self.link(first.path, f"#^{first.block_id}")
        else:
            where = f"{self.link(first.path)} L{first.line}"
        marks = dict.fromkeys(provenance.origin_suffix(fact.by) for fact in facts)
        return ", ".join((where, *(f"L{fact.line}" for fact in more))) + "".join(marks)

    def link(self, path: str, anchor: str = "") -> str:
        """A link to a note, or to the `anchor` in it."""
        if _UNFIT.search(path):
            words = re.sub(r"([\[\]])", r"\\\1", link_name(path))
            return f"[{words}]({quote(path, safe='/')}{anchor})"
        name, bar, shown = self.target(path).partition("|")
        return f"[[{name}{anchor}{bar}{shown}]]"

    def target(self, path: str) -> str:
        """The text between the brackets: the note's name, or path and name if another note has the same name."""
        name = link_name(path)
        return name if self._names[name.casefold()] < 2 else f"{path.removesuffix('.md')}|{name}"
