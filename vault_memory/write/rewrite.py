"""Rewrites one note under the guest rules (DESIGN.md §2, law 2), whatever is put in or taken out.

A note just saved is left to its editor for a moment, the new text is made from the note's own bytes, what it held is
kept if asked for, and it is written over those very bytes; three tries.
"""

import difflib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vault_memory.errors import ConflictError
from vault_memory.markdown.note import decoded_lines
from vault_memory.vault.vault import SETTLE_SECONDS, Vault

TRIES = 3

LINE_ENDS = re.compile(r"(\r\n|\n|\r)")
"""Splits a text into lines and their ends in turn."""

T = TypeVar("T")


@dataclass(frozen=True)
class Rewriter:
    """Rewrites notes of one vault.

    `is_own(path, data)` is whether this program wrote that there last: its own young file needs no waiting.
    `is_known(path)` is whether the index has that note: one that is missing all the same is waited for.
    `keep(path, before, after)` is called before each try, to keep a pre-image.
    """

    vault: Vault
    is_own: Callable[[str, bytes], bool] = lambda path, data: False
    is_known: Callable[[str], bool] = lambda path: False
    keep: Callable[[str, bytes | None, bytes], None] | None = None

    def rewrite(self, path: str, compose: Callable[[bytes | None], tuple[bytes, T]]) -> T:
        """Replace a note by what `compose` makes of its bytes (None: there is none yet); returns what comes with it.

        Raises ConflictError after three tries against an editor that keeps saving, and whatever `compose` raises.
        """
        for attempt in range(TRIES):
            before = self.settled(path)
            after, result = compose(before)
            if after == before:
                return result
            if self.keep:
                self.keep(path, before, after)
            try:
                self.vault.write(path, after, before)
            except ConflictError:
                if attempt == TRIES - 1:
                    raise
                continue
            return result
        raise AssertionError("unreachable")

    def settled(self, path: str) -> bytes | None:
        """A note's bytes, once an editor that has just saved it has had its moment; None where there is none."""
        # One that the index knows gets a moment to come back: some editors rename it away to save.
        deadline = time.monotonic() + SETTLE_SECONDS
        while (
            (before := read_current(self.vault, path)) is None and self.is_known(path) and time.monotonic() < deadline
        ):
            time.sleep(0.05)
        if before is None or self.is_own(path, before):
            return before
        wait = SETTLE_SECONDS - self.vault.seconds_since_saved(path)
        if not 0 < wait <= SETTLE_SECONDS:
            return before
        time.sleep(wait)
        return read_current(self.vault, path)


def read_current(vault: Vault, path: str) -> bytes | None:
    """A note's bytes now; None where there is none.

    Raises RefusedError for a way out of the vault, ConflictError when it cannot be read.
    """
    try:
        return vault.read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        vault.target(path)
        raise ConflictError(f"{path} cannot be read: {error.strerror}.", "Nothing was written.") from error


def decode_utf8(path: str, data: bytes) -> str:
    """A note's text; raises ConflictError where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConflictError(f"{path} is not UTF-8: nothing was written.", "Save it as UTF-8 first.") from error


def difference(path: str, before: bytes | None, after: bytes) -> str:
    """What a rewriting changes, as a unified diff for a person to read; "" when nothing."""
    old, new = (decoded_lines(data)[0] for data in (before or b"", after))
    return difference_of_lines(path, old if before is not None else None, new)


def difference_of_lines(path: str, before: Sequence[str] | None, after: Sequence[str]) -> str:
    """The same of lines that somebody sees."""
    named = path if before is not None else "(new)"
    return "\n".join(difflib.unified_diff(before or [], after, named, path, lineterm=""))
