"""Owns the conversations with model servers over HTTP: Ollama's protocol and OpenAI's embeddings.

Every failure leaves as a RemoteError: a sentence, the next step, and whether another try may help. No key and no
password is ever part of one. It knows nothing of prefixes, vectors or the index. `ollama` (320 ms) and `httpx`
(130 ms) are imported when a server is first asked.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.embedding.known import Address, Endpoint
from vault_memory.errors import RemoteError

if TYPE_CHECKING:
    import httpx
    import ollama

BUSY = (408, 425, 429)
"""Statuses that mean "later", besides all from 500 on."""

REFUSED = (400, 413, 422)
"""Statuses that mean, with whatever words, that this very request will not do: too many texts, or too long a one."""

LONGEST_WAIT_SECONDS = 30.0

_TOO_LONG = re.compile(
    r"(?:context|model) length|context (?:size|window)|maximum .*(?:length|tokens)"
    r"|(?:input|prompt|text) .*(?:too long|too large|exceed)", re.I,
)  # fmt: skip
_NO_NUMBER = re.compile(r"\bnan\b|\binf\b|unsupported value", re.I)


class Found(NamedTuple):
    """What a server says of itself and its model; None where it does not say."""

    version: str | None = None
    context_tokens: int | None = None
    digest: str | None = None
    """Of the model's content."""


class Spoken(NamedTuple):
    """How a server is spoken of in errors, and what must never be in one."""

    where: str
    model: str
    seconds: float
    pull: str
    """What to do when the model is not there."""
    start: str
    """What to do when the server is not there."""
    secrets: tuple[str, ...] = ()

    def plain(self, text: object) -> str:
        """What a server said, on one short line and without secrets (it may repeat the key it refuses)."""
        line = " ".join(str(text).split())
        for secret in self.secrets:
            line = line.replace(secret, "…")
        return line[:200]


class OllamaServer:
    """Ollama, through its own Python package."""

    def __init__(
        self, address: Address, model: str, seconds: float, keep_alive: str = "", key: str = "", setting: str = ""
    ) -> None:
        self._model, self._keep_alive, self._address = model, keep_alive, address
        self._seconds, self._key = seconds, key
        other = f' or set `{setting}.provider = "{"builtin" if setting == "embedding" else "off"}"`' if setting else ""
        self.spoken = Spoken(
            f"ollama at {address.shown}", model, seconds, f"Get it with `ollama pull {model}`{other}.",
            f"Start it with `ollama serve`, check `{setting}.url` and $OLLAMA_HOST,{other}.",
            secrets(address, key),
        )  # fmt: skip
        self._made: ollama.Client | None = None

    @property
    def _client(self) -> "ollama.Client":
        if self._made is None:
            self._made = ollama_client(self._address, self._key, timeout=self._seconds)
        return self._made

    def ready(self) -> None:
        """Import what is slow now, so that no deadline pays for it."""
        _ = self._client

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        with mapped(self.spoken):
            # Without `truncate=False` a text longer than the context would be cut without a word.
            answer = self._client.embed(
                self._model, list(texts), truncate=False, keep_alive=_duration(self._keep_alive)
            )
            return [list(vector) for vector in answer.embeddings]

    def look(self) -> Found:
        with mapped(self.spoken):
            info = self._client.show(self._model).modelinfo or {}
            lengths = [value for key, value in info.items() if key.endswith(".context_length")]
            return Found(None, int(lengths[0]) if lengths else None, self._digest())

    def _digest(self) -> str | None:
        name = self._model if ":" in self._model.rpartition("/")[2] else f"{self._model}:latest"
        with suppress(RemoteError), mapped(self.spoken):  # what stands in for Ollama may not list its models
            return next((found.digest for found in self._client.list().models if found.model == name), None)
        return None

    def chat(self, messages: Sequence[Mapping[str, str]], form: Mapping[str, Any]) -> str:
        """What the model answers, held to a JSON schema; raises RemoteError."""
        with mapped(self.spoken):
            answer = self._client.chat(
                self._model, list(messages), format=dict(form), stream=False, options={"temperature": 0, "seed": 0},
            )  # fmt: skip
            return answer.message.content or ""

    def close(self) -> None:
        if self._made is not None:
            self._made.close()  # type: ignore[no-untyped-call]
            self._made = None


def ollama_client(address: Address, key: str, **more: Any) -> "ollama.Client":  # noqa: ANN401 - as httpx takes it
    """A client of Ollama's package; `more` goes to the httpx client in it."""
    try:
        import ollama
    except ImportError as error:
        raise RemoteError(f"the package ollama is missing ({error})", "Install it: pip install ollama") from None
    return ollama.Client(host=address.url, headers=bearer(key), **connection(address), **more)


