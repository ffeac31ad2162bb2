"""Multinomial logistic regression on sparse features: softmax, L2, L-BFGS. Same input, same bytes.

No random numbers, no BLAS and one thread. Nocedal and Wright, Numerical Optimization, algorithms 7.4 and 3.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]

ITERATIONS, MEMORY = 60, 10

CURVED = 0.1
"""About how much a class's chance times its rest is on average."""


@dataclass(frozen=True)
class Linear:
    """Weights (buckets × outputs) and biases of one head."""

    weights: Floats
    bias: Floats

    def logits(self, features: sparse.csr_matrix) -> Floats:
        """The scores of examples (rows), shape rows × outputs."""
        found: Floats = features @ self.weights + self.bias
        return found


def probabilities(logits: Floats) -> Floats:
    """The softmax of each row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def fit(features: sparse.csr_matrix, classes: npt.NDArray[np.int64], outputs: int, strength: float) -> Linear:
    """The weights that predict the class (0 … outputs-1) of each row; a larger `strength` trusts the rows more."""
    wanted = np.eye(outputs)[classes]
    transposed = features.T.tocsr()
    size = features.shape[1] * outputs

    def loss(point: Floats) -> tuple[float, Floats]:
        weights, bias = point[:size].reshape(-1, outputs), point[size:]
        logits = features @ weights + bias
        top = logits.max(axis=1, keepdims=True)
        powers = np.exp(logits - top)
        total = powers.sum(axis=1, keepdims=True)
        value = -strength * float(((logits - top - np.log(total)) * wanted).sum()) + 0.5 * float((weights**2).sum())
        error = strength * (powers / total - wanted)
        return value, np.concatenate([(transposed @ error + weights).ravel(), error.sum(axis=0)])

    # What curves the loss: common features much, rare ones little. Without it, four times the steps are needed.
    squares = np.asarray(features.multiply(features).sum(axis=0)).ravel()
    curved = np.append(
        np.repeat(1 + CURVED * strength * squares, outputs), [CURVED * strength * len(classes)] * outputs
    )
    point = _minimise(loss, np.zeros(size + outputs), 1 / curved)
    return Linear(point[:size].reshape(-1, outputs), point[size:])


def _minimise(loss: Callable[[Floats], tuple[float, Floats]], point: Floats, scale: Floats) -> Floats:
    """L-BFGS with backtracking; `scale` is about the inverse of the loss's second derivatives."""
    steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    value, gradient = loss(point)
    for _ in range(ITERATIONS):
        direction = -_times_inverse_hessian(gradient, steps, scale)
        slope = _dot(gradient, direction)
        rate = 1.0
        while True:
            moved = point + rate * direction
            new_value, new_gradient = loss(moved)
            if new_value <= value + 1e-4 * rate * slope or rate < 1e-10:
                break
            rate /= 2
        step, change = moved - point, new_gradient - gradient
        curvature = _dot(step, change)
        if curvature > 1e-12:
            steps.append((step, change, 1 / curvature))
        is_done = value - new_value < 1e-6 * abs(value)
        point, value, gradient = moved, new_value, new_gradient
        if is_done:
            break
    return point


def _times_inverse_hessian(gradient: Floats, steps: deque[tuple[Floats, Floats, float]], scale: Floats) -> Floats:
    found, shares = gradient.copy(), []
    for step, change, inverse in reversed(steps):
        shares.append(inverse * _dot(step, found))
        found -= shares[-1] * change
    found *= scale
    if steps:
        step, change, inverse = steps[-1]
        found *= 1 / (inverse * _dot(change, scale * change))
    for (step, change, inverse), share in zip(steps, reversed(shares), strict=True):
        found += (share - inverse * _dot(change, found)) * step
    return found


def _dot(one: Floats, other: Floats) -> float:
    return float((one * other).sum())  # not BLAS, whose order of addition depends on the processor
