"""Compares a walk of the vault with the index, and refuses changes that look as if the vault were absent (law 7)."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import RefusedError, VaultMemoryError
from vault_memory.store.note_queries import note_paths
from vault_memory.store.view import ALL, NoteRow, Store
from vault_memory.vault import locations
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import File, Walk

LOSS_CAP = 20
"""Up to this many notes may vanish in one run; more only if at least half of the notes remain."""

RACY_SECONDS = 2.0
"""A file saved this shortly before it was read may change again within the same timestamp (FAT: 2 s)."""


class Changes(NamedTuple):
    """Differences between a walk and the rows: files to examine, and rows whose file is gone."""

    new: list[File]
    suspect: list[File]
    gone: list[NoteRow]
    unseen: list[NoteRow]
    """Rows whose file may still exist, in a place that the walk could not read."""


def diff(walk: Walk, rows: Mapping[str, NoteRow], checked_ns: int) -> Changes:
    """Compare a walk with the rows; a file not saved well before the last full run (`checked_ns`) is suspect."""
    racy = checked_ns - int(RACY_SECONDS * 1e9)
    changes = Changes([], [], [], [])
    for path, file in walk.files.items():
        row = rows.get(path)
        if row is None:
            changes.new.append(file)
        elif row.file != file or file.mtime_ns >= racy:
            changes.suspect.append(file)
    changes.new.sort()
    changes.suspect.sort()
    for path in sorted(rows.keys() - walk.files.keys()):
        (changes.unseen if walk.cannot_tell(path) else changes.gone).append(rows[path])
    return changes


def compare(store: Store, walk: Walk) -> tuple[dict[str, NoteRow], Changes]:
    """The rows that a walk covers, and how it differs from them; in a partial walk every file is suspect."""
    rows = store.notes(walk.covered)
    return rows, diff(walk, rows, int(store.meta("checked_ns") or 0) if walk.covered is None else 0)


def refuse_loss(before: int, now: int, lost: int, knows: Path | None = None) -> None:
    """Raise RefusedError if the vault looks absent rather than edited; `knows` is the file that lists the notes."""
    if before and not now:
        raise RefusedError(
            f"The vault holds no notes, but {before} are known: nothing was deleted.",
            "Check that the vault's drive is mounted and synced. If the notes are really gone, delete "
            f"{knows or 'the index file'}.",
        )
    if lost > LOSS_CAP and lost * 2 > before:
        raise RefusedError(
            f"{lost} of {before} notes have vanished: nothing was deleted.",
            "Check that all folders are mounted and synced. If that is right, run `memory index --rebuild`.",
        )


def refuse_empty(index: Path, vault: Vault, walk: Walk) -> None:
    """Refuse a walk that found no notes if the index, or this device's record, knows some."""
    if walk.notes:
        return
    refuse_loss(len(_known_notes(index)), 0, 0, index)
    refuse_loss(locations.remembered(vault.root), 0, 0, locations.memory_of(vault.root))


def refuse_rebuild(index: Path, vault: Vault, walk: Walk, asked_for: bool) -> None:
    """Refuse a rebuild that would drop notes only because their folder cannot be read now."""
    refuse_empty(index, vault, walk)
    known = _known_notes(index)
    unseen = sum(map(walk.cannot_tell, known)) if walk.unreadable else 0
    if unseen:
        raise RefusedError(
            f"{walk.unreadable[0]} cannot be read, and the index knows {unseen} notes there: nothing was deleted.",
            "Make it readable first; an index that needs no rebuild keeps what it knows.",
        )
    if not asked_for:
        before = max(len(known), locations.remembered(vault.root))
        refuse_loss(before, len(walk.notes), before - len(walk.notes))


def refuse_unread(index: Path, unread: Collection[str]) -> None:
    """Refuse a rebuild that would drop a note only because it cannot be read now."""
    if known := sorted(set(_known_notes(index)).intersection(unread)):
        raise RefusedError(
            f"{known[0]} cannot be read, and the index knows what it says: nothing was deleted.",
            "Make it readable first; `memory index` without --rebuild keeps what it knows.",
        )


def _known_notes(index: Path) -> list[str]:
    """Paths of the notes in an index; empty if it cannot be read."""
    with suppress(VaultMemoryError), Store.opened(index) as store:
        return note_paths(store.view(ALL))
    return []
