"""Owns the reading of one note: text becomes a Note with frontmatter, headings, lines, links, tags and masks.

Pure: it never sees a file. Lines are 1-based; a line ends at `\\n`, `\\r\\n` or a lone `\\r`, nothing else.
What lies in code fences, indented code or comments is still text of the note, but holds no headings, links, tags
or facts; `Note.states` says for each line which it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

TEXT, BLANK, FRONT, CODE, COMMENT, HEADING = range(6)
"""What a line is: values of `Note.states`."""


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


class Link(NamedTuple):
    """A wikilink or a Markdown link to a note: target without anchor, as written."""

    line: int
    target: str
    anchor: str


class Tag(NamedTuple):
    """A tag without `#`; line 0 says it holds for the whole note."""

    line: int
    name: str


class Owned(NamedTuple):
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
    owned: tuple[Owned, ...]
    problems: tuple[Problem, ...]
    masked: Mapping[int, str] = field(default_factory=dict)
    """Lines whose comments or inline code are blanked out, by line number; the others are as in `lines`."""

    @property
    def stem(self) -> str:
        """The file name without folder and ending: the note's name in Obsidian."""
        return self.path.rsplit("/", 1)[-1].rpartition(".")[0] or self.path.rsplit("/", 1)[-1]

    @property
    def title(self) -> str:
        """The `title` property, else the file name."""
        title = self.properties.get("title")
        return title.strip() if isinstance(title, str) and title.strip() else self.stem

    def heading_path(self, line: int) -> list[str]:
        """The texts of the headings that `line` stands under, outermost first."""
        return heading_path(self.headings, line)

    def is_owned(self, line: int) -> bool:
        """Whether reflect owns that line: it is never evidence."""
        return any(block.start_line <= line <= block.end_line for block in self.owned)

    def plain(self, line: int) -> str:
        """The line with comments and inline code blanked out, same length."""
        return self.masked.get(line, self.lines[line - 1])


def heading_path(headings: "tuple[Heading, ...] | list[Heading]", line: int) -> list[str]:
    """The texts of the headings above `line`, outermost first."""
    path: list[Heading] = []
    for heading in headings[: bisect_right(headings, line, key=lambda h: h.line)]:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
    return [heading.text for heading in path]


_ENDS = re.compile(r"\r\n|\n|\r")


def decode(data: bytes) -> tuple[str, str]:
    """Decode a note's bytes as UTF-8 (UTF-16 by its byte order mark); returns text and what was wrong, or ""."""
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16", "replace"), "UTF-16 text: readable here, but not in Obsidian; save it as UTF-8"
        line = data.count(b"\n", 0, error.start) + 1
        text = data.decode("utf-8-sig", "replace")
        return text, f"line {line}: bytes that are not UTF-8, shown as U+FFFD; the file itself is left alone"


def split_lines(text: str) -> list[str]:
    """Split into lines without their ends; a final line end starts no further line."""
    lines = _ENDS.split(text) if "\r" in text else text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def parse(path: str, data: bytes) -> Note:
    """Parse one note; never raises on any bytes, what is wrong is in `problems`."""
    text, damage = decode(data)
    problems = [Problem(path, _damage_line(damage), damage, "warning")] if damage else []
    lines = split_lines(text)
    states = bytearray(len(lines))
    properties, body = _frontmatter(path, lines, states, problems)
    scan = _Scanner(path, lines, states, problems)
    scan.run(body)
    return Note(
        path=path,
        lines=lines,
        states=states,
        properties=properties,
        headings=tuple(scan.headings),
        owned=tuple(scan.owned()),
        problems=tuple(problems),
        masked=scan.masked,
    )


def _damage_line(damage: str) -> int:
    return int(damage[5 : damage.index(":")]) if damage.startswith("line ") else 1


# --- frontmatter ---------------------------------------------------------------------------------------------------

_YAML_HINT = "properties are ignored until it is mended; the text is indexed"


