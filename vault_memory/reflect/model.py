"""A fact as reflect works on it, with its day, place, tier and whom it is about. Pure data."""

from datetime import date
from typing import NamedTuple

from vault_memory.markdown import provenance
from vault_memory.text.spans import Span

LONG_SPAN_DAYS = 16
"""A fact about longer than this ("in March", "was built in 1938") does not say of which day it is."""


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
    """The narrative, links and mentions as they were written."""
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
