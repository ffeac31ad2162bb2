"""Parses the bytes of a note into a Note, in one pass over its lines. Pure, and never raises on any bytes."""

import re
from collections.abc import Iterator

from vault_memory.markdown.frontmatter import frontmatter
from vault_memory.markdown.note import (
    BLANK,
    CODE,
    COMMENT,
    HEADING,
    TEXT,
    Heading,
    Note,
    OwnedBlock,
    Problem,
    decoded_lines,
)
from vault_memory.text.vault_layout import STANDARD, Layout


def parse(path: str, data: bytes, layout: Layout = STANDARD) -> Note:
    """Parse one note of a vault with this `layout`; never raises on any bytes, but reports in `problems`."""
    lines, damage = decoded_lines(data)
    problems = [Problem(path, *damage, "warning")] if damage else []
    states = bytearray(len(lines))
    properties, body = frontmatter(path, lines, states, problems)
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
        layout=layout,
    )


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
        self._fence = ""  # the opening fence, while inside one
        self._opened = 0  # the line where the open fence or comment began
        self._comment = ""  # the mark that closes the open comment
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
            if "```" in stripped or "~~~" in stripped:
                item = _IN_ITEM.match(stripped)  # a fence may begin on the line of its list item
                if fence := _FENCE.match(stripped, item.end() if item else 0):
                    self._fence, self._opened = fence[1], number
                    self._in_list = self._in_list or item is not None
                    return CODE
            # Four spaces mean code unless they continue a paragraph or a list.
            if line.startswith(("    ", "\t")) and self._after_blank and not self._in_list:
                return CODE
        if self._comment or "%%" in line or "<!--" in line or "`" in line:
            line = self._mask(number, line)
            if not line.strip():
                return COMMENT
        if stripped.startswith("#") and (match := _HEADING.match(line)):
            text = _HEADING_END.sub("", (match[2] or "").rstrip(" \t")).strip()
            self.headings.append(Heading(number, len(match[1]), text))
            self._in_list = False
            return HEADING
        if _LIST_ITEM.match(line):
            self._in_list = True
        elif self._after_blank and not line.startswith((" ", "\t")):
            self._in_list = False
        return TEXT

    def _mask(self, number: int, line: str) -> str:
        """Blank out comments and inline code, whichever begins first; returns the line without its comments only."""
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

    def owned(self) -> Iterator[OwnedBlock]:
        """Yield the blocks of paired markers; broken or nested markers own nothing and are reported."""
        open_at: tuple[int, str] | None = None
        for number, what, name in self._markers:
            if what == "begin" and open_at is None:
                open_at = (number, name)
            elif what == "end" and open_at is not None and open_at[1] == name:
                yield OwnedBlock(open_at[0], number, name)
                open_at = None
            else:
                self.problems.append(Problem(self.path, number, f"memory:{what} {name} without its partner"))
        if open_at is not None:
            self.problems.append(Problem(self.path, open_at[0], f"memory:begin {open_at[1]} is never ended"))


def _partners(marks: list[re.Match[str]]) -> dict[int, int]:
    """Map each run of backticks to the next one of equal length, by index in `marks`: together they enclose code."""
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
    out: list[str] = []
    position = 0
    for begin, end in spans:
        out += (line[position:begin], filler * (end - begin))
        position = end
    return "".join(out) + line[position:]
