"""Owns which vector space a question is compared in: the configured embedder's when it can, else the builtin one.

The choice is made once a question, and everything compared for it (passages, notes, feedback) is of that one space:
vectors of two models mean nothing to each other, even where their dimensions agree.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import apsw

from vault_memory.embedding.builtin import StaticEmbedder
from vault_memory.errors import IndexUnusableError, RemoteError
from vault_memory.store import schema
from vault_memory.store.embedding_rows import Space, count_placed, count_unplaced, find_space, get_mark
from vault_memory.store.view import View

if TYPE_CHECKING:
    from vault_memory.embedding.remote import Asked, Remote

ENOUGH = 0.95
"""From this share of the passages on a configured embedder's space is used; below it the builtin vectors see more."""

HALF = 0.5
"""A model that has no usable vector for more than this share of the passages is not used."""

Said = list[tuple[str, str]]


class Direction(NamedTuple):
    """Where a question points, in one space."""

    space: Space
    vector: bytes


class Backfilled(NamedTuple):
    """How the configured embedder's space stands, in passages: with a vector, without one for good, all."""

    name: str
    space: Space | None
    done: int
    without: int
    total: int

    @property
    def too_few(self) -> str:
        """Why the space is not used, or ""."""
        if self.space is None or self.done < ENOUGH * (self.total - self.without):
            has = f"{self.name} has vectors for {self.done:,} of {self.total:,} passages"
            return f"{has}; used the builtin vectors; `memory index` makes the rest"
        lacks = f"{self.name} has no usable vector for {self.without:,} of {self.total:,} passages"
        return f"{lacks}; used the builtin vectors" if self.without > HALF * self.total else ""

    @property
    def missing(self) -> Iterator[str]:
        """What is to be said of the passages without a vector when it is used."""
        if waiting := self.total - self.done - self.without:
            yield f"{waiting:,} of {self.total:,} passages still wait for {self.name}"
        if self.without > (1 - ENOUGH) * self.total:
            what = f"{self.name} has no usable vector for {self.without:,} of {self.total:,} passages"
            yield f"{what}: they are found by words only"


class Meaning:
    """Turns questions into directions, over one open store."""

    def __init__(self, store: View, embedder: StaticEmbedder, remote: "Remote | None" = None) -> None:
        self._store, self._embedder, self._remote = store, embedder, remote

    def anew(self, view: View) -> "Meaning":
        """The same with nothing learnt of the index: for who sees another part of it."""
        return Meaning(view, self._embedder, self._remote)

    def of(self, text: str, degraded: Said) -> Direction | None:
        """The direction of a question, or None when it has none; `degraded` gets what could not be used, and why."""
        if not self._builtin or not text.strip() or not self._can_compare(degraded):
            return None
        direction = self._configured(self._remote, text, degraded) if self._remote else None
        if direction:
            return direction
        (vector,) = self._embedder.embed([text])
        return Direction(self._builtin, vector) if any(vector) else None

    @cached_property
    def _builtin(self) -> Space | None:
        return find_space(self._store, self._embedder.id)

    @cached_property
    def _vector_functions(self) -> str:
        """Load sqlite-vec; what went wrong, or ""."""
        try:
            schema.load_vector_functions(self._store.connection)
        except (apsw.Error, IndexUnusableError) as error:
            return str(error)
        return ""

    def _can_compare(self, degraded: Said) -> bool:
        if self._vector_functions:
            degraded.append(
                ("semantic", f"sqlite-vec cannot be loaded ({self._vector_functions}); searched by words only")
            )
        return not self._vector_functions

    # --- the configured embedder -----------------------------------------------------------------------------------

    def _configured(self, remote: "Remote", text: str, degraded: Said) -> Direction | None:
        backfilled = self._backfilled
        space = backfilled.space
        if space is None or backfilled.too_few:
            degraded.append(("semantic", backfilled.too_few))
            return None
        try:
            found = remote.query(text)
        except RemoteError as error:
            degraded.append(("semantic", f"{error}; used the builtin vectors"))
            return None
        if why := self._unlike(found, space, remote):
            degraded.append(("semantic", f"{why}; used the builtin vectors"))
            return None
        degraded += [("semantic", what) for what in backfilled.missing]
        if found.cut:
            degraded.append(("semantic", f"the question is longer than {remote.id} can read; its end was cut"))
        return Direction(space, found.vector or b"")

    @cached_property
    def _backfilled(self) -> "Backfilled":
        name, total = self._remote.id if self._remote else "", self._store.totals()[0]
        space = find_space(self._store, name)
        counts = (count_placed(self._store, space), count_unplaced(self._store, space)) if space else (0, 0)
        return Backfilled(name, space, *counts, total)

    def _unlike(self, found: "Asked", space: Space, remote: "Remote") -> str:
        """Why a question's vector cannot be compared in its space, or ""."""
        from vault_memory.embedding.recognise import difference

        if found.vector is None:
            return f"{remote.id} has no usable vector for this question"
        why = difference(space, None, found.vector, remote.where)
        if not why and found.probe:
            why = difference(space, self._probe, found.probe, remote.where)
        return f"{why} (`memory doctor` says what to do)" if why else ""

    @cached_property
    def _probe(self) -> bytes | None:
        """The known text's vector by the model that the configured space was begun with."""
        mark = get_mark(self._store, self._remote.id, "probe") if self._remote else None
        return bytes.fromhex(mark) if mark else None
