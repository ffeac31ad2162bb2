"""Owns what an index remembers of drives mounted inside its vault: one that is not mounted now has not lost its notes.

The folder it was mounted at is still there, or another in its place, and holds nothing: that is no absence (law 7).
"""

import json

from vault_memory import mounts
from vault_memory.note import Problem
from vault_memory.schema import writing
from vault_memory.store import Store
from vault_memory.vault import Vault
from vault_memory.walk import Walk

KEY = "mounts"


def mark_missing(store: Store, vault: Vault, walk: Walk) -> None:
    """Add to what a walk could not read the drives that were mounted when their notes were read, and are not now."""
    for folder in _missing(store, vault):
        if folder not in walk.unreadable and _is_looked_at(folder, walk):
            walk.unreadable.append(folder)
            what = "its drive is not mounted: what is known of it is kept; `memory index --rebuild` forgets it"
            walk.skipped.append(Problem(folder, 0, what, "error"))


def remember(store: Store, vault: Vault) -> None:
    """Keep which drives are mounted, and which are missing, after a look at everything; inside no transaction."""
    before = _remembered(store)
    now = sorted(mounts.below(vault.root) | set(_missing(store, vault)))
    if now != before:
        with writing(store.connection):
            store.set_meta(KEY, json.dumps(now))


def _remembered(store: Store) -> list[str]:
    return [str(folder) for folder in json.loads(str(store.meta(KEY) or "[]"))]


def _missing(store: Store, vault: Vault) -> list[str]:
    """What is no longer mounted, has nothing in its place, and is known to hold notes."""
    remembered = _remembered(store)
    mounted = mounts.below(vault.root) if remembered else set()
    return [
        folder
        for folder in remembered
        if folder not in mounted and _holds_notes(store, folder) and not vault.look([folder]).files
    ]


def _holds_notes(store: Store, folder: str) -> bool:
    return store.one("SELECT 1 FROM note WHERE path > ? AND path < ?", f"{folder}/", f"{folder}0") is not None


def _is_looked_at(folder: str, walk: Walk) -> bool:
    """Whether a walk came to a folder, to something below it or to one above it."""
    return walk.covered is None or any(
        f"{a}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{a}/") for a in walk.covered
    )
