"""Runs a whole reflect: brings the index up to date, plans, writes the pages and tells the index; and undoes a run.

A run that is killed leaves every page as it was or as it is to be, and what it wrote can be undone: the text before and
what the block was made of are durable before the page is replaced (DESIGN.md §2, law 2).
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.errors import BusyError, ConflictError, UsageError, VaultMemoryError
from vault_memory.indexing.index_file import LOCK_SECONDS, IndexFile
from vault_memory.reflect import core_proposals, model_writer
from vault_memory.reflect.edit_plan import LEFT_ALONE, Edit, PageProblem, page_problem
from vault_memory.reflect.generated_blocks import PageLine, WrittenBlocks
from vault_memory.reflect.model_paragraph import ModelParagraphs, ModelUse
from vault_memory.reflect.opinion_page import Move
from vault_memory.reflect.page_drafts import ReflectRequest
from vault_memory.reflect.run_log import REFLECT, ReflectEnd, RunLog, without_quotes
from vault_memory.reflect.run_plan import RunPlanner
from vault_memory.search import request
from vault_memory.startup import REFLECTED
from vault_memory.store import journal, note_queries
from vault_memory.store.view import ALL, Store
from vault_memory.text.vault_layout import STANDARD, Layout
from vault_memory.vault import locations
from vault_memory.vault.run_preimages import SavedRun
from vault_memory.vault.undo_history import UndoHistory, UndoReport
from vault_memory.vault.vault import Vault
from vault_memory.write.rewrite import Rewriter

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress

UNDONE_UNASKED = ("reflect", "capture")
"""The kinds of runs of which the last is undone where none is named."""

_SHA = re.compile(rb"<!--[ \t]*memory:end [^\n\r>]*?sha=([0-9a-f]{8})")


@dataclass(frozen=True)
class ReflectReport:
    """What came of a reflect: edits made (or, in a dry run, to be made), pages left alone and why."""

    edits: tuple[Edit, ...]
    skipped: tuple[PageProblem, ...] = ()
    unchanged: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    facts: int = 0
    run: str = ""
    dry_run: bool = False
    seconds: float = 0.0
    removed: tuple[str, ...] = ()
    """The pages that would be made, had nobody removed them."""
    orphaned: tuple[PageLine, ...] = ()
    """Lines of a person's that rest on what no note holds any more."""
    odd: tuple[PageLine, ...] = ()
    """Lines of a person's with a confidence that is none."""
    model: ModelUse | None = None
    """What came of asking the configured model; in a dry run it is not asked."""
    moves: tuple[Move, ...] = ()
    proposed: core_proposals.ProposalCounts | None = None
    added: int = 0
    """How many proposals are new on their page."""
    notices: tuple[PageProblem, ...] = ()
    untold: Mapping[str, str] = field(default_factory=dict)
    """The pages of periods with too little to tell, each with the reason."""
    layout: Layout = STANDARD

    @property
    def exit_code(self) -> int:
        """0, or that of the gravest reason for which a page was not written: 5 only where no page was."""
        code = max((skipped.exit_code for skipped in self.skipped), default=0)
        return 1 if code == ConflictError.exit_code and self.edits else code


@dataclass(frozen=True)
class Steps:
    """Who is told how far the index, the plan and the writing of the pages have come."""

    index: "Progress | None" = None
    plan: "Progress | None" = None
    write: "Progress | None" = None


class WrittenEdits(NamedTuple):
    """The edits that were written, the pages that were not, and what to undo them by ("" when nothing was written)."""

    edits: Sequence[Edit] = ()
    skipped: Sequence[PageProblem] = ()
    run: str = ""


