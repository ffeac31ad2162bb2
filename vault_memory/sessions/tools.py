"""Reads the transcripts of agents' tools: where each keeps them, what a record says, and only what was appended.

Claude Code writes `~/.claude/projects/<folder>/<session>.jsonl`, OpenClaw
`~/.openclaw/agents/<agent>/sessions/<session>.jsonl`, each a record a line; opencode has a database `opencode.db`.
"""

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import apsw

from vault_memory.config import Config
from vault_memory.sessions.records import (
    NOTHING,
    SPEAKERS,
    Listing,
    Message,
    Reading,
    Record,
    bytes_of,
    day_of,
    output_note,
    read_blocks,
    text_of,
)  # fmt: skip

_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Flags of what nobody said: a subagent's, Claude Code's own, what is told again."""


def tool_folder(tool: str, config: Config, environ: Mapping[str, str]) -> Path:
    """The folder of a tool's transcripts: what the settings name, else what the tool's own variables and custom say."""
    named = {
        "claude-code": config.sessions_claude_code, "opencode": config.sessions_opencode,
        "openclaw": config.sessions_openclaw,
    }[tool]  # fmt: skip
    if named:
        return named
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if tool == "claude-code":
        return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    if tool == "openclaw":
        return Path(environ.get("OPENCLAW_STATE_DIR") or home / ".openclaw") / "agents"
    return Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"


def list_transcripts(tool: str, folder: Path) -> Listing:
    """The transcripts of a tool below its folder."""
    if tool == "opencode":
        return list_sessions(folder)
    if tool == "claude-code":  # `agent-*.jsonl` is a subagent's
        return list_files(folder, "*", lambda name: not name.startswith("agent-"), _claude_code)
    # Checkpoints and archives have further dots.
    return list_files(folder, "*/sessions", lambda name: "." not in name.removesuffix(".jsonl"), _openclaw)


def _claude_code(record: Mapping[str, Any]) -> Record:
    speaker = SPEAKERS.get(text_of(record.get("type")))
    message = record.get("message")
    folder = text_of(record.get("cwd"))
    if speaker is None or not isinstance(message, dict) or any(record.get(flag) for flag in _NOT_SAID):
        return NOTHING._replace(folder=folder)
    return read_blocks(speaker, message.get("content"), day_of(record.get("timestamp")))._replace(folder=folder)


def _openclaw(record: Mapping[str, Any]) -> Record:
    if record.get("type") == "session":
        return Record(folder=text_of(record.get("cwd")))
    message = record.get("message")
    if record.get("type") != "message" or not isinstance(message, dict):
        return NOTHING
    day = day_of(record.get("timestamp") or message.get("timestamp"))
    role, content = text_of(message.get("role")), message.get("content")
    if role in ("toolResult", "tool"):
        return Record(tuple(output_note(bytes_of(content), day)), outputs=1)
    return read_blocks(SPEAKERS[role], content, day) if role in SPEAKERS else NOTHING


HEAD_BYTES, TAIL_BYTES = 1024, 4096

MAX_LINE_BYTES = 6 << 20
"""A longer line is never held: it is a tool's whole output, 50 MB and more, and told of by a note."""
PIECE_BYTES = 256 * 1024

Parse = Callable[[Mapping[str, Any]], Record]
"""A record -> what it says."""


class RawLine(NamedTuple):
    """A line, how long it is, and where it ends in the file; `data` is None if it is too long."""

    data: bytes | None
    size: int
    end: int


def read_lines(file: BinaryIO, start: int) -> Iterator[RawLine]:
    """Each whole line from the offset `start` on; what follows the last line's end is left for another time."""
    file.seek(start)
    at = start
    while piece := file.readline(MAX_LINE_BYTES):
        size, data = len(piece), piece
        while not piece.endswith(b"\n"):
            piece = file.readline(PIECE_BYTES)
            if not piece:
                return
            size += len(piece)
        at += size
        yield RawLine(data if size == len(data) else None, size, at)


@dataclass(frozen=True)
class JsonlFile:
    """One transcript; `size` and `time_ns` as its folder was listed."""

    key: str
    name: str
    file: str
    size: int
    time_ns: int
    parse: Parse
    title: str = ""

    @property
    def stamp(self) -> str:
        return f"{self.size}.{self.time_ns}"

    @property
    def glance(self) -> str:
        return self.stamp

    def read(self, mark: str) -> Reading:
        """Read what was appended since that mark; all of it where the file is another one."""
        handle = open(self.file, "rb")  # noqa: SIM115 - closed when the last record was given
        try:
            offset = _offset(handle, mark)
        except OSError:
            handle.close()
            raise
        reading = Reading(iter(()), offset is None, mark)
        reading.records = self._records(handle, offset or 0, reading)
        return reading

    def _records(self, handle: BinaryIO, offset: int, reading: Reading) -> Iterator[Record]:
        end = offset
        with handle:
            for line in read_lines(handle, offset):
                if time.monotonic() > reading.deadline:
                    reading.is_cut = True
                    break
                end = line.end
                if line.data is None:
                    yield Record(tuple(output_note(line.size)), outputs=1)
                elif (record := _parsed(line.data, reading)) is not None:
                    yield self.parse(record)
            reading.bytes_read += handle.tell() - offset
            reading.is_unfinished = handle.tell() > end and not reading.is_cut
            reading.mark = f"{end} {_look(handle, end)}"


def list_files(root: Path, folders: str, is_transcript: Callable[[str], bool], parse: Parse) -> Listing:
    """The transcripts in a tool's folders: `folders` has a part a level below `root`, each `*` or a name."""
    listing = Listing()
    if not os.path.isdir(root):
        listing.is_gone = True
        return listing
    below = [""]
    for level in folders.split("/"):
        below = [
            f"{folder}{entry.name}/"
            for folder in below
            for entry in _entries(root, folder, listing)
            if level in ("*", entry.name) and entry.is_dir()
        ]
    for folder in below:
        for entry in _entries(root, folder, listing):
            name = entry.name
            if name.startswith(".") or not name.endswith(".jsonl") or not is_transcript(name):
                continue
            try:
                status = entry.stat()
            except OSError:  # gone since it was listed, or a link to nothing
                continue
            if stat.S_ISREG(status.st_mode):
                session, size, time_ns = name.removesuffix(".jsonl"), status.st_size, status.st_mtime_ns
                listing.sources.append(JsonlFile(folder + name, session, entry.path, size, time_ns, parse))
    return listing


def _entries(root: Path, folder: str, listing: Listing) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(root / folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        listing.unreadable.append(folder)
        return []


def _parsed(data: bytes, reading: Reading) -> Mapping[str, Any] | None:
    """A line's record; a corrupt one is counted, and one of another kind of JSON."""
    if not data.strip():
        return None
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        reading.skipped += 1
        return None
    return record


def _look(handle: BinaryIO, end: int) -> str:
    """How a file looks before an offset: by its first bytes and those just before it."""
    handle.seek(0)
    head = handle.read(min(HEAD_BYTES, end))
    handle.seek(max(end - TAIL_BYTES, 0))
    tail = handle.read(min(TAIL_BYTES, end))
    return hashlib.blake2b(head + b"\0" + tail, digest_size=12).hexdigest()


def _offset(handle: BinaryIO, mark: str) -> int | None:
    """Where to read on; None where all is to be read."""
    number, _, look = mark.partition(" ")
    if not number.isdigit():
        return None
    end = int(number)
    whole = os.fstat(handle.fileno()).st_size >= end
    return end if whole and _look(handle, end) == look else None


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
