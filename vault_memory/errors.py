"""Owns the error tree: each error is a sentence for a person, an exit code and the next step.

VaultMemoryError      1
├── RemoteError       1   a configured model's server did not answer as it must
├── UsageError        2   an option, a setting or an argument that cannot be understood
├── VaultError        3   no vault found, or not readable
├── IndexUnusableError 4   the index cannot be used and could not be rebuilt
├── ConflictError     5   a note changed under a writer; nothing was written
├── RefusedError      6   refused for safety: loss cap, outside the vault, absent vault
└── BusyError        75   another process holds the index; try again
"""

from typing import ClassVar


class VaultMemoryError(Exception):
    """An error a person can act on: `str(error)` is the sentence, `next_step` what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, sentence: str, next_step: str = "") -> None:
        super().__init__(sentence)
        self.next_step = next_step


class RemoteError(VaultMemoryError):
    """A configured model's server did not answer as it must; nothing that was there is lost.

    `kind` is "away" (not there, too busy: worth another try), "slow" (fewer texts at once might do), "long" (a text is
    longer than the model reads), "refused" (fewer or shorter texts might do), "unusable" (the model has no vector for a
    text) or "wrong" (asking again would not help). `wait_seconds` is how long the server asked to be left alone.
    """

    def __init__(self, sentence: str, next_step: str = "", kind: str = "wrong", wait_seconds: float = 0.0) -> None:
        super().__init__(sentence, next_step)
        self.kind = kind
        self.wait_seconds = wait_seconds


class UsageError(VaultMemoryError):
    """An option, a setting or an argument that cannot be understood."""

    exit_code = 2


class VaultError(VaultMemoryError):
    """There is no vault, or it cannot be read."""

    exit_code = 3


class IndexUnusableError(VaultMemoryError):
    """The index cannot be used and could not be rebuilt."""

    exit_code = 4


class ConflictError(VaultMemoryError):
    """A note changed while it was being written; nothing was written."""

    exit_code = 5


class RefusedError(VaultMemoryError):
    """Refused for safety: too much would be lost, or the path leads out of the vault."""

    exit_code = 6


class BusyError(VaultMemoryError):
    """Another process holds the index for writing."""

    exit_code = 75
