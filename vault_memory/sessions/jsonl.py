"""Reads transcripts that are files of a JSON record a line: finds them, and reads only what was appended.

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
from typing import Any, BinaryIO, NamedTuple

from vault_memory.sessions.records import Listing, Reading, Record, output_note

HEAD_BYTES, TAIL_BYTES = 1024, 4096

MAX_LINE_BYTES = 6 << 20
"""A longer line is never held: it is a tool's whole output, 50 MB and more, and told of by a note."""
PIECE_BYTES = 256 * 1024

Parse = Callable[[Mapping[str, Any]], Record]
"""A record -> what it says."""


class RawLine(NamedTuple):
    """A line, how long it is, and where it ends in the file; `data` is None if it is too long."""

    data: bytes | None
    size: int
    end: int


def read_lines(file: BinaryIO, start: int) -> Iterator[RawLine]:
    """Each whole line from the offset `start` on; what follows the last line's end is left for another time."""
    file.seek(start)
    at = start
    while piece := file.readline(MAX_LINE_BYTES):
        size, data = len(piece), piece
        while not piece.endswith(b"\n"):
            piece = file.readline(PIECE_BYTES)
            if not piece:
                return
            size += len(piece)
        at += size
        yield RawLine(data if size == len(data) else None, size, at)


@dataclass(frozen=True)
class JsonlFile:
    """One transcript; `size` and `time_ns` as its folder was listed."""

    key: str
    name: str
    file: str
    size: int
    time_ns: int
    parse: Parse
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
            for line in read_lines(handle, offset):
                if time.monotonic() > reading.deadline:
                    reading.is_cut = True
                    break
                end = line.end
                if line.data is None:
                    yield Record(tuple(output_note(line.size)), outputs=1)
                elif (record := _parsed(line.data, reading)) is not None:
                    yield self.parse(record)
            reading.bytes_read += handle.tell() - offset
            reading.is_unfinished = handle.tell() > end and not reading.is_cut
            reading.mark = f"{end} {_look(handle, end)}"


def list_files(root: Path, folders: str, is_transcript: Callable[[str], bool], parse: Parse) -> Listing:
    """The transcripts in a tool's folders: `folders` has a part a level below `root`, each `*` or a name."""
    listing = Listing()
    if not os.path.isdir(root):
        listing.is_gone = True
        return listing
    below = [""]
    for level in folders.split("/"):
        below = [
            f"{folder}{entry.name}/"
            for folder in below
            for entry in _entries(root, folder, listing)
            if level in ("*", entry.name) and entry.is_dir()
        ]
    for folder in below:
        for entry in _entries(root, folder, listing):
            name = entry.name
            if name.startswith(".") or not name.endswith(".jsonl") or not is_transcript(name):
                continue
            try:
                status = entry.stat()
            except OSError:  # gone since it was listed, or a link to nothing
                continue
            if stat.S_ISREG(status.st_mode):
                session, size, time_ns = name.removesuffix(".jsonl"), status.st_size, status.st_mtime_ns
                listing.sources.append(JsonlFile(folder + name, session, entry.path, size, time_ns, parse))
    return listing


def _entries(root: Path, folder: str, listing: Listing) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(root / folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        listing.unreadable.append(folder)
        return []


def _parsed(data: bytes, reading: Reading) -> Mapping[str, Any] | None:
    """A line's record; a corrupt one is counted, and one of another kind of JSON."""
    if not data.strip():
        return None
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        reading.skipped += 1
        return None
    return record


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
