"""Decides what becomes of each statement found: compares it with what is known, and gives it its place and names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from vault_memory.capture import sources
from vault_memory.capture.model_engine import model_statements
from vault_memory.capture.proposals_page import Proposal, name_of, propose_page
from vault_memory.capture.sources import CapturedLog, Marks
from vault_memory.capture.statements import SECRET, SILENCED, Statement, find_log_statements, find_statements
from vault_memory.capture.work_log import SessionDay
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import RemoteError, UsageError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.markdown.fact_text import inert
from vault_memory.reflect.model_writer import ModelWriter, configured_writer
from vault_memory.salience.admission import GATE, PRESETS, AdmissionInput, Gating, admission, gating_scalar
from vault_memory.search import recall_options
from vault_memory.search.names import Names
from vault_memory.sessions.session import Session
from vault_memory.sessions.sync import sync_transcripts
from vault_memory.store import embedding_rows, note_queries
from vault_memory.store.search_queries import Search
from vault_memory.store.vectors import cosine
from vault_memory.store.view import View
from vault_memory.text.scope_syntax import GLOBAL, normal_scope
from vault_memory.text.vault_layout import STANDARD
from vault_memory.write import retain
from vault_memory.write.comparison import (
    CREATE,
    MERGE,
    SKIP,
    SUPERSEDE,
    Comparer,
    Comparison,
    KnownStatement,
    known_statement,
    newest_facts,
)
from vault_memory.write.retain import Bullet

_DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])")

NEWEST_FACTS = 2000
"""How many of the newest facts of each kind a statement is compared with."""

NAMED_LOGS, NAME_DAYS = 1000, 3
"""How many of the newest logs are searched for names, and in how many a name must stand to be proposed as a page."""

GATE_NEAREST, GATE_POOL = 20, 200
"""How many nearest passages the gate compares a text with, and how many bit codes are examined to find them."""

PERSONAL = ("profile", "preferences")
"""Categories that hold everywhere; the others hold in the project where they were said."""


@dataclass(frozen=True)
class CaptureRequest:
    """The options of a capture; `now` is aware. `since` rereads everything from that day on and ignores what is older;
    `idle_minutes` skips sessions and logs that changed within that many minutes."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    since: date | None = None
    dry_run: bool = False
    idle_minutes: int = 0
    core: bool = True
    """Whether answers to reflect's proposals are carried out as well."""


class CaptureItem(NamedTuple):
    """One statement found, before the daily cap, and the decision on it.

    `session` is the tool's id of the session, `message` its id of the message ("" if the transcript is gone), `source`
    the citation, `score` the probability that it lasts (0..1), `resembles` the citation of the known statement that it
    was compared with, "" for none.
    """

    session: str
    message: str
    text: str
    kind: str
    category: str
    decision: str
    score: float
    source: str
    scope: str = ""
    day: date | None = None
    entities: tuple[str, ...] = ()
    is_request: bool = False
    is_sure: bool = False
    """Whether it is a request that may be written without asking."""
    resembles: str = ""
    why: str = ""
    """Why it is not kept: "secret", "asked not to", "taken back", "corrected", "known", "refused", "admission", or what
    makes it no fact; else ""."""
    instead: tuple[str, str] = ("", "")
    """The fact that it replaces, and where that stands."""
    corrects: str = ""
    """The id of the statement that it corrects."""

    @property
    def is_kept(self) -> bool:
        return self.decision != SKIP

    @property
    def name(self) -> str:
        """Its id: a hash of its words."""
        return name_of(self.text)

    @property
    def bullet(self) -> Bullet:
        """The fact to write, with its citation."""
        scope = "" if self.scope == GLOBAL or self.category in PERSONAL else self.scope
        tag = " #fix" if self.category == "cases" else ""
        return Bullet(f"{self.text}{tag} — {self.source}", self.kind, self.entities, scope=scope)


class WrittenFact(NamedTuple):
    """A fact that a capture wrote, or would write: its citation, text, the fact it replaces (`instead`), and its scope
    unless it holds everywhere."""

    source: str
    text: str
    instead: str = ""
    scope: str = ""


