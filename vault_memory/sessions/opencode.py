"""Owns opencode's sessions: `storage/{session,message,part}` of JSON files, or since 1.2 the database `opencode.db`.

A message that is complete does not change any more, so that reading goes on behind the last one read; where one of
those read before is another by now, or gone, the session is read from the beginning.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw

from vault_memory.sessions import longlines
from vault_memory.sessions.message import ASSISTANT, USER, Message, Record, bytes_of, day_of, noted, text_of
from vault_memory.sessions.source import Found, Reading, Source

TOOL_NAME = "opencode"
DATABASE = "opencode.db"
STILL_WRITTEN_SECONDS = 3600.0
"""A last message without an end is waited for so long: then its writer has died."""
SETTLE_SECONDS = 5.0
"""A last message is left alone for so long: its parts are written after it."""
_SPEAKERS = {"user": USER, "assistant": ASSISTANT}
_NO_TITLE = ("New session", "Child session")


class Stored(NamedTuple):
    """One message as it is stored: its id, and what changes whenever it does."""

    id: str
    stamp: str
    time: float


class Storage(Protocol):
    """Where messages and their parts are."""

    def messages(self, session: str) -> list[Stored]:
        """The messages of a session, oldest first."""

    def message(self, session: str, message: str) -> Any:  # noqa: ANN401
        """One message's JSON; None where it is corrupt."""

    def parts(self, message: str) -> Iterator[Any]:
        """The JSON of a message's parts in order, long texts in it cut; None where it is corrupt."""

    def glance(self, session: str) -> str:
        """What changes with a new message, and while the last one is being written."""

    @property
    def bytes_read(self) -> int:
        """What was read so far."""


@dataclass
class Session:
    """One session."""

    key: str
    name: str
    file: str
    title: str
    folder: str
    storage: Storage
    _listed: list[Stored] | None = field(default=None, repr=False)

    @property
    def listed(self) -> list[Stored]:
        if self._listed is None:
            self._listed = self.storage.messages(self.name)
        return self._listed

    @property
    def stamp(self) -> str:
        return _digest(self.listed, self.title)

    @property
    def glance(self) -> str:
        return f"{self.storage.glance(self.name)} {_digest((), self.title)}"

    def read(self, mark: str) -> Reading:
        """Read the messages behind those that the mark stands for."""
        count, _, digest = mark.partition(" ")
        known = int(count) if count.isdigit() else 0
        holds = bool(mark) and known <= len(self.listed) and _digest(self.listed[:known]) == digest
        reading = Reading(iter(()), not holds, mark)
        reading.records = self._records(known if holds else 0, reading)
        return reading

    def _records(self, start: int, reading: Reading) -> Iterator[Record]:
        before = self.storage.bytes_read
        yield Record(title=self.title, folder=self.folder)
        done = start
        for at in range(start, len(self.listed)):
            if time.monotonic() > reading.deadline:
                reading.is_cut = True
                break
            stored = self.listed[at]
            message = self.storage.message(self.name, stored.id)
            waits = STILL_WRITTEN_SECONDS if _is_being_written(message) else SETTLE_SECONDS
            if at == len(self.listed) - 1 and time.time() - stored.time < waits:
                reading.waits = True
                break
            done = at + 1
            if not isinstance(message, dict):
                reading.skipped += 1
                continue
            yield self._said(message, stored.id, reading)
        reading.mark = f"{done} {_digest(self.listed[:done])}"
        reading.bytes_read += self.storage.bytes_read - before

    def _said(self, message: Mapping[str, Any], id: str, reading: Reading) -> Record:
        times = message.get("time")
        day = day_of(times.get("created")) if isinstance(times, dict) else None
        speaker = _SPEAKERS.get(text_of(message.get("role")))
        found: list[Message] = []
        texts: list[str] = []
        outputs = 0
        for part in self.storage.parts(id):
            if not isinstance(part, dict):
                reading.skipped += 1
            elif part.get("type") == "tool":
                size = _output_bytes(part)
                outputs += size > 0
                found += noted(size, day)
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


def _output_bytes(part: Mapping[str, Any]) -> int:
    state = part.get("state")
    return bytes_of(state.get("output")) if isinstance(state, dict) else 0


def _digest(stored: Sequence[Stored], title: str = "") -> str:
    text = "\n".join((title, *(f"{each.id} {each.stamp}" for each in stored)))
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def found(root: Path) -> Found:
    """The sessions below opencode's folder, those of the database first; subagents' have a parent and are left out."""
    got = Found()
    if not os.path.isdir(root):
        got.is_gone = True
        return got
    sources: dict[str, Source] = {}
    for session in (*_of_database(root, got), *_of_files(root, got)):
        sources.setdefault(session.name, session)
    got.sources = list(sources.values())
    got.is_gone = not (os.path.isdir(root / "storage" / "session") or os.path.isfile(root / DATABASE))
    return got


def _session(value: Any, file: str, storage: Storage) -> Session | None:  # noqa: ANN401
    if not isinstance(value, dict) or not text_of(value.get("id")) or value.get("parentID"):
        return None
    id, title = text_of(value["id"]), text_of(value.get("title"))
    title = "" if title.startswith(_NO_TITLE) else title
    return Session(id, id, file, title, text_of(value.get("directory")), storage)


# --- JSON files ------------------------------------------------------------------------------------------------------


