"""Runs a capture: carries out the user's answers, then writes or proposes what was found; a run can be undone.

An open proposal is a line of the page of proposals. The journal has hashes only: what was proposed and how it was
answered, on all devices. What is held back for another day waits in the user's data folder.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, TypeVar

from vault_memory.capture import proposal_log, proposals_page, sources, work_log
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
from vault_memory.capture.proposals_page import PageAnswers, Proposal
from vault_memory.capture.work_log import SessionDay
from vault_memory.config import template
from vault_memory.errors import BusyError, ConflictError, RefusedError, UsageError, VaultError, VaultMemoryError
from vault_memory.indexing.index_file import LOCK_SECONDS, IndexFile
from vault_memory.markdown import entities, facts
from vault_memory.markdown.provenance import without_citation
from vault_memory.reflect import core_proposals
from vault_memory.reflect.core_proposals import IMPORTANT
from vault_memory.reflect.job import parse_request, reflect
from vault_memory.reflect.run_log import CaptureEnd, RunLog, without_quotes
from vault_memory.reflect.user_feedback import REFUSAL, TICK, ProposalLine
from vault_memory.salience.features import Sentence
from vault_memory.salience.model import CATEGORY, salience
from vault_memory.sessions import ledger
from vault_memory.store import journal
from vault_memory.store.note_queries import KnownFact
from vault_memory.text.scope_syntax import GLOBAL, normal_scope
from vault_memory.text.word_classes import words_of
from vault_memory.vault import locations
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.undo_record import digest
from vault_memory.write import retain
from vault_memory.write.comparison import KnownStatement, newest_facts
from vault_memory.write.forget import ForgetResult, Removal
from vault_memory.write.retain import Bullet
from vault_memory.write.rewrite import Rewriter, read_current

T = TypeVar("T")

A_DAY = {"page": 2, "log": 4}
"""How many of a day's proposals may be pages for names, and how many may come from logs: sessions come first."""

MOST_OPEN = 40
"""With so many open proposals no more are added: nobody reads a longer list."""


def capture(
    index: IndexFile, environ: Mapping[str, str], asked: CaptureRequest, answers: Mapping[str, bool] | None = None
) -> CaptureReport:
    """Capture from sessions and logs; with `answers` (whether a proposal is wanted, by name) look for nothing new.

    `answers` may be empty: then only what is ticked on the page is carried out. Raises UsageError for an answer to a
    proposal that is not open, ConflictError if a note keeps changing.
    """
    if index.config.capture_mode == "off" and answers is None:
        raise UsageError("Capture is off: `capture.mode` in your settings says so.", 'Set it to "propose" or "write".')
    log, started = RunLog(index.vault.root, environ), time.monotonic()
    try:
        index.update()
        core = _answer_core(index, answers or {}) if asked.core and not asked.dry_run else {}
        captured = answers and {name: wanted for name, wanted in answers.items() if name not in core}
        with locations.writer_lock(index.path.with_name("retain"), LOCK_SECONDS):
            run = _Run(index, environ, asked, {} if answers and not captured else captured)
            done = run.run()
        if run.paths:
            index.update(sorted(run.paths))
        done.accepted += sum(mark == TICK for mark in core.values())
        done.seconds = time.monotonic() - started
    except BusyError:
        raise
    except Exception as error:
        if not asked.dry_run and not (answers and isinstance(error, UsageError)):
            why = without_quotes("", str(error) or type(error).__name__)
            next_step = error.next_step if isinstance(error, VaultMemoryError) else "`memory capture -v` says more."
            log.record(CaptureEnd(datetime.now(UTC), why=why, next_step=next_step, ok=False))
        raise
    if not asked.dry_run:
        counts = len(done.written), len(done.proposals), done.waiting
        end = CaptureEnd(datetime.now(UTC), *counts, secrets=done.secrets, problems=len(done.problems))
        last = log.last(CaptureEnd)
        # A run that did nothing must not hide the last one that did.
        idle = last and last.ok and not done.run and not done.problems
        log.record(last._replace(waiting=done.waiting) if last and idle else end)
    return done


