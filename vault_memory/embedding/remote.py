"""Owns the configured embedder: texts in, int8 vectors of its space out, with batches, retries, deadlines and checks.

It knows servers (wire.py) but no index. What a server gives is checked before anybody sees it: as many vectors as
texts, one dimension, only finite numbers, not all zero. A text longer than the model reads is cut here and counted.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

from vault_memory.config import Config
from vault_memory.embedding.http import Found, OllamaServer, OpenAIServer
from vault_memory.embedding.known import PROBE, Endpoint, endpoint
from vault_memory.errors import RemoteError
from vault_memory.store.vectors import scaled

T = TypeVar("T")

WAITS_SECONDS = (0.5, 1.0, 2.0)
"""Between the tries of one batch; a server that asks for more time gets it. A question is never asked twice."""

RECOGNISED_SECONDS = 300.0
"""So long a model that was seen to be the one it was is not looked at again by later questions of one process."""

COOL_DOWN_SECONDS = 30.0
"""So long a server that failed a question is not asked the next ones."""

SHORTER = 0.75
"""What is kept of a text that the server found too long, and again of that."""

SHORTEST_CHARACTERS = 16

_STEPS = 1 << 20


class Embedded(NamedTuple):
    """One text's vector, padded to a multiple of 8 components; None where the model has none for it."""

    vector: bytes | None
    cut: bool = False


class Asked(NamedTuple):
    """A question's vector, and the one of `PROBE` that the same server gave at most `RECOGNISED_SECONDS` ago."""

    vector: bytes | None
    cut: bool
    probe: bytes | None


class Batch(NamedTuple):
    """Vectors of a batch of texts, in order, and the dimension of their space (0 when there is not one vector)."""

    vectors: Sequence[Embedded]
    dimensions: int


class Answered(NamedTuple):
    """What a server gave for one text: None where the model has no vector for it, or refused it however short."""

    floats: list[float] | None
    cut: bool = False
    refused: RemoteError | None = None


Ask = Callable[[Sequence[str]], list[list[float]]]


