"""Embeds questions with the configured embedder, when its space can be used: else the builtin vectors are.

The choice is made once a question, and everything compared for it (passages, notes, feedback) is of that one space:
vectors of two models mean nothing to each other, even where their dimensions agree.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.embedding.backfill import model_change
from vault_memory.errors import RemoteError
from vault_memory.store.embedding_rows import Space, count_placed, find_space
from vault_memory.store.view import View

if TYPE_CHECKING:
    from vault_memory.embedding.configured_embedder import RemoteEmbedder

MIN_COVERAGE = 0.95
"""From this share of the passages on a configured embedder's space is used; below it the builtin vectors see more."""

MAX_VECTORLESS = 0.5
"""A model that has no usable vector for more than this share of the passages is not used."""


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


def coverage(store: View, name: str) -> SpaceCoverage:
    """How the space of the configured embedder of this name stands."""
    space = find_space(store, name)
    counts = count_placed(store, space) if space else (0, 0)
    return SpaceCoverage(name, space, *counts, store.totals().passages)


def configured_vector(
    store: View, remote: "RemoteEmbedder", coverage: SpaceCoverage, text: str, degraded: list[tuple[str, str]]
) -> tuple[Space, bytes] | None:
    """The direction of a question in the configured space, or None; `degraded` gets what could not be used, and why."""
    space = coverage.space
    if space is None or coverage.too_few:
        degraded.append(("semantic", coverage.too_few))
        return None
    try:
        found, probe = remote.query(text)
    except RemoteError as error:
        degraded.append(("semantic", f"{error}; used the builtin vectors"))
        return None
    if why := _unusable(store, remote, space, found.vector, probe):
        degraded.append(("semantic", f"{why}; used the builtin vectors"))
        return None
    degraded += [("semantic", what) for what in coverage.missing]
    if found.cut:
        degraded.append(("semantic", f"the question is longer than {remote.id} can read; its end was cut"))
    return space, found.vector or b""


def _unusable(store: View, remote: "RemoteEmbedder", space: Space, vector: bytes | None, probe: bytes | None) -> str:
    """Why a question's vector cannot be compared in its space, or ""."""
    if vector is None:
        return f"{remote.id} has no usable vector for this question"
    changed = model_change(store, space, vector, remote.where, is_probe=False)
    if not changed and probe:
        changed = model_change(store, space, probe, remote.where, is_probe=True)
    return f"{changed} (`memory doctor` says what to do)" if changed else ""
