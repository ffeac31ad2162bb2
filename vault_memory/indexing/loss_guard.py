"""Tells an absent vault from an empty one (law 7): when notes that cannot be seen are not to be taken for gone."""

import json
from contextlib import closing, suppress
from pathlib import Path

from vault_memory.errors import RefusedError
from vault_memory.markdown.note import Problem
from vault_memory.store import schema
from vault_memory.store.note_queries import count_notes, note_paths
from vault_memory.store.view import ALL, Store
from vault_memory.vault import locations
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import Walk, is_encodable

LOSS_CAP = 20
"""Up to this many notes may vanish in one run without question; more only while at least half of the notes remain."""


def refuse_loss(before: int, now: int, lost: int, knows: Path | None = None) -> None:
    """Raise RefusedError when a vault looks absent rather than edited; `knows` is the file that says so."""
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
    """Refuse a walk that found no notes where the index, or this device, knows of some."""
    if walk.files:
        return
    with suppress(*schema.UNREADABLE), closing(Store.open(index)) as store:
        refuse_loss(count_notes(store.view(ALL)), 0, 0, index)
    refuse_loss(locations.remembered(vault.root), 0, 0, locations.memory_of(vault.root))


def refuse_rebuild(index: Path, vault: Vault, walk: Walk, asked_for: bool) -> None:
    """Refuse a rebuild that would forget notes only because they cannot be seen now."""
    refuse_empty(index, vault, walk)
    known: list[str] = []
    with suppress(*schema.UNREADABLE), closing(Store.open(index)) as store:
        known = note_paths(store.view(ALL))
        if not asked_for:
            mark_missing_drives(store, vault, walk)
    unseen = sum(map(walk.cannot_tell, known)) if walk.unreadable else 0
    if unseen:
        raise RefusedError(
            f"{walk.unreadable[0]} cannot be read, and the index knows {unseen} notes there: nothing was deleted.",
            "Make it readable first; an index that needs no rebuild keeps what it knows.",
        )
    if not asked_for:
        before = max(len(known), locations.remembered(vault.root))
        refuse_loss(before, len(walk.files), before - len(walk.files))


MOUNTS = "mounts"
"""Where an index remembers the drives mounted inside its vault.

One that is not mounted now has not lost its notes: the folder it was mounted at is still there, or another in its
place, and does not hold them.
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
    now = json.dumps(sorted({*mounted, *_missing(store, vault, walk)}))
    if now != (store.meta(MOUNTS) or "[]"):
        with store.writing():
            store.set_meta(MOUNTS, now)


def _missing(store: Store, vault: Vault, walk: Walk) -> list[str]:
    """What is mounted no more and known to hold notes that a walk should have seen and did not."""
    remembered: list[str] = json.loads(str(store.meta(MOUNTS) or "[]"))
    mounted = locations.mounted_below(vault.root) if remembered else set()
    return [
        folder
        for folder in remembered
        if folder not in mounted
        and any(walk.came_to(path) and path not in walk.files for path in note_paths(store.view(ALL), folder))
    ]