def _frontmatter(
    path: str, lines: list[str], states: bytearray, problems: list[Problem]
) -> tuple[Mapping[str, object], int]:
    """Read the YAML block at the top; returns its flat properties and the index of the first line after it."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    end = next((i for i in range(1, len(lines)) if lines[i].rstrip() == "---"), None)
    if end is None:
        problems.append(Problem(path, 1, "frontmatter is never closed by ---: read as text"))
        return {}, 0
    states[: end + 1] = bytes([FRONT]) * (end + 1)
    block = "\n".join(lines[1:end])
    return (_load_yaml(path, block, problems) if block.strip() else {}), end + 1


def _load_yaml(path: str, block: str, problems: list[Problem]) -> Mapping[str, object]:
    from frontmatter.default_handlers import YAMLHandler  # lazy: 30-60 ms, and recall parses no note
    from yaml import YAMLError

    try:
        loaded = YAMLHandler().load(block)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or type(error).__name__
        problems.append(Problem(path, mark.line + 2 if mark else 1, f"broken YAML: {what}; {_YAML_HINT}", "warning"))
        return {}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        # The YAML reader builds dates and numbers itself: 2025-13-45 is a ValueError, not a YAMLError.
        problems.append(Problem(path, 1, f"broken YAML: {error}; {_YAML_HINT}", "warning"))
        return {}
    if not isinstance(loaded, dict):
        problems.append(Problem(path, 1, "frontmatter is not a list of properties; read as text"))
        return {}
    return {str(key): _flat(value) for key, value in loaded.items()}


def _flat(value: object) -> object:
    """Keep a property's scalar or list of scalars; deeper YAML (which aliases can make exponential) is dropped."""
    if isinstance(value, list):
        return [item for item in value[:1000] if not isinstance(item, list | dict)]
    return None if isinstance(value, dict) else value


