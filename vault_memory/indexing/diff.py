"""Compares a vault with its index: what is new, what may have changed, what is gone; and when to refuse.

Pure: sizes, times and hashes in, lists out. Every recall comes through here, so it imports little.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import RefusedError
from vault_memory.store.rows import NoteRow
from vault_memory.vault.walk import File

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
