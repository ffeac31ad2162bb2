"""Keeps the marks that hooks leave: which transcripts to look at first.

A mark is a hint and no more: a sync looks at every transcript anyway, so that one lost does no harm.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory.startup import user_folder
from vault_memory.vault import safe_files

MAX_MARKS_BYTES = 1 << 20
"""Of marks that nobody takes: then the older half of them goes."""


class GrownTranscript(NamedTuple):
    """A transcript that somebody says has grown: its file, the session's id, and the tool whose it is."""

    path: str
    session: str
    tool: str


def mark(path: str, session: str, tool: str, environ: Mapping[str, str] | None = None) -> bool:
    """Note that a transcript has grown; whether that was possible. It never raises OSError, and takes no lock."""
    with contextlib.suppress(OSError):
        safe_files.append(_file(environ), json.dumps([path, session, tool]).encode("ascii"), MAX_MARKS_BYTES)
        return True
    return False


def are_waiting(environ: Mapping[str, str] | None = None) -> bool:
    """Whether there are marks that nobody has taken."""
    return _file(environ).exists()


def take(environ: Mapping[str, str] | None = None) -> list[GrownTranscript]:
    """The marks left since the last time, each once, newest first; they are gone then."""
    file = _file(environ)
    taken = f"{file}.{os.urandom(4).hex()}"
    try:
        os.replace(file, taken)
        with open(taken, "rb") as handle:
            left = handle.read().splitlines()
        os.unlink(taken)
    except OSError:
        return []
    return list(dict.fromkeys(found for line in reversed(left) if (found := _read(line))))


def _read(line: bytes) -> GrownTranscript | None:
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, list) and len(found) == 3 and all(isinstance(part, str) for part in found):
            return GrownTranscript(*found)
    return None


def _file(environ: Mapping[str, str] | None) -> Path:
    return Path(user_folder("data", os.environ if environ is None else environ)) / "session-marks"
