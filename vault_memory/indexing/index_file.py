"""Opens, updates, rebuilds and repairs one vault's index file."""

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vault_memory.config import Config, template
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import BusyError, IndexDamagedError, IndexUnusableError, RefusedError, VaultMemoryError
from vault_memory.indexing import walk_diff
from vault_memory.startup import vault_id
from vault_memory.store import journal, schema
from vault_memory.store.view import Store, View
from vault_memory.vault import locations
from vault_memory.vault.safe_files import private
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import Walk, printable

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Indexer, Progress, Report

T = TypeVar("T")

CATCH_UP_SECONDS = 1.0
"""How long a query may spend indexing changed notes before it answers from what it has."""

LOCK_SECONDS = 30.0


def outdated(store: Store, walk: Walk) -> tuple[str, ...]:
    """Notes that are gone, or whose size or timestamps differ from their row."""
    return tuple(path for path, row in store.notes().items() if walk.files.get(path) != row.file)


@contextmanager
def damage_told(store: Store) -> Iterator[None]:
    """Turn an error from reading an index's rows into IndexDamagedError if a check finds the index damaged.

    SQLite only notices damage in the pages it reads: a row may simply contain something else.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        from vault_memory.store.content_digest import damage

        if not isinstance(error, UnicodeDecodeError) and (verdict := damage(store)):
            raise IndexDamagedError(verdict, "Run `memory index --rebuild`.") from error
        raise


class Freshness(NamedTuple):
    """How far the index was behind at a query: the number of notes `pending`."""

    pending: int
    report: "Report | None" = None
    """What the catch-up did, if there was anything to do."""
    unreadable: tuple[str, ...] = ()
    """Folders and files that cannot be read, so that their rows cannot be checked."""
    unwritten: str = ""
    """Why it could not be updated, unless another process was writing."""

    @property
    def fresh(self) -> bool:
        return not self.pending

    def degraded(self, scopes: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """What an answer reports about the index: rebuilt, not updatable, unreadable parts; with scopes, no paths."""
        why = self.report.rebuilt if self.report else ""
        notes = [("index", f"the index was rebuilt: {why}")] if why not in ("", "there was none") else []
        if self.unwritten:
            notes.append(("index", f"the index cannot be updated: {self.unwritten}"))
        if self.unreadable:
            more = f" (and {len(self.unreadable) - 1} more)" if len(self.unreadable) > 1 else ""
            what = "Part of the vault" if scopes else f"{printable(self.unreadable[0])}{more}"
            notes.append(("files", f"{what} cannot be read, so it was not searched"))
        return tuple(notes)


class IndexState(NamedTuple):
    """The state of the index an answer came from, and what to report about it."""

    fresh: bool
    pending: int
    generation: int
    notes: int
    degraded: tuple[tuple[str, str], ...] = ()


def index_state(view: View, freshness: Freshness, scopes: Sequence[str]) -> IndexState:
    """The state that an answer from this index reports to a caller with these scopes."""
    return IndexState(
        freshness.fresh, freshness.pending, view.generation, view.count_notes(), freshness.degraded(scopes)
    )


class IndexFile:
    """One vault's index: `path` is its file, `place` is "vault" or the reason why it is elsewhere."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.vault = Vault(config)
        self.path, self.place = locations.index_place(config, self.vault.root)
        self.when_grown: Callable[[Store], None] = lambda store: None
        """Called under the writer lock when the index was built, or has grown or shrunk by a tenth."""
        self._last_read = threading.local()

    @property
    def state(self) -> IndexState | None:
        """The state of the index at this thread's last `read`."""
        return getattr(self._last_read, "state", None)

    def close(self) -> None:
        """Close the index if it is held open (HeldIndex)."""

    def update(
        self, paths: Collection[str] | None = None, progress: "Progress | None" = None, rebuild: bool = False
    ) -> "Report":
        """Update the index, entirely or at and below `paths`, or with `rebuild` build a new one and swap it in.

        Raises RefusedError if too much would be lost, BusyError if another process keeps the writer lock.
        """
        started = time.monotonic()
        if not self.path.exists():
            # Before the writer lock recreates its folder, perhaps at the mount point of an absent drive.
            walk_diff.refuse_empty(self.path, self.vault, self.vault.walk())
        with schema.mapped_errors(self.path), locations.writer_lock(self.path, LOCK_SECONDS):
            schema.sweep(self.path)
            report = self._bring_up_to_date(paths, progress, "asked for" if rebuild else "")
        report.seconds = time.monotonic() - started
        return report

    def relative(self, path: str) -> str:
        """Turn a user's path of a note or folder into one for `update`; raises RefusedError if it is outside."""
        absolute = Path(os.path.abspath(path))
        for base in (self.vault.root, self.config.vault):
            if absolute == base or base in absolute.parents:
                return "" if absolute == base else absolute.relative_to(base).as_posix()
        inside = Path(os.path.normpath(self.vault.root / path))
        if self.vault.root in inside.parents and os.path.lexists(inside):
            return inside.relative_to(self.vault.root).as_posix()
        raise RefusedError(f"{path} is not inside the vault.", f"Name notes or folders below {self.vault.root}.")

    def _bring_up_to_date(
        self, paths: Collection[str] | None, progress: "Progress | None", rebuild: str = ""
    ) -> "Report":
        """Update under the writer lock; a non-empty `rebuild` forces a rebuild and is its reason."""
        from vault_memory.store import embedding_rows

        opened, why = (None, rebuild) if rebuild else self.open()
        if opened is None:
            return self._rebuild(self.vault.walk(), why, progress)
        try:
            with schema.mapped_errors(self.path), closing(opened) as store:
                store.map_nothing()
                walk = self.vault.walk() if paths is None else self.vault.walk_paths(paths)
                missed = store.notes(walk.covered).keys() - walk.files.keys() if paths is not None else ()
                if sum(not walk.cannot_tell(path) for path in missed) > walk_diff.LOSS_CAP:
                    walk = self.vault.walk()  # a loss this large is judged against the whole vault (law 7)
                report = self._apply(store, walk, progress)
                if journal.is_behind(store, self.vault.root):
                    with store.writing():
                        journal.read_new_lines(store, self.vault.root)
                embedding_rows.sweep(store)
            return report
        except IndexDamagedError as error:
            return self._rebuild(self.vault.walk(), f"the index was damaged ({error})", progress)

    def try_to_write(self, change: Callable[[Store], None]) -> None:
        """Make a change that only saves work later on; skipped if the index is unusable or busy."""
        with suppress(VaultMemoryError):
            if self.unusable():
                return
            with locations.writer_lock(self.path, LOCK_SECONDS), Store.opened(self.path) as store, store.writing():
                change(store)

    def unusable(self) -> str:
        """Why the index must be rebuilt, or ""."""
        store, why = self.open()
        if store:
            store.close()
        return why

    def open(self) -> tuple[Store | None, str]:
        """Open the index, or say why it is unusable and must be rebuilt."""
        schema.refuse_foreign(self.path, self.config.index_path)
        if not self.path.exists():
            return None, "there was none"
        try:
            with schema.mapped_errors(self.path), ExitStack() as unless_usable:
                store = Store.open(self.path)
                unless_usable.callback(store.close)
                if not store.is_index():
                    return None, "it was not an index of this program"
                whose, made_by = store.meta("vault"), store.meta("fingerprint")
                if self.config.index_path and whose not in (None, vault_id(self.vault.root)):
                    raise RefusedError(
                        f"The index {self.path} belongs to another vault.",
                        "Let index.path name a folder: each vault then has its own index in it.",
                    )
                if made_by == self.fingerprint():
                    unless_usable.pop_all()
                    return store, ""
        except IndexDamagedError as error:
            return None, f"it was damaged ({error})"
        return None, "it was made by another version or with other settings"

    def _rebuild(self, walk: Walk, why: str, progress: "Progress | None") -> "Report":
        from vault_memory.store import embedding_rows

        schema.refuse_foreign(self.path, self.config.index_path)
        walk_diff.refuse_rebuild(self.path, self.vault, walk, why == "asked for")
        if self.vault.filters.unknown:
            raise RefusedError(f"{self.vault.filters.unknown}.", "Fix it, for example by opening Obsidian's settings.")
        generation = 0
        with suppress(VaultMemoryError), Store.opened(self.path) as old:
            generation = old.generation
        built = schema.new_name(self.path)
        try:
            with closing(Store.create(built)) as store:
                store.set_meta("fingerprint", self.fingerprint())
                store.set_meta("vault", vault_id(self.vault.root))
                store.set_meta("layout", json.dumps(self.vault.layout))
                report = self.indexer(store).load(walk, progress)
                for key in ("generation", "built"):
                    store.set_meta(key, generation + 1)
                if report.has_grown:
                    self.when_grown(store)
                if why == "asked for" and report.failed:
                    walk_diff.refuse_unread(self.path, [problem.path for problem in report.failed])
                journal.read_new_lines(store, self.vault.root)
                # Vectors of configured embedders may have taken hours to make: carry over all that can be read.
                with suppress(VaultMemoryError), Store.opened(self.path) as old, store.writing():
                    embedding_rows.carry_over(store, old)
            schema.swap_in(built, self.path)
            locations.remember(self.vault.root, report.added)
        finally:
            built.unlink(missing_ok=True)
        # Keeps derived files out of the user's version control; an existing .gitignore is left alone.
        file = locations.derived(self.vault.root, ".gitignore")
        if file and file.parent.is_dir() and not file.exists():
            with suppress(OSError), open(file, "x", encoding="utf-8", opener=private) as handle:
                handle.write(template("gitignore").read_text("utf-8"))
        report.rebuilt = why
        return report

    def fingerprint(self) -> str:
        """All that the rows depend on besides the notes, such as folder scopes; an index is usable if equal (law 9)."""
        config, daily = self.config, self.vault.daily
        versions = ";".join(f"{name}={number}" for name, number in schema.VERSIONS.items())
        names = (daily.folder, daily.format, config.bank_folder, config.core_file)
        return (
            f"{versions};tokens=cl100k_base;embedder={builtin().id};names={names};scopes={sorted(config.folder_scopes)}"
        )

    def indexer(self, store: Store) -> "Indexer":
        from vault_memory.indexing.indexer import Indexer  # lazy: not needed by a recall with nothing to catch up

        return Indexer(self.vault, store)

    def check(self, progress: "Progress | None" = None) -> tuple[str, str]:
        """Update the index; return its digest and that of a fresh build, which are equal if the index is correct.

        Raises BusyError if they differ but notes were saved meanwhile, which makes the comparison void.
        """
        from vault_memory.store.content_digest import digest

        # Under the lock no other writer deletes the fresh build, and both see the same notes.
        with schema.mapped_errors(self.path), locations.writer_lock(self.path, LOCK_SECONDS):
            schema.sweep(self.path)
            self._bring_up_to_date(None, progress)
            try:
                with Store.opened(self.path) as store:
                    mine = digest(store)
            except IndexDamagedError as error:
                raise IndexDamagedError(f"The index is damaged: {error}.", error.next_step) from error
            built = schema.new_name(self.path)
            try:
                with closing(Store.create(built)) as store:
                    self.indexer(store).load(self.vault.walk(), progress)
                    fresh = digest(store)
            finally:
                built.unlink(missing_ok=True)
            if mine != fresh and self._bring_up_to_date(None, progress).changed:
                saved = "Notes were saved meanwhile, so the index could not be compared."
                raise BusyError(saved, "Try again in a moment.")
            return mine, fresh

    @contextmanager
    def reading(self, progress: "Progress | None" = None, write: bool = True) -> Iterator[tuple[Store, Freshness]]:
        """Open the index after a bounded catch-up (without `write` pending notes are counted); build a missing one."""
        walk = self.vault.walk()
        report = None
        with schema.mapped_errors(self.path):
            opened, _ = self.open()
            if opened is None:
                walk_diff.refuse_empty(self.path, self.vault, walk)
                with locations.writer_lock(self.path, LOCK_SECONDS):
                    report = self._bring_up_to_date(None, progress)
            with closing(opened or Store.open(self.path)) as store:
                freshness = self.catch_up(store, walk, write) if report is None else Freshness(0, report)
                if write:
                    self.count_uses(store)
                with damage_told(store):
                    yield store, freshness

    def ask(self, question: Callable[[Store, Freshness], T], progress: "Progress | None" = None) -> T:
        """Run a query on the index; if that finds it damaged, rebuild it and run the query again."""
        try:
            with self.reading(progress) as (store, freshness), store.snapshot():
                return question(store, freshness)
        except IndexDamagedError as error:
            self.repair(error, progress)
            with self.reading(progress) as (store, freshness), store.snapshot():
                return question(store, freshness)

    def read(
        self, question: Callable[[View, Freshness], T], scopes: Sequence[str], progress: "Progress | None" = None
    ) -> T:
        """Run a query on what these scopes may see (all if empty), and set `state`."""

        def within(store: Store, freshness: Freshness) -> T:
            view = store.view_asked_for(scopes)
            self._last_read.state = index_state(view, freshness, scopes)
            return question(view, freshness)

        return self.ask(within, progress)

    def repair(self, error: Exception, progress: "Progress | None") -> "Report":
        with schema.mapped_errors(self.path), locations.writer_lock(self.path, LOCK_SECONDS):
            return self._rebuild(self.vault.walk(), f"the index was damaged ({error})", progress)

    def catch_up(self, store: Store, walk: Walk, write: bool) -> Freshness:
        store.outdated = ()
        rows, changes = walk_diff.compare(store, walk)
        unseen = len(changes.unseen)
        pending = len(changes.new) + len(changes.suspect) + len(changes.gone)
        if not pending:
            return Freshness(unseen, unreadable=tuple(walk.unreadable))
        if not write or store.is_frozen:
            # A file saved just before it was indexed may be unchanged: compare the content.
            changed = [f for f in changes.suspect if self.vault.hash(f.path) != rows[f.path].hash]
            pending += unseen + len(changed) - len(changes.suspect)
            store.outdated = (*(f.path for f in changed), *(row.file.path for row in (*changes.gone, *changes.unseen)))
            why = schema.CANNOT_WRITE if write and pending else ""
            return Freshness(pending, unreadable=tuple(walk.unreadable), unwritten=why)
        walk_diff.refuse_empty(self.path, self.vault, walk)
        held_back = self.vault.filters.unknown if changes.new else ""
        try:
            # A busy writer never blocks a reader: the lock holder is catching up already.
            with schema.mapped_errors(self.path), locations.writer_lock(self.path, 0):
                # Walk again under the lock: another process may have indexed notes since the first walk.
                walk = self.vault.walk()
                report = self._apply(store, walk, deadline=time.monotonic() + CATCH_UP_SECONDS)
        except IndexDamagedError:
            raise
        except (BusyError, IndexUnusableError) as error:
            why = error.reason if isinstance(error, IndexUnusableError) else ""
            store.outdated = outdated(store, walk)
            return Freshness(pending + unseen, unreadable=tuple(walk.unreadable), unwritten=why or held_back)
        pending = report.pending + sum(map(walk.cannot_tell, rows) if walk.unreadable else ())
        if pending:
            store.outdated = outdated(store, walk)
        return Freshness(pending, report, tuple(sorted(report.unread)), held_back)

    def _apply(
        self, store: Store, walk: Walk, progress: "Progress | None" = None, deadline: float = float("inf")
    ) -> "Report":
        """Update the index under the writer lock, and remember the number of notes on this device."""
        report = self.indexer(store).update(walk, progress, deadline)
        if report.has_grown:
            self.when_grown(store)
        store.checkpoint()
        locations.remember(self.vault.root, store.count_notes())
        return report

    def count_uses(self, store: Store) -> None:
        """Read new journal lines into the index; if it cannot be written now, a later command does it."""
        if journal.is_behind(store, self.vault.root):
            try:
                with schema.mapped_errors(self.path), locations.writer_lock(self.path, 0), store.writing():
                    journal.read_new_lines(store, self.vault.root, time.monotonic() + CATCH_UP_SECONDS)
            except IndexDamagedError:
                raise
            except (BusyError, IndexUnusableError):
                return
