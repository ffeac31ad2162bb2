"""Owns the steps of replacing one file whole: one writer at a time, a free name, the old file's attributes. Not notes.

vault.py knows which file, and what must hold before (DESIGN.md §2, law 2).
"""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

LEFT_BEHIND_SECONDS = 3600.0
"""A temporary file of this age belongs to a writer that was killed."""


@contextlib.contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Let one writer of this program at a time compare and replace: another's edit in between would be lost.

    The folder itself is locked, so no file is left behind; where folders cannot be locked the window stays open.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_durably(part: Path, data: bytes) -> None:
    """Write a temporary file that is not there yet, and have it outlive a power cut."""
    with open(part, "xb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def place_new(part: Path, target: Path) -> None:
    """Move a finished file to a name that must still be free; raises FileExistsError when it is not."""
    try:
        os.link(part, target)  # unlike a rename it never replaces what has appeared meanwhile
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if target.exists():
            raise FileExistsError(str(target)) from None
        os.replace(part, target)


def keep_attributes(source: Path, target: Path) -> None:
    """Give a finished file the owner, mode and extended attributes of the one it is to replace."""
    status = source.stat()
    with contextlib.suppress(OSError):
        os.chown(target, status.st_uid, status.st_gid)
    os.chmod(target, stat.S_IMODE(status.st_mode))
    import shutil

    with contextlib.suppress(OSError, AttributeError):
        shutil._copyxattr(source, target)  # type: ignore[attr-defined]  # no public call copies only these


def sweep(folder: Path) -> None:
    """Delete what killed writers have left: no write takes an hour."""
    for part in folder.glob("*.part"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > LEFT_BEHIND_SECONDS:
                part.unlink()