def _answer_core(index: IndexFile, answers: Mapping[str, bool]) -> dict[str, str]:
    """Have reflect carry out the answers to its proposals for the core, those given and those on the page.

    Returns them, each with its mark; the given ones are put on the page first.
    """
    page, marks = index.vault.layout.proposals, {name: TICK if yes else REFUSAL for name, yes in answers.items()}
    open_ = {one.name: one.mark for one in _core_lines(index)}
    given = {name: mark for name, mark in marks.items() if name in open_ and open_[name] != mark}
    if given:
        Rewriter(index.vault).rewrite(page, lambda data: (core_proposals.with_marks(page, data or b"", given), None))
    answered = {name: mark for name, mark in (open_ | given).items() if mark in (TICK, REFUSAL)}
    if answered:
        reflect(index, parse_request(only=("proposals",)))
    return answered


def _on_page(index: IndexFile, read: Callable[[str, bytes], T], nothing: T) -> T:
    """What `read` finds on the page of proposals; `nothing` if it is missing or cannot be read, which a run reports."""
    page = index.vault.layout.proposals
    with suppress(ConflictError, RefusedError):
        data = read_current(index.vault, page)
        return nothing if data is None else read(page, data)
    return nothing


def _core_lines(index: IndexFile) -> list[ProposalLine]:
    """Reflect's proposals for the core on the page."""
    return _on_page(index, core_proposals.lines_on_page, [])


def open_proposals(index: IndexFile) -> list[Proposal]:
    """The proposals on the page that have no answer yet: captured facts, then changes to the core."""
    core = (Proposal(one.name, one.text) for one in _core_lines(index) if one.mark not in (TICK, REFUSAL))
    return [*read_page(index).open, *core]


def held_proposals(index: IndexFile, environ: Mapping[str, str]) -> list[Proposal]:
    """The proposals that wait for another day, best first."""
    known = read_page(index).lines.keys() | proposal_log.made(index, ("proposed", *proposal_log.ANSWERS))
    held = {one.name: one for one in proposal_log.held(index, environ) if one.name not in known}
    return sorted(held.values(), key=lambda one: -one.score)


def read_page(index: IndexFile) -> PageAnswers:
    """What the page of proposals holds."""
    return _on_page(index, proposals_page.read_answers, PageAnswers())


def carry_out_ticks(index: IndexFile, environ: Mapping[str, str], *, core: bool) -> None:
    """Carry out the answers on the page, before another command writes; if that fails, the log of runs says so.

    Without `core`, those to reflect's proposals are left to it."""
    answers = read_page(index)
    if answers.ticked or answers.refused or (core and _on_page(index, proposals_page.has_answers, False)):
        with suppress(VaultMemoryError):
            capture(index, environ, CaptureRequest(core=core), {})


