"""Owns the cutting of text into what dates are made of: words, numbers, signs. Pure; knows no date."""

import re
from typing import NamedTuple

# Patterns stay text here: `re` compiles and keeps them on first use, which most questions never reach.
# What is glued to other signs (1.10, 10.0.0.1, 3/4, v2024, 1,500) must end up in `junk`, never in `num`.
_TOKEN = (
    r"(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?(?!\w))"
    r"|(?P<iso>(?<![\w.:/#$€£@+\\=-])[0-9]{4}(?:/[0-9]{2}/[0-9]{2}|-W[0-9]{2}|-[0-9]{2}(?:-[0-9]{2})?)"
    r"(?:(?<=-[0-9]{2}-[0-9]{2})[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?: ?Z| ?[+-][0-9]{2}:?[0-9]{2})?)?"
    r"(?:/[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?)?(?!\w|[-/.:]\w))"
    # Before `num`, which would take the 5 of 5-9-2026.
    r"|(?P<numeric>(?<![\w.:/#$€£@+\\=&<>~-])(?:[0-9]{1,2}(?P<sep>[./-])[0-9]{1,2}(?P=sep)[0-9]{4}"
    r"|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}|(?:19|20)[0-9]{6})(?!\w|[-/.:]\w))"
    r"|(?P<num>(?<![\w.:/#$€£@+\\=&<>~])(?<![0-9],)[0-9]{1,4}(?:st|nd|rd|th|['’]s)?"
    r"(?!\w|[%°$€£]|[.:/,][0-9]))"
    r"|(?P<junk>\w+(?:[.:/,'’@+-]\w+)*)"
    r"|(?P<dash>[–—-])"
    r"|(?P<mark>[^\w\s])"
)


class Token(NamedTuple):
    """A word, number or sign of a text: `kind` is the group of `_TOKEN`, `word` its text in lower case."""

    kind: str
    word: str
    start: int
    end: int
    raw: str

    @property
    def capital(self) -> bool:
        """Written as a name is: "May", neither "may" nor "MB"."""
        return self.raw[:1].isupper() and self.raw[1:].islower()


Tokens = list[Token]

_END = Token("end", "", 0, 0, "")


def tokens_of(text: str) -> Tokens:
    """Tokens in order, then enough end marks that a reader may look ahead without a bounds check."""
    tokens = []
    for match in re.finditer(_TOKEN, text):
        raw = match.group()
        word = raw.lower()
        if word[-2:] in ("'s", "’s") and word[0].isalpha():
            word = word[:-2]
        tokens.append(Token(match.lastgroup or "", word, match.start(), match.end(), raw))
    return tokens + [_END] * 10
