"""An index file that a long-running process keeps open between queries."""

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
    """An index file held open for one thread that answers many queries, trusted while a watcher covers the vault.

    Each query first checks the file: if it was replaced, the new one is opened; if it is gone, the open one keeps
    answering while it is rebuilt. `ask_watcher` is called before each query; if it returns None, it may have missed
    changes and the vault is walked. `index_lost` is called when the file is gone or was replaced.
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
        """Close the held index."""
        store, self._store = self._store, None
        if store:
            # Closing deletes the write-ahead log by name, which may belong to another index by now.
            store.close(keep_log=locations.identity(self.path) != self._identity)

    @contextmanager
    def reading(self, progress: "Progress | None" = None, write: bool = True) -> Iterator[tuple[Store, Freshness]]:
        """Yield the held index; it is updated first only if the watcher may have missed changes."""
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
            self.close()  # the caller rebuilds the index
            raise

    def _freshness(self, store: Store, write: bool) -> Freshness:
        """Freshness according to the watcher, else after a walk of the vault and a catch-up."""
        freshness = self._ask_watcher()
        if freshness:
            store.outdated = outdated(store, self.vault.walk()) if freshness.pending else ()
        else:
            Vault(self.config)  # a missing vault raises the same error as without a daemon
            freshness = self.catch_up(store, self.vault.walk(), write)
        if write:
            self.count_uses(store)
        return freshness

    def missing(self) -> str:
        """Why no index can answer at once, or ""."""
        with schema.mapped_errors(self.path):
            return "" if self._current() else self.unusable()

    def _current(self) -> Store | None:
        """The index at its path now, or the open one if the file is gone."""
        identity = locations.identity(self.path)
        if identity and self._store and not os.path.getsize(self.path):
            self.close()  # truncated by someone: nobody can rebuild it while it is open
        if self._store and self._store.is_frozen:
            self.close()  # the disk may have space again by now
        if identity is None:
            if self._store:
                self._index_lost()
            return self._store
        if self._store and self._identity == identity:
            if self._store.meta("fingerprint") == self.fingerprint():
                return self._store
        elif self._store:
            self._index_lost()  # it may be an older one, from a backup or another computer
        self.close()
        self._store, _ = self.open()
        self._identity = identity
        if self._store:
            self._store.map_nothing()
        return self._store
