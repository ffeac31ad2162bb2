"""Reads what is captured from: sessions message by message, and the lines of prose in daily logs."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from vault_memory.capture.requests import is_request
from vault_memory.config import Config
from vault_memory.errors import VaultMemoryError
from vault_memory.markdown import facts, provenance, scopes
from vault_memory.markdown.note import TEXT, Note, speaker
from vault_memory.sessions import ledger, projects, readers, transcript
from vault_memory.sessions.transcript import Message
from vault_memory.startup import vault_id
from vault_memory.text import daily_notes
from vault_memory.text.scope_syntax import Folders
from vault_memory.vault import safe_files
from vault_memory.vault.vault import Vault

_LINE = re.compile(r"- (?:\[(?P<day>\d{4}-\d\d-\d\d)\] )?(?P<speaker>User|Assistant|Tool): (?P<text>.*)")
_HEAD = re.compile(r"(title|date|scope): (.*)")


class SessionMessage(NamedTuple):
    """One message of a session, numbered as it is cited; `text` has its lines joined by ` ⏎ `."""

    number: int
    is_user: bool
    text: str
    day: date | None


class CapturedSession(NamedTuple):
    """A session to be captured from: its derived file, the tool and the tool's id, scope, title, and all messages."""

    path: str
    tool: str
    key: str
    id: str
    scope: str
    title: str
    messages: tuple[SessionMessage, ...]
    length: int
    """The number of its last line: summaries count, and are no messages."""

    @property
    def name(self) -> str:
        """As it is cited: `sessions/claude-code/<id>`."""
        return transcript.public_name(self.path)


OFF_FILE = ".nomemory"
"""A file of this name in a folder keeps the sessions there, and below it, from being captured."""


def is_own_vault(vault: Path, config: Config) -> bool:
    """Whether sessions are captured into this vault: one that the settings name keeps those of all tools to itself."""
    return config.capture_vault is None or os.path.realpath(config.capture_vault) == os.path.realpath(vault)


class ToolTranscripts:
    """The transcripts of the tools whose sessions are captured from; those of a tool are listed once."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config, self._environ = config, environ
        self._listed: dict[str, dict[str, readers.Transcript]] = {}

    def _records(self, session: CapturedSession) -> Iterator[readers.Record]:
        """What the tool has of a session; nothing where its transcript is gone."""
        if session.tool not in self._listed:
            root = readers.tool_folder(session.tool, self._config, self._environ)
            self._listed[session.tool] = {}
            with suppress(OSError):
                self._listed[session.tool] |= {one.key: one for one in readers.list_transcripts(session.tool, root)}
        with suppress(OSError, KeyError):
            yield from self._listed[session.tool][session.key].records()

    def folder(self, session: CapturedSession) -> str:
        """The working directory in which a session began; "" where its transcript does not tell."""
        return next((record.folder for record in self._records(session) if record.folder), "")

    def messages(self, session: CapturedSession) -> dict[int, Message]:
        """A session's messages as its tool has them, by their numbers."""
        messages = (record.message for record in self._records(session) if record.message)
        said = (one for one in messages if one.speaker != transcript.SUMMARY and transcript.clean_message(one.text))
        return {message.number: one for message, one in zip(session.messages, said, strict=False)}


class SkippedSessions:
    """Tells which sessions are not to be captured: the settings name their project or a folder they ran in or below,
    or such a folder, or that of its repository, holds an OFF_FILE.

    `marked` are folders that were seen with one: that of a drive that is away, or of a folder that is gone, holds on.
    """

    def __init__(self, config: Config, marked: Iterable[str]) -> None:
        self.marked = set(marked)
        self._names = {one.removeprefix("project:") for one in config.capture_skip}
        self._folders = {os.path.realpath(os.path.expanduser(one)) for one in config.capture_skip if os.sep in one}

    def hold(self, scope: str, folder: str) -> bool:
        """Whether a session of a scope that began in a folder is to be left out."""
        names, off, place = {scope.removeprefix("project:")}, [False], Path(folder)
        if place.is_absolute():
            is_there = place.is_dir()
            names |= set() if is_there else set(map(projects.identifier, place.parts))  # its project cannot be known
            places = (*_upwards(place), *_upwards(projects.git_root(place) or place))
            off = [self._is_off(one, is_there) for one in places]  # each, for its mark is kept
        return any(off) or not names.isdisjoint(self._names)

    def _is_off(self, place: str, is_there: bool) -> bool:
        """Whether a folder is left out; `is_there` says that the one below it is, so that no drive is away."""
        if os.path.lexists(os.path.join(place, OFF_FILE)):
            self.marked.add(place)
        elif is_there:
            self.marked.discard(place)
        return place in self.marked or place in self._folders


def _upwards(folder: Path) -> list[str]:
    """A folder and those above it, as they are named and as they lie."""
    real = Path(os.path.realpath(folder))
    return list(dict.fromkeys(map(str, (folder, *folder.parents, real, *real.parents))))


def sessions_beyond(
    marks: Mapping[str, int], config: Config, environ: Mapping[str, str], until: datetime | None = None
) -> Iterator[CapturedSession]:
    """The sessions that have messages beyond those that are marked, by their derived files; oldest first.

    With `until` those that went on after it are left out, but for those that have ended.
    """
    for _, tool, key, path in sorted(_grown(marks, config, environ, until)):
        with suppress(OSError):
            yield _read(ledger.folder(environ), tool, key, path)


