"""Decides which statements of sessions and logs to keep: scores them and compares them with what is known.

Only what a person said is kept, and little of it. What they asked an agent to remember is written at once; everything
else waits on the page of proposals for a tick, unless the settings have it written (`job`).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from vault_memory.capture import sources
from vault_memory.capture.captured_proposals import OpenProposal
from vault_memory.capture.clauses import MIN_WORDS
from vault_memory.capture.log_statements import NAME_DAYS, find_log_statements, find_names
from vault_memory.capture.model_engine import model_decision, model_statements
from vault_memory.capture.own_words import SessionTurn
from vault_memory.capture.remember_requests import is_off_the_record
from vault_memory.capture.retractions import SessionReview
from vault_memory.capture.scores import GATE, PRESETS, AdmissionInput, Gating, admission, gating_scalar
from vault_memory.capture.sources import CapturedLog, CapturedSession, Marks
from vault_memory.capture.statements import ANSWER, FACT, NOTHING, SECRET, TAKEN_BACK, Statement, find_statements
from vault_memory.capture.work_log import NO_TITLE, SessionDay
from vault_memory.config import Config
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import RemoteError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.markdown.entities import slug
from vault_memory.reflect.model_writer import ModelWriter, configured_writer
from vault_memory.search import recall_options
from vault_memory.search.names import Names
from vault_memory.sessions.projects import find_project
from vault_memory.sessions.sync import sync_transcripts
from vault_memory.sessions.transcript import Message
from vault_memory.store import embedding_rows, note_queries
from vault_memory.store.search_queries import Search
from vault_memory.store.vectors import cosine
from vault_memory.store.view import View
from vault_memory.text.scope_syntax import GLOBAL, normal_scope
from vault_memory.text.vault_layout import STANDARD
from vault_memory.text.word_classes import count_words
from vault_memory.write.comparison import (
    CREATE,
    IN_BATCH,
    MERGE,
    SKIP,
    SUPERSEDE,
    Comparer,
    Comparison,
    KnownStatement,
    known_statement,
    newest_facts,
    statement_key,
)
from vault_memory.write.retain import Bullet

_DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])")

NEWEST_FACTS = 2000
"""How many of the newest facts of each kind a statement is compared with."""

NAMED_LOGS = 1000
"""How many of the newest logs are searched for names: those of three years are read in half a second."""

GATE_NEAREST, GATE_POOL = 20, 200
"""How many nearest passages the gate compares a text with, and how many bit codes are examined to find them."""

PERSONAL = ("profile", "preferences")
"""Categories that hold everywhere once ticked; the others hold in the project where they were said."""


@dataclass(frozen=True)
class CaptureRequest:
    """The options of a capture; `now` is aware. `since` rereads everything from that day on and ignores what is older;
    `idle_minutes` skips sessions and logs that changed within that many minutes."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    since: date | None = None
    dry_run: bool = False
    idle_minutes: int = 0


class CaptureItem(NamedTuple):
    """One statement found, before the daily cap, and the decision on it.

    `session` is the tool's id of the session, `message` its id of the message ("" if the transcript is gone), `source`
    the citation, `score` the admission score (0..1), `resembles` the citation of the known statement that it was
    compared with, "" for none.
    """

    session: str
    message: str
    text: str
    kind: str
    category: str
    decision: str
    score: float
    signals: Mapping[str, float]
    source: str
    scope: str = ""
    day: date | None = None
    cue: str = ""
    entities: tuple[str, ...] = ()
    resembles: str = ""
    why: str = ""
    """Why it is not kept: "taken back", "secret", "known", "proposed" (and waiting for an answer), "held" (for another
    day), "refused", "score" or "gate"; else ""."""
    replaces: int = 0
    """The key of the statement it replaces (`statement_key`); 0 for none."""

    @property
    def is_kept(self) -> bool:
        return self.decision != SKIP

    @property
    def is_asked_for(self) -> bool:
        """Whether an agent was asked to remember it; a request in a log does not count, being written down already."""
        return self.cue == "request" and bool(self.session)

    @property
    def name(self) -> str:
        """Its id: a hash of its text and its session or note."""
        return hashlib.blake2b(
            f"{self.source.partition('#')[0]}\0{self.text}".encode("utf-8", "replace"), digest_size=4
        ).hexdigest()

    @property
    def bullet(self) -> Bullet:
        """The fact to write, with its citation."""
        scope = "" if self.scope == GLOBAL else self.scope
        tag = " #fix" if self.category == "cases" else ""
        return Bullet(f"{self.text}{tag} — {self.source}", self.kind, self.entities, scope=scope)


