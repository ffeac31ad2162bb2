"""A vault as it was at the end of a day: what has changed since is read as git, else our own history, had it then.

The index is copied to a temporary file, and there the changed notes are indexed as they were: a question is asked of
the copy and cited from those texts. Of what neither git nor the journal knows the answer says so.
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
from vault_memory.vault.run_preimages import NoteChange, SavedRun
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.vault import Vault

DEADLINE_SECONDS = 3.0
"""How long git may be asked about one day."""


class PastVault(Vault):
    """A vault whose notes are read as they were at the end of `day`."""

    def __init__(self, vault: Vault, present: Store, day: date) -> None:
        super().__init__(vault.config)
        self.day, self._present = day, present
        self._days = note_queries.note_days(present.view(ALL))
        self._certain: dict[str, str] = {}
        """What certainly stood there by then: the hash that git gives the whole text."""
        self._texts: dict[str, bytes | None] = {}
        """What notes held, where that is another text than now; None for those that were not there."""
        self._lines: dict[str, set[str] | None] = {}
        self._read_git()
        with suppress(VaultMemoryError):  # a damaged run tells nothing
            self._read_history()
        absent = [path for path, text in self._texts.items() if text is None]
        for path in absent:
            passages = note_queries.note_tokens(present.view(ALL), path)[1]
            if self._answered(enumerate(map(journal.passage_key, passages))):
                del self._texts[path]

    def _read_git(self) -> None:
        git = GitHistory(self.root, time.monotonic() + DEADLINE_SECONDS)
        own = {path: date.fromisoformat(day) if day else None for path, day in self._days.items()}
        now, versions = git.now, git.versions(self.day, own)
        # What git has and the index has not was deleted since, or is none of the notes.
        versions = {p: v for p, v in versions.items() if p in own or (p not in now and not self.is_left_out(p))}
        changed = {path: v.blob for path, v in versions.items() if v and v.blob != now.get(path)}
        held = git.texts(changed.values())
        for path, version in versions.items():
            blob = version.blob if version else ""
            if version is None or blob in held:
                self._texts[path] = held.get(blob)
            if version and version.is_certain and (blob in held or path not in changed):
                self._certain[path] = blob

    def _read_history(self) -> None:
        """What our own writers kept of notes that git does not know, from before their first change since."""
        kept: dict[str, tuple[SavedRun, NoteChange]] = {}
        for run in UndoHistory(self.root).runs():  # newest first
            if run.started.astimezone().date() > self.day:
                kept |= {change.path: (run, change) for change in reversed(run.changes())}
        for path, (run, change) in kept.items():
            if path in self._days and path not in self._certain and path not in self._texts:
                self._texts[path] = run.text(change)

    def read(self, path: str) -> bytes:
        """The bytes of a note as it was then; raises OSError like `Vault.read`."""
        text = self._texts.get(path)
        return super().read(path) if text is None else text

    def index(self) -> Store:
        """The index of the notes as they were, a copy. What was forgotten since stays forgotten."""
        store = self._present.temporary_copy()
        changed = {path: text for path, text in self._texts.items() if text is None or not self._has_grown(path, text)}
        Indexer(self, store).replace(changed, set(journal.forgotten(self._present)))
        return store

    def _has_grown(self, path: str, then: bytes) -> bool:
        """Whether a note has only got more lines since: its passages need not be made again, `holds` tells them."""
        try:
            return set(then.splitlines()) <= set(super().read(path).splitlines())
        except OSError:
            return False

    def holds(self, path: str, text: str, is_part: bool = False) -> bool:
        """Whether a note had these lines then, or one of which this is a part."""
        if path not in self._lines:
            lines = decoded_lines(self._texts[path] or b"")[0] if path in self._texts else None
            self._lines[path] = None if lines is None else {line.strip() for line in lines}
        then = self._lines[path]
        if then is None or is_part:
            return then is None or any(text in line for line in then)
        return then.issuperset(line.strip() for line in text.splitlines())

    # --- what is known of an answer -----------------------------------------------------------------------------------

    def count_later(self, results: Iterable[Result]) -> int:
        """How many of the results that the vault gives now were written later."""
        parts = ((r.path, part, r.truncated) for r in results for part in r.content.split(JOINER))
        return sum(not self.holds(*part) for part in parts)

    def unknown(self, found: Iterable[tuple[Candidate, NoteInfo]]) -> dict[int, str | None]:
        """Those passages of which nothing says that they were there by then, with their notes' own days."""
        doubtful = {passage.id: (passage, note.day) for passage, note in found if not self._is_certain(note.path)}
        seen = self._answered((i, journal.passage_key(passage.text)) for i, (passage, _) in doubtful.items())
        return {i: day for i, (_, day) in doubtful.items() if i not in seen}

    def say_unknown(self, days: Sequence[str | None]) -> list[tuple[str, str]]:
        """What the answer must say of results that nothing dates, by their notes' days."""
        parts = (
            (days.count(None), "from notes without a day"),
            (len(days) - days.count(None), "by the note's day alone"),
        )
        said = [f"{count} result{'s' * (count > 1)} {what}" for count, what in parts if count]
        return [("as-of", f"not known to have been written by {self.day}: {', '.join(said)}")] if said else []

    def _is_certain(self, path: str) -> bool:
        if path in self._certain and path not in self._texts:
            try:  # what is not committed may have been written since
                is_same = is_blob(super().read(path), self._certain[path])
            except OSError:
                is_same = False
            if not is_same:
                del self._certain[path]
        return path in self._certain

    def _answered(self, keys: Iterable[tuple[int, int]]) -> set[int]:
        """Those passages that answered a question by then: they were there."""
        return note_queries.used_by(self._present.view(ALL), keys, self.day)
