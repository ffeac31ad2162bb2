"""The exception hierarchy: each error carries a sentence for the user, an exit code and the next step to take.

VaultMemoryError      1
├── RemoteError       1   a configured model's server failed or gave an invalid response
├── NotRunningError   1   no daemon answers; no request was sent, so this process can do the work itself
├── LostError         1   the connection to the daemon broke before it answered; the work may or may not be done
├── UsageError        2   an invalid option, setting or argument
│   └── UnknownMethodError 2   the daemon does not know the requested method
├── VaultError        3   no vault found, or not readable
│   └── NoVaultError  3   no vault is configured; the current folder may be one
├── IndexUnusableError 4   the index cannot be used and could not be rebuilt
│   └── IndexDamagedError 4  the index is damaged; the caller rebuilds it
├── ConflictError     5   a note changed while it was being written; nothing was written
├── RefusedError      6   refused for safety: loss cap, path outside the vault, vault absent
└── BusyError        75   another process holds the index lock; try again
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class VaultMemoryError(Exception):
    """An error the user can act on: `str(error)` is the sentence, `next_step` says what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, sentence: str, next_step: str = "") -> None:
        super().__init__(sentence)
        self.next_step = next_step


class RemoteError(VaultMemoryError):
    """A configured model's server failed or gave an invalid response; no stored data is lost.

    `kind` is "busy" (or the connection broke: worth a retry), "refused" (fewer or shorter texts might work), "unusable"
    (the model has no vector for a text, or its output failed the checks) or "wrong" (a retry would not help).
    `wait_seconds` is the delay that the server asked for before the next request.
    """

    def __init__(self, sentence: str, next_step: str = "", kind: str = "wrong", wait_seconds: float = 0.0) -> None:
        super().__init__(sentence, next_step)
        self.kind = kind
        self.wait_seconds = wait_seconds


class NotRunningError(VaultMemoryError):
    """No daemon answers. No request was sent, so the caller can do the work itself."""


class LostError(VaultMemoryError):
    """The connection to the daemon broke before it answered: reads can be retried, writes may have taken effect."""


class UsageError(VaultMemoryError):
    """An invalid option, setting or argument."""

    exit_code = 2


class UnknownMethodError(UsageError):
    """The daemon does not know the requested method; it may be older than the command."""


class VaultError(VaultMemoryError):
    """There is no vault, or it cannot be read."""

    exit_code = 3


class NoVaultError(VaultError):
    """No vault is configured. `folder` is the current folder if it contains notes and could be a vault, else ""."""

    def __init__(self, sentence: str, next_step: str = "", folder: str = "") -> None:
        super().__init__(sentence, next_step)
        self.folder = folder


class IndexUnusableError(VaultMemoryError):
    """The index cannot be used and could not be rebuilt.

    `reason` is the database's error message, if the database failed.
    """

    exit_code = 4

    def __init__(self, sentence: str, next_step: str = "", reason: str = "") -> None:
        super().__init__(sentence, next_step)
        self.reason = reason


class IndexDamagedError(IndexUnusableError):
    """The index is damaged; the caller rebuilds it. The sentence says what is wrong with the file."""


class ConflictError(VaultMemoryError):
    """A note changed while it was being written; nothing was written."""

    exit_code = 5


class RefusedError(VaultMemoryError):
    """Refused for safety: too much would be lost, or the path leads outside the vault."""

    exit_code = 6


class BusyError(VaultMemoryError):
    """Another process holds the index's writer lock."""

    exit_code = 75


def error_from(report: Mapping[str, Any], otherwise: str) -> VaultMemoryError:
    """Rebuild the error that another process reported as `message` (default `otherwise`), `next_step`, `exit_code`."""
    sentence, next_step = str(report.get("message", otherwise)), str(report.get("next_step", ""))
    for kind in VaultMemoryError.__subclasses__():
        if kind.exit_code == report.get("exit_code") != VaultMemoryError.exit_code:
            return kind(sentence, next_step)
    return VaultMemoryError(sentence, next_step)
