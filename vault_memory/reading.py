"""Owns `get`: lines of one note as the file holds them now, never outside the vault."""

from dataclasses import dataclass

from vault_memory.note import decode, split_lines
from vault_memory.vault import Vault

MAX_CHARS = 10_000


@dataclass(frozen=True)
class Excerpt:
    """Lines `start_line`..`end_line` of a note; a missing note is empty and `not_found`.

    `line_cut` says that what is truncated ends within `end_line`, a line too long to be shown whole.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    truncated: bool = False
    not_found: bool = False
    line_cut: bool = False


def read(vault: Vault, path: str, lines: tuple[int, int | None] | None, max_tokens: int | None) -> Excerpt:
    """Read a note's lines (1-based, both ends included; None is the last), at most 10,000 characters unless told.

    Raises RefusedError for a path that leads out of the vault.
    """
    found = vault.locate(path)
    if found is None:
        return Excerpt(path, 0, 0, "", not_found=True)
    return read_data(found, vault.read(found), lines, max_tokens)


def read_data(found: str, data: bytes, lines: tuple[int, int | None] | None, max_tokens: int | None) -> Excerpt:
    """The same of the bytes that a note holds."""
    everything = split_lines(decode(data)[0])
    first, last = lines or (1, None)
    first = max(first, 1)
    wanted = everything[first - 1 : last]
    text = "\n".join(wanted)
    kept = _within_tokens(text, max_tokens) if max_tokens is not None else text[:MAX_CHARS]
    # A cut shows whole lines, unless the very first line is too long.
    if len(kept) < len(text) and "\n" in kept and text[len(kept)] != "\n":
        kept = kept[: kept.rindex("\n")]
    end = first + kept.count("\n") if wanted else first - 1
    truncated = len(kept) < len(text)
    return Excerpt(found, first, end, kept, truncated, line_cut=truncated and text[len(kept)] != "\n")


def _within_tokens(text: str, max_tokens: int) -> str:
    """The longest beginning of `text` that holds at most that many tokens, to within a few characters."""
    from vault_memory.tokens import count

    low, high = 0, min(len(text), max_tokens * 16)
    if count(text[:high]) <= max_tokens:
        return text[:high]
    while high - low > 8:
        middle = (low + high) // 2
        low, high = (middle, high) if count(text[:middle]) <= max_tokens else (low, middle)
    return text[:low]
