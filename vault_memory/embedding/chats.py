"""Owns how chat servers are asked for JSON of a schema: Ollama's protocol, OpenAI's and Anthropic's.

What comes back is text; whether it is worth anything is for others to say. Every failure leaves as a RemoteError
without a key in it. Each request has its own bounds: an answer is read piece by piece, and neither more than
`MOST_BYTES` of it nor beyond its deadline. `httpx` is imported here: import this module when a server is to be asked.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import httpx

from vault_memory.embedding.http import Spoken, bearer, connection, mapped, ollama_client, secrets
from vault_memory.embedding.known import ChatEndpoint
from vault_memory.errors import RemoteError

if TYPE_CHECKING:
    import ollama

MOST_BYTES = 64 * 1024
"""A model that babbles is not heard out: one answer of 582 kB once stopped a store for a week."""

MOST_TOKENS = 3000
"""Of an answer, thoughts before it included."""

CONTEXT_TOKENS = 8192
"""What Ollama is told to keep room for: its default cuts a longer question without a word."""

Messages = Sequence[Mapping[str, str]]


class Chat(Protocol):
    """One chat server with its model."""

    spoken: Spoken

    def ready(self) -> None:
        """Import what is slow now, so that no deadline pays for it."""

    def ask(self, messages: Messages, form: Mapping[str, Any], seconds: float) -> str:
        """What the model answers, which should be JSON of the schema `form`; raises RemoteError."""

    def close(self) -> None:
        """Let the connection go."""


def chat(to: ChatEndpoint, key: str) -> Chat:
    """The server that an endpoint names."""
    if to.provider == "ollama":
        return OllamaChat(to, key)
    return AnthropicChat(to, key) if to.provider == "anthropic" else OpenAIChat(to, key)


class Bounds:
    """What one request may take; its hooks go into an httpx client, wherever that is."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._until = 0.0

    def start(self, seconds: float) -> None:
        """Count the seconds of the next request from now; of what is sent again within it, too."""
        self._until = time.monotonic() + seconds

    @property
    def hooks(self) -> dict[str, list[Any]]:
        return {"request": [self._sent], "response": [self._answered]}

    def _sent(self, request: httpx.Request) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise self._late()
        request.extensions |= {"timeout": httpx.Timeout(left).as_dict(), "until": self._until}
        request.headers["Accept-Encoding"] = "identity"  # 64 kB that unpack to 64 MB would pass the limit

    def _answered(self, response: httpx.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise RemoteError(f"{self._where} sent a packed answer, which was not asked for", "Is it the right server?")
        # The bounds of this very request: a later one may have begun while this one was given up.
        response.stream = _Bounded(response.stream, self._pieces, response.request.extensions["until"])

    def _pieces(self, stream: Iterator[bytes], until: float) -> Iterator[bytes]:
        read = 0
        for piece in stream:
            read += len(piece)
            if read > MOST_BYTES:
                raise RemoteError(
                    f"{self._where} answered with more than {MOST_BYTES // 1024} kB", "Use another model.", "unusable"
                )
            if time.monotonic() > until:
                raise self._late()
            yield piece

    def _late(self) -> RemoteError:
        return RemoteError(f"{self._where} did not answer in time", "Give it more time in your settings.", "slow")


class _Bounded(httpx.SyncByteStream):
    def __init__(self, stream: Any, pieces: Any, until: float) -> None:  # noqa: ANN401 - httpx types it for both kinds
        self._stream, self._pieces, self._until = stream, pieces, until

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces(self._stream, self._until)

    def close(self) -> None:
        self._stream.close()


class OllamaChat:
    """Ollama, through its own Python package."""

    def __init__(self, to: ChatEndpoint, key: str) -> None:
        self._to, self._key, self._bounds = to, key, Bounds(to.where)
        start = "Start it with `ollama serve`, check `reflect.url` and $OLLAMA_HOST,"
        self.spoken = _spoken(to, key)._replace(
            pull=f"Get it with `ollama pull {to.model}`{_OFF}.", start=f"{start}{_OFF}."
        )
        self._made: ollama.Client | None = None

    def ready(self) -> None:
        _ = self._client

    @property
    def _client(self) -> "ollama.Client":
        if self._made is None:
            self._made = ollama_client(self._to.address, self._key, event_hooks=self._bounds.hooks)
        return self._made

    def ask(self, messages: Messages, form: Mapping[str, Any], seconds: float) -> str:
        options = {"temperature": 0, "seed": 0, "num_predict": MOST_TOKENS, "num_ctx": CONTEXT_TOKENS}
        with mapped(self.spoken._replace(seconds=round(seconds, 1))):
            self._bounds.start(seconds)
            answer = self._client.chat(
                self._to.model, list(messages), format=dict(form), stream=False, options=options
            )  # fmt: skip
            return answer.message.content or ""

    def close(self) -> None:
        if self._made is not None:
            self._made.close()  # type: ignore[no-untyped-call]
            self._made = None


class _HttpChat:
    """What OpenAI's and Anthropic's ways have in common: one POST, less what the server does not know."""

    optional: ClassVar[Mapping[str, tuple[str, ...]]]
    """Keys of a request that it can do without → the words of a refusal that mean them."""

    def __init__(self, to: ChatEndpoint, key: str) -> None:
        self._to, self._key, self._bounds = to, key, Bounds(to.where)
        self.spoken = _spoken(to, key)
        self._left_out: set[str] = set()
        self._made: httpx.Client | None = None

    def ready(self) -> None:
        _ = self._client

    @property
    def _client(self) -> httpx.Client:
        if self._made is None:
            self._made = httpx.Client(
                headers=self._headers(), event_hooks=self._bounds.hooks, **connection(self._to.address)
            )
        return self._made

    def ask(self, messages: Messages, form: Mapping[str, Any], seconds: float) -> str:
        to = self._to.address
        url = self._path(to.url) + (f"?{to.query}" if to.query else "")
        with mapped(self.spoken._replace(seconds=round(seconds, 1))):
            self._bounds.start(seconds)
            body = self._body(messages, form)
            answer = self._sent(url, body)
            while self._leave_out(answer, body):
                answer = self._sent(url, body)
            answer.raise_for_status()
            return self._text(answer.json())

    def _sent(self, url: str, body: Mapping[str, Any]) -> httpx.Response:
        return self._client.post(url, json={key: body[key] for key in body if key not in self._left_out})

    def _leave_out(self, answer: httpx.Response, body: Mapping[str, Any]) -> bool:
        """Whether the request was refused for something it can do without, which is left out from now on."""
        if answer.status_code not in (400, 422):
            return False
        meant = {key for key in self.optional.keys() & body.keys() if any(w in answer.text for w in self.optional[key])}
        found = meant - self._left_out
        self._left_out |= found
        return bool(found)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
            self._made = None

    def _headers(self) -> dict[str, str]:
        raise NotImplementedError

    def _path(self, url: str) -> str:
        raise NotImplementedError

    def _body(self, messages: Messages, form: Mapping[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _text(self, answer: Any) -> str:  # noqa: ANN401 - whatever JSON came
        raise NotImplementedError


class OpenAIChat(_HttpChat):
    """Any server that offers `POST …/chat/completions` as OpenAI does."""

    optional: ClassVar = {
        "response_format": ("response_format", "json_schema"),
        "max_tokens": ("max_tokens",),
        "temperature": ("temperature",),
        "seed": ("seed",),
    }

    def _headers(self) -> dict[str, str]:
        return bearer(self._key)

    def _path(self, url: str) -> str:
        return f"{url.removesuffix('/chat/completions')}/chat/completions"

    def _body(self, messages: Messages, form: Mapping[str, Any]) -> dict[str, Any]:
        schema = {"name": "summary", "strict": True, "schema": dict(form)}
        return {
            "model": self._to.model, "messages": list(messages), "stream": False, "temperature": 0, "seed": 0,
            "max_tokens": MOST_TOKENS, "response_format": {"type": "json_schema", "json_schema": schema},
        }  # fmt: skip

    def _text(self, answer: Any) -> str:  # noqa: ANN401
        return str(answer["choices"][0]["message"]["content"] or "")


class AnthropicChat(_HttpChat):
    """Anthropic's `POST /v1/messages`: the answer is what it hands to a tool that it must use."""

    optional: ClassVar = {"temperature": ("temperature",)}

    def _headers(self) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01"} | ({"x-api-key": self._key} if self._key else {})

    def _path(self, url: str) -> str:
        return f"{url.removesuffix('/messages').removesuffix('/v1')}/v1/messages"

    def _body(self, messages: Messages, form: Mapping[str, Any]) -> dict[str, Any]:
        tool = {"name": "summary", "description": "Takes the sentences of the summary.", "input_schema": dict(form)}
        return {
            "model": self._to.model, "max_tokens": MOST_TOKENS, "temperature": 0, "tools": [tool],
            "tool_choice": {"type": "tool", "name": "summary"},
            "system": "\n".join(m["content"] for m in messages if m["role"] == "system"),
            "messages": [dict(m) for m in messages if m["role"] != "system"],
        }  # fmt: skip

    def _text(self, answer: Any) -> str:  # noqa: ANN401
        parts = answer["content"]
        handed = [json.dumps(part["input"]) for part in parts if part["type"] == "tool_use"]
        return handed[0] if handed else "".join(str(part["text"]) for part in parts if part["type"] == "text")


_OFF = ' or set `reflect.provider = "off"`'


def _spoken(to: ChatEndpoint, key: str) -> Spoken:
    return Spoken(
        to.where, to.model, 0.0, "Check `reflect.model` and `reflect.url`.", f"Check `reflect.url`,{_OFF}.",
        secrets(to.address, key),
    )  # fmt: skip
