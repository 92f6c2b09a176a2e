"""The learnt map in front of the kernels: a projection P (p, d), one factor per feature (d,), or none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST_FACTOR = 1e-3  # a factor of zero could not be undone; this one takes a feature out of every distance

Numbers = NDArray[Any]


def map_rows(P: Numbers | None, X: Numbers) -> Numbers:
    """Return the rows as the kernels see them."""
    if P is None:
        return X
    return X * P if P.ndim == 1 else np.asarray(X @ P.T)


def map_gradient(P: Numbers, to_rows: Numbers, X: Numbers) -> Numbers:
    """Return the gradient in P of a function whose gradient in the mapped rows is ``to_rows``."""
    return np.einsum("ij,ij->j", to_rows, X) if P.ndim == 1 else np.asarray(to_rows.T @ X)


def smallest(P: Numbers) -> float:
    """Return what no entry of P may fall below."""
    return SMALLEST_FACTOR if P.ndim == 1 else -np.inf
