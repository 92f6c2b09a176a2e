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
