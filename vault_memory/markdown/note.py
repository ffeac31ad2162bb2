"""The parsed note: its lines with their states, headings and speakers; decoding of bytes; text of attachments. Pure.

Lines are 1-based. Code and comments are still text, but contain no headings, links, tags or facts.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from vault_memory.text.vault_layout import STANDARD, Layout

TEXT, BLANK, FRONT, CODE, COMMENT, HEADING = range(6)
"""The state of a line: values of `Note.states`."""

ASIDE = 1 << 30
"""The section number of frontmatter and comments, which do not belong to the text around them."""

_LINE_ENDS = {ord("\n"): "\\n", ord("\t"): "\\t"}
"""Other control characters are escaped wherever text of a note is printed."""


class Problem(NamedTuple):
    """A finding about a note: `level` is "error" (could not be indexed), "warning" or "notice" (format)."""

    path: str
    line: int
    message: str
    level: str = "notice"


class Heading(NamedTuple):
    line: int
    level: int
    text: str


class OwnedBlock(NamedTuple):
    """A block between `memory:begin` and `memory:end` markers, both lines included."""

    start_line: int
    end_line: int
    name: str


@dataclass(frozen=True)
class Note:
    """One parsed note; `lines[0]` is line 1 and `states[0]` its state."""

    path: str
    lines: list[str]
    states: bytearray
    properties: Mapping[str, object]
    headings: tuple[Heading, ...]
    owned: tuple[OwnedBlock, ...]
    problems: tuple[Problem, ...]
    masked: Mapping[int, str] = field(default_factory=dict)
    """Lines with comments or inline code blanked out, by line number; other lines are as in `lines`."""
    uncommented: Mapping[int, str] = field(default_factory=dict)
    """Lines with both text and comments, without the comments, by line number; other lines are as in `lines`."""
    layout: Layout = STANDARD

    @property
    def stem(self) -> str:
        """The file name without folder and suffix: the note's name in Obsidian."""
        return self.path.rsplit("/", 1)[-1].rpartition(".")[0] or self.path.rsplit("/", 1)[-1]

    @property
    def title(self) -> str:
        """The `title` property, else the file name."""
        title = self.properties.get("title")
        return title.strip() if isinstance(title, str) and title.strip() else self.stem

    def is_owned(self, line: int) -> bool:
        """Whether reflect owns that line, so that it is never evidence."""
        return any(block.start_line <= line <= block.end_line for block in self.owned)

    def plain(self, line: int) -> str:
        """The line with comments and inline code blanked out, same length."""
        return self.masked.get(line, self.lines[line - 1])

    def shown(self, line: int) -> str:
        """The line without its comments; inline code stays."""
        return self.uncommented.get(line, self.lines[line - 1])


def heading_path(headings: Iterable[Heading], line: int) -> tuple[str, ...]:
    """The texts of the headings that enclose a line, including the line's own, outermost first."""
    path: list[Heading] = []
    for heading in takewhile(lambda each: each.line <= line, headings):
        path = [*(above for above in path if above.level < heading.level), heading]
    return tuple(heading.text for heading in path)


_ENDS = re.compile(r"\r\n|\n|\r")


def decoded_lines(data: bytes) -> tuple[list[str], tuple[int, str] | None]:
    """A note's lines without their endings, and the line and kind of damage if the bytes are not UTF-8."""
    damage = None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            text = data.decode("utf-16", "replace")
            damage = 1, "UTF-16 text: readable here, but not in Obsidian; save it as UTF-8"
        else:
            line = len(_ENDS.split(data[: error.start].decode("utf-8", "replace")))
            text = data.decode("utf-8-sig", "replace")
            damage = line, "bytes that are not UTF-8, shown as U+FFFD; the file itself is left alone"
    lines = _ENDS.split(text) if "\r" in text else text.split("\n")
    return (lines if lines[-1] else lines[:-1]), damage


def is_note_path(path: str) -> bool:
    """Whether a path is that of a note, by its suffix `.md`."""
    return path[-3:].lower() == ".md"


def note_header(path: str, day: str | None) -> str:
    """The Markdown heading above a note's results, and a line with its day unless the path contains it."""
    return f"## {path.translate(_LINE_ENDS)}" + (f"\n({day})" if day and day not in path else "")


def one_line(path: str) -> str:
    """A path on one line: a file name may contain line breaks, which could forge a citation."""
    return path.translate(_LINE_ENDS)


