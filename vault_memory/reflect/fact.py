"""A fact as reflect works on it, with its day, place, tier and whom it is about, and how a page cites its line. Pure.

A citation opens in Obsidian: `[[2025-11-27]] L12`, or `[[2025-11-27#^id]]` where the line has a block id. A name that
two notes share is written with its path: `[[memory/2025-11-27|2025-11-27]] L12`. One that no wikilink can hold is a
Markdown link: `[C# notes](Work/C%23%20notes.md) L12`.
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
"""A fact about longer than this ("in March", "was built in 1938") does not say of which day it is."""

LINE_NUMBER = re.compile(r"(?:(?<=\]\] )|(?<=\.md\) ))L\d+(?:, L\d+)*")
"""The numbers of cited lines: a moved line alone is no reason to write a page."""

_UNFIT = re.compile(r"[#^|\[\]]|%%")
"""What Obsidian reads in a wikilink as something else than a part of the name."""


class Fact(NamedTuple):
    """One fact as its note tells it: a Retain bullet, or a line read as one (`is_inferred`).

    `key` is the hash of its text: it names the fact wherever its line moves, and changes when a word of it does.
    `about` are slugs, those before the colon first; `confidence` and `importance` in 0..1. `tier` is how it stands
    today (decay.py), `succeeded_by` the key of the fact that took its place.

    A tuple, for a large vault has very many of them.
    """

    key: int
    kind: str
    """world, experience, opinion or observation."""
    text: str
    """The narrative, links and mentions as they were written, without the message it was captured from."""
    path: str
    line: int
    """Where it begins, 1-based."""
    day: date | None
    """When it was written down; None in a note without a day."""
    occurred: Span | None = None
    about: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    """Those of `about` that stand before the colon."""
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
    """Who it is from (provenance.py)."""
    tokens: int = 0
    """What it costs where it stands in its note, with its marks; 0 where that is not known."""

    @property
    def is_trusted(self) -> bool:
        """Whether somebody here wrote it: what came from outside is told, and marked, and nothing is built on it."""
        return provenance.is_trusted(self.by)

    @property
    def when(self) -> date | None:
        """The day it belongs to in a timeline: when it happened, else when it was written down.

        An opinion is of the day it was held: one that names another ("right to ship on 8 December") is not of that day.
        """
        span = self.occurred
        if span is None or self.kind == "opinion" or (span.end - span.start).days > LONG_SPAN_DAYS:
            return self.day
        return span.start


def timeline_key(fact: Fact) -> tuple[date, str, int, int]:
    """By day, note and line; what has no day comes last."""
    return (fact.when or date.max, fact.path, fact.line, fact.key)


class Citations:
    """The links to the notes of one vault; `paths` are all of its notes, vault-relative."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._names = Counter(link_name(path).casefold() for path in paths)

    def fact(self, fact: Fact) -> str:
        """The citation of one fact, and that it came from outside where it did."""
        return self.several([fact])

    def several(self, facts: Sequence[Fact]) -> str:
        """The citation of some facts of one note: `[[2025-11-27]] L12, L14`, or by the block id of the first."""
        first, *more = facts
        path = first.path
        if not first.block_id:
            where = f"{self.link(path)} L{first.line}"
        elif _UNFIT.search(path):
            where = _markdown(path, f"#^{first.block_id}")
        else:
            name, bar, shown = self.target(path).partition("|")
            where = f"[[{name}#^{first.block_id}{bar}{shown}]]"
        marks = dict.fromkeys(provenance.origin_suffix(fact.by) for fact in facts)
        return ", ".join((where, *(f"L{fact.line}" for fact in more))) + "".join(marks)

    def link(self, path: str) -> str:
        """A link to a whole note."""
        return _markdown(path) if _UNFIT.search(path) else f"[[{self.target(path)}]]"

    def named(self, path: str, name: str) -> str:
        """A link to a whole note that shows a name of its own."""
        if _UNFIT.search(path):
            return _markdown(path, shown=name)
        target = self.target(path)
        plain_name = re.sub(r"[\[\]|]", " ", name)
        return f"[[{target}]]" if target == name or "|" in target else f"[[{target}|{plain_name}]]"

    def target(self, path: str) -> str:
        """What stands between the brackets: the note's name, or its path and name where another note has it too."""
        name = link_name(path)
        return name if self._names[name.casefold()] < 2 else f"{path.removesuffix('.md')}|{name}"


def _markdown(path: str, anchor: str = "", shown: str = "") -> str:
    words = re.sub(r"([\[\]])", r"\\\1", shown or link_name(path))
    return f"[{words}]({quote(path, safe='/')}{anchor})"
