"""Reads which models are configured: provider, model, address, key variable, and the prefixes that a model wants."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from vault_memory.config import Config
from vault_memory.errors import RemoteError

ANTHROPIC_URL = "https://api.anthropic.com"
OLLAMA_MODEL = "nomic-embed-text"
OLLAMA_PORT = 11434

USUAL_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "ollama": "OLLAMA_API_KEY"}
"""Where a provider's key is found when the settings name no variable."""

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
"""Model name → what stands before a question and before a passage, as its makers say. The longest match counts."""


class Address(NamedTuple):
    """A server: its URL without query, and `host:port` for people."""

    url: str
    shown: str
    query: str = ""
    """What stands behind a `?` and goes with every request: Azure wants `api-version=…`."""

    @property
    def is_local(self) -> bool:
        """Whether it is this computer, which no proxy may come between."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1", "0.0.0.0") or host.startswith("127.")


class Endpoint(NamedTuple):
    """One configured model: where it is, what it is called, which variable holds its key."""

    setting: str
    """The section of the settings that names it: embedding, rerank or reflect."""
    provider: str
    model: str
    address: Address
    key_env: str = ""

    @property
    def name(self) -> str:
        """Provider and model in one word, `ollama/llama3.2`; no address."""
        return f"{self.provider}/{' '.join(self.model.removesuffix(':latest').split())}"

    @property
    def where(self) -> str:
        """The server for people: `ollama at 127.0.0.1:11434`."""
        return f"{self.provider} at {self.address.shown}"

    @property
    def without_it(self) -> str:
        """How to do without this server."""
        return f'set `{self.setting}.provider = "{"builtin" if self.setting == "embedding" else "off"}"`'

    def key(self, environ: Mapping[str, str]) -> str:
        """The key for its server, "" where none is wanted; raises RemoteError for one that is missing."""
        variable = self.key_env or USUAL_KEYS.get(self.provider, "")
        key = environ.get(variable, "").strip()
        # Another address than Anthropic's own may be a gateway on this computer that wants no key.
        is_wanted = bool(self.key_env) or self.address.url.startswith(ANTHROPIC_URL)
        if is_wanted and not key:
            unset = f"${variable}, which should hold the key of {self.where}, is not set"
            raise RemoteError(unset, f"Set ${variable}.")
        return key


def embedding_endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint:
    """The configured embedder; for settings that name one."""
    provider, url = config.embedding_provider, config.embedding_url
    to = ollama_address(url, environ) if provider == "ollama" else parse_address(url, None)
    return Endpoint("embedding", provider, config.embedding_model or OLLAMA_MODEL, to, config.embedding_key_env)


def rerank_endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint:
    """The configured reranker; for settings that name one."""
    return Endpoint("rerank", "ollama", config.rerank_model, ollama_address(config.rerank_url, environ))


def reflect_endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint | None:
    """The model that is configured to write, or None."""
    provider, url = config.reflect_provider, config.reflect_url
    if provider == "off":
        return None
    to = ollama_address(url, environ) if provider == "ollama" else parse_address(url or ANTHROPIC_URL, None)
    return Endpoint("reflect", provider, config.reflect_model, to, config.reflect_key_env)


def ollama_address(url: str, environ: Mapping[str, str]) -> Address:
    """Ollama's server: as set, else $OLLAMA_HOST as ollama itself reads it, else port 11434 here."""
    return parse_address(url or environ.get("OLLAMA_HOST", "").strip().strip("\"'"), OLLAMA_PORT)


def parse_address(url: str, bare_port: int | None) -> Address:
    """Read an address: `http://host` means port 80, a bare `host` `bare_port`, nothing at all this computer."""
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
    """What the model's makers want before a question and before a passage; both empty when nothing is known."""
    name = model.rpartition("/")[2].casefold()
    known = [start for start in PREFIXES if name.startswith(start)]
    return PREFIXES[max(known, key=len)] if known else ("", "")
