"""Owns the composition: builds vault, index and embedder from one Config and offers what the commands do.

Everything below knows only what it is given; everything above (command line, later daemon and servers) calls this.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vault_memory.errors import BusyError
from vault_memory.indexing.index_file import LOCK_SECONDS, Freshness
from vault_memory.markdown import provenance
from vault_memory.search.answer import Answer, Request
from vault_memory.store import journal, note_rows, schema
from vault_memory.store.rows import Store
from vault_memory.store.view import View
from vault_memory.vault import locations
from vault_memory.write.note_writer import Scribe

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_memory.config import Config
    from vault_memory.embedding.backfill import BackfillReport
    from vault_memory.embedding.remote import RemoteEmbedder
    from vault_memory.federation.roots import Roots
    from vault_memory.indexing.indexer import Progress
    from vault_memory.reflect.job import Asked, Reflected, Steps
    from vault_memory.reflect.opinion_query import Asking, Opinion
    from vault_memory.search.entities import EntityProfile, EntityRow
    from vault_memory.search.get import Excerpt
    from vault_memory.search.recall import Recall
    from vault_memory.search.rerank import Reranker
    from vault_memory.vault.undo_history import Undone
    from vault_memory.write.new_note import Filed, Filing
    from vault_memory.write.retain import Bullet, Retained


T = TypeVar("T")

Scopes = tuple[str, ...]
"""The scopes that are open to whoever asks; none given means all."""


class Seen(NamedTuple):
    """The index an answer came from: whether it had everything, and what is to be said of it."""

    fresh: bool
    pending: int
    generation: int
    notes: int
    degraded: tuple[tuple[str, str], ...] = ()


class Memory(Scribe):
    """One vault: what can be asked of it and done with it.

    `seen` is the index that the last answer about entities, opinions or findings came from.
    """

    seen: Seen | None = None

    def recall(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer questions one after the other from one opened index.

        `keep` notes them in the journal, by the clock, but for those asked as if it were another time.
        """
        try:
            yield from self._answers(requests, progress, keep)
        finally:
            for model in (self.remote, self.reranker):
                if model:
                    model.close()

    def _answers(self, requests: Iterable[Request], progress: "Progress | None", keep: bool) -> Iterator[Answer]:
        waiting = iter(requests)
        request = next(waiting, None)
        mended: tuple[tuple[str, str], ...] = ()
        while request:
            try:
                with self.reading(progress) as (store, freshness):
                    engine = self.engine(store)
                    while request:
                        answer = engine.answer(request)
                        degraded = (*answer.degraded, *mended, *_rebuilt(freshness))
                        degraded += tuple(_unread(freshness, request.filters.scopes))
                        answer = answer._replace(fresh=freshness.fresh, pending=freshness.pending, degraded=degraded)
                        if keep and self.config.journal and not request.is_pinned:
                            cited = [journal.Cited(result.source, result.key) for result in answer.results]
                            journal.note_recall(self.vault.root, request.query, datetime.now(UTC), cited)
                        yield answer
                        request, mended = next(waiting, None), ()
            except schema.DAMAGED as error:
                if mended:
                    raise
                self._mend(error, progress)
                mended = (("index", f"the index was damaged ({error}) and has been rebuilt"),)

    def engine(self, store: Store) -> "Recall":
        """What answers questions from an open index."""
        from vault_memory.embedding.query_vector import QueryEmbedder
        from vault_memory.search.recall import Recall

        return Recall(store, self.vault, QueryEmbedder(store, self.embedder, self.remote), self.reranker)

    # --- other roots ---------------------------------------------------------------------------------------------

    def beside(self, config: "Config") -> "Memory":
        """A Memory of another root, which lives as this one does."""
        return Memory(config)

    def apart(self, config: "Config") -> "Memory":
        """A Memory of another root that shares nothing with this one: for another thread."""
        return Memory(config)

    @cached_property
    def roots(self) -> "Roots":
        """This vault and what else the user's settings name: sessions, further vaults."""
        from vault_memory.federation.roots import Roots

        return Roots(self)

    # --- configured models ---------------------------------------------------------------------------------------

    @cached_property
    def remote(self) -> "RemoteEmbedder | None":
        """The embedder that the settings name besides the builtin one; kept, so that it knows who did not answer."""
        if self.config.embedding_provider == "builtin":
            return None
        from vault_memory.embedding.remote import RemoteEmbedder

        return RemoteEmbedder(self.config)

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The model that the settings name for a second look at the best passages."""
        if self.config.rerank_provider == "off":
            return None
        from vault_memory.search.rerank import Reranker

        return Reranker(self.config)

    def backfill(self, progress: "Progress | None" = None, deadline: float = float("inf")) -> "BackfillReport | None":
        """Make the configured embedder's missing vectors, until all are there or `deadline` (time.monotonic) is over.

        None when only the builtin embedder is configured. A server that fails is reported in the result, not raised;
        what was made is kept, and the next call goes on from there.
        """
        if not self.remote or not self.index_path.exists() or self.unusable():
            return None
        from vault_memory.embedding.backfill import Backfill

        with schema.mapped_errors(self.index_path), closing(Store.open(self.index_path)) as store:
            lock = partial(locations.writer_lock, self.index_path, LOCK_SECONDS)
            backfill = Backfill(store, self.remote, lock)
            with ExitStack() as alone:
                try:  # one at a time: two would ask for the same vectors
                    alone.enter_context(locations.writer_lock(self.index_path.with_name("backfill"), 0))
                except BusyError:
                    return backfill.elsewhere()
                return backfill.run(progress, deadline)

    def check(self, progress: "Progress | None" = None) -> tuple[str, str]:
        """The digests of the index, brought up to date, and of a fresh build beside it: equal when all is well."""
        from vault_memory.store.digest import searched

        built = schema.new_name(self.index_path)
        # Under the lock: no other writer sweeps away the fresh build, and both see the same notes.
        with schema.mapped_errors(self.index_path), locations.writer_lock(self.index_path, LOCK_SECONDS):
            schema.sweep(self.index_path)
            self._index(False, [], progress)
            with closing(Store.open(self.index_path)) as store:
                mine = searched(store)
            try:
                with closing(schema.create(built)) as connection:
                    store = Store(connection, built)
                    self._indexer(store).load(self.vault.walk(), progress)
                    return mine, searched(store)
            finally:
                built.unlink(missing_ok=True)

    def get(
        self, path: str, lines: "tuple[int, int | None] | None" = None, max_tokens: int | None = None,
        scopes: Scopes = (),
    ) -> "Excerpt":  # fmt: skip
        """Read lines of a note; a missing note is an empty answer, and so is one that these scopes do not open."""
        from vault_memory.search.get import OpenScopes, Part, read

        return read(self.vault, path, Part(lines, max_tokens), OpenScopes(scopes, self.config.folder_scopes))

    def entity(self, name: str, progress: "Progress | None" = None, scopes: Scopes = ()) -> "EntityProfile | None":
        """What is known of one entity, or None when nothing is; what was superseded comes last."""
        from vault_memory.search.entities import profile
        from vault_memory.search.superseded import marked

        def look(view: View, _: Freshness) -> "EntityProfile | None":
            found = profile(view, name)
            facts = marked(view, found.facts, date.today()) if found else []
            return found and replace(found, facts=sorted(facts, key=lambda fact: bool(fact.superseded_by)))

        return self.query(look, progress, scopes)

    def store(self, bullet: "Bullet", today: date, scopes: Scopes) -> "Retained | str":
        """Retain a fact, or say where one in these scopes stands that says the same; of two at once one is written."""
        with self._alone():
            return self.standing(bullet, today, scopes) or self._retain(bullet, today)

    def store_note(self, filing: "Filing", now: datetime, scopes: Scopes) -> "Filed | str":
        """Make a note, or say which one in these scopes holds the same text; of two at once one is made."""
        with self._alone():
            return self.standing_note(filing, scopes) or self._file(filing, now)

    def standing(self, bullet: "Bullet", today: date, scopes: Scopes = ()) -> str | None:
        """The citation of a fact in these scopes that says what a bullet would; None where no index can be asked."""
        from vault_memory.markdown import facts as retain
        from vault_memory.markdown.parse import parse
        from vault_memory.write import duplicates

        if self.unusable():
            return None
        (fact,) = retain.facts(parse("x.md", f"## Retain\n{bullet}\n".encode()), None)
        return self.query(lambda view, _: duplicates.fact(view, fact, today), scopes=scopes)

    def standing_note(self, filing: "Filing", scopes: Scopes = ()) -> str | None:
        """The path of a note in these scopes that says what this one would; None where no index can be asked."""
        from vault_memory.write import duplicates

        if self.unusable():
            return None
        by = filing.by or provenance.PERSON
        return self.query(lambda view, _: duplicates.note(view, self.vault, filing.text, by, scopes), scopes=scopes)

    def notes_called(self, name: str, scopes: Scopes = ()) -> list[str]:
        """The paths of notes in these scopes that a link with this name would open, else of those with such a title."""
        from unicodedata import normalize

        from vault_memory.markdown.entities import link_name

        def plain(text: str) -> str:
            return normalize("NFC", link_name(text)).casefold().removesuffix(".md")

        wanted = plain(name)

        def called(view: View, _: Freshness) -> list[str]:
            files = [path for path in note_rows.note_paths(view) if plain(path) == wanted]
            titles = (path for path, title in note_rows.note_titles(view) if plain(title) == wanted)
            return files or list(dict.fromkeys(titles))

        return self.query(called, scopes=scopes)

    def notes_below(self, folder: str, scopes: Scopes = ()) -> list[str]:
        """The paths of notes in these scopes that lie in a folder or in one below it, "" for the vault's own."""
        return self.query(lambda view, _: note_rows.note_paths(view, folder), scopes=scopes)

    def entities(self, progress: "Progress | None" = None, scopes: Scopes = ()) -> "list[EntityRow]":
        """Every entity with a page or a mention."""
        from vault_memory.search.entities import listing

        return self.query(lambda view, _: listing(view), progress, scopes)

    def similar_names(self, name: str, scopes: Scopes = ()) -> list[str]:
        """Known names that look like one that is not known."""
        from vault_memory.search.names import Names

        return self.query(lambda view, _: Names(view).near(name), scopes=scopes)

    def opinions(
        self, entity: str | None = None, progress: "Progress | None" = None, scopes: Scopes = ()
    ) -> "list[Opinion]":
        """The beliefs held, surest first; those that hold no longer last."""
        from vault_memory.reflect.opinion_query import held

        return self.query(lambda view, _: held(self._asking(view, date.today(), entity)), progress, scopes)

    def _asking(self, view: View, today: date, entity: str | None = None) -> "Asking":
        from vault_memory.reflect import plan_run
        from vault_memory.reflect.opinion_query import Asking

        return Asking(self.vault, view, plan_run.Seen(today, entity_days=self.config.reflect_entity_days), entity)

    def query(
        self, question: "Callable[[View, Freshness], T]", progress: "Progress | None" = None, scopes: Scopes = ()
    ) -> T:
        """Read from the index what these scopes open, and remember as `seen` what it was like."""

        def look(store: Store, freshness: Freshness) -> T:
            view = store.view(scopes)
            self.seen = seen(view, freshness, scopes)
            return question(view, freshness)

        return self.ask(look, progress)

    # --- reflecting ----------------------------------------------------------------------------------------------

    def reflect(self, asked: "Asked", steps: "Steps | None" = None) -> "Reflected":
        """Write the pages that the facts make: entities, opinions, summaries, proposals."""
        from vault_memory.reflect.job import reflect

        return reflect(self, asked, steps)

    def undo(self, run: str = "", *, dry_run: bool = False, force: bool = False) -> "Undone":
        """Undo a run, the last of reflect unless another is named, or only say what that would do (`dry_run`).

        With `force` notes that were changed since stay as they are, and the others are put back.
        """
        from vault_memory.reflect.job import undo

        return undo(self, run, dry_run=dry_run, force=force, unforgetting=self.unforgetting)


