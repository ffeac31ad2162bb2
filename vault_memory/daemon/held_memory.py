"""Owns a Memory that stays: its index held open between questions, and trusted as long as someone watches the vault.

What others did to the index file meanwhile is noticed at the next question: another file in its place is opened, one
that vanished goes on answering from what is held open, and says so, while it is built anew.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.config import Config
from vault_memory.indexing.diff import outdated
from vault_memory.indexing.index_file import Freshness
from vault_memory.memory import Memory
from vault_memory.store import schema
from vault_memory.store.rows import Store
from vault_memory.store.view import State
from vault_memory.vault import locations
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import File

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress
    from vault_memory.search.recall import Recall


MOST_FILES = 50_000
"""A look that saw more notes than this is not kept (300 bytes each)."""


class Told(NamedTuple):
    """What the watcher of the vault can say: whether it sees every change, how many notes wait to be looked at, and
    which notes and folders could not be read.
    """

    is_whole: bool
    pending: int
    unreadable: tuple[str, ...] = ()


class Looked(NamedTuple):
    """A look through the vault that found the index up to date: how the index stood, and all notes."""

    store: Store
    state: State
    files: dict[str, File]


class Held(NamedTuple):
    """An open index, the file it was opened from, and what answers questions from it."""

    store: Store
    file: tuple[int, int]
    engine: "Recall"


class WarmMemory(Memory):
    """A Memory for one thread that answers many questions.

    `ask_watcher` is called before each question and says what is pending by then; `index_lost` is called when the index
    is no longer where it was.
    """

    def __init__(self, config: Config, ask_watcher: Callable[[], Told], index_lost: Callable[[], None]) -> None:
        super().__init__(config)
        self._ask_watcher, self._index_lost = ask_watcher, index_lost
        self._held: Held | None = None
        self._looked: Looked | None = None

    def close(self) -> None:
        """Close the index that is held open, and those of other roots."""
        if "roots" in self.__dict__:
            self.roots.close()
        if self._held:
            held, self._held, self._looked = self._held, None, None
            # Closing tidies up the write-ahead log by its name, and that may be another index's by now.
            held.store.close(keep_log=locations.identity(self.index_path) != held.file)

    def beside(self, config: Config) -> Memory:
        """A Memory of another root that is held open too; nobody watches it, so that it is looked through each time."""
        return WarmMemory(config, lambda: Told(False, 0), lambda: None)

    @contextmanager
    def reading(self, progress: "Progress | None" = None, write: bool = True) -> Iterator[tuple[Store, Freshness]]:
        """Yield the held index; it is brought up to date first only where the watcher does not see everything."""
        with schema.mapped_errors(self.index_path):
            held = self._current()
            if held is None:
                with super().reading(progress, write) as found:
                    yield found
                return
            told = self._ask_watcher()
            if told.is_whole:
                freshness = Freshness(not told.pending, told.pending, unreadable=told.unreadable)
                held.store.outdated = outdated(self.vault.walk().files, held.store.notes()) if told.pending else ()
            else:
                Vault(self.config)  # one that is gone is told as without a daemon
                freshness = self._looked_through(held.store, write)
            if write:
                self._count_uses(held.store)
            try:
                yield held.store, freshness
            except schema.DAMAGED:
                self.close()  # whoever asked has the index built anew
                raise

    def _looked_through(self, store: Store, write: bool) -> Freshness:
        """Bring the index up to date; where both are as after the last look, their rows need not be compared again."""
        walk, state = self.vault.walk(), store.state()
        looked = Looked(store, state, walk.files)
        if looked == self._looked and not walk.unreadable:
            return Freshness(True, 0)
        freshness = self._catch_up(store, walk, write)
        is_kept = freshness == Freshness(True, 0) and len(walk.files) <= MOST_FILES
        self._looked = looked if is_kept else None
        return freshness

    def missing(self) -> str:
        """Why there is no index to answer from at once, or ""."""
        with schema.mapped_errors(self.index_path):
            return "" if self._current() else self.unusable()

    def engine(self, store: Store) -> "Recall":
        """What answers questions from the held index, with all it has learnt of it."""
        return self._held.engine if self._held and self._held.store is store else super().engine(store)

    def _current(self) -> Held | None:
        """The index as it lies there now, or what is left of it."""
        file, held = locations.identity(self.index_path), self._held
        if file and held and not os.path.getsize(self.index_path):
            self.close()  # emptied by someone: while it is open nobody can make it anew
            held = None
        if file is None:
            if held:
                self._index_lost()
            return held
        if held and held.file == file and held.store.meta("fingerprint") == self._settings().fingerprint():
            return held
        if held and held.file != file:
            self._index_lost()  # it may be an older one: a backup, another computer's
        self.close()
        store, _ = self._open()
        if store:
            store.map_nothing()
        self._held = Held(store, file, super().engine(store)) if store else None
        return self._held
