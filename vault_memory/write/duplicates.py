"""Finds where a fact or a note that somebody wants kept stands already: the same but for its letters.

What was forgotten or superseded does not stand any more, nor what came from outside where the new text did not.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date

from vault_memory.markdown import provenance
from vault_memory.markdown.facts import RetainFact
from vault_memory.markdown.note import FRONT, Note, folded, folded_lines
from vault_memory.markdown.parse import parse
from vault_memory.markdown.scopes import of_all_lines
from vault_memory.search.get import OpenScopes
from vault_memory.search.names import Names, superseded
from vault_memory.store import journal, note_queries
from vault_memory.store.rows import KINDS, wording_hash
from vault_memory.store.view import Filters, View
from vault_memory.vault.vault import Vault


def fact(store: View, wanted: RetainFact, today: date) -> str | None:
    """The citation of a fact that says the same in the same words, of all whom this one is about, and still counts.

    What was done is done again on another day.
    """
    rows = note_queries.same_words(store, wording_hash(wanted.narrative))
    is_done, trusted = wanted.kind == "B", provenance.is_trusted(wanted.by or provenance.PERSON)
    found = {
        int(passage): (path, int(line))
        for passage, path, line, key, by, day, kind in rows
        if (provenance.is_trusted(by) or not trusted)
        and (not is_done or (day == today.isoformat() and KINDS[kind] == "experience"))
        and not ((last := journal.last_word(store, key)) and last.stands)
    }
    if not found:
        return None
    names = Names(store)
    about = set(map(names.canonical, wanted.entities))
    after = superseded(store, names, found, today, Filters())
    for passage, (path, line) in found.items():
        mentioned = set(map(names.canonical, note_queries.mentioned_in(store, passage)))
        if passage not in after and about <= mentioned:
            return f"{path}#L{line}"
    return None


_HEAD_BYTES = 1000
"""What a note's properties, and the links at its end, may come to; its letters may take half as many bytes again."""

_LINKS = re.compile(r"\n[ \t]*\n(?:\s*\[\[[^\[\]]*\]\])+\s*\Z")
"""Whom a stored note is about, as new_note.py puts it at its end."""


def note(store: View, vault: Vault, text: str, by: str, scopes: Sequence[str]) -> str | None:
    """The path of a note in these scopes (none given: in any) that says the same, whatever its title.

    One with a line that these scopes do not open says something else: who guesses the line must not be told so.
    """
    # Behind a blank line nothing of it is taken for properties.
    wanted, trusted = _folded(parse("x.md", f"\n{text}".encode("utf-8", "replace"))), provenance.is_trusted(by)
    for path in _like(store, text, scopes):
        with suppress(OSError):
            found = parse(path, vault.read(path))
            counts = provenance.is_trusted(provenance.of_properties(found.properties)) or not trusted
            if not counts or _hides(found, OpenScopes(tuple(scopes), vault.config.folder_scopes)):
                continue
            if wanted in (_folded(found), _folded(found, len(_LINKS.sub("", "\n".join(found.lines)).split("\n")))):
                return path
    return None


def _like(store: View, text: str, scopes: Sequence[str]) -> list[str]:
    """The notes that hold the same as far as the index goes: a vault has thousands of one size, too many to read."""
    size, wanted = len(text.encode("utf-8", "replace")), _letters(text)
    rows = note_queries.notes_of_size(store, size, _HEAD_BYTES + size // 2, scopes)
    return [path for path, texts in rows if _ends_with(texts, wanted)]


def _ends_with(passages: Iterable[str], wanted: str) -> bool:
    """Whether passages, the last one first, come to what is wanted; links may follow, and properties stand before."""
    for number, text in enumerate(passages):
        letters = _letters(text)
        if wanted.endswith(letters):
            wanted = wanted.removesuffix(letters)
        elif number or not _LINKS.search(f"\n\n{text}"):
            return False
        if not wanted:
            return True
    return False


def _folded(found: Note, last: int | None = None) -> str:
    """A note's lines behind its properties, as far as the last one wanted."""
    first = found.states.count(FRONT)
    return folded_lines(found.lines[first:last], found.states[first:last])


def _letters(text: str) -> str:
    return "".join("".join(map(folded, text.splitlines())).split())


def _hides(found: Note, opened: OpenScopes) -> bool:
    return bool(opened.scopes) and any(own.scope not in opened.scopes for own in of_all_lines(found, opened.folders))
