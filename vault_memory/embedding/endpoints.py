"""Resolves the configured models: provider, model, address, key variable, and the prefixes that a model expects."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import urlsplit

from vault_memory.config import Config
from vault_memory.errors import RemoteError

ANTHROPIC_URL = "https://api.anthropic.com"
OLLAMA_MODEL = "nomic-embed-text"
OLLAMA_PORT = 11434

USUAL_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "ollama": "OLLAMA_API_KEY"}
"""Provider → the variable with its key if the settings name none."""

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
    "qwen3-embedding": ("Instruct: Given a question, retrieve the notes that answer it\nQuery: ", ""),
}
"""Start of a model name → the prefixes of queries and of passages, as documented by its makers; the longest wins."""


class Address(NamedTuple):
    """A server: its URL without the query string, and `host:port` for display."""

    url: str
    shown: str
    query: str = ""
    """The query string of the URL, sent with every request: Azure requires `api-version=…`."""

    @property
    def is_local(self) -> bool:
        """Whether it is this machine, which must not be reached through a proxy."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1", "0.0.0.0") or host.startswith("127.")


class Endpoint(NamedTuple):
    """One configured model: its server, its name and the variable with its key."""

    setting: str
    """The section of the settings it comes from: embedding, rerank or reflect."""
    provider: str
    model: str
    address: Address
    key_env: str = ""
    command: tuple[str, ...] = ()
    """The program that is run instead of asking a server, and its arguments."""

    @property
    def name(self) -> str:
        """Provider and model without the address: `ollama/llama3.2`."""
        return f"{self.provider}/{' '.join(self.model.removesuffix(':latest').split())}"

    @property
    def where(self) -> str:
        """The server or program for display: `ollama at 127.0.0.1:11434`. A program's arguments may hold secrets."""
        if self.command:
            return f"the program {self.command[0]}"
        return f"{self.provider} at {self.address.shown}"

    @property
    def without_it(self) -> str:
        """The setting that switches this server off, for a next step."""
        return f'set `{self.setting}.provider = "{"builtin" if self.setting == "embedding" else "off"}"`'

    def key(self, environ: Mapping[str, str]) -> str:
        """The server's key, "" if none is set and none required; raises RemoteError if a required key is missing."""
        variable = self.key_env or USUAL_KEYS.get(self.provider, "")
        key = environ.get(variable, "").strip()
        # Any other address may be a local gateway that needs no key.
        is_wanted = bool(self.key_env) or self.address.url.startswith(ANTHROPIC_URL)
        if is_wanted and not key:
            unset = f"${variable}, which should hold the key of {self.where}, is not set"
            raise RemoteError(unset, f"Set ${variable}.")
        return key


def embedding_endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint:
    """The configured embedder; only for settings that name one."""
    provider, url = config.embedding_provider, config.embedding_url
    to = ollama_address(url, environ) if provider == "ollama" else parse_address(url, None)
    return Endpoint("embedding", provider, config.embedding_model or OLLAMA_MODEL, to, config.embedding_key_env)


def rerank_endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint:
    """The configured reranker; only for settings that name one."""
    return Endpoint("rerank", "ollama", config.rerank_model, ollama_address(config.rerank_url, environ))


def reflect_endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint | None:
    """The model that writes summaries in reflect, or None."""
    provider, url = config.reflect_provider, config.reflect_url
    if provider == "off":
        return None
    if provider == "command":
        model = config.reflect_model or PurePath(config.reflect_command[0]).stem
        return Endpoint("reflect", provider, model, Address("", ""), config.reflect_key_env, config.reflect_command)
    to = ollama_address(url, environ) if provider == "ollama" else parse_address(url or ANTHROPIC_URL, None)
    return Endpoint("reflect", provider, config.reflect_model, to, config.reflect_key_env)


def ollama_address(url: str, environ: Mapping[str, str]) -> Address:
    """Ollama's server: as set, else $OLLAMA_HOST, parsed as ollama does, else port 11434 on this machine."""
    return parse_address(url or environ.get("OLLAMA_HOST", "").strip().strip("\"'"), OLLAMA_PORT)


def parse_address(url: str, bare_port: int | None) -> Address:
    """Parse an address: `http://host` means port 80, a bare `host` means `bare_port`, no host means this machine."""
    scheme, found, rest = url.partition("://")
    if not found:
        scheme, rest, port = "http", url, bare_port or 80
    else:
        port = 443 if scheme == "https" else 80
    split = urlsplit(f"{scheme}://{rest}")
    port = split.port or port
    host = split.hostname or "127.0.0.1"
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return Address(f"{scheme}://{shown}{split.path.rstrip('/')}", shown, split.query)


def usual_prefixes(model: str) -> tuple[str, str]:
    """The prefixes that a model expects before a query and before a passage; both empty if unknown."""
    name = model.rpartition("/")[2].casefold()
    known = [start for start in PREFIXES if name.startswith(start)]
    return PREFIXES[max(known, key=len)] if known else ("", "")
