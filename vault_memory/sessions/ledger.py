"""Remembers of each transcript its stamp, where its reading ended and its derived file, and which of them have grown.

One file a tool, replaced whole. What is in it can be made again from the transcripts and the derived files: one that
is lost or damaged is no loss.
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
    from vault_memory.config import Config
    from vault_memory.sessions.transcript import Message

FOLDER = "sessions"
STATE = ".state"
SYNCED = "swept"
"""The file whose time tells when all transcripts were looked at last."""
VERSION = 1


class TranscriptState(NamedTuple):
    """What is known of one transcript; `path` is its derived file below the folder of sessions, `size` its bytes.

    `day` and `at` (ISO, with its zone) are its last message's, `title` what its tool called it when the head of the
    derived file was written. It is `is_gone` while the derived file stays, and `is_unfinished` where its last line has
    no end.
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
    at: str = ""
    summaries: int = 0
    """So many of those that hooks have kept stand in the derived file."""


class SessionCounts(NamedTuple):
    """What is known of all sessions; `skipped` are damaged records of their transcripts, `bytes` all that lies there.

    `gone` are those whose transcript is gone, `unfinished` those whose last line has no end, `pending` those that have
    changed since all were looked at last: `synced`, in seconds since 1970.
    """

    tools: tuple[str, ...]
    transcripts: int
    messages: int
    skipped: int
    gone: int = 0
    unfinished: int = 0
    folder: str = ""
    bytes: int = 0
    synced: float | None = None
    pending: int = 0


def folder(environ: Mapping[str, str]) -> Path:
    """Where the derived texts lie, a folder a tool."""
    return Path(user_folder("data", environ)) / FOLDER


def state_file(home: Path, tool: str) -> Path:
    """The file of what is known of a tool's transcripts."""
    return home / STATE / f"{tool}.json"


def count_sessions(config: "Config", environ: Mapping[str, str]) -> SessionCounts | None:
    """What is known, without a look at any transcript; None where the settings want none."""
    if not config.sessions_tools:
        return None
    home, synced = folder(environ), None
    with contextlib.suppress(OSError):
        synced = (home / STATE / SYNCED).stat().st_mtime
    tools = config.sessions_tools
    found = [each for tool in tools for each in load(state_file(home, tool)).values()]
    return SessionCounts(
        tools, len(found), sum(each.messages for each in found), sum(each.skipped for each in found),
        sum(each.is_gone for each in found), sum(each.is_unfinished for each in found), str(home), bytes_below(home),
        synced,
    )  # fmt: skip


def bytes_below(folder: Path) -> int:
    """What lies below a folder; what cannot be looked at counts for nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def load(file: Path) -> dict[str, TranscriptState]:
    """What is known, by the transcripts' keys; nothing where the file is missing, damaged or of another version."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        found = json.loads(file.read_bytes())
        if found["version"] == VERSION:
            return {key: TranscriptState(*row) for key, row in found["transcripts"].items()}
    return {}


def save(file: Path, known: Mapping[str, TranscriptState]) -> None:
    """Replace the file; raises OSError."""
    safe_files.replace_durably(file, json.dumps({"version": VERSION, "transcripts": known}).encode())


# --- what hooks say ---------------------------------------------------------------------------------------------------


def mark_grown(environ: Mapping[str, str]) -> None:
    """Note that a transcript has grown, for a daemon to read on at once. It never raises OSError."""
    _touch(marks_file(environ))


def keep_summary(environ: Mapping[str, str], tool: str, session: str, text: str) -> None:
    """Keep what stands for a session, named by the tool's id, after a compaction; raises OSError."""
    from vault_memory.sessions.transcript import SUMMARY, clean_message

    file = summaries_file(folder(environ), tool, session)
    for made in (file.parents[2], file.parents[1], file.parent):
        safe_files.make_private(made)
    said = clean_message(text, SUMMARY).removeprefix(f"{SUMMARY}:").lstrip()
    line = json.dumps({"at": datetime.now(UTC).isoformat(), "text": said})
    safe_files.append(file, f"{line}\n".encode())


def read_summaries(home: Path, tool: str, session: str) -> "list[Message]":
    """The summaries that hooks have kept of a session, oldest first; none where they cannot be read."""
    from vault_memory.sessions.transcript import SUMMARY, Message

    found: list[Message] = []
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        for line in summaries_file(home, tool, session).read_bytes().splitlines():
            given = json.loads(line)
            at = datetime.fromisoformat(given["at"]).astimezone()
            found.append(Message(SUMMARY, str(given["text"]), at))
    return found


def summaries_file(home: Path, tool: str, session: str) -> Path:
    """The file of a session's summaries, beside the derived texts of its tool."""
    name = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:24]
    return home / tool / ".summaries" / f"{name}.jsonl"


def mark_ended(environ: Mapping[str, str], tool: str, session: str) -> None:
    """Note that a session, named by the tool's id, has ended, and nothing is waited for. It never raises OSError."""
    _touch(end_file(environ, tool, session))


def _touch(file: Path) -> None:
    with contextlib.suppress(OSError):
        safe_files.make_private(file.parent)
        file.touch(0o600)


def end_file(environ: Mapping[str, str], tool: str, session: str) -> Path:
    """The file that is there where a session has ended since the last capture."""
    name = hashlib.sha256(f"{tool}\n{session}".encode("utf-8", "replace")).hexdigest()[:24]
    return Path(user_folder("data", environ)) / "session-ends" / name


def forget_ends(environ: Mapping[str, str], before: float) -> None:
    """Forget which sessions had ended before a time (seconds since 1970)."""
    with contextlib.suppress(OSError), os.scandir(end_file(environ, "", "").parent) as entries:
        for entry in entries:
            if entry.stat().st_mtime < before:
                os.unlink(entry.path)


def marks_file(environ: Mapping[str, str]) -> Path:
    """The file that is there where a transcript has grown since the last sync."""
    return Path(user_folder("data", environ)) / "session-marks"
