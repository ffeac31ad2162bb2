"""A small model server for tests: real HTTP on a real port, the protocols of Ollama, OpenAI and Anthropic.

Vectors are bags of words: a word's place is found by counting its letters, so that texts with the same words are near
each other in any process. What goes wrong on real servers can be switched on.
"""

import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from vault_memory.embedding.configured_embedder import PROBE

VERSION = "0.12.3"


@dataclass
class Model:
    """One model that the server has."""

    name: str = "nomic-embed-text"
    dimensions: int = 96
    context_tokens: int = 2048


@dataclass
class Trouble:
    """What goes wrong; each entry is off until a test sets it."""

    delay_seconds: float = 0.0
    """For each text of a request."""
    status: int = 0
    """Every request for a model is answered so."""
    busy_times: int = 0
    """So many requests are answered `busy_status` first."""
    busy_status: int = 503
    retry_after: str = ""
    dies_after: int = -1
    """After so many requests for vectors the connection breaks, for ever."""
    not_json: bool = False
    redirect: str = ""
    vectors: Callable[[Sequence[str], list[list[float]]], Any] | None = None
    """Turns the right vectors into what is answered."""
    refuses: Callable[[Sequence[str]], tuple[int, Any] | None] | None = None
    """The status and body that a request for the vectors of these texts is refused with, or None."""
    reply: Callable[[dict[str, Any]], str] | None = None
    """Makes the chat model's answer from the request."""
    unknown: tuple[str, ...] = ()
    """Keys of a request for a chat that are refused, as servers do that do not know them."""
    piece_delay_seconds: float = 0.0
    """Answers come in pieces of 16 bytes, so far apart."""
    endless: bool = False
    """An answer never ends: text after text, until who asked has gone."""


@dataclass
class ModelServer:
    """A running server: its port, what it has, what goes wrong, and what it was asked."""

    port: int = 0
    models: list[Model] = field(default_factory=lambda: [Model()])
    trouble: Trouble = field(default_factory=Trouble)
    key: str = ""
    """The bearer token it wants, if any."""
    requests: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    """(path, body, headers) of each."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def texts(self) -> list[str]:
        """Every text it was asked to embed, in order, without the one that tells whether it is the same model."""
        asked = [body for path, body, _ in self.requests if path.endswith(("embed", "embeddings"))]
        return [text for body in asked for text in _inputs(body) if not text.endswith(PROBE)]

    def asked(self, path: str) -> int:
        """How many requests it had for a path."""
        return sum(one == path for one, _, _ in self.requests)


@contextmanager
def model_server(*models: Model) -> Iterator[ModelServer]:
    """A server on a free port, with `nomic-embed-text` unless told otherwise."""
    state = ModelServer()
    if models:
        state.models = list(models)
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    """A port where nobody listens."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def vector(text: str, dimensions: int) -> list[float]:
    """The bag of a text's words, of length 1; a text without words points to a place of its own."""
    found = [0.0] * dimensions
    for word in re.findall(r"[^\W_]+", text.casefold()) or ["\0"]:
        stem = word[:5]
        place = sum((position + 1) * (31 * ord(letter) % 4099) for position, letter in enumerate(stem))
        found[place % dimensions] += 1.0
    length = math.sqrt(sum(x * x for x in found))
    return [x / length for x in found]


def tokens(text: str) -> int:
    """How long the model finds a text: a word is a token."""
    return len(text.split())


def _inputs(body: dict[str, Any]) -> list[str]:
    given = body.get("input", [])
    return [given] if isinstance(given, str) else list(given)


