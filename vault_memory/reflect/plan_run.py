"""Plans a run from the index and the pages as they stand: drafts, edits, proposals. It writes no page.

The lines of a written block are kept in `.memory/history/written` by the hash that the block's own closing marker
names, for merge.py to compare with.
"""

import json
import os
import re
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.config import template
from vault_memory.errors import ConflictError, RefusedError, VaultError
from vault_memory.markdown.entities import link_name
from vault_memory.reflect import blocks, core, entity_page, opinion_page, proposals, user_feedback
from vault_memory.reflect.blocks import Block, Line
from vault_memory.reflect.opinion_page import Move
from vault_memory.reflect.page_jobs import Job, Options, PageJobs, Verdicts
from vault_memory.reflect.plan import (
    Draft,
    Edit,
    Notice,
    PageHistory,
    Plan,
    SkippedPage,
    edit,
    planned,
    retracted,
    skip,
)
from vault_memory.reflect.retell import Retelling
from vault_memory.reflect.sections import counted
from vault_memory.store import note_queries
from vault_memory.store.view import View
from vault_memory.vault import locations, safe_files
from vault_memory.vault.vault import Vault

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress

WRITTEN = "history/written"
WRITTEN_SECONDS = 90 * 86400.0
"""A text that no page has any more is kept so long from when it was written: a page may come back from another device
or a backup. Then it goes, and with it the words of what was forgotten."""

_SHA = re.compile(r"[0-9a-f]{8}")


class Ledger:
    """The texts written into one vault's pages; `root` is the vault's real path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def last(self, sha: str) -> list[Line] | None:
        """The lines of the block with this hash, or None when it was not written here."""
        file = locations.derived(self._root, f"{WRITTEN}/{sha}.json") if _SHA.fullmatch(sha) else None
        if file is None:
            return None
        with suppress(OSError, ValueError, TypeError, RecursionError):
            return [
                Line(str(text), tuple(map(int, keys)), str(slot), of=str(*of))
                for text, keys, slot, *of in json.loads(file.read_bytes())
            ]
        return None

    def keep(self, sha: str, lines: Sequence[Line]) -> None:
        """Keep a block's lines, durably, before it is written; raises RefusedError or VaultError."""
        file = locations.derived(self._root, f"{WRITTEN}/{sha}.json")
        if file is None:
            raise RefusedError(f".memory/{WRITTEN} is behind a link: nothing was written.", "Make it a plain folder.")
        plain = [(line.text, line.keys, line.slot, *filter(None, [line.of])) for line in lines]
        if self.last(sha) == [line._replace(parts=()) for line in lines]:
            return
        try:
            locations.make_folder(file.parent)
            safe_files.replace_durably(file, json.dumps(plain, separators=(",", ":")).encode("ascii"))
        except OSError as error:
            raise VaultError(
                f".memory/{WRITTEN} cannot be written: {error.strerror or error}; nothing was changed.",
                "Check permissions and free space.",
            ) from error

    def sweep(self, used: Callable[[], Container[str]]) -> None:
        """Delete what is old and, as `used` is asked only then, what no page names any more."""
        folder = locations.derived(self._root, WRITTEN)
        if folder is None:
            return
        oldest = time.time() - WRITTEN_SECONDS
        with suppress(OSError):
            with os.scandir(folder) as entries:
                old = [entry for entry in entries if entry.stat(follow_symlinks=False).st_mtime < oldest]
            known = used() if old else ()
            for entry in old:
                if entry.name.partition(".")[0] not in known:
                    Path(entry.path).unlink(missing_ok=True)
                else:
                    os.utime(entry.path, follow_symlinks=False)  # not to be asked of again with every run


@dataclass(frozen=True)
class PlannedRun:
    """A plan, how to make an edit anew, and what the next run is to know."""

    plan: Plan
    again: Callable[[Edit], Edit | None]
    feedback: user_feedback.Feedback
    signatures: dict[str, bytes]
    verdicts: Verdicts
    facts: int
    proposed: proposals.ProposalCounts | None = None
    """What came of the proposals, where they were asked for."""
    untold: dict[str, str] = field(default_factory=dict)
    """The pages of periods with too little to tell, each with the reason."""
    moves: Callable[[Edit], list[Move]] = lambda edit: []
    """What became of the opinions with an edit of their page."""
    gone: frozenset[str] = frozenset()
    """The pages that stood after the last run and are not there any more: the next one does not look for them."""


