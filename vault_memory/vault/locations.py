"""Where derived files lie (the index, its lock, the device's id), and on which kinds of file system.

The index lies in the vault's `.memory/`, except where that folder is synced, on a network file system or not
writable; then it goes to the user's data folder, named by the vault's real path (DESIGN.md §4).
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
    """Where this vault's index lies, the user's `index.path` first; and "vault", or why it lies elsewhere."""
    if config.index_path:
        # A folder holds the indexes of all vaults, each under its id; a file is the index of one.
        one = config.index_path.suffix in (".sqlite", ".db")
        return config.index_path if one else config.index_path / vault_id(root) / "index.sqlite", "set by index.path"
    if why := _why_elsewhere(root):
        return Path(user_folder("data", os.environ), vault_id(root), "index.sqlite"), why
    return root / MEMORY_FOLDER / "index.sqlite", "vault"


def _why_elsewhere(root: Path) -> str:
    """Why the index must not lie in the vault, or ""."""
    for name in (*(f"index.sqlite{end}" for end in ("", "-wal", "-shm", "-journal", ".lock")), "retain.lock"):
        if derived(root, name) is None:
            return f"`{MEMORY_FOLDER}` or `{MEMORY_FOLDER}/{name}` is a link, a pipe or a device"
    for folder in (root, *root.parents):
        if folder.name.casefold().startswith(_SYNC_FOLDERS):
            return f"the vault lies in a synced folder ({folder.name})"
        # Dropbox marks its folder with a file of the name its settings folder in the home folder has.
        if (folder / ".stfolder").exists() or (folder / ".dropbox").is_file():
            return f"the vault lies in a synced folder ({folder})"
    kind = _kind_of(root)
    if kind.startswith(_NETWORK_KINDS):
        return f"the vault is on a network file system ({kind})"
    target = root / MEMORY_FOLDER if (root / MEMORY_FOLDER).is_dir() else root
    return "" if os.access(target, os.W_OK | os.X_OK) else "the vault is not writable"


def identity(path: Path) -> tuple[int, int] | None:
    """Which file or folder stands at a path (device and number): that of an unmounted drive is another one."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def make_folder(folder: Path) -> None:
    """Make a folder with those above it, but no vault that is gone from its place (law 7); raises OSError."""
    if MEMORY_FOLDER in folder.parts:
        root = Path(*folder.parts[: folder.parts.index(MEMORY_FOLDER)])
        if not root.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(root))
    make_private(folder)


def is_writable(index: Path) -> bool:
    """Whether an index's folder can be written, or made where it is missing."""
    folder = next((folder for folder in index.parents if folder.exists()), index.parent)
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def device_id() -> str:
    """This device's id, made once and kept in the user's data folder, never in the vault."""
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
    """Note on this device how many notes a vault held: an unmounted drive's empty folder is then recognised."""
    file = memory_of(root)
    with contextlib.suppress(OSError):
        if not file.exists() or file.read_text("ascii") != str(notes):
            make_private(file.parent)
            with open(file, "w", encoding="ascii", opener=private) as handle:
                handle.write(str(notes))


def remembered(root: Path) -> int:
    """How many notes the vault at this path held when it was last indexed on this device; 0 for a new one."""
    with contextlib.suppress(OSError, ValueError):
        return int(memory_of(root).read_text("ascii"))
    return 0


def memory_of(root: Path) -> Path:
    """The file that `remember` writes."""
    return Path(user_folder("data", os.environ), "vaults", vault_id(root))


def is_inside(root: Path, path: Path) -> bool:
    """Whether a path lies in the vault with every link on its way followed (law 8: a vault may come from anywhere)."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def derived(root: Path, name: str) -> Path | None:
    """A file or folder of ours in the vault's `.memory`.

    None where a link would have something else written in its place, or a pipe or device would have us wait.
    """
    file = os.path.join(os.path.realpath(root / MEMORY_FOLDER), name)
    if file != os.path.realpath(file) or not Path(file).is_relative_to(os.path.realpath(root)):
        return None
    with contextlib.suppress(OSError):  # in one look: SQLite takes its logs away at any time
        mode = os.lstat(file).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return None
    return root / MEMORY_FOLDER / name


def place_to_write(root: Path, name: str) -> Path:
    """The same of what is about to be written; raises RefusedError instead."""
    place = derived(root, name)
    if place is None:
        what = f"{MEMORY_FOLDER}/{name.partition('/')[0]} is behind a link: nothing was written."
        raise RefusedError(what, f"Make `{MEMORY_FOLDER}` and what lies in it plain folders.")
    return place


@contextlib.contextmanager
def writer_lock(index: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the index's writer lock; raises BusyError when another process still holds it after `wait_seconds`."""
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
    try:
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                raise BusyError("Another process is writing this index.", "Try again in a moment.")
            time.sleep(0.02)
        yield
    finally:
        handle.close()


def _try_lock(handle: IO[bytes]) -> bool:
    """Lock a file where nobody else holds it; whether that worked."""
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
"""Where locks and a database are not safe either."""

_SILENT_KINDS = (
    *_NETWORK_KINDS, "fuse", "fuseblk", "virtiofs", "vboxsf", "prl_fs", "drvfs", "grpcfuse", "osxfs", "ceph", "gfs",
)  # fmt: skip
"""Changes made on the other side (a host, a server, another machine) raise no event here."""


class Mount(NamedTuple):
    """A mounted file system: its folder, its kind, and a number that the same one has not again when it comes back."""

    folder: Path
    kind: str
    number: int = 0


def silent_mounts(root: Path, table: Path = _MOUNTS) -> list[Mount]:
    """The file systems at and below a folder that do not tell of every change, by the kernel's table of mounts."""
    below = [mount for mount in _mounts(table) if root in mount.folder.parents]
    return [mount for mount in (Mount(root, _kind_of(root, table)), *below) if mount.kind.startswith(_SILENT_KINDS)]


def mounts_below(root: Path) -> list[Mount]:
    """What is mounted inside a folder; not what only waits to be."""
    return [mount for mount in _mounts() if root in mount.folder.parents and mount.kind != "autofs"]


def _kind_of(folder: Path, table: Path = _MOUNTS) -> str:
    best = Mount(Path(), "")
    for mount in _mounts(table):
        if folder.is_relative_to(mount.folder) and len(str(mount.folder)) >= len(str(best.folder)):
            best = mount  # of two mounts on one folder the later one hides the other
    return best.kind


def _mounts(table: Path = _MOUNTS) -> Iterator[Mount]:
    try:
        lines = table.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # no Linux
        return
    for line in lines:
        # proc(5): number, parent, device, root, folder, options, optional fields, a lone dash, kind, source, options.
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) > 4 and rest:
            folder = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), parts[4])
            yield Mount(Path(folder), rest.split(" ")[0], int(parts[0]))
