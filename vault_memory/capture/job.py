"""Runs a capture: carries out the user's answers, then writes or proposes what was found; a run can be undone.

The journal is the source of truth for proposals on all devices: proposed, held, accepted, declined or folded.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from vault_memory.capture import captured_proposals, sources, work_log
from vault_memory.capture.captured_proposals import OpenProposal, PageAnswers
from vault_memory.capture.judge import (
    NEWEST_FACTS,
    PERSONAL,
    CaptureItem,
    CaptureReport,
    CaptureRequest,
    Findings,
    WrittenFact,
    find_items,
)
from vault_memory.capture.work_log import SessionDay
from vault_memory.config import template
from vault_memory.errors import BusyError, ConflictError, RefusedError, UsageError, VaultError, VaultMemoryError
from vault_memory.indexing.index_file import LOCK_SECONDS, IndexFile
from vault_memory.markdown import entities, facts
from vault_memory.markdown.parse import parse
from vault_memory.markdown.provenance import without_citation
from vault_memory.reflect.core_proposals import IMPORTANT
from vault_memory.reflect.generated_blocks import read_page
from vault_memory.reflect.run_log import CaptureEnd, RunLog, without_quotes
from vault_memory.reflect.user_feedback import REFUSAL, TICK, ProposalLine
from vault_memory.sessions import ledger
from vault_memory.store import journal
from vault_memory.store.note_queries import KnownFact
from vault_memory.text.scope_syntax import GLOBAL, normal_scope
from vault_memory.vault import locations
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.undo_record import UndoRecord, digest
from vault_memory.write import retain
from vault_memory.write.comparison import CREATE, KnownStatement, newest_facts, statement_key
from vault_memory.write.forget import ForgetResult, Removal
from vault_memory.write.retain import Bullet
from vault_memory.write.rewrite import Rewriter, read_current

T = TypeVar("T")

PAGES_A_DAY = 3
"""How many of a day's proposals may be pages for names: of the thirteen in the sample's two months five are people."""

WAITING = ("proposed", "held")
"""The states of unanswered proposals."""

FOLDED_DAYS = 30
"""A proposal unanswered for this long is removed from the page."""


def read_states(index: IndexFile) -> dict[str, OpenProposal]:
    """Every proposal ever made, by name, including those only on the page; events of undone runs do not count."""
    undone = {run.name for run in UndoHistory(index.vault.root).runs("capture") if run.is_undone}
    found: dict[str, OpenProposal] = {}
    events = list(journal.capture_events(index.vault.root))
    for event in events:
        name, what = str(event.get("name")), str(event.get("event"))
        before = found.get(name)
        if event.get("run") in undone:
            found |= {name: before._replace(is_unticked=what == "accepted")} if before else {}
            continue
        with suppress(KeyError, TypeError, ValueError):
            proposal = before or _of_event(event)
            day = str(event["day"]) if what == "proposed" else proposal.proposed
            text = str(event["text"]) if what == "accepted" else proposal.text  # as the user worded it
            found[name] = proposal._replace(text=text, proposed=day, state=what, is_unticked=False)
    with suppress(ConflictError, RefusedError):  # a run reports what is wrong with the page
        data = read_current(index.vault, index.vault.layout.proposals)
        page = read_page(index.vault.layout.proposals, data or b"", captured_proposals.BLOCK)
        for proposal in captured_proposals.read_unknown(page, {str(event.get("name")) for event in events}):
            found[proposal.name] = proposal._replace(proposed=date.today().isoformat(), state="proposed")
    return found


def _of_event(event: Mapping[str, Any]) -> OpenProposal:
    """A proposal from its first journal event; raises KeyError, TypeError or ValueError if that is damaged."""
    return OpenProposal(
        str(event["name"]), str(event["text"]), str(event["said"]), float(event["score"]),
        found=str(event["day"]), is_personal=event.get("personal") is True, replaces=int(event.get("replaces", 0)),
        kept_for=str(event.get("kept_for", "")),
    )  # fmt: skip


def capture(
    index: IndexFile, environ: Mapping[str, str], asked: CaptureRequest, answers: Mapping[str, bool] | None = None
) -> CaptureReport:
    """Capture from sessions and logs; with `answers` (whether a proposal is wanted, by name) look for nothing new.

    Raises UsageError for an answer to a proposal that is not open, ConflictError if a note keeps changing.
    """
    if index.config.capture_mode == "off":
        raise UsageError("Capture is off: `capture.mode` in your settings says so.", 'Set it to "propose" or "write".')
    log, started = RunLog(index.vault.root, environ), time.monotonic()
    try:
        index.update()
        with locations.writer_lock(index.path.with_name("retain"), LOCK_SECONDS):
            run = _Run(index, asked, answers or {})
            done = run.run(environ)
        if run.paths:
            index.update(sorted(run.paths))
        done.seconds = time.monotonic() - started
    except (BusyError, UsageError):
        raise
    except VaultMemoryError as error:
        if not asked.dry_run:
            why = without_quotes("", str(error))
            log.record(CaptureEnd(datetime.now(UTC), why=why, next_step=error.next_step, ok=False))
        raise
    if not asked.dry_run:
        end, last = CaptureEnd(datetime.now(UTC), len(done.written), done.proposed, done.waiting), log.last(CaptureEnd)
        # A run that did nothing must not hide the last one that did.
        log.record(last._replace(waiting=done.waiting) if last and last.ok and not done.run else end)
    return done


def open_proposals(index: IndexFile) -> list[OpenProposal]:
    """The unanswered proposals, those on the page first."""
    found = (one for one in read_states(index).values() if one.state in WAITING)
    return sorted(found, key=lambda one: (one.state == "held", -one.score))


def forget_everywhere(index: IndexFile, planned: Removal, forget: Callable[[Removal], ForgetResult]) -> ForgetResult:
    """Forget a fact and remove its words from the journal, the day's list of sessions and the page of proposals.

    The journal comes first: if this is killed halfway, either the fact is still there and can be forgotten again, or
    the next capture repairs the page. Warns of places that still contain the words. An undo restores page and list.
    """
    lock = partial(locations.writer_lock, index.path.with_name("retain"), LOCK_SECONDS)
    with lock():
        known = _Run(index, CaptureRequest(), {}).forget_words(planned)
    done = forget(planned)
    try:
        with lock():
            run = _Run(index, CaptureRequest(), {}, UndoHistory(index.vault.root).named(done.run))
            told = run.forget_copies(done.removal, known)
        if run.paths:
            index.update(sorted(run.paths))
    except VaultMemoryError as error:  # the fact itself is forgotten
        told = [f"A copy that capture made may be left: {error} {error.next_step}".rstrip()]
    return replace(done, warnings=(*done.warnings, *told))


@dataclass(frozen=True)
class _DryRewriter(Rewriter):
    """Writes no notes; keeps their would-be contents in `drafts`, which later rewrites of the same run build on."""

    drafts: dict[str, bytes] = field(default_factory=dict)

    def rewrite(self, path: str, compose: Callable[[bytes | None], tuple[bytes | None, T]]) -> T:
        after, result = compose(self.drafts.get(path, read_current(self.vault, path)))
        if after is not None:
            self.drafts[path] = after
        return result


class _Run:
    """One run: reads the answers, finds what is new, writes the facts and the page."""

    def __init__(
        self, index: IndexFile, asked: CaptureRequest, answers: Mapping[str, bool], saved: UndoRecord | None = None
    ) -> None:
        self._index, self._asked, self._given = index, asked, answers
        self._vault, self._config, self._page = index.vault, index.config, index.vault.layout.proposals
        history = UndoHistory(index.vault.root)
        newest = saved or next(iter(history.runs("capture")), None)
        self._ours: dict[str, str] = {}
        """The hashes of notes as the last run left them; a note that still matches is not being edited by others."""
        with suppress(VaultError):
            self._ours |= {change.path: change.after for change in newest.changes()} if newest else {}
        self._saved = saved or history.begin("capture")
        self._states, self._began = read_states(index), time.time()
        self._signals: dict[str, Mapping[str, float]] = {}
        """The gate's signals of statements that are new to the journal."""
        self._drafts: dict[str, bytes] = {}
        """The notes as a dry run would leave them."""
        self._is_page_broken = False
        self.paths: set[str] = set()
        self.report = CaptureReport()

    @property
    def _today(self) -> date:
        return self._asked.now.astimezone().date()

    def run(self, environ: Mapping[str, str]) -> CaptureReport:
        found = (
            Findings(CaptureReport(), sources.load_marks(self._vault.root, environ))
            if self._given  # look for nothing new
            else find_items(self._index, environ, self._asked, self._proposed())
        )
        self.report = found.report
        self.report.items = list(map(self._with_reason, self.report.items))
        self.report.page = self._page
        answers = self._read_answers()
        self.report.lost = answers.lost
        self.report.problems += [
            f'I don\'t understand `[{one.mark}]` at "{self._states[one.name].statement}" in {self._page}: '
            "write `[x]` to keep it or `[-]` to refuse it"
            for one in answers.lines.values()
            if one.mark not in ("", TICK, REFUSAL)
        ]
        self.report.refused = [self._states[name] for name in answers.refused]
        if not self._asked.dry_run:
            journal.blank_captured(self._vault.root)
        # Proposals known only from the page, noted without a run, so that an undo of this one does not forget them.
        self._note("proposed", [one for one in self._open("proposed") if not one.found], run="")
        self._accept(answers)
        self._note("declined", self.report.refused)
        self._take(self.report.items, found.names)
        self._note_left_out()
        self._fold()
        self._write_page(answers)
        if self._config.sessions_log:
            names = (*(one.name for one in answers.ticked), *answers.refused)
            answered = {self._states[name].day for name in names} - {""}
            self._write_work_log(found.days, map(date.fromisoformat, answered))
        self.report.waiting = len(self._open(*WAITING))
        if self._asked.dry_run:
            return self.report
        if self._asked.since is None and not self._given:  # otherwise not everything new was read
            sources.save_marks(self._vault.root, environ, found.marks)
            ledger.forget_ends(environ, self._began)
        self.report.run = self._saved.name if self.paths else ""
        return self.report

    def forget_words(self, removed: Removal) -> list[OpenProposal]:
        """Blank the words of this fact in the journal; returns the proposals it had of it.

        They are found by its words, or, if these were changed, by its citation.
        """
        text = without_citation(removed.narrative)
        words, source = text.split(), removed.narrative.removeprefix(text).removeprefix(" — ")
        proposals = [one for one in self._states.values() if one.text]
        same = [one for one in proposals if one.statement.split() == words]
        near = [one for one in proposals if one.source == source]
        known = same or sorted(near, key=lambda one: -len({*words} & {*one.statement.split()}))[:1]
        self._note("declined", [one for one in known if one.state in WAITING])
        if known:
            journal.blank_captured(self._vault.root, [one.name for one in known], self._asked.now)
        return known

    def forget_copies(self, removed: Removal, known: Sequence[OpenProposal]) -> list[str]:
        """Remove the words from the page and the day's list of sessions; returns warnings of where they remain."""
        was_open = any(one.state in WAITING for one in known)
        if was_open or any(one.replaces for one in self._open("proposed")):  # an `instead of` line may quote it
            answers = self._read_answers()
            self._note("declined", [self._states[name] for name in answers.refused])
            self._write_page(answers)
        blank = (one for one in self._states.values() if not one.text)  # includes those of a forgetting killed halfway
        days = {one.day for one in (*known, *blank)} - {""}
        texts = [without_citation(removed.narrative), *(one.statement for one in known)]
        self._write_work_log((), map(date.fromisoformat, days), [text for text in texts if text])
        told = [f"{problem}." for problem in self.report.problems]
        if known:
            left = sorted({one.source for one in known})
            told.append(f"It was captured from {', '.join(left)}, which stays.")
        if journal.other_devices_hold(self._vault.root, [one.name for one in known]):
            told.append("The journals of other devices lose its words at their next capture.")
        return told

    # --- answers -------------------------------------------------------------------------------------------------

    def _open(self, *states: str) -> list[OpenProposal]:
        return [one for one in self._states.values() if one.state in states]

    def _read_answers(self) -> PageAnswers:
        """The answers on the page, replaced by those given with the call, without ticks that an undo took back."""
        found = self._read_page()
        lines = dict(found.lines)
        unticked = sorted(one.name for one in found.ticked if self._states[one.name].is_unticked)
        # From now on a tick counts again.
        self._note("proposed", [self._states[name] for name in unticked])
        for name in unticked:
            reopened = self._states[name]._replace(text=lines[name].text)
            lines[name] = lines[name]._replace(mark="", line=captured_proposals.line(reopened))
            if name not in self._given:
                told = f'An undo took "{reopened.statement}" back: it waits for a new tick in {self._page}'
                self.report.problems.append(told)
        waiting = {one.name: one for one in self._open(*WAITING)}
        if unknown := sorted(self._given.keys() - waiting.keys()):
            raise UsageError(f"No proposal `{unknown[0]}` is open.", "`memory proposals` lists those that are.")
        for name, is_wanted in self._given.items():
            one = lines.pop(name, ProposalLine(name, "", waiting[name].text, captured_proposals.line(waiting[name])))
            lines[name] = one._replace(mark=TICK if is_wanted else REFUSAL)
        return found._replace(lines=lines, deleted=found.deleted - self._given.keys())

    def _read_page(self) -> PageAnswers:
        """The answers on the page; if it cannot be read, they have to wait and the page is not written."""
        shown = self._open("proposed")
        try:
            data = read_current(self._vault, self._page)
            page = read_page(self._page, data, captured_proposals.BLOCK) if data is not None else None
        except (ConflictError, RefusedError) as error:
            self._is_page_broken = True
            self.report.problems.append(f"{error} {error.next_step}".rstrip("."))
            return PageAnswers()
        return captured_proposals.read_answers(page, shown) if page else PageAnswers(lost=len(shown))

    def _proposed(self) -> list[KnownStatement]:
        """Earlier proposals, wanted or not, as known statements, so that they are not proposed again."""
        written = {one.statement for one in self._open("accepted")}  # these are in a log, in one scope or another
        return [
            self._known(one)._replace(is_refused=one.state in ("declined", "folded"), is_batch=one.state != "declined")
            for one in self._states.values()
            if one.text and one.statement not in written
        ]

    def _with_reason(self, item: CaptureItem) -> CaptureItem:
        """An item; if it says what a proposal says that is still open, that is why it is left out."""
        same = self._states.get(item.resembles.rpartition("#^p-")[2]) if item.why == "known" else None
        return item._replace(why=same.state) if same and same.state in WAITING else item

    def _known(self, proposal: OpenProposal) -> KnownStatement:
        """A proposal as a statement to compare with."""
        known = KnownStatement(proposal.statement, f"{self._page}#^p-{proposal.name}")
        with suppress(VaultError):  # it proposes a page
            bullet = _bullet(proposal.text)
            slugs = frozenset(map(entities.slug, bullet.entities))
            known = known._replace(scope=bullet.scope or GLOBAL, slugs=slugs)
        return known

    def _old_facts(self) -> dict[int, KnownFact]:
        """The facts that a new one may replace, by key (`statement_key`); the newest of several with the same key."""
        if self.paths:
            self._index.update(sorted(self.paths))
        found = self._index.read(lambda view, _: newest_facts(view, (), NEWEST_FACTS), [])
        return {statement_key(one.narrative, one.scope): one for one in reversed(found)}

    # --- writing -------------------------------------------------------------------------------------------------

    def _note(self, what: str, proposals: Sequence[OpenProposal], run: str | None = None) -> None:
        rows = [
            {
                "name": one.name, "text": one.text, "said": one.day, "score": one.score, "personal": one.is_personal,
                **({"replaces": one.replaces} if one.replaces else {}),
                **({"kept_for": one.kept_for} if one.kept_for else {}),
                **({"signals": signals} if (signals := self._signals.pop(one.name, None)) else {}),
            }
            for one in proposals
        ]  # fmt: skip
        self._note_rows(what, rows, self._saved.name if run is None else run)
        today = self._today.isoformat()
        for one in proposals:
            shown = one._replace(state=what, is_unticked=False)
            self._states[one.name] = shown._replace(proposed=today) if what == "proposed" else shown

    def _note_rows(self, what: str, rows: Sequence[Mapping[str, Any]], run: str) -> None:
        if not self._asked.dry_run:
            journal.note_capture(self._vault.root, what, self._asked.now, run, rows)

    def _accept(self, answers: PageAnswers) -> None:
        """Write the facts and pages that were ticked, as worded on the page; a line that is not one fact waits."""
        for line in answers.ticked:
            proposed = self._states[line.name]
            accepted = proposed._replace(text=line.text)
            if page := captured_proposals.wanted_page(line.text):
                self._make_page(page)
            else:
                try:
                    bullet = _bullet(line.text, proposed.text)
                except VaultError as error:
                    self.report.problems.append(str(error).rstrip("."))
                    continue
                replaces = 0 if line.name in answers.beside else proposed.replaces
                if proposed.kept_for and without_citation(bullet.text).split() != proposed.statement.split():
                    replaces = statement_key(proposed.statement, proposed.kept_for)  # the words already kept
                important = IMPORTANT if proposed.is_personal else None
                self._retain(replace(bullet, importance=bullet.importance or important), proposed.day, replaces)
                cited = bullet.text if bullet.text.endswith(proposed.source) else f"{bullet.text} — {proposed.source}"
                accepted = proposed._replace(text=str(replace(bullet, text=cited)).removeprefix("- "))
            self._note("accepted", [accepted])
            self.report.accepted += 1

    def _make_page(self, name: str) -> None:
        """Create an entity's page unless it exists by now."""
        path = f"{self._vault.layout.entities}{entities.file_name(name)}.md"
        text = template("entity.md").read_text("utf-8").replace("{{title}}", name)
        made = text.encode("utf-8", "replace")
        self._rewriter().rewrite(path, lambda before: (before if before is not None else made, None))
        self.report.facts.append(WrittenFact(path, f"{name} has a page"))
        self.paths.add(path)

    def _retain(self, bullet: Bullet, day: str, replaces: int, is_ticked: bool = True) -> None:
        """Write a fact into the log of its day, superseding the older fact `replaces` if that still exists.

        Without a tick it supersedes only a fact of the same scope.
        """
        said = date.fromisoformat(day) if day else self._today
        old = self._old_facts().get(replaces) if replaces else None
        if old and not is_ticked and old.scope != normal_scope(bullet.scope or GLOBAL):
            old = None
        if old:
            try:
                bullet = replace(bullet, supersedes=retain.link_fact(self._rewriter(), old.path, old.narrative))
            except (ConflictError, RefusedError, VaultError) as error:
                self.report.problems.append(f"{old.source} is not marked as superseded: {error}".rstrip("."))
                old = None
            else:
                self.paths.add(old.path)
        text = bullet.text.rpartition(" — ")[0] or bullet.text
        instead = f"{without_citation(old.narrative)} — {old.source}" if old else ""
        path = retain.daily_path(self._vault, said)
        note = self._vault.parse(path, read_current(self._vault, path) or b"")
        if standing := next((one for one in facts.facts(note, None) if _is_same(one, bullet)), None):
            source = f"{path}#L{standing.start_line}"
            if is_ticked and not bullet.scope and standing.scope not in (None, GLOBAL):
                retain.open_to_all(self._rewriter(), path, standing.narrative)
                self.paths.add(path)
            elif is_ticked:
                self.report.problems.append(f"{source} says that already, and nothing was written: {text}".rstrip("."))
                return
            # Otherwise it was written by a run killed before its journal entry.
            self.report.facts.append(WrittenFact(source, text, instead))
            return
        done = retain.retain_bullet(self._rewriter(), bullet, said, template("daily.md"))
        self.report.facts.append(WrittenFact(done.source, text, instead))
        self.paths.add(done.path)

    def _take(self, items: Sequence[CaptureItem], names: Mapping[str, str]) -> None:
        """Write what an agent was asked to remember, or everything in mode "write"; propose the rest."""
        wanted = [item for item in items if item.is_kept and item.name not in self._states]
        self._signals |= {item.name: item.signals for item in wanted}
        at_once = [item for item in wanted if item.is_asked_for or self._config.capture_mode == "write"]
        for item in at_once:
            important = replace(item.bullet, importance=IMPORTANT if item.category in PERSONAL else None)
            self._retain(important, str(item.day or ""), item.replaces, is_ticked=False)
            # A proposal of the same is answered by the request.
            same = self._states.get(item.resembles.rpartition("#^p-")[2])
            answered = [same] if same and same.state in (*WAITING, "folded") and item.decision == CREATE else []
            self._note("accepted", [_proposal(item), *answered])
        rest = [_proposal(item) for item in wanted if item not in at_once]
        rest += [_everywhere(item) for item in at_once if item.category in PERSONAL and item.bullet.scope]
        known = {str(event.get("name")) for event in journal.capture_events(self._vault.root)}  # undone runs included
        pages = (captured_proposals.propose_page(name, source) for name, source in names.items())
        rest += [one for one in pages if one.name not in known | self._states.keys()]
        # What is written for one project already can wait longest.
        new = sorted([*self._open("held"), *rest], key=lambda one: (one.kept_for != "", -one.score, one.day, one.name))
        shown = self._within_the_day(new)
        held = [one for one in new if one not in shown]
        self._note("proposed", shown)
        self._note("held", [one for one in held if one in rest])
        self.report.proposals, self.report.held = shown, held

    def _within_the_day(self, new: Sequence[OpenProposal]) -> list[OpenProposal]:
        """Those that may still be proposed today, at most PAGES_A_DAY of them pages."""
        day = self._today.isoformat()
        today = [one for one in self._states.values() if one.proposed == day]
        pages = max(PAGES_A_DAY - sum(one.is_page for one in today), 0)
        room = 0 if self._is_page_broken else max(self._config.capture_max_per_day - len(today), 0)
        kept = [one for one in new if one.is_page][:pages]
        return [one for one in new if not one.is_page or one in kept][:room]

    def _note_left_out(self) -> None:
        """Note in the journal what was found but not kept, and why, except when rereading with `since`."""
        rows = [
            {"name": item.name, "source": item.source, "why": item.why, "score": item.score, "signals": item.signals}
            for item in self.report.items
            if not item.is_kept and self._asked.since is None
        ]
        self._note_rows(journal.LEFT_OUT, rows, self._saved.name)

    def _fold(self) -> None:
        oldest = (self._today - timedelta(days=FOLDED_DAYS)).isoformat()
        waiting = self._open(*WAITING)
        self._note("folded", [one for one in waiting if (one.proposed or one.found or oldest) < oldest])

    def _write_page(self, answers: PageAnswers) -> None:
        if self._is_page_broken:
            return
        shown = sorted(self._open("proposed"), key=lambda one: (one.proposed, -one.score, one.name))
        held = len(self._open("held"))
        old: dict[int, tuple[str, str]] = {}
        if any(one.replaces for one in shown):
            old |= {statement_key(one.text, one.scope): (one.text, one.source) for one in map(self._known, shown)}
            old |= {key: (without_citation(one.narrative), one.source) for key, one in self._old_facts().items()}

        def compose(before: bytes | None) -> tuple[bytes, None]:
            return captured_proposals.compose(self._page, before, shown, held, answers, old), None

        before = read_current(self._vault, self._page)
        if before is not None or shown:
            try:
                self._rewriter().rewrite(self._page, compose)
            except (ConflictError, RefusedError, VaultError) as error:  # the ticked facts are written all the same
                self.report.problems.append(f"{self._page} was not brought up to date: {error}".rstrip("."))
            if read_current(self._vault, self._page) != before:
                self.paths.add(self._page)

    def _write_work_log(
        self, sessions: Sequence[SessionDay], answered: Iterable[date], forgotten: Sequence[str] = ()
    ) -> None:
        """Write the list of sessions into the notes of their days, and update the lists of the `answered` days."""
        by_day: dict[date, list[SessionDay]] = {day: [] for day in answered}
        for one in sessions:
            by_day.setdefault(one.day, []).append(one)
        for day, listed in sorted(by_day.items()):
            path = retain.daily_path(self._vault, day)
            compose = partial(self._with_work_log, path, day, listed, forgotten)
            before = read_current(self._vault, path)
            if before is not None or listed:
                try:
                    self._rewriter().rewrite(path, compose)
                except ConflictError as error:
                    self.report.problems.append(str(error).rstrip("."))
                else:
                    self.paths |= {path} if read_current(self._vault, path) != before else set()

    def _with_work_log(
        self, path: str, day: date, listed: Sequence[SessionDay], forgotten: Sequence[str], before: bytes | None
    ) -> tuple[bytes, None]:
        captured: dict[str, list[str]] = {}
        for state in self._states.values():
            if state.day == day.isoformat() and state.state == "accepted" and state.text:
                said = captured.setdefault(state.source.partition("#")[0], [])
                said += [state.statement] if state.statement not in said else []
        start = before if before is not None else retain.new_daily_note(self._vault, template("daily.md"), day, path)
        return work_log.compose(path, start, listed, captured, forgotten), None

    def _rewriter(self) -> Rewriter:
        if self._asked.dry_run:
            return _DryRewriter(self._vault, drafts=self._drafts)

        def keep(path: str, before: bytes | None, after: bytes) -> None:
            for folder in self._vault.missing_folders(path) if before is None else ():
                self._saved.note({"folder": folder}, folder)
            self._saved.keep(path, before, after, "captured from sessions")

        def is_own(path: str, data: bytes) -> bool:
            return path in self.paths or self._ours.get(path) == digest(data)

        return Rewriter(self._vault, is_own, keep=keep)


