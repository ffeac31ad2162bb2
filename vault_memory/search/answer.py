"""What recall takes and gives: Request, Result, Answer. Pure data, no print.

Named tuples, not data classes: each recall imports them, and a data class takes a millisecond to define.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from vault_memory.store.view import Filters

TOKENS_PER_RESULT = 25
"""What a passage has on the average: how many results a budget without `--k` asks for."""

CLOSEST = 3
"""So many results are printed where the notes hardly know what is asked."""

MAX_UNKNOWN_WORDS = 8
"""So many words are named that no note has: a question with more has something pasted in it."""

MAX_MORE = 400
"""So many more are looked for where some are not wanted again."""

SESSION = "session"
"""The kind of what was said in a conversation: its lines are messages."""


ABOUT_RESULTS = frozenset({"budget", "lexical", "entity", "temporal"})
"""The problems that say how results came about, not what did not run."""


class Request(NamedTuple):
    """One question. `k` and `budget_tokens` bound the answer; None is unlimited. `now` is aware UTC.

    `rendered` says that the answer will be printed as Markdown, so that its citations count against the budget too.
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
    """Whether `now` was given instead of the clock's: such a question was not asked then, and the journal omits it."""
    all: bool = False
    """Whether weak results are wanted too, and more than the CLOSEST where the notes hardly know what is asked."""
    unasked: bool = False
    """Whether nobody asked: then nothing weak is wanted, and the answer says whether the question has to do with the
    notes (`is_relevant`)."""
    without: frozenset[int] = frozenset()
    """Passages that are not wanted again, by the hashes the journal knows them by; the next best take their place."""
    self_contained: bool = False
    """Whether only what tells something by itself is wanted: no properties, comments, proposals and charts."""
    handed_over: tuple[str, ...] = ()
    """Lines that are handed over besides the answer: the same words are not wanted twice."""

    @property
    def is_noted(self) -> bool:
        """Whether the journal may note it: no list, no question of another time, nor one that wants ranks explained."""
        return not (self.is_pinned or self.explain or self.is_listing)

    @property
    def is_listing(self) -> bool:
        """Whether nothing is asked: what the filters let through is to be listed, the newest first."""
        return not self.query.strip() and any(self.filters._replace(scopes=()))

    @property
    def wanted(self) -> int:
        """How many results are asked for: `k`, else what the budget holds of passages of usual length."""
        asked = self.k if self.k is not None else max(8, (self.budget_tokens or 10_000) // TOKENS_PER_RESULT)
        return asked + min(len(self.without), MAX_MORE)

    @property
    def today(self) -> date:
        """The local day of `now`."""
        return self.now.astimezone().date()


class Result(NamedTuple):
    """One cited answer: the very text of lines `start_line`..`end_line`, or parts of it where `truncated`."""

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
    """The hash by which the journal knows the passage (journal.py)."""
    parts: tuple[int, ...] = ()
    """The same of each of its parts, where it is parts of one line."""
    by: str = "person"
    """Who it is from (provenance.py)."""
    trusted: bool = True
    """Whether that is somebody here: not a web page or a tool's output."""
    header_tokens: int = 0
    """What naming its note costs where it is printed, once a note."""
    citation_tokens: int = 0
    """What its citation and marks cost there, besides its content."""
    root: str = ""
    """The root that gave it, where that is not the vault."""

    @property
    def source(self) -> str:
        """The citation: `path#L12` or `path#L12-L14`; of a session's messages `path#m12`, of its head the path."""
        letter = "m" if self.kind == SESSION else "L"
        if not self.start_line:
            return self.path
        last = f"-{letter}{self.end_line}" if self.end_line > self.start_line else ""
        return f"{self.path}#{letter}{self.start_line}{last}"


class Understanding(NamedTuple):
    """How a question was read; `unknown` are its words that stand nowhere in what its asker sees, days left aside."""

    entities: tuple[str, ...] = ()
    window: tuple[date, date] | None = None
    kinds: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class RootStatus(NamedTuple):
    """A root that was asked: how many notes it holds, how many results it gave, and how fresh it was; else why not."""

    name: str
    notes: int = 0
    results: int = 0
    fresh: bool = True
    pending: int = 0
    why_not: str = ""


class Answer(NamedTuple):
    """The results in rank order, with what was searched, how fresh the index was and what was left out."""

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
    """Words of the question that no note has, where the notes hardly know what is asked; else none."""
    missing_with: tuple[str, ...] = ()
    """The names or other words with which no note has them, where they stand elsewhere."""
    unmentioned: tuple[str, ...] = ()
    """Words that no note has, nor anything like them, of a question of which the notes know the rest."""
    is_relevant: bool = True
    """Whether a question that nobody asked has to do with what the notes know."""
    is_guess: bool = False
    """Whether the results hold no word of the question: they are the closest by meaning."""
    roots: Sequence[RootStatus] = ()
    """Which roots were asked, where that was not the vault alone."""
    words: Mapping[str, int] = {}
    """The question's phrases that stand anywhere in what is seen, each with the number of passages that hold it."""
    passages: int = 0
    """How many passages are seen."""
    matched: tuple[str, ...] = ()
    """The words of the results that match the question, case folded, where the answer will be printed."""


def no_mention(words: Sequence[str], names: Sequence[str] = (), is_filtered: bool = False) -> str:
    """That no note has these words, or none with these names or other words, in a sentence."""
    *others, last = [f"“{word}”" for word in words[:MAX_UNKNOWN_WORDS]]
    beside = f" with {' or '.join(f'“{name}”' if name.islower() else name for name in names)}" if names else ""
    where = "Nothing that the filters let through" if is_filtered else "No note"
    return f"{where} mentions {', '.join(others)}{' or ' if others else ''}{last}{beside}."


def without_results(answer: Answer) -> Answer:
    """The answer to a question that it has nothing to do with: nothing of it, be there room for it or not."""
    left = {what: count for what, count in answer.omitted.items() if what != "over_budget"}
    left["below_floor"] = sum(answer.omitted.get(what, 0) for what in ("below_floor", "over_budget")) + len(
        answer.results
    )
    degraded = [(what, why) for what, why in answer.degraded if what not in ABOUT_RESULTS]
    return answer._replace(results=[], omitted=left, degraded=degraded)
