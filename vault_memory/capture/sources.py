"""Reads the sources of capture that have something new: sessions, message by message, and prose lines of daily logs."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from vault_memory.capture.log_statements import announces
from vault_memory.capture.own_words import SessionTurn, ends, split_sentences
from vault_memory.capture.remember_requests import is_off_the_record, is_request
from vault_memory.capture.retractions import SessionReview
from vault_memory.config import Config
from vault_memory.errors import VaultMemoryError
from vault_memory.markdown import facts, provenance, scopes
from vault_memory.markdown.note import TEXT, Note, speaker
from vault_memory.sessions import ledger, projects, readers, transcript
from vault_memory.sessions.transcript import Message
from vault_memory.startup import vault_id
from vault_memory.text import daily_notes
from vault_memory.text.agent_frame import unquoted
from vault_memory.text.scope_syntax import Folders
from vault_memory.vault import safe_files
from vault_memory.vault.vault import Vault

_LINE = re.compile(r"- (?:\[(?P<day>\d{4}-\d\d-\d\d)\] )?(?P<speaker>User|Assistant|Tool): (?P<text>.*)")


class CapturedSession(NamedTuple):
    """A session to capture from; `path` is its derived file, `key` its transcript's key, `id` the tool's own id."""

    path: str
    tool: str
    key: str
    id: str
    scope: str
    title: str
    messages: tuple[SessionTurn, ...]
    length: int
    """The number of its last entry, summaries included, which are not in `messages`."""

    @property
    def name(self) -> str:
        """The name used in citations: `sessions/claude-code/<id>`."""
        return transcript.public_name(self.path)


OFF_FILE = ".nomemory"
"""A file of this name excludes sessions in its folder and below from capture."""


def is_own_vault(vault: Path, config: Config) -> bool:
    """Whether sessions are captured into this vault: if the settings name a capture vault, only into that one."""
    return config.capture_vault is None or os.path.realpath(config.capture_vault) == os.path.realpath(vault)


class ToolTranscripts:
    """The transcripts of captured sessions; each tool's are listed once."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config, self._environ = config, environ
        self._listed: dict[str, dict[str, readers.Transcript]] = {}

    def _records(self, session: CapturedSession) -> Iterator[readers.Record]:
        """The records of a session's transcript; none if it is gone."""
        if session.tool not in self._listed:
            root = readers.tool_folder(session.tool, self._config, self._environ)
            self._listed[session.tool] = {}
            with suppress(OSError):
                self._listed[session.tool] |= {one.key: one for one in readers.list_transcripts(session.tool, root)}
        with suppress(OSError, KeyError):
            yield from self._listed[session.tool][session.key].records()

    def folder(self, session: CapturedSession) -> str:
        """The working directory in which a session began; "" if unknown."""
        return next((record.folder for record in self._records(session) if record.folder), "")

    def messages(self, session: CapturedSession) -> dict[int, Message]:
        """A session's messages as in the tool's transcript, by number."""
        messages = (record.message for record in self._records(session) if record.message)
        said = (one for one in messages if one.speaker != transcript.SUMMARY and transcript.clean_message(one.text))
        return {message.number: one for message, one in zip(session.messages, said, strict=False)}


class SkippedSessions:
    """Decides which sessions to skip: those whose project or folder (or a parent) is named in the settings, or whose
    folder, repository root or a parent of either contains an OFF_FILE.

    `marked` are the folders seen with an OFF_FILE; a mark persists while its drive is unmounted or its folder is gone.
    """

    def __init__(self, config: Config, marked: Iterable[str]) -> None:
        self.marked = set(marked)
        self._names = {one.removeprefix("project:") for one in config.capture_skip}
        self._folders = {os.path.realpath(os.path.expanduser(one)) for one in config.capture_skip if os.sep in one}

    def hold(self, scope: str, folder: str) -> bool:
        """Whether to skip a session with this scope that began in this folder."""
        names, off, place = {scope.removeprefix("project:")}, [False], Path(folder)
        if place.is_absolute():
            is_there = place.is_dir()
            names |= set() if is_there else set(map(projects.identifier, place.parts))  # its project cannot be known
            places = (*_upwards(place), *_upwards(projects.git_root(place) or place))
            off = [self._is_off(one, is_there) for one in places]  # no short circuit: each call updates the marks
        return any(off) or not names.isdisjoint(self._names)

    def _is_off(self, place: str, is_there: bool) -> bool:
        """Whether a folder is excluded; `is_there`: the session's folder exists, so the drive is mounted."""
        if os.path.lexists(os.path.join(place, OFF_FILE)):
            self.marked.add(place)
        elif is_there:
            self.marked.discard(place)
        return place in self.marked or place in self._folders


def _upwards(folder: Path) -> list[str]:
    """A folder and its parents, both as given and with links resolved."""
    real = Path(os.path.realpath(folder))
    return list(dict.fromkeys(map(str, (folder, *folder.parents, real, *real.parents))))


def sessions_beyond(
    marks: Mapping[str, int], config: Config, environ: Mapping[str, str], until: datetime | None = None
) -> Iterator[CapturedSession]:
    """The sessions with messages beyond their mark (the number captured, by derived file), oldest first.

    With `until`, sessions with messages after it are left out unless they have ended.
    """
    for _, tool, key, path in sorted(_grown(marks, config, environ, until)):
        with suppress(OSError):
            yield _read(ledger.folder(environ), tool, key, path)