@dataclass
class CaptureReport:
    """What a capture found and did, or would do in a dry run.

    `sessions` and `logs` are the numbers read, `pending` transcripts not synced yet. `facts` were written, `proposals`
    are new on the page, `held` wait for another day, `refused` were refused by the user.
    """

    items: list[CaptureItem] = field(default_factory=list)
    sessions: int = 0
    logs: int = 0
    pending: int = 0
    seconds: float = 0.0
    dry_run: bool = False
    problems: list[str] = field(default_factory=list)
    facts: list[WrittenFact] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    refused: list[Proposal] = field(default_factory=list)
    held: list[Proposal] = field(default_factory=list)
    accepted: int = 0
    run: str = ""
    waiting: int = 0
    """Proposals without an answer, including those held back."""
    page: str = STANDARD.proposals
    """The page of proposals."""
    lost: int = 0
    """Proposals missing from the page that cannot be taken as refused."""
    secrets: int = 0
    """Statements that were not kept because they looked like a secret."""

    @property
    def written(self) -> list[str]:
        return [] if self.dry_run else [fact.source for fact in self.facts]


class Findings(NamedTuple):
    """What a capture found, how far it read, the days of each session if their list is kept, and pages to propose."""

    report: CaptureReport
    marks: Marks
    days: Sequence[SessionDay] = ()
    pages: Sequence[Proposal] = ()


class Place(NamedTuple):
    """Where a statement was made: citation (`source`), scope, day, and for a session its id and message number."""

    source: str
    scope: str
    day: date | None
    session: str = ""
    message: str = ""


def find_items(
    index: IndexFile, environ: Mapping[str, str], asked: CaptureRequest, known: Sequence[KnownStatement] = ()
) -> Findings:
    """Find the statements not captured yet in sessions and logs; writes no note and saves no marks.

    Each session and each log is read by itself: one that cannot be is named in `problems`, and left behind.
    """
    config = index.config
    synced = sync_transcripts(config, environ)
    report = CaptureReport(pending=synced.pending, problems=list(synced.problems), dry_run=asked.dry_run)
    marks = sources.load_marks(index.vault.root, environ)
    marks = marks if asked.since is None else marks._replace(sessions={}, logs={})
    idle = timedelta(minutes=asked.idle_minutes)
    reader = sources.SessionReader(config, environ, marks, asked.now - idle if idle else None)
    sessions: list[Session] = []
    if sources.is_own_vault(index.vault.root, config):
        sessions += reader.unread(report.problems)
    elif config.sessions_tools:
        report.problems.append(f"sessions are captured into {config.capture_vault}, not here (`capture.vault`)")
    logs = list(sources.logs_beyond(marks.logs, index.vault, config.folder_scopes, idle.total_seconds()))
    report.sessions, report.logs = len(sessions), len(logs)
    if not (sessions or logs):
        return Findings(report, marks)
    facts, names = index.read(lambda view, _: (newest_facts(view, (), NEWEST_FACTS), _spelled(view)), ())
    days: list[SessionDay] = []
    with closing(writer) if (writer := configured_writer(config, environ)) else nullcontext():
        judge = _Judge(Comparer([*map(known_statement, facts), *known], builtin()), names, asked.since, writer, report)
        judge.admission = config.capture_admission
        for session in sessions:
            done = marks.sessions.get(session.path, 0)
            with _alone(session.name, report.problems):
                report.items += judge.of_session(session, done, reader)
                if config.sessions_log:
                    days += reader.days(session, done, asked.since)
            marks.sessions[session.path] = session.length
        newest = list(sources.logs_beyond({}, index.vault, config.folder_scopes, idle.total_seconds(), NAMED_LOGS))
        for log in logs:
            with _alone(log.path, report.problems):
                report.items += judge.of_log(log, _lines_before(log, newest) if log.lines else ())
            marks.logs[log.path] = log.digest
    report.secrets = sum(item.why == SECRET for item in report.items)
    report.problems += filter(None, (_problem(item, asked) for item in report.items))
    return Findings(report, marks, days, _pages(index, newest) if logs else ())


