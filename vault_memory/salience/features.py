"""What the trained judgement sees: hashed words, word pairs and pieces of words of a sentence and its context. Pure.

Nothing here belongs to a language. Length, names and the writer are no features of their own.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from zlib import crc32

BUCKETS = 1 << 16
"""Hashed features share this many weights of each output; four times as many were worth nothing."""

CONTEXT_WORDS = 12
"""How many words of a neighbour count: the last ones before a sentence, the first ones after it."""

CONTEXT_SHARE = 0.5
"""The length of the context's part of a feature vector; the sentence's own part has length 1."""

LEAST_FEATURES = 40
"""A part with fewer features weighs as if it had so many, or the few of an empty context would drown everything."""

MAX_WORDS, MAX_CHARS = 80, 2400
"""What a sentence is shows by then; a longer one costs no more time."""

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")


class Sentence(NamedTuple):
    """A sentence of a message with its neighbours there, or a line of a log with the lines around it.

    `agent` is the agent's last sentence before the message, "" where there is none.
    """

    text: str
    before: str = ""
    after: str = ""
    agent: str = ""
    is_log: bool = False


class Features(NamedTuple):
    """The buckets of a sentence's own features, and of its context's."""

    own: list[int]
    context: list[int]


def features_of(sentence: Sentence) -> Features:
    """The hashed features of a sentence; none occurs twice in a part, and neither part is empty."""
    return Features(buckets_of(own_names(sentence.text)), buckets_of(context_names(sentence)))


def words(text: str) -> list[str]:
    """The folded words and signs of a text; digits become 0, so that no single number has a weight."""
    folded = unicodedata.normalize("NFKD", text[:MAX_CHARS].replace("’", "'").casefold())
    plain = folded if folded.isascii() else "".join(one for one in folded if not unicodedata.combining(one))
    return ["0" * min(len(one), 4) if one[0].isdecimal() else one for one in _TOKEN.findall(plain)[:MAX_WORDS]]


def own_names(text: str) -> Iterator[str]:
    """The names of a sentence's own features: `w` words, `p` pairs, `c` pieces of 3 to 5 letters."""
    found = words(text)
    last = "<"
    for word in (*found, ">"):
        yield "w" + word
        yield f"p{last} {word}"
        last = word
    for word in set(found):
        whole = f"_{word}_"
        for size in (3, 4, 5):
            for start in range(len(whole) - size + 1):
                yield "c" + whole[start : start + size]


def context_names(sentence: Sentence) -> Iterator[str]:
    """The names of the features around a sentence: `b` before, `f` after, `a` the agent's, `g` the genre."""
    genre = "log" if sentence.is_log else "session"
    yield "g" + genre
    for name, near in (
        ("b", words(sentence.before)[-CONTEXT_WORDS:]),
        ("f", words(sentence.after)[:CONTEXT_WORDS]),
        ("a", words(sentence.agent)[-CONTEXT_WORDS:]),
    ):
        if sentence.is_log and not near:
            continue  # the first line of a day is mostly its heading: that says nothing of a day with one line
        last = "<" if near else "no"
        for word in (*near, ">"):
            yield name + word
            yield f"{name}{last} {word}"
            last = word


def buckets_of(names: Iterable[str]) -> list[int]:
    """The buckets of these features, each once."""
    return list({crc32(name.encode("utf-8", "replace")) % BUCKETS for name in names})
