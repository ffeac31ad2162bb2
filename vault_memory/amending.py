"""Owns one exact edit of a core file: text put at its end, behind a text that stands in it, or in that text's place.

Pure: bytes in, bytes out. Byte order mark, line ends and all that is not named stay; what reflect owns is not touched.
"""

from dataclasses import dataclass

from vault_memory.errors import ConflictError, UsageError
from vault_memory.parse import parse
from vault_memory.rewriting import difference

APPEND, REPLACE, INSERT = "append", "replace", "insert"
ACTIONS = (APPEND, REPLACE, INSERT)

LONGEST = 20_000
"""The characters of one edit: a core is a screen or two."""


@dataclass(frozen=True)
class Amendment:
    """What is to be done to the note `path`: `text` goes to its end, in place of `old`, or behind the line of `old`."""

    path: str
    action: str
    text: str
    old: str = ""


@dataclass(frozen=True)
class Amended:
    """What was done, as a unified diff, and the run of preimages.py that undoes it."""

    path: str
    diff: str
    run: str
    warning: str = ""


def check(wanted: Amendment) -> None:
    """Raise UsageError for an edit that says nothing, or not where."""
    if wanted.action not in ACTIONS:
        raise UsageError(f"`{wanted.action}` is not an action.", f"Choose from {', '.join(ACTIONS)}.")
    if wanted.action == APPEND and wanted.old:
        raise UsageError("`old` does not go with append.", "Use replace or insert, or leave it out.")
    if wanted.action != APPEND and not wanted.old.strip():
        raise UsageError(f"{wanted.action} needs `old`.", "Give the exact text that stands in the file.")
    if wanted.action != REPLACE and not wanted.text.strip():
        raise UsageError("There is no text to put in.", "Give `text`.")
    if len(wanted.text) > LONGEST:
        raise UsageError(f"The text is longer than {LONGEST:,} characters.", "Keep the core short.")


def amended(wanted: Amendment, before: bytes | None) -> bytes:
    """The note with the edit made.

    Raises UsageError when `old` does not stand in it exactly once, ConflictError when it is not UTF-8 or the edit would
    change what reflect wrote.
    """
    data = before or b""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConflictError(f"{wanted.path} is not UTF-8: nothing was written.", "Save it as UTF-8 first.") from error
    ending = "\r\n" if "\r\n" in text else "\n"
    new, old = (value.replace("\r\n", "\n").replace("\n", ending) for value in (wanted.text, wanted.old))
    after = (_appended(text, new, ending) if wanted.action == APPEND else _placed(wanted, text, new, old)).encode()
    if after == data:
        raise UsageError("The file says that already.", "Nothing was written.")
    if _owned(wanted.path, data) != _owned(wanted.path, after):
        raise ConflictError(
            f"{wanted.path}: this would change a block that reflect writes; nothing was written.",
            "Edit what stands outside of it.",
        )
    return after


def diff(wanted: Amendment, before: bytes | None, after: bytes) -> str:
    """The change as a unified diff."""
    return difference(wanted.path, before, after)


def _appended(text: str, new: str, ending: str) -> str:
    lead = "" if not text.strip("\ufeff") or text.endswith(("\n", "\r")) else ending
    return text + lead + new.rstrip("\r\n") + ending


def _placed(wanted: Amendment, text: str, new: str, old: str) -> str:
    found = text.count(old)
    if found != 1:
        what = "does not stand in" if not found else f"stands {found} times in"
        raise UsageError(
            f"`old` {what} {wanted.path}.", "Give text that stands there exactly once, as memory_get shows."
        )
    start = text.index(old)
    if wanted.action == REPLACE:
        return text[:start] + new + text[start + len(old) :]
    end = start + len(old)
    if not old.endswith("\n"):
        end = text.find("\n", end) + 1 or len(text)
    ending = "\r\n" if "\r\n" in text else "\n"
    lead = "" if text[:end].endswith("\n") else ending
    tail = ending if text[end:] or not lead else ""
    return text[:end] + lead + new.rstrip("\r\n") + tail + text[end:]


def _owned(path: str, data: bytes) -> list[list[str]]:
    note = parse(path, data)
    return [note.lines[block.start_line - 1 : block.end_line] for block in note.owned]
