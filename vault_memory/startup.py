"""What every command needs before settings are read: option values, the user's folders, which vault to use.

It imports next to nothing, and paths are plain strings: every request to a daemon goes through here, and pathlib and
the settings would add half of Python's own start-up time.
"""

import errno
import os
import stat
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, BinaryIO, TypeVar

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import Future

T = TypeVar("T")

MODES = ("auto", "hybrid", "lexical", "semantic")
PRESETS = ("tuned", "weighted", "classic", "rrf")
RECALL_FORMATS = ("paths", "md", "json")
FORMATS = ("markdown", "json", "xml")
NOTES, SESSIONS = "notes", "sessions"
STALE_SOURCE = "stale_source"
"""Marks an answer as degraded because another vault's index is missing or out of date."""

SOURCES = (NOTES, SESSIONS, "all")
TASKS = ("open", "done")
TOOLS = ("claude-code", "opencode", "openclaw")
"""The agents whose sessions can be indexed."""

REFLECTED = ("entities", "opinions", "summaries", "proposals")
"""What `reflect --only` accepts."""

__version__ = "0.1.0"

APP = "vault-memory"
MARKERS = (".memory", ".obsidian")

MODEL_RUN_VARIABLE = "MEMORY_MODEL_RUN"
"""Set for a program that answers as the configured model: an agent's hooks do nothing in it."""

OFF_FILE = ".nomemory"
"""Sessions in a folder with a file of this name, or below it, are not captured."""

_VARIABLES = ("OLLAMA_HOST", "TZ", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def user_folder(kind: str, environ: Mapping[str, str]) -> str:
    """The user's `config`, `data` or `state` folder for this program, by each platform's convention."""
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
    """The vault's folder from the flag, $MEMORY_VAULT or the nearest folder at or above `cwd` with a marker, else None.

    None means that only the settings can name the vault.
    """
    named = flag or environ.get("MEMORY_VAULT")
    if named:
        return os.path.join(cwd, os.path.expanduser(named))
    folder = cwd
    while not any(os.path.isdir(os.path.join(folder, marker)) for marker in MARKERS):
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    return folder


def vault_id(root: str | os.PathLike[str]) -> str:
    """12 hex digits of the SHA-256 of the vault's real path."""
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:12]


def own_command(vault: str | os.PathLike[str], *words: str) -> list[str]:
    """The command line that runs this program on a vault in a separate process."""
    return [sys.executable, "-m", "vault_memory", "--vault", os.fspath(vault), *words]


def start_indexing(vault: str | os.PathLike[str]) -> "subprocess.Popen[bytes]":
    """Build or update a vault's index in a detached process that outlives this one."""
    import subprocess

    command, nowhere = own_command(vault, "--quiet", "index"), subprocess.DEVNULL
    return subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


MAX_SETTINGS_BYTES = 1_000_000
_USUAL_BYTES = 1 << 16
"""Size of the first read: asking for the maximum would allocate that much for every note."""

_WITHOUT_WAITING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def start_thread(call: Callable[[], T]) -> "Future[T]":
    """Run `call` in a thread that, unlike an executor's, lets the process end even while it hangs."""
    import threading
    from concurrent.futures import Future  # 15 ms

    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # raised by `result`
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def open_regular(path: str | os.PathLike[str], flags: int = 0) -> BinaryIO:
    """Open a vault or settings file for reading; raises OSError for anything but a regular file.

    A pipe would block, and a device may never end.
    """
    handle = os.open(path, _WITHOUT_WAITING | flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return open(handle, "rb")


def read_bounded(file: BinaryIO, most_bytes: int) -> bytes:
    """Read the rest of an open file; raises OSError if that is more than `most_bytes`."""
    data = file.read(_USUAL_BYTES)
    if len(data) == _USUAL_BYTES:
        data += file.read(most_bytes)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes // 1_000_000} MB")
    return data


def read_regular(path: str | os.PathLike[str], most_bytes: int = MAX_SETTINGS_BYTES) -> bytes:
    """Read a regular file of at most `most_bytes`; raises OSError."""
    with open_regular(path) as file:
        return read_bounded(file, most_bytes)


def relevant_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that an answer may depend on."""
    return {name: value for name, value in environ.items() if name in _VARIABLES or name.startswith("MEMORY_")}
