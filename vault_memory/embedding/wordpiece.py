"""Splits text as WordPiece does: text to BERT-uncased words, words to vocabulary rows; knows no file and no vectors.

Two steps, as in BERT (Devlin et al. 2018, `BasicTokenizer` then `WordpieceTokenizer`):

1. `words`: control characters go, accents go, case goes, every punctuation character and every CJK
   character is a word of its own, the rest splits at white space.
2. `pieces`: greedy longest match from the left; inside a word the continuations are written `##ing`.

What a character becomes depends on that character alone, so the whole first step is one `str.translate` with
a table that fills itself. Characters unknown to this Python's Unicode version count as letters: whether an
emoji is new or old, the word it sticks to has no pieces, on every Python.
"""

import unicodedata
from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

LONGEST_WORD = 100
"""Characters; a longer word has no pieces (`max_input_chars_per_word` of the original)."""

CONTINUATION = "##"
START = 3

_REMOVED_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})
_REMOVED_CHARACTERS = frozenset("\0\ufffd")
_CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""The original's ranges; 2B820-2B91F is missing there too, and equality with it is the point."""


def words(text: str) -> list[str]:
    """Split `text` into normalised words, in order.

    Takes any `str`: NUL, U+FFFD and lone surrogates are dropped, never an error. No word is empty or contains
    white space; a word may be of any length.
    """
    return text.translate(_NORMALISED).split()


class Vocabulary(NamedTuple):
    """What a vocabulary must tell: enough for one in a file as for one in memory."""

    row_of: Callable[[str], int | None]
    """A piece's row (`##` before a continuation) or None."""
    longest_piece: int
    """Characters of the longest piece, `##` not counted."""
    starts: Set[str] | None = None
    """The first `START` characters, after any `##`, of every piece that has as many; None where not known."""


def pieces(word: str, vocabulary: Vocabulary) -> list[int]:
    """Return the vocabulary rows of one normalised word, first piece first.

    A word that cannot be covered from end to end, or is over `LONGEST_WORD` characters, has no pieces at all
    (the original's `[UNK]`).
    """
    if len(word) > LONGEST_WORD:
        return []
    row_of, longest, starts = vocabulary
    rows: list[int] = []
    start = 0
    while start < len(word):
        prefix = CONTINUATION if start else ""
        piece = prefix + word[start : start + longest]
        # A megabyte of base64 would come through the loop millions of times; most of it starts like no piece.
        if starts is not None and piece[: len(prefix) + START] not in starts:
            piece = piece[: len(prefix) + START - 1]
        while (row := row_of(piece)) is None:
            piece = piece[:-1]
            if len(piece) == len(prefix):
                return []
        rows.append(row)
        start += len(piece) - len(prefix)
    return rows


def starts_of(tokens: Iterable[str]) -> frozenset[str]:
    """Return `Vocabulary.starts` of these tokens."""
    lengths = ((token, START + len(CONTINUATION) * token.startswith(CONTINUATION)) for token in tokens)
    return frozenset(token[:length] for token, length in lengths if len(token) >= length)


def _normalised(character: str) -> str:
    """Return what one character becomes: nothing, a space, itself in lower case, or itself between spaces."""
    if character in "\t\n\r":
        return " "
    if character in _REMOVED_CHARACTERS or unicodedata.category(character) in _REMOVED_CATEGORIES:
        return ""
    if character.isspace():
        return " "
    decomposed = unicodedata.normalize("NFD", character)
    bare = "".join(c.lower() for c in decomposed if unicodedata.category(c) != "Mn")
    # After decomposition, because some letters decompose into punctuation (U+1FEF is a grave accent).
    split = "".join(f" {c} " if _is_punctuation(c) else c for c in bare)
    return f" {split} " if _is_cjk(ord(character)) else split


def _is_punctuation(character: str) -> bool:
    # The original counts every visible ASCII sign as punctuation, `$` and `~` included.
    if character.isascii():
        return not character.isalnum() and "!" <= character <= "~"
    return unicodedata.category(character).startswith("P")


def _is_cjk(code: int) -> bool:
    return any(first <= code <= last for first, last in _CJK_RANGES)


class _NormalisedCharacters(dict[int, str]):
    """Table for `str.translate`: computes a character when first met, keeps the first `LIMIT` of them."""

    LIMIT = 1 << 16  # 10 MB at worst; text with more different characters is noise, and only slower

    def __missing__(self, code: int) -> str:
        replacement = _normalised(chr(code))
        if len(self) < self.LIMIT:
            self[code] = replacement
        return replacement


_NORMALISED = _NormalisedCharacters()
