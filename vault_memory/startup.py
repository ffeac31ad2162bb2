"""What every call needs before the settings are read: words that options accept, the user's folders, which vault.

It imports next to nothing, and paths are text: each question to a daemon comes this way, and pathlib and the settings
would cost half as much as Python itself.
"""

import os
import sys
from collections.abc import Mapping
from typing import BinaryIO

MODES = ("auto", "hybrid", "lexical", "semantic")
PRESETS = ("tuned", "weighted", "classic", "rrf")
RECALL_FORMATS = ("paths", "md", "json")
FORMATS = ("markdown", "json", "xml")
NOTES, SESSIONS = "notes", "sessions"
STALE_SOURCE = "stale_source"
"""The problem of an answer that another vault's index is missing or behind."""

SOURCES = (NOTES, SESSIONS, "all")
TASKS = ("open", "done")
TOOLS = ("claude-code", "opencode", "openclaw")
"""Whose sessions can be a source."""

REFLECTED = ("entities", "opinions", "summaries", "proposals")
"""What a reflect can be limited to."""

__version__ = "0.1.0"

APP = "vault-memory"
MARKERS = (".memory", ".obsidian")

_VARIABLES = ("OLLAMA_HOST", "TZ", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def user_folder(kind: str, environ: Mapping[str, str]) -> str:
    """The user's `config`, `data` or `state` folder for this program, following each system's custom."""
    home = environ.get("HOME") or os.path.expanduser("~")
    xdg = environ.get(f"XDG_{kind.upper()}_HOME")
    if xdg and os.path.isabs(xdg):
        return os.path.join(xdg, APP)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", APP)
    if sys.platform == "win32":
        return os.path.join(environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming"), APP)
    return os.path.join(
        home, *{"config": [".config"], "state": [".local", "state"]}.get(kind, [".local", "share"]), APP
    )


def named_vault(flag: str | None, environ: Mapping[str, str], cwd: str) -> str | None:
    """The vault's folder by flag, $MEMORY_VAULT or the nearest marked parent; None where the settings must name it."""
    named = flag or environ.get("MEMORY_VAULT")
    if named:
        return os.path.join(cwd, os.path.expanduser(named))
    folder = cwd
    while not any(os.path.isdir(os.path.join(folder, marker)) for marker in MARKERS):
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    return folder


def unnamed_vault(environ: Mapping[str, str], cwd: str) -> str:
    """The folder at hand where it holds notes, itself or a folder in it, and could be a vault; else "".

    Whoever works in the home folder, or above it, did not mean all that lies there.
    """
    home = os.path.realpath(environ.get("HOME") or os.path.expanduser("~"))
    if os.path.join(home, "").startswith(os.path.join(os.path.realpath(cwd), "")):
        return ""
    here = [cwd, *(os.path.join(cwd, name) for name in _names(cwd) if not name.startswith("."))]
    return cwd if any(name.endswith(".md") for folder in here for name in _names(folder)) else ""


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def vault_id(root: str | os.PathLike[str]) -> str:
    """12 hex digits of the SHA-256 of the vault's real path."""
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:12]


MAX_SETTINGS_BYTES = 1_000_000

_WITHOUT_WAITING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str | os.PathLike[str], flags: int = 0) -> BinaryIO:
    """Open a file of a vault or of settings for reading; raises OSError for what is not a regular file.

    A pipe would have us wait, a device may never end, and opening one may set it off.
    """
    import errno
    import stat

    def check(status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))

    check(os.stat(path))
    file = open(os.open(path, _WITHOUT_WAITING | flags), "rb")  # noqa: SIM115 - the caller's
    try:
        check(os.fstat(file.fileno()))  # it may have been swapped
    except OSError:
        file.close()
        raise
    return file


def read_bounded(file: BinaryIO, most_bytes: int) -> bytes:
    """The rest of an opened file; raises OSError where that is more than so many bytes."""
    size = min(os.fstat(file.fileno()).st_size, most_bytes)
    data = file.read(size + 1)
    if len(data) > size:  # it grows, or its size is not told
        data += file.read(most_bytes - size)
    if len(data) > most_bytes:
        import errno

        raise OSError(errno.EFBIG, f"it is larger than {most_bytes // 1_000_000} MB")
    return data


def read_regular(path: str | os.PathLike[str], most_bytes: int = MAX_SETTINGS_BYTES) -> bytes:
    """The bytes of a regular file of a bounded size; raises OSError."""
    with open_regular(path) as file:
        return read_bounded(file, most_bytes)


def relevant_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that an answer may depend on."""
    return {name: value for name, value in environ.items() if name in _VARIABLES or name.startswith("MEMORY_")}
