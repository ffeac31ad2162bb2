"""Records the sync state of each transcript (stamp, read position, derived file) and the marks and summaries of hooks.

One state file per tool, replaced as a whole. It can be rebuilt from the transcripts and the derived files, so losing or
damaging it costs nothing.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.startup import user_folder
from vault_memory.vault import safe_files

if TYPE_CHECKING:
    from vault_memory.sessions.transcript import Message

FOLDER = "sessions"
STATE = ".state"
SYNCED = "swept"
"""The file whose mtime is the time of the last complete sync."""
VERSION = 1


class TranscriptState(NamedTuple):
    """State of one transcript; `path` is its derived file, relative to the sessions folder, `size` that file's bytes.

    `day` and `at` (ISO, with offset) are those of its last message, `title` is the tool's title when the head of the
    derived file was written. `is_gone`: the transcript is gone, its derived file stays. `is_unfinished`: the last line
    has no newline yet.
    """

    stamp: str = ""
    mark: str = ""
    path: str = ""
    messages: int = 0
    skipped: int = 0
    size: int = 0
    day: str = ""
    is_gone: bool = False
    is_unfinished: bool = False
    title: str = ""
    summaries: int = 0
    """How many of the summaries kept by hooks are already in the derived file."""
    at: str = ""


def folder(environ: Mapping[str, str]) -> Path:
    """The folder of the derived texts, with one subfolder per tool."""
    return Path(user_folder("data", environ)) / FOLDER


def state_file(home: Path, tool: str) -> Path:
    """The state file of a tool."""
    return home / STATE / f"{tool}.json"


def bytes_below(folder: Path) -> int:
    """Total size of the files below a folder; files that cannot be read count as 0."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def load(file: Path) -> dict[str, TranscriptState]:
    """The state by transcript key without damaged rows; empty if the file is missing, damaged or of another version."""
    types = list(map(type, TranscriptState()))
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        found = json.loads(file.read_bytes())
        if found["version"] == VERSION:
            states = {key: TranscriptState(*row) for key, row in found["transcripts"].items()}
            return {key: state for key, state in states.items() if list(map(type, state)) == types}
    return {}


def save(file: Path, known: Mapping[str, TranscriptState]) -> None:
    """Replace the state file; raises OSError."""
    safe_files.replace_durably(file, json.dumps({"version": VERSION, "transcripts": known}).encode())


# --- marks and summaries left by hooks --------------------------------------------------------------------------------


def mark_grown(environ: Mapping[str, str]) -> None:
    """Mark that a transcript has grown, so that a daemon syncs at once. Never raises OSError."""
    _touch(marks_file(environ))


def keep_summary(environ: Mapping[str, str], tool: str, session: str, text: str) -> None:
    """Append the compaction summary of a session, given by the tool's own id; raises OSError."""
    from vault_memory.sessions.transcript import SUMMARY, clean_message

    file = summaries_file(folder(environ), tool, session)
    for made in (file.parents[2], file.parents[1], file.parent):
        safe_files.make_private(made)
    said = clean_message(text, SUMMARY).removeprefix(f"{SUMMARY}:").lstrip()
    line = json.dumps({"at": datetime.now(UTC).isoformat(), "text": said})
    safe_files.append(file, f"{line}\n".encode())


def read_summaries(home: Path, tool: str, session: str) -> "list[Message]":
    """The summaries of a session kept by hooks, oldest first; those up to the first unreadable one."""
    from vault_memory.sessions.transcript import SUMMARY, Message

    found: list[Message] = []
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        for line in summaries_file(home, tool, session).read_bytes().splitlines():
            given = json.loads(line)
            at = datetime.fromisoformat(given["at"]).astimezone()
            found.append(Message(SUMMARY, str(given["text"]), at))
    return found


def summaries_file(home: Path, tool: str, session: str) -> Path:
    """The file of a session's summaries, next to its tool's derived texts."""
    name = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:24]
    return home / tool / ".summaries" / f"{name}.jsonl"


def mark_ended(environ: Mapping[str, str], tool: str, session: str) -> None:
    """Mark that a session, given by the tool's own id, has ended. Never raises OSError."""
    _touch(end_file(environ, tool, session))


def _touch(file: Path) -> None:
    with contextlib.suppress(OSError):
        safe_files.make_private(file.parent)
        file.touch(0o600)


def end_file(environ: Mapping[str, str], tool: str, session: str) -> Path:
    """The marker file of a session that has ended; it exists until `forget_ends` removes it."""
    name = hashlib.sha256(f"{tool}\n{session}".encode("utf-8", "replace")).hexdigest()[:24]
    return Path(user_folder("data", environ)) / "session-ends" / name


def forget_ends(environ: Mapping[str, str], before: float) -> None:
    """Delete the end markers from before a time (seconds since the epoch)."""
    with contextlib.suppress(OSError), os.scandir(end_file(environ, "", "").parent) as entries:
        for entry in entries:
            if entry.stat().st_mtime < before:
                os.unlink(entry.path)


def marks_file(environ: Mapping[str, str]) -> Path:
    """The marker file that exists if a transcript has grown since the last sync."""
    return Path(user_folder("data", environ)) / "session-marks"
