"""Owns small files of lines that only their user may read: appended to by several processes, never large."""

import os
from pathlib import Path


def append(file: Path, line: bytes, most_bytes: int | None = None) -> None:
    """Append a line; of a file that has grown to `most_bytes` the older half goes, where that is given. Raises OSError.

    A line that another process appends while that happens may go, too: what these files hold is missed by nobody.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if most_bytes is not None and file.exists() and file.stat().st_size >= most_bytes:
        part = file.with_suffix(f".{os.urandom(4).hex()}.part")
        _put(part, os.O_EXCL, file.read_bytes()[-most_bytes // 2 :].partition(b"\n")[2])
        os.replace(part, file)
    _put(file, os.O_APPEND, (b"\n" if _is_cut_off(file) else b"") + line + b"\n")


def _is_cut_off(file: Path) -> bool:
    """Whether a crash has left a line without its end: that must not take the next one with it."""
    try:
        with open(file, "rb") as handle:
            if handle.seek(0, os.SEEK_END):
                handle.seek(-1, os.SEEK_END)
            return handle.read(1) not in (b"", b"\n")
    except FileNotFoundError:
        return False


def _put(file: Path, flag: int, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    try:
        os.write(descriptor, data)  # in one write: lines of two processes do not mix
    finally:
        os.close(descriptor)
