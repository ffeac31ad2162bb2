"""Reads current lines of one note, never outside the vault: the `get` command."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_memory.errors import RefusedError, UsageError, VaultError
from vault_memory.markdown.links import find_anchor
from vault_memory.markdown.note import decoded_lines, is_canvas, is_note_path
from vault_memory.markdown.parse import parse
from vault_memory.markdown.scopes import LineAccess, line_access, note_scope
from vault_memory.text.scope_syntax import Folders
from vault_memory.text.vault_layout import STANDARD, Layout
from vault_memory.vault.vault import Vault

MAX_CHARS = 10_000


@dataclass(frozen=True)
class Excerpt:
    """Lines `start_line`..`end_line` of a note; a missing note is empty and `not_found`.

    `line_cut` means that the truncated text ends inside `end_line`, a line too long to show whole. `lines` is the
    note's number of lines; `origins` says who each line shown is from, only for a caller with scopes.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    truncated: bool = False
    not_found: bool = False
    line_cut: bool = False
    lines: int = 0
    origins: tuple[str, ...] = ()
    missing_section: str = ""
    """The requested heading or block if the note has no such section; the excerpt is then from the whole note."""


class OpenScopes(NamedTuple):
    """What a caller may see: the open scopes (none means all), in a vault with these folders."""

    scopes: tuple[str, ...] = ()
    folders: Folders = ()
    layout: Layout = STANDARD


EVERYTHING = OpenScopes()


def read(
    vault: Vault,
    path: str,
    lines: tuple[int, int | None] | None = None,
    max_tokens: int | None = None,
    opened: OpenScopes = EVERYTHING,
) -> Excerpt:
    """Read a note's `lines` (1-based, inclusive; None is the last), up to 10,000 characters or `max_tokens`.

    `#Heading` or `#^block` after the path limits it to that section, with lines counted as in the note.

    Out-of-scope lines are blanked, or dropped at the end, without notice: a count would reveal that something is
    there. If nothing else is left, the note is `not_found`; for a caller with scopes so is anything the user excluded.
    Raises RefusedError for a path that leads out of the vault, VaultError for a note that cannot be read.
    """
    missing, section = Excerpt(path, 0, 0, "", not_found=True), ""
    found = vault.locate(path, with_attachments=True)
    if found is None and "#" in path:
        name, _, section = path.partition("#")
        found = vault.locate(name)
    # Proposals have no scope yet: hide them from agents, since a tick may make one hold everywhere.
    is_hidden = found == vault.layout.proposals or (found is not None and vault.is_left_out(found))
    if found is None or (opened.scopes and is_hidden):
        return missing
    try:
        data = vault.read(found)
    except FileNotFoundError:
        return missing
    except OSError as error:
        raise VaultError(f"{path} cannot be read: {error.strerror or error}.", "Check its permissions.") from error
    everything = decoded_lines(data)[0]
    origins: list[str] = []
    note = vault.parse(found, data) if section or opened.scopes else None
    if note and opened.scopes:
        standing = line_access(note, opened.folders)
        shown = _seen(everything, standing, opened.scopes)
        is_shut = not everything and note_scope(note.properties, found, opened.folders) not in opened.scopes
        if is_shut or (shown != everything and not any(shown)):
            return missing
        everything, origins = shown, [each.by for each in standing]
    if not (is_note_path(found) or is_canvas(found)):
        raise RefusedError(f"{path} is not Markdown: only its name is known.", "Open it in another program.")
    first, last = lines or (1, None)
    first = max(first, 1)
    spans = find_anchor(note, section) if note and section else ()
    if span := next((span for span in spans if any(everything[span[0] - 1 : span[0]])), None):
        first, last = max(first, span[0]), min(last or span[1], span[1])
    wanted = everything[first - 1 : last]
    text = "\n".join(wanted)
    kept = text[:MAX_CHARS] if max_tokens is None else _within_tokens(text, max_tokens)
    # Cut at a line end, unless the very first line is too long.
    if len(kept) < len(text) and "\n" in kept and text[len(kept)] != "\n":
        kept = kept[: kept.rindex("\n")]
    end = first + kept.count("\n") if wanted else first - 1
    truncated = len(kept) < len(text)
    line_cut = truncated and text[len(kept)] != "\n"
    return Excerpt(
        found, first, end, kept, truncated, line_cut=line_cut, lines=len(everything),
        origins=tuple(origins[first - 1 : end]), missing_section="" if span else section,
    )  # fmt: skip


def seen_lines(path: str, data: bytes, opened: OpenScopes) -> list[str]:
    """Return the lines up to the last one the caller may see, with hidden ones blanked.

    Scopes are read from the given bytes, which will be shown: the index may know an older version.
    """
    lines = decoded_lines(data)[0]
    if not opened.scopes:
        return lines
    return _seen(lines, line_access(parse(path, data, opened.layout), opened.folders), opened.scopes)


def _seen(lines: Sequence[str], standing: Sequence[LineAccess], scopes: tuple[str, ...]) -> list[str]:
    hidden = {number for number, (scope, _) in enumerate(standing, 1) if scope not in scopes}
    shown = ["" if number in hidden else line for number, line in enumerate(lines, 1)]
    while shown and len(shown) in hidden:
        shown.pop()
    return shown


def _within_tokens(text: str, max_tokens: int) -> str:
    """Return the longest prefix of `text` with at most that many tokens, to within a few characters."""
    from vault_memory.text.tokens import count

    low, high = 0, min(len(text), max_tokens * 16)
    if count(text[:high]) <= max_tokens:
        return text[:high]
    while high - low > 8:
        middle = (low + high) // 2
        low, high = (middle, high) if count(text[:middle]) <= max_tokens else (low, middle)
    return text[:low]


def parse_span(path: str, lines: str | None) -> tuple[str, tuple[int, int | None] | None]:
    """Parse PATH, PATH#L12 or A:B into the note and its lines (1-based, inclusive, None is the last)."""
    cited = re.fullmatch(r"(.*)#L(\d{1,9})(?:-L?(\d{1,9}))?", path, re.DOTALL)
    span: tuple[int, int | None] | None = (int(cited[2]), int(cited[3] or cited[2])) if cited else None
    if lines is not None:
        match = re.fullmatch(r"(\d{0,9}):(\d{0,9})", lines)
        if not match:
            raise UsageError(f"`{lines}` is not A:B.", "For example --lines 10:20, or --lines 10: to the end.")
        span = int(match[1] or 1), int(match[2]) if match[2] else None
    check_lines(span)
    return (cited[1] if cited else path), span


def check_lines(lines: object) -> None:
    """Raise UsageError unless `lines` is None or (first, last), with first ≥ 1 and last ≥ first or None."""
    if lines is None:
        return
    match lines:
        case [int(first), None] if first >= 1:
            return
        case [int(first), int(last)] if 1 <= first <= last:
            return
        case [first, last]:
            raise UsageError(f"There are no lines {first} to {last}.", "Lines count from 1, the smaller number first.")
    raise UsageError("`lines` must be two numbers.", "For example lines=(10, 20), or lines=(10, None) to the end.")
