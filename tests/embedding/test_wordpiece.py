"""WordPiece against the reference implementation, HuggingFace `tokenizers`, with the shipped vocabulary."""

import unicodedata
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.embedding.builtin_embedder import BUILTIN_PATH, LONGEST_WORD, TokenTable, words

tokenizers = pytest.importorskip("tokenizers")

RECLASSIFIED = "\u166d\u1734\u1885\u1886"
"""Their category changed after the Unicode version the reference was built with."""


def _known_to_both(character: str) -> bool:
    """The reference holds Unicode 8 and this Python a newer one; what Unicode 3.2 had is the same in both."""
    return unicodedata.ucd_3_2_0.category(character) != "Cn" and character not in RECLASSIFIED


texts = st.text(st.characters(codec="utf-8").filter(_known_to_both))
latin_texts = st.text(st.sampled_from("abcdeinstING'-. \t\n#0159éÅßñ…“中\u0301\u00ad\u200d\u3000[]"))


@cache
def table() -> TokenTable:
    shipped = TokenTable(BUILTIN_PATH)
    shipped.hold()
    return shipped


@cache
def reference() -> Any:
    vocabulary = {table()[row].decode(): row for row in range(table().count)}
    vocabulary["[UNK]"] = len(vocabulary)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def ours(text: str) -> list[int]:
    return [row for word in words(text) for row in table().pieces(word)]


def theirs(text: str) -> list[int]:
    return [row for row in reference().encode(text).ids if row != table().count]


gibberish = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789"), min_size=20)


@given(texts | gibberish | latin_texts)
def test_equals_the_reference_on_any_text(text: str) -> None:
    assert ours(text) == theirs(text)


@pytest.mark.slow
def test_equals_the_reference_on_every_old_character() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    known = [character for character in characters if _known_to_both(character)]
    framed = [f"a{character}b" for character in known]
    encoded = reference().encode_batch(framed)
    different = [
        text
        for text, their in zip(framed, encoded, strict=True)
        if ours(text) != [row for row in their.ids if row != table().count]
    ]
    assert different == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("Café", ["cafe"]),
        ("漢字x", ["漢", "字", "x"]),
        ("a\0b\ufffdc\udc80d", ["abcd"]),
        ("tab\tline\r\nend\u3000wide", ["tab", "line", "end", "wide"]),
        (" \n ", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_character_without_a_name_yet_is_a_letter() -> None:
    assert words("a\u0378b") == ["a\u0378b"]
    assert ours("a\u0378b") == []


def test_a_word_that_is_too_long_has_no_pieces() -> None:
    assert table().pieces("a" * LONGEST_WORD) and table().pieces("a" * (LONGEST_WORD + 1)) == []


@given(texts | gibberish)
def test_the_map_finds_what_the_dictionary_finds(text: str) -> None:
    mapped = TokenTable(BUILTIN_PATH)
    for word in words(text):
        assert mapped.pieces(word) == table().pieces(word)