class OpenAIServer:
    """Any server that offers `POST …/embeddings` as OpenAI does."""

    def __init__(self, endpoint: Endpoint, seconds: float, key: str = "") -> None:
        self._endpoint, self._seconds, self._key = endpoint, seconds, key
        self.spoken = Spoken(
            endpoint.where, endpoint.model, seconds, "Check `embedding.model` and `embedding.url`.",
            'Check `embedding.url`, or set `embedding.provider = "builtin"`.', secrets(endpoint.address, key),
        )  # fmt: skip
        self._made: httpx.Client | None = None

    @property
    def _client(self) -> "httpx.Client":
        if self._made is None:
            import httpx

            address = self._endpoint.address
            self._made = httpx.Client(timeout=self._seconds, headers=bearer(self._key), **connection(address))
        return self._made

    def ready(self) -> None:
        """Import what is slow now, so that no deadline pays for it."""
        _ = self._client

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        to = self._endpoint.address
        url = f"{to.url.removesuffix('/embeddings')}/embeddings" + (f"?{to.query}" if to.query else "")
        body = {"model": self._endpoint.model, "input": list(texts), "encoding_format": "float"}
        with mapped(self.spoken):
            answer = self._client.post(url, json=body)
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
            return [list(row["embedding"]) for row in rows]

    def look(self) -> Found:
        """Embed a word: not every such server lists its models."""
        self.embed(["memory"])
        return Found()

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
            self._made = None


@contextmanager
def mapped(spoken: Spoken) -> Iterator[None]:
    """Turn whatever a client raises into a RemoteError."""
    import httpx

    def error(what: str, step: str, kind: str = "wrong") -> RemoteError:
        return RemoteError(f"{spoken.where} {what}", step, kind)

    # What was raised is not chained (`from None`): a traceback would print requests with their headers.
    try:
        yield
    except RemoteError:
        raise
    except httpx.TimeoutException as failed:
        kind = "slow" if isinstance(failed, httpx.ReadTimeout) else "away"
        raise error(f"did not answer in {spoken.seconds:g} s", "Give it more time in your settings.", kind) from None
    except (httpx.ConnectError, ConnectionError):
        raise error("is not there", spoken.start, "away") from None
    except httpx.HTTPStatusError as failed:
        raise _refused(spoken, failed.response.status_code, failed.response.text, _wait(failed.response)) from None
    except _of_ollama() as failed:
        raise _refused(spoken, failed.status_code, str(failed.error)) from None
    except httpx.TransportError as failed:
        raise error(f"broke off ({spoken.plain(failed) or type(failed).__name__})", spoken.start, "away") from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as failed:
        raise error(f"cannot be asked ({spoken.plain(failed)})", spoken.start) from None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise error("answered with something that cannot be read", "Is this the right address for it?") from None


def _of_ollama() -> "tuple[type[ollama.ResponseError], ...]":
    """Ollama's own error, where its package was imported at all."""
    module = sys.modules.get("ollama")
    return (module.ResponseError,) if module else ()


def _refused(spoken: Spoken, status: int, text: str, wait_seconds: float = 0.0) -> RemoteError:
    """The error for an HTTP status that is not 200."""
    if 300 <= status < 400:
        elsewhere = f"{spoken.where} sends elsewhere ({status}), and no redirect is followed"
        return RemoteError(elsewhere, "Name the address of the server itself.")
    told = spoken.plain(text)
    said = f"{spoken.where} answered {status}" + (f": {told}" if told else "")
    if status >= 400 and _TOO_LONG.search(text):
        return RemoteError(said, "Shorten the text.", "long")
    if status >= 400 and _NO_NUMBER.search(text):
        return RemoteError(said, "Pull the model again, or use another.", "unusable")
    if status == 404:
        return RemoteError(f"{spoken.where} has no model {spoken.model}", spoken.pull)
    if status in (401, 403):
        return RemoteError(
            f"{spoken.where} refuses the key ({status})", "Check `key_env` and what that variable holds."
        )
    if status in BUSY or status >= 500:
        return RemoteError(said, "It is busy or unwell: try again later.", "away", wait_seconds)
    return RemoteError(said, "Check the settings of the model.", "refused" if status in REFUSED else "wrong")


def _wait(response: "httpx.Response") -> float:
    """Seconds the server wants to be left alone, within reason."""
    text = response.headers.get("retry-after", "")
    return min(float(text), LONGEST_WAIT_SECONDS) if re.fullmatch(r"\d+(\.\d+)?", text) else 0.0


def bearer(key: str) -> dict[str, str]:
    """The header that carries a key; none without one."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def connection(address: Address) -> dict[str, Any]:
    """No redirect is followed (it could carry notes and key elsewhere); no proxy stands before this computer."""
    return {
        "follow_redirects": False,
        "auth": address.credentials,
        "trust_env": not address.is_local,
        "verify": address.url.startswith("https:"),  # reading the certificates costs 20 ms; plain HTTP has none
    }


def secrets(address: Address, key: str) -> tuple[str, ...]:
    """What of an address and a key must be in no error."""
    password = address.credentials[1] if address.credentials else ""
    return tuple(secret for secret in (key, password) if secret)


def _duration(text: str) -> float | str | None:
    """Ollama takes seconds as a number, anything else as a text such as `30m`."""
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else text or None
