"""Owns a whole reflect: index up to date, one at a time on this computer, plan, pages written, index told; and undo."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import apsw

from vault_memory.errors import UsageError, VaultError, VaultMemoryError
from vault_memory.keeper import template
from vault_memory.preimages import Preimages
from vault_memory.reflect import blocks
from vault_memory.reflect.apply import Applied, Writer
from vault_memory.reflect.ledger import Ledger
from vault_memory.reflect.plan import Draft, Edit, Orphan, Past, Plan, Skipped, edit, planned
from vault_memory.reflect.run import Options, Run
from vault_memory.runs import Runs
from vault_memory.store import Store

if TYPE_CHECKING:
    from vault_memory.indexer import Progress
    from vault_memory.memory import Memory

LOCK = "pages"

_SHA = re.compile(rb"<!--[ \t]*memory:end [^\n\r>]*?sha=([0-9a-f]{8})")


@dataclass(frozen=True)
class Asked:
    """What a person asks of a reflect; `now` is aware."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    since: date | None = None
    only: tuple[str, ...] = ()
    dry_run: bool = False
    force: bool = False
    apply_core: bool = False


@dataclass(frozen=True)
class Reflected:
    """What came of a reflect: edits made (or, in a dry run, to be made), pages left alone and why."""

    edits: tuple[Edit, ...]
    skipped: tuple[Skipped, ...] = ()
    unchanged: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    facts: int = 0
    run: str = ""
    dry_run: bool = False
    seconds: float = 0.0
    orphaned: tuple[Orphan, ...] = ()
    """Lines of a person's that rest on what no note holds any more."""

    @property
    def exit_code(self) -> int:
        """0, or that of the gravest reason for which a page was not written."""
        return max((skipped.exit_code for skipped in self.skipped), default=0)


def reflect(memory: "Memory", asked: Asked, progress: "Progress | None" = None) -> Reflected:
    """Write the pages that the facts of a vault make; raises BusyError when another process does."""
    started = time.monotonic()
    with _alone(memory):
        memory.index(progress=progress)
        found = memory.ask(lambda store, _: _planned(memory, store, asked))
        plan = found.plan
        done = Applied(edits=list(plan.edits)) if asked.dry_run else _applied(memory, found)
        if not (asked.dry_run or asked.only or asked.since):
            Ledger(memory.vault.root).sweep(lambda: _named_blocks(memory))
    return Reflected(
        edits=tuple(done.edits),
        skipped=(*plan.skipped, *done.skipped),
        unchanged=len(plan.unchanged),
        left_out=plan.left_out,
        facts=found.facts,
        run=done.run,
        dry_run=asked.dry_run,
        seconds=time.monotonic() - started,
        orphaned=plan.orphaned,
    )


def undo(memory: "Memory", name: str = "") -> tuple[str, list[str]]:
    """Put back what a run changed, the last one unless another is named; returns its name and the notes.

    Raises UsageError when there is nothing to undo, ConflictError when a page was changed since.
    """
    with _alone(memory):
        preimages = Preimages(memory.vault.root)
        runs = [preimages.named(name)] if name else [run for run in preimages.runs("reflect") if not run.is_undone]
        for run in runs:
            try:
                paths = preimages.undo(run, memory.vault)
            except UsageError:
                if name:
                    raise
                continue  # it was killed before it wrote its first page
            _tell_index(memory, paths)
            return run.name, paths
        raise UsageError("There is nothing to undo.", "`memory reflect` has written no page that is as it left it.")


@contextmanager
def _alone(memory: "Memory") -> Iterator[None]:
    with Runs(memory.vault.root).alone(LOCK):
        yield


@dataclass(frozen=True)
class _Found:
    """What a look at the facts and the pages has found."""

    plan: Plan
    drafts: dict[tuple[str, str], Draft]
    past: Past
    facts: int


def _planned(memory: "Memory", store: Store, asked: Asked) -> _Found:
    options = Options(asked.now.astimezone().date(), asked.only, asked.since)
    run = Run(store, options, template("entity.md").read_text("utf-8"))
    past = Past(
        facts=frozenset(blocks.short(fact.key) for fact in run.told.facts),
        last=Ledger(memory.vault.root).last,
        hidden=lambda path: frozenset(),
        force=asked.force,
    )
    drafts = {(draft.path, draft.block): draft for draft in run.drafts()}
    plan = planned(drafts.values(), lambda path: _page(memory, path), past)
    return _Found(replace(plan, left_out=run.told.left_out), drafts, past, len(run.told.facts))


def _applied(memory: "Memory", found: _Found) -> Applied:
    """Write what was planned, and tell the index."""
    if not found.plan.edits:
        return Applied()

    def again(late: Edit) -> Edit | None:
        return edit(found.drafts[late.path, late.block], _page(memory, late.path), found.past)

    done = Writer(memory.vault).write(found.plan.edits, again)
    _tell_index(memory, [one.path for one in done.edits])
    return done


def _page(memory: "Memory", path: str) -> bytes | None:
    """What a page holds, None where there is none; raises RefusedError for a link out of the vault, or VaultError."""
    memory.vault.locate(path)
    try:
        return memory.vault.read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error


def _named_blocks(memory: "Memory") -> frozenset[str]:
    """The hashes that the closing markers of all notes name."""
    found: set[str] = set()
    for path in memory.vault.walk().files:
        with suppress(OSError):
            found.update(sha.decode() for sha in _SHA.findall(memory.vault.read(path)))
    return frozenset(found)


def _tell_index(memory: "Memory", paths: list[str]) -> None:
    # The pages are written: what they are must not be lost for an index that the next command brings up to date.
    with suppress(VaultMemoryError, apsw.Error):
        if paths:
            memory.index(paths=[str(memory.vault.root / path) for path in paths])
