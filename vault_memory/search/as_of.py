"""Decides which results an answer "as of" a day may give, and what of that cannot be known.

A line is left out when git first saw it after the day, and kept when git or the journal knew it by then. A dated note
may have been committed much later than it was written: what came with its first commit, or on the day after its own,
counts by its day. Of what neither git nor the journal knows the answer says so.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from vault_memory.store import journal, search_rows
from vault_memory.store.candidate import Candidate, NoteInfo
from vault_memory.store.view import View
from vault_memory.vault import git_lines

DEADLINE_SECONDS = 3.0
"""How long git may be asked about one answer."""


class AsOf:
    """What was written by the end of a day."""

    def __init__(self, store: View, root: Path, day: date, notes: Mapping[int, NoteInfo]) -> None:
        self._store, self._root, self._day = store, root, day
        self._notes = notes
        self._deadline = time.monotonic() + DEADLINE_SECONDS
        self._git: dict[int, git_lines.CommittedLines | None] = {}
        self._tracked = git_lines.is_tracked(root)
        self._known: dict[int, bool | None] = {}

    def later(self, places: Iterable[Sequence[Candidate]]) -> set[int]:
        """Those passages of an answer that were written later, by their ids."""
        asked = [p for place in places for p in place]
        fresh = [p for p in asked if p.id not in self._known]
        # What answered a question by then was there.
        seen = search_rows.used_by(self._store, [(p.id, journal.passage_key(p.text)) for p in fresh], self._day)
        for passage in fresh:
            known = self._by_git(passage)
            self._known[passage.id] = True if known is None and passage.id in seen else known
        return {p.id for p in asked if self._known[p.id] is False}

    def unsure(self, places: Iterable[Sequence[Candidate]]) -> list[tuple[str, str]]:
        """What the answer must say of results that nothing dates."""
        first = (place[0] for place in places)
        days = [self._notes[p.note_id].day for p in first if self._known.get(p.id) is None]
        parts = (
            (days.count(None), "from notes without a day"),
            (len(days) - days.count(None), "by the note's day alone"),
        )
        said = [f"{count} result{'s' * (count > 1)} {what}" for count, what in parts if count]
        return [("as-of", f"not known to have been written by {self._day}: {', '.join(said)}")] if said else []

    def _by_git(self, passage: Candidate) -> bool | None:
        """Whether the lines of a passage were there on the day; None when git does not know."""
        if not self._tracked:
            return None
        note = self._notes[passage.note_id]
        if passage.note_id not in self._git:
            self._git[passage.note_id] = git_lines.lines(self._root, note.path, self._deadline)
        known = self._git[passage.note_id]
        if known is None:
            return None
        texts = [text.strip("\ufeff \t\r") for text in passage.text.split("\n")]
        own = date.fromisoformat(note.day) if note.day else None
        return was_there(texts, known, self._day, passage.from_char, own)


def was_there(
    texts: Sequence[str],
    known: git_lines.CommittedLines,
    day: date,
    from_char: int | None = None,
    own_day: date | None = None,
) -> bool | None:
    """Whether all these lines were there on a day, by their commits; a part of a long line is looked for within.

    Not known: the repository's first commit after the day, that of a note with a day (`own_day`) or one until the day
    after that, and a line that is not committed when nothing was committed since.
    """
    found = [_line(text, known, from_char is not None) for text in texts if text]
    if any(line is None for line in found) and known.last > day:
        return False
    late = [line for line in found if line and line.day > day and not line.is_first]
    if own_day:
        late = [line for line in late if not line.is_new and line.day > own_day + timedelta(1)]
    if late:
        return False
    return True if all(line and line.day <= day for line in found) else None


def _line(text: str, known: git_lines.CommittedLines, is_part: bool) -> git_lines.CommittedLine | None:
    if not is_part:
        return known.lines.get(text)
    return min((line for whole, line in known.lines.items() if text in whole), default=None)
