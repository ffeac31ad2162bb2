"""Chooses where derived files go (the index, its lock, the device id), and detects the kind of file system.

The index is in the vault's `.memory/`, unless that folder is synced, on a network file system or not writable;
then it is in the user's data folder, named after the vault's real path.
"""

import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from vault_memory.config import Config
from vault_memory.errors import BusyError, IndexUnusableError, RefusedError
from vault_memory.startup import user_folder, vault_id
from vault_memory.vault.safe_files import make_private, private

MEMORY_FOLDER = ".memory"

_SYNC_FOLDERS = (
    "dropbox", "onedrive", "mobile documents", "icloud drive", "icloud~md~obsidian", "google drive", "nextcloud",
    "pcloud",
)  # fmt: skip


def index_place(config: Config, root: Path) -> tuple[Path, str]:
    """The path of this vault's index, the user's `index.path` first; and "vault", or the reason why it is elsewhere."""
    if config.index_path:
        # A folder is shared by the indexes of all vaults, each under its id; a file is the index of one vault.
        one = config.index_path.suffix in (".sqlite", ".db")
        return config.index_path if one else config.index_path / vault_id(root) / "index.sqlite", "set by index.path"
    if why := _why_elsewhere(root):
        return Path(user_folder("data", os.environ), vault_id(root), "index.sqlite"), why
    return root / MEMORY_FOLDER / "index.sqlite", "vault"


def _why_elsewhere(root: Path) -> str:
    """Why the index must not be in the vault, or ""."""
    for name in (*(f"index.sqlite{end}" for end in ("", "-wal", "-shm", "-journal", ".lock")), "retain.lock"):
        if derived(root, name) is None:
            return f"`{MEMORY_FOLDER}` or `{MEMORY_FOLDER}/{name}` is a link, a pipe or a device"
    for folder in (root, *root.parents):
        if folder.name.casefold().startswith(_SYNC_FOLDERS):
            return f"the vault lies in a synced folder ({folder.name})"
        # Dropbox marks its folder with a file of the same name as its settings folder in the home folder.
        if (folder / ".stfolder").exists() or (folder / ".dropbox").is_file():
            return f"the vault lies in a synced folder ({folder})"
    kind = _kind_of(root)
    if kind.startswith(_NETWORK_KINDS):
        return f"the vault is on a network file system ({kind})"
    target = root / MEMORY_FOLDER if (root / MEMORY_FOLDER).is_dir() else root
    return "" if os.access(target, os.W_OK | os.X_OK) else "the vault is not writable"


def identity(path: Path) -> tuple[int, int] | None:
    """The device and inode number at a path, which differ while its drive is unmounted; None if there is nothing."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, but never recreate a vault that is gone (law 7); raises OSError."""
    if MEMORY_FOLDER in folder.parts:
        root = Path(*folder.parts[: folder.parts.index(MEMORY_FOLDER)])
        if not root.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(root))
    make_private(folder)


def is_writable(index: Path) -> bool:
    """Whether an index's folder is writable, or could be created."""
    folder = next((folder for folder in index.parents if folder.exists()), index.parent)
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def device_id() -> str:
    """This device's id, generated once and kept in the user's data folder, never in the vault."""
    file = Path(user_folder("data", os.environ), "device")
    with contextlib.suppress(OSError):
        text = file.read_text("ascii").strip()
        if text.isalnum():
            return text
    fresh = os.urandom(6).hex()
    make_private(file.parent)
    try:
        with open(file, "x", encoding="ascii", opener=private) as handle:
            handle.write(fresh + "\n")
    except FileExistsError:
        return file.read_text("ascii").strip() or fresh
    return fresh


def remember(root: Path, notes: int) -> None:
    """Record on this device how many notes a vault has, so that an unmounted drive's empty folder is recognised."""
    file = memory_of(root)
    with contextlib.suppress(OSError):
        if not file.exists() or file.read_text("ascii") != str(notes):
            make_private(file.parent)
            with open(file, "w", encoding="ascii", opener=private) as handle:
                handle.write(str(notes))


def remembered(root: Path) -> int:
    """How many notes the vault at this path had when it was last indexed on this device; 0 for a new one."""
    with contextlib.suppress(OSError, ValueError):
        return int(memory_of(root).read_text("ascii"))
    return 0


