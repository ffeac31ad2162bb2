"""Assembles the text an agent is given before it answers: core memory, summaries, search results and recent notes.

Everything handed over is journalled as `shown`, which does not count as use (law 5).
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from vault_memory.config import Config
from vault_memory.context import note_pieces, prompt_sheet
from vault_memory.errors import IndexDamagedError, UsageError
from vault_memory.indexing.index_file import Freshness, IndexFile, IndexState, index_state
from vault_memory.search import recall_options as options
from vault_memory.search.answer import Answer, Request, Result
from vault_memory.search.fit_budget import FILL_SHARE, cites, said
from vault_memory.search.searcher import Searcher
from vault_memory.startup import FORMATS, SESSIONS, SOURCES
from vault_memory.store import journal
from vault_memory.store.view import FACTS, PAGE, Candidate, Filters
from vault_memory.text.calendar_days import Span

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress
    from vault_memory.store.view import Store

BUDGET = 2000
RECENT_DAYS = 7
"""How many days back a context without a prompt looks by default."""

PROMPT_CORE_SHARE, RECENT_CORE_SHARE = 0.5, 0.75
"""The core's maximum share of the budget, with a prompt and with recent notes only."""

LEAST_PROMPT_TOKENS = 240
"""At least this much of the budget, or all of a smaller one, is reserved for the answer to a prompt: some four lines.
Otherwise the start of the core would fill a small budget and crowd the answer out."""

SUMMARY_SHARE, PROJECT_SHARE = 0.3, 0.4
"""The maximum shares of the budget for summaries, which also take at most half of what the core leaves, and for the
project."""

PROJECT_TOKENS = 400
"""The project's maximum in a larger budget: the rest is for what is asked later."""

RECENT_SHARE = 0.2
"""The maximum share of the budget reserved for recent notes, however many passages would fit."""

LEAST_RESULT_TOKENS = 400
"""Search is given at least this many tokens of room: it does not count the sheet's format, and a result that takes all
of too small a room would leave the sheet empty."""

MAX_DAYS, MAX_PROMPTS = 366, 8
"""How many days back a context may look for recent notes; how many prompts it may answer, each with its own search."""

LONGEST_PROMPT = 8000
"""How many characters of a prompt are read, half of them from its end: pasted logs are not a question."""

HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")


class Host(Protocol):
    """The vault that a context is made from: a Memory, or a Federation, which also asks other sources."""

    config: Config
    index_file: IndexFile
    search: Searcher

    def add_other_sources(self, request: Request, own: Answer | None, may_wait: bool = True) -> Answer:
        """The vault's own answer merged with those of other sources."""

    def project_summary(self, project: str) -> Result | None:
        """The beginning of the latest session summary of the project with this scope."""


class ContextRequest(NamedTuple):
    """The options of a context: at most `budget` tokens, from these scopes or `global`, and `without` the passages with
    these journal keys, which were shown recently."""

    prompt: str = ""
    budget: int = BUDGET
    scopes: tuple[str, ...] = ()
    format: str = "markdown"
    without: frozenset[int] = frozenset()
    core: bool = True
    recent_days: int = 0
    source: str = "notes"
    now: datetime | None = None
    unasked: bool = False
    """Whether it is unsolicited, as at each prompt: then semantic-only guesses and weak results are left out."""
    summaries: bool = False
    """Whether the newest weekly and monthly summary pages follow the core."""
    project: str = ""
    """The scope of the current project. Without a prompt, the best notes about it follow the core. Recent notes are
    limited to those about it and, if `summaries` is set, to other facts."""
    also: tuple[str, ...] = ()
    """Further prompts: each is searched separately, and the results are interleaved."""

    @property
    def prompts(self) -> list[str]:
        return [text for text in dict.fromkeys((self.prompt, *self.also)) if text.strip()]


