"""Owns a whole reflect: index up to date, one at a time on this computer, plan, pages written, index told; and undo."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from vault_memory.errors import UsageError, VaultError
from vault_memory.keeper import template
from vault_memory.preimages import Preimages
from vault_memory.reflect import blocks
from vault_memory.reflect.apply import Writer
from vault_memory.reflect.ledger import Ledger
from vault_memory.reflect.plan import Draft, Edit, Past, Plan, Skipped, edit, planned
from vault_memory.reflect.run import Options, Run
from vault_memory.runs import Runs
from vault_memory.store import Store

if TYPE_CHECKING:
    from vault_memory.indexer import Progress
    from vault_memory.memory import Memory

LOCK = "pages"


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

    @property
    def exit_code(self) -> int:
        """0, or that of the gravest reason for which a page was not written."""
        return max((skipped.exit_code for skipped in self.skipped), default=0)


def reflect(memory: "Memory", asked: Asked, progress: "Progress | None" = None) -> Reflected:
    """Write the pages that the facts of a vault make; raises BusyError when another process does."""
    started = time.monotonic()
    with _alone(memory):
        memory.index(progress=progress)
        drafts, plan, past, facts = memory.ask(lambda store, _: _planned(memory, store, asked))
        if asked.dry_run or not plan.edits:
            edits, skipped, run = plan.edits, plan.skipped, ""
        else:
            done = Writer(memory.vault).write(plan.edits, lambda path: edit(drafts[path], _page(memory, path), past))
            edits, skipped, run = tuple(done.edits), (*plan.skipped, *done.skipped), done.run
            _tell_index(memory, [one.path for one in edits])
    return Reflected(
        edits, skipped, len(plan.unchanged), plan.left_out, facts, run, asked.dry_run, time.monotonic() - started
    )


def undo(memory: "Memory", name: str = "") -> tuple[str, list[str]]:
    """Put back what a run changed, the last one unless another is named; returns its name and the notes.

    Raises UsageError when there is nothing to undo, ConflictError when a page was changed since.
    """
    with _alone(memory):
        preimages = Preimages(memory.vault.root)
        run = preimages.named(name) if name else next(
            (run for run in preimages.runs("reflect") if not run.is_undone), None
        )  # fmt: skip
        if run is None:
            raise UsageError("There is nothing to undo.", "`memory reflect` has written no page of this vault yet.")
        paths = preimages.undo(run, memory.vault)
        _tell_index(memory, paths)
        return run.name, paths


@contextmanager
def _alone(memory: "Memory") -> Iterator[None]:
    with Runs(memory.vault.root).alone(LOCK):
        yield


def _planned(memory: "Memory", store: Store, asked: Asked) -> tuple[dict[str, Draft], Plan, Past, int]:
    options = Options(asked.now.astimezone().date(), asked.only, asked.since)
    run = Run(store, options, template("entity.md").read_text("utf-8"))
    ledger = Ledger(memory.vault.root)
    past = Past(
        facts=frozenset(blocks.short(fact.key) for fact in run.told.facts),
        last=ledger.last,
        hidden=lambda path: frozenset(),
        force=asked.force,
    )
    drafts = {draft.path: draft for draft in run.drafts()}
    plan = planned(drafts.values(), lambda path: _page(memory, path), past)
    return drafts, Plan(plan.edits, plan.skipped, plan.unchanged, run.told.left_out), past, len(run.told.facts)


def _page(memory: "Memory", path: str) -> bytes | None:
    try:
        return memory.vault.read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error


def _tell_index(memory: "Memory", paths: list[str]) -> None:
    if paths:
        memory.index(paths=[str(memory.vault.root / path) for path in paths])
