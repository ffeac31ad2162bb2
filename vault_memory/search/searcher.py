"""Answers questions from one vault's index: opens it once for many, repairs it if damaged, records recalls."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

from vault_memory.errors import BusyError, IndexDamagedError
from vault_memory.indexing.index_file import LOCK_SECONDS, IndexFile
from vault_memory.search.answer import Answer, Request
from vault_memory.store import journal
from vault_memory.store.view import Store
from vault_memory.vault import locations

if TYPE_CHECKING:
    from vault_memory.embedding.configured_embedder import BackfillReport, RemoteEmbedder
    from vault_memory.indexing.indexer import Progress
    from vault_memory.search.recall import Recall
    from vault_memory.search.rerank import Reranker


def prepare_for_questions(store: Store) -> None:
    """Precompute for an index that has just grown or shrunk much what questions would otherwise wait for."""
    from vault_memory.search.relevance_threshold import store_threshold

    store_threshold(store)


class Searcher:
    """Answers questions from an index file; one thread at a time."""

    def __init__(self, index_file: IndexFile) -> None:
        self._index = index_file
        index_file.when_grown = prepare_for_questions
        self._engine: tuple[Store, Recall] | None = None

    def answers(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer questions one after the other from one opened index.

        `keep` records them in the journal, at the real time, if they may be (see `Request.is_noted`).
        """
        waiting = iter(requests)
        asked = next(waiting, None)
        repaired: tuple[tuple[str, str], ...] = ()
        keep = keep and self._index.config.journal
        while asked:
            try:
                with closing(self), self._index.reading(progress) as (store, freshness):
                    for request in chain((asked,), waiting):
                        asked = request  # asked again after a repair
                        answer = self.engine(store).answer(request)
                        if keep and request.is_noted:
                            cited = [journal.CitedPassage(result.source, result.key) for result in answer.results]
                            journal.note_recall(self._index.vault.root, request.query, datetime.now(UTC), cited)
                        degraded = (*answer.degraded, *repaired, *freshness.degraded(request.filters.scopes))
                        yield answer._replace(fresh=freshness.fresh, pending=freshness.pending, degraded=degraded)
                        repaired = ()
                return
            except IndexDamagedError as error:
                if repaired:
                    raise
                self._index.repair(error, progress)
                repaired = (("index", f"the index was damaged ({error}) and has been rebuilt"),)

    def engine(self, store: Store, may_ask: bool = True, rerank: bool = True) -> "Recall":
        """Return the Recall for an open index, kept with its caches as long as that stays open.

        One that leaves out a configured model, the remote embedder (not `may_ask`) or the reranker, is not kept.
        """
        from vault_memory.search.recall import Recall

        remote, reranker = self.remote if may_ask else None, self.reranker if rerank else None
        if (remote, reranker) != (self.remote, self.reranker):
            return Recall(store, self._index.vault, remote, reranker)
        if self._engine is None or self._engine[0] is not store:
            self._engine = store, Recall(store, self._index.vault, remote, reranker)
        return self._engine[1]

    @cached_property
    def remote(self) -> "RemoteEmbedder | None":
        """The configured embedder, if not the builtin one; cached so that it remembers failures."""
        if self._index.config.embedding_provider == "builtin":
            return None
        from vault_memory.embedding.configured_embedder import RemoteEmbedder

        return RemoteEmbedder(self._index.config)

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The configured reranker, if any."""
        if self._index.config.rerank_provider == "off":
            return None
        from vault_memory.search.rerank import Reranker

        return Reranker(self._index.config)

    def close(self) -> None:
        """Close the connections to model servers."""
        for model in (self.remote, self.reranker):
            if model:
                model.close()

    def backfill(self, progress: "Progress | None" = None) -> "BackfillReport | None":
        """Compute the configured embedder's missing vectors.

        None if only the builtin embedder is configured or there is no usable index. A server failure is reported in
        the result, not raised; vectors already made are kept, and the next call continues from there.
        """
        if not self.remote or not self._index.path.exists() or self._index.unusable():
            return None
        from vault_memory.embedding.configured_embedder import Backfill

        path = self._index.path
        with Store.opened(path) as store, ExitStack() as alone:
            backfill = Backfill(store, self.remote, partial(locations.writer_lock, path, LOCK_SECONDS))
            try:  # one at a time: two would request the same vectors
                alone.enter_context(locations.writer_lock(path.with_name("backfill"), 0))
            except BusyError:
                return backfill.elsewhere()
            return backfill.run(progress)
