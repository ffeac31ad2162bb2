"""Reduces a message to the sentences that its sender typed, by its form: no code, tags, letters, quotations, chats,
logs or announced text. Pure.

Forms of pasted text cannot be listed to the end. What is missed is at most proposed: `is_plain` decides what may be
written without asking, and it knows one form only, that of a sentence.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

TYPED_CHARS, TYPED_LINES = 1500, 12
"""A longer message is taken as pasted, except for its first and last paragraphs."""

END_CHARS = 8000
"""How much is read at each end of a message, code and tags aside; the middle of a longer one was pasted."""

SENTENCE_CHARS = 600
"""A longer sentence is no sentence."""

LONG_QUOTATION = 25
"""A quotation of at least this many characters is somebody else's text, a shorter one a name or a word."""

_END = re.compile(
    r"(?<=[.!?…])(?<!\b\d\.)(?<!\b\d\d\.)(?<!\b[^\W\d_]\.)(?<!\b[^\W\d_a-z][a-z]\.)(?<!\b[^\W\d_a-z][a-z][a-z]\.)"
    r"(?!(?<=\b[^\W\d_][^\W\d_]\.)\s+[a-z])(?!(?<=\b[^\W\d_][^\W\d_][^\W\d_]\.)\s+[a-z])\s+(?=\S)"
    r"|(?<=[!?])(?=[^\W\d_a-z])|(?<=\s[:;][)DP])\s+|\n+"
)
"""The end of a sentence. Not after a number, an initial or a short capitalised word (Dr., No.), nor after up to three
letters before a small one (vs., approx. being too long): two sentences in one do less harm than a half one."""

_MARK = re.compile(
    r"```|~~~|^---(?=-*[ \t]*$)|<(?P<slash>/?)(?P<tag>[a-z][\w:-]*)(?:\s[^<>]*)?>", re.IGNORECASE | re.MULTILINE
)
"""The start or end of a block, either code or tagged content: inserted by a tool, or pasted."""

_QUOTATION = re.compile(r"[\"“„«‟”]((?:[^\"“”„‟«»\n]|\n(?!\n))*)[\"“”»]")
_TALK = re.compile(r"^\W?\d{1,2}:\d\d(?::\d\d)?\W+\w[^\n:]{0,30}:[ \t][^\n]*$", re.MULTILINE)
"""A line of a pasted chat: time, name, and what was said."""
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)"
_OUTPUT = re.compile(
    rf"^[ \t]*(?:\[?(?:\d{{4}}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d|\[{_LEVEL} *\]|"
    rf"{_LEVEL}(?::|[ \t]+\S{{0,12}}\d:\d\d))[^\n]*$|"
    r"^## [^\n]+\.md[^\n]*(?:\n[^\n]+)+|^[ \t]*(?:L\d+ (?:[-*+>|#]|\d+[.)]) |\||>)[^\n]*$|"
    r"^[ \t]*(?:\$ [a-z./~_A-Z]|>>> \S)[^\n]*(?:\n[^\n]+)*|^[^\n]*(?:\(|\s)[\w./-]+\.md#L\d[^\n]*$",
    re.MULTILINE,
)
"""A log line, recognised by a time to the second, or by a level in brackets or before a colon or time; a line of a note
as recall cites it, a quoted line or a row of a table; or a command after its prompt, with its output."""
_HEADERS = re.compile(r"^(?:[^\W\d_][\w-]{1,15}: [^\n]*(?:\n|\Z)){2}", re.MULTILINE)
"""The head of a mail: two lines with a label. What follows is the mail."""
_LETTER = re.compile(
    r"(?:\A|(?<=\n))[^\n.?:,!]{2,40}[,!][ \t]*\n(?s:.{1,4000}?)\n[^\n.?:,]{2,40},[ \t]*\n+[^\n.?!:,]{2,40}(?=\n|\Z)"
)
"""A letter: a line that ends in a comma, the text, another such line, and a name."""
_ANNOUNCING = re.compile(r"^[^\n]*\w[^\n]*:[ \t]*\n+(?![ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t])", re.MULTILINE)
"""A line that ends in a colon, with no list after it: what follows to the end of the message was pasted."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, which nobody types: the line was pasted from a terminal."""
BULLET = re.compile(r"^(?:[-*+•]|\d{1,2}[.)])\s+")
_LABEL = re.compile(r"[^:\n]{1,40}:\s+(?=\S)")

