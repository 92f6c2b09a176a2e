"""Kernels between two vectors, straight from their formulas, and blocks of them by explicit loops."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BASES: dict[str, Callable[[Array, Array], float]] = {
    "dot": lambda x, z: sum(float(a) * float(b) for a, b in zip(x, z, strict=True)),
    "sqdist": lambda x, z: sum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True)),
    "l1dist": lambda x, z: sum(abs(float(a) - float(b)) for a, b in zip(x, z, strict=True)),
}

FORMULAS: dict[str, Callable[..., float]] = {
    "linear": lambda x, z: BASES["dot"](x, z),
    "poly": lambda x, z, gamma, coef0, degree: (gamma * BASES["dot"](x, z) + coef0) ** degree,
    "rbf": lambda x, z, gamma: math.exp(-gamma * BASES["sqdist"](x, z)),
    "laplacian": lambda x, z, gamma: math.exp(-gamma * BASES["l1dist"](x, z)),
}


def gram(name: str, params: dict[str, float], X: Array, Z: Array) -> Array:
    return np.array([[FORMULAS[name](x, z, **params) for z in Z] for x in X])


def sign_sums(B: Array, X: Array, Z: Array) -> Array:
    return np.einsum("iu,iuv->uv", B, np.sign(Z[None, :, :] - X[:, None, :]))
