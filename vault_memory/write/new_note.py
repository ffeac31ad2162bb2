"""Composes a new note for an agent: frontmatter, folder and file name; and finds an existing note that it repeats.

The text stays as given. It is parsed first: an open comment, code fence or block marker is refused.
"""

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from vault_memory.errors import UsageError
from vault_memory.markdown import entities
from vault_memory.markdown.parse import parse
from vault_memory.markdown.scopes import folder_scope
from vault_memory.store import note_queries
from vault_memory.store.view import View
from vault_memory.text.scope_syntax import GLOBAL, Folders
from vault_memory.vault.vault import Vault

FOLDER = "notes"

MAX_NOTE_CHARS = 100_000
"""Maximum length of a note; anything longer is a document and should be put into the vault as a file."""

MAX_NAME_CHARS = 60
"""Maximum length of the title in the file name."""

_DAY = re.compile(rb"^date: .*$", re.MULTILINE)


@dataclass(frozen=True)
class NewNote:
    """A note to create: `by` is its author ("" for the vault's owner), `kind` a word like `world`, `scope` who may see
    it ("" for those who may read its folder)."""

    title: str
    text: str
    kind: str = "note"
    entities: tuple[str, ...] = ()
    by: str = ""
    scope: str = ""


@dataclass(frozen=True)
class StoredNote:
    """The path of the new note, and why it cannot be found (yet), or ""."""

    path: str
    warning: str = ""


def check(filing: NewNote) -> None:
    """Raise UsageError for a title or text that is not usable as a note."""
    if not " ".join(filing.title.split()) or not entities.slug(filing.title):
        raise UsageError("The title says nothing.", "Give a few words.")
    if not filing.text.strip():
        raise UsageError("There is nothing to store.", "Give the note's text.")
    if len(filing.text) > MAX_NOTE_CHARS:
        raise UsageError(f"The text is longer than {MAX_NOTE_CHARS:,} characters.", "Store what matters of it.")
    parsed = parse("x.md", filing.text.encode("utf-8", "replace"))
    if parsed.problems or parsed.owned:
        raise UsageError(
            "The text has an open comment or fence, or a marker of generated blocks.",
            "Close or leave out <!--, %% and ``` that stand alone, and leave out `memory:` markers.",
        )


def path(filing: NewNote, now: datetime, attempt: int = 0) -> str:
    """`notes/<kind>/<slug>-<day>-<time>.md`; each further attempt gives another name."""
    slug = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in entities.slug(filing.title))
    name = "-".join(slug.split())[:MAX_NAME_CHARS].strip("-") or "note"
    again = f"-{attempt + 1}" if attempt else ""
    return f"{FOLDER}/{filing.kind}/{name}-{now:%Y-%m-%d-%H%M}{again}.md"


def note(filing: NewNote, now: datetime, folders: Folders = ()) -> bytes:
    """The note's bytes: flat frontmatter that Obsidian reads, the text, and links to its entities."""
    title = " ".join(filing.title.split())
    head = [f"title: {_quoted(title)}", f"date: {now:%Y-%m-%d}", f"kind: {filing.kind}"]
    if filing.by:
        head.append(f"by: {_quoted(filing.by)}")
    if filing.scope not in ("", GLOBAL) or (filing.scope and folder_scope(path(filing, now), folders) != GLOBAL):
        head.append(f"scope: {_quoted(filing.scope)}")
    links = " ".join(f"[[{name}]]" for name in filing.entities)
    about = f"\n\n{links}" if links else ""
    body = filing.text.strip("\n")
    return ("---\n" + "\n".join(head) + f"\n---\n\n{body}{about}\n").encode("utf-8")


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\{char}" if char in '"\\' else f"\\x{ord(char):02x}" if ord(char) < 32 or 0x7F <= ord(char) < 0xA0 else char
        for char in text
    )
    return f'"{escaped}"'


def find_same(view: View, vault: Vault, filing: NewNote, now: datetime) -> str | None:
    """The path of a stored note in this view that is identical to the new one except for its date, or None."""
    data = note(filing, now, vault.config.folder_scopes)
    for path in note_queries.note_paths(view, FOLDER):
        with suppress(OSError):
            is_as_long = (vault.root / path).stat().st_size == len(data)
            if is_as_long and _DAY.sub(b"", vault.read(path), 1) == _DAY.sub(b"", data, 1):
                return path
    return None
