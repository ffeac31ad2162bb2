"""Rewrites one note as a guest in the vault would (law 2): only its own part, and over nobody's change.

A note just saved is left to its editor for a moment; the new text is composed from the current bytes, a pre-image is
kept on request, and the write succeeds only if the bytes are still the same. Three attempts.
"""

import difflib
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from vault_memory.errors import ConflictError
from vault_memory.markdown.note import BLANK
from vault_memory.markdown.parse import parse
from vault_memory.vault.vault import SETTLE_SECONDS, Vault

TRIES = 3

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\n|\r)|[^\r\n]++")

T = TypeVar("T")


@dataclass(frozen=True)
class Rewriter:
    """Rewrites notes of one vault.

    `is_own(path, data)` says whether this program wrote those bytes: its own recent save needs no waiting.
    `is_known(path)` says whether the index has that note: if so and it is missing, it is waited for.
    `keep(path, before, after)` is called before each attempt, to keep a pre-image.
    """

    vault: Vault
    is_own: Callable[[str, bytes], bool] = lambda path, data: False
    is_known: Callable[[str], bool] = lambda path: False
    keep: Callable[[str, bytes | None, bytes], None] | None = None

    def rewrite(self, path: str, compose: Callable[[bytes | None], tuple[bytes | None, T]]) -> T:
        """Replace a note with what `compose` makes of its bytes (None: no note); returns `compose`'s second value.

        Raises ConflictError after three attempts against an editor that keeps saving, and whatever `compose` raises.
        """
        for attempt in range(TRIES):
            before = self.settled(path)
            after, result = compose(before)
            if after is None or after == before:
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
        """A note's bytes, after waiting for an editor that has just saved it; None if there is no note."""
        # A note in the index may come back: some editors rename it away while saving.
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
    """A note's current bytes; None if there is no note.

    Raises RefusedError for a path outside the vault, ConflictError if it cannot be read.
    """
    try:
        return vault.read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        vault.target(path)
        raise ConflictError(f"{path} cannot be read: {error.strerror}.", "Nothing was written.") from error


def decode_utf8(path: str, data: bytes) -> str:
    """A note's text; raises ConflictError if the bytes are not UTF-8 text."""
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8")
        if 3 * text.count("\0") <= len(text):  # UTF-16 without a BOM has one in every second byte
            return text
    raise ConflictError(f"{path} is not UTF-8: it was left alone, nothing was written.", "Save it as UTF-8 first.")


def lines_of(text: str) -> list[str]:
    """The lines of a note's text with their endings, split as by the parser."""
    return _LINE.findall(text)


def split_end(line: str) -> tuple[str, str]:
    """A line without its ending, and the ending."""
    said = line.rstrip("\r\n")
    return said, line[len(said) :]


def line_ending(text: str) -> str:
    """The line ending a note uses."""
    return "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"


def append_item(path: str, data: bytes, title: str, item: str, is_apart: bool = False) -> tuple[bytes, int]:
    """Append a list item to the note's last section with this title, or to a new one.

    `is_apart` puts a blank line between heading and list. Returns the bytes and the item's 1-based line. Raises
    ConflictError if the note is not UTF-8.
    """
    text, note = decode_utf8(path, data), parse(path, data)
    end = line_ending(text)
    sections = [at for at, heading in enumerate(note.headings) if heading.text.casefold() == title.casefold()]
    if not sections:
        lead = "" if not text.strip("\ufeff") else end if text.endswith(("\n", "\r")) else end * 2
        new = f"{text}{lead}## {title}{end * (1 + is_apart)}{item}{end}"
        return new.encode("utf-8"), len(parse(path, new.encode()).lines)
    # After the section's last non-blank line, or its heading.
    first, *following = (heading.line for heading in note.headings[sections[-1] :])
    until = following[0] if following else len(note.lines) + 1
    # An owned block that contains the next heading also ends the section where it begins.
    until = min([block.start_line for block in note.owned if block.start_line < until <= block.end_line], default=until)
    after = next((n for n in range(until - 1, first, -1) if note.states[n - 1] != BLANK), first)
    lines = lines_of(text)
    head, tail = "".join(lines[:after]), "".join(lines[after:])
    lead = "" if head.endswith(("\n", "\r")) else end
    gap = end if is_apart and after == first else ""
    new = head + lead + gap + item + (end if tail or not lead else "") + tail
    return new.encode("utf-8"), after + 1 + bool(gap)


def difference(path: str, before: Sequence[str] | None, after: Sequence[str]) -> str:
    """The change of a note's lines (None: no note) as a unified diff for a person to read; "" for none."""
    named = path if before is not None else "(new)"
    return "\n".join(difflib.unified_diff(before or [], after, named, path, lineterm=""))
