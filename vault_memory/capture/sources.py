"""Reads the sources of capture that have something new: sessions, message by message, and prose lines of daily logs."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.capture.statements import silenced
from vault_memory.capture.work_log import NO_TITLE, SessionDay
from vault_memory.config import Config
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.markdown import entities, provenance, scopes
from vault_memory.markdown.fact_text import inert
from vault_memory.markdown.log_lines import own_lines, prose
from vault_memory.sessions import ledger, projects, readers, transcript
from vault_memory.sessions.session import Session, read_session, read_turn
from vault_memory.sessions.skipped import SkippedSessions
from vault_memory.sessions.transcript import Message
from vault_memory.startup import vault_id
from vault_memory.text import daily_notes
from vault_memory.text.own_words import split_sentences
from vault_memory.text.scope_syntax import GLOBAL, Folders
from vault_memory.vault import safe_files
from vault_memory.vault.vault import Vault


def is_own_vault(vault: Path, config: Config) -> bool:
    """Whether sessions are captured into this vault: if the settings name a capture vault, only into that one."""
    return config.capture_vault is None or os.path.realpath(config.capture_vault) == os.path.realpath(vault)


class SessionReader:
    """Reads the sessions that have something new; each tool's transcripts are listed once.

    With `until`, sessions with messages after it are left out unless they have ended.
    """

    def __init__(self, config: Config, environ: Mapping[str, str], marks: "Marks", until: datetime | None) -> None:
        self._config, self._environ, self._marks, self._until = config, environ, marks, until
        self._listed: dict[str, dict[str, readers.Transcript]] = {}

    def unread(self, problems: list[str]) -> Iterator[Session]:
        """The sessions to capture from, oldest first; those that the settings or an OFF_FILE exclude are marked as
        read, and one that cannot be read is named in `problems`."""
        skipped = SkippedSessions(self._config, self._marks.marked)
        for _, tool, key, path in sorted(_grown(self._marks.sessions, self._config, self._environ, self._until)):
            try:
                one = read_session(ledger.folder(self._environ), tool, key, path)
                is_skipped = skipped.hold(one.scope, self.folder(one))
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                problems.append(f"{transcript.public_name(path)} was left out: {error}".rstrip("."))
                continue
            if is_skipped:
                self._marks.sessions[one.path] = one.length
            else:
                yield one
        self._marks.marked[:] = sorted(skipped.marked)

    def _records(self, session: Session) -> Iterator[readers.Record]:
        """The records of a session's transcript; none if it is gone."""
        if session.tool not in self._listed:
            root = readers.tool_folder(session.tool, self._config, self._environ)
            self._listed[session.tool] = {}
            with suppress(OSError):
                self._listed[session.tool] |= {one.key: one for one in readers.list_transcripts(session.tool, root)}
        with suppress(OSError, KeyError):
            yield from self._listed[session.tool][session.key].records()

    def folder(self, session: Session) -> str:
        """The working directory in which a session began; "" if unknown, or no path at all."""
        found = next((record.folder for record in self._records(session) if record.folder), "")
        return "" if "\0" in found else found

    def messages(self, session: Session) -> dict[int, Message]:
        """A session's messages as in the tool's transcript, by number."""
        messages = (record.message for record in self._records(session) if record.message)
        said = (one for one in messages if one.speaker != transcript.SUMMARY and transcript.clean_message(one.text))
        return {message.number: one for message, one in zip(session.messages, said, strict=False)}

    def fact_scope(self, session: Session) -> str:
        """Where a session's facts hold: in its project, or else where the settings put its folder, or else
        everywhere."""
        if session.scope.startswith("project:"):
            return session.scope
        folder = self.folder(session)
        if not folder or not Path(folder).is_absolute():  # a transcript may come from another system
            return session.scope
        return projects.find_project(Path(folder), self._config, self._environ) or GLOBAL

    def days(self, session: Session, done: int, since: date | None) -> Iterator[SessionDay]:
        """The days of a session's messages after the first `done`, each with the time of its first message that day."""
        by_tool = self.messages(session)
        for day in sorted({one.day for one in session.messages if one.number > done and one.day}):
            times = [said.at for said in by_tool.values() if said.day == day and said.at]
            if not since or day >= since:
                yield SessionDay(session.name, day, min(times, default=None), session.scope, _own_title(session))


