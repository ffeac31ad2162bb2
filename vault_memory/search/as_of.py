"""Reconstructs a vault as it was at the end of a day, from git or else from our own undo history.

The index is copied to a temporary file in which the changed notes are re-indexed as they were; questions are answered
from the copy and cited from those texts. The answer says which results neither git nor the journal can date.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date

from vault_memory.errors import VaultMemoryError
from vault_memory.indexing.indexer import Indexer
from vault_memory.markdown.note import decoded_lines
from vault_memory.search.answer import Result
from vault_memory.search.fit_budget import JOINER
from vault_memory.store import journal, note_queries
from vault_memory.store.view import ALL, Candidate, NoteInfo, Store
from vault_memory.vault.git_history import GitHistory, is_blob
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.undo_record import NoteChange, UndoRecord
from vault_memory.vault.vault import Vault

DEADLINE_SECONDS = 3.0
"""Time limit for git's queries about one day."""


class PastVault(Vault):
    """A vault whose notes are read as they were at the end of `day`."""

    def __init__(self, vault: Vault, present: Store, day: date) -> None:
        super().__init__(vault.config)
        self.day, self._present = day, present
        self._days = note_queries.note_days(present.view(ALL))
        self._certain: set[str] = set()
        """Notes whose text, as it is read here, certainly existed by then."""
        self._texts: dict[str, bytes | None] = {}
        """Path → text then, where it differs from now; None for notes that did not exist."""
        self._lines: dict[str, set[str] | None] = {}
        self._read_git()
        with suppress(VaultMemoryError):  # ignore a damaged run
            self._read_history()
        absent = [path for path, text in self._texts.items() if text is None]
        for path in absent:
            passages = note_queries.note_tokens(present.view(ALL), path)[1]
            if self._answered(enumerate(map(journal.passage_key, passages))):
                del self._texts[path]

    def _read_git(self) -> None:
        git = GitHistory(self.root, time.monotonic() + DEADLINE_SECONDS)
        own = {path: date.fromisoformat(day) if day else None for path, day in self._days.items()}
        versions = git.versions(self.day, own)
        # A path in git but not in the index was deleted since, or is no note.
        gone = {p for p in versions.keys() - own.keys() if not self.is_left_out(p) and not (self.root / p).exists()}
        versions = {path: version for path, version in versions.items() if path in own or path in gone}
        changed = {path: v.blob for path, v in versions.items() if v and not self._is_now(path, v.blob)}
        held = git.texts(changed.values())
        for path, version in versions.items():
            blob = version.blob if version else ""
            if version is None or blob in held:
                self._texts[path] = held.get(blob)
            if version and version.is_certain and (blob in held or path not in changed):
                self._certain.add(path)

    def _is_now(self, path: str, blob: str) -> bool:
        """Return whether the file itself, not only the latest commit, still has a text of git's."""
        try:
            return is_blob(super().read(path), blob)
        except OSError:
            return False

    def _read_history(self) -> None:
        """Take the pre-images our own writers saved before their first change since, for notes unknown to git."""
        kept: dict[str, tuple[UndoRecord, NoteChange]] = {}
        for run in UndoHistory(self.root).runs():  # newest first
            if run.started.astimezone().date() > self.day:
                kept |= {change.path: (run, change) for change in reversed(run.changes())}
        for path, (run, change) in kept.items():
            if path in self._days and path not in self._certain and path not in self._texts:
                self._texts[path] = run.text(change)

    def read(self, path: str) -> bytes:
        """Return the bytes of a note as it was then; raises OSError like `Vault.read`."""
        text = self._texts.get(path)
        return super().read(path) if text is None else text

    def index(self) -> Store:
        """Return a copy of the index, of the notes as they were. What was forgotten since stays forgotten."""
        store = self._present.temporary_copy()
        changed = {path: text for path, text in self._texts.items() if text is None or not self._has_grown(path, text)}
        Indexer(self, store).replace(changed, set(journal.forgotten(self._present)))
        return store

    def _has_grown(self, path: str, then: bytes) -> bool:
        """Return whether a note has only gained whole passages: it need not be re-indexed, as `holds` filters them."""
        try:
            now = set(super().read(path).splitlines())
        except OSError:
            return False
        old = {line.strip() for line in decoded_lines(then)[0]} - {""}
        passages = note_queries.note_tokens(self._present.view(ALL), path)[1]
        lines = [{line.strip() for line in passage.splitlines()} - {""} for passage in passages]
        return now.issuperset(then.splitlines()) and all(each <= old or not each & old for each in lines)

    def holds(self, path: str, text: str, is_part: bool = False) -> bool:
        """Return whether a note had these lines then or, if `is_part`, a line that contains this text."""
        if path not in self._lines:
            lines = decoded_lines(self._texts[path] or b"")[0] if path in self._texts else None
            self._lines[path] = None if lines is None else {line.strip() for line in lines}
        then = self._lines[path]
        if then is None or is_part:
            return then is None or any(text in line for line in then)
        return then.issuperset(line.strip() for line in text.splitlines())

    # --- what is known of an answer -----------------------------------------------------------------------------------

    def count_later(self, results: Iterable[Result]) -> int:
        """Return how many parts of the current results were written later."""
        parts = ((r.path, part, r.truncated) for r in results for part in r.content.split(JOINER))
        return sum(not self.holds(*part) for part in parts)

    def unknown(self, found: Iterable[tuple[Candidate, NoteInfo]]) -> dict[int, str | None]:
        """Return the passages that nothing proves to have existed by then, with their notes' own days."""
        doubtful = {passage.id: (passage, note.day) for passage, note in found if note.path not in self._certain}
        seen = self._answered((i, journal.passage_key(passage.text)) for i, (passage, _) in doubtful.items())
        return {i: day for i, (_, day) in doubtful.items() if i not in seen}

    def say_unknown(self, days: Sequence[str | None]) -> list[tuple[str, str]]:
        """Return the note to add to the answer about undated results, given their notes' days."""
        parts = (
            (days.count(None), "from notes without a day"),
            (len(days) - days.count(None), "by the note's day alone"),
        )
        said = [f"{count} result{'s' * (count > 1)} {what}" for count, what in parts if count]
        return [("as-of", f"not known to have been written by {self.day}: {', '.join(said)}")] if said else []

    def _answered(self, keys: Iterable[tuple[int, int]]) -> set[int]:
        """Return the passages that answered a question by then, which proves that they existed."""
        return note_queries.used_by(self._present.view(ALL), keys, self.day)
