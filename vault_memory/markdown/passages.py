"""Splits a note into passages, the units that search ranks. Pure.

A passage is a fact, a list item, a heading, a paragraph or a window of its lines, or a run of sentences from a line
that is too long to show whole.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from vault_memory.markdown.counts import is_count
from vault_memory.markdown.facts import KINDS, RetainFact
from vault_memory.markdown.note import ASIDE, BLANK, CODE, COMMENT, FRONT, HEADING, TEXT, Note, is_note_path
from vault_memory.text import terms

WINDOW_CHARS = 320
"""A paragraph of several lines is split into windows of about this many characters (some 70 tokens)."""

LONG_LINE_CHARS = 480
"""A longer line (some 110 tokens) is split into runs of sentences."""

MOST_UNREADABLE = 0.1
"""Text with zero bytes, and a larger share of bytes that are no UTF-8, is left out: an image or a program. Notes in
another encoding have only one of the two, and stay."""


_DATA = "data:"
"""How a data URI begins: it is cut out of a line however short."""

PROPOSAL_BLOCKS = ("captured", "proposals")
"""The generated blocks of what nobody has agreed to yet: not found, on the page of proposals or on a copy of it."""

_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^`\n]*$", re.MULTILINE)


class Passage(NamedTuple):
    """The unit of ranking: lines, the character range if it is only part of a line, kind and text.

    `part` numbers the pieces of a long fact, each of which has the scope, date and entities of the whole.
    """

    start_line: int
    end_line: int
    kind: str
    text: str
    from_char: int | None = None
    to_char: int | None = None
    fact: RetainFact | None = None
    part: int = 0
    is_heading: bool = False
    is_aside: bool = False

    @property
    def body(self) -> str:
        """The text without list, heading or quote mark, and without a fact's kind and keys."""
        return terms.body(self.text, self.fact is not None)


def passages(note: Note, facts: Iterable[RetainFact]) -> Iterator[Passage]:
    """Yield the note's passages in order, given its facts in order: all lines with text but the markers and counting
    lines of generated blocks, proposals, and fences around nothing."""
    queue = iter(facts)
    fact = next(queue, None)
    marks = {line for block in note.owned for line in (block.start_line, block.end_line)}
    proposed = (block for block in note.owned if block.name in PROPOSAL_BLOCKS)
    marks.update(line for block in proposed for line in range(block.start_line, block.end_line + 1))
    is_session = note.path.startswith(f"{note.properties.get('session')}/")
    window: list[int] = []
    size = 0  # characters in the window
    number, last = 1, len(note.lines)
    while number <= last:
        line, state = note.lines[number - 1], note.states[number - 1]
        counts = bool(note.owned) and note.is_owned(number) and is_count(line)
        is_own = number in marks or counts or (fact is not None and fact.start_line == number)
        if window and (is_own or size + len(line) > WINDOW_CHARS or _breaks(note, number, window)):
            yield from _lines(note, window[0], window[-1], None)
            window.clear()
        if fact is not None and fact.start_line == number:
            yield from _lines(note, number, fact.end_line, fact)
            number, fact = fact.end_line, next(queue, None)
        # Skip the fences of frontmatter, and all of it in a session's text.
        elif not (is_own or state == BLANK or (state == FRONT and (is_session or line.rstrip() == "---"))):
            size = len(line) + (size if window else 0)
            window.append(number)
        number += 1
    if window:
        yield from _lines(note, window[0], window[-1], None)


CONTEXT_WEIGHTS = (4, 2, 1, 1)
"""Weights in a passage's embedding of its own text and those one, two and three passages away."""


def with_context(
    stream: Iterable[Passage], scope: Callable[[Passage], str | None] = lambda _: None
) -> Iterator[tuple[Passage, int, tuple[tuple[str, int], ...]]]:
    """Yield each passage with its section and its weighted context in that section; a heading has no context.

    Text of another `scope` is never context: it would leak into the vectors of passages that others may see.
    Sections count the headings above; a heading's own number is negative, frontmatter and comments have ASIDE.
    """
    every = list(stream)
    bodies = [passage.body for passage in every]
    headings = accumulate(int(passage.is_heading) for passage in every)
    sections = [ASIDE if passage.is_aside else count for passage, count in zip(every, headings, strict=True)]
    reach = len(CONTEXT_WEIGHTS) - 1
    for at, passage in enumerate(every):
        context = [(bodies[at], CONTEXT_WEIGHTS[0])]
        for near in range(max(0, at - reach), min(len(every), at + reach + 1)):
            is_alone = near == at or passage.is_heading or every[near].is_heading
            if not is_alone and sections[near] == sections[at] and scope(every[near]) == scope(passage):
                context.append((bodies[near], CONTEXT_WEIGHTS[abs(near - at)]))
        yield passage, -sections[at] if passage.is_heading else sections[at], tuple(context)