@contextmanager
def _alone(name: str, problems: list[str]) -> Iterator[None]:
    """Keep the error of one source from ending the run: it is named, and the others go on."""
    try:
        yield
    except (VaultMemoryError, ValueError, OSError) as error:
        problems.append(f"{name} was left out: {error}".rstrip("."))


def _problem(item: CaptureItem, asked: CaptureRequest) -> str:
    """What the user should know of a request that was not kept; "" for nothing."""
    if item.why == SECRET:
        return f"{item.source} says what looks like a secret: it was not kept"
    if item.is_request and item.session and item.why in ("known", "refused") and asked.since is None:
        what = "you refused" if item.why == "refused" else "is kept"
        return f"{item.source} asks to remember what {what} already ({item.resembles}): it was not written again"
    return ""


def _lines_before(log: CapturedLog, logs: Iterable[CapturedLog]) -> list[str]:
    """The lines of the logs before one, oldest first, for corrections to refer to."""
    return [text for other in logs if other.day < log.day and other.scope == log.scope for _, text in other.lines]


def _pages(index: IndexFile, logs: Sequence[CapturedLog]) -> list[Proposal]:
    """Pages for names that are written `[[…]]` or `@…` in the logs of several days and have none."""
    places: dict[str, list[str]] = {}
    for log in logs:
        for name, number in log.names.items() if log.scope == GLOBAL else ():
            places.setdefault(name, []).append(f"{log.path}#L{number}")
    often = {name: at[-1] for name, at in sorted(places.items()) if len(at) >= NAME_DAYS}

    def without_page(view: View, _: object) -> list[Proposal]:
        names = Names(view)
        new = (name for name in often if not (names.page(names.canonical(name)) or names.notes(name)))
        return [propose_page(name, often[name]) for name in new]

    return index.read(without_page, ()) if often else []


def _spelled(view: View) -> dict[str, str]:
    """The names of entities, by their case-folded form."""
    return {spelled.casefold(): spelled for spelled in note_queries.spellings(view).values() if len(spelled) > 2}


def gate_text(view: View, text: str, turns: Sequence[str]) -> Gating:
    """The gate's signals for a text, given the nearest passages of `view` and the turns before it."""
    own, *before = builtin().embed([text, *turns])
    known: list[float] = []
    if any(own) and (space := embedding_rows.all_spaces(view).get(builtin().id)):
        embedding_rows.load_vector_functions(view)
        known = [near for _, near in Search(view).semantic(space, own, GATE_POOL, GATE_NEAREST)]
    return gating_scalar(text, known, [cosine(own, turn) for turn in before])


