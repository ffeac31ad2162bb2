"""The vectors that a process which answers many questions holds of an index.

At 16,000 passages the median question takes 1.26 times as long without. They are read only once questions have earned
them, and never of a small index.
"""

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.store.embedding_rows import Space
from vault_memory.store.view import View

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Int64s = npt.NDArray[np.int64]
    Float64s = npt.NDArray[np.float64]

LEAST_HELD, MOST_BYTES = 5_000, 128 << 20
"""Fewer vectors SQLite searches just as fast; more bytes of them are left to it."""
READ_AT_ONCE = 20_000

_BUILTIN_IDS = (
    "SELECT group_concat(i) FROM (SELECT DISTINCT embedding_id i FROM passage WHERE embedding_id IS NOT NULL)"
)
_PLACED_IDS = "SELECT group_concat(i) FROM (SELECT DISTINCT embedding_id i FROM placed WHERE embedder = ?)"
# By the plus SQLite walks from the first on; else it goes by the embedder, through all of them (20 ms at 280,000).
_VECTORS = "SELECT id, vector FROM embedding WHERE +embedder = ? AND id >= ? AND length(vector) = ? ORDER BY id"


class VectorBlock(NamedTuple):
    """The vectors of one space by rising id: ids (n,), int8 vectors (n, dimensions), bit codes (dimensions / 64, n)."""

    state: tuple[int, int]
    """When the index was built, and its generation."""
    ids: "Int64s"
    vectors: "npt.NDArray[np.int8]"
    codes: "npt.NDArray[np.uint64]"


class VectorCache:
    """Per space one block of the vectors that passages use; after a change only those are read that are new in it."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._blocks: dict[int, VectorBlock] = {}

    def nearest(self, space: Space, vector: bytes, pool: int, limit: int) -> list[tuple[int, float]] | None:
        """(embedding id, cosine) of the best `limit` of the `pool` nearest by bit code, and those level with the last.

        None where the space is not worth holding: then SQLite is to scan.
        """
        block = self._current(space)
        if not len(block.ids):
            return None
        import numpy as np

        distance = np.zeros(len(block.ids), np.uint16)
        for word, of_query in zip(block.codes, _codes(np.frombuffer(vector, np.int8)[None, :])[:, 0], strict=True):
            distance += np.bitwise_count(word ^ of_query)
        rows = np.flatnonzero(distance <= np.searchsorted(np.bincount(distance).cumsum(), pool))
        rows = rows[block.vectors[rows].any(axis=1)]
        # Sums of whole numbers this small are exact.
        vectors, query = block.vectors[rows].astype(np.float64), np.frombuffer(vector, np.int8).astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors) * (query @ query))
        return _best(block.ids[rows], (vectors @ query) / np.maximum(lengths, 1e-9), limit)

    def _current(self, space: Space) -> VectorBlock:
        """The block as it is now, empty where the space is not worth it."""
        import numpy as np

        before, state = self._blocks.get(space.id), (int(self._view.meta("built") or 0), self._view.generation)
        if before and before.state == state:
            return before
        of_space = (_BUILTIN_IDS,) if space.is_builtin else (_PLACED_IDS, space.id)
        text = self._view.one(*of_space) or ""  # one text is read five times as fast as rows
        ids, size = np.sort(np.fromstring(text, np.int64, sep=",")), space.dimensions
        if size % 64 or not LEAST_HELD <= len(ids) <= MOST_BYTES // size:
            ids, size = ids[:0], 64
        vectors = np.zeros((len(ids), size), np.int8)
        held = ids[:0] if before is None or before.state[0] != state[0] else np.intersect1d(ids, before.ids)
        if before is not None and len(held):
            vectors[np.searchsorted(ids, held)] = before.vectors[np.searchsorted(before.ids, held)]
        new = np.setdiff1d(ids, held, assume_unique=True)
        rows = self._view.rows(_VECTORS, space.id, int(new[0]), size) if len(new) else iter(())
        while batch := list(islice(rows, READ_AT_ONCE)):
            read = np.array([row[0] for row in batch], np.int64)
            wanted = np.isin(read, ids)
            found = np.frombuffer(b"".join(row[1] for row in batch), np.int8).reshape(len(batch), -1)
            vectors[np.searchsorted(ids, read[wanted])] = found[wanted]
        block = self._blocks[space.id] = VectorBlock(state, ids, vectors, _codes(vectors))
        return block


def _codes(vectors: "npt.NDArray[np.int8]") -> "npt.NDArray[np.uint64]":
    """The bit codes of vectors (1 where positive, lowest bit first), word by word: shape (dimensions / 64, n)."""
    import numpy as np

    return np.packbits(vectors > 0, axis=1, bitorder="little").view(np.uint64).T.copy()


def _best(ids: "Int64s", scores: "Float64s", limit: int) -> list[tuple[int, float]]:
    """(id, score) of the best `limit`, and of all that come level with the last of them, best first."""
    import numpy as np

    if len(ids) > limit:
        kept = scores >= np.partition(scores, -limit)[-limit]
        ids, scores = ids[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")
    return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))