_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")


def _breaks(note: Note, number: int, window: list[int]) -> bool:
    """Whether the window must end before line `number`, regardless of its size."""
    state, before = note.states[number - 1], note.states[window[-1] - 1]
    if state in (BLANK, HEADING) or before == HEADING:
        return True
    if state != before and not {state, before}.isdisjoint((FRONT, CODE)):
        return True
    if state == TEXT and _LIST_ITEM.match(note.lines[number - 1]):
        return True
    return bool(note.owned) and note.is_owned(number) != note.is_owned(window[-1])


def _lines(note: Note, start: int, end: int, fact: RetainFact | None) -> Iterator[Passage]:
    """Yield the passages of lines `start`..`end`: one, unless a line is too long to show whole."""
    is_page = note.path.startswith(note.layout.summaries) or (note.owned and note.is_owned(start))
    of_note = "page" if is_page else "note" if is_note_path(note.path) else "file"
    kind = KINDS[fact.kind] if fact else of_note
    is_long = [
        len(line) > _scaled(line, LONG_LINE_CHARS) or (_DATA in line and terms.without_blobs(line) != line)
        for line in note.lines[start - 1 : end]
    ]
    runs = [(number, number) for number in range(start, end + 1)] if any(is_long) else [(start, end)]
    part = 0
    for first, last in runs:
        text, state = "\n".join(note.lines[first - 1 : last]), note.states[first - 1]
        spans: Iterable[tuple[int | None, int | None]] = ((None, None),)
        if is_long[first - start]:
            gaps = terms.gaps_between_blobs(text) if fact or not terms.is_machine_text(text) else ()
            spans = [(gap + begin, gap + stop) for gap, end in gaps for begin, stop in pieces(text[gap:end])]
        is_heading, is_aside = state == HEADING and not any(is_long), state in (FRONT, COMMENT)
        for begin, stop in spans:
            if not _is_blob(text[begin:stop]):
                yield Passage(first, last, kind, text[begin:stop], begin, stop, fact, part, is_heading, is_aside)
                part += 1


_SENTENCE_END = re.compile(r"[.!?…؟۔։።][\"'»”’)\]*_]*\s+|[。！？｡．]+[」』”’）]*\s*|[।॥။។༎།]+\s*|[;:؛]\s+|[；：]\s*")


def pieces(line: str) -> Iterator[tuple[int, int]]:
    """Split a long line into runs of sentences of about 320 characters: (from, to) offsets, white space trimmed.

    A sentence of more than 480 characters is cut at a space, one without spaces between two characters.
    """
    window, longest = _scaled(line, WINDOW_CHARS), _scaled(line, LONG_LINE_CHARS)
    begin = 0
    ends = [m.end() for m in _SENTENCE_END.finditer(line)]
    while len(line) - begin > longest:
        cut = bisect_right(ends, begin + window)
        stop = ends[cut - 1] if cut else begin
        if stop - begin < window // 4:
            if cut < len(ends) and ends[cut] - begin <= longest:
                stop = ends[cut]
            else:
                space = line.rfind(" ", begin + window // 4, begin + window)
                stop = space + 1 if space > 0 else begin + window
                while stop < len(line) and terms.starts_no_cluster(line, stop):
                    stop += 1
        yield from _trimmed(line, begin, stop)
        begin = stop
    yield from _trimmed(line, begin, len(line))


def _is_blob(text: str) -> bool:
    """Whether a text is only punctuation without encoded bytes and the fences around them, or much of it is no text."""
    if "\0" in text and MOST_UNREADABLE * len(text) < text.count("\ufffd"):
        return True
    rest = _FENCE_LINE.sub("", terms.without_blobs(text))
    return len(rest) < len(text) and not any(map(str.isalnum, rest))


def _scaled(line: str, characters: int) -> int:
    """The number of characters of this line that correspond to so many in ASCII, by bytes; at least a quarter."""
    if line.isascii():
        return characters
    return max(characters * len(line) // len(line.encode("utf-8", "replace")), characters // 4)


def _trimmed(line: str, begin: int, stop: int) -> Iterator[tuple[int, int]]:
    text = line[begin:stop]
    if text.strip():
        yield begin + len(text) - len(text.lstrip()), begin + len(text.rstrip())
