"""Finds and parses the transcripts of agent tools, resuming where the last reading ended.

Claude Code writes `~/.claude/projects/<folder>/<session>.jsonl`, OpenClaw
`~/.openclaw/agents/<agent>/sessions/<session>.jsonl`, both one record per line; opencode has a database `opencode.db`.
"""

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import apsw

from vault_memory.config import Config
from vault_memory.sessions.transcript import SUMMARY, Message

SPEAKERS = {"user": "User", "assistant": "Assistant"}

_NOT_SAID = ("isMeta", "isSidechain", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Flags of records that neither side of the conversation wrote: a subagent's, or Claude Code's own."""


class Record(NamedTuple):
    """One parsed record of a transcript: its message, and the session's title and working directory if it has them.

    The next reading resumes at `end` (bytes of a file, messages of a database); `size` is in bytes.
    """

    message: Message | None = None
    title: str = ""
    folder: str = ""
    outputs: int = 0
    """Tool outputs, which are all left out."""
    is_chosen: bool = False
    """Whether a person gave the title."""
    damaged: int = 0
    """How many of its parts could not be parsed."""
    end: int = 0
    size: int = 0
    is_unfinished: bool = False
    """Whether this is the last line and has no newline yet."""


def tool_folder(tool: str, config: Config, environ: Mapping[str, str]) -> Path:
    """The folder of a tool's transcripts: from the settings, else the tool's environment variable or default."""
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if tool == "claude-code":
        usual = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
        return config.sessions_claude_code or usual
    if tool == "openclaw":
        usual = Path(environ.get("OPENCLAW_STATE_DIR") or home / ".openclaw") / "agents"
        return config.sessions_openclaw or usual
    return config.sessions_opencode or Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"


def list_transcripts(tool: str, folder: Path) -> "Sequence[Transcript]":
    """The transcripts of a tool below its folder, newest first; raises OSError if they cannot be listed."""
    if tool == "opencode":
        return _list_sessions(folder)
    if tool == "claude-code":
        files = (file for file in folder.glob("*/*.jsonl") if not file.name.startswith("agent-"))  # a subagent's
        return _list_files(folder, files, _claude_code)
    files = (file for file in folder.glob("*/sessions/*.jsonl") if "." not in file.stem)  # no checkpoints or archives
    return _list_files(folder, files, _openclaw)


# --- parsing a record ------------------------------------------------------------------------------------------------


def _claude_code(record: Mapping[str, Any]) -> Record:
    speaker = SPEAKERS.get(_text_field(record.get("type")))
    message = record.get("message")
    folder = _text_field(record.get("cwd"))
    chosen, made = _text_field(record.get("customTitle")), _text_field(record.get("aiTitle"))
    if chosen or made:
        return Record(title=chosen or made, is_chosen=bool(chosen))
    if speaker and record.get("isCompactSummary") and not record.get("isSidechain"):
        speaker = SUMMARY
    elif any(record.get(flag) for flag in _NOT_SAID):
        speaker = None
    if speaker is None or not isinstance(message, dict):
        return Record(folder=folder)
    at, id = _parse_time(record.get("timestamp")), _text_field(record.get("uuid"))
    return _read_blocks(speaker, message.get("content"), at, id)._replace(folder=folder)


def read_claude_code(line: bytes) -> Message | None:
    """The message in one line of a Claude Code transcript, or None."""
    record = _json(line)
    return _claude_code(record).message if isinstance(record, dict) else None


def _openclaw(record: Mapping[str, Any]) -> Record:
    if record.get("type") == "session":
        return Record(folder=_text_field(record.get("cwd")))
    if record.get("type") == "compaction":
        at = _parse_time(record.get("timestamp"))
        return _read_blocks(SUMMARY, record.get("summary"), at, _text_field(record.get("id")))
    message = record.get("message")
    if record.get("type") != "message" or not isinstance(message, dict):
        return Record()
    at = _parse_time(record.get("timestamp") or message.get("timestamp"))
    role = _text_field(message.get("role"))
    if role in ("toolResult", "tool"):
        return Record(outputs=1)
    return (
        _read_blocks(SPEAKERS[role], message.get("content"), at, _text_field(record.get("id")))
        if role in SPEAKERS
        else Record()
    )


def _read_blocks(speaker: str, content: Any, at: datetime | None, id: str) -> Record:  # noqa: ANN401 - whatever JSON came
    """A record of a message's content, which is a string or a list of blocks."""
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [_text_field(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = content if isinstance(content, str) else "\n".join(texts)
    outputs = sum(block.get("type") in ("tool_result", "toolResult") for block in blocks)
    return Record(Message(speaker, text, at, id) if text else None, outputs=outputs)


def _parse_time(stamp: Any) -> datetime | None:  # noqa: ANN401
    """Local time from an ISO string or milliseconds since the epoch; None for anything else."""
    try:
        if isinstance(stamp, str):
            return datetime.fromisoformat(stamp).astimezone()
        if isinstance(stamp, int | float) and not isinstance(stamp, bool):
            return datetime.fromtimestamp(stamp / 1000, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _text_field(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else ""


# --- JSONL files -----------------------------------------------------------------------------------------------------

HEAD_BYTES, TAIL_BYTES = 1024, 4096

MAX_LINE_BYTES = 6 << 20
"""A longer line is never kept in memory: it is the whole output of a tool, 50 MB and more."""
PIECE_BYTES = 256 * 1024
LONG_LINE_BYTES = 1 << 16

Parse = Callable[[Mapping[str, Any]], Record]


def read_lines(file: BinaryIO) -> Iterator[tuple[bytes | None, int]]:
    """Each complete line from the current position, None for one that is too long, with its size in bytes.

    An unfinished last line is left for the next time.
    """
    while piece := file.readline(MAX_LINE_BYTES):
        size, data = len(piece), piece
        while not piece.endswith(b"\n"):
            piece = file.readline(PIECE_BYTES)
            if not piece:
                return
            size += len(piece)
        yield data if size == len(data) else None, size


@dataclass(frozen=True)
class JsonlFile:
    """One transcript; `key` is its path relative to the tool's folder, `stamp` changes whenever the transcript does."""

    key: str
    file: str
    stamp: str
    parse: Parse

    def mark(self, end: int) -> str:
        """The offset at which a reading ended, and a hash of the file's first bytes and of those just before it."""
        with open(self.file, "rb") as handle:
            head = handle.read(min(HEAD_BYTES, end))
            handle.seek(max(end - TAIL_BYTES, 0))
            tail = handle.read(min(TAIL_BYTES, end))
        return f"{end} {hashlib.blake2b(head + bytes(1) + tail, digest_size=12).hexdigest()}"

    def records(self, start: int = 0) -> Iterator[Record]:
        end = start
        with open(self.file, "rb") as handle:
            handle.seek(start)
            for line, size in read_lines(handle):
                end += size
                yield self._record(line)._replace(end=end, size=size)
            if handle.tell() > end:
                yield Record(end=end, is_unfinished=True)

    def _record(self, line: bytes | None) -> Record:
        if line is None or (len(line) > LONG_LINE_BYTES and b'"tool_result"' in line[:HEAD_BYTES]):
            return Record(outputs=1)  # parsing these would take a third of a sync
        if line.isspace():  # strip() would copy megabytes
            return Record()
        record = _json(line)
        return self.parse(record) if isinstance(record, dict) else Record(damaged=1)


def _json(data: bytes | str) -> Any:  # noqa: ANN401
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _list_files(root: Path, files: Iterable[Path], parse: Parse) -> list[JsonlFile]:
    found: list[tuple[int, JsonlFile]] = []
    for file in sorted(files):
        with suppress(OSError):  # deleted since it was listed, or a dangling link
            status = file.stat()
            if stat.S_ISREG(status.st_mode) and not file.name.startswith("."):
                stamp = f"{status.st_size}.{status.st_mtime_ns}"
                source = JsonlFile(file.relative_to(root).as_posix(), str(file), stamp, parse)
                found.append((status.st_mtime_ns, source))
    return [source for _, source in sorted(found, key=lambda pair: -pair[0])]


# --- opencode's database ---------------------------------------------------------------------------------------------

DATABASE = "opencode.db"
SETTLE_SECONDS, STILL_WRITTEN_SECONDS = 5.0, 3600.0
"""How long the last message is left alone, since its parts are written after it; and an answer without an end, whose
writer is taken for dead after an hour."""
MAX_PART_BYTES = 1 << 20
"""Larger parts, mostly tool outputs, are left out."""

_NO_TITLE = ("New session", "Child session")
_SESSIONS = "SELECT id, title, directory, parent_id FROM session ORDER BY id"
_MESSAGES = "SELECT id, time_updated, length(data) FROM message WHERE session_id = ? ORDER BY time_created, id"
_MESSAGE = "SELECT data FROM message WHERE id = ?"
_PARTS = "SELECT data FROM part WHERE message_id = ? AND length(data) < ? ORDER BY id"


def _rows(file: Path | str, statement: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """The rows of a query to opencode's database, opened read-only; raises OSError."""
    try:
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(2000)
            return list(connection.execute(statement, values))
    except apsw.Error as error:
        raise OSError(f"{file}: {error}") from error


@dataclass
class DatabaseSession:
    """One session of opencode, keyed by its id: rows of `message` and `part` with JSON in `data`.

    It has the interface of a `JsonlFile`.
    """

    key: str
    title: str
    folder: str
    file: str

    @cached_property
    def listed(self) -> list[tuple[Any, ...]]:
        """Id, time of the last change (ms) and length of each message, oldest first, as of the first access. A last
        message that may still be being written is left for the next time."""
        rows = _rows(self.file, _MESSAGES, self.key)
        age = time.time() - (rows[-1][1] or 0) / 1000 if rows else STILL_WRITTEN_SECONDS
        is_new = age < SETTLE_SECONDS or (age < STILL_WRITTEN_SECONDS and _is_being_written(self._message(rows[-1][0])))
        return rows[:-1] if is_new else rows

    def _message(self, id: str) -> bytes:
        return b"".join(_bytes(row) for (row,) in _rows(self.file, _MESSAGE, id))

    @property
    def stamp(self) -> str:
        return self._digest(len(self.listed), self.title)

    def mark(self, end: int) -> str:
        """How many messages a reading covered, and a hash of them."""
        return f"{end} {self._digest(end)}"

    def _digest(self, count: int, title: str = "") -> str:
        text = "\n".join((title, *(f"{id} {updated}.{size}" for id, updated, size in self.listed[:count])))
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()

    def records(self, start: int = 0) -> Iterator[Record]:
        yield Record(title=self.title, folder=self.folder, end=start)
        for end, (id, _, _) in enumerate(self.listed[start:], start + 1):
            data = self._message(id)
            parts = [_bytes(row) for (row,) in _rows(self.file, _PARTS, id, MAX_PART_BYTES)]
            record = _opencode(_json(data), [_json(part) for part in parts])
            yield record._replace(end=end, size=len(data) + sum(map(len, parts)))


def _opencode(message: Any, parts: list[Any]) -> Record:  # noqa: ANN401
    if not isinstance(message, dict):
        return Record(damaged=1)
    times = message.get("time")
    at = _parse_time(times.get("created")) if isinstance(times, dict) else None
    speaker = SPEAKERS.get(_text_field(message.get("role")))
    read = [part for part in parts if isinstance(part, dict)]
    said = [part for part in read if part.get("type") == "text" and not (part.get("synthetic") or part.get("ignored"))]
    text = "\n".join(_text_field(part.get("text")) for part in said)
    return Record(
        Message(SUMMARY if message.get("summary") is True else speaker, text, at)
        if speaker and text.strip("\n")
        else None,
        outputs=sum(part.get("type") == "tool" for part in read),
        damaged=len(parts) - len(read),
    )


def _bytes(data: str | bytes | None) -> bytes:
    return data.encode() if isinstance(data, str) else data or b""


def _is_being_written(data: bytes) -> bool:
    """Whether an answer is still being written: it has neither an end time nor an error."""
    message = _json(data)
    if not isinstance(message, dict):
        return True
    times = message.get("time")
    ended = isinstance(times, dict) and times.get("completed")
    return message.get("role") == "assistant" and not ended and not message.get("error")


Transcript = JsonlFile | DatabaseSession


def resume(transcript: Transcript, mark: str) -> int:
    """The `end` of the reading with this mark; 0 if what it covered has changed since. Raises OSError."""
    number = mark.partition(" ")[0]
    end = int(number) if number.isdigit() else 0
    return end if transcript.mark(end) == mark else 0


def _list_sessions(root: Path) -> list[DatabaseSession]:
    """The sessions in opencode's database, without those of subagents, which have a parent."""
    file, found = root / DATABASE, []
    for id, title, folder, parent in _rows(file, _SESSIONS) if os.path.isfile(file) else []:
        if _text_field(id) and not parent:
            named = "" if _text_field(title).startswith(_NO_TITLE) else _text_field(title)
            found.append(DatabaseSession(id, named, _text_field(folder), str(file)))
    return found
