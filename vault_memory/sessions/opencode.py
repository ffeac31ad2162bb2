"""Reads opencode's sessions from its database `opencode.db`, where versions since 1.2 (February 2026) keep them.

A message that is complete does not change any more, so that reading goes on behind the last one read; where one of
those read before is another by now, or gone, the session is read from the beginning.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from vault_memory.sessions.records import (
    SPEAKERS,
    Listing,
    Message,
    Reading,
    Record,
    bytes_of,
    day_of,
    output_note,
    text_of,
)

DATABASE = "opencode.db"
STILL_WRITTEN_SECONDS = 3600.0
"""A last message without an end is waited for so long: then its writer has died."""
SETTLE_SECONDS = 5.0
"""A last message is left alone for so long: its parts are written after it."""
MAX_PART_BYTES = 1 << 20
"""A larger part is a tool's output, of which only the size is told, or a text that is left out."""

_NO_TITLE = ("New session", "Child session")
_SESSIONS = "SELECT id, title, directory, parent_id FROM session ORDER BY id"
_MESSAGES = "SELECT id, time_updated, length(data) FROM message WHERE session_id = ? ORDER BY time_created, id"
_MESSAGE = "SELECT data FROM message WHERE id = ?"
_PARTS = (
    "SELECT CASE WHEN length(CAST(data AS BLOB)) < ?2 THEN data END, length(CAST(data AS BLOB)),"
    " substr(data, 1, 4096) FROM part WHERE message_id = ?1 ORDER BY id"
)


class StoredMessage(NamedTuple):
    """One message as it is stored: its id, what changes whenever it does, and when it last did (seconds since 1970)."""

    id: str
    stamp: str
    time: float


class Database:
    """The tables `message` and `part`, each row's JSON in `data`; opened only to be read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.bytes_read = 0

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
        """The rows of a query; raises OSError."""
        try:
            with closing(apsw.Connection(str(self._file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
                connection.set_busy_timeout(2000)
                return list(connection.execute(statement, values))
        except apsw.Error as error:
            raise OSError(f"{self._file}: {error}") from error

    def messages(self, session: str) -> list[StoredMessage]:
        """The messages of a session, oldest first."""
        rows = self.rows(_MESSAGES, session)
        return [StoredMessage(str(id), f"{updated}.{size}", (updated or 0) / 1000) for id, updated, size in rows]

    def message(self, id: str) -> Any:  # noqa: ANN401
        """One message's JSON; None where it is corrupt."""
        return self._json(next((row[0] for row in self.rows(_MESSAGE, id)), None))

    def parts(self, message: str) -> Iterator[Any]:
        """The JSON of a message's parts in order; None where it is corrupt."""
        for data, size, head in self.rows(_PARTS, message, MAX_PART_BYTES):
            if data is not None:
                yield self._json(data)
            else:  # SQLite hands over a text whole or not at all
                yield {
                    "type": "tool" if '"tool"' in head else "text",
                    "size": size,
                    "text": f"[{size // 1024:,} kB left out]",
                }

    def _json(self, data: Any) -> Any:  # noqa: ANN401
        text = data.encode() if isinstance(data, str) else data or b""
        self.bytes_read += len(text)
        try:
            return json.loads(text)
        except (ValueError, RecursionError, TypeError):
            return None


@dataclass
class Session:
    """One session."""

    key: str
    title: str
    folder: str
    file: str
    database: Database

    @property
    def name(self) -> str:
        return self.key

    @cached_property
    def listed(self) -> list[StoredMessage]:
        return self.database.messages(self.key)

    @property
    def stamp(self) -> str:
        return _digest(self.listed, self.title)

    @property
    def glance(self) -> str:
        return _digest(self.database.messages(self.key), self.title)

    def read(self, mark: str) -> Reading:
        """Read the messages behind those that the mark stands for."""
        count, _, digest = mark.partition(" ")
        known = int(count) if count.isdigit() else 0
        holds = bool(mark) and known <= len(self.listed) and _digest(self.listed[:known]) == digest
        reading = Reading(iter(()), not holds, mark)
        reading.records = self._records(known if holds else 0, reading)
        return reading

    def _records(self, start: int, reading: Reading) -> Iterator[Record]:
        before = self.database.bytes_read
        yield Record(title=self.title, folder=self.folder)
        done = start
        for at in range(start, len(self.listed)):
            if time.monotonic() > reading.deadline:
                reading.is_cut = True
                break
            stored = self.listed[at]
            message = self.database.message(stored.id)
            waits = STILL_WRITTEN_SECONDS if _is_being_written(message) else SETTLE_SECONDS
            if at == len(self.listed) - 1 and time.time() - stored.time < waits:
                reading.waits = True
                break
            done = at + 1
            if isinstance(message, dict):
                yield self._record(message, stored.id, reading)
            else:
                reading.skipped += 1
        reading.mark = f"{done} {_digest(self.listed[:done])}"
        reading.bytes_read += self.database.bytes_read - before

    def _record(self, message: Mapping[str, Any], id: str, reading: Reading) -> Record:
        times = message.get("time")
        day = day_of(times.get("created")) if isinstance(times, dict) else None
        speaker = SPEAKERS.get(text_of(message.get("role")))
        found: list[Message] = []
        texts: list[str] = []
        outputs = 0
        for part in self.database.parts(id):
            if not isinstance(part, dict):
                reading.skipped += 1
            elif part.get("type") == "tool":
                state = part.get("state")
                size = part.get("size") or (bytes_of(state.get("output")) if isinstance(state, dict) else 0)
                outputs += size > 0
                found += output_note(size, day)
            elif part.get("type") == "text" and not (part.get("synthetic") or part.get("ignored")):
                texts.append(text_of(part.get("text")))
        if speaker and any(texts) and message.get("summary") is not True:
            found.append(Message(speaker, "\n".join(texts), day))
        return Record(tuple(found), outputs=outputs)


def _is_being_written(message: Any) -> bool:  # noqa: ANN401
    """Whether the answer goes on: it has neither an end nor an error."""
    if not isinstance(message, dict):
        return True
    times = message.get("time")
    ended = isinstance(times, dict) and times.get("completed")
    return message.get("role") == "assistant" and not ended and not message.get("error")


def _digest(stored: Sequence[StoredMessage], title: str = "") -> str:
    text = "\n".join((title, *(f"{each.id} {each.stamp}" for each in stored)))
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def list_sessions(root: Path) -> Listing:
    """The sessions of opencode's database; subagents' have a parent and are left out."""
    listing, file = Listing(), root / DATABASE
    if not os.path.isfile(file):
        listing.is_gone = True
        return listing
    database = Database(file)
    try:
        rows = database.rows(_SESSIONS)
    except OSError:
        listing.unreadable.append("")
        return listing
    for id, title, folder, parent in rows:
        if text_of(id) and not parent:
            named = "" if text_of(title).startswith(_NO_TITLE) else text_of(title)
            listing.sources.append(Session(id, named, text_of(folder), str(file), database))
    return listing