class _Judge:
    """Judges the statements of one source after another, each also compared with those kept before it."""

    admission = "off"

    def __init__(
        self, comparer: Comparer, names: Mapping[str, str], since: date | None, writer: ModelWriter | None,
        report: CaptureReport,
    ) -> None:  # fmt: skip
        self._comparer, self._names, self._since = comparer, names, since
        self._writer, self._report = writer, report
        self._written: set[str] = set()

    def of_session(self, session: Session, done: int, reader: sources.SessionReader) -> list[CaptureItem]:
        """The statements of a session's user after its first `done` messages."""
        found = self._statements(session, done)
        if not any(one.message > done for one in found):
            return []
        days = {one.number: one.day for one in session.messages}
        ids = {number: message.id for number, message in reader.messages(session).items()}
        scope = reader.fact_scope(session)

        def place(number: int) -> Place:
            return Place(f"{session.name}#m{number}", scope, days[number], session.id, ids.get(number, ""))

        items = [self._judge(one, place(one.message)) for one in found if one.message > done]
        return [item for item in items if self._is_wanted(item.day)]

    def _statements(self, session: Session, done: int) -> list[Statement]:
        """A session's statements: requests by the trained judgement, all else by the model if one answers."""
        found = find_statements(session.messages)
        if self._writer is None or self._writer.is_over:
            return found
        try:
            by_model = model_statements(self._writer.ask, session.messages, done)
        except RemoteError as error:
            self._report.problems.append(f"{error}: the trained judgement alone was used")
            self._writer = None
            return found
        silent = {one.message for one in found if one.why == SILENCED}
        return [*(one for one in found if one.is_request or one.why), *(b for b in by_model if b.message not in silent)]

    def of_log(self, log: CapturedLog, earlier: Iterable[str]) -> list[CaptureItem]:
        """The statements in a daily log; `earlier` are the lines of the logs before it."""
        if not self._is_wanted(log.day):
            return []
        return [
            self._judge(one, Place(f"{log.path}#L{one.message}", log.scope, log.day))
            for one in find_log_statements(log.lines, earlier)
        ]

    def _is_wanted(self, day: date | None) -> bool:
        return not (self._since and day and day < self._since)

    def _judge(self, statement: Statement, place: Place) -> CaptureItem:
        """Decide on a statement."""
        text = inert(statement.text)
        about = tuple(spelled for name, spelled in self._names.items() if _names(text, name))
        scope = GLOBAL if statement.category in PERSONAL else normal_scope(place.scope or GLOBAL)
        item = CaptureItem(
            place.session, place.message, text, statement.kind, statement.category, SKIP, statement.score,
            place.source, place.scope, place.day, about, statement.is_request and bool(place.session),
            statement.is_sure and bool(place.session), why=statement.why,
            corrects=name_of(inert(statement.corrects)) if statement.corrects else "",
        )  # fmt: skip
        if statement.why:
            return item
        try:
            retain.check(item.bullet)
        except UsageError as error:
            return item._replace(why=str(error).rstrip("."))
        compared = self._comparer.compare(text, statement.kind, about, scope)
        if item.is_request and (known := self._comparer.known_end(text, scope)):
            compared = compared._replace(decision=SKIP, known=known)
        return self._decided(item, compared, scope)

    def _decided(self, item: CaptureItem, compared: Comparison, scope: str) -> CaptureItem:
        old, decision, why = compared.known, compared.decision, ""
        is_in_notes = old is not None and not (old.is_batch or old.is_refused)
        if decision == MERGE and old and is_in_notes and old.text.split() == item.text.split():
            decision = SKIP  # word for word
        if decision == SKIP and item.is_sure and old and old.is_batch and old.text not in self._written:
            decision = CREATE  # a proposal is no reason not to write it
        elif decision == SKIP:
            why = "refused" if old and old.is_refused else "known"
        elif not item.is_request and not self._is_admitted(item, compared):
            decision, why = SKIP, "admission"
        if decision != SKIP:
            self._written |= {item.text} if item.is_sure else set()
            slugs = frozenset(name.casefold() for name in item.entities)
            said = KnownStatement(item.text, item.source, item.kind, is_batch=True, scope=scope, slugs=slugs)
            self._comparer.add(said, compared.vector)
        replaced = (old.text, old.source) if old and decision == SUPERSEDE and is_in_notes else ("", "")
        return item._replace(decision=decision, why=why, resembles=old.source if old else "", instead=replaced)

    def _is_admitted(self, item: CaptureItem, compared: Comparison) -> bool:
        """Whether the classic scores admit it as well, if the settings ask for them."""
        if self.admission == "off":
            return True
        preset = PRESETS[self.admission]
        gap = _days_since(compared.known, item.day)
        score = admission(item.category, AdmissionInput(item.score, 1.0, compared.similarity, gap), preset)
        return score >= preset.reject and gating_scalar(item.text, compared.cosines, ()).G >= GATE


def _days_since(known: KnownStatement | None, day: date | None) -> float | None:
    """How many days before `day` something known was said, by the date in its source; None if it has none."""
    found = _DATE.search(known.source) if known else None
    return float(max(0, (day - date(*map(int, found.groups()))).days)) if day and found else None


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text.casefold()) is not None


def parse_request(
    since: str | date | None = None, now: str | date | datetime | None = None, dry_run: bool = False,
    idle_minutes: int = 0,
) -> CaptureRequest:  # fmt: skip
    """The options of a capture from their text forms; raises UsageError for an unreadable date."""
    at = recall_options.moment(now)
    day = None if since is None else recall_options.option_days(str(since), "since", at.astimezone().date()).start
    return CaptureRequest(at, day, dry_run, idle_minutes)
