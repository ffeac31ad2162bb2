"""Does arithmetic on int8 vectors: scaling, weighted sums, cosines, bit codes.

A vector is `bytes`, one signed byte per component, scaled so that the largest is 127 or -127; the zero vector means
"nothing known". Only directions matter: compare by cosine. All sums are over integers, so that the plain functions and
the numpy ones (the same on many vectors at once) give identical bytes everywhere.
"""

import math
import operator
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Int64s = npt.NDArray[np.int64]

Context = tuple[tuple[str, int], ...]
"""Texts with integer weights that together make one vector: a passage and its neighbours."""

WEIGHT_UNIT = 1 << 16
"""Fixed-point units per 1.0 in the weights of `mean_direction`."""

_BIT_DIGITS = bytes(ord("1") if 0 < byte < 128 else ord("0") for byte in range(256))


def bit_code(vector: bytes) -> bytes:
    """Return one bit per component (1 if positive), lowest bit first, like sqlite-vec's `vec_quantize_binary`.

    The number of components must be a multiple of 8.
    """
    return int(vector[::-1].translate(_BIT_DIGITS), 2).to_bytes(len(vector) // 8, "little")


def mean_direction(vectors: Sequence[bytes]) -> bytes:
    """Return the mean direction of int8 vectors of one dimension, each normalised first; scaled to int8."""
    totals = [0] * len(vectors[0])
    for components in (memoryview(vector).cast("b") for vector in vectors):
        weight = 1 / (sum(x * x for x in components) ** 0.5 or 1.0)
        factor = round(weight * WEIGHT_UNIT)  # integers, so that the sum is exact
        totals = [t + factor * x for t, x in zip(totals, components, strict=True)]
    return scaled(totals)


def cosine(first: bytes, second: bytes) -> float:
    """Return the cosine of two int8 vectors of one dimension, 0 if either is zero."""
    lengths = length(first) * length(second)
    return dot(first, second) / lengths if lengths else 0.0


def dot(first: bytes, second: bytes) -> int:
    """Return the product of two int8 vectors of one dimension."""
    return sum(map(operator.mul, memoryview(first).cast("b"), memoryview(second).cast("b")))


def length(vector: bytes) -> float:
    """Return the Euclidean length of an int8 vector."""
    return math.hypot(*memoryview(vector).cast("b"))


def scaled(totals: list[int]) -> bytes:
    """Scale to a largest component of ±127: round(127 * total / peak), in integers."""
    peak = max(map(abs, totals)) or 1
    return struct.pack(f"{len(totals)}b", *[(254 * total + peak) // (2 * peak) for total in totals])


def scaled_rows(totals: "Int64s") -> list[bytes]:
    """Apply `scaled` to each row; 254 * total stays within 64 bits up to four billion tokens."""
    import numpy as np

    peak = np.maximum(np.abs(totals).max(axis=1, keepdims=True), 1)
    packed = ((254 * totals + peak) // (2 * peak)).astype(np.int8).tobytes()
    width = totals.shape[1]
    return [packed[start : start + width] for start in range(0, len(packed), width)]


def segment_sums(rows: "npt.NDArray[Any]", lengths: list[int]) -> "Int64s":
    """Sum consecutive runs of integer `rows`, `lengths[i]` rows each (0 gives zeros)."""
    import numpy as np

    sums = np.zeros((len(lengths), rows.shape[1]), np.int64)
    counts = np.array(lengths)
    filled = counts > 0  # reduceat gives a row, not zero, for an empty run
    if filled.any():
        starts = (np.cumsum(counts) - counts)[filled]
        sums[filled] = np.add.reduceat(rows, starts, axis=0, dtype=np.int64)
    return sums
