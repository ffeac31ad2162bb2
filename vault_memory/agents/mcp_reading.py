"""Owns what `memory_get` and the resources answer: lines of notes, folders, entities, each framed as data.

It knows the vault (desk.py) and nothing of the protocol. A path or a name that comes out of the vault stands inside
the frame, for it may be worded like an order. What is wrong is raised as an error of errors.py.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

from vault_memory.agents import mcp_tools
from vault_memory.agents.vault_session import Desk
from vault_memory.errors import RefusedError, UsageError, VaultMemoryError
from vault_memory.markdown import provenance
from vault_memory.rendering.common import clean, place, plural
from vault_memory.rendering.entities import entity_text
from vault_memory.rendering.notes import past_the_end
from vault_memory.search.get import Excerpt, parse_span
from vault_memory.text import frame
from vault_memory.vault import pathnames

Arguments = Mapping[str, Any]
Span = tuple[int, int | None]

MOST_CALLED, MOST_LISTED = 5, 40
"""So many notes of one name, and so many of a folder's notes and folders, are told of."""

_MESSAGES = re.compile(r"#m(\d{1,9})(?:-m?(\d{1,9}))?$")


class Caller(NamedTuple):
    """The vault that is asked, and which agent asks: the name its client gave, "" for none."""

    desk: Desk
    agent: str

    @property
    def scopes(self) -> tuple[str, ...]:
        """What is open to the agent."""
        return self.desk.scopes(self.agent)


def get(caller: Caller, given: Arguments) -> str:
    """Lines of a note, each with its number; of a folder, what is in it."""
    named, lines = parse_span(given["path"], None)
    path = pathnames.inside(named)
    if not path or (named.endswith("/") and not path.casefold().endswith(".md")):
        return _folder(caller, path) or f"There is no folder {shown(named)} with notes in it {_unread(caller, path)}."
    if "start_line" in given or "line_count" in given:
        first = given.get("start_line", lines[0] if lines else _first_message(path))
        count = given.get("line_count")
        lines = first, first + count - 1 if count else None
    excerpt = _found(caller, path, lines)
    return _missing(caller, path) if excerpt.not_found else told(excerpt)


def _first_message(path: str) -> int:
    cited = _MESSAGES.search(path) if path.startswith("sessions/") else None
    return int(cited[1]) if cited else 1


def _found(caller: Caller, path: str, lines: Span | None) -> Excerpt:
    """What a path names, else what a link with these words would open, where that is one note alone."""
    excerpt = caller.desk.read(path, lines, caller.scopes)
    target = _target(path)
    if excerpt.not_found and target not in ("", path):
        excerpt = caller.desk.read(pathnames.inside(target), lines, caller.scopes)
    if excerpt.not_found and "/" not in target and len(called := _called(caller, target)) == 1:
        excerpt = caller.desk.read(called[0], lines, caller.scopes)
    return excerpt


def _target(path: str) -> str:
    """The note that a link names: `a` for `[[a#Heading|shown]]`; a session's messages are no heading."""
    bare = path.removeprefix("[[").removesuffix("]]")
    return re.split(r"[|#]", bare)[0].strip() if not path.startswith("sessions/") else path


def _called(caller: Caller, name: str) -> list[str]:
    """Where the notes are that a link with this name would open: links in notes name no folders."""
    with suppress(VaultMemoryError):  # without an index nothing is to be said of names
        return caller.desk.notes_called(name, caller.scopes) if name else []
    return []


def _missing(caller: Caller, path: str) -> str:
    """That there is no such note, and what there is instead."""
    if folder := _folder(caller, path):
        return folder
    said = f"There is no note {shown(path)} {_unread(caller, path)}."
    called = "\n".join(map(place, _called(caller, _target(path))[:MOST_CALLED]))
    return f"{said} Called so:\n{frame.framed(called)}" if called else said


def _unread(caller: Caller, path: str) -> str:
    """That nothing was read, and why where it is a session that was wanted."""
    why = caller.desk.no_sessions() if f"{path}/".startswith("sessions/") else ""
    return f"(nothing was read{': ' + why if why else ''})"


def _folder(caller: Caller, path: str) -> str:
    """What is in a folder, as far as the asker sees it; "" where that is nothing."""
    below, noun = _below(caller, path)
    if not below:
        return ""
    start = len(path) + 1 if path else 0
    folders = Counter(note[: note.index("/", start) + 1] for note in below if "/" in note[start:])
    entries = [f"{name} ({plural(count, noun)})" for name, count in folders.items()]
    entries += [note for note in below if "/" not in note[start:]]
    more = f", the first {MOST_LISTED} of {len(entries):,} entries" if len(entries) > MOST_LISTED else ""
    listed = frame.framed("\n".join(map(place, entries[:MOST_LISTED])))
    what = f"{shown(path)} is a folder" if path else "This is the vault's own folder"
    count = plural(len(below), noun)
    return f"{what} of {count}{more}. Name a {noun} to read it; memory_search finds what they say.\n{listed}"


