"""Writes to notes when asked (retain, forget, edit, new notes), and keeps index and journal in step.

How a note is edited stands in retain.py, forget.py, edit.py and new_note.py.
"""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
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
from vault_memory.vault.run_preimages import SavedRun
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.vault import content_hash
from vault_memory.write import edit, forget, new_note, retain
from vault_memory.write.comparison import CREATE, MERGE, SAME, SKIP, Comparison
from vault_memory.write.edit import EditRequest, EditResult
from vault_memory.write.forget import ForgetResult, Removal
from vault_memory.write.new_note import NewNote, StoredNote
from vault_memory.write.retain import Bullet, RetainResult
from vault_memory.write.rewrite import Rewriter, read_current

T = TypeVar("T")

_CITED = re.compile(r"forgotten: .*#L(?P<line>\d+)(?:-L\d+)?")

MAX_NOTES_OF_ONE_NAME = 100
"""Notes of one title in one minute: whoever makes more is in a loop."""


class NoteWriter:
    """Writes into the notes of the vault that an index file belongs to."""

    def __init__(self, index_file: IndexFile) -> None:
        self._index, self.vault = index_file, index_file.vault

    def retain_once(
        self, bullet: Bullet, today: date, scopes: tuple[str, ...], even_if_similar: bool
    ) -> RetainResult | Comparison:
        """Retain a fact, or tell of the one in these scopes that says the same, or nearly; of two writers one does."""
        with self._alone():
            compared = self._find(lambda view: retain.compare(view, bullet, today), scopes) or Comparison(CREATE)
            if compared.decision == SAME or (compared.decision in (SKIP, MERGE) and not even_if_similar):
                return compared
            return replace(self._retain(bullet, today), resembles=retain.resemblance(compared))

    def create_once(self, filing: NewNote, now: datetime, scopes: tuple[str, ...]) -> StoredNote | str:
        """Make a note and make it searchable, or say which one in these scopes it would only repeat.

        `now` is local: it names the note. Raises UsageError for one that would say nothing.
        """
        with self._alone():  # of two writers at once one writes
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
        """Append a fact to a day's note and make it searchable."""
        with self._alone():
            known = self._asked(lambda store: retain.resemblance(retain.compare(store.view(ALL), bullet, day)), "")
            done = self._retain(bullet, day)
            return replace(done, warning=" ".join(filter(None, (done.warning, known and f"{known}."))))

    def _retain(self, bullet: Bullet, day: date) -> RetainResult:
        self._refuse_unfit()
        done = retain.retain_bullet(self._rewriter(), bullet, day, template("daily.md"))
        said = (self._findable(done.path), self._take_back(bullet))
        return replace(done, warning=" ".join(filter(None, said)))

    def _refuse_unfit(self) -> None:
        """Raise RefusedError where the index is of another vault, or the notes have vanished."""
        schema.refuse_foreign(self._index.path, self._index.config.index_path)
        walk_diff.refuse_empty(self._index.path, self.vault, self.vault.walk())

    def amend(self, wanted: EditRequest, scopes: tuple[str, ...] = ()) -> EditResult:
        """Make one exact edit in a note, keep the note as it was, and make what it says now searchable.

        Who is named `scopes` edits, and is told of, only what lies in them.

        Raises UsageError or ConflictError where the edit cannot be made as it was asked for; nothing is written then.
        """
        opened = OpenScopes(scopes, self._index.config.folder_scopes, self.vault.layout)

        def compose(before: bytes | None) -> tuple[bytes, str]:
            after = edit.apply_edit(wanted, before, opened)
            return after, edit.diff(wanted, before, after, opened)

        edit.check(wanted)
        walk_diff.refuse_empty(self._index.path, self.vault, self.vault.walk())
        with self._run("edit") as run:
            keep = partial(run.keep, why=f"edited by {wanted.by or provenance.PERSON}: {wanted.action}")
            difference = self._rewriter(keep).rewrite(wanted.path, compose)
            return edit.EditResult(wanted.path, difference, run.name, self._findable(wanted.path))

    @contextmanager
    def _run(self, kind: str) -> Iterator[SavedRun]:
        """Keep what notes hold before they are written, of two writers one at a time; nothing where that fails."""
        run = UndoHistory(self.vault.root).begin(kind)
        with self._alone():
            try:
                yield run
            except VaultMemoryError:
                run.drop()
                raise

    def forgettable(self, path: str, first: int, last: int, said: str | None = None) -> Removal:
        """What forgetting these lines of a note would take out; writes nothing.

        `said` is what they are meant to say, "" what the index had there; ConflictError where they say something else.
        Raises UsageError for lines that are neither a fact nor a list item, RefusedError for a way out of the vault.
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
        """Raise ConflictError where that line was cited, maybe, before something else in the note was forgotten."""
        now = one_line(planned.text)
        for was in map(one_line, self._earlier_texts(planned.path, line)):
            if was != now:
                raise ConflictError(
                    f'{planned.path}#L{line} said "{was:.200}" before something was forgotten in that note, '
                    f'and says "{now:.200}" now: nothing was written.',
                    "Say with --text what the line says that is to be forgotten.",
                )

    def _earlier_texts(self, path: str, line: int) -> Iterator[str]:
        """What could have been forgotten at that line before each time that something in the note was."""
        for run in UndoHistory(self.vault.root).runs("forget"):
            with suppress(VaultMemoryError):  # nothing that could be forgotten, or the history is damaged
                for change in [] if run.is_undone else run.changes():
                    if change.path == path:
                        yield forget.removal(path, run.text(change) or b"", line, line, self.vault.layout).text

    def forget(self, planned: Removal) -> ForgetResult:
        """Take out what `forgettable` said, keep the note as it was, and remember the text by its hash.

        Raises ConflictError where the note has changed since.
        """

        def compose(before: bytes | None) -> tuple[bytes, None]:
            if before != planned.before:
                raise ConflictError(f"{planned.path} was changed meanwhile; nothing was written.", "Run it again.")
            return planned.after, None

        is_noted = self._stands_elsewhere(planned)
        with self._run("forget") as run, ExitStack() as tries:

            def keep(path: str, before: bytes | None, after: bytes) -> None:
                nonlocal is_noted
                run.keep(path, before, after, f"forgotten: {planned.source}")
                # Before the note is written: a kill in between must not leave a fact gone that nobody remembers.
                if not is_noted:
                    is_noted = True
                    run.note({"forgot": journal.digits(planned.key), "note": path}, path)
                    tries.enter_context(self._noting(planned.key, planned.source))

            self._rewriter(keep).rewrite(planned.path, compose)
            return ForgetResult(planned, run.name, run.place, tuple(self._unindexed(planned)))

    def _stands_elsewhere(self, planned: Removal) -> bool:
        """Whether the very same fact stands on another line, too: forgetting this one must not mark that."""
        note = parse(planned.path, planned.after)
        if any(forget.key(note, fact.start_line) == planned.key for fact in facts.facts(note, None)):
            return True
        found = self._asked(
            lambda store: note_queries.same_words(store.view(ALL), planned.wording), list[note_queries.KnownFact]()
        )
        return any(known.key == planned.key and known.path != planned.path for known in found)

    def unforgetting(self, run: SavedRun, paths: Collection[str]) -> AbstractContextManager[object]:
        """Have what a run forgot and an undo is about to put back in these notes not count as forgotten any more.

        When that fails, it does again. Raises RefusedError or VaultError when the journal cannot be written.
        """
        keys = {path: journal.signed(key) for path, key in run.forgotten().items()}
        if run.kind == "forget" and not keys:  # one of a release that did not note them, or the fact stood elsewhere
            keys = dict(self._forgotten_keys(run))
        held = ExitStack()
        for path in keys.keys() & paths:
            held.enter_context(self._noting(keys[path]))
        return held

    def _forgotten_keys(self, run: SavedRun) -> Iterator[tuple[str, int]]:
        """The notes of a run and the keys of what it took out, by why it changed them, where those are forgotten."""
        for change in run.changes():
            if cited := _CITED.fullmatch(change.why):
                with suppress(VaultMemoryError):
                    line, before = int(cited["line"]), run.text(change) or b""
                    key = forget.removal(change.path, before, line, line, self.vault.layout).key
                    if (last := self._last_word(key)) and last.stands:
                        yield change.path, key

    @contextmanager
    def _noting(self, key: int, source: str = "") -> Iterator[None]:
        """Have the journal say that a text is forgotten (at `source`), or is not any more.

        When what follows fails it says the contrary, unless it had been so before.
        """
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
                with suppress(VaultMemoryError):  # it is told why the note could not be written
                    say(not is_forgotten, max(datetime.now(UTC), now + timedelta(microseconds=1)))
            raise

    def _alone(self) -> AbstractContextManager[None]:
        """Several writers at once wait for each other instead of taking each other for an editor."""
        return locations.writer_lock(self._index.path.with_name("retain"), LOCK_SECONDS)

    def _take_back(self, bullet: Bullet) -> str:
        """Note that what was forgotten once was written again on purpose; returns why that cannot be noted."""
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
        """What was said last of a text's being forgotten; None when nothing was, an old word where nobody can tell."""
        unknown: journal.Tombstone | None = journal.Tombstone(0, stands=True)
        return self._asked(lambda store: journal.last_word(store, key), unknown)

    def _asked(self, question: Callable[[Store], T], otherwise: T) -> T:
        """The answer of the index as it is, or what is said without one that can be read."""
        with suppress(VaultMemoryError):
            schema.refuse_foreign(self._index.path, self._index.config.index_path)  # opening one would change it
            with Store.opened(self._index.path) as store:
                return question(store)
        return otherwise

    def _unindexed(self, done: Removal) -> Iterator[str]:
        """Bring the index, if there is one, up to date; yields what is to be said: where the same words still stand."""
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
        """Index a note this program wrote; returns what is to be said when its fact cannot be recalled.

        Failing here would make the caller write the fact a second time: the next command indexes it.
        """
        try:
            own = self._index_own(path)
        except VaultMemoryError as error:
            return f"It is written, but not searchable yet: {error}"
        return "" if own else f"{path} is left out of the index by the settings: it cannot be recalled."

    def _index_own(self, path: str) -> bool:
        """Index a note this program wrote, and remember its hash; returns whether the settings let it be indexed."""
        self._index.update([path])
        with Store.opened(self._index.path) as store, store.writing():
            own = note_queries.note_hash(store.view(ALL), path)
            if own:
                store.set_meta(f"own:{path}", own.hex())
        return bool(own)

    def _rewriter(self, keep: Callable[[str, bytes | None, bytes], None] | None = None) -> Rewriter:
        return Rewriter(
            self.vault,
            is_own=lambda path, data: self._asked(lambda s: s.meta(f"own:{path}"), None) == content_hash(data).hex(),
            is_known=lambda path: self._asked(lambda s: note_queries.note_hash(s.view(ALL), path) is not None, False),
            keep=keep,
        )