_NOT_PLAIN = re.compile(
    r"[<>{}\[\]|\\^~=\t\x00-\x1f]|  |[#$%>]\s|\s[—–-]\s|(?:^|\s)['‘‚]|\b(?!https?:)[a-z]+:(?=\S)|[#/][lm]\d|\.md\b",
    re.I,
)


class SessionTurn(NamedTuple):
    """One message of a session; `number` is the one used in citations."""

    number: int
    by_user: bool
    text: str
    day: date | None = None


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without quoted or pasted text."""
    for part in _END.split(_typed(_without_quotations(text))):
        sentence = part.strip()
        if sentence and len(sentence) <= SENTENCE_CHARS and not _CONTROL.search(sentence):
            yield sentence


def last_sentence(text: str) -> str:
    """The last sentence of an agent's message."""
    *_, last = ("", *split_sentences(text[-END_CHARS:]))
    return last


def is_plain(text: str) -> bool:
    """Whether each line of a message has the form of a sentence: it begins with a word, at the margin, without a label,
    stamp or prompt, holds no sign of a tag, a citation, code, a control or an invisible character, and ends as a
    sentence does if it is not the only one."""
    lines = [line for line in text.strip("\n").split("\n") if line]
    is_ended = len(lines) <= 1 or all(line.rstrip().endswith((".", "!", "?", "…")) for line in lines)
    return is_ended and all(map(_is_plain_line, lines)) and not _CONTROL.search(text.replace("\n", ""))


def label_of(line: str) -> str:
    """What stands before a colon at the start of a line, with it; "" for nothing."""
    found = _LABEL.match(line)
    return found[0] if found else ""


def _is_plain_line(line: str) -> bool:
    is_visible = not any(unicodedata.category(one) in ("Cf", "Co", "Cn") for one in line)
    first = line.split()[0].rstrip(",.!?…") if line.strip() else ""
    is_word = re.fullmatch(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", first) and (len(first) == 1 or not first.isupper())
    return is_visible and line[0].isalpha() and bool(is_word) and not (_NOT_PLAIN.search(line) or label_of(line))


def _typed(text: str) -> str:
    """The typed part of a message: of a long one only its short first and last paragraphs."""
    if len(text) <= TYPED_CHARS and text.count("\n") <= TYPED_LINES:
        return text
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    first_and_last = paragraphs[:1] + paragraphs[1:][-1:]
    return "\n".join(part for part in first_and_last if len(part) <= TYPED_CHARS and part.count("\n") <= 2)


def _without_quotations(text: str) -> str:
    """A message without code, blocks, letters, mails, quotations, chats, logs, and the text that a line announces."""
    text = _LETTER.sub("\n", _ends(_without_blocks(text)))
    text = _QUOTATION.sub(lambda found: "\n" if len(found[1]) >= LONG_QUOTATION else found[0], text)
    for pasted in (_TALK, _OUTPUT):
        text = pasted.sub("", text)
    for rest in (_HEADERS, _ANNOUNCING):
        text = text[: found.start()] if (found := rest.search(text)) else text
    return text


def _ends(text: str) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= 2 * END_CHARS else f"{text[:END_CHARS]}\n\n{text[-END_CHARS:]}"


def _without_blocks(text: str) -> str:
    """A message without code, and without anything between a tag and the next one that closes it, or the end."""
    blocks: list[tuple[int, int]] = []
    # By name, the end of the next mark that closes such a block.
    nearest = dict.fromkeys(("```", "~~~", "---"), len(text))
    for mark in reversed(list(_MARK.finditer(text))):
        name = (mark["tag"] or mark[0]).lower()
        if not mark["slash"]:
            begins_line = text[text.rfind("\n", 0, mark.start()) + 1 : mark.start()].strip() == ""
            end = nearest.get(name, len(text) if begins_line else mark.end())
            blocks.append((mark.start(), end))
        if mark["slash"] or not mark["tag"]:
            nearest[name] = mark.end()
    parts, at = [], 0
    for start, end in reversed(blocks):
        if start >= at:
            parts.append(text[at:start])
            at = end
    return "\n".join([*parts, text[at:]])
