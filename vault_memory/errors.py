"""The error tree: each error is a sentence for a person, an exit code and the next step.

VaultMemoryError      1
├── RemoteError       1   a configured model's server did not answer as it must
├── NotRunningError   1   no daemon answers; nothing was asked of it, so the work can be done in this process
├── LostError         1   the daemon went away before it answered; whether the work was done is not known
├── UsageError        2   an option, a setting or an argument that cannot be understood
│   └── UnknownMethodError 2   a daemon does not know what it was asked for
├── VaultError        3   no vault found, or not readable
│   └── NoVaultError  3   nothing names a vault; the folder at hand may be one
├── IndexUnusableError 4   the index cannot be used and could not be rebuilt
│   └── IndexDamagedError 4  it is damaged: whoever meets that builds it anew
├── ConflictError     5   a note changed under a writer; nothing was written
├── RefusedError      6   refused for safety: loss cap, outside the vault, absent vault
└── BusyError        75   another process holds the index; try again
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class VaultMemoryError(Exception):
    """An error a person can act on: `str(error)` is the sentence, `next_step` what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, sentence: str, next_step: str = "") -> None:
        super().__init__(sentence)
        self.next_step = next_step


class RemoteError(VaultMemoryError):
    """A configured model's server did not answer as it must; nothing that was there is lost.

    `kind` is "busy" (or it broke off: worth another try), "refused" (fewer or shorter texts might do), "unusable" (the
    model has no vector for a text, or wrote what does not pass its checks) or "wrong" (asking again would not help).
    `wait_seconds` is how long the server asked to be left alone.
    """

    def __init__(self, sentence: str, next_step: str = "", kind: str = "wrong", wait_seconds: float = 0.0) -> None:
        super().__init__(sentence, next_step)
        self.kind = kind
        self.wait_seconds = wait_seconds


class NotRunningError(VaultMemoryError):
    """No daemon answers. Nothing was asked of one, so the caller can do the work itself."""


class LostError(VaultMemoryError):
    """The daemon went away before it answered: what only reads can be done again, what writes may have been done."""


class UsageError(VaultMemoryError):
    """An option, a setting or an argument that cannot be understood."""

    exit_code = 2


class UnknownMethodError(UsageError):
    """A daemon does not know the method it was asked for; it may be older than the command."""


class VaultError(VaultMemoryError):
    """There is no vault, or it cannot be read."""

    exit_code = 3


class NoVaultError(VaultError):
    """Nothing names a vault. `folder` is the one at hand where it holds notes and could be one, else ""."""

    def __init__(self, sentence: str, next_step: str = "", folder: str = "") -> None:
        super().__init__(sentence, next_step)
        self.folder = folder


class IndexUnusableError(VaultMemoryError):
    """The index cannot be used and could not be rebuilt.

    `reason` is what the database said, if it was that which failed.
    """

    exit_code = 4

    def __init__(self, sentence: str, next_step: str = "", reason: str = "") -> None:
        super().__init__(sentence, next_step)
        self.reason = reason


class IndexDamagedError(IndexUnusableError):
    """The index is damaged: whoever meets that builds it anew. The sentence is what the database said."""


class ConflictError(VaultMemoryError):
    """A note changed while it was being written; nothing was written."""

    exit_code = 5


class RefusedError(VaultMemoryError):
    """Refused for safety: too much would be lost, or the path leads out of the vault."""

    exit_code = 6


class BusyError(VaultMemoryError):
    """Another process holds the index for writing."""

    exit_code = 75


def error_from(report: Mapping[str, Any], otherwise: str) -> VaultMemoryError:
    """The error that another process reports: `message` (`otherwise` without one), `next_step` and `exit_code`."""
    sentence, next_step = str(report.get("message", otherwise)), str(report.get("next_step", ""))
    for kind in VaultMemoryError.__subclasses__():
        if kind.exit_code == report.get("exit_code") != VaultMemoryError.exit_code:
            return kind(sentence, next_step)
    return VaultMemoryError(sentence, next_step)