class Files:
    """`storage/message/<session>/msg_*.json` and `storage/part/<message>/prt_*.json`.

    Raises OSError for what is there and cannot be read, or is out of sight with the folder that holds it.
    """

    def __init__(self, storage: Path) -> None:
        self._root = storage
        self.bytes_read = 0

    def messages(self, session: str) -> list[Stored]:
        listed = self._listed(self._root / "message" / session)
        return [self._stored(name.removesuffix(".json"), status) for name, status in listed]

    def _stored(self, id: str, status: os.stat_result) -> Stored:
        """A message; its parts are files of their own, and what they say may change without it."""
        files = [("", status), *self._listed(self._root / "part" / id)]
        stamp = " ".join(f"{name}{each.st_size}.{each.st_mtime_ns}" for name, each in files)
        return Stored(id, stamp, max(each.st_mtime for _, each in files))

    def glance(self, session: str) -> str:
        folder = self._root / "message" / session
        names = os.listdir(folder) if folder.is_dir() else []
        last = max((name for name in names if name.endswith(".json")), default="")
        if not last:
            return ""
        stamp = self._stored(last.removesuffix(".json"), os.stat(folder / last)).stamp
        return f"{os.stat(folder).st_mtime_ns} {stamp}"

    def message(self, session: str, message: str) -> Any:  # noqa: ANN401
        return self.json(self._root / "message" / session / f"{message}.json")

    def parts(self, message: str) -> Iterator[Any]:
        folder = self._root / "part" / message
        for name, _ in self._listed(folder):
            yield self.json(folder / name)

    def json(self, file: Path) -> Any:  # noqa: ANN401
        """A file's JSON, long texts in a large one cut; None where it is corrupt, or is gone meanwhile."""
        cutter = longlines.Cutter()
        try:
            with open(file, "rb") as handle:
                data = handle.read(longlines.LONG_BYTES)
                self.bytes_read += len(data)
                if len(data) == longlines.LONG_BYTES:
                    cutter.feed(data)
                    while piece := handle.read(longlines.PIECE_BYTES):
                        self.bytes_read += len(piece)
                        cutter.feed(piece)
                    data = cutter.finished(0).data or b""
            return json.loads(data)
        except (FileNotFoundError, ValueError, RecursionError):
            return None

    @staticmethod
    def _listed(folder: Path) -> list[tuple[str, os.stat_result]]:
        try:
            with os.scandir(folder) as entries:
                # Ids grow with time, so that their order is that of the talk.
                return sorted(
                    ((entry.name, entry.stat()) for entry in entries if entry.name.endswith(".json")),
                    key=lambda pair: pair[0],
                )
        except FileNotFoundError:
            if folder.parent.is_dir():
                return []
            raise


def _of_files(root: Path, got: Found) -> Iterator[Session]:
    storage = root / "storage"
    files = Files(storage)
    folder = storage / "session"
    try:
        projects = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir()) if folder.is_dir() else []
    except OSError:
        got.cannot_tell.append("")
        return
    if projects and not (os.path.isdir(storage / "message") and os.path.isdir(storage / "part")):
        got.cannot_tell.append("")  # out of sight, and everything would seem to say nothing
        return
    for project in projects:
        try:
            names = sorted(entry.name for entry in os.scandir(folder / project) if entry.name.endswith(".json"))
        except OSError:
            got.cannot_tell.append("")
            continue
        for name in names:
            try:
                value = files.json(folder / project / name)
            except OSError:
                value = None
            session = _session(value, str(folder / project / name), files)
            if session:
                yield session
            elif value is None:
                got.cannot_tell.append(name.removesuffix(".json"))  # half written: what is known of it stays


# --- the database ----------------------------------------------------------------------------------------------------

_SESSIONS = "SELECT id, title, directory, parent_id FROM session ORDER BY id"
_MESSAGES = "SELECT id, time_updated, length(data) FROM message WHERE session_id = ? ORDER BY time_created, id"
_MESSAGE = "SELECT data FROM message WHERE id = ?"
_PARTS = (
    "SELECT CASE WHEN length(CAST(data AS BLOB)) < ?2 THEN data END, length(CAST(data AS BLOB)),"
    " substr(data, 1, 4096) FROM part WHERE message_id = ?1 ORDER BY id"
)


class Database:
    """The tables `message` and `part`, each row's JSON in `data`; opened only to be read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.bytes_read = 0

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
        try:
            with closing(apsw.Connection(str(self._file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
                connection.set_busy_timeout(2000)
                return list(connection.execute(statement, values))
        except apsw.Error as error:
            raise OSError(f"{self._file}: {error}") from error

    def messages(self, session: str) -> list[Stored]:
        return [
            Stored(str(id), f"{updated}.{size}", (updated or 0) / 1000)
            for id, updated, size in self.rows(_MESSAGES, session)
        ]

    def glance(self, session: str) -> str:
        return _digest(self.messages(session))

    def message(self, session: str, message: str) -> Any:  # noqa: ANN401
        return self._json(next((row[0] for row in self.rows(_MESSAGE, message)), None))

    def parts(self, message: str) -> Iterator[Any]:
        for data, size, head in self.rows(_PARTS, message, longlines.LONG_BYTES):
            if data is not None:
                yield self._json(data)
            else:  # SQLite hands over a text whole or not at all
                cut = f" … [{size // 1024:,} kB left out]"
                is_tool = '"tool"' in head
                yield {"type": "tool", "state": {"output": cut}} if is_tool else {"type": "text", "text": cut.strip()}

    def _json(self, data: Any) -> Any:  # noqa: ANN401
        text = data.encode() if isinstance(data, str) else data or b""
        self.bytes_read += len(text)
        try:
            return json.loads(text)
        except (ValueError, RecursionError, TypeError):
            return None


def _of_database(root: Path, got: Found) -> Iterator[Session]:
    file = root / DATABASE
    if not file.is_file():
        return
    database = Database(file)
    try:
        rows = database.rows(_SESSIONS)
    except OSError:
        got.cannot_tell.append("")
        return
    for id, title, folder, parent in rows:
        session = _session({"id": id, "title": title, "directory": folder, "parentID": parent}, str(file), database)
        if session:
            yield session
