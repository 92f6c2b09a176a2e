"""Projection onto the simplex by bisection on its threshold, and minima on it by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]


def project(v: Array) -> Array:
    low, high = float(v.min()) - 1.0, float(v.max())
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.maximum(v - middle, 0.0).sum() > 1.0:
            low = middle
        else:
            high = middle
    return np.maximum(v - high, 0.0)


def minimum(function: Callable[[Array], tuple[float, Array]], n: int) -> float:
    whole: Any = {"type": "eq", "fun": lambda mu: mu.sum() - 1.0, "jac": lambda mu: np.ones(n)}
    found = minimize(
        function,
        np.full(n, 1.0 / n),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n,
        constraints=whole,
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return float(found.fun)


def descent(function: Callable[[Array], tuple[float, Array]], mu: Array, tol: float, most: int) -> list[Array]:
    """Every point that the spectral projected gradient method evaluates, in order."""
    seen = [mu]
    value, g = function(mu)
    spread = float(g.max() - g.min())
    s = 1.0 / spread if spread else 1.0
    while len(seen) < most and g @ mu - g.min() > tol * abs(value):
        towards = project(mu - s * g) - mu
        for halvings in range(20):
            at = mu + 0.5**halvings * towards
            seen.append(at)
            reached, new_g = function(at)
            if reached <= value + 1e-4 * 0.5**halvings * float(g @ towards):
                break
            if len(seen) == most:
                return seen
        else:
            return seen
        bend = float((at - mu) @ (new_g - g))
        s = float((at - mu) @ (at - mu)) / bend if bend > 0.0 else 10.0 * s
        mu, value, g = at, reached, new_g
    return seen
