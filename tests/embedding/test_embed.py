"""The builtin embedder: exactness, meaning, any input, agreement with sqlite-vec, cost of a query."""

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.embedding.builtin_embedder import (
    BLOCK_CHARACTERS,
    BUILTIN_PATH,
    HEADER,
    MAGIC,
    StaticEmbedder,
    builtin,
)  # fmt: skip
from vault_memory.errors import VaultMemoryError
from vault_memory.store.vectors import Context, bit_code, cosine

ARTEFACT_SHA256 = "0387b20779598b0a49348b45fbb6fcd647f35914ed4068263285ff73a16e3270"

any_text = st.text(st.characters())  # lone surrogates included
some_words = st.sampled_from(["the", "car", "Émile", "東京", "unbelievably", "zzqx", "🙂", "[x]", "1500"])
plain_words = st.lists(some_words).map(" ".join)
contexts = st.lists(st.tuples(st.one_of(any_text, plain_words), st.integers(1, 9)), max_size=7).map(tuple)
vectors = st.binary(min_size=16, max_size=16).map(lambda raw: raw.replace(b"\x80", b"\x81"))


def one(text: str) -> bytes:
    return builtin().embed_contexts([((text, 1),)], with_numpy=False)[0]


def test_artefact_is_the_one_the_documents_name() -> None:
    assert hashlib.sha256(Path(BUILTIN_PATH).read_bytes()).hexdigest() == ARTEFACT_SHA256


@settings(deadline=None)
@given(st.lists(contexts, max_size=12))
def test_with_and_without_numpy_are_the_same_bytes(batch: list[Context]) -> None:
    assert builtin().embed_contexts(batch, with_numpy=True) == builtin().embed_contexts(batch, with_numpy=False)


@given(any_text)
def test_any_text_has_a_full_scale_or_zero_vector(text: str) -> None:
    vector = one(text)
    assert len(vector) == 128
    assert max(map(abs, memoryview(vector).cast("b"))) in {0, 127}


@pytest.mark.parametrize("text", ["", " \n", "\0", "\ud800", "\ufffd", "🙂", "x" * 101])
def test_nothing_known_is_the_zero_vector(text: str) -> None:
    assert one(text) == bytes(128)
    assert builtin().embed_contexts([((text, 1),)], with_numpy=True) == [bytes(128)]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 5_000_000,
        "[" * 100_000,
        "漢字" * 50_000,
        "\0" * 1_000_000,
        "".join(map(chr, range(0x3000))) * 10,
        "the quick brown fox " * 20_000,
        " ".join(hashlib.sha256(bytes([i % 256, i // 256])).hexdigest() for i in range(3000)),
    ],
    ids=["one word", "brackets", "han", "nul", "many scripts", "prose", "hex"],
)
def test_huge_texts_are_embedded_alike_in_both_ways(text: str) -> None:
    assert len(text) > BLOCK_CHARACTERS
    batch: list[Context] = [(("before", 1),), ((text, 1),), (("after", 2), (text, 1))]
    plain, bulk = (StaticEmbedder().embed_contexts(batch, with_numpy=numpy) for numpy in (False, True))
    assert plain == bulk


def test_more_words_than_the_memo_holds() -> None:
    texts = [hashlib.md5(str(i).encode()).hexdigest()[:9] for i in range(50_000)]
    embedder = StaticEmbedder()
    bulk = embedder.embed(texts)
    assert bulk[:50] == StaticEmbedder().embed(texts[:50])
    assert bulk[-50:] == StaticEmbedder().embed(texts[-50:])
    assert embedder.embed(texts[:50]) == bulk[:50]


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [
        ("car", "automobile", "banana"),
        ("ocean", "sea", "keyboard"),
        ("money", "salary", "forest"),
        ("She lost her job", "He was unemployed and looking for work", "The soup needs more salt"),
        ("What does Peter prefer?", "Peter likes short answers", "The train was late again"),
        ("When did they adopt the cat?", "We got a kitten from the shelter", "Server upgrade is scheduled"),
    ],
)
def test_related_texts_are_nearer(word: str, near: str, far: str) -> None:
    assert cosine(one(word), one(near)) > cosine(one(word), one(far)) + 0.05


def sqlite_vec_bits(vector: bytes) -> bytes:
    # By its path: importing the package would import numpy.
    spec = importlib.util.find_spec("sqlite_vec")
    assert spec is not None and spec.origin is not None
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(os.path.join(os.path.dirname(spec.origin), "vec0"))
    ((bits,),) = connection.execute("SELECT vec_quantize_binary(vec_int8(?))", (vector,)).fetchall()
    assert isinstance(bits, bytes)
    return bits


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40).flatmap(lambda eights: st.binary(min_size=8 * eights, max_size=8 * eights)))
def test_bit_code_equals_sqlite_vec(vector: bytes) -> None:
    assert bit_code(vector) == sqlite_vec_bits(vector)


@pytest.mark.parametrize("content", [None, b"", b"short", b"x" * HEADER.size, HEADER.pack(MAGIC, 9, 8, 7, 6)])
def test_a_damaged_artefact_says_so(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "minilm-static.bin"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(VaultMemoryError, match="cannot be read"):
        StaticEmbedder(str(path))


QUERY_PROGRAM = """
import sys
from vault_memory.embedding.builtin_embedder import builtin
vector = builtin().embed(["what does Peter prefer for long messages?"])[0]
print("numpy" in sys.modules, vector.hex())
"""


def test_a_query_in_a_fresh_process_needs_no_numpy_and_is_the_same() -> None:
    command = [sys.executable, "-c", QUERY_PROGRAM]
    numpy, vector = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert (numpy, vector) == ("False", one("what does Peter prefer for long messages?").hex())


def test_the_nearest_of_some_words_is_found_by_meaning() -> None:
    near = builtin().nearest(["film", "surgery", "kuchen"], ["movie", "surgeon", "harbour", "xyzzyplugh"])
    assert near[0] > 0.5 > near[2] and near[1] > 0.5
    assert builtin().nearest(["film"], []) == [0.0]
