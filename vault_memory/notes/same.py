"""Owns when two texts are the same but for their letters: case, Unicode form, quotation marks, what ends them. Pure.

Nothing looser: one word, number or `?` more makes it another statement.
"""

import re
import unicodedata

_QUOTES = re.compile(r"[\"„“”‟«»‹›`]|(?<!\w)'|'(?!\w)")
_APOSTROPHES = str.maketrans("‘’‚‛´", "'''''")


def folded(text: str) -> str:
    """The form in which texts are compared; the text itself where nothing else is left of it."""
    plain = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)).casefold()
    return " ".join(_QUOTES.sub("", plain).split()).rstrip(" .!,;:") or text
