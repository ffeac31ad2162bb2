"""Updates the index: diffs the vault against the rows, then stores the changed notes in short transactions.

The steps of a run, and the reasons for their order:
1. Walk the vault (sizes and timestamps only). If it is gone or suddenly empty, the run ends and deletes nothing.
2. Compare with the rows. If size or time differ, or the time is too recent to be trusted, the note is read and its
   hash decides.
3. Write new and changed notes first, each atomically, grouping those stored within a moment into one transaction.
   Delete vanished ones last: a renamed note then still finds its embeddings, and an interrupted run loses nothing.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.indexing.walk_diff import compare, refuse_loss
from vault_memory.markdown.note import Problem, is_note_path
from vault_memory.store import embedding_rows, rows
from vault_memory.store.embedding_rows import Space
from vault_memory.store.search_queries import Lexicon
from vault_memory.store.view import ALL, NoteRow, Store
from vault_memory.vault.vault import Vault, content_hash
from vault_memory.vault.walk import File, Walk

if TYPE_CHECKING:
    from vault_memory.store.rows import PreparedNote

WORKERS_FROM = 300
"""The number of new notes from which worker processes are worth their start-up time (half a second)."""

TOGETHER_SECONDS = 0.1
"""Notes stored within this time share a transaction: a commit costs as much as storing a note, and invalidates every
reader's cached state."""

Progress = Callable[[int, int, int], None]
"""Called with notes done, notes in total, passages written."""


@dataclass
class Report:
    """What one run did; counts are of notes unless named otherwise."""

    added: int = 0
    modified: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    passages: int = 0
    facts: int = 0
    embedded: int = 0
    from_cache: int = 0
    seconds: float = 0.0
    pending: int = 0
    has_grown: bool = False
    """Whether the index has grown or shrunk by a tenth since its words were last counted."""
    rebuilt: str = ""
    """Why the whole index was rebuilt, or ""."""
    problems: list[Problem] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """Files and folders that could not be read in this run."""

    @property
    def changed(self) -> int:
        return self.added + self.modified + self.moved + self.removed

    @property
    def failed(self) -> list[Problem]:
        """The files that could not be indexed."""
        return [problem for problem in self.problems if problem.level == "error"]


