"""Makes the vectors that a configured embedder still lacks: newest notes first, batch by batch.

Each batch is kept as it comes, in one short transaction under the writer lock; the server is asked without any lock.
So readers and writers go on, and whatever ends the run (Ctrl-C, a server that dies, a deadline) loses at most a batch.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice

from vault_memory.embedding.configured_embedder import RemoteEmbedder, VectorBatch
from vault_memory.embedding.recognise import FORGET, other_model
from vault_memory.errors import BusyError, RemoteError
from vault_memory.store import embedding_rows
from vault_memory.store.embedding_rows import PassageText, Space
from vault_memory.store.rows import Store
from vault_memory.store.view import ALL

Progress = Callable[[int, int, int], None]
"""Called with passages done, passages in all, and those embedded by this run."""

Lock = Callable[[], AbstractContextManager[None]]

USELESS_BATCH = 8
"""A batch of at least so many texts without one usable vector says that the model is broken, not the text."""


@dataclass
class BackfillReport:
    """What one run did, in passages, and how the space stands after it."""

    embedder: str
    passages: int = 0
    done: int = 0
    embedded: int = 0
    from_cache: int = 0
    cut: int = 0
    """Texts longer than the model reads, embedded without their end."""
    unusable: int = 0
    """Texts found now for which the model has no usable vector (not a number, all zero, refused)."""
    without: int = 0
    """Passages with such a text: they are not asked for again."""
    removed: int = 0
    """Vectors deleted because no passage has their text any more."""
    stopped: str | None = None
    """Why it ended before all was done."""
    next_step: str = ""

    @property
    def waiting(self) -> int:
        return self.passages - self.done - self.without


class Backfill:
    """Fills one store's space of one configured embedder."""

    def __init__(self, store: Store, remote: RemoteEmbedder, lock: Lock) -> None:
        self._store, self._remote, self._lock = store, remote, lock
        self._filled = BackfillReport(remote.id)

    def run(self, progress: Progress | None = None, deadline: float = float("inf")) -> BackfillReport:
        """Embed what waits until all is done or `deadline` (time.monotonic) has passed; never raises for a server.

        At least one batch is made, whatever the deadline: many small steps come to an end, too.
        """
        filled = self._filled
        try:
            self._count()
            self._recognise()
            if filled.waiting:
                self._fill(progress, deadline)
            with self._lock():
                filled.removed = embedding_rows.sweep(self._store)
                self._store.checkpoint()
        except (RemoteError, BusyError) as error:
            filled.stopped, filled.next_step = str(error).rstrip("."), error.next_step
        finally:
            self._remote.close()
        self._count()
        if filled.stopped and filled.waiting:
            filled.next_step += " Then run `memory index` again; what is done is kept."
        return filled

    def elsewhere(self) -> BackfillReport:
        """How things stand while another process makes the vectors; nothing is done."""
        self._count()
        self._filled.stopped = "Another `memory index` is embedding already"
        self._filled.next_step = "It goes on by itself. When it is done, run `memory index` again for newer notes."
        return self._filled

    @property
    def _space(self) -> Space | None:
        return embedding_rows.find_space(self._store, self._remote.id)

    def _count(self) -> None:
        space = self._space
        view = self._store.view(ALL)
        self._filled.passages = view.totals().passages
        self._filled.done = embedding_rows.count_placed(view, space) if space else 0
        self._filled.without = embedding_rows.count_unplaced(view, space) if space else 0

    def _recognise(self) -> None:
        """Make sure that the model is the one its vectors are of, also when nothing waits: recall compares with them.

        Raises RemoteError when it is another one or cannot be asked.
        """
        if not self._filled.waiting and not self._space:
            return
        try:
            found = self._remote.look()
            why = other_model(self._store, self._remote, found.digest)
        except RemoteError as error:
            unseen = "" if self._filled.waiting else "whether it is the model it was could not be seen: "
            raise RemoteError(f"{unseen}{error}", error.next_step) from None
        if why:
            raise RemoteError(why, FORGET)

    def _fill(self, progress: Progress | None, deadline: float) -> None:
        waiting = embedding_rows.waiting_texts(self._store, self._space)
        while batch := list(islice(waiting, self._remote.batch)):
            texts = self._unknown(batch)
            made = self._remote.embed([text.text for text in texts]) if texts else VectorBatch((), 0)
            self._keep(batch, texts, made)
            if progress:
                progress(min(self._filled.done, self._filled.passages), self._filled.passages, self._filled.embedded)
            if time.monotonic() >= deadline:
                return

    def _unknown(self, batch: list[PassageText]) -> list[PassageText]:
        """The texts of a batch that have no vector yet, each once: an earlier batch may have had the same."""
        space = self._space
        there = embedding_rows.embedded_keys(self._store, space, [text.key for text in batch]) if space else set()
        self._filled.from_cache += sum(text.key in there for text in batch)
        return list({text.key: text for text in batch if text.key not in there}.values())

    def _keep(self, batch: list[PassageText], texts: list[PassageText], made: VectorBatch) -> None:
        """Store what was made for `texts`, and place the whole batch as its passages stand now."""
        filled = self._filled
        good = {t.key: e.vector for t, e in zip(texts, made.vectors, strict=True) if e.vector is not None}
        if not good and len(texts) >= USELESS_BATCH:
            raise self._remote.useless()
        bad = {text.key for text in texts} - good.keys()
        with self._lock(), self._store.writing():
            if good:
                embedding_rows.add_vectors(self._store, self._space_for(made.dimensions), good.items())
            if space := self._space:
                embedding_rows.add_vectorless(self._store, space, bad)
            embedding_rows.place_passages(self._store, [text.passage_id for text in batch])
            self._store.grow()
        filled.embedded += len(good)
        filled.unusable += len(bad)
        filled.cut += sum(e.cut for e in made.vectors)
        filled.done += sum(text.key not in bad for text in batch)

    def _space_for(self, dimensions: int) -> Space:
        """The space to write to, made with the first vectors."""
        number = self._store.embedder_id(self._remote.id, dimensions)
        return Space(number, self._remote.id, dimensions)
