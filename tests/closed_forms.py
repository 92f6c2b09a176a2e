"""A kernel of the registry against its formula, written by hand between two vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from reference import differences

from sparsegen.kernels import KERNELS

Array = NDArray[np.float64]


def agrees(name: str, formula: Callable[..., float], **params: float) -> None:
    """Check values, also where vectors coincide, and the gradient."""
    rng = np.random.default_rng(0)
    X, Z, weights = rng.normal(size=(9, 4)), rng.normal(size=(5, 4)), rng.normal(size=(9, 5))
    Z[0] = X[0]
    kernel = KERNELS[name].bind(**params)

    def by_hand(right: Array) -> Array:
        return np.array([[formula(x, z, **params) for z in right] for x in X])

    assert np.allclose(kernel.gram(X, Z), by_hand(Z), rtol=1e-12, atol=1e-12)
    Z[0] += 0.3  # an L1 distance has a kink where vectors coincide
    expected = differences(lambda moved: float((weights * by_hand(moved)).sum()), Z)
    assert np.allclose(kernel.block(X, Z).gradient(weights), expected, rtol=1e-6, atol=1e-7)
