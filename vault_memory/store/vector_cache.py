"""Owns the vectors a long-lived process holds: per space one block of int8 vectors and one of their bit codes.

A process that answers one question reads both through SQLite (20 ms at 100,000); one that answers many reads them once
(0.3 s at 100,000 vectors of 128 dimensions, 16 MB) and needs 1 ms a question from then on. When the index has changed
only what is new is read: numbers of embeddings are never given twice.
"""

import json
from collections.abc import Collection, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.store.view import View

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EARNED = 3
"""From this question on a process may hold vectors: numpy and reading them cost as much as some twenty scans."""

WORTH = 5_000
"""Fewer vectors than this are scanned by SQLite just as fast."""

MOST_BYTES = 128 << 20
"""A space with more bytes of vectors than this is left to SQLite, which reads them from the file."""


SLICE = 20_000
"""Vectors are read so many at a time, so that they are not there twice."""

SPARE = 16
"""A block is made larger by one part in so many than it must be, so that it is not copied for each new note."""


class Block:
    """The vectors of one space, by rising id: ids (n,), vectors (n, dimensions), bits in words of 64 (words, n).

    They lie at the front of arrays with room for more; `unused` are rows that are passed over.
    """

    def __init__(self, dimensions: int, room: int) -> None:
        import numpy as np

        self.count = 0
        self.unused = np.zeros(0, np.int64)
        self._ids = np.zeros(room, np.int64)
        self._vectors = np.zeros((room, dimensions), np.int8)
        self._words = np.zeros((dimensions // 64, room), np.uint64)

    @property
    def ids(self) -> "npt.NDArray[np.int64]":
        return self._ids[: self.count]

    @property
    def vectors(self) -> "npt.NDArray[np.int8]":
        return self._vectors[: self.count]

    @property
    def words(self) -> "npt.NDArray[np.uint64]":
        return self._words[:, : self.count]

    def append(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Add vectors with ids above all that are there, by rising id."""
        import numpy as np

        if not rows:
            return
        start, self.count = self.count, self.count + len(rows)
        if self.count > len(self._ids):
            self._widen(start, self.count + self.count // SPARE)
        vectors = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), -1)
        self._ids[start : self.count] = [row[0] for row in rows]
        self._vectors[start : self.count] = vectors
        self._words[:, start : self.count] = _words(vectors)

    def _widen(self, filled: int, room: int) -> None:
        """Copy what is filled into arrays with more room."""
        wide = Block(self._vectors.shape[1], room)
        wide._ids[:filled], wide._vectors[:filled] = self._ids[:filled], self._vectors[:filled]
        wide._words[:, :filled] = self._words[:, :filled]
        self._ids, self._vectors, self._words = wide._ids, wide._vectors, wide._words

    def rows_of(self, ids: Sequence[int]) -> "npt.NDArray[np.int64] | None":
        """The row of each of these ids; None where one is not there."""
        import numpy as np

        wanted = np.array(ids, np.int64)
        rows = np.minimum(np.searchsorted(self.ids, wanted), max(self.count - 1, 0))
        return rows if self.count and bool((self.ids[rows] == wanted).all()) else None

    def leave_out(self, ids: Collection[int]) -> bool:
        """Pass these over from now on; returns whether that is news of any."""
        import numpy as np

        before = len(self.unused)
        rows = np.flatnonzero(np.isin(self.ids, np.array(list(ids), np.int64)))
        self.unused = np.union1d(self.unused, rows)
        return len(self.unused) > before


class Seen(NamedTuple):
    """What was read of a space and when."""

    built: int
    generation: int
    block: Block | None


class HeldVectors:
    """The vectors of one open store, read when that has been earned."""

    def __init__(self, store: View) -> None:
        self._store = store
        self._asked = 0
        self._seen: dict[int, Seen] = {}

    def nearest(self, space: int, vector: bytes, pool: int, limit: int) -> list[tuple[int, float]] | None:
        """(embedding id, cosine) of the nearest vectors: the best `limit` of the `pool` nearest by bit code.

        With all that come level with the last, of either. None where nothing is held: then SQLite is to scan.
        """
        self._asked += 1
        block = self._current(space, len(vector)) if self._asked >= EARNED else None
        if block is None:
            return None
        import numpy as np

        rows = _nearest_codes(block, vector, pool)
        cosines = _cosines(block.vectors[rows], vector)
        rows, cosines = rows[some := block.vectors[rows].any(axis=1)], cosines[some]
        if len(rows) > limit:
            rows, cosines = rows[best := cosines >= np.partition(cosines, -limit)[-limit]], cosines[best]
        order = np.argsort(-cosines, kind="stable")
        return list(zip(block.ids[rows[order]].tolist(), cosines[order].tolist(), strict=True))

    def cosines(self, space: int, ids: Sequence[int], vector: bytes) -> list[float] | None:
        """The cosine of each of these embeddings, 0 for one that is all zero; None where they are not all held."""
        seen = self._seen.get(space)
        if seen is None or seen.block is None or seen.generation != self._store.generation:
            return None
        rows = seen.block.rows_of(ids)
        if rows is None:
            return None
        found: list[float] = _cosines(seen.block.vectors[rows], vector).tolist()
        return found

    def leave_out(self, space: int, ids: Collection[int]) -> bool:
        """Pass these over, for no passage uses them, until the index changes; returns whether they were held."""
        seen = self._seen.get(space)
        return seen is not None and seen.block is not None and seen.block.leave_out(ids)

    def _current(self, space: int, dimensions: int) -> Block | None:
        seen = self._seen.get(space)
        built, generation = int(self._store.meta("built") or 0), self._store.generation
        if seen and (seen.built, seen.generation) == (built, generation):
            return seen.block
        block = seen.block if seen and seen.built == built and seen.generation < generation else None
        if block and len(block.unused) > block.count // 4:
            block = None  # much has gone; and where there is none, few vectors may have become enough
        block = self._read(space, block, dimensions)
        self._seen[space] = Seen(built, generation, block)
        return block

    def _read(self, space: int, block: Block | None, dimensions: int) -> Block | None:
        """The block of a space with what is new there; None where the space is not worth it."""
        if block is None:
            count = int(self._store.one("SELECT count(*) FROM embedding WHERE embedder = ?", space))
            if not (count >= WORTH and dimensions % 64 == 0 and count * dimensions <= MOST_BYTES):
                return None
            block = Block(dimensions, count + count // SPARE)
        last = int(block.ids[-1]) if block.count else 0
        # By the plus SQLite walks from `last` on; else it goes by the embedder, through all of them (20 ms at 280,000).
        sql = "SELECT id, vector FROM embedding WHERE +embedder = ?1 AND id > ?2 AND length(vector) = ?3 ORDER BY id"
        rows = self._store.rows(sql, space, last, dimensions)
        while batch := list(islice(rows, SLICE)):
            block.append(batch)
        self._forgive(block)
        return block

    def _forgive(self, block: Block) -> None:
        """Of what no passage used one may use again what is still there; the rest has gone for good."""
        import numpy as np

        if len(block.unused):
            sql = "SELECT e.id FROM json_each(?) j CROSS JOIN embedding e ON e.id = j.value"
            there = [row[0] for row in self._store.rows(sql, json.dumps(block.ids[block.unused].tolist()))]
            block.unused = block.unused[~np.isin(block.ids[block.unused], np.array(there, np.int64))]


def _words(vectors: "npt.NDArray[np.int8]") -> "npt.NDArray[np.uint64]":
    """The bit codes of vectors (1 where positive, lowest bit first), word by word: shape (dimensions / 64, n)."""
    import numpy as np

    return np.packbits(vectors > 0, axis=1, bitorder="little").view(np.uint64).T.copy()


def _nearest_codes(block: Block, vector: bytes, count: int) -> "npt.NDArray[np.int64]":
    """The rows of the `count` codes with the smallest Hamming distance, and of all as near as the last of them."""
    import numpy as np

    distance = np.zeros(len(block.ids), np.uint16)
    for word, of_query in zip(block.words, _words(np.frombuffer(vector, np.int8)[None, :])[:, 0], strict=True):
        distance += np.bitwise_count(word ^ of_query)
    farthest = 64 * len(block.words) + 1
    distance[block.unused] = farthest
    within = np.bincount(distance).cumsum()
    last = min(int(np.searchsorted(within, count)), farthest - 1)
    return np.flatnonzero(distance <= last)


def _cosines(vectors: "npt.NDArray[np.int8]", vector: bytes) -> "npt.NDArray[np.float64]":
    """The cosine of each row to a vector, 0 where one is zero: (n,)."""
    import numpy as np

    rows, query = vectors.astype(np.float64), np.frombuffer(vector, np.int8).astype(np.float64)  # sums are exact
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows) * (query @ query))
    found: npt.NDArray[np.float64] = (rows @ query) / np.maximum(lengths, 1e-9)
    return found