def seen(store: View, freshness: Freshness, scopes: Scopes = ()) -> Seen:
    """What an answer out of this index says of it, to who sees these scopes."""
    notes = note_rows.count_notes(store)
    degraded = (*_rebuilt(freshness), *_unread(freshness, scopes))
    return Seen(freshness.fresh, freshness.pending, store.generation, notes, degraded)


def _rebuilt(freshness: Freshness) -> list[tuple[str, str]]:
    """What an answer says when its index had to be built anew, unless there was none, or could not be written."""
    why = freshness.report.rebuilt if freshness.report else ""
    built = [("index", f"the index was rebuilt: {why}")] if why not in ("", "there was none") else []
    return built + [("index", f"the index cannot be updated: {why}") for why in [freshness.unwritten] if why]


def _unread(freshness: Freshness, scopes: Scopes) -> list[tuple[str, str]]:
    """What an answer says when parts of the vault could not be looked at; an asker with scopes learns no path."""
    if scopes and freshness.unreadable:
        return [("files", "part of the vault cannot be read, so it was not searched")]
    more = f" (and {len(freshness.unreadable) - 1} more)" if len(freshness.unreadable) > 1 else ""
    return [("files", f"{path}{more} cannot be read, so it was not searched") for path in freshness.unreadable[:1]]
