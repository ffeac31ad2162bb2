"""Takes back what a command wrote: a run of the vault's undo history, note by note and byte for byte."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import UTC, datetime

from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.store import journal, note_queries
from vault_memory.vault.undo_history import UndoHistory, UndoReport
from vault_memory.vault.undo_record import UndoRecord

RESCUED = "save"
"""The kind of a record that only keeps what another program saved while this one wrote: undone if named, not
unasked."""

Unforgetting = Callable[[UndoRecord, Collection[str]], AbstractContextManager[object]]


def undo(
    index: IndexFile, name: str, unforgetting: Unforgetting, *, dry_run: bool = False, force: bool = False
) -> UndoReport:
    """Undo the run of that name, "" for the newest that changed something. A dry run changes nothing.

    `unforgetting` is entered with the run and the paths that are restored. Raises UsageError if there is nothing to
    undo, ConflictError if a note was changed since (with `force` that note is left as it is), VaultMemoryError if some
    notes could not be restored.
    """
    history = UndoHistory(index.vault.root)
    run, found = _choose(history, index, name, force)
    if dry_run:
        return found
    # Before pages are deleted, or a kill in between would make it look as if the user had removed them; and only these
    # pages, or those the user did remove would come back.
    index.try_to_write(lambda store: note_queries.forget_pages(store, found.paths))
    with ExitStack() as held:
        held.callback(_reindex, index, found.paths)
        held.enter_context(unforgetting(run, found.paths))
        history.undo(run, index.vault, force=bool(found.kept))
    journal.note_undone(index.vault.root, run.name, datetime.now(UTC))
    return found


def _choose(history: UndoHistory, index: IndexFile, name: str, force: bool) -> tuple[UndoRecord, UndoReport]:
    if name:
        run = history.named(name)
        return run, history.undoing(run, index.vault, force=force)
    standing = [run for run in history.runs() if run.kind != RESCUED and not run.is_undone]
    for run in standing:
        with suppress(UsageError):  # it may have been killed before its first write
            return run, history.undoing(run, index.vault, force=force)
    nothing, edited = "All that commands wrote is taken back already.", "Every page was edited since the last run."
    raise UsageError("There is nothing to undo.", edited if standing else nothing)


def _reindex(index: IndexFile, paths: list[str]) -> None:
    with suppress(VaultMemoryError):  # the notes are restored all the same, and the next command indexes them
        index.update(paths)
