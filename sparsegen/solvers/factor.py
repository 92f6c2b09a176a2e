"""Cholesky factors of matrices that are positive definite up to rounding."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf

from sparsegen.arrays import Array

SMALLEST_RIDGE = 1e-15  # share of the largest diagonal entry


def cholesky_with_ridge(H: Array) -> Array:
    """Return the lower factor of H, of which the lower triangle is read.

    Where rounding took too much from H, the smallest ridge that makes up for it is added.
    """
    ridge = 0.0
    while True:
        L, failed = dpotrf(H if ridge == 0.0 else H + ridge * np.eye(len(H)), lower=1, clean=1)
        if not failed:
            return np.asarray(L)
        ridge = max(10.0 * ridge, SMALLEST_RIDGE * float(H.diagonal().max()), 1e-300)
