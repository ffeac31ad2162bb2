"""Where a vault's daemon is reached, and that nobody but its user is there: socket path, folder, owner.

Imported by every `memory recall`: paths are text, and it imports next to nothing. It opens no connection.
"""

import os
import stat
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vault_memory.errors import RefusedError, VaultMemoryError
from vault_memory.startup import APP, user_folder, vault_id

if TYPE_CHECKING:
    import socket

StrPath = str | os.PathLike[str]

LONGEST_BYTES = 103
"""The longest socket path every system takes: 104 bytes with the final NUL on macOS, 108 on Linux."""

LOOPBACK = ".port"
"""The ending of an address that is no socket but a file with a loopback port and a token (Windows)."""


def socket_path(root: StrPath, environ: Mapping[str, str] | None = None) -> str:
    """Where the daemon of the vault at `root` is reached; nothing is made or checked (see `prepare`, `is_own`).

    A socket in the user's runtime folder, else in the data folder's `run/`; where that path is too long for the
    system, under a hashed name in the temporary folder. On Windows a file ending in `.port`.
    """
    environ = os.environ if environ is None else environ
    name = vault_id(root)
    if sys.platform == "win32":
        return os.path.join(user_folder("data", environ), "run", name + LOOPBACK)
    path = os.path.join(_runtime_folder(environ), f"{name}.sock")
    if len(os.fsencode(path)) <= LONGEST_BYTES:
        return path
    import hashlib

    short = hashlib.sha256(os.fsencode(path)).hexdigest()[:24] + ".sock"
    named = os.path.join(environ.get("TMPDIR") or "/tmp", _temporary_name(), short)
    fits = os.path.isabs(named) and len(os.fsencode(named)) <= LONGEST_BYTES
    return named if fits else os.path.join("/tmp", _temporary_name(), short)


def owner_file(root: StrPath, environ: Mapping[str, str] | None = None) -> str:
    """The file in which a vault's daemon says who it is and where it is reached; beside it lies its lock."""
    data = user_folder("data", os.environ if environ is None else environ)
    return os.path.join(data, "daemons", f"{vault_id(root)}.json")


def owner(root: StrPath, environ: Mapping[str, str] | None = None) -> dict[str, Any] | None:
    """What that file says: `pid`, `since`, `socket`; None where there is none."""
    import json

    try:
        with open(owner_file(root, environ), encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and {"pid", "since", "socket"} <= document.keys() else None


def known(root: StrPath) -> str:
    """Where a vault's daemon is reached, also by a process with another runtime folder than it was started with."""
    path = socket_path(root)
    named = None if os.path.lexists(path) else owner(root)
    return str(named["socket"]) if named else path


def prepare(path: StrPath) -> None:
    """Make the folder of an address, for its user alone, and fix the mode of one that is ours.

    Raises RefusedError where it is a link, another user's, or a folder in the temporary one that others could enter
    (what lies in it may be theirs); VaultMemoryError where it cannot be made.
    """
    folder = os.path.dirname(path)
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        if not os.path.lexists(folder):
            os.mkdir(folder, 0o700)
        info, why = os.lstat(folder), ""
        if not stat.S_ISDIR(info.st_mode):
            why = "is not a folder, or a link to one"
        elif info.st_uid != _uid():
            why = "belongs to another user"
        elif os.path.basename(folder) == _temporary_name() and _others_may(info, 0o077):
            why = "is open to other users"
        if why:
            raise RefusedError(f"{folder}, where the daemon's socket goes, {why}.", "Remove it, and run again.")
        if stat.S_IMODE(info.st_mode) != 0o700:
            os.chmod(folder, 0o700)
    except OSError as error:
        what = f"The folder {folder} for the daemon's socket cannot be made: {error.strerror or error}."
        raise VaultMemoryError(what, "Set XDG_RUNTIME_DIR to a folder of your own.") from error


def is_own(path: StrPath) -> bool:
    """Whether there is an address that only this user can have made: neither it nor its folder a link or another's."""
    try:
        folder, file = os.lstat(os.path.dirname(path)), os.lstat(path)
    except OSError:
        return False
    wanted = stat.S_ISREG if is_loopback(path) else stat.S_ISSOCK
    if not stat.S_ISDIR(folder.st_mode) or not wanted(file.st_mode):
        return False
    return folder.st_uid == file.st_uid == _uid() and not _others_may(folder, 0o077)


def is_loopback(path: StrPath) -> bool:
    """Whether an address is a file with a port and a token."""
    return os.fspath(path).endswith(LOOPBACK)


def is_same_user(peer: "socket.socket") -> bool:
    """Whether the process at the other end of a Unix socket is this user's, as far as the system tells.

    Linux says it by SO_PEERCRED (struct ucred), macOS and BSD by LOCAL_PEERCRED (xucred).
    """
    import socket
    import struct

    try:
        if hasattr(socket, "SO_PEERCRED"):
            data = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            return bool(struct.unpack("=iII", data)[1] == _uid())
        if hasattr(socket, "LOCAL_PEERCRED"):
            data = peer.getsockopt(0, socket.LOCAL_PEERCRED, 76)
            return bool(struct.unpack("=II", data[:8])[1] == _uid())
    except (OSError, struct.error):
        return False  # a system that could tell and does not: nobody we know
    return True


def _runtime_folder(environ: Mapping[str, str]) -> str:
    # cron and systemd's system units set no variable, and the folder is there all the same.
    usual = f"/run/user/{_uid()}" if sys.platform == "linux" else ""
    for folder in (environ.get("XDG_RUNTIME_DIR", ""), usual):
        # After `su` or `sudo` the variable may still name the other user's folder.
        if os.path.isabs(folder) and _is_private(folder):
            return os.path.join(folder, APP)
    return os.path.join(user_folder("data", environ), "run")


def _temporary_name() -> str:
    return f"{APP}-{_uid()}"


def _is_private(folder: str) -> bool:
    try:
        info = os.stat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == _uid() and not _others_may(info, 0o022)


def _others_may(info: os.stat_result, bits: int) -> bool:
    # Windows has no such bits and says 0o777 of every folder; the user's own data folder is private there.
    return sys.platform != "win32" and bool(info.st_mode & bits)


def _uid() -> int:
    return 0 if sys.platform == "win32" else os.getuid()
