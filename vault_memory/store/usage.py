"""Counts of use and tombstones: the journals of all devices replayed into the index, and what they say.

The journal is the truth and the index only caches it (law 1): each file is read once, from where it was left. A
question counts on the first day it was asked, and of what was forgotten and taken back the latest counts, so the order
of lines and files does not matter, and neither does reading a line twice.
"""

import json
import time
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import islice
from pathlib import Path

from vault_memory.store import journal
from vault_memory.store.journal import Event, Mark, Tombstone, Use, Verdict
from vault_memory.store.rows import Store
from vault_memory.store.view import IndexConnection

_SLICE = 2000
"""Lines read at a time: bounds memory for a journal of any length."""


def is_behind(store: Store, root: Path) -> bool:
    """Whether a journal has lines that were not read yet, or is no longer what it was; costs a stat a file."""
    files, marks = journal.files(root), _marks(store)
    return bool(marks.keys() - files.keys()) or any(
        journal.size(file) != marks.get(name, Mark()).size for name, file in files.items()
    )


def catch_up(store: Store, root: Path, deadline: float = float("inf")) -> None:
    """Read what is new in the journals; all of them anew when one vanished or was replaced. In a transaction.

    What is left at the `deadline` (time.monotonic) waits for the next time.
    """
    files, marks = journal.files(root), _marks(store)
    if any(name not in files or not journal.is_continued(files[name], mark) for name, mark in marks.items()):
        store.connection.execute("DELETE FROM used; DELETE FROM tombstone; DELETE FROM verdict; DELETE FROM journal")
        marks = {}
    for name, file in sorted(files.items()):
        _read(store, name, file, marks.get(name, Mark()), deadline)


def _read(store: Store, name: str, file: Path, mark: Mark, deadline: float) -> None:
    """Read one file from its mark on; one that cannot be read is left for the next time."""
    try:
        lines = journal.read(file, mark)
        while batch := list(islice(lines, _SLICE)):
            _count(store, [event for events, _ in batch for event in events])
            mark = batch[-1][1]
            if time.monotonic() > deadline:
                break
    except OSError:
        pass
    store.connection.execute("INSERT OR REPLACE INTO journal VALUES(?, ?, ?, ?)", (name, *mark))


def _count(store: Store, events: Iterable[Event]) -> None:
    used = (
        "INSERT INTO used VALUES(?, ?, ?) ON CONFLICT(passage, question) DO UPDATE SET day = excluded.day"
        " WHERE excluded.day < day"
    )
    tombstone = (
        "INSERT INTO tombstone VALUES(?, ?, ?, ?) ON CONFLICT(passage) DO UPDATE"
        " SET at = excluded.at, day = excluded.day, stands = excluded.stands"
        " WHERE (excluded.at, excluded.stands, excluded.day) > (at, stands, day)"
    )
    verdict = (
        "INSERT INTO verdict VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(what, about, name) DO UPDATE"
        " SET value = excluded.value, at = excluded.at, day = excluded.day"
        " WHERE (excluded.at, excluded.value) > (at, value)"
    )
    events = list(events)
    store.connection.executemany(used, [event for event in events if isinstance(event, Use)])
    store.connection.executemany(tombstone, [event for event in events if isinstance(event, Tombstone)])
    store.connection.executemany(verdict, [event for event in events if isinstance(event, Verdict)])


def _marks(store: IndexConnection) -> dict[str, Mark]:
    return {row[0]: Mark(*row[1:]) for row in store.rows("SELECT file, size, tail, damaged FROM journal")}


def is_any(store: IndexConnection) -> bool:
    """Whether anything was ever of use; if not, nobody needs to hash what was found."""
    return store.one("SELECT 1 FROM used LIMIT 1") is not None


def passages(store: IndexConnection) -> frozenset[int]:
    """All that was ever of use, by the hashes the journal knows it by."""
    return frozenset(passage for (passage,) in store.rows("SELECT DISTINCT passage FROM used"))


def days(store: IndexConnection, keys: Mapping[int, int], today: int) -> dict[int, tuple[int, ...]]:
    """The days of use of each passage, by the hash it is known by; by passage id."""
    pairs = [(key, passage) for passage, key in keys.items()]
    sql = (
        "SELECT j.value ->> 1, min(u.day) FROM json_each(?) j JOIN used u ON u.passage = j.value ->> 0"
        " GROUP BY j.value ->> 1, u.question"
    )
    first: dict[int, list[int]] = {}
    for passage, day in store.rows(sql, json.dumps(pairs)):
        first.setdefault(passage, []).append(day)
    return {passage: counted_days(found, today) for passage, found in first.items()}


# --- what was forgotten ----------------------------------------------------------------------------------------------


def tombstones(store: IndexConnection) -> set[int]:
    """The passages that were forgotten and not taken back, as `journal.passage_key` of their text."""
    return set(forgotten(store))


def forgotten(store: IndexConnection) -> dict[int, date]:
    """The same, each with the day when it was forgotten."""
    sql = "SELECT passage, day FROM tombstone WHERE stands"
    return {passage: date.fromordinal(day) for passage, day in store.rows(sql)}


def last_word(store: IndexConnection, key: int) -> Tombstone | None:
    """The latest that is known of a passage's being forgotten or taken back; None when it never was."""
    rows = store.rows("SELECT passage, at, day, stands FROM tombstone WHERE passage = ?", key)
    return next((Tombstone(passage, at, day, bool(stands)) for passage, at, day, stands in rows), None)


# --- what was said to pages ------------------------------------------------------------------------------------------


def verdicts(store: IndexConnection, what: str) -> list[Verdict]:
    """What people said to what reflect wrote, the latest of each: `what` is one of `journal.VERDICTS`."""
    return [Verdict(*row) for row in store.rows("SELECT * FROM verdict WHERE what = ? ORDER BY about, name", what)]


def counted_days(first_days: Iterable[int], today: int) -> tuple[int, ...]:
    """The days of use, ascending, from the first day of each question a memory answered; later days are not yet.

    A day counts once, and only with a question not asked on an earlier day: neither a job that asks the same every
    morning nor an afternoon of many questions makes a memory important.
    """
    return tuple(sorted({day for day in first_days if day <= today}))
