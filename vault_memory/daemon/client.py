"""Finds and asks a running daemon: its socket path, folder and owner; a connection for each call.

On the path of every `memory recall`: paths are text, and where no daemon is, it costs one look at a file; `socket` and
`json` come later. What a method means is none of its business.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from vault_memory import startup
from vault_memory.errors import (
    LostError,
    NotRunningError,
    RefusedError,
    UnknownMethodError,
    UsageError,
    VaultMemoryError,
    error_from,
)
from vault_memory.startup import APP, __version__, user_folder, vault_id

if TYPE_CHECKING:
    import socket

StrPath = str | os.PathLike[str]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
BAD_PARAMETERS = -32602
INTERNAL_ERROR = -32603
OTHER_SETTINGS = -32001
"""JSON-RPC 2.0, section 5.1, and one of those it leaves to servers; every other code is an exit code of errors.py."""

ERRORS = {UNKNOWN_METHOD: UnknownMethodError, BAD_PARAMETERS: UsageError, OTHER_SETTINGS: NotRunningError}
"""The errors with a code of their own; one that is two of them has the first."""

LONGEST_REQUEST_BYTES = 1 << 20
"""A request's longest line. A note to keep has a place in it; what is longer is no question and no note to keep."""

CONNECT_SECONDS = 0.2

ALIVE_SECONDS = 1.0
"""How long a daemon may take to answer `health`, which it does between any two things it does."""

LONGEST_PATH_BYTES = 103
"""The longest socket path every system takes: 104 bytes with the final NUL on macOS, 108 on Linux."""

LOOPBACK = ".port"
"""The ending of an address that is no socket but a file with a loopback port and a token (Windows)."""

_UID = 0 if sys.platform == "win32" else os.getuid()
_TEMPORARY = f"{APP}-{_UID}"
"""Our folder in the temporary one, where the system's own would make a path too long."""


def call(path: StrPath, method: str, params: Mapping[str, Any] | None = None, wait_seconds: float = 60.0) -> Any:  # noqa: ANN401
    """What the daemon at an address of `socket_path` answers to one request, over a connection of its own.

    Raises NotRunningError where nobody listens or anybody but this user, or a daemon that does not answer `health`
    within ALIVE_SECONDS, has other settings than this process or cannot be sent such a request (too long, or text that
    UTF-8 cannot hold): then it was not asked. Raises LostError when it goes away, or `wait_seconds` pass, after the
    request went out; else the error it answered, of the class and exit code it has in the daemon.
    """
    if not is_own(path):
        raise _not_running(path)
    try:
        health, request = _line(1, "health", {}), _line(2, method, params or {})
        if len(request) > LONGEST_REQUEST_BYTES:
            raise ValueError("too long")
        connection = _connect(path)
    except (OSError, ValueError) as error:
        raise _not_running(path) from error
    with connection, connection.makefile("rb") as answers:
        try:
            # The request goes out when `health` is answered: a daemon that is stopped now would do it on waking,
            # though this process has done it by then, and a fact would be kept twice.
            connection.settimeout(ALIVE_SECONDS)
            connection.sendall(health)
            _read_answer(answers, 1)
            connection.settimeout(wait_seconds)
            connection.sendall(request)
        except (OSError, LostError) as error:
            raise _not_running(path) from error  # an unfinished line is never done
        answer = _read_answer(answers, 2)
    if answer.get("error") is None:
        return answer.get("result")
    code, sentence, data = answer["error"]["code"], answer["error"]["message"], answer["error"]["data"]
    if kind := ERRORS.get(code):
        raise kind(sentence, data["next_step"])
    raise error_from({"message": sentence} | data, "")


def _connect(path: StrPath) -> "socket.socket":
    import socket

    if is_loopback(path):
        with open(path, encoding="ascii") as file:
            port, token = file.read().split()
        connection = socket.create_connection(("127.0.0.1", int(port)), CONNECT_SECONDS)
        connection.sendall(token.encode("ascii") + b"\n")
        return connection
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(CONNECT_SECONDS)
        # A Unix socket's backlog that is full, and a file left by a daemon that was killed, are told at once.
        connection.connect(os.fspath(path))
    except OSError:
        connection.close()
        raise
    return connection


