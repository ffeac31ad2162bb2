"""What `recall` prints on a terminal: wrapped to its window, headings above the lines, matched words in bold."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from vault_memory.markdown import provenance
from vault_memory.markdown.note import note_header
from vault_memory.rendering.common import cells, clean, superseded
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


def recall_screen(results: Sequence[Mapping[str, Any]], matched: Sequence[str], screen: Screen) -> str:
    """The results of a `recall@1` document, grouped by note in the order of each note's best."""
    best = dict[str, int]()
    for result in results:
        best.setdefault(result["path"], len(best))
    ordered = sorted(results, key=lambda each: (best[each["path"]], each["start_line"], each["rank"]))
    words = _pattern(matched)
    notes = (list(each) for _, each in groupby(ordered, key=lambda each: str(each["path"])))
    return "\n\n".join("\n".join(_note(note, words, screen)) for note in notes)


def _note(results: Sequence[Mapping[str, Any]], words: re.Pattern[str] | None, screen: Screen) -> Iterator[str]:
    first = results[0]
    name = clean(note_header(first["path"], first["date"])).removeprefix("## ")
    yield screen.link(first["uri"], screen.styled(BOLD, name))
    column = max(len(number) for result in results for number, _ in _lines(result))
    above: Sequence[str] = ()
    end = 0
    for result in results:
        # A note's title that repeats its name says nothing more.
        heading = [part for part in result["heading"] if part != PurePosixPath(first["path"]).stem]
        if heading != list(above):
            yield from (screen.styled(DIM, row) for row in wrapped(clean(" › ".join(heading)), screen.width))
        elif end and result["start_line"] > end + 1:
            yield screen.styled(DIM, "⋮".rjust(column))
        above, end = heading, result["end_line"]
        yield from _result(result, column, words, screen)


def _result(result: Mapping[str, Any], column: int, words: re.Pattern[str] | None, screen: Screen) -> Iterator[str]:
    mark = provenance.mark(result["by"]) + superseded(result["superseded_by"], result["path"])
    lines = _lines(result)
    for at, (number, text) in enumerate(lines, 1):
        shown = clean(text) + (mark if at == len(lines) else "")
        rows = wrapped(shown, screen.width - column - 1)
        for cite, row in zip([number, *[""] * len(rows)], rows, strict=False):
            row = words.sub(lambda word: screen.styled(BOLD, word[0]), row) if words else row
            yield f"{screen.styled(DIM, cite.rjust(column))} {row}".rstrip() if column else row
    if why := result.get("why"):
        text = json.dumps(why, ensure_ascii=False, sort_keys=True).replace('"', "")
        yield f"    {result['rank']}. {result['score']:.3f} {text}"


def _lines(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The lines of a result, each with its number as it is cited; parts of a line have the first part's alone."""
    texts = result["content"].split("\n")
    is_numbered = result["end_line"] - result["start_line"] + 1 == len(texts)
    letter = "m" if result["kind"] == "session" else "L"
    start = result["start_line"]
    return [
        (f"{letter}{start + at}" if start and (is_numbered or not at) else "", text) for at, text in enumerate(texts)
    ]


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
