"""What an index remembers of drives mounted inside its vault: one that is not mounted now has not lost its notes.

The folder it was mounted at is still there, or another in its place, and does not hold them: that is no absence
(law 7), whatever else lies there.
"""

import json

from vault_memory.markdown.note import Problem
from vault_memory.store.note_rows import note_paths
from vault_memory.store.rows import Store
from vault_memory.store.view import ALL
from vault_memory.vault import mounts
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import Walk, is_encodable

KEY = "mounts"


def mark_missing(store: Store, vault: Vault, walk: Walk) -> None:
    """Add to what a walk could not read the drives that were mounted when their notes were read, and are not now."""
    for folder in _missing(store, vault, walk):
        if folder not in walk.unreadable:
            walk.unreadable.append(folder)
            what = "its drive is not mounted: what is known of it is kept; `memory index --rebuild` forgets it"
            walk.skipped.append(Problem(folder, 0, what, "error"))


def remember(store: Store, vault: Vault, walk: Walk) -> None:
    """Keep which drives are mounted, and which are missing, after a look at everything; inside no transaction."""
    mounted = filter(is_encodable, mounts.below(vault.root))  # no note below another name is indexed
    now = sorted({*mounted, *_missing(store, vault, walk)})
    if now != _remembered(store):
        with store.writing():
            store.set_meta(KEY, json.dumps(now))


def _remembered(store: Store) -> list[str]:
    return [str(folder) for folder in json.loads(str(store.meta(KEY) or "[]"))]


def _missing(store: Store, vault: Vault, walk: Walk) -> list[str]:
    """What is mounted no more and known to hold notes that a walk should have seen and did not."""
    remembered = _remembered(store)
    mounted = mounts.below(vault.root) if remembered else set()
    return [
        folder
        for folder in remembered
        if folder not in mounted
        and any(walk.came_to(path) and path not in walk.files for path in note_paths(store.view(ALL), folder))
    ]
