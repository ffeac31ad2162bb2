"""Counts cl100k_base tokens with tiktoken, from the vocabulary shipped in the package.

Building the encoding takes 200-350 ms, so only indexing and `get --max-tokens` count here; recall uses stored counts.
"""

import binascii
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.errors import IndexUnusableError

if TYPE_CHECKING:
    import tiktoken

VOCABULARY = Path(__file__).parent.parent / "data" / "cl100k_base.tiktoken"
VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"

# The split pattern and the special tokens of cl100k_base as tiktoken defines them (tiktoken_ext/openai_public.py, MIT).
_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)

# Text is counted in slices of at most this many characters: a single "word" of megabytes would take
# byte-pair merging far longer than linear time, and a slice boundary adds at most one token.
_SLICE = 8000


@lru_cache(maxsize=1)
def _encoding() -> "tiktoken.Encoding":
    import tiktoken

    raw = VOCABULARY.read_bytes()
    if hashlib.sha256(raw).hexdigest() != VOCABULARY_SHA256:
        raise IndexUnusableError(f"{VOCABULARY.name} is damaged.", "Reinstall vault-memory.")
    fields = raw.split()
    ranks = dict(zip(map(binascii.a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    return tiktoken.Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


@lru_cache(maxsize=65_536)
def _count_short(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


def count(text: str) -> int:
    """Count the cl100k_base tokens of `text`, special ones as plain text; each 8,000 characters may add a token."""
    if len(text) <= 200:
        return _count_short(text)  # log lines repeat: the second time costs one cache look-up
    return sum(len(_encoding().encode_ordinary(text[i : i + _SLICE])) for i in range(0, len(text), _SLICE))