def texts(value: object) -> list[str]:
    """A property as a list of texts: a list's items, or a single value split at commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [str(item).strip() for item in value if item is not None and str(item).strip()]
    return [] if value is None else [str(value)]


# --- the line scanner ----------------------------------------------------------------------------------------------

_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_MARKER = re.compile(r"[ \t]*<!--[ \t]*memory:(begin|end)[ \t]+([\w-]+)[^>]*-->[ \t]*$")
_COMMENT_MARK = re.compile(r"%%|<!--|-->")


class _Scanner:
    """One pass over the lines of a body: fences, comments, indented code, headings, owned blocks."""

    def __init__(self, path: str, lines: list[str], states: bytearray, problems: list[Problem]) -> None:
        self.path, self.lines, self.states, self.problems = path, lines, states, problems
        self.headings: list[Heading] = []
        self.masked: dict[int, str] = {}
        self._markers: list[tuple[int, str, str]] = []
        self._fence = ""  # the opening marks, while inside
        self._opened = 0  # the line where the open fence or comment began
        self._comment = ""  # what closes the open comment
        self._in_list = False
        self._after_blank = True

    def run(self, start: int) -> None:
        """Scan from the 0-based index `start` to the end."""
        for index in range(start, len(self.lines)):
            line = self.lines[index]
            stripped = line.strip(" \t")
            self.states[index] = state = self._state(index + 1, line, stripped)
            self._after_blank = state in (BLANK, HEADING)
        if self._fence or self._comment:
            what = "code fence" if self._fence else "comment"
            self.problems.append(Problem(self.path, self._opened, f"{what} is never closed: all below it is inside"))

    def _state(self, number: int, line: str, stripped: str) -> int:
        if self._fence:
            if stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
                self._fence = ""
            return CODE
        if not self._comment:
            if not stripped:
                return BLANK
            if stripped[0] in "`~" and self._opens_fence(number, stripped):
                return CODE
            if self._is_indented_code(line):
                return CODE
        if self._comment or "%%" in line or "<!--" in line:
            if not self._mask_comments(number, line):
                return COMMENT
            line = self.masked[number]
        if stripped.startswith("#") and self._is_heading(number, line):
            return HEADING
        if "`" in line:
            self.masked[number] = _INLINE_CODE.sub(_blank, line)
        if _LIST_ITEM.match(line):
            self._in_list = True
        elif self._after_blank and not line.startswith((" ", "\t")):
            self._in_list = False
        return TEXT

    def _opens_fence(self, number: int, stripped: str) -> bool:
        match = _FENCE.match(stripped)
        if match:
            self._fence, self._opened = match[1], number
        return match is not None

    def _is_indented_code(self, line: str) -> bool:
        # Four spaces make code only where they do not continue a paragraph or a list.
        return (line.startswith(("    ", "\t")) and not self._in_list) and self._after_blank

    def _is_heading(self, number: int, line: str) -> bool:
        match = _HEADING.match(line)
        if match:
            self.headings.append(Heading(number, len(match[1]), (match[2] or "").strip()))
            self._in_list = False
        return match is not None

    def _mask_comments(self, number: int, line: str) -> bool:
        """Blank out the comments of a line; False when nothing but comment is on it."""
        marker = None if self._comment else _MARKER.match(line)
        if marker:
            self._markers.append((number, marker[1], marker[2]))
            return False
        out, position = [], 0
        for match in _COMMENT_MARK.finditer(line):
            if self._comment:
                if match[0] == self._comment:
                    out.append(" " * (match.end() - position))
                    position, self._comment = match.end(), ""
            elif match[0] != "-->":
                out.append(line[position : match.start()])
                position, self._opened = match.start(), number
                self._comment = "%%" if match[0] == "%%" else "-->"
        out.append(" " * (len(line) - position) if self._comment else line[position:])
        self.masked[number] = masked = "".join(out)
        return bool(masked.strip())

    def owned(self) -> Iterator[Owned]:
        """Pair the markers; broken or nested ones own nothing and are reported."""
        open_at: tuple[int, str] | None = None
        for number, what, name in self._markers:
            if what == "begin" and open_at is None:
                open_at = (number, name)
            elif what == "end" and open_at is not None and open_at[1] == name:
                yield Owned(open_at[0], number, name)
                open_at = None
            else:
                self.problems.append(Problem(self.path, number, f"memory:{what} {name} without its partner"))
        if open_at is not None:
            self.problems.append(Problem(self.path, open_at[0], f"memory:begin {open_at[1]} is never ended"))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


# --- links, tags ---------------------------------------------------------------------------------------------------

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
            found = {(m[1].strip(), (m[2] or "")[1:].strip()) for m in _WIKILINK.finditer(note.plain(number))}
            yield from (Link(number, target, anchor) for target, anchor in sorted(found) if target)
        if "](" in line:
            found = {(m[1], (m[2] or "")[1:]) for m in _MDLINK.finditer(note.plain(number))}
            yield from (Link(number, target.replace("%20", " "), anchor) for target, anchor in sorted(found))


def tags(note: Note) -> Iterator[Tag]:
    """Yield tags: properties and lines of nothing but tags hold for the note (line 0), others for their line."""
    whole = {t.lstrip("#") for key in ("tags", "tag") for v in texts(note.properties.get(key)) for t in v.split()}
    inline: set[tuple[int, str]] = set()
    for number, (line, state) in enumerate(zip(note.lines, note.states, strict=True), 1):
        if "#" not in line or state in (FRONT, CODE, COMMENT):
            continue
        plain = note.plain(number)
        for match in _TAG.finditer(plain):
            name = match[1].strip("/")
            inline.add((0 if state == TEXT and _ONLY_TAGS.match(plain) else number, name))
    yield from (Tag(line, name) for line, name in sorted({(0, name) for name in whole if name} | inline) if name)


def block_id(line: str) -> str | None:
    """The block id at the end of a line (`^id`), or None."""
    match = _BLOCK_ID.search(line) if "^" in line else None
    return match[1] if match else None
