"""The three bases of kernels: a block of each, and the gradient of its weighted sum in the right-hand vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels._sign_sums import sign_sums

MAX_OFFSET = 100.0  # squared offset over variance; beyond it, two digits would be lost


@dataclass(frozen=True)
class BaseBlock:
    """``block(X, Z)`` gives an n x m matrix; ``pull_back(B, X, Z)`` gives ``sum_i B[i, u] * d base(x_i, z_u)/dz_u``."""

    block: Callable[[Array, Array], Array]
    pull_back: Callable[[Array, Array, Array], Array]
    is_distance: bool = True


def _dot(X: Array, Z: Array) -> Array:
    return X @ Z.T


def _dot_pull_back(B: Array, X: Array, Z: Array) -> Array:
    return B.T @ X


def _sqdist(X: Array, Z: Array) -> Array:
    """Squared distances by BLAS; a common offset that would cost digits is subtracted first."""
    centre = Z.mean(axis=0)
    if centre @ centre > MAX_OFFSET * np.var(Z, axis=0).sum():
        X, Z = X - centre, Z - centre
    squared = X @ Z.T
    squared *= -2.0
    squared += np.einsum("ij,ij->i", X, X)[:, None]
    squared += np.einsum("ij,ij->i", Z, Z)
    return np.maximum(squared, 0.0, out=squared)


def _sqdist_pull_back(B: Array, X: Array, Z: Array) -> Array:
    pulled: Array = B.sum(axis=0)[:, None] * Z - B.T @ X
    return 2.0 * pulled


def _l1dist(X: Array, Z: Array) -> Array:
    from scipy.spatial.distance import cdist  # here, because listing kernels must not load SciPy

    return cdist(X, Z, "cityblock")


def _l1dist_pull_back(B: Array, X: Array, Z: Array) -> Array:
    out = np.zeros_like(Z)
    sign_sums(np.ascontiguousarray(B), X, Z, out)
    return out


BASES = {
    "dot": BaseBlock(_dot, _dot_pull_back, is_distance=False),
    "sqdist": BaseBlock(_sqdist, _sqdist_pull_back),
    "l1dist": BaseBlock(_l1dist, _l1dist_pull_back),
}