class RunPlanner:
    """Plans one run; `vault` holds the pages, and `retelling` is what a configured model has to say on them."""

    def __init__(self, vault: Vault, store: View, options: Options, retelling: Retelling | None = None) -> None:
        self._vault, self._store, self._options, self._retelling = vault, store, options, retelling
        self._feedback = user_feedback.read(store, options.today)
        self._ledger = Ledger(vault.root)
        self._drafts: dict[tuple[str, str], Draft] = {}
        self._signatures: dict[str, bytes] = {}
        self._untold: dict[str, str] = {}
        self._known = note_queries.written_pages(store)
        # Confidences are given by hand on the page of opinions, and on those of entities.
        changed = (path for path, page in self._known.items() if page.is_there and not page.is_same)
        pages = [(path, entity_page.BLOCK) for path in sorted(changed) if path != opinion_page.PATH]
        for path, name in [(opinion_page.PATH, opinion_page.BLOCK), *pages]:
            user_feedback.hear_opinions(self._feedback, path, *self._written(path, name))
        ask = retelling.ask if retelling else None
        options = replace(options, holds_block=self._holds_block, removed=self._removed(), ask=ask)
        self.jobs = PageJobs(store, options, template("entity.md").read_text("utf-8"), self._feedback)
        self._past = PageHistory(
            facts=frozenset(blocks.short(fact.key) for fact in self.jobs.fact_set.facts),
            last=self._ledger.last,
            hidden=self._feedback.hidden,
            force=options.force,
            withheld=frozenset(map(blocks.short, self.jobs.fact_set.withheld)),
            is_linked=self.jobs.is_linked,
        )

    def planned(self, progress: "Progress | None" = None) -> PlannedRun:
        """Plan every page that may change; those whose facts and text are as they were are not drafted at all."""
        core_plan, after = self._core() if self._is_core_wanted else (Plan(()), None)
        plans = (
            [] if self._options.only_core else [*self._pages(progress), Plan((), notices=tuple(self.jobs.notices()))]
        )
        proposed = None
        if after is not None:
            proposed, page = self._proposals(after)
            plans.append(page)
        fact_set, unmade = self.jobs.fact_set, sorted(self.jobs.unmade)
        if not self._options.only_core:  # which does not ask whether they were lost
            tidied = frozenset[str]() if self._options.force else self._gone
            removed = sorted(tidied.union(unmade) - self._feedback.removed)
            self._feedback.new += (user_feedback.FeedbackNote("removed", path, 1.0) for path in removed)
        plan = replace(_joined([core_plan, *plans]), left_out=fact_set.left_out, removed=tuple(unmade))
        return PlannedRun(
            plan, self._again, self._feedback, self._signatures, self.jobs.verdicts, len(fact_set.facts), proposed,
            self._untold, lambda edit: self.jobs.moved(edit.was, edit.lines),
            frozenset() if self._options.only_core else self._gone,
        )  # fmt: skip

    @property
    def _is_core_wanted(self) -> bool:
        """Whether proposals are heard: what was ticked goes from their page with the same run that does it."""
        return self._options.only_core or "proposals" in (self._options.only or ("proposals",))

    def _pages(self, progress: "Progress | None" = None) -> list[Plan]:
        plans: list[Plan] = []
        asked: set[str] = set()
        most = self.jobs.most if progress else 0
        for done, job in enumerate(self.jobs.jobs()):
            if progress:
                progress(done, most, done)
            asked.add(job.path)
            known = self._known.get(job.path)
            if known and known.is_same and self._stands(known.signature, job):
                if known.is_there:
                    plans.append(Plan((), (), (job.path,)))
                    self.jobs.stands(job.path)
                elif job.without:
                    self._untold[job.path] = job.without
                continue
            draft = self._draft(job)
            if draft:
                self.jobs.stands(job.path)
                plans.append(self._drafted(draft))
            elif job.without:
                self._untold[job.path] = job.without
        return [*plans, *self._stale(asked)]

    def _stale(self, asked: Container[str]) -> Iterator[Plan]:
        """The pages of ours on which nothing belongs any more; of one beside another only what is in no note goes."""
        for draft in self.jobs.older():
            block = None if draft.path in asked else self._block(draft.path, draft.block)
            if block is None or block.lines == tuple(line.text for line in draft.lines):
                continue
            if not self.jobs.is_beside(draft.path):
                yield self._drafted(draft)
            elif any(fact not in self._past.facts for fact in block.cites):
                yield self._drafted(retracted(draft.path, draft.block, block, self._past))

    def _removed(self) -> frozenset[str]:
        """The pages that are not made again, for a person removed them; none where that is asked for.

        Raises RefusedError where so many are gone at once that they were lost.
        """
        stood = [path for path, page in self._known.items() if page.was_there]
        there = {path for path in (*stood, *self._feedback.removed) if self._is_there(path)}
        missing = {link_name(path): path for path in stood if path not in there}
        notes = note_queries.note_paths(self._store) if missing else ()
        moved = {missing[name] for path in notes if (name := link_name(path)) in missing}
        user_feedback.hear_pages(self._feedback, there)
        removed = self._feedback.removed
        stood = [path for path in stood if path not in removed]
        gone = frozenset(stood) - there
        self._gone = gone - moved
        if self._options.force and not self._options.only_core:
            return frozenset()
        if not self._options.only_core:
            user_feedback.refuse_lost(stood, self._gone)
        return gone | removed

    def _is_there(self, path: str) -> bool:
        """Whether there is a page, as far as the index knows or the disk; what cannot be read is not gone."""
        if path in self._known and self._known[path].is_there:
            return True
        try:
            return self._page(path) is not None
        except (RefusedError, VaultError, ValueError):
            return True  # also what is no path at all: anybody can write a journal

    def _stands(self, signature: bytes, job: Job) -> bool:
        """Whether a page made of that is as it should be."""
        if self._retelling and job.subject:
            return self._retelling.stands(signature, job.signature)
        return signature == job.signature

    def _draft(self, job: Job) -> Draft | None:
        """The draft of a page, with what a model writes on it, and the signature that it is to be known by."""
        draft, signature = job.draft(), job.signature
        if self._retelling and job.subject:
            if draft is None:
                signature = self._retelling.signature(signature)
            elif not planned([draft], self._page, self._past).skipped:  # nobody is asked for what cannot be written
                present = self._block(draft.path, draft.block)
                draft, signature = self._retelling.retold(draft, signature, job.subject(), present)
        self._signatures[job.path] = signature
        left = job.left() if draft is None and job.left else None
        return left if left and self._block(left.path, left.block) else draft

    def _drafted(self, draft: Draft) -> Plan:
        self._drafts[draft.path, draft.block] = draft
        return planned([draft], self._page, self._past)

    def _again(self, late: Edit) -> Edit | None:
        if not late.block:
            return self._core_edit(late.path)
        return edit(self._drafts[late.path, late.block], self._page(late.path), self._past)

    # --- the core ------------------------------------------------------------------------------------------------

    def _core(self) -> tuple[Plan, bytes | None]:
        """The edit of the core that was ticked, and what it holds then; what cannot be done stays ticked.

        A core that cannot be read is told of, and nothing is heard or proposed: no other page hangs on it.
        """
        try:
            found = ((path, data) for path in core.PATHS if (data := self._page(path)) is not None)
            path, before = next(found, (core.PATHS[0], None))
            core.text_of(path, before or b"")
        except (ConflictError, RefusedError, VaultError) as error:
            return Plan((), (skip(core.PATHS[0], error),)), None
        block, last = self._written(proposals.PATH, proposals.BLOCK)
        self._answers = answers = proposals.read_answers(
            block, last, self.jobs.fact_set.facts, self._feedback, only_ticks=self._options.only_core
        )
        notices = (_dropped(path, answers.dropped),) if answers.dropped else ()
        skipped, after = list[SkippedPage](), before or core.START
        for name, change in list(answers.ticked.items()):
            try:
                after = core.changed(path, after, change)
            except ConflictError as error:
                skipped.append(skip(path, error))
                answers.fail(name)
        self._feedback.new += answers.notes()
        made = self._core_edit(path) if answers.ticked else None
        return Plan((made,) if made else (), tuple(skipped), notices=notices), after if before or made else b""

    def _core_edit(self, path: str) -> Edit | None:
        """The core with all that was ticked; raises ConflictError where a line of it is not there any more."""
        before = self._page(path)
        after = before or core.START
        for change in self._answers.ticked.values():
            after = core.changed(path, after, change)
        why = f"{counted(len(self._answers.ticked), 'change')} ticked in {proposals.PATH}"
        return Edit(path, before, after, why) if after != before else None

    def _proposals(self, after: bytes) -> tuple[proposals.ProposalCounts, Plan]:
        """What is proposed for the core as it is to be, and the page of it; only what is left there if asked for."""
        block, last = self._written(proposals.PATH, proposals.BLOCK)
        passed, settled = proposals.PassedOver(), self._answers.settled
        if self._options.only_core:
            texts = block.lines if block else ()
            lines = proposals.left(last or [Line(text, slot=proposals.name_of(text)) for text in texts], settled)
            stated = filter(None, map(proposals.stated, texts))
            open_ = [(one.what, one.quoted) for one in stated if one.name not in settled]
            is_wanted = bool(settled)
        else:
            lines, found, passed = self.jobs.proposals(core.items(core.PATHS[0], after), self._answers)
            open_ = [(one.change.what, one.change.text) for one in found]
            is_wanted = block is not None or lines != proposals.NOTHING
        full = sum(what == core.ADD and not core.has_room(after, text) for what, text in open_)
        why = f"{counted(sum(bool(proposals.name_of(line.text)) for line in lines), 'proposal')} open"
        page = Draft(
            proposals.PATH, proposals.BLOCK, lines, why, "# Proposals\n",
            settled=lambda text: proposals.name_of(text) in settled,
            account=lambda was, lines: why,
        )  # fmt: skip
        plan = self._drafted(page)
        if not is_wanted:
            plan = Plan((), plan.skipped if self._options.only_core else ())
        return proposals.ProposalCounts(len(open_), full, passed), plan

    # --- pages ---------------------------------------------------------------------------------------------------

    def _page(self, path: str) -> bytes | None:
        """What a page holds, None where there is none; raises RefusedError for a way out of the vault."""
        self._vault.locate(path)
        try:
            return self._vault.read(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error

    def _holds_block(self, path: str) -> bool:
        """Whether a note has the block of an entity's page."""
        with suppress(RefusedError, VaultError):
            begins = f"memory:begin {entity_page.BLOCK}".encode() in (self._page(path) or b"")  # else it costs a parse
            return begins and self._block(path, entity_page.BLOCK) is not None
        return False

    def _written(self, path: str, name: str) -> tuple[Block | None, list[Line] | None]:
        """A block of a page as it stands, and what was written there last."""
        block = self._block(path, name)
        return block, self._ledger.last(block.sha) if block else None

    def _block(self, path: str, name: str) -> Block | None:
        """A block of a page as it stands; none where it cannot be read, which is said where it is to be written."""
        try:
            data = self._page(path)
            return blocks.read(path, data, name).block if data is not None else None
        except (ConflictError, RefusedError, VaultError):
            return None


def _dropped(path: str, count: int) -> Notice:
    """What is told of proposals that are dropped; never their words, for these may be forgotten."""
    rest, they = ("rests", "it goes") if count == 1 else ("rest", "they go")
    why = (
        f"{counted(count, 'proposal')} that you ticked or reworded {rest} on what no note holds any more:"
        f" {they} from {proposals.PATH}, and not into {path}."
    )
    return Notice(path, why, "Write there yourself what should stand there all the same.")


def _joined(plans: list[Plan]) -> Plan:
    return Plan(
        tuple(one for plan in plans for one in plan.edits),
        tuple(one for plan in plans for one in plan.skipped),
        tuple(one for plan in plans for one in plan.unchanged),
        orphaned=tuple(one for plan in plans for one in plan.orphaned),
        notices=tuple(one for plan in plans for one in plan.notices),
    )