class _Handler(BaseHTTPRequestHandler):
    state: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.state.requests.append((self.path, {}, {k.lower(): v for k, v in self.headers.items()}))
        if self.path == "/api/version":
            self._send(200, {"version": VERSION})
        elif self.path.startswith("/v1/models/"):
            if not self._troubled() and (model := self._model({"model": self.path.removeprefix("/v1/models/")})):
                self._send(200, {"type": "model", "id": model.name, "display_name": model.name})
        else:
            self._send(404, "404 page not found")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        self.state.requests.append((self.path, body, {k.lower(): v for k, v in self.headers.items()}))
        answer = {
            "/api/show": self._show,
            "/api/embed": self._embed,
            "/api/chat": self._chat,
            "/v1/embeddings": self._openai,
            "/v1/chat/completions": self._completions,
            "/v1/messages": self._anthropic,
        }.get(self.path.partition("?")[0])
        if not answer:
            self._send(404, "404 page not found")
        elif not self._troubled():
            answer(body)

    def _troubled(self) -> bool:
        trouble = self.state.trouble
        asks = self.path != "/api/show" and not self.path.startswith("/v1/models/")
        if asks:
            time.sleep(trouble.delay_seconds)
        if asks and trouble.dies_after >= 0:
            if trouble.dies_after == 0:
                self.close_connection = True
                self.connection.close()
                return True
            trouble.dies_after -= 1
        said = self.headers.get("x-api-key") or self.headers.get("authorization")
        if self.state.key and said not in (self.state.key, f"Bearer {self.state.key}"):
            self._send(
                401, {"error": {"message": f"Incorrect API key provided: {said}", "type": "invalid_request_error"}}
            )
        elif trouble.redirect:
            self._send(307, "", {"Location": trouble.redirect})
        elif trouble.busy_times:
            trouble.busy_times -= 1
            self._send(trouble.busy_status, {"error": "server busy"}, {"Retry-After": trouble.retry_after})
        elif trouble.status:
            self._send(trouble.status, {"error": "something is wrong here"})
        elif asks and trouble.not_json:
            self._send(200, "<html>A portal wants you to log in</html>")
        else:
            return False
        return True

    def _model(self, body: dict[str, Any]) -> Model | None:
        name = str(body.get("model", "")).removesuffix(":latest")
        found = next((m for m in self.state.models if m.name == name), None)
        if not found:
            said = f'model "{name}" not found, try pulling it first'
            self._send(404, {"error": said} if self.path.startswith("/api") else {"error": {"message": said}})
        return found

    def _show(self, body: dict[str, Any]) -> None:
        if model := self._model(body):
            info = {"general.architecture": "test", "test.context_length": model.context_tokens,
                    "test.embedding_length": model.dimensions}  # fmt: skip
            self._send(200, {"details": {"family": "test"}, "model_info": info, "capabilities": ["embedding"]})

    def _vectors(self, body: dict[str, Any]) -> Any:
        """The vectors asked for; None when a refusal was sent."""
        model = self._model(body)
        if not model:
            return None
        texts = _inputs(body)
        if refused := self.state.trouble.refuses and self.state.trouble.refuses(texts):
            self._send(*refused)
            return None
        if any(tokens(text) > model.context_tokens for text in texts):
            if self.path == "/v1/embeddings":
                said = f"This model's maximum context length is {model.context_tokens} tokens"
                self._send(400, {"error": {"message": said, "code": "context_length_exceeded"}})
                return None
            if body.get("truncate") is False:
                self._send(400, {"error": "the input length exceeds the context length"})
                return None
            texts = [" ".join(text.split()[: model.context_tokens]) for text in texts]
        found = [vector(text, model.dimensions) for text in texts]
        return self.state.trouble.vectors(texts, found) if self.state.trouble.vectors else found

    def _embed(self, body: dict[str, Any]) -> None:
        found = self._vectors(body)
        if found is not None:
            self._send(200, {"model": body["model"], "embeddings": found, "total_duration": 1, "load_duration": 1,
                             "prompt_eval_count": 1})  # fmt: skip

    def _openai(self, body: dict[str, Any]) -> None:
        found = self._vectors(body)
        if found is not None:
            # Real servers do not promise the order; the index says what belongs to what.
            rows = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(found)][::-1]
            self._send(200, {"object": "list", "data": rows, "model": body["model"],
                             "usage": {"prompt_tokens": 1, "total_tokens": 1}})  # fmt: skip

    def _chat(self, body: dict[str, Any]) -> None:
        text = self._said(body)
        if text is not None:
            message = {"role": "assistant", "content": text}
            self._send(200, {"model": body["model"], "created_at": "2025-12-01T09:00:00.000000Z",
                             "message": message, "done": True, "done_reason": "stop"})  # fmt: skip

    def _said(self, body: dict[str, Any]) -> str | None:
        """What the model says; None when a refusal was sent."""
        if not self._model(body):
            return None
        if unknown := [key for key in self.state.trouble.unknown if key in body]:
            self._send(400, {"error": {"message": f"Unsupported parameter: '{unknown[0]}' is not supported."}})
            return None
        return (self.state.trouble.reply or sensible)(body)

    def _completions(self, body: dict[str, Any]) -> None:
        text = self._said(body)
        if text is not None:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self._send(200, {"id": "chatcmpl-1", "object": "chat.completion", "model": body["model"],
                             "choices": [choice], "usage": {"total_tokens": 1}})  # fmt: skip

    def _anthropic(self, body: dict[str, Any]) -> None:
        text = self._said(body)
        if text is None:
            return
        try:
            part = {"type": "tool_use", "id": "toolu_1", "name": body["tool_choice"]["name"], "input": json.loads(text)}
        except ValueError:
            part = {"type": "text", "text": text}
        self._send(200, {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
                         "content": [part], "stop_reason": "tool_use"})  # fmt: skip

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        try:
            self.send_response(status)
            for name, value in (headers or {}).items():
                if value:
                    self.send_header(name, value)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self._write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # who asked has gone

    def _write(self, data: bytes) -> None:
        trouble = self.state.trouble
        if trouble.endless:
            self.close_connection = True
            self.end_headers()
            while True:
                self.wfile.write(b" and on and on" * 100)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for at in range(0, len(data), 16 if trouble.piece_delay_seconds else max(len(data), 1)):
            time.sleep(trouble.piece_delay_seconds)
            self.wfile.write(data[at : at + 16] if trouble.piece_delay_seconds else data)


def sensible(body: dict[str, Any]) -> str:
    """What a sensible model answers to whatever it was asked."""
    data = json.loads(body["messages"][-1]["content"])
    if "opinion" in data:
        return json.dumps({"relation": "neither", "quote": ""})
    return summed_up(body) if "facts" in data else judged_by_words(body)


def summed_up(body: dict[str, Any]) -> str:
    """A summary of the first facts in their own words."""
    facts = json.loads(body["messages"][-1]["content"])["facts"][:2]
    return json.dumps(
        {"sentences": [{"text": fact["text"].partition(": ")[2], "facts": [fact["n"]]} for fact in facts]}
    )


def judged_by_words(body: dict[str, Any]) -> str:
    """What a sensible model answers to a request for judgements: the share of the question's words in each note."""
    data = json.loads(body["messages"][-1]["content"])
    asked = set(re.findall(r"\w+", data["question"].casefold()))
    rows = []
    for note in data["notes"]:
        there = set(re.findall(r"\w+", note["text"].casefold()))
        rows.append({"n": note["n"], "relevance": round(len(asked & there) / max(len(asked), 1), 3)})
    return json.dumps({"notes": rows})
