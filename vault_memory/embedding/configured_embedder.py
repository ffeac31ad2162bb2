"""Embeds with the configured model, and keeps its vectors in an index.

The server's output is validated first: as many vectors as texts, one dimension, only finite numbers, not all zero. A
text longer than the model's context is truncated here and counted. Vectors of different models cannot be compared, and
a pull may bring another version under the same name, so the vector of a known text identifies the model. Missing
vectors are made newest notes first, one short transaction per batch, and no lock is held during a request: an
interrupted run loses at most one batch.
"""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.config import Config
from vault_memory.embedding.endpoints import embedding_endpoint, usual_prefixes
from vault_memory.errors import BusyError, RemoteError
from vault_memory.store import embedding_rows
from vault_memory.store.embedding_rows import PROBE_KEY, Space, all_spaces
from vault_memory.store.vectors import cosine, scaled
from vault_memory.store.view import ALL, IndexConnection, Store, View

if TYPE_CHECKING:
    from vault_memory.embedding.model_clients import CoolDown, ModelServer

TEXT_VERSION = 1
"""Version of the text embedded for a passage (store/embedding_rows.py); raising it starts a new vector space."""

PROBE = "The quick brown fox jumps over the lazy dog."
"""A text whose vector shows whether a model is still the same; its name does not (`ollama pull`)."""

RECOGNISED_SECONDS = 300.0
"""How long a process assumes that a model is unchanged before a query checks again."""

SHORTER = 0.75
"""The share kept, at each retry, of a text that the server finds too long."""

SHORTEST_CHARACTERS = 16

_AT_FAULT = ("refused", "unusable")
"""Kinds of errors that fewer or shorter texts may avoid."""

_STEPS = 1 << 20


class TextVector(NamedTuple):
    """A model's result for one text: an int8 vector padded to a multiple of 8, or None if it is unusable."""

    vector: bytes | None
    dimensions: int = 0
    """Length of the vector without the padding."""
    cut: bool = False
    """Whether the end of the text was cut off."""
    refused: RemoteError | None = None
    """Why the server rejected the text at any length."""


Ask = Callable[[Sequence[str]], list[list[float]]]


