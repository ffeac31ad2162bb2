"""Embeds with the configured model: batches, texts that are too long, retries, deadlines, and checks of what came.

What a server gives is checked first: as many vectors as texts, one dimension, only
finite numbers, not all zero. A text longer than the model reads is cut here and counted.
"""

import hashlib
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.config import Config
from vault_memory.embedding.endpoints import embedding_endpoint, usual_prefixes
from vault_memory.errors import RemoteError
from vault_memory.store.vectors import scaled

if TYPE_CHECKING:
    from vault_memory.embedding.model_clients import CoolDown, ModelServer

TEXT_VERSION = 1
"""What is embedded for a passage (store/embedding_rows.py). Raise it when that changes: it makes a new vector space."""

PROBE = "The quick brown fox jumps over the lazy dog."
"""A text whose vector tells whether a model is still the same: its name does not (`ollama pull`)."""

RECOGNISED_SECONDS = 300.0
"""How long a process trusts that a model is still the same before a question looks again."""

SHORTER = 0.75
"""The share kept of a text that the server found too long, and again of that."""

SHORTEST_CHARACTERS = 16

_AT_FAULT = ("long", "refused", "unusable")
"""Kinds of errors that fewer or shorter texts may help against."""

_STEPS = 1 << 20


class TextVector(NamedTuple):
    """What a model gave for one text: an int8 vector padded to a multiple of 8, or None where it has none for it."""

    vector: bytes | None
    dimensions: int = 0
    """Of the vector, without the padding."""
    cut: bool = False
    """Whether the end of the text was cut off."""
    refused: RemoteError | None = None
    """Why the server took the text in no length."""


Ask = Callable[[Sequence[str]], list[list[float]]]