class Remote:
    """One configured embedder. `sleep` and `clock` are for whoever counts the seconds differently."""

    def __init__(
        self, to: Endpoint, environ: Mapping[str, str] | None = None, sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.endpoint = to
        self._environ = os.environ if environ is None else environ
        self._sleep, self._clock = sleep, clock
        self._context_tokens = to.context_tokens
        self.batch = to.batch
        self._quiet: tuple[float, RemoteError] | None = None
        self._probed: tuple[float, bytes | None] = (-math.inf, None)

    @property
    def id(self) -> str:
        """Name of the vector space."""
        return self.endpoint.space

    @property
    def where(self) -> str:
        return self.endpoint.where

    # --- servers -------------------------------------------------------------------------------------------------

    @cached_property
    def _patient(self) -> OllamaServer | OpenAIServer:
        return self._server(self.endpoint.timeout_seconds)

    @cached_property
    def _quick(self) -> OllamaServer | OpenAIServer:
        return self._server(self.endpoint.deadline_seconds)

    def _server(self, seconds: float) -> OllamaServer | OpenAIServer:
        to = self.endpoint
        if to.provider == "openai":
            return OpenAIServer(to, seconds, self._key())
        key = self._key() or self._environ.get("OLLAMA_API_KEY", "")
        return OllamaServer(to.address, to.model, seconds, to.keep_alive, key, "embedding")

    def _key(self) -> str:
        name = self.endpoint.key_env
        key = self._environ.get(name, "").strip() if name else ""
        if name and not key:
            raise RemoteError(f"${name}, which should hold the key of {self.where}, is not set", f"Set ${name}.")
        return key

    def look(self) -> Found:
        """Whether server, model and key are there, without waiting long for them; raises RemoteError."""
        found = self._patient.look()
        self._context_tokens = self.endpoint.context_tokens or found.context_tokens or 0
        return found

    def close(self) -> None:
        """Let the connections go."""
        for name in ("_patient", "_quick"):
            if server := self.__dict__.pop(name, None):
                server.close()

    # --- passages ------------------------------------------------------------------------------------------------

    def embed(self, texts: Sequence[str]) -> Batch:
        """Embed passages, trying again while that may help; raises RemoteError when it does not."""
        prefix = self.endpoint.document_prefix
        fitted = [fitting(prefix + text, self._context_tokens) for text in texts]
        asked = self._asked([text for text, _ in fitted])
        if all(answer.refused for answer in asked):
            self._answers_at_all()
        raw = [Embedded(quantised(one.floats), cut or one.cut) for one, (_, cut) in zip(asked, fitted, strict=True)]
        return Batch(raw, _dimension([one.floats for one in asked], self.where))

    def _asked(self, texts: Sequence[str]) -> "list[Answered]":
        """Ask for a batch; where it is refused or takes too long, for its halves, and so on.

        Where every text went through in the end, the number of them was at fault: later batches are smaller.
        """
        try:
            return _each(self._again, texts, self._note_batch, self.endpoint.document_prefix)
        except RemoteError as error:
            if error.kind != "slow" or len(texts) < 2:
                raise
        middle = len(texts) // 2
        self._note_batch(middle)
        return self._asked(texts[:middle]) + self._asked(texts[middle:])

    def _note_batch(self, size: int) -> None:
        self.batch = max(min(self.batch, size), 1)

    def _answers_at_all(self) -> None:
        """Raise RemoteError where even a plain word is refused: then the server is at fault, not the texts."""
        (answer,) = _each(self._again, ["memory"], self._note_batch, "")
        if answer.refused:
            raise answer.refused

    def _again(self, texts: Sequence[str]) -> list[list[float]]:
        for wait in WAITS_SECONDS:
            try:
                return self._patient.embed(texts)
            except RemoteError as error:
                if error.kind != "away":
                    raise
                self._sleep(max(wait, error.wait_seconds))
        return self._patient.embed(texts)

    def probe(self) -> bytes:
        """The vector of the text that tells models apart; raises RemoteError where the model has none."""
        (made,) = self.embed([PROBE]).vectors
        if made.vector is None:
            raise self.useless()
        return made.vector

    def useless(self) -> RemoteError:
        """The error of a model that has no vector even for plain sentences."""
        said = f"{self.where} gives no usable vectors with {self.endpoint.model}"
        return RemoteError(said, "Pull the model again, or use another.")

    # --- questions -----------------------------------------------------------------------------------------------

    def query(self, text: str) -> Asked:
        """Embed a question within the deadline; raises RemoteError when it passes, or while the server cools down.

        The text that tells whether the model is the one it was goes along now and then: no request of its own.
        """
        if self._quiet and self._clock() < self._quiet[0]:
            raise self._quiet[1]
        try:
            quick = self._quick
            quick.ready()
            prompts = [self.endpoint.query_prefix + text]
            if self._clock() >= self._probed[0] + RECOGNISED_SECONDS:
                prompts.append(self.endpoint.document_prefix + PROBE)
            ask = partial(_each, quick.embed, prompts, self._note_batch, self.endpoint.query_prefix)
            answers = within(self.endpoint.deadline_seconds, ask, f"{self.where} did not answer")
            if answers[0].refused:
                raise answers[0].refused
        except RemoteError as error:
            self._quiet = (self._clock() + COOL_DOWN_SECONDS, error)
            raise
        if len(prompts) > 1:
            self._probed = (self._clock(), quantised(answers[1].floats))
        return Asked(quantised(answers[0].floats), answers[0].cut, self._probed[1])


def configured(config: Config) -> Remote | None:
    """The embedder that the settings name, or None for the builtin one."""
    to = endpoint(config, os.environ)
    return Remote(to) if to else None


def within(seconds: float, call: Callable[[], T], what: str) -> T:
    """Call in a thread and wait so long for it; raises RemoteError when the time is over.

    A client's own timeouts bound each read, not the whole: a name that resolves slowly or an answer that trickles
    would pass them all. The thread is left to end by itself and keeps no process alive.
    """
    results: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # handed to whoever waits
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not results:
        raise RemoteError(f"{what} in {seconds:g} s", "Give it more time in your settings.", "away")
    return results[0]


def _each(ask: Ask, texts: Sequence[str], note_batch: Callable[[int], None], prefix: str) -> "list[Answered]":
    """Ask for a batch; one that is refused is asked for in halves until the text at fault is alone.

    That one is cut, and given up when that does not help either. `note_batch` is told of a size that went through
    where twice as many did not, though no text was at fault. Of `prefix` nothing is cut: it says nothing by itself.
    """
    try:
        found = ask(texts)
    except RemoteError as error:
        if error.kind not in ("long", "refused", "unusable"):
            raise
        if len(texts) == 1:
            return [_alone(ask, texts[0], error, len(prefix) + SHORTEST_CHARACTERS)]
        middle = len(texts) // 2
        answers = _each(ask, texts[:middle], note_batch, prefix) + _each(ask, texts[middle:], note_batch, prefix)
        if not any(answer.cut or answer.floats is None for answer in answers):
            note_batch(middle)
        return answers
    if len(found) != len(texts):
        raise RemoteError(f"the server gave {len(found)} vectors for {len(texts)} texts", "Is it the right server?")
    return [Answered(floats) for floats in found]


def _alone(ask: Ask, text: str, refused: RemoteError, shortest: int) -> "Answered":
    """The answer to one text that was refused: shortened step by step, else none."""
    while refused.kind != "unusable" and len(text) > shortest:
        text = text[: max(int(len(text) * SHORTER), shortest)]
        try:
            (floats,) = ask([text])
            return Answered(floats, cut=True)
        except RemoteError as error:
            if error.kind not in ("long", "refused", "unusable"):
                raise
            refused = error
    return Answered(None, refused=None if refused.kind == "unusable" else refused)


def fitting(text: str, context_tokens: int) -> tuple[str, bool]:
    """A text cut to what a model surely does not read, and whether it was; 0 tokens: not known, nothing is cut.

    Three characters of ASCII a token, one of any other script: an estimate that seldom cuts too much. Where it cuts
    too little the server refuses (it is told not to truncate), and the text is cut further.
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
        raise RemoteError("the server gave vectors of something else than numbers", "Is it the right one?") from None
    peak = max(map(abs, floats))
    if not peak:
        return None
    return scaled([round(x / peak * _STEPS) for x in floats] + [0] * (-len(floats) % 8))


def _dimension(rows: Sequence[Sequence[float] | None], where: str) -> int:
    sizes = sorted({len(row) for row in rows if row})
    if len(sizes) > 1:
        raise RemoteError(
            f"{where} gave vectors of {sizes[0]} and of {sizes[-1]} dimensions at once",
            "Does the address lead to several servers? Name one of them.",
        )
    return sizes[0] if sizes else 0
