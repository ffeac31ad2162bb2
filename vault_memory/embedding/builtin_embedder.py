"""Embeds texts with the builtin static model.

The model is a table with one int8 vector and one integer weight per token. A text's vector is

    sum over its tokens of weight * vector, then scaled so that its largest component is 127 or -127.

All arithmetic is on integers, so the same text gives the same bytes on every platform, with numpy (many texts) and
without (a query, for which importing numpy would cost a hundred times the work). `tools/distil` makes the table.

The file, little-endian, is memory-mapped and never read as a whole (a query touches some 30 pages of it):

    8s magic · u32 tokens · u32 dimensions · u32 longest piece in characters · u32 bytes of token text
    (tokens + 1) u32 where each token's text starts · tokens u16 weights · tokens × dimensions int8 vectors
    token text, UTF-8, sorted by bytes, no separators · a JSON note about the origin of the data

Text is split as WordPiece does, in two steps (Devlin et al. 2018, `BasicTokenizer` then `WordpieceTokenizer`):

1. `words`: removes control characters, accents and case; every punctuation mark and CJK character is a word of its own,
   the rest is split at white space. All of this works character by character, with a table that is filled on demand.
2. `pieces`: greedy longest match from the left; continuations inside a word are written `##ing`.
"""

import math
import mmap
import os.path
import re
import struct
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import mul
from typing import TYPE_CHECKING

from vault_memory.errors import VaultMemoryError
from vault_memory.store.vectors import Context, scaled, scaled_rows, segment_sums

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Int8s = npt.NDArray[np.int8]
    Int32s = npt.NDArray[np.int32]
    Int64s = npt.NDArray[np.int64]


LONGEST_WORD = 100
"""A longer word has no pieces (`max_input_chars_per_word` of the original)."""

CONTINUATION = "##"

_REMOVED_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})
_REMOVED = frozenset("\0\ufffd")
_CJK = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)
"""The original's ranges; 2B820-2B91F is missing there, too, and the aim is to match it exactly."""


def words(text: str) -> list[str]:
    """Split any `str` into normalised words; NUL, U+FFFD and lone surrogates are dropped."""
    return text.translate(_NORMALISED).split()


class _NormalisedCharacters(dict[int, str]):
    """Table for `str.translate`: computes each character on first use and caches the first `LIMIT` of them."""

    LIMIT = 1 << 16  # 10 MB at worst; text with more distinct characters is noise, and only slower

    def __missing__(self, code: int) -> str:
        character, become = chr(code), ""
        is_kept = character not in _REMOVED and unicodedata.category(character) not in _REMOVED_CATEGORIES
        if character in "\t\n\r" or (is_kept and character.isspace()):
            become = " "
        elif is_kept:
            for part in unicodedata.normalize("NFD", character):
                lower, category = part.lower(), unicodedata.category(part)
                # The original treats every visible ASCII symbol as punctuation, `$` and `~` included. Some characters
                # decompose into punctuation (U+1FEF becomes a grave accent).
                is_sign = "!" <= part <= "~" and not part.isalnum()
                is_punctuation = is_sign if part.isascii() else category.startswith("P")
                become += "" if category == "Mn" else f" {lower} " if is_punctuation else lower
            if _CJK.match(character):
                become = f" {become} "
        if len(self) < self.LIMIT:
            self[code] = become
        return become


_NORMALISED = _NormalisedCharacters()


BUILTIN_ID = "builtin/minilm-static@2"
BUILTIN_PATH = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "minilm-static.bin")

MAGIC = b"VMSTAT01"
HEADER = struct.Struct("<8s4I")
_SPAN = struct.Struct("<2I")

BULK_TEXTS, BULK_CALL = 256, 4
"""How many texts per process make numpy's import (0.1 s) worthwhile, and how many per call its fixed cost."""
BLOCK_CONTEXTS, BLOCK_CHARACTERS = 1024, 1 << 15
"""Size of one numpy step: bounds its memory to some ten megabytes."""
MEMO_WORDS = 40_000
"""Number of words whose rows are cached."""


