"""Owns the bit codes a long-lived process holds: one block of memory per vector space, scanned in a few milliseconds.

A process that answers one question reads the codes through SQLite (16 ms at 100,000); one that answers many reads them
once (0.1 s at 100,000 codes of 128 bits, 16 bytes each) and needs 3 ms a question from then on.
"""

from typing import TYPE_CHECKING, NamedTuple

from vault_memory.store import Store

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EARNED = 3
"""From this question on a process may hold the codes: numpy and reading them cost as much as some ten scans."""

WORTH = 5_000
"""Fewer codes than this are scanned by SQLite just as fast."""


class Held(NamedTuple):
    """The codes of one space: ids, shape (codes,), and bits in words of 64, shape (words, codes)."""

    ids: "npt.NDArray[np.int64]"
    words: "npt.NDArray[np.uint64]"


class Codes:
    """The codes of one open store, read when that has been earned, and again when the index has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked = 0
        self._held: dict[int, tuple[int, Held | None]] = {}
        """By space: the generation it was read at, and what was worth holding."""

    def nearest(self, space: int, code: bytes, count: int) -> list[int] | None:
        """The ids of the `count` codes with the smallest Hamming distance, or None: then SQLite is to scan."""
        self._asked += 1
        if self._asked < EARNED:
            return None
        held = self._current(space, len(code))
        if held is None:
            return None
        import numpy as np

        distance = np.zeros(len(held.ids), np.uint16)
        for word, of_query in zip(held.words, np.frombuffer(code, np.uint64), strict=True):
            distance += np.bitwise_count(word ^ of_query)
        # Of those at the last distance the first rows are taken, so that ties are cut alike every time.
        within = np.bincount(distance).cumsum()
        last = int(np.searchsorted(within, count))
        surely = np.flatnonzero(distance < last)
        perhaps = np.flatnonzero(distance == last)[: count - len(surely)]
        return [int(i) for i in held.ids[np.concatenate((surely, perhaps))]]

    def _current(self, space: int, width: int) -> Held | None:
        generation = self._store.generation
        read_at, held = self._held.get(space, (None, None))
        if read_at != generation:
            held = self._read(space) if width % 8 == 0 else None
            self._held[space] = (generation, held)
        return held

    def _read(self, space: int) -> Held | None:
        rows = list(self._store.rows("SELECT id, code FROM embedding_code WHERE embedder = ? ORDER BY id", space))
        if len(rows) < WORTH:
            return None
        import numpy as np

        words = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(len(rows), -1).T.copy()
        return Held(np.array([row[0] for row in rows], np.int64), words)
