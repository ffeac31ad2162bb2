"""Owns what the best of the first round teach: other words, and a better direction (pseudo-relevance feedback)."""

from collections.abc import Mapping, Sequence

from vault_memory.embedding.query_vector import QueryVector
from vault_memory.search.rank import Ranker, inverse_frequency
from vault_memory.store.candidate import Evidence, Feedback
from vault_memory.store.lanes import Search
from vault_memory.store.lexicon import Lexicon
from vault_memory.store.vectors import combine

COMMON = 5
"""No term is learnt that stands in more than one of so many notes, nor one that stands in only one."""


class Teacher:
    """Learns for one question at a time, over one open store."""

    def __init__(self, search: Search, lexicon: Lexicon, notes: int) -> None:
        self._search, self._lexicon, self._notes = search, lexicon, notes

    def learn(
        self, ranker: Ranker, found: Evidence, toward: QueryVector | None, embeddings: Mapping[int, int]
    ) -> Feedback:
        """What the first round of `ranker` teaches; `embeddings` are those of the candidates where the question points.

        Nothing when nothing was asked that any passage could be best at.
        """
        if not found.rarity and not toward:
            return Feedback()
        best = ranker.first_round()
        cosine: Mapping[int, float] = {}
        if toward and best:
            cosine = self._search.cosines(toward.space, embeddings, self._moved(toward, best))
        return Feedback(self._telling(ranker.near()), cosine)

    def _telling(self, near: dict[str, int]) -> dict[str, float]:
        """The inverse document frequency, in notes, of those stems of the best notes that tell something.

        Stems that are not among the frequent ones are rare: how many candidates hold them is near enough.
        """
        frequent, idle, most = self._lexicon.frequent, self._lexicon.idle, self._notes // COMMON
        counts = near | {stem: frequent[stem].notes for stem in near.keys() & frequent.keys()}
        rarity = {count: inverse_frequency(self._notes, count) for count in set(counts.values())}
        return {
            stem: rarity[count]
            for stem, count in counts.items()
            if 1 < count <= most and len(stem) > 2 and stem not in idle and not stem.isdigit()
        }

    def _moved(self, toward: QueryVector, best: Sequence[int]) -> bytes:
        """The question's direction, halfway to the mean direction of the best passages in the same space."""
        vector = toward.vector
        found = [v for v in self._search.vectors(toward.space, best) if any(v)]
        parts = [(v, 1 / _length(v)) for v in found]
        middle = combine(parts) if parts else vector
        return combine([(vector, 1 / _length(vector)), (middle, 1 / _length(middle))])


def _length(vector: bytes) -> float:
    return sum(x * x for x in memoryview(vector).cast("b")) ** 0.5 or 1.0
