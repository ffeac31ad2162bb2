"""What a process that answers many questions holds of an index: passages and notes, vectors, lists of terms.

At 63,000 passages the median question takes 1.28 times as long without rows, 1.56 without vectors, 1.63 without lists.
Vectors and lists are read only when questions have earned them, and never in a small index.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from vault_memory.store.embedding_rows import Space
from vault_memory.store.view import View

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Int64s = npt.NDArray[np.int64]
    Float64s = npt.NDArray[np.float64]

Row = TypeVar("Row")

MOST_ROWS = 12_000
"""So many passages are kept, and as many notes (0.5 kB each): those of some forty questions."""
LEAST_HELD, MOST_TERM_PASSAGES = 5_000, 100_000
"""Fewer vectors or passages SQLite searches just as fast; the terms of more take a question too long to read."""
MOST_VECTOR_BYTES = 128 << 20
QUESTIONS_TO_EARN = 3
"""From this question on vectors are held: numpy and reading them cost as much as some twenty scans."""
PASSAGES_EARNED = 5_000
"""Each question since the last change earns the lengths of so many passages (0.6 µs each)."""
MOST_ENTRIES = 500_000
"""Beyond so many entries, of 16 bytes each, all lists are let go."""
READ_AT_ONCE = 20_000

K1, B = 1.2, 0.75  # FTS5's constants of BM25
_BUILTIN_IDS = (
    "SELECT group_concat(i) FROM (SELECT DISTINCT embedding_id i FROM passage WHERE embedding_id IS NOT NULL)"
)
_PLACED_IDS = "SELECT group_concat(i) FROM (SELECT DISTINCT embedding_id i FROM placed WHERE embedder = ?)"
# By the plus SQLite walks from the first on; else it goes by the embedder, through all of them (20 ms at 280,000).
_VECTORS = "SELECT id, vector FROM embedding WHERE +embedder = ? AND id >= ? AND length(vector) = ? ORDER BY id"
_LENGTHS = "SELECT id, sz FROM passage_fts_docsize ORDER BY id"
_INSTANCES = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab('main', 'passage_fts', 'instance')"
_OF_TERM = "SELECT group_concat(doc) FROM temp.instances WHERE term = ?"  # one text is read five times as fast as rows


class RowCache(Generic[Row]):
    """Rows by id, as `read` gives them; all must go when a note has changed, for its ids are given again."""

    def __init__(self, read: Callable[[str], Iterable[tuple[int, Row]]]) -> None:
        self._read = read
        self._rows: dict[int, Row | None] = {}

    def get(self, ids: Iterable[int]) -> dict[int, Row]:
        """The row of each of these ids that has one; only those that are not at hand are read, given as JSON."""
        wanted = list(ids)
        missing = [i for i in wanted if i not in self._rows]
        if len(self._rows) + len(missing) > MOST_ROWS:
            self._rows.clear()
            missing = wanted
        if missing:
            self._rows.update(dict.fromkeys(missing))
            self._rows.update(self._read(json.dumps(missing)))
        return {i: row for i in wanted if (row := self._rows[i]) is not None}

    def clear(self) -> None:
        self._rows.clear()


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
        self._asked = 0
        self._blocks: dict[int, VectorBlock] = {}

    def nearest(self, space: Space, vector: bytes, pool: int, limit: int) -> list[tuple[int, float]] | None:
        """(embedding id, cosine) of the best `limit` of the `pool` nearest by bit code, and those level with the last.

        None where nothing is held: then SQLite is to scan.
        """
        self._asked += 1
        block = self._current(space) if self._asked >= QUESTIONS_TO_EARN else None
        if block is None or not len(block.ids):
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
        ids, size = _numbers(self._view.one(*of_space)), space.dimensions
        if size % 64 or not LEAST_HELD <= len(ids) <= MOST_VECTOR_BYTES // size:
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


def _numbers(text: str | None) -> "Int64s":
    """Numbers with commas between them, in order."""
    import numpy as np

    return np.sort(np.fromstring(text or "", np.int64, sep=","))


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


class TermCache:
    """BM25 as FTS5 computes it, which looks up the length of each passage that holds a term, from held lists."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.clear()

    def clear(self) -> None:
        self._asked, self._passages = 0, -1
        self._lists: dict[str, tuple[Int64s, Float64s]] = {}
        self._lengths: tuple[Int64s, Float64s] | None = None
        """The ids of all passages, and what the length of each against the average adds to a count."""

    def best(self, stems: Sequence[str], limit: int) -> list[tuple[int, float]] | None:
        """(passage id, BM25) of the best passages with any of these stems, and those level; None: ask FTS5."""
        self._asked += 1
        if self._passages < 0:
            self._passages = int(self._view.one("SELECT count(*) FROM passage"))
        most = min(MOST_TERM_PASSAGES, self._asked * PASSAGES_EARNED - 1)
        if not LEAST_HELD <= self._passages <= most:
            return None
        import numpy as np

        if self._lengths is None:
            # FTS5 writes a number with seven bits a byte, the highest first.
            sizes = {i: reduce(lambda n, byte: n << 7 | byte & 0x7F, size, 0) for i, size in self._view.rows(_LENGTHS)}
            average = sum(sizes.values()) / max(len(sizes), 1)
            words = np.array(list(sizes.values()), np.float64)
            self._lengths = np.array(list(sizes), np.int64), K1 * (1 - B + B * words / average)
        ids, norms = self._lengths
        scores = np.zeros(len(ids))
        for stem in stems:
            if stem not in self._lists:
                self._view.connection.execute(_INSTANCES)  # each time: it goes with the transaction it was made in
                found, times = np.unique(_numbers(self._view.one(_OF_TERM, stem)), return_counts=True)
                if sum(len(rows) for rows, _ in self._lists.values()) > MOST_ENTRIES:
                    self._lists.clear()
                self._lists[stem] = np.searchsorted(ids, found), times.astype(np.float64)
            rows, counts = self._lists[stem]  # the rows of the passages that hold it, and how often each does
            rarity = math.log((self._passages - len(rows) + 0.5) / (len(rows) + 0.5)) if len(rows) else 0.0
            # The order of these steps is FTS5's, so that scores are equal to the last bit.
            scores[rows] += (rarity if rarity > 0 else 1e-6) * ((counts * (K1 + 1.0)) / (counts + norms[rows]))
        found = np.flatnonzero(scores)
        return _best(ids[found], scores[found], limit)