def _proposal(item: CaptureItem) -> OpenProposal:
    is_personal = item.category in PERSONAL  # then it holds everywhere once ticked
    text = str(replace(item.bullet, scope="") if is_personal else item.bullet).removeprefix("- ")
    return OpenProposal(
        item.name, text, str(item.day or ""), item.score,
        is_personal=is_personal, replaces=item.replaces,
    )  # fmt: skip


def _everywhere(item: CaptureItem) -> OpenProposal:
    """The proposal that a personal statement, already written for one project, should hold everywhere."""
    name = hashlib.blake2b(f"everywhere\0{item.name}".encode(), digest_size=4).hexdigest()
    return _proposal(item)._replace(name=name, replaces=0, kept_for=item.bullet.scope)


def _is_same(fact: facts.RetainFact, bullet: Bullet) -> bool:
    """Whether a fact of a log has a bullet's exact words and at least its names."""
    is_worded_so = without_citation(fact.narrative).split() == without_citation(bullet.text).split()
    return is_worded_so and {*map(entities.slug, bullet.entities)} <= {*map(entities.slug, fact.entities)}


def _bullet(text: str, proposed: str = "") -> Bullet:
    """A bullet's text as a fact, with the head of the `proposed` text if the user deleted it.

    Raises VaultError if the text is not one fact.
    """
    if not facts.HEAD.match(text) and ": " not in text.partition(" — ")[0]:
        text = f"{proposed.partition(': ')[0]}: {text}"
    found = list(facts.facts(parse("x.md", f"## Retain\n- {text}\n".encode("utf-8", "replace")), None))
    head = facts.HEAD.match(text)
    if len(found) != 1 or head is None or not head[5].partition(" — ")[0].strip():
        raise VaultError(f"`{text}` is not one fact: it was not written.", "Write it as `O @Name: what is so`.")
    keys = facts.read_keys(head[2] or "")
    return Bullet(
        head[5], head[1], tuple(entities.mentions(head[3])), found[0].confidence if "c" in keys else None,
        found[0].by or "", found[0].scope or "", keys.get("supersedes", ""), found[0].importance, keys.get("t", ""),
    )  # fmt: skip