def parse_request(values: Mapping[str, Any], config: Config) -> ContextRequest:
    """Make a ContextRequest from option values; absent or None means the default. Raises UsageError.

    Without a prompt, `recent_days` defaults to seven.
    """
    given = {key: value for key, value in values.items() if value is not None}
    prompt = given.get("prompt", "")
    if not isinstance(prompt, str):
        raise UsageError("`prompt` must be text.", "Leave it out for what was noted lately.")
    if len(also := options.texts(given, "also")) >= MAX_PROMPTS:
        raise UsageError(f"A context answers {MAX_PROMPTS} prompts at most.", "Give fewer in `also`.")
    days = given.get("recent_days", 0 if prompt.strip() else RECENT_DAYS)
    if isinstance(days, bool) or not isinstance(days, int) or not 0 <= days <= MAX_DAYS:
        raise UsageError(f"`recent_days` must be a whole number from 0 to {MAX_DAYS}.", "For example 7.")
    try:
        without = frozenset(map(journal.signed, options.texts(given, "without")))
    except ValueError as error:
        raise UsageError(
            "`without` must name passages as `shown` does.", "Give the keys of an earlier answer."
        ) from error
    return ContextRequest(
        prompt=prompt,
        budget=options.count(given, "budget") or config.recall_budget,
        scopes=options.scopes(given),
        format=options.choice(given, "format", FORMATS, FORMATS[0]),
        without=without,
        core=not options.flag(given, "without_core"),
        recent_days=days,
        source=options.choice(given, "source", SOURCES, "notes"),
        now=options.moment(given["now"]) if "now" in given else None,
        unasked=options.flag(given, "unasked"),
        summaries=options.flag(given, "summaries"),
        project=next(iter(options.texts(given, "project")), ""),
        also=also,
    )


class Bundle(NamedTuple):
    """The text for the agent ("" if there is none), an upper bound of its tokens, and the passages in it.

    `omitted` counts what was left out, by reason. `is_relevant` is false if the context is unsolicited and no note has
    to do with the prompt.
    """

    text: str
    tokens: int
    shown: tuple[journal.CitedPassage, ...] = ()
    omitted: dict[str, int] = {}  # noqa: RUF012 - a named tuple's default, never changed
    degraded: tuple[tuple[str, str], ...] = ()
    core: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    seen: IndexState | None = None
    is_relevant: bool = True
    seconds: float = 0.0


def bundle(memory: Host, request: ContextRequest, patience: float = 1.0, progress: "Progress | None" = None) -> Bundle:
    """Make a bundle, and journal what it shows; raises like `Memory.recall`.

    With `patience` 0 (seconds) no index is built or updated, and no model is asked.
    """
    started, half = time.perf_counter(), LONGEST_PROMPT // 2
    texts = (request.prompt, *request.also)
    prompt, *also = (text if len(text) <= LONGEST_PROMPT else f"{text[:half]}\n{text[-half:]}" for text in texts)
    request = request._replace(scopes=request.scopes or ("global",), prompt=prompt, also=tuple(also))
    if patience <= 0:
        found = _at_once(memory, request)
    else:
        try:
            found = memory.index_file.ask(lambda store, fresh: _make(memory, request, store, fresh), progress)
        finally:
            memory.search.close()
    if found.shown and memory.config.journal and request.now is None:
        journal.note_recall(memory.index_file.vault.root, request.prompt, datetime.now(UTC), found.shown, "shown")
    return found._replace(scopes=request.scopes, seconds=time.perf_counter() - started)


def _at_once(memory: Host, request: ContextRequest) -> Bundle:
    """The bundle from the index as it is; only core memory if there is no usable index."""
    why = memory.index_file.unusable()
    if not why:
        try:
            with memory.index_file.reading(write=False) as (store, freshness), store.snapshot():
                return _make(memory, request, store, freshness, may_ask=False)
        except IndexDamagedError as error:
            why = f"it was damaged ({error})"
    which = f"none that can be used ({why})" if memory.index_file.path.exists() else "none yet"
    degraded = ("index", f"there is {which}: `memory index` builds it")
    found = _BundleMaker(memory, request._replace(prompt="", also=(), recent_days=0), None).make(None)
    return found._replace(degraded=(degraded, *found.degraded))


