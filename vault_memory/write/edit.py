"""Makes one exact edit to a core file: append text, insert it after an existing text, or replace that text.

Pure: bytes in, bytes out. The byte order mark, line endings and everything not named stay; blocks that reflect owns
are never touched. Lines outside the caller's scopes do not exist for the caller, and no edit changes the scope or
origin of a line.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from vault_memory.errors import ConflictError, UsageError
from vault_memory.markdown import facts, provenance
from vault_memory.markdown.note import COMMENT, Note
from vault_memory.markdown.parse import parse
from vault_memory.markdown.scopes import LineAccess, line_access, note_scope
from vault_memory.search.get import EVERYTHING, OpenScopes, seen_lines
from vault_memory.write.rewrite import decode_utf8, difference, line_ending, lines_of

APPEND, REPLACE, INSERT = "append", "replace", "insert"
ACTIONS = (APPEND, REPLACE, INSERT)


@dataclass(frozen=True)
class EditRequest:
    """An edit to the note `path`: `text` is appended, replaces `old`, or is inserted after the line of `old`.

    `by` is who requests it, "" for a person.
    """

    path: str
    action: str
    text: str
    old: str = ""
    by: str = ""


@dataclass(frozen=True)
class EditResult:
    """The change made, as a unified diff, and the run (undo_history.py) that can undo it."""

    path: str
    diff: str
    run: str
    warning: str = ""


def check(wanted: EditRequest) -> None:
    """Raise UsageError for an edit without a text or a place."""
    if wanted.action not in ACTIONS:
        raise UsageError(f"`{wanted.action}` is not an action.", f"Choose from {', '.join(ACTIONS)}.")
    if wanted.action == APPEND and wanted.old:
        raise UsageError("`old` does not go with append.", "Use replace or insert, or leave it out.")
    if wanted.action != APPEND and not wanted.old.strip():
        raise UsageError(f"{wanted.action} needs `old`.", "Give the exact text that stands in the file.")
    if wanted.action != REPLACE and not wanted.text.strip():
        raise UsageError("There is no text to put in.", "Give `text`.")


def diff(wanted: EditRequest, before: bytes | None, after: bytes, opened: OpenScopes = EVERYTHING) -> str:
    """The change as a unified diff of the lines that the caller may see."""
    old = seen_lines(wanted.path, before, opened) if before is not None else None
    return difference(wanted.path, old, seen_lines(wanted.path, after, opened))


def apply_edit(wanted: EditRequest, before: bytes | None, opened: OpenScopes = EVERYTHING) -> bytes:
    """The note's bytes after an edit by a caller with access to these scopes.

    Raises UsageError if `old` does not occur exactly once in what they see, or the note is out of their scopes;
    ConflictError if it is not UTF-8, or the edit would change what reflect wrote or the scope or origin of a line, or
    pass an agent's fact off as a person's.
    """
    path, data = wanted.path, before or b""
    text, note = decode_utf8(path, data), parse(path, data, opened.layout)
    if opened.scopes and note_scope(note.properties, path, opened.folders) not in opened.scopes:
        raise UsageError(f"There is no note `{path}`.", "")  # the same message as for a missing note
    ending = line_ending(text)
    new, old = (value.replace("\r\n", "\n").replace("\n", ending) for value in (wanted.text, wanted.old))
    if wanted.action == APPEND:
        lead = "" if not text.strip("\ufeff") or text.endswith(("\n", "\r")) else ending
        after = (text + lead + new.rstrip("\r\n") + ending).encode()
    else:
        standing = line_access(note, opened.folders) if opened.scopes else ()
        hidden = {number for number, (scope, _) in enumerate(standing) if scope not in opened.scopes}
        after = _place(wanted, text, (new, old), _find_visible(text, old, hidden)).encode()
    if after == data:
        raise UsageError("The file says that already.", "Nothing was written.")
    _refuse_side_effects(wanted, data, after, opened)
    return after


class _LineReading(NamedTuple):
    """A line of a note as parsed: its state, whether reflect owns it, and its scope and origin."""

    text: str
    state: int
    is_owned: bool
    access: LineAccess


def _readings(note: Note, opened: OpenScopes) -> list[_LineReading]:
    lines = enumerate(zip(note.lines, note.states, line_access(note, opened.folders), strict=True), start=1)
    return [_LineReading(text, state, note.is_owned(n), access) for n, (text, state, access) in lines if text.strip()]


def _refuse_side_effects(wanted: EditRequest, before: bytes, after: bytes, opened: OpenScopes) -> None:
    """Raise ConflictError if unchanged lines would parse differently, or the caller may not add the new ones."""
    below = b"\n\nx"  # stands for a line added later at the end of the note
    note, edited = (parse(wanted.path, data + below, opened.layout) for data in (before, after))
    old, new = (_readings(each, opened) for each in (note, edited))
    most = min(len(old), len(new))
    first = next((n for n in range(most) if old[n].text != new[n].text), most)
    last = next((n for n in range(most - first) if old[-1 - n].text != new[-1 - n].text), most - first)
    gone, come = (lines[first : len(lines) - last] for lines in (old, new))
    kept = list(zip(old[:first] + old[len(old) - last :], new[:first] + new[len(new) - last :], strict=True))

    is_read_otherwise = any((was.state, was.is_owned) != (now.state, now.is_owned) for was, now in kept)
    if is_read_otherwise or any(line.is_owned for line in gone + come) or any(line.state == COMMENT for line in come):
        what = "hide lines in code or a comment, or change a block that reflect writes"
        advice = "Close the fence (```) or comment (%% or <!--) that you open, and edit what stands outside of such."
    elif any(was.access != now.access for was, now in kept) or not _may_come(gone, come, opened):
        what, advice = "change a line's scope or origin", "Leave `scope` and `by` as they are."
    elif wanted.by and not _of_persons(edited) <= _of_persons(note):
        what, advice = "count as a fact in the user's own words", "Use memory_store for facts: it signs them."
    else:
        return
    raise ConflictError(f"{wanted.path}: this would {what}; nothing was written.", advice)


def _may_come(gone: list[_LineReading], come: list[_LineReading], opened: OpenScopes) -> bool:
    """Whether added lines are in an open scope, or replace lines in open scopes without changing scope or origin."""
    if opened.scopes and any(line.access.scope not in opened.scopes for line in gone or come):
        return False
    return not gone or {line.access for line in come} <= {line.access for line in gone}


def _of_persons(note: Note) -> set[str]:
    """The narratives of the facts attributed to a person."""
    by_note = provenance.note_origin(note.properties, note.path)
    return {fact.narrative for fact in facts.facts(note, None) if (fact.by or by_note) == provenance.PERSON}


def _find_visible(text: str, old: str, hidden: set[int]) -> list[int]:
    """The offsets of `old` that do not touch a hidden line (0-based); a line includes its ending."""
    starts = [match.start() for match in re.finditer(f"(?={re.escape(old)})", text)]
    ends = list(accumulate(map(len, lines_of(text))))

    def is_visible(start: int) -> bool:
        first, last = (bisect_right(ends, position) for position in (start, start + len(old) - 1))
        return hidden.isdisjoint(range(first, last + 1))

    return [start for start in starts if is_visible(start)]


def _place(wanted: EditRequest, text: str, values: tuple[str, str], starts: list[int]) -> str:
    if len(starts) != 1:
        raise UsageError(
            f"`old` {'occurs several times' if starts else 'does not occur'} in {wanted.path}.",
            "Give text that occurs there exactly once, as memory_get shows it after `L12 `.",
        )
    (start,), (new, old) = starts, values
    end = start + len(old)
    if wanted.action == REPLACE:
        return text[:start] + new + text[end:]
    if not old.endswith("\n"):
        end = text.find("\n", end) + 1 or len(text)
    ending = line_ending(text)
    lead = "" if text[:end].endswith("\n") else ending
    tail = ending if text[end:] or not lead else ""
    return text[:end] + lead + new.rstrip("\r\n") + tail + text[end:]
