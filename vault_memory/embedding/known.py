"""Owns what is known of configured models before any is asked: addresses, prefixes, names of vector spaces. Pure."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from vault_memory.config import Config

ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_KEY = "ANTHROPIC_API_KEY"

OLLAMA_MODEL = "nomic-embed-text"
OLLAMA_PORT = 11434

TEXT_VERSION = 1
"""What is embedded for a passage (spaces.py, `texts`). Raise it when that changes: it makes a new vector space."""

PROBE = "The quick brown fox jumps over the lazy dog."
"""A text whose vector tells whether a model is still the one that it was: its name does not (`ollama pull`)."""

PREFIXES: Mapping[str, tuple[str, str]] = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "snowflake-arctic-embed2": ("query: ", ""),
    "bge-large": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-base": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-small": ("Represent this sentence for searching relevant passages: ", ""),
    "e5-": ("query: ", "passage: "),
    "multilingual-e5": ("query: ", "passage: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "qwen3-embedding": (
        "Instruct: Given a question, retrieve the notes that answer it\nQuery: ", "",
    ),
}  # fmt: skip
"""Model name → what stands before a question and before a passage, as its makers say. The longest match counts."""


class Address(NamedTuple):
    """A server: its URL without credentials and query, `host:port` for people, and what the URL had of these."""

    url: str
    shown: str
    credentials: tuple[str, str] | None
    """User and password."""
    query: str = ""
    """What stands behind a `?` and goes with every request: Azure wants `api-version=…`."""

    @property
    def is_local(self) -> bool:
        """Whether it is this computer, which no proxy may come between."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1", "0.0.0.0") or host.startswith("127.")


class Endpoint(NamedTuple):
    """One configured embedder: where it is, what it is called, how it wants to be asked."""

    provider: str
    model: str
    address: Address
    key_env: str
    batch: int
    timeout_seconds: float
    deadline_seconds: float
    keep_alive: str
    query_prefix: str
    document_prefix: str
    context_tokens: int
    """How much the model reads, where the user says so; 0: the server is asked."""

    @property
    def space(self) -> str:
        """The name of its vector space: provider, model, and what is embedded; no address, no credentials.

        The query's prefix is not in it: it changes the questions, not the vectors that are stored.
        """
        known = prefixes(self.model)[1]
        own = "" if self.document_prefix == known else f"-{_digest(self.document_prefix)}"
        return f"{self.provider}/{self.model.removesuffix(':latest')}@{TEXT_VERSION}{own}"

    @property
    def where(self) -> str:
        """The server for people: `ollama at 127.0.0.1:11434`."""
        return f"{self.provider} at {self.address.shown}"


class ChatEndpoint(NamedTuple):
    """The configured model that writes: where it is, what it is called, which variable holds its key."""

    provider: str
    model: str
    address: Address
    key_env: str
    needs_key: bool
    """Whether a key must be there before anything is asked."""

    @property
    def method(self) -> str:
        """How a page says who wrote its summary: `ollama/llama3.2`."""
        return f"{self.provider}/{' '.join(self.model.removesuffix(':latest').split())}"

    @property
    def where(self) -> str:
        """The server for people: `ollama at 127.0.0.1:11434`."""
        return f"{self.provider} at {self.address.shown}"


def chat_endpoint(config: Config, environ: Mapping[str, str]) -> ChatEndpoint | None:
    """The model that is configured to write, or None."""
    provider, url, key_env = config.reflect_provider, config.reflect_url, config.reflect_key_env
    if provider == "off":
        return None
    # Another address than Anthropic's own may be a gateway on this computer that wants no key.
    needs_key = bool(key_env) or (provider == "anthropic" and not url)
    to = ollama_address(url, environ) if provider == "ollama" else address(url or ANTHROPIC_URL, None)
    usual = {"anthropic": ANTHROPIC_KEY, "ollama": "OLLAMA_API_KEY"}.get(provider, "")
    return ChatEndpoint(provider, config.reflect_model, to, key_env or usual, needs_key)


def endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint | None:
    """The embedder that is configured, or None for the builtin one."""
    provider = config.embedding_provider
    if provider == "builtin":
        return None
    model = config.embedding_model or OLLAMA_MODEL
    query, document = prefixes(model)
    ollama = provider == "ollama"
    return Endpoint(
        provider=provider,
        model=model,
        address=ollama_address(config.embedding_url, environ) if ollama else address(config.embedding_url, None),
        key_env=config.embedding_key_env,
        batch=config.embedding_batch,
        timeout_seconds=config.embedding_timeout_seconds,
        deadline_seconds=config.embedding_query_deadline_seconds,
        keep_alive=config.embedding_keep_alive,
        query_prefix=query if config.embedding_query_prefix is None else config.embedding_query_prefix,
        document_prefix=document if config.embedding_document_prefix is None else config.embedding_document_prefix,
        context_tokens=config.embedding_context_tokens,
    )


def ollama_address(url: str, environ: Mapping[str, str]) -> Address:
    """Ollama's server: as set, else $OLLAMA_HOST as ollama itself reads it, else port 11434 here."""
    return address(url or environ.get("OLLAMA_HOST", "").strip().strip("\"'"), OLLAMA_PORT)


def address(url: str, bare_port: int | None) -> Address:
    """Read an address: `http://host` means port 80, a bare `host` `bare_port`, nothing at all this computer."""
    scheme, found, rest = url.partition("://")
    if not found:
        scheme, rest, port = "http", url, bare_port or 80
    else:
        port = 443 if scheme == "https" else 80
    split = urlsplit(f"{scheme}://{rest}")
    try:
        port = split.port or port
    except ValueError:  # as ollama: a port that is no number is no port
        port = bare_port or port
    host = split.hostname or "127.0.0.1"
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    credentials = (unquote(split.username), unquote(split.password or "")) if split.username else None
    return Address(f"{scheme}://{shown}{split.path.rstrip('/')}", shown, credentials, split.query)


def prefixes(model: str) -> tuple[str, str]:
    """What the model's makers want before a question and before a passage; both empty when nothing is known."""
    name = model.rpartition("/")[2].casefold()
    known = [start for start in PREFIXES if name.startswith(start)]
    return PREFIXES[max(known, key=len)] if known else ("", "")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
