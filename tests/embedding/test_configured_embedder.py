"""The configured embedder by itself: addresses, prefixes, what servers do wrong, deadlines, cutting, quantising."""

import math
import re
import time
from collections.abc import Iterator

import httpx
import ollama
import pytest
from model_server import Model, ModelServer, model_server, vector

from vault_memory.config import Config
from vault_memory.embedding.configured_embedder import RemoteEmbedder, fit, quantised
from vault_memory.embedding.endpoints import embedding_endpoint, ollama_address, usual_prefixes
from vault_memory.embedding.model_clients import COOL_DOWN_SECONDS, server_of, within
from vault_memory.errors import RemoteError
from vault_memory.store.vectors import bit_code


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


class Slept(list[float]):
    """Waits that are written down, not waited."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def settings(server: ModelServer, provider: str = "ollama", **more: object) -> Config:
    """Settings that name this server."""
    url = f"http://{server.host}" + ("/v1" if provider == "openai" else "")
    named: dict[str, object] = {"embedding_provider": provider, "embedding_model": "nomic-embed-text",
                                "embedding_url": url, "embedding_query_deadline_seconds": 30.0, **more}  # fmt: skip
    return Config(vault=None, **named)  # type: ignore[arg-type]


def remote(
    server: ModelServer, provider: str = "ollama", slept: Slept | None = None, environ: dict[str, str] | None = None,
    **more: object,
) -> RemoteEmbedder:  # fmt: skip
    return RemoteEmbedder(settings(server, provider, **more), environ or {}, Slept() if slept is None else slept)


# --- names and addresses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        (":56789", "http://127.0.0.1:56789"),
        ("1.2.3.4:56789", "http://1.2.3.4:56789"),
        ("https://example.com", "https://example.com:443"),
        ("https://example.com:56789/path/", "https://example.com:56789/path"),
        ("[::1]", "http://[::1]:11434"),
        ("http://[::1]:5", "http://[::1]:5"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(text: str, url: str) -> None:
    assert ollama_address("", {"OLLAMA_HOST": text}).url == url
    with_client = ollama.Client(host=text)
    assert str(with_client._client.base_url).rstrip("/") == httpx.URL(url).__str__().rstrip("/")
    with_client.close()


def test_the_query_of_an_address_is_kept(server: ModelServer) -> None:
    """Azure wants `?api-version=…`."""
    mine = remote(server, "openai", embedding_url=f"http://{server.host}/v1?api-version=2024-02-01")
    assert mine.embed(["a"])[0].dimensions == 96
    mine.close()
    assert server.requests[-1][0] == "/v1/embeddings?api-version=2024-02-01"


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("hf.co/intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("bge-m3", "", ""),
    ],
)
def test_known_models_have_their_prefixes(model: str, query: str, document: str) -> None:
    assert usual_prefixes(model) == (query, document)


def test_the_space_is_named_after_provider_and_model(server: ModelServer) -> None:
    assert remote(server).id == "ollama/nomic-embed-text@1"
    assert remote(server, embedding_model="nomic-embed-text:latest").id == "ollama/nomic-embed-text@1"


# --- vectors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("floats", "expected"),
    [
        ([0.5, -1.0, 0.25, 0, 0, 0, 0, 0], [64, -127, 32, 0, 0, 0, 0, 0]),  # 63.5 → 64, 31.75 → 32
        ([1e-300, 0, 0], [127, 0, 0, 0, 0, 0, 0, 0]),
        ([3.0] * 9, [127] * 9 + [0] * 7),
    ],
)
def test_vectors_are_scaled_to_their_largest_component_and_padded(floats: list[float], expected: list[int]) -> None:
    found = quantised(floats)
    assert found and list(memoryview(found).cast("b")) == expected
    assert len(bit_code(found)) == len(found) // 8


@pytest.mark.parametrize("floats", [[], [0.0, 0.0], [1.0, math.nan], [math.inf, 1.0], None])
def test_what_has_no_direction_is_no_vector(floats: list[float] | None) -> None:
    assert quantised(floats) is None


def test_keep_alive_is_handed_on(server: ModelServer) -> None:
    for value, sent in (("30m", "30m"), ("-1", -1.0)):
        mine = remote(server, embedding_keep_alive=value)
        mine.embed(["a"])
        mine.close()
        assert server.requests[-1][1]["keep_alive"] == sent


# --- what servers do wrong -------------------------------------------------------------------------------------------


def failing(mine: RemoteEmbedder, texts: list[str] | None = None) -> RemoteError:
    with pytest.raises(RemoteError) as raised:
        mine.embed(texts or ["a heron"])
    mine.close()
    assert raised.value.next_step
    return raised.value


BOTH = pytest.mark.parametrize("provider", ["ollama", "openai"])


@BOTH
def test_a_busy_server_is_asked_again(server: ModelServer, provider: str) -> None:
    server.trouble.busy_times, server.trouble.busy_status = 2, 429
    slept = Slept()
    mine = remote(server, provider, slept)
    assert mine.embed(["a heron"])[0].dimensions == 96
    mine.close()
    assert slept == [0.5, 1.0]
    server.trouble.status = 500
    error = failing(remote(server, provider, slept))
    assert (error.kind, f"{provider} at {server.host} answered 500" in str(error)) == ("busy", True)
    assert slept[2:] == [0.5, 1.0, 2.0]
    server.trouble.status = 0
    error = failing(remote(server, provider, slept, embedding_model="bge-m3"))
    assert "has no model bge-m3" in str(error) and len(slept) == 5  # named at once
    assert provider == "openai" or "ollama pull bge-m3" in error.next_step


@BOTH
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _, v: v[:1], "vectors for 2 texts"),
        (lambda _, v: [v[0], v[1][:40]], "of several lengths at once"),
        (lambda _, v: [["x", "y"], ["x", "y"]], "numbers|cannot be read"),
        (lambda _, v: "nothing", "cannot be read|vectors for 2"),
        (lambda _, v: [1, 2], "cannot be read"),
    ],
)
def test_malformed_vectors_are_refused(server: ModelServer, provider: str, answer: object, said: str) -> None:
    server.trouble.vectors = answer  # type: ignore[assignment]
    error = failing(remote(server, provider), ["a", "b"])
    assert re.search(said, str(error)), str(error)


@BOTH
def test_no_redirect_is_followed(server: ModelServer, provider: str) -> None:
    with model_server() as elsewhere:
        server.trouble.redirect = f"http://{elsewhere.host}/api/embed"
        error = failing(remote(server, provider))
        assert str(error) == f"{provider} at {server.host} redirects elsewhere (307), which is not followed"
        assert elsewhere.requests == []


@BOTH
def test_a_key_goes_to_the_server_and_into_no_error(server: ModelServer, provider: str) -> None:
    server.key = "sk-right"
    right = remote(server, provider, environ={"KEY": "sk-right"}, embedding_key_env="KEY")
    assert right.embed(["a"])[0].dimensions == 96
    right.close()
    wrong = failing(remote(server, provider, environ={"KEY": "sk-wrong"}, embedding_key_env="KEY"))
    assert "refuses the key" in str(wrong)
    unset = failing(remote(server, provider, embedding_key_env="KEY"))
    assert "$KEY" in str(unset)
    server.key, server.trouble.status = "", 0
    assert "sk-" not in str(wrong) + wrong.next_step + str(unset)


def test_a_server_that_repeats_the_key_does_not_get_it_shown(server: ModelServer) -> None:
    to = embedding_endpoint(settings(server), {})
    with pytest.raises(RemoteError) as raised, server_of(to, "sk-secret", 1.0).errors():
        raise ollama.ResponseError('{"error": "no such key sk-secret\\n\\nsorry"}', 418)
    assert str(raised.value) == f"ollama at {server.host} answered 418: no such key … sorry"
    assert raised.value.__suppress_context__


def _all_errors(base: type[Exception]) -> list[type[Exception]]:
    return [base, *(found for sub in base.__subclasses__() for found in _all_errors(sub))]


def test_no_error_of_the_client_is_left_unmapped(server: ModelServer) -> None:
    mine = server_of(embedding_endpoint(settings(server, "openai"), {}), "", 1.0)
    request = httpx.Request("POST", "http://x/")
    for kind in [*_all_errors(httpx.HTTPError), httpx.InvalidURL, *_all_errors(httpx.StreamError)]:
        try:
            error = kind("said")
        except TypeError:
            try:
                error = kind("said", request=request, response=httpx.Response(503, request=request))  # type: ignore[call-arg]
            except TypeError:
                error = kind()
        with pytest.raises(RemoteError), mine.errors():
            raise error


# --- long texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "room", "kept"),
    [("a" * 30, 0, 30), ("a" * 30, 10, 30), ("a" * 33, 10, 30), ("語" * 10, 10, 10), ("語" * 12, 10, 10), ("", 16, 0)],
)
def test_only_what_surely_does_not_fit_is_cut_beforehand(text: str, room: int, kept: int) -> None:
    found, cut = fit(text, room)
    assert (len(found), cut) == (kept, kept < len(text))
    assert text.startswith(found)


@BOTH
def test_a_text_the_server_finds_too_long_is_cut_and_its_neighbours_are_not(provider: str) -> None:
    with model_server(Model(context_tokens=12)) as server:
        mine = remote(server, provider)
        made = mine.embed(["one two", "w " * 40, "three"])
        mine.close()
        assert [e.cut for e in made] == [False, True, False]
        assert all(e.vector for e in made)
        assert made[2].vector == quantised(vector("search_document: three", 96))


# --- questions -------------------------------------------------------------------------------------------------------


def test_a_failed_question_cools_the_server_down(server: ModelServer) -> None:
    now = [100.0]
    mine = RemoteEmbedder(settings(server), {}, Slept(), lambda: now[0])
    server.trouble.status = 503
    for _ in range(3):
        with pytest.raises(RemoteError, match="answered 503"):
            mine.query("heron?")
    assert server.asked("/api/embed") == 1
    server.trouble.status = 0
    now[0] += COOL_DOWN_SECONDS - 0.1
    with pytest.raises(RemoteError):
        mine.query("heron?")
    now[0] += 0.2
    assert mine.query("heron?")[0].vector == quantised(vector("search_query: heron?", 96))
    mine.close()


def test_a_deadline_holds_whatever_the_call_does() -> None:
    with pytest.raises(RemoteError, match=r"x did not answer in 0\.01 s"):
        within(0.01, lambda: time.sleep(0.2), "x did not answer")
    assert within(5, lambda: 3, "") == 3
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0, "")
