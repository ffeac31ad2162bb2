"""Writes to notes on request (retain, forget, edit, new notes, undo), and keeps the index and the journal in step.

retain.py, forget.py, edit.py and new_note.py compose the edits; undo.py takes back what any command wrote.
"""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from vault_memory.config import template
from vault_memory.errors import ConflictError, UsageError, VaultError, VaultMemoryError
from vault_memory.indexing import walk_diff
from vault_memory.indexing.index_file import LOCK_SECONDS, IndexFile
from vault_memory.markdown import facts, provenance
from vault_memory.markdown.note import one_line
from vault_memory.markdown.parse import parse
from vault_memory.search.get import OpenScopes
from vault_memory.store import journal, note_queries, schema
from vault_memory.store.view import ALL, Store, View
from vault_memory.vault import locations
from vault_memory.vault.undo_history import UndoHistory, UndoReport
from vault_memory.vault.undo_record import UndoRecord
from vault_memory.vault.vault import content_hash
from vault_memory.write import edit, forget, new_note, retain, undo
from vault_memory.write.comparison import CREATE, MERGE, SAME, SKIP, Comparison
from vault_memory.write.edit import EditRequest, EditResult
from vault_memory.write.forget import ForgetResult, Removal
from vault_memory.write.new_note import NewNote, StoredNote
from vault_memory.write.retain import Bullet, RetainResult
from vault_memory.write.rewrite import Rewriter, read_current

T = TypeVar("T")

_CITED = re.compile(r"forgotten: .*#L(?P<line>\d+)(?:-L\d+)?")

MAX_NOTES_OF_ONE_NAME = 100
"""Maximum number of notes with the same title in one minute: a caller that creates more is in a loop."""


