"""Talks to model servers over HTTP: Ollama through its own client, OpenAI-compatible ones and Anthropic through httpx.

Every failure is raised as a RemoteError without the key. Import this lazily: httpx takes 130 ms, ollama 320 more.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

import httpx

from vault_memory.embedding.endpoints import Endpoint
from vault_memory.errors import RemoteError
from vault_memory.startup import start_thread

T = TypeVar("T")

RETRY_SECONDS = (0.5, 1.0, 2.0)
"""Delays before each retry; a server that asks for more time gets it."""

LONGEST_RETRY_SECONDS = 30.0

COOL_DOWN_SECONDS = 30.0
"""How long a server that failed a query is left alone."""

MAX_CHAT_BYTES = 64 * 1024
"""Maximum size of a response that is read: one of 582 kB once blocked a store for a week."""

MAX_CHAT_TOKENS = 3000
"""Maximum length of an answer, including reasoning before it."""

CONTEXT_TOKENS = 8192
"""The context size requested from Ollama, which by default silently truncates longer prompts."""

_BUSY = (408, 425, 429)
"""Statuses that mean "try later", besides all from 500 up."""
_REFUSED = (400, 413, 422)
"""Statuses that reject this particular request, regardless of the message: too many texts, or one too long."""
_TOO_LONG = re.compile(
    r"(?:context|model) length|context (?:size|window)|maximum .*(?:length|tokens)"
    r"|(?:input|prompt|text) .*(?:too long|too large|exceed)", re.I,
)  # fmt: skip
_NO_NUMBER = re.compile(r"\bnan\b|\binf\b|unsupported value", re.I)

MORE_TIME = "Give it more time in your settings."

Messages = Sequence[Mapping[str, str]]


def retry(
    ask: Callable[[], T], sleep: Callable[[float], None] = time.sleep, left: Callable[[], float] | None = None
) -> T:
    """Call `ask`, with retries while the server is busy, unless a delay would exceed the seconds `left`."""
    for delay in RETRY_SECONDS:
        try:
            return ask()
        except RemoteError as error:
            pause = max(delay, error.wait_seconds)
            if error.kind != "busy" or (left is not None and pause >= left()):
                raise
        sleep(pause)
    return ask()


def within(seconds: float, call: Callable[[], T], what: str) -> T:
    """Run `call` in a thread; raises RemoteError if it takes longer than `seconds`.

    A client's own timeouts bound each read, so a slow name lookup or a trickling response escapes them.
    """
    future = start_thread(call)
    if not wait([future], seconds).done:
        raise RemoteError(f"{what} in {seconds:g} s", MORE_TIME)
    return future.result()


class CoolDown:
    """Sends urgent requests to a server, and leaves it alone for a while after a failure."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failure: tuple[float, RemoteError] | None = None

    def ask(self, seconds: float, server: "ModelServer", call: Callable[[], T]) -> T:
        """Run `call` within `seconds`; raises RemoteError, and the same one again during the cool-down."""
        if self._failure and self._clock() < self._failure[0]:
            raise self._failure[1]
        try:
            server.connect()
            return within(seconds, call, f"{server.where} did not answer")
        except RemoteError as error:
            self._failure = (self._clock() + COOL_DOWN_SECONDS, error)
            raise


# --- servers ---------------------------------------------------------------------------------------------------------


