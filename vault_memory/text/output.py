"""Formats text for printing: counts and lists in words, control characters as escapes, widths in terminal cells."""

import re
import unicodedata
from collections.abc import Sequence

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that would move the cursor or reverse the text direction of a terminal: printed as escapes."""


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`, `2 entities`, `2 matches`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and not noun.endswith("ay"):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith('ch') else 's'}"


def listed(parts: Sequence[str]) -> str:
    """`8 weeks, 2 months and 1 year`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def clean(text: str) -> str:
    """Text from a note, safe to print: control and direction characters as \\xNN or \\uNNNN."""
    return CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


def cells(text: str) -> int:
    """The width of a text in terminal cells: East Asian wide characters and emoji take two."""
    shown = (c for c in text if not unicodedata.combining(c) and unicodedata.category(c) not in ("Cf", "Mn", "Me"))
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in shown)


def cut(text: str, width: int) -> str:
    """The text truncated to `width` cells, ending in `…` if anything was cut."""
    if cells(text) <= width:
        return text
    kept, used = "", 0
    for character in text:
        used += cells(character)
        if used > width - 1:
            break
        kept += character
    return f"{kept.rstrip()}…" if width > 0 else ""


def patch(before: bytes | None, after: bytes | None, name_before: str, name_after: str) -> str:
    """A file's change as a unified diff that `patch` can apply; None is no file, /dev/null in the diff."""
    import difflib

    # Lines as diff and patch see them: newlines kept, and only a line feed ends a line.
    old, new = (re.findall(r"[^\n]*\n|[^\n]+", (data or b"").decode("utf-8", "replace")) for data in (before, after))
    name_before = "/dev/null" if before is None else name_before
    lines = difflib.unified_diff(old, new, name_before, "/dev/null" if after is None else name_after)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