def _line(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    """One request; raises ValueError for what JSON or UTF-8 cannot hold."""
    import json

    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8") + b"\n"


def _read_answer(answers: BinaryIO, number: int) -> Mapping[str, Any]:
    import json

    try:
        answer = json.loads(answers.readline())
        if isinstance(answer, dict) and answer.get("id") == number:
            return answer
        why = "what it said is no answer to what it was asked"
    except TimeoutError:
        why = "it did not answer in time"
    except (OSError, ValueError, RecursionError):
        why = "the connection ended, or what it said is not JSON"
    raise LostError(f"The daemon's answer was lost: {why}.", "`memory status` tells whether it runs; try again.")


def ask(vault: StrPath, method: str, params: Mapping[str, Any], wait_seconds: float = 60.0) -> dict[str, Any] | None:
    """What a vault's daemon answers a program of this version and environment.

    None where none runs that can be asked: then the program does it itself.
    """
    path = address(vault)
    if not is_own(path):  # most often: a recall need not make a request, and an error, to learn that
        return None
    try:
        found = call(path, method, {**params, "process": this_process()}, wait_seconds)
    except (NotRunningError, LostError, UnknownMethodError):
        return None
    return found if isinstance(found, dict) else None


def address(vault: StrPath) -> str:
    """Where a vault's daemon is reached, also one that was started with another runtime folder."""
    path = socket_path(vault)
    named = None if os.path.lexists(path) else owner(vault)
    return str(named["socket"]) if named else path


def this_process() -> dict[str, Any]:
    """What a daemon must share with who asks it: it refuses another version, and other settings than its own."""
    return {"version": __version__, "environment": startup.relevant_environment(os.environ)}


def _not_running(path: StrPath) -> NotRunningError:
    return NotRunningError(f"No daemon answers at {path}.", "`memory watch` starts one.")


# --- where it is reached ---------------------------------------------------------------------------------------------


def socket_path(root: StrPath, environ: Mapping[str, str] | None = None) -> str:
    """Where the daemon of the vault at `root` is reached; nothing is made or checked (see `prepare`, `is_own`).

    A socket in the user's runtime folder, else in the data folder's `run/`; where that path is too long for the
    system, under a hashed name in the temporary folder. On Windows a file ending in `.port`.
    """
    environ = os.environ if environ is None else environ
    name, folder = vault_id(root), os.path.join(user_folder("data", environ), "run")
    if sys.platform == "win32":
        return os.path.join(folder, name + LOOPBACK)
    # cron and systemd's system units set no variable, and the folder is there all the same.
    usual = f"/run/user/{_UID}" if sys.platform == "linux" else ""
    for runtime in (environ.get("XDG_RUNTIME_DIR", ""), usual):
        # After `su` or `sudo` the variable may still name the other user's folder.
        with contextlib.suppress(OSError):
            if os.path.isabs(runtime) and _is_private(os.stat(runtime), 0o022):
                folder = os.path.join(runtime, APP)
                break
    path = os.path.join(folder, f"{name}.sock")
    if len(os.fsencode(path)) <= LONGEST_PATH_BYTES:
        return path
    import hashlib

    short = hashlib.sha256(os.fsencode(path)).hexdigest()[:24] + ".sock"
    named = os.path.join(environ.get("TMPDIR") or "/tmp", _TEMPORARY, short)
    fits = os.path.isabs(named) and len(os.fsencode(named)) <= LONGEST_PATH_BYTES
    return named if fits else os.path.join("/tmp", _TEMPORARY, short)


def owner_file(root: StrPath) -> str:
    """The file in which a vault's daemon says who it is and where it is reached; beside it lies its lock."""
    return os.path.join(user_folder("data", os.environ), "daemons", f"{vault_id(root)}.json")


def owner(root: StrPath) -> dict[str, Any] | None:
    """What that file says: `pid`, `since`, `socket`; None where there is none."""
    import json

    try:
        with open(owner_file(root), encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and {"pid", "since", "socket"} <= document.keys() else None


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
        info = os.lstat(folder)
        is_open = os.path.basename(folder) == _TEMPORARY and not _is_private(info, 0o077)
        if is_open or not stat.S_ISDIR(info.st_mode) or info.st_uid != _UID:
            what = f"{folder}, where the daemon's socket goes, is not a folder that only you can enter."
            raise RefusedError(what, "Remove it, and run again.")
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
    is_address = stat.S_ISREG if is_loopback(path) else stat.S_ISSOCK
    return _is_private(folder, 0o077) and is_address(file.st_mode) and file.st_uid == _UID


def _is_private(folder: os.stat_result, bits: int) -> bool:
    """Whether this is a folder of this user, and no other may do with it what these bits of its mode say."""
    # Windows has no such bits and says 0o777 of every folder; the user's own data folder is private there.
    is_open = sys.platform != "win32" and bool(folder.st_mode & bits)
    return stat.S_ISDIR(folder.st_mode) and folder.st_uid == _UID and not is_open


def is_loopback(path: StrPath) -> bool:
    """Whether an address is a file with a port and a token."""
    return os.fspath(path).endswith(LOOPBACK)