def has_sessions_due(vault: Path, config: Config, environ: Mapping[str, str], until: datetime) -> bool:
    """Whether a session that has ended, or did not go on after `until`, has messages that capture has not read."""
    marks = load_marks(vault, environ).sessions
    return is_own_vault(vault, config) and next(_grown(marks, config, environ, until), None) is not None


def _grown(
    marks: Mapping[str, int], config: Config, environ: Mapping[str, str], until: datetime | None
) -> Iterator[tuple[str, str, str, str]]:
    home = ledger.folder(environ)
    for tool in config.sessions_tools:
        for key, state in ledger.load(ledger.state_file(home, tool)).items():
            if state.messages > marks.get(state.path, 0):
                goes_on = until and state.at and datetime.fromisoformat(state.at) > until
                if not goes_on or ledger.end_file(environ, tool, Path(key).stem).exists():
                    yield state.day, tool, key, state.path


def _read(home: Path, tool: str, key: str, path: str) -> CapturedSession:
    said, day, messages, length = {"title": "", "scope": ""}, None, [], 0
    with open(home / path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            length = transcript.message_number(number)
            if number <= transcript.HEAD_LINES:
                head = _HEAD.match(line)
                if head and head[1] in said:
                    said[head[1]] = str(json.loads(head[2]))
                elif head and head[2].strip():
                    day = date.fromisoformat(head[2].strip())
            elif found := _LINE.match(line):
                day = date.fromisoformat(found["day"]) if found["day"] else day
                messages.append(SessionMessage(length, found["speaker"] == "User", found["text"], day))
    return CapturedSession(path, tool, key, Path(key).stem, said["scope"], said["title"], tuple(messages), length)


# --- daily logs -----------------------------------------------------------------------------------------------------

_LEAD = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\d{1,2}[:.]\d\d(?:\s?[ap]m)?\b[\s,–-]*)?", re.IGNORECASE)
"""What stands before the words of a log's line: a bullet, and the time of day."""

_TASK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[.\]\s")


class CapturedLog(NamedTuple):
    """A daily log to be captured from: its path, day and scope, a hash of its bytes, and a person's own lines."""

    path: str
    day: date
    scope: str
    digest: str
    lines: tuple[tuple[int, str], ...]


def logs_beyond(
    marks: Mapping[str, str], vault: Vault, folders: Folders, idle_seconds: float = 0, newest: int = 0
) -> Iterator[CapturedLog]:
    """The daily logs that are not as they were when they were captured from, and saved so long ago; oldest first, of
    the `newest` alone where that is given."""
    format = vault.daily.format.rpartition("/")[2]
    paths = (path for path in sorted(vault.walk().files) if not vault.layout.is_page(path))
    days = ((path, daily_notes.name_day(path.rpartition("/")[2].removesuffix(".md"), format)) for path in paths)
    for path, day in [(path, day) for path, day in days if day][-newest:]:
        with suppress(OSError, VaultMemoryError):
            if idle_seconds and 0 <= vault.seconds_since_saved(path) < idle_seconds:
                continue
            data = vault.read(path)
            digest = hashlib.blake2b(data, digest_size=8).hexdigest()
            if marks.get(path) == digest:
                continue
            note = vault.parse(path, data)
            if provenance.note_origin(note.properties, note.path) == provenance.PERSON:
                scope = scopes.note_scope(note.properties, path, folders)
                yield CapturedLog(path, day, scope, digest, tuple(_own_lines(note)))


def _own_lines(note: Note) -> Iterator[tuple[int, str]]:
    """The lines of prose that a person wrote, with their numbers: no fact, task, quotation, code, talk or page."""
    told, private = (
        {at for fact in facts.facts(note, None) for at in range(fact.start_line, fact.end_line + 1)},
        (scopes.by_line(note).keys() | scopes.by_line(note, scopes.BY).keys()),
    )
    for number, state in enumerate(note.states, start=1):
        line = note.plain(number)
        if state != TEXT or number in told or number in private or note.is_owned(number):
            continue
        words = _LEAD.sub("", note.shown(number), count=1)
        is_said = speaker(line) and not is_request(words)
        if not (_TASK.match(line) or line.lstrip().startswith((">", "|")) or is_said):
            yield number, _readable(words)


def _readable(line: str) -> str:
    """A line without the marks of links and tags."""
    return re.sub(r"\s#[\w/-]+", "", re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]+)\]\]", r"\1", line)).strip()


class Marks(NamedTuple):
    """How far capture has come: messages of each session's derived file, and each log's hash when it was read."""

    sessions: dict[str, int]
    logs: dict[str, str]
    marked: list[str]
    """Folders that were seen with an OFF_FILE."""


def marks_file(vault: Path, environ: Mapping[str, str]) -> Path:
    """Where it is kept how far capture into a vault has come."""
    return ledger.folder(environ) / ledger.STATE / f"captured-{vault_id(vault)}.json"


def load_marks(vault: Path, environ: Mapping[str, str]) -> Marks:
    """How far capture has come; nothing where that is not known."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(marks_file(vault, environ).read_bytes())
        return Marks(dict(found["sessions"]), dict(found["logs"]), list(map(str, found.get("marked", ()))))
    return Marks({}, {}, [])


def save_marks(vault: Path, environ: Mapping[str, str], marks: Marks) -> None:
    """Keep how far capture has come; raises OSError."""
    file = marks_file(vault, environ)
    for folder in (file.parent.parent, file.parent):
        safe_files.make_private(folder)
    safe_files.replace_durably(file, json.dumps(marks._asdict()).encode())
