"""Links, tags and block ids: what the lines of a note point to and are marked with. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from vault_memory.markdown.entities import embeds_file
from vault_memory.markdown.frontmatter import texts
from vault_memory.markdown.note import BLANK, CODE, COMMENT, FRONT, TEXT, Note


class Link(NamedTuple):
    """A wikilink or a Markdown link to a note: target without anchor, as written."""

    line: int
    target: str
    anchor: str


class NoteTag(NamedTuple):
    """A tag without `#`; line 0 says it holds for the whole note."""

    line: int
    name: str


_WIKILINK = re.compile(r"\[\[([^\[\]|#]*)(#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_MDLINK = re.compile(r"\]\((?!\w+:)([^()\s]+?\.md)(#[^()\s]*)?\)")
_TAG = re.compile(r"(?<![^\s(,;])#([\w/-]*[^\W\d][\w/-]*)")
_ONLY_TAGS = re.compile(r"\s*(?:#[\w/-]+[\s,]*)+$")
_BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)[ \t]*$")


def links(note: Note) -> Iterator[Link]:
    """Yield each line's links once per target and anchor, frontmatter links included."""
    for number, (line, state) in enumerate(zip(note.lines, note.states, strict=True), 1):
        if state in (CODE, COMMENT, BLANK):
            continue
        if "[[" in line:
            plain = note.plain(number)
            matches = (m for m in _WIKILINK.finditer(plain) if not embeds_file(plain, m.start(), m[1]))
            found = {(m[1].strip(), (m[2] or "")[1:].strip()) for m in matches}
            yield from (Link(number, target, anchor) for target, anchor in sorted(found) if target)
        if "](" in line:
            found = {(m[1], (m[2] or "")[1:]) for m in _MDLINK.finditer(note.plain(number))}
            yield from (Link(number, target.replace("%20", " "), anchor) for target, anchor in sorted(found))


def tags(note: Note) -> Iterator[NoteTag]:
    """Yield tags: properties and lines of nothing but tags hold for the note (line 0), others for their line."""
    whole = {t.lstrip("#") for key in ("tags", "tag") for v in texts(note.properties.get(key)) for t in v.split()}
    inline: set[tuple[int, str]] = set()
    for number, (line, state) in enumerate(zip(note.lines, note.states, strict=True), 1):
        if "#" not in line or state in (FRONT, CODE, COMMENT):
            continue
        plain = note.plain(number)
        names = {match[1].strip("/") for match in _TAG.finditer(plain)}
        place = 0 if names and state == TEXT and _ONLY_TAGS.match(plain) else number
        inline |= {(place, name) for name in names}
    yield from (NoteTag(line, name) for line, name in sorted({(0, name) for name in whole if name} | inline) if name)


def block_id(line: str) -> str | None:
    """The block id at the end of a line (`^id`), or None."""
    match = _BLOCK_ID.search(line) if "^" in line else None
    return match[1] if match else None