class Indexer:
    """Updates one store from one vault."""

    def __init__(self, vault: Vault, store: Store) -> None:
        self._vault, self._store = vault, store
        self._together_seconds = TOGETHER_SECONDS

    def update(
        self, walk: Walk, progress: Progress | None = None, deadline: float = float("inf"), is_load: bool = False
    ) -> Report:
        """Update the index to match `walk`; stop at `deadline` (time.monotonic) and count what is still pending.

        Raises RefusedError, having changed nothing, if the vault is suddenly empty or mostly gone.
        """
        started = time.time_ns()
        known, changes = compare(self._store, walk)
        if changes.gone and walk.covered is None:
            # A note moved during the walk to a folder already visited was seen at neither place.
            walk = walk.joined(self._vault.walk())
            known, changes = compare(self._store, walk)
        new_notes, suspect, gone = (
            sum(is_note_path(file.path) for file in files)
            for files in (changes.new, changes.suspect, [row.file for row in changes.gone])
        )
        unchanged = len(walk.notes) - new_notes - suspect
        report = Report(unchanged=unchanged, problems=list(walk.skipped), unread=list(walk.unreadable))
        moved_from = self._find_moved(changes.new, changes.gone) if changes.gone else {}
        before = self._store.count_notes()
        left = len(walk.notes) if walk.covered is None else before - gone + new_notes
        refuse_loss(before, left, gone - sum(map(is_note_path, moved_from)))
        # A load with unreadable filter settings was refused earlier.
        new = changes.new if is_load or not self._vault.filters.unknown else []
        report.pending += len(changes.new) - len(new)  # they may be among the ignored files
        todo = [*new, *changes.suspect]
        # With a deadline, starting workers alone would use up the time.
        ready: Iterator[PreparedNote | None] = iter(())
        if len(new) >= WORKERS_FROM and deadline == float("inf"):
            from vault_memory.indexing.prepare_note import prepare_in_workers

            ready = prepare_in_workers(self._vault, new)
        try:
            for done, file in enumerate(todo):
                if time.monotonic() > deadline:
                    report.pending += len(todo) - done + len(changes.gone)
                    return report
                self._refresh(file, known.get(file.path), file.path in moved_from, report, next(ready, None))
                if progress:
                    progress(done + 1, len(todo), report.passages)
        finally:
            self._store.commit()  # keep finished notes, whatever ended the run
        moved = {row.id for row in moved_from.values()}
        for row in changes.gone:
            with self._store.writing():
                rows.remove(self._store, row.id)
                self._store.grow()
            report.removed += is_note_path(row.file.path) and row.id not in moved
        if changes.new or changes.suspect or changes.gone:
            with self._store.writing():
                if walk.covered is None:  # a partial walk must not make the other files' timestamps trusted
                    self._store.set_meta("checked_ns", started)
                report.has_grown = Lexicon(self._store.view(ALL)).refresh(self._store)
        return report

    def load(self, walk: Walk, progress: Progress | None = None) -> Report:
        """Fill an empty index in one transaction: a failed build is discarded as a whole.

        Raises VaultError or RefusedError if the vault, or most of it, vanishes meanwhile (law 7).
        """
        self._together_seconds = float("inf")
        report = self.update(walk, progress, is_load=True)
        vanished, report.pending = report.pending - len(report.unread) + len(walk.unreadable), 0
        if vanished:
            Vault(self._vault.config)
            refuse_loss(len(walk.files), len(walk.files) - vanished, vanished)
        return report

    def replace(self, texts: Mapping[str, bytes | None], without: Collection[int] = ()) -> None:
        """Index notes as if they had these texts (None: not there), `without` the passages with these journal keys."""
        from vault_memory.indexing.prepare_note import prepare
        from vault_memory.store.journal import passage_key

        known = self._store.notes()
        with self._store.writing():
            for path, text in texts.items():
                if text is not None:
                    file = File(path, len(text), 0)
                    ready = prepare(file, text, self._vault)
                    kept = (r for r in ready.passages if not without or passage_key(r.passage.text) not in without)
                    self._put(ready._replace(passages=kept), Report())
                elif path in known:
                    rows.remove(self._store, known[path].id)
            self._store.grow()

    def _find_moved(self, new: list[File], gone: list[NoteRow]) -> dict[str, NoteRow]:
        """New path → row of the vanished note with the same content, so that it counts as a move."""
        by_hash = {row.hash: row for row in gone}
        sizes = {row.file.size for row in gone}
        moved: dict[str, NoteRow] = {}
        for file in new:
            found = self._vault.hash(file.path) if file.size in sizes else None
            if found and (row := by_hash.pop(found, None)):
                moved[file.path] = row
        return moved

    def _refresh(
        self, file: File, row: NoteRow | None, moved: bool, report: Report, ready: "PreparedNote | None" = None
    ) -> None:
        if ready is None:
            data = self._read(file, report)
            if data is None:
                report.pending += 1
                return
            if row and row.hash == content_hash(data):
                report.unchanged += is_note_path(file.path)
                if row.file != file:
                    with self._store.writing(self._together_seconds):
                        rows.touch(self._store, row.id, *file[1:])
                return
            # Imported only here: a recall that finds a recently saved note unchanged does not need the parser.
            from vault_memory.indexing.prepare_note import prepare

            ready = prepare(file, data, self._vault)
        with self._store.writing(self._together_seconds):
            self._put(ready, report)
            self._store.grow()  # in the same transaction: an interrupted run has changed the index, too
        if not is_note_path(file.path):
            return
        if moved:
            report.moved += 1
        elif row:
            report.modified += 1
        else:
            report.added += 1

    def _read(self, file: File, report: Report) -> bytes | None:
        try:
            return self._vault.read(file.path)
        except FileNotFoundError:
            return None  # deleted since the walk: not an error, the next run removes it
        except OSError as error:
            report.problems.append(Problem(file.path, 0, f"cannot be read: {error.strerror or error}", "error"))
            report.unread.append(file.path)
            return None

    def _put(self, prepared: "PreparedNote", report: Report) -> None:
        """Store one note with everything derived from it."""
        note_id, written = rows.put_note(self._store, prepared, builtin().embed_contexts, self._space)
        if self._has_other_spaces:
            embedding_rows.place_note(self._store, note_id)
        report.problems.extend(prepared.problems)
        report.passages += written["passages"]
        report.facts += written["facts"]
        report.embedded += written["embedded"]
        report.from_cache += written["passages"] - written["embedded"]

    @cached_property
    def _has_other_spaces(self) -> bool:
        """Whether this index has vectors of configured embedders, which are reused for unchanged text."""
        return len(embedding_rows.all_spaces(self._store)) > 1

    @cached_property
    def _space(self) -> Space:
        return embedding_rows.make_space(self._store, builtin().id, builtin().dimensions)