def forget_everywhere(
    index: IndexFile, environ: Mapping[str, str], planned: Removal, forget: Callable[[Removal], ForgetResult]
) -> ForgetResult:
    """Forget a fact and remove its words from the proposals, old journals and the day's list of sessions.

    The proposals come first: if this is killed halfway, the fact is still there and can be forgotten again.
    """
    text = without_citation(planned.narrative)
    source = planned.narrative.removeprefix(text).removeprefix(" — ")
    run = _Run(index, environ, CaptureRequest(), {})
    with locations.writer_lock(index.path.with_name("retain"), LOCK_SECONDS):
        told = run.forget_copies(text, source)
    done = forget(planned)
    with locations.writer_lock(index.path.with_name("retain"), LOCK_SECONDS):
        told += run.forget_title(text, source)
    if run.paths:
        index.update(sorted(run.paths))
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
        self, index: IndexFile, environ: Mapping[str, str], asked: CaptureRequest, answers: Mapping[str, bool] | None
    ) -> None:
        self._index, self._environ, self._asked, self._given = index, environ, asked, answers
        self._vault, self._config, self._page = index.vault, index.config, index.vault.layout.proposals
        history = UndoHistory(index.vault.root)
        newest = next(iter(history.runs("capture")), None)
        self._ours: dict[str, str] = {}
        """The hashes of notes as the last run left them; a note that still matches is not being edited by others."""
        with suppress(VaultError):
            self._ours |= {change.path: change.after for change in newest.changes()} if newest else {}
        self._saved, self._began = history.begin("capture"), time.time()
        self._drafts: dict[str, bytes] = {}
        """The notes as a dry run would leave them."""
        self._is_page_broken = False
        self._reopened: list[Proposal] = []
        """The proposals whose tick an undo brought back: they wait for a new one."""
        self.paths: set[str] = set()
        self.report = CaptureReport()

    def run(self) -> CaptureReport:
        """Do it all, in this order: answers, search, facts, page, marks."""
        answers = self._with_given(self._read_page())
        answered = {*answers.refused, *(one.name for one in answers.ticked)}
        done = proposal_log.made(self._index, proposal_log.ANSWERS) | answered
        made = proposal_log.made(self._index, ("proposed",)) | done
        held = {one.name: one for one in proposal_log.held(self._index, self._environ) if one.name not in made}
        known = self._known([*answers.open, *held.values()], set(answers.refused))
        found = (
            find_items(self._index, self._environ, self._asked, known)
            if self._given is None
            else Findings(CaptureReport(), sources.load_marks(self._vault.root, self._environ))
        )
        found.report.problems[:0] = self.report.problems
        self.report = found.report
        self.report.page, self.report.lost, self.report.dry_run = self._page, answers.lost, self._asked.dry_run
        self.report.problems += [
            f'I don\'t understand `[{one.mark}]` at "{proposals_page.statement(one.text)}" in {self._page}: '
            "write `[x]` to keep it or `[-]` to refuse it"
            for one in answers.lines.values()
            if one.mark not in ("", TICK, REFUSAL)
        ]
        lines = answers.lines
        self.report.refused = [Proposal(name, lines[name].text if name in lines else "") for name in answers.refused]
        standing = self._accept(answers)
        self._note("declined", self.report.refused)
        corrected = {item.corrects for item in self.report.items} - {""}
        fresh = [one for one in self._write_requests(self.report.items, done) if one.name not in corrected]
        left = [*(one for one in standing if one.name not in answers.refused), *answers.open]
        left = [one for one in left if one.name not in corrected or lines[one.name].mark]
        pages = [one for one in found.pages if one.name not in made]
        shown = self._chosen([*held.values(), *fresh, *pages], left, done | {one.name for one in left})
        there = {one.name for one in (*left, *shown)}
        waiting = {one.name: one for one in (*held.values(), *fresh) if one.name not in there | done}
        if self._write_page([*left, *shown], len(waiting), answers):
            self._note("proposed", [*shown, *self._reopened])  # from now on a tick counts
        else:  # they are offered when the page can be written again
            waiting |= {one.name: one for one in shown if not one.is_page}
            shown = []
        self.report.proposals, self.report.held = shown, list(waiting.values())
        if self._config.sessions_log:
            self._write_work_log(found.days)
        self.report.waiting = len(left) + len(shown) + len(waiting)
        if self._asked.dry_run:
            return self.report
        read = found.marks if self._asked.since is None else sources.load_marks(self._vault.root, self._environ)
        sources.save_marks(
            self._vault.root, self._environ, read._replace(held=[one._asdict() for one in waiting.values()])
        )
        if self._asked.since is None and self._given is None:  # otherwise not everything new was read
            ledger.forget_ends(self._environ, self._began)
        self.report.run = self._saved.name if self.paths else ""
        return self.report

    def forget_copies(self, text: str, source: str) -> list[str]:
        """Remove a fact's words from page, list of sessions, held proposals and old journals; returns warnings."""
        words = text.split()
        answers = self._read_page()

        def says_it(one: Proposal) -> bool:
            return one.statement.split() == words or (one.source == source != "")

        left = [Proposal(n, each.text, instead=answers.instead.get(n, ("", ""))) for n, each in answers.lines.items()]
        gone = [one for one in left if says_it(one)]
        quoting = [one for one in left if without_citation(one.instead[0]).split() == words]
        marks = sources.load_marks(self._vault.root, self._environ)
        held = proposal_log.held(self._index, self._environ)
        if gone or quoting:
            kept = [one._replace(instead=("", "")) if one in quoting else one for one in left if one not in gone]
            self._write_page(kept, len([one for one in held if not says_it(one)]), answers)
        if any(map(says_it, held)):
            rows = [one._asdict() for one in held if not says_it(one)]
            sources.save_marks(self._vault.root, self._environ, marks._replace(held=rows))
        names = self._journalled(words, source)
        self._note("declined", gone)
        if names:
            journal.blank_captured(self._vault.root, names, self._asked.now)
        told = []
        if source:
            told.append(f"It was captured from {source}, which stays.")
        if journal.other_devices_hold(self._vault.root, names):
            told.append("The journals of other devices lose its words at their next capture.")
        return told

    def forget_title(self, text: str, source: str) -> list[str]:
        """Remove a fact's words from the list of sessions of its day; returns what went wrong."""
        day = sources.day_said(source, self._environ) if source else None
        self._write_work_log((), [day] if day else [], [text])
        return [f"{problem}." for problem in self.report.problems]

    def _journalled(self, words: Sequence[str], source: str) -> list[str]:
        """The names under which earlier releases put these words into the journal."""
        found = []
        for event in journal.capture_events(self._vault.root):
            text = str(event.get("text") or "")
            if text and (proposals_page.statement(text).split() == words or (source and text.endswith(f" — {source}"))):
                found.append(str(event.get("name")))
        return found

    # --- answers -------------------------------------------------------------------------------------------------

    def _read_page(self) -> PageAnswers:
        """What the page holds; if it cannot be read, answers have to wait and the page is not written."""
        try:
            data = read_current(self._vault, self._page)
            return proposals_page.read_answers(self._page, data) if data is not None else PageAnswers()
        except (ConflictError, RefusedError) as error:
            self._is_page_broken = True
            self.report.problems.append(f"{error} {error.next_step}".rstrip("."))
            return PageAnswers()

    def _with_given(self, found: PageAnswers) -> PageAnswers:
        """The answers on the page, replaced by those given with the call."""
        given, held = self._given or {}, {one.name: one for one in proposal_log.held(self._index, self._environ)}
        lines, instead = dict(found.lines), dict(found.instead)
        for name in sorted(
            proposal_log.restored_ticks(self._index) & {one.name for one in found.ticked} - given.keys()
        ):
            self._reopened.append(one := Proposal(name, lines[name].text))
            lines[name] = lines[name]._replace(mark="", line=proposals_page.line(one))
            self.report.problems.append(f'An undo took "{one.statement}" back: it waits for a new tick in {self._page}')
        for name, is_wanted in given.items():
            if name not in lines and name not in held:
                raise UsageError(f"No proposal `{name}` is open.", "`memory proposals` lists those that are.")
            if name not in lines:
                lines[name] = ProposalLine(name, "", held[name].text, proposals_page.line(held[name]))
                instead[name] = held[name].instead
            lines[name] = lines[name]._replace(mark=TICK if is_wanted else REFUSAL)
        return found._replace(lines=lines, instead=instead, deleted=found.deleted - given.keys())

    def _known(self, open: Sequence[Proposal], refused: set[str]) -> list[KnownStatement]:
        """Open proposals as known statements, so that the same is not proposed again in other words."""
        known = []
        for one in open:
            statement = KnownStatement(one.statement, f"{self._page}#^p-{one.name}", is_batch=True)
            with suppress(VaultError):  # it proposes a page
                bullet = retain.read_bullet(one.text)
                slugs = frozenset(map(entities.slug, bullet.entities))
                statement = statement._replace(
                    scope=bullet.scope or GLOBAL, slugs=slugs, is_refused=one.name in refused
                )
            known.append(statement)
        return known

    # --- writing -------------------------------------------------------------------------------------------------

    def _note(self, what: str, proposals: Iterable[Proposal]) -> None:
        if not self._asked.dry_run:
            rows = [{"name": one.name, **({"source": one.source} if one.text else {})} for one in proposals]
            journal.note_capture(self._vault.root, what, self._asked.now, self._saved.name, rows)

    def _accept(self, answers: PageAnswers) -> list[Proposal]:
        """Write the facts and pages that were ticked, as worded on the page; returns those that could not be."""
        failed = []
        for line in answers.ticked:
            proposal = Proposal(line.name, line.text, instead=answers.instead.get(line.name, ("", "")))
            try:
                if page := proposals_page.wanted_page(line.text):
                    self._make_page(page)
                else:
                    self._write_ticked(proposal)
            except (VaultError, UsageError, ConflictError, RefusedError, ValueError) as error:
                self.report.problems.append(f"{proposal.statement}: {error}".rstrip("."))
                failed.append(proposal)
                continue
            self._note("accepted", [proposal])
            self.report.accepted += 1
        return failed

    def _write_ticked(self, proposal: Proposal) -> None:
        bullet = retain.read_bullet(proposal.text)
        chances = salience().head(CATEGORY, Sentence(without_citation(bullet.text)))
        is_personal = max(chances, key=lambda name: chances[name]) in PERSONAL
        # Reflect asks whether what is important goes into the core.
        important = bullet.importance or (IMPORTANT if is_personal else None)
        day = sources.day_said(proposal.source, self._environ)
        self._retain(replace(bullet, importance=important), day, proposal.instead)

    def _make_page(self, name: str) -> None:
        """Create an entity's page unless it exists by now."""
        path = f"{self._vault.layout.entities}{entities.file_name(name)}.md"
        text = template("entity.md").read_text("utf-8").replace("{{title}}", name)
        made = text.encode("utf-8", "replace")
        self._rewriter().rewrite(path, lambda before: (before if before is not None else made, None))
        self.report.facts.append(WrittenFact(path, f"{name} has a page"))
        self.paths.add(path)

    def _retain(self, bullet: Bullet, day: date | None, replaces: tuple[str, str], is_ticked: bool = True) -> None:
        """Write a fact into the log of its day, superseding the older fact `replaces` if that still exists.

        Without a tick it supersedes only a fact of the same scope.
        """
        retain.check(bullet)
        said = day or self._asked.now.astimezone().date()
        old = self._old_fact(*replaces) if replaces[0] else None
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
        if standing := next((one for one in facts.facts(note, None) if retain.says_as(one, bullet)), None):
            source = f"{path}#L{standing.start_line}"
            if is_ticked and not bullet.scope and standing.scope not in (None, GLOBAL):
                retain.open_to_all(self._rewriter(), path, standing.narrative)
                self.paths.add(path)
            self.report.facts.append(
                WrittenFact(source, text, instead, bullet.scope)
            )  # or by a run killed before its journal entry
            return
        done = retain.retain_bullet(self._rewriter(), bullet, said, template("daily.md"))
        self.report.facts.append(WrittenFact(done.source, text, instead, bullet.scope))
        self.paths.add(done.path)

    def _old_fact(self, text: str, source: str) -> KnownFact | None:
        """The fact that says this, at this citation if it still does."""
        if self.paths:
            self._index.update(sorted(self.paths))
        known = self._index.read(lambda view, _: newest_facts(view, (), NEWEST_FACTS), [])
        same = [one for one in known if without_citation(one.narrative).split() == without_citation(text).split()]
        return next((one for one in same if one.source == source), next(iter(same), None))

    def _write_requests(self, items: Sequence[CaptureItem], done: set[str]) -> list[Proposal]:
        """Write what an agent was asked to remember, or everything in mode "write"; returns the rest as proposals."""
        rest: dict[str, Proposal] = {}
        answered, older = (
            proposal_log.made(self._index, proposal_log.ANSWERS),
            [event for event in proposal_log.events(self._index) if event.get("text")],
        )
        for item in items:
            names = {item.name, *proposals_page.older_names(item.text, item.source)}
            if not item.is_kept or names & (answered if item.is_sure else done):
                continue
            if any(
                _is_cut_from(item, event)
                for event in older
                if not item.is_sure or event["event"] in proposal_log.ANSWERS
            ):
                continue
            if not (item.is_sure or self._config.capture_mode == "write"):
                rest.setdefault(item.name, _proposal(item))
                continue
            important = replace(item.bullet, importance=IMPORTANT if item.category in PERSONAL else None)
            try:
                self._retain(important, item.day, item.instead, is_ticked=False)
            except (UsageError, VaultError, ConflictError, RefusedError) as error:
                self.report.problems.append(f"{item.source} was not written: {error}".rstrip("."))
                rest.setdefault(item.name, _proposal(item))
            else:
                self._note("accepted", [_proposal(item)])
        return list(rest.values())

    def _chosen(self, new: Sequence[Proposal], left: Sequence[Proposal], done: set[str]) -> list[Proposal]:
        """Those that are proposed now: the best, few of them pages or from logs, and no more than the settings let wait
        for an answer that were proposed today: who answers gets the next."""
        day = self._asked.now.astimezone().date().isoformat()
        made = {
            event["name"]
            for event in proposal_log.events(self._index)
            if event["event"] == "proposed" and event["day"] == day
        }
        today = [one for one in left if one.name in made]
        room = min(self._config.capture_max_per_day - len(today), MOST_OPEN - len(left))
        rooms = {kind: most - sum(_origin(one) == kind for one in today) for kind, most in A_DAY.items()}
        chosen: dict[str, Proposal] = {}
        for one in sorted(new, key=lambda one: (-one.score, one.day, one.name)):
            kind = _origin(one)
            if one.name in done or one.name in chosen or rooms.get(kind, 1) <= 0:
                continue
            if len(chosen) >= room or self._is_page_broken:
                break
            chosen[one.name] = one
            if kind in rooms:
                rooms[kind] -= 1
        return list(chosen.values())

    def _write_page(self, shown: Sequence[Proposal], held: int, answers: PageAnswers) -> bool:
        """Write the page; returns whether it holds these proposals now, or would in a dry run."""
        if self._is_page_broken:
            return False

        def compose(before: bytes | None) -> tuple[bytes, None]:
            return proposals_page.compose(self._page, before, shown, held, answers), None

        before = read_current(self._vault, self._page)
        if before is not None or shown:
            try:
                self._rewriter().rewrite(self._page, compose)
            except (ConflictError, RefusedError, VaultError) as error:  # the ticked facts are written all the same
                self.report.problems.append(f"{self._page} was not brought up to date: {error}".rstrip("."))
                return False
            if read_current(self._vault, self._page) != before:
                self.paths.add(self._page)
        return True

    def _write_work_log(
        self, sessions: Sequence[SessionDay], days: Iterable[date] = (), forgotten: Sequence[str] = ()
    ) -> None:
        """Write the list of sessions into the notes of their days, and what was `forgotten` out of those of `days`."""
        by_day: dict[date, list[SessionDay]] = {day: [] for day in days}
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
        start = before if before is not None else retain.new_daily_note(self._vault, template("daily.md"), day, path)
        return work_log.compose(path, start, listed, forgotten), None

    def _rewriter(self) -> Rewriter:
        if self._asked.dry_run:
            return _DryRewriter(self._vault, drafts=self._drafts)

        def keep(path: str, before: bytes | None, after: bytes) -> None:
            for folder in self._vault.missing_folders(path) if before is None else ():
                self._saved.note({"folder": folder}, folder)
            before = proposals_page.unticked(before) if before and path == self._page else before
            self._saved.keep(path, before, after, "captured from sessions")

        def is_own(path: str, data: bytes) -> bool:
            return path in self.paths or self._ours.get(path) == digest(data)

        return Rewriter(self._vault, is_own, keep=keep)


def _proposal(item: CaptureItem) -> Proposal:
    text = str(item.bullet).removeprefix("- ")
    return Proposal(item.name, text, item.score, str(item.day or ""), item.instead)


def _origin(one: Proposal) -> str:
    return "page" if one.is_page else "session" if one.source.startswith("sessions/") else "log"


def _is_cut_from(item: CaptureItem, event: Mapping[str, Any]) -> bool:
    """Whether an item and an event of an earlier release, which cut its statements shorter and put names for pronouns,
    come from the same message or line and say the same: but for its first word, one of them is part of the other."""
    text = str(event["text"])
    short, long = sorted((words_of(item.text), words_of(proposals_page.statement(text))), key=len)
    return text.endswith(f" — {item.source}") and set(short[1:]) <= set(long)