def _own_title(session: Session) -> str:
    """A session's title, made inert, if its user typed it and did not ask to keep it out of the notes."""
    turns = [turn for turn in session.messages if turn.by_user]
    typed = " ".join(
        sentence for turn in turns if turn.number not in silenced(turns) for sentence in split_sentences(turn.text)
    )
    title = " ".join(session.title.removesuffix(" …").split())
    return inert(session.title) if title and title in " ".join(typed.split()) else NO_TITLE


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


OFF_THE_RECORD = "[off the record]"

LATER_LINES = 20
"""In how many lines after a message its user may take it back."""


def withheld(lines: Sequence[str], first: int, last: int) -> dict[int, str]:
    """What replaces the messages on these lines of a derived text that nobody may read, by line: those that their user
    asked to keep out of the notes."""
    numbers = range(max(first, transcript.HEAD_LINES + 1), min(last, len(lines)) + 1)
    around = range(numbers.start, min(numbers.stop + LATER_LINES, len(lines) + 1))
    own = [turn for number in around if (turn := read_turn(lines[number - 1], number, None)) and turn.by_user]
    hidden = sorted(silenced(own) & set(numbers))
    return {number: lines[number - 1].partition("User: ")[0] + f"User: {OFF_THE_RECORD}" for number in hidden}


# --- daily logs -----------------------------------------------------------------------------------------------------


class CapturedLog(NamedTuple):
    """A daily log to capture from; `digest` is a hash of its bytes, `lines` are the person's own, with numbers.

    `names` are those written as `[[…]]` or `@…`, each with the number of a line.
    """

    path: str
    day: date
    scope: str
    digest: str
    lines: tuple[tuple[int, str], ...]
    names: Mapping[str, int]


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
                names = {
                    name: at for at in range(1, len(note.states) + 1) for name in entities.mentions(prose(note, at))
                }
                yield CapturedLog(path, day, scope, digest, tuple(own_lines(note)), names)


class Marks(NamedTuple):
    """How far capture has come: the number of messages read per derived file, and the hash of each log when read."""

    sessions: dict[str, int]
    logs: dict[str, str]
    marked: list[str]
    """Folders seen with an OFF_FILE."""
    held: list[dict[str, Any]]
    """The proposals that wait for another day, as `proposals_page.Proposal` has them."""


def marks_file(vault: Path, environ: Mapping[str, str]) -> Path:
    """The file with the capture marks of a vault."""
    return ledger.folder(environ) / ledger.STATE / f"captured-{vault_id(vault)}.json"


def load_marks(vault: Path, environ: Mapping[str, str]) -> Marks:
    """The capture marks of a vault; empty if there is no readable file."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(marks_file(vault, environ).read_bytes())
        marked, held = (list(found.get(name, ())) for name in ("marked", "held"))
        return Marks(dict(found["sessions"]), dict(found["logs"]), list(map(str, marked)), held)
    return Marks({}, {}, [], [])


def save_marks(vault: Path, environ: Mapping[str, str], marks: Marks) -> None:
    """Save the capture marks of a vault; raises OSError."""
    file = marks_file(vault, environ)
    for folder in (file.parent.parent, file.parent):
        safe_files.make_private(folder)
    safe_files.replace_durably(file, json.dumps(marks._asdict()).encode())


def day_said(source: str, environ: Mapping[str, str]) -> date | None:
    """The day of what a citation names, a line of a log or a message of a session on this computer; None if unknown."""
    with suppress(OSError, ValueError, UsageError):
        if found := re.search(r"\d{4}-\d\d-\d\d(?=[^/]*\.md#L)", source):
            return date.fromisoformat(found[0])
        if (named := transcript.parse_name(source)) and named[1]:
            turns = read_session(ledger.folder(environ), "", "", named[0]).messages
            return next((turn.day for turn in turns if turn.number == named[1][0]), None)
    return None
