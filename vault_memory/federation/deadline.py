"""Owns asking further vaults where nothing may be waited for: from the indexes they have, and not for long.

A prompt waits for this, and a folder on a drive that hangs must not cost it the vault's own answer: they are looked for
and asked in a thread, which is left behind when the time is over, and not joined by another while it hangs.
"""

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.errors import VaultMemoryError
from vault_memory.federation import other_vaults
from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Request
from vault_memory.store import schema

if TYPE_CHECKING:
    from vault_memory.config import Config
    from vault_memory.federation.federation import Federation

SECONDS = 0.5
"""So long they are waited for: a quarter of what a hook has."""

BUILDS = "`memory index` brings it up to date"
"""What is said at the end where an index is not what it could be."""

ALL = "roots"
"""The name under which it is said that some hang: which, nobody knows."""

_asking: dict[Path, "_Asking"] = {}
"""Who was asked last, by the vault they were asked for."""


class _Asking(threading.Thread):
    """The further vaults being asked; `found` is what each answers so far, or why it does not."""

    def __init__(self, vault: "Federation", request: Request) -> None:
        super().__init__(daemon=True)
        self._vault, self._request = vault, request
        self.found: dict[str, Answer | str] = {}

    def run(self) -> None:
        """Ask them one after the other; nothing is raised."""
        try:
            for root in self._vault.further:
                if root.is_open(self._request.filters.scopes):
                    self.found[root.name] = self._told(root)
        except Exception as error:  # the edge: what is wrong elsewhere never costs the vault's own answer
            self.found[ALL] = str(error)

    def _told(self, root: other_vaults.Further) -> Answer | str:
        try:
            return self._asked(root)
        except (VaultMemoryError, *schema.DAMAGED) as error:
            return f"{root.name}: {error}"

    def _asked(self, root: other_vaults.Further) -> Answer | str:
        memory = Memory(_without_models(other_vaults.config_of(root, self._vault.config, os.environ)))
        why = memory.index_file.unusable()
        if why:
            return f"{root.name} has no index that can be used ({why}): {BUILDS}"
        with memory.index_file.reading(write=False) as (store, freshness), store.snapshot():
            answer = memory.search.engine(store).answer(self._request)
        behind = [] if freshness.fresh else [("source", f"{root.name} has changed since it was indexed: {BUILDS}")]
        return answer._replace(
            results=[other_vaults.told(root, result) for result in answer.results], fresh=freshness.fresh,
            pending=freshness.pending, degraded=(*answer.degraded, *behind),
        )  # fmt: skip


def _without_models(config: "Config") -> "Config":
    return replace(config, embedding_provider="builtin", rerank_provider="off")


def ask(vault: "Federation", request: Request) -> dict[str, Answer | str]:
    """What each of the other vaults answers that the question's scopes open, or why it does not."""
    before = _asking.get(vault.vault.root)
    if before and before.is_alive():
        return {ALL: "the further vaults still hang from an earlier question"}
    asking = _asking[vault.vault.root] = _Asking(vault, request)
    asking.start()
    asking.join(SECONDS)
    late = {ALL: f"not every further vault answered in {SECONDS:g} s"} if asking.is_alive() else {}
    return {**asking.found, **late}