class Findings(NamedTuple):
    """What a capture found, how far it read, and the days of each session if the list of sessions is kept."""

    report: "CaptureReport"
    marks: Marks
    days: Sequence[SessionDay] = ()
    names: Mapping[str, str] = {}
    """Names that occur in logs on several days and have no page, each with a line that contains it."""


class Place(NamedTuple):
    """Where a statement was made: citation (`source`), scope, day, and for a session its id and message number."""

    source: str
    scope: str
    day: date | None
    session: str = ""
    message: str = ""


class PassedOver(NamedTuple):
    """A sentence of a session that was read and is no statement: its citation, the sentence and the reason."""

    source: str
    sentence: str
    why: str


class WrittenFact(NamedTuple):
    """A fact that a capture wrote, or would write: its citation, text, and the fact it replaces (`instead`)."""

    source: str
    text: str
    instead: str = ""


@dataclass
class CaptureReport:
    """What a capture found and did, or would do in a dry run.

    `sessions` and `logs` are the numbers read, `pending` transcripts not synced yet. `facts` were written, `proposals`
    are new on the page, `held` wait for another day, `refused` were refused by the user.
    """

    items: list[CaptureItem] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)
    sessions: int = 0
    logs: int = 0
    pending: int = 0
    seconds: float = 0.0
    dry_run: bool = False
    problems: list[str] = field(default_factory=list)
    facts: list[WrittenFact] = field(default_factory=list)
    proposals: list[OpenProposal] = field(default_factory=list)
    refused: list[OpenProposal] = field(default_factory=list)
    held: list[OpenProposal] = field(default_factory=list)
    accepted: int = 0
    run: str = ""
    waiting: int = 0
    """Proposals without an answer, including those held back."""
    page: str = STANDARD.proposals
    """The page of proposals."""
    lost: int = 0
    """Proposals missing from the page that cannot be taken as refused."""

    @property
    def written(self) -> list[str]:
        return [] if self.dry_run else [fact.source for fact in self.facts]

    @property
    def proposed(self) -> int:
        return len(self.proposals)

    @property
    def held_back(self) -> int:
        return len(self.held)

    @property
    def declined(self) -> int:
        return len(self.refused)


def find_items(
    index: IndexFile, environ: Mapping[str, str], asked: CaptureRequest, proposed: Sequence[KnownStatement] = ()
) -> Findings:
    """Find the statements not captured yet in sessions and logs; writes no note and saves no marks."""
    config = index.config
    synced = sync_transcripts(config, environ)
    report = CaptureReport(pending=synced.pending, problems=list(synced.problems), dry_run=asked.dry_run)
    marks = sources.load_marks(index.vault.root, environ)
    marks = marks if asked.since is None else Marks({}, {}, marks.marked)
    idle = timedelta(minutes=asked.idle_minutes)
    transcripts = sources.ToolTranscripts(config, environ)
    until = asked.now - idle if idle else None
    sessions: list[CapturedSession] = []
    if sources.is_own_vault(index.vault.root, config):
        growing = sources.sessions_beyond(marks.sessions, config, environ, until)
        sessions += _wanted_sessions(growing, transcripts, marks, config)
    elif config.sessions_tools:
        report.problems.append(f"sessions are captured into {config.capture_vault}, not here (`capture.vault`)")
    logs = list(sources.logs_beyond(marks.logs, index.vault, config.folder_scopes, idle.total_seconds()))
    days: list[SessionDay] = []
    met: dict[str, list[str]] = {}
    if logs:
        newest = sources.logs_beyond({}, index.vault, config.folder_scopes, idle.total_seconds(), NAMED_LOGS)
        met |= find_names(((log.path, log.lines) for log in newest if log.scope == GLOBAL), config.capture_languages)
    if sessions or logs:
        facts, names, full_names = index.read(
            lambda view, _: (newest_facts(view, (), NEWEST_FACTS), _spelled(view), Names(view).full_names), ()
        )
        with closing(writer) if (writer := configured_writer(config, environ)) else nullcontext():
            comparer = Comparer([*map(known_statement, facts), *proposed], builtin())
            judge = _Judge(comparer, names, full_names, config, asked.since, writer, report)
            for session in sessions:
                done = marks.sessions.get(session.path, 0)
                found = judge.of_session(session, done, _fact_scope(session, transcripts, config, environ))
                by_tool = transcripts.messages(session) if found or config.sessions_log else {}
                ids = {str(number): message.id for number, message in by_tool.items()}
                report.items += [item._replace(message=ids.get(item.message, "")) for item in found]
                if config.sessions_log:
                    days += _days_of(session, done, by_tool, asked.since)
                marks.sessions[session.path] = session.length
            for log in logs:
                report.items += judge.of_log(log, met)
                marks.logs[log.path] = log.digest
            report.problems += [
                f"{item.source} asks to remember what looks like a secret: it was not kept"
                for item in report.items
                if item.why == SECRET
            ]
            report.problems += [
                f"{item.source} asks to remember what {'you refused' if item.why == 'refused' else 'is kept'} already "
                f"({item.resembles}): it was not written again"
                for item in report.items
                if item.is_asked_for and item.why in ("known", "refused") and asked.since is None
            ]
    report.sessions, report.logs = len(sessions), len(logs)
    return Findings(report, marks, days, _names_without_page(index, met))


