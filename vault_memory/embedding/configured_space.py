"""The vectors of a configured embedder in an index: whether questions can use them, and how missing ones are made.

Vectors of two models mean nothing to each other, and a pull brings another version under the same name: the vector of
one known text tells. Missing ones are made newest notes first, each batch in one short transaction, and the server is
asked without any lock: whatever ends the run loses at most a batch.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice

from vault_memory.embedding.configured_embedder import RemoteEmbedder
from vault_memory.errors import BusyError, RemoteError
from vault_memory.store import embedding_rows
from vault_memory.store.embedding_rows import PROBE_KEY, Space, all_spaces
from vault_memory.store.vectors import cosine
from vault_memory.store.view import ALL, IndexConnection, Store, View

Progress = Callable[[int, int, int], None]
"""Called with passages done, passages in all, and those embedded by this run."""

Lock = Callable[[], AbstractContextManager[None]]

USELESS_BATCH = 8
"""A batch of at least so many texts without one usable vector says that the model is broken, not the text."""

MIN_COVERAGE = 0.95
"""From this share of the passages on the space is used for questions; below it the builtin vectors see more."""

SAME_MODEL_COSINE = 0.98
"""The least cosine of two vectors of one text by one model; other hardware or another batch changes it by far less."""

AFTER_MODEL_CHANGE = "`memory doctor --fix` deletes the old vectors, then `memory index` makes new ones."


# --- is it still the same model? -------------------------------------------------------------------------------------


def model_change(store: IndexConnection, space: Space, where: str, vector: bytes, probe: bytes | None) -> str:
    """How the model at `where` differs from that of `space`, by a vector and by its vector of the known text, or ""."""
    for found in (vector, probe or vector):
        if len(found) != space.width:
            has = f"the index has {space.dimensions} for {space.name}"
            return f"the model has changed: {where} gives {len(found)} dimensions, and {has}"
    known = store.meta(PROBE_KEY + space.name)
    if probe and known and cosine(probe, bytes.fromhex(str(known))) < SAME_MODEL_COSINE:
        return f"the model has changed: {where} gives other vectors for {space.name} than before"
    return ""


def recognise(store: Store, remote: RemoteEmbedder) -> str:
    """How the server's model differs from the one whose vectors the index has, by the known text, or "".

    Raises RemoteError where it has no vector even for this text.
    """
    space = all_spaces(store).get(remote.id)
    vector = remote.probe()
    changed = model_change(store, space, remote.where, vector, vector) if space else ""
    if not changed and (space is None or not store.meta(PROBE_KEY + remote.id)):
        with store.writing():
            store.set_meta(PROBE_KEY + remote.id, vector.hex())
    return changed


# --- questions -------------------------------------------------------------------------------------------------------


class ConfiguredSpace:
    """One index's space of the configured embedder, as questions see it."""

    def __init__(self, store: View, remote: RemoteEmbedder) -> None:
        self._store, self._remote = store, remote
        self._space = all_spaces(store).get(remote.id)
        self._total = store.totals().passages
        self._done, self._without = embedding_rows.count_placed(store, self._space) if self._space else (0, 0)

    def vector(self, text: str, degraded: list[tuple[str, str]]) -> tuple[Space, bytes] | None:
        """The vector of a question in this space, or None; `degraded` gets what could not be used, and why."""
        space, name, of_all = self._space, self._remote.id, f"of {self._total:,} passages"
        if space is None or self._done < MIN_COVERAGE * (self._total - self._without):
            has = f"{name} has vectors for {self._done:,} {of_all}"
            degraded.append(("semantic", f"{has}; used the builtin vectors; `memory index` makes the rest"))
            return None
        try:
            found, probe = self._remote.query(text)
            if found.vector is None:
                raise RemoteError(f"{name} has no usable vector for this question")
            if changed := model_change(self._store, space, self._remote.where, found.vector, probe):
                raise RemoteError(f"{changed} (`memory doctor` says what to do)")
        except RemoteError as error:
            degraded.append(("semantic", f"{error}; used the builtin vectors"))
            return None
        if waiting := self._total - self._done - self._without:
            degraded.append(("semantic", f"{waiting:,} {of_all} still wait for {name}"))
        if self._without > (1 - MIN_COVERAGE) * self._total:
            lacks = f"{name} has no usable vector for {self._without:,} {of_all}"
            degraded.append(("semantic", f"{lacks}: they are found by words only"))
        if found.cut:
            degraded.append(("semantic", f"the question is longer than {name} can read; its end was cut"))
        return space, found.vector


