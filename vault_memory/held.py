"""Owns the vectors a long-lived process holds: per space one block of int8 vectors and one of their bit codes.

A process that answers one question reads both through SQLite (20 ms at 100,000); one that answers many reads them once
(0.3 s at 100,000 vectors of 128 dimensions, 16 MB) and needs 1 ms a question from then on. When the index has changed
only what is new is read: numbers of embeddings are never given twice.
"""

import json
from collections.abc import Collection, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.store import Store

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EARNED = 3
"""From this question on a process may hold vectors: numpy and reading them cost as much as some twenty scans."""

WORTH = 5_000
"""Fewer vectors than this are scanned by SQLite just as fast."""

MOST_BYTES = 128 << 20
"""A space with more bytes of vectors than this is left to SQLite, which reads them from the file."""


_IDS = "SELECT id FROM embedding WHERE embedder = ?"

SLICE = 4_096
"""Vectors read at a time: as rows they take five times the memory, which a process would not get rid of again."""

SPARE = 8
"""Room is made for so many-th more than there are: else each saved note would copy all vectors (14 MB at 100,000)."""


class Block:
    """The vectors of one space, by rising id: ids (n,), vectors (n, dimensions), bits in words of 64 (words, n)."""

    def __init__(self, dimensions: int, room: int) -> None:
        import numpy as np

        self._count = 0
        self._ids = np.empty(room, np.int64)
        self._vectors = np.empty((room, dimensions), np.int8)
        self._words = np.empty((dimensions // 64, room), np.uint64)

    def __len__(self) -> int:
        return self._count

    @property
    def ids(self) -> "npt.NDArray[np.int64]":
        return self._ids[: self._count]

    @property
    def vectors(self) -> "npt.NDArray[np.int8]":
        return self._vectors[: self._count]

    @property
    def words(self) -> "npt.NDArray[np.uint64]":
        return self._words[:, : self._count]

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Take in further vectors, of whatever ids."""
        import numpy as np

        first, count = self._count, self._count + len(rows)
        self._make_room(count)
        vectors = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), self._vectors.shape[1])
        self._ids[first:count] = [row[0] for row in rows]
        self._vectors[first:count] = vectors
        self._words[:, first:count] = _words(vectors)
        self._count = count
        added = self._ids[max(first - 1, 0) : count]
        if not bool((added[1:] > added[:-1]).all()):
            order = np.argsort(self.ids)
            for rows_of in (self._ids, self._vectors, self._words.T):
                rows_of[:count] = rows_of[:count][order]

    def keep(self, kept: "npt.NDArray[np.bool_]") -> None:
        """Leave out every vector that is not `kept` (n,)."""
        import numpy as np

        if bool(kept.all()):
            return
        first, count = int(np.argmin(kept)), int(kept.sum())  # what stands before the first of them can stay there
        for rows_of in (self._ids, self._vectors, self._words.T):
            rows_of[first:count] = rows_of[first : self._count][kept[first:]]
        self._count = count

    def _make_room(self, count: int) -> None:
        import numpy as np

        if count <= len(self._ids):
            return
        room = count + count // SPARE
        ids, vectors, words = self.ids, self.vectors, self.words
        self._ids = np.empty(room, np.int64)
        self._vectors = np.empty((room, vectors.shape[1]), np.int8)
        self._words = np.empty((len(words), room), np.uint64)
        self._ids[: self._count], self._vectors[: self._count], self._words[:, : self._count] = ids, vectors, words


class Seen(NamedTuple):
    """What was read of a space and when; `unused` are ids that no passage had, of which one may come back."""

    built: int
    generation: int
    last_id: int
    block: Block | None
    unused: frozenset[int] = frozenset()
    added: int = 0
    """Vectors read since what the index no longer has was last looked for."""


class HeldVectors:
    """The vectors of one open store, read when that has been earned."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked = 0
        self._seen: dict[int, Seen] = {}

    def nearest(self, space: int, vector: bytes, pool: int, limit: int) -> list[tuple[int, float]] | None:
        """(embedding id, cosine) of the nearest vectors: the best `limit` of the `pool` nearest by bit code.

        None where nothing is held: then SQLite is to scan.
        """
        self._asked += 1
        block = self._current(space, len(vector)) if self._asked >= EARNED else None
        if block is None:
            return None
        import numpy as np

        rows = _nearest_codes(block, vector, pool)
        cosines = _cosines(block.vectors[rows], vector)
        order = np.lexsort((rows, -cosines))[:limit]
        return [(int(block.ids[rows[i]]), float(cosines[i])) for i in order if block.vectors[rows[i]].any()]

    def cosines(self, space: int, ids: Sequence[int], vector: bytes) -> list[float] | None:
        """The cosine of each of these embeddings, 0 for one that is all zero; None where they are not all held."""
        seen = self._seen.get(space)
        if seen is None or seen.block is None or seen.generation != self._store.generation:
            return None
        import numpy as np

        wanted = np.array(ids, np.int64)
        rows = np.minimum(np.searchsorted(seen.block.ids, wanted), len(seen.block.ids) - 1)
        if not bool((seen.block.ids[rows] == wanted).all()):
            return None
        found: list[float] = _cosines(seen.block.vectors[rows], vector).tolist()
        return found

    def leave_out(self, space: int, ids: Collection[int]) -> bool:
        """Hold these no longer, for no passage uses them; returns whether they were held."""
        seen = self._seen.get(space)
        if seen is None or seen.block is None:
            return False
        import numpy as np

        before = len(seen.block)
        seen.block.keep(~np.isin(seen.block.ids, np.array(list(ids), np.int64)))
        self._seen[space] = seen._replace(unused=seen.unused | frozenset(ids))
        return len(seen.block) < before

    def _current(self, space: int, dimensions: int) -> Block | None:
        seen = self._seen.get(space)
        built, generation = int(self._store.meta("built") or 0), self._store.generation
        if seen is None or seen.built != built or seen.generation > generation:
            seen = Seen(built, generation, 0, None)
        elif seen.generation == generation:
            return seen.block
        elif seen.block is None or len(seen.unused) > len(seen.block) // 4:
            seen = Seen(built, generation, 0, None)  # few vectors may have become enough; much has gone
        self._seen[space] = seen = self._read(space, seen._replace(generation=generation), dimensions)
        return seen.block

    def _read(self, space: int, seen: Seen, dimensions: int) -> Seen:
        """What is new in a space since it was seen, added to what is held."""
        last_id = int(self._store.one("SELECT coalesce(max(id), 0) FROM embedding"))
        block = seen.block
        if block is None:
            count = self._worthwhile(space, dimensions)
            if not count:
                return seen._replace(last_id=last_id)
            block = Block(dimensions, count + count // SPARE)
        before = len(block)
        # Without the plus SQLite goes by the index on embedder and text, through all vectors of the space.
        sql = "SELECT id, vector FROM embedding WHERE id > ?2 AND +embedder = ?1 AND length(vector) = ?3 ORDER BY id"
        rows = self._store.rows(sql, space, seen.last_id, dimensions)
        while batch := list(islice(rows, SLICE)):
            block.add(batch)
        if seen.unused:
            sql = "SELECT e.id, vector FROM json_each(?) j CROSS JOIN embedding e ON e.id = j.value"
            block.add(list(self._store.rows(sql, json.dumps(sorted(seen.unused)))))
        added = seen.added + len(block) - before if seen.block else 0
        if added > len(block) // 4:
            added = self._swept(space, block)
        return seen._replace(last_id=last_id, block=block, unused=frozenset(), added=added)

    def _swept(self, space: int, block: Block) -> int:
        """Leave out what the index has no longer: what is never near to a question is not missed otherwise."""
        import numpy as np

        there = np.fromiter((row[0] for row in self._store.rows(_IDS, space)), np.int64)
        block.keep(np.isin(block.ids, there))
        return 0

    def _worthwhile(self, space: int, dimensions: int) -> int:
        """How many vectors there are to hold; 0 where SQLite is as good, or they are too many."""
        count = int(self._store.one("SELECT count(*) FROM embedding WHERE embedder = ?", space))
        return count if count >= WORTH and dimensions % 64 == 0 and count * dimensions <= MOST_BYTES else 0


def _words(vectors: "npt.NDArray[np.int8]") -> "npt.NDArray[np.uint64]":
    """The bit codes of vectors (1 where positive, lowest bit first), word by word: shape (dimensions / 64, n)."""
    import numpy as np

    return np.packbits(vectors > 0, axis=1, bitorder="little").view(np.uint64).T.copy()


def _nearest_codes(block: Block, vector: bytes, count: int) -> "npt.NDArray[np.int64]":
    """The rows of the `count` codes with the smallest Hamming distance."""
    import numpy as np

    distance = np.zeros(len(block.ids), np.uint16)
    for word, of_query in zip(block.words, _words(np.frombuffer(vector, np.int8)[None, :])[:, 0], strict=True):
        distance += np.bitwise_count(word ^ of_query)
    # Of those at the last distance the first rows are taken, so that ties are cut alike every time.
    within = np.bincount(distance).cumsum()
    last = int(np.searchsorted(within, count))
    surely = np.flatnonzero(distance < last)
    perhaps = np.flatnonzero(distance == last)[: count - len(surely)]
    return np.concatenate((surely, perhaps))


def _cosines(vectors: "npt.NDArray[np.int8]", vector: bytes) -> "npt.NDArray[np.float64]":
    """The cosine of each row to a vector, 0 where one is zero: (n,)."""
    import numpy as np

    rows, query = vectors.astype(np.float64), np.frombuffer(vector, np.int8).astype(np.float64)  # sums are exact
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows) * (query @ query))
    found: npt.NDArray[np.float64] = (rows @ query) / np.maximum(lengths, 1e-9)
    return found