class RemoteEmbedder:
    """One configured embedder. `sleep` and `clock` are for whoever counts the seconds differently."""

    def __init__(
        self, config: Config, environ: Mapping[str, str] | None = None, sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._config, self._sleep, self._clock = config, sleep, clock
        self._environ = os.environ if environ is None else environ
        self.endpoint = embedding_endpoint(config, self._environ)
        self.where = self.endpoint.where
        query, document = usual_prefixes(self.endpoint.model)
        own = config.embedding_query_prefix, config.embedding_document_prefix
        self._query_prefix = query if own[0] is None else own[0]
        self._document_prefix = document if own[1] is None else own[1]
        self._context_tokens = config.embedding_context_tokens
        self.batch = config.embedding_batch
        self._probe: tuple[float, bytes | None] = (-math.inf, None)
        """When a question last took `PROBE` along, and the vector it got."""

    @property
    def id(self) -> str:
        """Name of the vector space: provider, model, and what is embedded; no address, no credentials."""
        prefix = self._document_prefix
        own = hashlib.blake2b(prefix.encode(), digest_size=4).hexdigest()
        is_usual = prefix == usual_prefixes(self.endpoint.model)[1]
        return f"{self.endpoint.name}@{TEXT_VERSION}" + ("" if is_usual else f"-{own}")

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
        """How many tokens the model reads, if known; raises RemoteError unless server, model and key are there."""
        from vault_memory.embedding.model_clients import retry

        reads = retry(self._patient.find_model, self._sleep)
        self._context_tokens = self._config.embedding_context_tokens or reads or 0
        return reads

    def close(self) -> None:
        """Let the connections go."""
        for name in ("_patient", "_quick"):
            if server := self.__dict__.pop(name, None):
                server.close()

    # --- passages ------------------------------------------------------------------------------------------------

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        """Embed passages, in order, trying again while that may help; raises RemoteError when it does not."""
        from vault_memory.embedding.model_clients import retry

        def ask(some: Sequence[str]) -> list[list[float]]:
            return retry(lambda: self._patient.embed(some), self._sleep)

        fitted = [fit(self._document_prefix + text, self._context_tokens) for text in texts]
        found = self._vectors(ask, [text for text, _ in fitted], len(self._document_prefix), may_halve=True)
        if all(one.refused for one in found):  # even a plain word? Then the server is at fault, not the texts.
            (word,) = self._vectors(ask, [self._document_prefix + "memory"], len(self._document_prefix))
            if word.refused:
                raise word.refused
        sizes = sorted({one.dimensions for one in found if one.dimensions})
        if len(sizes) > 1:
            raise RemoteError(
                f"{self.where} gave vectors of {sizes[0]} and of {sizes[-1]} dimensions at once",
                "Does the address lead to several servers? Name one of them.",
            )
        return [one._replace(cut=cut or one.cut) for one, (_, cut) in zip(found, fitted, strict=True)]

    def probe(self) -> bytes:
        """The vector of the text that tells models apart; raises RemoteError where the model has none."""
        (made,) = self.embed([PROBE])
        if made.vector is None:
            raise self.useless()
        return made.vector

    def useless(self) -> RemoteError:
        """The error of a model that has no vector even for plain sentences."""
        said = f"{self.where} gives no usable vectors with {self.endpoint.model}"
        return RemoteError(said, "Pull the model again, or use another.")

    def _vectors(self, ask: Ask, texts: Sequence[str], prefix: int, may_halve: bool = False) -> list[TextVector]:
        """Ask for a batch; one that is refused is asked for in halves, until the text at fault is alone.

        That one is cut, but not in its first `prefix` characters, and given up when that does not help either.
        With `may_halve` a batch that takes too long is halved as well. Later batches are smaller after one that was
        too long, or that was refused though no text of it is at fault.
        """
        try:
            found = ask(texts)
        except RemoteError as error:
            is_slow = error.kind == "slow" and may_halve and len(texts) > 1
            if error.kind not in _AT_FAULT and not is_slow:
                raise
            if len(texts) == 1:
                return [_shortened(ask, texts[0], error, prefix + SHORTEST_CHARACTERS)]
            middle = len(texts) // 2
            if is_slow:
                self.batch = min(self.batch, middle)
            halves = self._vectors(ask, texts[:middle], prefix, may_halve)
            halves += self._vectors(ask, texts[middle:], prefix, may_halve)
            if not any(one.cut or one.refused or not one.dimensions for one in halves):
                self.batch = min(self.batch, middle)
            return halves
        if len(found) != len(texts):
            raise RemoteError(f"the server gave {len(found)} vectors for {len(texts)} texts", "Is it the right server?")
        return [TextVector(quantised(floats), len(floats)) for floats in found]

    # --- questions -----------------------------------------------------------------------------------------------

    def query(self, text: str) -> tuple[TextVector, bytes | None]:
        """Embed a question within the deadline; raises RemoteError when it passes, or while the server cools down.

        Beside it comes the vector of `PROBE`, which goes along every `RECOGNISED_SECONDS`.
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


def _shortened(ask: Ask, text: str, refused: RemoteError, shortest: int) -> TextVector:
    """The vector of a text that was refused, cut step by step."""
    while refused.kind != "unusable" and len(text) > shortest:
        text = text[: max(int(len(text) * SHORTER), shortest)]
        try:
            (floats,) = ask([text])
            return TextVector(quantised(floats), len(floats), cut=True)
        except RemoteError as error:
            if error.kind not in _AT_FAULT:
                raise
            refused = error
    return TextVector(None, refused=None if refused.kind == "unusable" else refused)


def fit(text: str, context_tokens: int) -> tuple[str, bool]:
    """A text cut to what a model surely does not read, and whether it was; with 0 tokens nothing is cut.

    Three characters of ASCII a token, one of any other script: where that cuts too little the server refuses the text.
    """
    if not context_tokens or len(text) <= context_tokens:
        return text, False
    plain = sum(character.isascii() for character in text)
    estimate = plain / 3 + len(text) - plain
    if estimate <= context_tokens:
        return text, False
    return text[: int(len(text) * context_tokens / estimate)], True


def quantised(floats: Sequence[float] | None) -> bytes | None:
    """An int8 vector scaled to its largest component and padded to a multiple of 8; None for what has no direction.

    Raises RemoteError for something other than numbers.
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
