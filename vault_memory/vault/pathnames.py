"""Refuses what only looks like a path in the vault, when somebody else than its owner names a note. Pure.

vault.py refuses what leads out of the vault on this system, links included. Here is refused, whatever the system, what
only looks like a way out: it is never what an agent that was given a citation would ask for.
"""

import re
from urllib.parse import unquote_to_bytes

from vault_memory.errors import RefusedError, UsageError

MAX_PATH_CHARS = 1000
"""The characters of a path that a system may have in mind; more are not looked at."""

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UP = re.compile(r"(?:^|[/\\])[. ]*\.\.[. ]*(?:[/\\]|$)")
_OVERLONG = re.compile(rb"[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}")
"""UTF-8 that says with more bytes than it takes what an ASCII character could say; no writer makes it by mistake."""


def inside(path: str) -> str:
    """The path of a note as an agent may name it; raises RefusedError for a way out of the vault, however it is spelt.

    `./` in front and doubled slashes are harmless, and gone in what is returned.
    """
    if len(path) > MAX_PATH_CHARS:
        raise UsageError("The path is too long.", "Name a note by its path inside the vault, for example memory.md.")
    if not path.strip():
        raise UsageError("The path is empty.", "Name a note by its path inside the vault, for example memory.md.")
    if any("\ud800" <= char <= "\udfff" for char in path):
        raise UsageError("The path is not text that UTF-8 can hold.", "Name it as an answer cites it.")
    for spelling in _spellings(path):
        if _leads_out(spelling):
            what = "A note is named by its path inside the vault, as answers cite it: memory/2025-11-27.md."
            raise RefusedError("This path leads out of the vault, or is no note's.", what)
    found = "/".join(part for part in path.split("/") if part not in ("", "."))
    return found if found.strip() else ""


def _spellings(path: str) -> list[str]:
    """The path, and what it would be for a program that takes `%2e` for a dot, again and again."""
    found, data = [path], path.encode("utf-8")
    while b"%" in data and (decoded := unquote_to_bytes(data)) != data:
        data = decoded
        # An overlong form stands for what a careless reader makes of it.
        plain = _OVERLONG.sub(lambda match: _short(match[0]), data)
        found += [data.decode("utf-8", "replace"), plain.decode("utf-8", "replace")]
    return found


def _short(sequence: bytes) -> bytes:
    number = sequence[0] & (0x1F if len(sequence) == 2 else 0x0F if len(sequence) == 3 else 0x07)
    for byte in sequence[1:]:
        number = number << 6 | byte & 0x3F
    return chr(number).encode("utf-8", "replace")


def _leads_out(path: str) -> bool:
    return bool(
        path.startswith(("/", "\\", "~"))
        or "\\" in path
        or _DRIVE.match(path)
        or _CONTROL.search(path)
        or _UP.search(path)
    )
