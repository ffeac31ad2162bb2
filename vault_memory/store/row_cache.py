"""Owns the rows a long-lived process keeps at hand until the index changes: passages, and what is said of their notes.

The candidates of different questions are mostly the same rows. They are kept by id, and ids are given again once their
note has changed: so all of them go as soon as the index has grown (`Store.grow`) or was built anew. A process that
answers one question gains nothing here and loses next to nothing.
"""

import json
from collections.abc import Collection, Iterable
from itertools import islice
from sys import intern
from typing import Any, NamedTuple

from vault_memory.store.candidate import Candidate
from vault_memory.store.rows import KINDS
from vault_memory.store.view import View

MOST_PASSAGES, MOST_NOTES = 12_000, 4_000
"""So many rows are kept (0.5 kB each): those of some forty questions."""


class NoteInfo(NamedTuple):
    """What an answer says of a passage's note, and its length for ranking."""

    id: int
    path: str
    day: str | None
    title: str
    headings: str
    header_tokens: int
    tokens: int
    words: int


class Row(NamedTuple):
    """A passage as it is kept; sorts by path, then by id, which is the first of a candidate."""

    path: str
    candidate: Candidate
    embedding: int | None


class Shelf:
    """Rows of one open store."""

    def __init__(self, store: View) -> None:
        self._store = store
        self._passages: dict[int, Row | None] = {}
        self._notes: dict[int, NoteInfo] = {}

    def __len__(self) -> int:
        """How many rows are kept."""
        return len(self._passages) + len(self._notes)

    def clear(self) -> None:
        """Let go of all that is kept: the index has changed."""
        self._passages.clear()
        self._notes.clear()

    def passages(self, ids: Iterable[int]) -> dict[int, Candidate]:
        """The passages with these ids, by path and line; ids that none has are left out.

        Row ids depend on the order of indexing; paths do not, so that equal scores come in the same order everywhere.
        """
        rows = sorted(row for row in self._rows(set(ids)) if row)
        return {row[1].id: row[1] for row in rows}

    def embeddings(self, ids: Iterable[int]) -> dict[int, int]:
        """The embedding of each of these passages in the builtin space."""
        return {row[1].id: row[2] for row in self._rows(list(ids)) if row and row[2] is not None}

    def notes(self, ids: Iterable[int]) -> dict[int, NoteInfo]:
        """The notes with these ids."""
        wanted, kept = list(ids), self._notes
        make_room(kept, len(wanted), MOST_NOTES)
        if missing := [i for i in wanted if i not in kept]:
            sql = (
                "SELECT n.id, n.path, day, title, headings, header_tokens, tokens, words"
                " FROM json_each(?) j JOIN note n ON n.id = j.value"
            )
            kept.update((row[0], NoteInfo._make(row)) for row in self._store.rows(sql, json.dumps(missing)))
        return {i: kept[i] for i in wanted if i in kept}

    def _rows(self, wanted: Collection[int]) -> list[Row | None]:
        """The row of each of these ids, None where no passage has it."""
        kept = self._passages
        make_room(kept, len(wanted), MOST_PASSAGES)
        if missing := [i for i in wanted if i not in kept]:
            sql = (
                "SELECT n.path, p.embedding_id, p.id, note_id, start_line, end_line, from_char, to_char, kind,"
                " p.tokens, section, text FROM json_each(?) j CROSS JOIN passage p ON p.id = j.value"
                " CROSS JOIN note n ON n.id = p.note_id"
            )
            kept.update(dict.fromkeys(missing))
            for path, embedding, *columns in self._store.rows(sql, json.dumps(missing)):
                columns[6] = KINDS[columns[6]]
                kept[columns[0]] = Row(intern(path), Candidate._make(columns), embedding)
        return [kept[i] for i in wanted]


def make_room(kept: dict[int, Any], more: int, most: int) -> None:
    """Let go of the older half where so many more would be too many."""
    if len(kept) + more > most:
        for key in list(islice(kept, max(len(kept) // 2, len(kept) + more - most))):
            del kept[key]
