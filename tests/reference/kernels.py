"""Kernels between two vectors, number by number with Python's math, and blocks of them by explicit loops.

Any registered kernel is read from its expression, by rules written here again; the shipped ones are held to formulas
written by hand in their own tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sparsegen.kernels import KERNELS
from sparsegen.kernels.expression import Expr

Array = NDArray[np.float64]
Stored = tuple[bytes, tuple[int, ...]]
"""An array as its bytes and its shape."""

BASES: dict[str, Callable[[Array, Array], float]] = {
    "dot": lambda x, z: sum(float(a) * float(b) for a, b in zip(x, z, strict=True)),
    "sqdist": lambda x, z: sum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True)),
    "l1dist": lambda x, z: sum(abs(float(a) - float(b)) for a, b in zip(x, z, strict=True)),
}

OPERATIONS: dict[str, Callable[..., float]] = {
    "Add": lambda a, b: a + b,
    "Mul": lambda a, b: a * b,
    "Pow": lambda a, n: a**n,
    "Exp": math.exp,
    "Exp2": lambda a: 2.0**a,
    "Sqrt": math.sqrt,
    "Reciprocal": lambda a: 1.0 / a,
}


def value(expr: Expr, params: Mapping[str, float], x: Array, z: Array) -> float:
    """The value of a kernel's expression between two vectors."""
    kind, fields = type(expr).__name__, list(vars(expr).values())
    if kind == "Const":
        return float(fields[0])
    if kind == "Param":
        return params[fields[0]]
    if kind == "Base":
        return BASES[fields[0]](x, z)
    return OPERATIONS[kind](*(value(field, params, x, z) for field in fields))


def parameters(name: str) -> dict[str, float]:
    """Parameters to test a kernel with, none of them trivial: its defaults, at another scale."""
    family = KERNELS[name]
    usual = {key: parameter.default for key, parameter in family.parameters.items()}
    return usual if family.scale_parameter is None else {**usual, family.scale_parameter: 0.35}


def gram(name: str, params: Mapping[str, float], X: Array, Z: Array) -> Array:
    rows, vectors = ((np.asarray(A, dtype=np.float64).tobytes(), np.shape(A)) for A in (X, Z))
    return _gram(KERNELS[name].expression, tuple(sorted(params.items())), rows, vectors).copy()


@lru_cache(maxsize=64)  # it takes a tenth of a second, and many tests ask for the same
def _gram(expr: Expr, params: tuple[tuple[str, float], ...], rows: Stored, vectors: Stored) -> Array:
    X, Z = (np.frombuffer(content).reshape(shape) for content, shape in (rows, vectors))
    return np.array([[value(expr, dict(params), x, z) for z in Z] for x in X])


def sign_sums(B: Array, X: Array, Z: Array) -> Array:
    return np.einsum("iu,iuv->uv", B, np.sign(Z[None, :, :] - X[:, None, :]))