def _below(caller: Caller, path: str) -> tuple[list[str], str]:
    """What is in a folder and below it, and what one of it is called: notes, else sessions."""
    for look, noun in ((caller.desk.notes_below, "note"), (caller.desk.sessions_below, "session")):
        with suppress(VaultMemoryError):
            if below := look(path, caller.scopes):
                return below, noun
    return [], "note"


def told(excerpt: Excerpt) -> str:
    """Lines that were found, under the note's path, and what is to be known of them."""
    if excerpt.end_line < excerpt.start_line:
        return frame.defused(past_the_end(excerpt))
    is_session = excerpt.path.startswith("sessions/")
    texts, letter = excerpt.text.split("\n"), "m" if is_session else "L"
    marks, of_all = _origins(texts, excerpt.origins)
    last = f"-{letter}{excerpt.end_line}" if excerpt.end_line > excerpt.start_line else ""
    numbered = (
        f"{letter}{number} {clean(text)}{mark}" if text.strip() else ""
        for number, (text, mark) in enumerate(zip(texts, marks, strict=True), excerpt.start_line)
    )
    # A line that this asker does not see is empty, and nothing may tell it from one that is (reading.py).
    body = [
        f"## {place(excerpt.path)}#{letter}{excerpt.start_line}{last}",
        *(line for line, _ in groupby(numbered)),
    ]
    said = ["as the session says now" if is_session else "as the file is now"]
    said += [f"all of it{of_all}: not the user's own words"] if of_all else []
    if excerpt.line_cut:
        said.append(f"{letter}{excerpt.end_line} is longer than can be shown; memory_search finds what else it says")
    if excerpt.end_line < excerpt.lines and excerpt.truncated:
        said.append(f"cut here; go on with start_line {excerpt.end_line + 1}")
    return f"{frame.framed(chr(10).join(body))}\n{'; '.join(said)}"


def _origins(texts: Sequence[str], origins: Sequence[str]) -> tuple[list[str], str]:
    """What is written behind each line that came from outside; where all did, what is said once of them all."""
    marks = [provenance.mark(by) if text.strip() else "" for text, by in zip(texts, origins, strict=False)]
    marks += [""] * (len(texts) - len(marks))
    found = {mark for mark, text in zip(marks, texts, strict=True) if text.strip()}
    if len(found) == 1 and "" not in found:
        return [""] * len(texts), found.pop()
    return marks, ""


# --- resources -------------------------------------------------------------------------------------------------------


def core(caller: Caller) -> str:
    """The core files, one after the other."""
    excerpts = [caller.desk.read(path, None, caller.scopes) for path in caller.desk.core_files()]
    # Of a file that the asker does not see no more is said than of one that is not there.
    found = [told(each) for each in excerpts if not each.not_found and each.end_line >= each.start_line]
    return "\n\n".join(found) or "There is no core memory yet."


def entity(caller: Caller, name: str) -> str:
    """What is known of an entity: page, opinions, facts."""
    if not name.strip() or len(name) > 200:
        raise UsageError("This is no entity's name.", "")
    found = caller.desk.entity(name, caller.scopes)
    if found is None:
        near = "\n".join(caller.desk.similar_names(name, caller.scopes))
        return f"Nothing is known of {shown(name)}." + (f" Known are:\n{frame.framed(clean(near))}" if near else "")
    return f"{frame.framed(entity_text(found))}\nscopes: {', '.join(caller.scopes)}"


def note(caller: Caller, path: str) -> str:
    """A whole note, 10,000 characters of it at most."""
    return get(caller, {"path": path})


def resource(caller: Caller, uri: str) -> str:
    """What a URI of this server names; raises UsageError for one that names nothing here."""
    if uri == mcp_tools.CORE_URI:
        return core(caller)
    for start, read in ((mcp_tools.ENTITY_URI, entity), (mcp_tools.NOTE_URI, note)):
        if uri.startswith(start):
            return read(caller, _decoded(uri.removeprefix(start)))
    raise UsageError("There is no such resource.", "memory://core, memory://entity/NAME and memory://note/PATH are.")


def _decoded(text: str) -> str:
    from urllib.parse import unquote_to_bytes

    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError("What is percent-encoded there is not UTF-8.", "Encode the name as UTF-8.") from error


def shown(text: str) -> str:
    """A text from the outside, fit to stand among our own words."""
    return frame.defused(clean(text))
