"""Runs a capture: what was answered is done, what was found is written or proposed, and all of it can be undone.

The journal is the truth about proposals: what was proposed, held back, ticked, refused or folded away, on all devices.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import NamedTuple

from vault_memory.capture import proposal_page, sources, work_log
from vault_memory.capture.capture import CaptureItem, CaptureReport, CaptureRequest, find_items
from vault_memory.capture.proposal_page import OpenProposal, PageAnswers
from vault_memory.capture.work_log import SessionDay
from vault_memory.config import template
from vault_memory.errors import BusyError, ConflictError, UsageError, VaultError, VaultMemoryError
from vault_memory.indexing.index_file import LOCK_SECONDS, IndexFile
from vault_memory.markdown import entities, facts
from vault_memory.markdown.parse import parse
from vault_memory.reflect.blocks import read_page
from vault_memory.reflect.run_log import CaptureEnd, RunLog, without_quotes
from vault_memory.sessions import ledger
from vault_memory.store import journal
from vault_memory.vault import locations
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.write import retain
from vault_memory.write.comparison import KnownStatement
from vault_memory.write.retain import Bullet
from vault_memory.write.rewrite import Rewriter, read_current

FOLDED_DAYS = 30
"""A proposal that nobody answers for so long goes from the page."""


class ProposalState(NamedTuple):
    """What the journal knows of one statement: as it is proposed, what became of it, and of which run."""

    proposal: OpenProposal
    state: str
    run: str


def read_states(index: IndexFile) -> dict[str, ProposalState]:
    """All that was ever proposed, by name; what an undone run did does not count."""
    undone = {run.name for run in UndoHistory(index.vault.root).runs("capture") if run.is_undone}
    found: dict[str, ProposalState] = {}
    for event in journal.capture_events(index.vault.root):
        name, run = str(event.get("name")), str(event.get("run"))
        if run in undone and run:
            continue
        with suppress(KeyError, TypeError, ValueError):
            before = found.get(name)
            if before is None:
                proposal = OpenProposal(name, str(event["text"]), str(event["said"]), float(event["score"]))
            else:
                proposal = before.proposal
            proposed = str(event["day"]) if event["event"] == "proposed" else proposal.proposed
            found[name] = ProposalState(proposal._replace(proposed=proposed), str(event["event"]), run)
    return found


def capture(
    index: IndexFile, environ: Mapping[str, str], asked: CaptureRequest, answers: Mapping[str, bool] | None = None
) -> CaptureReport:
    """Capture from the sessions; `answers` says of proposals, by name, whether they are wanted.

    Raises UsageError for an answer to what is not open, ConflictError where a note keeps changing.
    """
    if index.config.capture_mode == "off":
        raise UsageError("Capture is off: `capture.mode` in your settings says so.", 'Set it to "propose" or "write".')
    log = RunLog(index.vault.root, environ)
    try:
        done = _capture(index, environ, asked, answers or {})
    except (BusyError, UsageError):
        raise
    except VaultMemoryError as error:
        if not asked.dry_run:
            why = without_quotes("", str(error))
            log.note_capture(CaptureEnd(datetime.now(UTC), why=why, next_step=error.next_step, ok=False))
        raise
    if not asked.dry_run:
        log.note_capture(CaptureEnd(datetime.now(UTC), len(done.written), done.proposed, done.waiting))
    return done


def _capture(
    index: IndexFile, environ: Mapping[str, str], asked: CaptureRequest, answers: Mapping[str, bool]
) -> CaptureReport:
    started = time.monotonic()
    index.update()
    with locations.writer_lock(index.path.with_name("retain"), LOCK_SECONDS):
        done = _Run(index, asked, answers).run(environ)
    if done.paths:
        index.update(sorted(done.paths))
    done.report.seconds = time.monotonic() - started
    return done.report


def open_proposals(index: IndexFile) -> list[OpenProposal]:
    """The proposals that wait for an answer, those on the page first."""
    found = [one for one in read_states(index).values() if one.state in ("proposed", "held")]
    return [one.proposal for one in sorted(found, key=lambda one: (one.state == "held", -one.proposal.score))]


class _Run:
    """One run: reads the answers, finds what is new, writes facts and the page."""

    def __init__(self, index: IndexFile, asked: CaptureRequest, answers: Mapping[str, bool]) -> None:
        self._index, self._asked, self._given = index, asked, answers
        self._vault, self._config = index.vault, index.config
        self._saved = UndoHistory(index.vault.root).begin("capture")
        self._states, self._began = read_states(index), time.time()
        self.paths: set[str] = set()
        self.report = CaptureReport()

    @property
    def _today(self) -> date:
        return self._asked.now.astimezone().date()

    def run(self, environ: Mapping[str, str]) -> "_Run":
        answers = self._read_answers()
        found = find_items(self._index, environ, self._asked, self._proposed())
        self.report = found.report
        self.report.lost = answers.lost
        if self._asked.dry_run:
            return self
        self._accept(answers.ticked)
        self._close(answers.refused, "declined")
        self.report.accepted, self.report.declined = len(answers.ticked), len(answers.refused)
        self._take(self.report.items)
        self._fold()
        self._write_page()
        if self._config.sessions_log:
            answered = {self._states[name].proposal.day for name in (*answers.ticked, *answers.refused)} - {""}
            self._write_work_log(found.days, map(date.fromisoformat, answered))
        sources.save_marks(self._vault.root, environ, found.marks)
        ledger.forget_ends(environ, self._began)
        self.report.waiting = len(self._open("proposed", "held"))
        self.report.run = self._saved.name if self.paths else ""
        return self

    # --- answers -------------------------------------------------------------------------------------------------

    def _open(self, *states: str) -> list[OpenProposal]:
        return [one.proposal for one in self._states.values() if one.state in states]

    def _read_answers(self) -> PageAnswers:
        data = read_current(self._vault, proposal_page.PATH)
        shown = self._open("proposed")
        page = read_page(proposal_page.PATH, data, proposal_page.BLOCK) if data is not None else None
        found = proposal_page.read_answers(page, shown) if page else PageAnswers({}, frozenset(), len(shown))
        waiting = {one.name: one for one in self._open("proposed", "held")}
        if unknown := sorted(self._given.keys() - waiting.keys()):
            raise UsageError(f"No proposal `{unknown[0]}` is open.", "`memory proposals` lists those that are.")
        wanted = {name: waiting[name].text for name, is_wanted in self._given.items() if is_wanted}
        unwanted = frozenset(name for name, is_wanted in self._given.items() if not is_wanted)
        return PageAnswers({**found.ticked, **wanted}, found.refused - wanted.keys() | unwanted, found.lost)

    def _proposed(self) -> list[KnownStatement]:
        """What was proposed before, wanted or not: what says the same is not proposed again."""
        return [
            KnownStatement(
                _narrative(one.proposal.text), f"{proposal_page.PATH}#^p-{name}",
                is_refused=one.state in ("declined", "folded"), is_batch=one.state in ("proposed", "held"),
            )
            for name, one in self._states.items()
            if one.state != "accepted"
        ]  # fmt: skip

    # --- writing -------------------------------------------------------------------------------------------------

    def _note(self, what: str, proposals: Sequence[OpenProposal]) -> None:
        rows = [{"name": one.name, "text": one.text, "said": one.day, "score": one.score} for one in proposals]
        journal.note_capture(self._vault.root, what, self._asked.now, self._saved.name, rows)
        for one in proposals:
            shown = one._replace(proposed=self._today.isoformat()) if what == "proposed" else one
            self._states[one.name] = ProposalState(shown, what, self._saved.name)

    def _accept(self, ticked: Mapping[str, str]) -> None:
        for name, text in ticked.items():
            state = self._states[name]
            self._retain(text, state.proposal.day)
            self._note("accepted", [state.proposal])

    def _close(self, names: Iterable[str], what: str) -> None:
        self._note(what, [self._states[name].proposal for name in sorted(names)])

    def _retain(self, text: str, day: str) -> None:
        said = date.fromisoformat(day) if day else self._today
        done = retain.retain_bullet(self._rewriter(), _bullet(text), said, template("daily.md"))
        self.report.written.append(done.source)
        self.paths.add(done.path)

    def _take(self, items: Sequence[CaptureItem]) -> None:
        """Write what an agent was asked to remember, or everything where the settings want that; propose the rest."""
        wanted = [item for item in items if item.is_kept and item.name not in self._states]
        at_once = [item for item in wanted if item.is_asked_for or self._config.capture_mode == "write"]
        for item in at_once:
            self._retain(str(item.bullet).removeprefix("- "), str(item.day or ""))
            self._note("accepted", [_proposal(item)])
        rest = [_proposal(item) for item in wanted if item not in at_once]
        new = sorted([*self._open("held"), *rest], key=lambda one: (-one.score, one.day, one.name))
        today = sum(one.proposed == self._today.isoformat() for one in self._open("proposed"))
        room = max(self._config.capture_max_per_day - today, 0)
        self._note("proposed", new[:room])
        self._note("held", [one for one in new[room:] if one in rest])
        self.report.proposed, self.report.held_back = len(new[:room]), len(new[room:])

    def _fold(self) -> None:
        oldest = (self._today - timedelta(days=FOLDED_DAYS)).isoformat()
        self._note("folded", [one for one in self._open("proposed") if one.proposed < oldest])

    def _write_page(self) -> None:
        shown = sorted(self._open("proposed"), key=lambda one: (one.proposed, -one.score, one.name))
        held = len(self._open("held"))
        path = proposal_page.PATH

        def compose(before: bytes | None) -> tuple[bytes, None]:
            return proposal_page.compose(path, before, shown, held), None

        before = read_current(self._vault, path)
        if before is not None or shown:
            self._rewriter().rewrite(path, compose)
            if read_current(self._vault, path) != before:
                self.paths.add(path)

    def _write_work_log(self, sessions: Sequence[SessionDay], answered: Iterable[date]) -> None:
        """Write the sessions into the notes of their days; what was answered is told in those that list them."""
        by_day: dict[date, list[SessionDay]] = {day: [] for day in answered}
        for one in sessions:
            by_day.setdefault(one.day, []).append(one)
        for day, listed in sorted(by_day.items()):
            path = retain.daily_path(self._vault, day)
            compose = partial(self._with_work_log, path, day, listed)
            before = read_current(self._vault, path)
            if before is not None or listed:
                try:
                    self._rewriter().rewrite(path, compose)
                except ConflictError as error:
                    self.report.problems.append(str(error).rstrip("."))
                else:
                    self.paths |= {path} if read_current(self._vault, path) != before else set()

    def _with_work_log(
        self, path: str, day: date, listed: Sequence[SessionDay], before: bytes | None
    ) -> tuple[bytes, None]:
        captured: dict[str, list[str]] = {}
        for state in self._states.values():
            source = state.proposal.text.rpartition(" — ")[2]
            if state.proposal.day == day.isoformat() and state.state in ("accepted", "proposed", "held"):
                captured.setdefault(source.partition("#")[0], []).append(_narrative(state.proposal.text))
        start = before if before is not None else retain.new_daily_note(self._vault, template("daily.md"), day, path)
        return work_log.compose(path, start, listed, captured), None

    def _rewriter(self) -> Rewriter:
        def keep(path: str, before: bytes | None, after: bytes) -> None:
            for folder in self._vault.missing_folders(path) if before is None else ():
                self._saved.note({"folder": folder}, folder)
            self._saved.keep(path, before, after, "captured from sessions")

        return Rewriter(self._vault, lambda path, data: path in self.paths, keep=keep)


def _proposal(item: CaptureItem) -> OpenProposal:
    return OpenProposal(item.name, str(item.bullet).removeprefix("- "), str(item.day or ""), item.score)


def _bullet(text: str) -> Bullet:
    """A bullet's text as the fact it states; raises VaultError where a person's words make none."""
    found = list(facts.facts(parse("x.md", f"## Retain\n- {text}\n".encode("utf-8", "replace")), None))
    head = facts.HEAD.match(text)
    if len(found) != 1 or head is None:
        raise VaultError(f"`{text}` is not one fact: it was not written.", "Write it as `O @Name: what is so`.")
    names = tuple(entities.mentions(head[3]))
    confidence = found[0].confidence if "c=" in (head[2] or "") else None
    return Bullet(head[5], head[1], names, confidence, found[0].by or "", found[0].scope or "")


def _narrative(text: str) -> str:
    """What a bullet says, without its kind, names and citation."""
    return text.partition(": ")[2].rpartition(" — ")[0] or text
