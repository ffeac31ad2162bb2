"""Arithmetic on int8 vectors: scaling, weighted sums, bit codes.

A vector is `bytes`, one signed byte a component, scaled so that the largest is 127 or -127; the zero vector
stands for "nothing known". Only directions mean anything: compare by cosine. All sums are of whole numbers,
so the plain functions and those with numpy (the same on many vectors at once) give the same bytes everywhere.
"""

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Int64s = npt.NDArray[np.int64]

Context = tuple[tuple[str, int], ...]
"""Texts with whole-number weights that make one vector together: a passage and those around it."""

WEIGHT_UNIT = 1 << 16
"""Steps of 1.0 in the fixed-point weights of `mean_direction`."""

_BIT_DIGITS = bytes(ord("1") if 0 < byte < 128 else ord("0") for byte in range(256))


def bit_code(vector: bytes) -> bytes:
    """One bit a component (1 where positive), lowest bit first, as sqlite-vec's `vec_quantize_binary`; of 8, 16, …"""
    return int(vector[::-1].translate(_BIT_DIGITS), 2).to_bytes(len(vector) // 8, "little")


def mean_direction(vectors: Sequence[bytes]) -> bytes:
    """Where int8 vectors of one length point together, each counting the same however long it is; scaled to int8."""
    totals = [0] * len(vectors[0])
    for components in (memoryview(vector).cast("b") for vector in vectors):
        weight = 1 / (sum(x * x for x in components) ** 0.5 or 1.0)
        factor = round(weight * WEIGHT_UNIT)  # whole numbers: the sum is exact
        totals = [t + factor * x for t, x in zip(totals, components, strict=True)]
    return scaled(totals)


def cosine(first: bytes, second: bytes) -> float:
    """The cosine of two int8 vectors of one length, 0 where one is zero."""
    one, two = memoryview(first).cast("b"), memoryview(second).cast("b")
    product = sum(a * b for a, b in zip(one, two, strict=True))
    lengths = math.hypot(*one) * math.hypot(*two)
    return product / lengths if lengths else 0.0


def scaled(totals: list[int]) -> bytes:
    """Scale to a largest component of ±127: round(127 * total / peak), in whole numbers."""
    peak = max(map(abs, totals)) or 1
    return struct.pack(f"{len(totals)}b", *[(254 * total + peak) // (2 * peak) for total in totals])


def scaled_rows(totals: "Int64s") -> list[bytes]:
    """`scaled` of each row; 254 * total stays within 64 bits up to four billion tokens."""
    import numpy as np

    peak = np.maximum(np.abs(totals).max(axis=1, keepdims=True), 1)
    packed = ((254 * totals + peak) // (2 * peak)).astype(np.int8).tobytes()
    width = totals.shape[1]
    return [packed[start : start + width] for start in range(0, len(packed), width)]


def segment_sums(rows: "npt.NDArray[Any]", lengths: list[int]) -> "Int64s":
    """Sum consecutive runs of whole-number `rows`, `lengths[i]` each (0 gives zeros)."""
    import numpy as np

    sums = np.zeros((len(lengths), rows.shape[1]), np.int64)
    counts = np.array(lengths)
    filled = counts > 0  # reduceat gives a row, not zero, for an empty run
    if filled.any():
        starts = (np.cumsum(counts) - counts)[filled]
        sums[filled] = np.add.reduceat(rows, starts, axis=0, dtype=np.int64)
    return sums
