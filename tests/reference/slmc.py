"""W(Z, P) of SLMC by a brute inner solve: a Gram matrix by loops, then SciPy on (beta, b)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference import kernels, newton

Array = NDArray[np.float64]


def objective(
    name: str, params: dict[str, float], X: Array, Y: Array, Z: Array, C: float | Array, loss: str, ridge: float
) -> float:
    """[W05, eq. 16] summed over the outputs, with ``ridge`` times the mean diagonal added to Kz."""
    Kz = kernels.gram(name, params, Z, Z)
    Kz += ridge * np.mean(np.diag(Kz)) * np.eye(len(Z))
    Phi = np.linalg.solve(np.linalg.cholesky(Kz), kernels.gram(name, params, Z, X)).T  # [W05, eq. 29]
    return sum(newton.optimum(Phi, y, C, loss) for y in Y.T)
