"""Runs a whole reflect: updates the index, plans, writes the pages and re-indexes them.

A run that is killed leaves every page either as it was or as planned, and what it wrote can be undone: the pre-image
and the lines of the new block are durable before the page is replaced (law 2).
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.errors import BusyError, ConflictError, UsageError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.reflect import core_proposals, model_writer
from vault_memory.reflect.edit_plan import LEFT_ALONE, Edit, PageProblem, page_problem
from vault_memory.reflect.generated_blocks import PageLine, WrittenBlocks
from vault_memory.reflect.model_paragraph import ModelParagraphs, ModelUse
from vault_memory.reflect.opinion_page import Move
from vault_memory.reflect.page_drafts import ReflectRequest
from vault_memory.reflect.run_log import ReflectEnd, RunLog, without_quotes
from vault_memory.reflect.run_plan import RunPlanner
from vault_memory.search import recall_options
from vault_memory.startup import REFLECTED
from vault_memory.store import journal, note_queries
from vault_memory.store.view import ALL, Store
from vault_memory.text.vault_layout import STANDARD, Layout
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.vault import Vault
from vault_memory.write.rewrite import Rewriter

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress

_SHA = re.compile(rb"<!--[ \t]*memory:end [^\n\r>]*?sha=([0-9a-f]{8})")


@dataclass(frozen=True)
class ReflectReport:
    """The result of a reflect: edits made (in a dry run, planned), and pages skipped with the reason."""

    edits: tuple[Edit, ...]
    skipped: tuple[PageProblem, ...] = ()
    unchanged: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    facts: int = 0
    run: str = ""
    dry_run: bool = False
    seconds: float = 0.0
    removed: tuple[str, ...] = ()
    """Pages that are not recreated because the user removed them."""
    orphaned: tuple[PageLine, ...] = ()
    """The user's lines on facts that no note contains any more."""
    odd: tuple[PageLine, ...] = ()
    """Lines in which the user replaced a confidence with something that is not one."""
    model: ModelUse | None = None
    """How the configured model was used; a dry run does not ask it."""
    moves: tuple[Move, ...] = ()
    proposed: core_proposals.ProposalCounts | None = None
    added: int = 0
    """How many proposals are new on the page of proposals."""
    notices: tuple[PageProblem, ...] = ()
    untold: Mapping[str, str] = field(default_factory=dict)
    """The summary pages not made for lack of facts, each with the reason."""
    layout: Layout = STANDARD

    @property
    def exit_code(self) -> int:
        """The highest exit code of the skipped pages, or 0; 5 becomes 1 if some page was written."""
        code = max((skipped.exit_code for skipped in self.skipped), default=0)
        return 1 if code == ConflictError.exit_code and self.edits else code


@dataclass(frozen=True)
class Steps:
    """Progress callbacks for indexing, planning and writing."""

    index: "Progress | None" = None
    plan: "Progress | None" = None
    write: "Progress | None" = None


class WrittenEdits(NamedTuple):
    """The edits written, the pages skipped, and the name of the run for undo ("" if nothing was written)."""

    edits: Sequence[Edit] = ()
    skipped: Sequence[PageProblem] = ()
    run: str = ""


def write_edits(
    vault: Vault, edits: Sequence[Edit], replan: Callable[[Edit], Edit | None],
    on_write: Callable[[Edit], None] = lambda edit: None, progress: "Progress | None" = None,
) -> WrittenEdits:  # fmt: skip
    """Write edits into a vault one by one; `on_write` is called with each just before it is written.

    A page that changes in the meantime is merged again by `replan`, at most three times.
    """
    run, blocks = UndoHistory(vault.root).begin("reflect"), WrittenBlocks(vault.root)
    written, skipped, is_core_left = list[Edit](), list[PageProblem](), False

    def write(edit: Edit) -> Edit | None:
        def compose(before: bytes | None) -> tuple[bytes | None, Edit | None]:
            made = edit if before == edit.before else replan(edit)
            if made is None:
                return before, None
            for folder in vault.missing_folders(made.path) if before is None else ():
                run.note({"folder": folder}, folder)
            run.keep(made.path, before, made.after, made.why)
            if made.sha:
                blocks.keep(made.sha, made.lines)
            on_write(made)
            return made.after, made

        return Rewriter(vault).rewrite(edit.path, compose)

    for done, edit in enumerate(edits):
        if progress:
            progress(done, len(edits), done)
        if edit.path == vault.layout.proposals and is_core_left:
            continue  # or a tick would vanish without having been carried out
        try:
            made = write(edit)
            written += [made] if made else []
        except LEFT_ALONE as error:
            skipped.append(page_problem(edit.path, error))
            is_core_left = is_core_left or not edit.block
    if not written:
        run.drop()
    return WrittenEdits(written, skipped, run.name if written else "")


