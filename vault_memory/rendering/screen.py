"""What `recall` prints on a terminal: wrapped to its window, headings above the lines, matched words in bold."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from vault_memory.markdown.note import note_header
from vault_memory.rendering.common import Document, cells, clean
from vault_memory.rendering.recall import by_note, explained, numbered_lines
from vault_memory.text.terms import RUN

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
FEWEST_CELLS = 20
"""A narrower window gets lines of this width."""


class Screen(NamedTuple):
    """The terminal at hand: its width in cells, and whether it shows bold text and links."""

    width: int
    has_styles: bool = True
    has_links: bool = True

    def styled(self, style: str, text: str) -> str:
        """Text in a style, where there are any."""
        return f"{style}{text}{PLAIN}" if self.has_styles and text.strip() else text

    def link(self, uri: str, text: str) -> str:
        """Text as a link (OSC 8)."""
        is_link = uri and self.has_styles and self.has_links
        return f"\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\" if is_link else text


def recall_screen(results: Sequence[Document], matched: Sequence[str], screen: Screen) -> str:
    """The results of a `recall@1` document, the `matched` words in bold."""
    words = _pattern(matched)
    return "\n\n".join("\n".join(_note(note, words, screen)) for note in by_note(results))


def _note(results: Sequence[Document], words: re.Pattern[str] | None, screen: Screen) -> Iterator[str]:
    path = results[0]["path"]
    name = clean(note_header(path, results[0]["date"])).removeprefix("## ")
    yield screen.link(results[0]["uri"], screen.styled(BOLD, name))
    column = max(len(number) for result in results for number, _ in numbered_lines(result))
    above: Sequence[str] = ()
    end = 0
    for result in results:
        # A note's title that repeats its name says nothing more.
        heading = [part for part in result["heading"] if part != PurePosixPath(path).stem]
        if heading != list(above):
            yield from (screen.styled(DIM, row) for row in wrapped(clean(" › ".join(heading)), screen.width))
        elif end and result["start_line"] > end + 1:
            yield screen.styled(DIM, "⋮".rjust(column))
        above, end = heading, result["end_line"]
        for number, text in numbered_lines(result):
            rows = wrapped(clean(text), screen.width - column - 1 if column else screen.width)
            for cite, row in zip([number, *[""] * len(rows)], rows, strict=False):
                row = words.sub(lambda word: screen.styled(BOLD, word[0]), row) if words else row
                yield f"{screen.styled(DIM, cite.rjust(column))} {row}".rstrip() if column else row
        yield from explained(result)


def _pattern(matched: Sequence[str]) -> re.Pattern[str] | None:
    """What finds the matched words; in scripts without spaces, where a word has no ends, wherever they stand."""
    longest_first = sorted(map(re.escape, matched), key=len, reverse=True)
    ends = {True: "{}", False: r"(?<!\w){}(?!\w)"}
    forms = [ends[bool(RUN.search(word))].format(word) for word in longest_first]
    return re.compile("|".join(forms), re.IGNORECASE) if forms else None


def wrapped(text: str, width: int) -> list[str]:
    """A line in rows of at most `width` cells, broken at spaces, or within a word that is longer than a row."""
    width = max(width, FEWEST_CELLS)
    rows, row, used = list[str](), "", 0
    for word in re.findall(r"\s*\S+|\s+", text):
        taken = cells(word)
        if used and used + taken > width:
            rows.append(row)
            word = word.lstrip()
            row, used, taken = "", 0, cells(word)
        for character in word if used + taken > width else ():
            if used + cells(character) > width:
                rows.append(row)
                row, used = "", 0
            row, used = row + character, used + cells(character)
            word, taken = "", 0
        row, used = row + word, used + taken
    return [*rows, row]
