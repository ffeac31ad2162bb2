"""An index file that stays open between the questions of a process that answers many."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_memory.config import Config
from vault_memory.errors import IndexDamagedError
from vault_memory.indexing.index_file import Freshness, IndexFile, damage_told, outdated
from vault_memory.store import schema
from vault_memory.store.view import Store
from vault_memory.vault import locations
from vault_memory.vault.vault import Vault

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress


class HeldIndex(IndexFile):
    """An index file held open for one thread that answers many questions, trusted while someone watches the vault.

    What others did to the index file is noticed at the next question: another file in its place is opened; one that
    vanished goes on answering from what is held open while it is built anew. `ask_watcher` is asked before each
    question, and where it does not see every change (None) the vault is looked through; `index_lost` is called when the
    index is no longer where it was.
    """

    def __init__(
        self, config: Config, ask_watcher: Callable[[], Freshness | None] = lambda: None,
        index_lost: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        super().__init__(config)
        self._ask_watcher, self._index_lost = ask_watcher, index_lost
        self._store: Store | None = None
        self._identity: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the index that is held open."""
        store, self._store = self._store, None
        if store:
            # Closing tidies up the write-ahead log by its name, and that may be another index's by now.
            store.close(keep_log=locations.identity(self.path) != self._identity)

    @contextmanager
    def reading(self, progress: "Progress | None" = None, write: bool = True) -> Iterator[tuple[Store, Freshness]]:
        """Yield the held index; it is brought up to date first only where the watcher does not see everything."""
        try:
            with schema.mapped_errors(self.path):
                store = self._current()
                if store is None:
                    with super().reading(progress, write) as opened:
                        yield opened
                    return
                with damage_told(store):
                    yield store, self._freshness(store, write)
        except IndexDamagedError:
            self.close()  # whoever asked has the index built anew
            raise

    def _freshness(self, store: Store, write: bool) -> Freshness:
        """What the watcher can say of the index, or what a look through the vault found and brought up to date."""
        freshness = self._ask_watcher()
        if freshness:
            store.outdated = outdated(store, self.vault.walk()) if freshness.pending else ()
        else:
            Vault(self.config)  # one that is gone is told as without a daemon
            freshness = self.catch_up(store, self.vault.walk(), write)
        if write:
            self.count_uses(store)
        return freshness

    def missing(self) -> str:
        """Why there is no index to answer from at once, or ""."""
        with schema.mapped_errors(self.path):
            return "" if self._current() else self.unusable()

    def _current(self) -> Store | None:
        """The index as it lies there now, or what is left of it."""
        identity = locations.identity(self.path)
        if identity and self._store and not os.path.getsize(self.path):
            self.close()  # emptied by someone: while it is open nobody can make it anew
        if self._store and self._store.is_frozen:
            self.close()  # by now the disk may have space again
        if identity is None:
            if self._store:
                self._index_lost()
            return self._store
        if self._store and self._identity == identity:
            if self._store.meta("fingerprint") == self.fingerprint():
                return self._store
        elif self._store:
            self._index_lost()  # it may be an older one: a backup, another computer's
        self.close()
        self._store, _ = self.open()
        self._identity = identity
        if self._store:
            self._store.map_nothing()
        return self._store
