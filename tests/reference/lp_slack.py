"""[Z18, eq. 22-28] as they are written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def extended(X: Array) -> Array:
    """x' = [x, 1] (eq. 20)."""
    return np.hstack([X, np.ones((len(X), 1))])


def objective(w: Array, X: Array, y: Array, C: float, p: float) -> float:
    """Eq. 22 for w' = [w, b]."""
    return float(0.5 * w[:-1] @ w[:-1] + C * (np.maximum(0.0, 1.0 - y * (extended(X) @ w)) ** p).sum())


def smooth_objective(w: Array, X: Array, y: Array, C: float, p: float, s: float) -> float:
    """Eq. 22 with eq. 23."""
    n = np.log1p(np.exp(s * (1.0 - y * (extended(X) @ w)))) / s
    return float(0.5 * w[:-1] @ w[:-1] + C * (n**p).sum())


def gradient(w: Array, X: Array, y: Array, C: float, p: float, s: float) -> Array:
    """Eq. 24-26."""
    m = np.exp(s * (1.0 - y * (extended(X) @ w)))
    n = np.log1p(m) / s  # 1 + m would be 1 for rows far outside the margin, and n zero
    return np.append(w[:-1], 0.0) - p * C * extended(X).T @ (y * m * n ** (p - 1.0) / (1.0 + m))


def algorithm_1(
    w: Array, X: Array, y: Array, C: float, p: float, s: float, eta: float, epsilon: float, steps: int
) -> Array:
    """Where the descent from w' is after some steps."""
    v = np.zeros_like(w)
    for _ in range(steps):
        v = epsilon * v - eta * gradient(w, X, y, C, p, s)  # eq. 27
        w = w + v  # eq. 28
    return w


def adapted(
    w: Array, X: Array, y: Array, C: float, p: float, s: float, epsilon: float, steps: int
) -> tuple[Array, list[float]]:
    """The end and the objectives of algorithm 1 from w' with a rate that grows by a tenth where the objective falls.

    Where it would rise, the step is not made, the speed is lost and the rate halved.
    """
    v = np.zeros_like(w)
    rate = 1.0 / (1.0 + p * C * (float((X**2).sum()) + len(X)))
    value, values = smooth_objective(w, X, y, C, p, s), []
    for _ in range(steps):
        moved = epsilon * v - rate * gradient(w, X, y, C, p, s)
        reached = smooth_objective(w + moved, X, y, C, p, s)
        if reached <= value:
            w, v, value, rate = w + moved, moved, reached, 1.1 * rate
        else:
            v, rate = np.zeros_like(v), 0.5 * rate
        values.append(value)
    return w, values
