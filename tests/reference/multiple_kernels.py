"""W(Z, mu) of SMKC1, SMKC2 and MK-SVM from their equivalent kernels: Gram matrices by loops, then SciPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference import kernels, newton

Array = NDArray[np.float64]


def equivalent(method: str, name: str, gammas: list[float], X: Array, Z: Array, mu: Array, ridge: float) -> Array:
    """The kernel matrix that the SVM inside sees: [H09, eq. 17], [H09, eq. 22] or [H09, eq. 4]."""
    if method == "mksvm":
        return sum((w * kernels.gram(name, {"gamma": g}, X, X) for w, g in zip(mu, gammas, strict=True)), np.zeros(()))
    Kz = [kernels.gram(name, {"gamma": g}, Z, Z) + ridge * np.eye(len(Z)) for g in gammas]
    Kzx = [kernels.gram(name, {"gamma": g}, Z, X) for g in gammas]
    if method == "smkc1":
        total = sum((w * psi for w, psi in zip(mu, Kzx, strict=True)), np.zeros(()))
        return total.T @ np.linalg.solve(sum((w * K for w, K in zip(mu, Kz, strict=True)), np.zeros(())), total)
    return sum((w * psi.T @ np.linalg.solve(K, psi) for w, K, psi in zip(mu, Kz, Kzx, strict=True)), np.zeros(()))


def objective(
    method: str, name: str, gammas: list[float], X: Array, Y: Array, Z: Array, mu: Array, C: float, loss: str,
    ridge: float,
) -> float:  # fmt: skip
    """The optimum summed over the outputs, on features whose inner products are the kernel matrix."""
    values, directions = np.linalg.eigh(equivalent(method, name, gammas, X, Z, mu, ridge))
    Phi = directions * np.sqrt(np.maximum(values, 0.0))
    kept = values > 1e-13 * values.max()
    return sum(newton.optimum(Phi[:, kept], y, C, loss) for y in Y.T)
