"""Embeds questions: in the configured embedder's space when it can be used, else in the builtin one.

The choice is made once a question, and everything compared for it (passages, notes, feedback) is of that one space:
vectors of two models mean nothing to each other, even where their dimensions agree.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.embedding.builtin_embedder import StaticEmbedder
from vault_memory.errors import IndexUnusableError, RemoteError
from vault_memory.store import schema
from vault_memory.store.embedding_rows import Space, count_placed, count_unplaced, find_space
from vault_memory.store.view import View

if TYPE_CHECKING:
    from vault_memory.embedding.configured_embedder import QuestionVector, RemoteEmbedder

MIN_COVERAGE = 0.95
"""From this share of the passages on a configured embedder's space is used; below it the builtin vectors see more."""

MAX_VECTORLESS = 0.5
"""A model that has no usable vector for more than this share of the passages is not used."""

Degraded = list[tuple[str, str]]
"""What could not be used, and why."""


class QueryVector(NamedTuple):
    """Where a question points, in one space."""

    space: Space
    vector: bytes


class SpaceCoverage(NamedTuple):
    """How the configured embedder's space stands, in passages: with a vector, without one for good, all."""

    name: str
    space: Space | None
    done: int
    without: int
    total: int

    @property
    def too_few(self) -> str:
        """Why the space is not used, or ""."""
        if self.space is None or self.done < MIN_COVERAGE * (self.total - self.without):
            has = f"{self.name} has vectors for {self.done:,} of {self.total:,} passages"
            return f"{has}; used the builtin vectors; `memory index` makes the rest"
        lacks = f"{self.name} has no usable vector for {self.without:,} of {self.total:,} passages"
        return f"{lacks}; used the builtin vectors" if self.without > MAX_VECTORLESS * self.total else ""

    @property
    def missing(self) -> Iterator[str]:
        """What is to be said of the passages without a vector when it is used."""
        if waiting := self.total - self.done - self.without:
            yield f"{waiting:,} of {self.total:,} passages still wait for {self.name}"
        if self.without > (1 - MIN_COVERAGE) * self.total:
            what = f"{self.name} has no usable vector for {self.without:,} of {self.total:,} passages"
            yield f"{what}: they are found by words only"


class QueryEmbedder:
    """Turns questions into directions, over one open store."""

    def __init__(self, store: View, embedder: StaticEmbedder, remote: "RemoteEmbedder | None" = None) -> None:
        self._store, self._embedder, self._remote = store, embedder, remote

    def for_view(self, view: View) -> "QueryEmbedder":
        """The same with nothing learnt of the index: for who sees another part of it."""
        return QueryEmbedder(view, self._embedder, self._remote)

    def embed(self, text: str, degraded: Degraded) -> QueryVector | None:
        """The direction of a question, or None when it has none; `degraded` gets what could not be used, and why."""
        if not self._builtin or not text.strip():
            return None
        if self._no_functions:
            degraded.append(("semantic", self._no_functions))
            return None
        direction = self._configured(self._remote, text, degraded) if self._remote else None
        if direction:
            return direction
        (vector,) = self._embedder.embed([text])
        return QueryVector(self._builtin, vector) if any(vector) else None

    @cached_property
    def _builtin(self) -> Space | None:
        return find_space(self._store, self._embedder.id)

    @cached_property
    def _no_functions(self) -> str:
        """Why sqlite-vec cannot be loaded, or ""."""
        try:
            schema.load_vector_functions(self._store.connection)
        except IndexUnusableError as error:
            return f"sqlite-vec cannot be loaded ({error}); searched by words only"
        return ""

    # --- the configured embedder -----------------------------------------------------------------------------------

    def _configured(self, remote: "RemoteEmbedder", text: str, degraded: Degraded) -> QueryVector | None:
        coverage = self._coverage
        space = coverage.space
        if space is None or coverage.too_few:
            degraded.append(("semantic", coverage.too_few))
            return None
        try:
            found = remote.query(text)
        except RemoteError as error:
            degraded.append(("semantic", f"{error}; used the builtin vectors"))
            return None
        if why := self._unlike(found, space, remote):
            degraded.append(("semantic", f"{why}; used the builtin vectors"))
            return None
        degraded += [("semantic", what) for what in coverage.missing]
        if found.cut:
            degraded.append(("semantic", f"the question is longer than {remote.id} can read; its end was cut"))
        return QueryVector(space, found.vector or b"")

    @cached_property
    def _coverage(self) -> "SpaceCoverage":
        name, total = self._remote.id if self._remote else "", self._store.totals()[0]
        space = find_space(self._store, name)
        counts = (count_placed(self._store, space), count_unplaced(self._store, space)) if space else (0, 0)
        return SpaceCoverage(name, space, *counts, total)

    def _unlike(self, found: "QuestionVector", space: Space, remote: "RemoteEmbedder") -> str:
        """Why a question's vector cannot be compared in its space, or ""."""
        from vault_memory.embedding.recognise import difference, known_probe

        if found.vector is None:
            return f"{remote.id} has no usable vector for this question"
        why = difference(space, None, found.vector, remote.where)
        if not why and found.probe:
            why = difference(space, known_probe(self._store, remote.id), found.probe, remote.where)
        return f"{why} (`memory doctor` says what to do)" if why else ""
