"""Owns a whole reflect: index up to date, one at a time on this computer, plan, pages written, index told; and undo."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING

import apsw

from vault_memory import places, schema
from vault_memory.errors import UsageError, VaultError, VaultMemoryError
from vault_memory.keeper import LOCK_SECONDS, template
from vault_memory.preimages import Preimages
from vault_memory.reflect import blocks
from vault_memory.reflect.apply import Again, Applied, Writer
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
    left_out: Mapping[str, int] = field(default_factory=dict)
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
        found = memory.ask(lambda store, _: _Look(memory, store, asked).found())
        if asked.dry_run or not found.plan.edits:
            done = Applied(edits=list(found.plan.edits))
        else:
            done = Writer(memory.vault).write(found.plan.edits, found.again)
            _tell_index(memory, [one.path for one in done.edits])
        if not asked.dry_run:
            _remember(memory, found, done)
    return Reflected(
        edits=tuple(done.edits),
        skipped=(*found.plan.skipped, *done.skipped),
        unchanged=len(found.plan.unchanged),
        left_out=found.left_out,
        facts=found.facts,
        run=done.run,
        dry_run=asked.dry_run,
        seconds=time.monotonic() - started,
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


@dataclass(frozen=True)
class _Found:
    """A plan, with what is needed to write it and to know the next time what was looked at."""

    plan: Plan
    again: Again
    signatures: dict[str, bytes]
    facts: int
    left_out: Mapping[str, int]


class _Look:
    """One look at the index and the pages, from which a plan comes."""

    def __init__(self, memory: "Memory", store: Store, asked: Asked) -> None:
        self._memory, self._store, self._asked = memory, store, asked
        options = Options(asked.now.astimezone().date(), asked.only, asked.since)
        self._run = Run(store, options, template("entity.md").read_text("utf-8"))
        self._past = Past(
            facts=frozenset(blocks.short(fact.key) for fact in self._run.told.facts),
            last=Ledger(memory.vault.root).last,
            hidden=lambda path: frozenset(),
            force=asked.force,
        )

    def found(self) -> _Found:
        """Plan every page that may change; those whose facts and text are as they were are not drafted at all."""
        drafts: dict[str, Draft] = {}
        signatures: dict[str, bytes] = {}
        plans: list[Plan] = []
        known = {row[0]: row[1:] for row in self._store.rows(_REFLECTED)}
        for job in self._run.jobs():
            signature, is_same, is_there = known.get(job.path, (b"", False, False))
            if signature == job.signature and is_same:
                if is_there:
                    plans.append(Plan((), (), (job.path,)))
                    self._run.stands(job.path)
                continue
            draft = job.draft()
            signatures[job.path] = job.signature
            if draft is None:
                continue
            drafts[job.path] = draft
            self._run.stands(job.path)
            plans.append(planned([draft], lambda path: _page(self._memory, path), self._past))
        again = partial(self._again, drafts)
        told = self._run.told
        return _Found(_joined(plans), again, signatures, len(told.facts), told.left_out)

    def _again(self, drafts: dict[str, Draft], path: str) -> Edit | None:
        return edit(drafts[path], _page(self._memory, path), self._past)


_REFLECTED = """
SELECT r.path, r.signature, coalesce(n.hash, zeroblob(0)) = r.hash, n.id IS NOT NULL
FROM reflected r LEFT JOIN note n ON n.path = r.path
"""
"""A page with the signature of what it was made of, whether it is as it was then, and whether it is there."""


def _joined(plans: Sequence[Plan]) -> Plan:
    return Plan(
        tuple(edit for plan in plans for edit in plan.edits),
        tuple(skipped for plan in plans for skipped in plan.skipped),
        tuple(path for plan in plans for path in plan.unchanged),
    )


def _remember(memory: "Memory", found: _Found, done: Applied) -> None:
    """Note in the index what each page was made of, for the next run; without that it only takes longer."""
    missed = {skipped.path for skipped in (*found.plan.skipped, *done.skipped)}
    rows = [(path, sign, path) for path, sign in found.signatures.items() if path not in missed]
    sql = "INSERT OR REPLACE INTO reflected VALUES(?, ?, coalesce((SELECT hash FROM note WHERE path = ?), zeroblob(0)))"
    index = memory.index_path
    with (
        suppress(VaultMemoryError, apsw.Error),
        places.writer_lock(index, LOCK_SECONDS),
        closing(Store.open(index)) as store,
        schema.writing(store.connection),
    ):
        store.connection.executemany(sql, rows)


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
