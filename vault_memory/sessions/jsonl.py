"""Owns transcripts that are files of a record a line: finding them, and reading only what was appended.

A mark says how far a reading came and how the file looked there: where its first bytes or those before the mark are
others by now, it was rewritten, and is read from the beginning.
"""

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from vault_memory.sessions import longlines
from vault_memory.sessions.message import Record
from vault_memory.sessions.source import Found, Reading

HEAD_BYTES, TAIL_BYTES = 1024, 4096

Read = Callable[[Mapping[str, Any]], Record]
"""A record -> what it says."""


@dataclass(frozen=True)
class JsonlFile:
    """One transcript; `size` and `time_ns` as its folder was listed."""

    key: str
    name: str
    file: str
    size: int
    time_ns: int
    parse: Read
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
            for line in longlines.lines(handle, offset):
                if time.monotonic() > reading.deadline:
                    reading.is_cut = True
                    break
                end = line.end
                record = _parsed(line, reading)
                if record is not None:
                    yield self.parse(record)
            reading.bytes_read += handle.tell() - offset
            reading.is_unfinished = handle.tell() > end and not reading.is_cut
            reading.mark = _mark(handle, end)


def found(root: Path, pattern: str, is_transcript: Callable[[str], bool], parse: Read) -> Found:
    """The transcripts below a tool's folder: `pattern` has a part a level, each `*` or a name, the last `*.jsonl`."""
    got = Found()
    levels = pattern.split("/")
    if not os.path.isdir(root):
        got.is_gone = True
        return got
    folders = [""]
    for level in levels[:-1]:
        folders = [f"{folder}{name}/" for folder in folders for name in _folders(root, folder, level, got)]
    for folder in folders:
        got.sources.extend(_files(root, folder, is_transcript, parse, got))
    return got


def _folders(root: Path, folder: str, level: str, got: Found) -> list[str]:
    try:
        with os.scandir(root / folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        got.cannot_tell.append(folder)
        return []
    return names if level == "*" else [name for name in names if name == level]


def _files(
    root: Path, folder: str, is_transcript: Callable[[str], bool], parse: Read, got: Found
) -> Iterator[JsonlFile]:
    try:
        with os.scandir(root / folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        got.cannot_tell.append(folder)
        return
    for entry in listed:
        name = entry.name
        if name.startswith(".") or not name.endswith(".jsonl") or not is_transcript(name):
            continue
        try:
            status = entry.stat()
        except OSError:  # gone since it was listed, or a link to nothing
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        yield JsonlFile(
            folder + name, name.removesuffix(".jsonl"), entry.path, status.st_size, status.st_mtime_ns, parse
        )


def _parsed(line: longlines.Line, reading: Reading) -> Mapping[str, Any] | None:
    """A line's record; a corrupt one is counted, and one of another kind of JSON."""
    if line.data is not None and not line.data.strip():
        return None
    try:
        record = json.loads(line.data) if line.data is not None else None
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        reading.skipped += 1
        return None
    return record


def _mark(handle: BinaryIO, end: int) -> str:
    return f"{end} {_look(handle, end)}"


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