_MARKS = str.maketrans("„“”‟«»‹›‘’‚‛´", '""""""""' + "'''''")
_DOUBLE = re.compile(r'(?<!\w)"(?=\S)([^"]+)(?<![\s\d])"(?!\w)')
_SINGLE = re.compile(r"(?<!\w)'(?=\S)((?:[^']|(?<=\w)'(?=\w))+)(?<![\s\d])'(?!\w)")
"""Quotation marks around words; after a digit a mark may mean inches, feet or minutes."""


def folded(text: str) -> str:
    """The form in which one-paragraph texts are compared; the text itself if nothing would be left."""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.translate(_MARKS)).casefold())
    return " ".join(_SINGLE.sub(r"\1", _DOUBLE.sub(r"\1", plain)).split()).rstrip(" .!,;:") or text


SPEAKER = re.compile(
    r"\s*(?:[-*+>]\s+|\d{1,9}[.)]\s+)*"  # a list item, a quotation
    r"(?:\[[^\[\]]{1,30}\]\s*|\(?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[AaPp][Mm])?\)?[\s,–-]+"  # [10:32], 10:32 -
    r"|\d[\d/.-]{5,9},?\s+\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp][Mm])?\s+-\s+)?"  # 12/03/24, 10:32 - (exported chats)
    r"(?:\*\*|__|@)?(?P<name>[^\W\d_a-z][\w.'’-]{0,30}(?: [^\W\d_a-z][\w.'’-]{0,30}){0,3})(?:\*\*|__)?"
    r":(?:\*\*|__)?(?:\s|$)"
)
"""How a line of a conversation begins: `- Name: …`, `**Name:** …`, `[10:32] Name Surname: …`."""

MAX_LABEL_CHARS = 160
"""Maximum length of a list marker, a time and a name before the colon."""


def speaker(text: str) -> str:
    """The speaker of a line of a conversation, case folded, or ""."""
    match = SPEAKER.match(text) if ":" in text[:MAX_LABEL_CHARS] else None
    return match["name"].casefold() if match else ""


_COMMENT_MARK = re.compile(r"%%|<!--|-->")
_PROPERTY = re.compile(r"(\w[\w .-]*):(?=[ \t\r\n]|$)")

_OF_THE_FILE = re.compile(
    r"(?:title|alias(?:es)?|tags?|type|date|day|created|modified|updated|kind|by|scope|u?id|cssclass(?:es)?|publish"
    r"|permalink)?",
    re.IGNORECASE,
)
"""Properties that only repeat what a file's name, path and links say; lines before the first property count as such."""


def says_property(text: str) -> bool:
    """Whether lines of frontmatter contain a value that the file itself does not reveal: an author, an address."""
    if _COMMENT_MARK.search(text):
        return False
    name = ""
    for line in text.split("\n"):
        named = _PROPERTY.match(line)
        name = named[1] if named else name
        value = line[named.end() :] if named else line
        if not _OF_THE_FILE.fullmatch(name) and value.strip(" \t\r-\"'[]{}~"):
            return True
    return False


# --- attachments -----------------------------------------------------------------------------------------------------

MAX_CANVAS_BYTES = 5_000_000
"""A larger canvas is known by its name only: 5 MB parse in 0.1 s and hold some 10,000 cards."""


def is_canvas(path: str) -> bool:
    return path[-7:].lower() == ".canvas"


def attachment_text(path: str, data: bytes) -> bytes:
    """A file's name, and for a canvas also the texts of its cards, groups and arrows, unless it is broken."""
    name = " ".join(path.rpartition("/")[2].split())
    return "\n\n".join((name, *(_card_texts(data) if is_canvas(path) else ()))).encode("utf-8", "replace")


def _card_texts(data: bytes) -> Iterator[str]:
    """The texts of a canvas (jsoncanvas.org) in the order of the file."""
    try:
        loaded = json.loads(data) if len(data) <= MAX_CANVAS_BYTES else None
    except (ValueError, RecursionError):
        return
    for part in ("nodes", "edges"):
        items = loaded.get(part) if isinstance(loaded, dict) else None
        for item in items if isinstance(items, list) else ():
            text = (item.get("text") or item.get("label")) if isinstance(item, dict) else None
            if isinstance(text, str) and text.strip():
                yield text.strip()