# --- making what is missing ------------------------------------------------------------------------------------------


@dataclass
class BackfillReport:
    """What one run did, in passages, and how the space stands after it."""

    embedder: str
    passages: int = 0
    done: int = 0
    embedded: int = 0
    from_cache: int = 0
    cut: int = 0
    """Texts longer than the model reads, embedded without their end."""
    unusable: int = 0
    """Texts found now for which the model has no usable vector (not a number, all zero, refused)."""
    without: int = 0
    """Passages with such a text: they are not asked for again."""
    removed: int = 0
    """Vectors deleted because no passage has their text any more."""
    stopped: str | None = None
    """Why it ended before all was done."""
    next_step: str = ""

    @property
    def waiting(self) -> int:
        return self.passages - self.done - self.without


class Backfill:
    """Fills one store's space of one configured embedder."""

    def __init__(self, store: Store, remote: RemoteEmbedder, lock: Lock) -> None:
        self._store, self._remote, self._lock = store, remote, lock
        self._report = BackfillReport(remote.id)

    def run(self, progress: Progress | None = None, deadline: float = float("inf")) -> BackfillReport:
        """Embed what waits, at least a batch, until all is done or `deadline` (monotonic) has passed; never raises."""
        report = self._report
        try:
            self._count()
            if report.waiting:  # else nothing is asked: a large model takes long to load; questions look by themselves
                self._remote.find_model()
                if changed := recognise(self._store, self._remote):
                    raise RemoteError(changed, AFTER_MODEL_CHANGE)
            texts = embedding_rows.waiting_texts(self._store, self._space) if report.waiting else iter(())
            while batch := list(islice(texts, self._remote.batch)):
                self._embed(batch)
                if progress:
                    progress(min(report.done, report.passages), report.passages, report.embedded)
                if time.monotonic() >= deadline:
                    break
            with self._lock():
                report.removed = embedding_rows.sweep(self._store)
                self._store.checkpoint()
        except (RemoteError, BusyError) as error:
            report.stopped, report.next_step = str(error).rstrip("."), error.next_step
        finally:
            self._remote.close()
        self._count()
        if report.stopped and report.waiting:
            report.next_step += " Then run `memory index` again; what is done is kept."
        return report

    def elsewhere(self) -> BackfillReport:
        """How things stand while another process makes the vectors; nothing is done."""
        self._count()
        self._report.stopped = "Another `memory index` is embedding already"
        self._report.next_step = "It goes on by itself. When it is done, run `memory index` again for newer notes."
        return self._report

    @property
    def _space(self) -> Space | None:
        return all_spaces(self._store).get(self._remote.id)

    def _count(self) -> None:
        space, view = self._space, self._store.view(ALL)
        self._report.passages = view.totals().passages
        self._report.done, self._report.without = embedding_rows.count_placed(view, space) if space else (0, 0)

    def _embed(self, batch: list[embedding_rows.PassageText]) -> None:
        """Make the vectors that a batch lacks (an earlier one may have had the same texts), and place all of it."""
        report, store, space = self._report, self._store, self._space
        known = embedding_rows.embedding_ids(store, space, [key for _, key, _ in batch]) if space else {}
        new = {key: text for _, key, text in batch if key not in known}
        made = dict(zip(new, self._remote.embed(list(new.values())) if new else (), strict=True))
        good = {key: one.vector for key, one in made.items() if one.vector is not None}
        if not good and len(made) >= USELESS_BATCH:
            raise self._remote.useless()
        bad = made.keys() - good.keys()
        with self._lock(), store.writing():
            if good:  # the first vectors make the space
                dimensions = max(one.dimensions for one in made.values())
                space = embedding_rows.make_space(store, self._remote.id, dimensions)
            if space:
                unusable = dict.fromkeys(bad, bytes(space.width))
                embedding_rows.add_vectors(store, space, {**good, **unusable}.items())
            embedding_rows.place_passages(store, [passage for passage, _, _ in batch])
            store.grow()
        report.from_cache += sum(key in known for _, key, _ in batch)
        report.embedded += len(good)
        report.unusable += len(bad)
        report.cut += sum(one.cut for one in made.values())
        report.done += sum(key not in bad for _, key, _ in batch)
