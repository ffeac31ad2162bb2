"""Lays out cited lines for an agent as Markdown, JSON or XML, in a frame and within a token budget. Pure.

A line's cost is an upper bound derived from its stored token count: counting it would load tiktoken (tokens.py).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from vault_memory.markdown import provenance
from vault_memory.markdown.facts import KINDS
from vault_memory.markdown.note import note_header, one_line
from vault_memory.search.answer import MAX_UNKNOWN_WORDS, SESSION, Result, no_mention
from vault_memory.text import agent_frame
from vault_memory.text.output import clean

FRAME_TOKENS = 40
"""An upper bound of the frame's cost in any format, with a reserve for lines that tokenise oddly with their
surroundings: one line of rare characters in several thousand costs a token more than `piece_tokens` says."""

BEHIND, BEHIND_TOKENS = "newer notes may be missing: the index is behind", 22
"""The remark at the end if the index is behind, and its maximum cost in any format."""

UNKNOWN_TOKENS, WORD_TOKENS = 15, 6
"""The maximum cost of saying which words of a question are in no note, and of each word besides its bytes."""

LEGEND, LEGEND_TOKENS = "W world, B experience, O opinion, S observation; c: how sure, from 0 to 1", 26
"""The meaning of the letters of facts, given in Markdown after all of them, and its maximum cost."""

SECTION_TOKENS, NOTE_TOKENS, MORE_TOKENS = 11, 14, 25
"""The maximum cost of the markup of a section, a note and a line about what is left out, besides what they name."""

PIECE_TOKENS: Mapping[str, int] = {"markdown": 0, "json": 17, "xml": 14}
"""The same for a passage; in Markdown each line costs `L12 ` and a newline, added separately."""

BY_TOKENS = 14
"""The maximum cost of marking a passage as coming from outside, besides the name of its origin."""

TITLES: Mapping[str, str] = {
    "core": "Core memory", "summaries": "What was summed up lately",
    "project": "What the notes hold of this project",
    "passages": "What the notes say about the question", "recent": "What was noted lately",
}  # fmt: skip

_LIST_MARK = re.compile(r"(?:[-*+>]|#{1,6})(?= )")
_FIRST_WORD = re.compile(r"[\W_]*[^\W\d_]*")
_NO_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_XML_VALUE = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


class LeftOut(NamedTuple):
    """What is left out at the end of a note: its number of lines (blank ones not counted), the first and the last."""

    height: int
    start_line: int
    end_line: int


def _span(part: Result | LeftOut) -> str:
    return f"{part.start_line}-{part.end_line}" if part.end_line > part.start_line else f"{part.start_line}"


class SheetNote(NamedTuple):
    """The pieces shown of one note, at least one, and what is left out at its end."""

    pieces: list[Result]
    more: LeftOut | None = None

    @property
    def first(self) -> Result:
        return self.pieces[0]


Sections = Mapping[str, Sequence[SheetNote]]
_FACT_KINDS = frozenset(KINDS.values())
_INDEXED = {"passages", "recent"}
"""The sections that come from the index: the others are read from files."""


class Sheet:
    """Collects pieces as long as they fit, and lays them out."""

    def __init__(self, form: str, budget: int) -> None:
        self._form, self._budget = form, budget
        self.tokens = FRAME_TOKENS
        """The maximum cost of the sheet so far."""
        self.sections: dict[str, dict[str, SheetNote]] = {}
        self.behind, self.legend, self.unknown = "", "", tuple[str, ...]()

    @property
    def left(self) -> int:
        return max(0, self._budget - self.tokens)

    def add(self, section: str, piece: Result, keep: int = 0) -> bool:
        """Add a piece to a section if it fits and leaves `keep` tokens; returns whether it was added."""
        notes = self.sections.get(section, {})
        cost = piece_tokens(self._form, piece) + (0 if notes else SECTION_TOKENS)
        cost += 0 if piece.path in notes else note_tokens(self._form, piece)
        if cost + keep > self.left:
            return False
        self.tokens += cost
        self.sections.setdefault(section, notes).setdefault(piece.path, SheetNote([])).pieces.append(piece)
        return True

    def end(self, section: str, path: str, more: LeftOut) -> None:
        """Say what is left out at the end of a note; the caller must have reserved MORE_TOKENS for it."""
        self.tokens += MORE_TOKENS
        self.sections[section][path] = self.sections[section][path]._replace(more=more)

    def say_behind(self) -> None:
        """Say once that newer notes may be missing, if it fits; `text` omits it if nothing comes from the index."""
        if not self.behind and self.left >= BEHIND_TOKENS:
            self.tokens += BEHIND_TOKENS
            self.behind = BEHIND

    def say_unknown(self, words: Sequence[str]) -> None:
        """Say above the passages which words of the question are in no note, if a quarter of the room is enough."""
        words = tuple(words[:MAX_UNKNOWN_WORDS])
        cost = UNKNOWN_TOKENS + sum(len(_VALUES[self._form](word).encode()) + WORD_TOKENS for word in words)
        if words and cost <= self.left // 4:
            self.tokens += cost
            self.unknown = words

    def say_legend(self) -> None:
        """Explain the letters of facts if there are any and it still fits: no passage gives way to this."""
        pieces = (piece for notes in self.sections.values() for noted in notes.values() for piece in noted.pieces)
        if self._form == "markdown" and self.left >= LEGEND_TOKENS and any(p.kind in _FACT_KINDS for p in pieces):
            self.tokens += LEGEND_TOKENS
            self.legend = LEGEND

    def text(self) -> str:
        """The sheet in its frame; "" if it is empty."""
        sections = {
            name: [
                noted._replace(pieces=sorted(noted.pieces, key=lambda piece: (piece.start_line, piece.end_line)))
                for noted in notes.values()
            ]
            for name, notes in self.sections.items()
        }
        if not sections:
            return ""
        behind = self.behind if sections.keys() & _INDEXED else ""
        unknown = self.unknown if "passages" in sections else ()
        return FORMS[self._form](sections, unknown, tuple(filter(None, (self.legend, behind))))


# --- token costs -----------------------------------------------------------------------------------------------------


def piece_tokens(form: str, piece: Result) -> int:
    """The maximum cost of a piece in a format."""
    lines = piece.content.split("\n") if form == "markdown" else [piece.content]
    digits = (len(str(piece.end_line)) + 2) // 3  # in cl100k_base three digits are one token
    tokens = piece.tokens + sum(_joints(line) for line in lines) + digits * len(lines)
    tokens += 2 * len(lines) if form == "markdown" else PIECE_TOKENS[form] + 2 * digits
    after = piece.superseded_by or ""
    mark = provenance.older_suffix(after, piece.path) if form == "markdown" else f"superseded_by: {after}"
    tokens += 4 + len(_VALUES[form](mark).encode()) if after else 0
    tokens += 0 if provenance.is_trusted(piece.by) else BY_TOKENS + len(_VALUES[form](piece.by).encode())
    return tokens + _escapes(piece.content, _ESCAPED[form](piece.content))


def note_tokens(form: str, piece: Result) -> int:
    """The maximum cost of naming a note: its Markdown header, already counted, or the same as JSON or XML."""
    header = note_header(piece.path, piece.date)
    if form == "markdown":
        return piece.header_tokens + _escapes(header, _safe(header))
    shown = _value(header) if form == "xml" else _json(header)
    return piece.header_tokens + NOTE_TOKENS + len(piece.date or "") + _escapes(header, shown)


def _escapes(text: str, as_shown: str) -> int:
    """An upper bound of the tokens that escaping adds to a text: the bytes of each word that changes."""
    raw, shown = text.split(" "), as_shown.split(" ")
    return sum(1 + len(new.encode("utf-8", "replace")) for old, new in zip(raw, shown, strict=True) if old != new)


def _joints(line: str) -> int:
    """An upper bound of the tokens a line gains from the text before and after it.

    Measured on a million lines of odd words: at most a token per four bytes of the first word and of the last marks.
    """
    first = _FIRST_WORD.match(line)
    start = 0 if _LIST_MARK.match(line) else 1 + len((first[0] if first else "").encode("utf-8", "replace")) // 4
    end = len(line)
    while end and not line[end - 1].isalnum():
        end -= 1
    return start + 1 + len(line[end:].encode("utf-8", "replace")) // 4


# --- formats ---------------------------------------------------------------------------------------------------------


def _safe(text: str) -> str:
    return agent_frame.defused(clean(text))


def _name(text: str) -> str:
    return _safe(one_line(text))


def _json(text: str) -> str:
    return json.dumps(text)[1:-1].replace("<", "\\u003c")


def _xml(text: str, table: Mapping[int, str] = _XML) -> str:
    return _NO_XML.sub(lambda m: f"\\u{ord(m[0]):04x}", clean(text)).translate(table)


def _value(text: str) -> str:
    return _xml(text, _XML_VALUE)


_ESCAPED: Mapping[str, Callable[[str], str]] = {"markdown": _safe, "json": _json, "xml": _xml}
_VALUES: Mapping[str, Callable[[str], str]] = {"markdown": _name, "json": _json, "xml": _value}
"""How names are escaped: within a line of Markdown, or as a JSON or XML value."""


def _markdown(sections: Sections, unknown: Sequence[str], remarks: Sequence[str]) -> str:
    blocks = []
    for name, notes in sections.items():
        blocks.append(f"# {TITLES[name]}")
        blocks += [_name(no_mention(unknown))] if name == "passages" and unknown else []
        for noted in notes:
            lines = [_safe(note_header(noted.first.path, noted.first.date))]
            for piece in noted.pieces:
                letter, texts = "m" if piece.kind == SESSION else "L", enumerate(piece.content.split("\n"))
                lines += [f"{letter}{piece.start_line + n} {_safe(line)}" for n, line in texts]
                lines[-1] += provenance.origin_suffix(piece.by) + _name(
                    provenance.older_suffix(piece.superseded_by, piece.path)
                )
            if more := noted.more:
                span = _span(more).replace("-", "-L")
                lines.append(f"({more.height:,} more line{'s' * (more.height > 1)} of this note left out: L{span})")
            blocks.append("\n".join(lines))
    blocks += [f"({remark})" for remark in remarks]
    return agent_frame.framed("\n\n".join(blocks))


def _as_json(sections: Sections, unknown: Sequence[str], remarks: Sequence[str]) -> str:
    def note(noted: SheetNote) -> dict[str, object]:
        lines = [
            {"at": _span(piece), "kind": piece.kind, "content": piece.content}
            | ({"superseded_by": piece.superseded_by} if piece.superseded_by else {})
            | ({"by": piece.by, "trusted": False} if not provenance.is_trusted(piece.by) else {})
            for piece in noted.pieces
        ]
        more = {"left_out": {"lines": noted.more.height, "at": _span(noted.more)}} if noted.more else {}
        return {"path": noted.first.path, "date": noted.first.date, "lines": lines, **more}

    found: dict[str, object] = {name: [note(noted) for noted in notes] for name, notes in sections.items()}
    found |= {"unknown": unknown} if unknown else {}
    return agent_frame.framed_json(found | ({"behind": remarks[0]} if remarks else {}))


def _as_xml(sections: Sections, unknown: Sequence[str], remarks: Sequence[str]) -> str:
    lines = []
    for name, notes in sections.items():
        lines.append(f"<{name}>")
        for noted in notes:
            day = f' date="{noted.first.date}"' if noted.first.date else ""
            lines.append(f'<note path="{_value(noted.first.path)}"{day}>')
            for piece in noted.pieces:
                after = f' superseded_by="{_value(piece.superseded_by)}"' if piece.superseded_by else ""
                by = "" if provenance.is_trusted(piece.by) else f' by="{_value(piece.by)}" trusted="no"'
                lines.append(f'<line at="{_span(piece)}" kind="{piece.kind}"{after}{by}>{_xml(piece.content)}</line>')
            if noted.more:
                lines.append(f'<left-out lines="{noted.more.height}" at="{_span(noted.more)}"/>')
            lines.append("</note>")
        lines.append(f"</{name}>")
    lines += [f"<unknown>{_xml(word)}</unknown>" for word in unknown]
    lines += [f"<behind>{remark}</behind>" for remark in remarks]
    return agent_frame.framed("\n".join(lines))


FORMS: Mapping[str, Callable[[Sections, Sequence[str], Sequence[str]], str]] = {
    "markdown": _markdown,
    "json": _as_json,
    "xml": _as_xml,
}