def reflect(index: IndexFile, asked: ReflectRequest, steps: Steps | None = None) -> ReflectReport:
    """Write a vault's pages and log the outcome; raises BusyError if another process is writing them."""
    log = RunLog(index.vault.root)
    with log.writing_pages():  # if another process holds the lock, it logs the outcome
        try:
            done = _run(index, asked, steps or Steps())
        except VaultMemoryError as error:
            if not asked.dry_run and not isinstance(error, BusyError):
                why = without_quotes("", str(error))
                log.record(ReflectEnd(datetime.now(UTC), why=why, next_step=error.next_step, ok=False))
            raise
    if not asked.dry_run:
        path, why, next_step, _ = done.skipped[0] if done.skipped else PageProblem("", "", "")
        log.record(ReflectEnd(
            datetime.now(UTC), len(done.edits), len(done.skipped), without_quotes(path, why) if path else "", next_step,
            done.proposed.open if done.proposed else None, done.run,
        ))  # fmt: skip
    return done


def _run(index: IndexFile, asked: ReflectRequest, steps: Steps) -> ReflectReport:
    started = time.monotonic()
    blocks, layout = WrittenBlocks(index.vault.root), index.vault.layout
    model = model_writer.configured_writer(index.config)
    with closing(model) if model else nullcontext():
        paragraphs = ModelParagraphs(model, blocks.last, asks=not asked.dry_run) if model else None
        failed = index.update(progress=steps.index).failed

        def question(store: Store, _: object) -> RunPlanner:
            unread = sorted({problem.path for problem in failed} - store.notes().keys())
            first = next(iter(unread), "")
            planner = RunPlanner(index.vault, store.view(ALL), index.config, asked, paragraphs, first)
            planner.make_plan(steps.plan)
            return planner

        planner = index.ask(question)
        done = WrittenEdits(planner.edits) if asked.dry_run else _apply(index, planner, steps.write)
        if not (asked.dry_run or asked.only or asked.since):
            blocks.sweep(lambda: _named_blocks(index))
            UndoHistory(index.vault.root).prune()
    jobs, by_path = planner.jobs, {edit.path: edit for edit in done.edits}
    opinions, proposed = by_path.get(layout.opinions), by_path.get(layout.proposals)
    return ReflectReport(
        edits=tuple(done.edits),
        skipped=(*planner.skipped, *done.skipped),
        unchanged=planner.unchanged,
        left_out=jobs.fact_set.left_out,
        facts=len(jobs.fact_set.facts),
        run=done.run,
        dry_run=asked.dry_run,
        seconds=time.monotonic() - started,
        removed=tuple(sorted(jobs.unmade)),
        notices=tuple(planner.notices),
        orphaned=tuple(planner.orphaned),
        odd=tuple(planner.feedback.odd),
        model=paragraphs.model if paragraphs else None,
        moves=tuple(jobs.find_moves(opinions.was, opinions.lines)) if opinions else (),
        proposed=planner.proposed,
        added=len(core_proposals.names_of(proposed.lines) - core_proposals.names_of(proposed.was)) if proposed else 0,
        untold=planner.untold,
        layout=layout,
    )


def _apply(index: IndexFile, planner: RunPlanner, progress: "Progress | None") -> WrittenEdits:
    """Write the planned edits, journal the user's answers, and update the index."""
    root, now = index.vault.root, datetime.now(UTC)
    for new in planner.feedback.new:
        journal.note_verdicts(root, new.what, [new.name], now, new.about, new.value, new.day)

    def on_write(edit: Edit) -> None:
        # Before the page is written: if a deletion were not journalled, the next run would bring the line back.
        journal.note_verdicts(root, "deleted", edit.deleted, now, edit.path)

    done = write_edits(index.vault, planner.edits, planner.replan, on_write, progress)
    _tell_index(index, [edit.path for edit in done.edits])
    told_again = {one.path for one in (*planner.skipped, *done.skipped)}
    told_again |= {orphan.path for orphan in planner.orphaned}  # so that every run examines them
    signatures = {path: sign for path, sign in planner.signatures.items() if path not in told_again}

    def remember(store: Store) -> None:
        note_queries.remember_pages(store, signatures, planner.gone)
        note_queries.remember_verdicts(store, *planner.verdicts)

    index.try_to_write(remember)
    return done


def _named_blocks(index: IndexFile) -> frozenset[str]:
    found: set[str] = set()
    for path in index.vault.walk().notes:
        with suppress(OSError):
            found.update(sha.decode() for sha in _SHA.findall(index.vault.read(path)))
    return frozenset(found)


def _tell_index(index: IndexFile, paths: list[str]) -> None:
    # The pages are written even if this fails: the next command brings the index up to date.
    with suppress(VaultMemoryError):
        if paths:
            index.update(paths)


def parse_request(
    since: str | date | None = None, now: str | date | None = None, only: Iterable[str] = (), *,
    dry_run: bool = False, force: bool = False, apply_core: bool = False,
) -> ReflectRequest:  # fmt: skip
    """Build a ReflectRequest from option values; `apply_core` limits it to the core. Raises UsageError."""
    only = ("proposals",) if apply_core else tuple(only)
    unknown = sorted(set(only) - set(REFLECTED))
    if unknown:
        raise UsageError(f"`{unknown[0]}` is no kind of page.", f"Known are: {', '.join(REFLECTED)}.")
    asked = ReflectRequest(recall_options.moment(now), None, only, dry_run, force)
    day = None if since is None else recall_options.option_days(str(since), "since", asked.today).start
    return replace(asked, since=day)
