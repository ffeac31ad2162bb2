"""Plans a reflect run from the index and the current pages: drafts, edits, proposals. It writes no page."""

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.config import Config
from vault_memory.errors import ConflictError, RefusedError, VaultError
from vault_memory.markdown.entities import link_name
from vault_memory.reflect import core_proposals, entity_page, generated_blocks, opinion_page, summaries, user_feedback
from vault_memory.reflect.edit_plan import LEFT_ALONE, Draft, Edit, PageProblem, make_edit, page_problem
from vault_memory.reflect.generated_blocks import Block, Line, PageLine, WrittenBlocks
from vault_memory.reflect.merge import PageHistory
from vault_memory.reflect.model_paragraph import ModelParagraphs
from vault_memory.reflect.page_drafts import PageJob, PageJobs, ReflectRequest
from vault_memory.reflect.run_log import REFLECT
from vault_memory.store import note_queries
from vault_memory.store.view import View
from vault_memory.text.output import plural
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.vault import Vault
from vault_memory.write.rewrite import decode_utf8

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress


class WrittenPage(NamedTuple):
    """A page that reflect wrote: the signature of its facts, and its state since."""

    signature: bytes
    is_as_written: bool
    is_there: bool
    was_there: bool
    """Whether it existed after the last run."""


class RunPlanner:
    """Plans one run; `paragraphs` adds a configured model's paragraphs to the pages.

    It also plans an edit again if its page changed in the meantime, and collects what the next run needs to know.
    `unread` is a note that cannot be read and is not in the index either.
    """

    def __init__(
        self, vault: Vault, view: View, config: Config, asked: ReflectRequest,
        paragraphs: ModelParagraphs | None = None, unread: str = "",
    ) -> None:  # fmt: skip
        self._vault, self._store, self._asked, self._paragraphs = vault, view, asked, paragraphs
        self.feedback = user_feedback.read(view, asked.today)
        self._written, self._layout = WrittenBlocks(vault.root), vault.layout
        self._drafts: dict[str, Draft] = {}
        self.edits: list[Edit] = []
        self.skipped: list[PageProblem] = []
        """The pages left alone, with the reason."""
        self.notices: list[PageProblem] = []
        self.unchanged = 0
        self.orphaned: list[PageLine] = []
        """The user's lines whose facts are gone: every run reports them for as long as they exist."""
        self.signatures: dict[str, bytes] = {}
        self.untold: dict[str, str] = {}
        """The summary pages not made for lack of facts, each with the reason."""
        self.proposed: core_proposals.ProposalCounts | None = None
        self.gone = frozenset[str]()
        """The pages that existed after the last run and have disappeared since, other than by being moved."""
        self._known = {path: WrittenPage(*page) for path, *page in note_queries.written_pages(view)}
        # The user can set confidences on the page of opinions and on those of entities.
        changed = (path for path, page in self._known.items() if page.is_there and not page.is_as_written)
        pages = [(path, entity_page.BLOCK) for path in sorted(changed) if path != self._layout.opinions]
        for path, name in [(self._layout.opinions, opinion_page.BLOCK), *pages]:
            user_feedback.read_given_confidences(self.feedback, path, *self._read_written(path, name))
        self.jobs = PageJobs(
            view, config, asked, self.feedback,
            ask=paragraphs.ask if paragraphs else None, removed=self._find_removed(),
            holds_block=lambda path: self._block(path, entity_page.BLOCK) is not None,
        )  # fmt: skip
        self._past = PageHistory(
            facts=frozenset(generated_blocks.fact_name(fact.key) for fact in self.jobs.fact_set.facts),
            withheld=frozenset(map(generated_blocks.fact_name, self.jobs.fact_set.withheld)),
            is_linked=self.jobs.is_linked,
            last=self._written.last,
            hidden=self.feedback.hidden,
            force=asked.force,
            unread=unread,
        )

    def make_plan(self, progress: "Progress | None" = None) -> None:
        """Plan every page that may change; pages whose facts and text are unchanged are not drafted at all.

        Raises RefusedError if so many pages have disappeared at once that they must have been lost.
        """
        force = self._asked.force
        if not force:
            user_feedback.refuse_lost(self._stood, self.gone)
        # The run that carries out a tick also removes it from the page of proposals.
        after = self._plan_core() if "proposals" in (self._asked.only or ("proposals",)) else None
        self._plan_pages(progress)
        self.notices += self.jobs.notices()
        if after is not None:
            self._plan_proposals(after)
        self.verdicts = self.jobs.changed_verdicts()
        tidied = frozenset[str]() if force else self.gone
        removed = sorted(tidied.union(self.jobs.unmade) - self.feedback.removed)
        self.feedback.new += (user_feedback.UserAnswer("removed", "page", path, 1.0) for path in removed)

    def replan(self, late: Edit) -> Edit | None:
        """Plan the edit of a page again from its current text, None if it needs none; raises like `make_edit`."""
        if not late.block:
            return self._core_edit(late.path)
        return make_edit(self._drafts[late.path], self._page(late.path), self._past)[0]

    def _add(self, draft: Draft) -> None:
        """Compare a draft with its page; a page that cannot be written is skipped with the reason, never silently."""
        self._drafts[draft.path] = draft
        tried = self._try(draft)
        if isinstance(tried, PageProblem):
            self.skipped.append(tried)
            return
        made, orphaned = tried
        self.orphaned += (PageLine(draft.path, line) for line in orphaned)
        self.edits += [made] if made else []
        self.unchanged += made is None

    def _try(self, draft: Draft) -> tuple[Edit | None, tuple[str, ...]] | PageProblem:
        """The result of `make_edit` for a draft, or the problem that keeps its page from being written."""
        try:
            return make_edit(draft, self._page(draft.path), self._past)
        except LEFT_ALONE as error:
            return page_problem(draft.path, error)

    def _plan_pages(self, progress: "Progress | None") -> None:
        asked: set[str] = set()
        most = self.jobs.max_pages if progress else 0
        for done, job in enumerate(self.jobs.jobs()):
            if progress:
                progress(done, most, done)
            asked.add(job.path)
            known, signature = self._known.get(job.path), self._signature(job)
            is_as_made = known is not None and known.is_as_written and known.signature == signature
            draft = None if is_as_made else self._draft(job)
            if draft:
                self.jobs.allow_links_to(job.path)
                self._add(draft)
            elif known and known.is_there and is_as_made:
                self.jobs.allow_links_to(job.path)
                self.unchanged += 1
            elif job.without:
                self.untold[job.path] = job.without
        for draft in self.jobs.stale_pages():  # pages no fact belongs on any more
            block = None if draft.path in asked else self._block(draft.path, draft.block)
            if block and block.lines != tuple(line.text for line in draft.lines):
                self._add(draft)

    def _signature(self, job: PageJob) -> bytes:
        """The signature of a page that is done; with a model, one on which it wrote what it could."""
        return self._paragraphs.signature(job.signature) if self._paragraphs and job.subject else job.signature

    def _draft(self, job: PageJob) -> Draft | None:
        """Draft a page, with the model's paragraph if there is a model, and record the page's signature."""
        draft, signature = job.draft(()), self._signature(job)
        # Do not ask the model for a page that cannot be written.
        if draft and self._paragraphs and job.subject and not isinstance(self._try(draft), PageProblem):
            present = self._block(draft.path, draft.block)
            draft, signature = self._paragraphs.add(draft, job, job.subject, present, self.jobs)
        self.signatures[job.path] = signature
        if draft is None and self._block(job.path, summaries.BLOCK):
            return Draft(job.path, summaries.BLOCK, (summaries.TOO_LITTLE,), "")
        return draft

    # --- pages that were removed ---------------------------------------------------------------------------------

    def _find_removed(self) -> frozenset[str]:
        """The pages not to recreate because the user removed them; none with `force`."""
        stood = [path for path, page in self._known.items() if page.was_there] or self._pages_of_runs()
        there = {path for path in (*stood, *self.feedback.removed) if self._is_there(path)}
        missing = {link_name(path): path for path in stood if path not in there}
        notes = note_queries.note_paths(self._store) if missing else ()
        moved = {missing[name] for path in notes if (name := link_name(path)) in missing}
        removed = self.feedback.removed
        for path in sorted(removed & there):
            removed.discard(path)
            self.feedback.new.append(user_feedback.UserAnswer("removed", "page", path, 0.0))
        self._stood = [path for path in stood if path not in removed]
        gone = frozenset(self._stood) - there
        self.gone = gone - moved
        return frozenset() if self._asked.force else gone | removed

    def _pages_of_runs(self) -> list[str]:
        """The pages that the undo history names as written, for an index that was built anew since; none if so many
        are gone that they went with the index, because those are made again."""
        pages: dict[str, None] = {}
        with suppress(VaultError):  # a damaged history says nothing
            for run in UndoHistory(self._vault.root).runs(REFLECT):
                if not run.is_undone:
                    pages |= dict.fromkeys(change.path for change in run.changes())
        found = [path for path in pages if path not in self._layout.cores]
        try:
            user_feedback.refuse_lost(found, [path for path in found if not self._is_there(path)])
        except RefusedError:
            return []
        return found

    def _is_there(self, path: str) -> bool:
        """Whether a page exists, according to the index or the disk; an unreadable page counts as existing."""
        if path in self._known and self._known[path].is_there:
            return True
        try:
            return self._page(path) is not None
        except (RefusedError, VaultError, ValueError):
            return True  # including text that is no valid path: anybody can write a journal

    # --- the core ------------------------------------------------------------------------------------------------

    def _plan_core(self) -> bytes | None:
        """Plan the ticked changes to the core and return its content after them; changes that fail stay ticked.

        None if the core cannot be read, which is reported: then no answers are read and nothing is proposed.
        """
        try:
            found = ((path, data) for path in self._layout.cores if (data := self._page(path)) is not None)
            path, before = next(found, (self._layout.core, None))
            decode_utf8(path, before or b"")
        except LEFT_ALONE as error:
            self.skipped.append(page_problem(self._layout.core, error))
            return None
        block, last = self._read_written(self._layout.proposals, core_proposals.BLOCK)
        self._answers = answers = core_proposals.read_answers(block, last, self.jobs.fact_set.facts, self.feedback)
        if answers.dropped:  # never quote them: they may have been forgotten
            rests = f"rest{'s' if answers.dropped == 1 else ''} on what no note holds any more"
            why = f"{plural(answers.dropped, 'proposal')} that you ticked {rests}: not put into {path}."
            self.notices.append(PageProblem(path, why, "Add it there by hand if you still want it."))
        for mark in answers.unclear:
            why = f"`[{mark}]` in {self._layout.proposals} says neither yes nor no: that proposal stays open."
            self.notices.append(PageProblem(self._layout.proposals, why, "Write `[x]` or `[-]`."))
        after = before or core_proposals.NEW_CORE
        for name, change in list(answers.ticked.items()):
            try:
                after = core_proposals.apply_change(path, after, change)
            except ConflictError as error:
                self.skipped.append(page_problem(path, error))
                del answers.ticked[name]  # the tick stays on the page
                answers.settled.discard(name)
        self.feedback.new += answers.ticks()
        made = self._core_edit(path) if answers.ticked else None
        self.edits += [made] if made else []
        return after if before or made else b""

    def _core_edit(self, path: str) -> Edit | None:
        """Plan the core with all ticked changes; raises ConflictError if a line to change is no longer there."""
        before = self._page(path)
        after = before or core_proposals.NEW_CORE
        for change in self._answers.ticked.values():
            after = core_proposals.apply_change(path, after, change)
        why = f"{plural(len(self._answers.ticked), 'change')} ticked in {self._layout.proposals}"
        return Edit(path, before, after, why) if after != before else None

    def _plan_proposals(self, after: bytes) -> None:
        """Plan the page of proposals, given the content the core will have."""
        items, settled = core_proposals.list_items(self._layout.core, after), self._answers.settled
        found = core_proposals.Proposer(self.jobs, items, self._answers).propose()
        lines = core_proposals.page_lines(found, self.jobs.context)
        unsure = sum(one.confidence.rounded < core_proposals.SURE for one in self.jobs.opinions)
        self.proposed = core_proposals.ProposalCounts(len(found), unsure)
        if not found and self._block(self._layout.proposals, core_proposals.BLOCK) is None:
            return
        why = f"{plural(len(found), 'proposal')} open"
        self._add(Draft(
            self._layout.proposals, core_proposals.BLOCK, lines, why, "# Proposals\n",
            settled=lambda text: core_proposals.name_of(text) in settled,
            account=lambda was, lines: why,
        ))  # fmt: skip

    # --- pages ---------------------------------------------------------------------------------------------------

    def _page(self, path: str) -> bytes | None:
        """A page's content, None if there is no page; raises RefusedError if the path leads out of the vault."""
        self._vault.locate(path)
        try:
            return self._vault.read(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error

    def _read_written(self, path: str, name: str) -> tuple[Block | None, list[Line] | None]:
        block = self._block(path, name)
        return block, self._written.last(block.sha) if block else None

    def _block(self, path: str, name: str) -> Block | None:
        """A page's current block; None if it cannot be read, which is reported when the page is to be written."""
        with suppress(*LEFT_ALONE):
            data = self._page(path) or b""
            if b"memory:begin" in data:  # avoids most parses
                return generated_blocks.read_page(path, data, name).block
        return None
