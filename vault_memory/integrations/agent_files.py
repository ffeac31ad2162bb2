"""Reads and replaces one file of an agent: through links, whole, and only where it is still as it was read."""

import contextlib
import glob
import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_memory.errors import ConflictError, RefusedError, VaultMemoryError
from vault_memory.vault import atomic_write
from vault_memory.vault.private_files import make_private


def read(named: Path, within: Path | None = None) -> tuple[Path, bytes | None]:
    """The file that a name leads to, through links, and what it holds; None where there is none.

    Raises RefusedError for what is no plain file, and for one that does not lie `within` the real path of that folder.
    """
    file = Path(os.path.realpath(named))
    if within and not file.is_relative_to(os.path.realpath(within)):
        # Whoever wrote the repository would choose which file of this computer is changed.
        what = f"{named} leads out of the project by a link, to {file}: it was not followed."
        raise RefusedError(what, "Delete the link and run again, or install with --scope user.")
    with plain_errors(file):
        try:
            mode = file.stat().st_mode
        except FileNotFoundError:
            return file, None
        if not stat.S_ISREG(mode):  # a pipe would be waited for, and a device may never end
            raise RefusedError(f"{file} is no plain file: it was not touched.", "Move it away, and run again.")
        return file, file.read_bytes()


def text(file: Path, data: bytes | None) -> str:
    """What a file holds as text, "" for no file; raises RefusedError where that is not UTF-8."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(f"{file} is not UTF-8: it was not touched.", "Save it as UTF-8, and run again.") from error


def check_writable(file: Path) -> None:
    """Raise RefusedError for a file that is read-only, or that would be parted from its hard links."""
    with plain_errors(file):
        status = file.stat()
    if not status.st_mode & 0o222 or not os.access(file, os.W_OK):
        raise RefusedError(
            f"{file} is read-only: it was not touched.",
            "Make it writable, and run again; where another program makes it, tell that one.",
        )
    if status.st_nlink > 1:
        raise RefusedError(
            f"{file} is one of {status.st_nlink} hard links to one file, and would be parted from the others: it was"
            " not touched.",
            "Make it a copy (cp, then mv over it) or a symbolic link, which is followed, and run again.",
        )


def write(file: Path, before: bytes | None, after: bytes | None) -> None:
    """Put a file as it is to be, None for no file; raises ConflictError where it is not as it was."""
    with plain_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        for left in file.parent.glob(f".{glob.escape(file.name)}.{'[0-9a-f]' * 12}.part"):
            if time.time() - left.stat().st_mtime > atomic_write.LEFT_BEHIND_SECONDS:
                left.unlink()  # of a write that was killed
        part = file.with_name(f".{file.name}.{os.urandom(6).hex()}.part")
        with atomic_write.one_writer(file.parent):
            try:
                if after is not None:
                    atomic_write.write_durably(part, after)
                if (file.read_bytes() if file.exists() else None) != before:
                    what = f"{file} was changed meanwhile: it was not touched."
                    raise ConflictError(what, "Run this again; close the program that writes it if need be.")
                if after is None:
                    file.unlink()
                elif before is None:
                    atomic_write.place_new(part, file)
                else:
                    atomic_write.keep_attributes(file, part)
                    os.replace(part, file)
            finally:
                part.unlink(missing_ok=True)


def write_private(file: Path, data: bytes) -> None:
    """Write a file of our own whole, for its user alone."""
    with plain_errors(file):
        make_private(file.parent)
        part = file.with_name(f"{file.name}.{os.urandom(4).hex()}.part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(part, file)


def missing_folders(folder: Path) -> list[str]:
    """The folders that are missing, innermost first."""
    return [str(place) for place in (folder, *folder.parents) if not place.exists()]


def remove_folders(made: Sequence[str]) -> None:
    """Remove the folders that were made and are empty again."""
    with contextlib.suppress(OSError):
        for folder in made:
            os.rmdir(folder)


@contextlib.contextmanager
def plain_errors(file: Path) -> Iterator[None]:
    """Raise what the system says of a file as a sentence for a person."""
    try:
        yield
    except OSError as error:
        what = f"{error.filename or file} cannot be read or written: {error.strerror or error}."
        raise VaultMemoryError(what, "Check its permissions and free space.") from error
