"""Writes files atomically without losing another program's save, and creates files that only their user may read."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from vault_memory.startup import read_regular, user_folder

_CANNOT_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)


@contextlib.contextmanager
def one_writer(folder: Path) -> Iterator[bool]:
    """Let one writer of this program at a time compare and replace; otherwise an edit made in between would be lost.

    The folder itself is locked, so no lock file is left behind. Yields False if it cannot be locked: the race remains.
    """
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        is_locked = False
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            is_locked = True
        yield is_locked
    finally:
        os.close(descriptor)


def write_durably(part: Path, data: bytes) -> None:
    """Write a temporary file that must not exist yet, and sync it so that it survives a power cut."""
    with open(part, "xb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def replace_durably(file: Path, data: bytes) -> None:
    """Atomically write a file of our own, for its owner only, so that it survives a power cut; a link is replaced."""
    part = file.with_suffix(".part")
    part.unlink(missing_ok=True)  # left by a crash
    write_durably(part, data)
    part.chmod(0o600)
    os.replace(part, file)


def place_new(part: Path, target: Path) -> None:
    """Move a finished file to a name that must still be free; raises FileExistsError if it is taken."""
    try:
        os.link(part, target)  # unlike a rename it never replaces what has appeared meanwhile
    except OSError as error:
        if isinstance(error, FileExistsError) or target.exists():
            raise FileExistsError(str(target)) from None
        os.replace(part, target)  # a file system without hard links


def replace(part: Path, target: Path, expected: bytes) -> bool:
    """Replace a file that must still contain `expected` with a finished one; returns whether it did.

    The two are exchanged atomically and the old one is checked only afterwards, so a save at any moment is either seen
    and put back, or goes to the new file. Of several saves in quick succession the last one wins and `part` has the one
    before it. Raises FileNotFoundError if there is nothing to replace.
    """
    data = part.read_bytes()
    if not _exchange(part, target):
        return replace_by_link(part, target, expected)
    if _holds(part, expected) and not _is_open_for_writing(part):
        return True
    _exchange(part, target)
    if not _holds(part, data):  # saved again, over ours: the later save wins
        _exchange(part, target)
    return False


def replace_by_link(part: Path, target: Path, expected: bytes) -> bool:
    """`replace` where files cannot be exchanged: the replaced file keeps a second name until it has been checked."""
    kept = part.with_name(f"{part.stem}-kept.part")
    try:
        os.link(target, kept)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        os.replace(part, target)  # a file system without hard links
        return True
    try:
        if os.path.samefile(kept, target):
            os.replace(part, target)
            if _holds(kept, expected) and not _is_open_for_writing(kept):
                return True
            os.replace(kept, target)
        return False
    finally:
        kept.unlink(missing_ok=True)


def remove(target: Path, part: Path, expected: bytes) -> bool:
    """Delete a file that must still contain `expected`; returns whether it did. `part` is an unused temporary name."""
    os.replace(target, part)
    if _holds(part, expected) and not _is_open_for_writing(part):
        return True
    with contextlib.suppress(FileExistsError):  # saved again: the later save wins
        place_new(part, target)
    return False


def _holds(file: Path, data: bytes) -> bool:
    """Whether a file contains exactly these bytes; by now it may be a pipe, or endless, so the read is bounded."""
    try:
        return read_regular(file, len(data)) == data
    except OSError:
        return False


def can_exchange(folder: Path) -> bool:
    """Whether files in a folder can be exchanged atomically, tried with two of our own. Raises OSError."""
    one, other = (folder / f"{os.urandom(8).hex()}.part" for _ in range(2))
    with one_writer(folder):
        try:
            write_durably(one, b"")
            write_durably(other, b"")
            return _exchange(one, other)
        finally:
            one.unlink(missing_ok=True)
            other.unlink(missing_ok=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two files atomically; returns whether the system and file system support it. Raises OSError."""
    import ctypes  # lazy: only a write needs it

    names = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(*names, 0x2)  # RENAME_SWAP
        else:
            failed = library.renameat2(-100, names[0], -100, names[1], 0x2)  # AT_FDCWD, RENAME_EXCHANGE
    except (AttributeError, OSError, TypeError):  # TypeError: on Windows, CDLL(None)
        return False
    number = ctypes.get_errno()
    if failed and number not in _CANNOT_EXCHANGE:
        raise OSError(number, os.strerror(number), str(other))
    return not failed


def _is_open_for_writing(file: Path) -> bool:
    """Whether a program still has the replaced file open for writing, so that its save would be lost; Linux only."""
    if sys.platform != "linux":
        return False
    import fcntl
    import signal

    descriptor = os.open(file, os.O_RDONLY)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # the default signal to a lease holder would kill us
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)  # granted only if nobody writes
    except OSError as error:  # other errors: another user's file, or a file system without leases
        return isinstance(error, BlockingIOError)
    finally:
        os.close(descriptor)
    return False


def keep_attributes(source: Path, target: Path) -> None:
    """Copy owner, mode and extended attributes to a finished file from the one it will replace."""
    status = source.stat()
    with contextlib.suppress(OSError):
        os.chown(target, status.st_uid, status.st_gid)
    os.chmod(target, stat.S_IMODE(status.st_mode))
    import shutil

    with contextlib.suppress(OSError, AttributeError):
        shutil._copyxattr(source, target)  # type: ignore[attr-defined]  # no public call copies only these


def make_private(folder: str | os.PathLike[str]) -> None:
    """Create a folder of ours and its parents, accessible to its user only; raises OSError."""
    os.makedirs(folder, 0o700, exist_ok=True)
    close_folder(os.fspath(folder))


def close_folder(folder: str) -> None:
    """Restrict a folder that an earlier version left open, and our folders above it, to their owner.

    Ours are a vault's `.memory` and this program's data and state folders; one that the user chose keeps its mode.
    """
    head, marker, _ = f"{folder}{os.sep}".rpartition(f"{os.sep}.memory{os.sep}")
    tops = [head + marker[:-1]] if marker else [user_folder(kind, os.environ) for kind in ("data", "state")]
    top = next((top for top in tops if folder == top or folder.startswith(top + os.sep)), "")
    while top and len(folder) >= len(top):
        close_to_others(folder)
        folder = os.path.dirname(folder)


def close_to_others(path: str | os.PathLike[str]) -> None:
    """Restrict a file or folder of ours to its owner, if possible."""
    with contextlib.suppress(OSError):
        mode = os.lstat(path).st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            os.chmod(path, stat.S_IMODE(mode) & ~0o077)


def private(path: str, flags: int) -> int:
    """An opener for `open`: a file that it creates is accessible to its user only."""
    return os.open(path, flags, 0o600)


def append(file: Path, line: bytes, most_bytes: int | None = None) -> None:
    """Append a line; a file of `most_bytes` or more first loses its older half. Raises OSError."""
    make_private(file.parent)
    if most_bytes is not None and file.exists() and file.stat().st_size >= most_bytes:
        replace_durably(file, file.read_bytes()[-most_bytes // 2 :].partition(b"\n")[2])
    with open(file, "a+b", buffering=0, opener=private) as handle:  # one write: lines of two processes do not mix
        if handle.seek(0, os.SEEK_END):
            handle.seek(-1, os.SEEK_END)
        is_cut_off = handle.read(1) not in (b"", b"\n")  # by a crash: it must not take this line with it
        handle.write((b"\n" if is_cut_off else b"") + line + b"\n")
