"""Plain, slow twins of the fast code: loops and SciPy, written from the formulas."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]  # X and y


def differences(
    value: Callable[[NDArray[np.float64]], float], at: NDArray[np.float64], step: float = 1e-6
) -> NDArray[np.float64]:
    """Return the gradient of ``value`` by central differences."""
    out = np.empty(at.shape)
    for index in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[index] += step
        down[index] -= step
        out[index] = (value(up) - value(down)) / (2.0 * step)
    return out