class NoteWriter:
    """Writes to the notes of an index file's vault."""

    def __init__(self, index_file: IndexFile) -> None:
        self._index, self.vault = index_file, index_file.vault

    def retain_once(
        self, bullet: Bullet, today: date, scopes: tuple[str, ...], even_if_similar: bool
    ) -> RetainResult | Comparison:
        """Retain a fact, or return its comparison with one in these scopes that says (nearly) the same; atomic."""
        with self._alone():
            compared = self._find(lambda view: retain.compare(view, bullet, today), scopes) or Comparison(CREATE)
            if compared.decision == SAME or (compared.decision in (SKIP, MERGE) and not even_if_similar):
                return compared
            return replace(self._retain(bullet, today), resembles=retain.resemblance(compared))

    def create_once(self, filing: NewNote, now: datetime, scopes: tuple[str, ...]) -> StoredNote | str:
        """Create a note and index it, or return the path of the one in these scopes that it would repeat.

        `now` is local time: it names the note. Raises UsageError for an empty note.
        """
        with self._alone():  # of two concurrent writers, only one writes
            if same := self._find(lambda view: new_note.find_same(view, self.vault, filing, now), scopes):
                return same
            new_note.check(filing)
            retain.check_entities(filing.entities)
            self._refuse_unfit()
            data = new_note.note(filing, now, self._index.config.folder_scopes)
            for attempt in range(MAX_NOTES_OF_ONE_NAME):
                path = new_note.path(filing, now, attempt)
                with suppress(ConflictError):  # another note of that title and minute
                    self.vault.write(path, data, None)
                    return new_note.StoredNote(path, self._findable(path))
            raise ConflictError(f"There are {MAX_NOTES_OF_ONE_NAME} notes like {path}.", "Choose another title.")

    def _find(self, question: Callable[[View], T], scopes: tuple[str, ...]) -> T | None:
        return None if self._index.unusable() else self._index.read(lambda view, _: question(view), scopes)

    def retain(self, bullet: Bullet, day: date) -> RetainResult:
        """Append a fact to a day's note and index it."""
        with self._alone():
            known = self._asked(lambda store: retain.resemblance(retain.compare(store.view(ALL), bullet, day)), "")
            return self._retain(bullet, day, known and f"{known}.")

    def _retain(self, bullet: Bullet, day: date, warning: str = "") -> RetainResult:
        self._refuse_unfit()
        done = retain.retain_bullet(self._rewriter, bullet, day, template("daily.md"))
        said = (self._findable(done.path), self._take_back(bullet), warning)
        return replace(done, warning=" ".join(filter(None, said)))

    def _refuse_unfit(self) -> None:
        """Raise RefusedError if the index belongs to another vault, or the notes have vanished."""
        schema.refuse_foreign(self._index.path, self._index.config.index_path)
        walk_diff.refuse_empty(self._index.path, self.vault, self.vault.walk())

    def amend(self, wanted: EditRequest, scopes: tuple[str, ...] = ()) -> EditResult:
        """Make one exact edit in a note, keep its pre-image, and index the result.

        With `scopes`, the caller can edit, and sees in the diff, only lines in them. Raises UsageError or ConflictError
        if the edit cannot be made as requested; nothing is written then.
        """
        opened = OpenScopes(scopes, self._index.config.folder_scopes, self.vault.layout)
        edit.check(wanted)
        walk_diff.refuse_empty(self._index.path, self.vault, self.vault.walk())
        with self._run("edit") as run:

            def compose(before: bytes | None) -> tuple[bytes, str]:
                after = edit.apply_edit(wanted, before, opened)
                run.keep(wanted.path, before, after, f"edited by {wanted.by or provenance.PERSON}: {wanted.action}")
                return after, edit.diff(wanted, before, after, opened)

            difference = self._rewriter.rewrite(wanted.path, compose)
            return edit.EditResult(wanted.path, difference, run.name, self._findable(wanted.path))

    @contextmanager
    def _run(self, kind: str) -> Iterator[UndoRecord]:
        """Hold the writer lock and yield a run for pre-images; it is dropped if the write fails."""
        run = UndoHistory(self.vault.root).begin(kind)
        with self._alone():
            try:
                yield run
            except VaultMemoryError:
                run.drop()
                raise

    def forgettable(self, path: str, first: int, last: int, said: str | None = None) -> Removal:
        """What forgetting these lines of a note would remove; writes nothing.

        `said` is their expected text, "" for the text in the index; raises ConflictError if they say something else,
        UsageError if they are neither a fact nor a list item, RefusedError for a path outside the vault.
        """
        found = self.vault.locate(path)
        data = read_current(self.vault, found) if found else None
        if found is None or data is None:
            raise UsageError(f"There is no note `{path}`.", "A note is named by its path in the vault.")
        planned = forget.removal(found, data, first, last, self.vault.layout)
        if as_indexed := said == "":
            self._refuse_outdated(planned, first)
            said = self._asked(lambda store: note_queries.text_at(store.view(ALL), found, first), None)
        forget.check_text(planned, said, as_indexed)
        return planned

    def _refuse_outdated(self, planned: Removal, line: int) -> None:
        """Raise ConflictError if that line may have been cited before another removal in the note moved it."""
        now = one_line(planned.text)
        for was in map(one_line, self._earlier_texts(planned.path, line)):
            if was != now:
                raise ConflictError(
                    f'{planned.path}#L{line} said "{was:.200}" before something was forgotten in that note, '
                    f'and says "{now:.200}" now: nothing was written.',
                    "Say with --text what the line says that is to be forgotten.",
                )

    def _earlier_texts(self, path: str, line: int) -> Iterator[str]:
        """Yield what could have been forgotten at that line before each earlier removal in the note."""
        for run in UndoHistory(self.vault.root).runs("forget"):
            with suppress(VaultMemoryError):  # nothing forgettable there, or damaged history
                for change in [] if run.is_undone else run.changes():
                    if change.path == path:
                        yield forget.removal(path, run.text(change) or b"", line, line, self.vault.layout).text

    def forget(self, planned: Removal) -> ForgetResult:
        """Make the removal that `forgettable` planned, keep the note's pre-image, and record the text's hash.

        Raises ConflictError if the note has changed since.
        """
        path, is_noted = planned.path, self._stands_elsewhere(planned)
        with self._run("forget") as run, ExitStack() as tries:

            def compose(before: bytes | None) -> tuple[bytes, None]:
                nonlocal is_noted
                if before != planned.before:
                    raise ConflictError(f"{path} was changed meanwhile; nothing was written.", "Run it again.")
                run.keep(path, before, planned.after, f"forgotten: {planned.source}")
                # Before the note is written, so that a kill in between cannot remove a fact without a record of it.
                if not is_noted:
                    is_noted = True
                    run.note({"forgot": journal.digits(planned.key), "note": path}, path)
                    tries.enter_context(self._noting(planned.key, planned.source))
                return planned.after, None

            self._rewriter.rewrite(path, compose)
            return ForgetResult(planned, run.name, run.place, tuple(self._unindexed(planned)))

    def _stands_elsewhere(self, planned: Removal) -> bool:
        """Whether the same fact also occurs elsewhere: forgetting this one must not mark the other as forgotten."""
        note = parse(planned.path, planned.after)
        if any(forget.key(note, fact.start_line) == planned.key for fact in facts.facts(note, None)):
            return True
        found = self._asked(
            lambda store: note_queries.same_words(store.view(ALL), planned.wording), list[note_queries.KnownFact]()
        )
        return any(known.key == planned.key and known.path != planned.path for known in found)

    def undo(self, name: str, *, dry_run: bool, force: bool) -> UndoReport:
        """Undo the run of that name, "" for the newest; raises like `undo.undo`."""
        return undo.undo(self._index, name, self._unforgetting, dry_run=dry_run, force=force)

    def _unforgetting(self, run: UndoRecord, paths: Collection[str]) -> AbstractContextManager[object]:
        """Clear the tombstones of what a run forgot while an undo restores it in these notes.

        They are set again if the undo fails. Raises RefusedError or VaultError if the journal cannot be written.
        """
        keys = {path: journal.signed(key) for path, key in run.forgotten().items()}
        if run.kind == "forget" and not keys:  # from a release without such records, or it also occurred elsewhere
            keys = dict(self._forgotten_keys(run))
        held = ExitStack()
        for path in keys.keys() & paths:
            held.enter_context(self._noting(keys[path]))
        return held

    def _forgotten_keys(self, run: UndoRecord) -> Iterator[tuple[str, int]]:
        """Yield the notes of a run and the keys of what it removed, from its recorded reasons, if still forgotten."""
        for change in run.changes():
            if cited := _CITED.fullmatch(change.why):
                with suppress(VaultMemoryError):
                    line, before = int(cited["line"]), run.text(change) or b""
                    key = forget.removal(change.path, before, line, line, self.vault.layout).key
                    if (last := self._last_word(key)) and last.stands:
                        yield change.path, key

    @contextmanager
    def _noting(self, key: int, source: str = "") -> Iterator[None]:
        """Record in the journal that a text is forgotten (at `source`), or, without `source`, no longer is; and the
        opposite if the body fails, unless the journal said the same before."""
        is_forgotten = bool(source)
        cited = journal.CitedPassage(source, key)
        was = self._last_word(cited.key)
        now = journal.later(datetime.now(UTC), was.at if was else None)

        def say(is_forgotten: bool, at: datetime) -> None:
            if is_forgotten:
                return journal.note_tombstone(self.vault.root, cited, at)
            return journal.note_restored(self.vault.root, cited.key, at)

        try:
            say(is_forgotten, now)
        except VaultError as error:
            raise VaultError(f"{error} No note was changed.", error.next_step) from error
        try:
            yield
        except VaultMemoryError:
            if not (was and was.at and was.stands == is_forgotten):
                with suppress(VaultMemoryError):  # the original error is reported
                    say(not is_forgotten, max(datetime.now(UTC), now + timedelta(microseconds=1)))
            raise

    def _alone(self) -> AbstractContextManager[None]:
        """The writer lock: concurrent writers wait for each other instead of mistaking each other for an editor."""
        return locations.writer_lock(self._index.path.with_name("retain"), LOCK_SECONDS)

    def _take_back(self, bullet: Bullet) -> str:
        """Record that a forgotten fact was deliberately written again; returns why that failed, or ""."""
        known = forget.key(bullet.note(), 2)
        last = self._last_word(known)
        if last is None or not last.stands:
            return ""
        try:
            journal.note_restored(self.vault.root, known, journal.later(datetime.now(UTC), last.at))
        except VaultMemoryError as error:
            return f"The fact is written, but still counts as forgotten: {error}"
        return ""

    def _last_word(self, key: int) -> journal.Tombstone | None:
        """The latest tombstone or restoration of a text, or None; a placeholder if the index cannot be read."""
        unknown: journal.Tombstone | None = journal.Tombstone(0, stands=True)
        return self._asked(lambda store: journal.last_word(store, key), unknown)

    def _asked(self, question: Callable[[Store], T], otherwise: T) -> T:
        """The answer of the index as it is, or `otherwise` if it cannot be read."""
        with suppress(VaultMemoryError):
            schema.refuse_foreign(self._index.path, self._index.config.index_path)  # opening one would change it
            with Store.opened(self._index.path) as store:
                return question(store)
        return otherwise

    def _unindexed(self, done: Removal) -> Iterator[str]:
        """Update the index, if there is one; yields warnings, such as where the same words still occur."""
        if not self._index.path.exists():
            return
        try:
            self._index_own(done.path)
            with Store.opened(self._index.path) as store:
                others = [known.source for known in note_queries.same_words(store.view(ALL), done.wording)]
            if others:
                yield f"The same words still stand at {', '.join(others)}."
        except VaultMemoryError as error:
            yield f"It is out of the note, but the index does not know that yet: {error}"

    def _findable(self, path: str) -> str:
        """Index a note this program wrote; returns a warning if it cannot be recalled, or "": raising would make the
        caller write it a second time, and the next command indexes it."""
        try:
            own = self._index_own(path)
        except VaultMemoryError as error:
            return f"It is written, but not searchable yet: {error}"
        return "" if own else f"{path} is left out of the index by the settings: it cannot be recalled."

    def _index_own(self, path: str) -> bool:
        """Index a note this program wrote, and store its hash; returns whether the settings allow it to be indexed."""
        self._index.update([path])
        with Store.opened(self._index.path) as store, store.writing():
            own = note_queries.note_hash(store.view(ALL), path)
            if own:
                store.set_meta(f"own:{path}", own.hex())
        return bool(own)

    @property
    def _rewriter(self) -> Rewriter:
        return Rewriter(
            self.vault,
            is_own=lambda path, data: self._asked(lambda s: s.meta(f"own:{path}"), None) == content_hash(data).hex(),
            is_known=lambda path: self._asked(lambda s: note_queries.note_hash(s.view(ALL), path) is not None, False),
        )
