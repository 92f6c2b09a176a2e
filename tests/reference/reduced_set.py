"""[W05, eq. 4] by its definition, and the fixed-point iteration of the book, one vector and one output at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference import kernels

Array = NDArray[np.float64]


def distance(name: str, params: dict[str, float], S: Array, a: Array, Z: Array, beta: Array) -> float:
    """sum_k | sum_i a_ki phi(s_i) - sum_j beta_kj phi(z_j) |^2, expanded on S and Z together."""
    U, c = np.vstack([S, Z]), np.hstack([a, -beta])
    K = kernels.gram(name, params, U, U)
    return sum(float(row @ K @ row) for row in c)


def fixed_point(gamma: float, U: Array, c: Array, z: Array, steps: int) -> Array:
    """z <- sum_i c_i K(u_i, z) u_i / sum_i c_i K(u_i, z) for one output."""
    for _ in range(steps):
        top, bottom = np.zeros_like(z), 0.0
        for weight, u in zip(c, U, strict=True):
            pull = weight * np.exp(-gamma * float((u - z) @ (u - z)))
            top, bottom = top + pull * u, bottom + pull
        z = top / bottom
    return z