class TokenTable:
    """The mapped file: tokens sorted by UTF-8 bytes, each with a weight (0..65535) and an int8 vector."""

    def __init__(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if len(self._map) < HEADER.size:
                raise ValueError("it is too short")
            magic, self.count, self.dimensions, self.longest_piece, text_bytes = HEADER.unpack_from(self._map)
            self._weights_at = HEADER.size + 4 * (self.count + 1)
            self._vectors_at = self._weights_at + 2 * self.count
            self._text_at = self._vectors_at + self.count * self.dimensions
            if magic != MAGIC or len(self._map) < self._text_at + text_bytes:
                raise ValueError("it is damaged or of another version")
        except (OSError, ValueError) as error:  # mapping an empty file raises ValueError, too
            sentence = f"The builtin vectors cannot be read from {path}: {error}."
            raise VaultMemoryError(sentence, "Install vault-memory again.") from error
        self._row_of: Callable[[str], int | None] = self._search

    def __getitem__(self, row: int) -> bytes:
        start, end = _SPAN.unpack_from(self._map, HEADER.size + 4 * row)
        text: bytes = self._map[self._text_at + start : self._text_at + end]
        return text

    def _search(self, piece: str) -> int | None:
        """Binary search for a piece in the mapped file, some 15 steps."""
        key = piece.encode()
        row = bisect_left(self, key, 0, self.count)
        return row if row < self.count and self[row] == key else None

    def pieces(self, word: str) -> list[int]:
        """The rows of one normalised word's pieces in order; empty if they cannot cover the whole word."""
        if len(word) > LONGEST_WORD:
            return []
        rows: list[int] = []
        start, row_of = 0, self._row_of
        while start < len(word):
            prefix = CONTINUATION if start else ""
            piece = prefix + word[start : start + self.longest_piece]
            while (row := row_of(piece)) is None:
                piece = piece[:-1]
                if len(piece) == len(prefix):
                    return []
            rows.append(row)
            start += len(piece) - len(prefix)
        return rows

    def weighted(self, row: int) -> tuple[int, memoryview]:
        """A token's weight, and its vector as a view of signed bytes."""
        at = self._weights_at + 2 * row
        start = self._vectors_at + row * self.dimensions
        components = memoryview(self._map)[start : start + self.dimensions].cast("b")
        return int.from_bytes(self._map[at : at + 2], "little"), components

    def hold(self) -> None:
        """Keep all tokens in a dictionary from now on: takes 30 ms once, then lookups are twenty times as fast."""
        if self._row_of == self._search:
            self._row_of = {self[row].decode(): row for row in range(self.count)}.get

    def arrays(self) -> "tuple[Int32s, Int8s]":
        """All weights (copied) and all vectors (a view, shape (tokens, dimensions)) for numpy."""
        import numpy as np

        weights = np.frombuffer(self._map, "<u2", self.count, self._weights_at).astype(np.int32)
        vectors = np.frombuffer(self._map, np.int8, self.count * self.dimensions, self._vectors_at)
        return weights, vectors.reshape(self.count, self.dimensions)


class StaticEmbedder:
    """Embeds with a token table. Not thread-safe: the caches are not locked."""

    def __init__(self, path: str = BUILTIN_PATH, identity: str = BUILTIN_ID) -> None:
        self.id = identity
        self._table = TokenTable(path)
        self.dimensions = self._table.dimensions
        self._asked = 0
        self._pieces: dict[str, list[int]] = {}

    def word_length(self, word: str) -> float | None:
        """The length of a word's vector, a measure of how specific it is: 0.2 ("the") to 3; None if not one token."""
        rows = [row for part in words(word) for row in self._table.pieces(part)]
        if len(rows) != 1:
            return None
        weight, vector = self._table.weighted(rows[0])
        return weight * math.hypot(*vector) / (65535 * 127)

    def nearest(self, asked: Sequence[str], among: Iterable[str]) -> list[float]:
        """For each text in `asked`, the cosine (0..1) of the nearest word in `among`, skipping those not one token."""
        targets = [memoryview(vector).cast("b") for vector in self.embed(asked)]
        best = [0.0] * len(targets)
        for word in among:
            rows = self._rows(word)
            if len(rows) != 1:
                continue
            vector = self._table.weighted(rows[0])[1]
            if length := math.hypot(*vector):
                best = [max(b, sum(map(mul, t, vector)) / length) for b, t in zip(best, targets, strict=True)]
        return [b / (math.hypot(*target) or 1.0) for b, target in zip(best, targets, strict=True)]

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One int8 vector per text, `dimensions` bytes each, in order."""
        return self.embed_contexts([((text, 1),) for text in texts])

    def embed_contexts(self, contexts: Sequence[Context], with_numpy: bool | None = None) -> list[bytes]:
        """One vector per context: the sum over its texts, each `weight` times; by default numpy if there are many."""
        self._asked += len(contexts)
        if with_numpy is None:
            # Many small notes are as many texts as one large one, so count over all calls; a lone query needs no numpy.
            with_numpy = self._asked >= BULK_TEXTS and len(contexts) >= BULK_CALL
        if with_numpy:
            starts = range(0, len(contexts), BLOCK_CONTEXTS)
            return [vector for at in starts for vector in self._embed_block(contexts[at : at + BLOCK_CONTEXTS])]
        vectors: list[bytes] = []
        sums = {text: self._sum(text) for text in {text for context in contexts for text, _ in context}}
        for context in contexts:
            weighted = ([weight * x for x in sums[text]] for text, weight in context)
            vectors.append(scaled([sum(column) for column in zip([0] * self.dimensions, *weighted, strict=True)]))
        return vectors

    def _sum(self, text: str) -> list[int]:
        """The sum of a text's weighted tokens; each distinct one is read once (a MB of brackets costs one row)."""
        if len(text) > BLOCK_CHARACTERS:
            self._table.hold()
        counts: Counter[int] = Counter()
        for word, times in Counter(words(text)).items():
            for row in self._rows(word):
                counts[row] += times
        totals = [0] * self.dimensions
        for row, times in counts.items():
            weight, vector = self._table.weighted(row)
            factor = times * weight
            totals = [t + factor * x for t, x in zip(totals, vector, strict=True)]
        return totals

    def _rows(self, word: str) -> list[int]:
        rows = self._pieces.get(word)
        if rows is None:
            rows = self._table.pieces(word)
            if len(self._pieces) >= MEMO_WORDS:
                self._pieces.clear()
            if len(word) <= self._table.longest_piece:  # longer ones rarely repeat and would fill the cache
                self._pieces[word] = rows
        return rows

    # --- many texts, with numpy ------------------------------------------------------------------------------------

    def _embed_block(self, contexts: Sequence[Context]) -> list[bytes]:
        """Sum each distinct text once, then each context: a text is part of its neighbours' contexts, too."""
        import numpy as np

        place = {text: 0 for context in contexts for text, _ in context}
        place.update(zip(place, range(len(place)), strict=True))
        text_sums = np.zeros((len(place), self.dimensions), np.int64)
        done = 0
        for block in _blocks(list(place)):
            long = len(block[0]) > BLOCK_CHARACTERS
            text_sums[done : done + len(block)] = self._sum(block[0]) if long else self._text_sums(block)
            done += len(block)
        rows = text_sums[[place[text] for context in contexts for text, _ in context]]
        weights = np.array([weight for context in contexts for _, weight in context], np.int64)
        return scaled_rows(segment_sums(rows * weights[:, None], [len(context) for context in contexts]))

    def _text_sums(self, texts: list[str]) -> "Int64s":
        """The sum of each text's tokens, shape (texts, dimensions); `texts` have at most `BLOCK_CHARACTERS` in all."""
        self._table.hold()
        rows = [[row for word in words(text) for row in self._rows(word)] for text in texts]
        flat = [row for of_text in rows for row in of_text]
        weights, vectors = self._table.arrays()
        return segment_sums(vectors[flat] * weights[flat][:, None], [len(of_text) for of_text in rows])


def _blocks(texts: Sequence[str]) -> list[list[str]]:
    """Split `texts` into runs of at most `BLOCK_CHARACTERS` in all; a longer text gets a run of its own."""
    blocks: list[list[str]] = []
    room = 0
    for text in texts:
        if not blocks or len(text) > room:
            blocks.append([])
            room = BLOCK_CHARACTERS
        blocks[-1].append(text)
        room -= len(text)
    return blocks


@cache
def builtin() -> StaticEmbedder:
    """The builtin embedder, one per process; raises VaultMemoryError if its file cannot be read."""
    return StaticEmbedder()
