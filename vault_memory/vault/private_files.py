"""Makes the files and folders that only their user may read, and appends lines to small ones."""

import contextlib
import os
import stat
from pathlib import Path

from vault_memory.startup import user_folder


def make_private(folder: str | os.PathLike[str]) -> None:
    """Make a folder of ours with those above it, for its user alone; raises OSError."""
    folder = os.fspath(folder)
    if not os.path.isdir(folder):
        make_private(os.path.dirname(folder))
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    close_folder(folder)


def close_folder(folder: str) -> None:
    """Take a folder that an earlier version left open, and those of ours above it, from everybody but their owner.

    A folder that the user chose keeps the mode it has.
    """
    top = _top_of_ours(folder)
    while top and len(folder) >= len(top):
        close_to_others(folder)
        folder = os.path.dirname(folder)


def _top_of_ours(folder: str) -> str:
    """The outermost folder above one that is ours alone, or "": a vault's `.memory`, or one for this program's data."""
    head, marker, _ = f"{folder}{os.sep}".rpartition(f"{os.sep}.memory{os.sep}")
    if marker:
        return head + marker[:-1]
    ours = (user_folder(kind, os.environ) for kind in ("data", "state"))
    return next((top for top in ours if folder == top or folder.startswith(top + os.sep)), "")


def close_to_others(path: str | os.PathLike[str]) -> None:
    """Take a file or folder of ours from everybody but its owner, as far as that can be."""
    with contextlib.suppress(OSError):
        mode = os.lstat(path).st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            os.chmod(path, stat.S_IMODE(mode) & ~0o077)


def private(path: str, flags: int) -> int:
    """Open a file that is for its user alone if it is made: an opener for `open`."""
    return os.open(path, flags, 0o600)


def append(file: Path, line: bytes, most_bytes: int | None = None) -> None:
    """Append a line; of a file that has grown to `most_bytes` the older half goes, where that is given. Raises OSError.

    A line that another process appends while that happens may go, too: what these files hold is missed by nobody.
    """
    make_private(file.parent)
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