def has_sessions_due(vault: Path, config: Config, environ: Mapping[str, str], until: datetime) -> bool:
    """Whether a session that has ended, or has no message after `until`, has messages not captured yet."""
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
    messages, length = [], 0
    with open(home / path, encoding="utf-8") as lines:
        head = dict(line.rstrip().partition(": ")[::2] for line in islice(lines, transcript.HEAD_LINES))
        day = date.fromisoformat(head["date"]) if head.get("date") else None
        for length, line in enumerate(lines, start=1):
            if turn := _turn(line, length, day):
                messages.append(turn)
                day = turn.day
    scope, title = (str(json.loads(head.get(name, '""'))) for name in ("scope", "title"))
    return CapturedSession(path, tool, key, Path(key).stem, scope, title, tuple(messages), length)


def _turn(line: str, number: int, day: date | None) -> SessionTurn | None:
    """The message on a line of a derived text; `day` is that of the message before it. None for a summary."""
    if found := _LINE.match(line):
        day = date.fromisoformat(found["day"]) if found["day"] else day
        text = unquoted(found["text"]).replace(transcript.BREAK, "\n")
        return SessionTurn(number, found["speaker"] == "User", text, day)
    return None


OFF_THE_RECORD = "[off the record]"


def withheld(lines: Sequence[str], first: int, last: int) -> dict[int, str]:
    """What replaces the messages on these lines of a derived text that nobody may read, by line.

    Those are the user's messages off the record, and requests to remember something that were taken back.
    """
    numbers = range(max(first, transcript.HEAD_LINES + 1), min(last, len(lines)) + 1)
    own = [turn for number in numbers if (turn := _turn(lines[number - 1], number, None)) and turn.by_user]
    hidden = {turn.number for turn in own if is_off_the_record(ends(turn.text))}
    asked = [(turn, one) for turn in own for one in split_sentences(turn.text) if is_request(one)]
    if asked:
        following = enumerate(lines[asked[0][0].number - 1 :], start=asked[0][0].number)
        review = SessionReview([turn for number, line in following if (turn := _turn(line, number, None))])
        taken = (turn for turn, one in asked if review.is_taken_back(one, turn.number, is_request=True))
        hidden.update(turn.number for turn in taken)
    return {number: lines[number - 1].partition("User: ")[0] + f"User: {OFF_THE_RECORD}" for number in sorted(hidden)}


# --- daily logs -----------------------------------------------------------------------------------------------------

_LEAD = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\d{1,2}[:.]\d\d(?:\s?[ap]m)?\b[\s,–-]*)?", re.IGNORECASE)
"""What precedes the words of a log's line: a bullet and the time of day."""

_TASK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[.\]\s")


class CapturedLog(NamedTuple):
    """A daily log to capture from; `digest` is a hash of its bytes, `lines` are the person's own, with numbers."""

    path: str
    day: date
    scope: str
    digest: str
    lines: tuple[tuple[int, str], ...]


def logs_beyond(
    marks: Mapping[str, str], vault: Vault, folders: Folders, idle_seconds: float = 0, newest: int = 0
) -> Iterator[CapturedLog]:
    """The daily logs that changed since they were captured and were last saved at least `idle_seconds` ago, oldest
    first; if `newest` is given, only among that many of the latest logs."""
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
    """The prose lines a person wrote, numbered: no facts, tasks, quotations, code, tables, dialogue or managed blocks,
    and nothing with a scope or an author of its own."""
    told, private = (
        {at for fact in facts.facts(note, None) for at in range(fact.start_line, fact.end_line + 1)},
        (scopes.by_line(note).keys() | scopes.by_line(note, scopes.BY).keys()),
    )
    for number, state in enumerate(note.states, start=1):
        line = note.plain(number)
        if state != TEXT or number in told or number in private or note.is_owned(number):
            continue
        words = _LEAD.sub("", note.shown(number), count=1)
        is_said = speaker(line) and not (is_request(words) or announces(words))
        is_fact = facts.HEAD.match(words) is not None and "(" in words[:3]  # one that is malformed
        if not (_TASK.match(line) or line.lstrip().startswith((">", "|")) or is_said or is_fact):
            yield number, _readable(words)


def _readable(line: str) -> str:
    """A line without tags and with wiki links replaced by their text."""
    return re.sub(r"(?:\s#[\w/-]+)+\s*$", "", re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]+)\]\]", r"\1", line)).strip()


class Marks(NamedTuple):
    """How far capture has come: the number of messages read per derived file, and the hash of each log when read."""

    sessions: dict[str, int]
    logs: dict[str, str]
    marked: list[str]
    """Folders seen with an OFF_FILE."""


def marks_file(vault: Path, environ: Mapping[str, str]) -> Path:
    """The file with the capture marks of a vault."""
    return ledger.folder(environ) / ledger.STATE / f"captured-{vault_id(vault)}.json"


def load_marks(vault: Path, environ: Mapping[str, str]) -> Marks:
    """The capture marks of a vault; empty if there is no readable file."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(marks_file(vault, environ).read_bytes())
        return Marks(dict(found["sessions"]), dict(found["logs"]), list(map(str, found.get("marked", ()))))
    return Marks({}, {}, [])


def save_marks(vault: Path, environ: Mapping[str, str], marks: Marks) -> None:
    """Save the capture marks of a vault; raises OSError."""
    file = marks_file(vault, environ)
    for folder in (file.parent.parent, file.parent):
        safe_files.make_private(folder)
    safe_files.replace_durably(file, json.dumps(marks._asdict()).encode())
