"""Status: how the vault, its index and what is asked beside it are. It only looks, and judges nothing."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.errors import IndexDamagedError, VaultMemoryError
from vault_memory.reflect.run_log import REFLECT, CaptureEnd, ReflectEnd, RunLog
from vault_memory.sessions.ledger import SessionCounts, count_sessions
from vault_memory.store import embedding_rows, note_queries, schema
from vault_memory.store.view import ALL, View
from vault_memory.vault.undo_history import UndoHistory

if TYPE_CHECKING:
    from vault_memory.federation import Federation
    from vault_memory.memory import Memory


class Vectors(NamedTuple):
    """One embedder's vectors in the index: how many, and how many passages have one."""

    id: str
    vectors: int
    passages: int
    configured: bool
    without: int = 0
    """Passages whose text it has no usable vector for."""


@dataclass(frozen=True)
class Status:
    """How things are, `pending` notes behind; somebody with scopes is told None of what cannot be told apart."""

    vault: str
    path: str
    why_there: str
    exists: bool
    bytes: int | None = 0
    fresh: bool = False
    pending: int | None = 0
    generation: int = 0
    notes: int = 0
    passages: int = 0
    facts: int = 0
    embedders: tuple["Vectors", ...] = ()
    reflect: ReflectEnd | None = None
    """How the last reflect of this device ended; `run` only where that can be undone."""
    capture: CaptureEnd | None = None
    """How the last capture of this device ended."""
    sessions: SessionCounts | None = None
    """What is known of agents' sessions; None where the settings want none."""
    roots: tuple["Root", ...] = ()
    """The further vaults that the settings name."""


class Root(NamedTuple):
    """One further vault, and its index as it stands; `why_not` says why it cannot be asked."""

    name: str
    path: str
    scope: str
    why_not: str = ""
    fresh: bool = False
    pending: int | None = 0
    notes: int = 0
    bytes: int | None = 0


def status(memory: "Federation", scopes: tuple[str, ...] = ()) -> Status:
    """Look at vault and index without writing anything, or at what lies in these scopes."""
    found = read_status(memory, scopes)
    return found if scopes else replace(found, sessions=sessions(memory), roots=tuple(further(memory)))


def read_status(memory: "Memory", scopes: tuple[str, ...] = ()) -> Status:
    """The status of one vault and its index alone; raises VaultMemoryError for an index file that is not ours."""
    vault, path = str(memory.vault.root), memory.index_file.path
    capture = RunLog(memory.vault.root).last_capture()
    found = Status(
        vault, str(path), memory.index_file.place, path.exists(), reflect=last_reflect(memory), capture=capture
    )
    if not found.exists or memory.index_file.unusable():
        return found
    reading = memory.index_file.reading(write=False)
    with suppress(IndexDamagedError), reading as (store, freshness), store.snapshot():
        view = store.view(scopes or ALL)
        totals = view.totals()
        found = replace(
            found, bytes=None if scopes else schema.size(path), fresh=freshness.fresh,
            pending=None if scopes else freshness.pending, generation=store.generation, notes=totals.notes,
            passages=totals.passages, facts=note_queries.count_facts(view),
            embedders=() if scopes else tuple(_vectors(memory, view)),
        )  # fmt: skip
    return found


def sessions(memory: "Federation") -> SessionCounts | None:
    found = count_sessions(memory.config, os.environ)
    if found is None:
        return None
    from vault_memory.sessions import sync

    return found._replace(pending=sync.count_behind(memory.config, os.environ))


def further(memory: "Federation") -> Iterator[Root]:
    for root in memory.further_vaults:
        known = Root(root.name, str(root.path), root.scope)
        try:
            found = read_status(memory.memory_of(root))
        except VaultMemoryError as error:
            yield known._replace(why_not=str(error))
            continue
        yield known._replace(fresh=found.fresh, pending=found.pending, notes=found.notes, bytes=found.bytes)


def last_reflect(memory: "Memory") -> ReflectEnd | None:
    """How it ended, also where it was killed and only the daemon knows that it ran."""
    log = RunLog(memory.vault.root)
    last, night = log.last(), log.night()
    if night and night.ran and night.ok is False and (last is None or night.ran > last.at):
        why = "it was stopped before it finished"
        return ReflectEnd(night.ran, why=why, next_step="Run `memory reflect` to see why.", ok=False)
    with suppress(VaultMemoryError):
        runs = UndoHistory(memory.vault.root).runs(REFLECT) if last and last.run else ()
        if any(last and run.name == last.run and not run.is_undone for run in runs):
            return last
    return last and last._replace(run="")


def _vectors(memory: "Memory", view: View) -> Iterator[Vectors]:
    """Every embedder of the index, and the configured one even before it has a vector."""
    named = memory.search.remote.id if memory.search.remote else memory.index_file.embedder.id
    known = embedding_rows.all_spaces(view)
    for space in known.values():
        count = embedding_rows.count_vectors(view, space)
        used = space.is_builtin or space.name == named
        placed, without = embedding_rows.count_placed(view, space)
        yield Vectors(space.name, count, placed, used, without)
    if named not in known:
        yield Vectors(named, 0, 0, True)
