"""Defines recall's input and output: Request, Result, Answer. Pure data.

Named tuples rather than data classes: every recall imports them, and a data class takes a millisecond to define.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from vault_memory.store.view import Filters

TOKENS_PER_RESULT = 25
"""Average tokens of a passage: turns a budget without `--k` into a number of results."""

CLOSEST = 3
"""How many results are printed if the notes hardly know what is asked."""

MAX_UNKNOWN_WORDS = 8
"""The most words reported as in no note: a question with more has something pasted in it."""

MAX_MORE = 400
"""The most extra results searched for to replace those in `without`."""

SESSION = "session"
"""The kind of a conversation's passages: their line numbers are message numbers."""


ABOUT_RESULTS = frozenset({"budget", "lexical", "entity", "temporal"})
"""Entries of `degraded` that qualify the results rather than report a step that did not run."""


class Request(NamedTuple):
    """One question. `k` and `budget_tokens` limit the answer; None is unlimited. `now` is aware UTC.

    `rendered` means that the answer will be printed as Markdown, so citations count against the budget too.
    """

    query: str
    now: datetime
    k: int | None = 8
    budget_tokens: int | None = 2000
    filters: Filters = Filters()
    source: str = "notes"
    mode: str = "auto"
    preset: str = "tuned"
    explain: bool = False
    rendered: bool = False
    id: str | int | None = None
    is_pinned: bool = False
    """Whether `now` was given rather than taken from the clock: the journal omits such a question."""
    all: bool = False
    """Whether to include weak results, and more than the CLOSEST if the notes hardly know what is asked."""
    unasked: bool = False
    """Whether the answer is unsolicited: weak results are dropped, and `is_relevant` says whether the question concerns
    the notes."""
    without: frozenset[int] = frozenset()
    """Passages not to repeat, by their journal hashes; the next best take their place."""
    self_contained: bool = False
    """Whether only passages that make sense by themselves are wanted: no comments, queries or charts."""
    handed_over: tuple[str, ...] = ()
    """Lines the caller shows besides the answer: passages in the same words are dropped as duplicates."""

    @property
    def is_noted(self) -> bool:
        """Whether the journal may record it: not a listing, a pinned `now` or a request to explain ranks."""
        return not (self.is_pinned or self.explain or self.is_listing)

    @property
    def is_listing(self) -> bool:
        """Whether it has filters but no question: list what they let through, newest first."""
        return not self.query.strip() and any(self.filters._replace(scopes=()))

    @property
    def wanted(self) -> int:
        """How many results to find: `k`, or what fits the budget at average length; plus extra for `without`."""
        asked = self.k if self.k is not None else max(8, (self.budget_tokens or 10_000) // TOKENS_PER_RESULT)
        return asked + min(len(self.without), MAX_MORE)

    @property
    def today(self) -> date:
        """The local day of `now`."""
        return self.now.astimezone().date()


class Result(NamedTuple):
    """One cited result: the exact text of lines `start_line`..`end_line`, or parts of it if `truncated`."""

    rank: int = 0
    score: float = 0.0
    kind: str = "note"
    date: str | None = None
    occurred: str | None = None
    entities: tuple[str, ...] = ()
    confidence: float | None = None
    tier: str | None = None
    content: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    heading: tuple[str, ...] = ()
    tokens: int = 0
    truncated: bool = False
    why: Mapping[str, Any] | None = None
    superseded_by: str | None = None
    key: int = 0
    """The passage's journal hash (journal.py)."""
    parts: tuple[int, ...] = ()
    """The journal hashes of its passages: several where it joins parts of one line."""
    by: str = "person"
    """Its origin (provenance.py)."""
    trusted: bool = True
    """Whether its origin is trusted: not a web page or a tool's output."""
    header_tokens: int = 0
    """Tokens of its note's printed header, once per note."""
    citation_tokens: int = 0
    """Tokens of its printed citation and marks, besides its content."""
    root: str = ""
    """The root it comes from, if not the vault."""

    @property
    def source(self) -> str:
        """The citation: `path#L12` or `path#L12-L14`; `path#m12` for a session's messages; the path without lines."""
        letter = "m" if self.kind == SESSION else "L"
        if not self.start_line:
            return self.path
        last = f"-{letter}{self.end_line}" if self.end_line > self.start_line else ""
        return f"{self.path}#{letter}{self.start_line}{last}"


class Understanding(NamedTuple):
    """How a question was understood; `unknown` are its words, other than dates, in nothing the caller can see."""

    entities: tuple[str, ...] = ()
    window: tuple[date, date] | None = None
    kinds: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class RootStatus(NamedTuple):
    """One queried root: its number of notes and results and its freshness, or why it gave no answer."""

    name: str
    notes: int = 0
    results: int = 0
    fresh: bool = True
    pending: int = 0
    why_not: str = ""


class Answer(NamedTuple):
    """The results in rank order, with what was searched, how fresh the index was and what was omitted."""

    request: Request
    results: Sequence[Result]
    mode: str
    lanes: Mapping[str, int]
    embedder: str | None
    understood: Understanding
    tokens: int
    rendered_tokens: int
    omitted: Mapping[str, int]
    degraded: Sequence[tuple[str, str]] = ()
    fresh: bool = True
    pending: int = 0
    generation: int = 0
    notes: int = 0
    vault: str = ""
    seconds: float = 0.0
    missing: tuple[str, ...] = ()
    """Words of the question missing from the notes, if these hardly know what is asked; else none."""
    missing_with: tuple[str, ...] = ()
    """The names or other words beside which no note has the missing ones, if those do occur elsewhere."""
    is_relevant: bool = True
    """For an unsolicited answer, whether the question concerns what the notes know."""
    is_guess: bool = False
    """Whether no result contains a word of the question: they are the closest by meaning."""
    roots: Sequence[RootStatus] = ()
    """The roots that were queried, if more than the vault."""
    words: Mapping[str, int] = {}
    """The question's phrases that occur in what the caller can see, with the number of passages that contain each."""
    passages: int = 0
    """How many passages the caller can see."""
    matched: tuple[str, ...] = ()
    """The results' words that match the question, case folded; only if the answer will be printed."""


def no_mention(words: Sequence[str], names: Sequence[str] = (), is_filtered: bool = False) -> str:
    """Say in a sentence that no note has these words, or none has them together with these names."""
    *others, last = [f"“{word}”" for word in words[:MAX_UNKNOWN_WORDS]]
    beside = f" with {' or '.join(f'“{name}”' if name.islower() else name for name in names)}" if names else ""
    where = "Nothing that the filters let through" if is_filtered else "No note"
    return f"{where} mentions {', '.join(others)}{' or ' if others else ''}{last}{beside}."


def without_results(answer: Answer) -> Answer:
    """Return the answer with its results removed, counted as below the floor, and problems about them dropped."""
    left = {what: count for what, count in answer.omitted.items() if what != "over_budget"}
    left["below_floor"] = sum(answer.omitted.get(what, 0) for what in ("below_floor", "over_budget")) + len(
        answer.results
    )
    degraded = [(what, why) for what, why in answer.degraded if what not in ABOUT_RESULTS]
    return answer._replace(results=[], omitted=left, degraded=degraded)
