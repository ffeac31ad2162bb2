"""Scores sentences with the trained weights: linear in hashed features, in whole numbers, without numpy. Pure.

The file: MAGIC, a line of JSON (heads, outputs, scales, biases, digest), then for each output a column of BUCKETS
bytes, a weight w as w + 128. `tools/train` makes it."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from vault_memory.salience.features import BUCKETS, CONTEXT_SHARE, LEAST_FEATURES, Features, Sentence, features_of

MAGIC = b"vault-memory salience 1\n"
WEIGHTS_PATH = Path(__file__).parent.parent / "data" / "salience.bin"

LABEL, CATEGORY, KEEP = "label", "category", "keep"
"""The heads. `label`: R asks to remember what it says, P what stands elsewhere, X not to, C corrects or takes back,
W a lasting fact, O a preference, S a rule, B a decision, change, outcome or cause, N nothing lasting. `category`: the
six of capture, and "none" for what only takes back. `keep`: would an editor keep this line of a log: K, M(aybe), N."""

ZERO = 128
"""A weight of 0 as a byte."""


class _Output(NamedTuple):
    name: str
    scale: float
    bias: float
    column: bytes


class Judgement(NamedTuple):
    """The calibrated probabilities of a sentence's labels, each 0..1, summing to 1 within a head."""

    label: Mapping[str, float]
    category: Mapping[str, float]
    keep: Mapping[str, float]


class Salience:
    """The trained judgement, from the bytes of a weights file; raises ValueError for any other file."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC):
            raise ValueError("not a file of salience weights")
        head, _, columns = data.removeprefix(MAGIC).partition(b"\n")
        described = json.loads(head)
        self.digest: str = described["digest"]
        self._heads: dict[str, list[_Output]] = {}
        for place, (name, output, scale, bias) in enumerate(described["outputs"]):
            column = columns[place * BUCKETS : (place + 1) * BUCKETS]
            if len(column) != BUCKETS:
                raise ValueError("a file of salience weights that ends early")
            self._heads.setdefault(name, []).append(_Output(output, scale, bias, column))

    def judge(self, sentence: Sentence) -> Judgement:
        """What a sentence is."""
        seen = features_of(sentence)
        return Judgement(*(self._probabilities(head, seen) for head in (LABEL, CATEGORY, KEEP)))

    def head(self, name: str, sentence: Sentence) -> Mapping[str, float]:
        """The probabilities of one head alone."""
        return self._probabilities(name, features_of(sentence))

    def _probabilities(self, head: str, seen: Features) -> dict[str, float]:
        outputs = self._heads[head]
        logits = [one.bias + one.scale * _weigh(one.column, seen) for one in outputs]
        top = max(logits)
        powers = [math.exp(one - top) for one in logits]
        total = sum(powers)
        # Rounded, so that the last bit of an exponential, which differs between platforms, decides nothing.
        return {one.name: round(power / total, 6) for one, power in zip(outputs, powers, strict=True)}


def _weigh(column: bytes, seen: Features) -> float:
    return _part(column, seen.own) + CONTEXT_SHARE * _part(column, seen.context)


def _part(column: bytes, buckets: Sequence[int]) -> float:
    """The weights of some buckets, as if their feature vector had length 1."""
    total: int = sum(itemgetter(*buckets, 0)(column)) - column[0]
    return (total - ZERO * len(buckets)) / math.sqrt(max(len(buckets), LEAST_FEATURES))


@cache
def salience() -> Salience:
    """The judgement that comes with the package."""
    return Salience(WEIGHTS_PATH.read_bytes())