class ModelServer:
    """One server with one model, speaking OpenAI's API; `seconds` bounds each part of a request."""

    optional: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "response_format": ("response_format", "json_schema"),
        "max_tokens": ("max_tokens",),
        "temperature": ("temperature",),
        "seed": ("seed",),
    }
    """Optional key of a request → words in an error response that refer to it."""
    shared: ClassVar[str] = ""
    """The start of a path that the configured address may already contain."""

    def __init__(self, to: Endpoint, key: str, seconds: float) -> None:
        self.endpoint, self.where = to, to.where
        self._key, self._seconds = key, seconds
        self._client: Any = None
        self._left_out: set[str] = set()
        self._if_away = f"Check `{to.setting}.url`, or {to.without_it}."
        self._if_no_model = f"Check `{to.setting}.model` and `{to.setting}.url`."

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, as the server returns them; raises RemoteError."""
        body = {"model": self.endpoint.model, "input": list(texts), "encoding_format": "float"}
        with self.errors():
            rows = sorted(self._post("/embeddings", body)["data"], key=lambda row: int(row["index"]))
            return [list(row["embedding"]) for row in rows]

    def chat(self, messages: Messages, form: Mapping[str, Any]) -> str:
        """The model's answer, which should be JSON of the schema `form`; raises RemoteError."""
        schema = {"name": "summary", "strict": True, "schema": dict(form)}
        body = {
            "model": self.endpoint.model, "messages": list(messages), "stream": False, "temperature": 0, "seed": 0,
            "max_tokens": MAX_CHAT_TOKENS, "response_format": {"type": "json_schema", "json_schema": schema},
        }  # fmt: skip
        with self.errors():
            answer = self._post("/chat/completions", body)
            return str(answer["choices"][0]["message"]["content"] or "")

    def chat_within(self, seconds: float, messages: Messages, form: Mapping[str, Any]) -> str:
        """Like `chat`, but raises RemoteError once `seconds` are over."""
        return within(seconds, lambda: self.chat(messages, form), f"{self.where} did not answer")

    def find_model(self) -> int | None:
        """The model's context length in tokens, if the server reports it; raises RemoteError if either is missing."""
        # Not every such server lists its models, so send a small request.
        if self.endpoint.setting == "embedding":
            self.embed(["memory"])
        else:
            form = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
            self.chat([{"role": "user", "content": "Are you there?"}], {**form, "additionalProperties": False})
        return None

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON comes
        """Send a request; if an optional key is rejected, resend without it, and leave it out from then on."""
        url = self._url(path)
        while True:
            sent = {key: value for key, value in body.items() if key not in self._left_out}
            answer = self.connect().post(url, json=sent)
            meant = {key for key in sent if any(word in answer.text for word in self.optional.get(key, ()))}
            if answer.status_code not in (400, 422) or not meant:
                break
            self._left_out |= meant
        answer.raise_for_status()
        return answer.json()

    def _url(self, path: str) -> str:
        to = self.endpoint.address
        return to.url.removesuffix(path).removesuffix(self.shared) + path + (f"?{to.query}" if to.query else "")

    def connect(self) -> Any:  # noqa: ANN401 - each server has another client
        """The HTTP client; the first call creates it and imports its package, outside any deadline."""
        if self._client is None:
            address, is_chat = self.endpoint.address, self.endpoint.setting != "embedding"
            self._client = self._new_client(
                timeout=self._seconds,
                headers=self._headers() | ({"Accept-Encoding": "identity"} if is_chat else {}),
                event_hooks={"response": [self._bound]} if is_chat else {},
                # A redirect could carry notes and key elsewhere; a local server must not be reached through a proxy.
                follow_redirects=False,
                trust_env=not address.is_local,
                verify=address.url.startswith("https:"),  # loading certificates costs 20 ms; plain HTTP needs none
            )
        return self._client

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def plain(self, text: object) -> str:
        """A server's message on one short line without secrets: it may echo the key that it rejects."""
        line = " ".join(str(text).split())
        return (line.replace(self._key, "…") if self._key else line)[:200]

    def _new_client(self, **settings: Any) -> Any:  # noqa: ANN401 - as httpx takes them
        return httpx.Client(**settings)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _bound(self, response: httpx.Response) -> None:
        response.stream = _BoundedStream(response.stream, self.where)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn any exception of a client into a RemoteError."""

        def error(what: str, step: str, kind: str = "wrong") -> RemoteError:
            return RemoteError(f"{self.where} {what}", step, kind)

        # The cause is not chained (`from None`): a traceback would print requests with their headers.
        try:
            yield
        except RemoteError:
            raise
        except httpx.TimeoutException:
            raise error(f"did not answer in {self._seconds:g} s", MORE_TIME) from None
        except (httpx.ConnectError, ConnectionError):
            raise error("cannot be reached", self._if_away) from None
        except httpx.HTTPStatusError as failed:
            asked_for = failed.response.headers.get("retry-after", "")
            delay = min(float(asked_for), LONGEST_RETRY_SECONDS) if re.fullmatch(r"\d+(\.\d+)?", asked_for) else 0.0
            raise self._refused(failed.response.status_code, failed.response.text, delay) from None
        except httpx.TransportError as failed:
            said = self.plain(failed) or type(failed).__name__
            raise error(f"broke off the connection ({said})", self._if_away, "busy") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as failed:
            raise error(f"cannot be asked ({self.plain(failed)})", self._if_away) from None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise error("answered with something that cannot be read", "Is this the right address for it?") from None

    def _refused(self, status: int, text: str, wait_seconds: float = 0.0) -> RemoteError:
        """The RemoteError for an HTTP error status."""
        if 300 <= status < 400:
            elsewhere = f"{self.where} redirects elsewhere ({status}), which is not followed"
            return RemoteError(elsewhere, "Name the address of the server itself.")
        said = f"{self.where} answered {status}" + (f": {plain}" if (plain := self.plain(text)) else "")
        if status >= 400 and _TOO_LONG.search(text):
            return RemoteError(said, "Shorten the text.", "refused")
        if status >= 400 and _NO_NUMBER.search(text):
            return RemoteError(said, "Pull the model again, or use another.", "unusable")
        if status == 404:
            return RemoteError(f"{self.where} has no model {self.endpoint.model}", self._if_no_model)
        if status in (401, 403):
            check = "Check `key_env` and what that variable holds."
            return RemoteError(f"{self.where} refuses the key ({status})", check)
        if status in _BUSY or status >= 500:
            return RemoteError(said, "It is busy or in trouble: try again later.", "busy", wait_seconds)
        return RemoteError(said, "Check the settings of the model.", "refused" if status in _REFUSED else "wrong")


class OllamaServer(ModelServer):
    """Ollama, through its own Python package."""

    def __init__(self, to: Endpoint, key: str, seconds: float, keep_alive: str = "") -> None:
        super().__init__(to, key, seconds)
        # Ollama expects seconds as a number, any other duration as text such as `30m`.
        is_number = re.fullmatch(r"-?\d+(\.\d+)?", keep_alive)
        self._keep_alive = float(keep_alive) if is_number else keep_alive or None
        start = f"Start it with `ollama serve`, check `{to.setting}.url` and $OLLAMA_HOST"
        self._if_away = f"{start}, or {to.without_it}."
        self._if_no_model = f"Get it with `ollama pull {to.model}` or {to.without_it}."

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        with self.errors():
            # Without `truncate=False` a text longer than the context would be cut silently.
            client, model = self.connect(), self.endpoint.model
            answer = client.embed(model, list(texts), truncate=False, keep_alive=self._keep_alive)
            return [list(vector) for vector in answer.embeddings]

    def chat(self, messages: Messages, form: Mapping[str, Any]) -> str:
        options = {"temperature": 0, "seed": 0, "num_predict": MAX_CHAT_TOKENS, "num_ctx": CONTEXT_TOKENS}
        with self.errors():
            answer = self.connect().chat(
                self.endpoint.model, list(messages), format=dict(form), stream=False, options=options
            )
            return answer.message.content or ""

    def find_model(self) -> int | None:
        with self.errors():
            info = self.connect().show(self.endpoint.model).modelinfo or {}
            lengths = [int(value) for key, value in info.items() if key.endswith(".context_length")]
        return lengths[0] if lengths else None

    def _new_client(self, **settings: Any) -> Any:  # noqa: ANN401
        try:
            import ollama
        except ImportError as error:
            raise RemoteError(f"the package ollama is missing ({error})", "Install it: pip install ollama") from None
        return ollama.Client(host=self.endpoint.address.url, **settings)

    @contextmanager
    def errors(self) -> Iterator[None]:
        self.connect()
        import ollama

        with super().errors():
            try:
                yield
            except ollama.ResponseError as failed:
                raise self._refused(failed.status_code, str(failed.error)) from None


class AnthropicServer(ModelServer):
    """Anthropic's `POST /v1/messages`: the answer is the input of a tool that the model is forced to call."""

    optional: ClassVar = {"temperature": ("temperature",)}
    shared: ClassVar = "/v1"

    def chat(self, messages: Messages, form: Mapping[str, Any]) -> str:
        tool = {"name": "summary", "description": "Takes the sentences of the summary.", "input_schema": dict(form)}
        body = {
            "model": self.endpoint.model, "max_tokens": MAX_CHAT_TOKENS, "temperature": 0, "tools": [tool],
            "tool_choice": {"type": "tool", "name": "summary"},
            "system": "\n".join(m["content"] for m in messages if m["role"] == "system"),
            "messages": [dict(m) for m in messages if m["role"] != "system"],
        }  # fmt: skip
        with self.errors():
            parts = self._post("/v1/messages", body)["content"]
            handed = [json.dumps(part["input"]) for part in parts if part["type"] == "tool_use"]
            return handed[0] if handed else "".join(str(part["text"]) for part in parts if part["type"] == "text")

    def find_model(self) -> None:
        # Asking for the model's description costs nothing and sends no text.
        with self.errors():
            answer = self.connect().get(self._url(f"/v1/models/{quote(self.endpoint.model, safe='')}"))
            answer.raise_for_status()

    def _headers(self) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01"} | ({"x-api-key": self._key} if self._key else {})


class _BoundedStream(httpx.SyncByteStream):
    """A response body of which at most `MAX_CHAT_BYTES` are read."""

    def __init__(self, stream: Any, where: str) -> None:  # noqa: ANN401 - httpx types it for both kinds
        self._stream, self._where = stream, where

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for piece in self._stream:
            read += len(piece)
            if read > MAX_CHAT_BYTES:
                said = f"{self._where} answered with more than {MAX_CHAT_BYTES // 1024} kB"
                raise RemoteError(said, "Use another model.", "unusable")
            yield piece

    def close(self) -> None:
        self._stream.close()


def server_of(to: Endpoint, key: str, seconds: float, keep_alive: str = "") -> ModelServer:
    """The client for an endpoint's server; sends nothing yet."""
    if to.provider == "ollama":
        return OllamaServer(to, key, seconds, keep_alive)
    return AnthropicServer(to, key, seconds) if to.provider == "anthropic" else ModelServer(to, key, seconds)
