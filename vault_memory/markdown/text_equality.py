"""When two texts are the same but for their letters: case, Unicode form, quotation marks, what ends them. Pure.

Nothing looser: one word, number or `?` more makes it another statement, and `5"` is no quotation.
"""

import re
import unicodedata
from collections.abc import Sequence

from vault_memory.markdown.note import CODE

_MARKS = str.maketrans("„“”‟«»‹›‘’‚‛´", '""""""""' + "'''''")
_DOUBLE = re.compile(r'(?<!\w)"(?=\S)([^"]+)(?<![\s\d])"(?!\w)')
_SINGLE = re.compile(r"(?<!\w)'(?=\S)((?:[^']|(?<=\w)'(?=\w))+)(?<![\s\d])'(?!\w)")
"""Marks around words; behind a digit one may be an inch, a foot or a minute."""


def folded(text: str) -> str:
    """The form in which texts of one paragraph are compared; the text itself where nothing else is left of it."""
    return " ".join(_letters(text).split()).rstrip(" .!,;:") or text


def folded_lines(lines: Sequence[str], states: Sequence[int]) -> str:
    """The same of a note's lines (Note.states): each keeps its place and its spaces, and code all of its letters."""
    kept = [
        line.rstrip() if state == CODE else _letters(line.rstrip()) for line, state in zip(lines, states, strict=True)
    ]
    return "\n".join(kept).strip("\n").rstrip(" .!,;:")


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.translate(_MARKS)).casefold())
    return _SINGLE.sub(r"\1", _DOUBLE.sub(r"\1", plain))