def _make(memory: Host, request: ContextRequest, store: "Store", freshness: Freshness, may_ask: bool = True) -> Bundle:
    """The bundle; made again if omitted core lines could use leftover budget (with a prompt: if no core was taken)."""
    found = _BundleMaker(memory, request, store, may_ask).make(freshness)
    idle = request.budget - found.tokens
    if (request.prompts and found.core) or not found.omitted.get("core_lines") or idle <= 0:
        return found
    return _BundleMaker(memory, request, store, may_ask, idle).make(freshness)


class _BundleMaker:
    """Makes one bundle from an open index; the core may take `idle` tokens beyond its share."""

    def __init__(
        self, memory: Host, request: ContextRequest, store: "Store | None", may_ask: bool = True, idle: int = 0
    ) -> None:
        self._memory, self._options, self._opened, self._may_ask, self._idle = memory, request, store, may_ask, idle
        self._vault = memory.index_file.vault
        self._now = request.now or datetime.now(UTC)
        self._sheet = prompt_sheet.Sheet(request.format, request.budget)
        self._shown: list[journal.CitedPassage] = []
        self._texts: list[str] = []
        self._summed_up: list[str] = []
        """The lines of generated pages on the sheet, with their citations."""
        self._core: list[str] = []
        self._omitted: dict[str, int] = {}
        self._degraded: list[tuple[str, str]] = []
        self._is_relevant = True

    @property
    def _today(self) -> date:
        return self._now.astimezone().date()

    @property
    def _store(self) -> "Store":
        assert self._opened, "only the core is made without an index"
        return self._opened

    def make(self, freshness: Freshness | None) -> Bundle:
        """The bundle: core memory, summaries, the project, what the notes say about the prompt, and recent notes."""
        options = self._options
        if options.core:
            self._take_core()
        if freshness is None:
            return self._bundle()
        if options.summaries:
            self._take_summaries()
        if not freshness.fresh and (options.prompts or options.recent_days):
            self._sheet.say_behind()
        about = None
        if options.project and (options.recent_days or not options.prompts):
            about = note_pieces.pieces_about(self._store.view(options.scopes), options.project, self._today)
        if about and not options.prompts and not options.without:  # else each resumed session would get the next best
            self._take_project(about)
        recent = self._find_recent(about) if options.recent_days > 0 else []
        if options.prompts:
            self._take_passages(self._keep_for(recent))
        self._take_pieces("recent", recent)
        return self._bundle(index_state(self._store.view(options.scopes), freshness, options.scopes))

    def _bundle(self, found: IndexState | None = None) -> Bundle:
        self._sheet.say_legend()
        text = self._sheet.text()
        if not text and any(self._omitted.get(name) for name in ("core_lines", "over_budget")):
            least = f"nothing fits into {self._options.budget} tokens; the frame alone takes up to {self._sheet.tokens}"
            self._degraded.append(("budget", least))
        return Bundle(
            text, self._sheet.tokens if text else 0, tuple(self._shown), self._omitted,
            (*self._degraded, *(found.degraded if found else ())), tuple(self._core), seen=found,
            is_relevant=self._is_relevant,
        )  # fmt: skip

    # --- core memory and summaries -----------------------------------------------------------------------------------

    def _take_core(self) -> None:
        options, names = self._options, note_pieces.core_names(self._vault)
        cores, degraded = note_pieces.read_notes(self._vault, self._opened, names, options.scopes)
        self._degraded += degraded
        share = PROMPT_CORE_SHARE if options.prompts else RECENT_CORE_SHARE if options.recent_days else 1.0
        least = min(options.budget, LEAST_PROMPT_TOKENS) if options.prompts else 0
        reserved = max(0, max(least, options.budget - int(options.budget * share)) - self._idle)
        for core in cores:
            # In a continued conversation only what has changed is shown again.
            pieces = self._not_shown(core)
            taken = self._take_from_top("core", pieces, reserved)
            if taken:
                self._core.append(core[0].path)
            self._leave_out("core_lines", _count_lines(pieces[taken:]))

    def _take_summaries(self) -> None:
        """Take the week's page, then the month's, without lines already on the sheet: the month repeats the week."""
        room = min(int(self._options.budget * SUMMARY_SHARE), self._sheet.left // 2)
        reserved = self._sheet.left - room
        paths = note_pieces.summary_pages(self._store.view(self._options.scopes), self._today)
        pages, degraded = note_pieces.read_notes(self._vault, self._store, paths, self._options.scopes)
        self._degraded += degraded
        for page in pages:
            before = {said(text) for text in self._texts} - {()}
            pieces = [piece for piece in page if said(_claim(piece)) not in before]
            self._leave_out("over_budget", len(pieces) - self._take_from_top("summaries", pieces, reserved))

    def _not_shown(self, pieces: Sequence[Result]) -> list[Result]:
        left = [piece for piece in pieces if piece.key not in self._options.without]
        self._leave_out("shown_before", len(pieces) - len(left))
        return left

    def _take_from_top(self, section: str, pieces: Sequence[Result], reserved: int) -> int:
        """Take a note's pieces from its beginning, and note how many lines are left out; returns how many it took."""
        taken = 0
        for number, piece in enumerate(pieces):
            # Reserve room after a heading for the piece below it, and for the line about what is left out.
            behind = pieces[number + 1 :]
            headings = len([*takewhile(lambda other: HEADING.match(other.content), pieces[number:])])
            keep = sum(prompt_sheet.piece_tokens(self._options.format, other) for other in behind[:headings])
            keep += prompt_sheet.MORE_TOKENS if headings < len(behind) else 0
            if not self._sheet.add(section, piece, reserved + keep):
                break
            self._show(piece, _claim(piece))
            self._summed_up += [piece.content] if piece.kind == PAGE else []
            taken += 1
        if taken and (rest := pieces[taken:]):
            more = prompt_sheet.LeftOut(_count_lines(rest), rest[0].start_line, rest[-1].end_line)
            self._sheet.end(section, rest[0].path, more)
        return taken

    def _show(self, piece: Result, text: str) -> None:
        self._texts.append(text)
        self._shown += [journal.CitedPassage(piece.source, key) for key in dict.fromkeys(piece.parts or (piece.key,))]

    def _take_project(self, about: note_pieces.ProjectNotes) -> None:
        """Take the beginning of the project's page, the latest session summary, then decisions, tasks and facts."""
        room = min(PROJECT_TOKENS, int(self._options.budget * PROJECT_SHARE), self._sheet.left)
        reserved = self._sheet.left - room
        pages, degraded = note_pieces.read_notes(self._vault, self._store, about.pages, self._options.scopes)
        self._degraded += degraded
        for page in pages:
            self._take_from_top("project", self._not_shown(page), reserved + room // 2)
        brief = note_pieces.project_brief(self._vault, self._store.view(self._options.scopes), about, self._today)
        summary = self._memory.project_summary(self._options.project)
        self._take_pieces("project", [*filter(None, [summary]), *brief], reserved)

    # --- what the notes say about a prompt ---------------------------------------------------------------------------

    def _take_passages(self, keep: int) -> None:
        left = self._sheet.left - keep
        if left <= 0:
            self._leave_out("over_budget")
            return
        answers = self._answers(max(left, LEAST_RESULT_TOKENS))
        if not all(answer.fresh for answer in answers):  # another root's index
            self._sheet.say_behind()
        if len(answers) == 1:
            self._sheet.say_unknown(answers[0].understood.unknown)
        results, repeats = interleave(answers)
        for name in dict.fromkeys(name for answer in answers for name in answer.omitted):
            # The answers omit mostly the same passages.
            self._leave_out(name, max(answer.omitted.get(name, 0) for answer in answers))
        self._leave_out("near_duplicates", repeats)
        for what, why in dict.fromkeys(problem for answer in answers for problem in answer.degraded):
            # The rest of the sheet uses some of the budget: say what was left for results.
            self._degraded.append((what, f"{why}; {left} are left for it" if what == "budget" else why))
        self._leave_out("over_budget", self._add_results(results, keep))

    def _answers(self, room: int) -> list[Answer]:
        """What the notes, and other sources if asked for, say about each prompt."""
        options, answers = self._options, []
        self._is_relevant = False
        for prompt in options.prompts:
            request = Request(
                prompt, self._now, None, room, Filters(scopes=options.scopes), options.source,
                preset=self._memory.config.recall_preset, rendered=True, self_contained=True,
                handed_over=tuple(self._texts),
                without=options.without | {cited.key for cited in self._shown},
                unasked=options.unasked,
            )  # fmt: skip
            # The engine never has a reranker, and no model at all if it must not wait.
            asks_notes = request.source != SESSIONS
            engine = self._memory.search.engine(self._store, self._may_ask, rerank=False) if asks_notes else None
            answer = self._memory.add_other_sources(request, engine.answer(request) if engine else None, self._may_ask)
            self._is_relevant = self._is_relevant or answer.is_relevant
            answers.append(answer)
        return answers

    def _add_results(self, results: Sequence[tuple[int, Result]], keep: int) -> int:
        """Put results on the sheet, best first; returns how many do not fit or are much worse than one that did not."""
        over = 0
        least: dict[int, float] = {}
        for answer, result in results:
            is_weak = result.score < least.get(answer, result.score)
            if self._is_summed_up(result):
                self._leave_out("near_duplicates")
            elif is_weak or not self._sheet.add("passages", result, keep):
                over += 1
                if result.score > 0:
                    least[answer] = max(least.get(answer, 0.0), FILL_SHARE * result.score)
            else:
                self._show(result, result.content)
        return over

    # --- recent notes, and the project's -----------------------------------------------------------------------------

    def _find_recent(self, about: note_pieces.ProjectNotes | None) -> list[Result]:
        options, days = self._options, Span(self._today - timedelta(days=self._options.recent_days - 1), self._today)
        ids = {row[-1].id for row in about.passages} if about else frozenset()

        def is_wanted(found: Candidate) -> bool:
            return about is None or found.id in ids or (options.summaries and found.kind in FACTS)

        return list(note_pieces.recent_pieces(self._vault, self._store.view(options.scopes), days, is_wanted))

    def _keep_for(self, recent: Sequence[Result]) -> int:
        """How much to reserve for recent notes while passages are taken: a share, but no more than they need."""
        form = self._options.format
        costs = (prompt_sheet.piece_tokens(form, one) + prompt_sheet.note_tokens(form, one) for one in recent)
        need = prompt_sheet.SECTION_TOKENS + sum(costs)
        return min(need, int(self._options.budget * RECENT_SHARE), self._sheet.left // 2)

    def _take_pieces(self, section: str, pieces: Iterable[Result], keep: int = 0) -> None:
        """Put pieces on the sheet, except those that repeat what is already there."""
        before = {said(text) for text in self._texts} - {()}
        for piece in pieces:
            words = said(piece.content)
            if piece.key in self._options.without:
                self._leave_out("shown_before")
            elif words in before or self._is_summed_up(piece):
                self._leave_out("near_duplicates")
            elif not self._sheet.add(section, piece, keep):
                self._leave_out("over_budget")
            else:
                before.add(words)
                self._show(piece, piece.content)

    def _is_summed_up(self, piece: Result) -> bool:
        """Whether a generated page's line on the sheet cites this one."""
        return any(cites(told, piece.path, piece.start_line, piece.content) for told in self._summed_up)

    def _leave_out(self, why: str, count: int = 1) -> None:
        if count:
            self._omitted[why] = self._omitted.get(why, 0) + count


def _claim(piece: Result) -> str:
    """A piece's text; for a line of a generated page, without the citation at its end."""
    return piece.content.partition(" — [")[0] if piece.kind == PAGE else piece.content


def _count_lines(pieces: Iterable[Result]) -> int:
    return len({line for piece in pieces for line in range(piece.start_line, piece.end_line + 1)})


def interleave(answers: Sequence[Answer]) -> tuple[list[tuple[int, Result]], int]:
    """Interleave the results by rank, each with its answer's number; also returns how many repeats were dropped."""
    parts: set[int] = set()
    words: set[tuple[str, ...]] = set()
    told: list[tuple[int, Result]] = []
    repeats = 0
    for rank in zip_longest(*(answer.results for answer in answers)):
        for number, result in enumerate(rank):
            if result is None:
                continue
            own, says = set(result.parts), said(result.content) or (result.content,)
            if says in words or (own and own <= parts):
                repeats += 1
                continue
            told.append((number, result))
            parts |= own
            words.add(says)
    return told, repeats
