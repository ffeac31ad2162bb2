"""Owns the journal: append-only text under `.memory/journal/`, one file per device, one JSON object a line.

For now it notes recalls that someone asked for (query hash, passages, day), which no note can hold. Two devices never
write the same file, so a synced vault has no conflicts here.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from vault_memory import places


def note_recall(root: Path, query: str, now: datetime, sources: Sequence[str]) -> None:
    """Append one recall; a vault that cannot be written goes without, for reading must not depend on it."""
    if places.leads_out(root):
        return
    event = {
        "event": "recall",
        "day": now.astimezone().date().isoformat(),
        "at": now.isoformat(timespec="seconds"),
        "query": hashlib.sha256(" ".join(query.casefold().split()).encode("utf-8", "replace")).hexdigest()[:16],
        "passages": list(sources),
    }
    try:
        folder = root / ".memory" / "journal"
        folder.mkdir(parents=True, exist_ok=True)
        _append(folder / f"{places.device_id()}.jsonl", json.dumps(event, separators=(",", ":")))
    except OSError:
        return


def _append(file: Path, line: str) -> None:
    # One write of one line in append mode: lines of two processes do not mix.
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode("ascii") + b"\n")
    finally:
        os.close(descriptor)
