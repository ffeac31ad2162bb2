"""Owns the vectors a long-lived process holds: per space one block of int8 vectors and one of their bit codes.

A process that answers one question reads both through SQLite (20 ms at 100,000); one that answers many reads them once
(0.3 s at 100,000 vectors of 128 dimensions, 16 MB) and needs 1 ms a question from then on. When the index has changed
only what is new is read: numbers of embeddings are never given twice.
"""

import json
from collections.abc import Collection, Sequence
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


class Block(NamedTuple):
    """The vectors of one space, by rising id: ids (n,), vectors (n, dimensions), bits in words of 64 (words, n)."""

    ids: "npt.NDArray[np.int64]"
    vectors: "npt.NDArray[np.int8]"
    words: "npt.NDArray[np.uint64]"


class Seen(NamedTuple):
    """What was read of a space and when; `unused` are ids that no passage had, of which one may come back."""

    built: int
    generation: int
    last_id: int
    block: Block | None
    unused: frozenset[int] = frozenset()


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

        keep = ~np.isin(seen.block.ids, np.array(list(ids), np.int64))
        ids_left, vectors, words = seen.block
        block = Block(ids_left[keep], vectors[keep], words[:, keep])
        self._seen[space] = seen._replace(block=block, unused=seen.unused | frozenset(ids))
        return not bool(keep.all())

    def _current(self, space: int, dimensions: int) -> Block | None:
        seen = self._seen.get(space)
        built, generation = int(self._store.meta("built") or 0), self._store.generation
        if seen is None or seen.built != built or seen.generation > generation:
            seen = Seen(built, generation, 0, None)
        elif seen.generation == generation:
            return seen.block
        elif seen.block is None or len(seen.unused) > len(seen.block.ids) // 4:
            seen = Seen(built, generation, 0, None)  # few vectors may have become enough; much has gone
        self._seen[space] = seen = self._read(space, seen._replace(generation=generation), dimensions)
        return seen.block

    def _read(self, space: int, seen: Seen, dimensions: int) -> Seen:
        """What is new in a space since it was seen, added to what is held."""
        last_id = int(self._store.one("SELECT coalesce(max(id), 0) FROM embedding"))
        if seen.block is None and not self._is_worth_it(space, dimensions):
            return seen._replace(last_id=last_id)
        sql = "SELECT id, vector FROM embedding WHERE embedder = ?1 AND id > ?2 AND length(vector) = ?3"
        rows = list(self._store.rows(sql + " ORDER BY id", space, seen.last_id, dimensions))
        if seen.unused:
            sql = "SELECT e.id, vector FROM json_each(?) j CROSS JOIN embedding e ON e.id = j.value"
            rows += self._store.rows(sql, json.dumps(sorted(seen.unused)))
        return seen._replace(last_id=last_id, block=_added(seen.block, rows, dimensions), unused=frozenset())

    def _is_worth_it(self, space: int, dimensions: int) -> bool:
        count = int(self._store.one("SELECT count(*) FROM embedding WHERE embedder = ?", space))
        return count >= WORTH and dimensions % 64 == 0 and count * dimensions <= MOST_BYTES


def _added(block: Block | None, rows: Sequence[tuple[int, bytes]], dimensions: int) -> Block:
    """A block with further vectors, kept in the order of ids."""
    import numpy as np

    ids = np.array([row[0] for row in rows], np.int64)
    vectors = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), dimensions)
    if block is not None:
        ids, vectors = np.concatenate((block.ids, ids)), np.concatenate((block.vectors, vectors))
    if not bool((ids[1:] > ids[:-1]).all()):
        order = np.argsort(ids)
        ids, vectors = ids[order], vectors[order]
    return Block(ids, vectors, _words(vectors))


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
