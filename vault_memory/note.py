"""Owns the reading of one note: text becomes a Note with frontmatter, headings, lines, links, tags and masks.

Pure: it never sees a file. Lines are 1-based; a line ends at `\\n`, `\\r\\n` or a lone `\\r`, nothing else.
What lies in code fences, indented code or comments is still text of the note, but holds no headings, links, tags
or facts; `Note.states` says for each line which it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from yaml import SafeLoader

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
    uncommented: Mapping[int, str] = field(default_factory=dict)
    """Lines that hold a comment beside text, with the comment cut out, by line number; the others are as in `lines`."""

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

    def shown(self, line: int) -> str:
        """The line without its comments; inline code stays."""
        return self.uncommented.get(line, self.lines[line - 1])


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
        line = len(_ENDS.split(data[: error.start].decode("utf-8", "replace")))
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
        uncommented=scan.uncommented,
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
        loaded = YAMLHandler().load(block, Loader=_loader())
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


@lru_cache(maxsize=1)
def _loader() -> "type[SafeLoader]":
    """A safe loader without merge keys: ten lines of them that name each other take minutes and gigabytes."""
    import yaml

    class FlatLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    raise yaml.constructor.ConstructorError(None, None, "merge keys (<<) are not read", key.start_mark)

    return FlatLoader


_LONGEST_NUMBER_BITS = 4096
"""Python refuses to write a longer whole number as text than some 14,000 bits; no property means one."""


def _flat(value: object) -> object:
    """Keep a property's scalar or list of scalars; deeper YAML (which aliases can make exponential) is dropped."""
    if isinstance(value, list):
        return [item for item in value[:1000] if _is_scalar(item)]
    return value if _is_scalar(value) else None


def _is_scalar(value: object) -> bool:
    if isinstance(value, int):
        return value.bit_length() <= _LONGEST_NUMBER_BITS
    return isinstance(value, str | float | date)


def texts(value: object) -> list[str]:
    """A property as a list of texts: a list's items, or a single value split at commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [str(item).strip() for item in value if item is not None and str(item).strip()]
    return [] if value is None else [str(value)]


# --- the line scanner ----------------------------------------------------------------------------------------------

_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_HEADING_END = re.compile(r"(?:^|(?<=[ \t]))#+$")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_IN_ITEM = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+(?=```|~~~)")
_MARKER = re.compile(r"[ \t]*<!--[ \t]*memory:(begin|end)[ \t]+([\w-]+)[^>]*-->[ \t]*$")
_MARK = re.compile(r"`+|%%|<!--|-->")


class _Scanner:
    """One pass over the lines of a body: fences, comments, indented code, headings, owned blocks."""

    def __init__(self, path: str, lines: list[str], states: bytearray, problems: list[Problem]) -> None:
        self.path, self.lines, self.states, self.problems = path, lines, states, problems
        self.headings: list[Heading] = []
        self.masked: dict[int, str] = {}
        self.uncommented: dict[int, str] = {}
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
            self._after_blank = state in (BLANK, HEADING, CODE)
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
            if ("```" in stripped or "~~~" in stripped) and self._opens_fence(number, stripped):
                return CODE
            if self._is_indented_code(line):
                return CODE
        if self._comment or "%%" in line or "<!--" in line or "`" in line:
            line = self._mask(number, line)
            if not line.strip():
                return COMMENT
        if stripped.startswith("#") and self._is_heading(number, line):
            return HEADING
        if _LIST_ITEM.match(line):
            self._in_list = True
        elif self._after_blank and not line.startswith((" ", "\t")):
            self._in_list = False
        return TEXT

    def _opens_fence(self, number: int, stripped: str) -> bool:
        item = _IN_ITEM.match(stripped)  # a fence may begin on the line of its list item
        match = _FENCE.match(stripped, item.end() if item else 0)
        if match:
            self._fence, self._opened = match[1], number
            self._in_list = self._in_list or item is not None
        return match is not None

    def _is_indented_code(self, line: str) -> bool:
        # Four spaces make code only where they do not continue a paragraph or a list.
        return (line.startswith(("    ", "\t")) and not self._in_list) and self._after_blank

    def _is_heading(self, number: int, line: str) -> bool:
        match = _HEADING.match(line)
        if match:
            text = _HEADING_END.sub("", (match[2] or "").rstrip(" \t")).strip()
            self.headings.append(Heading(number, len(match[1]), text))
            self._in_list = False
        return match is not None

    def _mask(self, number: int, line: str) -> str:
        """Blank out the comments and the inline code of a line; returns it with only the comments blanked out.

        What begins first counts: a comment's mark inside code is code, a backtick inside a comment is comment.
        """
        marker = None if self._comment or "<!--" not in line else _MARKER.match(line)
        if marker:
            self._markers.append((number, marker[1], marker[2]))
            return ""
        code: list[tuple[int, int]] = []
        comments: list[tuple[int, int]] = []
        marks = list(_MARK.finditer(line))
        partners = _partners(marks)
        begin, skip_to = 0, 0
        for index, mark in enumerate(marks):
            if self._comment:
                if mark[0] == self._comment:
                    comments.append((begin, mark.end()))
                    self._comment = ""
                    skip_to = index + 1
            elif index < skip_to or mark[0] == "-->":
                continue
            elif mark[0][0] != "`":
                begin, self._opened = mark.start(), number
                self._comment = "%%" if mark[0] == "%%" else "-->"
            elif index in partners:
                code.append((mark.start(), marks[partners[index]].end()))
                skip_to = partners[index] + 1
        if self._comment:
            comments.append((begin, len(line)))
        visible = _filled(line, comments, " ")
        self.masked[number] = _filled(visible, code, " ")
        if comments:
            self.uncommented[number] = _filled(line, comments, "")
        return visible

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


def _partners(marks: list[re.Match[str]]) -> dict[int, int]:
    """For each run of backticks the next one as long, both by their place in `marks`: together they enclose code."""
    partners: dict[int, int] = {}
    following: dict[str, int] = {}
    for index in range(len(marks) - 1, -1, -1):
        run = marks[index][0]
        if run[0] == "`":
            if run in following:
                partners[index] = following[run]
            following[run] = index
    return partners


def _filled(line: str, spans: list[tuple[int, int]], filler: str) -> str:
    """The line with each character of `spans`, which are in order, replaced by `filler`."""
    out: list[str] = []
    position = 0
    for begin, end in spans:
        out += (line[position:begin], filler * (end - begin))
        position = end
    return "".join(out) + line[position:]


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
        names = {match[1].strip("/") for match in _TAG.finditer(plain)}
        place = 0 if names and state == TEXT and _ONLY_TAGS.match(plain) else number
        inline |= {(place, name) for name in names}
    yield from (Tag(line, name) for line, name in sorted({(0, name) for name in whole if name} | inline) if name)


def block_id(line: str) -> str | None:
    """The block id at the end of a line (`^id`), or None."""
    match = _BLOCK_ID.search(line) if "^" in line else None
    return match[1] if match else None