def memory_of(root: Path) -> Path:
    """The file that `remember` writes."""
    return Path(user_folder("data", os.environ), "vaults", vault_id(root))


def is_inside(root: Path, path: Path) -> bool:
    """Whether a path is inside the vault once all links are resolved (law 8: a vault may come from anywhere)."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def derived(root: Path, name: str) -> Path | None:
    """The path of a file or folder of ours in the vault's `.memory`; None behind a link, or for a pipe or device."""
    file = os.path.join(os.path.realpath(root / MEMORY_FOLDER), name)
    if file != os.path.realpath(file) or not Path(file).is_relative_to(os.path.realpath(root)):
        return None
    with contextlib.suppress(OSError):  # a single lstat: SQLite may delete its logs at any time
        mode = os.lstat(file).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return None
    return root / MEMORY_FOLDER / name


def place_to_write(root: Path, name: str) -> Path:
    """Like `derived`, for a path that is about to be written; raises RefusedError instead of returning None."""
    place = derived(root, name)
    if place is None:
        what = f"{MEMORY_FOLDER}/{name.partition('/')[0]} is behind a link: nothing was written."
        raise RefusedError(what, f"Make `{MEMORY_FOLDER}` and what lies in it plain folders.")
    return place


@contextlib.contextmanager
def writer_lock(index: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the index's writer lock; raises BusyError if another process still holds it after `wait_seconds`."""
    file = index.with_name(index.name + ".lock")
    try:
        make_folder(file.parent)
        handle = open(file, "a+b", opener=private)  # noqa: SIM115 - closed below, after the lock
    except OSError as error:
        raise IndexUnusableError(
            f"The index folder {file.parent} cannot be written: {error.strerror or error}.",
            "Set index.path in your own settings file to a folder that can be written.",
        ) from error
    deadline = time.monotonic() + wait_seconds
    with handle:
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                raise BusyError("Another process is writing this index.", "Try again in a moment.")
            time.sleep(0.02)
        yield


def _try_lock(handle: IO[bytes]) -> bool:
    """Try to lock a file without waiting; return whether it worked."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_MOUNTS = Path("/proc/self/mountinfo")

_NETWORK_KINDS = ("nfs", "cifs", "smb", "sshfs", "fuse.", "9p", "afpfs", "webdav", "davfs")
"""Network file systems, on which file locks and a database are not safe."""

_SILENT_KINDS = (
    *_NETWORK_KINDS, "fuse", "fuseblk", "virtiofs", "vboxsf", "prl_fs", "drvfs", "grpcfuse", "osxfs", "ceph", "gfs",
)  # fmt: skip
"""File systems on which remote changes (by a host, a server, another machine) raise no event here."""


class Mount(NamedTuple):
    """A mounted file system: its folder, its kind, and a mount number that changes when it is mounted again."""

    folder: Path
    kind: str
    number: int = 0


def silent_mounts(root: Path, table: Path = _MOUNTS) -> list[Mount]:
    """The mounts at and below a folder that do not report every change, from the kernel's mount table."""
    below = [mount for mount in _mounts(table) if root in mount.folder.parents]
    return [mount for mount in (Mount(root, _kind_of(root, table)), *below) if mount.kind.startswith(_SILENT_KINDS)]


def mounts_below(root: Path) -> list[Mount]:
    """The mounts inside a folder, without autofs triggers that are not mounted yet."""
    return [mount for mount in _mounts() if root in mount.folder.parents and mount.kind != "autofs"]


def _kind_of(folder: Path, table: Path = _MOUNTS) -> str:
    around = [mount for mount in _mounts(table) if folder.is_relative_to(mount.folder)]
    around.reverse()  # a later mount on the same folder hides the earlier one
    return max(around, key=lambda mount: len(mount.folder.parts), default=Mount(folder, "")).kind


def _mounts(table: Path = _MOUNTS) -> Iterator[Mount]:
    try:
        lines = table.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        # proc(5): number, parent, device, root, folder, options, optional fields, a lone dash, kind, source, options.
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) > 4 and rest:
            folder = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), parts[4])
            yield Mount(Path(folder), rest.split(" ")[0], int(parts[0]))
