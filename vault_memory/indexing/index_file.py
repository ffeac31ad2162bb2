"""One vault's index file: opened, brought up to date, built anew and swapped in, repaired when damaged."""

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vault_memory.config import Config, template
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import BusyError, IndexDamagedError, IndexUnusableError, RefusedError, VaultMemoryError
from vault_memory.indexing import walk_diff
from vault_memory.startup import vault_id
from vault_memory.store import journal, schema
from vault_memory.store.view import ALL, Store, View
from vault_memory.vault import locations
from vault_memory.vault.safe_files import private
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import Walk, printable

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Indexer, Progress, Report

T = TypeVar("T")

CATCH_UP_SECONDS = 1.0
"""How long a recall may spend on changed notes before it answers from what it has."""

LOCK_SECONDS = 30.0


def outdated(store: Store, walk: Walk) -> tuple[str, ...]:
    """The notes that are gone, or whose size or times are not those of their row."""
    return tuple(path for path, row in store.notes().items() if walk.files.get(path) != row.file)


@contextmanager
def damage_told(store: Store) -> Iterator[None]:
    """Have what cannot be read out of an index's rows be told as damage where the index is damaged.

    SQLite itself notices only what it stumbles over: a row may just hold something else.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        from vault_memory.store.content_digest import damage

        if not isinstance(error, UnicodeDecodeError) and (verdict := damage(store)):
            raise IndexDamagedError(verdict, "Run `memory index --rebuild`.") from error
        raise


class Freshness(NamedTuple):
    """How many notes the index was behind when it was asked."""

    pending: int
    report: "Report | None" = None
    """What the catch-up did, when there was something to do."""
    unreadable: tuple[str, ...] = ()
    """Folders and files that could not be looked at: what the index knows of them cannot be checked."""
    unwritten: str = ""
    """Why it could not be brought up to date, where that is no other process at work."""

    @property
    def fresh(self) -> bool:
        return not self.pending

    def degraded(self, scopes: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """What an answer says of the index: rebuilt, not up to date, unreadable parts; with scopes, no paths."""
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
    """The index an answer came from, and what is to be said of it."""

    fresh: bool
    pending: int
    generation: int
    notes: int
    degraded: tuple[tuple[str, str], ...] = ()


def index_state(view: View, freshness: Freshness, scopes: Sequence[str]) -> IndexState:
    """What an answer out of this index says of it, to an asker who sees these scopes."""
    return IndexState(
        freshness.fresh, freshness.pending, view.generation, view.count_notes(), freshness.degraded(scopes)
    )


class IndexFile:
    """One vault's index: `path` is where it lies, `place` "vault" or why it lies elsewhere."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.vault = Vault(config)
        self.path, self.place = locations.index_place(config, self.vault.root)
        self.when_grown: Callable[[Store], None] = lambda store: None
        """Called under the writer lock when the index has grown or shrunk by a tenth, or was built."""
        self._last_read = threading.local()

    @property
    def state(self) -> IndexState | None:
        """The index that this thread's last `read` came from."""
        return getattr(self._last_read, "state", None)

    def close(self) -> None:
        """Close what is held open (HeldIndex)."""

    def update(
        self, paths: Collection[str] | None = None, progress: "Progress | None" = None, rebuild: bool = False
    ) -> "Report":
        """Bring the index up to date, all of it or what is at and below `paths`, or build a new one and swap it in.

        Raises RefusedError when too much would be lost, BusyError when another process keeps writing.
        """
        started = time.monotonic()
        if not self.path.exists():
            # Before its folder is made anew in what may be the place of a drive that is not mounted.
            walk_diff.refuse_empty(self.path, self.vault, self.vault.walk())
        with schema.mapped_errors(self.path), locations.writer_lock(self.path, LOCK_SECONDS):
            schema.sweep(self.path)
            report = self._bring_up_to_date(paths, progress, "asked for" if rebuild else "")
        report.seconds = time.monotonic() - started
        return report

    def relative(self, path: str) -> str:
        """A path of a note or folder that somebody gave, as `update` takes it; raises RefusedError for one outside."""
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
        """Under the writer lock; `rebuild` says why the index is to be built anew in any case."""
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
                    walk = self.vault.walk()  # so many at once are measured against the whole vault (law 7)
                report = self._apply(store, walk, progress)
                if journal.is_behind(store, self.vault.root):
                    with store.writing():
                        journal.read_new_lines(store, self.vault.root)
                embedding_rows.sweep(store)
            return report
        except IndexDamagedError as error:
            return self._rebuild(self.vault.walk(), f"the index was damaged ({error})", progress)

    def unusable(self) -> str:
        """Why the index must be built anew, or ""."""
        store, why = self.open()
        if store:
            store.close()
        return why

    def open(self) -> tuple[Store | None, str]:
        """The index, or why it cannot be used and must be built anew."""
        schema.refuse_foreign(self.path, self.config.index_path)
        if not self.path.exists():
            return None, "there was none"
        try:
            with schema.mapped_errors(self.path):
                store = Store.open(self.path)
                if not store.is_index():
                    store.close()
                    return None, "it was not an index of this program"
                whose, made_by = store.meta("vault"), store.meta("fingerprint")
        except IndexDamagedError as error:
            return None, f"it was damaged ({error})"
        if self.config.index_path and whose not in (None, vault_id(self.vault.root)):
            store.close()
            raise RefusedError(
                f"The index {self.path} belongs to another vault.",
                "Let index.path name a folder: each vault then has its own index in it.",
            )
        if made_by == self.fingerprint():
            return store, ""
        store.close()
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
                # What configured embedders made may have cost hours: all of it that can be read goes over.
                with suppress(VaultMemoryError), Store.opened(self.path) as old, store.writing():
                    embedding_rows.carry_over(store, old)
            schema.swap_in(built, self.path)
            locations.remember(self.vault.root, report.added)
        finally:
            built.unlink(missing_ok=True)
        # The derived files are kept out of the user's version control; an existing .gitignore is theirs.
        file = locations.derived(self.vault.root, ".gitignore")
        if file and file.parent.is_dir() and not file.exists():
            with suppress(OSError), open(file, "x", encoding="utf-8", opener=private) as handle:
                handle.write(template("gitignore").read_text("utf-8"))
        report.rebuilt = why
        return report

    def fingerprint(self) -> str:
        """What an index's rows depend on besides the notes, folders' scopes too: equal when it can be used (law 9)."""
        config, daily = self.config, self.vault.daily
        versions = ";".join(f"{name}={number}" for name, number in schema.VERSIONS.items())
        names = (daily.folder, daily.format, config.bank_folder, config.core_file)
        return (
            f"{versions};tokens=cl100k_base;embedder={builtin().id};names={names};scopes={sorted(config.folder_scopes)}"
        )

    def indexer(self, store: Store) -> "Indexer":
        from vault_memory.indexing.indexer import Indexer  # lazy: a recall with nothing to catch up needs none of it

        return Indexer(self.vault, store)

    def check(self, progress: "Progress | None" = None) -> tuple[str, str]:
        """The digests of the index, brought up to date, and of a fresh build: equal when all is well.

        Raises BusyError where they differ and notes were saved meanwhile: then that proves nothing.
        """
        from vault_memory.store.content_digest import digest

        # Under the lock: no other writer sweeps away the fresh build, and both see the same notes.
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
        """Open the index after a bounded catch-up with changed notes; builds it when there is none that can be used.

        With `write=False` what is behind is only counted.
        """
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
        """Read from the index; one found to be damaged only now is built anew, and asked again."""
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
        """Read from the index what these scopes open (all where there are none); `state` is then what it was like."""

        def within(store: Store, freshness: Freshness) -> T:
            view = store.view(scopes or ALL)
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
            # A file saved just before it was indexed is only suspected of having changed since.
            changed = [f for f in changes.suspect if self.vault.hash(f.path) != rows[f.path].hash]
            pending += unseen + len(changed) - len(changes.suspect)
            store.outdated = (*(f.path for f in changed), *(row.file.path for row in (*changes.gone, *changes.unseen)))
            why = schema.CANNOT_WRITE if write and pending else ""
            return Freshness(pending, unreadable=tuple(walk.unreadable), unwritten=why)
        walk_diff.refuse_empty(self.path, self.vault, walk)
        held_back = self.vault.filters.unknown if changes.new else ""
        try:
            # A busy writer never blocks reading: whoever holds the lock is catching up already.
            with schema.mapped_errors(self.path), locations.writer_lock(self.path, 0):
                # Only a walk made under the lock tells: another may have indexed a new note since the first one.
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
        """Bring the index up to date under the writer lock, and note on this device how many notes there are."""
        report = self.indexer(store).update(walk, progress, deadline)
        if report.has_grown:
            self.when_grown(store)
        store.checkpoint()
        locations.remember(self.vault.root, store.count_notes())
        return report

    def count_uses(self, store: Store) -> None:
        """Read what is new in the journals; where the index cannot be written now, the next command does it."""
        if journal.is_behind(store, self.vault.root):
            try:
                with schema.mapped_errors(self.path), locations.writer_lock(self.path, 0), store.writing():
                    journal.read_new_lines(store, self.vault.root, time.monotonic() + CATCH_UP_SECONDS)
            except IndexDamagedError:
                raise
            except (BusyError, IndexUnusableError):
                return