def _wanted_sessions(
    growing: Iterable[CapturedSession], transcripts: sources.ToolTranscripts, marks: Marks, config: Config
) -> Iterator[CapturedSession]:
    """The sessions to capture from; those that the settings or an OFF_FILE exclude are marked as read."""
    skipped = sources.SkippedSessions(config, marks.marked)
    for one in growing:
        if skipped.hold(one.scope, transcripts.folder(one)):
            marks.sessions[one.path] = one.length
        else:
            yield one
    marks.marked[:] = sorted(skipped.marked)


def _fact_scope(
    session: CapturedSession, transcripts: sources.ToolTranscripts, config: Config, environ: Mapping[str, str]
) -> str:
    """Where a session's facts hold: in its project, or else where the settings put its folder, or else everywhere."""
    if session.scope.startswith("project:"):
        return session.scope
    folder = transcripts.folder(session)
    if not folder or not Path(folder).is_absolute():  # a transcript may come from another system
        return session.scope
    return find_project(Path(folder), config, environ) or GLOBAL


def _names_without_page(index: IndexFile, met: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The names that occur in logs on several days and have no page, each with a line that contains it."""

    def find_new(view: View, _: object) -> dict[str, str]:
        names, often = Names(view), {one: at[-1] for one, at in sorted(met.items()) if len(at) >= NAME_DAYS}
        full_names = names.full_names
        return {one: at for one, at in often.items() if not (one in full_names or names.page(names.canonical(one)))}

    return index.read(find_new, ()) if met else {}


def _days_of(
    session: CapturedSession, done: int, by_tool: Mapping[int, Message], since: date | None
) -> Iterator[SessionDay]:
    """The days of a session's messages after the first `done`, each with the time of its first message that day."""
    title = NO_TITLE if is_off_the_record(session.title) else session.title
    for day in sorted({one.day for one in session.messages if one.number > done and one.day}):
        times = [said.at for said in by_tool.values() if said.day == day and said.at]
        if not since or day >= since:
            yield SessionDay(session.name, day, min(times, default=None), session.scope, title)


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

    def __init__(
        self, comparer: Comparer, names: Mapping[str, str], full_names: Mapping[str, str], config: Config,
        since: date | None, writer: ModelWriter | None, report: CaptureReport,
    ) -> None:  # fmt: skip
        self._comparer, self._names, self._full_names = comparer, names, full_names
        self._since, self._writer, self._report = since, writer, report
        self._weights, self._languages = PRESETS[config.capture_preset], config.capture_languages
        self._written: set[str] = set()

    def of_session(self, session: CapturedSession, done: int, scope: str) -> list[CaptureItem]:
        """The statements of a session's user after its first `done` messages; they hold in `scope`."""
        days = {one.number: one.day for one in session.messages}
        turns = [one for one in session.messages if one.by_user]
        vectors = list(zip(turns, builtin().embed([one.text for one in turns]), strict=True))
        private = {one.number for one in turns if is_off_the_record(one.text)}
        found: list[CaptureItem] = []
        for statement in self._statements(session.messages, done):
            at, source = statement.message, f"{session.name}#m{statement.message}"
            if at <= done or not self._is_wanted(days[at]):
                continue
            if statement.cue is not NOTHING:
                if statement.why == TAKEN_BACK and at in private:
                    statement = statement._replace(text=sources.OFF_THE_RECORD)
                before = [vector for said, vector in vectors if said.number < at][-10:]
                found.append(self._judge(statement, Place(source, scope, days[at], session.id, str(at)), before))
            elif at not in private and count_words(statement.sentence) >= MIN_WORDS:
                self._report.passed_over.append(PassedOver(source, statement.sentence, statement.why))
        return found

    def _statements(self, said: Sequence[SessionTurn], done: int) -> list[Statement]:
        """A session's statements: requests by their wording, all else by the model if one answers, else by cues."""
        found = find_statements(said, self._languages)
        if self._writer is None or self._writer.is_over:
            return found
        try:
            by_model = model_statements(self._writer.ask, said, done)
        except RemoteError as error:
            self._report.problems.append(f"{error}: cues alone were used")
            return found
        review = SessionReview(said)
        taken = {one for one in by_model if review.is_taken_back(one.sentence, one.message, is_request=False)}
        by_model = [one._replace(why=TAKEN_BACK if one in taken else "") for one in by_model]
        return sorted([*(one for one in found if one.is_request), *by_model], key=lambda one: one.message)

    def of_log(self, log: CapturedLog, met: Iterable[str]) -> list[CaptureItem]:
        """The statements in a daily log; `met` are names found in all logs."""
        if not self._is_wanted(log.day):
            return []
        return [
            self._judge(statement, Place(f"{log.path}#L{statement.message}", log.scope, log.day), ())
            for statement in find_log_statements(log.lines, self._languages, {*met, *self._names.values()})
        ]

    def _is_wanted(self, day: date | None) -> bool:
        return not (self._since and day and day < self._since)

    def _judge(self, statement: Statement, place: Place, turns: Sequence[bytes]) -> CaptureItem:
        """Decide on a statement; `turns` are the vectors of the user's messages just before it."""
        known = [spelled for name, spelled in self._names.items() if _names(statement.text, name)]
        subject = self._full_names.get(statement.subject, statement.subject)
        about = tuple(dict.fromkeys([*filter(None, [subject]), *known]))
        kind, category = statement.cue.kind, statement.cue.category
        is_for_all = category in PERSONAL and not (statement.is_request and place.session)  # once it is ticked
        scope = GLOBAL if is_for_all else normal_scope(place.scope or GLOBAL)
        compared = self._comparer.compare(statement.text, kind, about, scope)
        if not statement.why:
            compared = self._reconsidered(statement, about, compared)
        gating = gating_scalar(statement.text, compared.cosines, [cosine(compared.vector, turn) for turn in turns])
        old, gap = compared.known, _days_since(compared.known, place.day)
        evidence = AdmissionInput(statement.cue.certainty, statement.confidence, compared.similarity, gap)
        score = admission(category, evidence, self._weights)
        decision, why = compared.decision, ""
        is_in_notes = old is not None and not (old.is_batch or old.is_refused)
        if decision == MERGE and old and is_in_notes and old.text.split() == statement.text.split():
            decision = SKIP  # word for word
        if statement.why:
            decision, why = SKIP, statement.why
        elif decision == SKIP and statement.is_request and old and old.is_batch and old.text not in self._written:
            decision = CREATE  # a proposal is no reason not to write it
        elif decision == SKIP:
            why = "refused" if old and old.is_refused else "known"
        elif not statement.is_request and score < self._weights.reject:
            decision, why = SKIP, "score"
        elif decision != SUPERSEDE and not _is_marked(statement, place) and gating.G < GATE:
            decision, why = SKIP, "gate"
        if decision != SKIP:
            if statement.is_request:
                self._written.add(statement.text)
            slugs = frozenset(map(slug, about))
            said = KnownStatement(statement.text, place.source, kind, is_batch=True, scope=scope, slugs=slugs)
            self._comparer.add(said, compared.vector)
        return CaptureItem(
            place.session, place.message, statement.text, kind, category, decision, round(score, 4),
            {key: round(value, 4) for key, value in gating._asdict().items()},
            place.source, place.scope, place.day, "request" if statement.is_request else statement.cue.name, about,
            resembles=old.source if old else "", why=why,
            replaces=statement_key(old.text, old.scope) if old and decision == SUPERSEDE else 0,
        )  # fmt: skip

    def _reconsidered(self, statement: Statement, about: Sequence[str], compared: Comparison) -> Comparison:
        """The comparison as revised by the model, if one answers.

        It overrules neither a refusal nor a near-identical match, and cannot declare a request to remember as known.
        """
        near = [one for one in compared.nearest if one.is_about_same(statement.text, about)]
        known = [one.text for one in near]
        is_refused = compared.known is not None and compared.known.is_refused
        is_same = compared.decision == SKIP and compared.similarity >= IN_BATCH
        if self._writer is None or self._writer.is_over or not known or is_refused or is_same:
            return compared
        try:
            answer = model_decision(self._writer.ask, statement, known, self._comparer.telling)
        except RemoteError as error:
            why = f"{error}: what is new was decided by rules alone"
            self._report.problems += [why] if why not in self._report.problems else []
            return compared
        if answer is None or (answer[0] == SKIP and statement.is_request):
            return compared
        decision, place = answer
        if decision == CREATE or (near[place].is_refused and decision != SKIP):
            return compared._replace(decision=CREATE, known=None)
        return compared._replace(decision=decision, known=near[place])


def _is_marked(statement: Statement, place: Place) -> bool:
    """Whether a word marks it as worth keeping, not its form alone; in sessions its form says enough. Of twelve
    statements in the sample vault's logs this leaves out five, all of them no news."""
    return statement.is_request or statement.cue is not (ANSWER if place.session else FACT)


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
