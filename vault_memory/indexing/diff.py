"""Compares a vault with its index: what is new, what may have changed, what is gone; and when to refuse.

Sizes, times and hashes in, lists out; and what the index remembers of drives. Every recall comes through here.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import RefusedError
from vault_memory.markdown.note import Problem
from vault_memory.store.note_queries import note_paths
from vault_memory.store.rows import NoteRow, Store
from vault_memory.store.view import ALL
from vault_memory.vault import locations
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import File, Walk, is_encodable

RACY_SECONDS = 2.0
"""A file saved this shortly before it was read may change again within the same time stamp (FAT: 2 s)."""

LOSS_CAP = 20
"""Up to this many notes may vanish in one run without question; more only while at least half of the notes remain."""


class Changes(NamedTuple):
    """The outcome of a diff: paths to look at, rows whose note is gone, and how many are the same."""

    new: list[File]
    suspect: list[File]
    gone: list[NoteRow]
    unchanged: int


def diff(files: Mapping[str, File], rows: Mapping[str, NoteRow], checked_ns: int) -> Changes:
    """Compare what the walk saw with what the index knows; pure.

    `checked_ns` is when the rows' files were last read: a time stamp close before it proves nothing.
    """
    racy = checked_ns - int(RACY_SECONDS * 1e9)
    new, suspect, same = [], [], 0
    for path, file in files.items():
        row = rows.get(path)
        if row is None:
            new.append(file)
        elif (row.size, row.mtime_ns, row.ctime_ns) != file[1:] or file.mtime_ns >= racy:
            suspect.append(file)
        else:
            same += 1
    gone = [row for path, row in rows.items() if path not in files]
    return Changes(sorted(new), sorted(suspect), sorted(gone, key=lambda row: row.path), same)


def outdated(files: Mapping[str, File], rows: Mapping[str, NoteRow]) -> tuple[str, ...]:
    """The notes that are gone, or whose size or times are not those of their row."""
    known = ((path, (row.size, row.mtime_ns, row.ctime_ns)) for path, row in rows.items())
    return tuple(path for path, was in known if path not in files or was != files[path][1:])


def refuse_loss(before: int, now: int, lost: int, knows: Path | None = None) -> None:
    """Raise RefusedError when a vault looks absent rather than edited (law 7); `knows` is the file that says so."""
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


KEY = "mounts"
"""Where an index remembers the drives mounted inside its vault.

One that is not mounted now has not lost its notes: the folder it was mounted at is still there, or another in its
place, and does not hold them. That is no absence (law 7), whatever else lies there.
"""


def mark_missing_drives(store: Store, vault: Vault, walk: Walk) -> None:
    """Add to what a walk could not read the drives that were mounted when their notes were read, and are not now."""
    for folder in _missing(store, vault, walk):
        if folder not in walk.unreadable:
            walk.unreadable.append(folder)
            what = "its drive is not mounted: what is known of it is kept; `memory index --rebuild` forgets it"
            walk.skipped.append(Problem(folder, 0, what, "error"))


def remember_drives(store: Store, vault: Vault, walk: Walk) -> None:
    """Keep which drives are mounted, and which are missing, after a look at everything; inside no transaction."""
    mounted = filter(is_encodable, locations.mounted_below(vault.root))  # no note below another name is indexed
    now = sorted({*mounted, *_missing(store, vault, walk)})
    if now != _remembered(store):
        with store.writing():
            store.set_meta(KEY, json.dumps(now))


def _remembered(store: Store) -> list[str]:
    return [str(folder) for folder in json.loads(str(store.meta(KEY) or "[]"))]


def _missing(store: Store, vault: Vault, walk: Walk) -> list[str]:
    """What is mounted no more and known to hold notes that a walk should have seen and did not."""
    remembered = _remembered(store)
    mounted = locations.mounted_below(vault.root) if remembered else set()
    return [
        folder
        for folder in remembered
        if folder not in mounted
        and any(walk.came_to(path) and path not in walk.files for path in note_paths(store.view(ALL), folder))
    ]
