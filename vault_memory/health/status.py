"""Reports the state of the vault, its index and the other sources, without judging it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import IndexDamagedError, VaultMemoryError
from vault_memory.reflect.run_log import REFLECT, CaptureEnd, NightlyRun, ReflectEnd, RunLog
from vault_memory.store import embedding_rows, note_queries, schema
from vault_memory.store.view import View
from vault_memory.vault.undo_history import UndoHistory

if TYPE_CHECKING:
    from vault_memory.federation import Federation
    from vault_memory.memory import Memory


Document = dict[str, Any]


def status(memory: "Federation", scopes: tuple[str, ...] = ()) -> Document:
    """The `status@1` document of vault and index, or of what these scopes may see; writes nothing.

    With scopes, figures that cannot be split by scope are None. A daemon fills in its own part.
    """
    last = last_reflect(memory)
    capture = RunLog(memory.vault.root).last(CaptureEnd)
    return {
        "schema": "vault-memory/status@1", "vault": str(memory.vault.root), "index": index_status(memory, scopes),
        "sessions": None if scopes else sessions(memory), "roots": [] if scopes else list(further(memory)),
        "reflect": last and {
            "at": last.at.isoformat(timespec="seconds"), "ok": last.ok, "pages": last.pages, "skipped": last.skipped,
            "why": last.why or None, "next_step": last.next_step or None, "proposals": last.proposals,
            "undo": last.run or None, "undone": last.undone,
        },
        "capture": capture and capture._asdict() | {
            "at": capture.at.isoformat(timespec="seconds"), "waiting": len(memory.proposals()),
            "why": capture.why or None, "next_step": capture.next_step or None,
        },
        "daemon": None,
    }  # fmt: skip


def index_status(memory: "Memory", scopes: tuple[str, ...] = ()) -> Document:
    """The state of one vault's index; raises VaultMemoryError for an index file that belongs to something else."""
    path = memory.index_file.path
    found: Document = {
        "path": str(path), "bytes": 0, "fresh": False, "pending": 0, "generation": 0, "notes": 0, "passages": 0,
        "facts": 0, "why_there": memory.index_file.place, "embedders": [],
    }  # fmt: skip
    if not memory.has_index():
        return found
    reading = memory.index_file.reading(write=False)
    with suppress(IndexDamagedError), reading as (store, freshness), store.snapshot():
        view = store.view_asked_for(scopes)
        totals = view.totals()
        found |= {
            "bytes": None if scopes else schema.size(path), "fresh": freshness.fresh,
            "pending": None if scopes else freshness.pending, "generation": store.generation, "notes": totals.notes,
            "passages": totals.passages, "facts": note_queries.count_facts(view),
            "embedders": [] if scopes else list(_vectors(memory, view)),
        }  # fmt: skip
    return found


def sessions(memory: "Federation") -> Document | None:
    """The state of the agents' sessions; None if they are switched off.

    `skipped` counts damaged records, `gone` sessions whose transcript is gone, `unfinished` those whose last line has
    no newline yet, `pending` those changed since the last complete sync, `swept`; `bytes` is all below `folder`.
    """
    from vault_memory.sessions import ledger, sync

    tools, home, swept = memory.config.sessions_tools, ledger.folder(os.environ), None
    if not tools:
        return None
    known = [each for tool in tools for each in ledger.load(ledger.state_file(home, tool)).values()]
    with suppress(OSError):
        synced = (home / ledger.STATE / ledger.SYNCED).stat().st_mtime
        swept = datetime.fromtimestamp(synced, UTC).isoformat(timespec="seconds")
    return {
        "tools": list(tools), "transcripts": len(known), "messages": sum(each.messages for each in known),
        "skipped": sum(each.skipped for each in known), "gone": sum(each.is_gone for each in known),
        "unfinished": sum(each.is_unfinished for each in known), "folder": str(home),
        "bytes": ledger.bytes_below(home), "pending": sync.count_behind(memory.config, os.environ), "swept": swept,
    }  # fmt: skip


def further(memory: "Federation") -> Iterator[Document]:
    """The configured further vaults and the state of their indexes; `why_not` says why one cannot be queried."""
    for root, given in memory.ask_each(lambda root: index_status(memory.memory_of(root))):
        known = {"name": root.name, "path": str(root.path), "scope": root.scope, "why_not": None}
        figures = {"fresh": False, "pending": 0, "notes": 0, "bytes": 0}
        if isinstance(given, VaultMemoryError):
            yield known | {"why_not": str(given)} | figures
        else:
            yield known | {name: given[name] for name in figures}


def last_reflect(memory: "Memory") -> ReflectEnd | None:
    """How the last reflect ended, including one that was killed, of which only the daemon's log tells."""
    log = RunLog(memory.vault.root)
    last, night = log.last(ReflectEnd), log.last(NightlyRun)
    if night and night.ran and night.ok is False and (last is None or night.ran > last.at):
        why = "it was stopped before it finished"
        return ReflectEnd(night.ran, why=why, next_step="Run `memory reflect` to see why.", ok=False)
    with suppress(VaultMemoryError):
        runs = UndoHistory(memory.vault.root).runs(REFLECT) if last and last.run else ()
        if any(last and run.name == last.run and not run.is_undone for run in runs):
            return last
    return last and last._replace(run="")


def _vectors(memory: "Memory", view: View) -> Iterator[Document]:
    """Every embedder of the index with its vectors, and the configured one even before it has any."""
    named = memory.search.remote.id if memory.search.remote else builtin().id
    known = embedding_rows.all_spaces(view)
    for space in known.values():
        placed, without = embedding_rows.count_placed(view, space)
        yield {
            "id": space.name, "vectors": embedding_rows.count_vectors(view, space), "passages": placed,
            "configured": space.is_builtin or space.name == named, "without": without,
        }  # fmt: skip
    if named not in known:
        yield {"id": named, "vectors": 0, "passages": 0, "configured": True, "without": 0}