class RemoteEmbedder:
    """One configured embedder. `sleep` and `clock` can be replaced in tests."""

    def __init__(
        self, config: Config, environ: Mapping[str, str] | None = None, sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._config, self._sleep, self._clock = config, sleep, clock
        self._environ = os.environ if environ is None else environ
        self.endpoint = embedding_endpoint(config, self._environ)
        self.where = self.endpoint.where
        self._query_prefix, self._document_prefix = usual_prefixes(self.endpoint.model)
        self._context_tokens = 0
        self.batch = config.embedding_batch
        self._probe: tuple[float, bytes | None] = (-math.inf, None)
        """When a query last sent `PROBE` along, and the vector it got."""

    @property
    def id(self) -> str:
        """Name of the vector space: provider, model and TEXT_VERSION, without the address."""
        return f"{self.endpoint.name}@{TEXT_VERSION}"

    @cached_property
    def _patient(self) -> "ModelServer":
        return self._server(self._config.embedding_timeout_seconds)

    @cached_property
    def _quick(self) -> "ModelServer":
        return self._server(self._config.embedding_query_deadline_seconds)

    @cached_property
    def _cool_down(self) -> "CoolDown":
        from vault_memory.embedding.model_clients import CoolDown

        return CoolDown(self._clock)

    def _server(self, seconds: float) -> "ModelServer":
        from vault_memory.embedding.model_clients import server_of

        key = self.endpoint.key(self._environ)
        return server_of(self.endpoint, key, seconds, self._config.embedding_keep_alive)

    def find_model(self) -> int | None:
        """The model's context length in tokens, if known; raises RemoteError if server, model or key is missing."""
        from vault_memory.embedding.model_clients import retry

        reads = retry(self._patient.find_model, self._sleep)
        self._context_tokens = reads or 0
        return reads

    def close(self) -> None:
        """Close the connections."""
        for name in ("_patient", "_quick"):
            if server := self.__dict__.pop(name, None):
                server.close()

    # --- passages ------------------------------------------------------------------------------------------------

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        """Embed passages, in order, with retries while the server is busy; raises RemoteError."""
        from vault_memory.embedding.model_clients import retry

        def ask(some: Sequence[str]) -> list[list[float]]:
            return retry(lambda: self._patient.embed(some), self._sleep)

        fitted = [fit(self._document_prefix + text, self._context_tokens) for text in texts]
        found = self._vectors(ask, [text for text, _ in fitted], len(self._document_prefix))
        if len({one.dimensions for one in found if one.dimensions}) > 1:
            raise RemoteError(f"{self.where} gave vectors of several lengths at once", "Is it one server?")
        return [one._replace(cut=cut or one.cut) for one, (_, cut) in zip(found, fitted, strict=True)]

    def probe(self) -> bytes:
        """The vector of `PROBE`, which identifies the model; raises RemoteError if the model has none."""
        (made,) = self.embed([PROBE])
        if made.vector is None:
            said = f"{self.where} gives no usable vectors with {self.endpoint.model}"
            raise made.refused or RemoteError(said, "Pull the model again, or use another.")
        return made.vector

    def _vectors(self, ask: Ask, texts: Sequence[str], prefix: int) -> list[TextVector]:
        """Embed a batch; if it is refused, retry its halves until the text at fault is isolated.

        That text is shortened step by step, never below its first `prefix` characters, and given up if that does not
        help. If no single text was at fault, the batch was too large, and later ones are smaller.
        """
        try:
            found = ask(texts)
        except RemoteError as error:
            if error.kind not in _AT_FAULT:
                raise
            if len(texts) == 1:
                shorter = texts[0][: max(int(len(texts[0]) * SHORTER), prefix + SHORTEST_CHARACTERS)]
                if error.kind == "unusable" or shorter == texts[0]:
                    return [TextVector(None, refused=None if error.kind == "unusable" else error)]
                (one,) = self._vectors(ask, [shorter], prefix)
                return [one._replace(cut=one.vector is not None)]
            middle = len(texts) // 2
            halves = self._vectors(ask, texts[:middle], prefix) + self._vectors(ask, texts[middle:], prefix)
            if not any(one.cut or one.refused or not one.dimensions for one in halves):
                self.batch = min(self.batch, middle)
            return halves
        if len(found) != len(texts):
            raise RemoteError(f"the server gave {len(found)} vectors for {len(texts)} texts", "Is it the right server?")
        return [TextVector(quantised(floats), len(floats)) for floats in found]

    # --- queries -------------------------------------------------------------------------------------------------

    def query(self, text: str) -> tuple[TextVector, bytes | None]:
        """Embed a query within the deadline; raises RemoteError if that passes, or during the server's cool-down.

        Also returns the vector of `PROBE`, which is sent along every `RECOGNISED_SECONDS`.
        """
        prompts = [self._query_prefix + text]
        if self._clock() >= self._probe[0] + RECOGNISED_SECONDS:
            prompts.append(self._document_prefix + PROBE)

        def ask() -> list[TextVector]:
            found = self._vectors(self._quick.embed, prompts, len(self._query_prefix))
            if found[0].refused:
                raise found[0].refused
            return found

        found = self._cool_down.ask(self._config.embedding_query_deadline_seconds, self._quick, ask)
        if len(prompts) > 1:
            self._probe = (self._clock(), found[1].vector)
        return found[0], self._probe[1]


def fit(text: str, context_tokens: int) -> tuple[str, bool]:
    """Truncate a text to a rough estimate of the model's context; returns it and whether it was cut. 0 means no limit.

    Estimates three ASCII characters per token, one of any other script; if that is too long, the server refuses it.
    """
    if not context_tokens or len(text) <= context_tokens:
        return text, False
    plain = sum(character.isascii() for character in text)
    estimate = plain / 3 + len(text) - plain
    if estimate <= context_tokens:
        return text, False
    return text[: int(len(text) * context_tokens / estimate)], True


def quantised(floats: Sequence[float] | None) -> bytes | None:
    """Scale floats to an int8 vector by their largest component, padded to a multiple of 8.

    Returns None for a vector that is empty, zero or not finite; raises RemoteError if the values are not numbers.
    """
    try:
        if not floats or not all(math.isfinite(x) for x in floats):
            return None
    except (TypeError, OverflowError):
        raise RemoteError("the server gave vectors that are not made of numbers", "Is it the right one?") from None
    peak = max(map(abs, floats))
    if not peak:
        return None
    return scaled([round(x / peak * _STEPS) for x in floats] + [0] * (-len(floats) % 8))


# --- vectors in an index ---------------------------------------------------------------------------------------------

Progress = Callable[[int, int, int], None]
"""Called with passages done, passages in total, and passages embedded by this run."""

Lock = Callable[[], AbstractContextManager[None]]

MIN_COVERAGE = 0.95
"""Minimum share of passages with vectors for a space to answer queries; below it the builtin vectors cover more."""

SAME_MODEL_COSINE = 0.98
"""Below this cosine two vectors of the same text are from different models; other hardware or another batch changes the
cosine by far less."""

AFTER_MODEL_CHANGE = "`memory doctor --fix` deletes the old vectors, then `memory index` makes new ones."


def model_change(store: IndexConnection, space: Space, where: str, vector: bytes, probe: bytes | None) -> str:
    """How the model at `where` differs from that of `space`, judged by a `vector` and the vector of `PROBE`, or ""."""
    for found in (vector, probe or vector):
        if len(found) != space.width:
            has = f"the index has {space.dimensions} for {space.name}"
            return f"the model has changed: {where} gives {len(found)} dimensions, and {has}"
    known = store.meta(PROBE_KEY + space.name)
    if probe and known and cosine(probe, bytes.fromhex(str(known))) < SAME_MODEL_COSINE:
        return f"the model has changed: {where} gives other vectors for {space.name} than before"
    return ""


def recognise(store: Store, remote: RemoteEmbedder) -> str:
    """How the server's model differs from the one that made the index's vectors, or ""; raises RemoteError."""
    space = all_spaces(store).get(remote.id)
    vector = remote.probe()
    changed = model_change(store, space, remote.where, vector, vector) if space else ""
    if not changed and (space is None or not store.meta(PROBE_KEY + remote.id)):
        with store.writing():
            store.set_meta(PROBE_KEY + remote.id, vector.hex())
    return changed


def configured_vector(
    view: View, remote: RemoteEmbedder, text: str, degraded: list[tuple[str, str]]
) -> tuple[Space, bytes] | None:
    """The space of the configured embedder and the query's vector in it, or None; problems go into `degraded`."""
    space, total = all_spaces(view).get(remote.id), view.totals().passages
    done, without = embedding_rows.count_placed(view, space) if space else (0, 0)
    of_all = f"of {total:,} passages"
    if space is None or done < MIN_COVERAGE * (total - without):
        has = f"{remote.id} has vectors for {done:,} {of_all}"
        degraded.append(("semantic", f"{has}; used the builtin vectors; `memory index` makes the rest"))
        return None
    try:
        found, probe = remote.query(text)
        if found.vector is None:
            raise RemoteError(f"{remote.id} has no usable vector for this question")
        if changed := model_change(view, space, remote.where, found.vector, probe):
            raise RemoteError(f"{changed} (`memory doctor` says what to do)")
    except RemoteError as error:
        degraded.append(("semantic", f"{error}; used the builtin vectors"))
        return None
    if waiting := total - done - without:
        degraded.append(("semantic", f"{waiting:,} {of_all} still wait for {remote.id}"))
    if without > (1 - MIN_COVERAGE) * total:
        lacks = f"{remote.id} has no usable vector for {without:,} {of_all}"
        degraded.append(("semantic", f"{lacks}: they are found by words only"))
    return space, found.vector


@dataclass
class BackfillReport:
    """What one run did, in passages, and the state of the space after it."""

    embedder: str
    passages: int = 0
    done: int = 0
    embedded: int = 0
    from_cache: int = 0
    cut: int = 0
    """Texts longer than the model's context, embedded without their end."""
    unusable: int = 0
    """Texts found in this run to have no usable vector (not a number, all zero, refused)."""
    without: int = 0
    """All passages with such a text; they are not requested again."""
    removed: int = 0
    """Vectors deleted because no passage has their text any more."""
    stopped: str | None = None
    """Why the run ended before all was done."""
    next_step: str = ""

    @property
    def waiting(self) -> int:
        return self.passages - self.done - self.without


class Backfill:
    """Adds the missing vectors of one configured embedder to one store."""

    def __init__(self, store: Store, remote: RemoteEmbedder, lock: Lock) -> None:
        self._store, self._remote, self._lock = store, remote, lock
        self._report = BackfillReport(remote.id)

    def run(self, progress: Progress | None = None) -> BackfillReport:
        """Embed the waiting passages; RemoteError and BusyError end up in the report."""
        report = self._report
        try:
            self._count()
            if report.waiting:  # else send nothing: a large model loads slowly, and queries check it themselves
                self._remote.find_model()
                if changed := recognise(self._store, self._remote):
                    raise RemoteError(changed, AFTER_MODEL_CHANGE)
            texts = embedding_rows.waiting_texts(self._store, self._space) if report.waiting else iter(())
            while batch := list(islice(texts, self._remote.batch)):
                self._embed(batch)
                if progress:
                    progress(min(report.done, report.passages), report.passages, report.embedded)
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
        """Report the state while another process makes the vectors; does nothing else."""
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
        """Make the vectors that a batch lacks (an earlier batch may share texts), and assign them to its passages."""
        report, store, space = self._report, self._store, self._space
        known = embedding_rows.embedding_ids(store, space, [key for _, key, _ in batch]) if space else {}
        new = {key: text for _, key, text in batch if key not in known}
        made = dict(zip(new, self._remote.embed(list(new.values())) if new else (), strict=True))
        good = {key: one.vector for key, one in made.items() if one.vector is not None}
        bad = made.keys() - good.keys()
        with self._lock(), store.writing():
            if good:  # the first vectors create the space
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
