"""Owns the journal: append-only text under `.memory/journal/`, one file per device, one JSON object a line.

It notes what no note can hold: recalls that someone asked for (query hash, passages, day), and what was only injected
(`shown`), which is never evidence of use. Two devices never write the same file, so a synced vault has no conflicts
here; all their files are read. A line that is damaged or half written is passed over and counted.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory import places
from vault_memory.store import text_hash

TAIL_BYTES = 64
"""What is compared of the end of the part that was read: a file that was replaced is read anew."""

MAX_LINE = 1 << 20
"""A longer line is damaged, and is never in memory as a whole."""

KEPT = 1 << 12
"""Of so many passages the hashes are remembered (some 200 bytes each): each question looks up those of its best."""

_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")


class Cited(NamedTuple):
    """A passage as the journal knows it: where it stood, and the hash of its text, which moves with it."""

    source: str
    key: int


class Use(NamedTuple):
    """A passage answered a question on a day (an ordinal); `passage` is the hash of its text, or of where it stood."""

    passage: int
    question: int
    day: int


class Mark(NamedTuple):
    """How far a file was read: bytes, the last of them, and how many lines were damaged so far."""

    size: int = 0
    tail: bytes = b""
    damaged: int = 0


# --- writing ---------------------------------------------------------------------------------------------------------


def note_recall(root: Path, query: str, now: datetime, passages: Sequence[Cited]) -> None:
    """Append one recall; a vault that cannot be written goes without, for reading must not depend on it."""
    _note(root, "recall", query, now, passages)


def note_shown(root: Path, query: str, now: datetime, passages: Sequence[Cited]) -> None:
    """Append what was injected unasked; this counts for nothing, or memory would learn from its own output."""
    _note(root, "shown", query, now, passages)


def _note(root: Path, event: str, query: str, now: datetime, passages: Sequence[Cited]) -> None:
    line = {
        "event": event,
        "day": now.astimezone().date().isoformat(),
        "at": now.isoformat(timespec="seconds"),
        "query": hashlib.sha256(" ".join(query.casefold().split()).encode("utf-8", "replace")).hexdigest()[:16],
        "passages": [passage.source for passage in passages],
        "texts": [f"{passage.key & (1 << 64) - 1:016x}" for passage in passages],
    }
    try:
        file = places.derived(root, f"journal/{places.device_id()}.jsonl")
        if file is None:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        _append(file, json.dumps(line, separators=(",", ":")))
    except OSError:
        return


def _append(file: Path, line: str) -> None:
    # One write of one line in append mode: lines of two processes do not mix.
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        # A line cut off by a crash must not take this one with it.
        torn = os.lseek(descriptor, 0, os.SEEK_END) and os.lseek(descriptor, -1, os.SEEK_END)
        end = b"\n" if torn and os.read(descriptor, 1) != b"\n" else b""
        os.write(descriptor, end + line.encode("ascii") + b"\n")
    finally:
        os.close(descriptor)


# --- reading ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=KEPT)
def passage_key(text: str) -> int:
    """The hash by which a passage is known wherever it moves: of its words, without a block id; 64 bits, signed."""
    return text_hash(_BLOCK_ID.sub("", text) if "^" in text else text)


@lru_cache(maxsize=KEPT)
def place_key(source: str) -> int:
    """The hash of `path#L12`, for lines of a journal that knew no texts yet."""
    return text_hash(f"\0{source}")


def files(root: Path) -> dict[str, Path]:
    """Every device's file by name; none where `.memory` leads out of the vault, and no links (law 8)."""
    if places.derived(root, "journal") is None:
        return {}
    found: dict[str, Path] = {}
    with suppress(OSError), os.scandir(root / ".memory" / "journal") as entries:
        for entry in entries:
            if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                found[entry.name] = Path(entry.path)
    return found


def size(file: Path) -> int:
    """Bytes of a file now; 0 when it cannot be asked."""
    with suppress(OSError):
        return file.stat().st_size
    return 0


def is_continued(file: Path, mark: Mark) -> bool:
    """Whether a file still begins with what was read of it."""
    with suppress(OSError), open(file, "rb") as handle:
        start = max(mark.size - TAIL_BYTES, 0)
        handle.seek(start)
        return handle.read(mark.size - start) == mark.tail
    return False


def read(file: Path, mark: Mark) -> Iterator[tuple[list[Use], Mark]]:
    """Yield what each whole line behind `mark` says was used, and the mark behind it.

    A last line without its end is left for the next time: it may still be written. Raises OSError.
    """
    place, tail, damaged = mark
    with open(file, "rb") as handle:
        handle.seek(place)
        while line := handle.readline(MAX_LINE):
            whole = line.endswith(b"\n")
            if not whole and len(line) < MAX_LINE:
                return
            uses = _uses(line) if whole else None
            damaged += uses is None
            place, tail = place + len(line), (tail + line)[-TAIL_BYTES:]
            yield uses or [], Mark(place, tail, damaged)


def _uses(line: bytes) -> list[Use] | None:
    """What a line says was used: nothing for events that are no recalls, None for a damaged line."""
    if not line.strip():
        return []
    try:
        event = json.loads(line)
        if event["event"] != "recall":
            return []
        day, question = date.fromisoformat(event["day"]).toordinal(), _signed(event["query"])
        return [Use(passage, question, day) for passage in _passages(event)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _passages(event: Any) -> Iterable[int]:  # noqa: ANN401 - it can be anything
    texts = event.get("texts")
    if texts is not None:
        return [_signed(text) for text in texts]
    return [place_key(str(source)) for source in event["passages"]]


def _signed(digits: Any) -> int:  # noqa: ANN401
    if not isinstance(digits, str) or len(digits) != 16:
        raise ValueError("not 16 hex digits")
    return int.from_bytes(bytes.fromhex(digits), "big", signed=True)
