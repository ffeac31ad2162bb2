"""Owns the lists of terms a long-lived process holds while the index stays as it is: BM25 as FTS5 computes it.

FTS5 looks up the length of each passage that holds a term (1.7 µs each, most of the time of a question of five common
words). Lengths and lists that are held make that 0.3 µs for a list that is new, and next to nothing for one that is
not. As any change of the index makes all of it stale, it must be earned by questions asked since.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.store.view import View

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WORTH, MOST = 5_000, 100_000
"""In an index of fewer passages FTS5 is as fast; one of more would have a question wait too long for their lengths."""

EARNED_EACH = 5_000
"""Each question since the last change earns the lengths of so many passages (0.6 µs each)."""

MOST_ENTRIES = 500_000
"""Lists of so many entries together are held, of 16 bytes each."""

K1, B = 1.2, 0.75
"""FTS5's constants of BM25."""
TITLE, NAMES, PATH, TAGS = 4.0, 4.0, 2.0, 1.0
"""What a word counts in a note's title, its other names, its path and its tags."""

_INSTANCES = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab('main', 'passage_fts', 'instance')"


class _List(NamedTuple):
    """The passages that hold a term: their rows among all (k,), and how often each does (k,)."""

    rows: "npt.NDArray[np.int64]"
    counts: "npt.NDArray[np.float64]"


class _Lengths(NamedTuple):
    """All passages by rising id (n,), and what the length of each against the average adds to a count (n,)."""

    ids: "npt.NDArray[np.int64]"
    norms: "npt.NDArray[np.float64]"


class HeldPostings:
    """The lists of one open store."""

    def __init__(self, store: View) -> None:
        self._store = store
        self.look_again()

    def look_again(self) -> None:
        """Let go of all that is held: the index has changed."""
        self._asked = 0
        self._passages = -1
        self._lists: dict[str, _List] = {}
        self._entries = 0
        self._lengths: _Lengths | None = None

    def best(self, stems: Sequence[str], limit: int) -> list[tuple[int, float]] | None:
        """(passage id, BM25 score) of the best passages that hold any of these stems, and of those level with the last.

        None: ask FTS5.
        """
        self._asked += 1
        if self._passages < 0:
            self._passages = int(self._store.one("SELECT count(*) FROM passage"))
        if not WORTH <= self._passages <= MOST or self._asked * EARNED_EACH <= self._passages:
            return None
        import numpy as np

        lengths = self._lengths = self._lengths or self._read_lengths()
        scores = np.zeros(len(lengths.ids))
        for stem in stems:
            rows, counts = self._list(stem, lengths.ids)
            rarity = math.log((self._passages - len(rows) + 0.5) / (len(rows) + 0.5)) if len(rows) else 0.0
            # The order of these steps is FTS5's, so that scores are equal to the last bit.
            scores[rows] += (rarity if rarity > 0 else 1e-6) * ((counts * (K1 + 1.0)) / (counts + lengths.norms[rows]))
        found = np.flatnonzero(scores)
        if len(found) > limit:
            found = found[scores[found] >= np.partition(scores[found], -limit)[-limit]]
        kept = found[np.argsort(-scores[found], kind="stable")]
        return list(zip(lengths.ids[kept].tolist(), scores[kept].tolist(), strict=True))

    def _list(self, stem: str, ids: "npt.NDArray[np.int64]") -> _List:
        import numpy as np

        held = self._lists.get(stem)
        if held is None:
            self._store.connection.execute(_INSTANCES)  # each time: it goes with the transaction it was made in
            sql = "SELECT group_concat(doc) FROM temp.instances WHERE term = ?"
            text = self._store.one(sql, stem)  # one text is read five times as fast as rows
            found, counts = np.unique(np.fromstring(text or "", np.int64, sep=","), return_counts=True)
            held = _List(np.searchsorted(ids, found), counts.astype(np.float64))
            if self._entries + len(found) > MOST_ENTRIES:
                self._lists.clear()
                self._entries = 0
            self._lists[stem] = held
            self._entries += len(found)
        return held

    def _read_lengths(self) -> _Lengths:
        import numpy as np

        sql = "SELECT id, sz FROM passage_fts_docsize ORDER BY id"
        sizes = {row[0]: number(row[1]) for row in self._store.rows(sql)}
        words = np.array(list(sizes.values()), np.float64)
        average = sum(sizes.values()) / max(len(sizes), 1)
        return _Lengths(np.array(list(sizes), np.int64), K1 * (1 - B + B * words / average))


def number(blob: bytes) -> int:
    """A number as FTS5 writes it: seven bits a byte, the highest first."""
    number = 0
    for byte in blob:
        number = number << 7 | byte & 0x7F
    return number