def write_edits(
    vault: Vault, edits: Sequence[Edit], replan: Callable[[Edit], Edit | None],
    on_write: Callable[[Edit], None] = lambda edit: None, progress: "Progress | None" = None,
) -> WrittenEdits:  # fmt: skip
    """Write edits into a vault in turn; `on_write` is called with each just before.

    A page that changes under our hands is merged anew by `replan`, three times at most.
    """
    run, blocks = UndoHistory(vault.root).begin("reflect"), WrittenBlocks(vault.root)
    written, skipped, is_core_left = list[Edit](), list[PageProblem](), False

    def write(edit: Edit) -> Edit | None:
        late = edit

        def compose(before: bytes | None) -> tuple[bytes, Edit | None]:
            nonlocal late
            made = edit if before == edit.before else replan(edit)
            late = made or edit
            return (made.after, made) if made else (before or b"", None)

        def keep(path: str, before: bytes | None, after: bytes) -> None:
            for folder in vault.missing_folders(path) if before is None else ():
                run.note({"folder": folder}, folder)
            run.keep(path, before, after, late.why)
            if late.sha:
                blocks.keep(late.sha, late.lines)
            on_write(late)

        return Rewriter(vault, keep=keep).rewrite(edit.path, compose)

    for done, edit in enumerate(edits):
        if progress:
            progress(done, len(edits), done)
        if edit.path == vault.layout.proposals and is_core_left:
            continue  # or a tick would go that nothing came of
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
    """Write the pages that the facts of a vault make, and note how that ended; raises BusyError when another process
    does."""
    log = RunLog(index.vault.root)
    with log.writing_pages():  # where another process does, that one notes how it ended
        try:
            done = _run(index, asked, steps or Steps())
        except VaultMemoryError as error:
            if not asked.dry_run and not isinstance(error, BusyError):
                why = without_quotes("", str(error))
                log.note(ReflectEnd(datetime.now(UTC), why=why, next_step=error.next_step, ok=False))
            raise
    if not asked.dry_run:
        path, why, next_step, _ = done.skipped[0] if done.skipped else PageProblem("", "", "")
        log.note(ReflectEnd(
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
    """Write what was planned, have the journal know what people said to it, and tell the index."""
    root, now = index.vault.root, datetime.now(UTC)
    for new in planner.feedback.new:
        journal.note_verdicts(root, new.what, [new.name], now, new.about, new.value, new.day)

    def on_write(edit: Edit) -> None:
        # Before the page: a line that is gone from it and from nowhere else would come back with the next run.
        journal.note_verdicts(root, "deleted", edit.deleted, now, edit.path)

    done = write_edits(index.vault, planner.edits, planner.replan, on_write, progress)
    _tell_index(index, [edit.path for edit in done.edits])
    told_again = {one.path for one in (*planner.skipped, *done.skipped)}
    told_again |= {orphan.path for orphan in planner.orphaned}  # so each run looks at them
    signatures = {path: sign for path, sign in planner.signatures.items() if path not in told_again}

    def remember(store: Store) -> None:
        note_queries.remember_pages(store, signatures, planner.gone)
        note_queries.remember_verdicts(store, *planner.verdicts)

    _write_index(index, remember)
    return done


def _write_index(index: IndexFile, write: Callable[[Store], None]) -> None:
    """Write to the index where it can be used and is not busy; without that the next run only takes longer."""
    with suppress(VaultMemoryError):
        if index.unusable():
            return
        with locations.writer_lock(index.path, LOCK_SECONDS), Store.opened(index.path) as store, store.writing():
            write(store)


def undo(
    index: IndexFile, name: str = "", *, dry_run: bool = False, force: bool = False,
    unforgetting: Callable[[SavedRun, Collection[str]], AbstractContextManager[object]] = lambda *_: nullcontext(),
) -> UndoReport:  # fmt: skip
    """Put back what a run changed, the last of reflect unless another is named; in a dry run nothing is done.

    `unforgetting` is entered with the run and the notes that are put back. Raises UsageError when there is
    nothing to undo, ConflictError when a page was changed since (which `force` leaves as it is), VaultMemoryError when
    some notes could not be put back.
    """
    log = RunLog(index.vault.root)
    with log.writing_pages():
        preimages = UndoHistory(index.vault.root)
        every = [run for run in preimages.runs() if not run.is_undone]
        standing = [run for run in every if run.kind in UNDONE_UNASKED]
        if not name and every and every[0].kind == "forget":
            before = f"; `memory reflect --undo {standing[0].name}` what was written before" if standing else ""
            what = "The last change was made by `memory forget`: it is not clear what is to be undone."
            raise UsageError(what, f"`memory reflect --undo {every[0].name}` takes that back{before}.")
        for run in [preimages.named(name)] if name else standing:
            with suppress(UsageError) if not name else nullcontext():  # it was killed before it wrote its first page
                found = preimages.undoing(run, index.vault, force=force)
                break
        else:
            raise UsageError("There is nothing to undo.", "No page is as `memory reflect` or `memory capture` left it.")
        if dry_run:
            return found
        # Before they are gone, or a kill in between would have them taken for removed by a person; and only these, or
        # what a person has removed would come back.
        _write_index(index, lambda store: note_queries.forget_pages(store, found.paths))
        with ExitStack() as held:
            held.callback(_tell_index, index, found.paths)
            held.enter_context(unforgetting(run, found.paths))
            preimages.undo(run, index.vault, force=bool(found.kept))
        reflected = [one.name for one in standing if one.kind == REFLECT]
        if (last := log.last(ReflectEnd)) and run.name in reflected[:1]:
            log.note(last._replace(run="", proposals=None, undone=True))
        return found


def _named_blocks(index: IndexFile) -> frozenset[str]:
    found: set[str] = set()
    for path in index.vault.walk().notes:
        with suppress(OSError):
            found.update(sha.decode() for sha in _SHA.findall(index.vault.read(path)))
    return frozenset(found)


def _tell_index(index: IndexFile, paths: list[str]) -> None:
    # The pages are written: that stands, whatever becomes of an index that the next command brings up to date.
    with suppress(VaultMemoryError):
        if paths:
            index.update(paths)


def parse_request(
    since: str | date | None = None, now: str | date | None = None, only: Iterable[str] = (), *,
    dry_run: bool = False, force: bool = False, apply_core: bool = False,
) -> ReflectRequest:  # fmt: skip
    """What is asked of a reflect: with `apply_core` only what concerns the core. Raises UsageError."""
    only = ("proposals",) if apply_core else tuple(only)
    unknown = sorted(set(only) - set(REFLECTED))
    if unknown:
        raise UsageError(f"`{unknown[0]}` is no kind of page.", f"Known are: {', '.join(REFLECTED)}.")
    asked = ReflectRequest(request.moment(now), None, only, dry_run, force)
    day = None if since is None else request.option_days(str(since), "since", asked.today).start
    return replace(asked, since=day)
