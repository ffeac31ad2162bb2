"""Extracts links, tags and block ids from a note, and resolves the anchors of links. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vault_memory.markdown.entities import embeds_file
from vault_memory.markdown.frontmatter import texts
from vault_memory.markdown.note import BLANK, CODE, COMMENT, FRONT, TEXT, Heading, Note, heading_path


class Link(NamedTuple):
    """A wikilink or a Markdown link to a note: the target as written, without its anchor."""

    line: int
    target: str
    anchor: str


class NoteTag(NamedTuple):
    """A tag without `#`; line 0 means that it applies to the whole note."""

    line: int
    name: str


_WIKILINK = re.compile(r"\[\[([^\[\]|#]*)(#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_MDLINK = re.compile(r"\]\((?!\w+:)([^()\s]+?\.md)(#[^()\s]*)?\)")
_TAG = re.compile(r"(?<![^\s(,;])#([\w/-]*[^\W\d][\w/-]*)")
_ONLY_TAGS = re.compile(r"\s*(?:#[\w/-]+[\s,]*)+$")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)[ \t]*$")


def links(note: Note) -> Iterator[Link]:
    """Yield the links of each line, once per target and anchor, including the frontmatter's."""
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
    """Yield tags: those in properties and on lines of only tags apply to the note (line 0), others to their line."""
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


def find_anchor(note: Note, anchor: str) -> Iterator[tuple[int, int]]:
    """Yield the (first, last) lines that a link's anchor `Heading`, `Heading#Below` or `^block` refers to, in order."""
    lines = note.lines
    if anchor.startswith("^"):
        name = anchor[1:].strip().casefold()
        marked = (n for n, line in enumerate(lines, 1) if (block_id(line) or "").casefold() == name)
        yield from (_block(lines, n) for n in marked if name and note.states[n - 1] not in (CODE, COMMENT))
        return
    for at, end in find_headings(note.headings, anchor):
        last = (note.headings[end].line if end < len(note.headings) else len(lines) + 1) - 1
        while not lines[last - 1].strip():
            last -= 1
        yield note.headings[at].line, last


def find_headings(headings: Sequence[Heading], anchor: str) -> Iterator[tuple[int, int]]:
    """Yield the index of each heading that an anchor refers to, and that of the next heading not below it."""
    *outer, wanted = [_heading_words(part) for part in anchor.split("#")]
    for at, heading in enumerate(headings):
        if _heading_words(heading.text) != wanted:
            continue
        above = iter(map(_heading_words, heading_path(headings, heading.line)[:-1] if outer else ()))
        if all(part in above for part in outer):
            after = range(at + 1, len(headings))
            yield at, next((i for i in after if headings[i].level <= heading.level), len(headings))


def _heading_words(text: str) -> str:
    """The form in which headings match anchors: words only, without punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold())) or text.strip()


def _block(lines: Sequence[str], last: int) -> tuple[int, int]:
    """The paragraph or list item whose block id ends this line; for an id alone on its line, the block above it."""
    first, is_alone = last, lines[last - 1].lstrip().startswith("^")
    while is_alone and first > 1 and not lines[first - 2].strip():
        first -= 1
    while first > 1 and lines[first - 2].strip() and not lines[first - 2].startswith("#"):
        if not is_alone and ITEM.match(lines[first - 1]):
            break
        first -= 1
    if not is_alone and ITEM.match(lines[first - 1]):
        while last < len(lines) and lines[last].strip() and _indent(lines[last]) > _indent(lines[first - 1]):
            last += 1
    return first, last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def block_id(line: str) -> str | None:
    """The block id at the end of a line (`^id`), or None."""
    match = _BLOCK_ID.search(line) if "^" in line else None
    return match[1] if match else None
