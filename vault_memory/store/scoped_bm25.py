"""Owns BM25 for who sees only a part of the index: as FTS5 would compute it if nothing else were indexed.

FTS5's own takes how rare a word is, how many rows there are and how long they are from the whole index: by its scores
one could ask whether a private note holds a word. Here all that is counted over the rows that are seen (sight.py), and
the order of the steps is FTS5's, so that scores are equal to the last bit.
"""

import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.store.rows import Store
from vault_memory.store.term_cache import K1, NAMES, PATH, TAGS, TITLE, B, number

if TYPE_CHECKING:
    import apsw


class _Table(NamedTuple):
    """A table of words: the rows that are seen with their lengths, and which rows hold a phrase, how often each."""

    sizes: str
    held: str


_PASSAGES = _Table(
    "SELECT group_concat(p.id), group_concat(hex(d.sz)), (SELECT max(id) FROM passage_fts_docsize)"
    " FROM passage p CROSS JOIN passage_fts_docsize d ON d.id = p.id",
    "SELECT rowid, occurrences(passage_fts) FROM passage_fts WHERE passage_fts MATCH ?",
)
_TITLES = _Table(
    "SELECT group_concat(n.id), group_concat(hex(d.sz)), (SELECT max(id) FROM note_fts_docsize)"
    " FROM note n CROSS JOIN note_fts_docsize d ON d.id = n.id"
    " WHERE n.title <> ''",  # of a note that one of its own lines opens the path alone is seen
    f"SELECT rowid, occurrences(note_fts, {TITLE}, {NAMES}, {PATH}, {TAGS}) FROM note_fts WHERE note_fts MATCH ?",
)


class _Rows(NamedTuple):
    """The rows that are seen: how many, how long on average, and the length of each by its id, 0 where none is."""

    total: int
    average: float
    lengths: "array[int]"


class SeenWords:
    """BM25 over what is seen of one open store, while the index stays as it is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[_Table, _Rows] = {}

    def passages(self, phrases: Sequence[str]) -> dict[int, float]:
        """The score of each passage that is seen and holds any of these FTS5 phrases."""
        return self._scores(_PASSAGES, phrases)

    def titles(self, phrases: Sequence[str]) -> dict[int, float]:
        """The score of each note that is seen and holds any of these in its title, names, path or tags."""
        return self._scores(_TITLES, phrases)

    def _scores(self, table: _Table, phrases: Sequence[str]) -> dict[int, float]:
        rows = self._rows(table)
        scores: dict[int, float] = {}
        norms: dict[int, float] = {}
        for phrase in phrases:
            everywhere = self._store.rows(table.held, phrase)
            held = [(row, count, length) for row, count in everywhere if (length := rows.lengths[row])]
            rarity = math.log((rows.total - len(held) + 0.5) / (len(held) + 0.5))
            rarity = rarity if rarity > 0 else 1e-6
            for row, count, length in held:
                if length not in norms:
                    norms[length] = K1 * (1 - B + B * length / rows.average)
                scores[row] = scores.get(row, 0.0) + rarity * ((count * (K1 + 1.0)) / (count + norms[length]))
        return scores

    def _rows(self, table: _Table) -> _Rows:
        known = self._known.get(table)
        if known is None:
            if not self._known:
                self._store.connection.register_fts5_function("occurrences", _occurrences)
            known = self._known[table] = self._read(table)
        return known

    def _read(self, table: _Table) -> _Rows:
        """Two texts are read faster than as many rows (2 ms at 12,000)."""
        ids, sizes, last = next(self._store.rows(table.sizes))
        found = list(zip(map(int, ids.split(",")), sizes.split(","), strict=True)) if ids else []
        length_of = {size: _length(bytes.fromhex(size)) for size in {size for _, size in found}}
        lengths = array("i", bytes(4 * ((last or 0) + 1)))
        for row, size in found:
            lengths[row] = length_of[size]
        return _Rows(len(found), sum(lengths) / max(len(found), 1), lengths)


def _length(sizes: bytes) -> int:
    """The words of all columns of a row, as FTS5 writes down how many are in each."""
    total = start = 0
    for end, byte in enumerate(sizes, 1):
        if byte < 0x80:
            total, start = total + number(sizes[start:end]), end
    return total


def _occurrences(api: "apsw.FTS5ExtensionApi", /, *weights: Any) -> float:  # noqa: ANN401 - as SQLite calls it
    """How often a row holds the one phrase that is asked for, by the weights of its columns if they have any."""
    if not weights:
        return api.inst_count
    return float(sum([w * len(found) for w, found in zip(weights, api.phrase_locations(0), strict=True)]))
