"""Finds and calls a running daemon: its socket path, folder and owner; one connection per call.

Every `memory recall` passes through here, so paths are plain strings, `socket` and `json` are imported only when used,
and without a daemon the cost is a few file look-ups. The meaning of the methods is defined elsewhere.
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
"""JSON-RPC 2.0, section 5.1, plus one code of its server range; every other code is an exit code from errors.py."""

ERRORS = {UNKNOWN_METHOD: UnknownMethodError, BAD_PARAMETERS: UsageError, OTHER_SETTINGS: NotRunningError}
"""The errors that have a code of their own; an error that matches several gets the first."""

LONGEST_REQUEST_BYTES = 1 << 20
"""The longest request line: room for any question and for any note to store."""

CONNECT_SECONDS = 0.2

ALIVE_SECONDS = 1.0
"""How long a daemon may take to answer `health`, which waits for no other work."""

LONGEST_PATH_BYTES = 103
"""The longest socket path that every system accepts: macOS allows 104 bytes with the final NUL, Linux 108."""

LOOPBACK = ".port"
"""The suffix of an address that is a file with a loopback port and a token instead of a socket (Windows)."""

_UID = 0 if sys.platform == "win32" else os.getuid()
_TEMPORARY = f"{APP}-{_UID}"
"""The name of our folder in the temporary folder, used when the regular socket path would be too long."""


def call(path: StrPath, method: str, params: Mapping[str, Any] | None = None, wait_seconds: float = 60.0) -> Any:  # noqa: ANN401
    """Send one request to the daemon at `path` (see `socket_path`) and return its result, over a new connection.

    Raises NotRunningError if the request was not carried out: nobody listens, the socket is not this user's, the daemon
    does not answer `health` within ALIVE_SECONDS or has other settings than this process, or the request is too long or
    not encodable as UTF-8. Raises LostError if the daemon goes away or `wait_seconds` pass after the request was sent.
    An error of the daemon is raised with the class and exit code it has there.
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
            # Sent only once `health` is answered: a suspended daemon would carry out the request on waking, after this
            # process had done the work itself, and a fact would be stored twice.
            connection.settimeout(ALIVE_SECONDS)
            connection.sendall(health)
            _read_answer(answers, 1)
            connection.settimeout(wait_seconds)
            connection.sendall(request)
        except (OSError, LostError) as error:
            raise _not_running(path) from error  # the server never acts on an incomplete line
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
        # A full backlog, or a socket file left by a killed daemon, fails at once on a Unix socket.
        connection.connect(os.fspath(path))
    except OSError:
        connection.close()
        raise
    return connection


def _line(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    """Encode one request; raises ValueError for what JSON or UTF-8 cannot represent."""
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
    """Call a method of a vault's daemon; return None if no daemon with this version and these settings answers.

    The caller then does the work itself.
    """
    path = address(vault)
    if not is_own(path):  # the common case, at no cost of a request and an exception
        return None
    try:
        found = call(path, method, {**params, "process": this_process()}, wait_seconds)
    except (NotRunningError, LostError, UnknownMethodError):
        return None
    return found if isinstance(found, dict) else None


def address(vault: StrPath) -> str:
    """Return the address of a vault's daemon, even if it was started with another runtime folder."""
    path = socket_path(vault)
    named = None if os.path.lexists(path) else owner(vault)
    return str(named["socket"]) if named else path


def this_process() -> dict[str, Any]:
    """Return the version and environment of this process; a daemon refuses another version or other settings."""
    return {"version": __version__, "environment": startup.relevant_environment(os.environ)}


def _not_running(path: StrPath) -> NotRunningError:
    return NotRunningError(f"No daemon answers at {path}.", "`memory watch` starts one.")


# --- addresses -------------------------------------------------------------------------------------------------------


def socket_path(root: StrPath, environ: Mapping[str, str] | None = None) -> str:
    """Return the address of the daemon of the vault at `root`, without creating or checking it (`prepare`, `is_own`).

    It is a socket in the user's runtime folder, or else in the data folder's `run/`; if that path is too long for the
    system, a hashed name in the temporary folder. On Windows it is a file ending in `.port`.
    """
    environ = os.environ if environ is None else environ
    name, folder = vault_id(root), os.path.join(user_folder("data", environ), "run")
    if sys.platform == "win32":
        return os.path.join(folder, name + LOOPBACK)
    # cron and systemd's system units do not set the variable, although the folder exists.
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
    """Return the file that records the process and address of a vault's daemon; its lock lies beside it."""
    return os.path.join(user_folder("data", os.environ), "daemons", f"{vault_id(root)}.json")


def owner(root: StrPath) -> dict[str, Any] | None:
    """Read `owner_file`: `pid`, `since` and `socket`; None if it is missing or unreadable."""
    try:
        with open(owner_file(root), encoding="utf-8") as file:
            import json

            document = json.load(file)
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and {"pid", "since", "socket"} <= document.keys() else None


def prepare(path: StrPath) -> None:
    """Create the folder of an address with access for this user only; fix the mode of an existing one of ours.

    Raises RefusedError if it is a link, belongs to another user, or is our folder in the temporary folder and others
    could enter it (its contents may be theirs); VaultMemoryError if it cannot be created.
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
    """Whether `path` exists and only this user can have made it: neither it nor its folder is a link or another's."""
    try:
        folder, file = os.lstat(os.path.dirname(path)), os.lstat(path)
    except OSError:
        return False
    is_address = stat.S_ISREG if is_loopback(path) else stat.S_ISSOCK
    return _is_private(folder, 0o077) and is_address(file.st_mode) and file.st_uid == _UID


def _is_private(folder: os.stat_result, bits: int) -> bool:
    """Whether this is a folder of this user whose mode has none of these permission bits."""
    # Windows has no such bits and reports 0o777 for every folder; the user's data folder is private there.
    is_open = sys.platform != "win32" and bool(folder.st_mode & bits)
    return stat.S_ISDIR(folder.st_mode) and folder.st_uid == _UID and not is_open


def is_loopback(path: StrPath) -> bool:
    """Whether an address is a file with a port and a token, not a socket."""
    return os.fspath(path).endswith(LOOPBACK)
